//! One statement on one connection: compiled under the authorizer, run under the progress handler, and interrupted when its future
//! is gone.

use std::sync::Arc;

use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, Statement};
use syrch_core::{SqlError, SqlErrorKind};

use crate::connect::{self, LENGTH};
use crate::deadline::{self, Allowance, Cancel, Deadline};
use crate::error::{self, Context};
use crate::guard::{Authorizer, Grant, Refusal};
use crate::memory;
use crate::watch::SchemaVersion;

/// A pooled connection with the authorizer that its statements are compiled under.
pub(crate) struct Session {
    pub(crate) connection: Connection,
    pub(crate) authorizer: Authorizer,
    /// The state of the database that it was set up for.
    pub(crate) version: SchemaVersion,
}

impl Session {
    /// Runs `work` so that it ends by itself.
    pub(crate) fn within<T>(
        &mut self,
        allowance: Allowance,
        cancel: &Arc<Cancel>,
        work: impl FnOnce(&Self) -> Result<T, SqlError>,
    ) -> Result<T, SqlError> {
        let broken = |error: rusqlite::Error| error::running(&error);
        let ends_at = Deadline::start(allowance, cancel);
        deadline::install(&mut self.connection, &self.authorizer, &ends_at).map_err(broken)?;
        cancel.aim(Some(self.connection.get_interrupt_handle()));
        let result = if ends_at.is_over() { Err(interrupt_marker()) } else { work(self) };
        cancel.aim(None);
        self.authorizer.own();
        connect::limit_values(&self.connection).map_err(broken)?;
        deadline::remove(&mut self.connection, &self.authorizer).map_err(broken)?;
        result.map_err(|error| {
            if error.rule.as_deref() != Some(INTERRUPTED) {
                return error;
            }
            // A function that stopped by itself has recorded no reason.
            ends_at.is_over();
            ends_at.reason()
        })
    }

    /// Fails once the work is over: for loops whose single statements are too short to be interrupted.
    pub(crate) fn check_deadline(&self) -> Result<(), SqlError> {
        if self.authorizer.is_over() { Err(interrupt_marker()) } else { Ok(()) }
    }

    fn compile_within(&self, program: i32, length: i32, sql: &str) -> rusqlite::Result<Statement<'_>> {
        self.connection.set_limit(Limit::SQLITE_LIMIT_VDBE_OP, program)?;
        self.connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, length)?;
        self.connection.prepare(sql)
    }

    /// Compiles a guest's statement; `sql` is the composed text, perhaps with a prefix of ours.
    pub(crate) fn compile<'s>(
        &'s self,
        sql: &str,
        grant: &Arc<Grant>,
        context: &Context<'_>,
    ) -> Result<Statement<'s>, SqlError> {
        self.authorizer.compile(grant);
        let mut compiled = self.compile_within(PROGRAM, LENGTH, sql);
        if compiled.as_ref().is_err_and(|error| is_program(error) && !self.authorizer.is_over()) {
            self.authorizer.compile(grant);
            compiled = self.compile_within(LONG_PROGRAM, LENGTH / (LONG_PROGRAM / PROGRAM), sql);
        }
        let statement = compiled.map_err(|error| match self.authorizer.refusal() {
            Some(refusal) => located(refusal, &context.query.text),
            // The authorizer denies everything once the work is over.
            None if is_interrupt(&error) || self.authorizer.is_over() => interrupt_marker(),
            None => error::compiling(&error, context),
        })?;
        if !statement.readonly() || statement.column_count() == 0 {
            return Err(SqlError::new(SqlErrorKind::WriteRefused, "the statement is not a query").rule("read-only"));
        }
        if statement.parameter_count() > 0 {
            let error = SqlError::new(SqlErrorKind::Denied, "the statement has parameters, and none can be bound");
            return Err(error.rule("parameters"));
        }
        let located = |error: SqlError| {
            let at = error.position.and_then(|at| usize::try_from(at).ok());
            SqlError { position: at.and_then(|at| context.spliced.original(at)), ..error }
        };
        if self.authorizer.search(sql).map_err(located)? {
            memory::search();
        }
        self.authorizer.step();
        Ok(statement)
    }

    /// An error of a step: the authorizer's, the clock's or the engine's.
    pub(crate) fn step_error(&self, error: &rusqlite::Error) -> SqlError {
        match self.authorizer.refusal() {
            Some(refusal) => refusal.error,
            None if is_interrupt(error) || self.authorizer.is_over() => interrupt_marker(),
            None => error::running(error),
        }
    }
}

/// Steps of a program over values of any allowed length.
const PROGRAM: i32 = 3_000;
/// Steps of any program. The values of a longer one are shorter in proportion, since thousands of functions can stand in one row, and the
/// engine checks no deadline between them.
const LONG_PROGRAM: i32 = 48_000;

/// Whether a program is too long, which the engine calls a lack of memory.
pub(crate) fn is_program(error: &rusqlite::Error) -> bool {
    error::code(error) == Some(ErrorCode::OutOfMemory) && !memory::was_refused()
}

const INTERRUPTED: &str = "interrupted";

fn is_interrupt(error: &rusqlite::Error) -> bool {
    error::code(error) == Some(ErrorCode::OperationInterrupted)
}

/// Stands for an interrupt until it is known who caused it.
fn interrupt_marker() -> SqlError {
    SqlError::new(SqlErrorKind::Cancelled, "interrupted").rule(INTERRUPTED)
}

/// A refusal with the place of the name that it is about.
fn located(refusal: Refusal, text: &str) -> SqlError {
    let tokens = syrch_guard::lex(text, &syrch_core::Dialect::Sqlite, usize::MAX).unwrap_or_default();
    let is_it =
        |token: &&syrch_guard::Token| token.name(text).is_some_and(|name| name.eq_ignore_ascii_case(&refusal.token));
    let position = tokens.iter().find(is_it).and_then(|token| u32::try_from(token.start).ok());
    SqlError { position, ..refusal.error }
}
