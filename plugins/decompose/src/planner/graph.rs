//! From a draft to the graph that the host runs, and the one change to it: the fallback.

use syrch_plugin::prelude::*;
use syrch_plugin::replies::{JoinKey, join_context};

use crate::planner::draft::{Draft, Node, unused};

/// The graph of one task: the question itself.
pub(crate) fn direct(id: &str, problem: &Problem) -> Graph {
    Graph::single(Task::new(id, problem.question.clone()))
}

/// The draft's tasks, and a final one that takes over or joins when several are left that nothing depends on.
pub(crate) fn finished(draft: Draft, problem: &Problem) -> Graph {
    let leaves = draft.leaves();
    let mut tasks: Vec<Task> = draft.nodes.iter().map(|node| task(node, &draft.keys)).collect();
    if let [leaf] = leaves.as_slice() {
        return Graph { answer: leaf.clone(), tasks, memo: None };
    }
    let taken: Vec<String> = draft.nodes.iter().map(|node| node.id.clone()).collect();
    let id = unused("answer", &taken);
    let between: Vec<JoinKey> =
        draft.keys.into_iter().filter(|key| leaves.contains(&key.left) && leaves.contains(&key.right)).collect();
    tasks.push(Task {
        operation: Operation::Choose,
        depends_on: leaves,
        tolerant: true,
        context: join_context(&between),
        ..Task::new(id.clone(), problem.question.clone())
    });
    Graph { tasks, answer: id, memo: None }
}

fn task(node: &Node, keys: &[JoinKey]) -> Task {
    let concerns = |key: &&JoinKey| {
        (key.left == node.id && node.depends_on.contains(&key.right))
            || (key.right == node.id && node.depends_on.contains(&key.left))
            || (node.depends_on.contains(&key.left) && node.depends_on.contains(&key.right))
    };
    let own: Vec<JoinKey> = keys.iter().filter(concerns).cloned().collect();
    Task {
        depends_on: node.depends_on.clone(),
        expected: node.expected.clone(),
        context: join_context(&own),
        ..Task::new(node.id.clone(), node.text.clone())
    }
}

/// Whether the answer's task has ended without a result, for a reason that another try may not meet again.
pub(crate) fn is_lost(graph: &Graph, seen: &[Observation]) -> bool {
    let ended_badly = |observation: &Observation| {
        matches!(observation.ending, Ending::Failed(_) | Ending::Skipped(_) | Ending::Other(_))
    };
    let is_spent = |observation: &Observation| match &observation.ending {
        Ending::Failed(failure) => matches!(failure.kind, FailureKind::Budget | FailureKind::Cancelled),
        _ => false,
    };
    seen.iter().rfind(|observation| observation.task == graph.answer).is_some_and(ended_badly)
        && !seen.iter().any(is_spent)
}

/// The whole question as one more task, which now gives the answer. The memo keeps it from happening twice.
pub(crate) fn fallback(graph: &Graph, problem: &Problem) -> Step {
    let taken: Vec<String> = graph.tasks.iter().map(|task| task.id.clone()).collect();
    let id = unused("direct", &taken);
    Step {
        edits: vec![Edit::Add(Task::new(id.clone(), problem.question.clone())), Edit::Answer(id)],
        memo: Some(r#"{"fallback":true}"#.to_owned()),
    }
}
