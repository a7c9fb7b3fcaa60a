//! The corpora of hostile and benign statements: one JSON object a line, with the engine, and the
//! statement or how it is made.

use std::fmt::Debug;
use std::path::Path;

use serde_json::Value;

/// The lines of a file that are for this engine.
///
/// # Panics
/// When the file cannot be read or a line is no JSON.
#[must_use]
pub fn lines(file: &Path, engine: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(file).expect("the corpus can be read");
    let lines =
        text.lines().map(|line| serde_json::from_str::<Value>(line).expect("a line is JSON"));
    lines.filter(|line| line["engine"] == engine).collect()
}

/// The statement of a line. A long one is given by its parts: texts, texts with how often they are
/// repeated, and templates with their number and what separates them.
///
/// # Panics
/// When the line has neither form.
#[must_use]
pub fn text(line: &Value) -> String {
    let Some(parts) = line["sql_gen"].as_array() else { return string(&line["sql"]).to_owned() };
    fn number(value: &Value) -> u64 {
        value.as_u64().expect("a number")
    }
    parts
        .iter()
        .map(|part: &Value| match part {
            Value::String(text) => text.clone(),
            Value::Array(pair) => (0..number(&pair[1])).map(|_| string(&pair[0])).collect(),
            other => {
                let join = &other["join"];
                let template = string(&join[0]);
                let separator = string(&join[2]);
                let items = (0..number(&join[1])).map(|i| template.replace("{i}", &i.to_string()));
                items.collect::<Vec<_>>().join(separator)
            }
        })
        .collect()
}

/// Returns whether a statement and what the guard wrote of it gave the same rows: in their order
/// where the statement ends in an `ORDER BY`, else in any order, since an engine of several threads
/// gives them as they come.
#[must_use]
pub fn is_same<T: Debug>(sql: &str, given: &[T], written: &[T]) -> bool {
    let [mut given, mut written] =
        [given, written].map(|rows| rows.iter().map(|row| format!("{row:?}")).collect::<Vec<_>>());
    let tail = sql.rsplit(')').next().unwrap_or(sql).to_uppercase();
    if !tail.contains("ORDER BY") {
        given.sort_unstable();
        written.sort_unstable();
    }
    given == written
}

fn string(value: &Value) -> &str {
    value.as_str().expect("a text")
}
