//! Groups of three characters, as PostgreSQL's pg_trgm forms them: of each word in lower case, with
//! two spaces before it and one after it.

pub(super) type Trigram = [char; 3];

/// The different groups of a text, sorted.
pub(super) fn trigrams(text: &str) -> Vec<Trigram> {
    let mut groups = Vec::new();
    let lower = text.to_lowercase();
    for word in lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let padded: Vec<char> =
            "  ".chars().chain(word.chars()).chain(std::iter::once(' ')).collect();
        groups.extend(padded.windows(3).map(|window| [window[0], window[1], window[2]]));
    }
    groups.sort_unstable();
    groups.dedup();
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_padded_and_groups_counted_once() {
        let groups: Vec<String> =
            trigrams("Cat, CAT!").iter().map(|group| group.iter().collect()).collect();
        assert_eq!(groups, ["  c", " ca", "at ", "cat"]);
        assert!(trigrams("--").is_empty());
    }
}
