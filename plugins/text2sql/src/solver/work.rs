//! The tries of one task, each with its executions and repairs; those of a round run concurrently.

use std::rc::Rc;

use syrch_plugin::attempt::{Chain, Ended, Ran, Statement, Trials, Written, accept, candidate_id, too_large, written};
use syrch_plugin::prelude::*;
use syrch_plugin::text::count;

use crate::Settings;
use crate::prompts::Prompts;
use crate::solver::judge::verdict;

/// A statement that ran and, where there is a judge, was not rejected.
#[derive(Debug, Clone)]
pub(crate) struct Passed {
    pub(crate) candidate: Candidate,
    pub(crate) ran: Rc<Ran>,
}

/// The state of a try.
#[derive(Debug)]
pub(crate) enum State {
    Open,
    /// It has its statement.
    Passed(Box<Passed>),
    /// Its statements failed, for this reason.
    Lost(String),
    /// The model abstains, which is not a failure.
    Abstained(String),
    /// No call or no statement can succeed any more.
    Failed(Failure),
}

/// A statement and its repairs.
struct Try {
    number: u32,
    state: State,
    /// The number of replies without a statement.
    without_statement: u32,
    /// Whether the last reply had no statement; a second one in a row ends the try.
    is_without_statement: bool,
    judgements: u32,
    /// The executions, which are its attempts.
    chain: Chain,
}

/// All tries of one task.
pub(crate) struct Work<'a, H> {
    host: &'a H,
    settings: &'a Settings,
    task: &'a Task,
    prompts: Prompts<'a>,
    tries: Vec<Try>,
    /// The most executions of one try.
    most: u32,
    proposed: u32,
    trials: Trials,
}

impl<'a, H: SolverHost> Work<'a, H> {
    pub(crate) fn new(host: &'a H, settings: &'a Settings, task: &'a Task, prompts: Prompts<'a>) -> Self {
        let allowed = host.attempts();
        let most = settings.max_debug_attempts.clamp(1, allowed);
        if most < settings.max_debug_attempts {
            let wanted = settings.max_debug_attempts;
            let note = format!("{}: the policy allows {}, not {wanted}", task.id, count(most.into(), "execution"));
            host.note(Level::Info, &note);
        }
        let one = |number| Try {
            number,
            state: State::Open,
            without_statement: 0,
            is_without_statement: false,
            judgements: 0,
            chain: Chain::new(most),
        };
        let tries = (0..settings.votes).map(one).collect();
        Self { host, settings, task, prompts, tries, most, proposed: 0, trials: Trials::new(settings.overflow_rows) }
    }

    /// The states in which the tries ended. In each round a try executes a statement, has a reply without one, or ends, so that all end.
    pub(crate) fn run(mut self) -> Vec<State> {
        loop {
            let is_open = |index: &usize| matches!(self.tries[*index].state, State::Open);
            let open: Vec<usize> = (0..self.tries.len()).filter(is_open).collect();
            if open.is_empty() {
                return self.tries.into_iter().map(|one| one.state).collect();
            }
            let replies = self.ask(&open);
            let statements: Vec<(usize, Statement)> = open
                .into_iter()
                .zip(replies)
                .filter_map(|(index, reply)| Some((index, self.read(index, reply)?)))
                .collect();
            // What stopped the database is in the trials, too.
            let _ = self.trials.run(self.host, statements.iter().map(|(_, statement)| statement.sql.as_str()));
            let mut ran = Vec::new();
            for (index, statement) in statements {
                ran.extend(self.settle(index, statement).map(|passed| (index, passed)));
            }
            self.judge(ran);
        }
    }

    /// The replies to all open tries. Prompts that are too large are made shorter, and a provider without YAML is asked without it, as long
    /// as that is possible.
    fn ask(&mut self, open: &[usize]) -> Vec<Result<Reply, LlmError>> {
        let mut replies = self.host.complete_all(&self.requests(open));
        loop {
            let places = |is: fn(&LlmError) -> bool| -> Vec<usize> {
                (0..open.len()).filter(|place| matches!(replies.get(*place), Some(Err(error)) if is(error))).collect()
            };
            let large = places(|error| matches!(error, LlmError::TooLarge));
            let unable = places(|error| matches!(error, LlmError::Unsupported(_)));
            let again = if !large.is_empty() && self.prompts.shorten() {
                large
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
            self.prompts.statement(&one.chain.tried, one.number + one.without_statement * self.settings.votes)
        };
        open.iter().map(request).collect()
    }

    /// The statement of a reply, without the semicolon at its end.
    fn read(&mut self, index: usize, reply: Result<Reply, LlmError>) -> Option<Statement> {
        self.tries[index].state = match written(reply) {
            Written::Statement(statement) => {
                let sql = statement.sql.trim_end_matches(|c: char| c == ';' || c.is_whitespace()).to_owned();
                if !sql.is_empty() {
                    self.tries[index].is_without_statement = false;
                    return Some(Statement { sql, ..statement });
                }
                self.no_statement(index, "the statement is empty")
            }
            Written::NoStatement(wrong) => self.no_statement(index, &wrong),
            Written::TooLarge => State::Failed(too_large()),
            Written::Abstained(why) => State::Abstained(why),
            Written::Failed(failure) => State::Failed(failure),
        };
        None
    }

    /// A reply of another shape is asked for once more; PocketFlow's workflow ends there.
    fn no_statement(&mut self, index: usize, wrong: &str) -> State {
        let one = &mut self.tries[index];
        one.without_statement += 1;
        one.chain.signals.syntax_errors += 1;
        let reply = "the model's reply was not the YAML block that was asked for";
        if std::mem::replace(&mut one.is_without_statement, true) {
            return State::Lost(format!("{reply}, twice in a row; {wrong}"));
        }
        self.host.note(Level::Info, &format!("{}: {reply}: it is asked again; {wrong}", self.task.id));
        State::Open
    }

    /// Proposes a statement as a candidate; the result if it ran.
    fn settle(&mut self, index: usize, statement: Statement) -> Option<Passed> {
        let trial = self.trials.get(&statement.sql).cloned()?;
        self.proposed += 1;
        let id = candidate_id(&self.task.id, self.proposed);
        let chain = &mut self.tries[index].chain;
        chain.signals.attempts += 1;
        let origin = if chain.last_id.is_none() { "generate" } else { "repair" };
        let candidate = chain.candidate(id, origin, statement, &trial.signals);
        self.host.propose(&candidate);
        let wrong = match trial.ended {
            Ended::Ran(ran) => return Some(Passed { candidate, ran }),
            Ended::Failed(wrong) => wrong,
        };
        self.host.discard(&candidate.id, &wrong);
        if let Some(failure) = trial.stopped {
            self.tries[index].state = State::Failed(failure);
            return None;
        }
        let lost = format!("Failed to execute SQL after {} attempts. Last error: {wrong}", self.most);
        self.tries[index].chain.fail(&candidate.sql, wrong);
        if self.is_spent(index) {
            self.tries[index].state = State::Lost(lost);
        }
        None
    }

    fn is_spent(&self, index: usize) -> bool {
        self.tries[index].chain.signals.attempts >= self.most
    }

    /// Has the statements that ran judged. Without a judgement, which counts as neither acceptance nor rejection, a statement passes.
    fn judge(&mut self, ran: Vec<(usize, Passed)>) {
        if !self.settings.judge || ran.is_empty() {
            ran.into_iter().for_each(|(index, passed)| self.tries[index].state = State::Passed(Box::new(passed)));
            return;
        }
        let request = |(_, passed): &(usize, Passed)| {
            self.prompts.judgement(self.host, self.settings.shown_rows, &passed.candidate.sql, &passed.ran.results)
        };
        let requests: Vec<Request> = ran.iter().map(request).collect();
        let mut replies = self.host.complete_all(&requests).into_iter();
        for (index, mut passed) in ran {
            let verdict = replies.next().map(|reply| verdict(&reply, self.settings.pass_score));
            match verdict.unwrap_or_else(|| Verdict::Unavailable("it did not reply".to_owned())) {
                Verdict::Rejected(opinion) => {
                    self.reject(index, &passed.candidate, &opinion.reason);
                    continue;
                }
                Verdict::Accepted(opinion) => accept(&mut passed.candidate, &opinion),
                Verdict::Unavailable(why) => {
                    let note = format!("{}: {} is not judged: {why}", self.task.id, passed.candidate.id);
                    self.host.note(Level::Warn, &note);
                }
            }
            self.tries[index].state = State::Passed(Box::new(passed));
        }
    }

    /// PocketFlow's workflow accepts the last statement when its attempts are used up; here such a try is lost.
    fn reject(&mut self, index: usize, candidate: &Candidate, feedback: &str) {
        self.host.discard(&candidate.id, &format!("the judge did not pass it: {feedback}"));
        let is_spent = self.is_spent(index);
        let one = &mut self.tries[index];
        one.chain.fail(&candidate.sql, format!("it ran, but a judge did not pass it: {feedback}"));
        one.judgements += 1;
        if is_spent || one.judgements >= self.settings.judge_attempts {
            let judged = count(one.judgements.into(), "attempt");
            one.state =
                State::Lost(format!("no statement passed the judge in {judged}; its last feedback: {feedback}"));
        }
    }
}
