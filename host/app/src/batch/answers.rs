//! The replies of a batch as a stream: takes lines as slots become free, searches for several at
//! once, and gives replies in the order that is wanted.

use std::any::Any;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use futures::Stream;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use serde_json::Value;
use syrch_journal::Folder;
use syrch_scheduler::Stop;
use syrch_suites::run::{Fault, UsedUp};
use tokio::task::{Id, JoinError, JoinSet};

use super::hosts::{Hosts, NoHost};
use super::{Ending, Line, Options, Order, Question, Reply};
use crate::conversation::Conversation;
use crate::report::CostReport;
use crate::report::Searched;
use crate::{Callbacks, Error, Meter, Silent, search};

/// Lines under way for each worker, those whose replies wait included.
const WINDOW: usize = 64;
/// The approximate size of waiting replies from which on no further line is taken, in bytes.
const HELD: usize = 64 << 20;

/// The totals of a batch so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Totals {
    /// Lines that are not blank.
    pub lines: u64,
    /// Replies by how they ended.
    pub answered: u64,
    /// The number of replies without an acceptable answer.
    pub no_answer: u64,
    /// The number of replies with a question to the user.
    pub clarification_needed: u64,
    /// The number of replies with an error, and of those of which a budget left parts open.
    pub failed: u64,
    /// Model calls, those that a cache answered included.
    pub calls: u64,
    /// Tokens of prompts and replies.
    pub tokens: u64,
    /// Cost in US dollars; `None` if the cost of no search is known.
    pub usd: Option<f64>,
    /// The budget for whose sake lines are not asked any more.
    pub used_up: Option<UsedUp>,
}

impl Totals {
    /// Adds a reply that was given before, with what it cost. Of one that a budget of the whole
    /// batch left open only the cost counts, since its line is asked again.
    pub fn count(&mut self, reply: &Reply) {
        if !reply.is_open {
            self.lines += 1;
            self.count_ending(reply.outcome);
        }
        reply.answer.iter().for_each(|document| self.pay(&document.cost));
        reply.cost.iter().for_each(|cost| self.pay(cost));
    }

    fn count_ending(&mut self, ending: Ending) {
        *match ending {
            Ending::Answered => &mut self.answered,
            Ending::NoAnswer => &mut self.no_answer,
            Ending::ClarificationNeeded => &mut self.clarification_needed,
            Ending::Partial | Ending::Failed => &mut self.failed,
        } += 1;
    }

    fn pay(&mut self, cost: &CostReport) {
        let saved = &cost.saved;
        self.calls += u64::from(cost.calls) + u64::from(cost.count_cache_hits());
        self.tokens +=
            cost.input_tokens + cost.output_tokens + saved.input_tokens + saved.output_tokens;
        if let Some(usd) = cost.usd_of_all() {
            self.usd = Some(self.usd.unwrap_or(0.0) + usd);
        }
    }
}

/// The reason why a batch ended before its lines did.
#[derive(Debug)]
pub enum Stopped {
    /// The caller stopped the batch.
    Interrupted,
    /// The model's endpoint failed for so many searches, one after the other.
    Outage {
        /// The number of failed searches in a row.
        searches: u32,
        /// The message of the last error.
        message: String,
    },
    /// Something that no line would survive: a plugin that is refused, a setting that is wrong.
    Fatal(Error),
}

/// The ending of a batch.
#[derive(Debug)]
pub struct Ended {
    /// The totals by ending, and their cost.
    pub totals: Totals,
    /// The reason why it stopped; `None` if every line has its reply.
    pub stopped: Option<Stopped>,
}

/// The limit on conversations whose last question is known. Beyond it, the one is forgotten that
/// has been silent for longest.
const CONVERSATIONS: usize = 1_000;

/// A search that came to its end.
enum Done {
    Searched(Box<Searched>),
    NoHost(NoHost),
    /// The time of the whole batch was over before.
    Late(Box<CostReport>),
}

/// A line under way: its place in the order, its id and its number.
struct UnderWay {
    place: u64,
    id: Value,
    number: u64,
    has_evidence: bool,
    conversation: Option<Key>,
}

/// A conversation by its database and its id.
type Key = (Option<String>, String);

/// A line with its question that was accepted.
struct Accepted {
    place: u64,
    id: Value,
    number: u64,
    question: Question,
}

/// A conversation of the lines.
#[derive(Default)]
struct Talk {
    /// The conversation so far, which stays as it is if the task of its present question breaks.
    conversation: Conversation,
    /// True while one of its questions is asked.
    is_busy: bool,
    /// The lines that wait for it.
    queue: VecDeque<Accepted>,
    /// The place of its last line.
    last: u64,
}

/// The replies of a batch, as a stream. It ends when all lines have theirs, or when something stops
/// it; [`Answers::finish`] returns which.
pub struct Answers<'a> {
    hosts: Arc<Hosts>,
    options: Options,
    /// `None` if there are no more.
    lines: Option<BoxStream<'a, Line>>,
    stop: BoxFuture<'static, ()>,
    running: JoinSet<(Done, Conversation)>,
    under_way: BTreeMap<Id, UnderWay>,
    talks: HashMap<Key, Talk>,
    /// Lines that wait for the one before in their conversation, and the bytes of their questions.
    queued: (usize, usize),
    /// Replies that are not given yet, by their place, with about how many bytes they take.
    waiting: BTreeMap<u64, (Reply, usize)>,
    held: usize,
    /// The place of the next line that is taken, and of the next reply that is given.
    next: (u64, u64),
    /// Failures for the model's sake, one after the other.
    outages: u32,
    totals: Totals,
    stopped: Option<Stopped>,
    began: Instant,
}

impl<'a> Answers<'a> {
    pub(super) fn new(
        hosts: Arc<Hosts>,
        options: Options,
        lines: BoxStream<'a, Line>,
        stop: &Stop,
    ) -> Self {
        let stop = stop.clone();
        let totals = options.earlier.clone();
        let usd = totals.usd.unwrap_or(0.0);
        hosts.limit_together(&options.budgets.subtract(totals.calls, totals.tokens, usd));
        Self {
            hosts,
            options,
            lines: Some(lines),
            stop: Box::pin(async move { stop.wait_until_triggered().await }),
            running: JoinSet::new(),
            under_way: BTreeMap::new(),
            talks: HashMap::new(),
            queued: (0, 0),
            waiting: BTreeMap::new(),
            held: 0,
            next: (0, 0),
            outages: 0,
            totals,
            stopped: None,
            began: Instant::now(),
        }
    }

    /// Returns the totals so far.
    #[must_use]
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Ends it; searches under way are dropped.
    #[must_use]
    pub fn finish(self) -> Ended {
        Ended { totals: self.totals, stopped: self.stopped }
    }

    /// Returns whether a reply may be given now.
    fn is_due(&self) -> bool {
        let is_any = self.options.order == Order::Ended || self.stopped.is_some();
        self.waiting.first_key_value().is_some_and(|(place, _)| is_any || *place == self.next.1)
    }

    /// The reply whose turn it is, if it is there.
    fn take_ready(&mut self) -> Option<Reply> {
        let (place, (reply, bytes)) =
            if self.is_due() { self.waiting.pop_first()? } else { return None };
        self.next.1 = place + 1;
        self.held -= bytes;
        self.totals.count_ending(reply.outcome);
        Some(reply)
    }

    fn wait(&mut self, place: u64, reply: Reply) {
        let bytes = reply.bytes();
        self.held += bytes;
        self.waiting.insert(place, (reply, bytes));
    }

    /// Returns whether another line may be taken.
    fn has_room(&self) -> bool {
        let workers = self.options.workers.max(1);
        let (queued, bytes) = self.queued;
        let outstanding = self.under_way.len() + self.waiting.len() + queued;
        self.stopped.is_none()
            && self.under_way.len() < workers
            && outstanding < workers.saturating_mul(WINDOW)
            && self.held + bytes < HELD
    }

    /// Takes as many lines as there are now and free slots for them.
    fn fill(&mut self, cx: &mut Context<'_>) {
        while self.has_room() {
            let Some(lines) = &mut self.lines else { return };
            match lines.as_mut().poll_next(cx) {
                Poll::Ready(Some(line)) => self.take(line),
                Poll::Ready(None) => self.lines = None,
                Poll::Pending => return,
            }
        }
    }

    fn take(&mut self, line: Line) {
        let Line { number, id, question } = line;
        let place = self.next.0;
        self.next.0 += 1;
        self.totals.lines += 1;
        match question {
            Ok(question) => self.accept(Accepted { place, id, number, question }),
            Err(fault) => self.wait(place, Reply::from_fault(id, number, fault)),
        }
    }

    /// Asks a question, or queues it behind the one before in its conversation.
    fn accept(&mut self, line: Accepted) {
        let Some(key) = line.question.key() else {
            return self.start(line, Conversation::default());
        };
        if !self.talks.contains_key(&key) && self.talks.len() >= CONVERSATIONS {
            self.forget_oldest();
        }
        let talk = self.talks.entry(key).or_default();
        talk.last = line.place;
        if talk.is_busy {
            self.queued.0 += 1;
            self.queued.1 += line.question.question.len();
            talk.queue.push_back(line);
            return;
        }
        talk.is_busy = true;
        let conversation = talk.conversation.clone();
        self.start(line, conversation);
    }

    fn forget_oldest(&mut self) {
        let idle = self.talks.iter().filter(|(_, talk)| !talk.is_busy);
        let oldest = idle.min_by_key(|(_, talk)| talk.last).map(|(key, _)| key.clone());
        oldest.into_iter().for_each(|key| drop(self.talks.remove(&key)));
    }

    /// Takes the conversation back from its question, if that has not broken, and asks the next one
    /// in it.
    fn go_on(&mut self, key: &Key, conversation: Option<Conversation>) {
        let Some(talk) = self.talks.get_mut(key) else { return };
        if let Some(conversation) = conversation {
            talk.conversation = conversation;
        }
        let conversation = talk.conversation.clone();
        let Some(line) = talk.queue.pop_front() else {
            talk.is_busy = false;
            return;
        };
        self.queued.0 -= 1;
        self.queued.1 -= line.question.question.len();
        self.start(line, conversation);
    }

    /// Searches for a line, unless a budget of the batch is used up.
    fn start(&mut self, line: Accepted, conversation: Conversation) {
        let Accepted { place, id, number, question } = line;
        let key = question.key();
        self.totals.used_up = self.totals.used_up.or_else(|| self.find_used_up());
        if let Some(used_up) = self.totals.used_up {
            self.wait(place, Reply::from_budget(id, number, refuse_by(used_up)));
            key.iter().for_each(|key| self.go_on(key, None));
            return;
        }
        if self.options.is_part && key.is_some() {
            self.wait(place, Reply::from_fault(id, number, split_conversation()));
            return;
        }
        let has_evidence = question.problem().evidence.is_some();
        let hosts = Arc::clone(&self.hosts);
        let traces = self.options.traces.clone();
        let left = self.options.budgets.time.map(|most| most.saturating_sub(self.began.elapsed()));
        let task = self.running.spawn(async move {
            let mut conversation = conversation;
            let meter = Meter::default();
            let asked = ask(&hosts, question, &mut conversation, traces.as_deref(), &meter);
            let done = match left {
                Some(left) => {
                    let done = tokio::time::timeout(left, asked).await;
                    done.unwrap_or_else(|_| Done::Late(Box::new(meter.cost())))
                }
                None => asked.await,
            };
            (done, conversation)
        });
        self.under_way
            .insert(task.id(), UnderWay { place, id, number, has_evidence, conversation: key });
    }

    fn find_used_up(&self) -> Option<UsedUp> {
        let budgets = &self.options.budgets;
        let totals = &self.totals;
        let all = [
            (budgets.calls.is_some_and(|most| totals.calls >= most), UsedUp::Calls),
            (budgets.tokens.is_some_and(|most| totals.tokens >= most), UsedUp::Tokens),
            (budgets.usd.is_some_and(|most| totals.usd.unwrap_or(0.0) >= most), UsedUp::Usd),
            (budgets.time.is_some_and(|most| self.began.elapsed() >= most), UsedUp::Time),
        ];
        all.into_iter().find(|(is_used_up, _)| *is_used_up).map(|(_, budget)| budget)
    }

    /// Notes a search that came to its end. What it stops the batch for.
    fn note(&mut self, ended: Result<(Id, (Done, Conversation)), JoinError>) -> Option<Stopped> {
        let task = ended.as_ref().map_or_else(JoinError::id, |(id, _)| *id);
        let UnderWay { place, id, number, has_evidence, conversation: key } =
            self.under_way.remove(&task)?;
        let (ended, conversation) = match ended {
            Ok((_, (done, conversation))) => (Ok(done), Some(conversation)),
            Err(error) => (Err(error), None),
        };
        let reply = match ended {
            Ok(Done::Searched(searched)) => {
                self.totals.pay(&searched.cost);
                if let Err(Error::Budget(which)) = &searched.report {
                    self.totals.used_up = self.totals.used_up.or(UsedUp::from_exhausted(*which));
                }
                Reply::from_search(id, number, *searched, self.hosts.simulation_label())
            }
            Ok(Done::Late(cost)) => {
                self.totals.used_up = Some(UsedUp::Time);
                self.totals.pay(&cost);
                let message = "cut off: the seconds of the whole batch are used up".to_owned();
                let cost = (cost.calls > 0 || cost.count_cache_hits() > 0).then_some(*cost);
                Reply { cost, ..Reply::from_budget(id, number, message) }
            }
            Ok(Done::NoHost(NoHost::Line(fault))) => Reply::from_fault(id, number, fault),
            Ok(Done::NoHost(NoHost::Fatal(error))) => return Some(Stopped::Fatal(error)),
            Err(error) if error.is_cancelled() => return None,
            Err(error) => Reply::from_fault(id, number, panic_fault(error)),
        };
        let reply = Reply {
            conversation: key.as_ref().map(|(_, conversation)| conversation.clone()),
            has_evidence,
            ..reply
        };
        let outage = reply
            .error
            .as_ref()
            .filter(|error| error.class == "model")
            .map(|error| error.message.clone());
        self.wait(place, reply);
        key.iter().for_each(|key| self.go_on(key, conversation.clone()));
        self.outages = if outage.is_some() { self.outages + 1 } else { 0 };
        let searches = self.outages;
        outage
            .filter(|_| searches == self.options.max_outages)
            .map(|message| Stopped::Outage { searches, message })
    }

    /// Ends it with what is done.
    fn halt(&mut self, why: Stopped) {
        if self.stopped.is_some() {
            return;
        }
        self.lines = None;
        while let Some(ended) = self.running.try_join_next_with_id() {
            // It stops already.
            drop(self.note(ended));
        }
        self.running.abort_all();
        self.stopped = Some(why);
    }
}

impl Stream for Answers<'_> {
    type Item = Reply;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Reply>> {
        let this = &mut *self;
        loop {
            if this.stopped.is_none() && this.stop.as_mut().poll(cx).is_ready() {
                this.halt(Stopped::Interrupted);
            }
            if let Some(reply) = this.take_ready() {
                return Poll::Ready(Some(reply));
            }
            this.fill(cx);
            match this.running.poll_join_next_with_id(cx) {
                // Whatever ends while it is dropped comes too late for its place in the order.
                Poll::Ready(Some(_)) if this.stopped.is_some() => {}
                Poll::Ready(Some(ended)) => {
                    if let Some(why) = this.note(ended) {
                        this.halt(why);
                    }
                }
                // A line that is wrong has its reply at once.
                _ if this.is_due() => {}
                Poll::Ready(None) if this.lines.is_none() => return Poll::Ready(None),
                _ => return Poll::Pending,
            }
        }
    }
}

/// Searches for a line.
async fn ask(
    hosts: &Hosts,
    question: Question,
    conversation: &mut Conversation,
    traces: Option<&Path>,
    meter: &Meter,
) -> Done {
    let host = match hosts.get(question.db.as_deref()).await {
        Ok(host) => host,
        Err(none) => return Done::NoHost(none),
    };
    let run = search::run_id(&question.question);
    let journal = traces.map(|folder| Folder::new(PathBuf::from(folder)).place(&run));
    let problem = question.problem();
    if question.conversation.is_none() {
        let callbacks = Callbacks::new(Silent);
        let stop = Stop::new();
        let searched =
            host.search_as_metered(&run, problem, journal, callbacks, &stop, meter).await;
        return Done::Searched(Box::new(searched));
    }
    if let Some(report) = conversation.explain(&problem.question) {
        let cost = CostReport::default();
        let searched = Searched { report: Ok(report), cost, access: Vec::new() };
        return Done::Searched(Box::new(searched));
    }
    let turn = match conversation.read(&host, problem).await {
        Ok(turn) => turn,
        Err(unread) => {
            let report = Err(Error::FollowUp(unread));
            let cost = CostReport::default();
            return Done::Searched(Box::new(Searched { report, cost, access: Vec::new() }));
        }
    };
    let callbacks = Callbacks::new(Silent);
    let stop = Stop::new();
    let searched =
        host.search_as_metered(&run, turn.clone(), journal, callbacks, &stop, meter).await;
    conversation.remember(&host, &turn, searched.report.as_ref()).await;
    Done::Searched(Box::new(searched))
}

fn split_conversation() -> Fault {
    Fault {
        class: "usage".to_owned(),
        message: "not asked: a conversation is not divided over shards, and not resumed; ask its \
                  lines in one process"
            .to_owned(),
    }
}

fn refuse_by(budget: UsedUp) -> String {
    let what = match budget {
        UsedUp::Calls => "model calls",
        UsedUp::Tokens => "tokens",
        UsedUp::Usd => "dollars",
        UsedUp::Time => "seconds",
    };
    format!("not asked: the {what} of the whole batch are used up")
}

fn panic_fault(error: JoinError) -> Fault {
    let said: Box<dyn Any> = match error.try_into_panic() {
        Ok(panic) => panic,
        Err(error) => Box::new(error.to_string()),
    };
    let text = said
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| said.downcast_ref::<&str>().copied());
    let message = format!("the host panicked: {}", text.unwrap_or("it did not say why"));
    Fault { class: "unexpected".to_owned(), message }
}

#[cfg(test)]
mod tests {
    use futures::{StreamExt, stream};
    use serde_json::json;

    use super::*;
    use crate::{Observer, Settings};

    #[tokio::test(flavor = "multi_thread")]
    async fn replies_that_wait_take_only_so_much_room() {
        let folder = syrch_kit::scratch();
        let database = syrch_kit::sqlite(
            folder.path().join("shop.sqlite"),
            "CREATE TABLE customers(id INTEGER)",
        );
        let settings = Settings { database: database.display().to_string(), ..Settings::default() };
        let observer: Arc<dyn Observer> = Arc::new(Silent);
        let hosts = Arc::new(Hosts::open(settings, observer).await.unwrap());
        let options = Options { workers: 1, ..Options::default() };
        let mut answers = Answers::new(hosts, options, stream::pending().boxed(), &Stop::new());
        let reply = |bytes: usize| {
            let fault = Fault { class: "usage".to_owned(), message: String::new() };
            Reply::from_fault(json!("x".repeat(bytes)), 1, fault)
        };
        // By their bytes: the first is still to come.
        answers.wait(1, reply(HELD / 2));
        assert!(answers.has_room());
        answers.wait(2, reply(HELD / 2));
        assert!(!answers.has_room() && answers.take_ready().is_none());
        answers.wait(0, reply(1));
        let given: Vec<usize> =
            std::iter::from_fn(|| answers.take_ready()).map(|reply| reply.bytes()).collect();
        assert_eq!((given, answers.held), (vec![1, HELD / 2, HELD / 2], 0));
        // And by their number.
        for place in 4..4 + WINDOW as u64 {
            assert!(answers.has_room(), "{place}");
            answers.wait(place, reply(1));
        }
        assert!(!answers.has_room());
    }
}
