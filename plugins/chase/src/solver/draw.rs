//! The draws of a round, concurrently, and then the repairs of those that failed.

use std::rc::Rc;

use syrch_plugin::attempt::{Chain, Ended, Ran, Statement, Trials, Written, candidate_id, too_large, written};
use syrch_plugin::failure::llm_words;
use syrch_plugin::prelude::*;
use syrch_plugin::text::count32;

use crate::Settings;
use crate::prompts::{Generator, Prompts};

/// A statement that ran.
pub(crate) struct Contender {
    pub(crate) candidate: Candidate,
    pub(crate) ran: Rc<Ran>,
}

/// What all draws gave.
pub(crate) struct Drawn {
    /// Those that ran, in the order of their draws.
    pub(crate) contenders: Vec<Contender>,
    /// The number of draws for which the model replied, with or without a statement.
    pub(crate) replied: u32,
    /// What was wrong last, for the case that nothing ran.
    pub(crate) wrong: Option<String>,
    /// Why no call or no statement can succeed any more.
    pub(crate) failed: Option<Failure>,
}

/// One draw and its repairs.
struct Draw {
    generator: Generator,
    sample: u32,
    chain: Chain,
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
    /// The most attempts of one draw.
    most: u32,
    proposed: u32,
    trials: Trials,
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
        // The attempts of the policy are those at one statement; other draws do not count.
        let most = settings.repairs.saturating_add(1).min(host.attempts());
        let draw = |(index, generator): (usize, &Generator)| Draw {
            generator: *generator,
            sample: count32(index),
            chain: Chain::new(most),
            best: None,
            has_reply: false,
            is_over: false,
        };
        let draws = generators.iter().enumerate().map(draw).collect();
        let trials = Trials::new(settings.overflow_rows);
        Self { host, settings, task, prompts, draws, most, proposed: 0, trials, wrong: None, failed: None }
    }

    /// Draws, and repairs what failed, until all draws have a result, no attempt is left, or no call or statement can succeed any more.
    pub(crate) fn run(mut self) -> Drawn {
        for _ in 0..self.most {
            let open: Vec<usize> = (0..self.draws.len()).filter(|index| self.is_open(&self.draws[*index])).collect();
            if open.is_empty() || self.failed.is_some() {
                break;
            }
            let replies = self.ask(&open);
            let statements = self.read(&open, replies);
            let texts = statements.iter().map(|(_, statement)| statement.sql.as_str());
            if let Err(failure) = self.trials.run(self.host, texts) {
                self.failed.get_or_insert(failure);
            }
            statements.into_iter().for_each(|(index, statement)| self.settle(index, statement));
        }
        Drawn {
            replied: count32(self.draws.iter().filter(|draw| draw.has_reply).count()),
            contenders: self.draws.into_iter().filter_map(|draw| draw.best).collect(),
            wrong: self.wrong,
            failed: self.failed,
        }
    }

    fn is_open(&self, draw: &Draw) -> bool {
        let is_good = |best: &Contender| best.ran.profile.rows > 0 || !self.settings.repair_empty;
        !draw.is_over && !draw.best.as_ref().is_some_and(is_good)
    }

    /// The replies to all open draws. Prompts that are too large are made shorter and sent again as long as that is possible.
    fn ask(&mut self, open: &[usize]) -> Vec<Result<Reply, LlmError>> {
        let mut replies = self.host.complete_all(&self.requests(open));
        loop {
            let is_large = |place: &usize| matches!(replies.get(*place), Some(Err(LlmError::TooLarge)));
            let large: Vec<usize> = (0..open.len()).filter(is_large).collect();
            if large.is_empty() || !self.prompts.shorten() {
                return replies;
            }
            let again: Vec<usize> = large.iter().map(|place| open[*place]).collect();
            for (place, reply) in large.into_iter().zip(self.host.complete_all(&self.requests(&again))) {
                replies[place] = reply;
            }
        }
    }

    fn requests(&self, open: &[usize]) -> Vec<Request> {
        let request = |index: &usize| {
            let Draw { generator, sample, chain, .. } = &self.draws[*index];
            // After a reply without a statement there is a new sample, not a repair.
            let lost = count32(chain.tried.len() - chain.statements());
            self.prompts.request(*generator, &chain.tried, sample + lost * count32(self.draws.len()))
        };
        open.iter().map(request).collect()
    }

    fn read(&mut self, open: &[usize], replies: Vec<Result<Reply, LlmError>>) -> Vec<(usize, Statement)> {
        let mut statements = Vec::new();
        let mut reasons: Vec<String> = Vec::new();
        for (index, reply) in open.iter().copied().zip(replies) {
            let error = reply.as_ref().err().map(llm_words);
            let failure = match written(reply) {
                Written::Statement(statement) => {
                    self.replied(index);
                    statements.push((index, statement));
                    continue;
                }
                Written::NoStatement(wrong) => {
                    self.replied(index);
                    self.wrong = Some(wrong.clone());
                    self.draws[index].chain.fail_without_statement(wrong);
                    continue;
                }
                // A model that abstains here may reply to another call.
                Written::Abstained(_) => None,
                Written::TooLarge => Some(too_large()),
                Written::Failed(failure) => Some(failure),
            };
            self.draws[index].is_over = true;
            reasons.extend(error);
            self.failed = self.failed.take().or(failure);
        }
        if let Some(why) = reasons.first() {
            let note = format!("{}: {} of {} calls came to nothing: {why}", self.task.id, reasons.len(), open.len());
            self.host.note(Level::Info, &note);
            self.wrong.get_or_insert_with(|| why.clone());
        }
        statements
    }

    fn replied(&mut self, index: usize) {
        self.draws[index].has_reply = true;
        self.draws[index].chain.signals.attempts += 1;
    }

    /// Proposes a statement as a candidate, and takes its result or what was wrong into its draw.
    fn settle(&mut self, index: usize, statement: Statement) {
        let Some(trial) = self.trials.get(&statement.sql).cloned() else { return };
        self.proposed += 1;
        let id = candidate_id(&self.task.id, self.proposed);
        let draw = &mut self.draws[index];
        let name = draw.generator.name();
        let origin = if draw.chain.last_id.is_some() { format!("{name} repair") } else { name.to_owned() };
        let candidate = draw.chain.candidate(id, &origin, statement, &trial.signals);
        self.host.propose(&candidate);
        match trial.ended {
            Ended::Ran(ran) => self.ran(index, Contender { candidate, ran }),
            Ended::Failed(wrong) => {
                self.host.discard(&candidate.id, &wrong);
                self.wrong = Some(wrong.clone());
                self.draws[index].chain.fail(&candidate.sql, wrong);
            }
        }
    }

    /// Takes a statement that ran as the draw's result. One without rows stays the result if its repair has none either.
    fn ran(&mut self, index: usize, contender: Contender) {
        let draw = &mut self.draws[index];
        let id = &contender.candidate.id;
        let is_empty = contender.ran.profile.rows == 0;
        if is_empty && self.settings.repair_empty {
            draw.chain.fail(&contender.candidate.sql, contender.ran.doubts.join("; "));
        }
        match &draw.best {
            Some(first) if is_empty => {
                return self.host.discard(id, &format!("it has no rows either, as {}", first.candidate.id));
            }
            Some(first) => self.host.discard(&first.candidate.id, &format!("it has no rows; its repair {id} has")),
            None => {}
        }
        draw.best = Some(contender);
    }
}
