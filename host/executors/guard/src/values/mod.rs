//! The index of values, which engines fill: the different short texts of the granted tables, found
//! by equality, by shared groups of three characters, or by edit distance.

mod groups;
mod stored;
mod trigram;

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use strsim::normalized_damerau_levenshtein;
use syrch_core::ports::{Match, PortError};
use syrch_core::{Corpus, Hit, SqlError, text};

use groups::{Groups, Shared};
use trigram::trigrams;

/// Different values of a column that are indexed.
pub const VALUES: usize = 20_000;
/// Characters of a value.
pub const CHARACTERS: usize = 100;
/// Bytes of the whole index, also while it is built: one half for the values, one for their groups.
const BYTES: usize = 64 << 20;
/// Bytes of a small block of memory beside its content.
const BLOCK: usize = 16;
/// Bytes of a value in the set of a column's values, and among the digests.
const SEEN: usize = 24;
const EXACT: usize = size_of::<(u64, u32)>();
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

/// A text that is looked for.
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
            return Err(PortError::Other(format!(
                "{} phrases; one call may have {PHRASES}",
                texts.len()
            )));
        }
        Ok(texts
            .iter()
            .map(|text: &String| {
                let text = text.trim();
                let kept = text::clip(text, PHRASE_BYTES);
                Self { text: kept.to_owned(), is_cut: kept.len() < text.len() }
            })
            .collect())
    }
}

/// The values of one state of a database.
pub struct Values {
    /// The columns of the cells: table and column name.
    places: Vec<(Arc<str>, String)>,
    /// Sorted by their place once all are there.
    cells: Vec<Cell>,
    /// Cells by a digest of their normal text, sorted.
    exact: Vec<(u64, u32)>,
    hasher: RandomState,
    /// Made when a comparison first needs them: equality does not.
    groups: Mutex<Option<Arc<Groups>>>,
    /// The tables whose values are all there, as far as they are looked at.
    read: HashSet<Arc<str>>,
    /// Bytes of all texts, each with [`BLOCK`] bytes of overhead.
    texts: usize,
    /// True if there was no space for the next cell.
    is_out_of_space: bool,
    /// The time at which building ends, done or not.
    until: Instant,
    /// True if it lacks what another try may find: its time was up, or a table was busy.
    pub is_partial: bool,
}

#[derive(Clone)]
struct Cell {
    place: u32,
    text: Box<str>,
}

/// The size of an index at one time.
#[derive(Debug, Clone, Copy)]
pub struct Mark(usize);

impl Values {
    /// An empty index, which takes values for so long.
    #[must_use]
    pub fn new(time: Duration) -> Self {
        Self {
            places: Vec::new(),
            cells: Vec::new(),
            exact: Vec::new(),
            hasher: RandomState::new(),
            groups: Mutex::default(),
            read: HashSet::new(),
            texts: 0,
            is_out_of_space: false,
            until: Instant::now() + time,
            is_partial: false,
        }
    }

    /// An index with the tables that this one has whole, which takes the values of the others for
    /// so long.
    #[must_use]
    pub fn resume(&self, time: Duration) -> Self {
        let mut resumed = Self::new(time);
        resumed.places.clone_from(&self.places);
        resumed.read.clone_from(&self.read);
        resumed.is_out_of_space = self.is_out_of_space;
        resumed.cells = self
            .cells
            .iter()
            .filter(|cell: &&Cell| {
                self.places
                    .get(cell.place as usize)
                    .is_some_and(|(table, _)| self.read.contains(table))
            })
            .cloned()
            .collect();
        resumed.texts = resumed.cells.iter().map(|cell| cell.text.len() + BLOCK).sum();
        resumed
    }

    /// Returns its present size, for [`Self::forget`].
    #[must_use]
    pub fn mark(&self) -> Mark {
        Mark(self.cells.len())
    }

    /// Takes back all values that were added since.
    pub fn forget(&mut self, Mark(cells): Mark) {
        let Some(forgotten) = self.cells.get(cells..).filter(|cells| !cells.is_empty()) else {
            return;
        };
        self.texts -= forgotten.iter().map(|cell| cell.text.len() + BLOCK).sum::<usize>();
        self.cells.truncate(cells);
        self.is_out_of_space = false;
    }

    /// A place for the values of a column. Of equally good cells those of the place that was made
    /// first come first.
    pub fn place(&mut self, table: &Arc<str>, column: &str) -> usize {
        self.places.push((Arc::clone(table), column.to_owned()));
        self.places.len() - 1
    }

    /// Returns the number of places that were made.
    #[must_use]
    pub fn places(&self) -> usize {
        self.places.len()
    }

    /// Notes that all values of a table are there, as far as they are looked at.
    pub fn complete(&mut self, table: &Arc<str>) {
        self.read.insert(Arc::clone(table));
    }

    /// Returns true if nothing more of a table is to be read.
    #[must_use]
    pub fn is_complete(&self, table: &str) -> bool {
        self.is_out_of_space || self.read.contains(table)
    }

    /// A digest of a text, by which callers know which values of a column they have added.
    #[must_use]
    pub fn digest(&self, text: &str) -> u64 {
        self.hasher.hash_one(text)
    }

    /// Returns true if no further value is taken, for lack of space or time.
    pub fn is_full(&mut self) -> bool {
        let is_late = self.is_late();
        self.is_partial |= is_late;
        self.is_out_of_space || is_late
    }

    /// Returns true if its time was up before it had no space.
    #[must_use]
    pub fn is_late(&self) -> bool {
        !self.is_out_of_space && Instant::now() >= self.until
    }

    /// Adds a value, once for each column that has it.
    pub fn add(&mut self, place: usize, text: &str) {
        let Ok(place) = u32::try_from(place) else { return };
        let bytes = text.len() + BLOCK;
        let grown = grown_by(&self.cells, 1) + EXACT;
        self.is_out_of_space |= self.bytes() + grown + bytes + SEEN > BYTES / 2;
        if self.is_out_of_space {
            return;
        }
        self.texts += bytes;
        reserve(&mut self.cells, 1);
        self.cells.push(Cell { place, text: text.into() });
    }

    /// The bytes of values that it holds while it is built.
    fn bytes(&self) -> usize {
        self.texts + list_bytes(&self.cells) + (SEEN + EXACT) * self.cells.len()
    }

    /// Makes what was added ready to be found; called once, after the last value.
    pub fn finish(&mut self) {
        self.cells.sort_by_key(|cell| cell.place);
        self.exact = self
            .cells
            .iter()
            .zip(0..)
            .map(|(cell, id): (&Cell, u32)| (self.hasher.hash_one(normal(&cell.text)), id))
            .collect();
        self.exact.sort_unstable();
    }

    /// The groups of all cells, made on first use.
    fn groups(&self, check: &impl Fn() -> Result<(), SqlError>) -> Result<Arc<Groups>, SqlError> {
        let mut groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(groups) = groups.as_ref() {
            return Ok(Arc::clone(groups));
        }
        let made =
            Arc::new(Groups::new(self.cells.iter().map(|cell| &*cell.text), BYTES / 2, check)?);
        Ok(Arc::clone(groups.insert(made)))
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
        let groups = match how {
            Match::Ngram | Match::Fuzzy => Some(self.groups(&check)?),
            _ => None,
        };
        let mut shared = groups.as_deref().map(Shared::new);
        let mut find = |Phrase { text: phrase, is_cut }: &Phrase| {
            check()?;
            let scored = match how {
                // What is longer than every value equals none.
                Match::Exact if *is_cut => Vec::new(),
                Match::Exact => self.equal(&normal(phrase)),
                Match::Ngram => {
                    shared.as_mut().map_or_else(Vec::new, |shared| by_groups(phrase, shared))
                }
                Match::Fuzzy => {
                    shared.as_mut().map_or_else(Vec::new, |shared| self.by_distance(phrase, shared))
                }
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
        same.map(|(_, id)| *id)
            .filter(|id: &u32| {
                self.cells.get(*id as usize).is_some_and(|cell| normal(&cell.text) == wanted)
            })
            .map(|id| (1.0, id))
            .collect()
    }

    /// The best of them in order. Equal scores: the text that is spelled like the phrase first,
    /// then in the catalog's order.
    fn best(&self, mut scored: Vec<(f64, u32)>, phrase: &str, limit: usize) -> Vec<(f64, u32)> {
        let differs =
            |id: u32| self.cells.get(id as usize).is_none_or(|cell| &*cell.text != phrase);
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

    /// Edit distance in proportion to length, of those that share most groups.
    fn by_distance(&self, phrase: &str, shared: &mut Shared<'_>) -> Vec<(f64, u32)> {
        let wanted = normal(phrase);
        let score = |(_, id): (f64, u32)| {
            let text = &self.cells.get(id as usize)?.text;
            Some((normalized_damerau_levenshtein(&wanted, &normal(text)), id))
        };
        let near = self.best(by_groups(phrase, shared), phrase, MEASURED);
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

/// Dice's coefficient of the groups of cells that share enough of them with the phrase.
fn by_groups(phrase: &str, shared: &mut Shared<'_>) -> Vec<(f64, u32)> {
    let groups = trigrams(phrase);
    let score = |(id, shared, all): (u32, u32, u32)| {
        let all = groups.len() as f64 + f64::from(all);
        (2.0 * f64::from(shared) / all, id)
    };
    shared.count(&groups).map(score).filter(|(score, _)| *score >= NGRAM_FLOOR).collect()
}

/// Bytes of a list.
fn list_bytes<T>(list: &Vec<T>) -> usize {
    list.capacity() * size_of::<T>()
}

/// Returns the number of items for which a list reserves space before it takes so many more: an
/// eighth of its length, where it would double by itself; 0 if they fit.
fn space_to_reserve<T>(list: &Vec<T>, items: usize) -> usize {
    if list.len() + items <= list.capacity() { 0 } else { items.max(list.len() / 8).max(64) }
}

/// Returns the number of bytes by which a list then grows, in another place or not.
fn grown_by<T>(list: &Vec<T>, items: usize) -> usize {
    space_to_reserve(list, items) * size_of::<T>()
}

fn reserve<T>(list: &mut Vec<T>, items: usize) {
    let more = space_to_reserve(list, items);
    if more > 0 {
        list.reserve_exact(more);
    }
}

/// Returns the form in which texts are compared: in lower case, without surrounding space.
fn normal(text: &str) -> String {
    text.trim().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts of Chinese characters, nearly all of whose groups are different ones.
    fn crowd(count: usize) -> impl Iterator<Item = String> {
        let mut number = 0_u32;
        (0..count).map(move |_| {
            let text = (0..100).filter_map(|_| {
                number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                char::from_u32(0x4E00 + (number >> 8) % 20_000)
            });
            text.collect()
        })
    }

    #[test]
    fn the_index_holds_no_more_than_its_bound() {
        let mut index = Values::new(Duration::from_secs(3_600));
        let mut most = 0;
        for text in crowd(usize::MAX) {
            if index.is_full() {
                break;
            }
            index.add(0, &text);
            most = most.max(index.bytes());
        }
        assert!((BYTES / 3..=BYTES / 2).contains(&most), "{most}");
        assert!(!index.is_partial && index.is_complete("any"));
    }

    fn small() -> Values {
        let mut index = Values::new(Duration::from_secs(3_600));
        let (people, towns): (Arc<str>, Arc<str>) = ("people".into(), "towns".into());
        assert_eq!([index.place(&people, "name"), index.place(&towns, "name")], [0, 1]);
        index.add(1, "Vienna");
        index.complete(&towns);
        index.add(0, "Vienna");
        index.add(0, "Graz");
        index
    }

    fn find_ids(index: &Values, phrase: &str, how: &Match) -> Vec<String> {
        let phrases = Phrase::all(&[phrase.to_owned()]).unwrap();
        let mut found = index.find(&phrases, how, 5, || Ok(())).unwrap();
        found.remove(0).into_iter().map(|hit| hit.id).collect()
    }

    #[test]
    fn cells_come_in_the_order_of_their_places() {
        let mut index = small();
        index.finish();
        for how in [Match::Exact, Match::Ngram, Match::Fuzzy] {
            assert_eq!(
                find_ids(&index, "vienna", &how),
                ["people.name#0", "towns.name#2"],
                "{how:?}"
            );
        }
        assert_eq!(find_ids(&index, "viena", &Match::Fuzzy).len(), 2);
    }

    #[test]
    fn an_index_resumes_with_the_tables_that_it_has_whole() {
        let mut index = small();
        index.finish();
        let mut resumed = index.resume(Duration::from_secs(3_600));
        assert!(resumed.is_complete("towns") && !resumed.is_complete("people"));
        resumed.add(0, "Graz");
        resumed.complete(&"people".into());
        resumed.finish();
        assert_eq!(find_ids(&resumed, "vienna", &Match::Exact), ["towns.name#1"]);
        assert_eq!(find_ids(&resumed, "graz", &Match::Exact), ["people.name#0"]);
        assert_eq!(resumed.texts, "ViennaGraz".len() + 2 * BLOCK);
    }

    #[test]
    fn a_call_whose_time_is_up_makes_no_groups() {
        let mut index = small();
        index.finish();
        let phrases = Phrase::all(&["vienna".to_owned()]).unwrap();
        assert!(
            index
                .find(&phrases, &Match::Ngram, 5, || Err(SqlError::new(
                    syrch_core::SqlErrorKind::Timeout,
                    "late"
                )))
                .is_err()
        );
        assert!(index.groups.lock().unwrap().is_none());
        assert_eq!(find_ids(&index, "vienna", &Match::Exact).len(), 2);
        assert!(index.groups.lock().unwrap().is_none(), "equality needs no groups");
        assert_eq!(find_ids(&index, "vienna", &Match::Ngram).len(), 2);
    }

    #[test]
    fn what_is_forgotten_leaves_no_trace() {
        let mut index = small();
        let mark = index.mark();
        let bytes = index.texts;
        index.add(0, "Ben");
        index.forget(mark);
        index.forget(mark);
        assert_eq!((index.texts, index.cells.len()), (bytes, 3));
    }

    #[test]
    fn groups_that_find_no_space_are_left_out() {
        let texts: Vec<String> = crowd(200).collect();
        let groups = Groups::new(texts.iter().map(String::as_str), 1 << 18, &|| Ok(())).unwrap();
        let mut shared = Shared::new(&groups);
        assert_eq!(shared.count(&trigrams(&texts[0])).map(|(id, ..)| id).collect::<Vec<_>>(), [0]);
        assert_eq!(shared.count(&trigrams(&texts[199])).count(), 0);
    }
}
