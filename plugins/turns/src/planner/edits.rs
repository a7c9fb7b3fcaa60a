//! Turns decisions into edits of the host's graph.
//!
//! The host cancels what the answer does not wait for, so the answer is always a task that waits
//! for all that is under way: a choice of it and of the results so far. A search that is cut short
//! answers with the best result of a live branch.

use syrch_plugin::prelude::*;

use crate::Settings;
use crate::planner::View;
use crate::planner::references::text_line;
use crate::planner::replay::{Replayed, fold_id};
use crate::planner::state::{Node, State, Work};

/// The tasks to add, the collecting one last where there is one, and the id of the answer.
#[derive(Debug, PartialEq)]
pub(crate) struct Added {
    pub(crate) tasks: Vec<Task>,
    pub(crate) answer: String,
}

/// The tasks that a further turn adds.
pub(crate) fn build_additions(view: &View, replayed: &Replayed, settings: &Settings) -> Added {
    let state = &replayed.state;
    let started = replayed.started.iter().filter_map(|id| state.node(id));
    let mut tasks: Vec<Task> =
        started.map(|node| task(view, state, node, &replayed.started, settings)).collect();
    // The first of equals is chosen: what is under way builds on what there is, and hits are no
    // answer.
    let results = state.live().filter_map(|branch| state.result_of(&branch.id));
    let (searches, tries): (Vec<&Node>, Vec<&Node>) =
        state.running().partition(|node| node.is_search());
    let awaited: Vec<String> =
        tries.into_iter().chain(results).chain(searches).map(|node| node.id.clone()).collect();
    if let [only] = awaited.as_slice() {
        return Added { tasks, answer: only.clone() };
    }
    let id = collector(view, state);
    tasks.push(Task {
        operation: Operation::Choose,
        depends_on: awaited,
        tolerant: true,
        ..Task::new(id.clone(), view.problem.question.clone())
    });
    Added { tasks, answer: id }
}

/// The edits of a turn: what is called off, what is added, where the answer is now, and the end
/// where it was decided.
pub(crate) fn step(view: &View, replayed: &Replayed, settings: &Settings) -> Step {
    let mut edits: Vec<Edit> = replayed.cancelled.iter().cloned().map(Edit::Cancel).collect();
    if replayed.state.stopped.is_some() {
        edits.extend(
            replayed
                .answer
                .iter()
                .filter(|id| **id != view.graph.answer)
                .cloned()
                .map(Edit::Answer),
        );
        edits.push(Edit::Finish);
    } else {
        let added = build_additions(view, replayed, settings);
        edits.extend(added.tasks.into_iter().map(Edit::Add));
        edits.push(Edit::Answer(added.answer));
    }
    Step { edits, memo: replayed.state.memo() }
}

fn collector(view: &View, state: &State) -> String {
    let taken: Vec<String> = view
        .taken
        .iter()
        .chain(state.nodes.iter().map(|node| &node.id))
        .map(|id| fold_id(id))
        .collect();
    let plain = format!("turn-{}", state.turn);
    let numbered = (2..=taken.len() + 2).map(|number| format!("{plain}-{number}"));
    let free = [plain.clone()].into_iter().chain(numbered).find(|id| !taken.contains(&fold_id(id)));
    free.unwrap_or(plain)
}

/// A task, which runs even if what it builds on failed, and then gets the reason. A statement also
/// depends on the searches whose hits its branch retains, so that the solver sees them.
fn task(view: &View, state: &State, node: &Node, started: &[String], settings: &Settings) -> Task {
    let mut before = node.after.clone();
    if !node.is_search() {
        let evidence =
            state.branch(&node.branch).map(|branch| branch.evidence.as_slice()).unwrap_or_default();
        before.extend(evidence.iter().map(|piece| piece.task.clone()));
    }
    let mut depends_on: Vec<String> = Vec::new();
    for id in before {
        let is_known = view.taken.contains(&id) || started.contains(&id);
        if is_known && !depends_on.contains(&id) {
            depends_on.push(id);
        }
    }
    let (text, operation, expected) = match &node.work {
        Work::Search { corpus, retriever, query } => {
            let text = format!("look into {corpus} by {retriever} for: {query}");
            (text, Operation::Retrieve(retrieval(corpus, retriever, query, settings.hits)), None)
        }
        Work::Solve { text, expected } => {
            let is_whole = *text == text_line(&view.problem.question);
            let text = if is_whole { view.problem.question.clone() } else { text.clone() };
            (text, Operation::Solve, expected.clone())
        }
    };
    Task {
        depends_on,
        tolerant: true,
        priority: node.priority,
        operation,
        expected,
        ..Task::new(node.id.clone(), text)
    }
}

fn retrieval(corpus: &str, retriever: &str, query: &str, limit: u32) -> RetrievalQuery {
    let corpus = match corpus {
        "tables" => Corpus::Tables,
        "columns" => Corpus::Columns,
        "notes" => Corpus::Notes,
        "examples" => Corpus::Examples,
        other => Corpus::Other(other.to_owned()),
    };
    let retriever = match retriever {
        "lexical" => Retriever::Lexical,
        "path-fuzzy" => Retriever::PathFuzzy,
        "segment-fuzzy" => Retriever::SegmentFuzzy,
        "vector" => Retriever::Vector,
        other => Retriever::Other(other.to_owned()),
    };
    RetrievalQuery { corpus, retriever, text: query.to_owned(), limit }
}
