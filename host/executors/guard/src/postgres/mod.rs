//! The guard for PostgreSQL: an allow-list walk over the parsed statement, which then runs as the walk wrote it again. Every relation in it
//! is qualified, every name quoted and every string spelled so that the server can read it in one way only.
//!
//! The walk destructures every node without `..`, so that a parser that learns a new field fails to compile here. Read-only transactions are no
//! boundary in PostgreSQL: see `query.rs` and `expr.rs` for what passes.

mod expr;
mod functions;
mod literal;
mod query;
mod rewrite;
mod scope;
mod types;
mod views;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use sqlparser::ast::{Query, Statement};
use sqlparser::tokenizer::Span;
use syrch_core::{Dialect, SqlError, SqlErrorKind};

use crate::facts::{self, Places, Unresolved};
use crate::{Bounds, prelex, stack};

pub use functions::LISTED;
pub use scope::Granted;
pub use views::unlisted_calls;

/// Bytes by which constant sizes (the times of `repeat`, the width of `lpad`) may multiply within one statement.
const AMPLIFICATION: u64 = 1_000_000;

/// A statement that may run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Admitted {
    /// What runs: the statement written again, with every relation qualified by its schema.
    pub sql: String,
    /// The granted relations that it reads, as `schema.name`.
    pub tables: Vec<String>,
    /// The functions that it calls, in lower case.
    pub functions: Vec<String>,
}

/// Checks one self-contained statement against the allow-lists and the granted relations.
///
/// # Errors
/// Each names its rule: those of [`prelex`], `syntax`, `read-only`, `granted-tables`, `ambiguous-table`, `function`, `operator`, `type`,
/// `size-argument`, `locks`, `name`, `literal`, `clause`, `expression-depth`. The message names the token, and the position is that of the given
/// text.
pub fn admit(text: &str, granted: &Granted, bounds: &Bounds) -> Result<Admitted, SqlError> {
    let source = rewrite::rewrite(text, bounds.comment_depth);
    let result = prelex(&source.text, &Dialect::Postgres, bounds)
        .and_then(|_| on_a_stack(&source.text, || walk(&source.text, granted)));
    result.map_err(|mut error| {
        error.position = error.position.map(|position| source.original(position));
        error
    })
}

/// The same text as [`admit`] reads it: `TABLE t` and `BETWEEN SYMMETRIC`, which the parser lacks, in words that it knows. For
/// [`facts`](crate::facts).
#[must_use]
pub fn readable(text: &str) -> String {
    rewrite::rewrite(text, Bounds::default().comment_depth).text
}

/// Works on a text where the stack is large enough for its depth.
fn on_a_stack<T>(text: &str, work: impl FnOnce() -> Result<T, SqlError>) -> Result<T, SqlError> {
    if stack::is_small(text) {
        return work();
    }
    facts::check_chains(text, &Dialect::Postgres).map_err(|error| refused(error).rule("expression-depth"))?;
    let failed = || Err(SqlError::new(SqlErrorKind::Other, "the statement could not be analysed"));
    stack::on_a_large_stack(work).unwrap_or_else(failed)
}

fn refused(error: Unresolved) -> SqlError {
    match error {
        Unresolved::Unparsed(error) | Unresolved::Refused(error) => error,
    }
}

fn parse(text: &str) -> Result<Statement, SqlError> {
    facts::parse(text, &Dialect::Postgres, &Places::new(text)).map_err(|error| refused(error).rule("syntax"))
}

fn walk(text: &str, granted: &Granted) -> Result<Admitted, SqlError> {
    let mut statement = parse(text)?;
    let places = Places::new(text);
    let mut walk = Walk::new(granted, &places);
    match &mut statement {
        Statement::Query(query) => walk.query(query)?,
        other => {
            let verb = other.to_string();
            let verb = verb.split_whitespace().next().unwrap_or_default();
            return Err(facts::write_refused(verb));
        }
    }
    let sql = statement.to_string();
    // What runs must be what was checked: read again, it is written in the same way.
    if parse(&sql).ok().map(|again| again.to_string()).as_ref() != Some(&sql) {
        let message = "the statement cannot be written again without a change; write it in a simpler way";
        return Err(SqlError::new(SqlErrorKind::Syntax, message).rule("syntax"));
    }
    Ok(Admitted { sql, tables: walk.tables.into_iter().collect(), functions: walk.functions.into_iter().collect() })
}

/// One walk over a statement.
struct Walk<'w> {
    granted: &'w Granted,
    places: &'w Places<'w>,
    /// Names of the common table expressions in scope, the innermost last.
    ctes: Vec<String>,
    tables: BTreeSet<String>,
    functions: BTreeSet<String>,
    /// The product of the constant sizes so far.
    amplification: u64,
}

impl<'w> Walk<'w> {
    fn new(granted: &'w Granted, places: &'w Places<'w>) -> Self {
        let (tables, functions) = (BTreeSet::new(), BTreeSet::new());
        Self { granted, places, ctes: Vec::new(), tables, functions, amplification: 1 }
    }

    /// A refusal that names its rule, at the place of a token.
    fn refuse(&self, kind: SqlErrorKind, rule: &str, message: impl Into<String>, span: Span) -> SqlError {
        let mut error = SqlError::new(kind, message).rule(rule);
        error.position = self.places.byte(span.start);
        error
    }

    /// Refuses a clause that is not listed, unless it is absent.
    fn absent(&self, is_absent: bool, clause: &str) -> Result<(), SqlError> {
        if is_absent {
            return Ok(());
        }
        let message = format!("`{clause}` is refused: it is not among the clauses that statements may have");
        Err(self.refuse(SqlErrorKind::Denied, "clause", message, Span::empty()))
    }

    /// A query of its own scope.
    fn subquery(&mut self, query: &mut Query) -> Result<(), SqlError> {
        let depth = self.ctes.len();
        let result = self.query(query);
        self.ctes.truncate(depth);
        result
    }
}
