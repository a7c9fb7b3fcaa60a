//! The index of values, which engines fill: the different short texts of the granted tables, found by equality, by shared groups of three
//! characters, or by edit distance.

mod trigram;

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::mem;
use std::sync::Arc;
use std::time::{Duration, Instant};

use strsim::normalized_damerau_levenshtein;
use syrch_core::ports::{Match, PortError};
use syrch_core::{Corpus, Hit, SqlError, text};

use trigram::{Trigram, trigrams};

/// Different values of a column that are indexed.
pub const VALUES: usize = 20_000;
/// Characters of a value.
pub const CHARACTERS: usize = 100;
/// Bytes of the whole index, also while it is built.
const BYTES: usize = 64 << 20;
/// Bytes of a small block of memory beside its content.
const BLOCK: usize = 16;
/// Bytes of a group in the table of groups, when one eighth of its places are free. It doubles when it is full.
const GROUP: usize = (size_of::<(Trigram, u32)>() + 1) * 8 / 7;
/// Bytes of a value in the set of a column's values.
const SEEN: usize = 24;
/// The least score that is a match by groups, and by edit distance.
const NGRAM_FLOOR: f64 = 0.3;
const FUZZY_FLOOR: f64 = 0.6;
/// Cells whose edit distance is measured.
const MEASURED: usize = 200;

/// Bytes of a phrase that are looked at: no value is longer.
const PHRASE_BYTES: usize = CHARACTERS * 4;
/// Phrases of one call.
const PHRASES: usize = 256;
/// Hits of one call: each phrase has an equal share.
const HITS: usize = 20_000;

/// What is looked for.
#[derive(Debug)]
pub struct Phrase {
    text: String,
    is_cut: bool,
}

impl Phrase {
    /// The phrases of one call.
    ///
    /// # Errors
    /// When there are too many.
    pub fn all(texts: &[String]) -> Result<Vec<Self>, PortError> {
        if texts.len() > PHRASES {
            return Err(PortError::Other(format!("{} phrases; one call may have {PHRASES}", texts.len())));
        }
        let phrase = |text: &String| {
            let text = text.trim();
            let kept = text::clip(text, PHRASE_BYTES);
            Self { text: kept.to_owned(), is_cut: kept.len() < text.len() }
        };
        Ok(texts.iter().map(phrase).collect())
    }
}

/// The values of one state of a database.
pub struct Values {
    /// The columns of the cells: table and column name.
    places: Vec<(Arc<str>, String)>,
    cells: Vec<Cell>,
    /// Cells by a digest of their normal text, sorted.
    exact: Vec<(u64, u32)>,
    hasher: RandomState,
    groups: Groups,
    /// Bytes of all texts, each with [`BLOCK`] bytes of overhead.
    texts: usize,
    /// Whether there was no space for the next cell.
    is_out_of_space: bool,
    /// When building ends, done or not.
    until: Instant,
    /// Whether it lacks what another try may find: its time was up, or a table was busy.
    pub is_partial: bool,
}

struct Cell {
    place: u32,
    groups: u32,
    text: Box<str>,
}

/// How much an index held at one time.
#[derive(Debug, Clone, Copy)]
pub struct Mark {
    places: usize,
    cells: usize,
}

impl Values {
    /// An empty index, which takes values for so long.
    #[must_use]
    pub fn new(time: Duration) -> Self {
        Self {
            places: Vec::new(),
            cells: Vec::new(),
            exact: Vec::new(),
            hasher: RandomState::new(),
            groups: Groups::default(),
            texts: 0,
            is_out_of_space: false,
            until: Instant::now() + time,
            is_partial: false,
        }
    }

    /// How much it holds, for [`Self::forget`].
    #[must_use]
    pub fn mark(&self) -> Mark {
        Mark { places: self.places.len(), cells: self.cells.len() }
    }

    /// Takes back all that was added since.
    pub fn forget(&mut self, Mark { places, cells }: Mark) {
        let groups: usize = self.cells[cells..].iter().map(|cell| cell.groups as usize).sum();
        self.texts -= self.cells[cells..].iter().map(|cell| cell.text.len() + BLOCK).sum::<usize>();
        self.groups.numbers.truncate(self.groups.numbers.len() - groups);
        self.exact.truncate(cells);
        self.cells.truncate(cells);
        self.places.truncate(places);
        self.is_out_of_space = false;
    }

    /// A place for the values of a column.
    pub fn place(&mut self, table: &Arc<str>, column: &str) -> usize {
        self.places.push((Arc::clone(table), column.to_owned()));
        self.places.len() - 1
    }

    /// A digest of a text, by which callers know which values of a column they have added.
    #[must_use]
    pub fn digest(&self, text: &str) -> u64 {
        self.hasher.hash_one(text)
    }

    /// Whether no further value is taken, for lack of space or time.
    pub fn is_full(&mut self) -> bool {
        let is_late = Instant::now() >= self.until;
        self.is_partial |= is_late;
        self.is_out_of_space || is_late
    }

    /// Adds a value, once for each column that has it.
    pub fn add(&mut self, place: usize, text: &str) {
        let (Ok(id), Ok(place)) = (u32::try_from(self.cells.len()), u32::try_from(place)) else {
            return;
        };
        let groups = trigrams(text);
        let bytes = text.len() + BLOCK;
        let grown = grown_by(&self.cells, 1) + grown_by(&self.exact, 1) + self.groups.grown_by(groups.len());
        self.is_out_of_space |= self.bytes() + grown + bytes + SEEN > BYTES;
        if self.is_out_of_space {
            return;
        }
        self.texts += bytes;
        reserve(&mut self.cells, 1);
        reserve(&mut self.exact, 1);
        self.groups.add(&groups);
        self.exact.push((self.hasher.hash_one(normal(text)), id));
        self.cells.push(Cell { place, groups: u32::try_from(groups.len()).unwrap_or(u32::MAX), text: text.into() });
    }

    /// What it holds while it is built.
    fn bytes(&self) -> usize {
        let cells = held(&self.cells) + SEEN * self.cells.len();
        self.texts + cells + held(&self.exact) + self.groups.bytes()
    }

    /// Makes what was added ready to be found; called once, after the last value.
    pub fn finish(&mut self) {
        self.groups.finish(self.cells.iter().map(|cell| cell.groups));
        self.exact.sort_unstable();
    }

    /// Cells that match each phrase, best first. `check` is called before each phrase.
    ///
    /// # Errors
    /// Those of `check`, such as that the time is up.
    pub fn find(
        &self,
        phrases: &[Phrase],
        how: &Match,
        limit: usize,
        check: impl Fn() -> Result<(), SqlError>,
    ) -> Result<Vec<Vec<Hit>>, SqlError> {
        let limit = limit.min(HITS / phrases.len().max(1));
        let mut shared = Shared { counts: vec![0; self.cells.len()], touched: Vec::new() };
        let mut find = |Phrase { text: phrase, is_cut }: &Phrase| {
            check()?;
            let scored = match how {
                // What is longer than every value equals none.
                Match::Exact if *is_cut => Vec::new(),
                Match::Exact => self.equal(&normal(phrase)),
                Match::Ngram => self.by_groups(phrase, &mut shared),
                Match::Fuzzy => self.by_distance(phrase, &mut shared),
                Match::Vector | Match::Other(_) => Vec::new(),
            };
            let best = self.best(scored, phrase, limit);
            Ok(best.into_iter().filter_map(|(score, id)| self.hit(score, id)).collect())
        };
        phrases.iter().map(&mut find).collect()
    }

    fn equal(&self, wanted: &str) -> Vec<(f64, u32)> {
        let digest = self.hasher.hash_one(wanted);
        let first = self.exact.partition_point(|(other, _)| *other < digest);
        let same = self.exact[first..].iter().take_while(|(other, _)| *other == digest);
        let is_equal = |id: &u32| self.cells.get(*id as usize).is_some_and(|cell| normal(&cell.text) == wanted);
        same.map(|(_, id)| *id).filter(is_equal).map(|id| (1.0, id)).collect()
    }

    /// The best of them in order. Equal scores: the text that is spelled like the phrase first, then in the catalog's order.
    fn best(&self, mut scored: Vec<(f64, u32)>, phrase: &str, limit: usize) -> Vec<(f64, u32)> {
        let differs = |id: u32| self.cells.get(id as usize).is_none_or(|cell| &*cell.text != phrase);
        let order = |a: &(f64, u32), b: &(f64, u32)| {
            b.0.total_cmp(&a.0).then_with(|| differs(a.1).cmp(&differs(b.1))).then(a.1.cmp(&b.1))
        };
        if scored.len() > limit {
            scored.select_nth_unstable_by(limit, order);
            scored.truncate(limit);
        }
        scored.sort_unstable_by(order);
        scored
    }

    /// Dice's coefficient of the groups of cells that share enough of them with the phrase.
    fn by_groups(&self, phrase: &str, shared: &mut Shared) -> Vec<(f64, u32)> {
        let groups = trigrams(phrase);
        let score = |(id, shared): (u32, u32)| {
            let all = groups.len() as f64 + f64::from(self.cells.get(id as usize)?.groups);
            Some((2.0 * f64::from(shared) / all, id))
        };
        let postings = groups.iter().map(|group| self.groups.cells(group));
        shared.count(postings).filter_map(score).filter(|(score, _)| *score >= NGRAM_FLOOR).collect()
    }

    /// Edit distance in proportion to length, of those that share most groups.
    fn by_distance(&self, phrase: &str, shared: &mut Shared) -> Vec<(f64, u32)> {
        let wanted = normal(phrase);
        let score = |(_, id): (f64, u32)| {
            let text = &self.cells.get(id as usize)?.text;
            Some((normalized_damerau_levenshtein(&wanted, &normal(text)), id))
        };
        let near = self.best(self.by_groups(phrase, shared), phrase, MEASURED);
        near.into_iter().filter_map(score).filter(|(score, _)| *score >= FUZZY_FLOOR).collect()
    }

    fn hit(&self, score: f64, id: u32) -> Option<Hit> {
        let cell = self.cells.get(id as usize)?;
        let (table, column) = self.places.get(cell.place as usize)?;
        let path = format!("{table}.{column}");
        Some(Hit {
            corpus: Corpus::Cells,
            id: format!("{path}#{id}"),
            path,
            table: Some(table.to_string()),
            column: Some(column.clone()),
            snippet: Some(cell.text.to_string()),
            payload: None,
            score,
        })
    }
}

/// How many groups each cell shares with a phrase.
struct Shared {
    counts: Vec<u32>,
    touched: Vec<u32>,
}

impl Shared {
    /// Counts anew, over the lists of cells of a phrase's groups.
    fn count<'p>(&mut self, postings: impl Iterator<Item = &'p [u32]>) -> impl Iterator<Item = (u32, u32)> {
        for ids in postings {
            for id in ids {
                if let Some(count) = self.counts.get_mut(*id as usize) {
                    if *count == 0 {
                        self.touched.push(*id);
                    }
                    *count += 1;
                }
            }
        }
        let counts = &mut self.counts;
        self.touched.drain(..).filter_map(|id| Some((id, std::mem::take(counts.get_mut(id as usize)?))))
    }
}

/// The cells of each group.
#[derive(Default)]
struct Groups {
    /// The number of each group.
    known: HashMap<Trigram, u32>,
    /// While the index is built: the numbers of the groups of each cell, one cell after the other.
    numbers: Vec<u32>,
    /// Then: the cells of each group, one group after the other, and where those of each group begin.
    cells: Vec<u32>,
    starts: Vec<u32>,
}

impl Groups {
    fn add(&mut self, groups: &[Trigram]) {
        reserve(&mut self.numbers, groups.len());
        for group in groups {
            let next = u32::try_from(self.known.len()).unwrap_or(u32::MAX);
            self.numbers.push(*self.known.entry(*group).or_insert(next));
        }
    }

    /// Sorts the cells by group; `counts` are the numbers of groups of each cell.
    fn finish(&mut self, counts: impl Iterator<Item = u32>) {
        let numbers = mem::take(&mut self.numbers);
        self.starts = vec![0; self.known.len() + 1];
        for number in &numbers {
            self.starts[*number as usize + 1] += 1;
        }
        for at in 1..self.starts.len() {
            self.starts[at] += self.starts[at - 1];
        }
        self.cells = vec![0; numbers.len()];
        let cells = (0..).zip(counts).flat_map(|(cell, count)| std::iter::repeat_n(cell, count as usize));
        for (number, cell) in numbers.iter().zip(cells) {
            let next = &mut self.starts[*number as usize];
            self.cells[*next as usize] = cell;
            *next += 1;
        }
        // Each begins where the one before it ends now.
        self.starts.rotate_right(1);
        self.starts[0] = 0;
    }

    fn cells(&self, group: &Trigram) -> &[u32] {
        let Some(number) = self.known.get(group) else { return &[] };
        let at = *number as usize;
        let range = self.starts[at] as usize..self.starts[at + 1] as usize;
        &self.cells[range]
    }

    /// What it holds at the most: the list of numbers and the sorted cells stand beside each other.
    fn bytes(&self) -> usize {
        let known = self.known.capacity() * GROUP + self.known.len() * size_of::<u32>();
        known + held(&self.numbers) + self.numbers.len() * size_of::<u32>()
    }

    /// How many more bytes it would hold with so many groups of a cell: a table that grows stands beside the old one.
    fn grown_by(&self, groups: usize) -> usize {
        let is_grown = self.known.len() + groups > self.known.capacity();
        let known = if is_grown { 2 * self.known.capacity() * GROUP } else { 0 };
        known + grown_by(&self.numbers, groups) + 2 * groups * size_of::<u32>()
    }
}

/// Bytes of a list.
fn held<T>(list: &Vec<T>) -> usize {
    list.capacity() * size_of::<T>()
}

/// How much longer a list gets that has no place for so many more: by an eighth, where it would double by itself.
fn more<T>(list: &Vec<T>, items: usize) -> usize {
    if list.len() + items <= list.capacity() { 0 } else { items.max(list.len() / 8).max(64) }
}

/// How many more bytes a list then holds, in another place or not.
fn grown_by<T>(list: &Vec<T>, items: usize) -> usize {
    more(list, items) * size_of::<T>()
}

fn reserve<T>(list: &mut Vec<T>, items: usize) {
    let more = more(list, items);
    if more > 0 {
        list.reserve_exact(more);
    }
}

/// How texts are compared: letter case and surrounding space aside.
fn normal(text: &str) -> String {
    text.trim().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_holds_no_more_than_its_bound() {
        let mut index = Values::new(Duration::from_secs(3_600));
        let (mut number, mut most) = (0_u32, 0);
        while !index.is_full() {
            // Nearly all groups of these texts are different ones, which take most.
            let text = (0..100).filter_map(|_| {
                number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                char::from_u32(0x4E00 + (number >> 8) % 20_000)
            });
            index.add(0, &text.collect::<String>());
            most = most.max(index.bytes());
        }
        assert!((BYTES / 3..=BYTES).contains(&most), "{most}");
        assert!(index.groups.known.len() > 100_000, "{}", index.groups.known.len());
    }

    #[test]
    fn each_group_has_its_cells() {
        let mut groups = Groups::default();
        let texts = ["Cat", "", "cat dog", "dog"];
        let all: Vec<Vec<Trigram>> = texts.iter().map(|text| trigrams(text)).collect();
        all.iter().for_each(|cell| groups.add(cell));
        groups.finish(all.iter().map(|cell| cell.len() as u32));
        let cells = |group: [char; 3]| groups.cells(&group).to_vec();
        assert_eq!(cells(['c', 'a', 't']), [0, 2]);
        assert_eq!(cells(['d', 'o', 'g']), [2, 3]);
        assert_eq!(cells(['o', 'g', ' ']), [2, 3]);
        assert!(cells(['x', 'x', 'x']).is_empty());
    }
}
