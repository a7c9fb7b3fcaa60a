//! A text that its column lacks, in a statement whose result says nothing.

use syrch_core::ports::{ColumnName, Comparison, Literal, SqlQuery, Use, UseKind};
use syrch_core::text::{clip, nearest};
use syrch_core::{Doubt, DoubtKind, Value};

use super::joins::Side;
use super::kinds::Stored;
use super::probe::Probe;
use super::words::{CELL, LONG, SHORT};
use super::{Judge, TIME};

/// Different values of a column that are compared with a text that it lacks.
const VALUES: u64 = 2_000;
/// The multiple of all values of a column that is another unit, or another column.
const FAR: f64 = 10.0;
/// Nearest values that are named.
const NEAREST: usize = 3;

impl Judge<'_> {
    /// The doubt about a column that has none of the texts with which it is compared, where the
    /// result is without rows or is one row of zeros and NULL. Where the column has one of them,
    /// the result may be so for another reason. Numbers and days are compared without being there,
    /// but for a year or a month where the column has days in it, and an empty text is doubtful
    /// only where NULL is in its place.
    pub(super) async fn doubt_absent(&mut self, one: &Use, normalized: &str) -> Option<Doubt> {
        let UseKind::Texts(texts) = &one.kind else { return None };
        if !self.results.is_void() {
            return None;
        }
        let table = self.catalog.table(&one.table)?;
        let stored = Stored::from_column(table, &one.column, self.dialect)?;
        // SQLite keeps days as texts, and compares any column with one.
        let is_text =
            matches!(stored, Stored::Text | Stored::Any) || self.dialect.syntax().has_affinities;
        let may_be_day = !matches!(stored, Stored::Number | Stored::Other);
        let wanted: Vec<&str> =
            texts.iter().map(String::as_str).filter(|text| is_required(normalized, text)).collect();
        if !is_text
            || wanted.is_empty()
            || !wanted.iter().all(|text: &&str| {
                text.trim().is_empty()
                    || text.chars().any(char::is_alphabetic)
                    || may_be_day && is_span(text)
            })
        {
            return None;
        }
        let whole = Use { filter: None, ..one.clone() };
        let probe = Probe::new(&whole, self.catalog, self.dialect)?;
        if self.is_any(probe.any_of(&wanted)?, LONG).await?
            || !self.is_any(probe.any_row(), SHORT).await?
        {
            return None;
        }
        for span in wanted.iter().filter(|text| is_span(text)) {
            if !self.is_any(probe.any_day_within(span), LONG).await? {
                return None;
            }
        }
        if wanted.iter().all(|text| text.trim().is_empty())
            && (normalized.contains(" IS NULL") || !self.is_any(probe.any_null(), SHORT).await?)
        {
            return None;
        }
        let named = wanted.iter().map(|text| format!("`{text}`")).collect::<Vec<_>>().join(", ");
        let nearest = self.describe_nearest(&probe, &wanted).await;
        let text = format!(
            "{}.{} has no value {}, and the result is 0 or has no rows{nearest}",
            one.table,
            one.column,
            clip(&named, 3 * CELL)
        );
        Some(Doubt { kind: DoubtKind::AbsentText, text })
    }

    /// The doubt about a part of a text that no value of a column has, or a number that no value
    /// comes near, where every row of the result has to have it and the result says nothing.
    pub(super) async fn doubt_absent_like(&mut self, wanted: &Comparison) -> Option<Doubt> {
        let Comparison { column: ColumnName { table, column }, operator, literal } = wanted;
        let stored = Stored::from_column(self.catalog.table(table)?, column, self.dialect)?;
        if !self.results.is_void() {
            return None;
        }
        let whole = Use {
            table: table.clone(),
            column: column.clone(),
            value: None,
            filter: None,
            kind: UseKind::Condition,
        };
        let probe = Probe::new(&whole, self.catalog, self.dialect)?;
        let number = literal.parse::<f64>().ok().filter(|number| *number > 0.0);
        let is_key = Side::new(self.catalog, table, column)
            .is_some_and(|side| side.is_key() || side.references(self.catalog).next().is_some());
        let (found, kind, what) = match (*operator, number) {
            ("LIKE", None) if matches!(stored, Stored::Text | Stored::Any) => {
                (probe.any_like(literal)?, DoubtKind::AbsentText, "no value like")
            }
            // A key is no measure.
            (">" | ">=", Some(number)) if stored == Stored::Number && !is_key => {
                let near = number / FAR;
                (probe.any_from(near), DoubtKind::AbsentNumber, "no value of a tenth of")
            }
            _ => return None,
        };
        if self.is_any(found, LONG).await? || !self.is_any(probe.any_row(), SHORT).await? {
            return None;
        }
        let text = format!(
            "{table}.{column} has {what} {}, and the result is 0 or has no rows",
            clip(literal, CELL)
        );
        Some(Doubt { kind, text })
    }

    /// The doubt about a column all of whose days are before the time that a statement asks for, or
    /// all after it, where the result says nothing. A day between others may well have no row.
    pub(super) async fn absent_day(&mut self, one: &Use) -> Option<Doubt> {
        if !matches!(one.kind, UseKind::Day { .. }) || !self.results.is_void() {
            return None;
        }
        let mut bounds: Vec<(&str, &str)> = Vec::new();
        for other in self.uses.iter().filter(|it| it.table == one.table && it.column == one.column)
        {
            if let UseKind::Day { operator, day } = &other.kind
                && !bounds.contains(&(operator, day))
            {
                bounds.push((operator, day));
            }
        }
        // More bounds may be of several spans.
        if bounds.len() > 2 || !bounds.iter().all(|(_, day)| is_plain_day(day)) {
            return None;
        }
        let whole = Use { filter: None, ..one.clone() };
        let probe = Probe::new(&whole, self.catalog, self.dialect)?;
        if self.is_any(probe.any_within(&bounds), LONG).await?
            || !self.is_any(probe.any_row(), SHORT).await?
            || !self.is_outside(&probe, &bounds).await?
        {
            return None;
        }
        let words: Option<Vec<String>> =
            bounds.iter().map(|(operator, day)| describe_bound(operator, day)).collect();
        let text = format!(
            "{}.{} has no day {}, and the result is 0 or has no rows",
            one.table,
            one.column,
            words?.join(" and ")
        );
        Some(Doubt { kind: DoubtKind::AbsentDay, text })
    }

    /// Returns true if a column has no day on one side of these bounds.
    async fn is_outside(&mut self, probe: &Probe<'_>, bounds: &[(&str, &str)]) -> Option<bool> {
        for (operator, day) in bounds {
            let sides: &[&str] = if *operator == "=" { &["<=", ">="] } else { &[operator] };
            for side in sides {
                if !self.is_any(probe.any_within(&[(side, day)]), LONG).await? {
                    return Some(true);
                }
            }
        }
        Some(false)
    }

    /// The values of the column that are most like the texts, as the end of a sentence; empty if
    /// there are none, the column has too many, or cells are not shown.
    async fn describe_nearest(&mut self, probe: &Probe<'_>, wanted: &[&str]) -> String {
        if !self.layer.shows_cells {
            return String::new();
        }
        let values = self.texts_of(probe.distinct_values_sql(VALUES + 1)).await;
        if values.len() as u64 > VALUES {
            return String::new();
        }
        let mut near: Vec<String> = Vec::new();
        for text in wanted {
            for value in nearest(text, values.iter().map(String::as_str)) {
                if !near.contains(&value) {
                    near.push(value);
                }
            }
        }
        near.truncate(NEAREST);
        let named: Vec<String> =
            near.iter().map(|value| format!("`{}`", clip(value, CELL))).collect();
        if named.is_empty() {
            return String::new();
        }
        format!("; the nearest: {}", named.join(", "))
    }

    /// The texts that a statement finds; none if it fails or takes too long.
    async fn texts_of(&mut self, sql: String) -> Vec<String> {
        let left = TIME.saturating_sub(self.started.elapsed()).min(LONG);
        if self.left == 0 || left.is_zero() {
            return Vec::new();
        }
        self.left -= 1;
        let query = SqlQuery::new(sql);
        let Ok(Ok(results)) = tokio::time::timeout(left, self.layer.counting.run(&query)).await
        else {
            return Vec::new();
        };
        results
            .rows(0, VALUES + 1)
            .into_iter()
            .flatten()
            .filter_map(|value| match value {
                Value::Text(text) => Some(text),
                _ => None,
            })
            .collect()
    }
}

/// Returns true for a year or a month as `2024` and `2024-05`, to which no day is equal.
fn is_span(text: &str) -> bool {
    matches!(text.len(), 4 | 7)
        && text.bytes().enumerate().all(|(at, byte)| match at {
            4 => byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

/// Returns true for a day as `2024-05-11`, which a statement can hold as it is.
fn is_plain_day(day: &str) -> bool {
    day.len() == 10
        && day.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

/// A bound of a span of days in words; `None` for one that leaves a day out.
fn describe_bound(operator: &str, day: &str) -> Option<String> {
    match operator {
        ">=" => Some(format!("from {day} on")),
        ">" => Some(format!("after {day}")),
        "<" => Some(format!("before {day}")),
        "<=" => Some(format!("up to {day}")),
        "=" => Some(format!("that is {day}")),
        _ => None,
    }
}

/// The comparisons of columns with blank texts, each column once.
pub(super) fn blanks(literals: &[Literal]) -> Vec<Use> {
    let mut blanks: Vec<Use> = Vec::new();
    for Literal { table, column, text } in literals {
        let (Some(table), Some(column)) = (table, column) else { continue };
        let is_known = blanks.iter().any(|one| one.table == *table && one.column == *column);
        if text.trim().is_empty() && !is_known {
            blanks.push(Use {
                table: table.clone(),
                column: column.clone(),
                value: None,
                filter: None,
                kind: UseKind::Texts(vec![text.clone()]),
            });
        }
    }
    blanks
}

/// Returns true if a statement in canonical spelling has that text beside `=` or in the list of an
/// `IN`, where a row has to have it.
fn is_required(normalized: &str, text: &str) -> bool {
    let literal = format!("'{}'", text.replace('\'', "''"));
    normalized.match_indices(&literal).any(|(at, _)| {
        let before = &normalized[..at];
        let after = &normalized[at + literal.len()..];
        let before = before.trim_end();
        fn is_equal(operator: Option<char>) -> bool {
            !matches!(operator, Some('<' | '>' | '!'))
        }
        if let Some(left) = before.strip_suffix('=') {
            return is_equal(left.chars().next_back());
        }
        if after.trim_start().starts_with('=') {
            return true;
        }
        let list = before.rfind(" IN (").filter(|start| !before[*start..].contains(')'));
        list.is_some_and(|start| !before[..start].ends_with(" NOT"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_texts_beside_columns_are_found_once() {
        fn literal(column: Option<&str>, text: &str) -> Literal {
            Literal {
                table: Some("t".into()),
                column: column.map(str::to_owned),
                text: text.into(),
            }
        }
        let literals = [
            literal(Some("c"), ""),
            literal(Some("c"), " "),
            literal(None, ""),
            literal(Some("d"), "x"),
        ];
        let found = blanks(&literals);
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].column.as_str(), &found[0].kind),
            ("c", &UseKind::Texts(vec!["".into()]))
        );
    }

    #[test]
    fn only_what_a_row_has_to_have_is_required() {
        let is_required = |condition: &str| {
            is_required(&format!("SELECT count(*) FROM t WHERE {condition}"), "it's")
        };
        for condition in [
            "c = 'it''s'",
            "'it''s' = c",
            "c IN ('it''s')",
            "c IN ('a', 'it''s') AND d > 1",
            "c <> '' AND c = 'it''s'",
        ] {
            assert!(is_required(condition), "{condition}");
        }
        for condition in [
            "c <> 'it''s'",
            "c != 'it''s'",
            "c >= 'it''s'",
            "c NOT IN ('a', 'it''s')",
            "c LIKE 'it''s'",
            "d IN ('a') AND c LIKE 'it''s'",
        ] {
            assert!(!is_required(condition), "{condition}");
        }
    }
}
