//! Solved examples that are made from the catalog, for a model that has none of its user's: a
//! count, a filter by a value that stands there, a group and the first by a number.

use serde_json::json;
use syrch_plugin::names::{from_name, quote_if_odd};
use syrch_plugin::prelude::*;
use syrch_plugin::text::{is_one_of, line};

use crate::linker::facts::{Sampled, frequent_text};

/// Types of numbers with and without fractions, by a part of their names, and those of texts.
const FRACTIONS: [&str; 6] = ["real", "double", "float", "decimal", "numeric", "money"];
const WHOLE: &str = "int integer bigint smallint tinyint int2 int4 int8";
const TEXTS: [&str; 4] = ["char", "text", "string", "clob"];
/// Parts of the name of the column by which people call a row.
const LABELS: [&str; 2] = ["name", "title"];
/// Endings of the names of whole numbers that measure nothing.
const CODES: [&str; 6] = ["id", "year", "code", "zip", "phone", "number"];

/// The beginnings of definitions of metrics that aggregate the rows of a table.
const AGGREGATES: [&str; 5] = ["avg(", "count(", "max(", "min(", "sum("];

/// A question and the statement that answers it.
type Example = (String, String);

/// A table with the columns that examples use.
struct Parts<'c> {
    syntax: &'c Syntax,
    table: &'c Table,
    label: Option<&'c str>,
    number: Option<&'c str>,
    /// Columns with few values, each with its most frequent one.
    kinds: Vec<(&'c str, String)>,
}

/// The examples. Each is on another table, where there are so many. A table of which some rows may
/// not count has none: a statement without that condition is no example.
pub(crate) fn examples(catalog: &Catalog, terms: &[Term], sampled: &[Sampled<'_>]) -> Vec<Hit> {
    let whole = sampled.iter().filter(|sampled| counts_all_rows(sampled.table, terms));
    let parts: Vec<Parts<'_>> = whole.map(|sampled| Parts::new(&catalog.syntax, sampled)).collect();
    let ways: [fn(&Parts<'_>) -> Option<Example>; 4] = [
        |parts| parts.filter(),
        |parts| parts.group(),
        |parts| parts.first(),
        |parts| Some(parts.count()),
    ];
    let mut used = vec![0_u32; parts.len()];
    let mut made: Vec<Hit> = Vec::new();
    for way in ways {
        let tables = used.iter_mut().zip(&parts);
        let written = tables.filter_map(|(used, parts)| Some((used, way(parts)?)));
        // The first of those that were used least.
        if let Some((used, (question, sql))) = written.min_by_key(|(used, _)| **used) {
            *used += 1;
            made.push(hit(made.len(), &question, &sql));
        }
    }
    made
}

/// Returns true if all rows of a table certainly count: nothing is defined, or a metric of it is,
/// whose definition has no condition. Those of the table itself stand in each of its metrics.
fn counts_all_rows(table: &Table, terms: &[Term]) -> bool {
    terms.is_empty()
        || terms.iter().any(|term| {
            let definition = term.definition.to_lowercase();
            let is_measure = AGGREGATES.iter().any(|start| definition.starts_with(start));
            let of_table = term.tables.first().is_some_and(|name| is_named(table, name));
            let is_whole = is_measure && !definition.contains(" where ");
            term.kind == TermKind::Metric && is_whole && of_table
        })
}

/// Returns whether a name, with the schema or without, is that of a table.
fn is_named(table: &Table, name: &str) -> bool {
    let plain = name.rsplit_once('.').map_or(name, |(_, name)| name);
    name.eq_ignore_ascii_case(&table.name) || plain.eq_ignore_ascii_case(&table.name)
}

fn hit(number: usize, question: &str, sql: &str) -> Hit {
    Hit {
        corpus: Corpus::Examples,
        id: format!("made {number}"),
        path: format!("made example {}", number + 1),
        table: None,
        column: None,
        snippet: Some(format!("{question} => {sql}")),
        payload: Some(json!({ "question": question, "sql": sql }).to_string()),
        score: 0.0,
    }
}

impl<'c> Parts<'c> {
    fn new(syntax: &'c Syntax, sampled: &Sampled<'c>) -> Self {
        let columns = || sampled.columns.iter().copied();
        let label = columns()
            .filter(|column| is_text(column))
            .find(|column: &&Column| {
                LABELS.iter().any(|part| column.name.to_lowercase().contains(part))
            })
            .map(|column| column.name.as_str());
        let number = columns()
            .find(|column| is_fraction(column))
            .or_else(|| columns().find(|column| is_measure(column)));
        let kinds =
            columns().filter(|column| Some(column.name.as_str()) != label && is_text(column));
        let kinds = kinds.filter_map(|column| {
            Some((column.name.as_str(), frequent_text(sampled, &column.name)?))
        });
        Self {
            syntax,
            table: sampled.table,
            label,
            number: number.map(|column| column.name.as_str()),
            kinds: kinds.collect(),
        }
    }
}

/// Each is `None` where the table lacks what it needs.
impl Parts<'_> {
    fn count(&self) -> Example {
        (
            format!("How many {} are there?", self.words()),
            format!("SELECT COUNT(*) FROM {}", self.from()),
        )
    }

    fn filter(&self) -> Option<Example> {
        let label = self.label?;
        let (kind, value) = self.kinds.first()?;
        let literal = self.syntax.literal(value);
        Some((
            format!(
                "What is the {} of the {} whose {} is {value}?",
                words(label),
                self.words(),
                words(kind)
            ),
            format!(
                "SELECT {} FROM {} WHERE {} = {literal}",
                self.quote(label),
                self.from(),
                self.quote(kind)
            ),
        ))
    }

    fn group(&self) -> Option<Example> {
        let (kind, _) = self.kinds.last()?;
        let column = self.quote(kind);
        Some((
            format!("How many {} are there for each {}?", self.words(), words(kind)),
            format!("SELECT {column}, COUNT(*) FROM {} GROUP BY {column}", self.from()),
        ))
    }

    fn first(&self) -> Option<Example> {
        let label = self.label?;
        let number = self.number?;
        Some((
            format!("Which {} has the highest {}?", self.words(), words(number)),
            format!(
                "SELECT {} FROM {} ORDER BY {} DESC LIMIT 1",
                self.quote(label),
                self.from(),
                self.quote(number)
            ),
        ))
    }

    fn words(&self) -> String {
        words(&self.table.name)
    }

    fn from(&self) -> String {
        from_name(self.syntax, self.table)
    }

    fn quote(&self, name: &str) -> String {
        quote_if_odd(self.syntax, name)
    }
}

/// A name as words of a question: `unitPrice` and `unit_price` are `unit price`.
fn words(name: &str) -> String {
    line(&crate::linker::words::words(name).join(" "), 60)
}

fn type_of(column: &Column) -> String {
    column.sql_type.to_lowercase()
}

fn is_text(column: &Column) -> bool {
    let sql_type = type_of(column);
    sql_type.is_empty() || TEXTS.iter().any(|part| sql_type.contains(part))
}

fn is_fraction(column: &Column) -> bool {
    let sql_type = type_of(column);
    FRACTIONS.iter().any(|part| sql_type.contains(part))
}

fn is_measure(column: &Column) -> bool {
    let sql_type = type_of(column);
    let name = column.name.to_lowercase();
    let word = sql_type.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    is_one_of(WHOLE, word) && !CODES.iter().any(|ending| name.ends_with(ending))
}
