//! What a statement speaks of: its tables, columns, functions and literals, resolved against the catalog and the finished tasks.
//!
//! It refuses only what is certain. Whatever a scope may hold that the catalog does not tell (table functions, computed names, lateral
//! columns, dialects with fields of structures) makes names in it pass: the engine has the last word.

mod place;
mod query;
mod scope;
mod walk;

use std::ops::ControlFlow;

use sqlparser::ast::{Statement, Value, ValueWithSpan, VisitMut, VisitorMut};
use sqlparser::dialect::{Dialect as Grammar, GenericDialect, dialect_from_str};
use sqlparser::parser::{Parser, ParserError};
use syrch_core::ports::{Facts, Relation};
use syrch_core::{Catalog, Dialect, SqlError, SqlErrorKind};

use crate::read::Reading;
use crate::{Kind, Token, lex, stack};
pub(crate) use place::{Places, write_refused};
use query::Resolver;

/// Nesting that the parser follows: its default of 50 is too low for real queries.
const RECURSION: usize = 200;
/// Operators of one statement. A chain of operators becomes a tree as deep as it is long.
const OPERATORS: usize = 4_000;

/// Why a statement has no facts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unresolved {
    /// The parser does not understand it; an engine of that dialect may.
    #[error(transparent)]
    Unparsed(SqlError),
    /// It was understood, and a name in it is wrong or it is not a query.
    #[error(transparent)]
    Refused(SqlError),
}

/// The facts of one statement that [`crate::prelex`] let through.
///
/// # Errors
/// [`Unresolved`]; the kinds are `syntax`, `unknown-table`, `unknown-column`, `ambiguous-name` and `write-refused`.
pub fn facts(text: &str, relations: &[Relation], catalog: &Catalog) -> Result<Facts, Unresolved> {
    if stack::is_small(text) {
        return resolve(text, relations, catalog);
    }
    let tokens = lex(text, &catalog.dialect, usize::MAX).map_err(|error| unparsed(&error.to_string(), None))?;
    let chains = check_chains(text, &tokens)?;
    let resolved = stack::on_a_large_stack(chains, || resolve(text, relations, catalog));
    resolved.unwrap_or_else(|| Err(unparsed("the statement could not be analysed", None)))
}

/// Bounds the depth of the tree, and returns the number of operators: the parser follows a chain of operators in a loop, but what walks the
/// tree does not.
pub(crate) fn check_chains(text: &str, tokens: &[Token]) -> Result<usize, Unresolved> {
    let chains = |token: &&Token| match token.kind {
        Kind::Symbol => !matches!(token.text(text), "," | "(" | ")" | "." | ";"),
        Kind::Word => {
            let word = token.text(text);
            ["and", "or", "not", "is", "like", "union", "except", "intersect"]
                .iter()
                .any(|w| w.eq_ignore_ascii_case(word))
        }
        _ => false,
    };
    let operators = tokens.iter().filter(chains).count();
    if operators > OPERATORS {
        return Err(unparsed(&format!("more than {OPERATORS} operators in one statement"), None));
    }
    Ok(operators)
}

fn resolve(text: &str, relations: &[Relation], catalog: &Catalog) -> Result<Facts, Unresolved> {
    let places = Places::new(text);
    let statement = parse(text, &catalog.dialect, &places)?;
    let Statement::Query(query) = &statement else {
        let verb = text.split_whitespace().next().unwrap_or_default();
        return Err(Unresolved::Refused(write_refused(verb)));
    };
    let mut resolver = Resolver::new(catalog, relations, &places);
    resolver.query(query, &mut Vec::new()).map_err(Unresolved::Refused)?;
    let mut facts = resolver.into_facts();
    facts.ordered = query.order_by.is_some();
    facts.normalized = statement.to_string();
    facts.skeleton = skeleton(statement);
    Ok(facts)
}

fn parse(text: &str, dialect: &Dialect, places: &Places<'_>) -> Result<Statement, Unresolved> {
    match dialect {
        Dialect::Postgres | Dialect::Duckdb | Dialect::Spark | Dialect::Databricks => {
            let tokens = lex(text, dialect, usize::MAX).map_err(|error| unparsed(&error.to_string(), None))?;
            parse_tokens(text, &tokens, Reading::of(dialect), places)
        }
        // The parser's own tokenizer is enough where nothing runs as it is written again.
        Dialect::Sqlite | Dialect::Mysql | Dialect::Ansi | Dialect::Other(_) => {
            let grammar: Box<dyn Grammar> =
                dialect_from_str(dialect.name()).unwrap_or_else(|| Box::new(GenericDialect));
            one(Parser::new(&*grammar).with_recursion_limit(RECURSION).try_with_sql(text), places)
        }
    }
}

/// The one statement of a text, from the lexer's tokens of it.
pub(crate) fn parse_tokens(
    text: &str,
    tokens: &[Token],
    reading: &Reading,
    places: &Places<'_>,
) -> Result<Statement, Unresolved> {
    let parser = Parser::new(reading.grammar).with_recursion_limit(RECURSION);
    let tokens = reading.tokens(text, tokens).map_err(ParserError::from);
    one(tokens.map(|tokens| parser.with_tokens_with_locations(tokens)), places)
}

fn one(parser: Result<Parser<'_>, ParserError>, places: &Places<'_>) -> Result<Statement, Unresolved> {
    let statements = parser.and_then(|mut parser| parser.parse_statements()).map_err(|error| {
        let message = match error {
            ParserError::TokenizerError(message) | ParserError::ParserError(message) => message,
            ParserError::RecursionLimitExceeded => "the statement is nested too deep".to_owned(),
        };
        let position = places.in_message(&message);
        unparsed(message.split(" at Line").next().unwrap_or(&message), position)
    })?;
    let mut statements = statements.into_iter();
    match (statements.next(), statements.next()) {
        (Some(statement), None) => Ok(statement),
        _ => Err(unparsed("not exactly one statement", None)),
    }
}

fn unparsed(message: &str, position: Option<u32>) -> Unresolved {
    let mut error = SqlError::new(SqlErrorKind::Syntax, lowered(message));
    error.position = position;
    Unresolved::Unparsed(error)
}

/// The parser's message with a lower-case first letter, as errors of the host have it.
fn lowered(message: &str) -> String {
    let mut letters = message.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// The statement with its literals replaced.
fn skeleton(mut statement: Statement) -> String {
    struct Blank;
    impl VisitorMut for Blank {
        type Break = ();
        fn pre_visit_value(&mut self, value: &mut ValueWithSpan) -> ControlFlow<()> {
            if !matches!(value.value, Value::Null | Value::Boolean(_)) {
                value.value = Value::Placeholder("?".to_owned());
            }
            ControlFlow::Continue(())
        }
    }
    let _ = statement.visit(&mut Blank);
    statement.to_string()
}

#[cfg(test)]
mod tests;
