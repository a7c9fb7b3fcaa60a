//! The outcome: what the branches found, the best first.

use syrch_flows::SOLVER;
use syrch_plugin::attempt::nothing;
use syrch_plugin::prelude::*;
use syrch_plugin::text::count32;

use crate::branch::{Ballot, Branch, Passed, State};
use crate::join::vote;
use crate::settings::Common;

/// The least confidence in a result that was chosen among several.
const CHOSEN: f64 = 0.5;
/// The weight of the model's stated confidence against the agreement, as a number of further
/// branches.
const CLAIM_WEIGHT: f64 = 2.0;

/// One candidate for each result. Branches that never met are voted on here. Without a candidate,
/// an unavailable model or database and a used-up budget are failures, and everything else is an
/// empty outcome with the reason in its memo.
pub(crate) fn outcome(
    host: &impl SolverHost,
    common: &Common,
    task: &Task,
    branches: Vec<Branch>,
) -> Result<Outcome, Failure> {
    let dropped: Vec<&Branch> =
        branches.iter().filter(|branch| branch.final_ballot().best().is_none()).collect();
    let last: Vec<&Branch> =
        branches.iter().filter(|branch| branch.state != State::Joined).collect();
    let ballot = match last.as_slice() {
        [one] => one.final_ballot(),
        several => vote(several.iter().copied()),
    };
    if ballot.best().is_none() {
        let handed: Vec<&str> = branches
            .iter()
            .filter_map(|branch| match &branch.state {
                State::Handed(name) => Some(name.as_str()),
                _ => None,
            })
            .collect();
        if !handed.is_empty() {
            return Ok(Outcome { subtasks: hand_over(task, &handed), ..Outcome::default() });
        }
        let failure = last.iter().rev().find_map(|branch| match &branch.state {
            State::Failed(failure) => Some(failure.clone()),
            _ => None,
        });
        let why = last.iter().rev().map(|branch| branch.why.as_str()).find(|why| !why.is_empty());
        let why = why.unwrap_or("the model gave no statement");
        return failure.map_or_else(|| Ok(nothing(host, why)), Err);
    }
    if let Some(why) = dropped.last().map(|branch| &branch.why) {
        let branches = if dropped.len() == 1 {
            "1 branch was".to_owned()
        } else {
            format!("{} branches were", dropped.len())
        };
        host.note(Level::Info, &format!("{}: {branches} dropped: {why}", task.id));
    }
    Ok(Outcome { candidates: elect(host, common, &ballot), ..Outcome::default() })
}

/// The tasks that replace this one: one for each plugin that it is handed to, and of several a
/// choice of the result with the highest confidence.
fn hand_over(task: &Task, handed: &[&str]) -> Vec<Task> {
    let mut names: Vec<&str> = handed.to_vec();
    names.sort_unstable();
    names.dedup();
    let mut tasks: Vec<Task> = names
        .iter()
        .enumerate()
        .map(|(place, name): (usize, &&str)| Task {
            depends_on: Vec::new(),
            ..solver_task(task, format!("S{}", place + 1), name)
        })
        .collect();
    if tasks.len() > 1 {
        let depends_on = tasks.iter().map(|task| task.id.clone()).collect();
        let choice = Task {
            operation: Operation::Choose,
            join: Join::AnyOf,
            depends_on,
            ..Task::new("best", &task.text)
        };
        tasks.push(choice);
    }
    tasks
}

/// The task of the plugin of a node.
pub(crate) fn solver_task(task: &Task, id: String, node: &str) -> Task {
    Task { id, operation: Operation::Other(format!("{SOLVER}{node}")), ..task.clone() }
}

/// The first statement of each result stands for it.
fn elect(host: &impl SolverHost, common: &Common, ballot: &Ballot) -> Vec<Candidate> {
    let most = ballot.groups.first().map_or(0, Vec::len);
    let mut candidates: Vec<Candidate> = Vec::new();
    for group in &ballot.groups {
        let Some((one, twins)) = group.split_first() else { continue };
        let id = &one.candidate.id;
        for twin in twins {
            host.discard(&twin.candidate.id, &format!("it has the same result as {id}"));
        }
        match candidates.first() {
            None => {
                let doubts =
                    one.ran.doubts.iter().map(|doubt| format!("; {doubt}")).collect::<String>();
                host.keep(id, &format!("{}{doubts}", won(ballot, one, group.len())));
            }
            Some(best) if ballot.is_chosen => host.discard(id, &format!("{} was chosen", best.id)),
            Some(best) if group.len() < most => {
                host.discard(
                    id,
                    &format!("{} for it, where {most} are for {}", group.len(), best.id),
                );
            }
            Some(best) => host.discard(id, &format!("as common as {}, but later", best.id)),
        }
        let is_chosen = ballot.is_chosen && candidates.is_empty();
        candidates.push(claim(common, one, group, ballot.replied, is_chosen));
    }
    candidates
}

fn won(ballot: &Ballot, one: &Passed, size: usize) -> String {
    let signals = &one.candidate.signals;
    match ballot.replied {
        0 | 1 => format!("it executed at attempt {} of {}", signals.attempts, signals.max_attempts),
        replied if ballot.is_chosen => {
            format!(
                "chosen among {} results; {size} of {replied} branches have it",
                ballot.groups.len()
            )
        }
        replied => format!("{size} of {replied} branches agree"),
    }
}

/// Adds the raw confidence: the share of branches that agree, with what the model states, or, for a
/// single one, what the model stated or the settings say.
fn claim(
    common: &Common,
    one: &Passed,
    group: &[Passed],
    replied: u32,
    is_chosen: bool,
) -> Candidate {
    let mut candidate = one.candidate.clone();
    let confidence = if replied > 1 {
        candidate.signals.samples = replied;
        candidate.signals.agreeing = count32(group.len());
        let share = agreement(group, replied);
        if is_chosen { share.max(CHOSEN) } else { share }
    } else {
        let is_empty = candidate.signals.empty_result;
        let unstated = if is_empty { common.unstated } else { common.unstated_with_rows };
        candidate.raw_confidence.unwrap_or(unstated)
    };
    candidate.raw_confidence = Some(one.ran.limit(confidence));
    candidate
}

/// The share of branches that agree. The mean confidence that the model states for them counts as
/// [`CLAIM_WEIGHT`] further branches in the place of one.
fn agreement(group: &[Passed], replied: u32) -> f64 {
    let agreeing = group.len() as f64;
    let stated: Vec<f64> = group.iter().filter_map(|one| one.candidate.raw_confidence).collect();
    if stated.is_empty() {
        return agreeing / f64::from(replied);
    }
    let claim = stated.iter().sum::<f64>() / stated.len() as f64;
    (agreeing - 1.0 + CLAIM_WEIGHT * claim) / (f64::from(replied) - 1.0 + CLAIM_WEIGHT)
}
