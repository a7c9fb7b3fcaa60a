//! The tries under way: generate, execute, repair; all tries of a round side by side.

use std::rc::Rc;

use syrch_plugin::attempt::{Trial, candidate_id, trial};
use syrch_plugin::brief::Tried;
use syrch_plugin::failure::llm_words;
use syrch_plugin::prelude::*;
use syrch_plugin::replies::sql_reply;
use syrch_plugin::text::{count, line};

use crate::Habits;
use crate::ask::Prompts;
use crate::judge::verdict;

/// A statement that ran and, where there is a judge, was not rejected.
#[derive(Debug, Clone)]
pub(crate) struct Passed {
    pub(crate) candidate: Candidate,
    pub(crate) results: Rc<ResultSet>,
    /// What a good answer would not look like, a sentence each.
    pub(crate) doubts: Vec<String>,
}

/// How a try stands.
#[derive(Debug)]
pub(crate) enum State {
    /// It goes on.
    Open,
    /// It has its statement.
    Passed(Box<Passed>),
    /// Its statements did not do, and why.
    Lost(String),
    /// The model abstains, which is not a failure.
    Silent(String),
    /// No call or no statement can do any more.
    Failed(Failure),
}

/// One try.
struct Try {
    number: u32,
    state: State,
    /// Replies without a statement; a second one in a row ends the try.
    wordless: u32,
    is_wordless: bool,
    judgements: u32,
    tried: Vec<Tried>,
    /// Counts over its executions, which are its attempts.
    signals: Signals,
    last_id: Option<String>,
}

/// All tries of one task.
pub(crate) struct Work<'a, H> {
    host: &'a H,
    habits: &'a Habits,
    task: &'a Task,
    prompts: Prompts<'a>,
    tries: Vec<Try>,
    /// Executions of one try.
    most: u32,
    proposed: u32,
}

impl<'a, H: SolverHost> Work<'a, H> {
    pub(crate) fn new(host: &'a H, habits: &'a Habits, task: &'a Task, prompts: Prompts<'a>) -> Self {
        let allowed = host.policy().max_attempts.max(1);
        let most = habits.max_debug_attempts.clamp(1, allowed);
        if most < habits.max_debug_attempts {
            let wanted = habits.max_debug_attempts;
            let told = format!("{}: the policy allows {}, not {wanted}", task.id, count(most.into(), "execution"));
            host.note(Level::Info, &told);
        }
        let signals = Signals { max_attempts: most, ..Signals::default() };
        let one = |number| Try {
            number,
            state: State::Open,
            wordless: 0,
            is_wordless: false,
            judgements: 0,
            tried: Vec::new(),
            signals: signals.clone(),
            last_id: None,
        };
        Self { host, habits, task, prompts, tries: (0..habits.votes).map(one).collect(), most, proposed: 0 }
    }

    /// How each try ended. Each round a try executes a statement, has no words for once, or ends, so it comes to an end.
    pub(crate) fn run(mut self) -> Vec<State> {
        loop {
            let is_open = |index: &usize| matches!(self.tries[*index].state, State::Open);
            let open: Vec<usize> = (0..self.tries.len()).filter(is_open).collect();
            if open.is_empty() {
                return self.tries.into_iter().map(|one| one.state).collect();
            }
            let replies = self.ask(&open);
            let mut ran = Vec::new();
            for (index, reply) in open.into_iter().zip(replies) {
                ran.extend(self.take(index, reply).map(|passed| (index, passed)));
            }
            self.judge(ran);
        }
    }

    /// The replies to all open tries. Prompts that are too long are made shorter, and a provider without YAML is asked without, as often as
    /// that is of use.
    fn ask(&mut self, open: &[usize]) -> Vec<Result<Reply, LlmError>> {
        let mut replies = self.host.complete_all(&self.requests(open));
        loop {
            let places = |is: fn(&LlmError) -> bool| -> Vec<usize> {
                (0..open.len()).filter(|place| matches!(replies.get(*place), Some(Err(error)) if is(error))).collect()
            };
            let long = places(|error| matches!(error, LlmError::TooLarge));
            let unable = places(|error| matches!(error, LlmError::Unsupported(_)));
            let again = if !long.is_empty() && self.prompts.shorten() {
                long
            } else if !unable.is_empty() && self.prompts.leave_yaml() {
                self.host.note(Level::Info, "the model provider has no YAML: it is asked for the statement alone");
                unable
            } else {
                return replies;
            };
            let indexes: Vec<usize> = again.iter().map(|place| open[*place]).collect();
            for (place, reply) in again.into_iter().zip(self.host.complete_all(&self.requests(&indexes))) {
                replies[place] = reply;
            }
        }
    }

    fn requests(&self, open: &[usize]) -> Vec<Request> {
        let request = |index: &usize| {
            let one = &self.tries[*index];
            self.prompts.statement(&one.tried, one.number + one.wordless * self.habits.votes)
        };
        open.iter().map(request).collect()
    }

    /// What a reply's statement gives, when it runs.
    fn take(&mut self, index: usize, reply: Result<Reply, LlmError>) -> Option<Passed> {
        let state = match reply {
            Ok(reply) => match statement(&reply) {
                Some(sql) => return self.execute(index, sql, &reply),
                None => return self.no_statement(index, "it has no statement under `sql`"),
            },
            Err(LlmError::Malformed(start)) => {
                return self.no_statement(index, &format!("it began: {}", line(&start, 200)));
            }
            Err(error @ (LlmError::Refused(_) | LlmError::Unsupported(_))) => State::Silent(llm_words(&error)),
            Err(error) => State::Failed(llm_failure(&error)),
        };
        self.tries[index].state = state;
        None
    }

    /// A reply of another shape is asked for once more; the reference ended the run there.
    fn no_statement(&mut self, index: usize, wrong: &str) -> Option<Passed> {
        let one = &mut self.tries[index];
        one.wordless += 1;
        one.signals.syntax_errors += 1;
        if std::mem::replace(&mut one.is_wordless, true) {
            one.state = State::Lost(format!(
                "the model's reply was not the YAML block that was asked for, twice in a row; {wrong}"
            ));
        } else {
            let told = format!(
                "{}: the model's reply was not the YAML block that was asked for: it is asked again; {wrong}",
                self.task.id
            );
            self.host.note(Level::Info, &told);
        }
        None
    }

    fn execute(&mut self, index: usize, sql: String, reply: &Reply) -> Option<Passed> {
        let one = &mut self.tries[index];
        one.is_wordless = false;
        one.signals.attempts += 1;
        let mut signals = one.signals.clone();
        let end = trial(self.host, self.habits.overflow_rows, &sql, &mut signals);
        let candidate = self.propose(index, sql, signals, reply);
        match end {
            Trial::Ran { results, doubts, .. } => return Some(Passed { candidate, results: Rc::new(results), doubts }),
            Trial::Failed(wrong) => {
                self.host.discard(&candidate.id, &wrong);
                let over = format!("Failed to execute SQL after {} attempts. Last error: {wrong}", self.most);
                self.tries[index].tried.push(Tried { sql: candidate.sql, wrong });
                if self.is_spent(index) {
                    self.tries[index].state = State::Lost(over);
                }
            }
            Trial::Over(failure) => {
                self.host.discard(&candidate.id, &failure.message);
                self.tries[index].state = State::Failed(failure);
            }
        }
        None
    }

    fn is_spent(&self, index: usize) -> bool {
        self.tries[index].signals.attempts >= self.most
    }

    fn propose(&mut self, index: usize, sql: String, mut signals: Signals, reply: &Reply) -> Candidate {
        self.proposed += 1;
        let id = candidate_id(&self.task.id, self.proposed);
        let one = &mut self.tries[index];
        // Errors add up over the attempts; what a result looked like is that result's alone.
        one.signals.syntax_errors = signals.syntax_errors;
        one.signals.schema_errors = signals.schema_errors;
        one.signals.execution_errors = signals.execution_errors;
        signals.logprob = reply.logprob;
        let tokens = f64::from(reply.usage.input_tokens) + f64::from(reply.usage.output_tokens);
        signals.extra.push(("tokens".to_owned(), tokens));
        let parents: Vec<String> = one.last_id.replace(id.clone()).into_iter().collect();
        let origin = if parents.is_empty() { "generate" } else { "repair" }.to_owned();
        let candidate = Candidate { id, parents, origin, sql, signals, ..Candidate::default() };
        self.host.propose(&candidate);
        candidate
    }

    /// Lets the judge look at the statements that ran. A judge that cannot judge is neither a yes nor a no, and leaves them standing.
    fn judge(&mut self, ran: Vec<(usize, Passed)>) {
        if !self.habits.judge || ran.is_empty() {
            ran.into_iter().for_each(|(index, passed)| self.tries[index].state = State::Passed(Box::new(passed)));
            return;
        }
        let request = |(_, passed): &(usize, Passed)| {
            self.prompts.judgement(self.host, self.habits.shown_rows, &passed.candidate.sql, &passed.results)
        };
        let requests: Vec<Request> = ran.iter().map(request).collect();
        let mut replies = self.host.complete_all(&requests).into_iter();
        for (index, mut passed) in ran {
            let verdict = replies.next().map(|reply| verdict(&reply, self.habits.pass_score));
            match verdict.unwrap_or_else(|| Verdict::Unavailable("it did not reply".to_owned())) {
                Verdict::Rejected(opinion) => {
                    self.reject(index, passed.candidate, &opinion.reason);
                    continue;
                }
                Verdict::Accepted(opinion) => {
                    passed.candidate.score = Some(opinion.score);
                    passed.candidate.signals.reward = Some(opinion.score);
                }
                Verdict::Unavailable(why) => {
                    let told = format!("{}: {} is not judged: {why}", self.task.id, passed.candidate.id);
                    self.host.note(Level::Warn, &told);
                }
            }
            self.tries[index].state = State::Passed(Box::new(passed));
        }
    }

    /// The reference accepts the last statement when its attempts are used up; here none has passed then.
    fn reject(&mut self, index: usize, candidate: Candidate, feedback: &str) {
        self.host.discard(&candidate.id, &format!("the judge did not pass it: {feedback}"));
        let wrong = format!("it ran, but a judge did not pass it: {feedback}");
        let is_spent = self.is_spent(index);
        let one = &mut self.tries[index];
        one.tried.push(Tried { sql: candidate.sql, wrong });
        one.judgements += 1;
        if is_spent || one.judgements >= self.habits.judge_attempts {
            let judged = count(one.judgements.into(), "attempt");
            one.state =
                State::Lost(format!("no statement passed the judge in {judged}; its last feedback: {feedback}"));
        }
    }
}

/// The statement under `sql`, without the semicolon at its end.
fn statement(reply: &Reply) -> Option<String> {
    let sql = sql_reply(reply)?.sql;
    let sql = sql.trim_end_matches(|c: char| c == ';' || c.is_whitespace());
    (!sql.is_empty()).then(|| sql.to_owned())
}
