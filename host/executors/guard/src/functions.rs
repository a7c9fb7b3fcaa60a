//! Lists of functions: the words of a text file in `functions/`, ten a line, in order of the
//! alphabet.

use std::sync::LazyLock;

/// The names of a list, sorted.
pub(crate) type Functions = LazyLock<Vec<&'static str>>;

/// Returns the words of a list.
pub(crate) fn words(list: &'static str) -> Vec<&'static str> {
    list.split_ascii_whitespace().collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn lists_have_ten_names_a_line_in_order() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/functions");
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let list = std::fs::read_to_string(&path).unwrap();
            let words: Vec<&str> = list.split_ascii_whitespace().collect();
            assert!(words.is_sorted_by(|left, right| left < right), "{}", path.display());
            let lines: Vec<String> = words.chunks(10).map(|line| line.join(" ")).collect();
            assert_eq!(list.lines().collect::<Vec<_>>(), lines, "{}", path.display());
        }
    }
}
