//! Reads spans of time in English: `in 2024`, `last month`, `from March to May 2024`, `Q1`.

use chrono::{Datelike, Days, Months, NaiveDate};

use super::tokens::{Kind, Token};
use crate::compile::begin;
use crate::{Grain, Period, WeekStart};

/// Days that a question names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    /// The first day.
    pub(super) from: Option<NaiveDate>,
    /// The day after the last.
    pub(super) until: Option<NaiveDate>,
    /// The unit of which it is one, where it is.
    pub(super) unit: Option<Grain>,
    /// True if it counts from today, as `last month` does.
    pub(super) is_relative: bool,
}

impl Span {
    /// The span as a period of a request.
    pub(super) fn period(self) -> Period {
        Period { from: self.from, until: self.until }
    }
}

/// A time in a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Time {
    /// Days.
    Span(Span),
    /// Months of a year that is not named: the first from 1, and how many.
    Yearless(u32, u32),
    /// Two spans that do not touch.
    Divided,
    /// A time that is not certain, with the reason.
    Unclear(&'static str),
}

/// The part of a time that bounds another: `the end of 2023`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Edge {
    /// The time as it is.
    Whole,
    /// Its start.
    Start,
    /// Its end.
    End,
}

pub(super) const NO_YEAR: &str = "the year is not said";
const REVERSED: &str = "the time ends before it begins";
const FROM_ALONE: &str = "`from` a time may mean that time alone or all that follows: say `in` or \
                          `since`";
const UNTIL_ALONE: &str = "`until` a time may include it or not: say `through`, `before` or `until \
                           the end of`";
const AS_OF: &str = "`as of` a time may mean all until then or that time alone: say `until the end \
                     of`, `before` or `in`";
const ROLLING: &str = "`the last month` and the like may be a unit of the calendar or the days \
                       before today: say `last month` or `the last 30 days`";
/// Words between the first and the last of a range.
const TO: &[&str] = &["through", "till", "to", "until"];

/// The calendar that relative times count from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Calendar {
    /// The day of the question.
    pub(super) today: NaiveDate,
    /// The first day of a week.
    pub(super) week_start: WeekStart,
}

const MONTHS: &[&str] = &[
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const ORDINALS: &[(&str, &str)] =
    &[("first", "1st"), ("second", "2nd"), ("third", "3rd"), ("fourth", "4th")];
/// Words before a time that do not change it.
const BEFORE: &[&str] =
    &["in", "during", "for", "of", "on", "over", "within", "throughout", "the", "at"];
/// Words that a month may follow; `may` and `march` are verbs elsewhere.
const BEFORE_MONTHS: &[&str] = &[
    "in", "of", "during", "since", "before", "after", "for", "until", "till", "and", "between",
    "from", "to", "through", "vs", "versus", "with",
];

/// The unit that a word names.
pub(super) fn unit(word: &str) -> Option<Grain> {
    match word {
        "day" | "days" => Some(Grain::Day),
        "week" | "weeks" => Some(Grain::Week),
        "month" | "months" => Some(Grain::Month),
        "quarter" | "quarters" => Some(Grain::Quarter),
        "year" | "years" => Some(Grain::Year),
        _ => None,
    }
}

/// The grain that an adverb or an adjective names.
pub(super) fn adverb(word: &str) -> Option<Grain> {
    match word {
        "daily" => Some(Grain::Day),
        "weekly" => Some(Grain::Week),
        "monthly" => Some(Grain::Month),
        "quarterly" => Some(Grain::Quarter),
        "yearly" | "annual" | "annually" => Some(Grain::Year),
        _ => None,
    }
}

/// The day that many units later, or earlier.
pub(super) fn shift(day: NaiveDate, unit: Grain, by: i32) -> Option<NaiveDate> {
    let count = by.unsigned_abs();
    let months = match unit {
        Grain::Day | Grain::Week => {
            let days = Days::new(u64::from(count) * if unit == Grain::Week { 7 } else { 1 });
            return if by < 0 { day.checked_sub_days(days) } else { day.checked_add_days(days) };
        }
        Grain::Month => 1,
        Grain::Quarter => 3,
        Grain::Year => 12,
    };
    let months = Months::new(count.checked_mul(months)?);
    if by < 0 { day.checked_sub_months(months) } else { day.checked_add_months(months) }
}

/// The months of a year as a span.
pub(super) fn months(year: i32, first: u32, count: u32) -> Option<Span> {
    let from = NaiveDate::from_ymd_opt(year, first, 1)?;
    let unit = match (count, first) {
        (1, _) => Some(Grain::Month),
        (3, 1 | 4 | 7 | 10) => Some(Grain::Quarter),
        (12, _) => Some(Grain::Year),
        _ => None,
    };
    let until = from.checked_add_months(Months::new(count))?;
    Some(Span { from: Some(from), until: Some(until), unit, is_relative: false })
}

/// Tokens with the calendar that their times refer to.
#[derive(Clone, Copy)]
pub(super) struct Clock<'a> {
    /// The question.
    pub(super) tokens: &'a [Token],
    /// Today.
    pub(super) calendar: Calendar,
}

impl Clock<'_> {
    fn word(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| token.lower.as_str())
    }

    /// Reads a time with the words around it, such as `between 2022 and 2023`; returns it with the
    /// place of the next token.
    pub(super) fn time(&self, at: usize) -> Option<(Time, usize)> {
        match self.word(at) {
            "between" => {
                let (first, last, end) = self.pair(at)?;
                Some((range(first, last)?, end))
            }
            "from" => self.from(at),
            word @ ("since" | "before" | "after" | "through" | "until" | "till") => {
                self.open(word, at + 1)
            }
            "prior" if self.word(at + 1) == "to" => self.open("before", at + 2),
            "as" if matches!(self.word(at + 1), "at" | "of") => {
                let (_, _, end) = self.read_bound(at + 2)?;
                Some((Time::Unclear(AS_OF), end))
            }
            "up" if matches!(self.word(at + 1), "to" | "until") => self.open("through", at + 2),
            // `by the end of 2023`; any other `by` groups.
            "by" => match self.read_bound(at + 1)? {
                (_, Edge::End, _) => self.open("through", at + 1),
                _ => None,
            },
            word => {
                let begin = if BEFORE.contains(&word) { self.skip_the(at + 1) } else { at };
                let (first, end) = self.point(begin)?;
                match self.opens(first, end) {
                    Some(open) => Some(open),
                    None => self.list(first, end),
                }
            }
        }
    }

    /// Reads a time as [`Clock::time`] does, or a range without a word before it: `Q1 to Q3 2024`.
    pub(super) fn time_or_range(&self, at: usize) -> Option<(Time, usize)> {
        match self.pair(at) {
            Some((first, last, end)) => Some((range(first, last)?, end)),
            None => self.time(at),
        }
    }

    /// Returns the first and the last of a range, and the place behind it.
    fn pair(&self, at: usize) -> Option<(Time, Time, usize)> {
        let word = self.word(at);
        let has_word = matches!(word, "between" | "from") || BEFORE.contains(&word);
        let (first, edge, next) = self.read_bound(if has_word { at + 1 } else { at })?;
        let joins = match (word, self.word(next)) {
            ("between", "and") => 1,
            ("between", _) => return None,
            (_, "up") if self.word(next + 1) == "to" => 2,
            (_, to) if TO.contains(&to) => 1,
            _ => return None,
        };
        let (last, last_edge, end) = self.read_bound(next + joins)?;
        let first = match (first, edge) {
            (Time::Span(span), Edge::End) => Time::Span(Span { from: span.until, ..span }),
            (first, Edge::Whole | Edge::Start) => first,
            _ => return None,
        };
        let last = match (last, last_edge) {
            (Time::Span(span), Edge::Start) => Time::Span(Span { until: span.from, ..span }),
            (last, Edge::Whole | Edge::End) => last,
            _ => return None,
        };
        Some((first, last, end))
    }

    /// Reads a time, or its start or its end.
    fn read_bound(&self, at: usize) -> Option<(Time, Edge, usize)> {
        let at = self.skip_the(at);
        let edge = match self.word(at) {
            "start" | "beginning" => Edge::Start,
            "end" => Edge::End,
            _ => {
                let (time, end) = self.point(at)?;
                return Some((time, Edge::Whole, end));
            }
        };
        if self.word(at + 1) != "of" {
            return None;
        }
        let (time, end) = self.point(self.skip_the(at + 2))?;
        Some((time, edge, end))
    }

    /// `2023 and later`, `2023 onwards`, `2023 or earlier`.
    fn opens(&self, first: Time, at: usize) -> Option<(Time, usize)> {
        let joins = usize::from(matches!(self.word(at), "and" | "or"));
        let end = at + joins + 1;
        let Time::Span(span) = first else { return None };
        let (from, until) = match self.word(at + joins) {
            "onward" | "onwards" => (span.from, None),
            "later" | "after" | "since" if joins == 1 => (span.from, None),
            "earlier" | "before" if joins == 1 => (None, span.until),
            _ => return None,
        };
        Some((Time::Span(Span { from, until, unit: None, ..span }), end))
    }

    fn skip_the(&self, at: usize) -> usize {
        at + usize::from(self.word(at) == "the")
    }

    /// `from A to B`, `from A on`, and `from last month`; a year alone may be the start or all.
    fn from(&self, at: usize) -> Option<(Time, usize)> {
        if let Some((first, last, end)) = self.pair(at) {
            return Some((range(first, last)?, end));
        }
        let (first, edge, next) = self.read_bound(at + 1)?;
        if matches!(self.word(next), "on" | "onward" | "onwards") {
            return self.open("since", at + 1).map(|(time, _)| (time, next + 1));
        }
        if edge != Edge::Whole {
            return self.open("since", at + 1);
        }
        Some(match first {
            Time::Span(span) if !span.is_relative => (Time::Unclear(FROM_ALONE), next),
            Time::Yearless(..) => (Time::Unclear(NO_YEAR), next),
            _ => (first, next),
        })
    }

    /// The first and the last of `from 2023 to 2024` and `between 2023 and 2024`, where both are
    /// one unit.
    pub(super) fn ends(&self, at: usize) -> Option<(Span, Span)> {
        let (Time::Span(first), Time::Span(last), _) = self.pair(at)? else { return None };
        let is_one_unit = first.unit.is_some() && first.unit == last.unit;
        is_one_unit.then_some((first, last))
    }

    /// A time that is open on one side: `since 2023`, `before the end of May 2024`.
    fn open(&self, side: &str, at: usize) -> Option<(Time, usize)> {
        let (time, edge, end) = self.read_bound(at)?;
        let span = match time {
            Time::Span(span) => span,
            Time::Yearless(..) => return Some((Time::Unclear(NO_YEAR), end)),
            other => return Some((other, end)),
        };
        let (from, until) = match (side, edge) {
            ("since", Edge::Whole) | ("since" | "after", Edge::Start) => (span.from, None),
            ("after", Edge::Whole) | ("since" | "after", Edge::End) => (span.until, None),
            ("before", Edge::Whole) | (_, Edge::Start) => (None, span.from),
            ("until" | "till", Edge::Whole) if span.unit != Some(Grain::Day) => {
                return Some((Time::Unclear(UNTIL_ALONE), end));
            }
            _ => (None, span.until),
        };
        Some((Time::Span(Span { from, until, unit: None, ..span }), end))
    }

    /// `2022 and 2023`: times that touch are one.
    fn list(&self, first: Time, end: usize) -> Option<(Time, usize)> {
        let joins = matches!(self.word(end), "and" | "," | "or" | "plus");
        match self.point(end + 1).filter(|_| joins) {
            Some((second, next)) => {
                let both = touching(first, second).unwrap_or(Time::Divided);
                self.list(both, next)
            }
            None => Some((first, end)),
        }
    }

    /// Reads a time of its own, such as `2024`, `March 2024` or `last month`.
    pub(super) fn point(&self, at: usize) -> Option<(Time, usize)> {
        self.day(at)
            .or_else(|| self.read_written(at))
            .or_else(|| self.year_first(at))
            .or_else(|| self.read_part(at))
            .or_else(|| self.part_of_year(at))
            .or_else(|| self.relative(at))
    }

    fn day(&self, at: usize) -> Option<(Time, usize)> {
        if let Kind::Day(day) = self.tokens.get(at)?.kind {
            return Some((one_day(day, false)?, at + 1));
        }
        let (month, day, next) = match self.month(at) {
            Some(month) => (month, self.day_of_month(at + 1)?, at + 2),
            None => {
                let of = usize::from(self.word(at + 1) == "of");
                (self.month(at + 1 + of)?, self.day_of_month(at)?, at + 2 + of)
            }
        };
        let next = next + usize::from(self.word(next) == ",");
        let day = NaiveDate::from_ymd_opt(self.year(next)?, month, day)?;
        Some((one_day(day, false)?, next + 1))
    }

    /// `2024-05`, `2024-Q1` and `2023-2024`.
    fn read_written(&self, at: usize) -> Option<(Time, usize)> {
        let token = self.tokens.get(at)?;
        if let Kind::Month(first) = token.kind {
            return Some((Time::Span(months(first.year(), first.month(), 1)?), at + 1));
        }
        let (year, rest) = token.lower.split_once('-')?;
        let year = read_year(year)?;
        if let Some((first, count)) = quarter_or_half(rest) {
            return Some((Time::Span(months(year, first, count)?), at + 1));
        }
        let last = Time::Span(months(read_year(rest)?, 1, 12)?);
        Some((range(Time::Span(months(year, 1, 12)?), last)?, at + 1))
    }

    /// `the last quarter of 2024`, `the first three months of 2024`.
    fn read_part(&self, at: usize) -> Option<(Time, usize)> {
        let is_last = matches!(self.word(at), "last" | "final");
        if !is_last && self.word(at) != "first" {
            return None;
        }
        let number = self.tokens.get(at + 1).and_then(Token::number);
        let unit_at = at + 1 + usize::from(number.is_some());
        let months_of_one = match self.word(unit_at) {
            "month" | "months" => 1,
            "quarter" | "quarters" => 3,
            "half" => 6,
            _ => return None,
        };
        let number = u32::try_from(number.unwrap_or(1)).ok().filter(|number| *number > 0)?;
        let count = number.checked_mul(months_of_one).filter(|count| *count <= 12)?;
        let is_of = matches!(self.word(unit_at + 1), "of" | "in");
        let year = self.year(unit_at + 2).filter(|_| is_of)?;
        let first = if is_last { 13 - count } else { 1 };
        Some((Time::Span(months(year, first, count)?), unit_at + 3))
    }

    fn day_of_month(&self, at: usize) -> Option<u32> {
        let word = self.word(at);
        let digits = ["st", "nd", "rd", "th"].iter().find_map(|end| word.strip_suffix(end));
        digits.unwrap_or(word).parse().ok().filter(|day| (1..=31).contains(day))
    }

    fn year(&self, at: usize) -> Option<i32> {
        let token = self.tokens.get(at)?;
        let is_year = token.kind == Kind::Number && token.text.len() == 4;
        read_year(&token.lower).filter(|_| is_year)
    }

    /// `the 1980s`.
    fn decade(&self, at: usize) -> Option<Time> {
        let year = self.word(at).strip_suffix('s').filter(|year| year.ends_with('0'))?;
        let Span { from, is_relative, .. } = months(read_year(year)?, 1, 12)?;
        let until = shift(from?, Grain::Year, 10);
        Some(Time::Span(Span { from, until, unit: None, is_relative }))
    }

    /// `2024`, `the year 2024`, and `2024 Q1`.
    fn year_first(&self, at: usize) -> Option<(Time, usize)> {
        if let Some(decade) = self.decade(at) {
            return Some((decade, at + 1));
        }
        let at = at + usize::from(self.word(at) == "year" && self.year(at + 1).is_some());
        let year = self.year(at)?;
        if let Some((first, count)) = quarter_or_half(self.word(at + 1)) {
            return Some((Time::Span(months(year, first, count)?), at + 2));
        }
        Some((Time::Span(months(year, 1, 12)?), at + 1))
    }

    /// A month, a quarter or a half, with a year or without.
    fn part_of_year(&self, at: usize) -> Option<(Time, usize)> {
        let (first, count, next) = if let Some(month) = self.month(at) {
            (month, 1, at + 1)
        } else if let Some((first, count)) = quarter_or_half(self.word(at)) {
            (first, count, at + 1)
        } else {
            let word = self.word(at);
            let place =
                ORDINALS.iter().position(|(full, short)| *full == word || *short == word)? as u32;
            match self.word(at + 1) {
                "quarter" => (place * 3 + 1, 3, at + 2),
                "half" if place < 2 => (place * 6 + 1, 6, at + 2),
                _ => return None,
            }
        };
        let mut year_at = next;
        while matches!(self.word(year_at), "of" | "in" | ",") {
            year_at += 1;
        }
        if let Some(year) = self.year(year_at) {
            return Some((Time::Span(months(year, first, count)?), year_at + 1));
        }
        if self.word(year_at + 1) == "year" {
            let by = match self.word(year_at) {
                "last" | "previous" => Some(-1),
                "this" | "current" => Some(0),
                _ => None,
            };
            if let Some(by) = by {
                let year = self.calendar.today.year() + by;
                return Some((Time::Span(months(year, first, count)?), year_at + 2));
            }
        }
        Some((Time::Yearless(first, count), next))
    }

    fn month(&self, at: usize) -> Option<u32> {
        let token = self.tokens.get(at).filter(|token| token.kind == Kind::Word)?;
        let word = token.lower.as_str();
        let is_short = word.len() == 3 || word == "sept";
        let place =
            MONTHS.iter().position(|name| *name == word || (is_short && name.starts_with(word)))?;
        let is_plain = !is_short && word != "march";
        let has_number = self.tokens.get(at + 1).is_some_and(|next| next.kind == Kind::Number)
            || self.day_of_month(at + 1).is_some()
            || at.checked_sub(1).is_some_and(|before| self.day_of_month(before).is_some());
        let follows =
            at.checked_sub(1).is_some_and(|before| BEFORE_MONTHS.contains(&self.word(before)));
        (is_plain || has_number || follows).then_some(place as u32 + 1)
    }

    /// `last month`, `this year`, `the last 30 days`, `year to date`, `today`.
    fn relative(&self, at: usize) -> Option<(Time, usize)> {
        let today = self.calendar.today;
        let word = self.word(at);
        match word {
            "today" => return Some((one_day(today, true)?, at + 1)),
            "yesterday" => return Some((one_day(today.pred_opt()?, true)?, at + 1)),
            "ytd" => return Some((self.period_to_date(Grain::Year)?, at + 1)),
            "qtd" => return Some((self.period_to_date(Grain::Quarter)?, at + 1)),
            "mtd" => return Some((self.period_to_date(Grain::Month)?, at + 1)),
            "so" if self.word(at + 1) == "far" && self.word(at + 2) == "this" => {
                return Some((self.period_to_date(unit(self.word(at + 3))?)?, at + 4));
            }
            _ => {}
        }
        if let (Some(unit), "to", "date") = (unit(word), self.word(at + 1), self.word(at + 2)) {
            return Some((self.period_to_date(unit)?, at + 3));
        }
        let is_this = matches!(word, "this" | "current");
        if !is_this && !matches!(word, "last" | "previous" | "prior" | "past") {
            return None;
        }
        let count = self.tokens.get(at + 1).and_then(Token::number);
        let unit_at = at + 1 + usize::from(count.is_some());
        let unit = unit(self.word(unit_at))?;
        let first = begin(unit, today, self.calendar.week_start);
        if is_this {
            if self.word(unit_at + 1) == "so" && self.word(unit_at + 2) == "far" {
                return Some((self.period_to_date(unit)?, unit_at + 3));
            }
            let span = self.units(first, unit, 1).filter(|_| count.is_none())?;
            return Some((span, unit_at + 1));
        }
        // `the last month` may be thirty days or a month of the calendar.
        let rolls = word == "past"
            || (word == "last" && at.checked_sub(1).is_some_and(|the| self.word(the) == "the"));
        if count.is_none() && rolls {
            return Some((Time::Unclear(ROLLING), unit_at + 1));
        }
        let count = i32::try_from(count.unwrap_or(1)).ok().filter(|count| *count <= 1_000)?;
        Some((self.units(shift(first, unit, -count)?, unit, count)?, unit_at + 1))
    }

    fn units(&self, from: NaiveDate, unit: Grain, count: i32) -> Option<Time> {
        let until = shift(from, unit, count)?;
        Some(Time::Span(Span {
            from: Some(from),
            until: Some(until),
            unit: (count == 1).then_some(unit),
            is_relative: true,
        }))
    }

    fn period_to_date(&self, unit: Grain) -> Option<Time> {
        let today = self.calendar.today;
        Some(Time::Span(Span {
            from: Some(begin(unit, today, self.calendar.week_start)),
            until: Some(today.succ_opt()?),
            unit: Some(unit),
            is_relative: true,
        }))
    }
}

fn one_day(day: NaiveDate, is_relative: bool) -> Option<Time> {
    let until = Some(day.succ_opt()?);
    Some(Time::Span(Span { from: Some(day), until, unit: Some(Grain::Day), is_relative }))
}

fn read_year(text: &str) -> Option<i32> {
    let is_year = text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|year| is_year && (1900..2200).contains(year))
}

fn quarter_or_half(word: &str) -> Option<(u32, u32)> {
    match word.as_bytes() {
        [b'q', digit @ b'1'..=b'4'] => Some((u32::from(digit - b'1') * 3 + 1, 3)),
        [b'h', digit @ b'1'..=b'2'] => Some((u32::from(digit - b'1') * 6 + 1, 6)),
        _ => None,
    }
}

/// From the first to the end of the last; a part of a year takes the year of the other.
fn range(first: Time, last: Time) -> Option<Time> {
    match (first, last) {
        (Time::Span(first), Time::Span(last)) => {
            if first.from? >= last.until? {
                return Some(Time::Unclear(REVERSED));
            }
            Some(Time::Span(Span {
                from: first.from,
                until: last.until,
                unit: None,
                is_relative: first.is_relative || last.is_relative,
            }))
        }
        (Time::Yearless(month, count), Time::Span(last)) => {
            let year = last.from?.year();
            range(Time::Span(months(year, month, count)?), Time::Span(last))
        }
        (Time::Span(first), Time::Yearless(month, count)) => {
            let year = first.from?.year();
            range(Time::Span(first), Time::Span(months(year, month, count)?))
        }
        (Time::Yearless(first, _), Time::Yearless(last, count)) => Some(match first <= last {
            true => Time::Yearless(first, last + count - first),
            false => Time::Unclear(NO_YEAR),
        }),
        (unclear @ Time::Unclear(_), _) | (_, unclear @ Time::Unclear(_)) => Some(unclear),
        _ => None,
    }
}

/// One span of two of which one begins where the other ends.
fn touching(first: Time, second: Time) -> Option<Time> {
    match (first, second) {
        (Time::Span(first), Time::Span(second)) => {
            let from = first.from.min(second.from);
            let until = first.until.max(second.until);
            let touches = first.until == second.from || second.until == first.from;
            touches.then_some(Time::Span(Span { from, until, unit: None, ..first }))
        }
        (Time::Yearless(month, count), Time::Span(span)) => {
            touching(Time::Span(months(span.from?.year(), month, count)?), second)
        }
        (Time::Yearless(first, count), Time::Yearless(second, more)) => {
            (first + count == second).then_some(Time::Yearless(first, count + more))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::question::tokens::tokens;

    fn read(text: &str) -> Option<String> {
        let tokens = tokens(text);
        let today = NaiveDate::from_ymd_opt(2024, 12, 31).unwrap();
        let calendar = Calendar { today, week_start: WeekStart::Monday };
        let clock = Clock { tokens: &tokens, calendar };
        let (time, end) = clock.time_or_range(0)?;
        let rest = if end < tokens.len() { "+" } else { "" };
        Some(match time {
            Time::Span(span) => format!(
                "{}..{}{rest}",
                span.from.map_or(String::new(), |day| day.to_string()),
                span.until.map_or(String::new(), |day| day.to_string())
            ),
            other => format!("{other:?}{rest}"),
        })
    }

    #[test]
    fn times_in_words_are_days() {
        for (text, wanted) in [
            ("in 2024", "2024-01-01..2025-01-01"),
            ("last month", "2024-11-01..2024-12-01"),
            ("this quarter", "2024-10-01..2025-01-01"),
            ("since 2023", "2023-01-01.."),
            ("between 2022 and 2023", "2022-01-01..2024-01-01"),
            ("from March to May 2024", "2024-03-01..2024-06-01"),
            ("before 2024", "..2024-01-01"),
            ("after March 2024", "2024-04-01.."),
            ("in Q1 2024", "2024-01-01..2024-04-01"),
            ("in 2024 Q2", "2024-04-01..2024-07-01"),
            ("in the first quarter of 2023", "2023-01-01..2023-04-01"),
            ("in March", "Yearless(3, 1)"),
            ("over the last 30 days", "2024-12-01..2024-12-31"),
            ("year to date", "2024-01-01..2025-01-01"),
            ("last week", "2024-12-23..2024-12-30"),
            ("on May 11th, 2024", "2024-05-11..2024-05-12"),
            ("on 11 May 2024", "2024-05-11..2024-05-12"),
            ("in 2022 and 2023", "2022-01-01..2024-01-01"),
            ("in 2022 and 2024", "Divided"),
            ("in March of last year", "2023-03-01..2023-04-01"),
            ("from last month", "2024-11-01..2024-12-01"),
            ("from 2023 on", "2023-01-01.."),
            ("from 2023 to 2024", "2023-01-01..2025-01-01"),
            ("between March and May 2024", "2024-03-01..2024-06-01"),
            ("between March 2024 and May", "2024-03-01..2024-06-01"),
            ("from the start of 2023 to the end of March 2024", "2023-01-01..2024-04-01"),
            ("from 2023 to the beginning of March 2024", "2023-01-01..2024-03-01"),
            ("Q1 to Q3 2024", "2024-01-01..2024-10-01"),
            ("in Q1 through Q3 of 2024", "2024-01-01..2024-10-01"),
            ("2023-2024", "2023-01-01..2025-01-01"),
            ("2022 until 2023", "2022-01-01..2024-01-01"),
            ("before 2023-02", "..2023-02-01"),
            ("in 2023-02", "2023-02-01..2023-03-01"),
            ("in 2024-Q2", "2024-04-01..2024-07-01"),
            ("until the end of 2023", "..2024-01-01"),
            ("by the end of 2023", "..2024-01-01"),
            ("until the start of 2023", "..2023-01-01"),
            ("until 2024-05-31", "..2024-06-01"),
            ("through 2023", "..2024-01-01"),
            ("since the beginning of 2023", "2023-01-01.."),
            ("after the end of 2023", "2024-01-01.."),
            ("2023 and later", "2023-01-01.."),
            ("in 2023 or earlier", "..2024-01-01"),
            ("2023 onwards", "2023-01-01.."),
            ("in the first half of 2024", "2024-01-01..2024-07-01"),
            ("in H2 2024", "2024-07-01..2025-01-01"),
            ("in the 1990s", "1990-01-01..2000-01-01"),
            ("before the 1990s", "..1990-01-01"),
            ("in the last quarter of 2023", "2023-10-01..2024-01-01"),
            ("in the first three months of 2023", "2023-01-01..2023-04-01"),
            ("in the final month of 2023", "2023-12-01..2024-01-01"),
        ] {
            assert_eq!(read(text).as_deref(), Some(wanted), "{text}");
        }
    }

    #[test]
    fn what_may_mean_two_spans_is_no_time() {
        for text in ["may", "20", "by 2023", "the end of 2023", "to 2023", "the 1995s", "90s"] {
            assert_eq!(read(text), None, "{text}");
        }
        for (text, why) in [
            ("the last month", ROLLING),
            ("past year", ROLLING),
            ("from 2023", FROM_ALONE),
            ("since March", NO_YEAR),
            ("before May", NO_YEAR),
            ("until 2023", UNTIL_ALONE),
            ("from 2024 to 2023", REVERSED),
            ("between November 2023 and February", REVERSED),
            ("from November to February", NO_YEAR),
        ] {
            assert_eq!(read(text), Some(format!("{:?}", Time::Unclear(why))), "{text}");
        }
    }
}
