//! Conditions: a cell, a number, a text or a date, and the column that it is compared with.

use super::Walk;
use crate::cues::{Cue, Part};
use crate::draft::Filter;
use crate::items::What;
use crate::query::{Condition, Expression, Field, Function, LogicalQuery, Operand, Operator};
use crate::schema::{ColumnRef, Holds, Span};

impl Walk<'_> {
    pub(super) fn filter(
        &mut self,
        item: usize,
        column: ColumnRef,
        operator: Operator,
        operand: Operand,
    ) {
        let number =
            |operand: &Operand| matches!(operand, Operand::Number(number) if number.len() == 4);
        let years = match &operand {
            Operand::Range(low, high) => number(low) && number(high),
            one => number(one),
        };
        let field =
            (self.schema.column(column).holds == Holds::Time && years).then_some(Field::Year);
        let negated = self.pending.not;
        self.draft.filters.push(Filter {
            item,
            condition: Condition { column, operator, operand, field },
            negated,
        });
        self.pending.compare = None;
        self.pending.compared = None;
        self.pending.superlative = None;
    }

    pub(super) fn compare_with(
        &mut self,
        at: usize,
        left: ColumnRef,
        operator: Operator,
        function: Function,
        of: ColumnRef,
    ) {
        let select = vec![Expression::Aggregate(function, of)];
        self.pending.functions.clear();
        self.filter(
            at,
            left,
            operator,
            Operand::Query(Box::new(LogicalQuery { select, ..LogicalQuery::default() })),
        );
    }

    /// The column just before, words such as `is` and cues such as `not` between; it is then a
    /// condition's and not asked for.
    pub(super) fn take_column_before(&mut self, at: usize) -> Option<ColumnRef> {
        fn may_stand_between(what: &What) -> bool {
            matches!(
                what,
                What::Cue(
                    Cue::Compare(..)
                        | Cue::Not
                        | Cue::Or
                        | Cue::Like(_)
                        | Cue::Trigger
                        | Cue::Between
                        | Cue::Both
                        | Cue::Superlative(_)
                )
            )
        }
        let mut back = at;
        while back > 0 && may_stand_between(&self.item(back - 1).what) {
            back -= 1;
        }
        let previous = back.checked_sub(1)?;
        if !matches!(self.item(previous).what, What::Column(_)) {
            return None;
        }
        let column = self.resolver.column(previous)?;
        // What is asked for stays so, unless it touches the condition.
        let next = self.item(previous + 1);
        // `earn more than the average`.
        let is_compared =
            next.from == self.item(previous).to && matches!(next.what, What::Cue(Cue::Compare(..)));
        let near = self.item(at).from <= self.item(previous).to + 2 || is_compared;
        if near || !self.item(previous).head {
            self.draft.asked.retain(|asked| asked.item != previous);
        }
        Some(column)
    }

    pub(super) fn before_compare(&mut self, at: usize) -> Option<ColumnRef> {
        let compare =
            (0..at).rev().find(|i| matches!(self.item(*i).what, What::Cue(Cue::Compare(..))))?;
        self.take_column_before(compare)
    }

    pub(super) fn cell(&mut self, at: usize) {
        let before = at.checked_sub(1).filter(|i| matches!(self.item(*i).what, What::Column(_)));
        let Some(cell) = self.resolver.cell(at) else { return };
        let column = cell.column;
        let fits = before.is_some_and(|previous| self.resolver.column(previous) == Some(column));
        if fits {
            self.take_column_before(at);
        } else if let Some(next) = self.reading.items.get(at + 1)
            && matches!(next.what, What::Column(_))
            && next.from <= self.item(at).to + 1
            && self.resolver.column(at + 1) == Some(column)
        {
            // `the Spanish language`: the column after the cell only explains it.
            self.used[at + 1] = true;
        }
        self.pending.like = None;
        let compared = self.pending.compare.map_or(Operator::Equal, |(operator, _)| operator);
        // `cheaper than the kettle` compares with what a cell's row holds.
        self.draft.unmet += usize::from(!matches!(compared, Operator::Equal | Operator::NotEqual));
        self.draft.unmet += usize::from(self.is_place_of_other(at, column));
        let differs = self.pending.not.is_some() != (compared == Operator::NotEqual);
        let operator = if differs { Operator::NotEqual } else { Operator::Equal };
        self.filter(at, column, operator, cell.operand());
    }

    /// Returns true if a place is said of another table, which has it as well, or would be a second
    /// one of this table: the `Paris` of `guests from Germany with bookings in Paris` is no city of
    /// the guests.
    fn is_place_of_other(&self, at: usize, column: ColumnRef) -> bool {
        let Some(place) = self.reading.table_of_place(at) else { return false };
        let What::Cell(cells) = &self.item(at).what else { return false };
        let has_own = cells.iter().any(|cell| cell.column.table == place);
        let is_second = self.draft.filters.iter().any(|filter| {
            filter.condition.column.table == column.table
                && filter.condition.column != column
                && self.reading.table_of_place(filter.item) == Some(column.table)
        });
        place != column.table && (has_own || is_second)
    }

    /// Returns true if no column stands before the number or its comparison.
    pub(super) fn before_is_free(&self, at: usize) -> bool {
        let previous = (0..at).rev().find(|i| {
            !matches!(self.item(*i).what, What::Cue(Cue::Compare(..) | Cue::Not | Cue::Between))
        });
        let Some(previous) = previous else { return true };
        let near = self.item(at).from <= self.item(previous).to + 4;
        !(near && matches!(self.item(previous).what, What::Column(_)))
    }

    pub(super) fn text(&mut self, at: usize, text: String) {
        let column = self
            .take_column_before(at)
            .or_else(|| self.take_column_after(at))
            .or_else(|| self.resolver.label(at));
        let Some(column) = column else {
            self.draft.loose.push(at);
            return;
        };
        let like = self.pending.like.take();
        let pattern = match like {
            Some(Part::Within) => format!("%{text}%"),
            Some(Part::Beginning) => format!("{text}%"),
            Some(Part::End) => format!("%{text}"),
            None => text,
        };
        let operator = if like.is_some() { Operator::Like } else { Operator::Equal };
        let operator = if self.pending.not.is_some() { operator.negate() } else { operator };
        if like.is_none() {
            self.draft.loose.push(at);
        }
        self.filter(at, column, operator, Operand::Text(pattern));
    }

    /// `has 'x' in its title`: the column after.
    pub(super) fn take_column_after(&mut self, at: usize) -> Option<ColumnRef> {
        let next = self.reading.items.get(at + 1)?;
        let next_is = if matches!(next.what, What::Cue(Cue::Trigger)) { at + 2 } else { at + 1 };
        if !matches!(self.item_content(next_is)?, What::Column(_))
            || self.item(next_is).from > self.item(at).to + 3
        {
            return None;
        }
        self.used[next_is] = true;
        self.resolver.column(next_is)
    }

    /// The column just before, if it holds dates: a day is no number.
    fn date_column_before(&mut self, at: usize) -> Option<ColumnRef> {
        let column = self.resolver.column(
            (0..at).rev().find(|at: &usize| matches!(self.item(*at).what, What::Column(_)))?,
        )?;
        if self.schema.column(column).holds == Holds::Time {
            self.take_column_before(at)
        } else {
            None
        }
    }

    /// Months of a year: of a column of months, else of a date.
    pub(super) fn months(&mut self, at: usize, first: u32, last: u32) {
        fn month_operand(month: u32) -> Operand {
            Operand::Number(month.to_string())
        }
        let (low, high) = match self.pending.between {
            true => match self.pending.low.take() {
                Some(low) => (low, month_operand(last)),
                None => return self.pending.low = Some(month_operand(first)),
            },
            false => (month_operand(first), month_operand(last)),
        };
        // `hired in May`.
        fn is_skipped_cue(what: &What) -> bool {
            matches!(what, What::Cue(Cue::Trigger | Cue::Compare(..) | Cue::Between))
        }
        // `published between May and July`: the column stands before the first month.
        let between = (0..at).rev().find(|i| self.item(*i).what == What::Cue(Cue::Between));
        let from = between.filter(|_| self.pending.between).unwrap_or(at);
        let named = (0..from).rev().find(|item| !is_skipped_cue(&self.item(*item).what));
        let before =
            named.and_then(|item| self.resolver.column(item)).filter(|column: &ColumnRef| {
                let view = self.schema.column(*column);
                view.holds == Holds::Time
                    || (view.holds == Holds::Number && view.required == ["month"])
            });
        let column = before
            .and_then(|_| self.take_column_before(from))
            .or_else(|| self.take_dates(at, Span::Month));
        let Some(column) = column else { return self.draft.loose.push(at) };
        let is_date = self.schema.column(column).holds == Holds::Time;
        self.day_of_month(at, column);
        // Without a year, a month is before another in each year alone.
        let compare = self.pending.compare.map(|(operator, _)| operator);
        self.draft.unmet += usize::from(compare.is_some() && (is_date || first != last));
        let (operator, operand) = match compare {
            Some(operator) => (operator, low),
            None if low == high => (Operator::Equal, low),
            None => (Operator::Between, Operand::Range(Box::new(low), Box::new(high))),
        };
        self.pending.between = false;
        self.filter(at, column, operator, operand);
        if let Some(filter) = self.draft.filters.last_mut().filter(|_| is_date) {
            filter.condition.field = Some(Field::Month);
        }
    }

    /// The number after a month, as in `February 14`, is a day of it: of a column of days, else no
    /// rule expresses it.
    fn day_of_month(&mut self, at: usize, month: ColumnRef) {
        let next = self.reading.items.get(at + 1).filter(|next| next.from == self.item(at).to);
        let Some(What::Number(number)) = next.map(|next| next.what.clone()) else { return };
        if !number.parse::<u32>().is_ok_and(|day| (1..=31).contains(&day)) {
            return;
        }
        self.used[at + 1] = true;
        let columns = self.schema.tables[month.table].columns.iter();
        let mut days = columns
            .enumerate()
            .filter(|(_, view)| view.holds == Holds::Number && view.required == ["day"]);
        match days.next() {
            Some((day, _)) if self.pending.compare.is_none() => {
                let column = ColumnRef { table: month.table, column: day };
                self.filter(at + 1, column, Operator::Equal, Operand::Number(number));
            }
            _ => self.draft.unmet += 1,
        }
    }

    pub(super) fn date(&mut self, at: usize, date: String) {
        if self.pending.between {
            self.range(at, Operand::Text(date));
            return;
        }
        let operator = self.pending.compare.map_or(Operator::Equal, |(operator, _)| operator);
        let operator = match operator {
            Operator::Equal if self.pending.not.is_some() => Operator::NotEqual,
            other => other,
        };
        match self.date_column_before(at).or_else(|| self.take_dates(at, Span::Day)) {
            Some(column) => self.filter(at, column, operator, Operand::Text(date)),
            None => self.draft.loose.push(at),
        }
    }
}
