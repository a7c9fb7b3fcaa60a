//! The fuzzed suite: variants of a suite's databases, on all of which a right statement must give what the expected one gives (Zhong, Yu,
//! Klein 2020, "Semantic evaluation for text-to-SQL with distilled test suites"). What is right on the original only is right by luck.

mod agree;
mod make;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use syrch_core::ports::Database;

pub use agree::{Fuzzed, FuzzedVerdict};
pub use make::{FuzzObserver, FuzzOptions, fuzz};

use crate::{Error, Settings, open_database};

/// The format's name in [`FuzzManifest::format`].
pub const FUZZ_FORMAT: &str = "syrch.fuzz/1";
/// The file of a fuzzed suite's folder that says what was made from what.
pub const FUZZ_FILE: &str = "fuzz.json";

/// What a fuzzed suite was made from: its `fuzz.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FuzzManifest {
    /// Always [`FUZZ_FORMAT`].
    pub format: String,
    /// The host's version.
    pub host: String,
    /// The digest of the suite's questions and expected answers.
    pub suite: String,
    /// Where everything random started.
    pub seed: u64,
    /// The databases, by the name that the suite has for them.
    pub databases: BTreeMap<String, FuzzedDatabase>,
}

impl FuzzManifest {
    /// What tells this fuzzed suite from another: the content of its variants.
    #[must_use]
    pub fn digest(&self) -> String {
        let variants = |(name, database): (&String, &FuzzedDatabase)| -> Vec<String> {
            database.variants.iter().map(|variant| format!("{name}/{}", variant.digest)).collect()
        };
        let all: Vec<String> = self.databases.iter().flat_map(variants).collect();
        Sha256::digest(all.join("\n")).iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// The variants of one database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FuzzedDatabase {
    /// The digest of the database that they were made from.
    pub source: String,
    /// The variants.
    pub variants: Vec<FuzzedVariant>,
    /// How many were made and dropped, because most of the expected statements had no rows there.
    pub dropped: u32,
    /// What no variant has: virtual tables.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<String>,
}

/// One variant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FuzzedVariant {
    /// Its file, in the folder of the fuzzed suite.
    pub file: String,
    /// The digest of its content.
    pub digest: String,
    /// The seed that it was made from.
    pub seed: u64,
    /// Rows of all tables.
    pub rows: u64,
    /// Expected statements that have rows there.
    pub golds: u64,
    /// Of how many.
    pub of: u64,
}

/// A database under the same guard and limits as any other.
async fn open(settings: &Settings, path: &Path) -> Result<Arc<dyn Database>, Error> {
    // The scheme keeps a colon in the path from being read as one.
    let database = format!("sqlite:{}", path.display());
    open_database(&Settings { database, limits: settings.limits.clone(), ..Settings::default() }).await
}

/// The digest of a file, off the async threads.
async fn digest(path: PathBuf) -> Result<String, Error> {
    let name = path.display().to_string();
    let read = tokio::task::spawn_blocking(move || super::content::content(&path)).await;
    let read = read.map_err(|error| Error::Internal(error.to_string()))?;
    read.map_err(|error| Error::Config(format!("`{name}` cannot be read: {error}")))
}
