//! The form of an engine's entry: all that configuration, help, `doctor`, suites, telemetry and
//! errors need to know of it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::future::BoxFuture;
use syrch_core::ports::{Database, DatabaseError};
use syrch_core::{DatabaseUrl, Dialect, Limits};

use crate::Error;
use crate::imports::ImportSettings;
use crate::settings::ServerSettings;

/// The entry of an engine in the table, beside its name and the schemes of its URLs.
pub(super) struct Entry {
    /// Further names that flags and files may use for it, such as those of the Python package
    /// `syrch` 0.1.2.
    pub(super) aliases: &'static [&'static str],
    /// A description of the engine for people.
    pub(super) summary: &'static str,
    /// The values that `--db` takes for it, as the end of "--db takes …".
    pub(super) takes: &'static str,
    /// The form of the address after the scheme and its colon, for people.
    pub(super) form: &'static str,
    /// The SQL that its databases speak; `None` where that depends on the database.
    pub(super) dialect: Option<Dialect>,
    /// Its name in OpenTelemetry's conventions (`db.system.name`).
    pub(super) telemetry: &'static str,
    /// The properties of its files; `None` for a server.
    pub(super) files: Option<FileEntry>,
    /// The properties of its servers; `None` for files.
    pub(super) server: Option<ServerEntry>,
    pub(super) open: Open,
}

/// The properties of an engine whose databases are at a server.
pub struct ServerEntry {
    /// The prefixes of the names of the environment variables that its clients read.
    pub variables: &'static [&'static str],
    /// Advice for a user whom a server refuses, as the end of "check …".
    pub login: &'static str,
    /// Advice for a connection that cannot be encrypted.
    pub encryption: &'static str,
    /// Asks a server what it is and what its user could do beyond reading; `None` where there is no
    /// common way to ask.
    pub(super) inspect: Option<Inspect>,
    /// The statements that make a role which only reads these schemas; `None` where a server has no
    /// roles. Nothing is connected to.
    pub(super) role_sql: Option<RoleSql>,
}

impl fmt::Debug for ServerEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerEntry").field("variables", &self.variables).finish_non_exhaustive()
    }
}

pub(super) type Inspect =
    fn(OpenDatabase) -> BoxFuture<'static, Result<ServerReport, DatabaseError>>;
pub(super) type RoleSql = fn(OpenDatabase, &[String]) -> Result<String, DatabaseError>;

/// A server's version, and what its user could do there beyond reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerReport {
    /// The engine and its version, and how the connection is made, such as `PostgreSQL 15.8, TLS`.
    pub detail: String,
    /// The rights of the user beyond reading, a sentence for each; empty for one that only reads.
    pub beyond_reading: Vec<String>,
}

/// The properties of an engine whose databases are files.
#[derive(Debug)]
pub struct FileEntry {
    /// The endings of its files, without the dot; new files get the first. A suite's database may
    /// be named without it.
    pub endings: &'static [&'static str],
    /// Returns whether a path is that of one of its databases, whatever it ends with.
    pub(super) claims: fn(&Path) -> bool,
    /// Returns the files that a path names.
    pub(super) sources: fn(&Path) -> Vec<PathBuf>,
    /// Returns the name of the database at a path.
    pub(super) name: fn(&Path) -> String,
    /// The suffixes that the engine appends to a database's file name to name the files that it
    /// writes beside it.
    pub beside: &'static [&'static str],
    /// The suffixes in `beside` of the files that hold a part of the database's content.
    pub content: &'static [&'static str],
    /// The command that may save the content of a damaged file, with `FILE` for its path.
    pub rescue: Option<&'static str>,
    /// Returns how the files of a path are stored, and what `doctor` should warn of. It reads
    /// headers and sizes.
    pub condition: fn(&Path) -> Condition,
    /// Makes a changed copy of a database, which `suite fuzz` needs; `None` where the engine
    /// cannot.
    pub copy: Option<MakeCopy>,
}

/// Makes a changed copy. It blocks.
pub type MakeCopy = fn(&CopyRequest) -> Result<Copied, Error>;

/// The arguments of a changed copy of a database.
pub struct CopyRequest {
    /// The database, which is only read.
    pub source: PathBuf,
    /// The path of the copy; it is an error if the file exists.
    pub target: PathBuf,
    /// The seed of the changes: equal seeds make equal copies.
    pub seed: u64,
    /// The statements whose constants still occur in the copy where they occur in the database.
    pub statements: Vec<String>,
}

/// A copy that was made.
pub struct Copied {
    /// The number of rows of all tables together.
    pub rows: u64,
    /// Tables that the copy lacks, such as virtual ones.
    pub skipped: Vec<String>,
}

/// The way in which the file of a database is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// A few words, such as `rollback journal`.
    pub detail: String,
    /// The command that mends what slows its readers down; `None` if nothing does.
    pub fix: Option<String>,
}

/// The arguments that a database is opened with.
pub(crate) struct OpenDatabase {
    /// Its address; the scheme is one of the engine's, or none.
    pub(crate) url: DatabaseUrl,
    /// The tables that may be seen, as globs. If there are none, all may be seen.
    pub(crate) tables: Vec<String>,
    pub(crate) limits: Limits,
    /// The settings of clients of servers besides the address.
    pub(crate) servers: ServerSettings,
    /// The settings for reading files of rows.
    pub(crate) imports: ImportSettings,
}

/// Opens a database and reads its catalog. It is never created and never written.
pub(super) type Open =
    fn(OpenDatabase) -> BoxFuture<'static, Result<Arc<dyn Database>, DatabaseError>>;
