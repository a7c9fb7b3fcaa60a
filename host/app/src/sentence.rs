//! The sentence of an answer by the definitions of metrics, with their formats and units. The
//! aggregator knows neither, so what it wrote by its rule is written again.

use syrch_core::text::clip;
use syrch_core::{ResultSet, Value};

use crate::json_value::json_value;
use crate::report::{MetricColumn, MetricReport};

/// The limit on a cell of a sentence, in bytes.
const CELL: usize = 60;

/// Writes the sentence about the values of metrics again; `None` where a model wrote it, or there
/// is no value.
pub(crate) fn restate(text: &str, report: &MetricReport, results: &ResultSet) -> Option<String> {
    let names: Vec<String> = results.columns().into_iter().map(|column| column.name).collect();
    let values = report.values.as_slice();
    let keys = names.len().checked_sub(values.len()).filter(|_| !values.is_empty())?;
    if !names[keys..].iter().eq(values.iter().map(|value| &value.name)) {
        return None;
    }
    let titles: Vec<String> = names.iter().map(|name| name.replace('_', " ")).collect();
    let shape = Shape::read(text, &titles, keys, results.row_count())?;
    let rows = results.rows(0, shape.shown);
    let rows: Vec<Vec<String>> = rows.iter().map(|row| say_row(row, values)).collect();
    match shape.kind {
        Kind::One => {
            let row = rows.first()?;
            if keys == 0 && results.rows(0, 1).first()?.contains(&Value::Null) {
                return None;
            }
            let stated = titles.iter().zip(row).map(|(title, cell)| format!("{title}: {cell}"));
            Some(capitalise(&format!("{}.", stated.collect::<Vec<_>>().join(", "))))
        }
        Kind::Grouped => {
            let said = rows.iter().filter_map(|row| match row.split_last()? {
                (value, [key]) => Some(format!("{key} {value}")),
                (value, keys) => Some(format!("({}) {value}", keys.join(", "))),
            });
            let said: Vec<String> = said.collect();
            let lead = lead_groups(&titles, keys);
            Some(capitalise(&format!("{lead}{}{}.", said.join(", "), shape.rest)))
        }
        Kind::Listed if keys > 0 => {
            let said: Vec<String> = rows
                .iter()
                .map(|row| match row.split_at(keys) {
                    ([key], values) => format!("{key} {}", join_words(values)),
                    (keys, values) => format!("({}) {}", keys.join(", "), join_words(values)),
                })
                .collect();
            let left = results.row_count().saturating_sub(shape.shown);
            let rest = if left == 0 { String::new() } else { format!("; and {left} more") };
            let lead =
                format!("{} by {}", join_words(&titles[keys..]), titles[..keys].join(" and "));
            Some(capitalise(&format!("{lead}: {}{rest}.", said.join("; "))))
        }
        Kind::Listed => {
            let said: Vec<String> = rows.iter().map(|row| row.join(", ")).collect();
            Some(format!("{}{}.", shape.lead, said.join("; ")))
        }
    }
}

/// The sentence of the rule about one value with its unit, which the name of its column says, as
/// `price_cents` does; `None` for any other.
pub(crate) fn say_unit(text: &str, sql: &str) -> Option<String> {
    let value = text.strip_prefix("The answer is ")?.strip_suffix('.')?;
    let column = only_column(sql)?;
    let (unit, _) = syrch_words::unit(column)?;
    Some(format!("The answer is {value} (in {unit})."))
}

/// The column that a statement selects, or the only one of an aggregate that it selects; `None` if
/// it selects anything else.
fn only_column(sql: &str) -> Option<&str> {
    let lower = sql.to_ascii_lowercase();
    let list = sql.get("select ".len()..lower.find(" from ")?)?.trim();
    let list = list.strip_suffix(')').map_or(Some(list), |call| {
        let (name, argument) = call.split_once('(')?;
        let name = name.trim().to_ascii_lowercase();
        matches!(name.as_str(), "avg" | "max" | "min" | "sum").then_some(argument)
    })?;
    fn is_column(c: char) -> bool {
        c.is_alphanumeric() || "_.\"`[]".contains(c)
    }
    let name = list.rsplit('.').next()?.trim_matches(['"', '`', '[', ']']);
    (lower.starts_with("select ") && list.chars().all(is_column)).then_some(name)
}

/// The kinds of sentences that the aggregator's rule writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// One row, as `Country: France, orders: 12.`
    One,
    /// A value for each group, as `Orders by country: France 12, Italy 9 and 3 more.`
    Grouped,
    /// Rows as they are, as `There are 5 rows of country, orders, revenue; …`
    Listed,
}

/// A sentence of the rule, as far as it does not hold cells.
struct Shape<'t> {
    kind: Kind,
    /// The number of rows that it shows.
    shown: u64,
    /// The words before the cells.
    lead: &'t str,
    /// The words behind them, without the full stop.
    rest: &'t str,
}

impl<'t> Shape<'t> {
    fn read(text: &'t str, titles: &[String], keys: usize, rows: u64) -> Option<Self> {
        let lower = text.to_lowercase();
        let first = titles.first()?.to_lowercase();
        if rows == 1 {
            let is_one = lower.starts_with(&format!("{first}: "))
                || titles.len() == 1 && text.starts_with("The answer is ");
            return is_one.then_some(Self { kind: Kind::One, shown: 1, lead: "", rest: "" });
        }
        // Where values are whole numbers, the rule takes all columns but the last for groups.
        let last = titles.len() - 1;
        if keys > 0 && lower.starts_with(&lead_groups(titles, last).to_lowercase()) {
            let place = text.rfind(" and ").filter(|_| text.ends_with(" more."));
            let rest = place.map_or("", |place| text[place..].trim_end_matches('.'));
            let left = rest.strip_prefix(" and ").and_then(|rest| rest.strip_suffix(" more"));
            let left: Option<u64> = left.and_then(|left| left.parse().ok());
            let rest = if left.is_some() { rest } else { "" };
            let shown = rows.checked_sub(left.unwrap_or_default())?;
            let kind = if keys == last { Kind::Grouped } else { Kind::Listed };
            return Some(Self { kind, shown, lead: "", rest });
        }
        let head = format!("There are {rows} rows of {}; ", titles.join(", "));
        let behind = text.strip_prefix(&head)?;
        let (verb, shown) = match (behind.strip_prefix("the first are "), behind) {
            (Some(cells), _) => ("the first are ", cells.split("; ").count() as u64),
            (None, behind) if behind.starts_with("they are ") => ("they are ", rows),
            _ => return None,
        };
        let lead = &text[..head.len() + verb.len()];
        Some(Self { kind: Kind::Listed, shown: shown.min(rows), lead, rest: "" })
    }
}

/// Names or values as one says them: `revenue, profit and margin`.
fn join_words(words: &[String]) -> String {
    match words.split_last() {
        Some((last, before)) if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        _ => words.concat(),
    }
}

/// The words before a value for each group.
fn lead_groups(titles: &[String], keys: usize) -> String {
    let value = titles.last().map(String::as_str).unwrap_or_default();
    format!("{value} by {}: ", titles[..keys].join(" and "))
}

/// The cells of a row, those of metrics last.
fn say_row(row: &[Value], values: &[MetricColumn]) -> Vec<String> {
    let keys = row.len().saturating_sub(values.len());
    let named = row[..keys].iter().map(say_cell);
    let valued = row[keys..].iter().zip(values).map(|(value, column)| match value {
        Value::Null => say_cell(value),
        value => column.show(value),
    });
    named.chain(valued).collect()
}

fn say_cell(value: &Value) -> String {
    let text = match json_value(value) {
        serde_json::Value::Null => return "NULL".to_owned(),
        serde_json::Value::String(text) => text,
        other => other.to_string(),
    };
    let words: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect();
    let line = words.join(" ");
    let cut = clip(&line, CELL);
    if cut.len() < line.len() { format!("{cut}…") } else { line }
}

fn capitalise(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
    use arrow_schema::{Field, Schema};

    use super::*;

    fn result(columns: Vec<(&str, ArrayRef)>) -> ResultSet {
        let fields =
            columns.iter().map(|(name, array)| Field::new(*name, array.data_type().clone(), true));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let arrays = columns.into_iter().map(|(_, array)| array).collect();
        let batch = RecordBatch::try_new(Arc::clone(&schema), arrays).unwrap();
        ResultSet::new(schema, vec![batch], false, Vec::new(), String::new())
    }

    fn texts(texts: &[&str]) -> ArrayRef {
        Arc::new(StringArray::from(texts.to_vec()))
    }

    fn numbers(numbers: &[Option<f64>]) -> ArrayRef {
        Arc::new(Float64Array::from(numbers.to_vec()))
    }

    fn report(values: &[(&str, &str, Option<&str>)]) -> MetricReport {
        let values: Vec<serde_json::Value> = values
            .iter()
            .map(|(name, format, unit)| {
                serde_json::json!({"name": name, "format": format, "unit": unit})
            })
            .collect();
        let report = serde_json::json!({
            "metrics": [], "request": "", "filters": [], "from": null, "until": null,
            "grain": null, "values": values,
        });
        serde_json::from_value(report).unwrap()
    }

    #[test]
    fn one_value_has_the_unit_of_its_column() {
        for sql in [
            "SELECT AVG(price_cents) FROM products",
            "select max(p.\"price_cents\") from products p",
            "SELECT price_cents FROM products ORDER BY price_cents LIMIT 1",
        ] {
            let said = say_unit("The answer is 12.5.", sql);
            assert_eq!(said.as_deref(), Some("The answer is 12.5 (in cents)."), "{sql}");
        }
        for sql in [
            "SELECT AVG(price_cents) / 100 FROM products",
            "SELECT AVG(price_cents / 100) FROM products",
            "SELECT COUNT(price_cents) FROM products",
            "SELECT AVG(price) FROM products",
            "WITH a AS (SELECT price_cents FROM products) SELECT 1 FROM a",
            "SELECT 1",
            "é",
        ] {
            assert_eq!(say_unit("The answer is 12.5.", sql), None, "{sql}");
        }
        let sql = "SELECT AVG(price_cents) FROM products";
        assert_eq!(say_unit("The average price is 12.5.", sql), None);
    }

    #[test]
    fn values_of_groups_have_their_format_and_unit() {
        let countries = texts(&["Spain", "France", "Italy and 9 more"]);
        let revenue = numbers(&[Some(109_750.344), Some(0.5), None]);
        let one = result(vec![("country", countries.clone()), ("revenue", revenue.clone())]);
        let report_one = report(&[("revenue", "currency", Some("EUR"))]);
        let restated =
            restate("Revenue by country: Spain 109750.344 and 2 more.", &report_one, &one);
        let wanted = "Revenue by country: Spain 109750.34 EUR and 2 more.";
        assert_eq!(restated.as_deref(), Some(wanted));
        let all = "Revenue by country: Spain 109750.344, France 0.5, Italy and 9 more NULL.";
        let wanted = "Revenue by country: Spain 109750.34 EUR, France 0.50 EUR, Italy and 9 more \
                      NULL.";
        assert_eq!(restate(all, &report_one, &one).as_deref(), Some(wanted));
        let share = numbers(&[Some(0.25), Some(0.5), Some(0.25)]);
        let columns = vec![("country", countries), ("revenue", revenue), ("share_of_total", share)];
        let report_two =
            report(&[("revenue", "currency", Some("EUR")), ("share_of_total", "percent", None)]);
        let text = "There are 3 rows of country, revenue, share of total; the first are Spain, \
                    109750.344, 0.25; France, 0.5, 0.5.";
        let wanted = "Revenue and share of total by country: Spain 109750.34 EUR and 25.00 %; \
                      France 0.50 EUR and 50.00 %; and 1 more.";
        assert_eq!(restate(text, &report_two, &result(columns)).as_deref(), Some(wanted));
        let columns = vec![
            ("month", texts(&["2024-01", "2024-02", "2024-03"])),
            ("orders", numbers(&[Some(4.5), Some(8.5), Some(1.5)])),
            ("growth", numbers(&[None, Some(1.0), Some(-0.875)])),
        ];
        let report_three = report(&[("orders", "number", None), ("growth", "percent", None)]);
        let text = "Growth by month and orders: (2024-01, 4.5) NULL, (2024-02, 8.5) 1 and 1 more.";
        let wanted = "Orders and growth by month: 2024-01 4.50 and NULL; 2024-02 8.50 and \
                      100.00 %; and 1 more.";
        assert_eq!(restate(text, &report_three, &result(columns)).as_deref(), Some(wanted));
    }

    #[test]
    fn the_first_of_a_ranking_has_its_unit() {
        let only =
            result(vec![("top_city", texts(&["Rome"])), ("revenue", numbers(&[Some(7.25)]))]);
        let report = report(&[("revenue", "currency", Some("EUR"))]);
        let restated = restate("Top city: Rome, revenue: 7.25.", &report, &only);
        assert_eq!(restated.as_deref(), Some("Top city: Rome, revenue: 7.25 EUR."));
        let total = result(vec![("revenue", numbers(&[Some(7.25)]))]);
        let restated = restate("The answer is 7.25.", &report, &total);
        assert_eq!(restated.as_deref(), Some("Revenue: 7.25 EUR."));
    }

    #[test]
    fn the_sentence_of_a_model_and_other_columns_stay() {
        let rows = result(vec![
            ("country", texts(&["Spain", "France"])),
            ("revenue", numbers(&[Some(1.0), Some(2.0)])),
        ]);
        let known = report(&[("revenue", "currency", Some("EUR"))]);
        assert_eq!(restate("Spain earns 1 and France 2.", &known, &rows), None);
        let other = report(&[("profit", "currency", Some("EUR"))]);
        assert_eq!(restate("Revenue by country: Spain 1, France 2.", &other, &rows), None);
        let none = result(vec![("revenue", numbers(&[None]))]);
        assert_eq!(restate("The answer is NULL.", &known, &none), None);
    }
}
