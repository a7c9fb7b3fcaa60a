//! Questions for metrics that semantics files define: they are read before the rules are tried, and
//! their statement is compiled from the definitions.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use chrono::{DateTime, NaiveDate};
use serde_json::{Value, json};
use syrch_core::ports::{CellIndex, Match, ModelCall};
use syrch_core::{Dialect, Problem};
use syrch_semantics::{
    Applied, Cell, Format, OutputColumn, Reading, Role, Semantics, Unread, cells_at, compile,
    names_metric, phrases, read_question,
};

use super::evidence::{Evidence, apply_evidence};
use super::{calendar, words};

/// The limit on the cells that are requested for a phrase.
const CELLS: u32 = 12;

/// The outcome of reading a question by semantics files.
pub(crate) enum Metric {
    /// The statement, with the confidence in it and its origin as a document.
    Statement { sql: String, confidence: f64, origin: Value },
    /// The question asks for a metric, and the files do not answer it for this reason.
    Unclear(String),
    /// The files do not answer it.
    Unread,
}

/// The highest confidence where the user explained words of a question, and the definitions gave
/// its statement without reading that.
pub const UNREAD_EVIDENCE: f64 = 0.5;
/// The note on such a statement.
const EVIDENCE_NOTE: &str =
    "the evidence was not used: the definitions of the metrics stand as they are";

/// Reads the question of a call. One with clarifications of the user is left to the rules, since
/// these may change the meaning of its words. So does an explanation only by the terms that it
/// writes out.
pub(crate) async fn read(
    question: &str,
    call: &ModelCall,
    semantics: &Arc<Semantics>,
    index: Option<&dyn CellIndex>,
) -> Metric {
    let problem = &call.problem;
    if !problem.answers.is_empty() {
        return Metric::Unread;
    }
    let explained = apply_evidence(question, problem);
    let cells = match index {
        Some(index) => find_cells(&explained, semantics, index).await,
        None => Vec::new(),
    };
    let today = question_day(semantics, problem);
    let read = read_with(&explained, semantics, &cells, &call.catalog.dialect, today);
    let is_unread = Evidence::from_problem(problem).has_words && explained == question;
    match read {
        Metric::Statement { sql, confidence, mut origin } if is_unread => {
            note_evidence(&mut origin);
            Metric::Statement { sql, confidence: confidence.min(UNREAD_EVIDENCE), origin }
        }
        other => other,
    }
}

/// Notes in the origin of a statement that the definitions gave it without the evidence.
pub fn note_evidence(origin: &mut Value) {
    if let Some(notes) = origin.get_mut("notes").and_then(Value::as_array_mut) {
        notes.push(Value::from(EVIDENCE_NOTE));
    }
}

fn read_with(
    question: &str,
    semantics: &Semantics,
    cells: &[Cell],
    dialect: &Dialect,
    today: NaiveDate,
) -> Metric {
    let understood = match read_question(semantics, question, cells, today) {
        Reading::Understood(understood) => understood,
        Reading::Unread(unread) if forbids_rules(semantics, question, &unread) => {
            return Metric::Unclear(explain(&unread, question));
        }
        Reading::Unread(_) => return Metric::Unread,
    };
    let request = understood.request.with_named_groups();
    match compile(semantics, &request, dialect, today) {
        Ok(compiled) => Metric::Statement {
            confidence: understood.confidence,
            origin: describe_origin(&compiled.applied, &compiled.columns),
            sql: compiled.sql,
        },
        Err(error) => Metric::Unclear(error.to_string()),
    }
}

/// The reason why a question has no answer. Words that are not understood may be a time that is
/// none.
fn explain(unread: &Unread, question: &str) -> String {
    let tokens = words::tokens(question);
    let none = match unread {
        Unread::Words(_) => calendar::impossible_times(&tokens).next(),
        _ => None,
    };
    none.map_or_else(|| unread.to_string(), |(_, why)| why)
}

/// Returns true if the rules must not answer a question that the definitions do not answer: it asks
/// for a metric, of which the rules know nothing.
fn forbids_rules(semantics: &Semantics, question: &str, unread: &Unread) -> bool {
    match unread {
        Unread::Ambiguous { .. } | Unread::Contradictory(_) | Unread::Unsupported(_) => true,
        Unread::Words(_) => names_metric(semantics, question),
        Unread::Rows(_) | Unread::NoMetric | Unread::TooLong => false,
    }
}

/// The day that "last month" and the like count from: that of the question, that of the semantics,
/// or today in UTC.
#[must_use]
pub fn question_day(semantics: &Semantics, problem: &Problem) -> NaiveDate {
    Evidence::from_problem(problem).today.or(semantics.today).unwrap_or_else(today)
}

/// The table of the files with a condition that always holds which a statement of the rules reads:
/// the rules know of no such condition.
pub(crate) fn find_filtered<'a>(semantics: &'a Semantics, sql: &str) -> Option<&'a str> {
    let lower = sql.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let mut filtered = semantics.tables.iter().filter(|table| table.filter.is_some());
    let found = filtered.find(|table| {
        let source = table.source.to_lowercase();
        let name = source.rsplit('.').next().unwrap_or(&source);
        let is_word = name.chars().all(|c| c.is_alphanumeric() || c == '_');
        if is_word { words.contains(&name) } else { lower.contains(name) }
    });
    found.map(|table| table.name.as_str())
}

fn today() -> NaiveDate {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = i64::try_from(since.as_secs()).unwrap_or_default();
    DateTime::from_timestamp(seconds, 0).unwrap_or_default().date_naive()
}

/// The values of dimensions that phrases of the question name. Without an index, or if it fails,
/// there are none.
pub async fn find_cells(question: &str, semantics: &Semantics, index: &dyn CellIndex) -> Vec<Cell> {
    let phrases = phrases(question);
    let lists = index.find(&phrases, Match::Exact, CELLS).await.unwrap_or_default();
    let hits = lists.iter().flatten();
    let mut cells: Vec<Cell> = hits
        .filter_map(|hit| Some((hit.table.as_ref()?, hit.column.as_ref()?, hit.snippet.as_ref()?)))
        .flat_map(|(table, column, value)| cells_at(semantics, table, column, value))
        .collect();
    cells.sort_unstable_by(|one, other| {
        (&one.dimension, &one.value).cmp(&(&other.dimension, &other.value))
    });
    cells.dedup();
    cells
}

/// The origin of a statement, as the answer's document has it.
#[must_use]
pub fn describe_origin(applied: &Applied, columns: &[OutputColumn]) -> Value {
    let values = columns.iter().filter(|column| column.role != Role::Dimension);
    let values = values.filter(|column| column.role != Role::Time);
    let values: Vec<Value> = values
        .map(|column| {
            let format = match column.format {
                Format::Number => "number",
                Format::Percent => "percent",
                Format::Currency => "currency",
            };
            json!({ "name": column.name, "format": format, "unit": column.unit })
        })
        .collect();
    let metrics: Vec<Value> =
        applied.metrics.iter().map(|(name, file)| json!({ "name": name, "file": file })).collect();
    json!({
        "kind": "metric",
        "metrics": metrics,
        "request": applied.request,
        "words": applied.words(),
        "filters": applied.filters,
        "time": applied.time,
        "from": applied.period.as_ref().and_then(|period| period.from).map(|day| day.to_string()),
        "until": applied.period.as_ref().and_then(|period| period.until).map(|day| day.to_string()),
        "grain": applied.grain,
        "notes": applied.notes,
        "values": values,
    })
}
