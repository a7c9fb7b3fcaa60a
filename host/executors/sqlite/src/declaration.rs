//! The object that a declaration in the schema creates, by the rules of the engine: whatever else
//! the schema's own table states of it may be false in a file that was made to deceive.

use syrch_core::Dialect;
use syrch_guard::{Kind, LexError, Token, lex};

/// The object that the engine creates from a declaration.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Declaration {
    pub(crate) name: String,
    /// `table`, `view`, `virtual`, or `other` for an index or a trigger.
    pub(crate) kind: &'static str,
    /// The module of a virtual table, in lower case.
    pub(crate) module: Option<String>,
    /// True if all of it can be read: the engine accepts a comment that never ends.
    pub(crate) is_whole: bool,
}

impl Declaration {
    /// Returns true if the whole declaration was read and makes an object of this name.
    pub(crate) fn declares(&self, name: &str) -> bool {
        self.is_whole && self.name.eq_ignore_ascii_case(name)
    }
}

/// Reads a declaration; `None` if it makes nothing that we know of.
pub(crate) fn read(sql: &str) -> Option<Declaration> {
    // The engine's texts end there.
    let sql = sql.split('\0').next().unwrap_or_default();
    let (tokens, is_whole) = match lex(sql, &Dialect::Sqlite, usize::MAX) {
        Ok(tokens) => (tokens, true),
        Err(LexError::Unterminated { start, .. }) => {
            (lex(&sql[..start], &Dialect::Sqlite, usize::MAX).unwrap_or_default(), false)
        }
        Err(_) => return None,
    };
    let tokens: Vec<&Token> = tokens.iter().filter(|token| token.is_significant()).collect();
    let has = |at: usize, word: &str| {
        tokens.get(at).is_some_and(|token| {
            token.kind == Kind::Word && token.text(sql).eq_ignore_ascii_case(word)
        })
    };
    let identifier = |at: usize| {
        let token = tokens
            .get(at)
            .filter(|token| matches!(token.kind, Kind::Word | Kind::Quoted | Kind::Text))?;
        Some(name(token, sql))
    };
    let is_special = ["temp", "temporary", "unique"].iter().any(|word| has(1, word));
    let at = 1 + usize::from(is_special);
    let (kind, at) = match () {
        () if !has(0, "create") => return None,
        () if has(at, "index") || has(at, "trigger") => ("other", at + 1),
        // The engine would not make it in this database.
        () if is_special => return None,
        () if has(at, "table") => ("table", at + 1),
        () if has(at, "view") => ("view", at + 1),
        () if has(at, "virtual") && has(at + 1, "table") => ("virtual", at + 2),
        () => return None,
    };
    let is_condition = has(at, "if") && has(at + 1, "not") && has(at + 2, "exists");
    let at = if is_condition { at + 3 } else { at };
    let module = match kind {
        "virtual" if has(at + 1, "using") => Some(identifier(at + 2)?.to_lowercase()),
        "virtual" => return None,
        _ => None,
    };
    Some(Declaration { name: identifier(at)?, kind, module, is_whole })
}

/// Returns the name that a token stands for where the engine expects one: it also takes a string
/// for a name.
pub(crate) fn name(token: &Token, sql: &str) -> String {
    let text = token.text(sql);
    token.name(sql).unwrap_or_else(|| match token.kind {
        Kind::Text => text[1..text.len() - 1].replace("''", "'"),
        _ => text.to_owned(),
    })
}

/// Names that a full-text table may take its content from (`content='name'`), in lower case. The
/// engine also accepts the beginning of an option's name, so that every value of an option counts.
pub(crate) fn contents(sql: &str) -> Vec<String> {
    let mut tokens = lex(sql, &Dialect::Sqlite, usize::MAX).unwrap_or_default();
    tokens.retain(Token::is_significant);
    let values = tokens.windows(2).filter(|pair| pair[0].text(sql) == "=");
    values.map(|pair| name(&pair[1], sql).to_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_parts(sql: &str) -> Option<(String, &'static str, Option<String>, bool)> {
        read(sql).map(|made| (made.name, made.kind, made.module, made.is_whole))
    }

    #[test]
    fn declarations_make_what_the_engine_makes_of_them() {
        let virtual_table = |name: &str, is_whole| {
            Some((name.to_owned(), "virtual", Some("fts5".to_owned()), is_whole))
        };
        let plain = |name: &str, kind| Some((name.to_owned(), kind, None, true));
        for (sql, expected) in [
            ("CREATE TABLE t(a)", plain("t", "table")),
            ("create /* a */ table\n-- b\nif not exists 'it''s'(a)", plain("it's", "table")),
            ("CREATE TABLE if(a)", plain("if", "table")),
            ("CREATE VIEW [a b] AS SELECT 1", plain("a b", "view")),
            ("CREATE UNIQUE INDEX i ON t(a)", plain("i", "other")),
            ("CREATE TEMP TRIGGER i AFTER", plain("i", "other")),
            ("CREATE VIRTUAL TABLE d USING fts5(x)", virtual_table("d", true)),
            ("create virtual table d using fts5(x) /* never", virtual_table("d", false)),
            ("CREATE VIRTUAL TABLE 'using' USING 'FTS5'(x)", virtual_table("using", true)),
            ("CREATE VIRTUAL TABLE d USING \"fts5\"(x)\0 'never", virtual_table("d", true)),
            ("CREATE TEMP VIEW v AS SELECT 1", None),
            ("CREATE VIRTUAL TABLE d /* never", None),
            ("SELECT 1", None),
            ("", None),
        ] {
            assert_eq!(read_parts(sql), expected, "{sql}");
        }
    }

    #[test]
    fn every_value_of_an_option_may_be_the_content() {
        for sql in
            ["fts5(content, content='It''s')", "fts4(x, content=\"it's\")", "fts5(x, con = `it's`)"]
        {
            let sql = format!("CREATE VIRTUAL TABLE d USING {sql}");
            assert_eq!(contents(&sql), ["it's"], "{sql}");
        }
    }
}
