//! Small statements that look into the database without a cell coming back: all that is used of
//! their results is the number of rows, and whether a result equals another one.

use std::collections::BTreeMap;

use syrch_plugin::draws::Ran;
use syrch_plugin::names::{from_name, quote_if_odd};
use syrch_plugin::prelude::*;

// Left over for the candidates' own statements.
const SPARE_RUNS: u32 = 32;
// The results of one row and column that say nothing.
const NOTHING: [&str; 2] = ["SELECT 0 AS n", "SELECT NULL AS n"];

/// The probes of one task, with their results.
pub(crate) struct Probes<'a, H> {
    host: &'a H,
    catalog: &'a Catalog,
    is_on: bool,
    /// The results by statement; `None` if the statement failed.
    known: BTreeMap<String, Option<Found>>,
}

/// The part of a probe's result that is used.
#[derive(Clone)]
struct Found {
    rows: u64,
    /// `None` if the host has no fingerprints.
    fingerprint: Option<String>,
}

impl<'a, H: Run + Sql> Probes<'a, H> {
    pub(crate) fn new(host: &'a H, catalog: &'a Catalog, is_on: bool) -> Self {
        Self { host, catalog, is_on, known: BTreeMap::new() }
    }

    /// Returns true if a text is compared with a column that does not hold it. Numbers, dates and
    /// patterns are ignored, since a comparison with an absent one is common; in a statement that
    /// changes letter case, case is ignored.
    pub(crate) fn has_absent_value(&mut self, facts: &Facts) -> bool {
        let any_case = facts
            .functions
            .iter()
            .any(|name| matches!(name.to_lowercase().as_str(), "lower" | "upper"));
        let texts: Vec<String> = facts
            .literals
            .iter()
            .filter_map(|literal| self.value_probe(literal, any_case))
            .collect();
        self.run(&texts).iter().flatten().any(|found| found.rows == 0)
    }

    /// Returns true if rows of the result occur more than once.
    pub(crate) fn has_repeated_rows(&mut self, ran: &Ran) -> bool {
        if ran.profile.rows < 2 || ran.profile.truncated {
            return false;
        }
        let text = format!("SELECT DISTINCT * FROM ({}) AS t", ran.facts.normalized);
        self.run(&[text]).iter().flatten().any(|distinct| distinct.rows < ran.profile.rows)
    }

    /// Returns true if the result is a single 0 or NULL.
    pub(crate) fn is_zero(&mut self, ran: &Ran) -> bool {
        if ran.profile.rows != 1 || ran.profile.columns.len() != 1 {
            return false;
        }
        let nothing = self.run(&NOTHING.map(str::to_owned));
        nothing.iter().flatten().any(|found| found.fingerprint.as_ref() == Some(&ran.fingerprint))
    }

    fn value_probe(&self, literal: &Literal, any_case: bool) -> Option<String> {
        let table = literal.table.as_deref()?;
        let column = literal.column.as_deref()?;
        if !literal.text.chars().any(char::is_alphabetic) || literal.text.contains('%') {
            return None;
        }
        let table = self.catalog.table(table)?;
        let syntax = &self.catalog.syntax;
        let name = from_name(syntax, table);
        let column = quote_if_odd(syntax, column);
        let value = syntax.literal(&literal.text);
        Some(if any_case {
            format!("SELECT 1 FROM {name} WHERE lower({column}) = lower({value}) LIMIT 1")
        } else {
            format!("SELECT 1 FROM {name} WHERE {column} = {value} LIMIT 1")
        })
    }

    /// Runs the statements and returns their results. No statement runs twice, and `SPARE_RUNS`
    /// statements of the budget are left over.
    fn run(&mut self, texts: &[String]) -> Vec<Option<Found>> {
        let mut fresh: Vec<String> =
            texts.iter().filter(|text| !self.known.contains_key(*text)).cloned().collect();
        fresh.dedup();
        if self.is_on && !fresh.is_empty() {
            fresh.truncate(self.host.remaining().sql_runs.saturating_sub(SPARE_RUNS) as usize);
        } else {
            fresh.clear();
        }
        if !fresh.is_empty() {
            let ends = self.host.run_all(&fresh);
            for (text, end) in fresh.into_iter().zip(ends) {
                self.known.insert(
                    text,
                    end.ok().map(|results: ResultSet| Found {
                        rows: results.profile().rows,
                        fingerprint: results.fingerprint(&Equality::Bag),
                    }),
                );
            }
        }
        texts.iter().map(|text| self.known.get(text).cloned().flatten()).collect()
    }
}
