//! The outcome: the most common result of the tries that did not fail.

use syrch_plugin::attempt::nothing;
use syrch_plugin::draws::groups;
use syrch_plugin::prelude::*;
use syrch_plugin::text::count32;

use crate::Settings;
use crate::solver::work::{Passed, State};

/// One candidate for each result, the most common first. Without one, an unavailable model or database and a used-up budget are failures,
/// and everything else is an empty outcome with the reason in its memo.
pub(crate) fn outcome(
    host: &impl SolverHost,
    settings: &Settings,
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
            State::Abstained(why) => dropped.push(why),
            State::Failed(failure) => {
                dropped.push(failure.message.clone());
                failed = Some(failure);
            }
            State::Open => {}
        }
    }
    if passed.is_empty() {
        let why = dropped.pop().unwrap_or_else(|| "the model gave no statement".to_owned());
        return failed.map_or_else(|| Ok(nothing(host, &why)), Err);
    }
    if let Some(why) = dropped.last() {
        let tries = if dropped.len() == 1 { "1 try was".to_owned() } else { format!("{} tries were", dropped.len()) };
        host.note(Level::Info, &format!("{}: {tries} dropped: {why}", task.id));
    }
    let replied = count32(passed.len()) + lost;
    Ok(Outcome { candidates: elected(host, settings, &passed, replied), ..Outcome::default() })
}

/// The first try of each result represents it: the most common result first, and of equally common ones the earliest.
fn elected(host: &impl SolverHost, settings: &Settings, passed: &[Passed], replied: u32) -> Vec<Candidate> {
    let fingerprints: Vec<&str> = passed.iter().map(|one| one.ran.fingerprint.as_str()).collect();
    let groups = groups(&fingerprints);
    let most = groups.first().map_or(0, Vec::len);
    let mut candidates: Vec<Candidate> = Vec::new();
    for group in &groups {
        let (one, size) = (&passed[group[0]], group.len());
        let id = &one.candidate.id;
        for twin in &group[1..] {
            host.discard(&passed[*twin].candidate.id, &format!("it has the same result as {id}"));
        }
        match candidates.first() {
            None => {
                let doubts = one.ran.doubts.iter().map(|doubt| format!("; {doubt}")).collect::<String>();
                host.keep(id, &format!("{}{doubts}", won(&one.candidate, size, replied)));
            }
            Some(best) if size < most => {
                host.discard(id, &format!("{size} for it, where {most} are for {}", best.id));
            }
            Some(best) => host.discard(id, &format!("as common as {}, but later", best.id)),
        }
        let mut candidate = claimed(settings, one.candidate.clone(), count32(size), replied);
        candidate.raw_confidence = candidate.raw_confidence.map(|confidence| one.ran.limit(confidence));
        candidates.push(candidate);
    }
    candidates
}

fn won(candidate: &Candidate, size: usize, replied: u32) -> String {
    match replied {
        0 | 1 => format!("it executed at attempt {} of {}", candidate.signals.attempts, candidate.signals.max_attempts),
        replied => format!("{size} of {replied} tries agree"),
    }
}

/// Adds the raw confidence: the share of tries that agree, or, for a single try, the number of the settings, since the model states none.
fn claimed(settings: &Settings, mut candidate: Candidate, size: u32, replied: u32) -> Candidate {
    if replied > 1 {
        candidate.signals.samples = replied;
        candidate.signals.agreeing = size;
        candidate.raw_confidence = Some(f64::from(size) / f64::from(replied));
    } else {
        let is_empty = candidate.signals.empty_result;
        candidate.raw_confidence = Some(if is_empty { settings.unstated } else { settings.unstated_with_rows });
    }
    candidate
}
