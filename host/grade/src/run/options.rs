//! The options of a run: the system under test, the bounds, and the possible ends.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use syrch_suites::run::{RunBudgets, UsedUp};

use super::graded::{Cost, Graded};
use super::line::Early;
use super::plan::Item;
use super::progress::Progress;
use super::read::EarlierTries;

/// Answers questions and grades the answers.
#[async_trait]
pub trait SystemUnderTest: Send + Sync + 'static {
    /// An error that ends the whole run.
    type Fatal: Send + 'static;

    /// Called once for each item, several at a time. It is dropped where it waits when the run is
    /// stopped: its journal stays, and the item is started again when the run is resumed. So it
    /// does not watch the run's own stop: what ended because of that would be taken for an answer.
    /// A panic is this item's failure and no other's.
    async fn answer(&self, item: &Item) -> Answered<Self::Fatal>;

    /// Called once before the first item: what all items may still spend together. A system that
    /// cannot bound what its items spend while they run is bounded between them.
    fn limit_together(&self, _left: &RunBudgets) {}

    /// Called for each item that was dropped when the run stopped. Returns what it had cost by
    /// then; `None` if that is not known.
    fn cost_of_dropped(&self, _item: &Item) -> Option<Cost> {
        None
    }
}

/// The result of an item.
#[derive(Debug)]
pub enum Answered<F> {
    /// A graded answer, or a failure of this item alone. The engine sets the arm, the id, the place
    /// and whether it was repeated.
    Graded(Box<Graded>),
    /// A budget of the whole run ended the item after it had cost that much. It is not done.
    CutOff(UsedUp, Cost),
    /// An error that all other items would have as well: a database that vanished, a plugin that is
    /// refused. It is not written.
    Fatal(F),
}

/// The bounds of a run.
#[derive(Debug, Clone)]
pub struct Options {
    /// Items at once at most, at least 1.
    pub workers: usize,
    /// The budgets of the whole run.
    pub budgets: RunBudgets,
    /// The number of items that the model's endpoint fails one after the other, in the order of
    /// their ends, until the run stops. 0 means never.
    pub max_outages: u32,
    /// When to stop a comparison early. `None` means never.
    pub stop_early: Option<StopEarly>,
    /// The place, from 0, of the first question that is left to a later wave. `None` means that
    /// there is none.
    pub until: Option<u64>,
}

impl Default for Options {
    fn default() -> Self {
        let budgets = RunBudgets::default();
        Self { workers: 1, budgets, max_outages: 10, stop_early: None, until: None }
    }
}

/// Stops a comparison of two arms when it is decided.
#[derive(Clone)]
pub struct StopEarly {
    /// An arm's place in the header.
    pub first: usize,
    /// The place of the arm with which it is compared.
    pub second: usize,
    /// Returns true if a comparison is decided by the number of questions that only the first had
    /// right, and of those that only the second had right. Called after each question that both
    /// have ended, in the order of the suite. A question that one of them cannot be judged by
    /// counts for neither.
    pub decides: Arc<dyn Fn(u64, u64) -> bool + Send + Sync>,
}

impl fmt::Debug for StopEarly {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("StopEarly")
            .field("first", &self.first)
            .field("second", &self.second)
            .finish_non_exhaustive()
    }
}

/// The end of a run. All items that ended are in the log, whatever stopped the run.
#[derive(Debug)]
pub struct Finished<F> {
    /// The counts at the end of the run.
    pub progress: Progress,
    /// The reason why the run stopped. `None` if all items are done.
    pub stopped: Option<Stopped<F>>,
    /// The items that were dropped, which are not in the log.
    pub dropped: Dropped,
}

/// The items that were dropped when a run stopped, and their cost by then.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Dropped {
    /// The cost of those whose cost is known.
    pub cost: EarlierTries,
    /// The number of the others.
    pub unknown: u64,
}

/// The reason why a run stopped.
#[derive(Debug)]
pub enum Stopped<F> {
    /// The stop signal. Items that were running are started again when the run is resumed.
    Interrupted,
    /// A budget was used up.
    Budget(UsedUp),
    /// The model's endpoint failed for so many items, one after the other. They are in the log as
    /// failed.
    Outage {
        /// The number of these items.
        items: u32,
        /// The message of the last of them.
        message: String,
    },
    /// The comparison is decided.
    Early(Early),
    /// The questions of the wave are done, and there are later ones.
    Wave,
    /// A fatal error of an item. Items that were running are started again when the run is resumed.
    Fatal(F),
}
