//! A required range of time against the literals of a statement.

use super::Seen;
use super::comparisons::Operator;

/// Days by which a bound may lie beside the end of a range: months are counted with 31 days, so
/// that the first of March is more than a day after the last of February.
const BESIDE: u32 = 3;
/// Days of a month and of a year, in that count.
const MONTH: u32 = 31;
const YEAR: u32 = 12 * MONTH;

/// Returns true if the statement refers to the range: a literal that is not compared names the year
/// of one of its ends, or of the year after its last; or a column is compared for equality with a
/// moment in it; or with bounds, of which one lies in the range for each of its ends. A range
/// without years is met by any column that holds days or times.
pub(crate) fn is_met((from, to): &(String, String), seen: &Seen) -> bool {
    let years: Vec<u32> =
        [year(from), year(to), year(to).map(|year| year + 1)].into_iter().flatten().collect();
    if years.is_empty() {
        return seen.has_time();
    }
    let first = span(from).map(|(start, _)| start);
    let last = span(to).map(|(_, end)| end);
    let start = first.unwrap_or_default();
    let end = last.unwrap_or(u32::MAX - BESIDE);
    let mut has_lower = first.is_none();
    let mut has_upper = last.is_none();
    for literal in &seen.literals {
        if literal == "now" || literal == "today" {
            return true;
        }
        let compared: Vec<_> =
            seen.comparisons.iter().filter(|one| one.literal == *literal).collect();
        // One may be compared in one place and stand in a call in another.
        let places = seen.literals.iter().filter(|other| *other == literal).count();
        let is_open = compared.len() < places || compared.iter().any(|one| !one.is_certain);
        if is_open && years.iter().any(|year| names_year(literal, *year)) {
            return true;
        }
        let Some((begins, ends)) = span(literal) else { continue };
        for one in compared.into_iter().filter(|one| one.is_certain) {
            let lower = match one.operator {
                Operator::Equal if begins < end && ends > start => return true,
                Operator::AtLeast => Some(begins),
                Operator::More => Some(ends),
                _ => None,
            };
            let upper = match one.operator {
                Operator::Less => Some(begins),
                Operator::AtMost => Some(ends),
                _ => None,
            };
            has_lower |= lower.is_some_and(|lower| lower + BESIDE >= start && lower < end);
            has_upper |= upper.is_some_and(|upper| upper > start && upper <= end + BESIDE);
        }
    }
    has_lower && has_upper
}

/// The year at the beginning of a moment.
pub(crate) fn year(text: &str) -> Option<u32> {
    let digits: String = text.trim().chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok().filter(|_| digits.len() == 4)
}

/// The first day of a moment and the day after its last, as numbers: of a day, a month or a year.
fn span(text: &str) -> Option<(u32, u32)> {
    let parts: Vec<&str> = text.trim().split(|c: char| !c.is_ascii_digit()).collect();
    let written = *parts.first()?;
    let (year, month, day) = match written.len() {
        4 => (written, parts.get(1).copied(), parts.get(2).copied()),
        8 => (written.get(..4)?, written.get(4..6), written.get(6..)),
        _ => return None,
    };
    let number = |part: Option<&str>, most: u32| {
        part?.parse::<u32>().ok().filter(|number| (1..=most).contains(number))
    };
    let begins = year.parse::<u32>().ok()? * YEAR;
    let Some(month) = number(month, 12) else { return Some((begins, begins + YEAR)) };
    let begins = begins + (month - 1) * MONTH;
    let Some(day) = number(day, MONTH) else { return Some((begins, begins + MONTH)) };
    Some((begins + day - 1, begins + day))
}

/// Returns true if a literal is a year, or a moment or pattern in it.
pub(crate) fn names_year(literal: &str, year: u32) -> bool {
    let mut numbers =
        literal.split(|c: char| !c.is_ascii_digit()).filter(|number| !number.is_empty());
    let wanted = year.to_string();
    numbers.any(|number| number == wanted || (number.len() == 8 && number.starts_with(&wanted)))
}

/// The number of a day such as `2014-01-31`, with or without a time behind it, such that the next
/// day has the next number.
pub(super) fn day_number(text: &str) -> Option<i64> {
    let mut parts = text.get(..10)?.split('-').map(|part| part.parse::<i64>().ok());
    let year = parts.next()??;
    let month = parts.next()??;
    let day = parts.next()??;
    let is_day = (1..=12).contains(&month) && (1..=31).contains(&day) && parts.next().is_none();
    // The year begins in March, so that its last day is that of February.
    let year = if month < 3 { year - 1 } else { year };
    let days = (153 * ((month + 9) % 12) + 2) / 5 + day;
    is_day.then_some(365 * year + year / 4 - year / 100 + year / 400 + days)
}
