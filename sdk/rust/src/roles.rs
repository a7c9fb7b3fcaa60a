//! The roles as traits, and the values of theirs that hold a result.

pub use crate::bindings::aggregator::Answer;
pub use crate::bindings::linker::{Linked, Relevant};
pub use crate::bindings::planner::{Edit, Step};
pub use crate::bindings::rewriter::{Attempt, Proposal, Trial};
pub use crate::bindings::solver::Outcome;

use crate::bindings::types::{
    Candidate, Catalog, Failure, Graph, Hit, Observation, Problem, Question, Signals, Task, Verdict,
};
use crate::bindings::{aggregator, reward, solver};
use crate::handles::ResultSet;
use crate::ports::{
    AggregatorHost, ClarifierHost, LinkerHost, Plan, PlannerHost, RewardHost, RewriterHost,
    SolverHost,
};
use crate::settings::Settings;

/// A plugin's identity and settings. A value is made for each role call, from the user's settings.
pub trait Plugin: Sized + 'static {
    /// The name in output.
    const NAME: &'static str;
    /// A line on what the plugin does.
    const SUMMARY: &'static str;
    /// The user's settings; see [`crate::settings!`].
    type Settings: Settings;

    /// Makes the plugin before a role call.
    fn new(settings: Self::Settings) -> Self;
}

/// A finished dependency that has rows.
#[derive(Debug)]
pub struct Relation {
    /// The name that may stand in FROM.
    pub name: String,
    /// The candidate that was accepted for the dependency.
    pub candidate: Candidate,
    /// The rows of the candidate.
    pub results: ResultSet,
}

/// The result of a dependency.
#[derive(Debug)]
pub enum Output {
    /// The rows of a statement.
    Relation(Box<Relation>),
    /// The hits of a retrieval task.
    Hits(Vec<Hit>),
    /// The error of a dependency that failed, where this task runs all the same.
    Failed(Failure),
    /// Something that this version does not know, by name.
    Other(String),
}

/// A dependency of a task, which has ended.
#[derive(Debug)]
pub struct Parent {
    /// The task that ended.
    pub task: Task,
    /// The result of the task.
    pub output: Output,
    /// The note that its solver returned for later tasks.
    pub memo: Option<String>,
}

/// A candidate with its rows.
#[derive(Debug)]
pub struct Rival {
    /// The candidate to judge.
    pub candidate: Candidate,
    /// The rows of the candidate.
    pub results: ResultSet,
}

/// A finished task with its rows.
#[derive(Debug)]
pub struct Finished {
    /// The name that may stand in FROM of the answer's SQL.
    pub name: String,
    /// The task that ended.
    pub task: Task,
    /// The candidate that was accepted for the task.
    pub candidate: Candidate,
    /// Its other candidates, best first.
    pub others: Vec<Candidate>,
    /// The rows of the chosen candidate.
    pub results: ResultSet,
}

/// Narrows a large catalog to what a question needs.
pub trait LinkerRole: Plugin {
    /// The tables worth showing, most relevant first, and hints for the other roles; no table at
    /// all leaves the catalog as it is.
    ///
    /// # Errors
    /// The role's own failure, shown to the user.
    fn link(
        &self,
        host: &impl LinkerHost,
        problem: &Problem,
        catalog: &Catalog,
    ) -> Result<Linked, Failure>;
}

/// Compiles a question into a graph of tasks.
pub trait PlannerRole: Plugin {
    /// The first graph.
    ///
    /// # Errors
    /// The role's own failure, shown to the user.
    fn plan(
        &self,
        host: &impl PlannerHost,
        problem: &Problem,
        catalog: &Catalog,
    ) -> Result<Graph, Failure>;

    /// Called after each observation; `seen[fresh..]` are new. Without an implementation the graph
    /// stays as it is.
    ///
    /// # Errors
    /// The role's own failure, shown to the user.
    fn next(
        &self,
        host: &impl PlannerHost,
        problem: &Problem,
        catalog: &Catalog,
        graph: &Graph,
        seen: &[Observation],
        fresh: usize,
    ) -> Result<Step, Failure> {
        let _ = (host, problem, catalog, seen, fresh);
        Ok(Step { edits: Vec::new(), memo: graph.memo.clone() })
    }
}

/// Finds statements that solve one task.
pub trait SolverRole: Plugin {
    /// The candidates, best first; none is a valid outcome.
    ///
    /// # Errors
    /// The role's own failure, shown to the user.
    fn solve(
        &self,
        host: &impl SolverHost,
        problem: &Problem,
        catalog: &Catalog,
        task: &Task,
        parents: &[Parent],
    ) -> Result<Outcome, Failure>;
}

/// Turns claims into probabilities. It reaches no port.
pub trait CalibratorRole: Plugin {
    /// One number of 0 to 1 for each (raw confidence, signals), in order.
    fn calibrate(&self, claims: &[(f64, Signals)]) -> Vec<f64>;
}

/// Judges all rivals of one task at once.
pub trait RewardRole: Plugin {
    /// One verdict for each rival, in order.
    ///
    /// # Errors
    /// The role's own failure, shown to the user.
    fn judge(
        &self,
        host: &impl RewardHost,
        problem: &Problem,
        catalog: &Catalog,
        task: &Task,
        rivals: &[Rival],
    ) -> Result<Vec<Verdict>, Failure>;
}

/// Decides whether the user must be asked.
pub trait ClarifierRole: Plugin {
    /// Questions worth asking, the most useful first.
    ///
    /// # Errors
    /// The role's own failure, shown to the user.
    fn assess(
        &self,
        host: &impl ClarifierHost,
        problem: &Problem,
        catalog: &Catalog,
        graph: &Graph,
        seen: &[Observation],
    ) -> Result<Vec<Question>, Failure>;
}

/// Makes the answer from the finished tasks.
pub trait AggregatorRole: Plugin {
    /// The answer; `None` if nothing here answers the question.
    ///
    /// # Errors
    /// The role's own failure, shown to the user.
    fn aggregate(
        &self,
        host: &impl AggregatorHost,
        problem: &Problem,
        graph: &Graph,
        finished: &[Finished],
        seen: &[Observation],
    ) -> Result<Option<Answer>, Failure>;
}

/// Proposes other statements with the same result, for the verified optimizer. It runs nothing and
/// sees no row.
pub trait RewriterRole: Plugin {
    /// Called once for each iteration. Returns another statement, made from `original` or from
    /// `best`, whose plan is `plan`; `None` when there is nothing more to propose. `history` holds
    /// all earlier proposals, oldest first, and what became of them.
    ///
    /// # Errors
    /// The role's own failure. It is shown to the user and uses up the iteration.
    fn rewrite(
        &self,
        host: &impl RewriterHost,
        original: &str,
        best: &str,
        plan: &Plan,
        catalog: &Catalog,
        history: &[Attempt],
    ) -> Result<Option<Proposal>, Failure>;
}

impl From<solver::Parent> for Parent {
    fn from(parent: solver::Parent) -> Self {
        let output = match parent.output {
            solver::Output::Relation(solver::Relation { name, candidate, results }) => {
                Output::Relation(Box::new(Relation {
                    name,
                    candidate,
                    results: ResultSet::lent(results),
                }))
            }
            solver::Output::Hits(hits) => Output::Hits(hits),
            solver::Output::Failed(failure) => Output::Failed(failure),
            solver::Output::Other(name) => Output::Other(name),
        };
        Self { task: parent.task, output, memo: parent.memo }
    }
}

impl From<reward::Rival> for Rival {
    fn from(rival: reward::Rival) -> Self {
        Self { candidate: rival.candidate, results: ResultSet::lent(rival.results) }
    }
}

impl From<aggregator::Finished> for Finished {
    fn from(finished: aggregator::Finished) -> Self {
        let aggregator::Finished { name, task, candidate, others, results } = finished;
        Self { name, task, candidate, others, results: ResultSet::lent(results) }
    }
}
