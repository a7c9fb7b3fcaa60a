//! The search graph as strategies write it; `scheduler` checks and runs it.

use serde::{Deserialize, Serialize};

use super::{Candidate, CandidateId, Failure, Hit, Json, Lookup, Profile, TaskId};

/// When a task may start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Join {
    /// When all dependencies ended well.
    #[default]
    AllOf,
    /// When one did.
    AnyOf,
    /// When that many did.
    AtLeast(u32),
}

/// What a task does.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// Goes to the solver.
    #[default]
    Solve,
    /// Looks into a corpus, in the host; the observation has the hits.
    Retrieve(Lookup),
    /// Takes over the result of the dependency with the highest confidence.
    Choose,
    /// Another operation, by name; the host knows none.
    Other(String),
}

/// One step of the search.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Task {
    /// Unique within the graph.
    pub id: TaskId,
    /// The task it was made from.
    pub parent: Option<TaskId>,
    /// What to find out, in words.
    pub text: String,
    /// What it does.
    pub operation: Operation,
    /// The tasks whose results it needs.
    pub depends_on: Vec<TaskId>,
    /// How many of them.
    pub join: Join,
    /// Run although a dependency failed.
    pub tolerant: bool,
    /// Greatest first among ready tasks.
    pub priority: f64,
    /// How sure the planner is, 0 to 1.
    pub confidence: Option<f64>,
    /// What the result should look like.
    pub expected: Option<String>,
    /// The database it runs on; none: the search's own.
    pub database: Option<String>,
    /// From the planner to the solver, opaque to the host.
    pub context: Option<Json>,
}

/// The search graph.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Graph {
    /// Its tasks.
    pub tasks: Vec<Task>,
    /// The task whose result answers the question.
    pub answer: TaskId,
    /// The planner's memory, opaque to the host.
    pub memo: Option<Json>,
}

impl Graph {
    /// The task of that id.
    #[must_use]
    pub fn task(&self, id: &str) -> Option<&Task> {
        self.tasks.iter().find(|task| task.id == id)
    }
}

/// How a task ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// By a statement with rows.
    Solved,
    /// By a statement without rows.
    Empty,
    /// It failed.
    Failed(Failure),
    /// A dependency did not end well; the text says which.
    Skipped(String),
    /// The planner, the user or a limit ended it.
    Cancelled,
    /// Another end, by name.
    Other(String),
}

impl Ending {
    /// Whether there is a result.
    #[must_use]
    pub fn is_success(&self) -> bool {
        matches!(self, Self::Solved | Self::Empty)
    }
}

/// What became of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// The task.
    pub task: TaskId,
    /// How it ended.
    pub ending: Ending,
    /// Best first, calibrated.
    pub candidates: Vec<Candidate>,
    /// The shape of the best one's result.
    pub profile: Option<Profile>,
    /// The best one's result under bag equality, salted per run.
    pub fingerprint: Option<String>,
    /// What retrieval found.
    pub hits: Vec<Hit>,
    /// Smaller tasks that the solver put in its place.
    pub subtasks: Vec<Task>,
    /// The solver's memory, opaque to the host.
    pub memo: Option<Json>,
}

impl Observation {
    /// An observation of nothing but how it ended.
    #[must_use]
    pub fn ended(task: impl Into<TaskId>, ending: Ending) -> Self {
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

/// One change of the graph, after an observation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Edit {
    /// A new task.
    Add(Task),
    /// Replaces a task that has not started.
    Update(Task),
    /// Drops a task, also one under way.
    Cancel(TaskId),
    /// Moves the task whose result answers the question.
    Answer(TaskId),
    /// Nothing more is to be done.
    Finish,
    /// Another edit, by name; the host knows none.
    Other(String),
}

/// What the planner does after an observation.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Step {
    /// Changes, in order.
    pub edits: Vec<Edit>,
    /// The planner's memory from now on; none: as before.
    pub memo: Option<Json>,
}

/// What the scheduler takes at a time. With the graph and what its tasks found, the turns of a run decide all that happens in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "turn", content = "of")]
pub enum Turn {
    /// Work has ended; at least one place.
    Took(Vec<Taken>),
    /// The planner has answered.
    Step,
    /// The run ends from outside.
    Halt {
        /// By its deadline; else somebody stopped it.
        deadline: bool,
    },
}

/// Work that has ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "taken", content = "task")]
pub enum Taken {
    /// A task's runner returned.
    Ended(TaskId),
    /// A task's runner panicked.
    Lost(TaskId),
    /// Cancelled work has let go of its place.
    Gone,
}
