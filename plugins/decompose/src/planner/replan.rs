//! A task that found no statement is planned again over tables that its plan did not name.

use std::collections::BTreeSet;

use syrch_plugin::prelude::*;
use syrch_plugin::replies::{JoinKey, join_keys_of};
use syrch_plugin::requirements::{Requirements, task_context};
use syrch_plugin::text::line;
use syrch_plugin::words::naming_stems;

use crate::Settings;
use crate::planner::draft::pick_free_id;
use crate::planner::memo::Memo;

/// The most untried tables of one task (syrch 0.3.7).
const TABLES: usize = 3;
// The host's longest id.
const ID: usize = 64;

/// The changes of the graph, and a note on each task.
pub(crate) struct Again {
    pub(crate) edits: Vec<Edit>,
    pub(crate) notes: Vec<String>,
}

/// Plans the newly failed tasks again. A task is planned again once, and only if its plan named
/// tables and there are others that speak of its words; what has not started yet waits for the new
/// task instead.
pub(crate) fn replan(
    settings: &Settings,
    catalog: &Catalog,
    graph: &Graph,
    seen: &[Observation],
    fresh: usize,
    memo: &mut Memo,
) -> Again {
    let mut again = Again { edits: Vec::new(), notes: Vec::new() };
    let mut changed = graph.clone();
    for observation in seen.iter().skip(fresh) {
        let Some(task) = changed.task(&observation.task).cloned().filter(|_| settings.replan)
        else {
            continue;
        };
        let Some(why) = without_statement(observation) else { continue };
        let required = Requirements::from_task(&task).unwrap_or_default();
        let untried = find_other_tables(catalog, &task, &required);
        let taken: Vec<String> = changed.tasks.iter().map(|task| task.id.clone()).collect();
        let id = pick_free_id(&format!("{}-again", task.id), &taken);
        let is_known = memo.again.contains(&task.id) || task.operation != Operation::Solve;
        if is_known || untried.is_empty() || id.len() > ID {
            continue;
        }
        again.notes.push(format!(
            "{} is planned again as {id}, over {}",
            task.id,
            untried.join(", ")
        ));
        memo.again.extend([task.id.clone(), id.clone()]);
        again.edits.push(Edit::Add(renew_task(&task, &id, required, &untried, why)));
        hand_over(&mut changed, seen, &task.id, &id, &mut again.edits);
        if changed.answer == task.id {
            changed.answer.clone_from(&id);
            again.edits.push(Edit::Answer(id));
        }
    }
    again
}

/// Returns the reason why a task has no statement; `None` if it has one, or if another try would
/// fail for the same reason.
fn without_statement(observation: &Observation) -> Option<&str> {
    match &observation.ending {
        Ending::Failed(Failure { kind: FailureKind::Other(_), message, .. }) => Some(message),
        _ => None,
    }
}

/// The tables that speak most of the task's words and that its plan did not name; none if it named
/// none.
fn find_other_tables(catalog: &Catalog, task: &Task, required: &Requirements) -> Vec<String> {
    let named: Vec<&Table> =
        required.tables.iter().filter_map(|name| catalog.table(name)).collect();
    let is_tried = |table: &Table| named.iter().any(|known| known.is_same(table));
    if named.is_empty() {
        return Vec::new();
    }
    let wanted = naming_stems(&format!("{} {}", task.text, required.words()));
    fn count_shared_stems(wanted: &BTreeSet<String>, name: &str) -> usize {
        naming_stems(name).intersection(wanted).count()
    }
    let score = |table: &Table| {
        let columns: BTreeSet<String> =
            table.columns.iter().flat_map(|column| naming_stems(&column.name)).collect();
        2 * count_shared_stems(&wanted, &table.name) + columns.intersection(&wanted).count()
    };
    let mut others: Vec<(usize, &Table)> = catalog
        .tables
        .iter()
        .filter(|table| !is_tried(table))
        .map(|table| (score(table), table))
        .collect();
    others.retain(|(score, _)| *score > 0);
    others.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    others.into_iter().take(TABLES).map(|(_, table)| catalog.table_name(table)).collect()
}

/// The task again, with the other tables in its plan and with what went wrong.
fn renew_task(
    task: &Task,
    id: &str,
    required: Requirements,
    untried: &[String],
    why: &str,
) -> Task {
    let tried = required.tables.join(", ");
    let advice = format!(
        "an earlier try over {tried} came to nothing ({}); read {} where they fit",
        line(why, 160),
        untried.join(", ")
    );
    let expected = match &task.expected {
        Some(expected) => format!("{}; {advice}", line(expected, 160)),
        None => advice,
    };
    let tables = required.tables.iter().chain(untried).cloned().collect();
    let context = task_context(&join_keys_of(task), &Requirements { tables, ..required });
    Task { id: id.to_owned(), expected: Some(expected), context, ..task.clone() }
}

/// Has the tasks that wait for the old one wait for the new one.
fn hand_over(graph: &mut Graph, seen: &[Observation], old: &str, new: &str, edits: &mut Vec<Edit>) {
    fn has_ended(seen: &[Observation], task: &Task) -> bool {
        seen.iter().any(|observation| observation.task == task.id)
    }
    let name = |id: &String| if id == old { new.to_owned() } else { id.clone() };
    for task in graph
        .tasks
        .iter_mut()
        .filter(|task| task.depends_on.iter().any(|id| id == old) && !has_ended(seen, task))
    {
        let keys = join_keys_of(task);
        let keys: Vec<JoinKey> = keys
            .iter()
            .map(|key: &JoinKey| JoinKey {
                left: name(&key.left),
                right: name(&key.right),
                ..key.clone()
            })
            .collect();
        task.depends_on = task.depends_on.iter().map(name).collect();
        task.context = task_context(&keys, &Requirements::from_task(task).unwrap_or_default());
        let earlier = edits.iter_mut().find_map(|edit| match edit {
            Edit::Update(known) | Edit::Add(known) if known.id == task.id => Some(known),
            _ => None,
        });
        match earlier {
            Some(known) => known.clone_from(task),
            None => edits.push(Edit::Update(task.clone())),
        }
    }
}
