//! Texts that the picture in the terminal and pages share.

use serde_json::Value;
use syrch::journal::{
    AnswerNode, Asked, CandidateNode, Change, Cost, LinkedNode, ModelNode, OutcomeNode, SearchTree,
    TaskNode, What,
};
use syrch::syrch_core::ports::{Level, RowsGrant};
use syrch::syrch_core::{Edit, Ending, Join, StatedPart, Verdict};
use syrch_report::Grid;
use syrch_report::words::{count, seconds};

use super::calls;

/// A calibrated confidence with the claimed one. `None` if there is neither.
pub(super) fn confidence(calibrated: Option<f64>, claimed: Option<f64>) -> Option<String> {
    match (calibrated, claimed) {
        (Some(value), Some(claim)) => Some(format!("{value:.2} (claimed {claim:.2})")),
        (Some(value), None) => Some(format!("{value:.2}")),
        (None, Some(claim)) => Some(format!("(claimed {claim:.2})")),
        (None, None) => None,
    }
}

/// Writes what plugins that are not built in asked for, were granted and used, a line each.
pub(super) fn access(tree: &SearchTree) -> Vec<String> {
    let lines = tree.access.iter().map(|one| format!("plugin {}: {}", one.plugin, one.describe()));
    lines.collect()
}

/// Writes how a run ended.
pub(super) fn outcome(outcome: &OutcomeNode, is_running: bool) -> String {
    let kind = match outcome.kind.as_str() {
        "no-answer" => "no acceptable answer",
        "clarification-needed" => "a clarification is needed",
        "unfinished" if is_running => "still going on",
        "unfinished" => "not finished: it was killed",
        kind => kind,
    };
    let stopped = if outcome.interrupted { ", interrupted" } else { "" };
    let reason = outcome.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    format!("{kind}{stopped}{reason}")
}

/// Writes how a task ended, with how long it took.
pub(super) fn ending(task: &TaskNode) -> String {
    let took =
        task.started_us.zip(task.ended_us).map(|(from, to)| seconds(to.saturating_sub(from)));
    let took = |word: &str| {
        took.as_ref().map_or_else(|| word.to_owned(), |took| format!("{word} in {took}"))
    };
    match &task.ending {
        Some(Ending::Solved) => took("solved"),
        Some(Ending::Empty) => took("solved, no rows,"),
        Some(Ending::Failed(_)) => took("failed"),
        Some(Ending::Skipped(_)) => "skipped".to_owned(),
        Some(Ending::Cancelled) => took("cancelled"),
        Some(Ending::Other(name)) => took(name),
        None if !task.subtasks.is_empty() => "not ended, replaced by subtasks".to_owned(),
        None if task.started_us.is_some() => "not ended".to_owned(),
        None => "not started".to_owned(),
    }
}

/// The reason why a task failed or was skipped.
pub(super) fn reason(task: &TaskNode) -> Option<String> {
    match task.ending.as_ref()? {
        Ending::Failed(failure) => Some(failure.to_string()),
        Ending::Skipped(reason) => Some(reason.clone()),
        _ => None,
    }
}

/// Writes what a task waits for.
pub(super) fn describe_dependencies(task: &TaskNode) -> Option<String> {
    if task.depends_on.is_empty() {
        return None;
    }
    let join = match task.join {
        Join::AllOf if task.tolerant => ", failed or not".to_owned(),
        Join::AllOf => String::new(),
        Join::AnyOf => ", any of them".to_owned(),
        Join::AtLeast(number) => format!(", at least {number} of them"),
    };
    Some(format!("after {}{join}", task.depends_on.join(", ")))
}

/// The origin of a task and what replaces it, besides its edges.
pub(super) fn kinship(task: &TaskNode) -> Vec<String> {
    let mut words = Vec::new();
    words.extend(task.parent.as_ref().map(|parent| format!("made from {parent}")));
    if task.from == syrch::journal::TaskOrigin::Edit {
        words.push("added on the way".to_owned());
    }
    if !task.subtasks.is_empty() {
        words.push(format!("replaced by {}", task.subtasks.join(", ")));
    }
    if task.operation != "solve" {
        words.push(task.operation.clone());
    }
    words
}

/// Writes what the planner states of a task, a line each: its confidence, the expected result, the
/// plan, the parts and the requirements.
pub(super) fn describe_plan(task: &TaskNode) -> Vec<String> {
    let mut lines = Vec::new();
    lines.extend(
        task.confidence.map(|confidence| format!("planned with confidence {confidence:.2}")),
    );
    lines.extend(task.expected.as_ref().map(|expected| format!("expected: {expected}")));
    lines.extend(
        task.stated
            .plan
            .iter()
            .enumerate()
            .map(|(place, step)| format!("plan {}. {step}", place + 1)),
    );
    lines.extend(task.stated.parts.iter().map(part));
    lines.extend(
        task.stated
            .requirements
            .as_ref()
            .map(|required| format!("required: {}", requirements(required))),
    );
    lines
}

fn part(part: &StatedPart) -> String {
    let sure = part.confidence.map(|confidence| format!(" {confidence:.2}")).unwrap_or_default();
    let after = if part.depends_on.is_empty() {
        String::new()
    } else {
        format!(", after {}", part.depends_on.join(", "))
    };
    format!("part {}{sure}: {}{after}", part.id, part.operation)
}

/// Requirements as one line: `filters year = 2014, status = 'paid'; metrics revenue (sum)`.
fn requirements(required: &Value) -> String {
    let item = |item: &Value| match item {
        Value::String(text) => text.clone(),
        Value::Object(fields) => {
            let mut texts = fields.values().filter_map(Value::as_str);
            let first = texts.next().unwrap_or_default().to_owned();
            let rest: Vec<&str> = texts.collect();
            if rest.is_empty() { first } else { format!("{first} ({})", rest.join(", ")) }
        }
        other => other.to_string(),
    };
    let list = |value: &Value| match value {
        Value::Array(items) => items.iter().map(item).collect::<Vec<_>>().join(", "),
        other => item(other),
    };
    let fields = required.as_object().into_iter().flatten();
    fields
        .map(|(name, value)| format!("{} {}", name.replace('_', " "), list(value)))
        .collect::<Vec<_>>()
        .join("; ")
}

/// The score of the reward's verdict on a candidate, whose reason says whether it was rejected.
/// `None` without one.
pub(super) fn reward(candidate: &CandidateNode) -> Option<String> {
    match candidate.verdict.as_ref()? {
        Verdict::Accepted(opinion) | Verdict::Rejected(opinion) => {
            Some(format!("reward {:.2}", opinion.score))
        }
        Verdict::Unavailable(_) => None,
    }
}

/// The statements of a task, and which errors there were.
pub(super) fn attempts(task: &TaskNode) -> Option<String> {
    if task.statements == 0 && task.errors.is_empty() {
        return None;
    }
    let errors: Vec<String> = task
        .errors
        .iter()
        .map(
            |(kind, number)| {
                if *number == 1 { kind.clone() } else { format!("{number} × {kind}") }
            },
        )
        .collect();
    let errors =
        if errors.is_empty() { String::new() } else { format!(", failed: {}", errors.join(", ")) };
    Some(format!("{}{errors}", count(task.statements, "statement")))
}

/// The nodes of a flow that were visited, a line for each branch: the node, and in brackets what it
/// ended with beside `default`.
pub(super) fn describe_visits(task: &TaskNode) -> Vec<String> {
    let mut branches: Vec<u64> = task.visits.iter().map(|visit| visit.branch).collect();
    branches.sort_unstable();
    branches.dedup();
    branches
        .iter()
        .map(|branch: &u64| {
            let own = task.visits.iter().filter(|visit| visit.branch == *branch);
            let nodes: Vec<String> = own
                .map(|visit| match visit.action.as_str() {
                    "default" => visit.node.clone(),
                    action => format!("{} ({action})", visit.node),
                })
                .collect();
            let name =
                if branches.len() > 1 { format!(", branch {branch}") } else { String::new() };
            format!("flow{name}: {}", nodes.join(" → "))
        })
        .collect()
}

/// The mark of a candidate's result: the same for equal ones of a task.
pub(super) fn mark(candidate: &CandidateNode) -> String {
    candidate.cluster.map(|number| format!("={number}")).unwrap_or_default()
}

/// The tables that the linker selected.
pub(super) fn describe_linking(linked: &LinkedNode) -> String {
    /// Tables that are named at most.
    const NAMED: usize = 12;
    let hints = match linked.hints {
        0 => String::new(),
        hints => format!(", {}", count(hints as u64, "hint")),
    };
    if linked.tables.is_empty() {
        return format!("the linker left {} as they are{hints}", count(linked.of as u64, "table"));
    }
    let names: Vec<&str> =
        linked.tables.iter().take(NAMED).map(|relevant| relevant.table.as_str()).collect();
    let more = if linked.tables.len() > NAMED { ", …" } else { "" };
    let selected = linked.tables.len();
    let of = linked.of;
    format!("the linker selected {selected} of {of} tables{hints}: {}{more}", names.join(", "))
}

/// Describes a step of the planner.
pub(super) fn change(change: &Change) -> String {
    if let Some(reason) = &change.refused {
        return format!("the planner's step was refused: {reason}");
    }
    format!(
        "the planner {}",
        change
            .edits
            .iter()
            .map(|edit: &Edit| match edit {
                Edit::Add(task) => format!("added {}", task.id),
                Edit::Update(task) => format!("changed {}", task.id),
                Edit::Cancel(task) => format!("cancelled {task}"),
                Edit::Answer(task) => format!("made {task} the answer"),
                Edit::Finish => "finished".to_owned(),
                Edit::Other(name) => name.clone(),
            })
            .collect::<Vec<_>>()
            .join(", ")
    )
}

/// A question to the user and the answer.
pub(super) fn describe_clarification(asked: &Asked) -> String {
    let choices = if asked.choices.is_empty() {
        String::new()
    } else {
        format!(" ({})", asked.choices.join(" / "))
    };
    let answer = asked.answer.as_deref().unwrap_or("no answer");
    format!("the user was asked: {}{choices} → {answer}", asked.text)
}

/// Writes the cost of a run, line by line.
pub(super) fn cost(cost: &Cost) -> Vec<String> {
    let money = match cost.usd {
        Some(usd) if usd > 0.0 => format!("${usd:.4}"),
        None if cost.calls > 0 => "cost unknown".to_owned(),
        _ => "no cost".to_owned(),
    };
    let mut calls = count(cost.calls, "model call");
    if cost.cached > 0 {
        calls += &format!(" and {} from a cache", cost.cached);
    }
    if cost.in_flight > 0 {
        calls += &format!(" ({} in flight at the end)", cost.in_flight);
    }
    let statements = count(cost.sql_runs, "statement");
    let estimated =
        if cost.by_purpose.values().any(|spent| spent.estimated > 0) { " (estimated)" } else { "" };
    let mut lines = vec![format!(
        "{calls}, {} + {} tokens{estimated}, {} charged, {money}, {statements}",
        cost.input_tokens, cost.output_tokens, cost.tokens_charged
    )];
    for (purpose, spent) in &cost.by_purpose {
        let cached = if spent.cached > 0 {
            format!(" and {} from a cache", spent.cached)
        } else {
            String::new()
        };
        let calls = count(spent.calls, "call");
        lines.push(format!(
            "{purpose}: {calls}{cached}, {} + {} tokens",
            spent.input_tokens, spent.output_tokens
        ));
    }
    if !cost.refused.is_empty() {
        lines.push(format!("used up: {}", cost.refused.join(", ")));
    }
    lines
}

/// The strategy, the plugins, the model and the database of a run.
pub(super) fn setup(tree: &SearchTree) -> String {
    let name = tree
        .settings
        .pointer("/strategy/name")
        .and_then(serde_json::Value::as_str)
        .filter(|name| !name.is_empty());
    let strategy = name.map(|name| format!("strategy {name}"));
    let plugins = tree
        .plugins
        .iter()
        .map(|plugin| format!("{} {} {}", plugin.role, plugin.name, plugin.version));
    // The one model of a provider may have its name, which is then written once.
    let model = match tree.models.as_slice() {
        [model] if *model == tree.provider => model.clone(),
        models => format!("{} {}", tree.provider, models.join(", ")).trim_end().to_owned(),
    };
    let database = format!("database {}", tree.database);
    strategy.into_iter().chain(plugins).chain([model, database]).collect::<Vec<_>>().join(" · ")
}

/// The reason why rows of the answer are missing. `None` if all are there.
pub(super) fn left_out(answer: &AnswerNode, grant: RowsGrant) -> Option<String> {
    let rows = count(answer.row_count, "row");
    if matches!(grant, RowsGrant::None | RowsGrant::Aggregates) {
        return Some(format!("{rows}, left out under --rows {grant}"));
    }
    let missing = answer.row_count.saturating_sub(answer.rows.len() as u64);
    (missing > 0).then(|| match answer.rows.len() {
        0 => format!("{rows}, which the journal does not hold"),
        held => format!("the first {held} of {rows}"),
    })
}

/// The rows of the answer.
pub(super) fn rows(answer: &AnswerNode) -> Grid {
    Grid { columns: answer.columns.clone(), rows: answer.rows.clone() }
}

/// The warnings of plugins, the role calls that failed, and the replies that held several
/// statements.
pub(super) fn remarks(tree: &SearchTree) -> Vec<String> {
    let mut lines = Vec::new();
    for call in &tree.calls {
        if let What::Model(ModelNode { remark: Some(remark), .. }) = &call.what {
            lines.push(format!("{}: {remark}", calls::caller(tree, call)));
        }
    }
    for call in &tree.role_calls {
        let task = if call.task.is_empty() { String::new() } else { format!("({})", call.task) };
        let warned = call.notes.iter().filter(|note| note.level == Level::Warn);
        lines.extend(warned.map(|note| format!("{}{task}: {}", call.role, note.message)));
        lines.extend(call.error.iter().map(|error| format!("{}{task} failed: {error}", call.role)));
    }
    lines
}
