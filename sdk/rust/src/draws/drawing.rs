//! Model calls side by side, and the way of their statements through the database.

use std::rc::Rc;

use super::pool::{Came, Draw, Pool, Ran};
use super::{Sampler, Stopped};
use crate::attempt::{self, Trial};
use crate::failure::llm_words;
use crate::prelude::*;
use crate::replies::{SqlReply, sql_reply};
use crate::text::line;

/// Draws under way and those that ended.
#[derive(Debug)]
pub struct Drawing<'a, H> {
    host: &'a H,
    task: &'a Task,
    most: u32,
    overflow_rows: u64,
    started: u32,
    // People are told of draws in the order of their numbers: of how many by now.
    told: u32,
    under_way: Vec<UnderWay>,
    // Draws whose prompts were too large and are to be asked for again, ascending.
    again: Vec<u32>,
    // How often the prompts were made shorter.
    shortened: u32,
    // The numbers of the draws that the sampler has seen.
    seen: Vec<u32>,
    /// What came so far.
    pub pool: Pool,
}

#[derive(Debug)]
struct UnderWay {
    number: u32,
    repairs: Option<u32>,
    // How often the prompts had been made shorter when it was asked for.
    shortened: u32,
    pending: PendingReply,
}

struct Replied {
    number: u32,
    repairs: Option<u32>,
    shortened: u32,
    reply: Result<Reply, LlmError>,
}

// A reply's statement, on its way to the database.
struct Stated {
    draw: Draw,
    facts: Facts,
}

impl<'a, H: Wait + Llm + Inspect + Sql + Trace> Drawing<'a, H> {
    /// A drawing of at most that many statements. More rows than `overflow_rows` are a doubt.
    pub fn new(host: &'a H, task: &'a Task, most: u32, overflow_rows: u64) -> Self {
        Self {
            host,
            task,
            most,
            overflow_rows,
            started: 0,
            told: 0,
            under_way: Vec::new(),
            again: Vec::new(),
            shortened: 0,
            seen: Vec::new(),
            pool: Pool::default(),
        }
    }

    /// Draws until the sampler has enough. It can be called again, for example after a result was rejected. Draws that were under way
    /// when the model abstained or failed are waited for, since they are paid for; when the database failed, they are cancelled. A prompt
    /// that is too large is no draw: it is made shorter and asked again, once for each of its sizes.
    pub fn run(&mut self, sampler: &mut impl Sampler) -> Stopped {
        let mut stopped = None;
        loop {
            if stopped.is_none() && (self.under_way.is_empty() || !sampler.in_rounds()) {
                let missing = sampler.missing(&self.pool) as usize;
                if missing == 0 {
                    self.cancel();
                    return Stopped::Done;
                }
                self.start(sampler, missing);
            }
            if self.under_way.is_empty() {
                self.cancel();
                return stopped.unwrap_or(Stopped::Done);
            }
            let replies = self.wait();
            let taken = self.take(sampler, replies, &mut stopped);
            if taken.is_err() {
                self.cancel();
            }
            self.tell();
            self.show(sampler);
            if let Err(why) = taken {
                return Stopped::Failed(why);
            }
        }
    }

    fn show(&mut self, sampler: &mut impl Sampler) {
        for draw in self.pool.draws() {
            if !self.seen.contains(&draw.number) {
                self.seen.push(draw.number);
                sampler.seen(draw);
            }
        }
    }

    /// How many draws were started.
    #[must_use]
    pub fn started(&self) -> u32 {
        self.started
    }

    fn start(&mut self, sampler: &mut impl Sampler, missing: usize) {
        while self.under_way.len() < missing {
            let Some(number) = self.next() else { return };
            let request = sampler.request(number, &self.pool);
            let repairs = self.repaired(&request);
            let pending = self.host.start_reply(&request);
            self.under_way.push(UnderWay { number, repairs, shortened: self.shortened, pending });
        }
    }

    /// The number of the draw to start next: one that is asked for again, else a new one; none when all were made.
    fn next(&mut self) -> Option<u32> {
        if !self.again.is_empty() {
            return Some(self.again.remove(0));
        }
        let is_left = self.started < self.most;
        self.started += u32::from(is_left);
        is_left.then_some(self.started)
    }

    /// The draw whose statement is the last of those that a repair is about.
    fn repaired(&self, request: &Request) -> Option<u32> {
        let sql = request.subjects.last().filter(|_| request.purpose == Purpose::Repair)?;
        self.pool.draws().iter().rfind(|draw| draw.sql == *sql).map(|draw| draw.number)
    }

    fn cancel(&mut self) {
        for call in self.under_way.drain(..) {
            call.pending.cancel();
        }
        self.again.clear();
        self.tell();
    }

    /// Tells people of the statements that came, each once all before it have come or been given up, and at once what was wrong with one
    /// that cannot be run: what is told does not depend on which call was quicker.
    fn tell(&mut self) {
        while self.told < self.started {
            let number = self.told + 1;
            match self.pool.draw(number) {
                Some(draw) if !draw.sql.is_empty() => {
                    let candidate = self.pool.candidate(self.task, draw, self.most);
                    self.host.propose(&candidate);
                    if let Came::Failed(wrong) = &draw.came {
                        self.host.discard(&candidate.id, wrong);
                    }
                }
                None if self.is_awaited(number) => return,
                _ => {}
            }
            self.told = number;
        }
    }

    fn is_awaited(&self, number: u32) -> bool {
        self.again.contains(&number) || self.under_way.iter().any(|call| call.number == number)
    }

    /// The replies that are ready, by number. A call that says it is ready and has no reply counts as cancelled, so that no wait is
    /// endless.
    fn wait(&mut self) -> Vec<Replied> {
        let tickets: Vec<u32> = self.under_way.iter().map(|call| call.pending.ticket()).collect();
        let ready = self.host.any(&tickets);
        let calls = std::mem::take(&mut self.under_way);
        let mut replies = Vec::new();
        for call in calls {
            if ready.is_empty() || ready.contains(&call.pending.ticket()) {
                let reply = call.pending.get().unwrap_or(Err(LlmError::Cancelled));
                let UnderWay { number, repairs, shortened, .. } = call;
                replies.push(Replied { number, repairs, shortened, reply });
            } else {
                self.under_way.push(call);
            }
        }
        replies
    }

    /// Takes replies through the database, all of them at once. The error is the database's; what came before it, or beside it, is in the
    /// pool then too.
    fn take(
        &mut self,
        sampler: &mut impl Sampler,
        replies: Vec<Replied>,
        stopped: &mut Option<Stopped>,
    ) -> Result<(), Failure> {
        let mut stated = Vec::new();
        let mut over = Ok(());
        for Replied { number, repairs, shortened, reply } in replies {
            let came = Came::Failed(String::new());
            let draw =
                Draw { number, repairs, sql: String::new(), confidence: None, came, signals: Signals::default() };
            match reply {
                Ok(reply) => match sql_reply(&reply) {
                    Some(said) => self.read(said_by(draw, said, &reply), &mut stated, &mut over),
                    None => self.no_statement(draw, "the reply held no statement".to_owned()),
                },
                Err(LlmError::Malformed(start)) => {
                    self.no_statement(draw, format!("the reply held no statement; it began: {}", line(&start, 200)));
                }
                Err(LlmError::TooLarge) if self.shorten(sampler, shortened) => {
                    let at = self.again.partition_point(|earlier| *earlier < number);
                    self.again.insert(at, number);
                }
                Err(error @ (LlmError::Refused(_) | LlmError::Unsupported(_))) => {
                    stopped.get_or_insert(Stopped::Abstained(llm_words(&error)));
                }
                Err(error) => {
                    stopped.get_or_insert(Stopped::Failed(llm_failure(&error)));
                }
            }
        }
        let ended = self.execute(stated);
        over.and(ended)
    }

    /// Whether a prompt that was too large may be asked again: it was made shorter since, by another draw of its size, or is now.
    fn shorten(&mut self, sampler: &mut impl Sampler, size: u32) -> bool {
        if size == self.shortened && sampler.shorten() {
            self.shortened += 1;
        }
        size < self.shortened
    }

    fn no_statement(&mut self, mut draw: Draw, wrong: String) {
        draw.signals.syntax_errors = 1;
        draw.came = Came::Failed(wrong);
        self.pool.insert(draw);
    }

    /// Checks a statement; one that may run goes to the others. Once the database is over, the reason stands for what was not checked.
    fn read(&mut self, mut draw: Draw, stated: &mut Vec<Stated>, over: &mut Result<(), Failure>) {
        if let Err(failure) = over {
            draw.came = Came::Failed(failure.message.clone());
            self.pool.insert(draw);
            return;
        }
        match self.check(draw) {
            Ok(checked) => stated.extend(checked),
            Err(failure) => *over = Err(failure),
        }
    }

    /// None when the statement need not run: it fails its check, or ran before.
    fn check(&mut self, mut draw: Draw) -> Result<Option<Stated>, Failure> {
        if let Some(twin) = self.pool.draws().iter().find(|twin| twin.sql == draw.sql) {
            draw.came = twin.came.clone();
            draw.signals = with_counts_of(draw.signals, &twin.signals);
            self.pool.insert(draw);
            return Ok(None);
        }
        match self.host.check(&draw.sql) {
            Ok(facts) => Ok(Some(Stated { draw, facts })),
            Err(error) => self.failed(draw, &error).map(|()| None),
        }
    }

    /// Runs each text once. The error is that of the first that could not run for a reason that holds for all.
    fn execute(&mut self, stated: Vec<Stated>) -> Result<(), Failure> {
        let mut texts: Vec<String> = Vec::new();
        let (firsts, twins): (Vec<Stated>, Vec<Stated>) = stated.into_iter().partition(|stated| {
            let is_first = !texts.contains(&stated.draw.sql);
            if is_first {
                texts.push(stated.draw.sql.clone());
            }
            is_first
        });
        let ends = if texts.is_empty() { Vec::new() } else { self.host.run_all(&texts) };
        let mut over = Ok(());
        for (stated, end) in firsts.into_iter().zip(ends) {
            let ended = match end {
                Ok(results) => {
                    self.ran(stated, results);
                    Ok(())
                }
                Err(error) => self.failed(stated.draw, &error),
            };
            over = over.and(ended);
        }
        for twin in twins {
            // Its text is in the pool by now.
            over = over.and(self.check(twin.draw).map(|_| ()));
        }
        over
    }

    fn ran(&mut self, stated: Stated, results: ResultSet) {
        let Stated { mut draw, facts } = stated;
        let profile = results.profile();
        let doubts = attempt::look(self.overflow_rows, &profile, &mut draw.signals);
        // A host that knows no fingerprint leaves each text its own result.
        let fingerprint = results.fingerprint(&Equality::Bag).unwrap_or_else(|| facts.normalized.clone());
        draw.came = Came::Ran(Rc::new(Ran { facts, results, profile, doubts, fingerprint }));
        self.pool.insert(draw);
    }

    fn failed(&mut self, mut draw: Draw, error: &SqlError) -> Result<(), Failure> {
        match attempt::failed(error, &mut draw.signals) {
            Trial::Over(failure) => {
                draw.came = Came::Failed(failure.message.clone());
                self.pool.insert(draw);
                return Err(failure);
            }
            Trial::Failed(wrong) => draw.came = Came::Failed(wrong),
            Trial::Ran { .. } => {}
        }
        self.pool.insert(draw);
        Ok(())
    }
}

/// The draw with what a reply says.
fn said_by(mut draw: Draw, said: SqlReply, reply: &Reply) -> Draw {
    (draw.sql, draw.confidence) = (said.sql, said.confidence);
    draw.signals.logprob = reply.logprob;
    let usage = f64::from(reply.usage.input_tokens) + f64::from(reply.usage.output_tokens);
    draw.signals.extra.push(("tokens".to_owned(), usage));
    draw
}

fn with_counts_of(own: Signals, twin: &Signals) -> Signals {
    Signals { logprob: own.logprob, extra: own.extra, ..twin.clone() }
}
