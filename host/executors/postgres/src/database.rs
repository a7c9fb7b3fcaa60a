//! The implementation of `Database`. Each call takes a permit and a pooled session and ends by its
//! deadline; a session returns to the pool only if the check after the statement finds it
//! unchanged.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures::future::BoxFuture;
use sha2::{Digest, Sha256};
use syrch_arrow_engine::{Reader, ValueIndex, globs, port_error, resolve, samples};
use syrch_core::ports::{
    Bench, BenchLimits, CellIndex, ColumnStats, Database, DatabaseError, Facts, Match, OVERRUN,
    Plan, PortError, Sample, SqlQuery,
};
use syrch_core::{Catalog, Dialect, Hit, Limits, ResultSet, SqlError, SqlErrorKind, blocking};
use syrch_guard::admission::{Admitted, Granted, admit, readable};
use syrch_guard::{Bounds, Spliced, Unresolved, prelex, splice};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;
use tokio_postgres::Error;

use crate::bench::PostgresBench;
use crate::config::{self, PostgresConfig};
use crate::connect::Connector;
use crate::error;
use crate::execute::Running;
use crate::introspect::{self, Schema};
use crate::role;
use crate::session::Session;

/// The time by which the host ends a statement later than the server.
pub(crate) const LATER: Duration = Duration::from_millis(250);

/// The time that a cancelled statement may take to end before its connection is closed.
pub(crate) const CANCELLED: Duration = Duration::from_millis(750);

/// The age up to which a catalog that was read is used.
const FRESH: Duration = Duration::from_secs(10);

/// The oldest version of the server, as the server numbers them.
const OLDEST: i32 = 130_000;

/// The query for the identity of the data, which is equal as long as no transaction has ended in
/// between that could have changed anything: the snapshot has all that are in progress, and numbers
/// of transactions are not used again while the server runs.
const IDENTITY: &str = "SELECT pg_current_snapshot()::text, pg_postmaster_start_time()::text, current_database()::text, \
     (SELECT oid::text FROM pg_database WHERE datname = current_database()), current_user::text, \
     current_setting('TimeZone'), EXISTS (SELECT FROM pg_foreign_table)";

/// A PostgreSQL database, of which statements only read.
pub struct PostgresDatabase {
    config: PostgresConfig,
    connector: Arc<Connector>,
    places: Semaphore,
    idle: Mutex<Vec<Session>>,
    snapshot: tokio::sync::Mutex<Option<(Instant, Arc<Snapshot>)>>,
    index: ValueIndex,
    warnings: Vec<String>,
}

/// The catalog at one time, and what it grants.
pub(crate) struct Snapshot {
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) granted: Granted,
}

impl PostgresDatabase {
    /// Connects to a server and reads the catalog.
    ///
    /// # Errors
    /// [`DatabaseError::Address`] for a wrong connection string, [`DatabaseError::Unreachable`],
    /// [`DatabaseError::LoginRefused`] and [`DatabaseError::Encryption`] where there is no
    /// connection, [`DatabaseError::Missing`] for a database that the server lacks,
    /// [`DatabaseError::NothingGranted`] where the patterns leave no table, and
    /// [`DatabaseError::Unavailable`] for a server that is too old.
    pub async fn open(config: PostgresConfig) -> Result<Self, DatabaseError> {
        let target = config::target(&config)?;
        let places = Semaphore::new(config.limits.sql_in_flight.max(1));
        let warnings = target.warnings.clone();
        let connector = Arc::new(Connector::new(target)?);
        let idle = Mutex::new(Vec::new());
        let snapshot = tokio::sync::Mutex::new(None);
        let index = ValueIndex::default();
        let mut database = Self { config, connector, places, idle, snapshot, index, warnings };
        let (session, path) = database.connect().await?;
        let version = session
            .link
            .client
            .query_typed_one("SELECT current_setting('server_version_num')::int4", &[]);
        let version: i32 = version
            .await
            .and_then(|row| row.try_get(0))
            .map_err(|error| database.unavailable(&error))?;
        if version < OLDEST {
            let reason = format!(
                "the server has version {}; use version {} or newer",
                version / 10_000,
                OLDEST / 10_000
            );
            return Err(DatabaseError::Unavailable { path: database.display_address(), reason });
        }
        let target = &database.connector.target;
        if target.password.is_some()
            && !session.link.is_encrypted
            && !session.link.endpoint.is_local()
        {
            database.warnings.push("the connection is not encrypted, so that others on the network can read what is sent: add `sslmode=require`".to_owned());
        }
        let snapshot = database.read(&session, path).await?;
        let columns = snapshot
            .catalog
            .tables
            .iter()
            .flat_map(|table| table.columns.iter().map(move |column| (table, column)));
        if let Some((table, column)) =
            columns.into_iter().find(|(_, column)| column.sql_type.ends_with("citext"))
        {
            let shown = format!("{}.{}", table.name, column.name);
            database.warnings.push(format!(
                "columns of type `citext`, such as `{shown}`, are compared with letter case here: operators of extensions are not used"
            ));
        }
        *database.snapshot.get_mut() = Some((Instant::now(), Arc::new(snapshot)));
        database.give_back(session);
        Ok(database)
    }

    /// The server's version, such as `15.8`, and how the connection is made: `TLS`, `socket` or
    /// `not encrypted`.
    ///
    /// # Errors
    /// When the server cannot be asked.
    pub async fn server(&self) -> Result<(String, &'static str), DatabaseError> {
        let (session, _) = self.session().await?;
        let row = session
            .link
            .client
            .query_typed_one("SELECT current_setting('server_version')", &[])
            .await;
        let version: String =
            row.and_then(|row| row.try_get(0)).map_err(|error| self.unavailable(&error))?;
        let how = match &session.link {
            link if link.is_encrypted => "TLS",
            link if link.endpoint.socket().is_some() => "socket",
            _ => "not encrypted",
        };
        self.give_back(session);
        // A distribution appends its own version: `15.18 (Debian 15.18-0+deb12u1)`.
        Ok((version.split_whitespace().next().unwrap_or_default().to_owned(), how))
    }

    /// The rights beyond reading that were found, a sentence for each. Attributes and memberships
    /// of the role, tables, schemas, temporary tables and functions are checked; rights that
    /// everybody has (`PUBLIC`) count.
    ///
    /// # Errors
    /// When the server cannot be asked.
    pub async fn role_findings(&self) -> Result<Vec<String>, DatabaseError> {
        let (session, _) = self.session().await?;
        let findings =
            role::findings(&session.link.client).await.map_err(|error| self.unavailable(&error))?;
        self.give_back(session);
        Ok(findings)
    }

    fn display_address(&self) -> String {
        self.connector.target.display_address()
    }

    fn unavailable(&self, error: &Error) -> DatabaseError {
        DatabaseError::Unavailable { path: self.display_address(), reason: error::plain(error) }
    }

    async fn connect(&self) -> Result<(Session, Vec<String>), DatabaseError> {
        let link = self.connector.connect().await?;
        let session = Session::harden(link, self.config.limits.sql_deadline, &[]);
        match timeout(self.connector.target.timeout, session).await {
            Ok(session) => session.map_err(|error| self.unavailable(&error)),
            Err(_) => {
                let reason = "the server does not answer".to_owned();
                Err(DatabaseError::Unreachable { path: self.display_address(), reason })
            }
        }
    }

    /// An idle session, or a new one with the role's search path.
    async fn session(&self) -> Result<(Session, Option<Vec<String>>), DatabaseError> {
        loop {
            let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            match idle {
                Some(session) if session.link.client.is_closed() => {}
                Some(session) => return Ok((session, None)),
                None => return self.connect().await.map(|(session, path)| (session, Some(path))),
            }
        }
    }

    fn give_back(&self, session: Session) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < self.config.limits.sql_in_flight {
            idle.push(session);
        }
    }

    async fn read(&self, session: &Session, path: Vec<String>) -> Result<Snapshot, DatabaseError> {
        let shown = self.display_address();
        let globs = globs(&self.config.tables, &shown)?;
        let read =
            introspect::read(&session.link.client, globs.as_ref(), self.config.foreign_tables);
        let Schema { tables, left_out, names } =
            read.await.map_err(|error| self.unavailable(&error))?;
        if tables.is_empty() && globs.is_some() {
            let patterns = self.config.tables.clone();
            return Err(DatabaseError::NothingGranted { path: shown, patterns, tables: names });
        }
        let mut catalog =
            Catalog { database: self.name().to_owned(), dialect: Dialect::Postgres, tables };
        catalog.mark_schemas(&path);
        let mut granted = Granted::new(&catalog, path);
        for (schema, name, reason) in left_out {
            granted.leave_out(&schema, &name, reason);
        }
        Ok(Snapshot { catalog: Arc::new(catalog), granted })
    }

    /// The catalog, at most [`FRESH`] old.
    async fn snapshot(&self) -> Result<Arc<Snapshot>, DatabaseError> {
        let mut cached = self.snapshot.lock().await;
        if let Some((_, snapshot)) = cached.as_ref().filter(|(read, _)| read.elapsed() < FRESH) {
            return Ok(Arc::clone(snapshot));
        }
        // The search path comes with a connection.
        let (session, path) = self.connect().await?;
        let read = timeout(self.config.limits.sql_deadline, self.read(&session, path)).await;
        let late = DatabaseError::Unavailable {
            path: self.display_address(),
            reason: "its catalog was not read in time".to_owned(),
        };
        let snapshot = Arc::new(read.unwrap_or(Err(late))?);
        *cached = Some((Instant::now(), Arc::clone(&snapshot)));
        self.give_back(session);
        Ok(snapshot)
    }

    fn bounds(&self) -> Bounds {
        Bounds { bytes: self.config.limits.sql_bytes, ..Bounds::default() }
    }

    fn compose_query(&self, query: &SqlQuery) -> Result<Spliced, SqlError> {
        let bounds = self.bounds();
        let text = readable(&query.text);
        prelex(&text, &Dialect::Postgres, &bounds)?;
        // Where nothing is spliced in, positions stay those of the original.
        let text = if query.relations.is_empty() { &query.text } else { &text };
        splice(text, &query.relations, &Dialect::Postgres, &bounds)
    }

    fn admit_query(&self, query: &SqlQuery, snapshot: &Snapshot) -> Result<Admitted, SqlError> {
        let spliced = self.compose_query(query)?;
        admit(&spliced.text, &snapshot.granted, &self.bounds()).map_err(|mut error| {
            error.position =
                error.position.and_then(|position| spliced.original(position as usize));
            error
        })
    }

    /// A place and a session, for one statement.
    async fn lease(&self) -> Result<Lease<'_>, SqlError> {
        let waited = timeout(self.config.limits.sql_deadline, self.places.acquire()).await;
        let Ok(Ok(place)) = waited else {
            return Err(unavailable("the database is busy with other statements"));
        };
        let (session, _) = self.session().await.map_err(|error| unavailable(error.to_string()))?;
        Ok(Lease {
            session: Some(session),
            connector: Arc::clone(&self.connector),
            database: self,
            _place: place,
        })
    }

    async fn current(&self) -> Result<Arc<Snapshot>, SqlError> {
        blocking::await_work(self.snapshot()).await.map_err(|error| unavailable(error.to_string()))
    }
}

fn unavailable(reason: impl Into<String>) -> SqlError {
    SqlError::new(SqlErrorKind::Unavailable, reason)
}

/// A session at work. Dropped before [`Lease::settle`], it cancels what runs and closes the
/// connection.
struct Lease<'a> {
    session: Option<Session>,
    connector: Arc<Connector>,
    database: &'a PostgresDatabase,
    _place: SemaphorePermit<'a>,
}

impl Lease<'_> {
    /// Works with the session until the deadline, and returns it to the pool if it is as it was
    /// before.
    async fn settle<T>(
        mut self,
        work: impl for<'s> FnOnce(&'s mut Session) -> BoxFuture<'s, Result<T, SqlError>>,
        limit: Duration,
    ) -> Result<T, SqlError> {
        let Some(session) = self.session.as_mut() else {
            return Err(unavailable("the session is gone"));
        };
        let worked = timeout(limit + LATER, work(session)).await;
        if worked.is_err() {
            self.cancel();
        }
        // From here on the session is not cancelled any more when this future is dropped.
        let Some(session) = self.session.take() else {
            return Err(unavailable("the session is gone"));
        };
        let checked = timeout(CANCELLED, session.is_clean()).await;
        match worked {
            Err(_) if checked.is_err() => {
                tracing::warn!(
                    database = self.database.name(),
                    "a statement has not ended although its time is over"
                );
                let message = "the statement did not end 1 s after its deadline";
                Err(SqlError::new(SqlErrorKind::Timeout, message).rule(OVERRUN))
            }
            Err(_) => Err(error::deadline(limit)),
            Ok(result) => {
                match checked {
                    Ok(true) => self.database.give_back(session),
                    _ => tracing::debug!("a session is closed after a statement"),
                }
                result
            }
        }
    }

    /// Asks the server to end what the session runs, without waiting for it.
    fn cancel(&self) {
        let (Some(session), Ok(runtime)) = (&self.session, tokio::runtime::Handle::try_current())
        else {
            return;
        };
        let token = session.link.client.cancel_token();
        let endpoint = session.link.endpoint.clone();
        let connector = Arc::clone(&self.connector);
        runtime.spawn(async move { connector.cancel(token, &endpoint).await });
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        if self.session.is_some() {
            self.cancel();
        }
    }
}

#[async_trait]
impl Database for PostgresDatabase {
    fn name(&self) -> &str {
        &self.connector.target.database
    }

    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    async fn identity(&self) -> Option<String> {
        let read = async {
            let (session, _) = self.session().await.ok()?;
            let row = session.link.client.query_typed_one(IDENTITY, &[]).await.ok()?;
            self.give_back(session);
            let has_foreign_tables: bool = row.try_get(6).ok()?;
            // Those change without a transaction of this server.
            if has_foreign_tables {
                return None;
            }
            let mut hasher = Sha256::new();
            let target = &self.connector.target;
            hasher.update(format!(
                "{:?}\n{}\n{:?}\n",
                target.endpoints, target.user, self.config.tables
            ));
            for column in 0..6 {
                hasher.update(row.try_get::<_, &str>(column).ok()?);
                hasher.update([0]);
            }
            Some(syrch_core::text::hex(&hasher.finalize()[..16]))
        };
        blocking::await_work(timeout(self.config.limits.sql_deadline, read)).await.ok()?
    }

    async fn catalog(&self) -> Result<Arc<Catalog>, DatabaseError> {
        Ok(Arc::clone(&blocking::await_work(self.snapshot()).await?.catalog))
    }

    fn compose(&self, query: &SqlQuery) -> Result<String, SqlError> {
        self.compose_query(query).map(|spliced| spliced.text)
    }

    async fn check(&self, query: &SqlQuery) -> Result<Facts, SqlError> {
        let snapshot = self.current().await?;
        let admitted = self.admit_query(query, &snapshot)?;
        let sql = admitted.sql.clone();
        let limits = self.config.limits.clone();
        let limit = limits.sql_deadline;
        self.work(
            |session| Box::pin(async move { Running::new(session, &sql, &limits).check().await }),
            limit,
            &snapshot,
        )
        .await?;
        // The server's verdict counts; the guard's facts say more than the server does.
        match syrch_guard::facts(&readable(&query.text), &query.relations, &snapshot.catalog) {
            Ok(facts) => Ok(facts),
            Err(Unresolved::Unparsed(_) | Unresolved::Refused(_)) => {
                let Admitted { sql, tables, functions } = admitted;
                Ok(Facts {
                    tables,
                    functions,
                    normalized: sql.clone(),
                    skeleton: sql,
                    ..Facts::default()
                })
            }
        }
    }

    async fn explain(&self, query: &SqlQuery) -> Result<Plan, SqlError> {
        let snapshot = self.current().await?;
        let sql = self.admit_query(query, &snapshot)?.sql;
        let limits = self.config.limits.clone();
        let limit = limits.sql_deadline;
        self.work(
            |session| Box::pin(async move { Running::new(session, &sql, &limits).plan().await }),
            limit,
            &snapshot,
        )
        .await
    }

    async fn run(&self, query: &SqlQuery) -> Result<ResultSet, SqlError> {
        let snapshot = self.current().await?;
        let sql = self.admit_query(query, &snapshot)?.sql;
        let mut result = self
            .running(sql, &self.config.limits, self.config.limits.sql_deadline, &snapshot)
            .await?;
        // As it was written: the guard's spelling of it means the same.
        result.sql = self.compose(query)?;
        Ok(result)
    }

    async fn column_stats(
        &self,
        table: &str,
        columns: &[String],
    ) -> Result<Vec<ColumnStats>, PortError> {
        let (table, columns) =
            resolve(&self.current().await.map_err(port_error)?.catalog, table, columns)?;
        let schema = table.schema_name.unwrap_or_default();
        let table = table.name;
        let lease = self.lease().await.map_err(port_error)?;
        let limit = self.config.limits.sql_deadline;
        let stats = lease.settle(
            |session| {
                Box::pin(async move {
                    let stats =
                        introspect::column_stats(&session.link.client, &schema, &table, &columns)
                            .await;
                    stats.map_err(|error| error::statement(&error, "", true, limit))
                })
            },
            limit,
        );
        blocking::await_work(stats).await.map_err(port_error)
    }

    async fn bench(&self, limits: BenchLimits) -> Result<Box<dyn Bench>, PortError> {
        let bench = self.open_bench(limits).await;
        Ok(Box::new(bench.map_err(|error| PortError::Unavailable(error.to_string()))?))
    }
}

impl PostgresDatabase {
    /// Does the same as [`Database::bench`].
    ///
    /// # Errors
    /// The reason why there is no connection.
    pub(crate) async fn open_bench(
        &self,
        limits: BenchLimits,
    ) -> Result<PostgresBench, DatabaseError> {
        let snapshot = self.snapshot().await?;
        PostgresBench::open(Arc::clone(&self.connector), snapshot, self.bounds(), limits).await
    }

    /// Works in a session of its own place, off the search's clock.
    async fn work<T>(
        &self,
        work: impl for<'s> FnOnce(&'s mut Session) -> BoxFuture<'s, Result<T, SqlError>>,
        limit: Duration,
        snapshot: &Snapshot,
    ) -> Result<T, SqlError> {
        let result =
            blocking::await_work(async { self.lease().await?.settle(work, limit).await }).await;
        result.map_err(|error| error::with_nearest(error, &snapshot.catalog))
    }

    async fn running(
        &self,
        sql: String,
        limits: &Limits,
        time: Duration,
        snapshot: &Snapshot,
    ) -> Result<ResultSet, SqlError> {
        let limits = limits.clone();
        self.work(
            |session| Box::pin(async move { Running::new(session, &sql, &limits).run().await }),
            time,
            snapshot,
        )
        .await
    }
}

#[async_trait]
impl Reader for PostgresDatabase {
    async fn select(
        &self,
        sql: &str,
        limits: &Limits,
        time: Duration,
    ) -> Result<ResultSet, SqlError> {
        let snapshot = self.current().await?;
        let sql = self.admit_query(&SqlQuery::new(sql), &snapshot)?.sql;
        self.running(sql, limits, time, &snapshot).await
    }
}

#[async_trait]
impl CellIndex for PostgresDatabase {
    async fn samples(
        &self,
        table: &str,
        columns: &[String],
        limit: u32,
    ) -> Result<Vec<Sample>, PortError> {
        let (table, columns) =
            resolve(&self.current().await.map_err(port_error)?.catalog, table, columns)?;
        samples(self, &table, &columns, limit, &Dialect::Postgres, &self.config.limits).await
    }

    async fn find(
        &self,
        phrases: &[String],
        how: Match,
        limit: u32,
    ) -> Result<Vec<Vec<Hit>>, PortError> {
        let catalog = Arc::clone(&self.current().await.map_err(port_error)?.catalog);
        self.index.find(self, &catalog, &self.config.limits, (phrases, how, limit)).await
    }

    /// The index may be of some minutes ago.
    fn is_repeatable(&self) -> bool {
        false
    }
}
