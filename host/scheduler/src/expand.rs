//! Subtasks: a solver may return smaller tasks instead of candidates, and they replace the task.

use std::collections::BTreeMap;

use syrch_core::{Graph, Join, Limits, Operation, Task, TaskId};

use crate::check::{GraphError, check, escape_name};

/// The graph in which `subtasks` replace the task at `position`, and the subtasks as they are in
/// it, last in the graph. The task itself becomes a choice of the last one.
///
/// # Errors
/// An error in the subtasks among themselves, or in the whole graph.
pub(crate) fn expand(
    graph: &Graph,
    position: usize,
    subtasks: &[Task],
    limits: &Limits,
) -> Result<(Graph, Vec<Task>), GraphError> {
    let mut graph = graph.clone();
    let names = names(&graph, position, subtasks)?;
    let task = &graph.tasks[position];
    let placed = subtasks
        .iter()
        .map(|subtask| place(&graph, task, subtask, &names))
        .collect::<Result<Vec<_>, _>>()?;

    let last = placed.last().map(|subtask| subtask.id.clone());
    let task = &mut graph.tasks[position];
    task.operation = Operation::Choose;
    task.depends_on = last.into_iter().collect();
    task.join = Join::AllOf;
    task.tolerant = false;
    graph.tasks.extend(placed.iter().cloned());
    check(&graph, limits)?;
    Ok((graph, placed))
}

/// The ids of the subtasks in the graph: prefixed by the task's id, and numbered where that id
/// exists.
fn names<'a>(
    graph: &Graph,
    position: usize,
    subtasks: &'a [Task],
) -> Result<BTreeMap<&'a str, TaskId>, GraphError> {
    let mut names = BTreeMap::new();
    for subtask in subtasks {
        let plain = format!("{}.{}", graph.tasks[position].id, subtask.id);
        let taken = |id: &TaskId| graph.task(id).is_some() || names.values().any(|name| name == id);
        let mut numbered = (2_usize..).map(|number| format!("{plain}-{number}"));
        let name = if taken(&plain) {
            numbered.find(|name| !taken(name)).unwrap_or_default()
        } else {
            plain
        };
        if names.insert(subtask.id.as_str(), name).is_some() {
            return Err(GraphError::DuplicateId { id: escape_name(&subtask.id) });
        }
    }
    Ok(names)
}

/// A subtask with its new id. It may depend on other subtasks and on what the task depends on, and
/// one without dependencies gets those of the task. A plugin that a flow calls does not get what
/// other plugins of the flow found for the same task.
fn place(
    graph: &Graph,
    task: &Task,
    subtask: &Task,
    names: &BTreeMap<&str, TaskId>,
) -> Result<Task, GraphError> {
    fn unknown_dependency(subtask: &Task, dependency: &str) -> GraphError {
        GraphError::UnknownDependency {
            task: escape_name(&subtask.id),
            dependency: escape_name(dependency),
        }
    }
    let named = subtask.depends_on.iter().map(|id| match names.get(id.as_str()) {
        Some(sibling) => Ok(sibling.clone()),
        None if task.depends_on.contains(id) => Ok(id.clone()),
        None => Err(unknown_dependency(subtask, id)),
    });
    let named = named.collect::<Result<Vec<_>, _>>()?;
    let parent = subtask.parent.as_deref().and_then(|parent| names.get(parent)).unwrap_or(&task.id);
    let mut placed = Task {
        id: names.get(subtask.id.as_str()).cloned().unwrap_or_default(),
        parent: Some(parent.clone()),
        database: subtask.database.clone().or_else(|| task.database.clone()),
        depends_on: named,
        ..subtask.clone()
    };
    if placed.depends_on.is_empty() {
        placed.depends_on.clone_from(&task.depends_on);
        if is_of_plugin(&placed) {
            placed.depends_on.retain(|id| !graph.task(id).is_some_and(is_of_plugin));
        }
        placed.join = task.join;
        placed.tolerant |= task.tolerant;
    }
    Ok(placed)
}

/// Returns true if a flow has a plugin of its own solve the task.
fn is_of_plugin(task: &Task) -> bool {
    task.operation.solver().is_some()
}
