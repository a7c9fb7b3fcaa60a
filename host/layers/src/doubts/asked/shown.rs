//! Columns that a question asks for and the result lacks, and a number in the place of a share.

use syrch_core::ports::Selected;
use syrch_core::{Doubt, DoubtKind, Value};
use syrch_words::stem;

use super::super::SHOWN;
use super::super::joins::Side;
use super::Asked;
use super::bounds::is_digits;
use super::question::{stems, words};
use super::statement::{find_close, last_name, split};

/// Words before the columns that a question asks for.
const ASKING: &[&str] = &[
    "are", "display", "find", "get", "give", "is", "list", "me", "output", "print", "report",
    "retrieve", "return", "see", "show", "us", "what",
];
/// Words before the first column and between two of them.
const JOINING: &[&str] = &["all", "and", "both", "its", "the", "their"];
/// Words of a column's name.
const LONGEST: usize = 4;
/// Words that ask for a share.
const SHARES: &[&str] = &["percent", "percentage", "percentages"];
/// Words with which a percentage may be any.
const CHANGES: &[&str] = &[
    "change", "compared", "decline", "decrease", "growth", "increase", "markup", "relative", "rise",
];
/// Words of columns that hold shares.
const RATES: &[&str] =
    &["fraction", "pct", "percent", "percentage", "perc", "proportion", "rate", "ratio", "share"];

impl Asked<'_> {
    /// The doubt about a column that the question asks for beside another one, and that the
    /// statement does not read.
    pub(super) fn find_lost_column(&self) -> Option<Doubt> {
        let asked = self.list_asked_columns();
        if asked.len() < 2
            || self.outline.columns.contains(&Selected::Other)
            || !asked.iter().any(|name| self.shows_column(name))
        {
            return None;
        }
        let lost = asked.iter().find(|name| {
            let own = stems(name);
            let mut read = self.facts.columns.iter().chain(&self.facts.tables);
            !read.any(|path| {
                let last = path.rsplit('.').next().unwrap_or_default();
                last.eq_ignore_ascii_case(name) || stems(last).ends_with(&own)
            })
        })?;
        let text = format!("the question asks for {lost}, and the statement does not read it");
        Some(Doubt { kind: DoubtKind::LostColumn, text })
    }

    fn shows_column(&self, name: &str) -> bool {
        self.outline.columns.iter().any(|selected| match selected {
            Selected::Column(column) => column.column.eq_ignore_ascii_case(name),
            Selected::Aggregate { .. } | Selected::Other => false,
        })
    }

    /// The columns that the question lists behind its verb: `the names and emails`.
    fn list_asked_columns(&self) -> Vec<&str> {
        let asked: Vec<&str> = self.question.words().collect();
        let tables = self.facts.tables.iter().filter_map(|table| self.catalog.table(table));
        let known: Vec<(&str, Vec<String>)> = tables
            .flat_map(|table| &table.columns)
            .map(|column| (column.name.as_str(), stems(&column.name)))
            .collect();
        let Some(mut at) = asked.iter().position(|word| ASKING.contains(word)) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        while let Some(word) = asked.get(at) {
            let is_thing = self.find_table(word).is_some();
            let is_before = found.is_empty() && (ASKING.contains(word) || is_thing);
            let is_between = is_before || JOINING.contains(word);
            match find_column(&asked[at..], &known).filter(|_| !is_between) {
                _ if is_between => at += 1,
                Some((name, length)) => {
                    found.push(name);
                    at += length;
                }
                None => break,
            }
        }
        // Of a `city manager` the city is not asked for.
        if asked.get(at).is_some_and(|next| self.names().contains(&stem(next))) {
            found.pop();
        }
        found
    }

    /// The doubt about a number where a share is asked for.
    pub(super) fn no_share(&self) -> Option<Doubt> {
        let columns = &self.outline.columns;
        let is_number = columns.iter().any(is_amount)
            && columns.iter().all(|one| is_amount(one) || matches!(one, Selected::Column(_)));
        let has_rate = self.facts.columns.iter().any(|path| {
            let name = path.rsplit('.').next().unwrap_or_default();
            words(name).iter().any(|word| RATES.contains(&word.as_str()))
        });
        if !self.asks_for_share()
            || !is_number
            || has_rate
            || ["/", "OVER"].iter().any(|part| !self.lacks(part))
            || self.facts.functions.iter().any(|name| !["count", "sum"].contains(&name.as_str()))
        {
            return None;
        }
        let text = "the question asks for a percentage, and the statement has a number".to_owned();
        Some(Doubt { kind: DoubtKind::NoShare, text })
    }

    /// Returns true if the question asks for a share. One of 15 percent is no question for one.
    fn asks_for_share(&self) -> bool {
        let asked: Vec<&str> = self.question.words().collect();
        asked
            .iter()
            .enumerate()
            .any(|(at, word)| SHARES.contains(word) && (at == 0 || !is_digits(asked[at - 1])))
    }

    /// The doubt about a share that is more than the whole, or a fraction of 1.
    pub(super) fn no_percentage(&self) -> Option<Doubt> {
        let asks_for_part = SHARES.iter().any(|share| self.question.has_pair(share, &["of"]))
            && self.asks_for_share();
        let place = match self.outline.columns.as_slice() {
            [_] => 0,
            columns => {
                let mut made = columns
                    .iter()
                    .enumerate()
                    .filter(|(_, one)| !matches!(one, Selected::Column(_)));
                made.next().filter(|_| made.next().is_none())?.0
            }
        };
        let has_rate = self.outline.columns.get(place)?.column().is_some_and(|column| {
            words(&column.column).iter().any(|word| RATES.contains(&word.as_str()))
        });
        let rows = self.results.rows(0, SHOWN);
        let shown = rows.iter().filter_map(|row| row.get(place)).filter_map(as_number);
        let greatest = shown.fold(0.0, f64::max);
        let is_scaled = ["100", "'%'", "%"].iter().any(|part| !self.lacks(part));
        let is_ratio = self.facts.normalized.contains(" / ")
            || matches!(&self.outline.columns[place], one if one.is_aggregate(&["avg"]));
        let what = match greatest {
            _ if !asks_for_part || has_rate || self.question.has_any(CHANGES) => return None,
            greatest if greatest > 100.5 && is_ratio => "more than the whole",
            greatest if greatest > 0.0 && greatest <= 1.0 && is_ratio && !is_scaled => {
                "a fraction of 1"
            }
            _ => return None,
        };
        let text = format!("the question asks for a percentage, and the result is {what}");
        Some(Doubt { kind: DoubtKind::NoShare, text })
    }

    /// The doubt about a count by a condition that counts what does not meet it as well, and about
    /// the ratio of a number to itself.
    pub(super) fn share_of_all(&self) -> Option<Doubt> {
        let parts = split(&self.facts.normalized);
        let counts_zero = parts.windows(3).enumerate().any(|(at, three)| {
            let is_count = three[0].eq_ignore_ascii_case("count") && three[1..] == ["(", "CASE"];
            let close = find_close(&parts, at + 1).filter(|_| is_count);
            close.is_some_and(|close| {
                matches!(parts[..close], [.., "ELSE", other, "END"] if other != "NULL")
                    && parts[at + 2..close].iter().filter(|part| **part == "CASE").count() == 1
            })
        });
        let is_outer = ["LEFT", "RIGHT", "FULL"].iter().any(|word| !self.lacks(word));
        let is_itself = parts.windows(9).any(|nine| {
            let [first, "(", "*", ")", "/", second, "(", of, ")"] = *nine else { return false };
            let mut read = self.facts.columns.iter().filter_map(|path| path.rsplit_once('.'));
            let is_key = read.any(|(table, column)| {
                let side = Side::new(self.catalog, table, column);
                column.eq_ignore_ascii_case(last_name(of)) && side.is_some_and(Side::is_key)
            });
            [first, second].iter().all(|name| name.eq_ignore_ascii_case("count"))
                && (of == "*" || is_key && !is_outer)
        });
        let text = match (counts_zero, is_itself) {
            (true, _) => "COUNT counts the 0 of ELSE as well: leave ELSE out, or take SUM",
            (_, true) => "the statement divides the number of all rows by itself",
            _ => return None,
        };
        Some(Doubt { kind: DoubtKind::Always, text: text.to_owned() })
    }
}

fn as_number(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(number) => Some(*number as f64),
        Value::Real(number) => Some(*number),
        Value::Decimal(text) => text.parse().ok(),
        _ => None,
    }
}

/// Returns true for a count or a sum.
fn is_amount(column: &Selected) -> bool {
    column.is_aggregate(&["count", "sum"])
}

/// The column that the first words name, and how many they are.
fn find_column<'k>(words: &[&str], known: &[(&'k str, Vec<String>)]) -> Option<(&'k str, usize)> {
    (1..=LONGEST.min(words.len())).rev().find_map(|length| {
        let own: Vec<String> = words[..length].iter().map(|word| stem(word)).collect();
        let (name, _) = known.iter().find(|(_, stems)| *stems == own)?;
        Some((*name, length))
    })
}

#[cfg(test)]
mod tests {
    use syrch_core::ports::Facts;

    use super::super::tests::{aggregate, assert_kind, column, columns, count, facts, kinds_of};
    use super::*;

    #[test]
    fn the_columns_that_are_asked_for_are_read() {
        let names = columns(&[column("state.name")]);
        let mut known = facts("SELECT name FROM state", &["state"], &[]);
        known.columns = vec!["state.name".into()];
        let cases = [
            ("List the names and populations of all states.", true),
            ("What are the name and the area of each state?", true),
            ("Show state name, population and area.", true),
            ("List the names of all states.", false),
            ("List the names of states by population and area.", false),
            ("Which states have a name and a population?", false),
            ("List the name and area state of all states.", false),
        ];
        assert_kind(DoubtKind::LostColumn, &names, &known, &cases);
        let asked = [("List the names and populations of all states.", false)];
        known.columns.push("state.population".into());
        assert_kind(DoubtKind::LostColumn, &names, &known, &asked);
        known.columns.pop();
        let made = columns(&[column("state.name"), Selected::Other]);
        assert_kind(DoubtKind::LostColumn, &made, &known, &asked);
    }

    #[test]
    fn a_share_is_no_number() {
        let cases = [
            ("What percentage of the states are large?", true),
            ("What percent of states is large?", true),
            ("How many states are large?", false),
            ("How many states have more than 15 percent of the cities?", false),
        ];
        for outline in [columns(&[count()]), columns(&[aggregate("sum", "state.area")])] {
            let known = facts("SELECT count(*) FROM state", &["state"], &["count"]);
            assert_kind(DoubtKind::NoShare, &outline, &known, &cases);
        }
        for (outline, sql, functions) in [
            (columns(&[Selected::Other]), "SELECT 100.0 * count(*) / 3 FROM state", &["count"]),
            (columns(&[aggregate("avg", "state.area")]), "SELECT avg(area) FROM state", &["avg"]),
        ] {
            let known = facts(sql, &["state"], functions);
            assert_kind(DoubtKind::NoShare, &outline, &known, &[(cases[0].0, false)]);
        }
        let mut known = facts("SELECT sum(pct) FROM state", &["state"], &["sum"]);
        known.columns = vec!["state.vote_pct".into()];
        let outline = columns(&[aggregate("sum", "state.area")]);
        assert_kind(DoubtKind::NoShare, &outline, &known, &[(cases[0].0, false)]);
    }

    #[test]
    fn a_share_is_one_of_a_hundred() {
        let asked = "What percentage of the states are large?";
        let made = columns(&[Selected::Other]);
        for (sql, is_wrong) in [
            ("SELECT 100.0 * count(*) / sum(area > 9) FROM state", false),
            ("SELECT count(CASE WHEN area > 9 THEN 1 ELSE 0 END) * 100 / 9 FROM state", true),
            ("SELECT count(CASE WHEN area > 9 THEN 1 END) * 100 / 9 FROM state", false),
            ("SELECT count(CASE WHEN area > 9 THEN 1 ELSE NULL END) FROM state", false),
            ("SELECT 100 * count(*) / count(*) FROM state WHERE area > 9", true),
            ("SELECT 100 * count(*) / count(s.StateId) FROM state AS s", true),
            ("SELECT 100 * count(*) / count(s.name) FROM state AS s", false),
        ] {
            let read = vec!["state.StateId".to_owned(), "state.name".to_owned()];
            let known = Facts { columns: read, ..facts(sql, &["state"], &["count"]) };
            assert_kind(DoubtKind::Always, &made, &known, &[(asked, is_wrong)]);
        }
        let known = facts("SELECT count(*) / 9 FROM state", &["state"], &["count"]);
        for (asked, value, is_wrong) in [
            (asked, 1, true),
            (asked, 40, false),
            (asked, 250, true),
            ("What percentage of growth did the states have?", 250, false),
            ("How many states are large?", 250, false),
        ] {
            let found = kinds_of(asked, &made, &known, &[value]);
            assert_eq!(found.contains(&DoubtKind::NoShare), is_wrong, "{asked} {value}");
        }
    }
}
