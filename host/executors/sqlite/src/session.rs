//! One statement on one connection: compiled under the authorizer, in which a name in double quotes
//! is never a text, run under the progress handler, and interrupted when its future is gone.

use std::sync::Arc;

use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, Statement};
use syrch_core::{Dialect, SqlError, SqlErrorKind};
use syrch_guard::{Kind, Token};

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
        connect::read_names_as_texts(&self.connection, true).map_err(broken)?;
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

    /// Fails once the work is over: for loops whose single statements are too short to be
    /// interrupted.
    pub(crate) fn check_deadline(&self) -> Result<(), SqlError> {
        if self.authorizer.is_over() { Err(interrupt_marker()) } else { Ok(()) }
    }

    fn compile_within(
        &self,
        program: i32,
        length: i32,
        sql: &str,
        grant: &Arc<Grant>,
    ) -> rusqlite::Result<Statement<'_>> {
        self.connection.set_limit(Limit::SQLITE_LIMIT_VDBE_OP, program)?;
        self.connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, length)?;
        connect::read_names_as_texts(&self.connection, false)?;
        let compiled = self.prepare(sql, grant);
        if !compiled.as_ref().is_err_and(error::may_be_text_in_view) {
            return compiled;
        }
        let Some(names) = with_backticks(sql) else { return compiled };
        connect::read_names_as_texts(&self.connection, true)?;
        drop(self.prepare(&names, grant)?);
        self.prepare(sql, grant)
    }

    fn prepare(&self, sql: &str, grant: &Arc<Grant>) -> rusqlite::Result<Statement<'_>> {
        self.authorizer.compile(grant);
        self.connection.prepare(sql)
    }

    /// Compiles a guest's statement; `sql` is the composed text, perhaps with a prefix of ours.
    pub(crate) fn compile<'s>(
        &'s self,
        sql: &str,
        grant: &Arc<Grant>,
        context: &Context<'_>,
    ) -> Result<Statement<'s>, SqlError> {
        let mut compiled = self.compile_within(PROGRAM, LENGTH, sql, grant);
        if compiled
            .as_ref()
            .is_err_and(|error| error::is_program(error) && !self.authorizer.is_over())
        {
            compiled =
                self.compile_within(LONG_PROGRAM, LENGTH / (LONG_PROGRAM / PROGRAM), sql, grant);
        }
        let statement = compiled.map_err(|error| match self.authorizer.refusal() {
            Some(refusal) => locate_refusal(refusal, &context.query.text),
            // The authorizer denies everything once the work is over.
            None if is_interrupt(&error) || self.authorizer.is_over() => interrupt_marker(),
            None => error::compiling(&error, context),
        })?;
        if !statement.readonly() || statement.column_count() == 0 {
            return Err(SqlError::new(SqlErrorKind::WriteRefused, "the statement is not a query")
                .rule("read-only"));
        }
        if statement.parameter_count() > 0 {
            let error = SqlError::new(
                SqlErrorKind::Denied,
                "the statement has parameters, and none can be bound",
            );
            return Err(error.rule("parameters"));
        }
        if self.authorizer.search(sql).map_err(|error: SqlError| {
            let at = error.position.and_then(|at| usize::try_from(at).ok());
            SqlError { position: at.and_then(|at| context.spliced.original(at)), ..error }
        })? {
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

/// The statement with backticks for double quotes: names that the engine never takes for texts,
/// while views keep the meaning that they have.
fn with_backticks(sql: &str) -> Option<String> {
    let tokens = syrch_guard::lex(sql, &Dialect::Sqlite, usize::MAX).ok()?;
    let mut out = String::with_capacity(sql.len());
    let mut end = 0;
    for token in tokens
        .iter()
        .filter(|token: &&Token| token.kind == Kind::Quoted && token.text(sql).starts_with('"'))
    {
        out.push_str(&sql[end..token.start]);
        out.push_str(&format!("`{}`", token.name(sql)?.replace('`', "``")));
        end = token.end;
    }
    Some(out + &sql[end..])
}

/// Steps of a program over values of any allowed length.
const PROGRAM: i32 = 3_000;
/// Steps of any program. The values of a longer one are shorter in proportion, since thousands of
/// functions can stand in one row, and the engine checks no deadline between them.
const LONG_PROGRAM: i32 = 48_000;

const INTERRUPTED: &str = "interrupted";

fn is_interrupt(error: &rusqlite::Error) -> bool {
    error::code(error) == Some(ErrorCode::OperationInterrupted)
}

/// Stands for an interrupt until it is known who caused it.
fn interrupt_marker() -> SqlError {
    SqlError::new(SqlErrorKind::Cancelled, "interrupted").rule(INTERRUPTED)
}

/// A refusal with the place of the name that it is about.
fn locate_refusal(refusal: Refusal, text: &str) -> SqlError {
    let tokens = syrch_guard::lex(text, &Dialect::Sqlite, usize::MAX).unwrap_or_default();
    let position = tokens
        .iter()
        .find(|token: &&Token| {
            token.name(text).is_some_and(|name| name.eq_ignore_ascii_case(&refusal.token))
        })
        .and_then(|token| u32::try_from(token.start).ok());
    SqlError { position, ..refusal.error }
}
