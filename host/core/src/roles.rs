//! What a plugin plays for the host. The runtime implements these traits over components; tests implement them in plain Rust.

use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::ports::Ports;
use crate::{
    Candidate, CandidateId, Catalog, Failure, Graph, Hit, Json, Ledger, Observation, Problem, Question, ResultSet,
    RoleError, Signals, Step, Task, TaskId, Verdict,
};

/// A role's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Narrows a large catalog.
    Linker,
    /// Compiles a question into a graph.
    Planner,
    /// Finds statements for a task.
    Solver,
    /// Turns claims into probabilities.
    Calibrator,
    /// Judges candidates.
    Reward,
    /// Decides what to ask the user.
    Clarifier,
    /// Makes the answer.
    Aggregator,
}

impl Role {
    /// All roles, in the order in which a question meets them.
    pub const ALL: [Self; 7] =
        [Self::Linker, Self::Planner, Self::Solver, Self::Calibrator, Self::Reward, Self::Clarifier, Self::Aggregator];

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
        }
    }
}

impl std::fmt::Display for Role {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// Everything that one role call gets besides its arguments. Dropping the future of the call ends it.
#[derive(Clone)]
pub struct Call {
    /// Names the call in errors and traces, such as `solver(A)`.
    pub label: String,
    /// What the host lends.
    pub ports: Ports,
    /// Where host calls, CPU time and log bytes are charged.
    pub ledger: Arc<Ledger>,
}

/// A table that is worth showing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Relevant {
    /// Its name.
    pub table: String,
    /// Which of its columns; none: all.
    pub columns: Vec<String>,
    /// How relevant, 0 to 1.
    pub score: f64,
    /// Why.
    pub reason: String,
}

/// What a linker found.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Linked {
    /// Most relevant first; none: the catalog stays as it is.
    pub tables: Vec<Relevant>,
    /// What the other roles are told inside the problem.
    pub hints: Vec<Hit>,
}

/// A finished dependency of a task.
#[derive(Clone)]
pub struct Parent {
    /// The task.
    pub task: Task,
    /// What came of it.
    pub output: Output,
    /// Its solver's memory.
    pub memo: Option<Json>,
}

/// What came of a finished task.
#[derive(Clone)]
pub enum Output {
    /// Rows, under a name that may stand in FROM.
    Relation {
        /// The name.
        name: String,
        /// The candidate that was kept.
        candidate: Box<Candidate>,
        /// Its rows.
        results: Arc<ResultSet>,
    },
    /// Hits of retrieval.
    Hits(Vec<Hit>),
    /// It failed, and a tolerant task runs all the same.
    Failed(Failure),
}

/// What a solver found.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Outcome {
    /// Best first; none is an honest answer.
    pub candidates: Vec<Candidate>,
    /// Smaller tasks in place of this one; the last gives its result.
    pub subtasks: Vec<Task>,
    /// What the user should be asked.
    pub ask: Option<Question>,
    /// Memory for the planner and dependents.
    pub memo: Option<Json>,
}

/// A candidate with its rows.
#[derive(Clone)]
pub struct Rival {
    /// The candidate.
    pub candidate: Candidate,
    /// Its rows.
    pub results: Arc<ResultSet>,
}

/// A finished task with its rows.
#[derive(Clone)]
pub struct Finished {
    /// The name that may stand in FROM.
    pub name: String,
    /// The task.
    pub task: Task,
    /// The candidate that was kept.
    pub candidate: Candidate,
    /// The others, best first.
    pub others: Vec<Candidate>,
    /// The kept one's rows.
    pub results: Arc<ResultSet>,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Answer {
    /// In words.
    pub text: String,
    /// The task whose result it is.
    pub task: TaskId,
    /// The candidate whose result it is.
    pub candidate: Option<CandidateId>,
    /// A statement that joins finished tasks; its rows are the answer's.
    pub sql: Option<String>,
    /// 0 to 1.
    pub confidence: f64,
    /// How it came about, step by step.
    pub basis: Vec<String>,
    /// What the reader should know.
    pub caveats: Vec<String>,
}

/// Narrows a large catalog to what a question needs.
#[async_trait]
pub trait Linker: Send + Sync {
    /// The tables worth showing, and hints.
    ///
    /// # Errors
    /// The role's failure, a trap, a limit, or an invalid value.
    async fn link(&self, call: Call, problem: &Problem, catalog: &Catalog) -> Result<Linked, RoleError>;
}

/// Compiles a question into a graph.
#[async_trait]
pub trait Planner: Send + Sync {
    /// The first graph.
    ///
    /// # Errors
    /// The role's failure, a trap, a limit, or an invalid value.
    async fn plan(&self, call: Call, problem: &Problem, catalog: &Catalog) -> Result<Graph, RoleError>;
    /// What to change after observations; `seen[fresh..]` are new.
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
    /// Candidates for one task.
    ///
    /// # Errors
    /// The role's failure, a trap, a limit, or an invalid value.
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
    /// One number of 0 to 1 for each claim, in order.
    ///
    /// # Errors
    /// A trap, a limit, or an invalid value.
    async fn calibrate(&self, call: Call, claims: &[(f64, Signals)]) -> Result<Vec<f64>, RoleError>;
}

/// Judges all rivals of a task at once.
#[async_trait]
pub trait Reward: Send + Sync {
    /// One verdict for each rival, in order.
    ///
    /// # Errors
    /// The role's failure, a trap, a limit, or an invalid value.
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
    /// Questions, the most useful first.
    ///
    /// # Errors
    /// The role's failure, a trap, a limit, or an invalid value.
    async fn assess(
        &self,
        call: Call,
        problem: &Problem,
        catalog: &Catalog,
        graph: &Graph,
        seen: &[Observation],
    ) -> Result<Vec<Question>, RoleError>;
}

/// Makes the answer.
#[async_trait]
pub trait Aggregator: Send + Sync {
    /// The answer; none when nothing here answers the question.
    ///
    /// # Errors
    /// The role's failure, a trap, a limit, or an invalid value.
    async fn aggregate(
        &self,
        call: Call,
        problem: &Problem,
        graph: &Graph,
        finished: &[Finished],
        seen: &[Observation],
    ) -> Result<Option<Answer>, RoleError>;
}
