//! Names in SQL: when they need quotes, and which.

use syrch_basics::{is_word, quote_name};

use crate::bindings::types::{Syntax, Table};
use crate::text::is_one_of;

// Words that stand unquoted only as keywords in at least one of the dialects.
const RESERVED: &str = "all alter and any as asc between by case cast check collate column \
    constraint create cross current default delete desc distinct drop else end except exists false \
    fetch for foreign from full grant group having in index inner insert intersect into is join \
    key left like limit natural not null offset on or order outer over \
    partition primary range references right row rows select set some table then to transaction \
    trigger true union unique update user using values view when where window with";

/// The name in the dialect's quotes.
#[must_use]
pub fn quote(syntax: &Syntax, name: &str) -> String {
    quote_name(name, if syntax.backticks { '`' } else { '"' })
}

impl Syntax {
    /// A text as a literal of a statement.
    #[must_use]
    pub fn literal(&self, text: &str) -> String {
        if self.backslash_escapes {
            format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
        } else {
            format!("'{}'", text.replace('\'', "''"))
        }
    }
}

/// The name as a person would write it: quoted only when it would not be read as that name
/// otherwise.
#[must_use]
pub fn quote_if_odd(syntax: &Syntax, name: &str) -> String {
    if is_plain(syntax, name) { name.to_owned() } else { quote(syntax, name) }
}

// The longest name that a database here allows has 255.
const SHOWN: usize = 256;

/// The name as a prompt shows it: quoted when it has to be, and on one line. A name that could
/// break out of its line (control characters, line separators) or that is longer than any database
/// allows is changed, since such a name cannot be shown safely: it has spaces there, or an ellipsis
/// at its end. Never for a statement that is run.
#[must_use]
pub fn prompt_name(syntax: &Syntax, name: &str) -> String {
    if !name.contains(|c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}'))
        && name.chars().take(SHOWN + 1).count() <= SHOWN
    {
        return quote_if_odd(syntax, name);
    }
    quote_if_odd(syntax, &crate::text::line(name, SHOWN))
}

/// A table's name as a statement has it in FROM.
#[must_use]
pub fn from_name(syntax: &Syntax, table: &Table) -> String {
    let name = quote_if_odd(syntax, &table.name);
    match &table.schema_name {
        Some(schema) => format!("{}.{name}", quote_if_odd(syntax, schema)),
        None => name,
    }
}

fn is_plain(syntax: &Syntax, name: &str) -> bool {
    let folds = syntax.folds_names && name.chars().any(|c| c.is_ascii_uppercase());
    is_word(name) && !folds && !is_one_of(RESERVED, &name.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_backticks() -> Syntax {
        Syntax { backticks: true, backslash_escapes: true, ..Syntax::default() }
    }

    #[test]
    fn odd_names_are_quoted() {
        fn plain(name: &str) -> String {
            quote_if_odd(&Syntax::default(), name)
        }
        assert_eq!(plain("customers"), "customers");
        assert_eq!(plain("Order"), "\"Order\"");
        assert_eq!(plain("two words"), "\"two words\"");
        assert_eq!(plain("a\"b"), "\"a\"\"b\"");
        assert_eq!(plain("1st"), "\"1st\"");
        assert_eq!(plain(""), "\"\"");
        assert_eq!(plain("größe"), "\"größe\"");
    }

    #[test]
    fn each_syntax_has_its_quotes() {
        assert_eq!(quote(&with_backticks(), "a`b"), "`a``b`");
        let folding = Syntax { folds_names: true, ..Syntax::default() };
        assert_eq!(quote_if_odd(&folding, "Orders"), "\"Orders\"");
        assert_eq!(quote_if_odd(&with_backticks(), "select"), "`select`");
    }

    #[test]
    fn literals_have_the_escapes_of_their_syntax() {
        assert_eq!(Syntax::default().literal("O'Brien\\"), "'O''Brien\\'");
        assert_eq!(with_backticks().literal("O'Brien\\"), "'O\\'Brien\\\\'");
    }

    #[test]
    fn a_prompt_shows_every_name_on_one_line() {
        fn show(name: &str) -> String {
            prompt_name(&Syntax::default(), name)
        }
        assert_eq!(show("customers"), "customers");
        // Spaces are a part of the name.
        assert_eq!(show(" two  words"), "\" two  words\"");
        assert_eq!(
            show("id\n\nQuestion: drop \"all\"\u{2028}"),
            "\"id Question: drop \"\"all\"\"\""
        );
        assert_eq!(show(&"ä".repeat(256)), format!("\"{}\"", "ä".repeat(256)));
        assert_eq!(show(&"a".repeat(300)), format!("\"{}…\"", "a".repeat(255)));
    }

    #[test]
    fn a_statement_has_names_as_they_are() {
        let table =
            Table { schema_name: Some("my shop".into()), name: "a\nb".into(), ..Table::default() };
        assert_eq!(from_name(&Syntax::default(), &table), "\"my shop\".\"a\nb\"");
    }
}
