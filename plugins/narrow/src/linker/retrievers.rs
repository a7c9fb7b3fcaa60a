//! Runs the retrievers of the port `retrieval` and ranks the tables and columns that they find.

use std::collections::BTreeMap;

use syrch_plugin::prelude::*;
use syrch_plugin::prompt::Example;

use crate::Settings;
use crate::linker::fuse::List;
use crate::linker::phrases::Phrases;
use crate::linker::places::Places;

/// Hits of a query for the whole question, and of one for a name.
const BROAD: u32 = 100;
const NARROW: u32 = 20;
/// Looks of one call.
const CALL: usize = 64;
/// The most notes and examples that are read.
const NOTES: u32 = 10;
/// The least score of a hint.
const HINTED: f64 = 0.2;
/// The weight of a note of which only a line is like a few words of the question.
const LIKE: f64 = 0.5;

/// A column by the number of its table and its own.
pub(crate) type Place = (usize, usize);

/// All that was found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) tables: Vec<List<usize>>,
    pub(crate) columns: Vec<List<Place>>,
    /// The possible hints for the other roles, each with its score.
    pub(crate) hints: Vec<Hit>,
}

impl Found {
    /// The best hints, no text twice, and the solved examples that are most like the question. Of a
    /// narrowed catalog, none that names a table which is not shown.
    pub(crate) fn hints(
        &self,
        settings: &Settings,
        shown: &[Relevant],
        places: &Places,
    ) -> Vec<Hit> {
        let mut all: Vec<&Hit> = self
            .hints
            .iter()
            .filter(|hit| hit.score >= HINTED)
            .filter(|hit: &&Hit| match &hit.table {
                Some(name) if !shown.is_empty() => {
                    let place = places.table(name);
                    shown.iter().any(|table| place.is_some() && places.table(&table.table) == place)
                }
                _ => true,
            })
            .collect();
        all.sort_by(|a, b| b.score.total_cmp(&a.score));
        let mut hints: Vec<Hit> = Vec::new();
        let mut examples: Vec<Hit> = Vec::new();
        for hint in all {
            let is_example = hint.corpus == Corpus::Examples;
            let most = if is_example { settings.examples } else { settings.hints };
            let list = if is_example { &mut examples } else { &mut hints };
            if list.len() < most as usize
                && !list
                    .iter()
                    .any(|other: &Hit| (&other.path, &other.snippet) == (&hint.path, &hint.snippet))
            {
                list.push(hint.clone());
            }
        }
        hints.extend(examples);
        hints
    }
}

/// One way of looking, and what is made of its hits.
struct Retrievers<'a, H> {
    host: &'a H,
    places: &'a Places,
    found: Found,
}

/// Looks for the question's words and names in the catalog.
pub(crate) fn search(
    host: &impl LinkerHost,
    settings: &Settings,
    phrases: &Phrases,
    places: &Places,
) -> Found {
    let mut retrievers = Retrievers { host, places, found: Found::default() };
    let whole = std::slice::from_ref(&phrases.text);
    retrievers.add("words", &Retriever::Lexical, settings.lexical, whole, BROAD);
    retrievers.add("spelling", &Retriever::PathFuzzy, settings.path_fuzzy, &phrases.names, NARROW);
    retrievers.add(
        "comments",
        &Retriever::SegmentFuzzy,
        settings.segment_fuzzy,
        &phrases.names,
        NARROW,
    );
    retrievers.add("meaning", &Retriever::Vector, settings.vector, whole, BROAD);
    retrievers.found
}

impl<H: LinkerHost> Retrievers<'_, H> {
    /// Looks for each text among tables and among columns. A table has the sum of its scores for
    /// the texts, and by its columns the sum of the best column for each text.
    fn add(
        &mut self,
        retriever: &'static str,
        how: &Retriever,
        weight: f64,
        texts: &[String],
        limit: u32,
    ) {
        if weight == 0.0 {
            return;
        }
        let by_name = self.all(&Corpus::Tables, how, texts, limit);
        let tables = by_name
            .iter()
            .flatten()
            .filter_map(|hit| Some((self.places.table_of(hit)?, hit.score)));
        let tables = List::new(retriever, weight, tables);
        let by_column = self.all(&Corpus::Columns, how, texts, BROAD);
        let mut best_of: Vec<(usize, f64)> = Vec::new();
        for hits in &by_column {
            let mut best: BTreeMap<usize, f64> = BTreeMap::new();
            for hit in hits {
                if let Some(table) = self.places.table_of(hit) {
                    let most = best.entry(table).or_default();
                    *most = most.max(hit.score);
                }
            }
            best_of.extend(best);
        }
        let columns = by_column
            .iter()
            .flatten()
            .filter_map(|hit| Some((self.places.column_of(hit)?, hit.score)));
        let columns = List::new(retriever, weight, columns);
        self.found.tables.extend([tables, List::new(retriever, weight, best_of)]);
        self.found.columns.push(columns);
    }

    /// The hits for each text. A retriever that the host does not have finds nothing; so does any
    /// other error, which is logged.
    fn all(&self, corpus: &Corpus, how: &Retriever, texts: &[String], limit: u32) -> Vec<Vec<Hit>> {
        let queries: Vec<RetrievalQuery> = texts
            .iter()
            .map(|text: &String| RetrievalQuery {
                corpus: corpus.clone(),
                retriever: how.clone(),
                text: text.clone(),
                limit,
            })
            .collect();
        let mut all = Vec::with_capacity(queries.len());
        for some in queries.chunks(CALL) {
            for found in self.host.retrieve_all(some) {
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

/// Looks for notes and solved examples, and for the tables that they name.
pub(crate) fn look_at_notes(
    host: &impl LinkerHost,
    settings: &Settings,
    phrases: &Phrases,
    places: &Places,
    found: &mut Found,
) {
    let retrievers = Retrievers { host, places, found: Found::default() };
    let whole = std::slice::from_ref(&phrases.text);
    let mut notes = retrievers.all(&Corpus::Notes, &Retriever::Lexical, whole, NOTES).concat();
    for hit in retrievers.all(&Corpus::Notes, &Retriever::SegmentFuzzy, whole, NOTES).concat() {
        if notes.iter().all(|note| note.id != hit.id) {
            notes.push(Hit { score: LIKE * hit.score, ..hit });
        }
    }
    // Notes on another database's tables say nothing here.
    notes.retain(|hit| hit.table.is_none() || places.table_of(hit).is_some());
    let examples = retrievers.all(&Corpus::Examples, &Retriever::Lexical, whole, NOTES).concat();
    let mut tables: Vec<(usize, f64)> = Vec::new();
    tables.extend(notes.iter().filter_map(|hit| Some((places.table_of(hit)?, hit.score))));
    for hit in &examples {
        tables.extend(tables_of(hit, places).into_iter().map(|table| (table, hit.score)));
    }
    let columns = notes.iter().filter_map(|hit| Some((places.column_of(hit)?, hit.score)));
    found.columns.push(List::new("notes", settings.notes, columns));
    found.tables.push(List::new("notes", settings.notes, tables));
    found.hints.extend(notes);
    found.hints.extend(examples.iter().filter_map(with_statement));
}

/// The tables whose names stand in the statement of a solved example.
fn tables_of(hit: &Hit, places: &Places) -> Vec<usize> {
    let Some(Example { sql, .. }) = Example::from_hit(hit) else { return Vec::new() };
    let words = sql.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$' | '.')));
    // A word with a dot is a table with its schema, or else a column of a table.
    let mut tables: Vec<usize> = words
        .filter_map(|word: &str| {
            places.table(word).or_else(|| word.split('.').find_map(|part| places.table(part)))
        })
        .collect();
    tables.sort_unstable();
    tables.dedup();
    tables
}

/// An example as a hint: its question, and the statement that answers it; `None` if it is too long
/// for a prompt.
fn with_statement(hit: &Hit) -> Option<Hit> {
    let Example { question, sql } = Example::from_hit(hit)?;
    Some(Hit { snippet: Some(format!("{question} => {sql}")), ..hit.clone() })
}
