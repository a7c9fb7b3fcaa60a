//! The draws of a round, concurrently, and then the repairs of those that failed.

use std::rc::Rc;

use syrch_plugin::attempt::{Chain, Ended, Ran, Statement, Trial, Written, too_large};
use syrch_plugin::draws::{Tries, run_tries};
use syrch_plugin::prelude::*;
use syrch_plugin::text::count32;

use crate::Settings;
use crate::prompts::{Generator, Prompts};

/// A statement that ran.
pub(crate) struct Contender {
    pub(crate) candidate: Candidate,
    pub(crate) ran: Rc<Ran>,
}

/// The quality of a result, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Worth {
    Empty,
    Faulty,
    Sound,
}

impl Contender {
    fn worth(&self) -> Worth {
        match (self.ran.faults.is_empty(), self.ran.profile.rows) {
            (_, 0) => Worth::Empty,
            (false, _) => Worth::Faulty,
            (true, _) => Worth::Sound,
        }
    }
}

/// The outcome of all draws.
pub(crate) struct Drawn {
    /// The draws that ran, in their order.
    pub(crate) contenders: Vec<Contender>,
    /// The number of draws for which the model replied, with or without a statement.
    pub(crate) replied: u32,
    /// The last error, for the case that nothing ran.
    pub(crate) wrong: Option<String>,
    /// The failure after which no call or no statement can succeed any more.
    pub(crate) failed: Option<Failure>,
}

/// The state of a draw beside the chain of its repairs.
struct Draw {
    generator: Generator,
    best: Option<Contender>,
    has_reply: bool,
    is_over: bool,
}

/// The draws of one task.
pub(crate) struct Drawing<'a, H> {
    host: &'a H,
    settings: &'a Settings,
    task: &'a Task,
    prompts: Prompts<'a>,
    draws: Vec<Draw>,
    wrong: Option<String>,
    failed: Option<Failure>,
}

impl<'a, H: SolverHost> Drawing<'a, H> {
    pub(crate) fn new(
        host: &'a H,
        settings: &'a Settings,
        task: &'a Task,
        prompts: Prompts<'a>,
        generators: &[Generator],
    ) -> Self {
        let draws = generators
            .iter()
            .map(|generator: &Generator| Draw {
                generator: *generator,
                best: None,
                has_reply: false,
                is_over: false,
            })
            .collect();
        Self { host, settings, task, prompts, draws, wrong: None, failed: None }
    }

    /// Draws, and repairs what failed, until all draws have a result, no attempt is left, or no
    /// call or statement can succeed any more.
    pub(crate) fn run(mut self) -> Drawn {
        let Self { host, settings, task, .. } = self;
        // The attempts of the policy are those at one statement; other draws do not count.
        let most = settings.repairs.saturating_add(1).min(host.attempts());
        run_tries(host, task, self.draws.len(), most, settings.overflow_rows, &mut self);
        Drawn {
            replied: count32(self.draws.iter().filter(|draw| draw.has_reply).count()),
            contenders: self.draws.into_iter().filter_map(|draw| draw.best).collect(),
            wrong: self.wrong,
            failed: self.failed,
        }
    }

    /// Takes a statement that ran as the draw's result. One that is to be repaired stays the result
    /// if its repair is no better.
    fn ran(&mut self, place: usize, contender: Contender, chain: &mut Chain) {
        let draw = &mut self.draws[place];
        let id = &contender.candidate.id;
        if let Some(wrong) = contender.ran.to_repair(!self.settings.repair_empty) {
            chain.fail(&contender.candidate.sql, wrong);
        }
        if let Some(first) = &draw.best {
            let first_id = &first.candidate.id;
            fn has_no_rows(one: &Contender) -> bool {
                one.ran.profile.rows == 0
            }
            match (first.worth(), contender.worth()) {
                (Worth::Empty, Worth::Empty) => {
                    return self.host.discard(id, &format!("it has no rows either, as {first_id}"));
                }
                (before, now) if now <= before => {
                    return self.host.discard(
                        id,
                        &format!("it is no better than {first_id}, which it repairs"),
                    );
                }
                _ if has_no_rows(first) => {
                    self.host.discard(first_id, &format!("it has no rows; its repair {id} has"))
                }
                _ => self.host.discard(first_id, &format!("its repair {id} has fewer faults")),
            }
        }
        draw.best = Some(contender);
    }
}

impl<H: SolverHost> Tries for Drawing<'_, H> {
    fn is_open(&self, place: usize, chain: &Chain) -> bool {
        let draw = &self.draws[place];
        let is_left = self.failed.is_none() && chain.signals.attempts < chain.signals.max_attempts;
        is_left
            && !draw.is_over
            && !draw.best.as_ref().is_some_and(|best: &Contender| {
                best.ran.to_repair(!self.settings.repair_empty).is_none()
            })
    }

    fn request(&self, place: usize, chain: &Chain) -> Request {
        // After a reply without a statement there is a new sample, not a repair.
        let lost = count32(chain.tried.len() - chain.statements());
        let sample = count32(place) + lost * count32(self.draws.len());
        self.prompts.request(self.draws[place].generator, &chain.tried, sample)
    }

    fn adapt(&mut self, error: &LlmError) -> bool {
        matches!(error, LlmError::TooLarge) && self.prompts.shorten()
    }

    fn read(
        &mut self,
        replies: Vec<(usize, Written)>,
        chains: &mut [Chain],
    ) -> Vec<(usize, Statement)> {
        let mut statements = Vec::new();
        let mut reasons: Vec<String> = Vec::new();
        let asked = replies.len();
        for (place, written) in replies {
            let draw = &mut self.draws[place];
            let failure = match written {
                Written::Statement(statement) => {
                    draw.has_reply = true;
                    statements.push((place, statement));
                    continue;
                }
                Written::NoStatement(wrong) => {
                    draw.has_reply = true;
                    self.wrong = Some(wrong.clone());
                    chains[place].signals.attempts += 1;
                    chains[place].fail_without_statement(wrong);
                    continue;
                }
                // A model that abstains here may reply to another call.
                Written::Abstained(why) => {
                    reasons.push(why);
                    None
                }
                Written::TooLarge => Some(too_large()),
                Written::Failed(failure) => Some(failure),
            };
            draw.is_over = true;
            reasons.extend(failure.as_ref().map(|failure| failure.message.clone()));
            self.failed = self.failed.take().or(failure);
        }
        if let Some(why) = reasons.first() {
            let note = format!(
                "{}: {} of {asked} calls came to nothing: {why}",
                self.task.id,
                reasons.len()
            );
            self.host.note(Level::Info, &note);
            self.wrong.get_or_insert_with(|| why.clone());
        }
        statements
    }

    fn origin(&self, place: usize, chain: &Chain) -> String {
        let name = self.draws[place].generator.name();
        if chain.last_id.is_some() { format!("{name} repair") } else { name.to_owned() }
    }

    fn finish_statement(
        &mut self,
        place: usize,
        candidate: Candidate,
        trial: Trial,
        chain: &mut Chain,
    ) {
        self.failed = self.failed.take().or(trial.stopped);
        match trial.ended {
            Ended::Ran(ran) => self.ran(place, Contender { candidate, ran }, chain),
            Ended::Failed(wrong) => self.wrong = Some(wrong),
        }
    }
}
