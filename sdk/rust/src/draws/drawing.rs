//! Concurrent model calls, and the test of their statements.

use super::pool::{Draw, Pool};
use super::{Sampler, Stopped};
use crate::attempt::{Ended, Statement, Trials, Written, too_large, written};
use crate::prelude::*;

/// The draws in flight and those that ended.
#[derive(Debug)]
pub struct Drawing<'a, H> {
    host: &'a H,
    task: &'a Task,
    most: u32,
    trials: Trials,
    started: u32,
    // Draws are logged in the order of their numbers: how many were logged.
    logged: u32,
    in_flight: Vec<Call>,
    // The numbers of draws whose prompts were too large and that are to be requested again,
    // ascending.
    again: Vec<u32>,
    // How often the prompts were made shorter.
    shortened: u32,
    // The numbers of the draws that were passed to `Sampler::observe`.
    seen: Vec<u32>,
    /// The draws that ended.
    pub pool: Pool,
}

#[derive(Debug)]
struct Call {
    number: u32,
    repairs: Option<u32>,
    // How often the prompts had been made shorter before this request.
    shortened: u32,
    pending: PendingReply,
}

impl<'a, H: Wait + Llm + Inspect + Sql + Rows + Cells + Trace> Drawing<'a, H> {
    /// A drawing of at most `most` statements. More rows than `overflow_rows` are a doubt.
    pub fn new(host: &'a H, task: &'a Task, most: u32, overflow_rows: u64) -> Self {
        Self {
            host,
            task,
            most,
            trials: Trials::new(overflow_rows),
            started: 0,
            logged: 0,
            in_flight: Vec::new(),
            again: Vec::new(),
            shortened: 0,
            seen: Vec::new(),
            pool: Pool::default(),
        }
    }

    /// Draws until the sampler has enough. It can be called again, for example after a result was
    /// rejected. If the model abstains or fails, the draws in flight are waited for, since they are
    /// charged anyway; if the database fails, they are cancelled. A prompt that is too large does
    /// not count as a draw: it is made shorter and requested again, once for each of its sizes.
    pub fn run(&mut self, sampler: &mut impl Sampler) -> Stopped {
        let mut stopped = None;
        loop {
            if stopped.is_none() && (self.in_flight.is_empty() || !sampler.in_rounds()) {
                let missing = sampler.missing(&self.pool) as usize;
                if missing == 0 {
                    self.cancel();
                    return Stopped::Done;
                }
                self.start(sampler, missing);
            }
            if self.in_flight.is_empty() {
                self.cancel();
                return stopped.unwrap_or(Stopped::Done);
            }
            let tested = self.receive(sampler, &mut stopped);
            if tested.is_err() {
                self.cancel();
            }
            self.log();
            self.show(sampler);
            if let Err(failure) = tested {
                return Stopped::Failed(failure);
            }
        }
    }

    fn show(&mut self, sampler: &mut impl Sampler) {
        for draw in self.pool.draws() {
            if !self.seen.contains(&draw.number) {
                self.seen.push(draw.number);
                sampler.observe(draw);
            }
        }
    }

    /// Returns the number of draws that were started.
    #[must_use]
    pub fn draw_count(&self) -> u32 {
        self.started
    }

    fn start(&mut self, sampler: &mut impl Sampler, missing: usize) {
        while self.in_flight.len() < missing {
            let Some(number) = self.next() else { return };
            let request = sampler.request(number, &self.pool);
            let repairs = self.repair_target(&request);
            let pending = self.host.start_reply(&request);
            self.in_flight.push(Call { number, repairs, shortened: self.shortened, pending });
        }
    }

    /// The number of the draw to start next: one that is requested again, else a new one; `None` if
    /// all were started.
    fn next(&mut self) -> Option<u32> {
        if !self.again.is_empty() {
            return Some(self.again.remove(0));
        }
        let is_left = self.started < self.most;
        self.started += u32::from(is_left);
        is_left.then_some(self.started)
    }

    /// The draw whose statement is the last of those that a repair is about.
    fn repair_target(&self, request: &Request) -> Option<u32> {
        let sql = request.subjects.last().filter(|_| request.purpose == Purpose::Repair)?;
        self.pool.draws().iter().rfind(|draw| draw.sql == *sql).map(|draw| draw.number)
    }

    fn cancel(&mut self) {
        for call in self.in_flight.drain(..) {
            call.pending.cancel();
        }
        self.again.clear();
        self.log();
    }

    /// Logs each statement after all with smaller numbers have ended, so that the log does not
    /// depend on which call was quicker. The reason of a failed one follows at once.
    fn log(&mut self) {
        while self.logged < self.started {
            let number = self.logged + 1;
            match self.pool.draw(number) {
                Some(draw) if !draw.sql.is_empty() => {
                    let candidate = self.pool.candidate(self.task, draw, self.most);
                    self.host.propose(&candidate);
                    if let Some(wrong) = draw.ended.wrong() {
                        self.host.discard(&candidate.id, wrong);
                    }
                }
                None if self.is_awaited(number) => return,
                _ => {}
            }
            self.logged = number;
        }
    }

    fn is_awaited(&self, number: u32) -> bool {
        self.again.contains(&number) || self.in_flight.iter().any(|call| call.number == number)
    }

    /// The calls that are ready, by number, with their replies. A call that is ready without a
    /// reply counts as cancelled, so that no wait is endless.
    fn wait(&mut self) -> Vec<(Call, Result<Reply, LlmError>)> {
        let tickets: Vec<u32> = self.in_flight.iter().map(|call| call.pending.ticket()).collect();
        let ready = self.host.any(&tickets);
        let is_ready = |call: &Call| ready.is_empty() || ready.contains(&call.pending.ticket());
        let (ready, waiting) = std::mem::take(&mut self.in_flight).into_iter().partition(is_ready);
        self.in_flight = waiting;
        Vec::<Call>::into_iter(ready)
            .map(|call: Call| {
                let reply = call.pending.get().unwrap_or(Err(LlmError::Cancelled));
                (call, reply)
            })
            .collect()
    }

    /// Waits for replies and tests their statements together. The error is the database's; the pool
    /// has all draws that ended then too.
    fn receive(
        &mut self,
        sampler: &mut impl Sampler,
        stopped: &mut Option<Stopped>,
    ) -> Result<(), Failure> {
        let mut statements: Vec<(Call, Statement)> = Vec::new();
        for (call, reply) in self.wait() {
            match written(reply) {
                Written::Statement(statement) => statements.push((call, statement)),
                Written::NoStatement(wrong) => self.no_statement(&call, wrong),
                Written::TooLarge if self.shorten(sampler, call.shortened) => {
                    let at = self.again.partition_point(|earlier| *earlier < call.number);
                    self.again.insert(at, call.number);
                }
                Written::TooLarge => {
                    stopped.get_or_insert_with(|| Stopped::Failed(too_large()));
                }
                Written::Abstained(why) => {
                    stopped.get_or_insert(Stopped::Abstained(why));
                }
                Written::Failed(failure) => {
                    stopped.get_or_insert(Stopped::Failed(failure));
                }
            }
        }
        let tested = self
            .trials
            .run(self.host, statements.iter().map(|(_, statement)| statement.sql.as_str()));
        for (call, statement) in statements {
            self.insert(&call, statement);
        }
        tested
    }

    /// Returns true if a prompt that was too large may be requested again: another draw of its size
    /// has shortened it since, or it is shortened now.
    fn shorten(&mut self, sampler: &mut impl Sampler, size: u32) -> bool {
        if size == self.shortened && sampler.shorten() {
            self.shortened += 1;
        }
        size < self.shortened
    }

    fn no_statement(&mut self, call: &Call, wrong: String) {
        let &Call { number, repairs, .. } = call;
        let signals = Signals { syntax_errors: 1, ..Signals::default() };
        let ended = Ended::Failed(wrong);
        self.pool.insert(Draw {
            number,
            repairs,
            sql: String::new(),
            confidence: None,
            ended,
            signals,
        });
    }

    fn insert(&mut self, call: &Call, statement: Statement) {
        let &Call { number, repairs, .. } = call;
        let Some(trial) = self.trials.get(&statement.sql).cloned() else { return };
        let Statement { sql, confidence, logprob, tokens } = statement;
        let signals =
            Signals { logprob, extra: vec![("tokens".to_owned(), tokens)], ..trial.signals };
        self.pool.insert(Draw { number, repairs, sql, confidence, ended: trial.ended, signals });
    }
}
