//! Connections for crates that work with SQLite files besides searches: an untrusted file can
//! neither lead them to other files nor occupy them for ever.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::hooks::{AuthContext, Authorization};
use rusqlite::{Connection, ErrorCode};
use syrch_core::Table;
use syrch_core::ports::DatabaseError;

use crate::authorizer::{Judge, authorize};
use crate::config::SqliteConfig;
pub use crate::connect::similar;
use crate::deadline::{self, Allowance, Deadline};
use crate::guard::Authorizer;
use crate::state::FileState;
use crate::{connect, error, functions, introspect, memory};

/// Columns of the widest table that the engine can make.
pub const COLUMNS: i32 = 32_767;

/// A file that is open for reading, with what its schema declares.
pub struct OpenFile {
    /// The file, links followed.
    pub path: PathBuf,
    /// A read-only connection. What it does ends with an error once its time or memory is used up.
    pub connection: Connection,
    /// All tables, views and virtual tables that can be read.
    pub tables: Vec<Table>,
    /// Virtual tables and the tables in which they store their content, lower case.
    pub internal: HashSet<String>,
}

impl OpenFile {
    /// Opens a file as searches do. The deadline counts from now and holds for all that is done
    /// with the connection on this thread; memory is bounded as for a statement. [`release`] ends
    /// both.
    ///
    /// # Errors
    /// Every [`DatabaseError`] but `NothingGranted`.
    pub fn open(path: &Path, deadline: Duration) -> Result<Self, DatabaseError> {
        let config = SqliteConfig::new(path);
        let path = connect::locate(&config)?;
        let failed = |error: rusqlite::Error| connect::opening_error(&error, &config);
        let authorizer = Authorizer::new();
        let state = FileState::read(&path, &config)?;
        let mut connection =
            connect::connect(&path, &state, &config, COLUMNS, &authorizer).map_err(failed)?;
        let ends_at =
            Deadline::start(Allowance { deadline, memory: config.memory }, &Arc::default());
        deadline::install(&mut connection, &authorizer, &ends_at).map_err(failed)?;
        let tables = introspect::read(&connection, None).map_err(failed)?.tables;
        let internal = introspect::entries(&connection).map_err(failed)?;
        let internal =
            internal.into_iter().filter(|entry| matches!(entry.kind, "virtual" | "shadow"));
        let internal = internal.map(|entry| entry.name.to_lowercase()).collect();
        Ok(Self { path, connection, tables, internal })
    }
}

/// The bounds of a connection.
pub struct Bounds(Authorizer);

impl Bounds {
    /// Bounds a connection that another crate opened: what the engine compiles is judged by
    /// `judge`, and all that is done with it on this thread ends with an error after the deadline,
    /// which counts from now, or when the engine holds more than `memory` bytes for it. [`release`]
    /// ends both. Sizes are bounded as in a search, for tables of up to [`COLUMNS`] columns, and
    /// the functions of this executor are added.
    ///
    /// # Errors
    /// When the engine refuses a setting.
    pub fn set(
        connection: &mut Connection,
        deadline: Duration,
        memory: usize,
        judge: fn(&AuthContext<'_>) -> Authorization,
    ) -> rusqlite::Result<Self> {
        let authorizer = Authorizer::new();
        connect::limit(connection, COLUMNS)?;
        functions::add(connection)?;
        authorize(connection, Bounded { authorizer: authorizer.clone(), judge })?;
        deadline::install(
            connection,
            &authorizer,
            &Deadline::start(Allowance { deadline, memory }, &Arc::default()),
        )?;
        Ok(Self(authorizer))
    }

    /// Returns true if the time or the memory is used up.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.0.is_over()
    }
}

/// A judge that denies everything once the time or the memory is used up, and leaves the rest to a
/// function.
struct Bounded {
    authorizer: Authorizer,
    judge: fn(&AuthContext<'_>) -> Authorization,
}

impl Judge for Bounded {
    fn judge(&self, context: Option<&AuthContext<'_>>) -> Authorization {
        match context {
            Some(context) if !self.authorizer.is_over() => (self.judge)(context),
            _ => Authorization::Deny,
        }
    }
}

/// Allowance the count of memory that opening or bounding a connection started on this thread.
pub fn release() {
    memory::end();
}

/// The text of a cell of the schema; `None` if it is not UTF-8.
///
/// # Errors
/// When the cell cannot be read.
pub fn schema_text(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<Option<String>> {
    Ok(connect::name(row, column)?.ok())
}

/// The engine's code for an error.
#[must_use]
pub fn error_code(error: &rusqlite::Error) -> Option<ErrorCode> {
    error::code(error)
}

/// Returns true if statements may use a function: one of SQLite's that has no effect and needs no
/// file, or one of this executor's.
#[must_use]
pub fn is_listed_function(name: &str) -> bool {
    functions::is_listed(name)
}
