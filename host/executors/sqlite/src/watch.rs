//! The state of the file: what other processes do to it is noticed before each statement, and the
//! catalog follows.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use syrch_core::ports::DatabaseError;
use syrch_core::{Catalog, Column, Dialect};

use crate::cached_samples::CachedSamples;
use crate::config::SqliteConfig;
use crate::connect::{self, COLUMNS};
use crate::deadline::{self, Allowance, Deadline};
use crate::guard::{Authorizer, Grant};
use crate::introspect::{self, Space};
use crate::state::{FileState, Stamp};

/// Time to compile one view. All of them together have [`connect::SCHEMA`].
const VIEW: Duration = Duration::from_secs(1);

/// The version of a schema and its data: equal as long as nothing changed. `schema` and `data` are
/// the engine's counters, the latter meaningful on one connection only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SchemaVersion {
    pub(crate) file: FileState,
    /// The number of times that the file was written over by something else than an engine.
    overwritten: u64,
    schema: i64,
    data: i64,
}

impl SchemaVersion {
    /// Returns true if connections made for one are good for the other.
    pub(crate) fn is_same_file(&self, other: &Self) -> bool {
        (self.file, self.overwritten) == (other.file, other.overwritten)
    }

    /// The engine's counters as text.
    pub(crate) fn counters(&self) -> String {
        format!("{} {}", self.schema, self.data)
    }

    /// Returns true if the schema is the same, too.
    pub(crate) fn is_same_schema(&self, other: &Self) -> bool {
        self.is_same_file(other) && self.schema == other.schema
    }

    /// Returns true if this is the engine's counter of changes of the schema.
    pub(crate) fn has_schema(&self, counter: i64) -> bool {
        self.schema == counter
    }
}

/// The catalog of one state.
pub(crate) struct Snapshot {
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) grant: Arc<Grant>,
    pub(crate) columns: i32,
    pub(crate) version: SchemaVersion,
    /// The samples that were read. If the file changes meanwhile they may be those of the later
    /// state, and the next call takes another snapshot.
    pub(crate) samples: CachedSamples,
}

/// The connection that watches.
pub(crate) struct Watch {
    connection: Connection,
    authorizer: Authorizer,
    file: FileState,
    stamp: Stamp,
    overwritten: u64,
    snapshot: Option<Arc<Snapshot>>,
    /// Views of the snapshot's schema that cannot be read, lower case, with the reason where it is
    /// known: trying them again may take long.
    hidden: HashMap<String, Option<String>>,
}

impl Watch {
    pub(crate) fn open(path: &Path, config: &SqliteConfig) -> Result<Self, DatabaseError> {
        let file = FileState::read(path, config)?;
        let stamp = Stamp::read(path, config)?;
        let authorizer = Authorizer::new();
        // As wide as the engine allows: how wide the tables are is not known yet.
        let connection = connect::connect(path, &file, config, 32_767, &authorizer)
            .map_err(|error: rusqlite::Error| connect::opening_error(&error, config))?;
        Ok(Self {
            connection,
            authorizer,
            file,
            stamp,
            overwritten: 0,
            snapshot: None,
            hidden: HashMap::new(),
        })
    }

    /// The catalog as it is now.
    pub(crate) fn snapshot(
        &mut self,
        path: &Path,
        name: &str,
        config: &SqliteConfig,
    ) -> Result<Arc<Snapshot>, DatabaseError> {
        let stamp = Stamp::read(path, config)?;
        if FileState::read(path, config)? != self.file {
            // Another file took its place, or somebody began or ended to write in WAL mode.
            self.reopen(path, config)?;
        }
        let failed = |error: rusqlite::Error| connect::opening_error(&error, config);
        let mut version = self.version().map_err(failed)?;
        if stamp != self.stamp
            && self.snapshot.as_ref().is_some_and(|snapshot| snapshot.version == version)
        {
            // Connections would go on with the pages that they have.
            self.overwritten += 1;
            self.reopen(path, config)?;
            version = self.version().map_err(failed)?;
        }
        self.stamp = stamp;
        if let Some(snapshot) =
            self.snapshot.as_ref().filter(|snapshot| snapshot.version == version)
        {
            return Ok(Arc::clone(snapshot));
        }
        if !self.snapshot.as_ref().is_some_and(|snapshot| snapshot.version.is_same_schema(&version))
        {
            self.hidden.clear();
        }
        let globs = config.globs()?;
        connect::read_schema(&mut self.connection, &self.authorizer, config).map_err(failed)?;
        let mut schema = self
            .ending(connect::SCHEMA, config, |watch: &Self| {
                introspect::read(&watch.connection, globs.as_ref())
            })
            .and_then(|schema| schema)
            .map_err(failed)?;
        if schema.tables.is_empty() && globs.is_some() {
            let patterns = config.tables.clone();
            let tables = schema.names;
            return Err(DatabaseError::NothingGranted {
                path: config.display_name(),
                patterns,
                tables,
            });
        }
        self.hidden = self.read_views(&mut schema, config).map_err(failed)?;
        schema.hide(self.hidden.keys());
        let views =
            schema.tables.iter().filter(|table| table.is_view()).map(|view| view.columns.len());
        let columns =
            views.filter_map(|width| i32::try_from(width).ok()).fold(schema.columns, i32::max);
        config.comments.iter().for_each(|comment| comment.write(&mut schema.tables));
        let catalog =
            Catalog { database: name.to_owned(), dialect: Dialect::Sqlite, tables: schema.tables };
        let snapshot = Arc::new(Snapshot {
            catalog: Arc::new(catalog),
            grant: Arc::new(schema.grant),
            columns: columns.max(COLUMNS),
            version,
            samples: CachedSamples::default(),
        });
        self.snapshot = Some(Arc::clone(&snapshot));
        Ok(snapshot)
    }

    /// Forgets the file that was there.
    fn reopen(&mut self, path: &Path, config: &SqliteConfig) -> Result<(), DatabaseError> {
        let overwritten = self.overwritten;
        *self = Self { overwritten, ..Self::open(path, config)? };
        Ok(())
    }

    fn version(&self) -> rusqlite::Result<SchemaVersion> {
        // Asked before each statement, so they are prepared but once.
        let number =
            |pragma: &str| self.connection.prepare_cached(pragma)?.query_row([], |row| row.get(0));
        Ok(SchemaVersion {
            file: self.file,
            overwritten: self.overwritten,
            schema: number("PRAGMA schema_version")?,
            data: number("PRAGMA data_version")?,
        })
    }

    /// Does `work` with the connection, which ends like a statement does.
    fn ending<T>(
        &mut self,
        deadline: Duration,
        config: &SqliteConfig,
        work: impl FnOnce(&Self) -> T,
    ) -> rusqlite::Result<T> {
        let ends_at =
            Deadline::start(Allowance { deadline, memory: config.memory }, &Arc::default());
        deadline::install(&mut self.connection, &self.authorizer, &ends_at)?;
        let result = work(self);
        self.authorizer.own();
        deadline::remove(&mut self.connection, &self.authorizer)?;
        Ok(result)
    }

    /// Reads the columns of views, and returns which are to be hidden: those that read what is not
    /// granted, call what is not listed, are broken, or take too long to compile.
    fn read_views(
        &mut self,
        schema: &mut introspect::Schema,
        config: &SqliteConfig,
    ) -> rusqlite::Result<HashMap<String, Option<String>>> {
        let grant = Arc::new(schema.grant.clone());
        let until = Instant::now() + connect::SCHEMA;
        let mut hidden = HashMap::new();
        let mut endless = HashSet::new();
        let mut refused = Vec::new();
        for table in schema.tables.iter_mut().filter(|table| table.is_view()) {
            let name = table.name.to_lowercase();
            let columns = if let Some(known) = self.hidden.get(&name) {
                known.clone().map(Err)
            } else if schema.space.is_closed() {
                Some(Err(introspect::full()))
            } else if Instant::now() >= until {
                None
            } else if !endless.is_empty() && self.names_any(&table.name, &endless) {
                // What reads a view that takes too long takes longer.
                endless.insert(name.clone());
                None
            } else {
                let (columns, is_over) = self.ending(VIEW, config, |watch| {
                    (
                        watch.view_columns(&table.name, &grant, &mut schema.space),
                        watch.authorizer.is_over(),
                    )
                })?;
                if is_over {
                    endless.insert(name.clone());
                }
                columns
            };
            match columns {
                Some(Ok(columns)) => table.columns = columns,
                Some(Err(reason)) => {
                    refused.push((table.name.clone(), reason.clone()));
                    hidden.insert(name, Some(reason));
                }
                None => {
                    hidden.insert(name, None);
                }
            }
        }
        refused.into_iter().for_each(|(name, reason)| schema.grant.refuse(&name, reason));
        Ok(hidden)
    }

    /// Returns true if one of these names, in lower case, stands in the declaration of a view.
    fn names_any(&self, view: &str, names: &HashSet<String>) -> bool {
        let sql = introspect::declaration(&self.connection, view).unwrap_or_default();
        let tokens = syrch_guard::lex(&sql, &Dialect::Sqlite, usize::MAX).unwrap_or_default();
        tokens
            .iter()
            .any(|token| token.name(&sql).is_some_and(|name| names.contains(&name.to_lowercase())))
    }

    /// The columns of a view that can be compiled, or why it cannot be read even so.
    fn view_columns(
        &self,
        name: &str,
        grant: &Arc<Grant>,
        space: &mut Space,
    ) -> Option<Result<Vec<Column>, String>> {
        self.authorizer.compile(grant);
        let readable = self
            .connection
            .prepare(&format!("SELECT * FROM {}", Dialect::Sqlite.quote(name)))
            .is_ok();
        self.authorizer.own();
        if !readable {
            return None;
        }
        introspect::view_columns(&self.connection, name, space).ok()
    }
}
