//! The columns of the CSV and Parquet files: one declaration feeds both.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::Verdict;
use crate::report::ResultRow;

/// The kind of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Count,
    Number,
    Truth,
}

/// One column of the table of answers.
pub(crate) struct Column {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// Null where it is not known.
    pub(crate) value: fn(&ResultRow) -> Value,
}

const fn column(name: &'static str, kind: Kind, value: fn(&ResultRow) -> Value) -> Column {
    Column { name, kind, value }
}

/// The columns in their order; the verdicts of each rule follow.
pub(crate) const COLUMNS: &[Column] = &[
    column("arm", Kind::Text, |row| json!(row.arm)),
    column("id", Kind::Text, |row| json!(row.id)),
    column("place", Kind::Count, |row| json!(row.place)),
    column("db", Kind::Text, |row| json!(row.db)),
    column("question", Kind::Text, |row| json!(row.question)),
    column("fields", Kind::Text, |row| {
        if row.fields.is_empty() {
            Value::Null
        } else {
            Value::String(json!(row.fields).to_string())
        }
    }),
    column("end", Kind::Text, |row| json!(row.end)),
    column("verdict", Kind::Text, |row| json!(row.verdict)),
    column("exact_match", Kind::Truth, |row| json!(row.metrics.exact_match)),
    column("row_count_match", Kind::Truth, |row| json!(row.metrics.row_count_match)),
    column("soft_f1", Kind::Number, |row| json!(row.metrics.soft_f1)),
    column("confidence", Kind::Number, |row| json!(row.confidence)),
    column("candidate_confidence", Kind::Number, |row| json!(row.candidate_confidence)),
    column("rows", Kind::Count, |row| json!(row.rows)),
    column("gold_rows", Kind::Count, |row| json!(row.gold_rows)),
    column("calls", Kind::Count, |row| json!(row.calls)),
    column("cached", Kind::Count, |row| json!(row.cached)),
    column("input_tokens", Kind::Count, |row| json!(row.input_tokens)),
    column("output_tokens", Kind::Count, |row| json!(row.output_tokens)),
    column("usd", Kind::Number, |row| json!(row.usd)),
    column("sql_runs", Kind::Count, |row| json!(row.sql_runs)),
    column("duration", Kind::Number, |row| json!(row.duration)),
    column("sql", Kind::Text, |row| json!(row.sql)),
    column("origin", Kind::Text, |row| json!(row.origin)),
    column("gold_sql", Kind::Text, |row| json!(row.gold_sql)),
    column("error_class", Kind::Text, |row| json!(row.error_class)),
    column("error", Kind::Text, |row| json!(row.error)),
    column("gold_fault", Kind::Text, |row| json!(row.gold_fault)),
    column("retried", Kind::Truth, |row| json!(row.retried)),
    column("run", Kind::Text, |row| json!(row.run)),
    column("run_id", Kind::Text, |row| json!(row.run_id)),
    column("rule", Kind::Text, |row| json!(row.rule)),
    column("simulated", Kind::Text, |row| json!(row.simulated)),
];

/// The rules that any of the answers was graded under, by name.
pub(crate) fn rules(rows: &[ResultRow]) -> BTreeSet<&str> {
    rows.iter().flat_map(|row| row.verdicts.keys().map(String::as_str)).collect()
}

/// The verdict as the table of answers spells it.
pub(crate) fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Right => "right",
        Verdict::Wrong => "wrong",
        Verdict::Excluded => "excluded",
    }
}
