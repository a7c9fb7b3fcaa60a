//! From groups of equal results to an outcome: the reward may take results out, and people are told what became of every draw. How far the
//! candidates are trusted is the host's to say, from the strategy's own confidence.

use std::collections::BTreeMap;

use serde_json::json;

use super::pool::{Cluster, Draw, Pool};
use super::{Drawing, Sampler, Stopped};
use crate::attempt::candidate_id;
use crate::prelude::*;
use crate::text::line;

/// A group of equal results and how it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// The group; its earliest member becomes the candidate.
    pub cluster: Cluster,
    /// The strategy's own confidence in it, 0 to 1.
    pub confidence: f64,
    /// What speaks for it, in words: `3 of 5 results`.
    pub told: String,
}

/// A sampler that can say which result it would take.
pub trait Voter: Sampler {
    /// The groups that may win, best first. None when nothing that was drawn can stand.
    fn standings(&self, pool: &Pool) -> Vec<Standing>;
}

/// Draws, votes, asks the reward about the results, goes on drawing where it rejected one, and returns one candidate for each result
/// that is left, best first. The reward sees each result once. With nothing to return, an outage or a spent budget is a failure, and
/// anything else an honest empty outcome.
///
/// # Errors
/// What kept the model or the database from giving even one statement.
pub fn elect<H: Wait + Llm + Inspect + Sql + Evaluate + Trace>(
    host: &H,
    task: &Task,
    most: u32,
    overflow_rows: u64,
    voter: &mut impl Voter,
) -> Result<Outcome, Failure> {
    let mut drawing = Drawing::new(host, task, most, overflow_rows);
    let mut stopped = drawing.run(voter);
    let mut verdicts = Verdicts::default();
    loop {
        let standings = voter.standings(&drawing.pool);
        let poll = Poll { host, task, most, pool: &drawing.pool };
        if standings.is_empty() {
            poll.tell(&standings);
            return poll.nothing(stopped, drawing.started());
        }
        let candidates: Vec<Candidate> = standings.iter().filter_map(|standing| poll.candidate(standing)).collect();
        verdicts.ask(host, task, &standings, &candidates);
        let rejections = verdicts.rejections(&standings);
        if rejections.is_empty() {
            let short = match &stopped {
                Stopped::Done => None,
                // A model without more to say is nothing to warn of.
                Stopped::Abstained(why) => Some((Level::Info, why)),
                Stopped::Failed(failure) => Some((Level::Warn, &failure.message)),
            };
            if let Some((level, why)) = short {
                host.note(level, &format!("{}: going on with what there is: {why}", task.id));
            }
            poll.tell(&standings);
            return Ok(poll.outcome(candidates, &standings, &verdicts));
        }
        for (fingerprint, reason) in rejections {
            drawing.pool.reject(&fingerprint, &reason);
        }
        if stopped == Stopped::Done {
            stopped = drawing.run(voter);
        }
    }
}

// What the reward said, by the results' fingerprints.
#[derive(Default)]
struct Verdicts(BTreeMap<String, Verdict>);

impl Verdicts {
    /// Asks about the results that it does not know yet, all at once. Without a reward they stand as they are.
    fn ask(&mut self, host: &(impl Evaluate + Trace), task: &Task, standings: &[Standing], candidates: &[Candidate]) {
        let all = standings.iter().map(|standing| &standing.cluster.fingerprint).zip(candidates);
        let (fresh, asked): (Vec<&String>, Vec<Candidate>) = all
            .filter(|(known, _)| !self.0.contains_key(*known))
            .map(|(new, candidate)| (new, candidate.clone()))
            .unzip();
        if asked.is_empty() {
            return;
        }
        match host.reward(&asked) {
            Ok(verdicts) => self.0.extend(fresh.into_iter().cloned().zip(verdicts)),
            Err(error) => {
                host.note(Level::Info, &format!("{}: no result was judged: {}", task.id, port_failure(&error).message))
            }
        }
    }

    fn rejections(&self, standings: &[Standing]) -> Vec<(String, String)> {
        let rejection = |standing: &Standing| match self.0.get(&standing.cluster.fingerprint)? {
            Verdict::Rejected(opinion) => Some((standing.cluster.fingerprint.clone(), opinion.reason.clone())),
            // A judge that cannot judge is neither a yes nor a no.
            Verdict::Accepted(_) | Verdict::Unavailable(_) => None,
        };
        standings.iter().filter_map(rejection).collect()
    }
}

struct Poll<'a, H> {
    host: &'a H,
    task: &'a Task,
    most: u32,
    pool: &'a Pool,
}

impl<H: Trace> Poll<'_, H> {
    fn candidate(&self, standing: &Standing) -> Option<Candidate> {
        let draw = self.pool.draw(standing.cluster.first())?;
        let mut candidate = self.pool.candidate(self.task, draw, self.most);
        candidate.raw_confidence = Some(standing.confidence);
        candidate.rationale = Some(standing.told.clone());
        candidate.signals.samples = self.pool.ran();
        candidate.signals.agreeing = u32::try_from(standing.cluster.members.len()).unwrap_or(u32::MAX);
        Some(candidate)
    }

    fn outcome(&self, mut candidates: Vec<Candidate>, standings: &[Standing], verdicts: &Verdicts) -> Outcome {
        for (candidate, standing) in candidates.iter_mut().zip(standings) {
            if let Some(Verdict::Accepted(opinion)) = verdicts.0.get(&standing.cluster.fingerprint) {
                candidate.score = Some(opinion.score);
                candidate.signals.reward = Some(opinion.score);
            }
        }
        Outcome { candidates, ..Outcome::default() }
    }

    /// Says of each statement that ran why it was kept or dropped; what was wrong with the others was said when they came.
    fn tell(&self, standings: &[Standing]) {
        for draw in self.pool.draws().iter().filter(|draw| draw.ran().is_some()) {
            let id = candidate_id(&self.task.id, draw.number);
            match standings.iter().position(|standing| standing.cluster.members.contains(&draw.number)) {
                Some(0) if standings[0].cluster.first() == draw.number => self.host.keep(&id, &standings[0].told),
                Some(place) => self.host.discard(&id, &self.beaten(draw, &standings[place], &standings[0])),
                None => self.host.discard(&id, &self.out(draw)),
            }
        }
    }

    fn beaten(&self, draw: &Draw, own: &Standing, best: &Standing) -> String {
        let id = |standing: &Standing| candidate_id(&self.task.id, standing.cluster.first());
        if own.cluster.first() == draw.number {
            format!("{}, where {} has {}", own.told, id(best), best.told)
        } else {
            format!("the same result as {}", id(own))
        }
    }

    fn out(&self, draw: &Draw) -> String {
        self.pool.wrong(draw, false).unwrap_or_else(|| "it has no vote".to_owned())
    }

    fn nothing(&self, stopped: Stopped, started: u32) -> Result<Outcome, Failure> {
        let why = match stopped {
            Stopped::Failed(failure) => return Err(failure),
            Stopped::Abstained(why) => why,
            Stopped::Done => {
                let last = self.pool.tried(false).pop();
                let last = last.map_or_else(|| "the model gave no statement".to_owned(), |tried| tried.wrong);
                format!("no statement did after {started} of {} attempts: {last}", self.most)
            }
        };
        // The host tells the user the last warning when a task comes to nothing; the clarifier reads the memo.
        self.host.note(Level::Warn, &why);
        Ok(Outcome { memo: Some(json!({ "reason": line(&why, 600) }).to_string()), ..Outcome::default() })
    }
}
