//! The arguments and the results of a run.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use syrch_core::{Edit, Graph, Limits, Observation, RoleError, Step, Task, TaskId, Turn};
use tokio::time::Instant;

/// Runs the tasks of a graph, each by one call.
#[async_trait]
pub trait TaskRunner: Send + Sync + 'static {
    /// The value that dependents get besides the observation; it is cloned for each of them.
    type Output: Clone + Send + Sync + 'static;

    /// Called once for each task that starts, in a task of its own on the async runtime; the future
    /// is dropped when the task is cancelled. `parents` are the dependencies that have succeeded,
    /// in the task's order; a tolerant task gets the others too. An observation with subtasks and
    /// without candidates puts these in the task's place.
    async fn run(
        &self,
        task: Task,
        parents: Vec<Ended<Self::Output>>,
    ) -> (Observation, Option<Self::Output>);
}

/// A task that ended.
#[derive(Debug, Clone)]
pub struct Ended<O> {
    /// The task as it was when it ended.
    pub task: Task,
    /// The outcome that the planner and dependents see.
    pub observation: Observation,
    /// The value that the runner returned besides the observation.
    pub output: Option<O>,
}

/// Changes the graph after observations.
#[async_trait]
pub trait Replanner: Send + Sync {
    /// Called after observations, one call at a time, while other tasks continue; observations that
    /// arrive during a call are passed together to the next one. `seen[fresh..]` are new.
    ///
    /// # Errors
    /// The role's failure. It does not end the run, but there is no further call.
    async fn next(
        &self,
        graph: &Graph,
        seen: &[Observation],
        fresh: usize,
    ) -> Result<Step, RoleError>;
}

/// Observes a run. Its methods are called from the run's own loop, so they must return at once.
pub trait Watch: Send + Sync {
    /// Called when a task starts, at most once for each.
    fn on_start(&self, _task: &Task) {}
    /// Called when a task ends, started or not, once for each.
    fn on_end(&self, _task: &Task, _observation: &Observation) {}
    /// Called when a task's solver has replaced the task by these smaller ones.
    fn on_expansion(&self, _task: &Task, _subtasks: &[Task]) {}
    /// Called with the graph that runs, before its first task starts.
    fn on_begin(&self, _graph: &Graph) {}
    /// Called when the planner's edits were applied.
    fn on_edit(&self, _edits: &[Edit]) {}
    /// Called when the planner's edits were refused as a whole.
    fn on_refusal(&self, _reason: &str) {}
}

/// The source of the order in which a run processes events: a journal that is replayed, or the
/// events themselves.
#[async_trait]
pub trait Order: Send + Sync {
    /// Returns whether a journal determines the order. Called whenever time could determine it
    /// instead.
    fn is_replaying(&self) -> bool;
    /// Called before each decision. Returns the decision that a replayed journal has next, as soon
    /// as everything before it has been replayed; `None` when nothing is replayed, and the run
    /// processes events as they arrive. Dropping the future has no effect.
    async fn next(&self) -> Option<Turn>;
    /// Called when the run has made a decision, before anything follows from it.
    async fn took(&self, turn: Turn);
    /// Called before a task is cancelled, or with `None` before the planner's call in flight is.
    /// After this returns, no further event of it happens.
    async fn closing(&self, task: Option<&TaskId>);
}

/// The order in which events arrive.
pub struct AsItComes;

#[async_trait]
impl Order for AsItComes {
    fn is_replaying(&self) -> bool {
        false
    }

    async fn next(&self) -> Option<Turn> {
        None
    }

    async fn took(&self, _: Turn) {}

    async fn closing(&self, _: Option<&TaskId>) {}
}

/// The limits of a run.
#[derive(Debug, Clone)]
pub struct Options {
    /// The most tasks that run at once; 0 counts as 1.
    pub max_parallel: usize,
    /// The most steps of the planner that change the graph.
    pub max_rounds: u32,
    /// The time from which no further task starts.
    pub deadline: Option<Instant>,
    /// The time that running tasks have to end after the deadline or a stop, before they are
    /// dropped.
    pub grace: Duration,
    /// The bounds of the graph, added tasks included.
    pub limits: Limits,
}

/// The reason why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Every task that was needed ended, and the planner had no further changes.
    Complete,
    /// The planner ended the graph.
    Finished,
    /// The run was stopped by its [`crate::Stop`].
    Stopped,
    /// The run's deadline passed.
    Deadline,
}

/// The result of a run. Every task of the graph ended exactly once, if necessary by a cancellation.
#[derive(Debug, Clone)]
pub struct Run<O> {
    /// The graph at the end.
    pub graph: Graph,
    /// All observations, in the order of completion.
    pub seen: Vec<Observation>,
    /// All tasks of the graph by id.
    pub ended: BTreeMap<TaskId, Ended<O>>,
    /// The reason why the run ended.
    pub end: End,
    /// The failures of the planner's calls, in order.
    pub replan_errors: Vec<RoleError>,
    /// The reason why steps of the planner were refused.
    pub refused: Vec<String>,
    /// Tasks that were dropped at the start, since the answer does not need them.
    pub dropped: Vec<TaskId>,
    /// Tasks that were merged into an equal one at the start, as (merged, remaining).
    pub merged: Vec<(TaskId, TaskId)>,
}
