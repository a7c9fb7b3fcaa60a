//! The index of values: the different short texts of every granted table, found by equality, by shared groups of three characters,
//! or by edit distance.

use std::collections::{HashMap, HashSet};
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
/// Bytes of the whole index, roughly.
const BYTES: usize = 64 << 20;
/// Columns read by one statement, so that it stays within the engine's limits.
const COLUMNS: usize = 100;
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
    places: Vec<(String, String)>,
    cells: Vec<Cell>,
    /// Cells by their text in lower case.
    exact: HashMap<String, Vec<u32>>,
    groups: HashMap<Trigram, Vec<u32>>,
    bytes: usize,
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
        let mut index = Self {
            places: Vec::new(),
            cells: Vec::new(),
            exact: HashMap::new(),
            groups: HashMap::new(),
            bytes: 0,
            until: Instant::now() + time,
            is_partial: false,
        };
        for table in snapshot.catalog.tables.iter().filter(|table| !table.is_view()) {
            for columns in names(table).chunks(COLUMNS) {
                match index.read(session, snapshot, &table.name, columns) {
                    Ok(()) => {}
                    // What is left out is not found; that is better than no index at all.
                    Err(error) if is_of_the_table(&error) => {
                        tracing::warn!(table = table.name, error = error.message, "values of a table are not indexed");
                        index.is_partial |= error.kind == SqlErrorKind::Unavailable;
                    }
                    Err(error) => return Err(error),
                }
            }
            if index.is_full() {
                tracing::info!(table = table.name, "the index of values ends here");
                break;
            }
        }
        Ok(index)
    }

    fn read(
        &mut self,
        session: &Session,
        snapshot: &Snapshot,
        table: &str,
        columns: &[String],
    ) -> Result<(), SqlError> {
        // The engine skips long texts and blobs by their header, without reading them.
        let short = |name: &String| {
            let name = quoted(name);
            format!("CASE WHEN typeof({name}) = 'text' AND octet_length({name}) <= {} THEN {name} END", CHARACTERS * 4)
        };
        let list = columns.iter().map(short).collect::<Vec<_>>().join(", ");
        let sql = format!("SELECT {list} FROM {} LIMIT {ROWS}", quoted(table));
        let mut statement = compile(&sql, session, snapshot)?;
        let first = self.places.len();
        self.places.extend(columns.iter().map(|column| (table.to_owned(), column.clone())));
        let mut seen: Vec<HashSet<Box<str>>> = vec![HashSet::new(); columns.len()];
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next().map_err(|error| session.step_error(&error))? {
            for (column, seen) in seen.iter_mut().enumerate() {
                let Ok(ValueRef::Text(bytes)) = row.get_ref(column) else { continue };
                let Ok(text) = std::str::from_utf8(bytes) else { continue };
                let is_new = seen.len() < VALUES && !text.trim().is_empty() && !seen.contains(text);
                if is_new && text.chars().count() <= CHARACTERS {
                    seen.insert(text.into());
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
        self.bytes >= BYTES || is_late
    }

    fn add(&mut self, place: usize, text: &str) {
        let (Ok(id), Ok(place)) = (u32::try_from(self.cells.len()), u32::try_from(place)) else {
            return;
        };
        let groups = trigrams(text);
        for group in &groups {
            self.groups.entry(*group).or_default().push(id);
        }
        self.exact.entry(normal(text)).or_default().push(id);
        self.bytes += 2 * text.len() + 4 * groups.len() + 96;
        self.cells.push(Cell { place, groups: u32::try_from(groups.len()).unwrap_or(u32::MAX), text: text.into() });
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
                Match::Exact => self.exact.get(&normal(phrase)).into_iter().flatten().map(|id| (1.0, *id)).collect(),
                Match::Ngram => self.by_groups(phrase, &mut shared),
                Match::Fuzzy => self.by_distance(phrase, &mut shared),
                Match::Vector | Match::Other(_) => Vec::new(),
            };
            let best = self.best(scored, phrase, limit);
            Ok(best.into_iter().filter_map(|(score, id)| self.hit(score, id)).collect())
        };
        phrases.iter().map(&mut find).collect()
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
        let postings = groups.iter().filter_map(|group| self.groups.get(group));
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
            table: Some(table.clone()),
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
    fn count<'p>(&mut self, postings: impl Iterator<Item = &'p Vec<u32>>) -> impl Iterator<Item = (u32, u32)> {
        for id in postings.flatten() {
            if let Some(count) = self.counts.get_mut(*id as usize) {
                if *count == 0 {
                    self.touched.push(*id);
                }
                *count += 1;
            }
        }
        let counts = &mut self.counts;
        self.touched.drain(..).filter_map(|id| Some((id, std::mem::take(counts.get_mut(id as usize)?))))
    }
}

fn names(table: &Table) -> Vec<String> {
    table.columns.iter().map(|column| column.name.clone()).collect()
}

/// How texts are compared: letter case and surrounding space aside.
fn normal(text: &str) -> String {
    text.trim().to_lowercase()
}

/// Whether only this table cannot be read, such as one whose module is missing.
fn is_of_the_table(error: &SqlError) -> bool {
    !matches!(error.kind, SqlErrorKind::Timeout | SqlErrorKind::Cancelled | SqlErrorKind::TooLarge)
}
