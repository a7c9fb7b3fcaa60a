//! Fills the values of a case with defaults: a case names only the fields that matter to it.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use syrch_core::text::{few, nearest};
use syrch_core::{Candidate, Column, Ending, Observation, Opinion, Problem, Signals, Table, Task};

/// A filled value, or what is wrong with it in words.
pub(crate) type Filled<T = Value> = Result<T, String>;

type Fill = fn(Value) -> Filled;

/// Reads a value once `fill` has filled it.
pub(crate) fn read<T: DeserializeOwned>(value: Value, fill: Fill) -> Filled<T> {
    decode(fill(value)?)
}

/// Decodes a whole value; an error names the field.
pub(crate) fn decode<T: DeserializeOwned>(value: Value) -> Filled<T> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = format!("`{}`", error.path());
        let what = error.inner().to_string();
        // The message for an unknown field names it itself.
        if error.path().iter().next().is_none() || what.contains(&path) {
            what
        } else {
            format!("{path}: {what}")
        }
    })
}

/// Reads the values of a list.
pub(crate) fn read_list<T: DeserializeOwned>(
    value: Value,
    what: &str,
    fill: Fill,
) -> Filled<Vec<T>> {
    let Value::Array(items) = value else { return Err(format!("`{what}` is no list")) };
    items
        .into_iter()
        .enumerate()
        .map(|(at, item)| read(item, fill).map_err(|error| format!("`{what}[{at}]`: {error}")))
        .collect()
}

/// The fields of a mapping over those of `defaults`, which has all that may be given. `parts` are
/// the fields that have defaults of their own.
fn record(what: &str, given: Value, defaults: &impl Serialize, parts: &[(&str, Fill)]) -> Filled {
    let Value::Object(given) = given else { return Err(format!("a {what} is a mapping")) };
    let mut all = match serde_json::to_value(defaults) {
        Ok(Value::Object(all)) => all,
        _ => Map::new(),
    };
    for (key, value) in given {
        if !all.contains_key(&key) {
            return Err(unknown(what, &key, all.keys().map(String::as_str)));
        }
        let part = parts.iter().find(|(name, _)| *name == key);
        let filled = match part {
            Some((name, fill)) => fill(value).map_err(|error| format!("`{name}`: {error}"))?,
            None => value,
        };
        all.insert(key, filled);
    }
    Ok(Value::Object(all))
}

/// The message for a field that does not exist.
pub(crate) fn unknown<'a>(
    what: &str,
    key: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> String {
    match nearest(key, known.clone()).first() {
        Some(near) => format!("a {what} has no field `{key}`; did you mean `{near}`?"),
        None => format!("a {what} has no field `{key}`; it has {}", few(known)),
    }
}

fn list(value: Value, fill: Fill) -> Filled {
    let Value::Array(items) = value else { return Err("is no list".to_owned()) };
    items
        .into_iter()
        .enumerate()
        .map(|(at, item)| fill(item).map_err(|error| format!("[{at}]: {error}")))
        .collect::<Filled<Vec<_>>>()
        .map(Value::Array)
}

/// A JSON document as text. A case may give the document itself.
fn json_text(value: Value) -> Filled {
    Ok(match value {
        Value::Null | Value::String(_) => value,
        document => Value::String(document.to_string()),
    })
}

/// Pairs of a key and a JSON text, which a case may give as a mapping.
fn extras(value: Value) -> Filled {
    let Value::Object(pairs) = value else { return Ok(value) };
    pairs
        .into_iter()
        .map(|(key, value)| Ok(json!([key, json_text(value)?])))
        .collect::<Filled<Vec<_>>>()
        .map(Value::Array)
}

pub(crate) fn problem(value: Value) -> Filled {
    let value = if value.is_string() { json!({ "question": value }) } else { value };
    record(
        "problem",
        value,
        &Problem::default(),
        &[("hints", |hints| list(hints, hit)), ("extra", extras)],
    )
}

pub(crate) fn hit(value: Value) -> Filled {
    let defaults = json!({
        "corpus": "tables", "id": "", "path": "", "table": null, "column": null, "snippet": null,
        "payload": null, "score": 0.0,
    });
    record("hit", value, &defaults, &[("payload", json_text)])
}

pub(crate) fn signals(value: Value) -> Filled {
    record("set of signals", value, &Signals::default(), &[])
}

pub(crate) fn candidate(value: Value) -> Filled {
    record("candidate", value, &Candidate::default(), &[("signals", signals), ("extra", extras)])
}

pub(crate) fn task(value: Value) -> Filled {
    record("task", value, &Task::default(), &[("context", json_text)])
}

pub(crate) fn graph(value: Value) -> Filled {
    let defaults = json!({ "tasks": [], "answer": "", "memo": null });
    let mut filled = record(
        "graph",
        value,
        &defaults,
        &[("tasks", |tasks| list(tasks, task)), ("memo", json_text)],
    )?;
    if filled["answer"] == "" {
        let last = filled["tasks"]
            .as_array()
            .and_then(|tasks| tasks.last())
            .map(|task| task["id"].clone());
        filled["answer"] = last.unwrap_or_default();
    }
    Ok(filled)
}

pub(crate) fn failure(value: Value) -> Filled {
    record("failure", value, &json!({ "kind": "internal", "message": "", "retryable": false }), &[])
}

/// A variant with one value, such as `{failed: {…}}`, whose value is filled.
fn variant(value: Value, name: &str, fill: Fill) -> Filled {
    let Value::Object(mut of) = value else { return Ok(value) };
    if let Some(inner) = of.get_mut(name) {
        *inner = fill(inner.take()).map_err(|error| format!("`{name}`: {error}"))?;
    }
    Ok(Value::Object(of))
}

fn ending(value: Value) -> Filled {
    variant(value, "failed", failure)
}

fn profile(value: Value) -> Filled {
    if value.is_null() {
        return Ok(value);
    }
    let defaults = json!({ "rows": 0, "truncated": false, "columns": [], "warnings": [] });
    record("profile", value, &defaults, &[("columns", |columns| list(columns, column_profile))])
}

fn column_profile(value: Value) -> Filled {
    let defaults = json!({ "column": Column::default(), "nulls": 0, "distinct": null });
    record("profile of a column", value, &defaults, &[("column", column)])
}

pub(crate) fn observation(value: Value) -> Filled {
    record(
        "observation",
        value,
        &Observation::from_ending("", Ending::Solved),
        &[
            ("ending", ending),
            ("candidates", |candidates| list(candidates, candidate)),
            ("hits", |hits| list(hits, hit)),
            ("subtasks", |tasks| list(tasks, task)),
            ("profile", profile),
            ("memo", json_text),
        ],
    )
}

/// A column, or its name.
fn column(value: Value) -> Filled {
    let value = if value.is_string() { json!({ "name": value }) } else { value };
    record("column", value, &Column { nullable: true, ..Column::default() }, &[("extra", extras)])
}

fn table(value: Value) -> Filled {
    record(
        "table",
        value,
        &Table::default(),
        &[
            ("columns", |columns| list(columns, column)),
            ("foreign_keys", |keys| {
                list(keys, |value| {
                    record(
                        "foreign key",
                        value,
                        &json!({ "columns": [], "ref_table": "", "ref_columns": [] }),
                        &[],
                    )
                })
            }),
            ("indexes", |indexes| list(indexes, index)),
            ("extra", extras),
        ],
    )
}

fn index(value: Value) -> Filled {
    let defaults =
        json!({ "name": "", "columns": [], "is_unique": false, "method": null, "predicate": null });
    record("index", value, &defaults, &[])
}

pub(crate) fn catalog(value: Value) -> Filled {
    let defaults = json!({ "database": "case", "dialect": "sqlite", "tables": [] });
    record("catalog", value, &defaults, &[("tables", |tables| list(tables, table))])
}

pub(crate) fn verdict(value: Value) -> Filled {
    fn fill_opinion(value: Value) -> Filled {
        record("opinion", value, &Opinion::default(), &[])
    }
    variant(variant(value, "accepted", fill_opinion)?, "rejected", fill_opinion)
}

pub(crate) fn plan(value: Value) -> Filled {
    record("plan", value, &json!({ "format": "", "text": "", "cost": null, "rows": null }), &[])
}

pub(crate) fn attempt(value: Value) -> Filled {
    record(
        "trial of a proposal",
        value,
        &json!({ "sql": "", "family": "", "trial": "mismatch" }),
        &[],
    )
}

/// The fields that the case gives over those of a value with defaults.
pub(crate) fn over<T: Serialize + DeserializeOwned>(
    what: &str,
    given: Map<String, Value>,
    defaults: &T,
) -> Filled<T> {
    let filled = record(what, Value::Object(given), defaults, &[])?;
    decode(filled).map_err(|error| format!("`{what}`: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_takes_a_default() {
        let one: Candidate =
            read(json!({ "id": "a", "signals": { "attempts": 2 } }), candidate).unwrap();
        assert_eq!((one.id.as_str(), one.signals.attempts, one.sql.as_str()), ("a", 2, ""));
        let one: syrch_core::Graph =
            read(json!({ "tasks": [{ "id": "A", "context": { "n": 1 } }] }), graph).unwrap();
        assert_eq!(
            (one.answer.as_str(), one.tasks[0].context.as_deref()),
            ("A", Some("{\"n\":1}"))
        );
        let one: Observation =
            read(json!({ "task": "A", "ending": { "failed": { "message": "x" } } }), observation)
                .unwrap();
        assert!(matches!(one.ending, Ending::Failed(failure) if failure.message == "x"));
        let one: Problem = read(json!("How many?"), problem).unwrap();
        assert_eq!(one.question, "How many?");
        let one: syrch_core::Catalog =
            read(json!({ "tables": [{ "name": "t", "columns": ["a"] }] }), catalog).unwrap();
        assert!(one.tables[0].columns[0].nullable);
    }

    #[test]
    fn fields_that_do_not_exist_are_named() {
        assert_eq!(
            candidate(json!({ "idd": "a" })).unwrap_err(),
            "a candidate has no field `idd`; did you mean `id`?"
        );
        assert!(
            graph(json!({ "tasks": [{ "x": 1 }] }))
                .unwrap_err()
                .starts_with("`tasks`: [0]: a task has no field `x`")
        );
        assert_eq!(task(json!([])).unwrap_err(), "a task is a mapping");
        assert!(read::<Candidate>(json!({ "id": 3 }), candidate).unwrap_err().contains("string"));
    }
}
