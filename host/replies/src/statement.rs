//! SQL in prose: where a statement begins and ends, and whether it is one.
//!
//! This distinguishes statements from prose only; whether a statement may run is decided by the
//! executor's guard.

use std::ops::Range;

use sqlparser::ast::Statement;
use sqlparser::dialect::{
    DatabricksDialect, Dialect, DuckDbDialect, GenericDialect, MySqlDialect, PostgreSqlDialect,
    SQLiteDialect, dialect_from_str,
};
use sqlparser::parser::{Parser, ParserOptions};
use syrch_core::Limits;

/// Bytes parsed for one reply, all attempts together.
const PARSE_BYTES: usize = 1 << 20;
/// Bytes of prose that are searched for the ends of statements, those of one reply together.
const PROSE_BYTES: usize = 1 << 20;
/// Bytes that an attempt counts in addition to its own.
const ATTEMPT_BYTES: usize = 256;
/// Bytes that are weighed for what the parsing of one costs.
const WEIGHING: usize = 16;
/// Statements of one piece of code that are examined; if there are more, the first ones.
const MAX_STATEMENTS: usize = 64;
/// Words and operators of a statement that is parsed at most: a chain of operators is as deep as it
/// is long.
const MAX_WEIGHT: usize = 10_000;
/// Places that are tried as the end of one statement.
const MAX_CUTS: usize = 160;
/// The parser's own limit of nesting.
const RECURSION: usize = 200;

/// The kind of a statement; a greater one is preferred.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Standing {
    /// A statement that parses and is no query.
    Other,
    /// A statement that does not parse.
    Broken,
    /// A query that parses.
    Query,
}

/// The keyword at the beginning of the text, if it begins a query.
pub(crate) fn first_keyword(text: &str) -> Option<&'static str> {
    let text = text.trim_start_matches(|c: char| c.is_whitespace() || c == '(');
    let size = text.bytes().take_while(u8::is_ascii_alphabetic).count();
    let ends = !text[size..].starts_with(|c: char| c.is_alphanumeric() || c == '_');
    ["SELECT", "WITH", "VALUES"]
        .into_iter()
        .find(|word| ends && word.eq_ignore_ascii_case(&text[..size]))
}

/// Returns true if text that does not parse is still more likely a query than a sentence.
pub(crate) fn looks_like_query(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().take(400).collect();
    let is = |at: usize, word: &str| words.get(at).is_some_and(|w| w.eq_ignore_ascii_case(word));
    match first_keyword(text) {
        Some("SELECT") => {
            let head = words.first().unwrap_or(&"").trim_start_matches('(');
            let even = head.chars().all(char::is_uppercase) || head.chars().all(char::is_lowercase);
            even && words.iter().any(|word| word.eq_ignore_ascii_case("FROM"))
        }
        Some("WITH") => {
            let name = if is(1, "RECURSIVE") { 2 } else { 1 };
            let is_name = words.get(name).is_some_and(|word| !word.ends_with([',', '.', ':', ';']));
            let is_as = |at: usize| {
                is(at, "AS") && words.get(at + 1).is_some_and(|word| word.starts_with('('))
            };
            is_name && is_as(name + 1)
                || words.get(name).is_some_and(|word| word.contains('('))
                    && words.iter().any(|word| word.eq_ignore_ascii_case("AS"))
        }
        _ => false,
    }
}

/// The grammar of a catalog's dialect; the generic one for a dialect that the parser does not know.
#[must_use]
pub fn grammar(dialect: &syrch_core::Dialect) -> Box<dyn Dialect> {
    dialect_from_str(dialect.grammar()).unwrap_or_else(|| Box::new(GenericDialect))
}

/// A parser whose statements keep their literals as they are written, where a backslash escapes
/// within them: what is parsed and written again means the same.
#[must_use]
pub fn parser(grammar: &dyn Dialect) -> Parser<'_> {
    let options = ParserOptions::new()
        .with_trailing_commas(grammar.supports_trailing_commas())
        .with_unescape(!grammar.supports_string_literal_backslash_escape());
    Parser::new(grammar).with_options(options)
}

/// Reads statements out of one reply, with a bound on the work for all of them.
pub(crate) struct Reader {
    sql_bytes: usize,
    /// Bytes that may still be parsed.
    left: usize,
    /// Bytes of prose that may still be searched for the end of a statement.
    prose: usize,
}

impl Reader {
    /// A reader for one reply.
    pub(crate) fn new(limits: &Limits) -> Self {
        Self { sql_bytes: limits.sql_bytes, left: PARSE_BYTES, prose: PROSE_BYTES }
    }

    /// The kind of the text, if it is exactly one statement of a common dialect.
    pub(crate) fn classify(&mut self, sql: &str) -> Option<Standing> {
        let dialects: [&dyn Dialect; 6] = [
            &GenericDialect {},
            &SQLiteDialect {},
            &PostgreSqlDialect {},
            &MySqlDialect {},
            &DuckDbDialect {},
            &DatabricksDialect {},
        ];
        // To weigh a statement is work, too.
        if sql.len() > self.sql_bytes || sql.len() > self.left {
            return None;
        }
        self.left -= sql.len() / WEIGHING;
        if weight(sql) > MAX_WEIGHT {
            return None;
        }
        dialects.into_iter().find_map(|dialect| {
            self.left = self.left.checked_sub(sql.len() + ATTEMPT_BYTES)?;
            let parsed = Parser::new(dialect)
                .with_recursion_limit(RECURSION)
                .try_with_sql(sql)
                .and_then(|mut parser| parser.parse_statements())
                .ok()?;
            match parsed.as_slice() {
                [Statement::Query(_)] => Some(Standing::Query),
                [_] => Some(Standing::Other),
                _ => None,
            }
        })
    }

    /// The statements of a place with code, without the comments before each.
    pub(crate) fn split(&self, text: &str, place: Range<usize>) -> Vec<Range<usize>> {
        let mut parts = Vec::new();
        let mut from = place.start;
        for end in find_separators(&text[place.clone()])
            .into_iter()
            .map(|at| place.start + at)
            .chain([place.end])
        {
            let start = end - without_comments(&text[from..end]).len();
            let size = text[start..end].trim_end().len();
            if size > 0 {
                parts.push(start..start + size);
            }
            from = (end + 1).min(place.end);
        }
        parts.truncate(MAX_STATEMENTS);
        parts
    }

    /// The end of the longest query that begins at `start`, if there is one.
    pub(crate) fn find_longest(&mut self, text: &str, start: usize) -> Option<usize> {
        let region = self.end_of_region(text, start);
        list_possible_ends(&text[start..region], text[..start].chars().next_back())
            .into_iter()
            .find_map(|size| {
                let sql = text[start..start + size].trim_end();
                // A write that begins like a query is a statement, too: the guard refuses it with
                // its name.
                self.classify(sql).map(|_| start + sql.len())
            })
    }

    /// Returns the place where a statement that does not parse most likely ends: at its semicolon
    /// or the end of its paragraph.
    pub(crate) fn first_end(&self, text: &str, start: usize) -> usize {
        let region = self.end_of_region(text, start);
        let inside = &text[start..region];
        let paragraph = find_blank_line(inside).unwrap_or(inside.len());
        start + inside[..paragraph].trim_end().len()
    }

    /// The part of a text that may belong to a statement by its size.
    fn clip_to_size<'t>(&self, text: &'t str) -> &'t str {
        syrch_core::text::clip(text, self.sql_bytes)
    }

    /// The part of a prose that may belong to a statement by its size; `None` if too much of the
    /// reply has been searched.
    pub(crate) fn take<'t>(&mut self, text: &'t str) -> Option<&'t str> {
        let near = self.clip_to_size(text);
        self.prose = self.prose.checked_sub(near.len())?;
        Some(near)
    }

    /// The end of the text that may belong to a statement: its semicolon, or its greatest size.
    fn end_of_region(&self, text: &str, start: usize) -> usize {
        let inside = self.clip_to_size(&text[start..]);
        start + find_separators(inside).first().copied().unwrap_or(inside.len())
    }
}

/// About the number of words and operators outside quotes and comments: a bound on the depth to
/// which a parser may recurse.
#[must_use]
pub fn weight(sql: &str) -> usize {
    let mut in_word = false;
    sql.bytes()
        .filter(|byte| {
            let is_letter = byte.is_ascii_alphabetic() || *byte == b'_';
            let begins = is_letter && !in_word;
            in_word = is_letter || in_word && byte.is_ascii_digit();
            begins || b"+-*/%|&^<>=!~:[(".contains(byte)
        })
        .count()
}

/// Returns true if the last thing of a statement is a semicolon, and not one in a text or a
/// comment.
pub(crate) fn ends_with_separator(text: &str) -> bool {
    let text = text.trim_end();
    find_separators(text).last().is_some_and(|at| without_comments(&text[at + 1..]).is_empty())
}

/// The places of semicolons outside quotes and comments.
fn find_separators(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    fn position_after(text: &str, from: usize, end: &str) -> Option<usize> {
        text.get(from..).and_then(|rest| rest.find(end)).map(|offset| from + offset + end.len())
    }
    while at < bytes.len() {
        let next = match bytes[at] {
            b';' => {
                found.push(at);
                Some(at + 1)
            }
            quote @ (b'\'' | b'"' | b'`') => bytes[at + 1..]
                .iter()
                .position(|byte| *byte == quote)
                .map(|offset| at + 1 + offset + 1),
            b'-' if bytes[at..].starts_with(b"--") => position_after(text, at, "\n"),
            b'/' if bytes[at..].starts_with(b"/*") => position_after(text, at + 2, "*/"),
            _ => Some(at + 1),
        };
        let Some(next) = next else { break };
        at = next;
    }
    found
}

/// The text without white space and comments at its head.
fn without_comments(text: &str) -> &str {
    let mut rest = text.trim_start();
    loop {
        let next = if rest.starts_with("--") {
            rest.split_once('\n').map_or("", |(_, next)| next)
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.split_once("*/").map_or("", |(_, next)| next)
        } else {
            return rest;
        };
        rest = next.trim_start();
    }
}

/// Returns the place where the first empty line begins.
fn find_blank_line(text: &str) -> Option<usize> {
    text.match_indices('\n').map(|(at, _)| at).find(|at| {
        let rest = text[at + 1..].trim_start_matches([' ', '\t', '\r']);
        rest.starts_with('\n')
    })
}

/// Sizes at which a statement in prose may end, the longest first: ends of lines and of sentences,
/// and the quote that `before` opened. A line that continues the SQL is never removed, since a part
/// of a statement would mean something else.
fn list_possible_ends(text: &str, before: Option<char>) -> Vec<usize> {
    let quote = before.filter(|c| "`\"'".contains(*c));
    let mut sizes = vec![text.len()];
    for (at, c) in text.char_indices() {
        let rest = &text[at + c.len_utf8()..];
        let ends = match c {
            '\n' => !continues_statement(rest),
            '.' => {
                rest.is_empty()
                    || rest.starts_with(char::is_whitespace) && !continues_statement(rest)
            }
            _ => quote == Some(c),
        };
        if ends {
            sizes.push(at);
        }
        if sizes.len() > MAX_CUTS {
            break;
        }
    }
    sizes.sort_unstable();
    sizes.dedup();
    sizes.reverse();
    let (doubtful, mut sure): (Vec<_>, Vec<_>) =
        sizes.into_iter().partition(|size| ends_in_a_remark(&text[..*size]));
    sure.extend(doubtful);
    sure
}

/// Returns true if the last line is one capitalised word, such as `Done`: it would parse as an
/// alias, but is more likely prose.
fn ends_in_a_remark(text: &str) -> bool {
    let Some((before, last)) = text.trim_end().rsplit_once('\n') else { return false };
    let mut letters = last.trim().chars();
    letters.next().is_some_and(char::is_uppercase)
        && letters.clone().count() > 0
        && letters.all(char::is_lowercase)
        && !before.trim_end().ends_with([',', '(', '='])
}

/// Returns true if a text begins with a word or a sign that continues a statement, rather than with
/// a sentence of prose.
pub(crate) fn continues_statement(text: &str) -> bool {
    const WORDS: [&str; 34] = [
        "from",
        "where",
        "group",
        "order",
        "having",
        "limit",
        "offset",
        "join",
        "left",
        "right",
        "inner",
        "outer",
        "full",
        "cross",
        "natural",
        "on",
        "using",
        "and",
        "or",
        "not",
        "union",
        "except",
        "intersect",
        "select",
        "case",
        "when",
        "then",
        "else",
        "end",
        "between",
        "in",
        "as",
        "window",
        "with",
    ];
    let text = without_comments(syrch_core::text::clip(text, 256));
    let word: String =
        text.chars().take_while(char::is_ascii_alphabetic).collect::<String>().to_ascii_lowercase();
    // Prose begins a sentence with a capital: `On the whole` ends a statement, `ON` and `on` do
    // not.
    let is_sentence = text.starts_with(|c: char| c.is_ascii_uppercase())
        && text[1..].starts_with(|c: char| c.is_ascii_lowercase());
    text.starts_with([',', ')', '(', '+', '|', '=', '<', '>', '/', '%'])
        || WORDS.contains(&word.as_str()) && !is_sentence
}

/// Returns true if a text begins with a keyword that only a part of a statement begins with.
pub(crate) fn begins_clause(text: &str) -> bool {
    const WORDS: [&str; 14] = [
        "where",
        "group",
        "order",
        "having",
        "limit",
        "join",
        "left",
        "inner",
        "union",
        "except",
        "intersect",
        "and",
        "or",
        "from",
    ];
    let text = text.trim_start();
    let size = text.bytes().take(12).take_while(u8::is_ascii_alphabetic).count();
    let is_word = text[size..].starts_with(char::is_whitespace);
    is_word && WORDS.iter().any(|word| word.eq_ignore_ascii_case(&text[..size]))
}

/// Returns true if a statement may go on with the text behind a mark that should end it. Only a
/// text that is certainly prose does not: one on a new line that continues nothing, or a sentence.
pub(crate) fn may_go_on(behind: &str) -> bool {
    let near = syrch_core::text::clip(behind, 1_024);
    let text = without_comments(near);
    let Some(first) = text.chars().next() else {
        return !near.trim().is_empty() || near.len() < behind.len();
    };
    let is_new_line = near[..near.len() - text.len()].contains('\n');
    let is_list = text.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with(['.', ')']);
    if first == ';' || first.is_ascii_digit() && is_new_line && is_list {
        return false;
    }
    if first.is_ascii_digit()
        || "'\"`.".contains(first)
        || continues_statement(text)
        || begins_clause(text)
    {
        return true;
    }
    const WORDS: [&str; 12] = [
        "is", "like", "ilike", "glob", "desc", "asc", "collate", "nulls", "over", "filter",
        "regexp", "qualify",
    ];
    let is_sentence = first.is_uppercase() && text.chars().nth(1).is_some_and(char::is_lowercase);
    let word: String = text.chars().take_while(char::is_ascii_alphabetic).take(12).collect();
    let is_keyword = WORDS.iter().any(|known| known.eq_ignore_ascii_case(&word));
    if is_new_line { is_keyword && !is_sentence } else { is_keyword || !is_sentence }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reader() -> Reader {
        Reader::new(&Limits::default())
    }

    #[test]
    fn statements_are_distinguished() {
        assert_eq!(reader().classify("SELECT [a b], `c` FROM \"order\""), Some(Standing::Query));
        assert_eq!(reader().classify("VALUES (1), (2)"), Some(Standing::Query));
        assert_eq!(reader().classify("DROP TABLE t"), Some(Standing::Other));
        assert_eq!(reader().classify("SELECT 1; SELECT 2"), None);
        assert_eq!(reader().classify("With pleasure"), None);
        assert_eq!(reader().classify(&format!("SELECT 1{}", " + 1".repeat(11_000))), None);
    }

    #[test]
    fn statements_of_every_engine_are_recognised() {
        for sql in [
            "SELECT a // 2, list_transform(l, x -> x + 1) FROM t QUALIFY row_number() OVER \
             (ORDER BY a) = 1",
            "SELECT * EXCLUDE (a) FROM 'x.parquet' GROUP BY ALL",
            "SELECT t.a FROM t SEMI JOIN u ON t.a = u.a",
            "SELECT `a`, b.c.d FROM `my catalog`.s.t LATERAL VIEW explode(l) e AS x \
             WHERE n = 'it\\'s'",
            "SELECT a DIV 2, d - INTERVAL 7 DAYS, TRY_CAST(a AS DOUBLE) FROM t LIMIT 3 OFFSET 1",
            "SELECT a::DATE, x ILIKE 'a%' FROM t TABLESAMPLE (10 PERCENT)",
        ] {
            assert_eq!(reader().classify(sql), Some(Standing::Query), "{sql}");
        }
    }

    #[test]
    fn a_literal_that_is_written_again_means_the_same() {
        for dialect in [
            syrch_core::Dialect::Spark,
            syrch_core::Dialect::Databricks,
            syrch_core::Dialect::Mysql,
        ] {
            let sql = r"SELECT 'it\'s', 'a\\b' FROM t";
            let grammar = grammar(&dialect);
            let written = parser(&*grammar).try_with_sql(sql).unwrap().parse_statements().unwrap()
                [0]
            .to_string();
            assert_eq!(written, sql, "{dialect:?}");
        }
        let sql = "SELECT 'it''s', 'a\\b' FROM t";
        let grammar = grammar(&syrch_core::Dialect::Duckdb);
        assert_eq!(
            parser(&*grammar).try_with_sql(sql).unwrap().parse_statements().unwrap()[0].to_string(),
            sql
        );
    }

    #[test]
    fn the_longest_chain_that_is_parsed_fits_a_small_stack() {
        let chain = format!("SELECT 1{}", "+1".repeat(MAX_WEIGHT - 2));
        let small = std::thread::Builder::new().stack_size(2 << 20);
        let standing = small.spawn(move || reader().classify(&chain)).unwrap().join().unwrap();
        assert_eq!(standing, Some(Standing::Query));
    }

    #[test]
    fn semicolons_in_quotes_and_comments_separate_nothing() {
        let text = "-- a;b\nSELECT ';', \"x;\" /* ; */ ; SELECT 2";
        let parts: Vec<&str> =
            reader().split(text, 0..text.len()).into_iter().map(|part| &text[part]).collect();
        assert_eq!(parts, ["SELECT ';', \"x;\" /* ; */", "SELECT 2"]);
    }

    #[test]
    fn lines_that_continue_a_statement_are_not_removed() {
        assert_eq!(reader().find_longest("SELECT a FROM t\nWHERE = 1", 0), None);
        assert_eq!(reader().find_longest("SELECT a FROM t\nOn the whole, fine", 0), Some(15));
    }

    #[test]
    fn a_remark_is_no_alias_but_a_name_on_its_own_line_stays() {
        assert_eq!(reader().find_longest("SELECT a\nFROM t\n\nDone.", 0), Some(15));
        let text = "SELECT\n  Name\nFROM\n  Customers";
        assert_eq!(reader().find_longest(text, 0), Some(text.len()));
    }

    #[test]
    fn queries_are_recognised_though_they_do_not_parse() {
        assert!(looks_like_query("select a b c d from t"));
        assert!(looks_like_query("WITH RECURSIVE a AS (SELECT"));
        assert!(looks_like_query("WITH a(x, y) AS (SELECT"));
        assert!(!looks_like_query("Select whatever from the list"));
        assert!(!looks_like_query("With pleasure, as (you) wish"));
    }
}
