//! Times that no calendar and no clock has: `February 30`, `month 13`, `Q5`, `25:00`.

use std::ops::Range;

use chrono::NaiveDate;

use super::{day, month, year};
use crate::token::{Kind, Token};

/// Units of time with the number of them in a greater one.
const UNITS: &[(&str, u32, &str)] = &[
    ("month", 12, "a year has 12 months"),
    ("quarter", 4, "a year has 4 quarters"),
    ("week", 53, "a year has at most 53 weeks"),
    ("weekday", 7, "a week has 7 days"),
    ("hour", 24, "a day has 24 hours"),
];
/// Words for a place in an order, from the first.
const ORDINALS: &[&str] = &[
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
];
/// Words before a time.
const BEFORE: &[&str] = &[
    "after", "and", "at", "before", "between", "by", "during", "for", "from", "in", "of", "on",
    "since", "through", "till", "to", "until",
];
/// Those of them behind which a number after a month is its day.
const BEFORE_DAYS: &[&str] =
    &["after", "and", "before", "between", "from", "on", "since", "through", "till", "to", "until"];

/// The tokens of each such time, with the reason why it is none.
pub(crate) fn impossible_times(tokens: &[Token]) -> impl Iterator<Item = (Range<usize>, String)> {
    (0..tokens.len()).filter_map(move |at| {
        let found = Times { tokens, at };
        let (end, why) = found
            .no_date()
            .or_else(|| found.no_digits())
            .or_else(|| found.no_day())
            .or_else(|| found.no_unit())
            .or_else(|| found.no_quarter())
            .or_else(|| found.no_time_of_day())?;
        Some((at..end, format!("{}: {why}", write(&tokens[at..end]))))
    })
}

/// The words of a time as the question has them.
fn write(tokens: &[Token]) -> String {
    let mut text = String::new();
    let mut end = None;
    for token in tokens {
        if end.is_some_and(|end| end < token.place.start) {
            text.push(' ');
        }
        text += &token.text;
        end = Some(token.place.end);
    }
    text
}

const NO_DAY: &str = "there is no such day in the calendar";

/// A place in a question; each method reads a time that begins there and returns the token behind
/// it, and the reason why it is none.
struct Times<'a> {
    tokens: &'a [Token],
    at: usize,
}

impl Times<'_> {
    fn word(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| token.lower.as_str())
    }

    fn before(&self) -> &str {
        self.at.checked_sub(1).map_or("", |before| self.word(before))
    }

    /// The number that a token is, of at most three digits.
    fn number(&self, at: usize) -> Option<u32> {
        let token = self.tokens.get(at).filter(|token| token.kind == Kind::Number)?;
        token.lower.parse().ok().filter(|number| *number < 1000)
    }

    /// The place that `13th` or `thirteenth` names.
    fn ordinal(&self, at: usize) -> Option<u32> {
        let word = self.word(at);
        if let Some(place) = ORDINALS.iter().position(|ordinal| *ordinal == word) {
            return u32::try_from(place + 1).ok();
        }
        ["st", "nd", "rd", "th"].iter().find_map(|end| word.strip_suffix(end))?.parse().ok()
    }

    /// The unit that a token names, with the number of them in a greater one and the reason.
    fn unit(&self, at: usize) -> Option<(u32, &'static str)> {
        let word = self.word(at);
        UNITS.iter().find(|(unit, ..)| *unit == word).map(|(_, most, why)| (*most, *why))
    }

    /// `2023-02-30`; `28-02-2023` is a day that is not read.
    fn no_date(&self) -> Option<(usize, &'static str)> {
        let token = self.tokens.get(self.at)?;
        let is_other = match token.kind {
            Kind::Date => day(&token.text).is_none(),
            // `2023-13` stands for a text, although nothing quotes it.
            Kind::Quoted => {
                let is_bare = token.place.len() == token.text.len();
                is_bare && is_month(&token.text) && day(&format!("{}-01", token.text)).is_none()
            }
            _ => false,
        };
        let parts: Vec<&str> = token.text.split('-').collect();
        let why = match parts.as_slice() {
            [_, _] => "there is no such month in the calendar",
            _ => judge_digits(&parts)?,
        };
        is_other.then_some((self.at + 1, why))
    }

    /// `31/02/2023` and `31.02.2023`.
    fn no_digits(&self) -> Option<(usize, &'static str)> {
        let token = self.tokens.get(self.at).filter(|token| token.kind == Kind::Number)?;
        if token.text.matches('.').count() == 2 {
            let parts: Vec<&str> = token.text.split('.').collect();
            return Some((self.at + 1, judge_digits(&parts)?));
        }
        let [one, slash, two, other, three] = self.tokens.get(self.at..self.at + 5)? else {
            return None;
        };
        let is_joined = slash.text == "/" && other.text == "/";
        let parts = [one, two, three].map(|part| part.text.as_str());
        is_joined.then(|| judge_digits(&parts)).flatten().map(|why| (self.at + 5, why))
    }

    /// `February 30`, `the 31st of April`, `30 Feb 2023`.
    fn no_day(&self) -> Option<(usize, &'static str)> {
        let at = self.at;
        let of = usize::from(self.word(at + 1) == "of");
        let (month, day, next) = match month(self.tokens, at) {
            Some(month) => (month, at + 1, at + 2),
            None => (month(self.tokens, at + 1 + of)?, at, at + 2 + of),
        };
        let ordinal = self.ordinal(day);
        let number = ordinal.or_else(|| self.number(day))?;
        let comma = usize::from(self.word(next) == ",");
        let year = self.tokens.get(next + comma).and_then(year);
        let is_meant = ordinal.is_some()
            || year.is_some()
            || (BEFORE_DAYS.contains(&self.before()) && number <= 31);
        // Of a leap year where none is said.
        let is_day = NaiveDate::from_ymd_opt(year.unwrap_or(2024), month, number).is_some();
        let end = if year.is_some() { next + comma + 1 } else { next };
        (is_meant && !is_day).then_some((end, NO_DAY))
    }

    /// `month 13`, `the 13th month`, `25th hour`.
    fn no_unit(&self) -> Option<(usize, &'static str)> {
        let (number, (most, why)) = match (self.unit(self.at), self.ordinal(self.at)) {
            (Some(unit), _) if BEFORE.contains(&self.before()) => (self.number(self.at + 1)?, unit),
            (None, Some(number)) => (number, self.unit(self.at + 1)?),
            _ => return None,
        };
        (number > most).then_some((self.at + 2, why))
    }

    /// `Q5`.
    fn no_quarter(&self) -> Option<(usize, &'static str)> {
        let digits = self.word(self.at).strip_prefix('q')?;
        let number: u32 = digits.parse().ok()?;
        let is_time = BEFORE.contains(&self.before())
            || self.tokens.get(self.at + 1).and_then(year).is_some();
        (is_time && !(1..=4).contains(&number)).then_some((self.at + 1, "a year has 4 quarters"))
    }

    /// `25:00`, `25 o'clock`.
    fn no_time_of_day(&self) -> Option<(usize, &'static str)> {
        let hour = self.number(self.at)?;
        if self.word(self.at + 1) == "o'clock" {
            return (hour > 24).then_some((self.at + 2, "a day has 24 hours"));
        }
        let minute = self.number(self.at + 2).filter(|_| self.word(self.at + 1) == ":")?;
        let [one, _, two] = self.tokens.get(self.at..self.at + 3)? else { return None };
        let is_written = one.place.end + 1 == two.place.start && two.text.len() == 2;
        let is_dated =
            self.at.checked_sub(1).is_some_and(|before| self.tokens[before].kind == Kind::Date);
        let is_meant = is_written && (is_dated || BEFORE.contains(&self.before()));
        let is_time = hour * 60 + minute <= 24 * 60 && minute < 60;
        (is_meant && !is_time).then_some((self.at + 3, "there is no such time of day"))
    }
}

/// Returns true for the form of `2023-13`.
fn is_month(text: &str) -> bool {
    let is_digits = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    is_digits
        && text.split_once('-').is_some_and(|(year, month)| (year.len(), month.len()) == (4, 2))
}

/// The reason why a day of three numbers is not read: it is none in whatever order they stand, or
/// this is not the order of `2024-05-31`.
fn judge_digits(parts: &[&str]) -> Option<&'static str> {
    let numbers: Option<Vec<u32>> = parts.iter().map(|part| part.parse().ok()).collect();
    let [one, two, three] = *numbers?.as_slice() else { return None };
    fn is_year(number: u32) -> bool {
        (1000..10_000).contains(&number)
    }
    fn is_day(year: u32, month: u32, day: u32) -> bool {
        i32::try_from(year).is_ok_and(|year| NaiveDate::from_ymd_opt(year, month, day).is_some())
    }
    let (is_any, is_dated) = if is_year(one) {
        (is_day(one, two, three), true)
    } else {
        (is_day(three, one, two) || is_day(three, two, one), is_year(three))
    };
    match (is_dated, is_any) {
        (false, _) => None,
        (true, false) => Some(NO_DAY),
        (true, true) => Some("a day is written as 2024-05-31"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words;

    fn read(question: &str) -> Vec<String> {
        impossible_times(&words::tokens(question)).map(|(_, why)| why).collect()
    }

    #[test]
    fn times_that_are_none_have_a_reason() {
        for (question, time) in [
            ("orders on February 30", "February 30"),
            ("orders on February 30, 2023", "February 30, 2023"),
            ("orders on February 29, 2023", "February 29, 2023"),
            ("orders placed on 30 Feb 2023", "30 Feb 2023"),
            ("orders on the 31st of April", "31st of April"),
            ("orders between April 1 and April 31", "April 31"),
            ("orders on 2023-02-30", "2023-02-30"),
            ("orders on 31/02/2023", "31/02/2023"),
            ("orders on 31.02.2023", "31.02.2023"),
            ("orders on 2023/02/30", "2023/02/30"),
            ("orders in 2023-13", "2023-13"),
            ("orders in the 13th month", "13th month"),
            ("orders in the thirteenth month", "thirteenth month"),
            ("orders in month 13", "month 13"),
            ("orders in Q5", "Q5"),
            ("Q0 2023 orders", "Q0"),
            ("orders in the fifth quarter", "fifth quarter"),
            ("orders in week 60", "week 60"),
            ("orders at 25:00", "25:00"),
            ("orders after 2023-05-10 23:75", "23:75"),
            ("orders at 25 o'clock", "25 o'clock"),
            ("orders in the 25th hour", "25th hour"),
        ] {
            let found = read(question);
            assert_eq!(found.len(), 1, "{question}: {found:?}");
            let named = found[0].strip_prefix(time).and_then(|rest| rest.strip_prefix(": "));
            assert!(named.is_some_and(|why| !why.contains("is written")), "{question}: {found:?}");
        }
    }

    #[test]
    fn a_day_in_another_order_is_no_impossible_one() {
        for question in ["orders on 28/02/2023", "orders on 28-02-2023", "orders on 28.02.2023"] {
            assert!(read(question)[0].ends_with("a day is written as 2024-05-31"), "{question}");
        }
    }

    #[test]
    fn other_numbers_are_no_times() {
        for question in [
            "orders on February 28, 2023",
            "orders on February 29",
            "orders on 2024-02-29",
            "top 30 February orders",
            "orders in May 2024",
            "since May 2024",
            "orders of 13 months",
            "orders per month over 13",
            "the first 60 weeks",
            "orders in Q4",
            "How many Q7 were sold?",
            "a ratio of 16:9",
            "orders at 24:00",
            "version 1.12.13",
            "orders in 2023-12",
            "parts 10/20/30",
            "the 13th customer",
        ] {
            assert_eq!(read(question), [""; 0], "{question}");
        }
    }
}
