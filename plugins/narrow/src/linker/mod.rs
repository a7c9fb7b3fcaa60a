//! Finds the tables and columns that a question needs, and narrows the catalog to them.

pub(crate) mod cells;
pub(crate) mod copies;
pub(crate) mod facts;
pub(crate) mod fit;
pub(crate) mod fuse;
pub(crate) mod joins;
pub(crate) mod keywords;
pub(crate) mod made;
pub(crate) mod phrases;
pub(crate) mod places;
pub(crate) mod retrievers;
pub(crate) mod words;

use serde_json::json;
use syrch_plugin::prelude::*;
use syrch_plugin::prompt;
use syrch_plugin::text::count;

use crate::Narrow;
use crate::linker::copies::Copies;
use crate::linker::fuse::{firsts, fuse};
use crate::linker::joins::Joins;
use crate::linker::phrases::Phrases;
use crate::linker::places::Places;
use crate::linker::retrievers::Found;

impl LinkerRole for Narrow {
    fn link(
        &self,
        host: &impl LinkerHost,
        problem: &Problem,
        catalog: &Catalog,
    ) -> Result<Linked, Failure> {
        let fits =
            prompt::catalog(catalog, usize::MAX).len() <= self.settings.catalog_bytes as usize;
        let makes = self.settings.made_examples && self.settings.examples > 0;
        let samples = self.settings.facts || makes;
        if fits && self.settings.hints == 0 && self.settings.examples == 0 && !samples {
            return Ok(Linked { tables: Vec::new(), hints: Vec::new() });
        }
        let mut phrases = Phrases::from_problem(problem);
        if !fits && self.settings.keywords.is_asked(&phrases) {
            phrases.add_keywords(keywords::ask(host, problem)?);
        }
        let places = Places::new(catalog);
        let found = self.retrieve(host, &phrases, &places, fits);
        let tables =
            if fits { Vec::new() } else { self.select_tables(host, catalog, &phrases, &found) };
        let mut hints = found.hints(&self.settings, &tables, &places);
        if samples {
            let sampled = facts::sample(host, catalog, &tables);
            if makes && !hints.iter().any(|hit| hit.corpus == Corpus::Examples) {
                hints.extend(
                    made::examples(catalog, &problem.terms, &sampled)
                        .into_iter()
                        .take(self.settings.examples as usize),
                );
            }
            if self.settings.facts {
                hints.extend(facts::hints(catalog, &sampled));
            }
        }
        Ok(Linked { hints, tables })
    }
}

impl Narrow {
    /// Collects the finds of all retrievers. For a catalog that fits, only hints.
    fn retrieve(
        &self,
        host: &impl LinkerHost,
        phrases: &Phrases,
        places: &Places,
        fits: bool,
    ) -> Found {
        let mut found = if fits {
            Found::default()
        } else {
            retrievers::search(host, &self.settings, phrases, places)
        };
        if self.settings.hints > 0 || self.settings.examples > 0 || self.settings.notes > 0.0 {
            retrievers::look_at_notes(host, &self.settings, phrases, places, &mut found);
        }
        if self.settings.hints > 0 || self.settings.values > 0.0 {
            cells::search(host, &self.settings, phrases, places, &mut found);
        }
        found
    }

    /// The selected tables, best first; empty if nothing at all was found, since the first tables
    /// that fit are no better than all.
    fn select_tables(
        &self,
        host: &impl LinkerHost,
        catalog: &Catalog,
        phrases: &Phrases,
        found: &Found,
    ) -> Vec<Relevant> {
        let mut tables = fuse(&found.tables, self.settings.smoothing);
        if tables.is_empty() {
            host.note(Level::Warn, "nothing in the catalog fits the question: it stays whole");
            return Vec::new();
        }
        let copies = Copies::new(catalog, &phrases.text);
        copies.sink(&mut tables);
        let joins = Joins::new(catalog);
        joins.spread(&mut tables, self.settings.neighbours);
        let least = self.settings.least * tables.first().map_or(0.0, |best| best.score);
        let sure = copies.replace_copies(firsts(&found.tables));
        tables.retain(|table| table.score >= least || sure.contains(&table.key));
        let order = joins.add_join_paths(&tables, self.settings.closure as usize, &sure);
        let columns = fuse(&found.columns, self.settings.smoothing);
        let selected = fit::fit(catalog, &joins, &order, &columns, &self.settings);
        host.note(
            Level::Info,
            &format!("kept {} of {}", selected.len(), count(catalog.tables.len() as u64, "table")),
        );
        let shown: Vec<_> = selected
            .iter()
            .map(|table| json!({ "table": table.table, "reason": table.reason }))
            .collect();
        host.event(None, "narrowed", &json!({ "of": catalog.tables.len(), "kept": shown }));
        selected
    }
}
