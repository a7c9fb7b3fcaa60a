//! The functions that statements for engines without a list of their own may use: those that the
//! standard or nearly every engine has.

use sqlparser::dialect::{
    AnsiDialect, BigQueryDialect, Dialect as Grammar, GenericDialect, MySqlDialect,
    SnowflakeDialect,
};
use syrch_core::WordList;

use super::literal::{either_quote, quote_with_doubling};
use super::rules::{Form, Names, Rules};
use crate::grammar::Sqlite;

/// The functions, in order of the alphabet.
static LISTED: WordList = WordList::new(include_str!("../functions/standard.txt"));

static TYPES: WordList = WordList::new(include_str!("../types/standard.txt"));

/// Words that stand for a value of the session wherever a column may stand.
const VALUES: &[&str] = &[
    "current_catalog",
    "current_database",
    "current_date",
    "current_role",
    "current_schema",
    "current_time",
    "current_timestamp",
    "current_user",
    "curtime",
    "level",
    "localtime",
    "localtimestamp",
    "rownum",
    "session_user",
    "sysdate",
    "system_user",
    "systimestamp",
    "uid",
    "user",
];

const fn rules(
    grammar: &'static (dyn Grammar + Sync),
    names: Names,
    text: fn(&str) -> Option<String>,
) -> Rules {
    Rules {
        grammar,
        is_for_facts: false,
        listed: &LISTED,
        bare: &["current_date", "current_time", "current_timestamp"],
        values: VALUES,
        tables: Some(&[]),
        lambdas: &[],
        sized: &[],
        inserts: &[],
        series: &[],
        aggregates: &[],
        formats: &[],
        patterns: &[],
        types: &TYPES,
        names,
        ignores_case: true,
        system: &[
            "account_usage",
            "information_schema",
            "mysql",
            "performance_schema",
            "pg_catalog",
            "sys",
            "system",
        ],
        text,
        is_hex_text: false,
        forms: &[Form::GroupByModifier, Form::IgnoreNulls],
    }
}

pub(super) static SQLITE: Rules = rules(&Sqlite, Names::Quoted('"'), quote_with_doubling);
pub(super) static MYSQL: Rules = rules(&MySqlDialect {}, Names::Quoted('`'), quote_with_doubling);
pub(super) static ANSI: Rules = rules(&AnsiDialect {}, Names::Plain('"'), quote_with_doubling);
pub(super) static OTHER: Rules = rules(&GenericDialect, Names::Plain('"'), quote_with_doubling);
pub(super) static SNOWFLAKE: Rules =
    rules(&SnowflakeDialect, Names::Plain('"'), quote_with_doubling);
pub(super) static BIGQUERY: Rules = rules(&BigQueryDialect, Names::Quoted('`'), either_quote);

/// SQLite for statements whose rows do not depend on the plan.
pub(super) static DETERMINISTIC: Rules = Rules {
    listed: &crate::deterministic::SQLITE_FUNCTIONS,
    bare: &[],
    values: &["current_date", "current_time", "current_timestamp"],
    is_hex_text: true,
    system: &[],
    forms: &[],
    ..rules(&Sqlite, Names::Quoted('"'), quote_with_doubling)
};
