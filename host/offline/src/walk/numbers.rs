//! Numbers: a comparison of a column, a count of rows that groups must have, a year, a limit.

use super::Walk;
use crate::calendar::is_year;
use crate::cues::Cue;
use crate::draft::Measure;
use crate::items::{Item, What};
use crate::lexicon::{self, Scale};
use crate::query::{Operand, Operator};
use crate::schema::{ColumnRef, Holds, Span};

impl Walk<'_> {
    pub(super) fn number(&mut self, at: usize, number: String) {
        if matches!(
            self.item_content(at + 1),
            Some(What::Cue(Cue::Superlative(_) | Cue::MostRows(_) | Cue::Frequent(_)))
        ) {
            self.draft.limit = number.parse().ok();
            return;
        }
        if self.limits_table(at) {
            self.draft.limit = number.parse().ok();
            return;
        }
        let more = match self.item_content(at + 1) {
            Some(What::Cue(Cue::OrMore(operator))) => Some(*operator),
            _ => None,
        };
        let scale = self.pending.compare.map(|(_, scale)| scale);
        let operator = more.or(self.pending.compare.map(|(operator, _)| operator));
        let next = at + 1 + usize::from(more.is_some());
        if self.pending.between {
            self.range(at, Operand::Number(number));
            return;
        }
        let compared = self.pending.compared;
        if compared.is_none() && (self.before_is_free(at) || self.counts_next(at)) {
            let near =
                self.reading.items.get(next).is_some_and(|item| item.from <= self.item(at).to + 3);
            match self.item_content(next) {
                Some(What::Table(table)) if near && operator.is_some() => {
                    let table = *table;
                    let operator = operator.unwrap_or(Operator::Equal);
                    self.draft.having = Some((Measure::Rows(Some(table)), operator, number));
                    self.pending.compare = None;
                    return;
                }
                Some(What::Column(_)) if near => {
                    if let Some(column) = self.resolver.column(next)
                        && self.schema.column(column).holds != Holds::Time
                    {
                        self.used[next] = true;
                        self.filter(
                            at,
                            column,
                            operator.unwrap_or(Operator::Equal),
                            Operand::Number(number),
                        );
                        return;
                    }
                }
                _ => {}
            }
        }
        let year = (is_year(&number) && operator.is_none()).then(|| self.year(at)).flatten();
        // `the amounts in 2021` are of that year.
        let said_in = self.item(at).from.checked_sub(1).is_some_and(|before| {
            matches!(self.reading.tokens[before].lower.as_str(), "in" | "during")
        });
        let dated = (said_in && is_year(&number) && operator.is_none() && !self.follows_time(at))
            .then(|| self.take_dates(at, Span::Year))
            .flatten();
        // `more than 2000` is an amount.
        let may_be_year = is_year(&number) && scale.is_none_or(|scale| !scale.of.is_empty());
        let left = compared
            .or(year)
            .or(dated)
            .or_else(|| self.take_column_before(at))
            .or_else(|| {
                let is_time = |scale: &Scale| is_year(&number) && scale.of == lexicon::TIME_WORDS;
                scale
                    .filter(|s| !s.of.is_empty() && !is_time(s))
                    .and_then(|s| Some(self.resolver.column_for_scale(at, s)?.0))
            })
            .or_else(|| self.alternative(at))
            .or_else(|| may_be_year.then(|| self.take_dates(at, Span::Year)).flatten());
        match left {
            Some(column) => self.filter(
                at,
                column,
                operator.unwrap_or(Operator::Equal),
                Operand::Number(number),
            ),
            None => self.times(at, operator, number),
        }
    }

    /// Returns true for the number of `the 5 employees with the highest salary`.
    fn limits_table(&self, at: usize) -> bool {
        let is_table = self.reading.items.get(at + 1).is_some_and(|next| {
            matches!(next.what, What::Table(_)) && next.from == self.item(at).to && next.head
        });
        let mut rest = self.reading.items.iter().skip(at + 2);
        let behind = rest.find(|item| !matches!(item.what, What::Cue(Cue::Trigger)));
        let ranks = behind.is_some_and(|item| {
            matches!(item.what, What::Cue(Cue::Superlative(_) | Cue::MostRows(_)))
        });
        let is_free = self.pending.compare.is_none() && !self.pending.between;
        is_table && ranks && is_free && self.pending.count.is_none()
    }

    /// Returns whether the column just after the number is named whole, and the one before it in
    /// part: `seat 7 passengers`.
    fn counts_next(&self, at: usize) -> bool {
        let Some(next) = self.reading.items.get(at + 1) else { return false };
        let before = at.checked_sub(1).map_or(1.0, |before| self.item(before).score);
        next.from == self.item(at).to
            && matches!(next.what, What::Column(_))
            && next.score > 0.9
            && before < 0.8
    }

    /// Returns true if the item before is a column of dates or years.
    fn follows_time(&self, at: usize) -> bool {
        let mut back = at;
        while back > 0 && matches!(self.item(back - 1).what, What::Cue(Cue::Trigger | Cue::Not)) {
            back -= 1;
        }
        let before = back.checked_sub(1).and_then(|before| self.resolver.column(before));
        before.is_some_and(|column| {
            let view = self.schema.column(column);
            view.holds == Holds::Time || view.required.iter().any(|stem| stem == "year")
        })
    }

    /// Returns the column of years for a year right after a column that holds none (`June 2021`).
    pub(super) fn year(&mut self, at: usize) -> Option<ColumnRef> {
        let month = at.checked_sub(1)?;
        if matches!(self.item(month).what, What::Months(..)) {
            let last = self.draft.filters.last().filter(|filter| filter.item == month);
            let column = last.map(|filter| filter.condition.column);
            // The year is of the same date as the month.
            return match column {
                Some(at) if self.schema.column(at).holds == Holds::Time => Some(at),
                Some(at) => self.resolver.find_dates(&[at.table], Span::Year),
                None => self.take_dates(at, Span::Year),
            };
        }
        let previous = self
            .resolver
            .column(at.checked_sub(1)?)
            .or_else(|| Some(self.resolver.cell(at - 1)?.column))?;
        let times = self.schema.times(previous.table, Span::Year).flatten();
        let of_time = times.filter(|column| *column != previous);
        of_time.filter(|_| {
            self.schema.column(previous).holds == Holds::Text
                && self.schema.column(previous).required != ["year"]
        })
    }

    /// `32 or 33`, `more than 32 but less than 40`: the column of the condition before.
    pub(super) fn alternative(&self, at: usize) -> Option<ColumnRef> {
        let last = self.draft.filters.last()?;
        let number = matches!(last.condition.operand, Operand::Number(_));
        self.reading.items[last.item + 1..at]
            .iter()
            .all(|item: &Item| match item.what {
                What::Cue(Cue::Or | Cue::And | Cue::Comma | Cue::Both) => true,
                What::Cue(Cue::Compare(_, scale)) => number && scale.of.is_empty(),
                _ => false,
            })
            .then_some(last.condition.column)
    }

    /// `more than once`, `at least 3 times`.
    pub(super) fn times(&mut self, at: usize, operator: Option<Operator>, number: String) {
        let token = &self.reading.tokens[self.item(at).from];
        let next = self.reading.tokens.get(self.item(at).to).map(|token| token.lower.as_str());
        match operator {
            Some(operator) if token.text != token.lower || next == Some("times") => {
                self.draft.having = Some((Measure::Rows(None), operator, number));
                self.pending.compare = None;
            }
            _ => self.draft.loose.push(at),
        }
    }

    pub(super) fn range(&mut self, at: usize, operand: Operand) {
        let Some(low) = self.pending.low.take() else {
            self.pending.low = Some(operand);
            return;
        };
        self.pending.between = false;
        let between = (0..at).rev().find(|i| matches!(self.item(*i).what, What::Cue(Cue::Between)));
        let after = at + 1;
        let column = between
            .and_then(|cue| self.take_column_before(cue))
            .or_else(|| {
                matches!(operand, Operand::Number(_)).then(|| self.resolver.column(after)).flatten()
            })
            .or_else(|| match &operand {
                Operand::Number(number) if is_year(number) => self.take_dates(at, Span::Year),
                Operand::Text(_) => self.take_dates(at, Span::Day),
                _ => None,
            });
        match column {
            Some(column) => self.filter(
                at,
                column,
                Operator::Between,
                Operand::Range(Box::new(low), Box::new(operand)),
            ),
            None => self.draft.loose.push(at),
        }
    }
}
