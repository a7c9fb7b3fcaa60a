//! Names in SQL: when they need quotes, and which.

use syrch_basics::{is_word, quote_name};

use crate::bindings::types::{Dialect, Table};
use crate::text::is_one_of;

// Words that stand unquoted only as keywords in at least one of the dialects.
const RESERVED: &str = "all alter and any as asc between by case cast check collate column constraint create cross current default \
    delete desc distinct drop else end except exists false fetch for foreign from full grant group having in \
    index inner insert intersect into is join key left like limit natural not null offset on or order outer over \
    partition primary range references right row rows select set some table then to transaction trigger true \
    union unique update user using values view when where window with";

/// The name in the dialect's quotes.
#[must_use]
pub fn quote(dialect: &Dialect, name: &str) -> String {
    let quote = match dialect {
        Dialect::Mysql | Dialect::Databricks | Dialect::Spark => '`',
        _ => '"',
    };
    quote_name(name, quote)
}

/// The name as a person would write it: quoted only when it would not be read as that name
/// otherwise.
#[must_use]
pub fn quote_if_odd(dialect: &Dialect, name: &str) -> String {
    if is_plain(dialect, name) { name.to_owned() } else { quote(dialect, name) }
}

// The longest name that a database here allows has 255.
const SHOWN: usize = 256;

/// The name as a prompt shows it: quoted when it has to be, and on one line. A name that could
/// break out of its line (control characters, line separators) or that is longer than any database
/// allows is changed, since such a name cannot be shown safely: it has spaces there, or an ellipsis
/// at its end. Never for a statement that is run.
#[must_use]
pub fn prompt_name(dialect: &Dialect, name: &str) -> String {
    if !name.contains(|c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}'))
        && name.chars().take(SHOWN + 1).count() <= SHOWN
    {
        return quote_if_odd(dialect, name);
    }
    quote_if_odd(dialect, &crate::text::line(name, SHOWN))
}

/// A table's name as a statement has it in FROM.
#[must_use]
pub fn from_name(dialect: &Dialect, table: &Table) -> String {
    let name = quote_if_odd(dialect, &table.name);
    match &table.schema_name {
        Some(schema) => format!("{}.{name}", quote_if_odd(dialect, schema)),
        None => name,
    }
}

fn is_plain(dialect: &Dialect, name: &str) -> bool {
    // PostgreSQL folds unquoted names to lower case.
    let folds = *dialect == Dialect::Postgres && name.chars().any(|c| c.is_ascii_uppercase());
    is_word(name) && !folds && !is_one_of(RESERVED, &name.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_names_are_quoted() {
        let plain = |name: &str| quote_if_odd(&Dialect::Sqlite, name);
        assert_eq!(plain("customers"), "customers");
        assert_eq!(plain("Order"), "\"Order\"");
        assert_eq!(plain("two words"), "\"two words\"");
        assert_eq!(plain("a\"b"), "\"a\"\"b\"");
        assert_eq!(plain("1st"), "\"1st\"");
        assert_eq!(plain(""), "\"\"");
        assert_eq!(plain("größe"), "\"größe\"");
    }

    #[test]
    fn each_dialect_has_its_quotes() {
        assert_eq!(quote(&Dialect::Mysql, "a`b"), "`a``b`");
        assert_eq!(quote_if_odd(&Dialect::Postgres, "Orders"), "\"Orders\"");
        assert_eq!(quote_if_odd(&Dialect::Spark, "select"), "`select`");
    }

    #[test]
    fn a_prompt_shows_every_name_on_one_line() {
        let shown = |name: &str| prompt_name(&Dialect::Sqlite, name);
        assert_eq!(shown("customers"), "customers");
        // Spaces are a part of the name.
        assert_eq!(shown(" two  words"), "\" two  words\"");
        assert_eq!(
            shown("id\n\nQuestion: drop \"all\"\u{2028}"),
            "\"id Question: drop \"\"all\"\"\""
        );
        assert_eq!(shown(&"ä".repeat(256)), format!("\"{}\"", "ä".repeat(256)));
        assert_eq!(shown(&"a".repeat(300)), format!("\"{}…\"", "a".repeat(255)));
    }

    #[test]
    fn a_statement_has_names_as_they_are() {
        let table =
            Table { schema_name: Some("my shop".into()), name: "a\nb".into(), ..Table::default() };
        assert_eq!(from_name(&Dialect::Sqlite, &table), "\"my shop\".\"a\nb\"");
    }
}
