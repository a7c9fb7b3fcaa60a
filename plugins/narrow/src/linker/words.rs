//! The words of the names of tables and columns.

/// The words of a name in lower case, apart by signs and by capitals after small letters.
pub(crate) fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for letter in name.chars() {
        if !letter.is_alphanumeric() || before.is_lowercase() && letter.is_uppercase() {
            words.push(String::new());
        }
        if letter.is_alphanumeric()
            && let Some(last) = words.last_mut()
        {
            last.extend(letter.to_lowercase());
        }
        before = letter;
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_and_capitals_part_words() {
        for name in ["unit_price", "unitPrice", "Unit Price", "_unit-price_"] {
            assert_eq!(words(name), ["unit", "price"], "{name}");
        }
        assert_eq!(words("orders_20240131"), ["orders", "20240131"]);
        assert!(words("__").is_empty());
    }
}
