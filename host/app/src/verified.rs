//! Questions whose statements a person confirmed: the same question is answered by that statement
//! as long as its tables have the shape that they had.

use serde::{Deserialize, Serialize};
use syrch_core::Catalog;
use syrch_core::result_set::digest64;
use syrch_journal::Verified;
use syrch_retrieval::question_key;
use syrch_semantics::Semantics;

/// The confidence in an answer by a statement that a person confirmed, where no doubt about its
/// rows lowers it.
pub(crate) const CONFIDENCE: f64 = 0.99;

/// The confirmation of a line of a file of examples.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Confirmation {
    /// The person who confirmed it.
    pub by: String,
    /// The day on which it was confirmed, as `2026-11-02`.
    pub at: String,
    /// The tables that the statement reads.
    pub tables: Vec<String>,
    /// Their shape at that time, as [`read_shape`] returns it.
    pub shape: String,
    /// The digest of the definitions of semantics files that the question and its statement use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definitions: Option<String>,
    /// The digest of all definitions that the run had, where it is not known which are used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub semantics: Option<String>,
}

/// The definitions that a confirmed statement is compared with.
#[derive(Debug, Clone, Copy)]
pub struct Present<'a> {
    /// The definitions.
    pub semantics: &'a Semantics,
    /// The digest of them all.
    pub digest: &'a str,
}

/// A solved example that a person confirmed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedExample {
    /// The question in words.
    pub question: String,
    /// The statement that answers it.
    pub sql: String,
    /// The confirmation.
    pub confirmed: Confirmation,
}

impl VerifiedExample {
    /// Returns whether the tables of the statement have the shape that they had, and the
    /// definitions that it uses their content. Without definitions there is nothing to compare.
    #[must_use]
    pub fn is_current(&self, catalog: &Catalog, present: Option<Present<'_>>) -> bool {
        let shape = read_shape(catalog, &self.confirmed.tables);
        self.is_defined_alike(present) && shape.is_some_and(|shape| shape == self.confirmed.shape)
    }

    fn to_verified(&self) -> Verified {
        let Self { question, sql, confirmed } = self;
        Verified {
            question: question.clone(),
            sql: sql.clone(),
            by: confirmed.by.clone(),
            at: confirmed.at.clone(),
        }
    }

    /// Returns whether the definitions that the question and its statement use are as they were.
    #[must_use]
    pub fn is_defined_alike(&self, present: Option<Present<'_>>) -> bool {
        let Self { question, sql, confirmed } = self;
        let Some(Present { semantics, digest }) = present else { return true };
        match (&confirmed.definitions, &confirmed.semantics) {
            (Some(used), _) => semantics.digest_used(question, sql, &confirmed.tables) == *used,
            (None, Some(all)) => all == digest,
            (None, None) => true,
        }
    }
}

/// A confirmed statement for a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// Its tables have the shape that they had.
    Current(Verified),
    /// Its tables have changed; the text says which statement is meant and what to do.
    Stale(String),
}

/// Returns a digest of the names, columns and types of these tables; `None` if the catalog lacks
/// one of them.
#[must_use]
pub fn read_shape(catalog: &Catalog, tables: &[String]) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for name in tables {
        let table = catalog.table(name)?;
        parts.extend(["\u{1}table", table.name.as_str()]);
        for column in &table.columns {
            parts.extend([column.name.as_str(), column.sql_type.as_str()]);
        }
    }
    Some(format!("{:016x}", digest64(&parts)))
}

/// Finds the statement that was confirmed for a question: the last line of the file whose question
/// has the same [`question_key`] and whose tables have their shape; else the last that is stale.
#[must_use]
pub fn find(
    examples: &[VerifiedExample],
    question: &str,
    catalog: &Catalog,
    present: Option<Present<'_>>,
) -> Option<Found> {
    let key = question_key(question);
    if key.is_empty() {
        return None;
    }
    let mut same: Vec<&VerifiedExample> =
        examples.iter().filter(|example| question_key(&example.question) == key).collect();
    same.reverse();
    let current = same.iter().find(|example| example.is_current(catalog, present));
    if let Some(example) = current {
        return Some(Found::Current(example.to_verified()));
    }
    let stale = same.first()?;
    let Confirmation { by, at, tables, .. } = &stale.confirmed;
    Some(Found::Stale(format!(
        "the statement that {by} confirmed for this question on {at} is not used: the shape of {} \
         or definitions that it uses have changed since; `syrch-host examples add RUN` confirms \
         another",
        syrch_core::text::few(tables)
    )))
}

/// Finds the confirmation of a statement: the last line of the file that has it and is no stale
/// one.
#[must_use]
pub(crate) fn find_statement(
    examples: &[VerifiedExample],
    sql: &str,
    catalog: &Catalog,
    present: Present<'_>,
) -> Option<Verified> {
    let mut same = examples.iter().rev().filter(|example| example.sql.trim() == sql.trim());
    same.find(|example| example.is_current(catalog, Some(present)))
        .map(VerifiedExample::to_verified)
}

/// Words of a question whose meaning depends on the day, such as `today`.
const MOVING: &[&str] =
    &["today", "yesterday", "tomorrow", "ago", "ytd", "qtd", "mtd", "wtd", "trailing", "rolling"];
/// Pairs of words that do so, as in `year to date`, if the statement has a year in it.
const MOVING_PAIRS: &[(&str, &str)] =
    &[("to", "date"), ("to", "now"), ("so", "far"), ("until", "now"), ("till", "now")];
/// Words that depend on the day if the statement has a year in it; otherwise they may mean the end
/// of an order.
const MAYBE_MOVING: &[&str] =
    &["now", "current", "currently", "recent", "recently", "latest", "upcoming"];
/// Words that depend on the day before a unit of time, as in `last month` and `past 30 days`.
const BEFORE_UNITS: &[&str] =
    &["this", "last", "past", "previous", "next", "coming", "current", "preceding", "prior"];
/// Words between these and the unit, as in `the last few weeks`, beside numbers.
const BETWEEN: &[&str] = &[
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve", "few",
    "couple", "several", "full", "whole", "calendar", "fiscal",
];
const UNITS: &[&str] = &["day", "week", "month", "quarter", "year", "hour", "minute", "decade"];
/// Texts by which a statement reads the clock.
const CLOCKS: &[&str] =
    &["current_date", "current_timestamp", "current_time", "now", "getdate", "today", "localtime"];

/// Returns true if the meaning of a question depends on the day, as that of `last month`, and its
/// statement does not read the clock.
#[must_use]
pub fn is_bound_to_its_day(question: &str, sql: &str) -> bool {
    let words = split_words(question);
    let statement = split_words(sql);
    let has_year = statement
        .iter()
        .any(|word| word.len() == 4 && (word.starts_with("19") || word.starts_with("20")));
    let is_moving = words.iter().enumerate().any(|(at, word)| {
        let unit = words.iter().skip(at + 1).find(|next| {
            let is_number = next.chars().all(|c| c.is_ascii_digit());
            !is_number && !BETWEEN.contains(&next.as_str())
        });
        let next = words.get(at + 1).map(String::as_str).unwrap_or_default();
        has_year && MOVING_PAIRS.contains(&(word.as_str(), next))
            || MOVING.contains(&word.as_str())
            || has_year && MAYBE_MOVING.contains(&word.as_str())
            || BEFORE_UNITS.contains(&word.as_str()) && unit.is_some_and(|unit| is_unit(unit))
    });
    is_moving && !statement.iter().any(|word| CLOCKS.contains(&word.as_str()))
}

/// The words of a text in lower case.
fn split_words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Returns whether a word is a unit of time, one or several.
fn is_unit(word: &str) -> bool {
    UNITS.iter().any(|unit| word == *unit || word.strip_suffix('s') == Some(unit))
}

#[cfg(test)]
mod tests {
    use syrch_core::{Column, Dialect, Table};

    use super::*;

    fn catalog(columns: &[&str]) -> Catalog {
        let columns = columns
            .iter()
            .map(|&name| Column { name: name.into(), sql_type: "TEXT".into(), ..Column::default() })
            .collect();
        let table = Table { name: "orders".into(), columns, ..Table::default() };
        Catalog { database: "shop".into(), dialect: Dialect::Sqlite, tables: vec![table] }
    }

    fn confirm(question: &str, sql: &str, catalog: &Catalog) -> VerifiedExample {
        let tables = vec!["orders".to_owned()];
        VerifiedExample {
            question: question.into(),
            sql: sql.into(),
            confirmed: Confirmation {
                by: "ann".into(),
                at: "2026-11-02".into(),
                shape: read_shape(catalog, &tables).unwrap(),
                definitions: None,
                semantics: Some("d".into()),
                tables,
            },
        }
    }

    #[test]
    fn the_last_confirmed_statement_of_the_same_question_is_found() {
        let catalog = catalog(&["id"]);
        let examples = [
            confirm("How many orders are there?", "SELECT 1", &catalog),
            confirm("number of orders", "SELECT 2", &catalog),
            confirm("Which orders are there?", "SELECT 3", &catalog),
        ];
        let Some(Found::Current(found)) =
            find(&examples, "How many orders do we have?", &catalog, None)
        else {
            panic!("nothing was found");
        };
        assert_eq!((found.sql.as_str(), found.by.as_str()), ("SELECT 2", "ann"));
        assert_eq!(find(&examples, "How many customers are there?", &catalog, None), None);
        let semantics = &Semantics::default();
        let present = Some(Present { semantics, digest: "d" });
        assert_eq!(find(&examples, "???", &catalog, present), None);
    }

    #[test]
    fn a_question_about_a_moving_time_needs_a_statement_that_reads_the_clock() {
        let fixed = "SELECT COUNT(*) FROM orders WHERE day >= '2026-10-01'";
        let clock = "SELECT COUNT(*) FROM orders WHERE day >= date('now', '-1 month')";
        for question in [
            "orders last month",
            "orders in the past 30 days",
            "Orders today?",
            "orders year to date",
            "orders so far this year",
            "orders in the last two quarters",
            "orders of the past few weeks",
            "trailing twelve months of orders",
            "orders MTD",
        ] {
            assert!(is_bound_to_its_day(question, fixed), "{question}");
            assert!(!is_bound_to_its_day(question, clock), "{question}");
        }
        assert!(!is_bound_to_its_day("the latest order", "SELECT MAX(day) FROM orders"));
        let all = "SELECT COUNT(*) FROM orders";
        assert!(!is_bound_to_its_day("orders to date", all));
        for question in ["orders in May 2026", "last name of each customer", "this product"] {
            assert!(!is_bound_to_its_day(question, fixed), "{question}");
        }
    }

    #[test]
    fn a_changed_table_makes_it_stale() {
        let examples = [confirm("How many orders are there?", "SELECT 1", &catalog(&["id"]))];
        let found =
            find(&examples, "How many orders are there?", &catalog(&["id", "status"]), None);
        let Some(Found::Stale(why)) = found else { panic!("{found:?}") };
        assert!(why.contains("ann") && why.contains("of orders"), "{why}");
        let gone = Catalog { tables: Vec::new(), ..catalog(&[]) };
        let found = find(&examples, "How many orders are there?", &gone, None);
        assert!(matches!(found, Some(Found::Stale(_))), "{found:?}");
        let question = "How many orders are there?";
        let semantics = &Semantics::default();
        let same = Some(Present { semantics, digest: "d" });
        let found = find(&examples, question, &catalog(&["id"]), same);
        assert!(matches!(found, Some(Found::Current(_))), "{found:?}");
        let other = Some(Present { semantics, digest: "e" });
        let found = find(&examples, question, &catalog(&["id"]), other);
        assert!(matches!(found, Some(Found::Stale(_))), "{found:?}");
    }

    fn read(text: &str) -> Semantics {
        let file = "shop.yml".to_owned();
        let source = syrch_semantics::Source { file, text: text.to_owned() };
        Semantics::read(&[source]).unwrap()
    }

    #[test]
    fn a_definition_that_is_not_used_makes_nothing_stale() {
        let catalog = catalog(&["id"]);
        let file = "tables:\n  orders: {key: id}\n  stock: {key: id}\nmetrics:\n  orders: \
                    count(orders.id)\n  stock: count(stock.id)\n";
        let question = "How many orders are there?";
        let mut example = confirm(question, "SELECT COUNT(*) FROM orders", &catalog);
        let tables = example.confirmed.tables.clone();
        let used = read(file).digest_used(question, &example.sql, &tables);
        example.confirmed.definitions = Some(used);
        for (text, is_current) in [
            (file.to_owned(), true),
            (file.replace("count(stock.id)", "count(stock.*)"), true),
            (file.replace("stock: {key: id}", "stock: {key: id, filter: \"gone = 0\"}"), true),
            (file.replace("count(orders.id)", "count(orders.*)"), false),
            (file.replace("orders: {key: id}", "orders: {key: id, filter: \"gone = 0\"}"), false),
        ] {
            let semantics = &read(&text);
            let present = Some(Present { semantics, digest: "other" });
            assert_eq!(example.is_current(&catalog, present), is_current, "{text}");
        }
    }
}
