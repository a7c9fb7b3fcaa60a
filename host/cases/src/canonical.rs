//! One spelling for what a case gives, so that plugins of all languages that do the same give the
//! same text.

use serde_json::{Map, Number, Value};

/// The fields that hold a JSON document as text; the document itself is shown, since languages
/// write one document in several ways.
const DOCUMENTS: [&str; 4] = ["memo", "context", "payload", "parsed"];

/// Levels of nesting below which values are left as they are.
const DEPTH: usize = 100;

/// A value as serde writes one of the contract's types, without members that hold nothing (null,
/// empty lists), with the documents in its texts, and with its keys sorted.
pub(crate) fn value(value: Value) -> Value {
    tidy(value, DEPTH)
}

fn tidy(value: Value, depth: usize) -> Value {
    let Some(depth) = depth.checked_sub(1) else { return value };
    match value {
        Value::Array(items) => items.into_iter().map(|item| tidy(item, depth)).collect(),
        Value::Object(members) => {
            let members = members.into_iter().filter_map(|(key, value)| {
                let value = match value {
                    Value::String(text) if DOCUMENTS.contains(&key.as_str()) => document(&text),
                    Value::Array(pairs) if key == "extra" => {
                        Value::Array(pairs.into_iter().map(extra).collect())
                    }
                    Value::Object(signals) if key == "signals" => unlike_default(signals),
                    value => tidy(value, depth),
                };
                let is_empty = match &value {
                    Value::Null => true,
                    Value::Array(items) => items.is_empty(),
                    Value::Object(members) => key == "signals" && members.is_empty(),
                    _ => false,
                };
                (!is_empty).then_some((key, value))
            });
            sort_members(members.collect())
        }
        value => value,
    }
}

/// Signals without those that are zero, as nearly all are.
fn unlike_default(signals: Map<String, Value>) -> Value {
    fn is_default_value(value: &Value) -> bool {
        value.as_f64() == Some(0.0)
            || value == &Value::Bool(false)
            || value.is_null()
            || value == &Value::Array(Vec::new())
    }
    sort_members(signals.into_iter().filter(|(_, value)| !is_default_value(value)).collect())
}

/// A pair of a key and a JSON document.
fn extra(pair: Value) -> Value {
    match pair {
        Value::Array(pair) => pair
            .into_iter()
            .enumerate()
            .map(|(at, item)| match item {
                Value::String(text) if at == 1 => document(&text),
                item => item,
            })
            .collect(),
        other => other,
    }
}

/// The document of a JSON text; the text itself where it is none.
pub(crate) fn document(text: &str) -> Value {
    serde_json::from_str(text).map_or_else(|_| Value::from(text), |value| normalize(value, DEPTH))
}

/// A document with sorted keys, whose whole numbers have no fraction: some languages write `1.0`
/// and some `1`.
fn normalize(value: Value, depth: usize) -> Value {
    let Some(depth) = depth.checked_sub(1) else { return value };
    match value {
        Value::Array(items) => items.into_iter().map(|item| normalize(item, depth)).collect(),
        Value::Object(members) => sort_members(
            members.into_iter().map(|(key, value)| (key, normalize(value, depth))).collect(),
        ),
        Value::Number(number) => Value::Number(drop_fraction(number)),
        value => value,
    }
}

fn drop_fraction(number: Number) -> Number {
    const EXACT: f64 = (1_u64 << 53) as f64;
    match number.as_f64().filter(|_| number.is_f64()) {
        Some(float) if float.fract() == 0.0 && float.abs() <= EXACT => Number::from(float as i64),
        _ => number,
    }
}

pub(crate) fn sort_members(members: Map<String, Value>) -> Value {
    let mut members: Vec<_> = members.into_iter().collect();
    members.sort_by(|(a, _), (b, _)| a.cmp(b));
    Value::Object(members.into_iter().collect())
}

/// A number of the contract's type `f32`, with the digits that a person would write.
pub(crate) fn short(number: Option<f32>) -> Value {
    number
        .and_then(|number| number.to_string().parse::<f64>().ok())
        .map_or(Value::Null, Value::from)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nothing_is_left_out_but_what_holds_nothing() {
        let given = json!({
            "z": 1, "a": null, "list": [], "rows": [null, []],
            "signals": { "attempts": 0, "samples": 3, "extra": [] },
            "memo": "{\"b\": 1.0, \"a\": [null]}", "extra": [["k", "{\"x\":  2}"]],
        });
        let expected = r#"{"extra":[["k",{"x":2}]],"memo":{"a":[null],"b":1},"rows":[null,[]],"signals":{"samples":3},"z":1}"#;
        assert_eq!(value(given).to_string(), expected);
        assert_eq!(
            value(json!({ "memo": "no document" })).to_string(),
            r#"{"memo":"no document"}"#
        );
        assert_eq!(short(Some(0.7)), json!(0.7));
    }

    #[test]
    fn deep_values_end_no_thread() {
        let deep = (0..10_000).fold(Value::Null, |inner, _| Value::Array(vec![inner]));
        let tidied = value(deep);
        assert!(tidied.is_array());
        // Dropping it must not end the thread either, which takes one level at a time.
        let mut next = Some(tidied);
        while let Some(Value::Array(mut items)) = next {
            next = items.pop();
        }
    }
}
