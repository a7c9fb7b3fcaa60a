//! A statement in the shape that a call expects.

use serde_json::{Map, Value, json};
use syrch_core::ports::{LlmError, Shape};
use syrch_core::{Json, Limits};

use crate::shape;

/// The key under which documents and mappings hold the statement.
const SQL: &str = "sql";

/// A reply: its text, and what the shape finds in it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) text: String,
    pub(super) parsed: Option<Json>,
}

/// Writes a statement as a reply: in a fence for the shapes `text` and `sql`, else in the smallest document or mapping that holds it
/// under the key `sql`. What a recording does not know (a confidence, a reason) is null.
///
/// # Errors
/// [`LlmError::Malformed`] for a statement that is blank, and [`LlmError::Unsupported`] for a shape with no place for a statement.
pub(super) fn written(sql: &str, expect: &Shape, limits: &Limits) -> Result<Written, LlmError> {
    shape::accept(expect, limits)?;
    let held = match expect {
        Shape::Text | Shape::Sql => true,
        Shape::Yaml(keys) => keys.iter().any(|key| key == SQL),
        Shape::Json(schema) => holds_sql(schema),
        _ => false,
    };
    if !held {
        return Err(LlmError::Unsupported("recorded answers are statements, which do not fit this shape".to_owned()));
    }
    if sql.trim().is_empty() {
        return Err(LlmError::Malformed("(empty)".to_owned()));
    }
    match expect {
        Shape::Json(schema) => document(sql, schema, expect, limits),
        Shape::Yaml(keys) => Ok(mapping(sql, keys)),
        Shape::Sql => {
            let parsed = json!({ "sql": sql, "confidence": null }).to_string();
            Ok(Written { text: fenced(sql), parsed: Some(parsed) })
        }
        _ => Ok(Written { text: fenced(sql), parsed: None }),
    }
}

fn fenced(sql: &str) -> String {
    format!("```sql\n{sql}\n```")
}

/// Whether a schema speaks of an object with the key.
fn holds_sql(schema: &str) -> bool {
    let pointed = |schema: Value| schema.pointer("/properties/sql").is_some();
    serde_json::from_str(schema).is_ok_and(pointed)
}

/// The statement and null for whatever else the schema requires, where it allows that.
fn document(sql: &str, schema: &str, expect: &Shape, limits: &Limits) -> Result<Written, LlmError> {
    let schema: Value = serde_json::from_str(schema).unwrap_or_default();
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let mut document: Map<String, Value> = required.map(|key| (key.to_owned(), Value::Null)).collect();
    document.insert(SQL.to_owned(), Value::from(sql));
    let text = Value::Object(document).to_string();
    match shape::parse(&text, expect, limits) {
        Ok(parsed) => Ok(Written { text, parsed }),
        Err(LlmError::Malformed(_)) => {
            Err(LlmError::Unsupported("the schema requires more than the statement that is recorded".to_owned()))
        }
        Err(error) => Err(error),
    }
}

/// A mapping with all the keys. A string of JSON is one of YAML too.
fn mapping(sql: &str, keys: &[String]) -> Written {
    let value = |key: &String| if key == SQL { Value::from(sql) } else { Value::Null };
    let lines: String = keys.iter().map(|key| format!("{}: {}\n", Value::from(key.as_str()), value(key))).collect();
    let parsed: Map<String, Value> = keys.iter().map(|key| (key.clone(), value(key))).collect();
    Written { text: format!("```yaml\n{lines}```"), parsed: Some(Value::Object(parsed).to_string()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATEMENT: &str = "SELECT name -- all\nFROM t WHERE a = 'it''s: \"x\"' ";

    fn write(sql: &str, expect: &Shape) -> Result<Written, LlmError> {
        written(sql, expect, &Limits::default())
    }

    fn schema(required: &[&str], confidence: &Value) -> Shape {
        let properties = json!({ "sql": { "type": "string" }, "confidence": confidence });
        Shape::Json(json!({ "type": "object", "properties": properties, "required": required }).to_string())
    }

    #[test]
    fn a_statement_comes_in_a_fence() {
        let text = format!("```sql\n{STATEMENT}\n```");
        let parsed = json!({ "sql": STATEMENT, "confidence": null }).to_string();
        assert_eq!(write(STATEMENT, &Shape::Sql), Ok(Written { text: text.clone(), parsed: Some(parsed) }));
        assert_eq!(write(STATEMENT, &Shape::Text), Ok(Written { text, parsed: None }));
    }

    #[test]
    fn documents_and_mappings_are_such_as_an_endpoint_could_have_sent() {
        let number = json!({ "type": ["number", "null"] });
        let keys = |keys: &[&str]| Shape::Yaml(keys.iter().map(|key| (*key).to_owned()).collect());
        for (expect, others) in [
            (schema(&["sql"], &number), 0),
            (schema(&["sql", "confidence"], &number), 1),
            (keys(&["sql"]), 0),
            (keys(&["thinking", "sql"]), 1),
        ] {
            let Written { text, parsed } = write(STATEMENT, &expect).unwrap();
            let read = |json: Option<Json>| serde_json::from_str::<Value>(&json.unwrap()).unwrap();
            let parsed = read(parsed);
            assert_eq!(parsed["sql"], STATEMENT, "{expect:?}");
            assert_eq!(parsed.as_object().unwrap().values().filter(|value| value.is_null()).count(), others);
            assert_eq!(read(shape::parse(&text, &expect, &Limits::default()).unwrap()), parsed, "{text}");
        }
    }

    #[test]
    fn shapes_without_a_place_for_it_are_unsupported() {
        let numbers = json!({ "type": "number" });
        for expect in [
            Shape::Choice(vec!["yes".to_owned()]),
            Shape::Yaml(vec!["reason".to_owned()]),
            Shape::Json(json!({ "type": "object" }).to_string()),
            Shape::Json("no schema".to_owned()),
            schema(&["confidence"], &numbers),
            Shape::Other("xml".to_owned()),
        ] {
            let error = write(STATEMENT, &expect).unwrap_err();
            assert!(matches!(error, LlmError::Unsupported(_)), "{expect:?}: {error}");
        }
    }

    #[test]
    fn an_empty_answer_is_malformed_as_it_was() {
        for expect in [Shape::Text, Shape::Sql, Shape::Yaml(vec![SQL.to_owned()])] {
            assert_eq!(write(" \n", &expect), Err(LlmError::Malformed("(empty)".to_owned())));
        }
    }
}
