//! The names, literals and functions of a statement and its result, by stems.

use std::collections::BTreeSet;

use syrch_plugin::prelude::*;
use syrch_plugin::text::clip;
use syrch_plugin::words::{naming_stems, stems};

/// Words of a metric's name that say how it is computed, as stems.
const COMPUTED: &[&str] = &[
    "averag", "avg", "count", "grand", "high", "highest", "largest", "least", "low", "lowest",
    "max", "maximum", "mean", "min", "minimum", "most", "number", "overall", "quantity", "sum",
    "total",
];
/// Units of time, as stems; a column of another name that holds dates has all of them.
const UNITS: &[&str] = &["day", "dat", "week", "month", "quarter", "year"];
const TIMES: &[&str] =
    &["at", "dat", "datetim", "day", "month", "quarter", "tim", "timestamp", "ts", "week", "year"];

/// The most bytes of an alias that are read.
const NAME: usize = 200;

/// The names and values of one statement.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// Stems of tables, columns, functions and aliases.
    named: BTreeSet<String>,
    functions: BTreeSet<String>,
    tables: Vec<String>,
    /// The texts of literals, trimmed and in lower case.
    pub(crate) literals: Vec<String>,
    is_ordered: bool,
    has_time: bool,
    /// True if it reads the result of an earlier task.
    pub(crate) reads_tasks: bool,
}

impl Seen {
    pub(crate) fn new(catalog: &Catalog, facts: &Facts, profile: &Profile) -> Self {
        let shown = profile.columns.iter().map(|column| column.column.name.as_str());
        let names =
            facts.tables.iter().chain(&facts.columns).chain(&facts.functions).chain(&facts.tasks);
        let named = names
            .map(String::as_str)
            .chain(shown)
            .flat_map(stems)
            .chain(aliases(&facts.skeleton))
            .collect();
        let literal = |literal: &Literal| literal.text.trim().to_lowercase();
        let has_time = facts.columns.iter().any(|column| is_temporal(catalog, column));
        Self {
            named,
            functions: facts.functions.iter().map(|name| name.to_ascii_lowercase()).collect(),
            tables: facts.tables.clone(),
            literals: facts.literals.iter().map(literal).collect(),
            is_ordered: facts.ordered,
            has_time,
            reads_tasks: !facts.tasks.is_empty(),
        }
    }

    /// Returns true if all words of a name are names of the statement, besides those that say how
    /// it is computed.
    pub(crate) fn names(&self, name: &str) -> bool {
        naming_stems(name).iter().all(|stem| COMPUTED.contains(&stem.as_str()) || self.has(stem))
    }

    /// Returns true if a word is one of its names, as it stands or without an ending.
    pub(crate) fn has(&self, stem: &str) -> bool {
        self.named.contains(stem)
    }

    /// Returns true if it computes that aggregation, or reads the result of such a computation. The
    /// greatest and the least may be found by their order, and an average as a quotient.
    pub(crate) fn aggregates(&self, aggregation: &str) -> bool {
        let calls = |names: &[&str]| names.iter().any(|name| self.functions.contains(*name));
        let was = |names: &[&str]| names.iter().any(|name| self.has(name));
        let words = stems(aggregation);
        let is = |names: &[&str]| names.iter().any(|name| words.contains(*name));
        if is(&["sum", "total"]) {
            return calls(&["sum", "total", "count"]) || was(&["sum", "total"]);
        }
        if is(&["count", "number"]) {
            return calls(&["count", "sum", "total", "count_if"])
                || was(&["count", "number", "num", "total"]);
        }
        if is(&["avg", "averag", "mean"]) {
            return calls(&["avg", "mean", "sum", "total"]) || was(&["averag", "avg", "mean"]);
        }
        if is(&["max", "maximum", "min", "minimum"]) {
            let extremes = [
                "max",
                "min",
                "max_by",
                "min_by",
                "arg_max",
                "arg_min",
                "rank",
                "row_number",
                "dense_rank",
            ];
            return calls(&extremes)
                || self.is_ordered
                || was(&["max", "min", "maximum", "minimum"]);
        }
        // Another aggregation may be written in many ways.
        true
    }

    /// Returns true if a row can stand for `grain`: it names the thing, or, for a unit of time, a
    /// date.
    pub(crate) fn has_grain(&self, grain: &str) -> bool {
        let is_time = stems(grain).iter().any(|stem| UNITS.contains(&stem.as_str()));
        self.names(grain) || (is_time && self.has_time)
    }

    /// Returns true if it reads a column that holds days or times.
    pub(crate) fn has_time(&self) -> bool {
        self.has_time
    }

    /// Returns true if it reads the table, by its name with or without its schema.
    pub(crate) fn reads(&self, table: &str) -> bool {
        let plain = |name: &str| name.rsplit('.').next().unwrap_or(name).trim().to_lowercase();
        self.tables.iter().any(|read| plain(read) == plain(table))
    }
}

/// The stems of the words after AS in a statement without literals.
fn aliases(skeleton: &str) -> BTreeSet<String> {
    let lower = skeleton.to_ascii_lowercase();
    let after =
        lower.match_indices(" as ").filter_map(|(at, found)| skeleton.get(at + found.len()..));
    let name = |rest: &str| -> Option<BTreeSet<String>> {
        let name = match rest.chars().next()? {
            quote @ ('"' | '`') => rest.get(1..)?.split(quote).next()?,
            '[' => rest.get(1..)?.split(']').next()?,
            _ => rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()?,
        };
        Some(stems(clip(name, NAME)))
    };
    after.filter_map(name).flatten().collect()
}

/// Returns true if a column, as `table.column`, holds days or times, by its type or its name.
fn is_temporal(catalog: &Catalog, column: &str) -> bool {
    let (table, name) = column.rsplit_once('.').unwrap_or(("", column));
    let known = catalog
        .table(table)
        .and_then(|table| table.columns.iter().find(|known| known.name == name));
    let by_type = known.is_some_and(|known| {
        let sql_type = known.sql_type.to_ascii_lowercase();
        sql_type.contains("date") || sql_type.contains("time")
    });
    by_type || stems(name).iter().any(|stem| TIMES.contains(&stem.as_str()))
}
