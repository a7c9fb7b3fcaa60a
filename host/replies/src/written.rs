//! Writes the replies of providers without a model: a statement in the shape that a call expects,
//! and the plan of one task.

use serde_json::{Map, Value, json};
use syrch_core::ports::{LlmError, Reply, Shape, Usage};
use syrch_core::{Json, Limits};

use crate::shape;

/// The key under which documents and mappings hold the statement.
const SQL: &str = "sql";
/// The key under which they hold the claimed confidence.
const CONFIDENCE: &str = "confidence";
/// The title of the JSON schema of a plan.
const PLAN: &str = "syrch-plan";

/// A reply: its text, and what the shape finds in it.
#[derive(Debug, PartialEq, Eq)]
pub struct Written {
    /// The text as a model would have written it.
    pub text: String,
    /// The value that the shape finds in the text; `None` if the shape has none.
    pub parsed: Option<Json>,
}

impl Written {
    /// The reply with this usage.
    #[must_use]
    pub fn reply(self, usage: Usage) -> Reply {
        Reply { text: self.text, parsed: self.parsed, truncated: false, logprob: None, usage }
    }
}

/// Writes a statement as a reply: in a fence for the shapes `text` and `sql`, else in the smallest
/// document or mapping that holds it under the key `sql`. The claimed confidence, 0 to 1, is behind
/// the fence, or under the key `confidence` if there is one. Unknown fields, such as a reason, are
/// null.
///
/// # Errors
/// [`LlmError::Malformed`] for a blank statement, and [`LlmError::Unsupported`] for a shape that
/// cannot hold a statement.
pub fn statement(
    sql: &str,
    confidence: Option<f64>,
    expect: &Shape,
    limits: &Limits,
) -> Result<Written, LlmError> {
    shape::accept(expect, limits)?;
    let held = match expect {
        Shape::Text | Shape::Sql => true,
        Shape::Yaml(keys) => keys.iter().any(|key| key == SQL),
        Shape::Json(schema) => has_property(schema, SQL),
        _ => false,
    };
    if !held {
        return Err(LlmError::Unsupported("a statement does not fit this shape".to_owned()));
    }
    if sql.trim().is_empty() {
        return Err(LlmError::Malformed("(empty)".to_owned()));
    }
    match expect {
        Shape::Json(schema) => {
            let claimed = confidence.filter(|_| has_property(schema, CONFIDENCE));
            // If the confidence does not match the schema, the statement alone may.
            document(sql, claimed, schema, expect, limits)
                .or_else(|_| document(sql, None, schema, expect, limits))
        }
        Shape::Yaml(keys) => Ok(mapping(sql, confidence, keys)),
        Shape::Sql => {
            let parsed = json!({ SQL: sql, CONFIDENCE: confidence }).to_string();
            Ok(Written { text: fence_statement(sql, confidence), parsed: Some(parsed) })
        }
        _ => Ok(Written { text: fence_statement(sql, confidence), parsed: None }),
    }
}

/// The plan of one task with these words, if the schema is that of plans. A provider without a
/// model does not decompose a question.
#[must_use]
pub fn plan_of_one(words: &str, schema: &str) -> Option<Written> {
    let is_plan = serde_json::from_str::<Value>(schema).is_ok_and(|schema| schema["title"] == PLAN);
    let task = json!({
        "id": "A",
        "description": words,
        "depends_on": [],
        "is_atomic": true,
        "expected_output": "",
    });
    let plan = json!({ "subtasks": [task] }).to_string();
    is_plan.then(|| Written { text: plan.clone(), parsed: Some(plan) })
}

fn fence_statement(sql: &str, confidence: Option<f64>) -> String {
    let claim =
        confidence.map(|confidence| format!("\nConfidence: {confidence:.2}")).unwrap_or_default();
    format!("```sql\n{sql}\n```{claim}")
}

/// Returns true if a schema describes an object with the key.
fn has_property(schema: &str, key: &str) -> bool {
    serde_json::from_str(schema)
        .is_ok_and(|schema: Value| schema.pointer(&format!("/properties/{key}")).is_some())
}

/// The statement, and null for all else that the schema requires, if it allows that.
fn document(
    sql: &str,
    confidence: Option<f64>,
    schema: &str,
    expect: &Shape,
    limits: &Limits,
) -> Result<Written, LlmError> {
    let schema: Value = serde_json::from_str(schema).unwrap_or_default();
    let required = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str);
    let mut document: Map<String, Value> =
        required.map(|key| (key.to_owned(), Value::Null)).collect();
    document.insert(SQL.to_owned(), Value::from(sql));
    document.extend(confidence.map(|confidence| (CONFIDENCE.to_owned(), Value::from(confidence))));
    let text = Value::Object(document).to_string();
    match shape::parse(&text, expect, limits) {
        Ok(parsed) => Ok(Written { text, parsed }),
        Err(LlmError::Malformed(_)) => {
            Err(LlmError::Unsupported("the schema requires more than a statement".to_owned()))
        }
        Err(error) => Err(error),
    }
}

/// A mapping with all the keys. A JSON string is a YAML string, too.
fn mapping(sql: &str, confidence: Option<f64>, keys: &[String]) -> Written {
    let value = |key: &String| match key.as_str() {
        SQL => Value::from(sql),
        CONFIDENCE => confidence.map_or(Value::Null, Value::from),
        _ => Value::Null,
    };
    let lines: String =
        keys.iter().map(|key| format!("{}: {}\n", Value::from(key.as_str()), value(key))).collect();
    let parsed: Map<String, Value> = keys.iter().map(|key| (key.clone(), value(key))).collect();
    Written {
        text: format!("```yaml\n{lines}```"),
        parsed: Some(Value::Object(parsed).to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATEMENT: &str = "SELECT name -- all\nFROM t WHERE a = 'it''s: \"x\"' ";

    fn write(sql: &str, expect: &Shape) -> Result<Written, LlmError> {
        statement(sql, None, expect, &Limits::default())
    }

    fn schema(required: &[&str], confidence: &Value) -> Shape {
        let properties = json!({ "sql": { "type": "string" }, "confidence": confidence });
        Shape::Json(
            json!({ "type": "object", "properties": properties, "required": required }).to_string(),
        )
    }

    #[test]
    fn a_statement_comes_in_a_fence() {
        let text = format!("```sql\n{STATEMENT}\n```");
        let parsed = json!({ "sql": STATEMENT, "confidence": null }).to_string();
        assert_eq!(
            write(STATEMENT, &Shape::Sql),
            Ok(Written { text: text.clone(), parsed: Some(parsed) })
        );
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
            fn read(json: Option<Json>) -> Value {
                serde_json::from_str::<Value>(&json.unwrap()).unwrap()
            }
            let parsed = read(parsed);
            assert_eq!(parsed["sql"], STATEMENT, "{expect:?}");
            assert_eq!(
                parsed.as_object().unwrap().values().filter(|value| value.is_null()).count(),
                others
            );
            assert_eq!(
                read(shape::parse(&text, &expect, &Limits::default()).unwrap()),
                parsed,
                "{text}"
            );
        }
    }

    #[test]
    fn a_confidence_is_written_if_the_shape_has_a_place_for_it() {
        fn claim(expect: &Shape) -> Written {
            statement("SELECT 1", Some(0.83), expect, &Limits::default()).unwrap()
        }
        let Written { text, parsed } = claim(&Shape::Sql);
        assert_eq!(text, "```sql\nSELECT 1\n```\nConfidence: 0.83");
        assert_eq!(shape::parse(&text, &Shape::Sql, &Limits::default()), Ok(parsed));
        for (expect, expected) in [
            (schema(&["sql", "confidence"], &json!({ "type": "number" })), json!(0.83)),
            (schema(&["sql"], &json!({ "type": "string" })), Value::Null),
            (Shape::Yaml(vec![SQL.to_owned(), CONFIDENCE.to_owned()]), json!(0.83)),
            (Shape::Yaml(vec![SQL.to_owned()]), Value::Null),
        ] {
            let parsed: Value = serde_json::from_str(&claim(&expect).parsed.unwrap()).unwrap();
            assert_eq!(
                (&parsed["sql"], &parsed[CONFIDENCE]),
                (&json!("SELECT 1"), &expected),
                "{expect:?}"
            );
        }
    }

    #[test]
    fn a_plan_is_one_task_and_only_for_its_own_schema() {
        let plan = plan_of_one("How many?", r#"{"title": "syrch-plan"}"#).unwrap();
        let parsed: Value = serde_json::from_str(&plan.parsed.unwrap()).unwrap();
        assert_eq!(parsed["subtasks"][0]["description"], "How many?");
        assert_eq!(plan_of_one("How many?", r#"{"title": "else"}"#), None);
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
    fn an_empty_statement_is_malformed() {
        for expect in [Shape::Text, Shape::Sql, Shape::Yaml(vec![SQL.to_owned()])] {
            assert_eq!(write(" \n", &expect), Err(LlmError::Malformed("(empty)".to_owned())));
        }
    }
}
