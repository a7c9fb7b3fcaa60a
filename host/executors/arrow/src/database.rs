//! The database that an [`ArrowEngine`] becomes: it adds the guard, deadlines, the catalog's cache
//! and the index of values.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use syrch_core::ports::{
    Bench, BenchLimits, CellIndex, ColumnStats, Database, DatabaseError, Facts, Match, Plan,
    PortError, Sample, SqlQuery,
};
use syrch_core::{Catalog, Dialect, Hit, Limits, ResultSet, SqlError, Table, blocking};
use syrch_guard::cells::{port_error, resolve};
use syrch_guard::{Admitted, Granted, Guard};
use tokio::sync::{Mutex, Semaphore, SemaphorePermit};
use tokio::time::{Instant, timeout, timeout_at};

use crate::cells::{self, Reader, ValueIndex};
use crate::engine::{LeftOut, Schema, overrun_error, unavailable};
use crate::recent::Recent;
use crate::{ArrowEngine, BatchSink};

/// The time after the deadline at which an engine has to have reported that its statement does not
/// end: PostgreSQL's takes a second.
const OVERRUN_AFTER: Duration = Duration::from_millis(1_100);
/// The size limit of a catalog's names, types and comments, in bytes.
const CATALOG: usize = 64 << 20;

/// A database whose engine answers in Arrow, of which statements only read.
pub struct ArrowDatabase<E> {
    engine: E,
    guard: Guard,
    limits: Limits,
    patterns: Vec<String>,
    globs: Option<GlobSet>,
    places: Semaphore,
    snapshot: Mutex<Option<(Instant, Arc<Snapshot>)>>,
    index: ValueIndex,
    samples: Recent<Sample>,
    statistics: Recent<ColumnStats>,
}

/// The catalog at one time, and what it grants.
pub struct Snapshot {
    /// The tables that statements may name.
    pub catalog: Arc<Catalog>,
    granted: Granted,
    guard: Guard,
}

impl Snapshot {
    /// Makes the statement that runs of a query: no other text of a query reaches an engine.
    ///
    /// # Errors
    /// Those of [`Guard::admit`].
    pub fn admit(&self, query: &SqlQuery) -> Result<Admitted, SqlError> {
        self.guard.admit(query, &self.granted)
    }
}

impl<E: ArrowEngine> ArrowDatabase<E> {
    /// Reads the catalog and makes a database of an engine. `tables` are globs of the tables that
    /// may be seen. If there are none, all may be seen.
    ///
    /// # Errors
    /// Those of [`ArrowEngine::schema`], [`DatabaseError::Unavailable`] for a pattern that is none,
    /// and [`DatabaseError::NothingGranted`] where the patterns leave no table.
    pub async fn open(
        engine: E,
        tables: Vec<String>,
        limits: Limits,
    ) -> Result<Self, DatabaseError> {
        let globs = globs(&tables, &engine.display_address())?;
        let places = Semaphore::new(limits.sql_in_flight.max(1));
        let snapshot = Mutex::new(None);
        let index = ValueIndex::default();
        let guard = Guard::new(engine.dialect(), limits.sql_bytes);
        let patterns = tables;
        let samples = Recent::new(cells::CURRENT);
        let statistics = Recent::new(cells::CURRENT);
        let database = Self {
            engine,
            guard,
            limits,
            patterns,
            globs,
            places,
            snapshot,
            index,
            samples,
            statistics,
        };
        database.snapshot().await?;
        Ok(database)
    }

    /// The engine that runs the statements.
    #[must_use]
    pub fn engine(&self) -> &E {
        &self.engine
    }

    /// The catalog, as old as the engine's schemas may be.
    ///
    /// # Errors
    /// Those of [`ArrowEngine::schema`], and [`DatabaseError::NothingGranted`].
    pub async fn snapshot(&self) -> Result<Arc<Snapshot>, DatabaseError> {
        let mut cached = self.snapshot.lock().await;
        let lifetime = self.engine.schema_lifetime();
        if let Some((_, snapshot)) = cached.as_ref().filter(|(read, _)| read.elapsed() < lifetime) {
            return Ok(Arc::clone(snapshot));
        }
        let schema = self.engine.schema().await?;
        let snapshot = Arc::new(self.grant_schema(schema)?);
        *cached = Some((Instant::now(), Arc::clone(&snapshot)));
        Ok(snapshot)
    }

    /// The tables of a schema that the user's patterns name, as far as a catalog may have them.
    fn grant_schema(&self, schema: Schema) -> Result<Snapshot, DatabaseError> {
        let Schema { tables, path, catalog: within, mut left_out, mut names } = schema;
        let matches = |schema: Option<&str>, name: &str| {
            let full = schema.map(|schema| format!("{schema}.{name}"));
            self.globs.as_ref().is_none_or(|globs: &GlobSet| {
                globs.is_match(name) || full.as_ref().is_some_and(|full| globs.is_match(full))
            })
        };
        if names.is_empty() {
            names = tables.iter().map(|table| table.name.clone()).take(100).collect();
        }
        let mut bytes = 0_usize;
        let mut granted = Vec::new();
        for table in
            tables.into_iter().filter(|table| matches(table.schema_name.as_deref(), &table.name))
        {
            bytes = bytes.saturating_add(size(&table));
            if bytes <= CATALOG {
                granted.push(table);
                continue;
            }
            tracing::warn!(table = table.name, "a table is left out: the catalog is too large");
            let reason = format!(
                "the catalog has more than {CATALOG} bytes; name the tables that are \
                 needed by --tables"
            );
            left_out.push(LeftOut {
                schema: table.schema_name.unwrap_or_default(),
                name: table.name,
                reason,
            });
        }
        if granted.is_empty() && self.globs.is_some() {
            let path = self.engine.display_address();
            let patterns = self.patterns.clone();
            return Err(DatabaseError::NothingGranted { path, patterns, tables: names });
        }
        let mut catalog = Catalog {
            database: self.engine.name().to_owned(),
            dialect: self.engine.dialect(),
            tables: granted,
        };
        catalog.mark_schemas(&path);
        let mut granted = Granted::new(&catalog, path);
        if let Some(within) = within {
            granted = granted.in_catalog(within);
        }
        for LeftOut { schema, name, reason } in left_out {
            if matches(Some(&schema), &name) {
                granted.leave_out(&schema, &name, reason);
            }
        }
        Ok(Snapshot { catalog: Arc::new(catalog), granted, guard: self.guard.clone() })
    }

    async fn current(&self) -> Result<Arc<Snapshot>, SqlError> {
        let read = timeout(self.limits.sql_deadline, blocking::await_work(self.snapshot())).await;
        match read {
            Ok(snapshot) => snapshot.map_err(|error| unavailable(error.to_string())),
            Err(_) => Err(unavailable("the catalog was not read in time")),
        }
    }

    /// Waits for one of the places of statements that run at once.
    async fn place(&self) -> Result<SemaphorePermit<'_>, SqlError> {
        match timeout(self.limits.sql_deadline, self.places.acquire()).await {
            Ok(Ok(place)) => Ok(place),
            _ => Err(unavailable("the database is busy with other statements")),
        }
    }

    /// Works in a place of its own, off the search's clock, until the engine reports that the
    /// deadline has passed.
    async fn work<T>(
        &self,
        time: Duration,
        work: impl AsyncFnOnce(Instant) -> Result<T, SqlError>,
    ) -> Result<T, SqlError> {
        blocking::await_work(async {
            let _place = self.place().await?;
            let deadline = Instant::now() + time;
            timeout_at(deadline + OVERRUN_AFTER, work(deadline))
                .await
                .unwrap_or_else(|_| Err(overrun_error()))
        })
        .await
    }

    /// Admits a query, and works with what was admitted: the only way of a query to the engine.
    async fn admit_then<T>(
        &self,
        query: &SqlQuery,
        time: Duration,
        work: impl AsyncFnOnce(String, Instant) -> Result<T, SqlError>,
    ) -> Result<(T, Admitted, Arc<Snapshot>), SqlError> {
        let snapshot = self.current().await?;
        let admitted = snapshot.admit(query)?;
        let sql = admitted.sql.clone();
        match self.work(time, async |deadline| work(sql, deadline).await).await {
            Ok(done) => Ok((done, admitted, snapshot)),
            Err(error) => Err(self.engine.explain_error(error, query, &snapshot.catalog)),
        }
    }

    async fn execute(
        &self,
        query: &SqlQuery,
        limits: &Limits,
        time: Duration,
    ) -> Result<ResultSet, SqlError> {
        let mut sink = BatchSink::new(limits.clone());
        self.admit_then(query, time, async |sql, deadline| {
            self.engine.execute(&sql, deadline, &mut sink).await
        })
        .await?;
        // As it was written: the guard's spelling of it means the same.
        sink.finish(self.compose(query)?)
    }

    async fn resolve(
        &self,
        table: &str,
        columns: &[String],
    ) -> Result<(Table, Vec<String>), PortError> {
        let snapshot = self.current().await.map_err(port_error)?;
        let (table, columns) = resolve(&snapshot.catalog, table, columns)?;
        Ok((table.clone(), columns))
    }
}

/// The patterns of `--tables`, compiled; `None` when all tables are granted. `shown` is the
/// database as messages show it.
///
/// # Errors
/// [`DatabaseError::Unavailable`] for a pattern that is none.
pub fn globs(patterns: &[String], shown: &str) -> Result<Option<GlobSet>, DatabaseError> {
    fn unavailable(shown: &str, reason: String) -> DatabaseError {
        DatabaseError::Unavailable { path: shown.to_owned(), reason }
    }
    if patterns.is_empty() {
        return Ok(None);
    }
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let glob =
            GlobBuilder::new(pattern).case_insensitive(true).literal_separator(false).build();
        set.add(glob.map_err(|error| {
            unavailable(shown, format!("pattern `{pattern}` for tables: {}", error.kind()))
        })?);
    }
    set.build().map(Some).map_err(|error| unavailable(shown, error.to_string()))
}

/// About what a table takes in memory.
fn size(table: &Table) -> usize {
    let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    let names =
        |names: &[String]| names.iter().map(|name| name.len() + size_of::<String>()).sum::<usize>();
    let columns: usize = table
        .columns
        .iter()
        .map(|column| {
            let extra: usize =
                column.extra.iter().map(|(key, value)| key.len() + value.len()).sum();
            size_of_val(column)
                + column.name.len()
                + column.sql_type.len()
                + text(&column.comment)
                + extra
        })
        .sum();
    let keys: usize = table
        .foreign_keys
        .iter()
        .map(|key| {
            size_of_val(key) + names(&key.columns) + key.ref_table.len() + names(&key.ref_columns)
        })
        .sum();
    let indexes: usize = table
        .indexes
        .iter()
        .map(|index| {
            size_of_val(index)
                + index.name.len()
                + names(&index.columns)
                + text(&index.method)
                + text(&index.predicate)
        })
        .sum();
    size_of::<Table>()
        + table.name.len()
        + text(&table.schema_name)
        + text(&table.comment)
        + columns
        + keys
        + indexes
        + names(&table.primary_key)
}

#[async_trait]
impl<E: ArrowEngine> Reader for ArrowDatabase<E> {
    async fn select(
        &self,
        sql: &str,
        limits: &Limits,
        time: Duration,
    ) -> Result<ResultSet, SqlError> {
        self.execute(&SqlQuery::new(sql), limits, time).await
    }
}

#[async_trait]
impl<E: ArrowEngine> Database for ArrowDatabase<E> {
    fn name(&self) -> &str {
        self.engine.name()
    }

    fn dialect(&self) -> Dialect {
        self.engine.dialect()
    }

    fn warnings(&self) -> Vec<String> {
        self.engine.warnings()
    }

    async fn identity(&self) -> Option<String> {
        blocking::await_work(timeout(self.limits.sql_deadline, self.engine.identity()))
            .await
            .ok()?
    }

    async fn catalog(&self) -> Result<Arc<Catalog>, DatabaseError> {
        Ok(Arc::clone(&blocking::await_work(self.snapshot()).await?.catalog))
    }

    fn compose(&self, query: &SqlQuery) -> Result<String, SqlError> {
        self.guard.compose(query).map(|spliced| spliced.text)
    }

    async fn check(&self, query: &SqlQuery) -> Result<Facts, SqlError> {
        let checked = self.admit_then(query, self.limits.sql_deadline, async |sql, deadline| {
            self.engine.prepare(&sql, deadline).await
        });
        let ((), admitted, snapshot) = checked.await?;
        // The engine's verdict counts; the guard's facts say more than the engine does.
        let facts = self.guard.facts(query, &snapshot.catalog);
        Ok(facts.unwrap_or_else(|_| admitted.into_facts()))
    }

    async fn explain(&self, query: &SqlQuery) -> Result<Plan, SqlError> {
        let explained = self.admit_then(query, self.limits.sql_deadline, async |sql, deadline| {
            self.engine.explain(&sql, deadline).await
        });
        Ok(explained.await?.0)
    }

    async fn run(&self, query: &SqlQuery) -> Result<ResultSet, SqlError> {
        self.execute(query, &self.limits, self.limits.sql_deadline).await
    }

    async fn column_stats(
        &self,
        table: &str,
        columns: &[String],
    ) -> Result<Vec<ColumnStats>, PortError> {
        let (table, columns) = self.resolve(table, columns).await?;
        let kept = self.work(self.limits.sql_deadline, async |deadline| {
            self.engine.column_stats(&table, &columns, deadline).await
        });
        if let Some(stats) = kept.await.map_err(port_error)? {
            return Ok(stats);
        }
        let dialect = self.engine.dialect();
        self.statistics
            .get(&table, &columns, 0, async |columns: Vec<String>| {
                cells::column_stats(self, &table, &columns, &dialect, &self.limits).await
            })
            .await
    }

    async fn bench(&self, limits: BenchLimits) -> Result<Box<dyn Bench>, PortError> {
        let snapshot = self.snapshot().await;
        let snapshot = snapshot.map_err(|error| PortError::Unavailable(error.to_string()))?;
        self.engine.bench(snapshot, limits).await
    }
}

#[async_trait]
impl<E: ArrowEngine> CellIndex for ArrowDatabase<E> {
    async fn samples(
        &self,
        table: &str,
        columns: &[String],
        limit: u32,
    ) -> Result<Vec<Sample>, PortError> {
        let (table, columns) = self.resolve(table, columns).await?;
        let dialect = self.engine.dialect();
        self.samples
            .get(&table, &columns, limit, async |columns: Vec<String>| {
                cells::samples(self, &table, &columns, limit, &dialect, &self.limits).await
            })
            .await
    }

    async fn find(
        &self,
        phrases: &[String],
        how: Match,
        limit: u32,
    ) -> Result<Vec<Vec<Hit>>, PortError> {
        let catalog = Arc::clone(&self.current().await.map_err(port_error)?.catalog);
        self.index.find(self, &catalog, &self.limits, phrases, how, limit).await
    }

    /// The index and the samples may be of some minutes ago.
    fn is_repeatable(&self) -> bool {
        false
    }
}
