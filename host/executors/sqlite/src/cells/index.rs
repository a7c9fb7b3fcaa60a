//! The index of values: the different short texts of every granted table, found by equality, by shared groups of three characters,
//! or by edit distance.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::mem;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::types::ValueRef;
use strsim::normalized_damerau_levenshtein;
use syrch_core::ports::{Match, PortError};
use syrch_core::{Corpus, Hit, SqlError, SqlErrorKind, Table, text};

use super::compile;
use super::trigram::{Trigram, trigrams};
use crate::connect::quoted;
use crate::session::Session;
use crate::watch::Snapshot;

/// Rows of a table that are looked at.
const ROWS: u64 = 200_000;
/// Different values kept of a column.
const VALUES: usize = 20_000;
/// Characters of a value.
const CHARACTERS: usize = 100;
/// Bytes of the whole index, also while it is built.
const BYTES: usize = 64 << 20;
/// Bytes of a small block of memory beside its content.
const BLOCK: usize = 16;
/// Bytes of a group in the table of groups, when one eighth of its places are free. It doubles when it is full.
const GROUP: usize = (size_of::<(Trigram, u32)>() + 1) * 8 / 7;
/// Bytes of a value in the set of a column's values.
const SEEN: usize = 24;
/// Columns read by one statement and bytes of the statement, so that it stays within the engine's limits.
const COLUMNS: usize = 100;
const STATEMENT: usize = 60 << 10;
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
pub(crate) struct Phrase {
    text: String,
    is_cut: bool,
}

impl Phrase {
    /// The phrases of one call.
    ///
    /// # Errors
    /// When there are too many.
    pub(crate) fn all(texts: &[String]) -> Result<Vec<Self>, PortError> {
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
pub(crate) struct Index {
    /// Table and column.
    places: Vec<(Arc<str>, String)>,
    cells: Vec<Cell>,
    /// Cells by a digest of their normal text, sorted.
    exact: Vec<(u64, u32)>,
    hasher: RandomState,
    groups: Groups,
    /// Bytes of texts.
    texts: usize,
    /// Whether the next cell had no room.
    is_out_of_room: bool,
    /// When building ends, done or not.
    until: Instant,
    /// Whether it lacks what another try may find: its time was up, or a table was busy.
    pub(crate) is_partial: bool,
}

struct Cell {
    place: u32,
    groups: u32,
    text: Box<str>,
}

impl Index {
    /// Reads the tables in the catalog's order until the index is full or the time is up. Views are left out: their values stand in tables.
    pub(crate) fn build(session: &Session, snapshot: &Snapshot, time: Duration) -> Result<Self, SqlError> {
        let mut index = Self::new(time);
        for table in snapshot.catalog.tables.iter().filter(|table| !table.is_view()) {
            let mut left_out = Vec::new();
            for columns in statements(table) {
                index.read(session, snapshot, &table.name, &columns, &mut left_out)?;
            }
            if !left_out.is_empty() {
                let columns = text::few(&left_out);
                tracing::warn!(table = table.name, columns, "values of a table are not indexed");
            }
            if index.is_full() {
                tracing::info!(table = table.name, "the index of values ends here");
                break;
            }
        }
        index.groups.finish(index.cells.iter().map(|cell| cell.groups));
        index.exact.sort_unstable();
        Ok(index)
    }

    fn new(time: Duration) -> Self {
        Self {
            places: Vec::new(),
            cells: Vec::new(),
            exact: Vec::new(),
            hasher: RandomState::new(),
            groups: Groups::default(),
            texts: 0,
            is_out_of_room: false,
            until: Instant::now() + time,
            is_partial: false,
        }
    }

    /// Reads columns by one statement, and each half of them by one of its own if it fails for a reason that may be that of one column. What
    /// cannot be read is not found; that is better than no index at all.
    fn read(
        &mut self,
        session: &Session,
        snapshot: &Snapshot,
        table: &str,
        columns: &[String],
        left_out: &mut Vec<String>,
    ) -> Result<(), SqlError> {
        if self.is_full() {
            return Ok(());
        }
        let before = (self.places.len(), self.cells.len());
        let Err(error) = self.read_all(session, snapshot, table, columns) else { return Ok(()) };
        if is_of_all(&error) {
            return Err(error);
        }
        // It may have been too much memory or time for all.
        session.go_on()?;
        self.is_partial |= error.kind == SqlErrorKind::Unavailable;
        if columns.len() == 1 || error.kind == SqlErrorKind::Unavailable {
            left_out.extend(columns.iter().map(|column| format!("{} ({})", text::clip(column, 64), error.message)));
            return Ok(());
        }
        self.forget(before);
        let (first, second) = columns.split_at(columns.len() / 2);
        self.read(session, snapshot, table, first, left_out)?;
        self.read(session, snapshot, table, second, left_out)
    }

    /// Takes back all that was added since there were so many places and cells.
    fn forget(&mut self, (places, cells): (usize, usize)) {
        let groups: usize = self.cells[cells..].iter().map(|cell| cell.groups as usize).sum();
        self.texts -= self.cells[cells..].iter().map(|cell| cell.text.len() + BLOCK).sum::<usize>();
        self.groups.numbers.truncate(self.groups.numbers.len() - groups);
        self.exact.truncate(cells);
        self.cells.truncate(cells);
        self.places.truncate(places);
        self.is_out_of_room = false;
    }

    fn read_all(
        &mut self,
        session: &Session,
        snapshot: &Snapshot,
        table: &str,
        columns: &[String],
    ) -> Result<(), SqlError> {
        let list = columns.iter().map(|column| short(column)).collect::<Vec<_>>().join(", ");
        let sql = format!("SELECT {list} FROM {} LIMIT {ROWS}", quoted(table));
        let mut statement = compile(&sql, session, snapshot)?;
        let first = self.places.len();
        let name: Arc<str> = table.into();
        self.places.extend(columns.iter().map(|column| (Arc::clone(&name), column.clone())));
        let mut seen: Vec<HashSet<u64>> = vec![HashSet::new(); columns.len()];
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next().map_err(|error| session.step_error(&error))? {
            for (column, seen) in seen.iter_mut().enumerate() {
                let Ok(ValueRef::Text(bytes)) = row.get_ref(column) else { continue };
                let Ok(text) = std::str::from_utf8(bytes) else { continue };
                let digest = self.hasher.hash_one(text);
                let is_new = seen.len() < VALUES && !text.trim().is_empty() && !seen.contains(&digest);
                if is_new && text.chars().count() <= CHARACTERS {
                    seen.insert(digest);
                    self.add(first + column, text);
                }
            }
            if self.is_full() {
                break;
            }
        }
        Ok(())
    }

    fn is_full(&mut self) -> bool {
        let is_late = Instant::now() >= self.until;
        self.is_partial |= is_late;
        self.is_out_of_room || is_late
    }

    fn add(&mut self, place: usize, text: &str) {
        let (Ok(id), Ok(place)) = (u32::try_from(self.cells.len()), u32::try_from(place)) else {
            return;
        };
        let groups = trigrams(text);
        let bytes = text.len() + BLOCK;
        let grown = grown_by(&self.cells, 1) + grown_by(&self.exact, 1) + self.groups.grown_by(groups.len());
        self.is_out_of_room |= self.bytes() + grown + bytes + SEEN > BYTES;
        if self.is_out_of_room {
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

    /// Cells that match each phrase, best first.
    pub(crate) fn find(
        &self,
        session: &Session,
        phrases: &[Phrase],
        how: &Match,
        limit: usize,
    ) -> Result<Vec<Vec<Hit>>, SqlError> {
        let limit = limit.min(HITS / phrases.len().max(1));
        let mut shared = Shared { counts: vec![0; self.cells.len()], touched: Vec::new() };
        let mut find = |Phrase { text: phrase, is_cut }: &Phrase| {
            session.go_on()?;
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

/// An expression for the values of a column that are looked at. The engine skips long texts and blobs by their header, without reading them.
fn short(column: &str) -> String {
    let name = quoted(column);
    format!("CASE WHEN typeof({name}) = 'text' AND octet_length({name}) <= {} THEN {name} END", CHARACTERS * 4)
}

/// The columns of a table, as many together as one statement may read.
fn statements(table: &Table) -> Vec<Vec<String>> {
    let (mut all, mut bytes): (Vec<Vec<String>>, usize) = (Vec::new(), 0);
    for column in &table.columns {
        let more = short(&column.name).len() + 2;
        match all.last_mut() {
            Some(last) if last.len() < COLUMNS && bytes + more <= STATEMENT => last.push(column.name.clone()),
            _ => {
                all.push(vec![column.name.clone()]);
                bytes = quoted(&table.name).len();
            }
        }
        bytes += more;
    }
    all
}

/// How texts are compared: letter case and surrounding space aside.
fn normal(text: &str) -> String {
    text.trim().to_lowercase()
}

/// Whether nothing more can be read: otherwise it may be one column that cannot, or one table, such as one whose module is missing.
fn is_of_all(error: &SqlError) -> bool {
    matches!(error.kind, SqlErrorKind::Timeout | SqlErrorKind::Cancelled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_holds_no_more_than_its_bound() {
        let mut index = Index::new(Duration::from_secs(3_600));
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
