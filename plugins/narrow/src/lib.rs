//! The linker `narrow`: keeps those tables and columns of a large catalog that a question is likely to need, within a number of bytes.
//!
//! `phrases` takes the question apart, `keywords` asks a model for more, `lanes` and `cells` look, `fuse` ranks what they found,
//! `joins` adds the tables between, `fit` cuts to the bytes.

mod cells;
mod fit;
mod fuse;
mod joins;
mod keywords;
mod lanes;
mod phrases;
mod places;
#[cfg(test)]
mod tests;

use serde_json::json;
use syrch_plugin::prelude::*;
use syrch_plugin::prompt;
use syrch_plugin::text::count;

use crate::fuse::{firsts, fuse};
use crate::joins::Joins;
use crate::lanes::Found;
use crate::phrases::Phrases;
use crate::places::Places;

syrch_plugin::settings! {
    /// How a catalog is narrowed.
    pub struct Narrowing {
        /// Bytes that the tables may fill in a prompt. A catalog that is not longer stays whole.
        catalog_bytes: u32 = 4_500, 500 ..= 200_000;
        /// Share of the bytes for as many tables as possible, each with its keys and the columns that were found; the rest shows the
        /// best tables with more of their columns.
        breadth: f64 = 0.6, 0.0 ..= 1.0;
        /// Weight of what is found by words.
        lexical: f64 = 1.0, 0.0 ..= 10.0;
        /// Weight of names that are spelled nearly so.
        path_fuzzy: f64 = 1.0, 0.0 ..= 10.0;
        /// Weight of lines of comments and business terms.
        segment_fuzzy: f64 = 1.0, 0.0 ..= 10.0;
        /// Weight of tables in whose cells a phrase of the question stands, as far as cells are granted.
        values: f64 = 1.0, 0.0 ..= 10.0;
        /// Weight of what is found by embeddings, where the host has a model for them.
        vector: f64 = 1.0, 0.0 ..= 10.0;
        /// Weight of tables that notes and solved examples speak of.
        notes: f64 = 1.0, 0.0 ..= 10.0;
        /// What is added to ranks when lanes are fused: the higher, the more being found by many lanes counts over being the first of one.
        smoothing: f64 = 10.0, 0.0 ..= 1000.0;
        /// The share of a table's own score that its neighbours by foreign keys have too.
        neighbours: f64 = 0.3, 0.0 ..= 1.0;
        /// Tables whose score is below this share of the best one's are left out, also where there is room, as in syrch 0.3.7; but
        /// not those of which one lane is sure.
        least: f64 = 0.3, 0.0 ..= 1.0;
        /// The best tables between which all tables on the shortest join paths are kept.
        closure: u32 = 4, 0 ..= 16;
        /// Whether a model is asked for keywords first (CHESS).
        keywords: bool = false;
        /// Found cells, notes and examples that the other roles are told of, at most.
        hints: u32 = 8, 0 ..= 20;
    }
}

/// The linker.
pub struct Narrow {
    habits: Narrowing,
}

impl Plugin for Narrow {
    const NAME: &'static str = "narrow";
    const SUMMARY: &'static str = "keeps the tables and columns of a large catalog that a question needs";
    type Settings = Narrowing;

    fn new(habits: Narrowing) -> Self {
        Self { habits }
    }
}

impl LinkerRole for Narrow {
    fn link(&self, host: &impl LinkerHost, problem: &Problem, catalog: &Catalog) -> Result<Linked, Failure> {
        let fits = prompt::catalog(catalog, usize::MAX).len() <= self.habits.catalog_bytes as usize;
        if fits && self.habits.hints == 0 {
            return Ok(Linked { tables: Vec::new(), hints: Vec::new() });
        }
        let mut phrases = Phrases::of(problem);
        if self.habits.keywords && !fits {
            phrases.add_keywords(keywords::of(host, problem)?);
        }
        let found = self.found(host, &phrases, &Places::new(catalog), fits);
        let tables = if fits { Vec::new() } else { self.narrowed(host, catalog, &found) };
        Ok(Linked { hints: found.hints(self.habits.hints as usize, &tables), tables })
    }
}

impl Narrow {
    /// What all lanes find. For a catalog that fits, only what others may be told.
    fn found(&self, host: &impl LinkerHost, phrases: &Phrases, places: &Places, fits: bool) -> Found {
        let mut found = if fits { Found::default() } else { lanes::look(host, &self.habits, phrases, places) };
        if self.habits.hints > 0 || self.habits.notes > 0.0 {
            lanes::look_at_notes(host, &self.habits, phrases, places, &mut found);
        }
        if self.habits.hints > 0 || self.habits.values > 0.0 {
            cells::look(host, &self.habits, phrases, places, &mut found);
        }
        found
    }

    /// The tables to keep, best first; none when nothing at all was found, since the first tables that fit are no better than all.
    fn narrowed(&self, host: &impl LinkerHost, catalog: &Catalog, found: &Found) -> Vec<Relevant> {
        let mut tables = fuse(&found.tables, self.habits.smoothing);
        if tables.is_empty() {
            host.note(Level::Warn, "nothing in the catalog fits the question: it stays whole");
            return Vec::new();
        }
        let joins = Joins::new(catalog);
        joins.spread(&mut tables, self.habits.neighbours);
        let least = self.habits.least * tables.first().map_or(0.0, |best| best.score);
        let sure = firsts(&found.tables);
        tables.retain(|table| table.score >= least || sure.contains(&table.key));
        let order = joins.closed(&tables, self.habits.closure as usize, &sure);
        let columns = fuse(&found.columns, self.habits.smoothing);
        let kept = fit::fit(catalog, &joins, &order, &columns, &self.habits);
        host.note(Level::Info, &format!("kept {} of {}", kept.len(), count(catalog.tables.len() as u64, "table")));
        let shown: Vec<_> = kept.iter().map(|table| json!({ "table": table.table, "reason": table.reason })).collect();
        host.event(None, "narrowed", &json!({ "of": catalog.tables.len(), "kept": shown }));
        kept
    }
}

syrch_plugin::export!(Narrow: linker);
