//! The passes over a checked graph: drop what the answer does not need, and run equal tasks once.

use std::collections::{BTreeMap, BTreeSet};

use syrch_core::{Graph, Join, Operation, RetrievalQuery, Task, TaskId};

use crate::shape;

/// A graph after the passes.
#[derive(Debug, Clone, PartialEq)]
pub struct Optimised {
    /// The remaining graph, still sound.
    pub graph: Graph,
    /// Tasks that do not lead to the answer, in graph order.
    pub dropped: Vec<TaskId>,
    /// Tasks that were merged into an equal one, as (merged, remaining).
    pub merged: Vec<(TaskId, TaskId)>,
}

/// Runs the passes over a sound graph (see [`crate::check()`]). The answer's result does not
/// change.
#[must_use]
pub fn optimise(mut graph: Graph) -> Optimised {
    let dropped = drop_unreachable(&mut graph);
    let merged = merge_equal(&mut graph);
    Optimised { graph, dropped, merged }
}

fn drop_unreachable(graph: &mut Graph) -> Vec<TaskId> {
    let Some(answer) = graph.tasks.iter().position(|task| task.id == graph.answer) else {
        return Vec::new();
    };
    let needed = shape::leading_to(&shape::dependencies(graph), answer);
    let parents = parents(&graph.tasks);
    let mut remaining = Vec::new();
    let mut dropped = Vec::new();
    for (position, task) in std::mem::take(&mut graph.tasks).into_iter().enumerate() {
        if needed.contains(&position) {
            remaining.push(task);
        } else {
            dropped.push(task.id);
        }
    }
    graph.tasks = remaining;
    adopt(&mut graph.tasks, &parents, &dropped.iter().map(String::as_str).collect());
    dropped
}

/// Merges equal tasks. The answer itself is never merged: all remaining tasks lead to it, and an
/// equal task would have to lead to itself.
fn merge_equal(graph: &mut Graph) -> Vec<(TaskId, TaskId)> {
    let Ok(depths) = shape::depths(&shape::dependencies(graph)) else { return Vec::new() };
    // Equal tasks have the same dependencies and so the same depth: by then everything before them
    // has been merged.
    let mut order: Vec<usize> = (0..graph.tasks.len()).collect();
    order.sort_by_key(|position| (depths[*position], *position));

    let parents = parents(&graph.tasks);
    let mut known: BTreeMap<Key, Vec<usize>> = BTreeMap::new();
    let mut merged: Vec<(TaskId, TaskId)> = Vec::new();
    for position in order {
        let equals = known.entry(Key::from_task(&graph.tasks[position])).or_default();
        match equals.iter().find(|other| !counts_apart(&graph.tasks, **other, position)) {
            Some(other) => merged.push(fold(graph, position, *other)),
            None => equals.push(position),
        }
    }

    let gone: BTreeSet<&str> = merged.iter().map(|(from, _)| from.as_str()).collect();
    graph.tasks.retain(|task| !gone.contains(task.id.as_str()));
    adopt(&mut graph.tasks, &parents, &gone);
    merged
}

/// The identity of a task's work. The order of dependencies matters only to a choice, where it
/// breaks ties.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    text: String,
    chooses: bool,
    retrieves: Option<RetrievalQuery>,
    solver: Option<String>,
    depends_on: Vec<TaskId>,
    join: (u8, u32),
    tolerant: bool,
    expected: Option<String>,
    database: Option<String>,
    context: Option<String>,
}

impl Key {
    fn from_task(task: &Task) -> Self {
        let chooses = task.operation == Operation::Choose;
        let mut depends_on = task.depends_on.clone();
        if !chooses {
            depends_on.sort();
        }
        let join = match task.join {
            Join::AllOf => (0, 0),
            Join::AnyOf => (1, 0),
            Join::AtLeast(wanted) => (2, wanted),
        };
        Self {
            text: task.text.clone(),
            chooses,
            retrieves: match &task.operation {
                Operation::Retrieve(query) => Some(query.clone()),
                _ => None,
            },
            solver: task.operation.solver().map(str::to_owned),
            depends_on,
            join,
            tolerant: task.tolerant,
            expected: task.expected.clone(),
            database: task.database.clone(),
            context: task.context.clone(),
        }
    }
}

/// Returns whether a task counts both: "two of these three" means something else once two of them
/// are one.
fn counts_apart(tasks: &[Task], one: usize, other: usize) -> bool {
    fn depends_on(tasks: &[Task], task: &Task, position: usize) -> bool {
        task.depends_on.contains(&tasks[position].id)
    }
    tasks.iter().any(|task| {
        matches!(task.join, Join::AtLeast(_))
            && depends_on(tasks, task, one)
            && depends_on(tasks, task, other)
    })
}

/// Replaces `from` by `to` everywhere.
fn fold(graph: &mut Graph, from: usize, to: usize) -> (TaskId, TaskId) {
    let old = graph.tasks[from].id.clone();
    let new = graph.tasks[to].id.clone();
    for task in graph.tasks.iter_mut().filter(|task| task.depends_on.contains(&old)) {
        task.depends_on.iter_mut().filter(|id| **id == old).for_each(|id| id.clone_from(&new));
        // A task that named both now names one twice. The first position counts, since order breaks
        // the ties of a choice.
        let mut named = BTreeSet::new();
        task.depends_on.retain(|id| named.insert(id.clone()));
    }
    graph.tasks[to].priority = graph.tasks[to].priority.max(graph.tasks[from].priority);
    (old, new)
}

fn parents(tasks: &[Task]) -> BTreeMap<TaskId, TaskId> {
    tasks.iter().filter_map(|task| Some((task.id.clone(), task.parent.clone()?))).collect()
}

/// Gives each task its nearest ancestor that remains, also where its parent was merged, so that no
/// chain of parents grows or closes.
fn adopt(tasks: &mut [Task], parents: &BTreeMap<TaskId, TaskId>, gone: &BTreeSet<&str>) {
    for task in tasks {
        let mut ancestors =
            std::iter::successors(task.parent.take(), |id| parents.get(id).cloned());
        task.parent = ancestors.find(|id| !gone.contains(id.as_str()));
    }
}
