//! The statements of a planner on a task beside its text, as people see them.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Task;
use crate::text::clip;

/// The most steps of a plan and the most parts of a task.
const ITEMS: usize = 32;
/// The most bytes of one text.
const TEXT: usize = 600;
/// The most bytes of the requirements as JSON.
const REQUIREMENTS: usize = 8 << 10;

/// The statements of a planner on a task, from [`Task::context`]. The host acts on none of them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Stated {
    /// The steps of a plan for the statement, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plan: Vec<String>,
    /// The operations that the statement consists of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<StatedPart>,
    /// The requirements on the statement, as an object of lists and texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requirements: Option<Value>,
}

/// One operation of a statement.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct StatedPart {
    /// The planner's name of it.
    pub id: String,
    /// The operation in words.
    pub operation: String,
    /// The planner's confidence in it, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// The names of the operations that come before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<String>,
}

impl Stated {
    /// Reads the members `plan`, `subtasks` and `requirements` of a task's context, as far as they
    /// have the usual form; the rest of the context is the plugins' own. Lists and texts are cut,
    /// and requirements that are too long are left out.
    #[must_use]
    pub fn from_task(task: &Task) -> Self {
        let context: Option<Value> =
            task.context.as_deref().and_then(|text| serde_json::from_str(text).ok());
        let Some(context) = context else { return Self::default() };
        let requirements = context.get("requirements").filter(|value| value.is_object());
        Self {
            plan: list(context.get("plan")).filter_map(text).collect(),
            parts: list(context.get("subtasks")).filter_map(part).collect(),
            requirements: requirements
                .filter(|value| value.to_string().len() <= REQUIREMENTS)
                .cloned(),
        }
    }
}

fn list(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    value.and_then(Value::as_array).into_iter().flatten().take(ITEMS)
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(clip(text, TEXT).to_owned()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn part(value: &Value) -> Option<StatedPart> {
    let confidence = value
        .get("confidence")
        .and_then(Value::as_f64)
        .filter(|confidence| (0.0..=1.0).contains(confidence));
    Some(StatedPart {
        id: value.get("id").and_then(text)?,
        operation: value.get("operation").and_then(text)?,
        confidence,
        depends_on: list(value.get("dependencies")).filter_map(text).collect(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read_stated(context: &Value) -> Stated {
        Stated::from_task(&Task { context: Some(context.to_string()), ..Task::default() })
    }

    #[test]
    fn a_context_in_the_usual_form_is_read() {
        let found = read_stated(&json!({
            "plan": ["Find the tables", 7, null],
            "subtasks": [
                { "id": "1", "operation": "read orders", "confidence": 0.9, "dependencies": [] },
                { "id": 2, "operation": "filter", "confidence": 7, "dependencies": ["1"] },
                { "id": "3" },
            ],
            "requirements": { "filters": ["year = 2014"] },
            "join_keys": [],
        }));
        assert_eq!(found.plan, ["Find the tables", "7"]);
        let parts: Vec<_> =
            found.parts.iter().map(|part| (part.id.as_str(), part.confidence)).collect();
        assert_eq!(parts, [("1", Some(0.9)), ("2", None)]);
        assert_eq!(found.parts[1].depends_on, ["1"]);
        assert_eq!(found.requirements, Some(json!({ "filters": ["year = 2014"] })));
    }

    #[test]
    fn another_context_states_nothing_and_a_long_one_little() {
        for context in
            [json!([]), json!("plan"), json!({ "plan": {}, "subtasks": "x", "requirements": [] })]
        {
            assert_eq!(read_stated(&context), Stated::default(), "{context}");
        }
        assert_eq!(
            Stated::from_task(&Task { context: Some("{]".into()), ..Task::default() }),
            Stated::default()
        );
        let long = "x".repeat(9_000);
        let steps: Vec<&str> = std::iter::repeat_n(long.as_str(), 100).collect();
        let found = read_stated(&json!({ "plan": steps, "requirements": { "filters": [long] } }));
        assert_eq!(
            (found.plan.len(), found.plan[0].len(), found.requirements),
            (ITEMS, TEXT, None)
        );
    }
}
