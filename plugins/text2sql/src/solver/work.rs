//! The tries of one task, each with its executions and repairs; those of a round run concurrently.

use std::rc::Rc;

use syrch_plugin::attempt::{Chain, Ended, Ran, Statement, Trial, Written, accept, too_large};
use syrch_plugin::draws::{Tries, run_tries};
use syrch_plugin::prelude::*;
use syrch_plugin::text::{count, count32};

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

/// What is known of a try beside its chain.
struct Try {
    state: State,
    /// The number of replies without a statement.
    without_statement: u32,
    /// Whether the last reply had no statement; a second one in a row ends the try.
    is_without_statement: bool,
    judgements: u32,
    /// The first statement that ran and has faults, which stays if no repair of it does.
    faulty: Option<Passed>,
}

impl Try {
    /// The state in which the try ended. A statement with faults passes if none came after it.
    fn end(self) -> State {
        match (self.state, self.faulty) {
            (State::Passed(passed), _) => State::Passed(passed),
            (_, Some(faulty)) => State::Passed(Box::new(faulty)),
            (state, None) => state,
        }
    }
}

/// All tries of one task.
pub(crate) struct Work<'a, H> {
    host: &'a H,
    settings: &'a Settings,
    task: &'a Task,
    prompts: Prompts<'a>,
    tries: Vec<Try>,
    /// The most executions of one try, which are its attempts.
    most: u32,
    /// The statements that ran in this round.
    ran: Vec<(usize, Passed)>,
}

impl<'a, H: SolverHost> Work<'a, H> {
    pub(crate) fn new(host: &'a H, settings: &'a Settings, task: &'a Task, prompts: Prompts<'a>) -> Self {
        let most = settings.max_debug_attempts.clamp(1, host.attempts());
        if most < settings.max_debug_attempts {
            let wanted = settings.max_debug_attempts;
            let note = format!("{}: the policy allows {}, not {wanted}", task.id, count(most.into(), "execution"));
            host.note(Level::Info, &note);
        }
        let one = |_| Try {
            state: State::Open,
            without_statement: 0,
            is_without_statement: false,
            judgements: 0,
            faulty: None,
        };
        Self { host, settings, task, prompts, tries: (0..settings.votes).map(one).collect(), most, ran: Vec::new() }
    }

    /// The states in which the tries ended. In each round a try executes a statement, has a reply without one, or ends, so that all end.
    pub(crate) fn run(mut self) -> Vec<State> {
        let Self { host, settings, task, most, .. } = self;
        run_tries(host, task, self.tries.len(), most, settings.overflow_rows, &mut self);
        self.tries.into_iter().map(Try::end).collect()
    }

    /// The statement of a reply, without the semicolon at its end.
    fn statement(&mut self, place: usize, written: Written, chain: &mut Chain) -> Option<Statement> {
        self.tries[place].state = match written {
            Written::Statement(statement) => {
                let sql = statement.sql.trim_end_matches(|c: char| c == ';' || c.is_whitespace()).to_owned();
                if !sql.is_empty() {
                    self.tries[place].is_without_statement = false;
                    return Some(Statement { sql, ..statement });
                }
                self.no_statement(place, "the statement is empty", chain)
            }
            Written::NoStatement(wrong) => self.no_statement(place, &wrong, chain),
            Written::TooLarge => State::Failed(too_large()),
            Written::Abstained(why) => State::Abstained(why),
            Written::Failed(failure) => State::Failed(failure),
        };
        None
    }

    /// A reply of another shape is asked for once more; PocketFlow's workflow ends there.
    fn no_statement(&mut self, place: usize, wrong: &str, chain: &mut Chain) -> State {
        let one = &mut self.tries[place];
        one.without_statement += 1;
        chain.signals.syntax_errors += 1;
        let reply = "the model's reply was not the YAML block that was asked for";
        if std::mem::replace(&mut one.is_without_statement, true) {
            return State::Lost(format!("{reply}, twice in a row; {wrong}"));
        }
        self.host.note(Level::Info, &format!("{}: {reply}: it is asked again; {wrong}", self.task.id));
        State::Open
    }

    /// Has the statements that ran judged. Without a judgement, which counts as neither acceptance nor rejection, a statement passes.
    fn judge(&mut self, ran: Vec<(usize, Passed)>, chains: &mut [Chain]) {
        if !self.settings.judge || ran.is_empty() {
            ran.into_iter().for_each(|(place, passed)| self.tries[place].state = State::Passed(Box::new(passed)));
            return;
        }
        let request = |(_, passed): &(usize, Passed)| {
            self.prompts.judgement(self.host, self.settings.shown_rows, &passed.candidate.sql, &passed.ran.results)
        };
        let requests: Vec<Request> = ran.iter().map(request).collect();
        let mut replies = self.host.complete_all(&requests).into_iter();
        for (place, mut passed) in ran {
            let verdict = replies.next().map(|reply| verdict(&reply, self.settings.pass_score));
            match verdict.unwrap_or_else(|| Verdict::Unavailable("it did not reply".to_owned())) {
                Verdict::Rejected(opinion) => {
                    self.reject(place, &passed.candidate, &opinion.reason, &mut chains[place]);
                    continue;
                }
                Verdict::Accepted(opinion) => accept(&mut passed.candidate, &opinion),
                Verdict::Unavailable(why) => {
                    let note = format!("{}: {} is not judged: {why}", self.task.id, passed.candidate.id);
                    self.host.note(Level::Warn, &note);
                }
            }
            self.tries[place].state = State::Passed(Box::new(passed));
        }
    }

    /// Takes a statement that ran. One with faults is repaired while attempts are left, which PocketFlow's workflow does not do.
    fn take(&mut self, place: usize, passed: Passed, chain: &mut Chain) {
        let wrong = passed.ran.to_repair(true).filter(|_| chain.signals.attempts < self.most);
        let one = &mut self.tries[place];
        match (wrong, &one.faulty) {
            (Some(wrong), first) => {
                chain.fail(&passed.candidate.sql, wrong);
                if let Some(first) = first {
                    let id = &first.candidate.id;
                    return self
                        .host
                        .discard(&passed.candidate.id, &format!("it is no better than {id}, which it repairs"));
                }
                one.faulty = Some(passed);
            }
            (None, Some(first)) if !passed.ran.faults.is_empty() => {
                let id = &first.candidate.id;
                self.host.discard(&passed.candidate.id, &format!("it is no better than {id}, which it repairs"));
                one.state = State::Lost("no repair is without doubt".to_owned());
            }
            (None, first) => {
                if let Some(first) = first {
                    let why = format!("its repair {} has no faults", passed.candidate.id);
                    self.host.discard(&first.candidate.id, &why);
                }
                one.faulty = None;
                self.ran.push((place, passed));
            }
        }
    }

    /// PocketFlow's workflow accepts the last statement when its attempts are used up; here such a try is lost.
    fn reject(&mut self, place: usize, candidate: &Candidate, feedback: &str, chain: &mut Chain) {
        self.host.discard(&candidate.id, &format!("the judge did not pass it: {feedback}"));
        chain.fail(&candidate.sql, format!("it ran, but a judge did not pass it: {feedback}"));
        let one = &mut self.tries[place];
        one.judgements += 1;
        if chain.signals.attempts >= self.most || one.judgements >= self.settings.judge_attempts {
            let judged = count(one.judgements.into(), "attempt");
            one.state =
                State::Lost(format!("no statement passed the judge in {judged}; its last feedback: {feedback}"));
        }
    }
}

impl<H: SolverHost> Tries for Work<'_, H> {
    fn is_open(&self, place: usize, _: &Chain) -> bool {
        matches!(self.tries[place].state, State::Open)
    }

    fn request(&self, place: usize, chain: &Chain) -> Request {
        let lost = self.tries[place].without_statement * self.settings.votes;
        self.prompts.statement(&chain.tried, count32(place) + lost)
    }

    /// Prompts that are too large are made shorter, and a provider without YAML is asked without it.
    fn adapt(&mut self, error: &LlmError) -> bool {
        match error {
            LlmError::TooLarge => self.prompts.shorten(),
            LlmError::Unsupported(_) if self.prompts.leave_yaml() => {
                self.host.note(Level::Info, "the model provider has no YAML: it is asked for the statement alone");
                true
            }
            _ => false,
        }
    }

    fn read(&mut self, replies: Vec<(usize, Written)>, chains: &mut [Chain]) -> Vec<(usize, Statement)> {
        let mut read = |(place, written)| Some((place, self.statement(place, written, &mut chains[place])?));
        replies.into_iter().filter_map(&mut read).collect()
    }

    fn settled(&mut self, place: usize, candidate: Candidate, trial: Trial, chain: &mut Chain) {
        match (trial.ended, trial.stopped) {
            (Ended::Ran(ran), _) => self.take(place, Passed { candidate, ran }, chain),
            (Ended::Failed(_), Some(failure)) => self.tries[place].state = State::Failed(failure),
            (Ended::Failed(wrong), None) if chain.signals.attempts >= self.most => {
                let lost = format!("Failed to execute SQL after {} attempts. Last error: {wrong}", self.most);
                self.tries[place].state = State::Lost(lost);
            }
            (Ended::Failed(_), None) => {}
        }
    }

    fn finish_round(&mut self, chains: &mut [Chain]) {
        let ran = std::mem::take(&mut self.ran);
        self.judge(ran, chains);
    }
}
