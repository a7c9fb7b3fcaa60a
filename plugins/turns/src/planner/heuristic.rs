//! Deciding without a model (sift, heuristic planner, which planned all of it beforehand; here each
//! step follows from what was found): search for the question's words, follow what was found, try
//! the question, look for the names that an error missed, and try once more.

use syrch_plugin::prelude::*;

use crate::planner::View;
use crate::planner::decision::{Action, Decision};
use crate::planner::observe::observation;
use crate::planner::replay::fold_id;
use crate::planner::state::{Branch, Entry, Node, Standing, State, StopReason};
use crate::planner::terms::{names_of_error, pick_unused, terms};

/// The next decisions, at most `actions` of them.
pub(crate) fn decide(view: &View, state: &State, actions: u32) -> Vec<Decision> {
    let Some(branch) = state.working() else { return Vec::new() };
    let left = view.limit.saturating_sub(state.turn);
    let tries: Vec<&Node> = state.nodes.iter().filter(|node| !node.is_search()).collect();
    if state.best().is_some_and(|best| best.standing == Standing::Solved) {
        return terminate(StopReason::GoalSatisfied, "a statement has rows");
    }
    if let Some(entry) = state.frontier.first() {
        return vec![select(entry)];
    }
    match tries.as_slice() {
        [] => before_a_try(view, state, branch, left, actions),
        [last] => after_a_try(view, state, branch, last, left),
        _ => terminate(StopReason::NoAdditionalEvidence, "the second try came to nothing either"),
    }
}

fn before_a_try(
    view: &View,
    state: &State,
    branch: &Branch,
    left: u32,
    actions: u32,
) -> Vec<Decision> {
    let searches = state.nodes.iter().filter(|node| node.is_search()).count();
    let may_search = left > 1;
    let first = pick_unused(words(view.problem), &state.used);
    if searches == 0 && may_search && !first.is_empty() {
        return vec![search(
            view,
            state,
            branch,
            1,
            &first,
            "columns",
            "lexical",
            "the question's own words",
        )];
    }
    let follow_up = state.nodes.iter().any(|node| node.is_search() && !node.after.is_empty());
    let follow_ups = if may_search && !follow_up {
        follow_ups(view, state, branch, actions)
    } else {
        Vec::new()
    };
    if follow_ups.is_empty() {
        vec![solve(view, state, branch, "what was found is all there is")]
    } else {
        follow_ups
    }
}

/// Returns, for each piece of evidence, a search for its words that were not used yet.
fn follow_ups(view: &View, state: &State, branch: &Branch, actions: u32) -> Vec<Decision> {
    let mut used = state.used.clone();
    let mut decisions = Vec::new();
    for piece in &branch.evidence {
        if decisions.len() >= actions as usize {
            break;
        }
        let text = format!("{} {}", piece.path, piece.snippet.as_deref().unwrap_or_default());
        let query = pick_unused(terms(&text), &used);
        if query.is_empty() {
            continue;
        }
        used.extend(query.iter().cloned());
        let number = decisions.len() as u32 + 1;
        let why = format!("follows {}", piece.path);
        let mut decision =
            search(view, state, branch, number, &query, "notes", "segment-fuzzy", &why);
        decision.node = branch.head.clone();
        decisions.push(decision);
    }
    decisions
}

fn after_a_try(
    view: &View,
    state: &State,
    branch: &Branch,
    tried: &Node,
    left: u32,
) -> Vec<Decision> {
    let place = state.nodes.iter().position(|node| node.id == tried.id).unwrap_or_default();
    let repairs = &state.nodes[place + 1..];
    if !repairs.is_empty() {
        if repairs.iter().all(|repair| repair.gained == 0) {
            return terminate(
                StopReason::NoAdditionalEvidence,
                "the search for the missing names found nothing new",
            );
        }
        return vec![solve(view, state, branch, "there is new evidence for a second try")];
    }
    if left < 2 {
        return terminate(StopReason::StepLimitReached, "no turn is left for a second try");
    }
    let query = pick_unused(missing_terms(view, branch, tried), &state.used);
    if query.is_empty() {
        return terminate(StopReason::NoFurtherQueries, "every word has been searched for");
    }
    vec![search(
        view,
        state,
        branch,
        1,
        &query,
        "columns",
        "path-fuzzy",
        "the names that the first try missed",
    )]
}

/// Returns the terms to look for after a try without rows: the names in its error, else those that
/// are left of the question and of the evidence.
fn missing_terms(view: &View, branch: &Branch, tried: &Node) -> Vec<String> {
    let ended = observation(view.seen, &tried.id);
    let said = ended.map(|ended| match &ended.ending {
        Ending::Failed(failure) => failure.message.clone(),
        Ending::Skipped(why) => why.clone(),
        _ => String::new(),
    });
    let names = names_of_error(&said.unwrap_or_default());
    if !names.is_empty() {
        return names;
    }
    let evidence = branch.evidence.iter().flat_map(|piece| terms(&piece.path));
    words(view.problem).into_iter().chain(evidence).collect()
}

/// The question's words first, then those of what came with it.
fn words(problem: &Problem) -> Vec<String> {
    let answers = problem.answers.iter().map(|(_, answer)| answer.as_str());
    let hints = problem.hints.iter().map(|hit| hit.path.as_str());
    let rest = problem
        .evidence
        .as_deref()
        .into_iter()
        .chain(problem.goal.as_deref())
        .chain(answers)
        .chain(hints);
    terms(&[problem.question.as_str()].into_iter().chain(rest).collect::<Vec<_>>().join(" "))
}

#[expect(clippy::too_many_arguments, reason = "a query has as many parts")]
fn search(
    view: &View,
    state: &State,
    branch: &Branch,
    number: u32,
    query: &[String],
    corpus: &str,
    retriever: &str,
    why: &str,
) -> Decision {
    Decision {
        branch: Some(branch.id.clone()),
        target_node: Some(free_id("s", number, view, state)),
        query: Some(query.join(" ")),
        corpus: Some(corpus.to_owned()),
        retriever: Some(retriever.to_owned()),
        rationale: Some(why.to_owned()),
        ..Decision::new(Action::Search)
    }
}

fn solve(view: &View, state: &State, branch: &Branch, why: &str) -> Decision {
    Decision {
        branch: Some(branch.id.clone()),
        target_node: Some(free_id("t", 1, view, state)),
        text: Some(view.problem.question.clone()),
        rationale: Some(why.to_owned()),
        ..Decision::new(Action::Continue)
    }
}

fn select(entry: &Entry) -> Decision {
    Decision {
        branch: Some(entry.branch.clone()),
        node: Some(entry.node.clone()),
        frontier: Some(entry.id.clone()),
        rationale: Some("it waits".to_owned()),
        ..Decision::new(Action::Select)
    }
}

fn terminate(reason: StopReason, why: &str) -> Vec<Decision> {
    vec![Decision {
        stop_reason: Some(reason),
        rationale: Some(why.to_owned()),
        ..Decision::new(Action::Terminate)
    }]
}

/// The `number`-th of `s1`, `s2` … that is no task's id.
pub(crate) fn free_id(head: &str, number: u32, view: &View, state: &State) -> String {
    let taken: Vec<String> = view
        .taken
        .iter()
        .chain(state.nodes.iter().map(|node| &node.id))
        .map(|id| fold_id(id))
        .collect();
    let free = (1_u32..)
        .map(|number| format!("{head}{number}"))
        .filter(|id| !taken.contains(&fold_id(id)));
    free.take(number as usize).last().unwrap_or_default()
}
