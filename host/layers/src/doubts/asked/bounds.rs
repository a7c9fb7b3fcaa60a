//! Numbers that bound what a question asks for: `more than 100`, `at least 50`, `3 or fewer`.

use std::ops::Range;

use syrch_core::{Doubt, DoubtKind};

use super::Asked;
use super::first;
use super::question::{NOT, words};
use super::statement::Condition;
use super::years::year_of;

/// Comparatives before *than* and behind *or*, and prepositions, of which the number is the least.
const MORE: &[&str] =
    &["bigger", "greater", "heavier", "higher", "larger", "longer", "more", "taller"];
const ABOVE: &[&str] = &["above", "exceed", "exceeding", "exceeds", "over"];
/// Those of which it is the greatest.
const LESS: &[&str] = &["cheaper", "fewer", "less", "lighter", "lower", "shorter", "smaller"];
const BELOW: &[&str] = &["below", "under"];
/// Words with which a bound may be another one.
const UNBOUND: &[&str] = &[
    "besides",
    "but",
    "cannot",
    "except",
    "exclude",
    "excludes",
    "excluding",
    "fail",
    "fails",
    "ignoring",
    "lack",
    "lacking",
    "lacks",
    "never",
    "no",
    "none",
    "nor",
    "not",
    "only",
    "or",
    "other",
    "priority",
    "rank",
    "ranked",
    "ranking",
    "t",
    "unless",
    "without",
];
/// Functions that choose a value by a condition, as CASE does.
const CHOICES: &[&str] = &["if", "iff", "iif"];
/// Operators beside which a number is a part of a sum or a product.
const ARITHMETIC: &[&str] = &["%", "*", "+", "-", "/", "||"];
/// The least number that has to stand in a statement: that of a smaller one may be said by a join.
const SHOWN: u64 = 3;

/// Words behind a number that say in what it is counted, in which a statement may count otherwise.
const UNITS: &[&str] = &[
    "billion",
    "billions",
    "cents",
    "cm",
    "day",
    "days",
    "dollars",
    "euros",
    "feet",
    "foot",
    "g",
    "grams",
    "hour",
    "hours",
    "inches",
    "k",
    "kg",
    "km",
    "lakh",
    "m",
    "meters",
    "metres",
    "mg",
    "miles",
    "million",
    "millions",
    "min",
    "mins",
    "minute",
    "minutes",
    "month",
    "months",
    "ms",
    "percent",
    "percentage",
    "points",
    "second",
    "seconds",
    "sek",
    "thousand",
    "thousands",
    "times",
    "ton",
    "tons",
    "week",
    "weeks",
    "year",
    "years",
];

/// A number of a question with the side of it that is asked for.
struct Bound {
    number: String,
    is_lower: bool,
    /// True if the number itself is among those that are asked for.
    is_closed: bool,
    /// The places of its words.
    place: Range<usize>,
}

impl Bound {
    /// The words of the question that say it.
    fn quote(&self, words: &[&str]) -> String {
        let said = words[self.place.clone()].join(" ");
        said.replace(&self.number.replace('.', " "), &self.number)
    }
}

impl Asked<'_> {
    /// The doubt about a number that bounds from the other side than the question says: `less than
    /// 100` by `> 100`.
    pub(super) fn other_bound(&self) -> Option<Doubt> {
        let words: Vec<&str> = self.question.words().collect();
        let bounds = read_bounds(&words, self.question.text());
        let outside = words.iter().enumerate();
        let rest: Vec<&str> = outside
            .filter(|(at, _)| !bounds.iter().any(|bound| bound.place.contains(at)))
            .map(|(_, word)| *word)
            .collect();
        if rest.iter().any(|word| UNBOUND.contains(word))
            || ["NOT", "EXCEPT", "CASE", "BETWEEN"].iter().any(|word| !self.lacks(word))
            || self.facts.functions.iter().any(|name| CHOICES.contains(&name.as_str()))
        {
            return None;
        }
        let (bound, used) = bounds.iter().find_map(|bound| {
            let is_repeated = bounds.iter().filter(|it| it.number == bound.number).count() > 1;
            if is_repeated || rest.iter().any(|word| *word == bound.number) {
                return None;
            }
            let others = match (bound.is_lower, bound.is_closed) {
                (true, true) => ["<", "<=", ">"],
                (true, false) => ["<", "<=", ">="],
                (false, true) => [">", ">=", "<"],
                (false, false) => [">", ">=", "<="],
            };
            let used = find_operators(&self.facts.normalized, &bound.number);
            let is_other = used.iter().all(|operator| others.contains(operator));
            Some((bound, *used.first().filter(|_| is_other)?))
        })?;
        let text = format!(
            "the question asks for {}, and the statement has {used} {}",
            bound.quote(&words),
            bound.number
        );
        Some(Doubt { kind: DoubtKind::OtherBound, text })
    }

    /// The doubt about a number that bounds what is asked for, where the statement has no number.
    /// A view may hold it.
    pub(super) fn find_lost_bound(&self) -> Option<Doubt> {
        let asked: Vec<&str> = self.question.words().collect();
        let bounds = read_bounds(&asked, self.question.text());
        let bound = bounds.iter().find(|bound| {
            let is_share = self.question.text().contains(&format!("{}%", bound.number));
            !is_share && bound.number.parse().is_ok_and(|number: u64| number >= SHOWN)
        })?;
        let mut tables = self.facts.tables.iter().map(|table| self.catalog.table(table));
        let is_plain = tables.all(|table| table.is_some_and(|table| !table.is_view()));
        let own = words(&self.facts.normalized);
        let has_number = own.iter().enumerate().any(|(at, word)| {
            let is_limit = at > 0 && ["limit", "offset"].contains(&own[at - 1].as_str());
            word.starts_with(|c: char| c.is_numeric()) && !is_limit
        });
        let may_count = ["CASE", "LIKE"].iter().any(|part| !self.lacks(part));
        if !is_plain || has_number || may_count || own.is_empty() {
            return None;
        }
        let text = format!(
            "the question asks for {}, and the statement has no number",
            bound.quote(&asked)
        );
        Some(Doubt { kind: DoubtKind::Unused, text })
    }

    /// The doubt about another number than the one that the question bounds something by, where the
    /// statement compares with no other: `more than 100` by `> 10`.
    pub(super) fn other_number(&self) -> Option<Doubt> {
        let asked: Vec<&str> = self.question.words().collect();
        let bounds = read_bounds(&asked, self.question.text());
        let [bound] = bounds.as_slice() else { return None };
        let wanted: f64 = bound.number.parse().ok()?;
        let conditions = self.list_conditions();
        let mut compared = conditions.iter().filter(|one| !one.is_text);
        let one = compared.next().filter(|_| compared.next().is_none())?;
        let found = one.number()?;
        let sides = if bound.is_lower { [">", ">="] } else { ["<", "<="] };
        let next = asked.get(bound.place.end).copied().unwrap_or_default();
        // Of whole numbers, `more than 3` is `>= 4`.
        let is_near = (found - wanted).abs() <= 1.0 && wanted.fract() == 0.0;
        let is_share = ["$", "%", "€", "£"].iter().any(|sign| self.question.text().contains(sign));
        let has_sum = [" * ", "/", "+", "- ", "CASE", "OVER"].iter().any(|part| !self.lacks(part));
        if !sides.contains(&one.operator)
            || found == wanted
            || is_near
            || is_share
            || has_sum
            || UNITS.contains(&next)
            || asked.iter().any(|word| NOT.contains(word))
            || !self.lacks("LIMIT") && self.outline.limit.is_none()
        {
            return None;
        }
        let text = format!(
            "the question asks for {}, and the statement has {} {}",
            bound.quote(&asked),
            one.operator,
            one.literal
        );
        Some(Doubt { kind: DoubtKind::OtherBound, text })
    }

    /// The doubt about what lies outside of two numbers, beyond one of them, or between others,
    /// where what lies between them is asked for.
    pub(super) fn other_range(&self) -> Option<Doubt> {
        let asked: Vec<&str> = self.question.words().collect();
        let text = self.question.text();
        let start = asked.iter().position(|word| *word == "between")? + 1;
        let (low, length) = read_number(&asked, start.min(asked.len() - 1), text)?;
        let and = start + length;
        asked.get(and).filter(|word| **word == "and")?;
        let (high, behind) = read_number(&asked, (and + 1).min(asked.len() - 1), text)?;
        let next = asked.get(and + 1 + behind).copied().unwrap_or_default();
        let is_dated = [&low, &high].iter().any(|number| year_of(number).is_some());
        let has_sum = [" * ", "/", "+", "- ", "CASE", "IN ("].iter().any(|part| !self.lacks(part));
        let conditions = self.list_conditions();
        let compared: Vec<&Condition<'_>> = conditions.iter().filter(|one| !one.is_text).collect();
        if is_dated
            || has_sum
            || compared.is_empty()
            || UNITS.contains(&next)
            || asked.iter().any(|word| NOT.contains(word))
            || text.contains('%')
        {
            return None;
        }
        let lost = [&low, &high].into_iter().find(|number| {
            let wanted: f64 = number.parse().unwrap_or_default();
            let leeway = if wanted.fract() == 0.0 && !number.contains('.') { 1.0 } else { 0.0 };
            !compared.iter().any(|one| one.number().is_some_and(|it| (it - wanted).abs() <= leeway))
        });
        let is_outside = compared.iter().all(|one| one.is_denied);
        let text = match lost {
            _ if is_outside => "the statement leaves that out".to_owned(),
            Some(number) => format!("the statement does not compare with {number}"),
            None => return None,
        };
        let text = format!("the question asks for what is between {low} and {high}, and {text}");
        Some(Doubt { kind: DoubtKind::OtherBound, text })
    }
}

/// The bounds of a question.
fn read_bounds(words: &[&str], text: &str) -> Vec<Bound> {
    fn find_side(word: &str) -> Option<bool> {
        let is_lower = MORE.contains(&word) || ABOVE.contains(&word);
        let is_upper = LESS.contains(&word) || BELOW.contains(&word);
        (is_lower || is_upper).then_some(is_lower)
    }
    let bounds = (0..words.len()).filter_map(|at| {
        let (number, length) = read_number(words, at, text)?;
        let (is_lower, is_closed, before, after) = match (&words[..at], &words[at + length..]) {
            ([.., "no" | "not", more, "than"], _) => (!find_side(more)?, true, 3, 0),
            ([.., more, "than"], ["or", ..]) => (find_side(more)?, true, 2, 0),
            ([.., more, "than"], _) => (find_side(more)?, false, 2, 0),
            ([.., "at", end @ ("least" | "most")], _) => (*end == "least", true, 2, 0),
            ([.., end @ ("minimum" | "maximum"), "of"], _) => (*end == "minimum", true, 2, 0),
            ([.., side], _) if ABOVE.contains(side) || BELOW.contains(side) => {
                (find_side(side)?, false, 1, 0)
            }
            (_, ["or", more, ..]) => (find_side(more)?, true, 0, 2),
            _ => return None,
        };
        let place = at - before..at + length + after;
        Some(Bound { number, is_lower, is_closed, place })
    });
    bounds.collect()
}

/// The number that begins at a word, as a statement writes it, and its words. A number that is
/// written in other parts than those of a decimal is none.
fn read_number(words: &[&str], at: usize, text: &str) -> Option<(String, usize)> {
    let number = words[at];
    if let Some(numeral) = first::number(number).filter(|_| !is_digits(number)) {
        return Some((numeral.to_string(), 1));
    }
    let is_part = at.checked_sub(1).is_some_and(|before| is_digits(words[before]));
    if !is_digits(number) || is_part {
        return None;
    }
    match words.get(at + 1).filter(|next| is_digits(next)) {
        None => Some((number.to_owned(), 1)),
        Some(next) => {
            let is_whole = words.get(at + 2).is_none_or(|next| !is_digits(next));
            let decimal = format!("{number}.{next}");
            (is_whole && text.contains(&decimal)).then_some((decimal, 2))
        }
    }
}

/// The operators by which a statement in canonical spelling compares with a number, each as it is
/// with the number on its right. A number that is a part of a sum is compared with nothing itself.
fn find_operators(normalized: &str, number: &str) -> Vec<&'static str> {
    static TURNED_ROUND: [(&str, &str); 5] =
        [("<", ">"), ("<=", ">="), (">", "<"), (">=", "<="), ("=", "=")];
    fn is_arithmetic(part: Option<&&str>) -> bool {
        part.is_some_and(|part| ARITHMETIC.contains(part))
    }
    fn is_number(part: &str, number: &str) -> bool {
        let number: Option<f64> = number.parse().ok();
        number.is_some() && part.parse().ok() == number
    }
    fn find(part: &str) -> Option<&'static (&'static str, &'static str)> {
        TURNED_ROUND.iter().find(|(operator, _)| *operator == part)
    }
    let parts: Vec<&str> =
        normalized.split([' ', '(', ')', ',']).filter(|part| !part.is_empty()).collect();
    let pairs = parts.windows(2).enumerate().filter_map(|(at, pair)| {
        let before = at.checked_sub(1).and_then(|before| parts.get(before));
        let after = parts.get(at + 2);
        match (find(pair[0]), find(pair[1])) {
            (Some((operator, _)), _) if is_number(pair[1], number) && !is_arithmetic(after) => {
                Some(*operator)
            }
            (_, Some((_, turned))) if is_number(pair[0], number) && !is_arithmetic(before) => {
                Some(*turned)
            }
            _ => None,
        }
    });
    pairs.collect()
}

pub(super) fn is_digits(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use syrch_core::ports::Facts;

    use super::super::tests::{assert_kind, columns, count, facts};
    use super::*;

    #[track_caller]
    fn assert(kind: DoubtKind, condition: &str, cases: &[(&str, bool)]) {
        let sql = format!("SELECT count(*) FROM city{condition}");
        assert_kind(kind, &columns(&[count()]), &facts(&sql, &["city"], &[]), cases);
    }

    #[test]
    fn a_number_bounds_from_the_side_that_the_question_says() {
        assert(
            DoubtKind::OtherBound,
            " WHERE population < 50",
            &[
                ("How many cities have at least 50 inhabitants?", true),
                ("How many cities have a population of 50 or more?", true),
                ("How many cities have a population above 50?", true),
                ("How many cities have no fewer than 50 inhabitants?", true),
                ("How many cities have a minimum of 50 inhabitants?", true),
                ("How many cities have at most 50 inhabitants?", true),
                ("How many cities have less than 50 inhabitants?", false),
                ("How many cities have no more than 50 inhabitants?", true),
                ("How many cities do not have at least 50 inhabitants?", false),
                ("How many cities have at least 50,000 inhabitants?", false),
                ("How many cities have at least 20 inhabitants?", false),
            ],
        );
        assert(
            DoubtKind::OtherBound,
            " WHERE population >= 50 AND city_id <= 9",
            &[
                ("How many cities have under 50 inhabitants?", true),
                ("How many cities have at most 50 inhabitants?", true),
                ("How many cities have 50 or fewer inhabitants?", true),
                ("How many cities have between 50 and 60 inhabitants?", false),
                ("How many cities have 50 or more inhabitants?", false),
                ("How many cities have at least 50 inhabitants and an id of at most 9?", false),
            ],
        );
        for condition in [" WHERE NOT population < 50", " WHERE population BETWEEN 50 AND 90"] {
            let question = "How many cities have at least 50 inhabitants?";
            assert(DoubtKind::OtherBound, condition, &[(question, false)]);
        }
    }

    #[test]
    fn the_number_itself_is_among_those_that_are_asked_for_or_not() {
        assert(
            DoubtKind::OtherBound,
            " WHERE population >= 4",
            &[
                ("How many cities have more than 4 inhabitants?", true),
                ("How many cities have more than four inhabitants?", true),
                ("How many cities have at least four inhabitants?", false),
                ("How many cities have more than 3 inhabitants?", false),
                ("How many cities have 4 inhabitants or more?", false),
            ],
        );
        assert(
            DoubtKind::OtherBound,
            " WHERE population > 2.5",
            &[
                ("How many cities have at least 2.5 inhabitants?", true),
                ("How many cities have less than 2.5 inhabitants?", true),
                ("How many cities have more than 2.5 inhabitants?", false),
                ("How many cities have more than 2.50 inhabitants?", false),
            ],
        );
    }

    #[test]
    fn the_number_is_the_one_of_the_question() {
        let outline = columns(&[count()]);
        for (asked, condition, is_wrong) in [
            ("How many cities have more than 500 inhabitants?", "population > 50", true),
            ("How many cities have at least 3.5 inhabitants?", "population >= 3", true),
            ("How many cities have more than 500 inhabitants?", "population > 500", false),
            ("How many cities have more than 500 inhabitants?", "population >= 501", false),
            ("How many cities have more than 5 million inhabitants?", "population > 50", false),
            ("How many cities have more than 500 inhabitants?", "population * 9 > 50", false),
            ("How many cities have between 20 and 30 inhabitants?", "population >= 20", true),
            (
                "How many cities have between 20 and 30 inhabitants?",
                "population BETWEEN 10 AND 20",
                true,
            ),
            (
                "How many cities have between 20 and 30 inhabitants?",
                "population NOT BETWEEN 20 AND 30",
                true,
            ),
            (
                "How many cities have between 20 and 30 inhabitants?",
                "population > 20 AND population < 30",
                false,
            ),
            (
                "How many cities have not between 20 and 30 inhabitants?",
                "population NOT BETWEEN 20 AND 30",
                false,
            ),
        ] {
            let sql = format!("SELECT count(*) FROM city WHERE {condition}");
            let columns = vec!["city.population".into()];
            let known = Facts { columns, ..facts(&sql, &["city"], &[]) };
            assert_kind(DoubtKind::OtherBound, &outline, &known, &[(asked, is_wrong)]);
        }
    }

    #[test]
    fn a_bound_is_a_number_of_the_statement() {
        let bounded = [
            ("How many cities have more than 50 inhabitants?", true),
            ("How many cities have at most 50 inhabitants?", true),
            ("How many cities have more than 2 inhabitants?", false),
            ("How many cities have more than 50% of the inhabitants?", false),
            ("How many cities have many inhabitants?", false),
        ];
        for condition in ["", " WHERE city_name = 'Rome'", " LIMIT 50"] {
            assert(DoubtKind::Unused, condition, &bounded[..2]);
            assert(DoubtKind::Unused, condition, &bounded[2..]);
        }
        for condition in
            [" WHERE population > 50", " WHERE population > 50.0", " WHERE 1 < population / 50"]
        {
            assert(DoubtKind::Unused, condition, &[(bounded[0].0, false)]);
        }
    }
}
