//! The roles that a plugin implements for the host. The runtime implements these traits over
//! components; tests implement them in plain Rust.
//!
//! A method is called once in a fresh store, and nothing of one call is left for the next. All
//! methods fail with the plugin's own typed failure, a trap, a limit or an invalid value: see
//! [`RoleError`].

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::ports::{Plan, Ports};
use crate::{
    Candidate, CandidateId, Catalog, Failure, Graph, Hit, Json, Ledger, Observation, Problem,
    Question, ResultSet, RoleError, Signals, Step, Task, TaskId, Verdict,
};

/// A role that a plugin can implement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Narrows a large catalog.
    Linker,
    /// Divides a question into a graph of tasks.
    Planner,
    /// Finds statements for a task.
    Solver,
    /// Turns claims into probabilities.
    Calibrator,
    /// Judges the candidates of a task by their rows.
    Reward,
    /// Decides what to ask the user.
    Clarifier,
    /// Makes the answer from the finished tasks.
    Aggregator,
    /// Proposes other statements with the same result, for the verified optimizer. No search calls
    /// it.
    Rewriter,
}

impl Role {
    /// All roles of the contract: those of [`Role::SEARCH`], then those that no search calls. A
    /// plugin may export each of them, and a strategy may name a plugin for each.
    pub const ALL: [Self; 8] = [
        Self::Linker,
        Self::Planner,
        Self::Solver,
        Self::Calibrator,
        Self::Reward,
        Self::Clarifier,
        Self::Aggregator,
        Self::Rewriter,
    ];

    /// The roles that a search calls, in that order. What compares searches, or opens a host for
    /// them, reads this list.
    pub const SEARCH: [Self; 7] = [
        Self::Linker,
        Self::Planner,
        Self::Solver,
        Self::Calibrator,
        Self::Reward,
        Self::Clarifier,
        Self::Aggregator,
    ];

    /// The role's name in flags, output and the contract.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Linker => "linker",
            Self::Planner => "planner",
            Self::Solver => "solver",
            Self::Calibrator => "calibrator",
            Self::Reward => "reward",
            Self::Clarifier => "clarifier",
            Self::Aggregator => "aggregator",
            Self::Rewriter => "rewriter",
        }
    }
}

impl std::fmt::Display for Role {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// The arguments that every role call gets. Dropping the future of the call ends it.
#[derive(Clone)]
pub struct Call {
    /// The call's name in errors and traces, such as `solver(A)`.
    pub label: String,
    /// The ports that the host lends.
    pub ports: Ports,
    /// The ledger that host calls, CPU time and log bytes are charged to.
    pub ledger: Arc<Ledger>,
    /// The limit on the linear memory of the call in bytes, where it is below that of all plugins.
    pub memory: Option<usize>,
    /// The limit on the CPU time of the call, where it is below that of all plugins.
    pub cpu: Option<Duration>,
}

/// A table that a question needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Relevant {
    /// The table's name as the catalog spells it.
    pub table: String,
    /// The columns that are needed; an empty list means all.
    pub columns: Vec<String>,
    /// The relevance, 0 to 1.
    pub score: f64,
    /// The reason why the table is needed.
    pub reason: String,
}

/// The result of a linker.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Linked {
    /// The tables that other roles see from now on, most relevant first; an empty list leaves the
    /// catalog as it is.
    pub tables: Vec<Relevant>,
    /// Hits that become part of the problem for the other roles.
    pub hints: Vec<Hit>,
}

/// A finished dependency of a task.
#[derive(Clone, Serialize, Deserialize)]
pub struct Parent {
    /// The task that ended.
    pub task: Task,
    /// The result of that task.
    pub output: Output,
    /// The memo that the dependency's solver returned.
    pub memo: Option<Json>,
}

/// The result of a finished task.
#[derive(Clone, Serialize, Deserialize)]
pub enum Output {
    /// Rows under a name that may stand in FROM.
    Relation {
        /// The name in FROM.
        name: String,
        /// The candidate that was accepted.
        candidate: Box<Candidate>,
        /// The rows of that candidate, which are not serialised.
        #[serde(skip)]
        results: Arc<ResultSet>,
    },
    /// The hits of a retrieval task.
    Hits(Vec<Hit>),
    /// The task failed; only a tolerant task gets this.
    Failed(Failure),
}

/// The result of a solver.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Outcome {
    /// Candidates, best first; an empty list is allowed.
    pub candidates: Vec<Candidate>,
    /// Smaller tasks in place of this one; the last gives its result.
    pub subtasks: Vec<Task>,
    /// A question to the user.
    pub ask: Option<Question>,
    /// A document for the planner and for dependents, opaque to the host.
    pub memo: Option<Json>,
}

/// A candidate with its rows.
#[derive(Clone, Serialize, Deserialize)]
pub struct Rival {
    /// The statement and what is known about it.
    pub candidate: Candidate,
    /// The rows of the statement, which are not serialised.
    #[serde(skip)]
    pub results: Arc<ResultSet>,
}

/// A finished task with its rows.
#[derive(Clone, Serialize, Deserialize)]
pub struct Finished {
    /// The name that may stand in FROM.
    pub name: String,
    /// The task that ended.
    pub task: Task,
    /// The candidate that was accepted.
    pub candidate: Candidate,
    /// The other candidates, best first.
    pub others: Vec<Candidate>,
    /// The accepted candidate's rows, which are not serialised.
    #[serde(skip)]
    pub results: Arc<ResultSet>,
}

/// The result of an aggregator.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Answer {
    /// The answer in words.
    pub text: String,
    /// The task whose result the answer is.
    pub task: TaskId,
    /// The candidate whose result the answer is.
    pub candidate: Option<CandidateId>,
    /// A statement over finished tasks whose rows are the answer instead; the host runs and judges
    /// it.
    pub sql: Option<String>,
    /// The confidence, 0 to 1; the host lowers it to the calibrated one.
    pub confidence: f64,
    /// The steps by which the answer was found.
    pub basis: Vec<String>,
    /// Remarks for the reader.
    pub caveats: Vec<String>,
}

/// Narrows a large catalog to what a question needs.
#[async_trait]
pub trait Linker: Send + Sync {
    /// Called once for each wording of the problem, before the planner. Returns the tables and
    /// columns that the question needs, and hints.
    ///
    /// # Errors
    /// The plugin's failure, a trap, a limit, or an invalid value. After a typed failure the search
    /// continues with the whole catalog.
    async fn link(
        &self,
        call: Call,
        problem: &Problem,
        catalog: &Catalog,
    ) -> Result<Linked, RoleError>;
}

/// Divides a question into a graph of tasks, and changes the graph after observations.
#[async_trait]
pub trait Planner: Send + Sync {
    /// Called once for each wording of the problem. Returns the first graph.
    ///
    /// # Errors
    /// The plugin's failure, a trap, a limit, or an invalid value.
    async fn plan(
        &self,
        call: Call,
        problem: &Problem,
        catalog: &Catalog,
    ) -> Result<Graph, RoleError>;
    /// Called after tasks have ended, one call at a time; `seen[fresh..]` are the observations
    /// since the last call. Returns the changes of the graph.
    ///
    /// # Errors
    /// As [`Planner::plan`].
    async fn next(
        &self,
        call: Call,
        problem: &Problem,
        catalog: &Catalog,
        graph: &Graph,
        seen: &[Observation],
        fresh: usize,
    ) -> Result<Step, RoleError>;
}

/// Finds statements for a task.
#[async_trait]
pub trait Solver: Send + Sync {
    /// Called once for each task that goes to the solver, when its dependencies have ended. Returns
    /// candidates, or smaller tasks in its place.
    ///
    /// # Errors
    /// The plugin's failure, a trap, a limit, or an invalid value.
    async fn solve(
        &self,
        call: Call,
        problem: &Problem,
        catalog: &Catalog,
        task: &Task,
        parents: &[Parent],
    ) -> Result<Outcome, RoleError>;
}

/// Turns claims into probabilities.
#[async_trait]
pub trait Calibrator: Send + Sync {
    /// Called for the claims of a task's candidates. Returns one number of 0 to 1 for each claim,
    /// in order.
    ///
    /// # Errors
    /// A trap, a limit, or an invalid value.
    async fn calibrate(&self, call: Call, claims: &[(f64, Signals)])
    -> Result<Vec<f64>, RoleError>;
}

/// Judges all candidates of a task at once.
#[async_trait]
pub trait Reward: Send + Sync {
    /// Called when candidates with their rows are to be judged. Returns one verdict for each, in
    /// order.
    ///
    /// # Errors
    /// The plugin's failure, a trap, a limit, or an invalid value.
    async fn judge(
        &self,
        call: Call,
        problem: &Problem,
        catalog: &Catalog,
        task: &Task,
        rivals: &[Rival],
    ) -> Result<Vec<Verdict>, RoleError>;
}

/// Decides what to ask the user.
#[async_trait]
pub trait Clarifier: Send + Sync {
    /// Called when a search has no answer or an uncertain one. Returns questions to the user, the
    /// most useful first; none when nothing is to be asked.
    ///
    /// # Errors
    /// The plugin's failure, a trap, a limit, or an invalid value.
    async fn assess(
        &self,
        call: Call,
        problem: &Problem,
        catalog: &Catalog,
        graph: &Graph,
        seen: &[Observation],
    ) -> Result<Vec<Question>, RoleError>;
}

/// Makes the answer from the finished tasks.
#[async_trait]
pub trait Aggregator: Send + Sync {
    /// Called once, when the graph has finished. Returns the answer; `None` when nothing answers
    /// the question.
    ///
    /// # Errors
    /// The plugin's failure, a trap, a limit, or an invalid value.
    async fn aggregate(
        &self,
        call: Call,
        problem: &Problem,
        graph: &Graph,
        finished: &[Finished],
        seen: &[Observation],
    ) -> Result<Option<Answer>, RoleError>;
}

/// The result of the trial of a rewriter's proposal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trial {
    /// Equal and faster; the speed relative to the best statement so far, to two digits: 2.0 is
    /// twice as fast.
    Accepted(f64),
    /// Equal and not fast enough; the speed as above.
    Slower(f64),
    /// Other rows than the original's.
    Mismatch,
    /// The same rows in another order than the original's ORDER BY gave.
    Reordered,
    /// Other columns than the original's.
    OtherColumns,
    /// The statement was refused; the rule and the token.
    Refused(String),
    /// The statement does not parse or failed while it ran.
    Failed(String),
    /// More rows or bytes than are compared.
    TooLarge,
    /// Something that this version has no case for.
    Other(String),
}

/// A proposal of a rewriter, and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// The statement as it was run, or as it was proposed where it was refused.
    pub sql: String,
    /// The family of rewrites that the rewriter named.
    pub family: String,
    /// The result of its trial.
    pub trial: Trial,
}

/// A statement that a rewriter proposes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    /// The complete statement that is to replace the original.
    pub sql: String,
    /// The family of rewrites, such as `in-to-exists`.
    pub family: String,
    /// The reason why it should be faster, for people.
    pub reason: String,
}

/// Proposes other statements with the same result.
#[async_trait]
pub trait Rewriter: Send + Sync {
    /// Called once for each iteration of the optimizer, with the statement as the user gave it, the
    /// best one so far and its plan, and what became of earlier proposals. Returns another
    /// statement; `None` when there is nothing more to propose.
    ///
    /// # Errors
    /// The plugin's failure, a trap, a limit, or an invalid value.
    async fn rewrite(
        &self,
        call: Call,
        original: &str,
        best: &str,
        plan: &Plan,
        catalog: &Catalog,
        history: &[Attempt],
    ) -> Result<Option<Proposal>, RoleError>;
}
