//! The prompts for plans.

use syrch_plugin::prelude::*;
use syrch_plugin::serde_json::{Value, json};
use syrch_plugin::{prompt, replies, text};

use crate::Settings;

/// A request for the plan of the whole question. `wrong` is the earlier plan and what is the matter
/// with it.
pub(crate) fn plan(
    problem: &Problem,
    catalog: &Catalog,
    settings: &Settings,
    max_depth: u32,
    wrong: Option<&(String, String)>,
) -> Request {
    let mut user = format!("{}\n{}", tables(catalog, settings), prompt::problem(problem));
    if let Some((plan, problem)) = wrong {
        user += &format!(
            "\nYour earlier plan cannot be used: {problem}.\nThe earlier plan:\n{}\n\
             Write the whole plan again.\n",
            text::clip(plan, 8000)
        );
    }
    request(settings, max_depth, user, &schema(wrong.is_none()))
}

/// A request for the plan of one subtask, for which the whole question is only the setting.
pub(crate) fn subplan(
    problem: &Problem,
    catalog: &Catalog,
    settings: &Settings,
    max_depth: u32,
    task: &str,
) -> Request {
    let user = format!(
        "{}\nThe whole question, for context only:\n{}\nDivide this subtask of it, and only this \
         one: {task}\n",
        tables(catalog, settings),
        prompt::problem(problem)
    );
    request(settings, max_depth, user, &schema(false))
}

fn request(settings: &Settings, max_depth: u32, user: String, schema: &Value) -> Request {
    Ask::new(Purpose::Plan).system(instructions(settings, max_depth)).user(user).json(schema)
}

/// The canonical schema of plans, whose subtasks may also state tables and requirements. Where
/// these are not typed they may be anything, so that what is wrong in them does not cost the plan.
fn schema(is_typed: bool) -> Value {
    let mut schema = replies::plan_schema();
    let subtask = &mut schema["properties"]["subtasks"]["items"]["properties"];
    subtask["tables"] = if is_typed { texts() } else { json!({}) };
    subtask["requirements"] = if is_typed { requirements() } else { json!({}) };
    schema
}

/// The schema of requirements as the instructions describe them.
fn requirements() -> Value {
    json!({
        "type": ["object", "null"],
        "properties": {
            "metrics": {
                "type": ["array", "null"],
                "items": {
                    "type": ["object", "string"],
                    "properties": {
                        "name": { "type": "string" },
                        "aggregation": { "type": ["string", "null"] }
                    },
                    "required": ["name"]
                }
            },
            "filters": texts(),
            "dimensions": texts(),
            "grain": { "type": ["string", "null"] },
            "time_range": { "type": ["array", "null"], "items": { "type": ["string", "null"] } }
        }
    })
}

fn texts() -> Value {
    json!({ "type": ["array", "null"], "items": { "type": "string" } })
}

fn tables(catalog: &Catalog, settings: &Settings) -> String {
    let text = prompt::catalog(catalog, settings.catalog_bytes as usize);
    format!("Tables of the {} database:\n{text}", catalog.syntax.title)
}

fn instructions(settings: &Settings, max_depth: u32) -> String {
    format!(
        "You plan how to answer a question over an SQL database. Divide it into subtasks that \
         together answer it and do not overlap.\n\
         - A subtask is atomic when one SELECT statement can do it. When one statement can answer \
         the whole question, give one atomic subtask.\n\
         - At most {} subtasks. Subtasks that are not atomic are divided again, at most \
         {max_depth} levels deep.\n\
         - `depends_on` names the subtasks whose results a subtask reads; they can stand in its \
         FROM. No circles, and only ids of this plan.\n\
         - When several subtasks are left that nothing depends on, say with `join_keys` by which \
         columns of their results they join.\n\
         - `expected_output` says which columns and how many rows the result should have.\n\
         - `tables` names the tables that a subtask reads.\n\
         - `requirements` says what the statement of a subtask must state, and only what the \
         question asks for: `metrics` with their `aggregation` (sum, count, avg, min, max), \
         `filters` as conditions, `dimensions` to group by, `grain` (what one row stands for), \
         `time_range` as [first day, last day]. Leave out what is not needed.\n\
         Answer with JSON alone, in this form:\n\
         {{\"subtasks\":[{{\"id\":\"A\",\"description\":\"…\",\"depends_on\":[],\"is_atomic\":true,\
         \"expected_output\":\"…\",\
         \"tables\":[\"invoices\"],\"requirements\":{{\"metrics\":[{{\"name\":\"revenue\",\
         \"aggregation\":\"sum\"}}],\
         \"filters\":[\"status = 'paid'\"],\"dimensions\":[\"country\"],\"grain\":\"country\"}},\
         \"join_keys\":[{{\"left\":\"B\",\"left_col\":\"customer_id\",\"right\":\"A\",\
         \"right_col\":\"id\",\"how\":\"inner\"}}]}}]}}",
        settings.subtasks
    )
}
