//! The facts of a statement: its tables, columns, functions and literals, resolved against the
//! catalog and the finished tasks.
//!
//! It refuses only what is certain. Whatever a scope may hold that the catalog does not tell (table
//! functions, computed names, lateral columns, dialects with fields of structures) makes names in
//! it pass: the engine has the last word.

mod place;
mod query;
mod resolver;
mod scope;
mod uses;
mod walk;

use std::ops::ControlFlow;

use sqlparser::ast::{LimitClause, SetExpr, Statement, Value, ValueWithSpan, VisitMut, VisitorMut};
use sqlparser::dialect::{Dialect as Grammar, GenericDialect, dialect_from_str};
use sqlparser::parser::{Parser, ParserError};
use syrch_core::ports::{Facts, Relation};
use syrch_core::text::clip;
use syrch_core::{Catalog, Dialect, DoubleQuotes, SqlError, SqlErrorKind};

use crate::admission::Rules;
use crate::carry;
use crate::read::Reading;
use crate::{Kind, Token, lex, stack};
pub(crate) use place::{Places, write_refused};
use resolver::Resolver;

/// Nesting that the parser follows: its default of 50 is too low for real queries.
const RECURSION: usize = 200;
/// Operators of one statement. A chain of operators becomes a tree as deep as it is long.
const OPERATORS: usize = 4_000;

/// The reason why a statement has no facts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unresolved {
    /// The parser does not understand it; an engine of that dialect may.
    #[error(transparent)]
    Unparsed(SqlError),
    /// It was understood, and a name in it is wrong or it is not a query.
    #[error(transparent)]
    Refused(SqlError),
}

/// The facts of one statement that `prelex` let through.
///
/// # Errors
/// [`Unresolved`]; the kinds are `syntax`, `unknown-table`, `unknown-column`, `ambiguous-name` and
/// `write-refused`.
pub fn facts(text: &str, relations: &[Relation], catalog: &Catalog) -> Result<Facts, Unresolved> {
    if stack::is_small(text) {
        return resolve(text, relations, catalog);
    }
    let tokens = lex(text, &catalog.dialect, usize::MAX)
        .map_err(|error| parse_error(&error.to_string(), None))?;
    let chains = check_chains(text, &tokens)?;
    let resolved = stack::on_a_large_stack(chains, || resolve(text, relations, catalog));
    resolved.unwrap_or_else(|| Err(parse_error("the statement could not be analysed", None)))
}

/// Bounds the depth of the tree, and returns the number of operators: the parser follows a chain of
/// operators in a loop, but what walks the tree does not.
pub(crate) fn check_chains(text: &str, tokens: &[Token]) -> Result<usize, Unresolved> {
    let operators = tokens
        .iter()
        .filter(|token: &&Token| match token.kind {
            Kind::Symbol => !matches!(token.text(text), "," | "(" | ")" | "." | ";"),
            Kind::Word => {
                let word = token.text(text);
                ["and", "or", "not", "is", "like", "union", "except", "intersect"]
                    .iter()
                    .any(|w| w.eq_ignore_ascii_case(word))
            }
            _ => false,
        })
        .count();
    if operators > OPERATORS {
        return Err(parse_error(
            &format!("more than {OPERATORS} operators in one statement"),
            None,
        ));
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
    resolver.resolve_query(query, &mut Vec::new()).map_err(Unresolved::Refused)?;
    let mut facts = resolver.into_facts();
    facts.ordered = query.order_by.is_some();
    facts.outline = facts.outline.filter(|_| matches!(*query.body, SetExpr::Select(_)));
    if let Some(outline) = &mut facts.outline {
        outline.limit = query.limit_clause.as_ref().and_then(most_rows);
        outline.cut = uses::cut::read(query, &catalog.dialect);
    }
    facts.normalized = carry::restore(statement.to_string(), &catalog.dialect);
    facts.skeleton = carry::restore(skeleton(statement), &catalog.dialect);
    Ok(facts)
}

/// The number of rows of a LIMIT that is a number.
fn most_rows(clause: &LimitClause) -> Option<u64> {
    let (LimitClause::LimitOffset { limit: Some(limit), .. }
    | LimitClause::OffsetCommaLimit { limit, .. }) = clause
    else {
        return None;
    };
    uses::cut::read_number(limit)
}

/// A SQLite statement with the texts that it has in double quotes in single quotes; `None` where
/// there are none, or where another name is wrong. A text is a name that nothing has and nothing
/// nearly has, where a value is compared or passed to a function.
#[must_use]
pub fn with_single_quotes(text: &str, catalog: &Catalog) -> Option<String> {
    if !may_quote_texts(catalog) || !text.contains('"') {
        return None;
    }
    let tokens = lex(text, &catalog.dialect, usize::MAX).ok()?;
    let chains = check_chains(text, &tokens).ok()?;
    let find = || {
        let places = Places::new(text);
        let Ok(Statement::Query(query)) = parse(text, &catalog.dialect, &places) else {
            return Vec::new();
        };
        let mut resolver = Resolver::with_texts(catalog, &places);
        match resolver.resolve_query(&query, &mut Vec::new()) {
            Ok(_) => resolver.into_texts().into_iter().filter_map(|at| places.byte(at)).collect(),
            Err(_) => Vec::new(),
        }
    };
    let texts: Vec<u32> = if stack::is_small(text) {
        find()
    } else {
        stack::on_a_large_stack(chains, find).unwrap_or_default()
    };
    let mut out = String::with_capacity(text.len());
    let mut end = 0;
    for token in tokens.iter().filter(|token: &&Token| {
        u32::try_from(token.start).is_ok_and(|start| texts.contains(&start))
    }) {
        let name = token.name(text)?;
        out.push_str(&text[end..token.start]);
        out.push_str(&format!("'{}'", name.replace('\'', "''")));
        end = token.end;
    }
    (end > 0).then(|| out + &text[end..])
}

/// Returns true if `"a"` is a text where nothing has that name.
fn may_quote_texts(catalog: &Catalog) -> bool {
    catalog.dialect.syntax().double_quotes == DoubleQuotes::NameOrText
}

fn parse(text: &str, dialect: &Dialect, places: &Places<'_>) -> Result<Statement, Unresolved> {
    if Rules::for_dialect(dialect).is_for_facts {
        let tokens = lex(text, dialect, usize::MAX)
            .map_err(|error| parse_error(&error.to_string(), None))?;
        return parse_tokens(text, &tokens, &Reading::for_dialect(dialect), places);
    }
    // The parser's own tokenizer is enough where nothing runs as it is written again.
    let grammar: Box<dyn Grammar> =
        dialect_from_str(dialect.grammar()).unwrap_or_else(|| Box::new(GenericDialect));
    let parser = Parser::new(&*grammar).with_recursion_limit(RECURSION);
    parse_one(parser.try_with_sql(text), text, places)
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
    parse_one(tokens.map(|tokens| parser.with_tokens_with_locations(tokens)), text, places)
}

fn parse_one(
    parser: Result<Parser<'_>, ParserError>,
    text: &str,
    places: &Places<'_>,
) -> Result<Statement, Unresolved> {
    let statements = parser.and_then(|mut parser| parser.parse_statements()).map_err(|error| {
        let (message, is_parsers) = match error {
            ParserError::TokenizerError(message) => (message, false),
            ParserError::ParserError(message) => (message, true),
            ParserError::RecursionLimitExceeded => {
                ("the statement is nested too deep".to_owned(), false)
            }
        };
        let position = places.in_message(&message);
        let message = message.split(" at Line").next().unwrap_or(&message);
        let is_own = !is_parsers || message.starts_with("not supported: ");
        parse_error(
            &if is_own { message.to_owned() } else { in_own_words(message, text, position) },
            position,
        )
    })?;
    let mut statements = statements.into_iter();
    match (statements.next(), statements.next()) {
        (Some(statement), None) => Ok(statement),
        _ => Err(parse_error("not exactly one statement", None)),
    }
}

/// Rewrites a message of the parser: what it expected and found, or else only where it stopped. Its
/// own messages show the structures of its tree.
fn in_own_words(message: &str, text: &str, position: Option<u32>) -> String {
    let expected =
        message.split_once("xpected: ").and_then(|(_, rest)| rest.rsplit_once(", found: "));
    let expected =
        expected.map(|(expected, _)| expected).filter(|expected| !expected.contains(['{', '"']));
    let expected = expected.map(|expected| match expected {
        "end of statement" => "the end of the statement".to_owned(),
        expected if expected.starts_with("SELECT, VALUES") => "a query".to_owned(),
        expected if expected.contains(char::is_alphabetic) => expected.to_owned(),
        expected => format!("`{expected}`"),
    });
    let rest = position.and_then(|at| text.get(usize::try_from(at).ok()?..));
    let rest = rest.map(|rest| rest.trim_start().trim_end_matches([';', ' ', '\n']));
    let found = match rest.and_then(|rest| Some((rest, rest.chars().next()?))) {
        None if message.ends_with("found: EOF") || rest == Some("") => {
            let expected = expected.unwrap_or_else(|| "more".to_owned());
            return format!("the statement ends where {expected} is expected");
        }
        None => "this statement".to_owned(),
        Some((_, '\'')) => "a text".to_owned(),
        Some((rest, first)) => {
            fn is_word_char(letter: char) -> bool {
                letter.is_alphanumeric() || letter == '_'
            }
            let length = rest
                .find(|letter| !is_word_char(letter))
                .unwrap_or(rest.len())
                .max(first.len_utf8());
            format!("`{}`", clip(&rest[..length], 64))
        }
    };
    match expected {
        Some(expected) => format!("not supported: {found} where {expected} is expected"),
        None => format!("not supported: {found} in this place"),
    }
}

fn parse_error(message: &str, position: Option<u32>) -> Unresolved {
    let mut error =
        SqlError::new(SqlErrorKind::Syntax, carry::strip_marks(&lower_first_letter(message)));
    error.position = position;
    Unresolved::Unparsed(error)
}

/// The parser's message with a lower-case first letter, as errors of the host have it.
fn lower_first_letter(message: &str) -> String {
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
