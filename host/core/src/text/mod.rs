//! Small rules about text that several crates share.

pub mod escape;

use std::fmt::Display;

pub use syrch_basics::clip;

/// Bytes of the longest name that is suggested.
const SUGGESTED: usize = 256;

/// Characters of a name that [`nearest`] compares: measuring the distance of two names takes time
/// in proportion to both lengths.
const COMPARED: usize = 64;

/// Returns bytes in hexadecimal digits.
pub fn hex(bytes: impl AsRef<[u8]>) -> String {
    bytes.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns a number with its noun: `1 row`, `2 rows`.
pub fn count<N: Display + From<u8> + PartialEq>(number: N, noun: &str) -> String {
    let plural = if number == N::from(1) { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// The names nearest to `wanted`, best first, at most three; letter case aside. Empty when nothing
/// is near. Only the first 64 characters of a name are compared.
pub fn nearest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let lower = |name: &str| name.chars().take(COMPARED).collect::<String>().to_lowercase();
    let wanted = lower(wanted);
    let mut scored: Vec<(f64, &str)> = names
        .into_iter()
        .filter(|name| name.len() <= SUGGESTED)
        .map(|name| {
            let lower = lower(name);
            let edit = strsim::normalized_damerau_levenshtein(&wanted, &lower);
            let part = !wanted.is_empty()
                && (lower.contains(&wanted) || (lower.len() > 3 && wanted.contains(&lower)));
            (if part { edit.max(0.75) } else { edit }, name)
        })
        .filter(|(score, _)| *score >= 0.5)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    scored.dedup_by(|a, b| a.1 == b.1);
    scored.into_iter().take(3).map(|(_, name)| name.to_owned()).collect()
}

/// The number of items of a list that a message names; further ones are counted.
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

/// A choice in words: `a, b or c`.
pub fn either<T: AsRef<str>>(items: &[T]) -> String {
    let items: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    match items.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => items.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_has_or_before_its_last() {
        assert_eq!(either(&["a", "b", "c"]), "a, b or c");
        assert_eq!(either(&["a", "b"]), "a or b");
        assert_eq!(either(&["a"]), "a");
        assert_eq!(either::<&str>(&[]), "");
    }

    #[test]
    fn one_thing_has_no_plural() {
        assert_eq!(count(1_u64, "row"), "1 row");
        assert_eq!(count(0_usize, "row"), "0 rows");
        assert_eq!(hex([0, 171]), "00ab");
    }

    #[test]
    fn nearest_finds_typos_and_parts() {
        let names = ["customers", "orders", "order_items", "products"];
        assert_eq!(nearest("custmers", names), ["customers"]);
        assert_eq!(nearest("ORDER", names)[0], "orders");
        assert!(nearest("zzz", names).is_empty());
    }

    /// Whole names of 60 KB would take minutes to compare, and fill the message.
    #[test]
    fn nearest_compares_the_beginning_of_names_and_suggests_no_endless_ones() {
        fn long(end: &str, more: usize) -> String {
            format!("customers{}{end}", "s".repeat(more))
        }
        let names: Vec<String> = (0..100).map(|n| long(&n.to_string(), 60_000)).collect();
        let near = [long("0", 200), long("1", 200)];
        let all = || names.iter().chain(&near).map(String::as_str);
        assert_eq!(nearest(&long("x", 60_000), all()), near);
    }

    #[test]
    fn few_counts_what_it_does_not_name() {
        assert_eq!(few(["a", "b", "c", "d", "e"]), "a, b, c, d, e");
        assert_eq!(few((0..53).map(|at| at.to_string())), "0, 1, 2, 3, 4 and 48 more");
        assert_eq!(few::<&str>([]), "");
    }
}
