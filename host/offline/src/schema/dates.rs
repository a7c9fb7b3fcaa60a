//! The columns that a time of a question is compared with.

use std::collections::BTreeSet;

use super::{ColumnRef, ColumnView, Holds, Schema};
use crate::{dialect, lexicon, words};

/// A span of time that the question names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Span {
    Year,
    Month,
    Day,
}

impl Schema {
    /// The column of that table that a day is compared with: its one column of dates, else its one
    /// column with a time of day. Of several, the one that only says that it is a date of the
    /// table, as `order_date` of an order, else the one that says when its rows happened. The day
    /// of a birth is meant only where it is named.
    pub(crate) fn day(&self, table: usize) -> Option<ColumnRef> {
        let columns = self.tables[table].columns.iter().enumerate();
        let dates: Vec<(usize, bool)> = columns
            .filter(|(_, view)| view.holds == Holds::Time && !view.is_key && !is_birth(view))
            .map(|(column, view)| (column, dialect::is_timestamp(&view.declared)))
            .collect();
        [false, true].into_iter().find_map(|timed| {
            let fits: Vec<usize> = dates
                .iter()
                .filter(|(_, other)| *other == timed)
                .map(|(column, _)| *column)
                .collect();
            let mut plain = fits.iter().filter(|column: &&usize| {
                let required = &self.tables[table].columns[**column].required;
                required.iter().all(|stem| lexicon::TIME_WORDS.contains(&stem.as_str()))
            });
            let own = plain.next().filter(|_| plain.next().is_none());
            let column = match fits.as_slice() {
                [only] => Some(only),
                several => own.or_else(|| self.beginning_of(table, several)),
            };
            column.map(|column| ColumnRef { table, column: *column })
        })
    }

    /// The one of several columns of that table that says when its rows happened, if no other
    /// says when they ended.
    fn beginning_of<'a>(&self, table: usize, of: &'a [usize]) -> Option<&'a usize> {
        [lexicon::HAPPENINGS, &["created"]].into_iter().find_map(|words| {
            let mut found = of.iter().filter(|column| self.is_called(table, **column, words));
            let first = found.next().filter(|_| found.next().is_none())?;
            let lasts = self.is_called(table, *first, lexicon::OPENINGS)
                && of.iter().any(|column: &usize| self.is_called(table, *column, lexicon::ENDS));
            (!lasts).then_some(first)
        })
    }

    /// Returns true if one of these words distinguishes that column of that table.
    fn is_called(&self, table: usize, column: usize, words: &[&str]) -> bool {
        let required = &self.tables[table].columns[column].required;
        words.iter().any(|word| required.contains(&words::stem(word)))
    }

    /// Returns true if that table has a column of dates, those of births aside.
    fn is_dated(&self, table: usize) -> bool {
        self.tables[table].columns.iter().any(|view| view.holds == Holds::Time && !is_birth(view))
    }

    /// The column of that table that a year, a month or a day is compared with: its years or its
    /// months, else its dates. The inner part is `None` if several fit, and the outer one if the
    /// table has none.
    pub(crate) fn times(&self, table: usize, span: Span) -> Option<Option<ColumnRef>> {
        let numbers = match span {
            Span::Year => self.years(table),
            Span::Month => self.month(table),
            Span::Day => None,
        };
        numbers.map(Some).or_else(|| self.is_dated(table).then(|| self.day(table)))
    }

    /// The column of dates of that table that says when its rows happened, and nothing else of
    /// them: `order_date` of an order, but not `signup_date` of a customer.
    pub(crate) fn happening_dates(&self, table: usize) -> Option<ColumnRef> {
        self.day(table).filter(|at| {
            self.column(*at)
                .required
                .iter()
                .all(|stem: &String| lexicon::TIME_WORDS.contains(&stem.as_str()))
                || self.is_called(table, at.column, lexicon::HAPPENINGS)
                || self.is_called(table, at.column, &["created"])
        })
    }

    /// The column of dates of the one table to which the rows of that table belong: of the items
    /// of an order, the date of the order.
    pub(crate) fn dates_of_owner(&self, table: usize) -> Option<ColumnRef> {
        let owners = self.edges_of(table).filter_map(|edge| {
            let end = if edge.left.table == table { edge.right } else { edge.left };
            let is_owner = end.table != table && self.tables[end.table].key == Some(end.column);
            is_owner.then(|| self.happening_dates(end.table)).flatten()
        });
        let found: BTreeSet<ColumnRef> = owners.collect();
        found.first().copied().filter(|_| found.len() == 1)
    }

    /// The column of that table that holds years, not those of births: the one of that name, else
    /// the only one.
    fn years(&self, table: usize) -> Option<ColumnRef> {
        let columns = self.tables[table].columns.iter().enumerate();
        let years: Vec<usize> = columns
            .filter(|(_, view)| view.holds != Holds::Time && !view.is_key && !is_birth(view))
            .map(|(column, _)| column)
            .filter(|column| self.is_called(table, *column, &["year", "founded"]))
            .collect();
        let column = *years
            .iter()
            .find(|column: &&usize| self.tables[table].columns[**column].required == ["year"])
            .or(if let [only] = years.as_slice() { Some(only) } else { None })?;
        Some(ColumnRef { table, column })
    }

    /// The column of that table that holds months as numbers.
    pub(crate) fn month(&self, table: usize) -> Option<ColumnRef> {
        let column = self.tables[table].columns.iter().position(|view: &ColumnView| {
            view.holds == Holds::Number && view.required == ["month"]
        })?;
        Some(ColumnRef { table, column })
    }
}

/// Returns true if a column says when somebody was born.
fn is_birth(view: &ColumnView) -> bool {
    view.required
        .iter()
        .any(|stem: &String| stem.starts_with("birth") || matches!(stem.as_str(), "born" | "dob"))
}
