//! Full-text search. The engine checks no deadline between the words of a search in one row, so a
//! search takes its words from the statement's text, where they can be counted: words that a
//! statement computes could be any number.

use std::cell::Cell;
use std::collections::HashSet;

use syrch_core::{Dialect, SqlError, SqlErrorKind};
use syrch_guard::{Kind, Token};

use crate::declaration;

/// Words of one search, and of all searches of a statement.
const WORDS: usize = 16;
const ALL_WORDS: usize = 64;
/// Bytes of one search.
const BYTES: usize = 512;
/// Functions that take a full-text table by its name.
const FUNCTIONS: [&str; 4] = ["bm25", "highlight", "offsets", "snippet"];

/// Words that may follow the last table of a list, and none of its columns.
const AFTER_TABLES: [&str; 9] =
    ["WHERE", "ON", "JOIN", "LEFT", "INNER", "CROSS", "GROUP", "ORDER", "LIMIT"];

/// The tables of a schema that can be searched; names in lower case.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tables {
    /// All full-text tables of the schema.
    names: HashSet<String>,
    /// Those that are also searched by `LIKE` and `GLOB`.
    trigrams: HashSet<String>,
}

impl Tables {
    pub(crate) fn add(&mut self, name: &str, declaration: &str) {
        self.names.insert(name.to_lowercase());
        if declaration.to_ascii_lowercase().contains("trigram") {
            self.trigrams.insert(name.to_lowercase());
        }
    }
}

/// The searches that a statement was seen to make.
#[derive(Debug, Clone, Default)]
pub(crate) struct Search {
    /// Tables that are read. The engine does not say whether `docs('words')` searches or reads.
    read: HashSet<String>,
    /// Tables that are searched by a comparison.
    tables: HashSet<String>,
    has_match: bool,
    has_pattern: bool,
    reads_trigrams: bool,
}

impl Search {
    /// The statement reads a column.
    pub(crate) fn read(&mut self, tables: &Tables, table: &str, column: &str) {
        if tables.names.contains(table) {
            self.read.insert(table.to_owned());
            // The column that stands for all the others is named after its table.
            if column.to_lowercase() == table {
                self.tables.insert(table.to_owned());
            }
        }
        self.reads_trigrams |= tables.trigrams.contains(table);
    }

    /// The statement calls a function.
    pub(crate) fn call(&mut self, function: &str) {
        self.has_match |= function.eq_ignore_ascii_case("match");
        self.has_pattern |= ["like", "glob"].iter().any(|name| function.eq_ignore_ascii_case(name));
    }

    /// Returns true if anything may be searched.
    pub(crate) fn is_one(&self) -> bool {
        self.has_match || !self.read.is_empty()
    }

    fn searches_patterns(&self) -> bool {
        self.has_pattern && self.reads_trigrams
    }

    /// Refuses words that cannot be counted, or too many. `views` are those that the statement
    /// reads: their text is not its own.
    pub(crate) fn check(&self, sql: &str, views: usize) -> Result<(), SqlError> {
        if !self.is_one() {
            return Ok(());
        }
        if views > 0 {
            return Err(refusal(
                "a statement that reads a full-text table cannot also read views",
                None,
            ));
        }
        let mut tokens = syrch_guard::lex(sql, &Dialect::Sqlite, usize::MAX).map_err(|_| {
            refusal("the words of the full-text search cannot be found in the statement", None)
        })?;
        tokens.retain(Token::is_significant);
        let text = Text { sql, tokens: &tokens, words: Cell::new(0) };
        for (at, token) in tokens.iter().enumerate() {
            let is_search = text.is_word(at, &["MATCH"])
                || self.searches_patterns() && text.is_word(at, &["LIKE", "GLOB"]);
            if is_search && !text.is_searched_for(at + 1)? {
                return Err(text.refuse_computed(at));
            }
            let name = declaration::name(token, sql).to_lowercase();
            if self.read.contains(&name) && text.token(at + 1) == "(" && !text.arguments(at + 2)? {
                return Err(text.refuse_computed(at));
            }
            if self.tables.contains(&name) && !text.names_a_table(at) {
                return Err(text.refuse_computed(at));
            }
        }
        Ok(())
    }
}

struct Text<'t> {
    sql: &'t str,
    tokens: &'t [Token],
    /// Words that were counted.
    words: Cell<usize>,
}

impl Text<'_> {
    fn token(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| token.text(self.sql))
    }

    /// Returns true if one of these words or names stands here: the operator `MATCH` is a function
    /// that may also be called by its name.
    fn is_word(&self, at: usize, words: &[&str]) -> bool {
        let name = self.tokens.get(at).and_then(|token| token.name(self.sql));
        name.is_some_and(|name| words.iter().any(|word| name.eq_ignore_ascii_case(word)))
    }

    /// Returns true if all that is searched for here is a short text, perhaps in brackets.
    fn is_searched_for(&self, at: usize) -> Result<bool, SqlError> {
        if self.token(at) == "(" {
            return Ok(self.is_short_text(at + 1)?
                && self.token(at + 2) == ")"
                && self.ends(at + 3));
        }
        Ok(self.is_short_text(at)? && self.ends(at + 1))
    }

    /// Returns true if a short text stands here.
    fn is_short_text(&self, at: usize) -> Result<bool, SqlError> {
        let Some(token) = self.tokens.get(at).filter(|token| token.kind == Kind::Text) else {
            return Ok(false);
        };
        let text = token.text(self.sql);
        let words =
            text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).count();
        self.words.set(self.words.get() + words);
        if text.len() > BYTES || words > WORDS || self.words.get() > ALL_WORDS {
            let message = format!(
                "a full-text search may have {WORDS} words and {BYTES} bytes, and all of a \
                 statement {ALL_WORDS} words"
            );
            return Err(refusal(&message, Some(token.start)));
        }
        Ok(true)
    }

    /// Returns true if the expression that ends before this place is not part of a larger one that
    /// binds more.
    fn ends(&self, at: usize) -> bool {
        self.tokens.get(at).is_none_or(|token| {
            token.kind == Kind::Word || [")", ",", ";"].contains(&token.text(self.sql))
        })
    }

    /// Returns true if the name of a table that is searched stands here for the table, or before
    /// `MATCH`: compared in other ways it searches for whatever it is compared with.
    fn names_a_table(&self, at: usize) -> bool {
        let next = self.token(at + 1);
        if self.tokens[at].kind == Kind::Text || next == "." || self.is_word(at + 1, &["MATCH"]) {
            return true;
        }
        let mut first = at;
        while first >= 2 && self.token(first - 1) == "." {
            first -= 2;
        }
        let Some(before) = first.checked_sub(1) else { return false };
        let is_argument =
            self.token(before) == "(" && first >= 2 && self.is_word(first - 2, &FUNCTIONS);
        let is_last_of_list = self.token(before) == ","
            && (["", ";"].contains(&next) || self.is_word(at + 1, &AFTER_TABLES));
        self.is_word(before, &["FROM", "JOIN"])
            || is_last_of_list
            || (is_argument && [")", ","].contains(&next))
    }

    /// Returns true if the arguments that begin here are short texts.
    fn arguments(&self, mut at: usize) -> Result<bool, SqlError> {
        while self.is_short_text(at)? {
            match self.token(at + 1) {
                "," => at += 2,
                end => return Ok(end == ")"),
            }
        }
        Ok(false)
    }

    fn refuse_computed(&self, at: usize) -> SqlError {
        let message = "a full-text search takes its words from the statement itself: name the \
                       table after FROM or JOIN, and write `… MATCH 'words'`";
        refusal(message, self.tokens.get(at).map(|token| token.start))
    }
}

fn refusal(message: &str, at: Option<usize>) -> SqlError {
    let position = at.and_then(|at| u32::try_from(at).ok());
    SqlError { position, ..SqlError::new(SqlErrorKind::Denied, message).rule("full-text") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sql: &str) -> Result<(), SqlError> {
        let mut tables = Tables::default();
        tables.add("docs", "CREATE VIRTUAL TABLE docs USING fts5(title, tokenize='trigram')");
        tables.add("it's", "CREATE VIRTUAL TABLE \"it's\" USING fts5(title)");
        let mut search = Search::default();
        search.read(&tables, "docs", "title");
        search.read(&tables, "it's", "title");
        search.call("like");
        // `docs('words')` reads no column of that name.
        if !sql.contains("docs(") {
            search.read(&tables, "docs", "DOCS");
            search.call("match");
        }
        search.check(sql, 0)
    }

    #[test]
    fn words_stand_in_the_statement() {
        for sql in [
            "SELECT title FROM docs WHERE docs MATCH 'quick fox'",
            "SELECT * FROM docs d JOIN other o ON o.id = d.rowid WHERE title MATCH 'fox' \
             AND o.x = 1",
            "SELECT rowid, bm25(docs) FROM docs('fox') ORDER BY rank",
            "SELECT docs.title, snippet(docs, 1, '[', ']', '...', 5) FROM main.docs \
             WHERE (\"DOCS\" MATCH 'NEAR(a b, 3)');",
            "SELECT title FROM docs /* of all */ WHERE docs.docs match 'fox' -- words",
            "SELECT docs.title FROM other, docs WHERE docs MATCH ('fox')",
            "SELECT 'docs' FROM [docs] WHERE docs MATCH 'a' OR title LIKE '%fox%' ORDER BY 1",
        ] {
            check(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
    }

    #[test]
    fn computed_words_are_refused() {
        for sql in [
            "SELECT 1 FROM docs WHERE docs MATCH 'a' || 'b'",
            "SELECT 1 FROM docs WHERE docs MATCH ('a' || 'b')",
            "SELECT 1 FROM docs WHERE docs MATCH 'a' -> 'b'",
            "SELECT 1 FROM docs WHERE docs MATCH title",
            "SELECT 1 FROM docs WHERE docs MATCH \"title\"",
            "SELECT 1 FROM docs WHERE match('a', docs)",
            "SELECT 1 FROM docs WHERE \"match\"('a' || 'b', title)",
            "SELECT 1 FROM docs WHERE [match]('a', title)",
            "SELECT 1 FROM docs WHERE `like`('%' || 'b', title)",
            "SELECT 1, docs FROM docs WHERE 1",
            "SELECT 1 FROM docs WHERE docs = 'a'",
            "SELECT 1 FROM docs WHERE docs MATCH 'a' || 'b' /* that never ends",
            "SELECT 1 FROM docs d WHERE d.docs = replace('a', 'a', 'b')",
            "SELECT 1 FROM docs WHERE docs IN ('a')",
            "SELECT 1 FROM (SELECT docs AS m FROM docs) WHERE m = 'a' || 'b'",
            "WITH c(m) AS (SELECT title, docs FROM docs) SELECT 1 FROM c WHERE m = 'a'",
            "SELECT 1 FROM docs('a' || 'b')",
            "SELECT 1 FROM docs(title)",
            "SELECT 1 FROM 'docs'(title)",
            "SELECT 1 FROM main . \"docs\" (title)",
            "SELECT 1 FROM docs WHERE title LIKE '%' || body",
            "SELECT 1 FROM docs JOIN t USING (docs)",
            "SELECT 1 FROM docs, 'it''s'('a' || 'b')",
        ] {
            assert!(
                check(sql).is_err_and(|error| error.rule.as_deref() == Some("full-text")),
                "{sql}"
            );
        }
    }

    #[test]
    fn words_are_counted() {
        fn text(count: usize) -> String {
            vec!["a"; count].join(" ")
        }
        let matched =
            |count: usize| check(&format!("SELECT 1 FROM docs WHERE docs MATCH '{}'", text(count)));
        let argument = |count: usize| check(&format!("SELECT 1 FROM docs('{}')", text(count)));
        assert!(matched(WORDS).is_ok() && argument(WORDS).is_ok());
        assert!(
            matched(WORDS + 1).is_err_and(|error| error.position == Some(36))
                && argument(WORDS + 1).is_err()
        );
        assert!(
            check(&format!("SELECT 1 FROM docs WHERE docs MATCH '{}'", "a".repeat(BYTES))).is_err()
        );
        assert!(
            check(&format!("SELECT 1 FROM docs WHERE docs MATCH '\"{}\"'", "a_".repeat(WORDS + 1)))
                .is_err()
        );
        let many =
            |count: usize| vec![format!("docs MATCH '{}'", text(WORDS)); count].join(" AND ");
        assert!(check(&format!("SELECT 1 FROM docs WHERE {}", many(4))).is_ok());
        assert!(check(&format!("SELECT 1 FROM docs WHERE {}", many(5))).is_err());
    }

    #[test]
    fn a_view_is_not_in_the_statement() {
        let mut tables = Tables::default();
        tables.add("DÖCS", "");
        let mut search = Search::default();
        search.read(&tables, "döcs", "DÖCS");
        assert!(search.check("SELECT 1 FROM v", 1).is_err());
        assert!(search.check("SELECT 1 FROM \"DÖCS\" WHERE \"DÖCS\" = 'a' || 'b'", 0).is_err());
        assert!(Search::default().check("SELECT 1 FROM v", 1).is_ok());
    }
}
