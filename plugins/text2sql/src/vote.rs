//! The outcome: the most common result of the tries that did not fail.

use serde_json::json;
use syrch_plugin::prelude::*;
use syrch_plugin::text::line;

use crate::Habits;
use crate::work::{Passed, State};

/// One candidate for each result, the most common first. With none, an outage or a spent budget is a failure, and anything else an honest
/// empty outcome whose memo says why.
pub(crate) fn outcome(
    host: &impl SolverHost,
    habits: &Habits,
    task: &Task,
    states: Vec<State>,
) -> Result<Outcome, Failure> {
    let mut passed: Vec<Passed> = Vec::new();
    let (mut dropped, mut lost, mut failed) = (Vec::new(), 0, None);
    for state in states {
        match state {
            State::Passed(one) => passed.push(*one),
            State::Lost(why) => {
                lost += 1;
                dropped.push(why);
            }
            State::Silent(why) => dropped.push(why),
            State::Failed(failure) => {
                dropped.push(failure.message.clone());
                failed = Some(failure);
            }
            State::Open => {}
        }
    }
    if passed.is_empty() {
        return failed.map_or_else(|| Ok(nothing(host, dropped)), Err);
    }
    if let Some(why) = dropped.last() {
        let tries = if dropped.len() == 1 { "1 try was".to_owned() } else { format!("{} tries were", dropped.len()) };
        host.note(Level::Info, &format!("{}: {tries} dropped: {why}", task.id));
    }
    let heard = counted(passed.len()) + lost;
    Ok(Outcome { candidates: elected(host, habits, passed, heard), ..Outcome::default() })
}

fn nothing(host: &impl SolverHost, dropped: Vec<String>) -> Outcome {
    let why = dropped.into_iter().next_back().unwrap_or_else(|| "the model gave no statement".to_owned());
    // The host tells the user the last warning when a task comes to nothing; the clarifier reads the memo.
    host.note(Level::Warn, &why);
    Outcome { memo: Some(json!({ "reason": line(&why, 600) }).to_string()), ..Outcome::default() }
}

/// The first try of each result with the number that agree on it: the most common first, and of equally common ones the earliest.
fn grouped(host: &impl SolverHost, passed: Vec<Passed>) -> Vec<(Passed, u32)> {
    let mut groups: Vec<(String, Passed, u32)> = Vec::new();
    for one in passed {
        // A host that knows no fingerprint leaves each text its own result.
        let mark = one.results.fingerprint(&Equality::Bag).unwrap_or_else(|| format!("text {}", one.candidate.sql));
        match groups.iter_mut().find(|(known, ..)| *known == mark) {
            Some((_, first, size)) => {
                let why = format!("it has the same result as {}", first.candidate.id);
                host.discard(&one.candidate.id, &why);
                *size += 1;
            }
            None => groups.push((mark, one, 1)),
        }
    }
    groups.sort_by_key(|(_, _, size)| std::cmp::Reverse(*size));
    groups.into_iter().map(|(_, first, size)| (first, size)).collect()
}

fn elected(host: &impl SolverHost, habits: &Habits, passed: Vec<Passed>, heard: u32) -> Vec<Candidate> {
    let mut candidates: Vec<Candidate> = Vec::new();
    let mut most = 0;
    for (one, size) in grouped(host, passed) {
        let doubts = one.doubts.iter().map(|doubt| format!("; {doubt}")).collect::<String>();
        match candidates.first() {
            None => {
                most = size;
                host.keep(&one.candidate.id, &format!("{}{doubts}", won(&one.candidate, size, heard)));
            }
            Some(best) if size < most => {
                host.discard(&one.candidate.id, &format!("{size} for it, where {most} are for {}", best.id));
            }
            Some(best) => host.discard(&one.candidate.id, &format!("as common as {}, but later", best.id)),
        }
        candidates.push(claimed(habits, one, size, heard));
    }
    candidates
}

fn won(candidate: &Candidate, size: u32, heard: u32) -> String {
    match heard {
        0 | 1 => format!("it executed at attempt {} of {}", candidate.signals.attempts, candidate.signals.max_attempts),
        heard => format!("{size} of {heard} tries agree"),
    }
}

/// The raw confidence is the share of tries that agree; a single try, of whose statement the model says nothing, has the number of PocketFlow's workflow.
fn claimed(habits: &Habits, one: Passed, size: u32, heard: u32) -> Candidate {
    let mut candidate = one.candidate;
    if heard > 1 {
        candidate.signals.samples = heard;
        candidate.signals.agreeing = size;
        candidate.raw_confidence = Some(f64::from(size) / f64::from(heard));
    } else {
        let is_empty = candidate.signals.empty_result;
        candidate.raw_confidence = Some(if is_empty { habits.unstated } else { habits.unstated_with_rows });
    }
    candidate
}

fn counted(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
