//! Years of a question: those of a statement's days are others, or more than the one that is asked
//! for.

use syrch_core::ports::Literal;
use syrch_core::{Doubt, DoubtKind};

use super::Asked;
use super::bounds::is_digits;
use super::question::words;

/// Words of which one stands directly before a year in which something is.
pub(super) const WITHIN: &[&str] = &[
    "april",
    "august",
    "december",
    "during",
    "february",
    "for",
    "in",
    "january",
    "july",
    "june",
    "march",
    "may",
    "november",
    "of",
    "october",
    "september",
    "year",
];
/// Words with which a year of a question is not that of the rows.
pub(super) const AROUND: &[&str] = &[
    "academic",
    "after",
    "age",
    "aged",
    "ago",
    "before",
    "beginning",
    "between",
    "earlier",
    "fiscal",
    "following",
    "later",
    "next",
    "old",
    "older",
    "preceding",
    "previous",
    "prior",
    "season",
    "since",
    "start",
    "till",
    "until",
    "younger",
];
/// Words of columns that hold years.
const DATES: &[&str] = &["at", "date", "datetime", "day", "on", "time", "timestamp", "year"];
/// Words with which a span of days may be open at one end.
const OPEN: &[&str] = &[
    "as",
    "beginning",
    "by",
    "early",
    "end",
    "from",
    "into",
    "later",
    "now",
    "onward",
    "onwards",
    "start",
    "today",
    "up",
];
/// Functions that give the month of a day without its year, and signs of a year beside it.
pub(super) const MONTHS: &[&str] = &["'%m'", "month(", "month from ", "'month'"];
const YEARS: &[&str] = &["%y", "year"];

impl Asked<'_> {
    /// The one year in which the question says that something is.
    fn find_year(&self) -> Option<u32> {
        let words: Vec<&str> = self.question.words().collect();
        let mut years =
            words.iter().enumerate().filter_map(|(at, word)| Some((at, year_of(word)?)));
        let (at, asked) = years.next()?;
        let before = at.checked_sub(1).map(|before| words[before])?;
        let is_day = before.len() <= 2 && is_digits(before);
        let is_within = is_day || WITHIN.contains(&before);
        let is_one = is_within && years.all(|(_, other)| other == asked);
        let is_whole = !self.question.has_any(AROUND) && self.facts.tasks.is_empty();
        (is_one && is_whole).then_some(asked)
    }

    /// The doubt about days of other years than that in which the question asks for something.
    pub(super) fn other_year(&self) -> Option<Doubt> {
        let asked = self.find_year()?;
        let literals = &self.facts.literals;
        let found: Vec<u32> =
            literals.iter().flat_map(|literal| self.list_years(literal)).collect();
        let first = found.iter().min()?;
        let last = found.iter().max()?;
        let earliest = first - u32::from(self.may_end_before_a_year());
        if (earliest..=*last).contains(&asked) {
            return None;
        }
        let text = format!("the question asks for {asked}, and the statement has {first}");
        Some(Doubt { kind: DoubtKind::OtherYear, text })
    }

    /// The years of a literal. The day that a span ends before is of none.
    fn list_years(&self, literal: &Literal) -> Vec<u32> {
        let mut years = years_in(literal);
        let ends_before = format!("< '{}'", literal.text);
        let is_end = literal.text.get(4..).is_some_and(|rest| rest.starts_with("-01-01"))
            && self.facts.normalized.contains(&ends_before)
            && self.facts.normalized.matches(&literal.text).count() == 1;
        if is_end {
            years.iter_mut().for_each(|year| *year -= 1);
        }
        years
    }

    /// Returns true if the only day of the statement begins a year: what is before it is of the
    /// year before, as in `by the end of 2023`.
    fn may_end_before_a_year(&self) -> bool {
        let mut dated = self.facts.literals.iter().filter(|literal| !years_in(literal).is_empty());
        let only = dated.next().filter(|first| dated.all(|other| other.text == first.text));
        only.is_some_and(|literal| {
            literal.text.get(4..).is_some_and(|rest| rest.starts_with("-01-01"))
        })
    }

    /// The doubt about all days after the first one of the year that is asked for. From that day
    /// on, or before the next year, all days of the data may be in it.
    pub(super) fn open_year(&self) -> Option<Doubt> {
        let asked = self.find_year()?;
        let mut dated = self.facts.literals.iter().filter(|literal| !years_in(literal).is_empty());
        let only = dated.next().filter(|_| dated.next().is_none())?;
        let bound = self.outline.all_of.iter().find(|one| one.literal == only.text)?;
        let text = self.facts.normalized.to_lowercase();
        if self.question.has_any(OPEN) || YEARS.iter().any(|part| text.contains(part)) {
            return None;
        }
        let first_day = format!("{asked}-01-01");
        if bound.operator != ">" || !only.text.starts_with(&first_day) {
            return None;
        }
        let text = format!(
            "the question asks for {asked}, and the statement takes what is after {first_day}, \
             later years as well"
        );
        Some(Doubt { kind: DoubtKind::OtherYear, text })
    }

    /// The doubt about a month of every year where the year is named.
    pub(super) fn month_of_every_year(&self) -> Option<Doubt> {
        let asked = self.find_year()?;
        let text = self.facts.normalized.to_lowercase();
        let has_month = MONTHS.iter().any(|part| text.contains(part));
        let short = format!("{:02}", asked % 100);
        let is_near = [asked - 1, asked + 1].iter().any(|year| text.contains(&year.to_string()));
        if !has_month
            || is_near
            || text.contains(&short)
            || YEARS.iter().any(|part| text.contains(part))
        {
            return None;
        }
        let text =
            format!("the question asks for {asked}, and the statement has a month of any year");
        Some(Doubt { kind: DoubtKind::OtherYear, text })
    }
}

/// The year that a word is.
pub(super) fn year_of(word: &str) -> Option<u32> {
    let is_year = word.len() == 4 && is_digits(word);
    word.parse().ok().filter(|year| is_year && (1900..2100).contains(year))
}

/// The years that a literal stands for: that of a day, or the literal itself where it is compared
/// with a date. The last day of a year may begin the next one.
fn years_in(literal: &Literal) -> Vec<u32> {
    let text = literal.text.as_str();
    let Some(year) = text.get(..4).and_then(year_of) else { return Vec::new() };
    let is_date = match literal.column.as_deref() {
        Some(column) => words(column).iter().any(|word| DATES.contains(&word.as_str())),
        None => true,
    };
    match &text[4..] {
        "" if is_date => vec![year],
        rest if rest.starts_with("-12-31") => vec![year, year + 1],
        rest if rest.starts_with(['-', '%']) => vec![year],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use syrch_core::ports::{Facts, Outline};

    use super::super::tests::{assert_kind, columns, compare_by, count, facts};
    use super::*;

    /// A count of the visits that meet these conditions on their day.
    fn visits(conditions: &[(&'static str, &str)]) -> (Outline, Facts) {
        let all: Vec<String> =
            conditions.iter().map(|(operator, day)| format!("day {operator} '{day}'")).collect();
        let sql = format!("SELECT count(*) FROM visit WHERE {}", all.join(" AND "));
        let literals = conditions.iter().map(|(_, day)| Literal {
            table: Some("visit".into()),
            column: Some("day".into()),
            text: (*day).into(),
        });
        let facts = Facts { literals: literals.collect(), ..facts(&sql, &["visit"], &[]) };
        let compared =
            conditions.iter().map(|(operator, day)| compare_by("visit.day", operator, day));
        (Outline { all_of: compared.collect(), ..columns(&[count()]) }, facts)
    }

    #[test]
    fn the_days_are_those_of_the_year() {
        let asked = "How many visits were there in 2023?";
        for (conditions, is_doubtful) in [
            (&[(">=", "2022-01-01"), ("<", "2023-01-01")][..], true),
            (&[(">", "2023-01-01")], true),
            (&[(">=", "2023-01-01")], false),
            (&[(">", "2022-12-31")], false),
            (&[("<", "2024-01-01")], false),
            (&[("<=", "2023-12-31")], false),
            (&[(">=", "2023-01-01"), ("<", "2024-01-01")], false),
            (&[(">", "2022-12-31"), ("<", "2024-01-01")], false),
            (&[(">=", "2023-01-01"), ("<=", "2023-12-31")], false),
            (&[("LIKE", "2023")], false),
            (&[("=", "2023-03-01")], false),
        ] {
            let (outline, facts) = visits(conditions);
            assert_kind(DoubtKind::OtherYear, &outline, &facts, &[(asked, is_doubtful)]);
        }
        let (outline, facts) = visits(&[(">", "2023-01-01")]);
        let others = [
            "How many visits were there since the start of 2023?",
            "How many visits were there from the beginning of 2023 on?",
            "How many visits were there after January 1 2023?",
            "How many visits were there in 2023 and later?",
        ];
        for asked in others {
            assert_kind(DoubtKind::OtherYear, &outline, &facts, &[(asked, false)]);
        }
        let (outline, facts) = visits(&[("<", "2024-01-01")]);
        let others = [
            "How many visits were there by the end of 2023?",
            "How many visits were there up to December of 2023?",
        ];
        for asked in others {
            assert_kind(DoubtKind::OtherYear, &outline, &facts, &[(asked, false)]);
        }
    }

    #[test]
    fn a_month_of_a_year_is_not_that_of_every_year() {
        let asked = "How many visits were there in March 2023?";
        for (condition, is_doubtful) in [
            ("strftime('%m', day) = '03'", true),
            ("EXTRACT(MONTH FROM day) = 3", true),
            ("month(day) = 3", true),
            ("date_part('month', day) = 3", true),
            ("strftime('%Y-%m', day) = '2023-03'", false),
            ("strftime('%m', day) = '03' AND strftime('%Y', day) = '2023'", false),
            ("EXTRACT(MONTH FROM day) = 3 AND EXTRACT(YEAR FROM day) = 2023", false),
            ("month(day) = 3 AND day > '2022-12-31' AND day < '2024-01-01'", false),
            ("month(day) = 3 AND day LIKE '2023%'", false),
            ("day LIKE '2023-03-%'", false),
        ] {
            let sql = format!("SELECT count(*) FROM visit WHERE {condition}");
            let facts = facts(&sql, &["visit"], &[]);
            let outline = columns(&[count()]);
            assert_kind(DoubtKind::OtherYear, &outline, &facts, &[(asked, is_doubtful)]);
        }
        let facts = facts("SELECT count(*) FROM visit WHERE month(day) = 3", &["visit"], &[]);
        let asked = "How many visits were there in March?";
        assert_kind(DoubtKind::OtherYear, &columns(&[count()]), &facts, &[(asked, false)]);
    }
}
