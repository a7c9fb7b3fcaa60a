//! The guard of an engine that has no authorizer of its own: an allow-list walk over the parsed
//! statement, which then runs as the walk wrote it again. Every relation in it is qualified, every
//! name quoted and every string spelled so that the engine can read it in one way only.
//!
//! The walk destructures every node without `..`, so that a parser that learns a new field fails to
//! compile here. Read-only transactions are no boundary: see `query.rs` and `expr.rs` for what
//! passes, and `rules.rs` for what differs between the dialects.

mod call;
mod dialects;
mod duckdb;
mod expr;
mod faithful;
mod literal;
mod operator;
mod postgres;
mod query;
mod rewrite;
pub(crate) mod rules;
mod scope;
mod select;
mod size;
mod spark;
mod standard;
mod types;
mod views;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use sqlparser::ast::{Ident, Query, Statement};
use sqlparser::tokenizer::Span;
use syrch_core::{Dialect, SqlError, SqlErrorKind};

use crate::carry;
use crate::facts::{self, Places, Unresolved};
use crate::read::Reading;
use crate::{Bounds, Token, lex, prelex, stack};
use rules::Form;
pub(crate) use rules::Rules;

pub(crate) use postgres::LISTED;
pub(crate) use rewrite::rewrite;
pub use scope::Granted;
pub use views::{Definition, definition};

/// Bytes by which constant sizes (the times of `repeat`, the width of `lpad`) may multiply within
/// one statement.
const AMPLIFICATION: u64 = 1_000_000;

/// A statement that may run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Admitted {
    /// The statement that runs: it is written again, with every relation qualified by its schema.
    pub sql: String,
    /// The granted relations that it reads, as `schema.name`.
    pub tables: Vec<String>,
    /// The functions that it calls, in lower case.
    pub functions: Vec<String>,
}

/// Checks one self-contained statement against the allow-lists of the catalog's dialect and the
/// granted relations.
///
/// # Errors
/// Each names its rule: those of `prelex`, `syntax`, `read-only`, `granted-tables`,
/// `ambiguous-table`, `function`, `operator`, `type`, `size-argument`, `pattern`, `locks`, `name`,
/// `literal`, `clause`, `expression-depth`. The message names the token, and the position is that
/// of the given text.
pub fn admit(text: &str, granted: &Granted, bounds: &Bounds) -> Result<Admitted, SqlError> {
    let dialect = granted.dialect();
    let source = rewrite(text, dialect, bounds.comment_depth);
    let result = prelex(&source.text, dialect, bounds).and_then(|tokens| {
        on_a_stack(&source.text, &tokens, || walk(&source.text, &tokens, granted))
    });
    result.map_err(|mut error| {
        error.position = error.position.map(|position| source.original(position));
        error
    })
}

/// Returns true if statements of a dialect may call a function, by its name in lower case.
#[must_use]
pub fn is_listed(function: &str, dialect: &Dialect) -> bool {
    Rules::for_dialect(dialect).is_listed(function)
}

/// Works on a text where the stack is large enough for its depth.
pub(crate) fn on_a_stack<T>(
    text: &str,
    tokens: &[Token],
    work: impl FnOnce() -> Result<T, SqlError>,
) -> Result<T, SqlError> {
    if stack::is_small(text) {
        return work();
    }
    let chains = facts::check_chains(text, tokens)
        .map_err(|error| into_error(error).rule("expression-depth"))?;
    stack::on_a_large_stack(chains, work).unwrap_or_else(|| {
        Err(SqlError::new(SqlErrorKind::Other, "the statement could not be analysed"))
    })
}

fn into_error(error: Unresolved) -> SqlError {
    match error {
        Unresolved::Unparsed(error) | Unresolved::Refused(error) => error,
    }
}

fn walk(text: &str, tokens: &[Token], granted: &Granted) -> Result<Admitted, SqlError> {
    let rules = Rules::for_dialect(granted.dialect());
    let once = |text: &str, tokens: &[Token]| {
        rewrite_statement(text, tokens, granted, rules, |_, _| Ok(()))
    };
    let (admitted, qualified, ()) = once(text, tokens)?;
    // What runs must be what was checked: either it has the same tokens, or it is admitted itself
    // and written in the same way.
    let is_same = lex(&admitted.sql, granted.dialect(), 0).is_ok_and(|again| {
        let texts = (faithful::Side::new(text, tokens), faithful::Side::new(&admitted.sql, &again));
        faithful::is_same(&texts.0, &texts.1, &qualified, rules.names)
            || once(&admitted.sql, &again).is_ok_and(|(second, ..)| second.sql == admitted.sql)
    });
    if is_same {
        return Ok(admitted);
    }
    let message =
        "the statement cannot be written again without a change; write it in a simpler way";
    Err(SqlError::new(SqlErrorKind::Syntax, message).rule("syntax"))
}

/// Walks over a statement by these rules, and returns it written again, with the relations in it
/// that were qualified. `first` works on the query before it.
pub(crate) fn rewrite_statement<T>(
    text: &str,
    tokens: &[Token],
    granted: &Granted,
    rules: &'static Rules,
    first: impl FnOnce(&mut Query, &Places<'_>) -> Result<T, SqlError>,
) -> Result<(Admitted, Vec<faithful::Qualified>, T), SqlError> {
    let places = Places::new(text);
    let tokens =
        facts::parse_tokens(text, tokens, &Reading::for_dialect(granted.dialect()), &places);
    let mut statement = tokens.map_err(|error| into_error(error).rule("syntax"))?;
    let mut walk = Walk::new(granted, rules, &places);
    let found = match &mut statement {
        Statement::Query(query) => {
            let found = first(query, &places)?;
            walk.admit_query(query)?;
            found
        }
        other => {
            let verb = other.to_string();
            let verb = verb.split_whitespace().next().unwrap_or_default();
            return Err(facts::write_refused(verb));
        }
    };
    let Walk { tables, functions, qualified, .. } = walk;
    let tables = tables.into_iter().collect();
    let functions = functions.into_iter().collect();
    let sql = carry::restore(statement.to_string(), granted.dialect());
    Ok((Admitted { sql, tables, functions }, qualified, found))
}

/// Returns the rules for deterministic statements of SQLite and PostgreSQL.
pub(crate) fn deterministic_rules(granted: &Granted) -> &'static Rules {
    match granted.dialect() {
        Dialect::Sqlite => &standard::DETERMINISTIC,
        other => Rules::for_dialect(other),
    }
}

/// A walk over a statement.
struct Walk<'w> {
    rules: &'static Rules,
    granted: &'w Granted,
    places: &'w Places<'w>,
    /// Names of the common table expressions in scope, the innermost last.
    ctes: Vec<Ident>,
    /// The name of a recursive common table expression, until the walk enters the query that
    /// defines it.
    recursive: Option<Ident>,
    tables: BTreeSet<String>,
    functions: BTreeSet<String>,
    /// Parameters of the lambdas around, the innermost last.
    parameters: Vec<String>,
    /// Relations whose names were written again, in the order of the walk.
    qualified: Vec<faithful::Qualified>,
    /// The product of the constant sizes so far.
    amplification: u64,
    /// The number of `BETWEEN SYMMETRIC` in which the walk stands.
    symmetric: usize,
}

impl<'w> Walk<'w> {
    fn new(granted: &'w Granted, rules: &'static Rules, places: &'w Places<'w>) -> Self {
        let tables = BTreeSet::new();
        let functions = BTreeSet::new();
        Self {
            rules,
            granted,
            places,
            ctes: Vec::new(),
            recursive: None,
            tables,
            functions,
            parameters: Vec::new(),
            qualified: Vec::new(),
            amplification: 1,
            symmetric: 0,
        }
    }

    /// A refusal that names its rule, at the place of a token.
    fn refuse(
        &self,
        kind: SqlErrorKind,
        rule: &str,
        message: impl Into<String>,
        span: Span,
    ) -> SqlError {
        let mut error = SqlError::new(kind, carry::strip_marks(&message.into())).rule(rule);
        error.position = self.places.byte(span.start);
        error
    }

    /// Refuses a clause that is not listed, unless it is absent.
    fn absent(&self, is_absent: bool, clause: &str) -> Result<(), SqlError> {
        if is_absent {
            return Ok(());
        }
        let message =
            format!("`{clause}` is refused: it is not among the clauses that statements may have");
        Err(self.refuse(SqlErrorKind::Denied, "clause", message, Span::empty()))
    }

    /// Does the same as [`Walk::absent`], for a form that some dialects have.
    fn only(&self, form: Form, is_absent: bool, clause: &str) -> Result<(), SqlError> {
        self.absent(is_absent || self.rules.has(form), clause)
    }

    /// A query of its own scope.
    fn subquery(&mut self, query: &mut Query) -> Result<(), SqlError> {
        let depth = self.ctes.len();
        let result = self.admit_query(query);
        self.ctes.truncate(depth);
        result
    }
}
