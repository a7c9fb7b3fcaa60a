//! Comparisons of strategies that clients begin: one at a time, over the suites of the server, each
//! a graded run in a folder of its own that the next server resumes.

mod observer;

use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex as Lock, MutexGuard, PoisonError};

use axum::http::StatusCode;
use futures::FutureExt;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use syrch::Stop;
use syrch::syrch_core::ledger::Budgets;
use syrch_grade::suite;
use syrch_mcp::Spending;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::problem::Problem;
use crate::program::{Compared, Uncompared};
use crate::scope::Scope;
use crate::searches::{Feed, make_run};
use crate::unfinished::{self, Note, Noted};
use crate::{Limits, Options, Program};
use observer::FeedObserver;

/// The subfolder of the notes of comparisons.
const NOTES: &str = "comparisons";
/// The numbers of strategies that can be compared at once.
const ARMS: std::ops::RangeInclusive<usize> = 2..=4;
/// The number of ended comparisons whose events can still be read.
const ENDED: usize = 20;
/// The reason why a suite cannot be asked that the server does not list.
const NO_SUITE: &str = "the server has no such suite; see /api/v1/suites, and `--suite` of `serve`";
/// The limit on the size of a suite, in bytes.
const LARGEST: u64 = 16 << 20;
/// The limit on the time of a comparison, in seconds.
const LONGEST: f64 = 7.0 * 86_400.0;

/// A comparison as clients ask for it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    /// The strategies, two to four of those that [`Program::strategies`] names.
    pub arms: Vec<String>,
    /// The suite, as the server lists it.
    pub suite: String,
    /// The number of model calls after which it stops; `None` for the limit of the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<u64>,
    /// The dollars after which it stops.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
    /// The seconds after which it stops.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
}

/// A comparison that was accepted.
#[derive(Debug)]
pub(crate) struct Running {
    /// The id of its run.
    pub(crate) run: String,
    /// Its events.
    pub(crate) feed: Arc<Feed>,
    stop: Stop,
    is_cancelled: AtomicBool,
}

impl Running {
    /// Ends it early, for good. Its answers so far stay.
    pub(crate) fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
        self.stop.trigger();
    }
}

/// The comparisons of a server.
pub(crate) struct Comparisons {
    program: Arc<dyn Program>,
    limits: Limits,
    /// The folder of graded runs.
    runs: PathBuf,
    /// The place of the database.
    database: String,
    /// The name of the database, by which suites call it.
    name: String,
    spending: Spending,
    unfinished: Option<PathBuf>,
    state: Lock<State>,
    tasks: Lock<JoinSet<()>>,
    stopping: watch::Sender<bool>,
}

#[derive(Default)]
struct State {
    open: Option<Arc<Running>>,
    ended: VecDeque<Arc<Running>>,
}

impl Comparisons {
    /// The comparisons of a server with that scope that has none yet. They spend what the other
    /// searches do.
    pub(crate) fn new(
        program: Arc<dyn Program>,
        options: &Options,
        scope: &Scope,
        spending: Spending,
    ) -> Arc<Self> {
        Arc::new(Self {
            program,
            limits: options.limits.clone(),
            runs: options.evaluations.clone(),
            database: scope.place().to_owned(),
            name: scope.name().to_owned(),
            spending,
            unfinished: options.unfinished.as_ref().map(|folder| folder.join(NOTES)),
            state: Lock::default(),
            tasks: Lock::default(),
            stopping: watch::Sender::new(false),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lists the suites whose questions may be asked, each with the number of its questions or the
    /// reason why it cannot be used; first those about a database of the server's name. It blocks.
    pub(crate) fn suites(&self) -> Vec<Value> {
        let mut suites: Vec<Value> =
            self.program.suites().iter().map(|path| describe_suite(path)).collect();
        suites.sort_by_key(|suite| suite["database"] != *self.name);
        suites
    }

    /// Accepts a comparison. It goes on when its client goes away.
    ///
    /// # Errors
    /// When it is no comparison, is larger than the limits, or another one runs.
    pub(crate) async fn begin(
        self: &Arc<Self>,
        comparison: Comparison,
    ) -> Result<Arc<Running>, Problem> {
        self.check(&comparison).await?;
        if *self.stopping.borrow() {
            return Err(Problem::stopping());
        }
        let running = self.insert(make_run()?)?;
        let note = self.note(Noted {
            run: running.run.clone(),
            database: self.database.clone(),
            asked: comparison.clone(),
        });
        self.spawn(Arc::clone(&running), note, comparison);
        Ok(running)
    }

    /// Refuses an arm that is no strategy of the server: on a command line, one may be a component.
    fn check_arms(&self, arms: &[String]) -> Result<(), Problem> {
        let known = self.program.strategies();
        match arms.iter().find(|arm| known.iter().all(|(name, _)| name != *arm)) {
            None => Ok(()),
            Some(unknown) => Err(Problem::bad_request(format!(
                "`{unknown}` is no strategy of this server; see /api/v1/suites"
            ))),
        }
    }

    async fn check(&self, comparison: &Comparison) -> Result<(), Problem> {
        let Comparison { arms, suite, calls, usd, seconds } = comparison;
        self.check_arms(arms)?;
        let is_repeated = arms.iter().enumerate().any(|(at, arm)| arms[..at].contains(arm));
        if !ARMS.contains(&arms.len()) || is_repeated {
            return Err(Problem::bad_request("`arms` are two to four different strategies"));
        }
        let most = self.limits.comparison_calls;
        if calls.is_some_and(|calls| !(1..=most).contains(&calls)) {
            return Err(Problem::bad_request(format!("`calls` is a number from 1 to {most}")));
        }
        if usd.is_some_and(|usd| !(usd.is_finite() && usd > 0.0)) {
            return Err(Problem::bad_request("`usd` is a number above 0"));
        }
        if seconds.is_some_and(|seconds| !(seconds > 0.0 && seconds <= LONGEST)) {
            let detail = format!("`seconds` is a number above 0, {LONGEST} at most");
            return Err(Problem::bad_request(detail));
        }
        let program = Arc::clone(&self.program);
        let suite = suite.clone();
        let counted = tokio::task::spawn_blocking(move || {
            let suites = program.suites();
            let path = suites.iter().find(|path| path.display().to_string() == suite);
            count_questions(path.ok_or(NO_SUITE)?)
        })
        .await;
        let counted =
            counted.map_err(|error| Problem::from_class("unexpected", error.to_string()))?;
        let (_, questions) = counted.map_err(Problem::bad_request)?;
        let searches = questions * arms.len();
        if searches > self.limits.comparison_searches {
            let most = self.limits.comparison_searches;
            return Err(Problem::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                "too-large",
                format!(
                    "these are {searches} searches, and a comparison has {most} at most; \
                     `syrch-host compare` has no such limit"
                ),
            ));
        }
        Ok(())
    }

    fn insert(&self, run: String) -> Result<Arc<Running>, Problem> {
        let mut state = self.state();
        if let Some(open) = &state.open {
            let detail = "a comparison runs already; wait for its end, or stop it";
            return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, "too-many", detail)
                .with("run", open.run.as_str()));
        }
        let feed = Arc::new(Feed::new(self.limits.events, self.limits.event_bytes));
        let stop = Stop::new();
        let running = Running { run, feed, stop, is_cancelled: AtomicBool::new(false) };
        let running = Arc::new(running);
        state.open = Some(Arc::clone(&running));
        Ok(running)
    }

    fn note(&self, noted: Noted<Comparison>) -> Option<Note> {
        match Note::write(self.unfinished.as_deref()?, &noted) {
            Ok(note) => Some(note),
            Err(error) => {
                let run = &noted.run;
                self.program.warn(&format!("the run {run} would not be resumed: {error}"));
                None
            }
        }
    }

    /// Resumes what an earlier server left. Returns the number of these comparisons, one at most.
    pub(crate) fn resume_unfinished(self: &Arc<Self>) -> usize {
        let Some(folder) = &self.unfinished else { return 0 };
        let mut resumed = 0;
        // Of several servers over one database each may have left one; the others stay noted.
        for (noted, note) in unfinished::take::<Comparison>(folder, &self.database) {
            if let Err(problem) = self.check_arms(&noted.asked.arms) {
                let run = &noted.run;
                let why = problem.detail();
                self.program.warn(&format!("the comparison {run} is not resumed: {why}"));
                continue;
            }
            let Ok(running) = self.insert(noted.run) else { break };
            self.spawn(running, Some(note), noted.asked);
            resumed += 1;
        }
        resumed
    }

    /// The comparison of that run, while its events can be read.
    pub(crate) fn find(&self, run: &str) -> Option<Arc<Running>> {
        let state = self.state();
        state.open.iter().chain(&state.ended).find(|known| known.run == run).cloned()
    }

    /// Begins no further comparison, and ends the one that runs; its note stays.
    pub(crate) async fn close(&self) {
        self.stopping.send_replace(true);
        if let Some(open) = &self.state().open {
            open.stop.trigger();
        }
        let mut tasks = {
            let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *tasks)
        };
        let ended = async { while tasks.join_next().await.is_some() {} };
        if tokio::time::timeout(self.limits.grace, ended).await.is_err() {
            tasks.shutdown().await;
        }
    }

    fn spawn(self: &Arc<Self>, running: Arc<Running>, note: Option<Note>, asked: Comparison) {
        let comparisons = Arc::clone(self);
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(async move { comparisons.carry_out(running, note, asked).await });
    }

    async fn carry_out(&self, running: Arc<Running>, note: Option<Note>, asked: Comparison) {
        running.feed.push("queued", &json!({"run": running.run, "comparison": asked}));
        let usd = asked.usd;
        let budgets =
            Budgets { cost_micros: usd.map(|usd| (usd * 1e6) as u64), ..Budgets::default() };
        let reservation = self.spending.reserve(&budgets);
        let observer = FeedObserver {
            feed: Arc::clone(&running.feed),
            program: Arc::clone(&self.program),
            cost: Lock::default(),
        };
        let mut compared = Compared {
            folder: self.runs.join(&running.run),
            runs: self.runs.clone(),
            calls: asked.calls.unwrap_or(self.limits.comparison_calls),
            workers: self.limits.comparison_workers,
            comparison: asked,
        };
        let ended = match reservation {
            Err(used_up) => Err(Uncompared { class: "budget", message: used_up.to_string() }),
            Ok(reservation) => {
                if self.spending.is_limited() {
                    compared.comparison.usd = reservation.most().map(|micros| micros as f64 / 1e6);
                }
                let work = self.program.compare(&compared, &observer, &running.stop);
                let ended = AssertUnwindSafe(work).catch_unwind().await;
                reservation.pay(observer.cost());
                ended.unwrap_or_else(|_| {
                    let message = "the comparison ended by a panic of the host".to_owned();
                    Err(Uncompared { class: "unexpected", message })
                })
            }
        };
        let is_cancelled = running.is_cancelled.load(Ordering::Relaxed);
        // The next server goes on with what this one's end stopped.
        let is_left = ended.is_err() && *self.stopping.borrow() && !is_cancelled;
        self.state().end(&running);
        if is_left {
            return;
        }
        match ended {
            Ok(()) => running.feed.end("ended", &json!({"run": running.run})),
            Err(Uncompared { class, message }) => {
                let problem = Problem::from_class(class, message).with("run", &*running.run);
                let mut document = problem.document();
                self.program.scrub(&mut document);
                running.feed.end("failed", &document);
            }
        }
        if let Some(note) = note {
            note.finish();
        }
    }
}

impl State {
    /// Puts a comparison among the ended ones, and forgets the oldest.
    fn end(&mut self, running: &Arc<Running>) {
        self.open = None;
        self.ended.push_back(Arc::clone(running));
        if self.ended.len() > ENDED {
            self.ended.pop_front();
        }
    }
}

/// A suite with the number of its questions, or the reason why it cannot be used.
fn describe_suite(path: &Path) -> Value {
    let suite = path.display().to_string();
    match count_questions(path) {
        Ok((database, questions)) => {
            json!({"suite": suite, "questions": questions, "database": database, "reason": null})
        }
        Err(reason) => {
            json!({"suite": suite, "questions": null, "database": null, "reason": reason})
        }
    }
}

/// The name of the one database that the questions of a suite are about, and their number.
fn count_questions(path: &Path) -> Result<(String, usize), String> {
    let data = std::fs::metadata(path).map_err(|error| error.to_string())?;
    if data.len() > LARGEST {
        return Err(format!("the file has more than {LARGEST} bytes"));
    }
    let suite = suite::read(path).map_err(|error| error.to_string())?;
    let first = suite.questions.first().map(|question| &question.db);
    match suite.questions.iter().all(|question| Some(&question.db) == first) {
        true => Ok((first.cloned().unwrap_or_default(), suite.questions.len())),
        false => Err("its questions are about several databases".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suite_has_questions_about_one_database() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("suite.jsonl");
        let line = |id: &str, db: &str| {
            let question = json!({"id": id, "db": db, "question": "?", "gold_sql": "SELECT 1"});
            format!("{question}\n")
        };
        std::fs::write(&path, line("a", "shop") + &line("b", "shop")).unwrap();
        assert_eq!(count_questions(&path), Ok(("shop".to_owned(), 2)));
        std::fs::write(&path, line("a", "shop") + &line("b", "bank")).unwrap();
        assert!(count_questions(&path).unwrap_err().contains("several databases"));
        std::fs::write(&path, "nonsense").unwrap();
        assert!(count_questions(&path).is_err());
        assert!(count_questions(folder.path()).is_err());
    }
}
