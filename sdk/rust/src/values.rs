//! Defaults and short makers for the contract's values.

use crate::bindings::linker::Linked;
use crate::bindings::planner::Step;
use crate::bindings::rewriter::Proposal;
use crate::bindings::solver::Outcome;
use crate::bindings::types::{
    Candidate, Catalog, Column, Dialect, Ending, Graph, Join, Observation, Operation, Opinion,
    Problem, Profile, Signals, Syntax, Table, Task, Verdict,
};

/// A verdict that accepts the candidate, with a score of 0 to 1 and the reason.
#[must_use]
pub fn accepted(score: f64, reason: impl Into<String>) -> Verdict {
    Verdict::Accepted(Opinion { score, reason: reason.into(), checks: Vec::new() })
}

/// A verdict that rejects the candidate, with a score of 0 to 1 and the reason.
#[must_use]
pub fn rejected(score: f64, reason: impl Into<String>) -> Verdict {
    Verdict::Rejected(Opinion { score, reason: reason.into(), checks: Vec::new() })
}

impl Problem {
    /// A problem that is just a question.
    #[must_use]
    pub fn new(question: impl Into<String>) -> Self {
        Self { question: question.into(), ..Self::default() }
    }
}

impl Task {
    /// A task for the solver, without dependencies.
    #[must_use]
    pub fn new(id: impl Into<String>, text: impl Into<String>) -> Self {
        Self { id: id.into(), text: text.into(), ..Self::default() }
    }
}

impl Graph {
    /// A graph of one task, which gives the answer.
    #[must_use]
    pub fn single(task: Task) -> Self {
        Self { answer: task.id.clone(), tasks: vec![task], memo: None }
    }

    /// The task of that id.
    #[must_use]
    pub fn task(&self, id: &str) -> Option<&Task> {
        self.tasks.iter().find(|task| task.id == id)
    }
}

impl Observation {
    /// An observation that holds nothing but how the task ended.
    #[must_use]
    pub fn ended(task: impl Into<String>, ending: Ending) -> Self {
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

    /// Returns true if the task has a result.
    #[must_use]
    pub fn is_success(&self) -> bool {
        matches!(self.ending, Ending::Solved | Ending::Empty)
    }
}

impl Candidate {
    /// Returns the confidence to rely on: the calibrated one, else the one that the model stated,
    /// else 0.
    #[must_use]
    pub fn sureness(&self) -> f64 {
        self.confidence.or(self.raw_confidence).filter(|value| value.is_finite()).unwrap_or(0.0)
    }

    /// The tokens that the statement cost, as its solver reported them under `tokens`; 0 when it
    /// did not.
    #[must_use]
    pub fn tokens(&self) -> f64 {
        self.signals
            .extra
            .iter()
            .find(|(name, _)| name == "tokens")
            .map_or(0.0, |(_, tokens)| *tokens)
    }
}

impl Proposal {
    /// A statement, the family of rewrites it belongs to, such as `in-to-exists`, and why it should
    /// be faster.
    #[must_use]
    pub fn new(
        sql: impl Into<String>,
        family: impl Into<String>,
        reason: impl Into<String>,
    ) -> Self {
        Self { sql: sql.into(), family: family.into(), reason: reason.into() }
    }
}

impl Default for Operation {
    fn default() -> Self {
        Self::Solve
    }
}

impl Default for Join {
    fn default() -> Self {
        Self::AllOf
    }
}

/// The SQL of the standard, without rules.
impl Default for Syntax {
    fn default() -> Self {
        Self {
            title: "SQL".to_owned(),
            rules: String::new(),
            backticks: false,
            folds_names: false,
            backslash_escapes: false,
        }
    }
}

impl Default for Dialect {
    fn default() -> Self {
        Self::Sqlite
    }
}

macro_rules! defaults {
    ($($type:ident { $($field:ident),+ $(,)? })+) => {
        $(impl Default for $type {
            fn default() -> Self {
                Self { $($field: Default::default()),+ }
            }
        })+
    };
}

defaults! {
    Problem { question, evidence, goal, answers, hints, terms, extra }
    Task {
        id, parent, text, operation, depends_on, join, tolerant, priority, confidence, expected,
        database, context
    }
    Candidate {
        id, parents, origin, sql, raw_confidence, confidence, score, rationale, signals, extra
    }
    Signals {
        attempts, max_attempts, syntax_errors, schema_errors, execution_errors, empty_result,
        null_columns, overflow, samples,
        agreeing, logprob, reward, extra,
    }
    Profile { rows, truncated, columns, warnings }
    Column { name, sql_type, nullable, comment, extra }
    Table {
        schema_name, name, columns, primary_key, foreign_keys, indexes, row_estimate, comment, extra
    }
    Catalog { database, dialect, tables, syntax }
    Linked { tables, hints }
    Step { edits, memo }
    Outcome { candidates, subtasks, ask, memo }
}
