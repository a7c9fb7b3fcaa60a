//! What speaks against a statement that ran, as numbers.

use std::collections::BTreeSet;

use serde_json::{Value as JsonValue, json};
use syrch_plugin::draws::Ran;
use syrch_plugin::prelude::*;

use crate::Settings;
use crate::solver::joins::has_odd_join;
use crate::solver::probes::Probes;
use crate::solver::words::{naming_stems, stems};

/// The signs of one statement and its result.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Evidence {
    pub(crate) absent_value: bool,
    pub(crate) odd_join: bool,
    /// The number of words of the question that name an unused table or column, 0 to 3; more count as 3.
    pub(crate) unused_words: usize,
    pub(crate) repeated_rows: bool,
    /// The number of columns of the result, 0 to 6; more count as 6.
    pub(crate) columns: usize,
    /// The number of tables that the statement reads, 0 to 5; more count as 5.
    pub(crate) tables: usize,
}

impl Evidence {
    /// What the vote of such a statement weighs: `exp(−Σ share × count)`.
    pub(crate) fn weight(&self, settings: &Settings) -> f64 {
        let flag = |is: bool| f64::from(u8::from(is));
        let against = settings.absent_value * flag(self.absent_value)
            + settings.odd_join * flag(self.odd_join)
            + settings.unused_word * self.unused_words as f64
            + settings.repeated_rows * flag(self.repeated_rows)
            + settings.column * self.columns as f64
            - settings.table * self.tables as f64;
        (-against).exp()
    }

    /// The signs in words; empty when nothing speaks against it.
    pub(crate) fn reported(&self) -> String {
        let signs = [
            (self.absent_value, "a value that its column does not hold"),
            (self.odd_join, "a join away from the foreign keys"),
            (self.unused_words > 0, "words of the question that it does not use"),
            (self.repeated_rows, "repeated rows"),
        ];
        signs.iter().filter(|(is, _)| *is).map(|(_, sign)| *sign).collect::<Vec<_>>().join(", ")
    }

    pub(crate) fn json(&self, weight: f64) -> JsonValue {
        json!({
            "weight": weight, "absent_value": self.absent_value, "odd_join": self.odd_join, "unused_words": self.unused_words,
            "repeated_rows": self.repeated_rows, "columns": self.columns, "tables": self.tables,
        })
    }
}

/// Looks at the statements of one task.
pub(crate) struct Looker<'a, H> {
    catalog: &'a Catalog,
    /// Stems of the question that name a table or a column.
    asked: BTreeSet<String>,
    probes: Probes<'a, H>,
}

impl<'a, H: Run + Sql> Looker<'a, H> {
    pub(crate) fn new(host: &'a H, catalog: &'a Catalog, question: &str, probes: bool) -> Self {
        let names = catalog
            .tables
            .iter()
            .flat_map(|table| std::iter::once(&table.name).chain(table.columns.iter().map(|column| &column.name)));
        let named: BTreeSet<String> = names.flat_map(|name| stems(name)).collect();
        let asked = naming_stems(question).into_iter().filter(|stem| named.contains(stem)).collect();
        Self { catalog, asked, probes: Probes::new(host, catalog, probes) }
    }

    pub(crate) fn evidence_of(&mut self, ran: &Ran) -> Evidence {
        let facts = &ran.facts;
        Evidence {
            absent_value: self.probes.has_absent_value(facts),
            odd_join: has_odd_join(self.catalog, &facts.tables, &facts.normalized),
            unused_words: self.unused_words(facts),
            repeated_rows: self.probes.has_repeated_rows(ran),
            columns: ran.profile.columns.len().min(6),
            tables: facts.tables.len().min(5),
        }
    }

    fn unused_words(&self, facts: &Facts) -> usize {
        let literals = facts.literals.iter().map(|literal| &literal.text);
        let used: BTreeSet<String> =
            facts.tables.iter().chain(&facts.columns).chain(literals).flat_map(|text| stems(text)).collect();
        self.asked.difference(&used).count().min(3)
    }
}
