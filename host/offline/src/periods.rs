//! Whole questions of a few forms that need no cue: the rows of a table for each month or year, its
//! last and first rows, and the average of what a view adds up. Each word is part of the form, or
//! there is no statement.

use syrch_words::looks_plural;

use super::dialect;
use super::items::{Item, Reading, What};
use super::query::{Condition, Expression, Function, LogicalQuery, Operand, Operator};
use super::schema::{ColumnRef, Holds, Schema};
use super::words::{Kind, Token};
use super::writer::Writer;

/// Words before the table in a question for the number of its rows.
const COUNTS: &[&str] = &[
    "",
    "how many",
    "number of",
    "the number of",
    "count of",
    "total number of",
    "the total number of",
    "what is the number of",
    "show the number of",
    "show me the number of",
    "list the number of",
];
/// Words between the table and the span of time.
const VERBS: &[&str] =
    &["are there", "were there", "there are", "there were", "were placed", "were made", "placed"];
const EACH: &[&str] = &["per", "by", "each", "every", "in each", "in every", "for each"];
/// Words before `last` or `first` in a question for the day.
const DAYS: &[&str] =
    &["when was the", "what is the date of the", "what was the date of the", "date of the"];
/// Words before `last` or `first` in a question for the row.
const ROWS: &[&str] = &["", "the", "show the", "show me the", "what is the", "what was the"];
/// Words behind the table that say no more of a row than that it is there.
const MADE: &[&str] = &["", "placed", "made", "created"];
/// Words before the name of a view that is averaged.
const AVERAGES: &[&str] = &[
    "average",
    "mean",
    "the average",
    "what is the average",
    "what was the average",
    "what is the mean",
    "show the average",
];

/// A question of such a form.
pub(crate) struct Formed {
    pub(crate) sql: String,
    /// The query whose columns must hold what the statement takes them for.
    pub(crate) rests_on: LogicalQuery,
}

/// The statement of a question of such a form; `None` if it has none of them, or the table does not
/// say when its rows happened.
pub(crate) fn read(schema: &Schema, reading: &Reading, writer: &Writer<'_>) -> Option<Formed> {
    let (item, table) = only_table(reading)?;
    let before = join_words(&reading.tokens[..item.from])?;
    let after = join_words(&reading.tokens[item.to..])?;
    rows_of_each(schema, table, &before, &after, writer)
        .or_else(|| {
            // `last orders` are several rows, and how many is not said.
            let name = reading.tokens[item.from..item.to].last()?;
            if looks_plural(&name.lower) {
                return None;
            }
            at_an_end(schema, table, &before, &after, writer)
        })
        .or_else(|| average(schema, table, &before, &after, writer))
}

/// The table that is all that the question names.
fn only_table(reading: &Reading) -> Option<(&Item, usize)> {
    let mut named = reading.items.iter().filter(|item| !matches!(item.what, What::Cue(_)));
    let item = named.next().filter(|_| named.next().is_none())?;
    let What::Table(table) = &item.what else { return None };
    (item.score > 0.9 && item.rivals.len() <= 1).then_some((item, *table))
}

/// The words of a part of the question, without the end of its sentence; `None` if it has anything
/// but words.
fn join_words(tokens: &[Token]) -> Option<String> {
    let end = tokens.iter().rposition(|token| !token.ends_sentence()).map_or(0, |at| at + 1);
    let words: Option<Vec<&str>> = tokens[..end]
        .iter()
        .map(|token| (token.kind == Kind::Word).then_some(token.lower.as_str()))
        .collect();
    words.map(|words| words.join(" "))
}

/// The column of dates that says when the rows of a table happened, where the table holds rows and
/// no counts or months of them.
fn happening_dates(schema: &Schema, table: usize) -> Option<ColumnRef> {
    let column = schema.happening_dates(table)?;
    let is_counted = schema.tables[table].columns.iter().any(|view| {
        ["count", "month", "year"].iter().any(|word| view.required.as_slice() == [*word])
    });
    let is_date =
        schema.dialect.syntax().has_affinities || dialect::is_date(&schema.column(column).declared);
    (!is_counted && is_date).then_some(column)
}

/// `orders per month`, `How many orders were placed in each year?`
fn rows_of_each(
    schema: &Schema,
    table: usize,
    before: &str,
    after: &str,
    writer: &Writer<'_>,
) -> Option<Formed> {
    let (link, span) = after.rsplit_once(' ')?;
    let each =
        VERBS.iter().find_map(|verb| link.strip_prefix(verb)?.strip_prefix(' ')).unwrap_or(link);
    let is_month = match span {
        "month" => true,
        "year" => false,
        _ => return None,
    };
    if !COUNTS.contains(&before) || !EACH.contains(&each) {
        return None;
    }
    let column = happening_dates(schema, table)?;
    let select = vec![Expression::Column(column)];
    let text = writer.text(&LogicalQuery { select, ..LogicalQuery::default() })?;
    let (name, from) = text.strip_prefix("SELECT ")?.split_once(" FROM ")?;
    let sql = match (schema.dialect.syntax().has_affinities, is_month) {
        (true, _) => {
            let format = if is_month { "%Y-%m" } else { "%Y" };
            format!(
                "SELECT strftime('{format}', {name}) AS {span}, COUNT(*) FROM {from} \
                 GROUP BY {span} ORDER BY {span}"
            )
        }
        (false, true) => {
            let parts = format!("EXTRACT(YEAR FROM {name}), EXTRACT(MONTH FROM {name})");
            format!("SELECT {parts}, COUNT(*) FROM {from} GROUP BY {parts} ORDER BY {parts}")
        }
        (false, false) => {
            let part = format!("EXTRACT(YEAR FROM {name})");
            format!("SELECT {part}, COUNT(*) FROM {from} GROUP BY {part} ORDER BY {part}")
        }
    };
    Some(Formed { sql, rests_on: aggregate_all(Function::Max, column) })
}

/// `When was the last order placed?` and `last order placed`, whose day several rows may have.
fn at_an_end(
    schema: &Schema,
    table: usize,
    before: &str,
    after: &str,
    writer: &Writer<'_>,
) -> Option<Formed> {
    let (opening, end) = before.rsplit_once(' ').unwrap_or(("", before));
    let function = match end {
        "last" => Function::Max,
        "first" => Function::Min,
        _ => return None,
    };
    if !MADE.contains(&after) {
        return None;
    }
    let column = happening_dates(schema, table)?;
    let day = aggregate_all(function, column);
    let query = if DAYS.contains(&opening) {
        day.clone()
    } else if ROWS.contains(&opening) {
        let is_it = Condition {
            column,
            operator: Operator::Equal,
            operand: Operand::Query(Box::new(day.clone())),
            field: None,
        };
        LogicalQuery {
            select: vec![Expression::AllColumns(table)],
            filters: vec![vec![is_it]],
            ..LogicalQuery::default()
        }
    } else {
        return None;
    };
    Some(Formed { sql: writer.text(&query)?, rests_on: day })
}

/// `average order total` of a view `order_totals` with a column `total`.
fn average(
    schema: &Schema,
    table: usize,
    before: &str,
    after: &str,
    writer: &Writer<'_>,
) -> Option<Formed> {
    if !AVERAGES.contains(&before) || !after.is_empty() {
        return None;
    }
    let view = &schema.tables[table];
    let [_, .., last] = view.stems.as_slice() else { return None };
    // SQLite declares no type for what a view computes.
    let mut measures = view.columns.iter().enumerate().filter(|(_, column)| {
        let is_number = column.holds == Holds::Number || column.declared.is_empty();
        is_number && !column.is_key && column.required.as_slice() == [last.as_str()]
    });
    let (column, _) = measures.next().filter(|_| measures.next().is_none())?;
    let query = aggregate_all(Function::Avg, ColumnRef { table, column });
    Some(Formed { sql: writer.text(&query)?, rests_on: query })
}

/// The aggregate of a column over all rows.
fn aggregate_all(function: Function, column: ColumnRef) -> LogicalQuery {
    let select = vec![Expression::Aggregate(function, column)];
    LogicalQuery { select, ..LogicalQuery::default() }
}

#[cfg(test)]
mod tests {
    use syrch_core::{Catalog, Dialect};

    use crate::fixture::table;
    use crate::kinds::{assert_reads, assert_silent};

    fn shop(dialect: Dialect) -> Catalog {
        let orders = [
            ("id", "INTEGER"),
            ("customer_id", "INTEGER"),
            ("order_date", "DATE"),
            ("shipped_date", "DATE"),
            ("status", "TEXT"),
        ];
        let totals = [("order_id", "INTEGER"), ("order_date", "DATE"), ("total", "")];
        let customers = [("id", "INTEGER"), ("name", "TEXT"), ("signup_date", "DATE")];
        Catalog {
            database: "shop".to_owned(),
            dialect,
            tables: vec![
                table("customers", &customers, "id", &[]),
                table("orders", &orders, "id", &[("customer_id", "customers", "id")]),
                table("order_totals", &totals, "order_id", &[]),
            ],
        }
    }

    #[test]
    fn rows_are_counted_for_each_month_and_year() {
        let month = "SELECT strftime('%Y-%m', order_date) AS month, COUNT(*) FROM orders \
                     GROUP BY month ORDER BY month";
        let year = "SELECT strftime('%Y', order_date) AS year, COUNT(*) FROM orders \
                    GROUP BY year ORDER BY year";
        assert_reads(
            &shop(Dialect::Sqlite),
            &[
                ("orders per month", month),
                ("number of orders by month", month),
                ("How many orders are there per month?", month),
                ("How many orders were placed in each year?", year),
            ],
        );
        let parts = "EXTRACT(YEAR FROM order_date), EXTRACT(MONTH FROM order_date)";
        let sql = format!("SELECT {parts}, COUNT(*) FROM orders GROUP BY {parts} ORDER BY {parts}");
        assert_reads(&shop(Dialect::Postgres), &[("orders per month", &sql)]);
        // The day of signing up is another one than that of being a customer.
        assert_silent(
            &shop(Dialect::Sqlite),
            &["customers per month", "orders per month of Spain", "orders and customers per month"],
        );
    }

    #[test]
    fn the_last_and_the_first_rows_are_those_of_their_day() {
        let last = "SELECT * FROM orders WHERE order_date = (SELECT MAX(order_date) FROM orders)";
        assert_reads(
            &shop(Dialect::Sqlite),
            &[
                ("When was the last order placed?", "SELECT MAX(order_date) FROM orders"),
                ("When was the first order?", "SELECT MIN(order_date) FROM orders"),
                ("last order placed", last),
                ("Show the last order", last),
            ],
        );
        assert_silent(
            &shop(Dialect::Sqlite),
            &["last customer", "last order of Ada", "last orders", "Show me the first orders"],
        );
    }

    #[test]
    fn the_average_is_of_what_a_view_adds_up() {
        let average = "SELECT AVG(total) FROM order_totals";
        assert_reads(
            &shop(Dialect::Sqlite),
            &[("average order total", average), ("What is the average order total?", average)],
        );
        let mut without = shop(Dialect::Sqlite);
        without.tables.pop();
        assert_silent(&without, &["average order total", "average order"]);
    }
}
