//! The canonical replies: one schema for each purpose that the providers without a model know too,
//! and its reader.
//!
//! A schema's `title` is the mark by which those providers know it; a request with another schema
//! is `unsupported` to them.

use serde_json::{Value, json};

use crate::bindings::llm::Reply;
use crate::bindings::types::{Opinion, Task, Verdict};
use crate::text::clamp01;

/// The reply to `plan`: subtasks with their dependencies, and how their results join.
#[must_use]
pub fn plan_schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "syrch-plan",
        "type": "object",
        "properties": {
            "subtasks": {
                "type": "array",
                "minItems": 1,
                "items": {
                    "type": "object",
                    "properties": {
                        "id": { "type": "string" },
                        "description": { "type": "string" },
                        "depends_on": { "type": "array", "items": { "type": "string" } },
                        "is_atomic": { "type": "boolean" },
                        "expected_output": { "type": "string" },
                        "join_keys": {
                            "type": "array",
                            "items": {
                                "type": "object",
                                "properties": {
                                    "left": { "type": "string" },
                                    "left_col": { "type": "string" },
                                    "right": { "type": "string" },
                                    "right_col": { "type": "string" },
                                    "how": {
                                        "type": "string", "enum": [
                                            "inner", "left", "right", "outer"
                                        ]
                                    }
                                },
                                "required": ["left", "left_col", "right", "right_col"]
                            }
                        }
                    },
                    "required": ["id", "description"]
                }
            }
        },
        "required": ["subtasks"]
    })
}

/// The reply to `judge`: whether a statement answers its task, how well, and why.
#[must_use]
pub fn verdict_schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "syrch-verdict",
        "type": "object",
        "properties": {
            "accepted": { "type": "boolean" },
            "score": { "type": "number", "minimum": 0, "maximum": 1 },
            "reason": { "type": "string" }
        },
        "required": ["accepted", "score"]
    })
}

/// The kind of a join of two results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JoinHow {
    /// Rows with a partner on both sides.
    Inner,
    /// All rows of the left side.
    Left,
    /// All rows of the right side.
    Right,
    /// All rows of both sides.
    Outer,
}

impl JoinHow {
    /// The word in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Inner => "inner",
            Self::Left => "left",
            Self::Right => "right",
            Self::Outer => "outer",
        }
    }

    /// The kind of that name; `inner` for a name that is none.
    #[must_use]
    pub fn from_name(name: &str) -> Self {
        match name.trim().to_ascii_lowercase().as_str() {
            "left" => Self::Left,
            "right" => Self::Right,
            "outer" | "full" | "full outer" => Self::Outer,
            _ => Self::Inner,
        }
    }

    /// The kind with the sides exchanged.
    #[must_use]
    pub fn mirror(self) -> Self {
        match self {
            Self::Left => Self::Right,
            Self::Right => Self::Left,
            other => other,
        }
    }
}

/// A pair of columns by which the results of two tasks join.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JoinKey {
    /// The name of the task on the left side.
    pub left: String,
    /// A column of its result.
    pub left_col: String,
    /// The name of the task on the right side.
    pub right: String,
    /// A column of its result.
    pub right_col: String,
    /// The rows without a partner that stay in the result.
    pub how: JoinHow,
}

impl JoinKey {
    fn read(value: &Value) -> Option<Self> {
        let text =
            |key: &str| value.get(key)?.as_str().map(str::trim).filter(|text| !text.is_empty());
        Some(Self {
            left: text("left")?.to_owned(),
            left_col: text("left_col")?.to_owned(),
            right: text("right")?.to_owned(),
            right_col: text("right_col")?.to_owned(),
            how: JoinHow::from_name(text("how").unwrap_or("inner")),
        })
    }

    fn json(&self) -> Value {
        json!({
            "left": self.left, "left_col": self.left_col,
            "right": self.right, "right_col": self.right_col,
            "how": self.how.name(),
        })
    }
}

/// A task's context that carries join keys; `None` if there are none.
#[must_use]
pub fn join_context(keys: &[JoinKey]) -> Option<String> {
    (!keys.is_empty()).then(|| {
        json!({ "join_keys": keys.iter().map(JoinKey::json).collect::<Vec<_>>() }).to_string()
    })
}

/// The join keys in a task's context; empty in a context of another kind.
#[must_use]
pub fn join_keys_of(task: &Task) -> Vec<JoinKey> {
    let context: Option<Value> =
        task.context.as_deref().and_then(|text| serde_json::from_str(text).ok());
    context.as_ref().and_then(|context| context.get("join_keys")).map(join_keys).unwrap_or_default()
}

/// A task's context that carries the steps of a plan for its statement; `None` if there are none.
#[must_use]
pub fn plan_context(steps: &[String]) -> Option<String> {
    (!steps.is_empty()).then(|| json!({ "plan": steps }).to_string())
}

/// The steps of the plan in a task's context; empty in a context of another kind.
#[must_use]
pub fn plan_of(task: &Task) -> Vec<String> {
    let context: Option<Value> =
        task.context.as_deref().and_then(|text| serde_json::from_str(text).ok());
    let steps = context.as_ref().and_then(|context| context.get("plan")?.as_array());
    steps.into_iter().flatten().filter_map(|step| step.as_str().map(str::to_owned)).collect()
}

/// One subtask of a plan, as the model wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subtask {
    /// The model's own name of it.
    pub id: String,
    /// The question that the subtask answers.
    pub description: String,
    /// The subtasks whose results it needs, each once.
    pub depends_on: Vec<String>,
    /// True if one statement can do it.
    pub is_atomic: bool,
    /// The form that the result should have.
    pub expected_output: Option<String>,
    /// The columns by which the results of its dependencies join; empty if the model named none.
    pub join_keys: Vec<JoinKey>,
}

/// Reads the reply to `plan`. Forgives what models get wrong without harm (null lists, a missing
/// flag, a dependency named twice); `None` if there is no subtask with an id and a description.
#[must_use]
pub fn plan_reply(reply: &Reply) -> Option<Vec<Subtask>> {
    let parsed: Value = serde_json::from_str(reply.parsed.as_deref()?).ok()?;
    let subtasks: Vec<Subtask> =
        parsed.get("subtasks")?.as_array()?.iter().filter_map(subtask).collect();
    (!subtasks.is_empty()).then_some(subtasks)
}

fn subtask(value: &Value) -> Option<Subtask> {
    let text = |key: &str| {
        value.get(key)?.as_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let mut depends_on: Vec<String> = Vec::new();
    for id in value
        .get("depends_on")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
    {
        let id = id.trim();
        if !id.is_empty() && !depends_on.iter().any(|known| known == id) {
            depends_on.push(id.to_owned());
        }
    }
    Some(Subtask {
        id: text("id")?,
        description: text("description")?,
        depends_on,
        is_atomic: value.get("is_atomic").and_then(Value::as_bool).unwrap_or(true),
        expected_output: text("expected_output"),
        join_keys: value.get("join_keys").map(join_keys).unwrap_or_default(),
    })
}

fn join_keys(value: &Value) -> Vec<JoinKey> {
    value.as_array().into_iter().flatten().filter_map(JoinKey::read).collect()
}

/// The reply to `generate` and `repair`.
#[derive(Debug, Clone, PartialEq)]
pub struct SqlReply {
    /// The text of the statement.
    pub sql: String,
    /// The confidence that the model stated, 0 to 1, if any.
    pub confidence: Option<f64>,
}

/// Reads the reply to `generate` or `repair`; `None` if it holds no statement.
#[must_use]
pub fn sql_reply(reply: &Reply) -> Option<SqlReply> {
    let parsed: Value = serde_json::from_str(reply.parsed.as_deref()?).ok()?;
    let sql = parsed.get("sql")?.as_str()?.trim();
    let confidence = parsed.get("confidence").and_then(Value::as_f64).map(clamp01);
    (!sql.is_empty()).then(|| SqlReply { sql: sql.to_owned(), confidence })
}

/// Reads the reply to `judge`; `unavailable` when it says neither yes nor no.
#[must_use]
pub fn verdict_reply(reply: &Reply) -> Verdict {
    let parsed: Option<Value> =
        reply.parsed.as_deref().and_then(|text| serde_json::from_str(text).ok());
    let Some(accepted) = parsed.as_ref().and_then(|parsed| parsed.get("accepted")?.as_bool())
    else {
        return Verdict::Unavailable("the judge said neither yes nor no".to_owned());
    };
    let parsed = parsed.unwrap_or_default();
    let score = parsed
        .get("score")
        .and_then(Value::as_f64)
        .map_or(if accepted { 1.0 } else { 0.0 }, clamp01);
    let reason = parsed.get("reason").and_then(Value::as_str).unwrap_or_default().to_owned();
    let opinion = Opinion { score, reason, checks: Vec::new() };
    if accepted { Verdict::Accepted(opinion) } else { Verdict::Rejected(opinion) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bindings::llm::Usage;

    fn reply(parsed: &str) -> Reply {
        Reply {
            text: parsed.to_owned(),
            parsed: Some(parsed.to_owned()),
            truncated: false,
            logprob: None,
            usage: Usage {
                input_tokens: 0,
                output_tokens: 0,
                cost_micros: None,
                model: String::new(),
            },
        }
    }

    #[test]
    fn a_plan_survives_nulls_and_doubles() {
        let plan = plan_reply(&reply(
            r#"{"subtasks":[{"id":"A","description":"x","depends_on":null,"join_keys":null},
                {"id":"B","description":"y","depends_on":["A","A"],"is_atomic":false,
                 "join_keys":[{"left":"B","left_col":"id","right":"A","right_col":"id","how":"outer"},{"left":"B"}]}]}"#,
        ))
        .unwrap();
        assert_eq!(plan[0].depends_on, Vec::<String>::new());
        assert!(plan[0].is_atomic);
        assert_eq!(plan[1].depends_on, ["A"]);
        assert_eq!(plan[1].join_keys.len(), 1);
        assert_eq!(plan[1].join_keys[0].how, JoinHow::Outer);
    }

    #[test]
    fn what_is_no_plan_is_none() {
        for parsed in [
            "{}",
            r#"{"subtasks":null}"#,
            r#"{"subtasks":{}}"#,
            r#"{"subtasks":[{}]}"#,
            "[]",
            "nonsense",
        ] {
            assert_eq!(plan_reply(&reply(parsed)), None, "{parsed}");
        }
    }

    #[test]
    fn join_keys_travel_in_the_context() {
        let key = JoinKey {
            left: "A".into(),
            left_col: "id".into(),
            right: "B".into(),
            right_col: "a id".into(),
            how: JoinHow::Left,
        };
        let task = Task { context: join_context(std::slice::from_ref(&key)), ..Task::default() };
        assert_eq!(join_keys_of(&task), [key]);
        assert_eq!(join_keys_of(&Task { context: Some("{]".into()), ..Task::default() }), []);
        assert_eq!(join_context(&[]), None);
    }

    #[test]
    fn statements_and_verdicts_are_read() {
        assert_eq!(
            sql_reply(&reply(r#"{"sql":" SELECT 1 ","confidence":null}"#)),
            Some(SqlReply { sql: "SELECT 1".into(), confidence: None })
        );
        assert_eq!(sql_reply(&reply(r#"{"sql":""}"#)), None);
        assert!(matches!(
            verdict_reply(&reply(r#"{"accepted":false,"score":0.2}"#)),
            Verdict::Rejected(_)
        ));
        assert!(matches!(verdict_reply(&reply("{}")), Verdict::Unavailable(_)));
    }
}
