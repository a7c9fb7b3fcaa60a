//! The format: one JSON document per line. The first line is the [`Header`]; the others are
//! [`Record`]s in the order in which they happened.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use syrch_core::ledger;
use syrch_core::ports::{
    Budget, ColumnStats, CompiledMetric, Facts, Level, LlmError, Match, Plan, PortError, Reply,
    Request, Sample, Ticket,
};
use syrch_core::roles::{Relevant, Role};
use syrch_core::{
    Access, Candidate, Catalog, Edit, Graph, Hit, Json, Observation, Problem, Question,
    RetrievalQuery, RoleError, Signals, SqlError, Task, TaskId, Turn, Verdict,
};

/// The value of [`Header::format`].
pub const FORMAT: &str = "syrch.journal";

/// The version that this host writes. It reads this one and the first.
pub const VERSION: u32 = 2;

/// The number of a role call within its run, from 0, in the order in which the calls started.
pub type CallId = u64;

/// The first line of a journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The name of the format, always [`FORMAT`].
    pub format: String,
    /// The version of the format.
    pub version: u32,
    /// The id of the run.
    pub run: String,
    /// The time at which the run started, in milliseconds since 1970.
    pub began_ms: u64,
    /// The version of the host.
    pub host: String,
    /// The problem as the user asked it.
    pub problem: Problem,
    /// The granted tables when the search started.
    #[serde(with = "shared")]
    pub catalog: Arc<Catalog>,
    /// The identity of the data when the search started; `None` when the engine cannot detect
    /// changes.
    pub database_identity: Option<String>,
    /// The names that a request may hold, the default first.
    pub models: Vec<String>,
    /// The provider of model calls, such as `openai`.
    pub provider: String,
    /// The plugins of the strategy.
    pub plugins: Vec<PluginRecord>,
    /// The part of rows that the journal retains; named `kept` in journals of earlier builds.
    #[serde(alias = "kept")]
    pub rows: RowRetention,
    /// All other settings of the search, without keys, as the library writes them.
    #[serde(with = "shared")]
    pub settings: Arc<serde_json::Value>,
    /// The kind of the run.
    #[serde(rename = "optimize", default, skip_serializing_if = "RunKind::is_search")]
    pub kind: RunKind,
    /// The statement that a person confirmed for this question; `None` if the search looks for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified: Option<Verified>,
    /// The statements that the definitions of metrics give for the question.
    #[serde(default, skip_serializing_if = "Defined::is_empty")]
    pub defined: Defined,
}

/// The statements that the definitions of metrics give for a question before anything is searched
/// for.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Defined {
    /// The statement of a question that changes the one before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<Given>,
    /// The readings of a question whose words may mean several things.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choices: Option<Choices>,
    /// True if the question goes on from another one, so that it means something else by itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub follows: bool,
}

impl Defined {
    /// Returns true if the definitions give no statement, and the question stands by itself.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A statement that is compiled from the definitions of metrics.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Given {
    /// The statement.
    pub sql: String,
    /// The confidence in the reading of the question, 0 to 1.
    pub confidence: f64,
    /// The definitions and conditions that it applies, as the answer's document has them.
    pub origin: serde_json::Value,
}

/// The readings of a question among which the user chooses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Choices {
    /// The question to the user.
    pub question: String,
    /// The names of the readings with their statements.
    pub list: Vec<(String, Given)>,
}

/// A statement that a person confirmed as the answer to a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verified {
    /// The question as it was confirmed.
    pub question: String,
    /// The statement.
    pub sql: String,
    /// The person who confirmed it.
    pub by: String,
    /// The day on which it was confirmed, as `2026-11-02`.
    pub at: String,
}

/// The kind of a run. In a header it is the member `optimize`, which a search lacks.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(from = "Option<serde_json::Value>", into = "Option<serde_json::Value>")]
pub enum RunKind {
    /// A search for the answer to a question.
    #[default]
    Search,
    /// A run of the optimizer, whose problem is a statement, with its settings.
    Optimization(serde_json::Value),
}

impl RunKind {
    /// Returns true for a search.
    #[must_use]
    pub fn is_search(&self) -> bool {
        matches!(self, Self::Search)
    }
}

impl From<Option<serde_json::Value>> for RunKind {
    fn from(optimize: Option<serde_json::Value>) -> Self {
        optimize.map_or(Self::Search, Self::Optimization)
    }
}

impl From<RunKind> for Option<serde_json::Value> {
    fn from(kind: RunKind) -> Self {
        match kind {
            RunKind::Search => None,
            RunKind::Optimization(settings) => Some(settings),
        }
    }
}

/// Serialises a value that many journals of a process share as if each had its own.
mod shared {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<T: Serialize, S: Serializer>(
        value: &Arc<T>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        T::serialize(value, serializer)
    }

    pub(super) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Arc<T>, D::Error> {
        T::deserialize(deserializer).map(Arc::new)
    }
}

/// A plugin of the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PluginRecord {
    /// The role that it implemented.
    pub role: Role,
    /// The name of a built-in plugin, or the path of a file.
    pub source: String,
    /// The name that the plugin gives itself.
    pub name: String,
    /// The version that the plugin gives itself.
    pub version: String,
    /// The sha256 of the plugin's bytes, in hex.
    pub digest: String,
    /// True if it was denied model calls once it might know something of the data.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub untrusted: bool,
}

/// The rows that a journal retains: the user's `--journal-rows`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RowRetention {
    /// Results and cells, within the caps.
    #[default]
    Full,
    /// No rows and no cells. Of prompts, which may quote them, only digests; replies stay, since
    /// they were paid for.
    None,
}

/// A line after the first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "record")]
pub enum Record {
    /// An event whose order matters.
    Event {
        /// Microseconds since the run started.
        at_us: u64,
        /// The event, which a replay must repeat.
        event: Event,
    },
    /// Information for people, which a replay produces again by itself.
    Fact {
        /// Microseconds since the run started.
        at_us: u64,
        /// The information that is shown.
        fact: Fact,
    },
    /// An entry of the ledger; `books` in journals of earlier builds.
    #[serde(alias = "books")]
    Ledger {
        /// The entry that was written.
        #[serde(flatten)]
        entry: ledger::Entry,
    },
    /// A result, which events name by its digest.
    Rows {
        /// The sha256 of the encoded result, in hex.
        digest: String,
        /// The encoded result in base64.
        bytes: String,
    },
    /// A killed run was resumed here.
    Resumed {
        /// The time at which it was resumed, in milliseconds since 1970.
        at_unix_ms: u64,
    },
}

/// An event whose order matters. Each is recorded at a sequence point of its actor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "event")]
pub enum Event {
    /// A role call starts.
    Call {
        /// The number of the role call.
        call: CallId,
        /// The role that is called.
        role: Role,
        /// The task that it works on; empty when it works on none.
        task: TaskId,
        /// The role call that waits for it, and the ticket of that wait.
        from: Option<(CallId, Ticket)>,
    },
    /// A port call is made; [`Event::Done`] answers it. This precedes the sending of a model call.
    Issue {
        /// The role call that makes it.
        call: CallId,
        /// The call's ticket; 0 when the role call awaits it before it does anything else.
        ticket: Ticket,
        /// The request to the port.
        ask: Ask,
    },
    /// A port call ends.
    Done {
        /// The role call that made it.
        call: CallId,
        /// The ticket that the call was issued with.
        ticket: Ticket,
        /// The answer of the port.
        got: Got,
    },
    /// A port call that is answered at once.
    Port {
        /// The role call that makes it.
        call: CallId,
        /// The request to the port.
        ask: Ask,
        /// The answer of the port.
        got: Got,
    },
    /// The guest has returned or trapped. The calls that it started and did not await end here.
    Left {
        /// The role call of the guest.
        call: CallId,
    },
    /// A role call ends.
    End {
        /// The number of the role call.
        call: CallId,
        /// The reason why it failed; `None` when it did not.
        error: Option<RoleError>,
    },
    /// The scheduler makes a decision.
    Turn(Turn),
    /// A task is cancelled. No later event belongs to it.
    Closed {
        /// The id of the cancelled task.
        task: TaskId,
    },
    /// The host decides something that depends on time.
    Known {
        /// The name of the decision.
        place: String,
        /// The decision that was made, which a replay repeats.
        value: bool,
    },
    /// The user was asked.
    User {
        /// The question that the user was shown.
        question: Question,
        /// The user's answer; `None` when there was none.
        answer: Option<String>,
    },
    /// The optimizer did something with the database, or was stopped while it did. It is recorded
    /// when it has ended.
    Bench {
        /// The step, such as a comparison, as the library's optimizer names its steps.
        step: serde_json::Value,
        /// The result of the step: a verdict, a size, a time, columns, a plan or an error. It holds
        /// no row and no value.
        got: serde_json::Value,
    },
    /// The host no longer waits for a role, since the time is over.
    Over {
        /// The name of the role.
        place: String,
    },
}

/// A request to a port.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "port", content = "of")]
pub enum Ask {
    /// A model call (`llm`).
    Llm(Box<Request>),
    /// A statement that `sql` runs.
    Sql(String),
    /// A statement for `inspect.check`.
    Check(String),
    /// A statement for `inspect.explain`.
    Explain(String),
    /// A table and columns for `inspect.column-stats-of`.
    Stats(String, Vec<String>),
    /// A request for metrics for `inspect.compile-metric`.
    CompileMetric(String),
    /// A table, columns and the most values of a column for `cells.samples`.
    Samples(String, Vec<String>, u32),
    /// Phrases, their comparison and the most hits of a phrase for `cells.find`.
    Find(Vec<String>, Match, u32),
    /// Queries for `retrieval.find`; `search` and `look-up` in journals of earlier builds.
    #[serde(alias = "search", alias = "look-up")]
    Retrieval(Vec<RetrievalQuery>),
    /// The texts whose embeddings `retrieval.embed` returns.
    Embed(Vec<String>),
    /// An offset and the most rows for `rows.read`.
    Rows(u64, u32),
    /// The claims that `evaluate.calibrate` turns into probabilities.
    Calibrate(Vec<(f64, Signals)>),
    /// The candidates that `evaluate.reward` judges.
    Reward(Vec<Candidate>),
    /// The question of `run.remaining`: what may still be spent.
    Remaining,
    /// Tickets for `wait.any`, or one whose state is asked.
    Wait(Vec<Ticket>),
    /// The ticket of a call that the guest cancels.
    GiveUp(Ticket),
    /// A remark for `trace.note`.
    Note(Level, String),
    /// A candidate for `trace.propose`.
    Propose(Box<Candidate>),
    /// A candidate's id and the reason for `trace.keep`.
    Keep(String, String),
    /// A candidate's id and the reason for `trace.discard`.
    Discard(String, String),
    /// A candidate's id, a name and data for `trace.event`.
    Step(Option<String>, String, Json),
}

/// The answer of a port.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "got", content = "is")]
pub enum Got {
    /// The port has no answer to give.
    Nothing,
    /// The outcome of a model call.
    Reply(Result<Box<Reply>, LlmError>),
    /// The outcome of a statement.
    Rows(Result<StoredRows, SqlError>),
    /// The facts of a statement.
    Facts(Result<Box<Facts>, SqlError>),
    /// The plan of a statement.
    Plan(Result<Plan, SqlError>),
    /// The statistics of each column, in the order of the request.
    Stats(Result<Vec<ColumnStats>, PortError>),
    /// The statement of a request for metrics.
    Compiled(Result<Box<CompiledMetric>, PortError>),
    /// Samples of columns; `None` when the journal does not retain cells.
    Samples(Option<Result<Vec<Sample>, PortError>>),
    /// Cells; `None` when the journal does not retain them.
    Hits(Option<Result<Vec<Vec<Hit>>, PortError>>),
    /// The hits of each query.
    Found(Vec<Result<Vec<Hit>, PortError>>),
    /// The embeddings of the texts, in the order of the request.
    Vectors(Result<Vec<Vec<f32>>, PortError>),
    /// The number of rows that were shown.
    Page(Result<u64, PortError>),
    /// The calibrated confidences, 0 to 1, in the order of the claims.
    Calibrated(Result<Vec<f64>, PortError>),
    /// The verdict on each candidate, in the order of the request.
    Verdicts(Result<Vec<Verdict>, PortError>),
    /// The budget that may still be spent.
    Budget(Budget),
    /// The tickets of the calls that have ended.
    Ended(Vec<Ticket>),
    /// True if the result of the cancelled call was there already.
    GaveUp(bool),
}

/// A result, as events hold it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredRows {
    /// The number of rows.
    pub rows: u64,
    /// The names of the columns.
    pub columns: Vec<String>,
    /// True if a cap cut the result.
    pub truncated: bool,
    /// The statement that ran, relations spliced in.
    pub sql: String,
    /// The digest of the [`Record::Rows`] with the rows; `None` when the journal does not retain
    /// them.
    pub digest: Option<String>,
}

/// Information about a run for people.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "fact")]
pub enum Fact {
    /// A search starts over a wording of the problem.
    Round {
        /// The number of the wording, from 0.
        number: u32,
    },
    /// The linker has narrowed the catalog.
    Linked {
        /// The tables that remain; an empty list means all.
        tables: Vec<Relevant>,
        /// The number of tables before.
        of: usize,
        /// The number of hints.
        hints: usize,
    },
    /// The graph that runs, after useless tasks were dropped and equal ones merged.
    Graph(Graph),
    /// A task starts to run.
    Started {
        /// The id of the task.
        task: TaskId,
    },
    /// A task's solver replaced the task by smaller ones.
    Expanded {
        /// The id of the task that was replaced.
        task: TaskId,
        /// The tasks that take its place.
        subtasks: Vec<Task>,
    },
    /// The planner changed the graph.
    Edited {
        /// The changes in the order in which they were applied.
        edits: Vec<Edit>,
    },
    /// A step of the planner was refused.
    Refused {
        /// The reason why it was refused.
        reason: String,
    },
    /// A task ended with this outcome.
    Ended(Observation),
    /// The use that plugins which are not built in made of their grants. It precedes the end of the
    /// run; of a run that was resumed it is that from where it was resumed.
    Access {
        /// The plugins.
        plugins: Vec<Access>,
    },
    /// The run ended with an answer document.
    Answer {
        /// The document, a `syrch.answer/1` as the library writes it; of the optimizer a
        /// `syrch.optimize/1`.
        document: serde_json::Value,
        /// The outcome: `answered`, `no-answer` or `clarification-needed`; of the optimizer its
        /// own, such as `OPTIMIZED`.
        outcome: String,
        /// True if the user stopped the run.
        interrupted: bool,
        /// The document's last warnings: those that concern not the search but, for example, the
        /// cache. A replay has no cache and repeats these.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        beside: Vec<String>,
    },
    /// The run ended with an error in place of an answer.
    Failed {
        /// The message of the error.
        message: String,
        /// The error's class, by the names of the exit codes; empty in journals of hosts that did
        /// not write it.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        class: String,
    },
}

impl Ask {
    /// The request as a journal with this retention stores it.
    #[must_use]
    pub fn for_retention(self, rows: RowRetention) -> Self {
        match (rows, self) {
            (RowRetention::None, Self::Llm(mut request)) => {
                for message in &mut request.messages {
                    message.text = crate::stored::digest(message.text.as_bytes());
                }
                Self::Llm(request)
            }
            (RowRetention::None, Self::Retrieval(mut queries)) => {
                queries
                    .iter_mut()
                    .for_each(|query| query.text = crate::stored::digest(query.text.as_bytes()));
                Self::Retrieval(queries)
            }
            (RowRetention::None, Self::Embed(texts)) => Self::Embed(
                texts.iter().map(|text| crate::stored::digest(text.as_bytes())).collect(),
            ),
            (_, ask) => ask,
        }
    }

    /// The name of the port's function, for people.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Llm(_) => "llm.complete",
            Self::Sql(_) => "sql.run",
            Self::Check(_) => "inspect.check",
            Self::Explain(_) => "inspect.explain",
            Self::Stats(..) => "inspect.column-stats-of",
            Self::CompileMetric(_) => "inspect.compile-metric",
            Self::Samples(..) => "cells.samples",
            Self::Find(..) => "cells.find",
            Self::Retrieval(_) => "retrieval.find",
            Self::Embed(_) => "retrieval.embed",
            Self::Rows(..) => "rows.read",
            Self::Calibrate(_) => "evaluate.calibrate",
            Self::Reward(_) => "evaluate.reward",
            Self::Remaining => "run.remaining",
            Self::Wait(_) => "wait.any",
            Self::GiveUp(_) => "cancel",
            Self::Note(..) => "trace.note",
            Self::Propose(_) => "trace.propose",
            Self::Keep(..) => "trace.keep",
            Self::Discard(..) => "trace.discard",
            Self::Step(..) => "trace.event",
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A part of a header, as older hosts wrote it.
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Part {
        #[serde(rename = "optimize", default, skip_serializing_if = "RunKind::is_search")]
        kind: RunKind,
    }

    #[test]
    fn the_kind_of_a_run_is_written_as_before() {
        let optimization = RunKind::Optimization(json!({"settings": {}}));
        for (kind, text) in
            [(RunKind::Search, "{}"), (optimization, r#"{"optimize":{"settings":{}}}"#)]
        {
            let part = Part { kind };
            assert_eq!(serde_json::to_string(&part).unwrap(), text);
            assert_eq!(serde_json::from_str::<Part>(text).unwrap(), part);
        }
        let null = serde_json::from_str::<Part>(r#"{"optimize":null}"#).unwrap();
        assert_eq!(null.kind, RunKind::Search);
    }
}
