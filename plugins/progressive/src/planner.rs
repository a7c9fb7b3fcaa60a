//! The planner: sub-tasks with confidences, and a three-step plan, for one task that carries both.

use serde_json::{Value, json};
use syrch_plugin::failure::llm_words;
use syrch_plugin::prelude::*;
use syrch_plugin::{prompt, text};

use crate::settings::{Settings, model_name};
use crate::{Progressive, subtask};

const SUBTASKS: &str = "You divide a question over an SQL database into the operations of the one \
    SELECT statement that answers it.\n\
    - An operation is one step of building the statement: the tables to read, a join, a filter, \
    an aggregate, how conditions combine, the columns to return, the order.\n\
    - Together they cover the whole question, and the last ones leave exactly the columns that are \
    asked for.\n\
    - `confidence` is from 0 to 1: high when the question says it clearly, the tables and columns \
    exist, and there is one way to read it.\n\
    - `dependencies` are the ids of operations that must stand in the statement before; \
    no circles.\n\
    - `operation_type` is table_selection, filter, join, aggregate, logical_operator or \
    another word.\n\
    Answer with JSON alone, in this form:\n\
    {\"subtasks\":[{\"task_id\":1,\"operation\":\"…\",\"operation_type\":\"table_selection\",\
    \"confidence\":0.95,\
    \"reasoning\":\"…\",\"dependencies\":[]}]}";

// The three steps are CHASE-SQL's query plan, as the design document takes it over.
const STEPS: &str = "You plan the one SELECT statement that answers a question over an SQL \
    database, in exactly three steps:\n\
    1. find_tables: which tables hold what is asked about.\n\
    2. perform_operations: how they are joined, filtered, counted, grouped and ordered.\n\
    3. select_columns: which columns, and nothing else, are returned.\n\
    `entities` are the tables, columns and values of a step. Answer with JSON alone, \
    in this form:\n\
    {\"steps\":[{\"step_number\":1,\"step_type\":\"find_tables\",\"description\":\"…\",\
    \"reasoning\":\"…\",\"entities\":[\"…\"]}]}";

const KINDS: [(&str, &str); 3] = [
    ("find_tables", "Find the tables"),
    ("perform_operations", "Perform the operations"),
    ("select_columns", "Select the columns"),
];

impl PlannerRole for Progressive {
    /// One task; an unavailable model is a failure, and without a usable reply the task has no
    /// sub-tasks or no plan.
    fn plan(
        &self,
        host: &impl PlannerHost,
        problem: &Problem,
        catalog: &Catalog,
    ) -> Result<Graph, Failure> {
        let mut replies =
            host.complete_all(&requests(&self.settings, problem, catalog)).into_iter();
        let found = parse_reply(host, replies.next(), "sub-tasks")?;
        let most = self.settings.max_subtasks as usize;
        let (subtasks, notes) = found.map(|found| subtask::read(&found, most)).unwrap_or_default();
        notes.iter().for_each(|note| host.note(Level::Warn, note));
        if subtasks.is_empty() {
            host.note(Level::Info, "there are no sub-tasks: the question stays one step");
        }
        let steps = match replies.next() {
            Some(reply) => steps(host, parse_reply(host, Some(reply), "plan")?.as_ref()),
            None => Vec::new(),
        };
        let context = subtask::context(&steps, &subtasks);
        Ok(Graph::single(Task { context, ..Task::new("A", problem.question.clone()) }))
    }
}

fn requests(settings: &Settings, problem: &Problem, catalog: &Catalog) -> Vec<Request> {
    let tables = prompt::catalog(catalog, settings.catalog_bytes as usize);
    let user = format!(
        "Tables of the {} database:\n{tables}\n{}",
        catalog.syntax.title,
        prompt::problem(problem)
    );
    let subtasks = Ask::new(Purpose::Plan)
        .system(SUBTASKS)
        .user(user.clone())
        .model(model_name(&settings.model_subtasks))
        .temperature(settings.confidence_temperature)
        .max_tokens(settings.subtask_max_tokens)
        .json(&list_schema("syrch-progressive-subtasks", "subtasks"));
    let steps = Ask::new(Purpose::Plan)
        .system(STEPS)
        .user(user)
        .model(model_name(&settings.model_plan))
        .temperature(0.0)
        .max_tokens(settings.plan_max_tokens)
        .json(&list_schema("syrch-progressive-plan", "steps"));
    if settings.plan { vec![subtasks, steps] } else { vec![subtasks] }
}

/// Strict about the frame alone: what an item lacks is mended by its reader.
fn list_schema(title: &str, list: &str) -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        "type": "object",
        "properties": { list: { "type": "array", "items": { "type": "object" } } },
        "required": [list],
    })
}

/// The document of a reply; `None`, with a note, if the reply cannot be used.
fn parse_reply(
    host: &impl PlannerHost,
    reply: Option<Result<Reply, LlmError>>,
    what: &str,
) -> Result<Option<Value>, Failure> {
    match reply {
        Some(Ok(reply)) => {
            Ok(reply.parsed.as_deref().and_then(|parsed| serde_json::from_str(parsed).ok()))
        }
        Some(Err(
            error @ (LlmError::Refused(_)
            | LlmError::Unsupported(_)
            | LlmError::Malformed(_)
            | LlmError::TooLarge),
        )) => {
            // A provider without a model is nothing to warn of.
            let level =
                if matches!(error, LlmError::Unsupported(_)) { Level::Info } else { Level::Warn };
            host.note(level, &format!("no {what}: {}", llm_words(&error)));
            Ok(None)
        }
        Some(Err(error)) => Err(llm_failure(&error)),
        None => Ok(None),
    }
}

/// The three steps in their order, each once; what a model says of one step in several is joined.
fn steps(host: &impl PlannerHost, document: Option<&Value>) -> Vec<String> {
    let items = document
        .and_then(|document| document.get("steps")?.as_array())
        .map(Vec::as_slice)
        .unwrap_or_default();
    let mut out = Vec::new();
    for (kind, title) in KINDS {
        let reported: Vec<String> = items
            .iter()
            .filter(|item: &&Value| item.get("step_type").and_then(Value::as_str) == Some(kind))
            .filter_map(describe_item)
            .collect();
        if !reported.is_empty() {
            out.push(format!("{title}: {}", reported.join(" ")));
        } else if document.is_some() {
            host.note(Level::Warn, &format!("the plan has no step `{kind}`"));
        }
    }
    out
}

fn describe_item(item: &Value) -> Option<String> {
    let description =
        item.get("description").and_then(Value::as_str).map(|text| text::line(text, 400))?;
    let entities = item
        .get("entities")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str);
    let entities: Vec<String> = entities.take(20).map(|entity| text::line(entity, 60)).collect();
    let named =
        if entities.is_empty() { String::new() } else { format!(" ({})", entities.join(", ")) };
    (!description.is_empty()).then(|| format!("{description}{named}"))
}
