//! Lists of words in text files, such as the functions that a dialect may call: ten words a line,
//! in order of the alphabet.

use std::sync::OnceLock;

/// The words of a text file that is a part of the program, read once.
#[derive(Debug)]
pub struct WordList {
    text: &'static str,
    words: OnceLock<Vec<&'static str>>,
}

impl WordList {
    /// Creates the list of the words of a file, whose text `include_str!` gives.
    #[must_use]
    pub const fn new(text: &'static str) -> Self {
        Self { text, words: OnceLock::new() }
    }

    /// Returns the words in order of the alphabet.
    pub fn words(&self) -> &[&'static str] {
        self.words.get_or_init(|| self.text.split_ascii_whitespace().collect())
    }

    /// Returns true if a word is in the list.
    pub fn has(&self, word: &str) -> bool {
        self.words().binary_search(&word).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;

    /// The lists below a folder: text files among the sources that are no results of tests.
    fn add_lists(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with("tests") && !path.ends_with("target") {
                add_lists(&path, found);
            } else if path.extension().is_some_and(|ending| ending == "txt")
                && path.iter().any(|part| part == "src")
            {
                found.push(path);
            }
        }
    }

    #[test]
    fn every_list_of_the_host_has_ten_words_a_line_in_order() {
        let mut lists = Vec::new();
        add_lists(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), &mut lists);
        assert!(lists.len() > 10, "{lists:?}");
        for path in lists {
            let list = std::fs::read_to_string(&path).unwrap();
            let words: Vec<&str> = list.split_ascii_whitespace().collect();
            assert!(words.is_sorted_by(|left, right| left < right), "{}", path.display());
            let lines: Vec<String> = words.chunks(10).map(|line| line.join(" ")).collect();
            assert_eq!(list.lines().collect::<Vec<_>>(), lines, "{}", path.display());
        }
    }

    #[test]
    fn words_are_found() {
        static LIST: WordList = WordList::new("abs avg\nsum\n");
        assert!(LIST.has("avg") && !LIST.has("AVG") && !LIST.has(""));
        assert_eq!(LIST.words(), ["abs", "avg", "sum"]);
    }
}
