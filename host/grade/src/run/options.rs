//! What a run is told, and what it tells: who answers, within which bounds, and how it ended.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::graded::Graded;
use super::line::Early;
use super::plan::Item;
use super::progress::Progress;

/// Answers questions and grades the answers.
#[async_trait]
pub trait Answerer: Send + Sync + 'static {
    /// What ends the whole run.
    type Fatal: Send + 'static;

    /// Called once for each item, several at a time. It is dropped where it waits when the run is stopped: its journal stays, and the item
    /// is begun again when the run goes on. So it does not watch the run's own stop: what ended because of that would be taken for an
    /// answer. A panic is this item's failure and no other's.
    async fn answer(&self, item: &Item) -> Answered<Self::Fatal>;
}

/// How an item ended.
#[derive(Debug)]
pub enum Answered<F> {
    /// With an answer, or a failure of its own. The engine sets the arm, the id, the place and whether it was made again.
    Graded(Box<Graded>),
    /// With something that no other item would survive either: a database that vanished, a plugin that is refused. It is not written.
    Fatal(F),
}

/// How a run is done.
#[derive(Debug, Clone)]
pub struct Options {
    /// Items at once at most, at least 1.
    pub workers: usize,
    /// When it stops though there is more to do.
    pub budgets: RunBudgets,
    /// Items that in the order of their ending fail for the model's sake, one after the other, until the run stops; 0: it never does.
    pub max_outages: u32,
    /// When a comparison is decided.
    pub stop_early: Option<StopEarly>,
}

impl Default for Options {
    fn default() -> Self {
        let budgets = RunBudgets::default();
        Self { workers: 1, budgets, max_outages: 10, stop_early: None }
    }
}

/// What a whole run may use; none: as much as it needs. Looked at before each item begins, so what was under way then may go beyond: at
/// most as many items as there are workers. What the log holds counts, whichever process made it, and so do calls and tokens that a cache
/// answered.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RunBudgets {
    /// Model calls.
    pub calls: Option<u64>,
    /// Tokens of prompts and replies.
    pub tokens: Option<u64>,
    /// Dollars. An answer whose price is unknown counts nothing.
    pub usd: Option<f64>,
    /// Time for which the run goes on: all processes that work on it together, the pauses between them aside.
    pub time: Option<Duration>,
}

/// What was used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UsedUp {
    /// [`RunBudgets::calls`].
    Calls,
    /// [`RunBudgets::tokens`].
    Tokens,
    /// [`RunBudgets::usd`].
    Usd,
    /// [`RunBudgets::time`].
    Time,
}

/// Stops a comparison of two arms when it is decided.
#[derive(Clone)]
pub struct StopEarly {
    /// An arm's place in the header.
    pub first: usize,
    /// That of the one it is compared with.
    pub second: usize,
    /// Whether so many questions that only the first had right, and so many that only the second had right, decide. Called after each
    /// question that both have ended, in the order of the suite. A question that one of them cannot be judged by counts for neither.
    pub decides: Arc<dyn Fn(u64, u64) -> bool + Send + Sync>,
}

impl fmt::Debug for StopEarly {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("StopEarly").field("first", &self.first).field("second", &self.second).finish_non_exhaustive()
    }
}

/// How a run ended. All that ended is in the log, whatever stopped it.
#[derive(Debug)]
pub struct Finished<F> {
    /// How far it came.
    pub progress: Progress,
    /// What stopped it; none: all is done.
    pub stopped: Option<Stopped<F>>,
}

/// What stopped a run.
#[derive(Debug)]
pub enum Stopped<F> {
    /// Somebody outside. What was under way is begun again when it goes on.
    Interrupted,
    /// A budget was used up.
    Budget(UsedUp),
    /// The model's endpoint failed for so many items, one after the other. They are in the log as failed.
    Outage {
        /// How many.
        items: u32,
        /// What the last of them said.
        message: String,
    },
    /// The comparison is decided.
    Early(Early),
    /// An item that no other would survive. What was under way is begun again when it goes on.
    Fatal(F),
}
