//! Step 0 of every guard: cheap and linear, so that no hostile text reaches a parser whose cost or
//! stack it could blow up.

use syrch_core::{Dialect, SqlError, SqlErrorKind};

use crate::verb::{self, describe_token, position};
use crate::{Kind, LexError, Token, lex};

/// The limits on a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// The number of bytes of the text.
    pub bytes: usize,
    /// The depth limit of nested comments.
    pub comment_depth: usize,
    /// The depth limit of nested parentheses.
    pub parentheses: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { bytes: 64 << 10, comment_depth: 8, parentheses: 200 }
    }
}

/// The tokens of one statement that a parser may see.
///
/// # Errors
/// Each names its rule: `statement-size`, `nul`, `unterminated`, `comment-depth`, `parentheses`,
/// `empty`, `single-statement`, `read-only`, `parameters`.
pub(crate) fn prelex(
    text: &str,
    dialect: &Dialect,
    bounds: &Bounds,
) -> Result<Vec<Token>, SqlError> {
    if text.len() > bounds.bytes {
        let message =
            format!("the statement has {} bytes and may have {}", text.len(), bounds.bytes);
        return Err(SqlError::new(SqlErrorKind::TooLarge, message).rule("statement-size"));
    }
    if let Some(at) = text.bytes().position(|byte| byte == 0) {
        let error = SqlError::new(SqlErrorKind::Syntax, "the statement holds a NUL character");
        return Err(error.at(u32::try_from(at).unwrap_or(u32::MAX)).rule("nul"));
    }
    let tokens = lex(text, dialect, bounds.comment_depth).map_err(lex_error)?;
    let significant: Vec<Token> = tokens.iter().copied().filter(Token::is_significant).collect();
    check_one(text, &significant)?;
    check_depth(text, &significant, bounds.parentheses)?;
    verb::check(text, &significant, dialect)?;
    match significant.iter().find(|token| token.kind == Kind::Parameter) {
        None => Ok(tokens),
        Some(token) => {
            let message = format!(
                "`{}` is a parameter, and none can be bound: write the value",
                describe_token(text, token)
            );
            Err(SqlError::new(SqlErrorKind::Denied, message).at(position(token)).rule("parameters"))
        }
    }
}

fn lex_error(error: LexError) -> SqlError {
    let (kind, rule, start) = match error {
        LexError::Unterminated { start, .. } => (SqlErrorKind::Syntax, "unterminated", start),
        LexError::CommentDepth { start, .. } => (SqlErrorKind::TooLarge, "comment-depth", start),
    };
    SqlError::new(kind, error.to_string()).at(u32::try_from(start).unwrap_or(u32::MAX)).rule(rule)
}

fn check_one(text: &str, significant: &[Token]) -> Result<(), SqlError> {
    fn is_semicolon(text: &str, token: &Token) -> bool {
        token.text(text) == ";"
    }
    if significant.iter().all(|token| is_semicolon(text, token)) {
        return Err(SqlError::new(SqlErrorKind::Syntax, "the statement is empty").rule("empty"));
    }
    let mut rest = significant.iter().skip_while(|token| !is_semicolon(text, token));
    match rest.find(|token| !is_semicolon(text, token)) {
        None => Ok(()),
        Some(token) => {
            let message = format!(
                "one statement at a time: a second one begins at `{}`",
                describe_token(text, token)
            );
            Err(SqlError::new(SqlErrorKind::Denied, message)
                .at(position(token))
                .rule("single-statement"))
        }
    }
}

fn check_depth(text: &str, significant: &[Token], limit: usize) -> Result<(), SqlError> {
    let mut depth = 0_usize;
    for token in significant {
        match token.text(text) {
            "(" => depth += 1,
            ")" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > limit {
            let error = SqlError::new(
                SqlErrorKind::TooLarge,
                format!("parentheses are nested more than {limit} deep"),
            );
            return Err(error.at(position(token)).rule("parentheses"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn refusal(text: &str) -> (SqlErrorKind, String) {
        let error = prelex(text, &Dialect::Sqlite, &Bounds::default()).unwrap_err();
        (error.kind, error.rule.unwrap())
    }

    #[test]
    fn refusals_name_their_rule() {
        use SqlErrorKind::{Denied, Syntax, TooLarge, WriteRefused};
        for (text, kind, rule) in [
            ("", Syntax, "empty"),
            (" ; ;", Syntax, "empty"),
            ("-- x", Syntax, "empty"),
            ("SELECT 'a", Syntax, "unterminated"),
            ("/* x", Syntax, "unterminated"),
            ("SELECT \0", Syntax, "nul"),
            ("SELECT 1; DELETE FROM t", Denied, "single-statement"),
            ("SELECT 1 AS [;]; SELECT 2", Denied, "single-statement"),
            ("DELETE FROM t", WriteRefused, "read-only"),
            ("/* SELECT */ drop table t", WriteRefused, "read-only"),
            ("WITH s AS (SELECT 1) INSERT INTO t SELECT * FROM s", WriteRefused, "read-only"),
            (".read x", Syntax, "read-only"),
            ("SELECT $1", Denied, "parameters"),
            ("SELECT :a", Denied, "parameters"),
        ] {
            assert_eq!(refusal(text), (kind, rule.to_owned()), "{text}");
        }
        assert_eq!(refusal(&format!("SELECT {}", "(".repeat(201))).1, "parentheses");
        assert_eq!(
            refusal(&format!("SELECT '{}'", "x".repeat(70_000))),
            (TooLarge, "statement-size".to_owned())
        );
    }

    #[test]
    fn queries_pass() {
        for text in [
            "SELECT ';' ; -- done; really",
            "VALUES (1)",
            "WITH replace AS (SELECT 1) SELECT * FROM replace",
            "SELECT count(*) AS \"update\" FROM t;;",
            "\u{feff}SELECT 1",
        ] {
            prelex(text, &Dialect::Sqlite, &Bounds::default()).unwrap();
        }
    }

    proptest! {
        #[test]
        fn a_second_statement_never_passes(
            inner in "[^'\0]{0,30}", verb in "SELECT|DELETE FROM t|x"
        ) {
            let text = format!("SELECT '{inner}', \"a;\" /* ; */ ; {verb}");
            prop_assert_eq!(refusal(&text).1, "single-statement");
            let alone = format!("SELECT '{inner}', \"a;\" /* ; */ ; ");
            prop_assert!(prelex(&alone, &Dialect::Sqlite, &Bounds::default()).is_ok());
        }

        #[test]
        fn nothing_panics(text in any::<String>()) {
            for dialect in [
                Dialect::Sqlite, Dialect::Postgres, Dialect::Mysql, Dialect::Databricks
            ] {
                let _ = prelex(&text, &dialect, &Bounds::default());
            }
        }
    }
}
