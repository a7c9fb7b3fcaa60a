//! The loop of one task.

use serde_json::json;
use syrch_plugin::attempt::{Trial, candidate_id, trial};
use syrch_plugin::brief::{Brief, Tried};
use syrch_plugin::failure::llm_words;
use syrch_plugin::prelude::*;
use syrch_plugin::replies::{SqlReply, sql_reply};
use syrch_plugin::text::line;

use crate::Habits;
use crate::rank::{rank, tell};

/// What to do after an attempt.
enum Next {
    Again,
    /// Enough, or nothing more to gain.
    Enough,
    /// The model abstains, which is not a failure.
    Abstained(String),
    Failed(Failure),
}

/// The state of one task's loop.
pub(crate) struct Search<'a, H> {
    host: &'a H,
    habits: &'a Habits,
    task: &'a Task,
    brief: Brief<'a>,
    policy: Policy,
    /// Counts over all attempts so far.
    signals: Signals,
    /// Every statement so far with what was wrong, the oldest first.
    tried: Vec<Tried>,
    /// Candidates that ran and were not rejected.
    kept: Vec<Candidate>,
    last_id: Option<String>,
}

impl<'a, H: SolverHost> Search<'a, H> {
    pub(crate) fn new(host: &'a H, habits: &'a Habits, task: &'a Task, brief: Brief<'a>) -> Self {
        let policy = host.policy();
        let signals = Signals { max_attempts: policy.max_attempts.max(1), ..Signals::default() };
        Self { host, habits, task, brief, policy, signals, tried: Vec::new(), kept: Vec::new(), last_id: None }
    }

    /// Attempts until one is trusted, none is left, or no more can be made. Whatever ran by then is returned, best first; with nothing
    /// to return, an outage or a spent budget is a failure, and anything else an honest empty outcome.
    pub(crate) fn run(mut self) -> Result<Outcome, Failure> {
        let mut ended = Next::Again;
        for number in 1..=self.signals.max_attempts {
            ended = self.attempt(number);
            if !matches!(ended, Next::Again) {
                break;
            }
        }
        if self.kept.is_empty() {
            return self.nothing(ended);
        }
        if let Next::Failed(failure) = &ended {
            self.host.note(Level::Warn, &format!("{}: going on with what there is: {}", self.task.id, failure.message));
        }
        rank(&mut self.kept);
        tell(self.host, &self.kept);
        Ok(Outcome { candidates: self.kept, ..Outcome::default() })
    }

    fn nothing(self, ended: Next) -> Result<Outcome, Failure> {
        let why = match ended {
            Next::Failed(failure) => return Err(failure),
            Next::Abstained(why) => why,
            Next::Again | Next::Enough => {
                let last = self.tried.last().map_or("the model gave no statement", |tried| tried.wrong.as_str());
                format!(
                    "no statement did after {} of {} attempts: {last}",
                    self.signals.attempts, self.signals.max_attempts
                )
            }
        };
        // The host tells the user the last warning when a task comes to nothing; the clarifier reads the memo.
        self.host.note(Level::Warn, &why);
        Ok(Outcome { memo: Some(json!({ "reason": line(&why, 600) }).to_string()), ..Outcome::default() })
    }

    fn attempt(&mut self, number: u32) -> Next {
        // A repair is of the draw that it repairs.
        let repaired = self.tried.iter().filter(|tried| !tried.sql.is_empty()).count() as u32;
        let request = self.brief.request(&self.tried, (number - 1).saturating_sub(repaired));
        let origin = if request.purpose == Purpose::Repair { "repair" } else { "generate" };
        self.signals.attempts = number;
        match self.host.complete(&request) {
            Ok(reply) => match sql_reply(&reply) {
                Some(statement) => self.weigh(number, origin, statement, &reply),
                None => self.no_statement("the reply held no statement".to_owned()),
            },
            Err(LlmError::Malformed(start)) => {
                self.no_statement(format!("the reply held no statement; it began: {}", line(&start, 200)))
            }
            Err(LlmError::TooLarge) if self.brief.shorten() => Next::Again,
            Err(error @ (LlmError::Refused(_) | LlmError::Unsupported(_))) => Next::Abstained(llm_words(&error)),
            Err(error) => Next::Failed(llm_failure(&error)),
        }
    }

    fn no_statement(&mut self, wrong: String) -> Next {
        self.signals.syntax_errors += 1;
        self.tried.push(Tried { sql: String::new(), wrong });
        Next::Again
    }

    /// Takes a statement through the database, the reward and the calibrator.
    fn weigh(&mut self, number: u32, origin: &str, statement: SqlReply, reply: &Reply) -> Next {
        if self.kept.iter().any(|earlier| earlier.sql == statement.sql) {
            self.host.note(Level::Debug, &format!("{}: the model stands by its statement", self.task.id));
            return Next::Enough;
        }
        let mut signals = self.signals.clone();
        let outcome = trial(self.host, self.habits.overflow_rows, &statement.sql, &mut signals);
        self.remember(&signals);
        let usage = f64::from(reply.usage.input_tokens) + f64::from(reply.usage.output_tokens);
        signals.logprob = reply.logprob;
        signals.extra.push(("tokens".to_owned(), usage));
        let rows = if let Trial::Ran { profile, .. } = &outcome { profile.rows } else { 0 };
        let candidate = self.candidate(number, origin, statement, rows, signals);
        self.host.propose(&candidate);
        match outcome {
            Trial::Ran { doubts, .. } => self.judge(candidate, &doubts),
            Trial::Failed(wrong) => self.drop(&candidate, wrong),
            Trial::Over(failure) => {
                self.host.discard(&candidate.id, &failure.message);
                Next::Failed(failure)
            }
        }
    }

    /// Errors add up over the attempts; what a result looked like is that result's alone.
    fn remember(&mut self, signals: &Signals) {
        self.signals.syntax_errors = signals.syntax_errors;
        self.signals.schema_errors = signals.schema_errors;
        self.signals.execution_errors = signals.execution_errors;
    }

    fn candidate(&mut self, number: u32, origin: &str, statement: SqlReply, rows: u64, signals: Signals) -> Candidate {
        let unstated = if rows > 0 { self.habits.unstated_with_rows } else { self.habits.unstated };
        let id = candidate_id(&self.task.id, number);
        let parents = self.last_id.replace(id.clone()).into_iter().collect();
        Candidate {
            id,
            parents,
            origin: origin.to_owned(),
            sql: statement.sql,
            raw_confidence: Some(statement.confidence.unwrap_or(unstated)),
            signals,
            ..Candidate::default()
        }
    }

    fn judge(&mut self, mut candidate: Candidate, doubts: &[String]) -> Next {
        match self.verdict(&candidate) {
            Some(Verdict::Rejected(opinion)) => {
                return self.drop(&candidate, format!("rejected: {}", line(&opinion.reason, 400)));
            }
            Some(Verdict::Accepted(opinion)) => {
                candidate.score = Some(opinion.score);
                candidate.signals.reward = Some(opinion.score);
            }
            // A judge that cannot judge is neither a yes nor a no.
            Some(Verdict::Unavailable(_)) | None => {}
        }
        let confidence = self.calibrated(&candidate);
        candidate.confidence = Some(confidence);
        let sql = candidate.sql.clone();
        self.kept.push(candidate);
        if confidence >= self.policy.high_confidence {
            return Next::Enough;
        }
        self.tried.push(Tried { sql, wrong: self.unsure(confidence, doubts) });
        Next::Again
    }

    fn unsure(&self, confidence: f64, doubts: &[String]) -> String {
        let trust = format!(
            "it ran, but is trusted only {confidence:.2} where {:.2} is asked for",
            self.policy.high_confidence
        );
        if doubts.is_empty() { trust } else { format!("{}; {trust}", doubts.join("; ")) }
    }

    fn drop(&mut self, candidate: &Candidate, wrong: String) -> Next {
        self.host.discard(&candidate.id, &wrong);
        self.tried.push(Tried { sql: candidate.sql.clone(), wrong });
        Next::Again
    }

    fn verdict(&self, candidate: &Candidate) -> Option<Verdict> {
        self.host.reward(std::slice::from_ref(candidate)).ok()?.into_iter().next()
    }

    /// The calibrated confidence; the claim itself where no calibrator answers.
    fn calibrated(&self, candidate: &Candidate) -> f64 {
        let raw = candidate.raw_confidence.unwrap_or(self.habits.unstated);
        let answer = self.host.calibrate(&[(raw, candidate.signals.clone())]);
        answer.ok().and_then(|numbers| numbers.first().copied()).filter(|number| number.is_finite()).unwrap_or(raw)
    }
}
