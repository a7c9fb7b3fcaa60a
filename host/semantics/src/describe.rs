//! Descriptions that a model writes for a proposal: what it is asked, and what of its replies is
//! taken. A reply is data: it adds texts of one line to names that were asked for, and no more.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};
use syrch_core::Catalog;
use syrch_core::text::clip;

use crate::terms::define_measure;
use crate::write::is_writable;
use crate::{MetricKind, Semantics, Table};

/// The limit on the number of names that one call asks for.
const NAMES: usize = 30;

/// The size of a prompt from which no further table is added to it, in bytes.
const PROMPT: usize = 8 << 10;

/// The limit on the number of calls.
const CALLS: usize = 10;

/// The limits on the columns of a table in a prompt, and on the bytes of a type and a comment.
const COLUMNS: usize = 60;
const TYPE: usize = 60;
const COMMENT: usize = 200;

/// The limit on the length of a description, in characters.
const DESCRIPTION: usize = 200;

/// The system prompt of a call.
const INSTRUCTIONS: &str = "You document databases for people in business. Describe each listed \
                            table, dimension and metric by one plain sentence of at most 20 \
                            words, from the names, types and comments alone. Leave out whatever \
                            these do not tell: a wrong description is worse than none. Use each \
                            name exactly as it is listed.";

/// Descriptions by what they describe: `table orders`, `dimension orders.status` or `metric
/// revenue`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Descriptions(BTreeMap<String, String>);

/// A part of a proposal that a model is asked to describe by one call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DescriptionPart {
    /// The tables with their columns: names, types and comments, and no values.
    shown: String,
    /// The names whose descriptions are wanted, each with its definition if it has one.
    wanted: Vec<(String, String)>,
}

impl DescriptionPart {
    /// The instructions of the call, which are the same for each part.
    #[must_use]
    pub fn instructions() -> &'static str {
        INSTRUCTIONS
    }

    /// The prompt. It has no values of the database.
    #[must_use]
    pub fn prompt(&self) -> String {
        let mut text = format!("{}Describe:\n", self.shown);
        for (name, definition) in &self.wanted {
            let _ = writeln!(text, "  {name}{definition}");
        }
        text
    }

    /// The number of names whose descriptions are wanted.
    #[must_use]
    pub fn count(&self) -> usize {
        self.wanted.len()
    }

    /// The JSON Schema of a reply.
    #[must_use]
    pub fn reply_schema() -> Value {
        json!({
            "type": "object",
            "required": ["descriptions"],
            "properties": {
                "descriptions": { "type": "array", "items": {
                    "type": "object",
                    "required": ["name", "description"],
                    "properties": {
                        "name": { "type": "string" },
                        "description": { "type": "string" },
                    },
                } },
            },
        })
    }
}

impl Descriptions {
    /// Adds the descriptions of a reply. A name that its part did not ask for or that has a
    /// description already, and a text of several lines, of more than 200 characters or with signs
    /// that a terminal does not show are left out.
    pub fn add_reply(&mut self, part: &DescriptionPart, reply: &Value) {
        for entry in reply["descriptions"].as_array().into_iter().flatten() {
            let name = entry["name"].as_str().unwrap_or_default().trim();
            let text = entry["description"].as_str().unwrap_or_default().trim();
            if part.wanted.iter().any(|(wanted, _)| wanted == name) && is_description(text) {
                self.0.entry(name.to_owned()).or_insert_with(|| text.to_owned());
            }
        }
    }

    /// The description of that name.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The number of descriptions.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.len()
    }
}

/// Returns true for a text that may be a description in a proposal.
pub(crate) fn is_description(text: &str) -> bool {
    is_writable(text) && text.chars().count() <= DESCRIPTION
}

/// Returns the tables, dimensions and metrics of a proposal that have no description, in the parts
/// in which a model is asked for them. Of a large proposal they are the first, in at most ten
/// parts.
#[must_use]
pub fn split_undescribed(proposal: &Semantics, catalog: &Catalog) -> Vec<DescriptionPart> {
    let mut parts: Vec<DescriptionPart> = Vec::new();
    for table in &proposal.tables {
        let mut wanted = list_undescribed(proposal, table);
        wanted.truncate(NAMES);
        if wanted.is_empty() {
            continue;
        }
        let shown = show_table(table, catalog);
        let has_room = parts.len() < CALLS;
        match parts.last_mut() {
            Some(last) if last.count() + wanted.len() <= NAMES && last.shown.len() < PROMPT => {
                last.shown.push_str(&shown);
                last.wanted.append(&mut wanted);
            }
            _ if has_room => parts.push(DescriptionPart { shown, wanted }),
            _ => break,
        }
    }
    parts
}

/// The names of a table, its dimensions and its measures that have no description.
fn list_undescribed(proposal: &Semantics, table: &Table) -> Vec<(String, String)> {
    let mut wanted = Vec::new();
    if table.description.is_none() {
        wanted.push((name_table(&table.name), String::new()));
    }
    for dimension in &proposal.dimensions {
        if dimension.table == table.name && dimension.description.is_none() {
            let name = name_dimension(&table.name, &dimension.name);
            wanted.push((name, format!(": {}", dimension.expression.text)));
        }
    }
    for metric in &proposal.metrics {
        if let MetricKind::Measure(measure) = &metric.kind
            && measure.base == table.name
            && metric.description.is_none()
        {
            wanted.push((name_metric(&metric.name), format!(": {}", define_measure(measure))));
        }
    }
    wanted
}

/// A table with its columns in a prompt. Each takes one line, whatever its texts hold.
fn show_table(table: &Table, catalog: &Catalog) -> String {
    let Some(source) = catalog.table(&table.source) else { return String::new() };
    let comment = show_comment(source.comment.as_deref());
    let mut text = format!("Table {}{comment}\n", table.name);
    for column in source.columns.iter().take(COLUMNS).filter(|column| is_writable(&column.name)) {
        let sql_type = shorten(&column.sql_type, TYPE);
        let comment = show_comment(column.comment.as_deref());
        let _ = writeln!(text, "  {} {sql_type}{comment}", column.name);
    }
    text
}

fn show_comment(comment: Option<&str>) -> String {
    comment.map(|comment| format!(" -- {}", shorten(comment, COMMENT))).unwrap_or_default()
}

/// The beginning of a text, in one line.
fn shorten(text: &str, bytes: usize) -> String {
    clip(text, bytes).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The name of a table among descriptions.
pub(crate) fn name_table(table: &str) -> String {
    format!("table {table}")
}

/// The name of a dimension among descriptions.
pub(crate) fn name_dimension(table: &str, dimension: &str) -> String {
    format!("dimension {table}.{dimension}")
}

/// The name of a metric among descriptions.
pub(crate) fn name_metric(metric: &str) -> String {
    format!("metric {metric}")
}

#[cfg(test)]
mod tests {
    use syrch_core::{Column, Dialect};

    use super::*;
    use crate::{Place, Source, propose};

    fn column(n: usize) -> Column {
        Column { name: format!("c{n}"), sql_type: "TEXT".into(), ..Column::default() }
    }

    fn entry(name: &str, text: &str) -> Value {
        json!({"name": name, "description": text})
    }

    fn catalog(tables: usize, columns: usize) -> Catalog {
        let tables = (0..tables).map(|n| syrch_core::Table {
            name: format!("t{n}"),
            columns: (0..columns).map(column).collect(),
            ..syrch_core::Table::default()
        });
        Catalog { database: "d".into(), dialect: Dialect::Sqlite, tables: tables.collect() }
    }

    fn read(text: &str) -> Semantics {
        let source = Source { file: "p.yml".into(), text: text.into() };
        Semantics::read(&[source]).unwrap_or_else(|problems| panic!("{text}\n{problems:#?}"))
    }

    fn split(catalog: &Catalog) -> Vec<DescriptionPart> {
        let text = propose(catalog, &[], &Descriptions::default());
        split_undescribed(&read(&text), catalog)
    }

    #[test]
    fn parts_and_the_names_in_each_are_bounded() {
        let few = split(&catalog(3, 2));
        assert_eq!(few.iter().map(DescriptionPart::count).collect::<Vec<_>>(), [12]);
        let many = split(&catalog(40, 10));
        assert_eq!(many.iter().map(DescriptionPart::count).collect::<Vec<_>>(), [24; CALLS]);
        let wide = split(&catalog(1, 400));
        assert_eq!(wide.iter().map(DescriptionPart::count).collect::<Vec<_>>(), [NAMES]);
        assert!(wide[0].prompt().len() < PROMPT, "{}", wide[0].prompt());
    }

    #[test]
    fn what_the_schema_describes_is_not_asked_for_and_stays() {
        let mut catalog = catalog(1, 2);
        catalog.tables[0].comment = Some("Orders: one of each sale.".into());
        catalog.tables[0].columns[1].comment = Some("first\nsecond".into());
        let parts = split(&catalog);
        let part = &parts[0];
        let prompt = part.prompt();
        assert!(prompt.contains("Table t0 -- Orders: one of each sale.\n"), "{prompt}");
        assert!(prompt.contains("  c1 TEXT -- first second\n"), "{prompt}");
        assert!(!prompt.contains("  table t0\n"), "{prompt}");
        assert!(prompt.contains("  dimension t0.c1: c1\n"), "{prompt}");
        let mut descriptions = Descriptions::default();
        let reply = json!({"descriptions": [entry("table t0", "Another.")]});
        descriptions.add_reply(part, &reply);
        assert_eq!(descriptions.count(), 0);
        let semantics = read(&propose(&catalog, &[], &descriptions));
        assert_eq!(semantics.tables[0].description.as_deref(), Some("Orders: one of each sale."));
    }

    #[test]
    fn a_hostile_reply_adds_texts_and_nothing_else() {
        let catalog = catalog(2, 2);
        let parts = split(&catalog);
        let quoted = "x}, evil: \"y\" # z\\n 'é' {{ a }} &a *b !!c %d |- >- [";
        let reply = json!({"descriptions": [
            entry("table t0", quoted),
            entry("table t0", "A second one."),
            entry(" dimension t0.c0 ", " yes "),
            entry("dimension t0.c1", "one\nfilter: \"1 = 0\""),
            entry("metric number of t0", quoted),
            entry("table t1", "\u{202e}backwards"),
            entry("dimension t1.c0", &"x".repeat(DESCRIPTION + 1)),
            entry("dimension t1.c1", ""),
            entry("metric number of t1", "\u{2028}"),
            entry("table other", "Not there."),
            entry("joins", "Not there."),
            json!("text"),
            json!({"name": "table t1", "description": ["a"]}),
        ]});
        let mut descriptions = Descriptions::default();
        descriptions.add_reply(&parts[0], &reply);
        descriptions.add_reply(&parts[0], &json!([1]));
        assert_eq!(descriptions.count(), 3);
        let plain = read(&propose(&catalog, &[], &Descriptions::default()));
        let text = propose(&catalog, &[], &descriptions);
        let described = read(&text);
        assert_eq!(described.tables[0].description.as_deref(), Some(quoted), "{text}");
        assert_eq!(described.dimensions[0].description.as_deref(), Some("yes"), "{text}");
        let metric = &described.metrics[0];
        assert_eq!(metric.description.as_deref(), Some(quoted), "{text}");
        assert_eq!(text.matches(" # by a model: review it\n").count(), 3, "{text}");
        assert_eq!(without_descriptions(described), without_descriptions(plain));
    }

    fn without_descriptions(mut semantics: Semantics) -> String {
        for table in &mut semantics.tables {
            table.description = None;
            table.place = Place::default();
        }
        for join in &mut semantics.joins {
            join.place = Place::default();
        }
        for dimension in &mut semantics.dimensions {
            dimension.description = None;
            dimension.place = Place::default();
            dimension.expression.place = Place::default();
        }
        let metrics: Vec<&str> = semantics.metrics.iter().map(|metric| &*metric.name).collect();
        let Semantics { tables, joins, dimensions, .. } = &semantics;
        format!("{tables:?} {joins:?} {dimensions:?} {metrics:?}")
    }
}
