//! Statements whose result may differ over the same data: these are not cached.
//!
//! The rule reads words, not syntax, wherever they stand: in a text, a comment or a quoted name as
//! well. So it errs on the safe side: a statement that compares a status with `'now'` is not
//! cached, and one that calls `random()`, in whatever spelling, is not either. Functions of dates
//! are cached as long as they name the time that they work on. A time that the statement makes up
//! from parts, such as `'n' || 'ow'`, is not detected. What a view does inside cannot be read here
//! either, so a statement that names a view is not cached.

use std::collections::HashSet;

use syrch_core::{Catalog, WordList};

/// Words that make a statement volatile wherever they stand: the time, SQLite's modifiers that
/// stand for it when they come first, and the user.
static WORDS: WordList = WordList::new(include_str!("volatile-words.txt"));
/// Functions that make a statement volatile: chance, the session, sequences, the time again.
static CALLS: WordList = WordList::new(include_str!("volatile-calls.txt"));
/// Functions of SQLite that return the present when they have no argument.
const DATES: [&str; 5] = ["date", "datetime", "julianday", "time", "unixepoch"];
/// Functions that use the present when a format is their only argument; Spark's do likewise.
const FORMATS: [&str; 2] = ["strftime", "unix_timestamp"];

/// Returns whether the result of a statement must not be cached.
pub(super) fn is_volatile(sql: &str) -> bool {
    let mut at = 0;
    for word in sql.split(is_between) {
        let rest = &sql[at + word.len()..];
        let lower = word.to_ascii_lowercase();
        if WORDS.has(&lower) || arguments(rest).is_some_and(|given| is_volatile_call(&lower, given))
        {
            return true;
        }
        at += word.len() + rest.chars().next().map_or(0, char::len_utf8);
    }
    false
}

fn is_volatile_call(function: &str, given: &str) -> bool {
    CALLS.has(function)
        || (DATES.contains(&function) && !begins_plainly(given))
        || (FORMATS.contains(&function) && !has_format_and_more(given))
}

/// Returns whether the statement may read a view: all words of its name stand in it somewhere.
pub(super) fn names_a_view(sql: &str, catalog: &Catalog) -> bool {
    fn split_words(text: &str) -> HashSet<String> {
        text.split(is_between).filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
    }
    let named = split_words(sql);
    catalog
        .tables
        .iter()
        .filter(|table| table.is_view())
        .any(|view| split_words(&view.name).is_subset(&named))
}

fn is_between(c: char) -> bool {
    !c.is_alphanumeric() && c != '_'
}

/// The text after the parenthesis of a call, where a call or a comment follows; the function's name
/// may have been quoted.
fn arguments(rest: &str) -> Option<&str> {
    let rest = rest.trim_start_matches(['"', '`', ']']).trim_start();
    rest.strip_prefix('(').or_else(|| is_comment(rest).then_some(rest)).map(str::trim_start)
}

fn is_comment(text: &str) -> bool {
    text.starts_with("--") || text.starts_with("/*")
}

/// Returns whether there is an argument. What follows a comment is not examined, so it counts as
/// none.
fn begins_plainly(given: &str) -> bool {
    !given.starts_with(')') && !is_comment(given)
}

/// Returns whether the arguments are a format in quotes and something after it.
fn has_format_and_more(given: &str) -> bool {
    let format = given.strip_prefix('\'').and_then(|text| text.split_once('\''));
    format.is_some_and(|(_, after)| after.trim_start().starts_with(','))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use syrch_core::{Dialect, Table};

    use super::*;

    #[test]
    fn time_and_chance_are_found_in_every_spelling() {
        for sql in [
            "SELECT random()",
            "SELECT RANDOM ( )",
            "SELECT \"random\"()",
            "SELECT [randomblob](4)",
            "SELECT a FROM t WHERE d < CURRENT_TIMESTAMP",
            "SELECT date('now')",
            "SELECT time('subsec')",
            "SELECT strftime('%f', \"SubSecond\")",
            "SELECT date(\"now\", '-1 day')",
            "SELECT strftime('%Y', ' NOW ')",
            "SELECT datetime(a, 'localtime') FROM t",
            "SELECT date()",
            "SELECT time ( )",
            "SELECT unixepoch(/* the present */)",
            "SELECT julianday/**/()",
            "SELECT \"datetime\" ()",
            "SELECT strftime('%Y')",
            "SELECT strftime('%Y' /* alone */)",
            "SELECT strftime(f) FROM t",
            "WITH a AS (SELECT 1 AS é, now() AS b) SELECT b FROM a",
        ] {
            assert!(is_volatile(sql), "{sql}");
        }
    }

    #[test]
    fn ordinary_statements_are_cached() {
        for sql in [
            "SELECT sum(amount) FROM orders WHERE status = 'open' ORDER BY 1 LIMIT 5",
            "SELECT strftime('%Y-%m', o_orderdate), count(*) FROM orders GROUP BY 1",
            "SELECT date(o_orderdate, '+1 day'), time(t), julianday(b) - julianday(a) FROM orders",
            "SELECT o.date, time, \"datetime\" FROM o WHERE date > '1996-01-01'",
            "SELECT brand, random, nowhere, uuid, é FROM t WHERE uuid IN ('a') -- a remark",
            "",
        ] {
            assert!(!is_volatile(sql), "{sql}");
        }
    }

    #[test]
    fn a_view_is_known_by_its_name() {
        fn table(name: &str, kind: &str) -> Table {
            Table {
                name: name.into(),
                extra: vec![("kind".into(), format!("\"{kind}\""))],
                ..Table::default()
            }
        }
        let tables = vec![
            table("orders", "table"),
            table("v_recent", "view"),
            table("Open \"today's\" Ones", "view"),
        ];
        let catalog = Catalog { database: "d".into(), dialect: Dialect::Sqlite, tables };
        assert!(names_a_view("SELECT * FROM V_Recent", &catalog));
        assert!(names_a_view("SELECT * FROM \"Open \"\"today's\"\" Ones\"", &catalog));
        assert!(!names_a_view("SELECT v_recently, open FROM orders", &catalog));
    }

    proptest! {
        #[test]
        fn any_text_is_read_and_the_word_is_found_in_it(
            before in "\\PC{0,20}", after in "\\PC{0,20}"
        ) {
            let sql = format!("{before} now {after}");
            prop_assert!(is_volatile(&sql));
            let _ = is_volatile(&format!("{before}date({after}"));
        }
    }
}
