//! One statement on one connection: compiled under the authorizer, run under the progress handler, and interrupted when its future
//! is gone.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, InterruptHandle, Statement};
use syrch_core::{SqlError, SqlErrorKind};

use crate::error::{self, Context};
use crate::guard::{Grant, Refusal, Sentry};
use crate::watch::Pulse;

/// Virtual machine steps between two looks at the clock.
const STEPS: i32 = 1_000;

const RUNNING: u8 = 0;
const CANCELLED: u8 = 1;
const DEADLINE: u8 = 2;
const MEMORY: u8 = 3;

/// Ends a statement from outside. Cancelling one that has ended does nothing, not even to the connection's next statement.
#[derive(Default)]
pub(crate) struct Cancel {
    why: AtomicU8,
    handle: Mutex<Option<InterruptHandle>>,
}

impl Cancel {
    fn stop(&self, why: u8) {
        let _ = self.why.compare_exchange(RUNNING, why, Ordering::Relaxed, Ordering::Relaxed);
    }

    pub(crate) fn cancel(&self) {
        self.stop(CANCELLED);
        if let Some(handle) = &*self.handle.lock().unwrap_or_else(PoisonError::into_inner) {
            handle.interrupt();
        }
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.why.load(Ordering::Relaxed) == CANCELLED
    }

    fn arm(&self, handle: Option<InterruptHandle>) {
        *self.handle.lock().unwrap_or_else(PoisonError::into_inner) = handle;
    }
}

/// What ends a statement.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ends {
    pub(crate) deadline: Duration,
    pub(crate) memory: usize,
}

/// A pooled connection.
pub(crate) struct Session {
    pub(crate) connection: Connection,
    pub(crate) sentry: Sentry,
    /// The state of the database that it was set up for.
    pub(crate) pulse: Pulse,
}

impl Session {
    /// Runs `work` so that it ends by itself.
    pub(crate) fn within<T>(
        &mut self,
        ends: Ends,
        cancel: &Arc<Cancel>,
        work: impl FnOnce(&Self) -> Result<T, SqlError>,
    ) -> Result<T, SqlError> {
        let until = Instant::now() + ends.deadline;
        let most = memory_used().saturating_add(ends.memory);
        let watched = Arc::clone(cancel);
        let handler = move || {
            if Instant::now() >= until {
                watched.stop(DEADLINE);
            } else if memory_used() > most {
                watched.stop(MEMORY);
            }
            watched.why.load(Ordering::Relaxed) != RUNNING
        };
        let broken = |error: rusqlite::Error| error::running(&error);
        self.connection.progress_handler(STEPS, Some(handler)).map_err(broken)?;
        cancel.arm(Some(self.connection.get_interrupt_handle()));
        let result = if cancel.is_cancelled() { Err(interrupted(cancel, ends)) } else { work(self) };
        cancel.arm(None);
        self.sentry.own();
        self.connection.progress_handler(0, None::<fn() -> bool>).map_err(broken)?;
        result
            .map_err(|error| if error.rule.as_deref() == Some(INTERRUPTED) { interrupted(cancel, ends) } else { error })
    }

    /// Compiles a guest's statement; `sql` is the composed text, perhaps with a prefix of ours.
    pub(crate) fn compile<'s>(
        &'s self,
        sql: &str,
        grant: &Arc<Grant>,
        context: &Context<'_>,
    ) -> Result<Statement<'s>, SqlError> {
        self.sentry.compile(grant);
        let statement = self.connection.prepare(sql).map_err(|error| match self.sentry.refusal() {
            Some(refusal) => located(refusal, &context.query.text),
            None if is_interrupt(&error) => interrupt_marker(),
            None => error::compiling(&error, context),
        })?;
        if !statement.readonly() || statement.column_count() == 0 {
            return Err(SqlError::new(SqlErrorKind::WriteRefused, "the statement is not a query").rule("read-only"));
        }
        if statement.parameter_count() > 0 {
            let error = SqlError::new(SqlErrorKind::Denied, "the statement has parameters, and none can be bound");
            return Err(error.rule("parameters"));
        }
        self.sentry.step();
        Ok(statement)
    }

    /// An error of a step: the authorizer's, the clock's or the engine's.
    pub(crate) fn step_error(&self, error: &rusqlite::Error) -> SqlError {
        match self.sentry.refusal() {
            Some(refusal) => refusal.error,
            None if is_interrupt(error) => interrupt_marker(),
            None => error::running(error),
        }
    }
}

const INTERRUPTED: &str = "interrupted";

fn is_interrupt(error: &rusqlite::Error) -> bool {
    error::code(error) == Some(ErrorCode::OperationInterrupted)
}

/// Stands for an interrupt until it is known who caused it.
fn interrupt_marker() -> SqlError {
    SqlError::new(SqlErrorKind::Cancelled, "interrupted").rule(INTERRUPTED)
}

fn interrupted(cancel: &Cancel, ends: Ends) -> SqlError {
    match cancel.why.load(Ordering::Relaxed) {
        DEADLINE => deadline(ends.deadline),
        MEMORY => {
            let message = format!("the statement took more than {} MiB of memory", ends.memory >> 20);
            SqlError::new(SqlErrorKind::TooLarge, message).rule("memory")
        }
        _ => SqlError::new(SqlErrorKind::Cancelled, "cancelled"),
    }
}

/// The error of a statement that took too long.
pub(crate) fn deadline(limit: Duration) -> SqlError {
    let message = format!("the statement ran longer than {} s", limit.as_secs_f64());
    SqlError::new(SqlErrorKind::Timeout, message).rule("deadline")
}

/// A refusal with the place of the name that it is about.
fn located(refusal: Refusal, text: &str) -> SqlError {
    let tokens = syrch_guard::lex(text, &syrch_core::Dialect::Sqlite, usize::MAX).unwrap_or_default();
    let is_it =
        |token: &&syrch_guard::Token| token.name(text).is_some_and(|name| name.eq_ignore_ascii_case(&refusal.token));
    let position = tokens.iter().find(is_it).and_then(|token| u32::try_from(token.start).ok());
    SqlError { position, ..refusal.error }
}

/// Bytes that the engine holds, in the whole process: a statement may be ended for what another one takes, never the other way round.
fn memory_used() -> usize {
    // SAFETY: the function takes nothing and reads a counter under the engine's own mutex.
    #[allow(unsafe_code)]
    let bytes = unsafe { rusqlite::ffi::sqlite3_memory_used() };
    usize::try_from(bytes).unwrap_or(0)
}
