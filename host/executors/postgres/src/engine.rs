//! The engine: sessions of a PostgreSQL server under the contract of engines that answer in Arrow.
//! A session returns to the pool only if the check after the statement finds it unchanged.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use globset::GlobSet;
use sha2::{Digest, Sha256};
use syrch_arrow_engine::{
    ArrowDatabase, ArrowEngine, BatchSink, Schema, Snapshot, deadline_error, globs, overrun_error,
    unavailable,
};
use syrch_core::ports::{
    Bench, BenchLimits, ColumnStats, DatabaseError, Plan, PortError, SqlQuery,
};
use syrch_core::{Catalog, Dialect, SqlError, Table};
use tokio::time::error::Elapsed;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_postgres::Error;

use crate::bench::PostgresBench;
use crate::config::{self, PostgresConfig};
use crate::connect::{CancelOnDrop, Connector};
use crate::execute::Running;
use crate::session::Session;
use crate::{error, introspect, role};

/// The time by which the host ends a statement later than the server.
pub(crate) const LATER: Duration = Duration::from_millis(250);

/// The time that a cancelled statement may take to end before its connection is closed.
pub(crate) const CANCELLED: Duration = Duration::from_millis(750);

/// The oldest version of the server, as the server numbers them.
const OLDEST: i32 = 130_000;

/// The query for the identity of the data, which is equal as long as no transaction has ended in
/// between that could have changed anything: the snapshot has all that are in progress, and numbers
/// of transactions are not used again while the server runs.
const IDENTITY: &str = "SELECT pg_current_snapshot()::text, pg_postmaster_start_time()::text, \
                        current_database()::text, (SELECT oid::text FROM pg_database \
                        WHERE datname = current_database()), current_user::text, \
                        current_setting('TimeZone'), EXISTS (SELECT FROM pg_foreign_table)";

/// A PostgreSQL database, of which statements only read.
pub type PostgresDatabase = ArrowDatabase<PostgresEngine>;

/// Opens a database: connects to a server and reads the catalog.
///
/// # Errors
/// Those of [`PostgresEngine::connect`] and of [`ArrowDatabase::open`].
pub async fn open(config: PostgresConfig) -> Result<PostgresDatabase, DatabaseError> {
    let tables = config.tables.clone();
    let limits = config.limits.clone();
    ArrowDatabase::open(PostgresEngine::connect(config).await?, tables, limits).await
}

/// The sessions of a database at a PostgreSQL server.
pub struct PostgresEngine {
    config: PostgresConfig,
    globs: Option<GlobSet>,
    connector: Arc<Connector>,
    /// The first session, with which the first catalog is read.
    first: Mutex<Option<Session>>,
    idle: Mutex<Vec<Session>>,
    warnings: Vec<String>,
    /// The warning about the first catalog, once it was read.
    catalog_warning: OnceLock<Option<String>>,
}

impl PostgresEngine {
    /// Connects to a server.
    ///
    /// # Errors
    /// [`DatabaseError::Address`] for a wrong connection string, [`DatabaseError::Unreachable`],
    /// [`DatabaseError::LoginRefused`] and [`DatabaseError::Encryption`] where there is no
    /// connection, [`DatabaseError::Missing`] for a database that the server lacks, and
    /// [`DatabaseError::Unavailable`] for a server that is too old.
    pub async fn connect(config: PostgresConfig) -> Result<Self, DatabaseError> {
        let target = config::target(&config)?;
        let globs = globs(&config.tables, &target.display_address())?;
        let warnings = target.warnings.clone();
        let connector = Arc::new(Connector::new(target)?);
        let mut engine = Self {
            config,
            globs,
            connector,
            first: Mutex::default(),
            idle: Mutex::default(),
            warnings,
            catalog_warning: OnceLock::new(),
        };
        let session = engine.open_session().await?;
        let client = &session.link.client;
        let version =
            client.query_typed_one("SELECT current_setting('server_version_num')::int4", &[]);
        let version: i32 = version
            .await
            .and_then(|row| row.try_get(0))
            .map_err(|error| engine.unavailable(&error))?;
        if version < OLDEST {
            let reason = format!(
                "the server has version {}; use version {} or newer",
                version / 10_000,
                OLDEST / 10_000
            );
            return Err(DatabaseError::Unavailable { path: engine.display_address(), reason });
        }
        if engine.connector.target.password.is_some()
            && !session.link.is_encrypted
            && !session.link.endpoint.is_local()
        {
            engine.warnings.push(
                "the connection is not encrypted, so that others on the network can read what is \
                 sent: add `sslmode=require`"
                    .to_owned(),
            );
        }
        engine.first = Mutex::new(Some(session));
        Ok(engine)
    }

    /// The server's version, such as `15.8`, and how the connection is made: `TLS`, `socket` or
    /// `not encrypted`.
    ///
    /// # Errors
    /// When the server cannot be asked.
    pub async fn server(&self) -> Result<(String, &'static str), DatabaseError> {
        let session = self.session().await?;
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
        let session = self.session().await?;
        let findings =
            role::findings(&session.link.client).await.map_err(|error| self.unavailable(&error))?;
        self.give_back(session);
        Ok(findings)
    }

    /// Opens a bench, which connects by itself.
    ///
    /// # Errors
    /// The reason why there is no connection.
    pub(crate) async fn open_bench(
        &self,
        snapshot: Arc<Snapshot>,
        limits: BenchLimits,
    ) -> Result<PostgresBench, DatabaseError> {
        PostgresBench::open(Arc::clone(&self.connector), snapshot, limits).await
    }

    fn unavailable(&self, error: &Error) -> DatabaseError {
        DatabaseError::Unavailable { path: self.display_address(), reason: error::plain(error) }
    }

    async fn open_session(&self) -> Result<Session, DatabaseError> {
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

    /// An idle session, or a new one.
    async fn session(&self) -> Result<Session, DatabaseError> {
        loop {
            let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            match idle {
                Some(session) if session.link.client.is_closed() => {}
                Some(session) => return Ok(session),
                None => return self.open_session().await,
            }
        }
    }

    fn give_back(&self, session: Session) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < self.config.limits.sql_in_flight {
            idle.push(session);
        }
    }

    /// A session for one statement, which ends by this deadline.
    async fn lease(&self, deadline: Instant) -> Result<Lease<'_>, SqlError> {
        let session = timeout_at(deadline, self.session())
            .await
            .map_err(|_| unavailable("there was no connection to the server in time"))?
            .map_err(|error| unavailable(error.to_string()))?;
        let cancel = CancelOnDrop::new(&self.connector, &session.link);
        Ok(Lease { cancel, session, engine: self, end: deadline + LATER })
    }
}

/// A session at work. Dropped before [`Lease::settle`], it cancels what runs and closes the
/// connection.
struct Lease<'a> {
    cancel: CancelOnDrop,
    session: Session,
    engine: &'a PostgresEngine,
    /// The time at which the host ends what the server has not ended.
    end: Instant,
}

impl Lease<'_> {
    /// The outcome of what ran until [`end`](Self::end). Returns the session to the pool if it is
    /// as it was before.
    async fn settle<T>(self, ended: Result<Result<T, SqlError>, Elapsed>) -> Result<T, SqlError> {
        // From here on the session is not cancelled any more when this future is dropped.
        match ended {
            Ok(_) => self.cancel.disarm(),
            Err(_) => drop(self.cancel),
        }
        let checked = timeout(CANCELLED, self.session.is_clean()).await;
        match ended {
            Err(_) if checked.is_err() => {
                tracing::warn!(
                    database = self.engine.name(),
                    "a statement has not ended although its time is over"
                );
                Err(overrun_error())
            }
            Err(_) => Err(deadline_error(self.engine.config.limits.sql_deadline)),
            Ok(result) => {
                match checked {
                    Ok(true) => self.engine.give_back(self.session),
                    _ => tracing::debug!("a session is closed after a statement"),
                }
                result
            }
        }
    }
}

/// A warning about columns whose comparisons are not those that their users know.
fn warn_of_citext(tables: &[Table]) -> Option<String> {
    let mut columns =
        tables.iter().flat_map(|table| table.columns.iter().map(move |column| (table, column)));
    let (table, column) = columns.find(|(_, column)| column.sql_type.ends_with("citext"))?;
    Some(format!(
        "columns of type `citext`, such as `{}.{}`, are compared with letter case here: operators \
         of extensions are not used",
        table.name, column.name
    ))
}

#[async_trait]
impl ArrowEngine for PostgresEngine {
    fn name(&self) -> &str {
        &self.connector.target.database
    }

    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    fn display_address(&self) -> String {
        self.connector.target.display_address()
    }

    fn warnings(&self) -> Vec<String> {
        let of_catalog = self.catalog_warning.get().and_then(Option::as_ref);
        self.warnings.iter().chain(of_catalog).cloned().collect()
    }

    async fn identity(&self) -> Option<String> {
        let session = self.session().await.ok()?;
        let row = session.link.client.query_typed_one(IDENTITY, &[]).await.ok()?;
        self.give_back(session);
        let has_foreign_tables: bool = row.try_get(6).ok()?;
        // Those change without a transaction of this server.
        if has_foreign_tables {
            return None;
        }
        let mut hasher = Sha256::new();
        let target = &self.connector.target;
        hasher
            .update(format!("{:?}\n{}\n{:?}\n", target.endpoints, target.user, self.config.tables));
        for column in 0..6 {
            hasher.update(row.try_get::<_, &str>(column).ok()?);
            hasher.update([0]);
        }
        Some(syrch_core::text::hex(&hasher.finalize()[..16]))
    }

    async fn schema(&self) -> Result<Schema, DatabaseError> {
        let first = self.first.lock().unwrap_or_else(PoisonError::into_inner).take();
        // The search path comes with a connection.
        let session = match first {
            Some(session) => session,
            None => self.open_session().await?,
        };
        let client = &session.link.client;
        let read = introspect::read(client, self.globs.as_ref(), self.config.foreign_tables);
        let schema = read.await.map_err(|error| self.unavailable(&error))?;
        self.catalog_warning.get_or_init(|| warn_of_citext(&schema.tables));
        let path = session.path.clone();
        self.give_back(session);
        Ok(Schema { path, ..schema })
    }

    async fn prepare(&self, sql: &str, deadline: Instant) -> Result<(), SqlError> {
        let mut lease = self.lease(deadline).await?;
        let running = Running::new(&mut lease.session, sql, &self.config.limits);
        let ended = timeout_at(lease.end, running.check()).await;
        lease.settle(ended).await
    }

    async fn explain(&self, sql: &str, deadline: Instant) -> Result<Plan, SqlError> {
        let mut lease = self.lease(deadline).await?;
        let running = Running::new(&mut lease.session, sql, &self.config.limits);
        let ended = timeout_at(lease.end, running.plan()).await;
        lease.settle(ended).await
    }

    async fn execute(
        &self,
        sql: &str,
        deadline: Instant,
        sink: &mut BatchSink,
    ) -> Result<(), SqlError> {
        let mut lease = self.lease(deadline).await?;
        let limits = sink.limits().clone();
        let running = Running::new(&mut lease.session, sql, &limits);
        let ended = timeout_at(lease.end, running.run(sink)).await;
        lease.settle(ended).await
    }

    fn explain_error(&self, error: SqlError, _: &SqlQuery, catalog: &Catalog) -> SqlError {
        error::with_nearest(error, catalog)
    }

    /// The planner's statistics.
    async fn column_stats(
        &self,
        table: &Table,
        columns: &[String],
        deadline: Instant,
    ) -> Result<Option<Vec<ColumnStats>>, SqlError> {
        let lease = self.lease(deadline).await?;
        let schema = table.schema_name.as_deref().unwrap_or_default();
        let client = &lease.session.link.client;
        let stats = introspect::column_stats(client, schema, &table.name, columns);
        let ended = timeout_at(lease.end, stats).await;
        let limit = self.config.limits.sql_deadline;
        let ended = ended.map(|stats| stats.map_err(|e| error::statement(&e, "", true, limit)));
        lease.settle(ended).await.map(Some)
    }

    async fn bench(
        &self,
        snapshot: Arc<Snapshot>,
        limits: BenchLimits,
    ) -> Result<Box<dyn Bench>, PortError> {
        let bench = self.open_bench(snapshot, limits).await;
        Ok(Box::new(bench.map_err(|error| PortError::Unavailable(error.to_string()))?))
    }
}
