//! Turns groups of equal results into an outcome: the reward may reject results, and the log states
//! what became of every draw. The host calibrates the confidence that the strategy states.

use std::collections::BTreeMap;

use super::pool::{Cluster, Draw, Pool};
use super::{Drawing, Sampler, Stopped};
use crate::attempt::{accept, candidate_id, carry_on, judge_candidates, nothing};
use crate::prelude::*;
use crate::text::count32;

/// A group of equal results with its place in the vote.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// The group; its earliest member becomes the candidate.
    pub cluster: Cluster,
    /// The strategy's own confidence in it, 0 to 1.
    pub confidence: f64,
    /// The reason in words: `3 of 5 results`.
    pub reason: String,
}

/// A sampler that orders the results.
pub trait Voter: Sampler {
    /// The groups that may win, best first; empty if no draw is acceptable.
    fn standings(&self, pool: &Pool) -> Vec<Standing>;
}

/// Draws, votes, has the reward judge the results, draws again if it rejected one, and returns one
/// candidate for each remaining result, best first. The reward judges each result once. Without a
/// candidate, an unavailable model or database and a used-up budget are failures, and everything
/// else is an empty outcome.
///
/// # Errors
/// Fails if the model or the database did not give even one acceptable statement.
pub fn elect<H: Wait + Llm + Inspect + Sql + Rows + Cells + Evaluate + Trace>(
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
            poll.log(&standings);
            return poll.fail_without_vote(stopped, drawing.draw_count());
        }
        let candidates: Vec<Candidate> =
            standings.iter().filter_map(|standing| poll.candidate(standing)).collect();
        verdicts.ask(host, task, &standings, &candidates);
        let rejections = verdicts.rejections(&standings);
        if rejections.is_empty() {
            match &stopped {
                Stopped::Done => {}
                // That a model has no more statements is nothing to warn of.
                Stopped::Abstained(why) => carry_on(host, task, Level::Info, why),
                Stopped::Failed(failure) => carry_on(host, task, Level::Warn, &failure.message),
            }
            poll.log(&standings);
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

// The reward's verdicts by the fingerprints of the results.
#[derive(Default)]
struct Verdicts(BTreeMap<String, Verdict>);

impl Verdicts {
    /// Has the results judged that were not judged yet, together. Without a reward they stay as
    /// they are.
    fn ask(
        &mut self,
        host: &(impl Evaluate + Trace),
        task: &Task,
        standings: &[Standing],
        candidates: &[Candidate],
    ) {
        let all = standings.iter().map(|standing| &standing.cluster.fingerprint).zip(candidates);
        let (fresh, asked): (Vec<&String>, Vec<Candidate>) = all
            .filter(|(known, _)| !self.0.contains_key(*known))
            .map(|(new, candidate)| (new, candidate.clone()))
            .unzip();
        if asked.is_empty() {
            return;
        }
        self.0.extend(fresh.into_iter().cloned().zip(judge_candidates(host, task, &asked)));
    }

    fn rejections(&self, standings: &[Standing]) -> Vec<(String, String)> {
        standings
            .iter()
            .filter_map(|standing: &Standing| match self.0.get(&standing.cluster.fingerprint)? {
                Verdict::Rejected(opinion) => {
                    Some((standing.cluster.fingerprint.clone(), opinion.reason.clone()))
                }
                // A judge that cannot judge counts as neither acceptance nor rejection.
                Verdict::Accepted(_) | Verdict::Unavailable(_) => None,
            })
            .collect()
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
        let ran = draw.ran();
        candidate.raw_confidence =
            Some(ran.map_or(standing.confidence, |ran| ran.limit(standing.confidence)));
        candidate.rationale = Some(standing.reason.clone());
        candidate.signals.samples = self.pool.ran();
        candidate.signals.agreeing = count32(standing.cluster.members.len());
        Some(candidate)
    }

    fn outcome(
        &self,
        mut candidates: Vec<Candidate>,
        standings: &[Standing],
        verdicts: &Verdicts,
    ) -> Outcome {
        for (candidate, standing) in candidates.iter_mut().zip(standings) {
            if let Some(Verdict::Accepted(opinion)) = verdicts.0.get(&standing.cluster.fingerprint)
            {
                accept(candidate, opinion);
            }
        }
        Outcome { candidates, ..Outcome::default() }
    }

    /// Logs why each statement that ran was chosen or not; what was wrong with the others was
    /// logged when they failed.
    fn log(&self, standings: &[Standing]) {
        for draw in self.pool.draws().iter().filter(|draw| draw.ran().is_some()) {
            let id = candidate_id(&self.task.id, draw.number);
            match standings
                .iter()
                .position(|standing| standing.cluster.members.contains(&draw.number))
            {
                Some(0) if standings[0].cluster.first() == draw.number => {
                    self.host.keep(&id, &standings[0].reason)
                }
                Some(place) => {
                    self.host.discard(&id, &self.beaten(draw, &standings[place], &standings[0]))
                }
                None => self.host.discard(&id, &self.reason_without_vote(draw)),
            }
        }
    }

    fn beaten(&self, draw: &Draw, own: &Standing, best: &Standing) -> String {
        let id = |standing: &Standing| candidate_id(&self.task.id, standing.cluster.first());
        if own.cluster.first() == draw.number {
            format!("{}, where {} has {}", own.reason, id(best), best.reason)
        } else {
            format!("the same result as {}", id(own))
        }
    }

    fn reason_without_vote(&self, draw: &Draw) -> String {
        self.pool.unsound(draw, false).unwrap_or_else(|| "it has no vote".to_owned())
    }

    fn fail_without_vote(&self, stopped: Stopped, started: u32) -> Result<Outcome, Failure> {
        let why = match stopped {
            Stopped::Failed(failure) => return Err(failure),
            Stopped::Abstained(why) => why,
            Stopped::Done => {
                let last = self.pool.failures(false).pop();
                let last = last
                    .map_or_else(|| "the model gave no statement".to_owned(), |tried| tried.wrong);
                format!("no statement did after {started} of {} attempts: {last}", self.most)
            }
        };
        Ok(nothing(self.host, &why))
    }
}
