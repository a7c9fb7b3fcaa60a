//! The retriever `path-fuzzy`: names that are spelled like the text. It applies sift's rules for
//! the path of a file to `table.column`: the last part is the file's name, and its stem is the name
//! without the prefix that all its siblings share.

use std::collections::{BTreeSet, HashMap};
use std::sync::OnceLock;

use crate::fuzzy::{Needle, Spelling, THRESHOLD, component};
use crate::words::content;

/// Words of a text that is one name; a longer one is divided into words and pairs.
const NAME_WORDS: usize = 4;
/// Words of a longer text that are used. With the pairs of them, a text has fewer than twice as
/// many variants.
pub(crate) const TEXT_WORDS: usize = u64::BITS as usize;
/// Comparisons of a spelling with a variant in one query: if there are many spellings, only so many
/// variants of a text are compared, single words before pairs ...
const COMPARISONS: usize = 1 << 19;
/// ... but never fewer than this.
const LEAST_VARIANTS: usize = 32;

const PATH: f64 = 1.1;
const NAME: f64 = 1.3;
const STEM: f64 = 1.45;
const PART: f64 = 1.1;
const TERM: f64 = 0.06;

/// The text of a query: one name, or the words and neighbouring pairs of a longer text.
pub(crate) struct Wanted {
    pub(crate) variants: Vec<Needle>,
    /// The places of each word in the text, as bits.
    places: HashMap<String, u64>,
    is_path: bool,
}

impl Wanted {
    pub(crate) fn new(text: &str) -> Self {
        let mut words = content(text);
        words.truncate(TEXT_WORDS);
        let is_path = !text.trim().contains(char::is_whitespace)
            && text.trim().contains(['.', '_', '-', '/', '\\']);
        let texts: Vec<String> = if is_path {
            vec![text.trim().to_owned()]
        } else if words.len() <= NAME_WORDS {
            vec![words.join(" ")]
        } else {
            let single = words.iter().filter(|word| word.len() > 2).cloned();
            single.chain(words.windows(2).map(|pair| pair.join(" "))).collect()
        };
        let mut seen = BTreeSet::new();
        let different = texts.iter().filter(|text| seen.insert(text.as_str()));
        let mut places: HashMap<String, u64> = HashMap::new();
        for (at, word) in words.iter().enumerate().filter(|(_, word)| word.len() >= 2) {
            *places.entry(word.clone()).or_default() |= 1 << at;
        }
        Self { variants: different.map(|text| Needle::new(text)).collect(), places, is_path }
    }

    /// The places of the query with a word of the spelling.
    fn places_of(&self, spelling: &Spelling) -> u64 {
        spelling
            .words()
            .iter()
            .filter_map(|word| self.places.get(word))
            .fold(0, |all, places| all | places)
    }
}

/// A path, by the numbers of its different spellings.
#[derive(Debug)]
struct Path {
    whole: String,
    name: usize,
    stem: usize,
    parts: Vec<usize>,
}

/// All paths of a corpus. Spellings that several have in common are compared once.
#[derive(Debug, Default)]
pub(crate) struct Names {
    spellings: Vec<Spelling>,
    numbers: HashMap<String, usize>,
    paths: Vec<Path>,
    /// The spellings of whole paths, in their order, once a query was a path.
    wholes: OnceLock<Vec<Spelling>>,
}

impl Names {
    /// Adds the next path. Its last part is `name`, and `stem` is the name without the prefix that
    /// its siblings share.
    pub(crate) fn add(&mut self, path: &str, name: &str, stem: &str) {
        let folders =
            path.strip_suffix(name).unwrap_or_default().split('.').filter(|part| !part.is_empty());
        let folders: Vec<usize> = folders.map(|part| self.number(part)).collect();
        let name = self.number(name);
        let stem = self.number(stem);
        let words = self.spellings[name].words().to_vec();
        let words: Vec<usize> = if words.len() > 1 {
            words.iter().map(|word| self.number(word)).collect()
        } else {
            Vec::new()
        };
        self.paths.push(Path {
            whole: path.to_owned(),
            name,
            stem,
            parts: [folders, words].concat(),
        });
    }

    fn number(&mut self, text: &str) -> usize {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        self.spellings.push(Spelling::new(text));
        self.numbers.insert(text.to_owned(), self.spellings.len() - 1);
        self.spellings.len() - 1
    }

    /// The paths that are spelled like one of the variants, with sift's score, unsorted.
    pub(crate) fn find(&self, wanted: &Wanted) -> Vec<(usize, f64)> {
        let mut best = vec![0.0_f64; self.paths.len()];
        for variant in self.limit_variants(&wanted.variants) {
            let scores: Vec<f64> = self
                .spellings
                .iter()
                .map(|spelling| component(variant, spelling.whole(), THRESHOLD / STEM))
                .collect();
            for (path, best) in self.paths.iter().zip(&mut best) {
                *best = best.max(path.score(&scores));
            }
            // A query without a separator names a part of a path and not a whole one.
            if wanted.is_path {
                for (whole, best) in self
                    .wholes
                    .get_or_init(|| {
                        self.paths.iter().map(|path| Spelling::new(&path.whole)).collect()
                    })
                    .iter()
                    .zip(&mut best)
                {
                    *best = best.max(PATH * component(variant, whole.whole(), THRESHOLD / PATH));
                }
            }
        }
        let found =
            self.paths.iter().zip(best).enumerate().filter(|(_, (_, best))| *best >= THRESHOLD);
        found.map(|(number, (path, best))| (number, best + self.terms(path, wanted))).collect()
    }

    /// The variants of a text that are compared with all spellings.
    fn limit_variants<'v>(&self, variants: &'v [Needle]) -> &'v [Needle] {
        let most = (COMPARISONS / self.spellings.len().max(1)).max(LEAST_VARIANTS);
        variants.get(..most).unwrap_or(variants)
    }

    /// Sift's bonus of 0.06 for each word of the query that is in the path.
    fn terms(&self, path: &Path, wanted: &Wanted) -> f64 {
        let numbers = path.parts.iter().chain([&path.name]);
        let places = numbers
            .filter_map(|number| self.spellings.get(*number))
            .map(|part| wanted.places_of(part));
        TERM * f64::from(places.fold(0, |all, places| all | places).count_ones())
    }
}

impl Path {
    /// The best of its parts by the scores of all spellings.
    fn score(&self, scores: &[f64]) -> f64 {
        let of = |number: usize| scores.get(number).copied().unwrap_or(0.0);
        let parts = self.parts.iter().map(|part| PART * of(*part)).fold(0.0, f64::max);
        (NAME * of(self.name)).max(STEM * of(self.stem)).max(parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names {
        let mut names = Names::default();
        for (path, name, stem) in [
            ("customers", "customers", "customers"),
            ("orders.custEmail", "custEmail", "Email"),
            ("orders.total", "total", "total"),
        ] {
            names.add(path, name, stem);
        }
        names
    }

    fn find_numbers(text: &str) -> Vec<usize> {
        let mut found = names().find(&Wanted::new(text));
        found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        found.into_iter().map(|(number, _)| number).collect()
    }

    #[test]
    fn misspelled_names_are_found() {
        assert_eq!(find_numbers("custmers")[0], 0);
        assert_eq!(find_numbers("totl")[0], 2);
        assert!(find_numbers("zzz").is_empty());
    }

    #[test]
    fn a_stem_counts_more_than_a_word_and_a_word_more_than_a_folder() {
        assert_eq!(find_numbers("email"), [1]);
        let all = names().find(&Wanted::new("orders"));
        let name = names().find(&Wanted::new("total"));
        assert_eq!(all.len(), 2, "both columns of the table");
        assert!(all[0].1 < name[0].1);
    }

    #[test]
    fn a_whole_path_is_found_by_its_spelling() {
        assert_eq!(find_numbers("orders.totl")[0], 2);
    }

    #[test]
    fn a_long_text_is_taken_apart() {
        let found = find_numbers(
            "Which of the customers has the highest total over all the years of business?",
        );
        assert_eq!(found[..2], [0, 2]);
    }

    #[test]
    fn words_in_the_path_count_once_for_each_time_they_are_asked_for() {
        let mut names = Names::default();
        names.add("shop.net_total", "net_total", "net_total");
        let wanted = Wanted::new("net total of the shop net");
        assert!((names.terms(&names.paths[0], &wanted) - 4.0 * TERM).abs() < 1e-12);
    }

    #[test]
    fn a_text_has_so_many_variants() {
        let words: Vec<String> = (0..600).map(|number| format!("word{number}")).collect();
        assert!(Wanted::new(&words.join(" ")).variants.len() < 2 * TEXT_WORDS);
        assert_eq!(Wanted::new(&words.join("_")).variants.len(), 1);
        assert_eq!(
            Wanted::new("total of the total and the total by the total, total").variants.len(),
            2
        );
    }

    #[test]
    fn many_spellings_are_compared_with_fewer_variants() {
        let words: Vec<String> =
            (0..60).map(|number| format!("{}x", "abcdefghij".repeat(number))).collect();
        let wanted = Wanted::new(&words.join(" "));
        let counts = [10, 6000, 100_000].map(|count| {
            let names = Names { spellings: vec![Spelling::new("x"); count], ..Names::default() };
            names.limit_variants(&wanted.variants).len()
        });
        assert_eq!(counts, [wanted.variants.len(), COMPARISONS / 6000, LEAST_VARIANTS]);
        assert!(wanted.variants.len() > COMPARISONS / 6000);
    }
}
