//! What the caller lends to a run, and what it gets back.

use std::collections::BTreeMap;

use async_trait::async_trait;
use syrch_core::{Edit, Graph, Limits, Observation, RoleError, Step, Task, TaskId, Turn};
use tokio::time::Instant;

/// Runs one task. Called once for each task that starts, as a task of its own on the async runtime; it is dropped when the task is cancelled.
#[async_trait]
pub trait TaskRunner: Send + Sync + 'static {
    /// What dependents get besides the observation; it is cloned for each of them.
    type Output: Clone + Send + Sync + 'static;

    /// Runs it. `parents` are the dependencies that ended well so far, in the task's order; a tolerant task gets the others too.
    /// An observation with subtasks and without candidates puts those in the task's place.
    async fn run(&self, task: Task, parents: Vec<Ended<Self::Output>>) -> (Observation, Option<Self::Output>);
}

/// A task that ended.
#[derive(Debug, Clone)]
pub struct Ended<O> {
    /// The task, as it stood when it ended.
    pub task: Task,
    /// What became of it.
    pub observation: Observation,
    /// What the runner handed out with it.
    pub output: Option<O>,
}

/// May change the graph after observations.
#[async_trait]
pub trait Replanner: Send + Sync {
    /// Called after observations, one call at a time, while other tasks go on; those that came in during a call are handed over
    /// together by the next one. `seen[fresh..]` are new.
    ///
    /// # Errors
    /// The role's failure. It does not end the run, but there is no further call.
    async fn next(&self, graph: &Graph, seen: &[Observation], fresh: usize) -> Result<Step, RoleError>;
}

/// Sees a run as it goes. Called from the run's own loop, so it must return at once.
pub trait Watch: Send + Sync {
    /// A task started; called at most once for each.
    fn started(&self, _task: &Task) {}
    /// A task ended, started or not; called once for each.
    fn ended(&self, _task: &Task, _observation: &Observation) {}
    /// A task's solver put these smaller tasks in its place.
    fn expanded(&self, _task: &Task, _subtasks: &[Task]) {}
    /// The graph that runs, before its first task starts.
    fn begins(&self, _graph: &Graph) {}
    /// The planner's edits were taken.
    fn edited(&self, _edits: &[Edit]) {}
    /// The planner's edits were refused as a whole.
    fn refused(&self, _reason: &str) {}
}

/// Who orders what a run takes: a journal that plays it again, or nobody.
#[async_trait]
pub trait Order: Send + Sync {
    /// Whether a journal says what happens. Called whenever time could decide instead.
    fn is_playing(&self) -> bool;
    /// What the run took next, as soon as all that came before it has happened again; none when nothing is known, and the run takes what
    /// comes. Called before each turn; dropping the future changes nothing.
    async fn next(&self) -> Option<Turn>;
    /// Called when the run takes something, before anything follows from it.
    async fn took(&self, turn: Turn);
    /// Called before a task is cancelled, or for none, before the planner's call under way is: once it returns, nothing more of it happens.
    async fn closing(&self, task: Option<&TaskId>);
}

/// Things are taken as they come.
pub struct AsItComes;

#[async_trait]
impl Order for AsItComes {
    fn is_playing(&self) -> bool {
        false
    }

    async fn next(&self) -> Option<Turn> {
        None
    }

    async fn took(&self, _: Turn) {}

    async fn closing(&self, _: Option<&TaskId>) {}
}

/// How far a run may go.
#[derive(Debug, Clone)]
pub struct Options {
    /// Tasks under way at once; 0 counts as 1.
    pub max_parallel: usize,
    /// Steps of the planner that may change the graph.
    pub max_rounds: u32,
    /// When the run ends at the latest.
    pub deadline: Option<Instant>,
    /// Bounds of the graph, what is added on the way included.
    pub limits: Limits,
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Every task that was needed ended, and the planner had nothing to add.
    Complete,
    /// The planner said that nothing more is to be done.
    Finished,
    /// Somebody stopped it from outside.
    Stopped,
    /// The deadline passed.
    Deadline,
}

/// What a run left behind. Every task of the graph ended exactly once, by a cancellation if by nothing else.
#[derive(Debug, Clone)]
pub struct Run<O> {
    /// The graph as it stood at the end.
    pub graph: Graph,
    /// All observations, in the order of completion.
    pub seen: Vec<Observation>,
    /// All tasks of the graph by id.
    pub ended: BTreeMap<TaskId, Ended<O>>,
    /// Why it ended.
    pub end: End,
    /// What went wrong with the planner.
    pub replan_errors: Vec<RoleError>,
    /// Why steps of the planner were refused.
    pub refused: Vec<String>,
    /// Tasks left out at the start, since the answer does not need them.
    pub dropped: Vec<TaskId>,
    /// Tasks left out at the start for an equal one, as (left out, kept).
    pub merged: Vec<(TaskId, TaskId)>,
}
