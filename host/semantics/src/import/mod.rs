//! Semantics files from the definitions of other tools: dbt's semantic layer and the models of
//! WrenAI. Definitions without a counterpart are listed, and never guessed.

mod dbt;
#[cfg(test)]
mod tests;
mod wren;

use std::fmt::Write as _;

use serde_json::{Map, Value};
use syrch_core::text::escape::is_dangerous;

use crate::read::{Scope, admit, admit_measure, stems};
use crate::write::{clean, scalar, scalars};
use crate::{BOUNDS, Problem, Semantics, Source};

/// The limit on the remarks about what is left out.
const REMARKS: usize = 1_000;

/// A file made of another tool's definitions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// The text of the semantics file.
    pub text: String,
    /// The definitions that could not be translated, each with the reason.
    pub left_out: Vec<String>,
    /// The problems of the text, as [`Semantics::read`] reports it: definitions that contradict
    /// each other are translated as they are.
    pub problems: Vec<Problem>,
}

/// Translates dbt's `semantic_models` and `metrics`
/// (<https://docs.getdbt.com/docs/build/semantic-models>) or a manifest of WrenAI, `mdl.json`
/// (<https://docs.getwren.ai/oss/reference/mdl>). The keys of the text decide which it is.
///
/// # Errors
/// The reason why the text is neither, in words that follow the name of the file.
pub fn import(text: &str) -> Result<Imported, String> {
    if text.len() as u64 > BOUNDS.bytes {
        return Err(format!("is larger than {} MiB", BOUNDS.bytes >> 20));
    }
    let document = match text.trim_start().starts_with('{') {
        true => serde_json::from_str(text).map_err(|error| format!("is no JSON: {error}"))?,
        false => syrch_yaml::read_within(text, &BOUNDS)
            .map_err(|(at, why)| {
                let line = at.map(|at| format!(" (line {})", at.line())).unwrap_or_default();
                format!("is no YAML{line}: {why}")
            })?
            .value
            .value(),
    };
    let Value::Object(document) = document else {
        return Err("is no mapping of keys and values".to_owned());
    };
    let is_dbt = document.contains_key("semantic_models")
        || (document.contains_key("metrics") && !document.contains_key("models"));
    let draft = if is_dbt {
        dbt::translate(&document)
    } else if is_latest_dbt(&document) {
        return Err("is in dbt's latest specification, with `semantic_model` within `models`; \
                    only `semantic_models` and `metrics` of the specification before are read"
            .to_owned());
    } else if document.contains_key("models") || document.contains_key("cubes") {
        wren::translate(&document)
    } else {
        return Err(
            "has neither dbt's `semantic_models` nor the `models` of WrenAI's mdl.json".to_owned()
        );
    };
    let text = draft.write();
    let source = Source { file: "imported".to_owned(), text: text.clone() };
    let problems = Semantics::read(&[source]).err().unwrap_or_default();
    Ok(Imported { text, left_out: draft.left_out, problems })
}

fn is_latest_dbt(document: &Map<String, Value>) -> bool {
    entries(document, "models").any(|model| model.contains_key("semantic_model"))
}

/// The mappings of a list.
fn entries<'a>(
    of: &'a Map<String, Value>,
    key: &str,
) -> impl Iterator<Item = &'a Map<String, Value>> {
    of.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object)
}

/// A text that is not empty.
fn text<'a>(of: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    of.get(key).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty())
}

/// The translated parts of a file.
#[derive(Default)]
struct Draft {
    origin: &'static str,
    tables: Vec<Table>,
    joins: Vec<Join>,
    metrics: Vec<Metric>,
    left_out: Vec<String>,
}

/// A table with its lines.
struct Table {
    name: String,
    source: Option<String>,
    key: Vec<String>,
    time: Option<String>,
    description: Option<String>,
    dimensions: Vec<Dimension>,
}

struct Dimension {
    name: String,
    expression: Option<String>,
    is_time: bool,
    synonym: Option<String>,
    description: Option<String>,
}

struct Join {
    from: Vec<String>,
    to: Vec<String>,
    is_one_to_one: bool,
}

/// A metric with its keys and their scalars, already written.
struct Metric {
    name: String,
    keys: Vec<(&'static str, String)>,
}

impl Metric {
    /// Adds the properties of a metric, besides its computation, that both formats have.
    fn describe(&mut self, label: Option<&str>, description: Option<&str>) {
        if let Some(label) = synonym(&self.name, label) {
            self.keys.push(("synonyms", format!("[{}]", scalar(&label))));
        }
        if let Some(description) = description {
            self.keys.push(("description", scalar(&shorten(description))));
        }
    }
}

/// A description on one line, cut to the limit of the reader.
fn shorten(description: &str) -> String {
    let words: Vec<&str> = description.split_whitespace().collect();
    let line: String = words.join(" ").chars().filter(|c| !is_dangerous(*c)).collect();
    syrch_core::text::clip(&line, 1_000).to_string()
}

impl Draft {
    fn leave_out(&mut self, what: &str, reason: impl AsRef<str>) {
        if self.left_out.len() < REMARKS {
            self.left_out.push(format!("{what}: {}", reason.as_ref()));
        }
    }

    /// Adds a dimension if its expression can be read.
    fn dimension(&mut self, table: &mut Table, dimension: Dimension) {
        let admitted = match &dimension.expression {
            Some(expression) => admit(expression, Scope::Table(&table.name)).map(|_| ()),
            None => Ok(()),
        };
        match admitted {
            Ok(()) => table.dimensions.push(dimension),
            Err(reason) => {
                let what = format!("dimension `{}.{}`", table.name, dimension.name);
                self.leave_out(&what, reason);
            }
        }
    }

    /// Returns the keys of a measure over a table if it can be read, and lists it if not.
    fn measure(
        &mut self,
        what: &str,
        table: &str,
        aggregate: &str,
    ) -> Option<Vec<(&'static str, String)>> {
        match admit_measure(aggregate, Scope::Table(table)) {
            Ok(_) => Some(vec![("measure", scalar(aggregate)), ("table", scalar(table))]),
            Err(reason) => {
                self.leave_out(what, reason);
                None
            }
        }
    }

    fn write(&self) -> String {
        let mut out = format!(
            "# Translated from {}. Review it, and compare it with the database by\n# `syrch-host \
             semantics check`.\n",
            self.origin
        );
        for left_out in &self.left_out {
            let line: String = left_out.chars().filter(|c| !is_dangerous(*c)).collect();
            // Writing to a string cannot fail.
            let _ = writeln!(out, "# Left out: {line}");
        }
        if !self.tables.is_empty() {
            out.push_str("\ntables:\n");
        }
        for table in &self.tables {
            write_table(&mut out, table);
        }
        if !self.joins.is_empty() {
            out.push_str("\njoins:\n");
        }
        for join in &self.joins {
            let cardinality = if join.is_one_to_one { ", cardinality: one_to_one" } else { "" };
            let from = scalars(&join.from);
            let _ = writeln!(out, "  - {{from: {from}, to: {}{cardinality}}}", scalars(&join.to));
        }
        if !self.metrics.is_empty() {
            out.push_str("\nmetrics:\n");
        }
        for metric in &self.metrics {
            let _ = writeln!(out, "  {}:", scalar(&metric.name));
            for (key, value) in &metric.keys {
                let _ = writeln!(out, "    {key}: {value}");
            }
        }
        out
    }
}

fn write_table(out: &mut String, table: &Table) {
    let _ = writeln!(out, "  {}:", scalar(&table.name));
    if let Some(source) = table.source.as_ref().filter(|source| **source != table.name) {
        let _ = writeln!(out, "    source: {}", scalar(source));
    }
    if !table.key.is_empty() {
        let _ = writeln!(out, "    key: {}", scalars(&table.key));
    }
    if let Some(time) = &table.time {
        let _ = writeln!(out, "    time: {}", scalar(time));
    }
    if let Some(description) = &table.description {
        let _ = writeln!(out, "    description: {}", scalar(&shorten(description)));
    }
    if !table.dimensions.is_empty() {
        let _ = writeln!(out, "    dimensions:");
    }
    for dimension in &table.dimensions {
        let _ = writeln!(out, "      {}:", scalar(&dimension.name));
        if dimension.is_time {
            let _ = writeln!(out, "        type: time");
        }
        if let Some(expression) = &dimension.expression {
            let _ = writeln!(out, "        expression: {}", scalar(expression));
        }
        if let Some(synonym) = &dimension.synonym {
            let _ = writeln!(out, "        synonyms: [{}]", scalar(synonym));
        }
        if let Some(description) = &dimension.description {
            let _ = writeln!(out, "        description: {}", scalar(&shorten(description)));
        }
    }
}

/// A label that differs from the name.
fn synonym(name: &str, label: Option<&str>) -> Option<String> {
    label.map(clean).filter(|label| stems(label) != stems(name))
}
