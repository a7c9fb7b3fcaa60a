//! The evidence against a statement that ran.

use std::collections::BTreeSet;

use serde_json::{Value as JsonValue, json};
use syrch_plugin::draws::Ran;
use syrch_plugin::prelude::*;
use syrch_plugin::words::{naming_stems, stems};

use crate::Settings;
use crate::solver::probes::Probes;

/// The findings against one statement and its result.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Evidence {
    /// True if the host or the SDK doubts the result.
    pub(crate) doubted: bool,
    pub(crate) absent_value: bool,
    /// The number of words of the question that name an unused table or column, 0 to 3; more count
    /// as 3.
    pub(crate) unused_words: usize,
    pub(crate) repeated_rows: bool,
    /// True if the result is a single 0 or NULL.
    pub(crate) zero: bool,
}

impl Evidence {
    /// Returns the weight of the statement's vote, 0 to 1: each finding leaves the share `keep` of
    /// it.
    pub(crate) fn weight(&self, settings: &Settings) -> f64 {
        let flags = [self.doubted, self.absent_value, self.repeated_rows, self.zero];
        let findings = flags.into_iter().filter(|is| *is).count() + self.unused_words;
        settings.keep.powi(i32::try_from(findings).unwrap_or(i32::MAX))
    }

    /// The findings in words; empty when nothing speaks against it.
    pub(crate) fn describe_findings(&self) -> String {
        let findings = [
            (self.doubted, "a doubt"),
            (self.absent_value, "a value that its column does not hold"),
            (self.unused_words > 0, "words of the question that it does not use"),
            (self.repeated_rows, "repeated rows"),
            (self.zero, "a result of 0"),
        ];
        findings
            .iter()
            .filter(|(is, _)| *is)
            .map(|(_, finding)| *finding)
            .collect::<Vec<_>>()
            .join(", ")
    }

    pub(crate) fn json(&self, weight: f64) -> JsonValue {
        json!({
            "weight": weight, "doubted": self.doubted, "absent_value": self.absent_value,
            "unused_words": self.unused_words, "repeated_rows": self.repeated_rows,
            "zero": self.zero,
        })
    }
}

/// Looks at the statements of one task.
pub(crate) struct Looker<'a, H> {
    /// Stems of the question that name a table or a column.
    asked: BTreeSet<String>,
    probes: Probes<'a, H>,
}

impl<'a, H: Run + Sql> Looker<'a, H> {
    pub(crate) fn new(host: &'a H, catalog: &'a Catalog, question: &str, probes: bool) -> Self {
        let names = catalog.tables.iter().flat_map(|table| {
            std::iter::once(&table.name).chain(table.columns.iter().map(|column| &column.name))
        });
        let named: BTreeSet<String> = names.flat_map(|name| stems(name)).collect();
        let asked =
            naming_stems(question).into_iter().filter(|stem| named.contains(stem)).collect();
        Self { asked, probes: Probes::new(host, catalog, probes) }
    }

    pub(crate) fn evidence_of(&mut self, ran: &Ran) -> Evidence {
        let facts = &ran.facts;
        Evidence {
            doubted: !ran.faults.is_empty(),
            absent_value: self.probes.has_absent_value(facts),
            unused_words: self.count_unused_words(facts),
            repeated_rows: self.probes.has_repeated_rows(ran),
            zero: self.probes.is_zero(ran),
        }
    }

    fn count_unused_words(&self, facts: &Facts) -> usize {
        let literals = facts.literals.iter().map(|literal| &literal.text);
        let used: BTreeSet<String> = facts
            .tables
            .iter()
            .chain(&facts.columns)
            .chain(literals)
            .flat_map(|text| stems(text))
            .collect();
        self.asked.difference(&used).count().min(3)
    }
}
