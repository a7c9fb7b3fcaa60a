//! The fuzzed suite: variants of a suite's databases, on all of which a right statement must have
//! the rows of the expected one (Zhong, Yu, Klein 2020, "Semantic evaluation for text-to-SQL with
//! distilled test suites"). A statement that is right on the original alone is right by luck.

mod agree;
mod make;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use syrch::databases::{file_digest, open_database};
use syrch::{Error, Settings};
use syrch_core::DatabaseUrl;
use syrch_core::ports::Database;

pub use agree::{Fuzzed, FuzzedVerdict};
pub use make::{FuzzObserver, FuzzOptions, fuzz};

/// The name and version of the format, as [`FuzzManifest::format`] holds it.
pub const FUZZ_FORMAT: &str = "syrch.fuzz/1";
/// The name of the manifest's file in the folder of a fuzzed suite.
pub const FUZZ_FILE: &str = "fuzz.json";

/// The manifest of a fuzzed suite, its `fuzz.json`: what was made, and from what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FuzzManifest {
    /// The name of the file's format, always [`FUZZ_FORMAT`].
    pub format: String,
    /// The version of the host that made it.
    pub host: String,
    /// The digest of the suite's questions and expected answers.
    pub suite: String,
    /// The seed of all random choices.
    pub seed: u64,
    /// The databases, by the name that the suite has for them.
    pub databases: BTreeMap<String, FuzzedDatabase>,
}

impl FuzzManifest {
    /// A digest of the content of all variants, which identifies the fuzzed suite.
    #[must_use]
    pub fn digest(&self) -> String {
        let all: Vec<String> = self
            .databases
            .iter()
            .flat_map(|(name, database): (&String, &FuzzedDatabase)| -> Vec<String> {
                database
                    .variants
                    .iter()
                    .map(|variant| format!("{name}/{}", variant.digest))
                    .collect()
            })
            .collect();
        syrch_core::text::hex(Sha256::digest(all.join("\n")))
    }
}

/// The variants of one database, as the manifest lists them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FuzzedDatabase {
    /// The digest of the database that they were made from.
    pub source: String,
    /// The variants, in the order of their files.
    pub variants: Vec<FuzzedVariant>,
    /// The number of further variants that were made and dropped, because most of the expected
    /// statements had no rows there.
    pub dropped: u32,
    /// Tables that no variant has, such as virtual ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<String>,
}

/// One variant of a database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FuzzedVariant {
    /// The path of its file in the folder of the fuzzed suite.
    pub file: String,
    /// The digest of the file's content.
    pub digest: String,
    /// The seed that it was made from.
    pub seed: u64,
    /// The number of rows of all tables together.
    pub rows: u64,
    /// The number of expected statements that have rows there.
    pub golds: u64,
    /// The number of expected statements that have rows on the original.
    pub of: u64,
}

/// Opens a database under the guard and the limits of the settings.
async fn open(settings: &Settings, url: &DatabaseUrl) -> Result<Arc<dyn Database>, Error> {
    open_database(&settings.for_database(url.expose())).await
}

/// The digest of a database that is a file, computed on a thread that may block.
async fn digest(url: DatabaseUrl) -> Result<String, Error> {
    let name = url.to_string();
    let read = tokio::task::spawn_blocking(move || file_digest(&url)).await;
    let read = read.map_err(|error| Error::Internal(error.to_string()))?;
    read.ok_or_else(|| Error::Config(format!("`{name}` is not a file")))?
        .map_err(|error| Error::Config(format!("`{name}` cannot be read: {error}")))
}
