//! The parts that runs over questions share, be they graded or not: shards, budgets, faults of a
//! question, errors of the folder of a run, and how a file of it is read.

mod budgets;
mod error;
mod shard;
mod whole;

use serde::{Deserialize, Serialize};

pub use budgets::{RunBudgets, UsedUp};
pub use error::RunError;
pub use shard::{Shard, ShardError, Wave};
pub use whole::{DOCUMENT, read_within};

/// The error of a question without an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// Its class, by the names of the exit codes: `model`, `database`, `budget`, `plugin-failed` ….
    pub class: String,
    /// The message of the error.
    pub message: String,
}
