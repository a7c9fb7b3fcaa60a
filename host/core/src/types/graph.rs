//! The search graph as strategies write it; `scheduler` checks and runs it.

use serde::{Deserialize, Serialize};

use super::{Candidate, CandidateId, Failure, Hit, Json, Profile, RetrievalQuery, TaskId};

/// The condition under which a task may start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Join {
    /// All dependencies must have succeeded.
    #[default]
    AllOf,
    /// One dependency must have succeeded.
    AnyOf,
    /// That many dependencies must have succeeded.
    AtLeast(u32),
}

/// The work of a task.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// The solver finds a statement for it.
    #[default]
    Solve,
    /// The host searches a corpus; the hits become the observation.
    Retrieve(RetrievalQuery),
    /// The task takes over the result of the dependency with the highest confidence.
    Choose,
    /// Another operation, by name: the host knows those that name a solver, see
    /// [`Operation::solver`].
    Other(String),
}

impl Operation {
    /// The beginning of the name of an operation that calls another solver than the strategy's own:
    /// that of a node in its flow.
    pub const SOLVER: &str = "solver/";

    /// The name of the solver that the operation calls in place of the strategy's own.
    #[must_use]
    pub fn solver(&self) -> Option<&str> {
        match self {
            Self::Other(name) => {
                name.strip_prefix(Self::SOLVER).filter(|solver| !solver.is_empty())
            }
            Self::Solve | Self::Retrieve(_) | Self::Choose => None,
        }
    }
}

/// One step of the search.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Task {
    /// Unique within the graph.
    pub id: TaskId,
    /// The task that it was made from.
    pub parent: Option<TaskId>,
    /// A description of what to find out.
    pub text: String,
    /// The operation that carries out the task.
    pub operation: Operation,
    /// The tasks whose results it needs.
    pub depends_on: Vec<TaskId>,
    /// The number of these that must have succeeded.
    pub join: Join,
    /// True if it runs even if dependencies failed.
    pub tolerant: bool,
    /// The rank among ready tasks; the greatest starts first.
    pub priority: f64,
    /// The planner's confidence in the task, 0 to 1.
    pub confidence: Option<f64>,
    /// A description of the expected result.
    pub expected: Option<String>,
    /// The database that it runs on; `None` means the search's own.
    pub database: Option<String>,
    /// A document from the planner to the solver, opaque to the host.
    pub context: Option<Json>,
}

/// The tasks of a search and their dependencies.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Graph {
    /// The tasks, in any order.
    pub tasks: Vec<Task>,
    /// The task whose result answers the question.
    pub answer: TaskId,
    /// The planner's own state, opaque to the host.
    pub memo: Option<Json>,
}

impl Graph {
    /// The task of that id.
    #[must_use]
    pub fn task(&self, id: &str) -> Option<&Task> {
        self.tasks.iter().find(|task| task.id == id)
    }
}

/// The ending of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// A statement has rows.
    Solved,
    /// A statement ran and has no rows, or retrieval found nothing.
    Empty,
    /// The task ended with this failure.
    Failed(Failure),
    /// Too few dependencies succeeded; the text names the cause.
    Skipped(String),
    /// The planner, the user or a limit ended the task, or nothing needed it any more.
    Cancelled,
    /// Another end, by name.
    Other(String),
}

impl Ending {
    /// Returns whether there is a result.
    #[must_use]
    pub fn is_success(&self) -> bool {
        matches!(self, Self::Solved | Self::Empty)
    }
}

/// The outcome of a task, as the planner sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// The id of the task that ended.
    pub task: TaskId,
    /// The ending of the task.
    pub ending: Ending,
    /// The task's candidates, best first and calibrated.
    pub candidates: Vec<Candidate>,
    /// The shape of the best candidate's result.
    pub profile: Option<Profile>,
    /// The fingerprint of the best candidate's result under bag equality, salted per run.
    pub fingerprint: Option<String>,
    /// The hits of a retrieval task.
    pub hits: Vec<Hit>,
    /// The smaller tasks that the solver put in its place.
    pub subtasks: Vec<Task>,
    /// The solver's memo, opaque to the host.
    pub memo: Option<Json>,
}

impl Observation {
    /// An observation that holds nothing but how the task ended.
    #[must_use]
    pub fn from_ending(task: impl Into<TaskId>, ending: Ending) -> Self {
        Self {
            task: task.into(),
            ending,
            candidates: Vec::new(),
            profile: None,
            fingerprint: None,
            hits: Vec::new(),
            subtasks: Vec::new(),
            memo: None,
        }
    }

    /// The best candidate's id.
    #[must_use]
    pub fn best(&self) -> Option<&CandidateId> {
        self.candidates.first().map(|candidate| &candidate.id)
    }
}

/// One change of the graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Edit {
    /// Adds a task with an id that the graph does not have yet.
    Add(Task),
    /// Replaces a task that has not started.
    Update(Task),
    /// Cancels a task, also one that is running.
    Cancel(TaskId),
    /// Names another task whose result answers the question.
    Answer(TaskId),
    /// Ends the graph: no further task starts.
    Finish,
    /// Another edit, by name; the host knows none.
    Other(String),
}

/// The planner's reaction to observations.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Step {
    /// The changes of the graph, applied in order, all or none.
    pub edits: Vec<Edit>,
    /// The planner's state from now on; `None` leaves it as it was.
    pub memo: Option<Json>,
}

/// A decision of the scheduler. Together with the graph and the results of its tasks, the decisions
/// of a run determine everything that happens in it, so they are recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "turn", content = "of")]
pub enum Turn {
    /// The scheduler processes completed work, at least one piece.
    Took(Vec<Taken>),
    /// The scheduler processes the planner's answer.
    Step,
    /// The scheduler starts no further task, and waits a while for those that run.
    Drain {
        /// True if the deadline passed; false if the run was stopped.
        deadline: bool,
    },
    /// The scheduler ends the run before the graph is finished.
    Halt {
        /// True if the deadline passed; false if the run was stopped.
        deadline: bool,
    },
}

/// A piece of completed work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "taken", content = "task")]
pub enum Taken {
    /// The runner of this task returned.
    Ended(TaskId),
    /// The runner of this task panicked.
    Lost(TaskId),
    /// Cancelled work has ended, and its place is free again.
    Gone,
}
