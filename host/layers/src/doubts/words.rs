//! Doubts about one use of a column, decided by counts.

use std::time::Duration;

use syrch_core::ports::{Use, UseKind};
use syrch_core::{Doubt, DoubtKind, Value};

use super::kinds::Stored;
use super::probe::{Probe, ROWS};
use super::{Counted, Judge};

/// The longest time of one statement that counts where the statement in question is doubtful by its
/// types.
pub(super) const LONG: Duration = Duration::from_secs(2);
/// The limit on a statement that counts where a doubt is rare.
pub(super) const SHORT: Duration = Duration::from_millis(400);
/// Bytes of a cell that a doubt shows.
pub(super) const CELL: usize = 60;

/// The message on a ratio of whole numbers.
const RATIO: &str =
    "whole numbers are divided, so that the ratio has no decimals: multiply one of them by 1.0";

/// Values, texts and numbers of a column.
struct Numbers {
    values: u64,
    texts: u64,
    numbers: u64,
    /// Texts that are days which do not begin with the year.
    days: u64,
    /// True if the order of the texts is that of the numbers: digits alone, as many before the
    /// point in each.
    is_in_order: bool,
}

impl Judge<'_> {
    /// The doubt about one use.
    pub(super) async fn doubt(&mut self, one: &Use) -> Option<Doubt> {
        let stored =
            Stored::from_column(self.catalog.table(&one.table)?, &one.column, self.dialect)?;
        let probe = Probe::new(one, self.catalog, self.dialect)?;
        match &one.kind {
            UseKind::Number(by) if self.is_key_sum(one, by) => Some(key_sum(one, by)),
            UseKind::Number(by) => self.number(one, &probe, stored, by).await,
            UseKind::Cast => self.number(one, &probe, stored, "the cast").await,
            UseKind::Order(by) => self.order(one, &probe, stored, by).await,
            UseKind::Compared { operator, number } => {
                self.doubt_comparison(one, &probe, stored, operator, number).await
            }
            UseKind::ComparedText(by) => Some(doubt_text_comparison(one, by)),
            UseKind::Never => Some(doubt_never(one)),
            UseKind::Always => Some(doubt_always(one)),
            UseKind::Scalar { values } => self.doubt_scalar(one, values).await,
            UseKind::Ratio => Some(Doubt { kind: DoubtKind::WholeRatio, text: RATIO.to_owned() }),
            UseKind::Groups { is_shown: true, .. } if !self.results.may_have_spellings() => None,
            UseKind::Groups { keys, .. } => self.groups(one, &probe, stored, keys).await,
            UseKind::Join { table, column } => self.join(one, &probe, (table, column)).await,
            UseKind::NotIn => self.not_in(one, &probe).await,
            UseKind::Day { operator, day } => {
                self.doubt_comparison_with_day(one, &probe, stored, operator, day).await
            }
            UseKind::Texts(texts) => self.texts(one, &probe, stored, texts).await,
            UseKind::Date => self.date(one, &probe, stored).await,
            UseKind::Condition => self.condition(one, &probe).await,
            UseKind::Beside { keys } => self.doubt_neighbours(one, &probe, keys.as_deref()).await,
            UseKind::Extreme { function, of } => self.doubt_extreme(one, function, of),
            UseKind::Repeated { function, rows } => {
                self.doubt_repeated_rows(one, function, rows).await
            }
            UseKind::Padded { rows } => self.doubt_left_join(one, rows).await,
            UseKind::Unconnected(other) => self.doubt_unconnected_table(one, &probe, other).await,
        }
    }

    fn has_affinities(&self) -> bool {
        self.dialect.syntax().has_affinities
    }

    /// The first row of a statement that counts, as numbers.
    pub(super) async fn numbers_of(
        &mut self,
        sql: String,
        most: Duration,
    ) -> Result<Vec<u64>, Counted> {
        match self.count(sql, most).await {
            Counted::Rows(rows) => Ok(rows.first().into_iter().flatten().map(as_count).collect()),
            other => Err(other),
        }
    }

    pub(super) async fn is_any(&mut self, sql: String, most: Duration) -> Option<bool> {
        let counts = self.numbers_of(sql, most).await.ok()?;
        Some(*counts.first()? > 0)
    }

    /// Counts the texts and numbers of a column.
    async fn count_numbers(
        &mut self,
        probe: &Probe<'_>,
        stored: Stored,
        is_made: bool,
    ) -> Option<Numbers> {
        // Engines with strict types take no text for a number, nor a number for a text.
        let may_be_text = is_made
            || matches!(stored, Stored::Text)
            || (self.has_affinities() && stored != Stored::Other);
        if !may_be_text {
            return None;
        }
        if !is_made && stored != Stored::Text && !self.is_any(probe.any_text(), SHORT).await? {
            return None;
        }
        let counts = self.numbers_of(probe.numbers()?, LONG).await.ok()?;
        let [values, texts, numbers, digits, days, shortest, longest] = counts.try_into().ok()?;
        let is_in_order = texts == values && digits == values && shortest == longest;
        Some(Numbers { values, texts, numbers, days, is_in_order })
    }

    async fn number(
        &mut self,
        one: &Use,
        probe: &Probe<'_>,
        stored: Stored,
        by: &str,
    ) -> Option<Doubt> {
        let column = &one.column;
        let found = self.count_numbers(probe, stored, one.value.is_some()).await?;
        let others = found.values.saturating_sub(found.numbers);
        if others == 0 {
            return None;
        }
        let effect = if self.has_affinities() {
            format!("{by} takes each for the digits that it begins with, or for 0")
        } else {
            format!("{by} leaves them out")
        };
        let text = format!("{}: {effect}", no_numbers(others, found.values, column));
        Some(Doubt { kind: DoubtKind::NoNumbers, text })
    }

    async fn order(
        &mut self,
        one: &Use,
        probe: &Probe<'_>,
        stored: Stored,
        by: &str,
    ) -> Option<Doubt> {
        if stored == Stored::Time {
            return None;
        }
        let found = self.count_numbers(probe, stored, false).await?;
        if found.days > found.values / 2 {
            let column = &one.column;
            let text = format!(
                "the days in {column} are texts that do not begin with the year: {by} puts them in \
                 the order of texts"
            );
            return Some(Doubt { kind: DoubtKind::TextOrder, text });
        }
        // The order of words is what it says.
        if found.texts == 0 || found.numbers == 0 || found.numbers < found.values - found.values / 2
        {
            return None;
        }
        let others = found.values.saturating_sub(found.numbers);
        let column = &one.column;
        if others > 0 {
            let text = format!(
                "{}: {by} puts texts in the order of texts, not of numbers",
                no_numbers(others, found.values, column)
            );
            return Some(Doubt { kind: DoubtKind::NoNumbers, text });
        }
        let text = format!(
            "the numbers in {column} are stored as texts: {by} puts them in the order of texts, \
             in which 100 comes before 95"
        );
        (!found.is_in_order).then_some(Doubt { kind: DoubtKind::TextOrder, text })
    }

    /// Returns the doubt about a comparison of texts with a number. A column of numbers with a few
    /// other values may be asked for one of them.
    async fn doubt_comparison(
        &mut self,
        one: &Use,
        probe: &Probe<'_>,
        stored: Stored,
        by: &str,
        number: &str,
    ) -> Option<Doubt> {
        let column = &one.column;
        fn doubt_numbers(text: String) -> Option<Doubt> {
            Some(Doubt { kind: DoubtKind::NoNumbers, text })
        }
        if stored == Stored::Time {
            let is_doubtful = self.has_affinities() && self.is_any(probe.any_text(), SHORT).await?;
            let text = format!(
                "{column} holds dates as texts, and {by} compares them with the number {number}"
            );
            return doubt_numbers(text).filter(|_| is_doubtful);
        }
        let found = self.count_numbers(probe, stored, false).await?;
        let others = found.values.saturating_sub(found.numbers);
        let is_equality = matches!(by, "=" | "<>");
        if found.texts == 0 {
            return None;
        }
        if is_equality && (found.numbers > 0 || others > 0 && self.has_affinities()) {
            let is_written = self.has_affinities()
                && self.is_any(probe.any_spelling_of_number(number), SHORT).await?;
            if is_written {
                return doubt_numbers(format!(
                    "{column} holds {number} in another spelling, and {by} compares texts with it"
                ));
            }
            if found.numbers > 0 {
                return None;
            }
        }
        if others == 0 {
            return self.order(one, probe, stored, by).await;
        }
        let effect = if is_equality {
            format!("{by} compares them with one")
        } else {
            format!("{by} puts texts in the order of texts, not of numbers")
        };
        doubt_numbers(format!("{}: {effect}", no_numbers(others, found.values, column)))
    }

    async fn groups(
        &mut self,
        one: &Use,
        probe: &Probe<'_>,
        stored: Stored,
        keys: &[String],
    ) -> Option<Doubt> {
        if !matches!(stored, Stored::Text | Stored::Any) {
            return None;
        }
        let Counted::Rows(rows) = self.count(probe.several_spellings(keys), SHORT).await else {
            return None;
        };
        let first = rows.first()?;
        let number = match rows.len() as u64 {
            1 => "1 value".to_owned(),
            ROWS => format!("{ROWS} or more values"),
            several => format!("{several} values"),
        };
        let shown = match (first.first(), first.get(1)) {
            (Some(Value::Text(one)), Some(Value::Text(other))) if self.layer.shows_cells => {
                let [one, other] = [one, other].map(|text| syrch_core::text::clip(text, CELL));
                format!(", such as `{one}` and `{other}`")
            }
            _ => String::new(),
        };
        let text = format!(
            "{number} of {} in several spellings{shown}: each spelling counts by itself",
            one.column
        );
        Some(Doubt { kind: DoubtKind::Spellings, text })
    }

    async fn not_in(&mut self, one: &Use, probe: &Probe<'_>) -> Option<Doubt> {
        if one.value.is_some() {
            let text = format!(
                "NULL stands in the list of {} NOT IN, so that no row meets it",
                one.column
            );
            return Some(Doubt { kind: DoubtKind::NullInList, text });
        }
        if !self.is_any(probe.any_null(), LONG).await? {
            return None;
        }
        let text =
            format!("a value of {} is NULL, so that no row meets the NOT IN over it", one.column);
        Some(Doubt { kind: DoubtKind::NullInList, text })
    }

    async fn doubt_comparison_with_day(
        &mut self,
        one: &Use,
        probe: &Probe<'_>,
        stored: Stored,
        operator: &str,
        day: &str,
    ) -> Option<Doubt> {
        let column = &one.column;
        fn doubt_day(text: String) -> Option<Doubt> {
            Some(Doubt { kind: DoubtKind::Day, text })
        }
        // The other ends of a range are right at midnight.
        let is_whole_day = matches!(operator, "=" | "<>" | "<=" | ">");
        if !is_ordered_day(day) && stored == Stored::Time && !self.has_affinities() {
            return None;
        }
        if !is_ordered_day(day) {
            return match self.numbers_of(probe.days(), LONG).await.ok()?.as_slice() {
                // Three numbers with signs between them are a day without its quotes.
                [_, days, _] if *days > 0 => doubt_day(format!(
                    "{column} is written as YYYY-MM-DD, and is compared with {}{}",
                    if day.contains(" - ") { "the number " } else { "" },
                    syrch_core::text::clip(day, CELL)
                )),
                _ if !matches!(operator, "=" | "<>") => {
                    self.order(one, probe, stored, operator).await
                }
                _ => None,
            };
        }
        let has_times = || {
            format!(
                "{column} holds times of day: {column} {operator} {day} compares with its \
                 midnight, not with the whole day"
            )
        };
        if !self.has_affinities() {
            return match stored {
                Stored::Number => {
                    doubt_day(format!("{column} is a number, and is compared with the day {day}"))
                }
                Stored::Time if is_whole_day && self.may_hold_times(one) => self
                    .is_any(probe.any_time(), LONG)
                    .await
                    .filter(|any| *any)
                    .and_then(|_| doubt_day(has_times())),
                Stored::Text => self
                    .day_in_texts(one, probe, is_whole_day, day)
                    .await
                    .map(|text| text.unwrap_or_else(has_times))
                    .and_then(doubt_day),
                _ => None,
            };
        }
        let text = self.day_in_texts(one, probe, is_whole_day, day).await?;
        doubt_day(text.unwrap_or_else(has_times))
    }

    /// Returns whether the declared type has a time of day beside a day.
    fn may_hold_times(&self, one: &Use) -> bool {
        let column = self.catalog.table(&one.table).and_then(|table| table.column(&one.column));
        column.is_some_and(|column| {
            let declared = column.sql_type.to_uppercase();
            declared.contains("TIMESTAMP") || declared.contains("DATETIME")
        })
    }

    /// Returns the text of a doubt about a day beside texts; the inner `None` if the texts hold
    /// times.
    async fn day_in_texts(
        &mut self,
        one: &Use,
        probe: &Probe<'_>,
        is_whole_day: bool,
        day: &str,
    ) -> Option<Option<String>> {
        let [values, days, times] =
            self.numbers_of(probe.days(), LONG).await.ok()?.try_into().ok()?;
        let column = &one.column;
        match () {
            () if values == 0 => None,
            () if days == 0 => Some(Some(format!(
                "no value of {column} is written as YYYY-MM-DD, and it is compared with {day}"
            ))),
            () if times > 0 && is_whole_day => Some(None),
            () if days < values => {
                let others = values - days;
                Some(Some(format!(
                    "{others} of {values} values of {column} are not written as YYYY-MM-DD, and \
                     are compared with {day}"
                )))
            }
            () => None,
        }
    }

    async fn texts(
        &mut self,
        one: &Use,
        probe: &Probe<'_>,
        stored: Stored,
        texts: &[String],
    ) -> Option<Doubt> {
        if let Some(doubt) = self.outside_set(one, texts) {
            return Some(doubt);
        }
        if !matches!(stored, Stored::Text | Stored::Any) {
            return None;
        }
        let Counted::Rows(rows) = self.count(probe.spellings(texts)?, SHORT).await else {
            return None;
        };
        if rows.is_empty() {
            return self.doubt_name_of_several(one, probe, texts).await;
        }
        let cells = rows.iter().map(|row| (row.first(), row.get(1).map_or(0, as_count)));
        let number = match rows.len() as u64 {
            1 => "1 further spelling".to_owned(),
            ROWS => format!("{ROWS} or more further spellings"),
            several => format!("{several} further spellings"),
        };
        let named = texts.iter().map(|text| format!("`{text}`")).collect::<Vec<_>>().join(", ");
        let named = syrch_core::text::clip(&named, 3 * CELL);
        let rows_with: u64 = cells.clone().map(|(_, count)| count).sum();
        let shown = if self.layer.shows_cells {
            cells
                .map(|(cell, count): (Option<&Value>, u64)| match cell {
                    Some(Value::Text(text)) => {
                        format!("`{}` ({count})", syrch_core::text::clip(text, CELL))
                    }
                    _ => count.to_string(),
                })
                .collect::<Vec<_>>()
                .join(", ")
        } else {
            format!("in {rows_with} rows")
        };
        let values = if rows.len() == 1 { "another value" } else { "other values" };
        let text = format!("{number} of {named} in {}, taken for {values}: {shown}", one.column);
        Some(Doubt { kind: DoubtKind::Spellings, text })
    }

    /// The doubt about texts that the schema does not allow in the column.
    fn outside_set(&self, one: &Use, texts: &[String]) -> Option<Doubt> {
        let (values, 0) = self.catalog.table(&one.table)?.column(&one.column)?.values()? else {
            return None;
        };
        let other = texts.iter().find(|text| !values.contains(text))?;
        let all = values.join(", ");
        let allowed = syrch_core::text::clip(&all, 3 * CELL);
        let other = syrch_core::text::clip(other, CELL);
        let text = format!("{} is never `{other}`: the schema allows {allowed}", one.column);
        Some(Doubt { kind: DoubtKind::OutsideSet, text })
    }

    async fn date(&mut self, one: &Use, probe: &Probe<'_>, stored: Stored) -> Option<Doubt> {
        let call = one.value.as_deref()?;
        let function = call.split('(').next().unwrap_or(call).trim();
        let column = &one.column;
        fn doubt_dates(text: String) -> Option<Doubt> {
            Some(Doubt { kind: DoubtKind::NoDates, text })
        }
        match stored {
            Stored::Text | Stored::Any => {
                let [values, given] =
                    self.numbers_of(probe.non_null_counts(), LONG).await.ok()?.try_into().ok()?;
                let others = values.saturating_sub(given);
                if others == 0 {
                    return None;
                }
                doubt_dates(format!(
                    "{function} is NULL for {others} of {values} values of {column}, which it \
                     cannot read as dates"
                ))
            }
            Stored::Time | Stored::Number if self.has_affinities() => {
                let has_own_unit = ["unixepoch", "'auto'"].iter().any(|unit| call.contains(unit));
                if !has_own_unit && self.is_any(probe.any_day_beyond(), SHORT).await? {
                    return doubt_dates(format!(
                        "{function} takes the numbers in {column} for Julian days, which \
                         they are not"
                    ));
                }
                if self.is_any(probe.any_value(), SHORT).await?
                    || !self.is_any(probe.any_row(), SHORT).await?
                {
                    return None;
                }
                doubt_dates(format!(
                    "{function} is NULL for every value of {column}, which it cannot read as dates"
                ))
            }
            _ => None,
        }
    }

    async fn condition(&mut self, one: &Use, probe: &Probe<'_>) -> Option<Doubt> {
        if self.is_any(probe.any_value(), LONG).await?
            || !self.is_any(probe.any_row(), SHORT).await?
        {
            return None;
        }
        let condition = syrch_core::text::clip(one.value.as_deref().unwrap_or_default(), 3 * CELL);
        let text = format!(
            "the condition {condition} is NULL for every row of {}, so that no row meets it",
            one.table
        );
        Some(Doubt { kind: DoubtKind::NullCondition, text })
    }

    /// The doubt about a query in the place of one value that gives several.
    async fn doubt_scalar(&mut self, one: &Use, values: &str) -> Option<Doubt> {
        let counts = self.numbers_of(values.to_owned(), LONG).await.ok()?;
        let text = format!(
            "the query that {} is compared with gives several values, of which the first is taken: \
             IN takes all of them",
            one.column
        );
        (*counts.first()? > 1).then_some(Doubt { kind: DoubtKind::SeveralValues, text })
    }

    async fn doubt_neighbours(
        &mut self,
        one: &Use,
        probe: &Probe<'_>,
        keys: Option<&[String]>,
    ) -> Option<Doubt> {
        if let Some(keys) = keys {
            let counts = self.numbers_of(probe.values_of_group(keys), LONG).await.ok()?;
            if *counts.first()? <= 1 {
                return None;
            }
        }
        let text = format!(
            "{} stands beside an aggregate and is not grouped: it is the value of any one row \
             of the group",
            one.column
        );
        Some(Doubt { kind: DoubtKind::BareColumn, text })
    }
}

/// Returns whether a day is written `YYYY-MM-DD`, or is today.
fn is_ordered_day(day: &str) -> bool {
    day == "now" || (day.len() == 10 && day.as_bytes()[4] == b'-')
}

/// Returns the doubt about the sum of a column that numbers rows.
fn key_sum(one: &Use, by: &str) -> Doubt {
    let text = format!("{} numbers rows, and {by} takes it for an amount", one.column);
    Doubt { kind: DoubtKind::KeySum, text }
}

/// The doubt about a condition that no row meets.
fn doubt_never(one: &Use) -> Doubt {
    let condition = syrch_core::text::clip(one.value.as_deref().unwrap_or_default(), 3 * CELL);
    let how = if condition.ends_with("NULL") { ": NULL is met by IS NULL" } else { "" };
    let text = format!("no row meets the condition {condition}{how}");
    Doubt { kind: DoubtKind::Never, text }
}

/// The doubt about a condition that every row meets.
fn doubt_always(one: &Use) -> Doubt {
    let condition = syrch_core::text::clip(one.value.as_deref().unwrap_or_default(), 3 * CELL);
    let text = format!("every value of {} meets the condition {condition}", one.column);
    Doubt { kind: DoubtKind::Always, text }
}

/// The doubt about a text made of a column that is compared with a number.
fn doubt_text_comparison(one: &Use, by: &str) -> Doubt {
    let made = syrch_core::text::clip(one.value.as_deref().unwrap_or_default(), CELL);
    let effect =
        if by == "=" { "no text equals a number" } else { "texts are greater than all numbers" };
    let text = format!("{made} is a text, and {by} compares it with a number: {effect}");
    Doubt { kind: DoubtKind::NoNumbers, text }
}

fn no_numbers(others: u64, values: u64, column: &str) -> String {
    if others == 1 {
        return format!("1 of {values} values of {column} is no number");
    }
    format!("{others} of {values} values of {column} are no numbers")
}

/// A count as an engine returns it; NULL, the sum of nothing, is 0.
fn as_count(value: &Value) -> u64 {
    match value {
        Value::Integer(count) => u64::try_from(*count).unwrap_or_default(),
        Value::Real(count) if *count >= 0.0 => *count as u64,
        Value::Decimal(text) | Value::Text(text) => text.parse().unwrap_or_default(),
        _ => 0,
    }
}
