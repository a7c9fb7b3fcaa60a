//! The decision of a model in one turn: its schema, and the reader of its reply.

use serde::Deserialize;
use syrch_plugin::prelude::*;
use syrch_plugin::serde_json::{self, Value as JsonValue, json};

use crate::planner::state::StopReason;

/// The actions that a decision may take (sift, graph episode).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Action {
    Search,
    Continue,
    Fork,
    Select,
    Merge,
    Prune,
    Terminate,
}

impl Action {
    pub(crate) const ALL: [Self; 7] = [
        Self::Search,
        Self::Continue,
        Self::Fork,
        Self::Select,
        Self::Merge,
        Self::Prune,
        Self::Terminate,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Search => "search",
            Self::Continue => "continue",
            Self::Fork => "fork",
            Self::Select => "select",
            Self::Merge => "merge",
            Self::Prune => "prune",
            Self::Terminate => "terminate",
        }
    }
}

/// The corpora of a search; cells belong to another port.
pub(crate) const CORPORA: [&str; 4] = ["tables", "columns", "notes", "examples"];
/// The retrievers of a search.
pub(crate) const RETRIEVERS: [&str; 4] = ["lexical", "path-fuzzy", "segment-fuzzy", "vector"];

/// One decision as it came: nothing of it is trusted until it is replayed.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Decision {
    pub(crate) action: Action,
    /// The branch that it is about.
    #[serde(default)]
    pub(crate) branch: Option<String>,
    /// The task that it builds on, or is about.
    #[serde(default)]
    pub(crate) node: Option<String>,
    /// The branch that a fork makes, or that a merge takes in.
    #[serde(default)]
    pub(crate) target_branch: Option<String>,
    /// The task that it adds.
    #[serde(default)]
    pub(crate) target_node: Option<String>,
    #[serde(default)]
    pub(crate) edge: Option<String>,
    #[serde(default)]
    pub(crate) edge_kind: Option<String>,
    #[serde(default)]
    pub(crate) frontier: Option<String>,
    /// The text to search for, with the corpus and the retriever.
    #[serde(default)]
    pub(crate) query: Option<String>,
    #[serde(default)]
    pub(crate) corpus: Option<String>,
    #[serde(default)]
    pub(crate) retriever: Option<String>,
    /// The question of the added task, and the form that its result should have.
    #[serde(default)]
    pub(crate) text: Option<String>,
    #[serde(default)]
    pub(crate) expected: Option<String>,
    #[serde(default)]
    pub(crate) priority: Option<f64>,
    #[serde(default)]
    pub(crate) rationale: Option<String>,
    #[serde(default)]
    pub(crate) stop_reason: Option<StopReason>,
}

impl Decision {
    pub(crate) fn new(action: Action) -> Self {
        Self {
            action,
            branch: None,
            node: None,
            target_branch: None,
            target_node: None,
            edge: None,
            edge_kind: None,
            frontier: None,
            query: None,
            corpus: None,
            retriever: None,
            text: None,
            expected: None,
            priority: None,
            rationale: None,
            stop_reason: None,
        }
    }
}

/// The schema of a turn. It leaves out what a replay can explain better: how many decisions there
/// may be, and which go together.
pub(crate) fn schema() -> JsonValue {
    let text = || json!({ "type": ["string", "null"] });
    let words = |words: Vec<&str>| json!({ "type": "string", "enum": words });
    let or_null = |words: Vec<&str>| {
        let all: Vec<JsonValue> =
            words.into_iter().map(JsonValue::from).chain([JsonValue::Null]).collect();
        json!({ "enum": all })
    };
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "syrch-turn",
        "type": "object",
        "properties": {
            "decisions": {
                "type": "array",
                "minItems": 1,
                "items": {
                    "type": "object",
                    "properties": {
                        "action": words(Action::ALL.iter().map(|action| action.name()).collect()),
                        "rationale": { "type": "string" },
                        "branch": text(),
                        "node": text(),
                        "target_branch": text(),
                        "target_node": text(),
                        "edge": text(),
                        "edge_kind": or_null(vec!["child", "sibling"]),
                        "frontier": text(),
                        "query": text(),
                        "corpus": or_null(CORPORA.to_vec()),
                        "retriever": or_null(RETRIEVERS.to_vec()),
                        "text": text(),
                        "expected": text(),
                        "priority": { "type": ["number", "null"] },
                        "stop_reason": or_null(
                            StopReason::ALL.iter().map(|reason| reason.name()).collect()
                        ),
                    },
                    "required": ["action", "rationale"]
                }
            }
        },
        "required": ["decisions"]
    })
}

/// Reads a reply. The error is for the model.
pub(crate) fn read(reply: &Reply) -> Result<Vec<Decision>, String> {
    let parsed = reply.parsed.as_deref().unwrap_or(&reply.text);
    let document: JsonValue =
        serde_json::from_str(parsed).map_err(|_| "the reply is no JSON document".to_owned())?;
    let list = document.get("decisions").and_then(JsonValue::as_array);
    let list = list.filter(|list| !list.is_empty()).ok_or("the reply has no list `decisions`")?;
    list.iter()
        .enumerate()
        .map(|(index, value): (usize, &JsonValue)| {
            Decision::deserialize(value)
                .map_err(|error| format!("decision {} cannot be read: {error}", index + 1))
        })
        .collect()
}
