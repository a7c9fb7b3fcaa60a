//! The format: one JSON document a line. The first is the [`Header`]; the others are [`Record`]s in the order in which they happened.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use syrch_core::ledger;
use syrch_core::ports::{
    Budget, ColumnStats, Facts, Level, LlmError, Match, Plan, PortError, Reply, Request, Sample, Ticket,
};
use syrch_core::roles::{Relevant, Role};
use syrch_core::{
    Candidate, Catalog, Edit, Graph, Hit, Json, Lookup, Observation, Problem, Question, RoleError, Signals, SqlError,
    Task, TaskId, Turn, Verdict,
};

/// What [`Header::format`] says.
pub const FORMAT: &str = "syrch.journal";

/// The version that this host writes, and the only one that it reads.
pub const VERSION: u32 = 2;

/// The number of a role call within its run, from 0, in the order in which they began.
pub type CallId = u64;

/// The first line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Always [`FORMAT`].
    pub format: String,
    /// [`VERSION`].
    pub version: u32,
    /// The run's id.
    pub run: String,
    /// When it began, in milliseconds since 1970.
    pub began_ms: u64,
    /// The host's version.
    pub host: String,
    /// The problem as asked.
    pub problem: Problem,
    /// The tables that the search saw.
    #[serde(with = "shared")]
    pub catalog: Arc<Catalog>,
    /// The data's identity at the start; none: the engine cannot tell.
    pub database_identity: Option<String>,
    /// The names of models that a request may hold, the default first.
    pub models: Vec<String>,
    /// Who answered model calls, such as `openai`.
    pub provider: String,
    /// The plugins.
    pub plugins: Vec<PluginRecord>,
    /// What the journal keeps of rows.
    pub kept: Kept,
    /// Everything else that the search was told, without keys, as the library writes it.
    #[serde(with = "shared")]
    pub settings: Arc<serde_json::Value>,
}

/// What many journals of a process hold, as if each had its own.
mod shared {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<T: Serialize, S: Serializer>(value: &Arc<T>, serializer: S) -> Result<S::Ok, S::Error> {
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
    /// The role it played.
    pub role: Role,
    /// A built-in's name or a path.
    pub source: String,
    /// Its own name.
    pub name: String,
    /// Its own version.
    pub version: String,
    /// The sha256 of its bytes, in hex.
    pub digest: String,
    /// Whether it was denied model calls once it might know something of the data.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub untrusted: bool,
}

/// What a journal keeps of rows: the user's `--journal-rows`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kept {
    /// Results and cells, within the caps.
    #[default]
    Full,
    /// No rows and no cells, and of prompts, which may quote them, only digests. Replies are kept: they were paid for.
    None,
}

/// A line after the first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "record")]
pub enum Record {
    /// Something whose order matters.
    Event {
        /// Microseconds since the run began.
        at_us: u64,
        /// What.
        event: Event,
    },
    /// What people want to know of the run and a replay finds out by itself.
    Fact {
        /// Microseconds since the run began.
        at_us: u64,
        /// What.
        fact: Fact,
    },
    /// A line of the books.
    Books {
        /// The line.
        #[serde(flatten)]
        entry: ledger::Entry,
    },
    /// A result that events name by its digest.
    Rows {
        /// The sha256 of the bytes, in hex.
        digest: String,
        /// The encoded result in base64.
        bytes: String,
    },
    /// A killed run goes on from here.
    Resumed {
        /// When, in milliseconds since 1970.
        at_unix_ms: u64,
    },
}

/// Something whose order matters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "event")]
pub enum Event {
    /// A role call begins.
    Call {
        /// Its number.
        call: CallId,
        /// The role.
        role: Role,
        /// The task that it works on; empty for none.
        task: TaskId,
        /// The role call that waits for it, and under which ticket.
        from: Option<(CallId, Ticket)>,
    },
    /// A port call is made; [`Event::Done`] answers it. For a model call this stands here before it is sent.
    Issue {
        /// Whose.
        call: CallId,
        /// Its number; 0: the call waits for it before it does anything else.
        ticket: Ticket,
        /// What is asked.
        ask: Ask,
    },
    /// A port call ends.
    Done {
        /// Whose.
        call: CallId,
        /// Its number.
        ticket: Ticket,
        /// What came back.
        got: Got,
    },
    /// A port call that is answered at once.
    Port {
        /// Whose.
        call: CallId,
        /// What is asked.
        ask: Ask,
        /// The answer.
        got: Got,
    },
    /// The guest has returned or trapped: what it started and did not wait for ends here.
    Left {
        /// Whose.
        call: CallId,
    },
    /// A role call ends.
    End {
        /// Which.
        call: CallId,
        /// Why it failed; none: it did not.
        error: Option<RoleError>,
    },
    /// The scheduler takes what has ended.
    Turn(Turn),
    /// A task is cancelled: nothing of it happens after this.
    Closed {
        /// The task.
        task: TaskId,
    },
    /// What the host found out at a place where time decides.
    Known {
        /// The place.
        place: String,
        /// What it found.
        value: bool,
    },
    /// The user was asked.
    User {
        /// What.
        question: Question,
        /// What the user said; none: nothing.
        answer: Option<String>,
    },
    /// The time was over while the host waited for something; it no longer does.
    Over {
        /// What it waited for.
        place: String,
    },
}

/// What is asked of a port.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "port", content = "of")]
pub enum Ask {
    /// `llm`: a model call.
    Llm(Box<Request>),
    /// `sql`: a statement.
    Sql(String),
    /// `inspect.check`.
    Check(String),
    /// `inspect.explain`.
    Explain(String),
    /// `inspect.column-stats-of`: table and columns.
    Stats(String, Vec<String>),
    /// `cells.samples`: table, columns, values of a column at most.
    Samples(String, Vec<String>, u32),
    /// `cells.find`: phrases, how, hits of a phrase at most.
    Find(Vec<String>, Match, u32),
    /// `search.find`: looks into corpora.
    LookUp(Vec<Lookup>),
    /// `search.embed`: texts.
    Embed(Vec<String>),
    /// `rows.read`: offset and rows at most.
    Rows(u64, u32),
    /// `evaluate.calibrate`.
    Calibrate(Vec<(f64, Signals)>),
    /// `evaluate.reward`.
    Reward(Vec<Candidate>),
    /// `run.remaining`.
    Remaining,
    /// `wait.any`, or whether one call has ended.
    Wait(Vec<Ticket>),
    /// A call under way is given up.
    GiveUp(Ticket),
    /// `trace.note`.
    Note(Level, String),
    /// `trace.propose`.
    Propose(Box<Candidate>),
    /// `trace.keep`: candidate and reason.
    Keep(String, String),
    /// `trace.discard`: candidate and reason.
    Discard(String, String),
    /// `trace.event`: candidate, name and data.
    Step(Option<String>, String, Json),
}

/// What a port answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "got", content = "is")]
pub enum Got {
    /// Nothing to say.
    Nothing,
    /// A model's reply.
    Reply(Result<Box<Reply>, LlmError>),
    /// A statement's rows.
    Rows(Result<StoredRows, SqlError>),
    /// What a statement speaks of.
    Facts(Result<Box<Facts>, SqlError>),
    /// A plan.
    Plan(Result<Plan, SqlError>),
    /// Statistics.
    Stats(Result<Vec<ColumnStats>, PortError>),
    /// What columns hold; none: left out.
    Samples(Option<Result<Vec<Sample>, PortError>>),
    /// Cells; none: left out.
    Hits(Option<Result<Vec<Vec<Hit>>, PortError>>),
    /// What each look found.
    Found(Vec<Result<Vec<Hit>, PortError>>),
    /// Vectors.
    Vectors(Result<Vec<Vec<f32>>, PortError>),
    /// How many rows were shown.
    Page(Result<u64, PortError>),
    /// Probabilities.
    Calibrated(Result<Vec<f64>, PortError>),
    /// Verdicts.
    Verdicts(Result<Vec<Verdict>, PortError>),
    /// What may still be spent.
    Budget(Budget),
    /// Which calls have ended.
    Ended(Vec<Ticket>),
    /// Whether the result of a call that was given up was there already.
    GaveUp(bool),
}

/// A result as the journal holds it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredRows {
    /// How many.
    pub rows: u64,
    /// Columns by name.
    pub columns: Vec<String>,
    /// Whether a cap cut it.
    pub truncated: bool,
    /// The statement that ran, relations spliced in.
    pub sql: String,
    /// The digest of a [`Record::Rows`]; none: left out.
    pub digest: Option<String>,
}

/// What people want to know of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "fact")]
pub enum Fact {
    /// A search begins over a wording of the problem, from 0.
    Round {
        /// Which.
        number: u32,
    },
    /// The linker has looked at the catalog.
    Linked {
        /// What it kept; none: all.
        tables: Vec<Relevant>,
        /// Of how many tables.
        of: usize,
        /// How many hints it gave.
        hints: usize,
    },
    /// The graph that runs, after useless tasks were left out and equal ones merged.
    Graph(Graph),
    /// A task starts.
    Started {
        /// Its id.
        task: TaskId,
    },
    /// A task's solver put these in its place.
    Expanded {
        /// The task.
        task: TaskId,
        /// The smaller ones.
        subtasks: Vec<Task>,
    },
    /// The planner changed the graph.
    Edited {
        /// How.
        edits: Vec<Edit>,
    },
    /// A step of the planner was refused.
    Refused {
        /// Why.
        reason: String,
    },
    /// A task ended.
    Ended(Observation),
    /// The run ended with this document, a `syrch.answer/1` as the library writes it.
    Answer {
        /// The document.
        document: serde_json::Value,
        /// How it ended: `answered`, `no-answer`, `clarification-needed`.
        outcome: String,
        /// Whether the user stopped it.
        interrupted: bool,
        /// The document's last warnings: those that are not of the search, but of what lay beside it, such as the cache. A replay has
        /// nothing beside it, and tells these.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        beside: Vec<String>,
    },
    /// The run failed.
    Failed {
        /// Why.
        message: String,
        /// The error's class, by the names of the exit codes; empty in journals of hosts that did not write it.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        class: String,
    },
}

impl Ask {
    /// What the journal keeps of it.
    #[must_use]
    pub fn kept(self, kept: Kept) -> Self {
        match (kept, self) {
            (Kept::None, Self::Llm(mut request)) => {
                for message in &mut request.messages {
                    message.text = crate::stored::digest(message.text.as_bytes());
                }
                Self::Llm(request)
            }
            (Kept::None, Self::LookUp(mut looks)) => {
                looks.iter_mut().for_each(|look| look.text = crate::stored::digest(look.text.as_bytes()));
                Self::LookUp(looks)
            }
            (Kept::None, Self::Embed(texts)) => {
                Self::Embed(texts.iter().map(|text| crate::stored::digest(text.as_bytes())).collect())
            }
            (_, ask) => ask,
        }
    }

    /// The port's function, for people.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Llm(_) => "llm.complete",
            Self::Sql(_) => "sql.run",
            Self::Check(_) => "inspect.check",
            Self::Explain(_) => "inspect.explain",
            Self::Stats(..) => "inspect.column-stats-of",
            Self::Samples(..) => "cells.samples",
            Self::Find(..) => "cells.find",
            Self::LookUp(_) => "search.find",
            Self::Embed(_) => "search.embed",
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
