//! Units that a question asks for (`in euros`), and those of the columns that the result is made
//! of.

use syrch_core::{Doubt, DoubtKind};

use super::Asked;
use super::question::words;
use super::statement::{is_word, last_name, split};

/// Words of a question, those at the end of columns' names, and how many of these make one.
const UNITS: &[(&[&str], &[&str], f64)] = &[
    (&["dollars", "eur", "euros", "pounds", "usd"], &["cent", "cents"], 100.0),
    (&["hours"], &["min", "mins", "minutes"], 60.0),
    (&["hours"], &["sec", "secs", "seconds"], 3_600.0),
    (&["minutes"], &["sec", "secs", "seconds"], 60.0),
    (&["seconds"], &["millis", "milliseconds", "ms"], 1_000.0),
    (&["kilometers", "kilometres", "km"], &["meters", "metres"], 1_000.0),
    (&["meters", "metres"], &["cm"], 100.0),
    (&["kg", "kilograms"], &["grams"], 1_000.0),
];
/// Multiples in which a question asks for an amount.
const MULTIPLES: &[(&str, f64)] =
    &[("thousands", 1e3), ("millions", 1e6), ("billions", 1e9), ("million", 1e6)];

impl Asked<'_> {
    /// The doubt about an amount in another unit than the question asks for.
    pub(super) fn other_unit(&self) -> Option<Doubt> {
        let text = &self.facts.normalized;
        let is_plain = self.facts.tasks.is_empty() && text.matches("SELECT").count() == 1;
        let shown = text.split(" FROM ").next().filter(|_| is_plain && text.contains(" FROM "))?;
        let parts = split(shown);
        let mut read: Vec<&str> =
            parts.iter().copied().filter(|part| is_word(part)).map(last_name).collect();
        read.retain(|name| {
            let mut paths = self.facts.columns.iter().filter_map(|path| path.rsplit_once('.'));
            paths.any(|(_, own)| own.eq_ignore_ascii_case(name))
        });
        let unit = UNITS.iter().find_map(|(asked, own, factor)| {
            let column = read.iter().find(|name| own.contains(&last_word(name).as_str()))?;
            let is_kept = self.question.has_pair("in", own);
            let is_asked = self.question.has_pair("in", asked);
            (is_kept != is_asked).then_some((*column, *factor, is_kept))
        });
        let multiple = MULTIPLES.iter().find_map(|(multiple, factor)| {
            let is_asked = self.question.has_pair("in", &[*multiple]);
            let column = read.first().filter(|_| is_asked && !shown.contains("* 100"))?;
            Some((*column, *factor, false))
        });
        let (column, factor, is_kept) = unit.or(multiple)?;
        let is_named = words(column).iter().any(|word| word.starts_with("million"));
        let numbers: Vec<f64> = parts.iter().filter_map(|part| part.parse().ok()).collect();
        let is_divided = numbers.iter().any(|number| {
            let is_root = factor == 3_600.0 && *number == 60.0;
            *number == factor || (*number * factor - 1.0).abs() < 1e-9 || is_root
        });
        let has_share = self.question.has_any(&["percent", "percentage", "ratio", "share"]);
        if is_named || has_share || is_divided != is_kept {
            return None;
        }
        let text = match is_kept {
            true => format!(
                "{column} has the unit that the question asks for, and the statement divides it by \
                 {factor}"
            ),
            false => format!(
                "the question asks for another unit than that of {column}, which the statement \
                 does not divide by {factor}"
            ),
        };
        Some(Doubt { kind: DoubtKind::Measure, text })
    }

    /// The doubt about a mean of whole quotients: `AVG(minutes / 60)`.
    pub(super) fn whole_quotient(&self) -> Option<Doubt> {
        if !self.catalog.dialect.syntax().truncates_quotients {
            return None;
        }
        let parts = split(&self.facts.normalized);
        let column = parts.windows(6).find_map(|six| match *six {
            [mean, "(", column, "/", number, ")"]
                if ["avg", "sum"].iter().any(|name| mean.eq_ignore_ascii_case(name))
                    && number.parse::<u64>().is_ok_and(|number| number > 1) =>
            {
                Some(last_name(column))
            }
            _ => None,
        })?;
        let mut paths = self.facts.columns.iter().filter_map(|path| path.rsplit_once('.'));
        let (table, name) = paths.find(|(_, name)| name.eq_ignore_ascii_case(column))?;
        let column = self.catalog.table(table)?.column(name)?;
        let is_whole = column.sql_type.to_uppercase().contains("INT");
        let text =
            format!("{name} is a whole number, and so is each quotient: divide by a decimal");
        is_whole.then_some(Doubt { kind: DoubtKind::WholeRatio, text })
    }
}

fn last_word(name: &str) -> String {
    words(name).pop().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use syrch_core::ports::{Facts, Selected};
    use syrch_core::{Catalog, Column, Dialect, Table};

    use super::super::Question;
    use super::super::tests::{columns, rows};
    use super::*;

    fn is_doubtful(asked: &str, shown: &str, name: &str) -> bool {
        let column = Column { name: name.into(), sql_type: "INTEGER".into(), ..Column::default() };
        let trips = Table { name: "trips".into(), columns: vec![column], ..Table::default() };
        let dialect = Dialect::Sqlite;
        let catalog = &Catalog { database: "bus".into(), dialect, tables: vec![trips] };
        let facts = &Facts {
            normalized: format!("SELECT {shown} FROM trips"),
            tables: vec!["trips".into()],
            columns: vec![format!("trips.{name}")],
            ..Facts::default()
        };
        let question = &Question::new(asked);
        let outline = &columns(&[Selected::Other]);
        let results = &rows(&[3]);
        let asked = Asked { question, outline, facts, catalog, results };
        asked.other_unit().or_else(|| asked.whole_quotient()).is_some()
    }

    #[test]
    fn an_amount_is_in_the_unit_that_is_asked_for() {
        for (asked, shown, column, is_wrong) in [
            ("What do all trips cost, in dollars?", "sum(fare_cents)", "fare_cents", true),
            ("What do all trips cost, in dollars?", "sum(fare_cents) / 1000.0", "fare_cents", true),
            ("What do all trips cost, in dollars?", "sum(fare_cents) / 100.0", "fare_cents", false),
            ("What do all trips cost, in dollars?", "sum(fare_cents) * 0.01", "fare_cents", false),
            ("What do all trips cost, in cents?", "sum(fare_cents) / 100.0", "fare_cents", true),
            ("What do all trips cost, in cents?", "sum(fare_cents)", "fare_cents", false),
            ("What do all trips cost?", "sum(fare_cents)", "fare_cents", false),
            ("How long are all trips in hours?", "sum(length_sec)", "length_sec", true),
            ("How long are all trips in hours?", "sum(length_sec) / 3600.0", "length_sec", false),
            (
                "How long are all trips in hours?",
                "sum(length_sec) / 60.0 / 60",
                "length_sec",
                false,
            ),
            ("How many guests, in millions?", "sum(guests)", "guests", true),
            ("How many guests, in millions?", "sum(guests) / 1000.0", "guests", true),
            ("How many guests, in millions?", "sum(guests) / 1000000.0", "guests", false),
            ("How long is a trip?", "avg(length_sec / 60)", "length_sec", true),
            ("How long is a trip?", "avg(length_sec / 60.0)", "length_sec", false),
        ] {
            assert_eq!(is_doubtful(asked, shown, column), is_wrong, "{asked} {shown}");
        }
    }
}
