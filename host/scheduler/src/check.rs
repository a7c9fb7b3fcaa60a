//! The conditions that a graph must satisfy. A planner's first graph is checked, and every graph
//! that edits and subtasks make of it.

use std::collections::BTreeSet;

use syrch_core::{Graph, Join, Limits, Operation, Task, text};

use crate::shape;

/// An error in a graph. Ids are escaped and clipped, since plugins write them.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the fields are the words of the messages")]
pub enum GraphError {
    /// The graph has no tasks.
    #[error("the graph has no tasks")]
    Empty,
    /// The graph has more tasks than the limit.
    #[error("the graph has {tasks} tasks, over the limit of {limit}")]
    TooManyTasks { tasks: usize, limit: usize },
    /// The graph has more dependencies than the limit.
    #[error("the graph has {edges} edges, over the limit of {limit}")]
    TooManyEdges { edges: usize, limit: usize },
    /// A task's id is malformed.
    #[error("task id `{id}` is not 1 to {limit} of A-Z a-z 0-9 _ . -")]
    BadId { id: String, limit: usize },
    /// Two tasks have the same id.
    #[error("task id `{id}` is used twice")]
    DuplicateId { id: String },
    /// The host does not know a task's operation.
    #[error("`{task}` has the unknown operation `{operation}`")]
    UnknownOperation { task: String, operation: String },
    /// A task chooses, but has no dependencies.
    #[error("`{task}` chooses, but has no dependencies to choose from")]
    NothingToChoose { task: String },
    /// A join can never be satisfied, or always is.
    #[error(
        "`{task}` waits for at least {wanted} of its dependencies, not for 1 to {dependencies}"
    )]
    BadJoin { task: String, wanted: u32, dependencies: usize },
    /// A priority is not finite.
    #[error("`{task}` has the priority {priority}, which is not finite")]
    BadPriority { task: String, priority: f64 },
    /// A confidence is not in 0 to 1.
    #[error("`{task}` has the confidence {confidence}, not 0 to 1")]
    BadConfidence { task: String, confidence: f64 },
    /// The answer is not a task of the graph.
    #[error("the answer `{id}` is not a task of the graph")]
    UnknownAnswer { id: String },
    /// A dependency is not a task of the graph.
    #[error("`{task}` depends on `{dependency}`, which is not a task of the graph")]
    UnknownDependency { task: String, dependency: String },
    /// A task names a dependency twice.
    #[error("`{task}` depends on `{dependency}` twice")]
    DuplicateDependency { task: String, dependency: String },
    /// A task depends on itself.
    #[error("`{task}` depends on itself")]
    SelfDependency { task: String },
    /// A parent is not a task of the graph.
    #[error("`{task}` was made from `{parent}`, which is not a task of the graph")]
    UnknownParent { task: String, parent: String },
    /// Tasks depend on each other: each on the one after it, and the last on the first.
    #[error("tasks depend on each other in a cycle: {}", chain(.tasks))]
    Cycle { tasks: Vec<String> },
    /// Tasks are made from each other, in the same order.
    #[error("tasks are made from each other in a cycle: {}", chain(.tasks))]
    ParentCycle { tasks: Vec<String> },
    /// A chain of dependencies is longer than the limit.
    #[error(
        "the chain of dependencies that ends in `{task}` has {depth} tasks, over the \
         limit of {limit}"
    )]
    TooDeep { task: String, depth: usize, limit: usize },
    /// A chain of parents is longer than the limit.
    #[error(
        "the chain of parents that ends in `{task}` has {depth} tasks, over the limit of {limit}"
    )]
    ParentsTooDeep { task: String, depth: usize, limit: usize },
}

/// The most names of a cycle in a message; the error's field has all.
const SHOWN: usize = 16;

fn chain(tasks: &[String]) -> String {
    let first = tasks.first().map_or("", String::as_str);
    if tasks.len() > SHOWN {
        format!("{} -> … -> {first} ({} tasks)", tasks[..SHOWN].join(" -> "), tasks.len())
    } else {
        format!("{} -> {first}", tasks.join(" -> "))
    }
}

/// A plugin's name, escaped and clipped for a message.
pub(crate) fn escape_name(name: &str) -> String {
    text::clip(name, 64).escape_default().to_string()
}

/// Refuses a graph that cannot run: see [`GraphError`].
///
/// # Errors
/// The first condition that is violated.
pub fn check(graph: &Graph, limits: &Limits) -> Result<(), GraphError> {
    sizes(graph, limits)?;
    ids(&graph.tasks, limits)?;
    graph.tasks.iter().try_for_each(fields)?;
    references(graph)?;
    chains(graph, limits)
}

fn sizes(graph: &Graph, limits: &Limits) -> Result<(), GraphError> {
    let tasks = graph.tasks.len();
    let edges = graph.tasks.iter().map(|task| task.depends_on.len()).sum();
    if tasks == 0 {
        return Err(GraphError::Empty);
    }
    if tasks > limits.tasks {
        return Err(GraphError::TooManyTasks { tasks, limit: limits.tasks });
    }
    if edges > limits.edges {
        return Err(GraphError::TooManyEdges { edges, limit: limits.edges });
    }
    Ok(())
}

fn ids(tasks: &[Task], limits: &Limits) -> Result<(), GraphError> {
    let mut known = BTreeSet::new();
    for Task { id, .. } in tasks {
        if id.is_empty()
            || id.len() > limits.id_bytes
            || !id
                .bytes()
                .all(|byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'))
        {
            return Err(GraphError::BadId { id: escape_name(id), limit: limits.id_bytes });
        }
        if !known.insert(id.as_str()) {
            return Err(GraphError::DuplicateId { id: escape_name(id) });
        }
    }
    Ok(())
}

fn fields(task: &Task) -> Result<(), GraphError> {
    fn escape_id(task: &Task) -> String {
        escape_name(&task.id)
    }
    let dependencies = task.depends_on.len();
    match &task.operation {
        Operation::Solve | Operation::Retrieve(_) => {}
        Operation::Choose if dependencies == 0 => {
            return Err(GraphError::NothingToChoose { task: escape_id(task) });
        }
        Operation::Choose => {}
        // By which plugin a task is solved, the runner knows.
        Operation::Other(_) if task.operation.solver().is_some() => {}
        Operation::Other(operation) => {
            return Err(GraphError::UnknownOperation {
                task: escape_id(task),
                operation: escape_name(operation),
            });
        }
    }
    match task.join {
        Join::AtLeast(wanted)
            if wanted == 0 || usize::try_from(wanted).is_ok_and(|wanted| wanted > dependencies) =>
        {
            return Err(GraphError::BadJoin { task: escape_id(task), wanted, dependencies });
        }
        Join::AllOf | Join::AnyOf | Join::AtLeast(_) => {}
    }
    if !task.priority.is_finite() {
        return Err(GraphError::BadPriority { task: escape_id(task), priority: task.priority });
    }
    match task.confidence {
        // A NaN is in no range.
        Some(confidence) if !(0.0..=1.0).contains(&confidence) => {
            Err(GraphError::BadConfidence { task: escape_id(task), confidence })
        }
        _ => Ok(()),
    }
}

fn references(graph: &Graph) -> Result<(), GraphError> {
    let known = shape::positions(&graph.tasks);
    for task in &graph.tasks {
        let mut named = BTreeSet::new();
        for dependency in &task.depends_on {
            if dependency == &task.id {
                return Err(GraphError::SelfDependency { task: escape_name(&task.id) });
            }
            if !known.contains_key(dependency.as_str()) {
                return Err(GraphError::UnknownDependency {
                    task: escape_name(&task.id),
                    dependency: escape_name(dependency),
                });
            }
            if !named.insert(dependency) {
                return Err(GraphError::DuplicateDependency {
                    task: escape_name(&task.id),
                    dependency: escape_name(dependency),
                });
            }
        }
        if let Some(parent) =
            task.parent.as_ref().filter(|parent| !known.contains_key(parent.as_str()))
        {
            return Err(GraphError::UnknownParent {
                task: escape_name(&task.id),
                parent: escape_name(parent),
            });
        }
    }
    if known.contains_key(graph.answer.as_str()) {
        Ok(())
    } else {
        Err(GraphError::UnknownAnswer { id: escape_name(&graph.answer) })
    }
}

fn chains(graph: &Graph, limits: &Limits) -> Result<(), GraphError> {
    let limit = limits.depth;
    fn escape_id(graph: &Graph, position: usize) -> String {
        escape_name(&graph.tasks[position].id)
    }
    let names =
        |cycle: Vec<usize>| cycle.into_iter().map(|position| escape_id(graph, position)).collect();
    fn find_too_deep(limit: usize, depths: Vec<usize>) -> Option<(usize, usize)> {
        depths.into_iter().enumerate().find(|(_, depth)| *depth > limit)
    }

    let depths = shape::depths(&shape::dependencies(graph))
        .map_err(|cycle| GraphError::Cycle { tasks: names(cycle) })?;
    if let Some((position, depth)) = find_too_deep(limit, depths) {
        return Err(GraphError::TooDeep { task: escape_id(graph, position), depth, limit });
    }
    let depths = shape::depths(&shape::parents(graph))
        .map_err(|cycle| GraphError::ParentCycle { tasks: names(cycle) })?;
    match find_too_deep(limit, depths) {
        Some((position, depth)) => {
            Err(GraphError::ParentsTooDeep { task: escape_id(graph, position), depth, limit })
        }
        None => Ok(()),
    }
}
