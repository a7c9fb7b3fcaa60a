//! The candidate tables of a task, best first, and how others join them.

use std::collections::BTreeSet;

use serde_json::json;
use syrch_plugin::names::prompt_name;
use syrch_plugin::prelude::*;
use syrch_plugin::prompt::table_name;

use crate::Settings;
use crate::solver::words::{parts, words};

// Hits that are asked for: the port's most.
const HITS: u32 = 100;
// The most joins that a prompt lists.
const JOINS: usize = 12;
// Tables whose scores measure how clear retrieval is.
const CLEAR: usize = 10;
// Names too common to show how tables join.
const COMMON: &[&str] = &["id", "name"];

/// A table that statements are to be built on.
#[derive(Debug, Clone)]
pub(crate) struct Primary<'a> {
    pub(crate) table: &'a Table,
    /// Retrieval's score, or that of its name, 0 to 1.
    pub(crate) score: f64,
    /// The joins of other tables with this one, a clause each.
    pub(crate) joins: Vec<String>,
}

impl Primary<'_> {
    /// Writes the lines of a prompt about the table.
    pub(crate) fn prompt_text(&self, syntax: &Syntax) -> String {
        let mut out = format!(
            "Build the statement on the table {}: it stands in FROM or in a \
             JOIN, and other tables join it where they are needed.\n",
            table_name(syntax, self.table)
        );
        for join in &self.joins {
            out += &format!("- {join}\n");
        }
        out
    }
}

/// The tables that retrieval finds for the task, as the policy of syrch 0.3.7 keeps them; without a
/// hit, those whose names the question has most of, and then the others in the catalog's order.
pub(crate) fn candidates<'a>(
    host: &impl SolverHost,
    settings: &Settings,
    problem: &Problem,
    catalog: &'a Catalog,
    task: &Task,
) -> Vec<Primary<'a>> {
    let text = if task.text.trim() == problem.question.trim() {
        problem.question.clone()
    } else {
        format!("{}\n{}", task.text.trim(), problem.question.trim())
    };
    let found = retrieve_tables(host, catalog, &text);
    let by = if found.is_empty() { "names" } else { "retrieval" };
    let scored = if found.is_empty() {
        by_name(settings, catalog, &text)
    } else {
        select_tables(settings, found)
    };
    let reported: Vec<_> = scored
        .iter()
        .map(|(table, score)| json!({ "table": table.name, "score": score }))
        .collect();
    host.event(None, "tables", &json!({ "by": by, "tables": reported }));
    scored
        .into_iter()
        .map(|(table, score): (&'a Table, f64)| Primary {
            table,
            score,
            joins: joins(catalog, table).into_iter().collect(),
        })
        .collect()
}

/// The hits among the catalog's tables, each once.
fn retrieve_tables<'a>(
    host: &impl SolverHost,
    catalog: &'a Catalog,
    text: &str,
) -> Vec<(&'a Table, f64)> {
    let query = RetrievalQuery {
        corpus: Corpus::Tables,
        retriever: Retriever::Lexical,
        text: text.to_owned(),
        limit: HITS,
    };
    let hits = match host.retrieve(&query) {
        Ok(hits) => hits,
        Err(error) => {
            host.note(
                Level::Debug,
                &format!("no retrieval of tables: {}", port_failure(&error).message),
            );
            Vec::new()
        }
    };
    let mut found: Vec<(&Table, f64)> = Vec::new();
    for hit in &hits {
        let name = hit.table.as_deref().unwrap_or(&hit.path);
        let Some(table) = catalog.table(name) else { continue };
        if hit.score.is_finite() && !found.iter().any(|(known, _)| known.is_same(table)) {
            found.push((table, hit.score));
        }
    }
    found
}

/// Candidate policy of syrch 0.3.7: a share of the best score, and not too many.
fn select_tables<'a>(
    settings: &Settings,
    mut found: Vec<(&'a Table, f64)>,
) -> Vec<(&'a Table, f64)> {
    let top = found.first().map_or(0.0, |(_, score)| *score);
    let most = if settings.adaptive { adaptive(&found) } else { settings.most_tables as usize };
    if top > 0.0 {
        found.retain(|(_, score)| *score >= settings.keep_share * top);
    }
    found.truncate(most);
    found
}

/// Adaptive K of syrch 0.3.7.
fn adaptive(found: &[(&Table, f64)]) -> usize {
    let sum: f64 = found.iter().take(CLEAR).map(|(_, score)| score).sum();
    let clear = found.first().map_or(0.0, |(_, score)| if sum > 0.0 { score / sum } else { 0.0 });
    match clear {
        clear if clear >= 0.7 => 5,
        clear if clear >= 0.35 => 10,
        _ => 15,
    }
}

fn by_name<'a>(settings: &Settings, catalog: &'a Catalog, text: &str) -> Vec<(&'a Table, f64)> {
    let asked: BTreeSet<String> = words(text).into_iter().collect();
    let overlap = |table: &Table| {
        let parts = parts(&table.name);
        parts.iter().filter(|part| asked.contains(*part)).count() as f64 / parts.len().max(1) as f64
    };
    let mut scored: Vec<(&Table, f64)> =
        catalog.tables.iter().map(|table| (table, overlap(table))).collect();
    // Stable: tables of the same overlap stay in the catalog's order.
    scored.sort_by(|a, b| b.1.total_cmp(&a.1));
    scored.truncate(settings.most_tables as usize);
    scored
}

/// Keys from and to the table first, then columns of the same name.
fn joins(catalog: &Catalog, table: &Table) -> Vec<String> {
    let syntax = &catalog.syntax;
    let mut out = Vec::new();
    let mut joined: Vec<&Table> = vec![table];
    for key in &table.foreign_keys {
        if let Some(other) = catalog.table(&key.ref_table).filter(|other| !other.is_same(table)) {
            out.push(by_key(syntax, table, other, key));
            joined.push(other);
        }
    }
    fn refers(catalog: &Catalog, table: &Table, key: &&ForeignKey) -> bool {
        catalog.table(&key.ref_table).is_some_and(|other| other.is_same(table))
    }
    for other in catalog.tables.iter().filter(|other| !other.is_same(table)) {
        for key in other.foreign_keys.iter().filter(|key| refers(catalog, table, key)) {
            out.push(by_key(syntax, other, table, key));
            joined.push(other);
        }
    }
    let is_joined = |other: &&Table| joined.iter().any(|known| known.is_same(other));
    for other in catalog.tables.iter().filter(|other| !is_joined(other)) {
        let has =
            |name: &str| other.columns.iter().any(|column| column.name.eq_ignore_ascii_case(name));
        let shared =
            table.columns.iter().map(|column| column.name.as_str()).filter(|name| has(name));
        let shared: Vec<String> = shared
            .filter(|name| !COMMON.contains(&name.to_ascii_lowercase().as_str()))
            .map(|name| prompt_name(syntax, name))
            .collect();
        if !shared.is_empty() {
            out.push(format!("{} also has {}", table_name(syntax, other), shared.join(", ")));
        }
    }
    out.truncate(JOINS);
    out
}

fn by_key(syntax: &Syntax, from: &Table, to: &Table, key: &ForeignKey) -> String {
    fn full_name(syntax: &Syntax, table: &Table, name: Option<&String>) -> String {
        let name = name.or_else(|| table.primary_key.first()).map(|name| prompt_name(syntax, name));
        format!("{}.{}", table_name(syntax, table), name.unwrap_or_else(|| "rowid".to_owned()))
    }
    key.columns
        .iter()
        .enumerate()
        .map(|(index, name): (usize, &String)| {
            format!(
                "{} = {}",
                full_name(syntax, from, Some(name)),
                full_name(syntax, to, key.ref_columns.get(index))
            )
        })
        .collect::<Vec<_>>()
        .join(" AND ")
}
