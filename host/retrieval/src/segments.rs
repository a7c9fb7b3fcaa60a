//! The retriever `segment-fuzzy`: the lines of descriptions and notes, with the constants of sift.

use std::collections::{BTreeMap, HashMap};

use crate::fuzzy::{LINE_CHARS, Letters, Needle, Spelling, Stretch, THRESHOLD, component};
use crate::names::Wanted;
use crate::words::{compact, parts};

/// Words of a window at most.
const WINDOW: usize = 6;
/// Words of a line that are in windows.
const LINE_WORDS: usize = 64;
/// Lines that are compared with one variant at most: those that share the most groups of three
/// letters with it.
const NEAR: usize = 48;
/// Comparisons of a line with a variant in one query, over all of its variants.
const COMPARISONS: usize = 200;
/// Entries of the groups' lists that one query reads, over all of its variants.
const ENTRIES: usize = 1 << 18;

const EXACT: f64 = 0.35;
const LABEL: f64 = 0.45;
const DEFINITION: f64 = 0.08;

/// A line of a document, by its place in `texts`.
#[derive(Debug)]
struct Line {
    start: usize,
    length: u16,
    document: u32,
    label: u32,
}

/// All lines of a corpus.
#[derive(Debug, Default)]
pub(crate) struct Segments {
    /// The lines, one after the other.
    texts: String,
    labels: Vec<String>,
    lines: Vec<Line>,
    /// The numbers of the lines that have a group of letters, ascending.
    groups: HashMap<[u8; 3], Vec<u32>>,
}

/// A document's best line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Found<'a> {
    pub(crate) document: usize,
    pub(crate) score: f64,
    pub(crate) line: &'a str,
}

impl Segments {
    /// Adds the lines of a document; `label` is the name of what they describe. A line of more than
    /// [`LINE_CHARS`] characters is divided.
    pub(crate) fn add(&mut self, document: usize, label: &str, text: &str) {
        let Ok(document) = u32::try_from(document) else { return };
        if self.labels.last().is_none_or(|last| last != label) {
            self.labels.push(label.to_owned());
        }
        let Ok(label) = u32::try_from(self.labels.len() - 1) else { return };
        for line in text.lines().flat_map(cut) {
            let mut words = parts(line);
            words.truncate(LINE_WORDS);
            let (Ok(number), Ok(length)) =
                (u32::try_from(self.lines.len()), u16::try_from(line.len()))
            else {
                return;
            };
            for group in groups(&words) {
                self.groups.entry(group).or_default().push(number);
            }
            self.lines.push(Line { start: self.texts.len(), length, document, label });
            self.texts.push_str(line);
        }
    }

    /// Releases the memory that was reserved for more lines.
    pub(crate) fn close(&mut self) {
        self.texts.shrink_to_fit();
        self.lines.shrink_to_fit();
        self.groups.values_mut().for_each(Vec::shrink_to_fit);
    }

    /// The documents with a line that matches one of the variants, each with its best line, in the
    /// order of the documents.
    pub(crate) fn find(&self, wanted: &Wanted) -> Vec<Found<'_>> {
        let mut best: BTreeMap<usize, Found<'_>> = BTreeMap::new();
        for (number, variants) in self.select_lines(&wanted.variants) {
            let Some(line) = self.lines.get(number as usize) else { continue };
            let text = self.text(line);
            let label = self.labels.get(line.label as usize).map_or("", String::as_str);
            let read = Reading::new(text, label);
            for score in variants
                .into_iter()
                .map(|variant| read.score(variant))
                .filter(|score| *score >= THRESHOLD)
            {
                let found = Found { document: line.document as usize, score, line: text };
                let known = best.entry(found.document).or_insert_with(|| found.clone());
                if score > known.score {
                    *known = found;
                }
            }
        }
        best.into_values().collect()
    }

    fn text(&self, line: &Line) -> &str {
        self.texts.get(line.start..line.start + usize::from(line.length)).unwrap_or_default()
    }

    /// The lines to compare, each with the variants that are near it: at most [`COMPARISONS`]
    /// pairs.
    fn select_lines<'v>(&self, variants: &'v [Needle]) -> BTreeMap<u32, Vec<&'v Needle>> {
        let entries = ENTRIES / variants.len().max(1);
        let mut counts = vec![0; self.lines.len()];
        let mut near: Vec<(u32, u32, usize)> = Vec::new();
        for (number, variant) in variants.iter().enumerate() {
            near.extend(
                self.near(variant, entries, &mut counts)
                    .map(|(likeness, line)| (likeness, line, number)),
            );
        }
        near.sort_unstable_by(|a, b| b.0.cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        near.truncate(COMPARISONS);
        let mut compared: BTreeMap<u32, Vec<&Needle>> = BTreeMap::new();
        for (_, line, number) in near {
            compared.entry(line).or_default().extend(variants.get(number));
        }
        compared
    }

    /// The lines that share the most groups of letters with a variant, each with its likeness: the
    /// number of shared groups, times their fraction of the variant's groups. Rare groups are read
    /// first, and at most `entries` entries. `counts` has a zero for each line, before and
    /// afterwards.
    fn near(
        &self,
        variant: &Needle,
        entries: usize,
        counts: &mut [u32],
    ) -> impl Iterator<Item = (u32, u32)> + use<> {
        let groups = groups(variant.words());
        let mut lists: Vec<&Vec<u32>> =
            groups.iter().filter_map(|group| self.groups.get(group)).collect();
        lists.sort_by_key(|list| list.len());
        let mut lines: Vec<(u32, u32)> = Vec::new();
        for line in lists.into_iter().flatten().take(entries) {
            if let Some(count) = counts.get_mut(*line as usize) {
                if *count == 0 {
                    lines.push((0, *line));
                }
                *count += 1;
            }
        }
        for (count, line) in &mut lines {
            *count = counts.get_mut(*line as usize).map(std::mem::take).unwrap_or(0);
        }
        if lines.len() > NEAR {
            lines.select_nth_unstable_by(NEAR, |a: &(u32, u32), b: &(u32, u32)| {
                b.0.cmp(&a.0).then(a.1.cmp(&b.1))
            });
            lines.truncate(NEAR);
        }
        let all = u32::try_from(groups.len()).unwrap_or(u32::MAX).max(1);
        lines.into_iter().map(move |(count, line)| (count * count * 64 / all, line))
    }
}

/// A line in the forms that comparisons need.
struct Reading {
    lower: String,
    /// The term that the line defines: the part before a colon, an equals sign or `means`, in lower
    /// case.
    defined: Option<String>,
    whole: Spelling,
    label: Spelling,
    words: Words,
}

/// The words of a line with one space between them, of which windows are stretches.
struct Words {
    words: Vec<String>,
    lower: Vec<char>,
    begins: Vec<bool>,
    compact: String,
    /// The places in `lower` and in `compact` at which each word begins, and at which one more word
    /// would.
    places: Vec<(usize, usize)>,
}

impl Words {
    fn new(line: &str) -> Self {
        let mut words = parts(line);
        words.truncate(LINE_WORDS);
        let mut lower = Vec::new();
        let mut begins = Vec::new();
        let mut letters = String::new();
        let mut places = Vec::with_capacity(words.len() + 1);
        for word in &words {
            places.push((lower.len(), letters.len()));
            lower.extend(word.chars().chain([' ']));
            begins.extend(word.chars().enumerate().map(|(at, _)| at == 0).chain([false]));
            letters.push_str(&compact(word));
        }
        places.push((lower.len(), letters.len()));
        Self { words, lower, begins, compact: letters, places }
    }

    /// Calls `each` with every window of `size` words.
    fn windows(&self, size: usize, mut each: impl FnMut(Stretch<'_>)) {
        for (at, words) in self.words.windows(size).enumerate() {
            let (Some((start, first)), Some((end, last))) =
                (self.places.get(at), self.places.get(at + size))
            else {
                continue;
            };
            // Without the space after the last word.
            let chars = *start..end.saturating_sub(1);
            let lower = self.lower.get(chars.clone());
            let begins = self.begins.get(chars);
            let compact = self.compact.get(*first..*last).unwrap_or_default();
            let lower = lower.unwrap_or_default();
            let begins = begins.unwrap_or_default();
            each(Stretch { lower, begins, compact, words, letters: &Letters::from_text(compact) });
        }
    }
}

impl Reading {
    fn new(line: &str, label: &str) -> Self {
        let lower = line.to_lowercase();
        let whole = Spelling::for_line(line);
        let label = Spelling::new(label);
        Self { defined: find_term(&lower), lower, whole, label, words: Words::new(line) }
    }

    /// The highest score of the whole line and its windows, with bonuses for the exact text, a
    /// matching label and a matching definition.
    fn score(&self, variant: &Needle) -> f64 {
        let phrase = variant.words().join(" ");
        let text = component(variant, self.whole.whole(), 0.0).max(self.best_window(variant));
        let exact = if self.lower.contains(&phrase) { EXACT } else { 0.0 };
        if text == 0.0 {
            return 0.0;
        }
        let defines = self.defined.as_ref().is_some_and(|defined| defined.contains(&phrase));
        let bonus = if defines { DEFINITION } else { 0.0 };
        // A label counts only if it is a match by itself.
        let label = Some(component(variant, self.label.whole(), THRESHOLD))
            .filter(|label| *label >= THRESHOLD)
            .unwrap_or(0.0);
        text + exact + LABEL * label + bonus
    }

    /// The highest score of the windows that have from one word less to two words more than the
    /// variant.
    fn best_window(&self, variant: &Needle) -> f64 {
        let count = variant.words().len();
        let mut best = 0.0_f64;
        for size in count.saturating_sub(1).max(1)..=(count + 2).min(WINDOW) {
            self.words.windows(size, |window| best = best.max(component(variant, window, 0.0)));
        }
        best
    }
}

/// Divides a line into pieces of at most [`LINE_CHARS`] characters, between words if possible.
/// Empty pieces are left out.
fn cut(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line.trim();
    std::iter::from_fn(move || {
        let end = rest.char_indices().nth(LINE_CHARS).map_or(rest.len(), |(end, _)| end);
        let between = rest.get(..end)?.rfind(char::is_whitespace).filter(|_| end < rest.len());
        let (piece, others) = rest.split_at_checked(between.filter(|at| *at > 0).unwrap_or(end))?;
        rest = others.trim_start();
        Some(piece.trim_end()).filter(|piece| !piece.is_empty())
    })
}

/// The term that a line such as `churned: no order in 90 days` defines.
fn find_term(lower: &str) -> Option<String> {
    let end = [":", "=", " means "].iter().filter_map(|mark| lower.find(mark)).min()?;
    lower.get(..end).map(|part| part.trim().to_owned())
}

/// The different groups of three bytes of the words, each word with a space on either side.
fn groups(words: &[String]) -> Vec<[u8; 3]> {
    let padded = format!(" {} ", words.join(" "));
    let within = padded.as_bytes().windows(3).filter_map(|group| <[u8; 3]>::try_from(group).ok());
    // A group with a space in the middle belongs to two words.
    let mut groups: Vec<[u8; 3]> = within.filter(|group| group[1] != b' ').collect();
    groups.sort_unstable();
    groups.dedup();
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segments() -> Segments {
        let mut segments = Segments::default();
        segments.add(
            0,
            "customers",
            "churned: no order in the last 90 days\n\nloyal means ten orders a year",
        );
        segments.add(1, "orders.total", "gross amount in cents, tax included");
        segments
    }

    fn best(text: &str) -> Option<(usize, String)> {
        let segments = segments();
        let mut found = segments.find(&Wanted::new(text));
        found.sort_by(|a, b| b.score.total_cmp(&a.score));
        found.first().map(|found| (found.document, found.line.to_owned()))
    }

    #[test]
    fn the_line_that_fits_is_the_snippet() {
        assert_eq!(best("churnd"), Some((0, "churned: no order in the last 90 days".to_owned())));
        assert_eq!(best("loyal"), Some((0, "loyal means ten orders a year".to_owned())));
        assert_eq!(
            best("gros amount"),
            Some((1, "gross amount in cents, tax included".to_owned()))
        );
        assert_eq!(best("weather"), None);
    }

    #[test]
    fn exact_text_labels_and_definitions_count() {
        fn score(label: &str, line: &str, text: &str) -> f64 {
            let mut segments = Segments::default();
            segments.add(0, label, line);
            segments.find(&Wanted::new(text)).first().map_or(0.0, |found| found.score)
        }
        assert!(
            score("x", "the churn rate", "churn rate") > score("x", "the churm rate", "churn rate")
        );
        assert!(
            score("churn", "the churn rate", "churn rate")
                > score("x", "the churn rate", "churn rate")
        );
        assert!(
            score("x", "churn rate: what left", "churn rate")
                > score("x", "churn rate, what left", "churn rate")
        );
    }

    // Windows are slices of prepared text; sift makes a text of each.
    #[test]
    fn windows_are_spelled_like_their_words() {
        let words = Words::new("Each newCustomer pays 12b, größe: net of tax");
        for size in 1..=WINDOW {
            let mut numbers = 0..;
            words.windows(size, |window| {
                let at = numbers.next().unwrap();
                let spelled = Spelling::new(&words.words[at..at + size].join(" "));
                let whole = spelled.whole();
                assert_eq!((window.lower, window.begins), (whole.lower, whole.begins));
                assert_eq!((window.compact, window.words), (whole.compact, whole.words));
            });
        }
    }

    #[test]
    fn long_lines_are_several() {
        let line = "churned customers ".repeat(100);
        let pieces: Vec<&str> = cut(&line).collect();
        assert!(
            pieces.len() >= 5 && pieces.iter().all(|piece| piece.chars().count() <= LINE_CHARS)
        );
        assert_eq!(pieces.join(" "), line.trim());
        let unbroken = "é".repeat(1000);
        assert_eq!(
            cut(&unbroken).map(|piece| piece.chars().count()).collect::<Vec<_>>(),
            [400, 400, 200]
        );
        assert_eq!(cut("  ").count(), 0);
        let mut segments = Segments::default();
        segments.add(0, "", &format!("{line}\nlast of all"));
        assert_eq!(segments.lines.len(), pieces.len() + 1);
        let stored: usize = segments.lines.iter().map(|line| usize::from(line.length)).sum();
        assert_eq!(segments.texts.len(), stored, "each text is stored once");
        assert_eq!(segments.find(&Wanted::new("last of all"))[0].line, "last of all");
    }

    #[test]
    fn one_query_compares_few_lines_whatever_its_text() {
        let mut segments = Segments::default();
        for number in 0..5000 {
            segments.add(
                number,
                "notes",
                &format!("customer {number} pays the net revenue of order {}", number * 7),
            );
        }
        segments.add(5000, "notes", "churned: no order in 90 days");
        let question =
            "which customer pays the net revenue of every order and churned within how many days "
                .repeat(20);
        for text in [question.as_str(), "customer", "churned", "revenue order pays"] {
            let wanted = Wanted::new(text);
            let compared = segments.select_lines(&wanted.variants);
            let count: usize = compared.values().map(Vec::len).sum();
            assert!(count > 0 && count <= COMPARISONS, "{count}");
            assert!(compared.len() <= NEAR * wanted.variants.len());
        }
        let found = segments.find(&Wanted::new(&question));
        assert!(found.iter().any(|found| found.document == 5000), "what is rare is compared too");
    }

    #[test]
    fn common_groups_are_read_last_and_not_to_their_end() {
        let mut segments = Segments::default();
        for number in 0..1000 {
            segments.add(number, "", "the same");
        }
        segments.add(1000, "", "same shape");
        let mut counts = vec![0; 1001];
        let mut near: Vec<_> = segments.near(&Needle::new("same shape"), 10, &mut counts).collect();
        near.sort_unstable_by(|a, b| b.cmp(a));
        assert_eq!(near[0].1, 1000);
        assert!(near.len() <= 10 && counts.iter().all(|count| *count == 0));
    }
}
