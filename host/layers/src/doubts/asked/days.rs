//! Spans of days that a question names (`before 2023`, `in March 2023`, `between 2023-03-05 and
//! 2023-03-20`), and those of the statement.

use syrch_core::{Doubt, DoubtKind};

use super::Asked;
use super::bounds::is_digits;
use super::question::{NOT, words};
use super::statement::Condition;
use super::years::{AROUND, MONTHS, year_of};

const NAMES: [&str; 12] = [
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
const QUARTERS: [[&str; 3]; 4] = [
    ["first", "1st", "q1"],
    ["second", "2nd", "q2"],
    ["third", "3rd", "q3"],
    ["fourth", "4th", "q4"],
];
/// Words before a span, and those that may stand between.
const BEFORE: &[&str] = &["before"];
const UNTIL: &[&str] = &["by", "through", "till", "until"];
const AFTER: &[&str] = &["after"];
const SINCE: &[&str] = &["since"];
const WITHIN: &[&str] = &["during", "in", "on", "within"];
const BETWEEN: &[&str] = &["and", "to", "through", "until"];
const FILLING: &[&str] = &["month", "of", "the", "year"];
/// Words of a question with which a span may be another one, beside those around a year.
const OTHERWISE: &[&str] = &[
    "but",
    "decade",
    "early",
    "end",
    "half",
    "late",
    "mid",
    "or",
    "respectively",
    "than",
    "then",
    "versus",
    "vs",
    "week",
    "weeks",
    "while",
];
/// Words around a year that are read here.
const READ: &[&str] = &["after", "before", "between", "since", "till", "until"];
/// Parts of statements with which their days may be others.
const PARTS: &[&str] =
    &[" OR ", "CASE", "EXCEPT", "EXISTS", "FILTER", "INTERVAL", "NOT (", "NOT IN", "OVER", "UNION"];
const CALLS: &[&str] = &["'%d'", "'%j'", "'%w'", "julianday", "quarter", "'now", "'+", "'-"];
/// Words of columns that hold years.
const YEARS: &[&str] = &["built", "born", "established", "founded", "opened", "year", "yr"];

/// Days from a first one up to another, which is not among them; the number of a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Period {
    from: i64,
    to: i64,
}

/// The days at which a span may begin and end; none where it is open.
#[derive(Debug, Default, PartialEq, Eq)]
struct Span {
    from: Vec<i64>,
    to: Vec<i64>,
}

/// The span of a statement.
struct Found {
    span: Span,
    /// True if one equality sets both of its ends.
    is_one: bool,
    /// True if all of its days are the first ones of months, which are in it.
    is_of_months: bool,
}

/// A span of a question with the days by which one may differ.
struct Wanted {
    span: Span,
    leeway: i64,
    /// The words that say so.
    said: String,
}

impl Asked<'_> {
    /// The doubt about days on the wrong side of the span that is asked for, or beyond one of its
    /// ends.
    pub(super) fn other_days(&self) -> Option<Doubt> {
        let wanted = self.read_wanted()?;
        let Found { span: found, is_one, is_of_months } = self.read_found()?;
        let Wanted { span, leeway, said } = wanted;
        let is_other =
            [(&span.from, &found.from), (&span.to, &found.to)].iter().any(|(asked, own)| {
                !asked.is_empty()
                    && !own.is_empty()
                    && !own
                        .iter()
                        .any(|own| asked.iter().any(|asked| (asked - own).abs() <= leeway))
            });
        let is_half = span.from.is_empty() != span.to.is_empty();
        // The first days of months may stand for them.
        let mut ends = found.from.iter().chain(&found.to);
        let is_inside = is_of_months
            && !is_half
            && ends.all(|end| {
                span.from.iter().min() <= Some(end) && Some(end) <= span.to.iter().max()
            });
        let is_turned = is_half
            && (span.from.is_empty() && found.to.is_empty()
                || span.to.is_empty() && found.from.is_empty());
        let is_between = !is_half && leeway > 0;
        let is_open = is_between && (found.from.is_empty() || found.to.is_empty());
        if is_inside || !(is_other || is_turned || is_open || is_half && is_one) {
            return None;
        }
        let text = format!("the question asks for days {said}, and the statement takes others");
        let kind = if is_half || is_between { DoubtKind::OtherBound } else { DoubtKind::OtherYear };
        Some(Doubt { kind, text })
    }

    /// The one span that the question names.
    fn read_wanted(&self) -> Option<Wanted> {
        let asked: Vec<&str> = self.question.words().collect();
        let is_other = asked
            .iter()
            .any(|word| NOT.contains(word) || AROUND.contains(word) && !READ.contains(word));
        let (periods, rest) = read_periods(&asked);
        if is_other || rest.iter().any(|at| OTHERWISE.contains(&asked[*at])) {
            return None;
        }
        let (first, place) = periods.first()?;
        let start = place.start;
        let filled = asked[..start].iter().rev().take_while(|word| FILLING.contains(word)).count();
        let begin = start.checked_sub(filled + 1)?;
        let before = asked[begin];
        let is_year = first.to - first.from > 300;
        let wide = if is_year { vec![first.from, first.to] } else { vec![first.from] };
        let (span, leeway, end) = match periods.as_slice() {
            [_] if BEFORE.contains(&before) => {
                (Span { to: vec![first.from], ..Span::default() }, 1, place.end)
            }
            [_] if UNTIL.contains(&before) => {
                (Span { to: vec![first.from, first.to], ..Span::default() }, 1, place.end)
            }
            [_] if AFTER.contains(&before) => {
                (Span { from: vec![first.from, first.to], ..Span::default() }, 1, place.end)
            }
            [_] if SINCE.contains(&before) => {
                (Span { from: wide, ..Span::default() }, 1, place.end)
            }
            [_] if WITHIN.contains(&before) => {
                (Span { from: vec![first.from], to: vec![first.to] }, 0, place.end)
            }
            [_, (second, other)]
                if ["between", "from"].contains(&before)
                    && other.start == place.end + 1
                    && BETWEEN.contains(&asked[place.end]) =>
            {
                let from = if is_year { vec![first.from, first.to] } else { vec![first.from] };
                (Span { from, to: vec![second.from, second.to] }, 1, other.end)
            }
            _ => return None,
        };
        // The parts of a day belong together.
        let said = asked[begin..end].iter().fold(String::new(), |said, word| {
            let is_part = word.len() == 2 && is_digits(word) && said.ends_with(char::is_numeric);
            let sign = match said.is_empty() {
                true => "",
                false if is_part => "-",
                false => " ",
            };
            said + sign + *word
        });
        Some(Wanted { span, leeway, said })
    }

    /// The span of the days of the statement, which are those of one column.
    fn read_found(&self) -> Option<Found> {
        let text = self.facts.normalized.to_lowercase();
        if !self.facts.tasks.is_empty()
            || PARTS.iter().any(|part| !self.lacks(part))
            || CALLS.iter().chain(MONTHS).any(|call| text.contains(call))
        {
            return None;
        }
        let conditions = self.list_conditions();
        let first = conditions.iter().find(|one| read_literal(one).is_some())?;
        let mut found = Span::default();
        let mut is_one = false;
        let mut is_of_months = true;
        for one in &conditions {
            let is_own = one.column.eq_ignore_ascii_case(first.column);
            let Some(period) = read_literal(one) else {
                // Another part of the days.
                if is_own {
                    return None;
                }
                continue;
            };
            if !is_own || one.is_denied {
                return None;
            }
            let is_cut =
                ["%y", "year", "substr", "left"].iter().any(|part| one.call.contains(part))
                    || !one.is_text;
            let is_day = period.to - period.from == 1;
            let ends = match is_day {
                true => vec![period.from, period.to],
                false if is_cut => vec![period.to],
                // A shorter text comes before all days that begin with it.
                false => vec![period.from],
            };
            let (from, to) = match one.operator {
                "=" | "LIKE" => (vec![period.from], vec![period.to]),
                ">=" => (vec![period.from], Vec::new()),
                ">" => (ends, Vec::new()),
                "<" => (Vec::new(), vec![period.from]),
                "<=" => (Vec::new(), ends),
                _ => return None,
            };
            let is_first_day = is_day && one.literal.ends_with("-01");
            is_of_months &= is_first_day && ["=", "<=", ">="].contains(&one.operator);
            is_one |= !from.is_empty() && !to.is_empty();
            let is_twice = !from.is_empty() && !found.from.is_empty()
                || !to.is_empty() && !found.to.is_empty();
            if is_twice {
                return None;
            }
            found.from.extend(from);
            found.to.extend(to);
        }
        Some(Found { span: found, is_one, is_of_months })
    }
}

/// The periods that words name, each with its place, and the places of the other words.
fn read_periods(asked: &[&str]) -> (Vec<(Period, std::ops::Range<usize>)>, Vec<usize>) {
    let mut found = Vec::new();
    let mut rest = Vec::new();
    let mut at = 0;
    while at < asked.len() {
        match read_period(&asked[at..]) {
            Some((period, length)) => {
                found.push((period, at..at + length));
                at += length;
            }
            None => {
                rest.push(at);
                at += 1;
            }
        }
    }
    (found, rest)
}

/// The period that the first words name, and how many they are.
fn read_period(asked: &[&str]) -> Option<(Period, usize)> {
    fn month_of(word: &str) -> Option<i64> {
        let place = NAMES.iter().position(|name| *name == word)?;
        i64::try_from(place + 1).ok()
    }
    fn day_of(word: &str) -> Option<i64> {
        let digits = word.trim_end_matches(['s', 't', 'n', 'd', 'r', 'h']);
        let is_short = !digits.is_empty() && digits.len() <= 2 && is_digits(digits);
        digits.parse().ok().filter(|day| is_short && (1..=31).contains(day))
    }
    fn two(word: &str) -> Option<i64> {
        word.parse().ok().filter(|_| word.len() == 2 && is_digits(word))
    }
    fn quarter_of(word: &str) -> Option<i64> {
        let place = QUARTERS.iter().position(|names| names.contains(&word))?;
        i64::try_from(place).ok()
    }
    let rest = asked.get(1..)?;
    // `March of 2023`.
    fn skip_of<'a, 'w>(words: &'a [&'w str]) -> &'a [&'w str] {
        words.strip_prefix(&["of"]).unwrap_or(words)
    }
    fn year(words: &[&str]) -> Option<i64> {
        words.first().and_then(|word| year_of(word)).map(i64::from)
    }
    let first = asked[0];
    if let (Some(year), [month, day, ..]) = (year(asked), rest)
        && let (Some(month), Some(day)) = (two(month), two(day))
    {
        return Some((Period::of_day(year, month, day)?, 3));
    }
    if let (Some(month), [day, left @ ..]) = (month_of(first), rest)
        && let (Some(day), Some(year)) = (day_of(day), year(left))
    {
        return Some((Period::of_day(year, month, day)?, asked.len() - left.len() + 1));
    }
    if let (Some(day), [month, left @ ..]) = (day_of(first), skip_of(rest))
        && let (Some(month), Some(year)) = (month_of(month), year(skip_of(left)))
    {
        return Some((Period::of_day(year, month, day)?, asked.len() - skip_of(left).len() + 1));
    }
    if let (Some(month), Some(year)) = (month_of(first), year(skip_of(rest))) {
        return Some((Period::of_months(year, month, 1)?, asked.len() - skip_of(rest).len() + 1));
    }
    let left = skip_of(rest.strip_prefix(&["quarter"]).unwrap_or(rest));
    if let (Some(quarter), Some(year)) = (quarter_of(first), year(left))
        && (rest.first() == Some(&"quarter") || first.starts_with('q'))
    {
        return Some((Period::of_months(year, 3 * quarter + 1, 3)?, asked.len() - left.len() + 1));
    }
    // Another number behind a year is a part of something else.
    let is_year = !rest.first().is_some_and(|next| next.starts_with(|c: char| c.is_ascii_digit()));
    Some((Period::of_months(year(asked).filter(|_| is_year)?, 1, 12)?, 1))
}

/// The period that the literal of a comparison stands for: a day, a month or a year.
fn read_literal(one: &Condition<'_>) -> Option<Period> {
    let is_year_column = words(one.column).iter().any(|word| YEARS.contains(&word.as_str()));
    let is_year = is_year_column || ["%y'", "year"].iter().any(|part| one.call.contains(part));
    let text = one.literal.trim_end_matches(['%', '_']).trim_end_matches('-');
    let (day, time) = text.split_once([' ', 'T']).unwrap_or((text, "00:00"));
    let parts: Vec<&str> = day.split('-').collect();
    if one.column.is_empty() || !parts.iter().all(|part| !part.is_empty() && is_digits(part)) {
        return None;
    }
    let year = i64::from(year_of(parts[0])?);
    let is_start = time.bytes().all(|byte| b"0:.".contains(&byte));
    let is_end = time.starts_with("23:59") && one.operator == "<=";
    match parts.as_slice() {
        [_] if is_year || one.is_text => Period::of_months(year, 1, 12),
        [_, month] if one.is_text => Period::of_months(year, month.parse().ok()?, 1),
        [_, month, day] if is_start || is_end => {
            Period::of_day(year, month.parse().ok()?, day.parse().ok()?)
        }
        _ => None,
    }
}

impl Period {
    fn of_day(year: i64, month: i64, day: i64) -> Option<Self> {
        let is_day = (1..=12).contains(&month) && (1..=31).contains(&day);
        let from = number_of_day(year, month, day);
        is_day.then_some(Self { from, to: from + 1 })
    }

    /// That many months from the first one on.
    fn of_months(year: i64, month: i64, months: i64) -> Option<Self> {
        let next = month + months;
        let (next_year, next_month) = if next > 12 { (year + 1, next - 12) } else { (year, next) };
        (1..=12).contains(&month).then(|| Self {
            from: number_of_day(year, month, 1),
            to: number_of_day(next_year, next_month, 1),
        })
    }
}

/// The number of a day since the beginning of the calendar, whose years begin in March here.
fn number_of_day(year: i64, month: i64, day: i64) -> i64 {
    let shifted = if month > 2 { year } else { year - 1 };
    let past = if month > 2 { month - 3 } else { month + 9 };
    let leap = shifted / 4 - shifted / 100 + shifted / 400;
    365 * shifted + leap + (153 * past + 2) / 5 + day
}

#[cfg(test)]
mod tests {
    use syrch_core::ports::Facts;

    use super::super::Question;
    use super::super::tests::{columns, count, facts, geography, rows};
    use super::*;

    fn is_doubtful(asked: &str, condition: &str) -> bool {
        let sql = format!("SELECT count(*) FROM visit WHERE {condition}");
        let facts = Facts { columns: vec!["visit.day".into()], ..facts(&sql, &["visit"], &[]) };
        let question = &Question::new(asked);
        let catalog = &geography();
        let results = &rows(&[1]);
        let outline = &columns(&[count()]);
        Asked { question, outline, facts: &facts, catalog, results }.other_days().is_some()
    }

    #[track_caller]
    fn assert_each(asked: &str, wrong: &[&str], right: &[&str]) {
        let found: Vec<&str> =
            wrong.iter().chain(right).copied().filter(|one| is_doubtful(asked, one)).collect();
        assert_eq!(found, wrong, "{asked}");
    }

    #[test]
    fn days_are_on_the_side_that_is_asked_for() {
        assert_each(
            "How many visits were there before 2019?",
            &[
                "day >= '2019-01-01'",
                "day <= '2019-12-31'",
                "strftime('%Y', day) = '2019'",
                "strftime('%Y', day) <= '2019'",
            ],
            &[
                "day < '2019-01-01'",
                "strftime('%Y', day) < '2019'",
                "CAST(strftime('%Y', day) AS INTEGER) <= 2018",
                "day <= '2018-12-31'",
                "day < '2019-01-01' OR day IS NULL",
                "NOT (day >= '2019-01-01')",
            ],
        );
        assert_each(
            "Count the visits since 2021-07-01.",
            &["day < '2021-07-01'", "day <= '2021-07-01'", "day = '2021-07-01'"],
            &["day >= '2021-07-01'", "day > '2021-07-01'", "date(day) >= date('2021-07-01')"],
        );
        assert_each(
            "Count the visits between 2021-02-03 and 2021-02-27.",
            &[
                "day >= '2021-02-03'",
                "day BETWEEN '2021-03-02' AND '2021-12-27'",
                "day BETWEEN '2021-02-03' AND '2021-02-20'",
            ],
            &[
                "day BETWEEN '2021-02-03' AND '2021-02-27'",
                "day > '2021-02-03' AND day < '2021-02-27'",
                "day >= '2021-02-03' AND day < '2021-02-28'",
                "day NOT BETWEEN '2021-02-03' AND '2021-02-20'",
            ],
        );
        for asked in [
            "How many visits were not made before 2019?",
            "How many visits were made before 2019 or in 2021?",
            "How many visits were made before the fiscal year 2019?",
        ] {
            assert_each(asked, &[], &["day >= '2019-01-01'"]);
        }
    }

    #[test]
    fn a_month_and_a_quarter_have_their_own_days() {
        assert_each(
            "How many visits were there in October 2022?",
            &[
                "day LIKE '2022-11-%'",
                "day LIKE '2022-%'",
                "strftime('%Y-%m', day) = '2022-09'",
                "day >= '2022-10-01' AND day < '2022-10-31'",
                "day < '2022-10-31'",
            ],
            &[
                "day LIKE '2022-10-%'",
                "strftime('%Y-%m', day) = '2022-10'",
                "substr(day, 1, 7) = '2022-10'",
                "day >= '2022-10-01' AND day < '2022-11-01'",
                "day BETWEEN '2022-10-01' AND '2022-10-31'",
                "day > '2022-09-30' AND day <= '2022-10-31 23:59:59'",
                "strftime('%m', day) = '10' AND strftime('%Y', day) = '2022'",
                "day = '2022-10-01'",
            ],
        );
        for asked in [
            "How many visits were there in the third quarter of 2022?",
            "How many visits were there in Q3 2022?",
        ] {
            assert_each(
                asked,
                &["day BETWEEN '2022-01-01' AND '2022-03-31'", "day LIKE '2022%'"],
                &["day BETWEEN '2022-07-01' AND '2022-09-30'"],
            );
        }
        assert_each(
            "How many visits were there on 9 May 2022?",
            &["day = '2022-09-05'"],
            &["day = '2022-05-09'"],
        );
    }
}
