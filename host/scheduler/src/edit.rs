//! The planner's edits: applied in order to a copy of the graph, and accepted or refused as a
//! whole.

use std::collections::BTreeSet;

use syrch_core::{Edit, Graph, Limits, Step, Task, TaskId};

use crate::check::{GraphError, check, escape_name};

/// The progress of a task, as far as edits depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// The task has not started.
    Open,
    /// The task has started.
    Started,
    /// The task has ended, whether it started or not.
    Ended,
}

/// The reason why a step is refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("the update of `{0}` comes too late: it has started")]
    Started(String),
    #[error("the update of `{0}` comes too late: it has ended")]
    Ended(String),
    #[error("`{0}` is not a task of the graph")]
    Unknown(String),
    #[error("the answer `{0}` would be cancelled")]
    AnswerCancelled(String),
    #[error("the edit `{0}` is unknown")]
    UnknownEdit(String),
    #[error(transparent)]
    Graph(#[from] GraphError),
}

/// The result of a sound step.
#[derive(Debug)]
pub(crate) struct Edited {
    /// The graph afterwards: old tasks at their positions, new ones last.
    pub(crate) graph: Graph,
    /// The tasks that the step cancels.
    pub(crate) cancelled: BTreeSet<TaskId>,
    /// True if the step ends the graph.
    pub(crate) finished: bool,
}

/// Applies a step to a copy of `graph`; `standing` is the progress of a task by its id.
///
/// # Errors
/// When the whole step is refused.
pub(crate) fn apply(
    graph: &Graph,
    step: &Step,
    limits: &Limits,
    standing: impl Fn(&str) -> Standing,
) -> Result<Edited, Refusal> {
    let mut edited = Edited { graph: graph.clone(), cancelled: BTreeSet::new(), finished: false };
    for edit in &step.edits {
        match edit {
            Edit::Add(task) => edited.graph.tasks.push(task.clone()),
            Edit::Update(task) => update(&mut edited.graph, task, &standing)?,
            Edit::Cancel(id) if edited.graph.task(id).is_none() => {
                return Err(Refusal::Unknown(escape_name(id)));
            }
            // It may have ended while the planner was called: then there is nothing left to cancel.
            Edit::Cancel(id) if standing(id) == Standing::Ended => {}
            Edit::Cancel(id) => drop(edited.cancelled.insert(id.clone())),
            Edit::Answer(id) => edited.graph.answer.clone_from(id),
            Edit::Finish => edited.finished = true,
            Edit::Other(name) => return Err(Refusal::UnknownEdit(escape_name(name))),
        }
    }
    if edited.cancelled.contains(&edited.graph.answer) {
        return Err(Refusal::AnswerCancelled(escape_name(&edited.graph.answer)));
    }
    if step.memo.is_some() {
        edited.graph.memo.clone_from(&step.memo);
    }
    check(&edited.graph, limits)?;
    Ok(edited)
}

fn update(
    graph: &mut Graph,
    task: &Task,
    standing: impl Fn(&str) -> Standing,
) -> Result<(), Refusal> {
    match standing(&task.id) {
        Standing::Started => return Err(Refusal::Started(escape_name(&task.id))),
        Standing::Ended => return Err(Refusal::Ended(escape_name(&task.id))),
        Standing::Open => {}
    }
    let old = graph.tasks.iter_mut().find(|old| old.id == task.id);
    old.ok_or_else(|| Refusal::Unknown(escape_name(&task.id)))?.clone_from(task);
    Ok(())
}
