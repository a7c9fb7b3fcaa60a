//! The tab key: completes commands, and the names of tables and columns.

use rustyline::completion::{Completer, Pair};
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::Validator;
use rustyline::{Context, Helper};
use syrch::syrch_core::Catalog;

use super::line::COMMANDS;
use crate::sink::terminal;

/// The names that the tab key completes.
pub(super) struct Words {
    tables: Vec<String>,
    /// The names of tables and columns.
    names: Vec<String>,
}

impl Words {
    /// The names of a database. One that a terminal would obey is left out.
    pub(super) fn new(catalog: &Catalog) -> Self {
        let of_table = |table: &syrch::syrch_core::Table| {
            let columns = table.columns.iter().map(|column| column.name.clone());
            std::iter::once(table.name.clone()).chain(columns).collect::<Vec<_>>()
        };
        let harmless = |mut names: Vec<String>| {
            names.retain(|name| !name.is_empty() && !name.chars().any(terminal::is_dangerous));
            names.sort();
            names.dedup();
            names
        };
        Self {
            tables: harmless(catalog.tables.iter().map(|table| table.name.clone()).collect()),
            names: harmless(catalog.tables.iter().flat_map(of_table).collect()),
        }
    }

    /// Finds where the word before `end` begins, and the words that it may become.
    fn find(&self, line: &str, end: usize) -> (usize, Vec<&str>) {
        let before = line.get(..end).unwrap_or(line);
        fn is_word_char(c: char) -> bool {
            c.is_alphanumeric() || c == '_' || c == '\\'
        }
        let start = before
            .char_indices()
            .rev()
            .take_while(|(_, c)| is_word_char(*c))
            .last()
            .map_or(end, |(at, _)| at);
        let word = before.get(start..).unwrap_or_default();
        if word.starts_with('\\') && before.trim_start() == word {
            let names = COMMANDS.iter().map(|(name, ..)| *name);
            return (start, names.filter(|name| name.starts_with(word)).collect());
        }
        let names =
            if before.trim_start().starts_with("\\schema ") { &self.tables } else { &self.names };
        (
            start,
            names
                .iter()
                .map(String::as_str)
                .filter(|name: &&str| {
                    let head = name.chars().flat_map(char::to_lowercase).take(word.chars().count());
                    !word.is_empty() && head.eq(word.chars().flat_map(char::to_lowercase))
                })
                .collect(),
        )
    }
}

impl Completer for Words {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        pos: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        let (start, words) = self.find(line, pos);
        Ok((
            start,
            words
                .into_iter()
                .map(|word: &str| Pair { display: word.to_owned(), replacement: word.to_owned() })
                .collect(),
        ))
    }
}

impl Hinter for Words {
    type Hint = String;
}

impl Highlighter for Words {}

impl Validator for Words {}

impl Helper for Words {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words() -> Words {
        let names = ["customer_id", "customers", "odd name", "Ärzte"].map(str::to_owned).to_vec();
        Words { tables: names[1..].to_vec(), names }
    }

    #[test]
    fn commands_and_names_are_completed() {
        let words = words();
        let found = |line: &str| words.find(line, line.len());
        assert_eq!(found("\\s"), (0, vec!["\\schema", "\\sql"]));
        assert_eq!(found("\\schema Cust"), (8, vec!["customers"]));
        assert_eq!(found("\\sql SELECT Cust"), (12, vec!["customer_id", "customers"]));
        assert_eq!(found("how many ä"), (9, vec!["Ärzte"]));
        assert_eq!(found("\\sql SELECT "), (12, vec![]));
        assert_eq!(words.find("cust and more", 4).0, 0);
    }

    proptest! {
        #[test]
        fn any_place_in_any_line_will_do(
            line in any::<String>(), at in any::<prop::sample::Index>()
        ) {
            let ends: Vec<usize> =
                line.char_indices().map(|(at, _)| at).chain([line.len()]).collect();
            let end = *at.get(&ends);
            let words = words();
            let (start, _) = words.find(&line, end);
            prop_assert!(start <= end && line.is_char_boundary(start));
        }
    }
}
