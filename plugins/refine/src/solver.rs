//! The loop of attempts at one task.

use syrch_plugin::attempt::{
    Chain, Ended, Ran, Statement, Trials, Written, accept, candidate_id, carry_on,
    judge_candidates, nothing, rejection, too_large, written,
};
use syrch_plugin::brief::Brief;
use syrch_plugin::prelude::*;

use crate::{Refine, Settings};

impl SolverRole for Refine {
    fn solve(
        &self,
        host: &impl SolverHost,
        problem: &Problem,
        catalog: &Catalog,
        task: &Task,
        parents: &[Parent],
    ) -> Result<Outcome, Failure> {
        Attempts {
            host,
            settings: &self.settings,
            task,
            brief: Brief::new(host, &self.settings, problem, catalog, task, parents),
            high_confidence: host.policy().high_confidence,
            chain: Chain::new(host.attempts()),
            trials: Trials::new(self.settings.overflow_rows),
            accepted: Vec::new(),
        }
        .run()
    }
}

/// The step that follows an attempt.
enum Next {
    Repair,
    /// The last statement is trusted, or the model repeats one.
    Enough,
    /// The model abstains, which is not a failure.
    Abstained(String),
    Failed(Failure),
}

/// The state of one task's loop.
struct Attempts<'a, H> {
    host: &'a H,
    settings: &'a Settings,
    task: &'a Task,
    brief: Brief<'a>,
    high_confidence: f64,
    chain: Chain,
    trials: Trials,
    /// Candidates that ran and were not rejected.
    accepted: Vec<Candidate>,
}

impl<H: SolverHost> Attempts<'_, H> {
    /// Makes attempts until a statement is trusted, none is left, or no more can be made. Returns
    /// what ran by then, best first; without anything, an unavailable model or database and a
    /// used-up budget are failures, and everything else is an empty outcome.
    fn run(mut self) -> Result<Outcome, Failure> {
        let mut next = Next::Repair;
        for number in 1..=self.chain.signals.max_attempts {
            next = self.attempt(number);
            if !matches!(next, Next::Repair) {
                break;
            }
        }
        match next {
            Next::Failed(failure) if self.accepted.is_empty() => return Err(failure),
            Next::Abstained(why) if self.accepted.is_empty() => {
                return Ok(nothing(self.host, &why));
            }
            _ if self.accepted.is_empty() => {
                let last = self
                    .chain
                    .tried
                    .last()
                    .map_or("the model gave no statement", |tried| tried.wrong.as_str());
                let Signals { attempts, max_attempts, .. } = self.chain.signals;
                let why =
                    format!("no statement did after {attempts} of {max_attempts} attempts: {last}");
                return Ok(nothing(self.host, &why));
            }
            Next::Failed(failure) => carry_on(self.host, self.task, Level::Warn, &failure.message),
            _ => {}
        }
        rank(&mut self.accepted);
        log(self.host, &self.accepted);
        Ok(Outcome { candidates: self.accepted, ..Outcome::default() })
    }

    fn attempt(&mut self, number: u32) -> Next {
        // A repair has the sample number of the statement that it repairs.
        let sample = (number - 1).saturating_sub(self.chain.statements() as u32);
        let request = self.brief.request(&self.chain.tried, sample);
        self.chain.signals.attempts = number;
        match written(self.host.complete(&request)) {
            Written::Statement(statement) => self.test(number, statement),
            Written::NoStatement(wrong) => {
                self.chain.fail_without_statement(wrong);
                Next::Repair
            }
            // A prompt that was too long is no attempt.
            Written::TooLarge if self.brief.shorten() => self.attempt(number),
            Written::TooLarge => Next::Failed(too_large()),
            Written::Abstained(why) => Next::Abstained(why),
            Written::Failed(failure) => Next::Failed(failure),
        }
    }

    /// Has a statement run, judged and calibrated.
    fn test(&mut self, number: u32, mut statement: Statement) -> Next {
        if self.accepted.iter().any(|earlier| earlier.sql == statement.sql) {
            self.host
                .note(Level::Debug, &format!("{}: the model repeats its statement", self.task.id));
            return Next::Enough;
        }
        // What stopped the database is in the trial, too.
        let _ = self.trials.run(self.host, [statement.sql.as_str()]);
        let Some(trial) = self.trials.get(&statement.sql).cloned() else { return Next::Repair };
        let has_rows = trial.ended.ran().is_some_and(|ran| ran.profile.rows > 0);
        let unstated =
            if has_rows { self.settings.unstated_with_rows } else { self.settings.unstated };
        statement.confidence = statement.confidence.or(Some(unstated));
        let id = candidate_id(&self.task.id, number);
        let origin = self.chain.origin();
        let candidate = self.chain.candidate(id, origin, statement, &trial.signals);
        self.host.propose(&candidate);
        match (trial.stopped, &trial.ended) {
            (Some(failure), _) => {
                self.host.discard(&candidate.id, &failure.message);
                Next::Failed(failure)
            }
            (None, Ended::Failed(wrong)) => self.drop(&candidate, wrong.clone()),
            (None, Ended::Ran(ran)) => self.judge(candidate, ran),
        }
    }

    fn judge(&mut self, mut candidate: Candidate, ran: &Ran) -> Next {
        match judge_candidates(self.host, self.task, std::slice::from_ref(&candidate)).first() {
            Some(Verdict::Rejected(opinion)) => return self.drop(&candidate, rejection(opinion)),
            Some(Verdict::Accepted(opinion)) => accept(&mut candidate, opinion),
            Some(Verdict::Unavailable(_)) | None => {}
        }
        let confidence = ran.limit(self.calibrate_candidate(&candidate));
        candidate.confidence = Some(confidence);
        let sql = candidate.sql.clone();
        self.accepted.push(candidate);
        if confidence >= self.high_confidence {
            return Next::Enough;
        }
        let trust = format!(
            "it ran, but is trusted only {confidence:.2} where {:.2} is asked for",
            self.high_confidence
        );
        let doubts = ran.doubts.iter().map(|doubt| format!("{doubt}; ")).collect::<String>();
        self.chain.fail(&sql, doubts + &trust);
        Next::Repair
    }

    fn drop(&mut self, candidate: &Candidate, wrong: String) -> Next {
        self.host.discard(&candidate.id, &wrong);
        self.chain.fail(&candidate.sql, wrong);
        Next::Repair
    }

    /// The calibrated confidence, or the stated one without a calibrator.
    fn calibrate_candidate(&self, candidate: &Candidate) -> f64 {
        let raw = candidate.raw_confidence.unwrap_or(self.settings.unstated);
        let answer = self.host.calibrate(&[(raw, candidate.signals.clone())]);
        answer
            .ok()
            .and_then(|numbers| numbers.first().copied())
            .filter(|number| number.is_finite())
            .unwrap_or(raw)
    }
}

/// Most trusted first; of equally trusted ones that with fewer tokens, and then the earlier one.
fn rank(candidates: &mut [Candidate]) {
    candidates.sort_by(|a, b| {
        b.sureness().total_cmp(&a.sureness()).then_with(|| a.tokens().total_cmp(&b.tokens()))
    });
}

/// Logs which candidate was chosen and why the others were not.
fn log(host: &impl Trace, ranked: &[Candidate]) {
    let Some((best, others)) = ranked.split_first() else { return };
    let why = match others.len() + 1 {
        1 => "the only statement that ran".to_owned(),
        all => format!("the most trusted of {all} statements that ran"),
    };
    host.keep(&best.id, &why);
    for other in others {
        let why = if other.sureness() < best.sureness() {
            format!(
                "confidence {:.2} is below the {:.2} of {}",
                other.sureness(),
                best.sureness(),
                best.id
            )
        } else if other.tokens() > best.tokens() {
            format!("as trusted as {}, but of more tokens", best.id)
        } else {
            format!("as trusted as {}, but later", best.id)
        };
        host.discard(&other.id, &why);
    }
}
