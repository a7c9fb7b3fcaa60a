//! The forms and functions that statements for PostgreSQL may use. Volatility is no measure for
//! functions: `repeat` is immutable and can fill the memory, `current_setting` is stable and
//! discloses the server's settings.

use syrch_core::WordList;

use super::rules::{Form, Names, Rules};
use crate::grammar::Postgres;

/// The functions, in order of the alphabet.
pub(crate) static LISTED: WordList = WordList::new(include_str!("../functions/postgres.txt"));

/// Types that the parser has no word for: those of the server that hold plain values. Types that
/// resolve names (`regclass`) or that users made, whose checks and conversions are code, are not
/// among them.
static TYPES: WordList = WordList::new(include_str!("../types/postgres.txt"));

/// The rules for statements for PostgreSQL.
pub(super) static RULES: Rules = Rules {
    grammar: &Postgres,
    is_for_facts: true,
    listed: &LISTED,
    bare: &["current_date", "current_time", "current_timestamp", "localtime", "localtimestamp"],
    // A quoted name is a column's here.
    values: &[],
    tables: None,
    lambdas: &[],
    sized: &[("lpad", 1), ("repeat", 1), ("rpad", 1)],
    inserts: &[],
    series: &[],
    aggregates: &[],
    formats: &["format"],
    patterns: &[],
    types: &TYPES,
    names: Names::Folded,
    ignores_case: false,
    system: &["information_schema"],
    text: super::literal::quote_with_prefix,
    is_hex_text: true,
    forms: &[
        Form::ArrayQuery,
        Form::DistinctOn,
        Form::JsonOperators,
        Form::NamedArguments,
        Form::PostgresOperators,
        Form::RegexOperators,
        Form::Row,
    ],
};

#[cfg(test)]
mod tests {
    #[test]
    fn no_type_resolves_names() {
        assert!(super::TYPES.words().iter().all(|name| !name.starts_with("reg")));
    }
}
