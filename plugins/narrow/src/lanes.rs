//! What the lanes of the port `search` find, as ranked lists of tables and columns.

use std::collections::BTreeMap;

use serde_json::Value;
use syrch_plugin::prelude::*;
use syrch_plugin::text::clip;

use crate::Narrowing;
use crate::fuse::List;
use crate::phrases::Phrases;
use crate::places::Places;

/// Hits of a look for the whole question, and of one for a name.
const BROAD: u32 = 100;
const NARROW: u32 = 20;
/// Looks of one call.
const CALL: usize = 64;
/// Notes and examples that are looked at.
const NOTES: u32 = 10;
/// The least score of what others are told of.
const TOLD: f64 = 0.2;
/// What a note counts that only has a line which is like a few words of the question.
const LIKE: f64 = 0.5;

/// A column by the number of its table and its own.
pub(crate) type Place = (usize, usize);

/// All that was found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) tables: Vec<List<usize>>,
    pub(crate) columns: Vec<List<Place>>,
    /// What the other roles may be told, each with how much it is worth.
    pub(crate) hints: Vec<Hit>,
}

impl Found {
    /// The best hints, no text twice. Of a narrowed catalog, none that speaks of a table which is not shown.
    pub(crate) fn hints(&self, most: usize, shown: &[Relevant]) -> Vec<Hit> {
        let is_shown = |hit: &&Hit| match &hit.table {
            Some(name) if !shown.is_empty() => shown.iter().any(|table| table.table.eq_ignore_ascii_case(name)),
            _ => true,
        };
        let mut all: Vec<&Hit> = self.hints.iter().filter(|hit| hit.score >= TOLD).filter(is_shown).collect();
        all.sort_by(|a, b| b.score.total_cmp(&a.score));
        let mut hints: Vec<Hit> = Vec::new();
        for hint in all {
            let is_told = |kept: &Hit| (&kept.path, &kept.snippet) == (&hint.path, &hint.snippet);
            if hints.len() < most && !hints.iter().any(is_told) {
                hints.push(hint.clone());
            }
        }
        hints
    }
}

/// One way of looking, and what is made of its hits.
struct Lanes<'a, H> {
    host: &'a H,
    places: &'a Places,
    found: Found,
}

/// Looks for the question's words and names in the catalog.
pub(crate) fn look(host: &impl LinkerHost, habits: &Narrowing, phrases: &Phrases, places: &Places) -> Found {
    let mut lanes = Lanes { host, places, found: Found::default() };
    let whole = std::slice::from_ref(&phrases.text);
    lanes.add("words", &Lane::Lexical, habits.lexical, whole, BROAD);
    lanes.add("spelling", &Lane::PathFuzzy, habits.path_fuzzy, &phrases.names, NARROW);
    lanes.add("comments", &Lane::SegmentFuzzy, habits.segment_fuzzy, &phrases.names, NARROW);
    lanes.add("meaning", &Lane::Vector, habits.vector, whole, BROAD);
    lanes.found
}

impl<H: LinkerHost> Lanes<'_, H> {
    /// Looks for each text among tables and among columns. A table has the sum of its scores for the texts, and by its columns the
    /// sum of the best column for each text.
    fn add(&mut self, lane: &'static str, how: &Lane, weight: f64, texts: &[String], limit: u32) {
        if weight == 0.0 {
            return;
        }
        let by_name = self.all(&Corpus::Tables, how, texts, limit);
        let tables = by_name.iter().flatten().filter_map(|hit| Some((self.places.table_of(hit)?, hit.score)));
        let tables = List::of(lane, weight, tables);
        let by_column = self.all(&Corpus::Columns, how, texts, BROAD);
        let mut best_of: Vec<(usize, f64)> = Vec::new();
        for hits in &by_column {
            let mut best: BTreeMap<usize, f64> = BTreeMap::new();
            for hit in hits {
                if let Some(table) = self.places.table_of(hit) {
                    let kept = best.entry(table).or_default();
                    *kept = kept.max(hit.score);
                }
            }
            best_of.extend(best);
        }
        let columns = by_column.iter().flatten().filter_map(|hit| Some((self.places.column_of(hit)?, hit.score)));
        let columns = List::of(lane, weight, columns);
        self.found.tables.extend([tables, List::of(lane, weight, best_of)]);
        self.found.columns.push(columns);
    }

    /// The hits for each text. A lane that the host lacks finds nothing; any other error is told and finds nothing either.
    fn all(&self, corpus: &Corpus, how: &Lane, texts: &[String], limit: u32) -> Vec<Vec<Hit>> {
        let query = |text: &String| Query { corpus: corpus.clone(), lane: how.clone(), text: text.clone(), limit };
        let queries: Vec<Query> = texts.iter().map(query).collect();
        let mut all = Vec::with_capacity(queries.len());
        for some in queries.chunks(CALL) {
            for found in self.host.look_up_all(some) {
                match found {
                    Ok(hits) => all.push(hits),
                    Err(PortError::Unsupported) => return all,
                    Err(error) => {
                        self.host.note(Level::Warn, &port_failure(&error).message);
                        return all;
                    }
                }
            }
        }
        all
    }
}

/// Looks for notes and solved examples, and for the tables that they speak of.
pub(crate) fn look_at_notes(
    host: &impl LinkerHost,
    habits: &Narrowing,
    phrases: &Phrases,
    places: &Places,
    found: &mut Found,
) {
    let lanes = Lanes { host, places, found: Found::default() };
    let whole = std::slice::from_ref(&phrases.text);
    let mut notes = lanes.all(&Corpus::Notes, &Lane::Lexical, whole, NOTES).concat();
    for hit in lanes.all(&Corpus::Notes, &Lane::SegmentFuzzy, whole, NOTES).concat() {
        if notes.iter().all(|note| note.id != hit.id) {
            notes.push(Hit { score: LIKE * hit.score, ..hit });
        }
    }
    // Notes on another database's tables say nothing here.
    notes.retain(|hit| hit.table.is_none() || places.table_of(hit).is_some());
    let examples = lanes.all(&Corpus::Examples, &Lane::Lexical, whole, NOTES).concat();
    let mut tables: Vec<(usize, f64)> = Vec::new();
    tables.extend(notes.iter().filter_map(|hit| Some((places.table_of(hit)?, hit.score))));
    for hit in &examples {
        tables.extend(tables_of(hit, places).into_iter().map(|table| (table, hit.score)));
    }
    let columns = notes.iter().filter_map(|hit| Some((places.column_of(hit)?, hit.score)));
    found.columns.push(List::of("notes", habits.notes, columns));
    found.tables.push(List::of("notes", habits.notes, tables));
    found.hints.extend(notes);
    found.hints.extend(examples.iter().map(with_statement));
}

/// The statement of a solved example.
fn statement(hit: &Hit) -> Option<String> {
    let payload: Value = serde_json::from_str(hit.payload.as_deref()?).ok()?;
    payload["sql"].as_str().map(str::to_owned)
}

/// The tables whose names stand in the statement of a solved example.
fn tables_of(hit: &Hit, places: &Places) -> Vec<usize> {
    let Some(sql) = statement(hit) else { return Vec::new() };
    let words = sql.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$'));
    let mut tables: Vec<usize> = words.filter_map(|word| places.table(word)).collect();
    tables.sort_unstable();
    tables.dedup();
    tables
}

/// An example as a hint: its question, and the statement that answers it.
fn with_statement(hit: &Hit) -> Hit {
    let told = match (&hit.snippet, statement(hit)) {
        (Some(question), Some(sql)) => Some(format!("{question} => {}", clip(&sql, 2_000))),
        (question, _) => question.clone(),
    };
    Hit { snippet: told, ..hit.clone() }
}
