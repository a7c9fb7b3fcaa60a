//! Small rules about text that several rooms share.

pub mod escape;

/// Characters of a name that [`nearest`] compares: measuring the distance of two names takes time in proportion to both lengths.
const COMPARED: usize = 64;

/// The names nearest to `wanted`, best first, at most three; letter case aside. Empty when nothing is near. Only the first 64 characters of
/// a name are compared.
pub fn nearest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let lower = |name: &str| name.chars().take(COMPARED).collect::<String>().to_lowercase();
    let wanted = lower(wanted);
    let mut scored: Vec<(f64, &str)> = names
        .into_iter()
        .map(|name| {
            let lower = lower(name);
            let edit = strsim::normalized_damerau_levenshtein(&wanted, &lower);
            let part = !wanted.is_empty() && (lower.contains(&wanted) || (lower.len() > 3 && wanted.contains(&lower)));
            (if part { edit.max(0.75) } else { edit }, name)
        })
        .filter(|(score, _)| *score >= 0.5)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    scored.dedup_by(|a, b| a.1 == b.1);
    scored.into_iter().take(3).map(|(_, name)| name.to_owned()).collect()
}

/// Items of a list that a message names; the others are counted.
pub const NAMED: usize = 5;

/// The first [`NAMED`] items of a list with commas between them, and how many more there are.
pub fn few<T: AsRef<str>>(items: impl IntoIterator<Item = T>) -> String {
    let mut items = items.into_iter();
    let first: Vec<T> = items.by_ref().take(NAMED).collect();
    let first = first.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ");
    match items.count() {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

/// At most `bytes` of a text, cut at a character's edge.
#[must_use]
pub fn clip(text: &str, bytes: usize) -> &str {
    if text.len() <= bytes {
        return text;
    }
    let end = (0..=bytes).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_finds_typos_and_parts() {
        let names = ["customers", "orders", "order_items", "products"];
        assert_eq!(nearest("custmers", names), ["customers"]);
        assert_eq!(nearest("ORDER", names)[0], "orders");
        assert!(nearest("zzz", names).is_empty());
    }

    #[test]
    fn nearest_compares_only_the_beginning_of_long_names() {
        let long = |end: &str| format!("customers{}{end}", "s".repeat(60_000));
        let names: Vec<String> = (0..100).map(|n| long(&n.to_string())).collect();
        let begun = std::time::Instant::now();
        // Whole names would take minutes.
        assert_eq!(nearest(&long("x"), names.iter().map(String::as_str)), ["0", "1", "10"].map(long));
        assert!(begun.elapsed() < std::time::Duration::from_secs(10));
    }

    #[test]
    fn few_counts_what_it_does_not_name() {
        assert_eq!(few(["a", "b", "c", "d", "e"]), "a, b, c, d, e");
        assert_eq!(few((0..53).map(|at| at.to_string())), "0, 1, 2, 3, 4 and 48 more");
        assert_eq!(few::<&str>([]), "");
    }

    #[test]
    fn clip_keeps_characters_whole() {
        assert_eq!(clip("aé", 2), "a");
        assert_eq!(clip("aé", 3), "aé");
    }
}
