//! One draft of a statement on its way through syntax repair, database and reward.

use syrch_plugin::attempt::{Ran, accept, candidate_id, is_over, record_error, words};
use syrch_plugin::brief::Tried;
use syrch_plugin::failure::llm_words;
use syrch_plugin::prelude::*;
use syrch_plugin::replies::{SqlReply, sql_reply};
use syrch_plugin::text::line;

use super::{Goal, Miss, Solve, Stop};
use crate::class::ErrorClass;
use crate::reward::{STEP, step_extra};
use crate::solver::branch::{Branch, Made, Standing, clip_names};

/// The reward of a statement that ran and was not judged, from the design document.
const UNJUDGED: f64 = 0.5;

/// The start of a draft.
pub(crate) struct Draft {
    /// The origin of its candidates.
    pub(crate) origin: &'static str,
    pub(crate) sample: u32,
    /// The earlier attempts at this goal.
    pub(crate) tried: Vec<Tried>,
    /// The candidate that it mends.
    pub(crate) after: Option<String>,
    /// Its first reply, where that was asked for together with others.
    pub(crate) reply: Option<Result<Reply, LlmError>>,
}

impl Draft {
    /// Creates the first draft for its goal.
    pub(crate) fn first(tried: Vec<Tried>) -> Self {
        let origin = if tried.is_empty() { "generate" } else { "second chance" };
        Self { origin, sample: 0, tried, after: None, reply: None }
    }

    /// Creates the draft of a candidate that is judged anew.
    pub(super) fn for_candidate(candidate: &str) -> Self {
        Self { after: Some(candidate.to_owned()), ..Self::first(Vec::new()) }
    }
}

/// The outcome of a draft.
pub(crate) enum Came {
    Succeeded(Made),
    Missed(Miss),
    /// Nothing more can be asked or run.
    Stopped,
}

/// The outcome of one statement of a draft.
enum Next {
    /// It does not parse: repair it.
    Repair(Miss),
    Ended(Came),
}

/// The verdict of the reward.
pub(super) enum Judged {
    Accepted(Opinion),
    Rejected(Opinion),
    Unjudged(String),
}

impl<H: SolverHost> Solve<'_, H> {
    /// Writes a statement for the goal, repairs its syntax, runs it, and has it judged.
    pub(super) fn attempt(&mut self, branch: &mut Branch, goal: Goal, mut draft: Draft) -> Came {
        let mut miss = None;
        for _ in 0..self.tries {
            if self.stop.is_some() {
                break;
            }
            let Some(reply) = self.reply(branch, goal, &mut draft) else {
                return if self.stop.is_some() {
                    Came::Stopped
                } else {
                    Came::Missed(abandon(draft, miss))
                };
            };
            let next = match reply.map(|reply| (sql_reply(&reply), reply)) {
                Ok((Some(statement), reply)) => {
                    self.weigh(branch, goal, &mut draft, statement, &reply)
                }
                Ok((None, reply)) => self.no_statement(branch, &mut draft, &reply.text),
                Err(start) => self.no_statement(branch, &mut draft, &start),
            };
            match next {
                Next::Ended(came) => return came,
                Next::Repair(missed) => miss = Some(missed),
            }
            draft.origin = "repair";
        }
        miss.map_or(Came::Stopped, Came::Missed)
    }

    /// The next reply, or the beginning of a malformed one; `None` if there will be no more. A
    /// model that abstains from mending a statement may still write others.
    fn reply(
        &mut self,
        branch: &Branch,
        goal: Goal,
        draft: &mut Draft,
    ) -> Option<Result<Reply, String>> {
        let mut given = draft.reply.take();
        loop {
            match given.take().unwrap_or_else(|| {
                self.host.complete(&self.request(branch, goal, &draft.tried, draft.sample))
            }) {
                Ok(reply) => return Some(Ok(reply)),
                Err(LlmError::Malformed(start)) => return Some(Err(start)),
                Err(LlmError::TooLarge) if self.brief.shorten() => {}
                Err(error @ (LlmError::Refused(_) | LlmError::Unsupported(_))) => {
                    if draft.tried.is_empty() {
                        self.stop = Some(Stop::Abstained(llm_words(&error)));
                    } else {
                        self.host.note(
                            Level::Info,
                            &format!("{}: not mended: {}", self.task.id, llm_words(&error)),
                        );
                    }
                    return None;
                }
                Err(error) => {
                    self.stop = Some(Stop::Failed(llm_failure(&error)));
                    return None;
                }
            }
        }
    }

    /// Counts a reply without a statement that ran. After too many in a row no more are requested.
    fn ran_in_vain(&mut self) {
        self.in_vain += 1;
        if self.in_vain >= self.settings.most_in_vain && self.stop.is_none() {
            self.stop = Some(Stop::Abstained(format!(
                "{} replies in a row held no statement that runs",
                self.in_vain
            )));
        }
    }

    fn no_statement(&mut self, branch: &mut Branch, draft: &mut Draft, start: &str) -> Next {
        branch.signals.syntax_errors += 1;
        branch.missed += 1;
        self.ran_in_vain();
        let reason = format!("the reply held no statement; it began: {}", line(start, 200));
        Next::Repair(self.miss(draft, "", Some(ErrorClass::Syntax), reason))
    }

    /// Notes what was wrong with a statement, for the next prompt and for the log.
    fn miss(
        &mut self,
        draft: &mut Draft,
        sql: &str,
        class: Option<ErrorClass>,
        reason: String,
    ) -> Miss {
        self.count(class);
        let hint = class.map(ErrorClass::hint).filter(|hint| !reason.contains(hint));
        let wrong = hint.map_or_else(|| reason.clone(), |hint| format!("{reason}. {hint}"));
        draft.tried.push(Tried { sql: sql.to_owned(), wrong });
        Miss { tried: draft.tried.clone(), class, reason, below: None, after: draft.after.clone() }
    }

    fn weigh(
        &mut self,
        branch: &mut Branch,
        goal: Goal,
        draft: &mut Draft,
        statement: SqlReply,
        reply: &Reply,
    ) -> Next {
        if draft.tried.iter().any(|tried| tried.sql == statement.sql) {
            self.host
                .note(Level::Debug, &format!("{}: the model repeats its statement", self.task.id));
            let reason = "the same statement again".to_owned();
            let tried = draft.tried.clone();
            let after = draft.after.clone();
            return Next::Ended(Came::Missed(Miss {
                tried,
                class: None,
                reason,
                below: None,
                after,
            }));
        }
        let ran = self.host.check(&statement.sql).and_then(|facts| {
            let results = self.host.run(&statement.sql)?;
            Ok(Ran::new(self.host, facts, results, u64::MAX, &mut branch.signals))
        });
        match &ran {
            Ok(_) => self.in_vain = 0,
            Err(error) => drop(record_error(error, &mut branch.signals)),
        }
        let candidate = self.candidate(branch, goal, draft, statement, reply);
        self.host.propose(&candidate);
        draft.after = Some(candidate.id.clone());
        match ran {
            Ok(ran) => Next::Ended(self.judge(branch, goal, draft, candidate, ran)),
            Err(error) if is_over(error.kind) => {
                self.host.discard(&candidate.id, &error.message);
                self.stop = Some(Stop::Failed(sql_failure(&error)));
                Next::Ended(Came::Stopped)
            }
            Err(error) => {
                let class = ErrorClass::from_kind(error.kind);
                branch.semantic_errors += u32::from(class.is_semantic());
                branch.missed += 1;
                self.ran_in_vain();
                self.host.discard(&candidate.id, &format!("{}: {}", class.name(), words(&error)));
                let miss = self.miss(draft, &candidate.sql, Some(class), words(&error));
                if class == ErrorClass::Syntax {
                    Next::Repair(miss)
                } else {
                    Next::Ended(Came::Missed(miss))
                }
            }
        }
    }

    fn candidate(
        &mut self,
        branch: &Branch,
        goal: Goal,
        draft: &Draft,
        statement: SqlReply,
        reply: &Reply,
    ) -> Candidate {
        self.candidates += 1;
        let last = branch.last.as_ref().map(|made| made.candidate.id.clone());
        let (reported, confidence) = match goal {
            Goal::Step(place) if !self.is_whole(goal) => {
                let subtask = &self.subtasks[place];
                (
                    format!("step {}: {}", subtask.id, subtask.operation),
                    Some(branch.states[place].confidence),
                )
            }
            _ => ("the whole question".to_owned(), None),
        };
        let mut signals = self.signals(branch);
        signals.logprob = reply.logprob;
        let tokens = f64::from(reply.usage.input_tokens) + f64::from(reply.usage.output_tokens);
        signals.extra.push(("tokens".to_owned(), tokens));
        Candidate {
            id: candidate_id(&self.task.id, self.candidates),
            parents: draft.after.clone().or(last).into_iter().collect(),
            origin: draft.origin.to_owned(),
            sql: statement.sql,
            raw_confidence: statement.confidence.or(confidence),
            rationale: Some(format!("branch {}, {reported}", branch.id)),
            signals,
            ..Candidate::default()
        }
    }

    /// The counts of a branch's line. Steps are no retries: an attempt is one that went wrong, or
    /// the one that did not.
    pub(super) fn signals(&self, branch: &Branch) -> Signals {
        let mut signals = branch.signals.clone();
        signals.attempts = branch.missed + 1;
        signals.max_attempts = self.tries.max(signals.attempts);
        let extra = [
            ("semantic_errors", f64::from(branch.semantic_errors)),
            ("cumulative_reward", branch.cumulative),
            ("iterations", f64::from(self.iterations)),
            ("branches", f64::from(self.branches)),
        ];
        signals.extra = extra.map(|(name, value)| (name.to_owned(), value)).to_vec();
        signals
    }

    fn judge(
        &mut self,
        branch: &mut Branch,
        goal: Goal,
        draft: &mut Draft,
        mut candidate: Candidate,
        ran: Ran,
    ) -> Came {
        candidate.raw_confidence = candidate.raw_confidence.map(|confidence| ran.limit(confidence));
        let columns: Vec<String> =
            ran.profile.columns.iter().map(|column| column.column.name.clone()).collect();
        let made = Made {
            rows: ran.profile.rows,
            columns: clip_names(&columns),
            fingerprint: ran.results.fingerprint(&Equality::Bag),
            reward: UNJUDGED,
            standing: Standing::Unjudged,
            is_whole: self.is_whole(goal),
            part: None,
            reason: String::new(),
            candidate,
            facts: ran.facts,
        };
        let faults = ran.faults.join("; ");
        match self.judge_candidate(branch, goal, &made.candidate) {
            Judged::Unjudged(why) => {
                if self.is_whole(goal) || self.settings.judge_steps {
                    self.host.note(
                        Level::Info,
                        &format!("{} is not judged: {}", made.candidate.id, line(&why, 300)),
                    );
                }
                self.without_faults(draft, Made { reason: why, ..made }, faults)
            }
            Judged::Accepted(opinion) => match self.record_acceptance(draft, made, &opinion) {
                Came::Succeeded(made) => self.without_faults(draft, made, faults),
                missed => missed,
            },
            Judged::Rejected(opinion) => Came::Missed(self.record_rejection(
                branch,
                draft,
                &made.candidate,
                &opinion,
                "rejected",
            )),
        }
    }

    /// A statement with faults gets alternatives, as one whose reward is too low.
    fn without_faults(&mut self, draft: &mut Draft, made: Made, faults: String) -> Came {
        if faults.is_empty() {
            return Came::Succeeded(made);
        }
        self.host.discard(&made.candidate.id, &faults);
        let mut miss = self.miss(draft, &made.candidate.sql, None, faults);
        miss.below = Some(Made { standing: Standing::Below, ..made });
        Came::Missed(miss)
    }

    pub(super) fn record_rejection(
        &mut self,
        branch: &mut Branch,
        draft: &mut Draft,
        candidate: &Candidate,
        opinion: &Opinion,
        how: &str,
    ) -> Miss {
        branch.semantic_errors += 1;
        branch.missed += 1;
        let reason = format!("{how}: {}", line(&opinion.reason, 700));
        self.host.discard(&candidate.id, &reason);
        self.miss(draft, &candidate.sql, ErrorClass::from_opinion(opinion), reason)
    }

    pub(super) fn record_acceptance(
        &mut self,
        draft: &mut Draft,
        mut made: Made,
        opinion: &Opinion,
    ) -> Came {
        made.reward = opinion.score;
        accept(&mut made.candidate, opinion);
        made.reason = line(&opinion.reason, 500);
        if opinion.score >= self.settings.acceptance_threshold {
            return Came::Succeeded(Made { standing: Standing::Accepted, ..made });
        }
        made.standing = Standing::Below;
        let reason = format!(
            "its reward is {:.2}, where {:.2} is asked for: {}",
            opinion.score, self.settings.acceptance_threshold, made.reason
        );
        self.host.discard(&made.candidate.id, &reason);
        let mut miss =
            self.miss(draft, &made.candidate.sql, ErrorClass::from_opinion(opinion), reason);
        miss.below = Some(made);
        Came::Missed(miss)
    }

    /// EP-D1: a step is judged against its sub-task; only the whole against the question.
    pub(super) fn judge_candidate(
        &self,
        branch: &Branch,
        goal: Goal,
        candidate: &Candidate,
    ) -> Judged {
        let mut asked = candidate.clone();
        asked.extra.retain(|(key, _)| key != STEP);
        if let Goal::Step(place) = goal
            && !self.is_whole(goal)
        {
            if !self.settings.judge_steps {
                return Judged::Unjudged("steps are not judged".to_owned());
            }
            asked
                .extra
                .push(step_extra(&self.subtasks[place].operation, &Self::operations_done(branch)));
        }
        match self.host.reward(&[asked]).map(|verdicts| verdicts.into_iter().next()) {
            Ok(Some(Verdict::Accepted(opinion))) => Judged::Accepted(opinion),
            Ok(Some(Verdict::Rejected(opinion))) => Judged::Rejected(opinion),
            Ok(Some(Verdict::Unavailable(why))) => Judged::Unjudged(why),
            Ok(None) => Judged::Unjudged("the reward gave no verdict".to_owned()),
            Err(error) => Judged::Unjudged(port_failure(&error).message),
        }
    }
}

/// The miss of a draft that is not continued.
fn abandon(draft: Draft, miss: Option<Miss>) -> Miss {
    miss.unwrap_or_else(|| Miss {
        reason: "the model gave no other statement".to_owned(),
        tried: draft.tried,
        class: None,
        below: None,
        after: draft.after,
    })
}
