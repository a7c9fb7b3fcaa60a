//! Small statements that look into the database without a cell coming back: all that is used of their results is the number of rows.

use std::collections::BTreeMap;

use syrch_plugin::draws::Ran;
use syrch_plugin::names::{from_name, quote_if_odd};
use syrch_plugin::prelude::*;

// Left over for the candidates' own statements.
const SPARE_RUNS: u32 = 32;

/// What the probes of one task found.
pub(crate) struct Probes<'a, H> {
    host: &'a H,
    catalog: &'a Catalog,
    is_on: bool,
    /// By statement: the number of its rows; `None` if the statement failed.
    known: BTreeMap<String, Option<u64>>,
}

impl<'a, H: Run + Sql> Probes<'a, H> {
    pub(crate) fn new(host: &'a H, catalog: &'a Catalog, is_on: bool) -> Self {
        Self { host, catalog, is_on, known: BTreeMap::new() }
    }

    /// Whether a text is compared with a column that does not hold it. Numbers, dates and patterns are left out, since they may well be
    /// compared without being there; a statement that changes letter case is held to no case.
    pub(crate) fn has_absent_value(&mut self, facts: &Facts) -> bool {
        let any_case = facts.functions.iter().any(|name| matches!(name.to_lowercase().as_str(), "lower" | "upper"));
        let texts: Vec<String> =
            facts.literals.iter().filter_map(|literal| self.value_probe(literal, any_case)).collect();
        self.rows(&texts).contains(&Some(0))
    }

    /// Whether rows of the result occur more than once.
    pub(crate) fn has_repeated_rows(&mut self, ran: &Ran) -> bool {
        if ran.profile.rows < 2 || ran.profile.truncated {
            return false;
        }
        let text = format!("SELECT DISTINCT * FROM ({}) AS t", ran.facts.normalized);
        self.rows(&[text]).first().copied().flatten().is_some_and(|distinct| distinct < ran.profile.rows)
    }

    fn value_probe(&self, literal: &Literal, any_case: bool) -> Option<String> {
        let (table, column) = (literal.table.as_deref()?, literal.column.as_deref()?);
        if !literal.text.chars().any(char::is_alphabetic) || literal.text.contains('%') {
            return None;
        }
        let table = self.catalog.table(table)?;
        let dialect = &self.catalog.dialect;
        let (name, column) = (from_name(dialect, table), quote_if_odd(dialect, column));
        let value = dialect.literal(&literal.text);
        Some(if any_case {
            format!("SELECT 1 FROM {name} WHERE lower({column}) = lower({value}) LIMIT 1")
        } else {
            format!("SELECT 1 FROM {name} WHERE {column} = {value} LIMIT 1")
        })
    }

    /// The rows of each statement; what was asked before is not run again, and no more run than leave the spare.
    fn rows(&mut self, texts: &[String]) -> Vec<Option<u64>> {
        let mut fresh: Vec<String> = texts.iter().filter(|text| !self.known.contains_key(*text)).cloned().collect();
        fresh.dedup();
        if self.is_on && !fresh.is_empty() {
            fresh.truncate(self.host.remaining().sql_runs.saturating_sub(SPARE_RUNS) as usize);
        } else {
            fresh.clear();
        }
        if !fresh.is_empty() {
            let ends = self.host.run_all(&fresh);
            for (text, end) in fresh.into_iter().zip(ends) {
                self.known.insert(text, end.ok().map(|results| results.profile().rows));
            }
        }
        texts.iter().map(|text| self.known.get(text).copied().flatten()).collect()
    }
}
