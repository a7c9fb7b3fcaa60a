//! The state of the file: what other processes do to it is noticed before each statement, and the catalog follows.

use std::path::Path;
use std::sync::Arc;

use rusqlite::Connection;
use syrch_core::ports::DatabaseError;
use syrch_core::{Catalog, Dialect};

use crate::config::SqliteConfig;
use crate::connect::{self, COLUMNS, quoted};
use crate::guard::{Grant, Sentry};
use crate::introspect;
use crate::state::FileState;

/// Equal as long as nothing changed. `schema` and `data` are the engine's counters, the latter meaningful on one connection only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pulse {
    pub(crate) file: FileState,
    schema: i64,
    data: i64,
}

impl Pulse {
    /// Whether connections made for one are good for the other.
    pub(crate) fn is_same_file(&self, other: &Self) -> bool {
        self.file == other.file
    }

    /// Whether the schema is the same too.
    pub(crate) fn is_same_schema(&self, other: &Self) -> bool {
        self.is_same_file(other) && self.schema == other.schema
    }
}

/// The catalog of one state.
pub(crate) struct Snapshot {
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) grant: Arc<Grant>,
    pub(crate) columns: i32,
    pub(crate) pulse: Pulse,
}

/// The connection that watches.
pub(crate) struct Watch {
    connection: Connection,
    sentry: Sentry,
    file: FileState,
    snapshot: Option<Arc<Snapshot>>,
}

impl Watch {
    pub(crate) fn open(path: &Path, config: &SqliteConfig) -> Result<Self, DatabaseError> {
        let failed = |error: rusqlite::Error| connect::opening_error(&error, config);
        let file = FileState::read(path, config)?;
        let sentry = Sentry::new();
        // As wide as the engine allows: how wide the tables are is not known yet.
        let connection = connect::connect(path, &file, config, 32_767, &sentry).map_err(failed)?;
        Ok(Self { connection, sentry, file, snapshot: None })
    }

    /// The catalog as it is now.
    pub(crate) fn snapshot(
        &mut self,
        path: &Path,
        name: &str,
        config: &SqliteConfig,
    ) -> Result<Arc<Snapshot>, DatabaseError> {
        if FileState::read(path, config)? != self.file {
            // Another file took its place, or somebody began or ended to write in WAL mode.
            *self = Self::open(path, config)?;
        }
        let failed = |error: rusqlite::Error| connect::opening_error(&error, config);
        let pulse = self.pulse().map_err(failed)?;
        if let Some(snapshot) = self.snapshot.as_ref().filter(|snapshot| snapshot.pulse == pulse) {
            return Ok(Arc::clone(snapshot));
        }
        let globs = config.globs()?;
        connect::read_schema(&self.connection).map_err(failed)?;
        let mut schema = introspect::read(&self.connection, globs.as_ref(), config.comments).map_err(failed)?;
        if schema.tables.is_empty() && globs.is_some() {
            let (patterns, tables) = (config.tables.clone(), schema.names);
            return Err(DatabaseError::NothingGranted { path: config.shown(), patterns, tables });
        }
        self.hide_views(&mut schema);
        let catalog = Catalog { database: name.to_owned(), dialect: Dialect::Sqlite, tables: schema.tables };
        let snapshot = Arc::new(Snapshot {
            catalog: Arc::new(catalog),
            grant: Arc::new(schema.grant),
            columns: schema.columns.max(COLUMNS),
            pulse,
        });
        self.snapshot = Some(Arc::clone(&snapshot));
        Ok(snapshot)
    }

    fn pulse(&self) -> rusqlite::Result<Pulse> {
        let number = |pragma: &str| self.connection.pragma_query_value(None, pragma, |row| row.get(0));
        Ok(Pulse { file: self.file, schema: number("schema_version")?, data: number("data_version")? })
    }

    /// Takes views out of the grant that read what is not granted, call what is not listed, or are broken.
    fn hide_views(&self, schema: &mut introspect::Schema) {
        let grant = Arc::new(schema.grant.clone());
        let is_hidden = |table: &syrch_core::Table| {
            self.sentry.compile(&grant);
            let readable = self.connection.prepare(&format!("SELECT * FROM {}", quoted(&table.name))).is_ok();
            self.sentry.own();
            !readable
        };
        let hidden: Vec<String> = schema
            .tables
            .iter()
            .filter(|table| table.is_view() && is_hidden(table))
            .map(|table| table.name.to_lowercase())
            .collect();
        schema.tables.retain(|table| !hidden.contains(&table.name.to_lowercase()));
        for name in hidden {
            schema.grant.tables.remove(&name);
            schema.grant.others.insert(name);
        }
    }
}
