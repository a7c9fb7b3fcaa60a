//! The planner's memory between its calls.

use syrch_plugin::serde_json::{self, Value, json};

/// The tasks that were planned again, and whether the whole question was tried.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Memo {
    /// The ids of the tasks that were planned again, and of those that stand in their places.
    pub(crate) again: Vec<String>,
    /// True if the whole question was added as one task.
    pub(crate) fallback: bool,
}

impl Memo {
    /// Reads the memo of a graph; without one nothing has happened yet.
    pub(crate) fn read(text: Option<&str>) -> Self {
        let memo: Value = text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
        let again = memo.get("again").and_then(Value::as_array).into_iter().flatten();
        Self {
            again: again.filter_map(Value::as_str).map(str::to_owned).collect(),
            fallback: memo.get("fallback").and_then(Value::as_bool).unwrap_or(false),
        }
    }

    /// The memo as a graph holds it.
    pub(crate) fn text(&self) -> String {
        json!({ "again": self.again, "fallback": self.fallback }).to_string()
    }
}
