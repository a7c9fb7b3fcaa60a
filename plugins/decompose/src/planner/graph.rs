//! Builds the graph that the host runs from a draft, and makes the one change to it: the fallback.

use syrch_plugin::prelude::*;
use syrch_plugin::replies::{JoinKey, join_context};
use syrch_plugin::requirements::{Metric, Requirements, task_context};

use crate::planner::draft::{Draft, Node, pick_free_id};
use crate::planner::memo::Memo;

/// The graph of one task: the question itself.
pub(crate) fn direct(id: &str, problem: &Problem) -> Graph {
    Graph::single(Task::new(id, problem.question.clone()))
}

/// The draft's tasks, and a final one that takes over or joins when several are left that nothing
/// depends on.
pub(crate) fn build_graph(draft: Draft, problem: &Problem) -> Graph {
    let leaves = draft.leaves();
    let mut tasks: Vec<Task> = draft.nodes.iter().map(|node| task(node, &draft.keys)).collect();
    if let [leaf] = leaves.as_slice() {
        return Graph { answer: leaf.clone(), tasks, memo: None };
    }
    let taken: Vec<String> = draft.nodes.iter().map(|node| node.id.clone()).collect();
    let id = pick_free_id("answer", &taken);
    let between: Vec<JoinKey> = draft
        .keys
        .into_iter()
        .filter(|key| leaves.contains(&key.left) && leaves.contains(&key.right))
        .collect();
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
    let own: Vec<JoinKey> = keys
        .iter()
        .filter(|key: &&JoinKey| {
            (key.left == node.id && node.depends_on.contains(&key.right))
                || (key.right == node.id && node.depends_on.contains(&key.left))
                || (node.depends_on.contains(&key.left) && node.depends_on.contains(&key.right))
        })
        .cloned()
        .collect();
    Task {
        depends_on: node.depends_on.clone(),
        expected: describe_output(node),
        context: task_context(&own, &node.required),
        ..Task::new(node.id.clone(), node.text.clone())
    }
}

/// Returns the form that the result should have, with the parts that the statement must state, so
/// that solvers know them before a reward checks them.
fn describe_output(node: &Node) -> Option<String> {
    let required = node.required.words();
    match (&node.expected, required.is_empty()) {
        (expected, true) => expected.clone(),
        (Some(expected), false) => Some(format!("{expected}; with {required}")),
        (None, false) => Some(format!("with {required}")),
    }
}

/// Returns true if the answer's task has ended without a result, for a reason that another try may
/// avoid.
pub(crate) fn is_lost(graph: &Graph, seen: &[Observation]) -> bool {
    seen.iter().rfind(|observation| observation.task == graph.answer).is_some_and(
        |observation: &Observation| {
            matches!(observation.ending, Ending::Failed(_) | Ending::Skipped(_) | Ending::Other(_))
        },
    ) && !seen.iter().any(|observation: &Observation| match &observation.ending {
        Ending::Failed(failure) => {
            matches!(failure.kind, FailureKind::Budget | FailureKind::Cancelled)
        }
        _ => false,
    })
}

/// The whole question as one more task, which now gives the answer. The metrics, aggregations and
/// conditions that the plan required are no more than wishes there, since the plan may be wrong.
pub(crate) fn fallback(graph: &Graph, problem: &Problem, memo: &Memo) -> Step {
    let taken: Vec<String> = graph.tasks.iter().map(|task| task.id.clone()).collect();
    let id = pick_free_id("direct", &taken);
    let mut wished = Requirements { lenient: true, ..Requirements::default() };
    for required in graph.tasks.iter().filter_map(Requirements::from_task) {
        let new = |metric: &Metric| !wished.metrics.contains(metric);
        let metrics: Vec<Metric> = required.metrics.into_iter().filter(new).collect();
        wished.metrics.extend(metrics);
        wished.aggregation = wished.aggregation.or(required.aggregation);
        let filters: Vec<String> = required
            .filters
            .into_iter()
            .filter(|filter: &String| !wished.filters.contains(filter))
            .collect();
        wished.filters.extend(filters);
        wished.time_range = wished.time_range.or(required.time_range);
        wished.unread.extend(required.unread);
    }
    let task = Task {
        context: task_context(&[], &wished),
        ..Task::new(id.clone(), problem.question.clone())
    };
    Step { edits: vec![Edit::Add(task), Edit::Answer(id)], memo: Some(memo.text()) }
}
