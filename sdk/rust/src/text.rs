//! Text for prompts and logs: single lines, limits, counts.

pub use syrch_basics::clip;

/// One line of at most `limit` characters: white space and control characters become single spaces,
/// and an ellipsis at the end shows that something was cut. For text from a database or a model
/// before it becomes a part of a prompt.
#[must_use]
pub fn line(text: &str, limit: usize) -> String {
    let mut out = String::new();
    let mut length = 0;
    for word in
        text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty())
    {
        if length > 0 {
            out.push(' ');
            length += 1;
        }
        for c in word.chars() {
            if length + 1 >= limit && limit > 0 {
                out.push('…');
                return out;
            }
            out.push(c);
            length += 1;
        }
    }
    out
}

/// `1 row`, `2 rows`.
#[must_use]
pub fn count(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// Returns true if a word is in a list of words with single spaces between them.
#[must_use]
pub fn is_one_of(words: &str, word: &str) -> bool {
    words.split(' ').any(|known| known == word)
}

/// A number of things as a `u32`, the type of counts in the contract; the greatest one for more.
#[must_use]
pub fn count32(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// A number between 0 and 1; not-a-number becomes 0.
#[must_use]
pub fn clamp01(value: f64) -> f64 {
    if value.is_nan() { 0.0 } else { value.clamp(0.0, 1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_is_one_line_and_bounded() {
        assert_eq!(line("a\n\u{1b}[31m  b\t", 80), "a [31m b");
        assert_eq!(line("abcdef", 4), "abc…");
        assert_eq!(line("ééé", 2), "é…");
        assert_eq!(line("", 4), "");
    }

    #[test]
    fn clamp01_swallows_nonsense() {
        assert_eq!(clamp01(f64::NAN), 0.0);
        assert_eq!(clamp01(f64::INFINITY), 1.0);
        assert_eq!(clamp01(-3.0), 0.0);
    }
}
