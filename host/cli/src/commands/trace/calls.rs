//! The port calls of a run as rows: who made them, and in which order they were made and ended.

use serde_json::{Value, json};
use syrch::journal::{ModelNode, PortCall, SearchTree, What};
use syrch_report::words::count;

use crate::sink::Grid;

/// Columns of the drawn time line.
const WIDTH: u64 = 24;

/// Returns the caller of a call: the role and its task.
pub(super) fn caller(tree: &SearchTree, call: &PortCall) -> String {
    let Some(role_call) = tree.role_call(call.call) else { return String::new() };
    let task =
        if role_call.task.is_empty() { String::new() } else { format!("({})", role_call.task) };
    format!("{}{task}", role_call.role)
}

/// Describes a call in a line.
pub(super) fn describe_call(call: &PortCall) -> String {
    match &call.what {
        What::Model(model) => model_call(model),
        What::Statement { sql, rows, error_kind } => {
            let found = match (rows, error_kind) {
                (Some(rows), _) => format!("{}: ", count(*rows, "row")),
                (None, Some(kind)) => format!("{kind}: "),
                (None, None) => String::new(),
            };
            format!("{found}{sql}")
        }
        What::Other => String::new(),
    }
}

fn model_call(model: &ModelNode) -> String {
    let name = model.model.as_deref().map(|name| format!(", {name}")).unwrap_or_default();
    let cached = if model.cached { ", from a cache" } else { "" };
    let remark = model.remark.as_ref().map(|remark| format!("; {remark}")).unwrap_or_default();
    // A journal does not hold what a failed call used.
    let tokens = match (model.input_tokens, model.output_tokens) {
        (0, 0) => String::new(),
        (input, output) => format!(", {input} + {output} tokens"),
    };
    format!("{}{name}{tokens}{cached}{remark}", model.purpose)
}

/// Writes how a call ended, and why it failed.
pub(super) fn end(call: &PortCall) -> String {
    let why = call.error.as_ref().map(|error| format!(": {error}")).unwrap_or_default();
    format!("{}{why}", call.end.name())
}

/// Returns the place of a call between the begin of the run and its end, divided into that many
/// parts: its first and its last.
pub(super) fn span(tree: &SearchTree, call: &PortCall, parts: u64) -> (u64, u64) {
    let whole = tree.took_us.max(1);
    let place = |at_us: u64| at_us.min(whole).saturating_mul(parts) / whole;
    let first = place(call.issued_us).min(parts.saturating_sub(1));
    (first, place(call.done_us.unwrap_or(whole)).clamp(first, parts.saturating_sub(1)))
}

fn bar(tree: &SearchTree, call: &PortCall) -> String {
    let (first, last) = span(tree, call, WIDTH);
    (0..WIDTH).map(|place| if (first..=last).contains(&place) { '█' } else { '·' }).collect()
}

fn milliseconds(microseconds: u64) -> f64 {
    microseconds as f64 / 1000.0
}

/// A row for each call, in the order in which they were made.
pub(super) fn grid(tree: &SearchTree, is_drawn: bool) -> Grid {
    let mut grid =
        Grid::new(["made", "ended", "by", "port", "issued_ms", "took_ms", "end", "what"]);
    if is_drawn {
        grid.columns.insert(4, "time".to_owned());
    }
    for call in &tree.calls {
        let took = call.done_us.map(|done| milliseconds(done.saturating_sub(call.issued_us)));
        let mut row: Vec<Value> = vec![
            json!(call.issued),
            json!(call.completed),
            json!(caller(tree, call)),
            json!(call.port),
            json!(milliseconds(call.issued_us)),
            json!(took),
            json!(end(call)),
            json!(describe_call(call)),
        ];
        if is_drawn {
            row.insert(4, json!(bar(tree, call)));
        }
        grid.rows.push(row);
    }
    grid
}
