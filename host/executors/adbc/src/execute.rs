//! Statements on threads of their own: drivers block. A thread ends a statement when its deadline
//! has passed or nobody waits for it any more.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use adbc_core::error::{Error, Status};
use adbc_core::{CancelHandle, Connection as _, Optionable as _, Statement as _};
use adbc_driver_manager::{ManagedConnection, ManagedStatement};
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use syrch_core::{SqlError, SqlErrorKind};
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};
use tokio::time::{Instant, timeout, timeout_at};

use syrch_arrow_engine::{deadline_error, overrun_error, unavailable};

use crate::connect::Connector;
use crate::error::{self, Stage};
use crate::{session, spelled, value};

/// The time limit within which a cancelled statement has to end.
const CANCELLING: Duration = Duration::from_millis(750);
/// The stack size of a statement's thread, in bytes: engines descend as deep as a statement is
/// nested.
const STACK: usize = 8 << 20;

/// A part of a result, as a statement's thread hands it over.
pub(crate) enum Part {
    Schema(SchemaRef),
    Batch(RecordBatch),
}

/// The state that the thread of a statement shares with whoever waits for it.
pub(crate) struct Control {
    state: Mutex<State>,
    has_ended: Condvar,
    is_connected: AtomicBool,
}

#[derive(Default)]
struct State {
    handle: Option<Arc<dyn CancelHandle>>,
    is_cancelled: bool,
    is_ended: bool,
}

impl Control {
    fn new() -> Arc<Self> {
        let state = Mutex::default();
        let has_ended = Condvar::new();
        Arc::new(Self { state, has_ended, is_connected: AtomicBool::new(false) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_cancelled(&self) -> bool {
        self.state().is_cancelled
    }

    /// Asks the driver to end the statement until it has ended, from a thread of its own: the call
    /// may block, and a driver may overlook one that comes just before the statement starts.
    fn cancel(self: &Arc<Self>) {
        let mut state = self.state();
        if state.is_ended || std::mem::replace(&mut state.is_cancelled, true) {
            return;
        }
        drop(state);
        let control = Arc::clone(self);
        if let Err(error) =
            thread::Builder::new().name("adbc-cancel".to_owned()).spawn(move || control.insist())
        {
            tracing::warn!(%error, "a statement cannot be cancelled");
        }
    }

    fn insist(&self) {
        let mut pause = Duration::from_millis(10);
        let mut state = self.state();
        while !state.is_ended {
            if let Some(handle) = state.handle.clone() {
                drop(state);
                if handle.try_cancel().is_err_and(|error| error.status == Status::NotImplemented) {
                    return;
                }
                state = self.state();
            }
            if !state.is_ended {
                let waited = self.has_ended.wait_timeout(state, pause);
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
                pause = (pause * 2).min(Duration::from_secs(5));
            }
        }
    }

    /// Ends the work. Returns whether it was cancelled before; it cannot be afterwards.
    fn end(&self) -> bool {
        let mut state = self.state();
        state.is_ended = true;
        state.handle = None;
        self.has_ended.notify_all();
        state.is_cancelled
    }
}

/// Ends the work however its thread ends.
struct Ending<'a>(&'a Control);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// A statement under way on a thread. Dropping it cancels the statement.
pub(crate) struct Job<T> {
    control: Arc<Control>,
    done: oneshot::Receiver<Result<T, SqlError>>,
    limit: Duration,
}

impl<T> Drop for Job<T> {
    fn drop(&mut self) {
        self.control.cancel();
    }
}

impl<T: Send + 'static> Job<T> {
    /// Starts work with a connection that is set up, or with one as the driver makes it.
    ///
    /// # Errors
    /// When the machine gives no thread.
    pub(crate) fn start(
        connector: &Arc<Connector>,
        permit: OwnedSemaphorePermit,
        is_plain: bool,
        work: impl FnOnce(&mut Work<'_>) -> Result<T, SqlError> + Send + 'static,
    ) -> Result<Self, SqlError> {
        let control = Control::new();
        let (sender, done) = oneshot::channel();
        let limit = connector.config.limits.sql_deadline;
        let connector = Arc::clone(connector);
        let shared = Arc::clone(&control);
        let spawned = thread::Builder::new()
            .name("adbc-statement".to_owned())
            .stack_size(STACK)
            .spawn(move || {
                let _permit = permit;
                let ending = Ending(&shared);
                let connection = if is_plain { connector.connect() } else { connector.session() };
                shared.is_connected.store(true, Ordering::Relaxed);
                let result = match connection {
                    Ok(connection) => {
                        let mut work_of = Work {
                            connector: &connector,
                            control: &shared,
                            connection,
                            is_read: false,
                        };
                        let result = work(&mut work_of);
                        let Work { connection, is_read, .. } = work_of;
                        let is_cancelled = shared.end();
                        let is_reusable = is_read && !is_cancelled && !is_plain;
                        let _ = sender.send(result);
                        if is_reusable {
                            connector.reset_or_close(connection);
                        }
                        return;
                    }
                    Err(error) => Err(unavailable(error.to_string())),
                };
                drop(ending);
                let _ = sender.send(result);
            });
        spawned.map_err(|error| unavailable(format!("no thread for the statement: {error}")))?;
        Ok(Self { control, done, limit })
    }

    /// The result, until the deadline.
    ///
    /// # Errors
    /// Those of the work; the deadline's.
    pub(crate) async fn result(mut self, deadline: Instant) -> Result<T, SqlError> {
        match timeout_at(deadline, &mut self.done).await {
            Ok(Ok(Err(error))) if error.kind == SqlErrorKind::Timeout => {
                Err(deadline_error(self.limit))
            }
            Ok(Ok(result)) => result,
            Ok(Err(_)) => Err(unavailable("the driver ended the statement's thread")),
            Err(_) => Err(self.end_late().await),
        }
    }

    /// Cancels the statement at its deadline. Returns the error that says whether it has ended.
    pub(crate) async fn end_late(mut self) -> SqlError {
        match self.stop().await {
            true => deadline_error(self.limit),
            false if !self.control.is_connected.load(Ordering::Relaxed) => {
                unavailable("the database does not answer in time")
            }
            false => {
                tracing::warn!("a statement has not ended although its time is over");
                overrun_error()
            }
        }
    }

    /// Cancels the statement. Returns whether it has ended within [`CANCELLING`].
    pub(crate) async fn stop(&mut self) -> bool {
        self.control.cancel();
        timeout(CANCELLING, &mut self.done).await.is_ok()
    }
}

fn describe_result(statement: &mut ManagedStatement) -> Result<(), Error> {
    statement.execute_schema().map(drop)
}

/// The resources that a statement's thread works with.
pub(crate) struct Work<'a> {
    pub(crate) connector: &'a Connector,
    control: &'a Control,
    pub(crate) connection: ManagedConnection,
    /// True once all that the statement returns was read, so that the connection may be used again.
    is_read: bool,
}

impl Work<'_> {
    fn statement_error(&self, stage: Stage) -> impl Fn(Error) -> SqlError {
        move |error| error::statement(&error, stage, &self.connector.config)
    }

    fn broken_stream(&self) -> impl Fn(ArrowError) -> SqlError {
        move |error| error::stream(&error, &self.connector.config)
    }

    /// A statement that the other side can cancel from now on.
    fn statement(&mut self, sql: &str) -> Result<ManagedStatement, SqlError> {
        let mut statement =
            self.connection.new_statement().map_err(self.statement_error(Stage::Compiling))?;
        let mut state = self.control.state();
        if state.is_cancelled {
            return Err(SqlError::new(SqlErrorKind::Cancelled, "the statement was cancelled"));
        }
        state.handle = Some(Arc::from(statement.get_cancel_handle()));
        drop(state);
        for (name, value) in session::statement_options(&self.connector.config.dialect, sql) {
            // Older drivers lack some.
            let _ = statement.set_option((*name).into(), (*value).into());
        }
        statement.set_sql_query(sql).map_err(self.statement_error(Stage::Compiling))?;
        Ok(statement)
    }

    /// Checks that a statement compiles: prepares it and asks for its result's schema, each if the
    /// driver can do it. Nothing is run.
    pub(crate) fn prepare(&mut self, sql: &str) -> Result<(), SqlError> {
        let mut statement = self.statement(sql)?;
        // A driver that prepares nothing may know the result's schema, and the other way round.
        for check in [ManagedStatement::prepare, describe_result] {
            match check(&mut statement) {
                Err(error) if error.status == Status::NotImplemented => {}
                checked => checked.map_err(self.statement_error(Stage::Compiling))?,
            }
        }
        self.is_read = true;
        Ok(())
    }

    /// The schema of a statement's result, without running it.
    pub(crate) fn describe(&mut self, sql: &str) -> Result<Schema, SqlError> {
        let mut statement = self.statement(sql)?;
        statement.execute_schema().map_err(self.statement_error(Stage::Compiling))
    }

    /// Reads all rows of a statement of our own, as texts within a number of bytes.
    pub(crate) fn rows(
        &mut self,
        sql: &str,
        left: &mut usize,
    ) -> Result<Vec<value::Row>, SqlError> {
        self.is_read = false;
        let mut statement = self.statement(sql)?;
        let reader = statement.execute().map_err(self.statement_error(Stage::Compiling))?;
        let rows = value::rows(reader, left).map_err(self.broken_stream())?;
        self.is_read = true;
        Ok(rows)
    }

    /// Runs a statement and hands over its schema and its batches, as long as somebody takes them.
    pub(crate) fn stream(&mut self, sql: &str, parts: &mpsc::Sender<Part>) -> Result<(), SqlError> {
        let columns = spelled::columns(self, sql)?;
        self.is_read = false;
        let spelled = columns.as_ref().and_then(|columns| spelled::statement(sql, columns));
        let mut statement = self.statement(spelled.as_deref().unwrap_or(sql))?;
        let reader = statement.execute().map_err(self.statement_error(Stage::Running))?;
        let schema = match &columns {
            Some(columns) => spelled::schema(&reader.schema(), columns),
            None => reader.schema(),
        };
        if parts.blocking_send(Part::Schema(Arc::clone(&schema))).is_err() {
            return Ok(());
        }
        for batch in reader {
            let batch = batch.map_err(self.broken_stream())?;
            if self.control.is_cancelled() {
                return Ok(());
            }
            let batch = RecordBatch::try_new(Arc::clone(&schema), batch.columns().to_vec())
                .map_err(self.broken_stream())?;
            if parts.blocking_send(Part::Batch(batch)).is_err() {
                return Ok(());
            }
        }
        self.is_read = true;
        Ok(())
    }
}
