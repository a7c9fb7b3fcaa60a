//! The searches of a server: a bounded number at once, a bounded queue before them, and the events
//! of each for whoever reads them.

mod feed;
mod observer;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex as Lock, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use futures::FutureExt;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use syrch::conversation::{Conversation, Conversations};
use syrch::report::PluginReport;
use syrch::settings::read_settings;
use syrch::syrch_core::Problem as Asking;
use syrch::syrch_core::ledger::Budgets;
use syrch::{Callbacks, DatabaseCheck, Error, Host, Observer, SearchReport, Stop, batch};
use syrch_journal::{Folder, Journal};
use syrch_mcp::{Queue, Reservation, Spending, UsedUp};
use tokio::sync::{Mutex, watch};
use tokio::task::JoinSet;

pub(crate) use feed::{Event, Feed};
use observer::FeedObserver;

use crate::access::{Client, no_random_bytes, random_text};
use crate::problem::Problem;
use crate::scope::Scope;
use crate::unfinished::{self, Note, Noted};
use crate::{Limits, Options, Program};

/// The length of a run's id, in characters.
const RUN: usize = 16;
/// The limit on the answers to earlier questions back that a question carries.
const ANSWERS: usize = 16;
/// The least time between two removals of old journals.
const PRUNED_EVERY: Duration = Duration::from_secs(60);

/// Returns whether a text can be the id of a run.
pub(crate) fn is_run(text: &str) -> bool {
    let is_digit = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    text.len() == RUN && is_digit
}

/// Makes the id of a new run.
pub(crate) fn make_run() -> Result<String, Problem> {
    let run = random_text().map_err(no_random_bytes)?;
    Ok(run[..RUN].to_owned())
}

/// A question as clients send it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asked {
    /// The question.
    pub(crate) question: String,
    /// An explanation of its terms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) evidence: Option<String>,
    /// The day that it takes for today, `YYYY-MM-DD`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) as_of: Option<String>,
    /// The answers to what earlier searches for it asked back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) answers: Vec<Answered>,
    /// The id of the conversation in which it is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) conversation: Option<String>,
}

/// The user's answer to a question of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Answered {
    /// The question of the search.
    pub(crate) question: String,
    /// The user's answer.
    pub(crate) answer: String,
}

impl Asked {
    fn check(&self, most: usize) -> Result<(), Problem> {
        if self.question.trim().is_empty() {
            return Err(Problem::bad_request("`question` is empty"));
        }
        if self.question.len() > most {
            let size = self.question.len();
            let detail = format!("`question` has {size} bytes, and may have {most}");
            return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", detail));
        }
        if self.as_of.as_deref().is_some_and(|day| !syrch::suites::is_date(day)) {
            return Err(Problem::bad_request("`as_of` is no date of the form 2024-12-31"));
        }
        if self.conversation.as_deref().is_some_and(|id| !Conversations::is_id(id)) {
            let detail = "`conversation` has 1 to 128 bytes without control characters";
            return Err(Problem::bad_request(detail));
        }
        if self.answers.len() > ANSWERS {
            let detail = format!("`answers` has more than {ANSWERS} answers");
            return Err(Problem::bad_request(detail));
        }
        Ok(())
    }

    fn problem(&self) -> Asking {
        let asking =
            batch::problem(&self.question, self.evidence.as_deref(), self.as_of.as_deref());
        let answers = self.answers.iter().cloned();
        let answers = answers.map(|answered| (answered.question, answered.answer)).collect();
        Asking { answers, ..asking }
    }
}

/// A search that was accepted.
#[derive(Debug)]
pub(crate) struct Search {
    /// The id of its run.
    pub(crate) run: String,
    /// The question.
    pub(crate) asked: Asked,
    /// The client that asked; `None` if an earlier server accepted it.
    client: Option<Client>,
    /// Its events.
    pub(crate) feed: Arc<Feed>,
    /// Ends it early, with the best so far.
    pub(crate) stop: Stop,
}

/// The resources that a plugin used in the searches of a server.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub(crate) struct Used {
    /// The number of searches with an answer's document.
    pub(crate) searches: u64,
    /// CPU time, in milliseconds.
    pub(crate) cpu_ms: u64,
    /// The most linear memory that one call had, in bytes.
    pub(crate) memory_peak: u64,
}

/// The searches of a server.
pub(crate) struct Searches {
    /// The place of the database.
    database: String,
    host: Host,
    program: Arc<dyn Program>,
    limits: Limits,
    conversations: Conversations,
    unfinished: Option<PathBuf>,
    queue: Queue,
    spending: Spending,
    state: Lock<State>,
    tasks: Lock<JoinSet<()>>,
    /// True once no further search begins.
    stopping: watch::Sender<bool>,
    /// True once no event comes any more.
    over: watch::Sender<bool>,
}

#[derive(Default)]
struct State {
    searches: HashMap<String, Arc<Search>>,
    /// The searches that have not ended.
    open: Vec<Arc<Search>>,
    /// The others, the oldest first.
    finished: VecDeque<Arc<Search>>,
    finished_bytes: usize,
    used: BTreeMap<String, Used>,
    pruned: Option<Instant>,
}

/// The start of a search.
enum Start {
    New,
    /// The journal of a run that an earlier server began.
    Journal(PathBuf),
}

impl Searches {
    /// The searches of a server that has none yet.
    pub(crate) fn new(
        host: Host,
        program: Arc<dyn Program>,
        options: &Options,
        scope: &Scope,
        spending: Spending,
    ) -> Arc<Self> {
        Arc::new(Self {
            database: scope.place().to_owned(),
            host,
            program,
            limits: options.limits.clone(),
            conversations: Conversations::default(),
            unfinished: options.unfinished.clone(),
            queue: Queue::new(options.limits.searches, options.limits.waiting),
            spending,
            state: Lock::default(),
            tasks: Lock::default(),
            stopping: watch::Sender::new(false),
            over: watch::Sender::new(false),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Accepts a search. It goes on when its client goes away.
    ///
    /// # Errors
    /// When the question is none, or there is no room for it.
    pub(crate) fn ask(
        self: &Arc<Self>,
        client: Client,
        asked: Asked,
    ) -> Result<Arc<Search>, Problem> {
        asked.check(self.host.settings().limits.text_bytes)?;
        if self.is_stopping() {
            return Err(Problem::stopping());
        }
        let run = make_run()?;
        let search = {
            let mut state = self.state();
            let own = state.open.iter().filter(|search| search.client == Some(client)).count();
            if own >= self.limits.searches_of_client {
                return Err(Problem::new(
                    StatusCode::TOO_MANY_REQUESTS,
                    "too-many",
                    format!("{own} searches of this client run or wait; ask when some have ended"),
                ));
            }
            if state.open.len() >= self.limits.searches + self.limits.waiting {
                return Err(Problem::new(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "queue-full",
                    "too many searches wait; ask again later",
                ));
            }
            self.insert(&mut state, run.clone(), asked.clone(), Some(client))
        };
        let note = self.note(Noted { run, database: self.database.clone(), asked });
        self.spawn(Arc::clone(&search), note, Start::New);
        Ok(search)
    }

    /// Notes a search on disk. Without a note it is not resumed, of which the user is warned.
    fn note(&self, noted: Noted<Asked>) -> Option<Note> {
        match Note::write(self.unfinished.as_deref()?, &noted) {
            Ok(note) => Some(note),
            Err(error) => {
                let run = &noted.run;
                self.program.warn(&format!("the run {run} would not be resumed: {error}"));
                None
            }
        }
    }

    fn insert(
        &self,
        state: &mut State,
        run: String,
        asked: Asked,
        client: Option<Client>,
    ) -> Arc<Search> {
        let feed = Arc::new(Feed::new(self.limits.events, self.limits.event_bytes));
        let search = Arc::new(Search { run: run.clone(), asked, client, feed, stop: Stop::new() });
        state.open.push(Arc::clone(&search));
        state.searches.insert(run, Arc::clone(&search));
        search
    }

    /// Resumes what earlier servers left. Returns the number of these searches.
    pub(crate) fn resume_unfinished(self: &Arc<Self>) -> usize {
        let Some(folder) = &self.unfinished else { return 0 };
        let mut resumed = 0;
        for (noted, note) in unfinished::take(folder, &self.database) {
            let journals = self.host.settings().journal.folder.clone();
            let journal = journals.map(|folder| folder.join(format!("{}.jsonl", noted.run)));
            let journal = journal.filter(|path| path.exists());
            let is_finished = journal
                .as_ref()
                .and_then(|path| Journal::read(path).ok())
                .is_some_and(|journal| journal.is_finished());
            if is_finished {
                note.finish();
                continue;
            }
            let start = journal.map_or(Start::New, Start::Journal);
            let search = self.insert(&mut self.state(), noted.run, noted.asked, None);
            self.spawn(search, Some(note), start);
            resumed += 1;
        }
        resumed
    }

    /// The search of a run, while its events can be read.
    pub(crate) fn find(&self, run: &str) -> Option<Arc<Search>> {
        self.state().searches.get(run).cloned()
    }

    /// The searches that have not ended, the oldest first.
    pub(crate) fn open(&self) -> Vec<Arc<Search>> {
        self.state().open.clone()
    }

    /// The number of searches that run, and of those that wait.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let (running, waiting) = self.queue.counts();
        // One that was just accepted, or waits for its conversation, is not in the queue.
        (running, waiting.max(self.state().open.len().saturating_sub(running)))
    }

    /// The slots, which calls over MCP take as well.
    pub(crate) fn queue(&self) -> &Queue {
        &self.queue
    }

    /// Returns whether no further search begins, since the server stops.
    pub(crate) fn is_stopping(&self) -> bool {
        *self.stopping.borrow()
    }

    /// The resources that plugins used so far, by the digests of their components.
    pub(crate) fn usage(&self) -> BTreeMap<String, Used> {
        self.state().used.clone()
    }

    /// Resolves once no event comes any more, since the server stops.
    pub(crate) async fn wait_until_over(&self) {
        let mut over = self.over.subscribe();
        // The sender lives as long as this does.
        drop(over.wait_for(|over| *over).await);
    }

    /// Begins no further search, waits until those under way have ended, or for the grace period,
    /// and drops the others. Their notes and journals stay; calls over MCP have none.
    pub(crate) async fn close(&self) {
        self.stopping.send_replace(true);
        let mut tasks = {
            let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *tasks)
        };
        let ended = async {
            while tasks.join_next().await.is_some() {}
            // Calls over MCP.
            self.queue.wait_until_idle().await;
        };
        if tokio::time::timeout(self.limits.grace, ended).await.is_err() {
            tasks.shutdown().await;
        }
        self.over.send_replace(true);
    }

    fn spawn(self: &Arc<Self>, search: Arc<Search>, note: Option<Note>, start: Start) {
        let searches = Arc::clone(self);
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(async move { searches.carry_out(search, note, start).await });
    }

    /// Searches once there is a slot. The note stays when this is dropped or the server stops
    /// before.
    async fn carry_out(&self, search: Arc<Search>, note: Option<Note>, start: Start) {
        let is_resumed = matches!(start, Start::Journal(_));
        let mut queued = json!(search.asked);
        queued["run"] = json!(search.run);
        // Only its client can go on from it.
        if search.client.is_none() {
            queued["conversation"] = Value::Null;
        }
        search.feed.push("queued", &queued);
        let mut stopping = self.stopping.subscribe();
        let talk = self.find_conversation(&search);
        let mut talk = match &talk {
            Some(talk) => tokio::select! {
                biased;
                _ = stopping.wait_for(|stopping| *stopping) => return,
                talk = talk.lock() => Some(talk),
            },
            None => None,
        };
        // A free slot goes to the client that has the fewest.
        let name = format!("{:?}", search.client);
        let slot = tokio::select! {
            biased;
            _ = stopping.wait_for(|stopping| *stopping) => return,
            slot = self.queue.acquire_again(&name) => slot,
        };
        let Ok(slot) = slot else { return };
        search.feed.push("started", &json!({"resumed": is_resumed}));
        let talk = talk.as_deref_mut();
        let work = AssertUnwindSafe(self.search(&search, start, talk)).catch_unwind().await;
        drop(slot);
        let (report, is_left) = work.unwrap_or_else(|_| {
            let why = "the search ended by a panic of the host";
            (Err(Error::Internal(why.to_owned()).into()), false)
        });
        self.finish(&search, report);
        if let Some(note) = note.filter(|_| !is_left) {
            note.finish();
        }
        self.prune();
    }

    /// The conversation of a search; `None` for one of an earlier server, whose conversations are
    /// forgotten.
    fn find_conversation(&self, search: &Search) -> Option<Arc<Mutex<Conversation>>> {
        let client = search.client?;
        let id = search.asked.conversation.as_ref()?;
        Some(self.conversations.open(&format!("{client:?}"), id))
    }

    /// Reserves what a search under these budgets may cost, and returns the host that searches
    /// within the reserved part.
    fn reserve(&self, budgets: &Budgets) -> Result<(Reservation, Host), Problem> {
        let reservation = self.spending.reserve(budgets);
        let reservation =
            reservation.map_err(|used_up| Problem::from_class("budget", used_up.to_string()))?;
        let most = reservation.most();
        let host = match most == self.host.settings().budgets.cost_micros {
            true => self.host.clone(),
            false => self.host.with_budgets(Budgets { cost_micros: most, ..budgets.clone() })?,
        };
        Ok((reservation, host))
    }

    /// [`Self::reserve`] for the journal of an earlier server, whose budgets cannot be changed.
    async fn reserve_again(&self, journal: &Path) -> Result<(Reservation, Host), Problem> {
        let mut budgets = self.host.settings().budgets.clone();
        if self.spending.is_limited() {
            let path = journal.to_owned();
            let read = tokio::task::spawn_blocking(move || Journal::read(&path)).await;
            // A journal that cannot be read is refused when it is resumed.
            if let Ok(Ok(journal)) = read {
                let settings = read_settings(&journal.header, self.host.settings())?;
                budgets.cost_micros = settings.budgets.cost_micros;
            }
        }
        let (reservation, host) = self.reserve(&budgets)?;
        if reservation.most() != budgets.cost_micros {
            return Err(Problem::from_class("budget", UsedUp::Short.to_string()));
        }
        Ok((reservation, host))
    }

    /// Searches. The second value is true if the journal of an earlier server could not be resumed
    /// now and may be later, such as when the database was not there or the budget is used up.
    async fn search(
        &self,
        search: &Search,
        start: Start,
        mut talk: Option<&mut Conversation>,
    ) -> (Result<SearchReport, Problem>, bool) {
        let observer: Arc<dyn Observer> = Arc::new(FeedObserver {
            feed: Arc::clone(&search.feed),
            program: Arc::clone(&self.program),
        });
        let host = &self.host;
        match start {
            Start::New => {
                let folder = host.settings().journal.folder.clone();
                let journal = folder.map(|folder| Folder::new(folder).place(&search.run));
                let problem = search.asked.problem();
                let run = &search.run;
                let stop = &search.stop;
                if let Some(report) = talk.as_ref().and_then(|talk| talk.explain(&problem.question))
                {
                    return (Ok(report), false);
                }
                let turn = match talk.as_deref_mut() {
                    Some(talk) => match talk.read(host, problem).await {
                        Ok(turn) => turn,
                        Err(unread) => return (Err(Error::FollowUp(unread).into()), false),
                    },
                    None => problem.into(),
                };
                let most = host.settings().max_questions as usize;
                let (reservation, host) = match self.reserve(&host.settings().budgets) {
                    Ok(reserved) => reserved,
                    Err(problem) => return (Err(problem), false),
                };
                let host = match search.asked.answers.len() < most {
                    true => Ok(host),
                    false => host.without_questions(),
                };
                let host = match host {
                    Ok(host) => host,
                    Err(error) => return (Err(error.into()), false),
                };
                let callbacks = Callbacks { observer, ask: None };
                let meter = reservation.meter();
                let searched = host
                    .search_as_metered(run, turn.clone(), journal, callbacks, stop, meter)
                    .await;
                if let Some(talk) = talk {
                    talk.remember(&host, &turn, searched.report.as_ref()).await;
                }
                let report = searched.report.map_err(|error| match reservation.explain(&error) {
                    Some(short) => Problem::from_class("budget", short.to_string()),
                    None => error.into(),
                });
                (report, false)
            }
            Start::Journal(path) => {
                let (reservation, host) = match self.reserve_again(&path).await {
                    Ok(reserved) => reserved,
                    Err(problem) => return (Err(problem), true),
                };
                let database = DatabaseCheck::Identity(host.database().identity().await);
                let callbacks = Callbacks { observer, ask: None };
                let resumed = host.resume_as(&path, database, callbacks, &search.stop).await;
                match resumed {
                    Ok(searched) => {
                        reservation.pay(searched.cost);
                        (searched.report.map_err(Problem::from), false)
                    }
                    Err(error) => {
                        let run = &search.run;
                        self.program.warn(&format!("the run {run} is not resumed: {error}"));
                        let is_left = !matches!(error, Error::Unfit(_));
                        (Err(error.into()), is_left)
                    }
                }
            }
        }
    }

    /// Writes the last event, and forgets the oldest searches beyond the limits.
    fn finish(&self, search: &Arc<Search>, report: Result<SearchReport, Problem>) {
        let mut used = Vec::new();
        match report {
            Ok(report) => {
                used.clone_from(&report.document.plugins);
                let mut document = document(&report);
                self.program.scrub(&mut document);
                search.feed.end("answer", &document);
            }
            Err(problem) => {
                let problem = problem.with("run", search.run.as_str());
                let mut document = problem.document();
                self.program.scrub(&mut document);
                search.feed.end("failed", &document);
            }
        }
        let mut state = self.state();
        state.count(&used);
        state.open.retain(|open| !Arc::ptr_eq(open, search));
        state.finished_bytes += search.feed.size();
        state.finished.push_back(Arc::clone(search));
        while state.finished.len() > self.limits.finished
            || state.finished_bytes > self.limits.finished_bytes && state.finished.len() > 1
        {
            let Some(oldest) = state.finished.pop_front() else { break };
            state.finished_bytes = state.finished_bytes.saturating_sub(oldest.feed.size());
            state.searches.remove(&oldest.run);
        }
    }

    /// Removes the oldest journals beyond the limits of the settings, in the background.
    fn prune(&self) {
        let journal = self.host.settings().journal.clone();
        let Some(folder) = journal.folder.map(Folder::new) else { return };
        {
            let mut state = self.state();
            if state.pruned.is_some_and(|pruned| pruned.elapsed() < PRUNED_EVERY) {
                return;
            }
            state.pruned = Some(Instant::now());
        }
        drop(tokio::task::spawn_blocking(move || {
            folder.prune(journal.keep, journal.age, journal.bytes)
        }));
    }
}

impl State {
    fn count(&mut self, plugins: &[PluginReport]) {
        for plugin in plugins {
            let used = self.used.entry(plugin.digest.clone()).or_default();
            used.searches += 1;
            used.cpu_ms += plugin.cpu_ms;
            used.memory_peak = used.memory_peak.max(plugin.memory_peak);
        }
    }
}

/// A finished search, as clients get it. An explanation has no run of its own: it bears that of the
/// answer that it explains.
fn document(report: &SearchReport) -> Value {
    json!({
        "run": report.document.run,
        "outcome": report.outcome,
        "interrupted": report.interrupted,
        "document": report.document,
    })
}
