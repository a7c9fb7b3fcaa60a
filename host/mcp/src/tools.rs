//! The declaration of the tools: the list that clients see, the dispatch and the count of their
//! tokens come from it.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};
use syrch::syrch_core::ports::RowsGrant;

/// A tool of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ToolKind {
    AskDatabase,
    SearchSchema,
    RunSql,
    ExplainRun,
}

/// The declaration of a tool.
struct Declaration {
    kind: ToolKind,
    name: &'static str,
    title: &'static str,
    description: &'static str,
    input: fn() -> Value,
    output: fn() -> Value,
    /// True if a model outside of the database may answer.
    is_open: bool,
}

static TOOLS: [Declaration; 4] = [
    Declaration {
        kind: ToolKind::AskDatabase,
        name: "ask_database",
        title: "Ask the database",
        description: "Answers a question in plain words about the database: searches for a \
                      SELECT, checks it on the data, returns rows, SQL and a calibrated \
                      confidence. Below 0.5, check the SQL or ask the user.",
        input: || {
            object(
                json!({
                    "question": {"type": "string"},
                    "evidence": {"type": "string", "description": "Explains terms of the question"},
                    "conversation": {
                        "type": "string",
                        "description": "`new`, or the id in its answer: questions go on \
                                        from each other",
                    },
                }),
                &["question"],
            )
        },
        output: answer,
        is_open: true,
    },
    Declaration {
        kind: ToolKind::SearchSchema,
        name: "search_schema",
        title: "Search the schema",
        description: "Finds tables, columns with keys, and notes by words.",
        input: || {
            object(
                json!({"words": {"type": "string"}, "max_tables": {"type": "integer"}}),
                &["words"],
            )
        },
        output: || {
            object(
                json!({
                    "dialect": {"type": "string"},
                    "tables": {"type": "array", "items": {"type": "object"}},
                    "notes": {"type": "array", "items": {"type": "string"}},
                    "all_tables": {"type": "array", "items": {"type": "string"}},
                }),
                &["dialect", "tables", "notes"],
            )
        },
        is_open: false,
    },
    Declaration {
        kind: ToolKind::RunSql,
        name: "run_sql",
        title: "Run a SELECT",
        description: "Runs one SELECT that only reads, under a guard, a deadline and a cap of \
                      200 rows.",
        input: || {
            object(
                json!({
                    "sql": {"type": "string"},
                    "max_rows": {"type": "integer", "description": "50 by default"},
                }),
                &["sql"],
            )
        },
        output: || {
            object(
                json!({
                    "schema": {"const": "syrch.rows/1"},
                    "sql": {"type": "string"},
                    "columns": {"type": "array", "items": {"type": "object"}},
                    "rows": {"type": "array", "items": {"type": "array"}},
                    "row_count": {"type": "integer"},
                    "truncated": {"type": "boolean"},
                    "warnings": {"type": "array", "items": {"type": "string"}},
                }),
                &["schema", "columns", "rows", "row_count", "truncated", "warnings"],
            )
        },
        is_open: false,
    },
    Declaration {
        kind: ToolKind::ExplainRun,
        name: "explain_run",
        title: "Explain an answer",
        description: "Shows what a run of ask_database tried: its tasks, every statement with \
                      its confidence, and why it was dropped.",
        input: || object(json!({"run": {"type": "string"}}), &["run"]),
        output: answer,
        is_open: false,
    },
];

fn object(properties: Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required})
}

/// The schema of `syrch.answer/1`, as far as a client needs it.
fn answer() -> Value {
    object(
        json!({
            "schema": {"const": "syrch.answer/1"},
            "run": {"type": "string"},
            "question": {"type": "string"},
            "sql": {"type": ["string", "null"]},
            "answer": {
                "type": ["object", "null"],
                "properties": {
                    "text": {"type": "string"},
                    "columns": {"type": "array", "items": {"type": "string"}},
                    "rows": {"type": "array", "items": {"type": "array"}},
                    "row_count": {"type": "integer"},
                    "truncated": {"type": "boolean"},
                },
            },
            "confidence": {
                "type": ["object", "null"],
                "properties": {"calibrated": {"type": "number"}},
            },
            "clarify": {
                "type": ["object", "null"],
                "properties": {
                    "question": {"type": "string"},
                    "choices": {"type": "array", "items": {"type": "string"}},
                },
            },
            "candidates": {"type": "array", "items": {"type": "object"}},
            "warnings": {"type": "array", "items": {"type": "string"}},
            "conversation": {"type": "string"},
        }),
        &["schema", "run", "sql", "answer", "confidence", "clarify", "candidates", "warnings"],
    )
}

impl ToolKind {
    /// The tool of that name, if it is offered.
    pub(crate) fn find(name: &str, grant: RowsGrant) -> Option<Self> {
        list_declarations(grant).find(|tool| tool.name == name).map(|tool| tool.kind)
    }
}

/// The tools that are offered under a grant. `run_sql` is not offered without a grant of rows,
/// since it would have nothing to show.
fn list_declarations(grant: RowsGrant) -> impl Iterator<Item = &'static Declaration> {
    TOOLS.iter().filter(move |tool| tool.kind != ToolKind::RunSql || grant != RowsGrant::None)
}

/// The tools as clients see them.
pub(crate) fn list(grant: RowsGrant) -> Vec<Tool> {
    list_declarations(grant)
        .map(|tool| {
            let annotations = ToolAnnotations::with_title(tool.title)
                .read_only(true)
                .destructive(false)
                .idempotent(!tool.is_open)
                .open_world(tool.is_open);
            Tool::new(tool.name, tool.description, schema((tool.input)()))
                .with_raw_output_schema(schema((tool.output)()))
                .with_annotations(annotations)
        })
        .collect()
}

fn schema(value: Value) -> Arc<JsonObject> {
    Arc::new(match value {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Estimates the tokens of a JSON text as a quarter of its bytes; English and JSON have
    /// slightly more bytes a token.
    fn count_tokens(tools: &[Tool]) -> usize {
        serde_json::to_string(tools).unwrap().len().div_ceil(4)
    }

    #[test]
    fn all_tools_together_are_short() {
        let tokens = count_tokens(&list(RowsGrant::Full));
        assert!(tokens <= 2_000, "{tokens} tokens");
        let readme = include_str!("../../../docs/mcp.md");
        let rounded = format!("4 tools, {:.1} k tokens", tokens as f64 / 1000.0);
        assert!(readme.contains(&rounded), "docs/mcp.md does not say `{rounded}`");
    }

    #[test]
    fn without_a_grant_of_rows_no_statements_are_run() {
        let names: Vec<_> = list(RowsGrant::None).into_iter().map(|tool| tool.name).collect();
        assert_eq!(names, ["ask_database", "search_schema", "explain_run"]);
        assert_eq!(list(RowsGrant::Sample(3)).len(), 4);
        assert_eq!(ToolKind::find("run_sql", RowsGrant::None), None);
        assert_eq!(ToolKind::find("run_sql", RowsGrant::Full), Some(ToolKind::RunSql));
    }

    #[test]
    fn every_tool_only_reads() {
        for tool in list(RowsGrant::Full) {
            let annotations = tool.annotations.unwrap();
            assert_eq!(annotations.read_only_hint, Some(true), "{}", tool.name);
            assert_eq!(annotations.destructive_hint, Some(false), "{}", tool.name);
        }
    }
}
