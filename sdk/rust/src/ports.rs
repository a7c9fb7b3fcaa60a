//! The ports as traits, and for each role the trait that lends exactly its ports.
//!
//! `wit/ports.wit` is the contract of each function; the comments here state what differs in Rust.

pub use crate::bindings::cells::{Match, Sample};
pub use crate::bindings::inspect::{ColumnStats, Compiled, Facts, Literal, Plan};
pub use crate::bindings::rows::Page;
pub use crate::bindings::run::{Budget, Policy, TimeLeft};
pub use crate::bindings::sql::Equality;

use std::time::Duration;

use serde_json::Value as JsonValue;

use crate::bindings::llm::{LlmError, Reply, Request};
use crate::bindings::trace::Level;
use crate::bindings::types::{
    Candidate, Hit, PortError, RetrievalQuery, Signals, SqlError, Verdict,
};
use crate::handles::{Judging, PendingReply, ResultSet, RunningStatement};

/// The run's fixed facts.
pub trait Run {
    /// Returns the policy that the user asked for, clamped by the host.
    fn policy(&self) -> Policy;
    /// Returns the number of attempts at one statement that the user allows, at least 1.
    fn attempts(&self) -> u32 {
        self.policy().max_attempts.max(1)
    }
    /// A further setting of the user's, by name; `None` if it was not given or is no JSON.
    fn setting(&self, name: &str) -> Option<JsonValue>;
    /// Returns the budget that the search may still spend.
    fn remaining(&self) -> Budget;
    /// The source for shuffles and samples: the same run gives the same number.
    fn seed(&self) -> u64;
}

/// Waiting for any mix of calls in flight, and for time to pass.
pub trait Wait {
    /// The tickets that are ready, in the given order; waits until one is.
    fn any(&self, tickets: &[u32]) -> Vec<u32>;
    /// Waits that long: a minute at most, and five minutes in one call of the role. A replay does
    /// not wait.
    fn pause(&self, length: Duration);
}

/// The port of language models.
pub trait Llm {
    /// The names that a request may hold.
    fn models(&self) -> Vec<String>;
    /// Waits for the reply.
    ///
    /// # Errors
    /// See [`LlmError`]; [`crate::failure::llm_failure`] makes a role's failure of it.
    fn complete(&self, request: &Request) -> Result<Reply, LlmError>;
    /// Concurrently; the replies are in the order of the requests.
    fn complete_all(&self, requests: &[Request]) -> Vec<Result<Reply, LlmError>>;
    /// Starts a call and returns at once.
    fn start_reply(&self, request: &Request) -> PendingReply;
}

/// Syntax, catalog facts, plans and statistics: no row, no cell, no run.
pub trait Inspect {
    /// Parses one statement and resolves its names. Nothing runs.
    ///
    /// # Errors
    /// Fails if the text is not a valid statement; the error has the nearest names.
    fn check(&self, text: &str) -> Result<Facts, SqlError>;
    /// The engine's plan without running the statement.
    ///
    /// # Errors
    /// Fails as [`Inspect::check`] does, or with the engine's error.
    fn explain(&self, text: &str) -> Result<Plan, SqlError>;
    /// Statistics of a table's columns.
    ///
    /// # Errors
    /// Unknown names, or an engine without statistics.
    fn column_stats(&self, table: &str, columns: &[String]) -> Result<Vec<ColumnStats>, PortError>;
    /// The statement of a request for metrics, which is a JSON document.
    ///
    /// # Errors
    /// `unsupported` without semantics files; the reason why the request has no statement.
    fn compile_metric(&self, request: &str) -> Result<Compiled, PortError> {
        let _ = request;
        Err(PortError::Unsupported)
    }
}

/// The port that runs statements.
pub trait Sql {
    /// Runs one read-only statement under the guard, the deadline and the caps.
    ///
    /// # Errors
    /// Fails with the error of the guard, of the engine or of a limit.
    fn run(&self, text: &str) -> Result<ResultSet, SqlError>;
    /// Concurrently; the results are in the order of the texts.
    fn run_all(&self, texts: &[String]) -> Vec<Result<ResultSet, SqlError>>;
    /// Starts a statement and returns at once.
    fn start_statement(&self, text: &str) -> RunningStatement;
}

/// Cells of a result, under the user's grant.
pub trait Rows {
    /// Rows from `offset`, at most `limit` and at most what the grant shows.
    ///
    /// # Errors
    /// `denied` without the grant.
    fn read(&self, results: &ResultSet, offset: u64, limit: u32) -> Result<Page, PortError>;
}

/// Cells of the tables, under the same grant.
pub trait Cells {
    /// Least, greatest and frequent values of columns.
    ///
    /// # Errors
    /// `denied` without the grant; unknown names.
    fn samples(
        &self,
        table: &str,
        columns: &[String],
        limit: u32,
    ) -> Result<Vec<Sample>, PortError>;
    /// Finds the places where phrases occur: one list for each phrase, best first.
    ///
    /// # Errors
    /// `denied` without the grant; `unsupported` for a match that the engine's index lacks.
    fn find(&self, phrases: &[String], how: &Match, limit: u32)
    -> Result<Vec<Vec<Hit>>, PortError>;
}

/// The other roles of this search.
pub trait Evaluate {
    /// The calibrated confidence of each (raw confidence, signals).
    ///
    /// # Errors
    /// Fails if the calibrator fails.
    fn calibrate(&self, claims: &[(f64, Signals)]) -> Result<Vec<f64>, PortError>;
    /// One verdict for each candidate, judged together.
    ///
    /// # Errors
    /// Fails if the reward fails.
    fn reward(&self, candidates: &[Candidate]) -> Result<Vec<Verdict>, PortError>;
    /// Starts a judgement and returns at once.
    fn start_reward(&self, candidates: &[Candidate]) -> Judging;
}

/// Retrieval over names, descriptions, notes and solved examples; never over cells.
pub trait Retrieval {
    /// The hits, best first.
    ///
    /// # Errors
    /// `denied` for the corpus `cells`; `unsupported` for a corpus or a retriever that there is
    /// not.
    fn retrieve(&self, query: &RetrievalQuery) -> Result<Vec<Hit>, PortError>;
    /// Concurrently, at most 64; the answers are in the order of the queries.
    fn retrieve_all(&self, queries: &[RetrievalQuery]) -> Vec<Result<Vec<Hit>, PortError>>;
    /// Vectors of at most 256 texts, of length 1.
    ///
    /// # Errors
    /// `unsupported` without a model for embeddings.
    fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, PortError>;
}

/// The view of the search that people see. Nothing here fails.
pub trait Trace {
    /// A line for the log.
    fn note(&self, level: Level, message: &str);
    /// A candidate exists, whatever becomes of it.
    fn propose(&self, candidate: &Candidate);
    /// The candidate was chosen.
    fn keep(&self, candidate: &str, reason: &str);
    /// The candidate was not chosen.
    fn discard(&self, candidate: &str, reason: &str);
    /// A step of the strategy's own, shown under its candidate.
    fn event(&self, candidate: Option<&str>, name: &str, data: &JsonValue);
}

macro_rules! role_hosts {
    ($($(#[doc = $doc:literal])+ $name:ident: $first:ident $(+ $port:ident)*;)+) => {
        $(
            $(#[doc = $doc])+
            pub trait $name: $first $(+ $port)* {}
            impl<H: $first $(+ $port)*> $name for H {}
        )+
    };
}

role_hosts! {
    /// The ports that a linker may reach.
    LinkerHost: Run + Wait + Llm + Inspect + Cells + Retrieval + Trace;
    /// The ports that a planner may reach.
    PlannerHost: Run + Wait + Llm + Inspect + Retrieval + Trace;
    /// The ports that a solver may reach.
    SolverHost: Run + Wait + Llm + Inspect + Sql + Rows + Cells + Evaluate + Retrieval + Trace;
    /// The ports that a reward may reach.
    RewardHost: Run + Wait + Llm + Inspect + Sql + Rows + Cells + Trace;
    /// The ports that a clarifier may reach.
    ClarifierHost: Run + Wait + Llm + Trace;
    /// The ports that an aggregator may reach.
    AggregatorHost: Run + Wait + Llm + Sql + Rows + Trace;
    /// The ports that a rewriter may reach. Its `inspect` knows the tables of the original
    /// statement only.
    RewriterHost: Run + Wait + Llm + Inspect + Trace;
}
