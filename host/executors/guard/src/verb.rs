//! The verbs that a statement may have: any other is refused here, by name, before a parser or an
//! engine sees it. The engine's guard decides again on what the statement really does.

use std::borrow::Cow;

use syrch_core::text::escape::escape_quotation;
use syrch_core::text::{clip, nearest};
use syrch_core::{Dialect, SqlError, SqlErrorKind};

use crate::{Kind, Token};

/// Verbs that begin a query.
const QUERIES: [&str; 4] = ["SELECT", "VALUES", "WITH", "FROM"];

/// Verbs that begin a query in DuckDB as well.
const PIVOTS: [&str; 4] = ["PIVOT", "PIVOT_LONGER", "PIVOT_WIDER", "UNPIVOT"];

/// Verbs that may stand after a list of common table expressions and change something.
const WRITES: [&str; 5] = ["INSERT", "UPDATE", "DELETE", "REPLACE", "MERGE"];

/// Other statements that engines know.
const OTHERS: &[&str] = &[
    "ABORT",
    "ALTER",
    "ANALYZE",
    "ATTACH",
    "BEGIN",
    "CACHE",
    "CALL",
    "CHECKPOINT",
    "CLEAR",
    "CLOSE",
    "CLUSTER",
    "COMMENT",
    "COMMIT",
    "COPY",
    "CREATE",
    "DEALLOCATE",
    "DECLARE",
    "DESC",
    "DESCRIBE",
    "DETACH",
    "DISCARD",
    "DO",
    "DROP",
    "END",
    "EXECUTE",
    "EXPLAIN",
    "EXPORT",
    "FETCH",
    "GRANT",
    "IMPORT",
    "INSTALL",
    "LISTEN",
    "LOAD",
    "LOCK",
    "MOVE",
    "MSCK",
    "NOTIFY",
    "OPTIMIZE",
    "PRAGMA",
    "PREPARE",
    "REFRESH",
    "REINDEX",
    "RELEASE",
    "RESET",
    "REVOKE",
    "ROLLBACK",
    "SAVEPOINT",
    "SECURITY",
    "SET",
    "SHOW",
    "START",
    "TRUNCATE",
    "UNCACHE",
    "UNLISTEN",
    "USE",
    "VACUUM",
];

/// Refuses a statement whose verb is not that of a query. `tokens` are the significant ones, at
/// least one.
pub(crate) fn check(text: &str, tokens: &[Token], dialect: &Dialect) -> Result<(), SqlError> {
    let Some(first) = tokens.iter().find(|token| token.text(text) != "(") else {
        return Ok(());
    };
    let word = first.text(text).to_ascii_uppercase();
    if WRITES.contains(&word.as_str()) || OTHERS.contains(&word.as_str()) {
        return Err(write_refused(text, first));
    }
    let is_pivot = *dialect == Dialect::Duckdb && PIVOTS.contains(&word.as_str());
    if first.kind != Kind::Word || !(is_pivot || QUERIES.contains(&word.as_str())) {
        let message = format!(
            "a statement begins with SELECT, VALUES or WITH, not with `{}`",
            describe_token(text, first)
        );
        let near = nearest(&word, ["SELECT", "VALUES", "WITH"]);
        return Err(SqlError::new(SqlErrorKind::Syntax, message)
            .at(position(first))
            .rule("read-only")
            .suggest(near));
    }
    if word == "WITH" {
        return check_main(text, tokens);
    }
    Ok(())
}

/// Looks for the first verb after the common table expressions. A verb's word may also be the name
/// of one of them: then `AS` or a list of columns follows.
fn check_main(text: &str, tokens: &[Token]) -> Result<(), SqlError> {
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate() {
        match token.text(text) {
            "(" => depth += 1,
            ")" => depth = depth.saturating_sub(1),
            word if depth == 0 && token.kind == Kind::Word => {
                let named = tokens.get(index + 1).is_some_and(|next| {
                    let next = next.text(text);
                    next == "(" || next.eq_ignore_ascii_case("as")
                });
                let is_any = |verbs: &[&str]| {
                    !named && verbs.iter().any(|verb| verb.eq_ignore_ascii_case(word))
                };
                if is_any(&WRITES) {
                    return Err(write_refused(text, token));
                }
                if index > 0 && is_any(&QUERIES) {
                    return Ok(());
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn write_refused(text: &str, token: &Token) -> SqlError {
    let verb = token.text(text).to_ascii_uppercase();
    let message =
        format!("`{verb}` is refused: only queries may run (SELECT, VALUES, WITH … SELECT)");
    SqlError::new(SqlErrorKind::WriteRefused, message).at(position(token)).rule("read-only")
}

/// A token as an error may show it: names and keywords whole, with invisible characters as their
/// codes, and never a literal's text.
pub(crate) fn describe_token<'t>(text: &'t str, token: &Token) -> Cow<'t, str> {
    match token.kind {
        Kind::Text => Cow::Borrowed("a string"),
        Kind::Comment => Cow::Borrowed("a comment"),
        _ => escape_quotation(clip(token.text(text), 64)),
    }
}

/// A token's place in the unit that errors use.
pub(crate) fn position(token: &Token) -> u32 {
    u32::try_from(token.start).unwrap_or(u32::MAX)
}
