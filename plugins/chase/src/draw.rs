//! Candidates on their way through model and database: all draws of a round side by side, and then the repairs of those that failed.

use std::collections::BTreeMap;
use std::rc::Rc;

use syrch_plugin::attempt::{self, Trial, candidate_id};
use syrch_plugin::brief::Tried;
use syrch_plugin::failure::llm_words;
use syrch_plugin::prelude::*;
use syrch_plugin::replies::{SqlReply, sql_reply};
use syrch_plugin::text::line;

use crate::Habits;
use crate::cluster::counted;
use crate::generate::{Generator, Prompts};

/// A statement that ran.
pub(crate) struct Contender {
    pub(crate) candidate: Candidate,
    pub(crate) results: Rc<ResultSet>,
    pub(crate) rows: u64,
}

/// What came of all draws.
pub(crate) struct Drawn {
    /// Those that ran, in the order of their draws.
    pub(crate) contenders: Vec<Contender>,
    /// Draws for which the model replied, whatever came of the reply.
    pub(crate) heard: u32,
    /// What was wrong at last, when nothing ran.
    pub(crate) wrong: Option<String>,
    /// Why no call or no statement can do any more.
    pub(crate) failed: Option<Failure>,
}

/// One draw and its repairs.
struct Draw {
    generator: Generator,
    sample: u32,
    /// Counts over its attempts.
    signals: Signals,
    tried: Vec<Tried>,
    last_id: Option<String>,
    best: Option<Contender>,
    is_heard: bool,
    is_over: bool,
}

/// A reply's statement, with the draw that it is of.
struct Stated {
    draw: usize,
    said: SqlReply,
    logprob: Option<f64>,
    tokens: f64,
}

/// The draws of one task under way.
pub(crate) struct Drawing<'a, H> {
    host: &'a H,
    habits: &'a Habits,
    task: &'a Task,
    prompts: Prompts<'a>,
    draws: Vec<Draw>,
    /// Attempts of one draw.
    most: u32,
    proposed: u32,
    /// What each text gave, so that no text runs twice.
    known: BTreeMap<String, Result<Rc<ResultSet>, SqlError>>,
    wrong: Option<String>,
    failed: Option<Failure>,
}

impl<'a, H: SolverHost> Drawing<'a, H> {
    pub(crate) fn new(
        host: &'a H,
        habits: &'a Habits,
        task: &'a Task,
        prompts: Prompts<'a>,
        lots: &[Generator],
    ) -> Self {
        // The policy's attempts are those at one statement; rivals are no attempts.
        let most = habits.repairs.saturating_add(1).min(host.policy().max_attempts.max(1));
        let draw = |(index, generator): (usize, &Generator)| Draw {
            generator: *generator,
            sample: counted(index),
            signals: Signals { max_attempts: most, ..Signals::default() },
            tried: Vec::new(),
            last_id: None,
            best: None,
            is_heard: false,
            is_over: false,
        };
        let draws = lots.iter().enumerate().map(draw).collect();
        let known = BTreeMap::new();
        Self { host, habits, task, prompts, draws, most, proposed: 0, known, wrong: None, failed: None }
    }

    /// Draws, and repairs what failed, until all have done, no attempt is left, or no call or statement can do any more.
    pub(crate) fn run(mut self) -> Drawn {
        for _ in 0..self.most {
            let open: Vec<usize> = (0..self.draws.len()).filter(|index| self.is_open(&self.draws[*index])).collect();
            if open.is_empty() || self.failed.is_some() {
                break;
            }
            let replies = self.ask(&open);
            let stated = self.read(&open, replies);
            self.execute(&stated);
            stated.into_iter().for_each(|stated| self.settle(stated));
        }
        Drawn {
            heard: counted(self.draws.iter().filter(|draw| draw.is_heard).count()),
            contenders: self.draws.into_iter().filter_map(|draw| draw.best).collect(),
            wrong: self.wrong,
            failed: self.failed,
        }
    }

    fn is_open(&self, draw: &Draw) -> bool {
        let is_good = |best: &Contender| best.rows > 0 || !self.habits.repair_empty;
        !draw.is_over && !draw.best.as_ref().is_some_and(is_good)
    }

    /// The replies to all open draws. Prompts that are too long are made shorter and asked again, until that is no more use.
    fn ask(&mut self, open: &[usize]) -> Vec<Result<Reply, LlmError>> {
        let mut replies = self.host.complete_all(&self.requests(open));
        loop {
            let is_long = |place: &usize| matches!(replies.get(*place), Some(Err(LlmError::TooLarge)));
            let long: Vec<usize> = (0..open.len()).filter(is_long).collect();
            if long.is_empty() || !self.prompts.shorten() {
                return replies;
            }
            let again: Vec<usize> = long.iter().map(|place| open[*place]).collect();
            for (place, reply) in long.into_iter().zip(self.host.complete_all(&self.requests(&again))) {
                replies[place] = reply;
            }
        }
    }

    fn requests(&self, open: &[usize]) -> Vec<Request> {
        let lots = counted(self.draws.len());
        let request = |index: &usize| {
            let draw = &self.draws[*index];
            // A reply without a statement is drawn anew, not repaired.
            let lost = counted(draw.tried.iter().filter(|tried| tried.sql.is_empty()).count());
            self.prompts.request(draw.generator, &draw.tried, draw.sample + lost * lots)
        };
        open.iter().map(request).collect()
    }

    fn read(&mut self, open: &[usize], replies: Vec<Result<Reply, LlmError>>) -> Vec<Stated> {
        let mut stated = Vec::new();
        let mut silent: Vec<String> = Vec::new();
        for (index, reply) in open.iter().copied().zip(replies) {
            match reply {
                Ok(reply) => match sql_reply(&reply) {
                    Some(said) => stated.push(self.heard(index, said, &reply)),
                    None => self.no_statement(index, "the reply held no statement".to_owned()),
                },
                Err(LlmError::Malformed(start)) => {
                    let wrong = format!("the reply held no statement; it began: {}", line(&start, 200));
                    self.no_statement(index, wrong);
                }
                Err(error) => {
                    self.draws[index].is_over = true;
                    silent.push(llm_words(&error));
                    // Who abstains may yet answer another call; after anything else none will do.
                    if !matches!(error, LlmError::Refused(_) | LlmError::Unsupported(_)) {
                        self.failed.get_or_insert_with(|| llm_failure(&error));
                    }
                }
            }
        }
        if let Some(why) = silent.first() {
            let told = format!("{}: {} of {} calls came to nothing: {why}", self.task.id, silent.len(), open.len());
            self.host.note(Level::Info, &told);
            self.wrong.get_or_insert_with(|| why.clone());
        }
        stated
    }

    fn heard(&mut self, index: usize, said: SqlReply, reply: &Reply) -> Stated {
        let draw = &mut self.draws[index];
        draw.is_heard = true;
        draw.signals.attempts += 1;
        let tokens = f64::from(reply.usage.input_tokens) + f64::from(reply.usage.output_tokens);
        Stated { draw: index, said, logprob: reply.logprob, tokens }
    }

    fn no_statement(&mut self, index: usize, wrong: String) {
        let draw = &mut self.draws[index];
        draw.is_heard = true;
        draw.signals.attempts += 1;
        draw.signals.syntax_errors += 1;
        self.wrong = Some(wrong.clone());
        draw.tried.push(Tried { sql: String::new(), wrong });
    }

    /// Runs the texts that were not run before, all of them at once.
    fn execute(&mut self, stated: &[Stated]) {
        let mut texts: Vec<String> = Vec::new();
        for Stated { said: SqlReply { sql, .. }, .. } in stated {
            if self.known.contains_key(sql) || texts.contains(sql) {
                continue;
            }
            match self.host.check(sql) {
                Ok(_) => texts.push(sql.clone()),
                Err(error) => drop(self.known.insert(sql.clone(), Err(error))),
            }
        }
        let ends = if texts.is_empty() { Vec::new() } else { self.host.run_all(&texts) };
        for (text, end) in texts.into_iter().zip(ends) {
            self.known.insert(text, end.map(Rc::new));
        }
    }

    /// Tells people of a statement, and keeps it or what was wrong with it.
    fn settle(&mut self, stated: Stated) {
        let Some(end) = self.known.get(&stated.said.sql).cloned() else { return };
        let mut signals = self.draws[stated.draw].signals.clone();
        match end {
            Ok(results) => {
                let profile = results.profile();
                let doubts = attempt::look(self.habits.overflow_rows, &profile, &mut signals);
                let index = stated.draw;
                let candidate = self.propose(stated, signals);
                self.ran(index, Contender { candidate, results, rows: profile.rows }, &doubts);
            }
            Err(error) => {
                let trial = attempt::failed(&error, &mut signals);
                let (index, sql) = (stated.draw, stated.said.sql.clone());
                let candidate = self.propose(stated, signals);
                let wrong = match trial {
                    Trial::Over(failure) => {
                        let message = failure.message.clone();
                        self.failed.get_or_insert(failure);
                        message
                    }
                    Trial::Failed(wrong) => wrong,
                    Trial::Ran { .. } => return,
                };
                self.host.discard(&candidate.id, &wrong);
                self.wrong = Some(wrong.clone());
                self.draws[index].tried.push(Tried { sql, wrong });
            }
        }
    }

    fn propose(&mut self, stated: Stated, mut signals: Signals) -> Candidate {
        self.proposed += 1;
        let id = candidate_id(&self.task.id, self.proposed);
        let draw = &mut self.draws[stated.draw];
        // Errors add up over the attempts; what a result looked like is that result's alone.
        draw.signals.syntax_errors = signals.syntax_errors;
        draw.signals.schema_errors = signals.schema_errors;
        draw.signals.execution_errors = signals.execution_errors;
        signals.logprob = stated.logprob;
        signals.extra.push(("tokens".to_owned(), stated.tokens));
        let parents: Vec<String> = draw.last_id.replace(id.clone()).into_iter().collect();
        let origin = draw.generator.name();
        let candidate = Candidate {
            id,
            origin: if parents.is_empty() { origin.to_owned() } else { format!("{origin} repair") },
            parents,
            sql: stated.said.sql,
            raw_confidence: stated.said.confidence,
            signals,
            ..Candidate::default()
        };
        self.host.propose(&candidate);
        candidate
    }

    /// Keeps a statement that ran; one without rows stays, when its repair has none either.
    fn ran(&mut self, index: usize, contender: Contender, doubts: &[String]) {
        let draw = &mut self.draws[index];
        let id = &contender.candidate.id;
        if contender.rows == 0 && self.habits.repair_empty {
            draw.tried.push(Tried { sql: contender.candidate.sql.clone(), wrong: doubts.join("; ") });
        }
        match &draw.best {
            Some(first) if contender.rows == 0 => {
                return self.host.discard(id, &format!("it has no rows either, as {}", first.candidate.id));
            }
            Some(first) => self.host.discard(&first.candidate.id, &format!("it has no rows; its repair {id} has")),
            None => {}
        }
        draw.best = Some(contender);
    }
}
