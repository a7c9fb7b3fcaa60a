//! Values that ports and roles share; each mirrors the record of the same name in `wit/types.wit`.

mod access;
mod candidate;
mod catalog;
mod database_url;
mod dialect;
mod doubt;
mod failure;
mod grants;
mod graph;
mod problem;
mod sql;
mod stated;
mod structured;

pub use access::Access;
pub use candidate::{Candidate, Opinion, Signals, Verdict};
pub use catalog::{Catalog, Column, ForeignKey, Index, Table};
pub use database_url::{DatabaseUrl, split_options, string_secrets, unquote_option};
pub use dialect::{Dialect, DoubleQuotes, Escapes, Nulls, Syntax};
pub use doubt::{Doubt, DoubtKind, most_confidence};
pub use failure::{Failure, FailureKind};
pub use grants::{GRANTED_PORTS, Grants};
pub use graph::{Edit, Ending, Graph, Join, Observation, Operation, Step, Taken, Task, Turn};
pub use problem::{
    Corpus, Hit, Problem, Question, RetrievalQuery, Retriever, Term, TermKind, TermLabel,
};
pub use sql::{ColumnProfile, Equality, Profile, SqlError, SqlErrorKind, Value};
pub use stated::{Stated, StatedPart};
pub use structured::StructuredReplies;

/// A JSON document as text, as guests exchange it.
pub type Json = String;
/// The name of a task within one search.
pub type TaskId = String;
/// The name of a candidate within one search.
pub type CandidateId = String;
/// Pairs of a key and a JSON document; unknown keys are ignored.
pub type Extras = Vec<(String, Json)>;
