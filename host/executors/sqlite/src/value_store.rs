//! The folder of the stored indexes of values.

use std::path::PathBuf;
use std::time::Duration;

/// The folder in which indexes of values are stored, which only its owner reads, and how much of
/// them is retained.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueStore {
    /// The folder, which is made if it is missing.
    pub folder: PathBuf,
    /// The time for which an index is retained that nobody uses.
    pub retained: Duration,
    /// The size limit of all indexes, in bytes.
    pub retained_bytes: u64,
}
