//! The connection of a bench: one session in which statements run one after the other, each within
//! its time. Whatever a statement does to it, the next one finds a session that is as it was
//! before, if need be a new one.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures::future::{BoxFuture, try_join_all};
use syrch_arrow_engine::{deadline_error, overrun_error};
use syrch_core::SqlError;
use syrch_core::ports::{BenchLimits, DatabaseError};
use tokio::time::timeout;
use tokio_postgres::types::Type;
use tokio_postgres::{Error, Statement};

use super::resolve::OBJECTS;
use super::rows::{Ended, too_large};
use crate::connect::{CancelOnDrop, Connector};
use crate::engine::{CANCELLED, LATER};
use crate::error;
use crate::session::Session;

/// Bytes that the server may send for a statement besides its rows: its plan, its types, errors.
const OWN: usize = 4 << 20;

/// Bytes of a row's message besides its cells.
const ROW: usize = 16;

/// The statement that begins a transaction of a bench.
const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// A session at work, with the limits of what it runs.
pub(super) struct Pinned {
    session: Session,
    limits: BenchLimits,
    objects: Statement,
    /// True if a transaction is open, whose snapshot is taken.
    has_snapshot: bool,
}

impl Pinned {
    pub(super) fn client(&self) -> &tokio_postgres::Client {
        &self.session.link.client
    }

    /// The query of the catalogs that resolves what a statement uses.
    pub(super) fn objects(&self) -> &Statement {
        &self.objects
    }

    /// Takes the next analysed statement from what the server reports.
    pub(super) fn expect_tree(&self) {
        self.session.link.notices.expect();
    }

    pub(super) fn tree(&self) -> Option<String> {
        self.session.link.notices.take()
    }

    /// Lets the server send what the rows of one result may have, and no more.
    pub(super) fn allow_rows(&self) {
        let size = |limit: u64, each: usize| {
            usize::try_from(limit).unwrap_or(usize::MAX).saturating_mul(each)
        };
        let rows = size(self.limits.bytes, 1).saturating_add(size(self.limits.rows, ROW));
        self.session.link.left.store(rows.saturating_add(OWN), Ordering::Relaxed);
    }

    /// Lets the server send so many bytes.
    pub(super) fn allow(&self, bytes: usize) {
        self.session.link.left.store(bytes, Ordering::Relaxed);
    }

    /// Returns true if the server wanted to send more than it may, which ends the connection.
    pub(super) fn is_exhausted(&self) -> bool {
        self.session.link.left.load(Ordering::Relaxed) == 0
    }

    /// The error of a stream of rows. Afterwards the session is not used again if the server may
    /// still send rows.
    pub(super) fn stream_error(&mut self, ended: Ended, sql: &str) -> SqlError {
        match ended {
            Ended::Here(error) => {
                self.session.is_spent = true;
                error
            }
            Ended::Server(_) if self.is_exhausted() => {
                self.session.is_spent = true;
                too_large(&self.limits)
            }
            Ended::Server(error) => self.server_error(&error, sql, true),
        }
    }

    /// An error of the server; `is_running` as [`error::statement`] has it.
    pub(super) fn server_error(&self, error: &Error, sql: &str, is_running: bool) -> SqlError {
        error::statement(error, sql, is_running, Duration::from_millis(self.limits.statement_ms))
    }

    /// Runs statements without results, one behind the other, in one turn of the network.
    ///
    /// # Errors
    /// That of the first that fails.
    pub(super) async fn each(&self, statements: &[&str]) -> Result<(), Error> {
        let client = self.client();
        try_join_all(statements.iter().map(|statement| client.execute_typed(statement, &[])))
            .await?;
        Ok(())
    }

    async fn begin(&mut self) -> Result<(), Error> {
        // A query takes the snapshot.
        self.each(&[BEGIN, "SELECT 1"]).await?;
        self.has_snapshot = true;
        Ok(())
    }

    async fn end(&mut self) -> Result<(), Error> {
        self.has_snapshot = false;
        self.each(&["ROLLBACK"]).await
    }
}

/// The connector of a bench, with the session that it has.
pub(super) struct Connection {
    connector: Arc<Connector>,
    limits: BenchLimits,
    pinned: Option<Pinned>,
    /// The number of snapshots that were taken.
    pub(super) snapshots: u64,
}

impl Connection {
    pub(super) fn new(connector: Arc<Connector>, limits: BenchLimits) -> Self {
        Self { connector, limits, pinned: None, snapshots: 0 }
    }

    /// The session, or a new one where it is gone.
    ///
    /// # Errors
    /// When there is no connection.
    pub(super) async fn take_session(&mut self) -> Result<Pinned, DatabaseError> {
        match self.pinned.take() {
            Some(pinned) if !pinned.client().is_closed() => Ok(pinned),
            _ => self.connect().await,
        }
    }

    /// Puts a session that no statement uses in the place of the present one.
    pub(super) fn put(&mut self, pinned: Pinned) {
        self.pinned = Some(pinned);
    }

    async fn connect(&self) -> Result<Pinned, DatabaseError> {
        let limits = self.limits;
        let path = self.connector.target.display_address();
        let link = self.connector.connect().await?;
        let lock = limits.lock_ms.max(1).to_string();
        // Literals and results mean the same in every session; intervals show all their parts.
        let settings = [
            ("timezone", "UTC"),
            ("datestyle", "ISO, YMD"),
            ("intervalstyle", "iso_8601"),
            ("extra_float_digits", "3"),
            ("lock_timeout", lock.as_str()),
        ];
        let deadline = Duration::from_millis(limits.statement_ms);
        let prepared = async {
            let session = Session::harden(link, deadline, &settings).await?;
            let objects =
                session.link.client.prepare_typed(OBJECTS, &[const { Type::OID_ARRAY }; 5]).await?;
            Ok(Pinned { session, limits, objects, has_snapshot: false })
        };
        match timeout(self.connector.target.timeout, prepared).await {
            Ok(Ok(pinned)) => Ok(pinned),
            Ok(Err(error)) => {
                Err(DatabaseError::Unavailable { path, reason: error::plain(&error) })
            }
            Err(_) => Err(DatabaseError::Unreachable {
                path,
                reason: "the server does not answer".to_owned(),
            }),
        }
    }

    /// Works with a statement in the present snapshot, or in a fresh one where there is none, for
    /// at most the time of a statement. After an error the next work has a fresh snapshot.
    ///
    /// # Errors
    /// That of the work, or [`overrun_error`] where a statement still runs after it was cancelled.
    pub(super) async fn work<T>(
        &mut self,
        sql: &str,
        work: impl for<'p> FnOnce(&'p mut Pinned, &'p str) -> BoxFuture<'p, Result<T, SqlError>>,
    ) -> Result<T, SqlError> {
        let limit = Duration::from_millis(self.limits.statement_ms);
        let mut pinned = self.take_session().await.map_err(unavailable)?;
        let cancel = CancelOnDrop::new(&self.connector, &pinned.session.link);
        pinned.allow(OWN);
        if !pinned.has_snapshot {
            let started = timeout(limit + LATER, pinned.begin()).await;
            started
                .map_err(|_| deadline_error(limit))?
                .map_err(|error| pinned.server_error(&error, "", true))?;
            self.snapshots += 1;
        }
        let worked = timeout(limit + LATER, work(&mut pinned, sql)).await;
        let has_stopped = worked.is_ok() && !pinned.session.is_spent;
        if !has_stopped {
            cancel.cancel().await;
        }
        // From here on nothing is cancelled when this future is dropped.
        cancel.disarm();
        let is_fine = matches!(worked, Ok(Ok(_)));
        let settled = timeout(CANCELLED, async {
            let ended = if is_fine { Ok(()) } else { pinned.end().await };
            has_stopped && ended.is_ok() && pinned.session.is_clean().await
        });
        let settled = settled.await;
        if settled == Ok(true) {
            self.put(pinned);
        }
        match worked {
            Ok(result) => result,
            Err(_) if settled.is_err() => Err(overrun_error()),
            Err(_) => Err(deadline_error(limit)),
        }
    }

    /// Ends the present snapshot, if there is one, and takes a fresh one.
    ///
    /// # Errors
    /// When the server is gone.
    pub(super) async fn fresh(&mut self) -> Result<(), SqlError> {
        let mut pinned = self.take_session().await.map_err(unavailable)?;
        if !pinned.has_snapshot || matches!(timeout(CANCELLED, pinned.end()).await, Ok(Ok(()))) {
            self.put(pinned);
        }
        self.work("", |_, _| Box::pin(async { Ok(()) })).await
    }
}

pub(super) fn unavailable(error: DatabaseError) -> SqlError {
    syrch_arrow_engine::unavailable(error.to_string())
}
