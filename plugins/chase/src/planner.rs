//! The planner: the plan of one statement in three steps, as CHASE-SQL's query plan prompting has
//! it.
//!
//! The plan travels in the task's context, so that every solver that shows a task's plan follows
//! it, not only the one beside it.

use serde_json::{Value as JsonValue, json};
use syrch_plugin::failure::llm_words;
use syrch_plugin::prelude::*;
use syrch_plugin::replies::plan_context;
use syrch_plugin::text::line;
use syrch_plugin::{prompt, serde_json};

use crate::{Chase, Settings};

/// The kinds of steps in their order, with the words that a solver's prompt has for them.
const STEPS: [(&str, &str); 3] = [
    ("find_tables", "Find the relevant tables"),
    ("perform_operations", "Perform the operations"),
    ("select_columns", "Select the columns"),
];

impl PlannerRole for Chase {
    /// One task that carries the plan, or, with a note, no plan if none is usable. An unavailable
    /// model is a failure.
    fn plan(
        &self,
        host: &impl PlannerHost,
        problem: &Problem,
        catalog: &Catalog,
    ) -> Result<Graph, Failure> {
        let task = Task::new("A", problem.question.clone());
        let why = match host.complete(&request(&self.settings, problem, catalog)) {
            Ok(reply) => match steps(&reply) {
                Some(steps) => {
                    host.event(None, "plan", &json!({ "steps": steps }));
                    return Ok(Graph::single(Task { context: plan_context(&steps), ..task }));
                }
                None => "the model's plan does not have the three steps".to_owned(),
            },
            Err(
                error @ (LlmError::Refused(_)
                | LlmError::Unsupported(_)
                | LlmError::Malformed(_)
                | LlmError::TooLarge),
            ) => llm_words(&error),
            Err(error) => return Err(llm_failure(&error)),
        };
        host.note(Level::Info, &format!("{why}: the question is one task without a plan"));
        Ok(Graph::single(task))
    }
}

fn request(settings: &Settings, problem: &Problem, catalog: &Catalog) -> Request {
    let tables = prompt::catalog(catalog, settings.catalog_bytes as usize);
    let user = format!(
        "Tables of the {} database:\n{tables}\n{}",
        catalog.syntax.title,
        prompt::problem(problem)
    );
    Ask::new(Purpose::Plan).system(instructions()).user(user).json(&schema())
}

fn instructions() -> String {
    let steps: String = STEPS
        .iter()
        .enumerate()
        .map(|(index, (kind, words))| format!("{}. `{kind}`: {words}.\n", index + 1))
        .collect();
    format!(
        "You plan one SELECT statement that answers a question over an SQL database, as the engine \
         would carry it out. Write no SQL: each step is a sentence or two. There are exactly these \
         three steps, in this order:\n{steps}\
         The first names the tables to read and how they join; the second the filters, groups, set \
         operations, orders and limits; the third what the result shows, column by column, and \
         nothing that was not asked for.\n\
         `entities` lists the tables and columns of a step as they are spelled.\n\
         Answer with JSON alone, in this form:\n\
         {{\"steps\":[{{\"step_number\":1,\"step_type\":\"find_tables\",\"description\":\"…\",\
         \"reasoning\":\"…\",\
         \"entities\":[\"…\"]}}, …]}}"
    )
}

/// The plan's own schema: providers without a model do not know it.
fn schema() -> JsonValue {
    let kinds: Vec<&str> = STEPS.iter().map(|(kind, _)| *kind).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "chase-query-plan",
        "type": "object",
        "properties": {
            "steps": {
                "type": "array",
                "minItems": STEPS.len(),
                "maxItems": STEPS.len(),
                "items": {
                    "type": "object",
                    "properties": {
                        "step_number": { "type": "integer" },
                        "step_type": { "type": "string", "enum": kinds },
                        "description": { "type": "string" },
                        "reasoning": { "type": "string" },
                        "entities": { "type": "array", "items": { "type": "string" } }
                    },
                    "required": ["step_type", "description"]
                }
            }
        },
        "required": ["steps"]
    })
}

/// The three steps as lines, in their order whatever the reply's; `None` if one is missing, double
/// or empty.
fn steps(reply: &Reply) -> Option<Vec<String>> {
    let parsed: JsonValue = serde_json::from_str(reply.parsed.as_deref()?).ok()?;
    let written = parsed.get("steps")?.as_array()?;
    if written.len() != STEPS.len() {
        return None;
    }
    STEPS
        .iter()
        .map(|(kind, words): &(&str, &str)| {
            let step = written
                .iter()
                .find(|step| step.get("step_type").and_then(JsonValue::as_str) == Some(kind))?;
            let reported = step.get("description")?.as_str()?.trim();
            (!reported.is_empty())
                .then(|| format!("{words}: {}{}", line(reported, 440), entities(step)))
        })
        .collect()
}

fn entities(step: &JsonValue) -> String {
    let names = step
        .get("entities")
        .and_then(JsonValue::as_array)
        .into_iter()
        .flatten()
        .filter_map(JsonValue::as_str);
    let names: Vec<&str> = names.map(str::trim).filter(|name| !name.is_empty()).collect();
    if names.is_empty() { String::new() } else { format!(" ({})", line(&names.join(", "), 120)) }
}
