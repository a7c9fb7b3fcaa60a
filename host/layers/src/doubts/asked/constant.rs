//! A statement that reads no table where the question asks about the data: its result is the same
//! whatever the database holds.

use syrch_core::ports::{Database, Facts, SqlQuery};
use syrch_core::{Catalog, Doubt, DoubtKind};
use syrch_words::stem;

use super::question::{Question, stems};

/// Words of a question about the clock, the calendar or arithmetic, which no table answers.
const OUTSIDE: &[&str] = &[
    "clock",
    "cube",
    "date",
    "day",
    "days",
    "divided",
    "equal",
    "equals",
    "hour",
    "hours",
    "minus",
    "minute",
    "minutes",
    "month",
    "months",
    "multiplied",
    "now",
    "percent",
    "pi",
    "plus",
    "root",
    "second",
    "seconds",
    "time",
    "times",
    "today",
    "tomorrow",
    "weekday",
    "week",
    "weeks",
    "year",
    "years",
    "yesterday",
];
/// Words that may stand beside those.
const BESIDE: &[&str] = &[
    "a",
    "add",
    "after",
    "ago",
    "and",
    "are",
    "at",
    "before",
    "between",
    "by",
    "calculate",
    "compute",
    "current",
    "does",
    "from",
    "give",
    "how",
    "in",
    "is",
    "it",
    "local",
    "many",
    "me",
    "of",
    "on",
    "please",
    "power",
    "right",
    "s",
    "show",
    "square",
    "tell",
    "the",
    "there",
    "this",
    "to",
    "utc",
    "was",
    "what",
    "which",
    "will",
];
/// Parts of statements that may read what is not among the tables of its facts.
const READERS: &[&str] = &[
    "duckdb_",
    "pg_",
    "pragma_",
    "query(",
    "query_table(",
    "read_",
    "_scan",
    "sqlite_",
    "table ",
    "to_xml",
];

/// The doubt about a result that does not depend on the database, which `query` is sent to.
pub(super) async fn find(
    question: &Question,
    facts: &Facts,
    catalog: &Catalog,
    query: &SqlQuery,
    database: &dyn Database,
) -> Option<Doubt> {
    if !asks_about_data(question, catalog) {
        return None;
    }
    if let Some(text) = describe_constant(&facts.normalized, facts) {
        return Some(Doubt { kind: DoubtKind::NoTable, text: text.to_owned() });
    }
    if !reads_nothing(facts) {
        return None;
    }
    if !facts.tasks.is_empty() {
        // The finished tasks in its FROM may read tables.
        let whole = SqlQuery::new(query.key(database).ok()?);
        let facts = database.check(&whole).await.ok()?;
        if !reads_nothing(&facts) {
            return None;
        }
    }
    let text = "the statement reads no table, so that its result does not depend on the data";
    Some(Doubt { kind: DoubtKind::NoTable, text: text.to_owned() })
}

/// The reason why the result of a statement over tables does not depend on what they hold.
fn describe_constant(normalized: &str, facts: &Facts) -> Option<&'static str> {
    let shown = normalized.strip_prefix("SELECT ")?;
    let is_literal = shown.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '\'' | '-'));
    let reads_none = facts.columns.is_empty() && facts.functions.is_empty();
    let is_plain = facts.subqueries.is_empty() && facts.tasks.is_empty();
    if is_literal && reads_none && is_plain && !facts.tables.is_empty() {
        return Some("the statement shows a literal alone, which does not depend on the data");
    }
    let is_zero = shown
        .split(" * 0")
        .skip(1)
        .any(|rest| !rest.starts_with(|c: char| c == '.' || c.is_ascii_digit()));
    is_zero
        .then_some("the statement multiplies by 0, so that its result does not depend on the data")
}

/// Returns true if the facts are those of a statement that certainly reads no table.
fn reads_nothing(facts: &Facts) -> bool {
    let text = facts.normalized.to_lowercase();
    facts.tables.is_empty()
        && facts.columns.is_empty()
        && !text.is_empty()
        && !READERS.iter().any(|reader| text.contains(reader))
}

/// Returns false if the question is about the clock, the calendar or arithmetic alone, or has no
/// words.
fn asks_about_data(question: &Question, catalog: &Catalog) -> bool {
    let is_outside = question.has_any(OUTSIDE)
        || question.words().any(is_number) && !question.has_any(&["many"])
        || question.words().next().is_none();
    !is_outside || question.words().any(|word| is_of_data(word, catalog))
}

/// Returns true if a word is none of such a question, or the name of a table.
fn is_of_data(word: &str, catalog: &Catalog) -> bool {
    let is_known = is_number(word) || OUTSIDE.contains(&word) || BESIDE.contains(&word);
    let own = [stem(word)];
    !is_known || catalog.tables.iter().any(|table| stems(&table.name) == own)
}

fn is_number(word: &str) -> bool {
    word.chars().all(char::is_numeric)
}
