//! The names, literals and functions of a statement and its result, by stems.

use std::collections::BTreeSet;

use syrch_plugin::prelude::*;
use syrch_plugin::text::clip;
use syrch_plugin::words::{naming_stems, stems};

use super::comparisons::{self, Comparison};

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

/// Stems of columns whose sum is a number of things.
const COUNTED: &[&str] = &[
    "attendanc",
    "capacity",
    "count",
    "enrollment",
    "headcount",
    "inhabitant",
    "num",
    "number",
    "peopl",
    "population",
    "qty",
    "quantity",
    "seat",
    "sold",
    "stock",
    "view",
    "vot",
];

/// The most bytes of an alias that are read.
const NAME: usize = 200;

/// A column of numbers that is no key.
#[derive(Debug)]
struct Measure {
    /// Its name in lower case.
    name: String,
    stems: BTreeSet<String>,
    is_fractional: bool,
}

impl Measure {
    /// `None` for a column, as `table.column`, that is no measure.
    fn read(catalog: &Catalog, column: &str) -> Option<Self> {
        let (table, name) = column.rsplit_once('.')?;
        let table = catalog.table(table)?;
        let sql_type =
            table.columns.iter().find(|known| known.name == name)?.sql_type.to_ascii_uppercase();
        fn contains_any(sql_type: &str, words: &[&str]) -> bool {
            words.iter().any(|word| sql_type.contains(word))
        }
        let is_fractional =
            contains_any(&sql_type, &["DEC", "DOUB", "FLOA", "MONEY", "NUM", "REAL"]);
        let keys = table.foreign_keys.iter().flat_map(|key| &key.columns);
        let is_key = table.primary_key.iter().chain(keys).any(|key| key == name);
        let stems = stems(name);
        let is_measure = is_fractional
            || (contains_any(&sql_type, &["INT"])
                && !contains_any(&sql_type, &["INTERVAL", "POINT"]));
        (is_measure && !is_key && !stems.contains("id")).then(|| Self {
            name: name.to_lowercase(),
            stems,
            is_fractional,
        })
    }

    fn is_number_of_things(&self) -> bool {
        self.stems.iter().any(|stem| COUNTED.contains(&stem.as_str()))
    }
}

/// The names and values of one statement.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// Stems of tables, columns, functions and aliases.
    named: BTreeSet<String>,
    /// Stems of columns and finished tasks: what was computed before.
    stored: BTreeSet<String>,
    functions: BTreeSet<String>,
    measures: Vec<Measure>,
    /// The arguments of its sums, in lower case.
    sums: Vec<String>,
    has_quotient: bool,
    pub(crate) comparisons: Vec<Comparison>,
    tables: Vec<String>,
    /// The stems of the names of each column in the catalog.
    columns: Vec<BTreeSet<String>>,
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
        let stored = facts.columns.iter().chain(&facts.tasks);
        let has_time = facts.columns.iter().any(|column| is_temporal(catalog, column));
        Self {
            named,
            stored: stored.map(String::as_str).flat_map(stems).collect(),
            functions: facts.functions.iter().map(|name| name.to_ascii_lowercase()).collect(),
            measures: facts
                .columns
                .iter()
                .filter_map(|column: &String| Measure::read(catalog, column))
                .collect(),
            sums: sums(&facts.skeleton),
            has_quotient: facts.skeleton.contains('/')
                || facts.skeleton.to_ascii_lowercase().contains(" div "),
            comparisons: comparisons::read(&facts.normalized),
            tables: facts.tables.clone(),
            columns: catalog
                .tables
                .iter()
                .flat_map(|table| &table.columns)
                .map(|column| stems(&column.name))
                .collect(),
            literals: facts
                .literals
                .iter()
                .map(|literal: &Literal| literal.text.trim().to_lowercase())
                .collect(),
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

    /// Returns true if a column of the catalog has all words of a name, besides those that say how
    /// it is computed.
    pub(crate) fn is_column(&self, name: &str) -> bool {
        let mut wanted = naming_stems(name);
        wanted.retain(|stem| !COMPUTED.contains(&stem.as_str()));
        !wanted.is_empty() && self.columns.iter().any(|column| wanted.is_subset(column))
    }

    /// Returns true if it calls something and computes that aggregation of a metric.
    pub(crate) fn calls(&self, aggregation: &str, metric: &str) -> bool {
        !self.functions.is_empty() && self.aggregates(aggregation, Some(metric))
    }

    /// Returns true if a word is one of its names, as it stands or without an ending.
    pub(crate) fn has(&self, stem: &str) -> bool {
        self.named.contains(stem)
    }

    /// Returns true if it computes that aggregation of the metric, or reads the result of such a
    /// computation. The greatest and the least may be found by their order, and an average as a
    /// quotient. A number of things may be counted or added up, but a metric that is a column of
    /// numbers is only what is said of it.
    pub(crate) fn aggregates(&self, aggregation: &str, metric: Option<&str>) -> bool {
        let calls = |names: &[&str]| names.iter().any(|name| self.functions.contains(*name));
        let was = |names: &[&str]| names.iter().any(|name| self.stored.contains(*name));
        let words = stems(aggregation);
        fn names_any(words: &BTreeSet<String>, names: &[&str]) -> bool {
            names.iter().any(|name| words.contains(*name))
        }
        if names_any(&words, &["sum", "total"]) {
            let is_measure = self.measures.iter().any(|measure| is_of(metric, measure));
            return calls(&["sum", "total"])
                || (calls(&["count"]) && !is_measure)
                || was(&["sum", "total"]);
        }
        if names_any(&words, &["count", "number"]) {
            return calls(&["count", "count_if"])
                || (calls(&["sum", "total"]) && !self.adds_amounts(metric))
                || was(&["count", "number", "num", "total"]);
        }
        if names_any(&words, &["avg", "averag", "mean"]) {
            return calls(&["avg", "mean"])
                || (calls(&["sum", "total", "count"]) && self.has_quotient)
                || was(&["averag", "avg", "mean"]);
        }
        let ranks = ["first_value", "last_value", "rank", "row_number", "dense_rank"];
        let most = calls(&["max", "max_by", "arg_max", "greatest"]);
        let least = calls(&["min", "min_by", "arg_min", "least"]);
        let is_ranked = calls(&ranks) || was(&["max", "maximum", "min", "minimum"]);
        let is_most = names_any(&words, &["max", "maximum"]);
        let is_least = names_any(&words, &["min", "minimum"]);
        if is_most || is_least {
            return is_ranked
                || (is_most && (most || (self.is_ordered && !least)))
                || (is_least && (least || (self.is_ordered && !most)));
        }
        // Another aggregation may be written in many ways.
        true
    }

    /// Returns true if all that it adds up are columns of amounts, which give no number of things.
    fn adds_amounts(&self, metric: Option<&str>) -> bool {
        !self.sums.is_empty()
            && self.sums.iter().all(|name: &String| {
                self.measures.iter().find(|measure: &&Measure| measure.name == *name).is_some_and(
                    |measure| {
                        !measure.is_number_of_things()
                            && (measure.is_fractional || is_of(metric, measure))
                    },
                )
            })
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
        fn last_part(name: &str) -> String {
            name.rsplit('.').next().unwrap_or(name).trim().to_lowercase()
        }
        self.tables.iter().any(|read| last_part(read) == last_part(table))
    }
}

/// Returns true if a metric's name is that of a measure, besides the words that say how it is
/// computed.
fn is_of(metric: Option<&str>, measure: &Measure) -> bool {
    let mut named = naming_stems(metric.unwrap_or_default());
    named.retain(|stem| !COMPUTED.contains(&stem.as_str()));
    !named.is_empty() && named.is_subset(&measure.stems)
}

/// The arguments of the sums of a statement, in lower case; those that are a column as its plain
/// name.
fn sums(skeleton: &str) -> Vec<String> {
    let lower = skeleton.to_lowercase();
    let mut sums = Vec::new();
    for call in ["sum(", "total("] {
        for (at, _) in lower.match_indices(call) {
            if !lower[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
                let argument = argument(&lower[at + call.len()..]);
                let plain: String =
                    argument.chars().filter(|c| !matches!(c, '"' | '`' | '[' | ']')).collect();
                let column = plain.trim_start_matches("distinct ").trim();
                sums.push(column.rsplit('.').next().unwrap_or(column).to_owned());
            }
        }
    }
    sums
}

/// The text up to the parenthesis that closes a call.
fn argument(rest: &str) -> &str {
    let mut depth = 0usize;
    for (at, c) in rest.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return &rest[..at],
            ')' => depth -= 1,
            _ => {}
        }
    }
    rest
}

/// The stems of the words after AS in a statement without literals.
fn aliases(skeleton: &str) -> BTreeSet<String> {
    let lower = skeleton.to_ascii_lowercase();
    let after =
        lower.match_indices(" as ").filter_map(|(at, found)| skeleton.get(at + found.len()..));
    after
        .filter_map(|rest: &str| -> Option<BTreeSet<String>> {
            let name = match rest.chars().next()? {
                quote @ ('"' | '`') => rest.get(1..)?.split(quote).next()?,
                '[' => rest.get(1..)?.split(']').next()?,
                _ => rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()?,
            };
            Some(stems(clip(name, NAME)))
        })
        .flatten()
        .collect()
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
