//! Numbers that bound what a question asks for: `more than 100`, `at least 50`, `3 or fewer`.

use std::ops::Range;

use syrch_core::{Doubt, DoubtKind};

use super::Asked;
use super::question::words;

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

/// A number of a question with the side of it that is asked for.
struct Bound<'q> {
    number: &'q str,
    is_lower: bool,
    /// The places of its words.
    place: Range<usize>,
}

impl Asked<'_> {
    /// The doubt about a number that bounds from the other side than the question says: `less than
    /// 100` by `> 100`.
    pub(super) fn other_bound(&self) -> Option<Doubt> {
        let words: Vec<&str> = self.question.words().collect();
        let bounds = read_bounds(&words);
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
            if is_repeated || rest.contains(&bound.number) {
                return None;
            }
            let others = if bound.is_lower { ["<", "<="] } else { [">", ">="] };
            let used = find_operators(&self.facts.normalized, bound.number);
            let is_other = used.iter().all(|operator| others.contains(operator));
            Some((bound, *used.first().filter(|_| is_other)?))
        })?;
        let text = format!(
            "the question asks for {}, and the statement has {used} {}",
            words[bound.place.clone()].join(" "),
            bound.number
        );
        Some(Doubt { kind: DoubtKind::OtherBound, text })
    }

    /// The doubt about a number that bounds what is asked for, where the statement has no number.
    /// A view may hold it.
    pub(super) fn find_lost_bound(&self) -> Option<Doubt> {
        let asked: Vec<&str> = self.question.words().collect();
        let bounds = read_bounds(&asked);
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
            asked[bound.place.clone()].join(" ")
        );
        Some(Doubt { kind: DoubtKind::Unused, text })
    }
}

/// The bounds of a question. A number that is written in several parts is none.
fn read_bounds<'q>(words: &[&'q str]) -> Vec<Bound<'q>> {
    fn find_side(word: &str) -> Option<bool> {
        let is_lower = MORE.contains(&word) || ABOVE.contains(&word);
        let is_upper = LESS.contains(&word) || BELOW.contains(&word);
        (is_lower || is_upper).then_some(is_lower)
    }
    let bounds = words.iter().enumerate().filter_map(|(at, &number)| {
        let beside = [at.checked_sub(1), Some(at + 1)];
        let is_part =
            beside.iter().flatten().any(|at| words.get(*at).is_some_and(|word| is_digits(word)));
        if !is_digits(number) || is_part {
            return None;
        }
        let (is_lower, before, after) = match (&words[..at], &words[at + 1..]) {
            ([.., "no" | "not", more, "than"], _) => (!find_side(more)?, 3, 0),
            ([.., more, "than"], _) => (find_side(more)?, 2, 0),
            ([.., "at", end @ ("least" | "most")], _) => (*end == "least", 2, 0),
            ([.., end @ ("minimum" | "maximum"), "of"], _) => (*end == "minimum", 2, 0),
            ([.., side], _) if ABOVE.contains(side) || BELOW.contains(side) => {
                (find_side(side)?, 1, 0)
            }
            (_, ["or", more, ..]) => (find_side(more)?, 0, 2),
            _ => return None,
        };
        Some(Bound { number, is_lower, place: at - before..at + 1 + after })
    });
    bounds.collect()
}

/// The operators by which a statement in canonical spelling compares with a number, each as it is
/// with the number on its right. A number that is a part of a sum is compared with nothing itself.
fn find_operators(normalized: &str, number: &str) -> Vec<&'static str> {
    static TURNED_ROUND: [(&str, &str); 5] =
        [("<", ">"), ("<=", ">="), (">", "<"), (">=", "<="), ("=", "=")];
    fn is_arithmetic(part: Option<&&str>) -> bool {
        part.is_some_and(|part| ARITHMETIC.contains(part))
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
            (Some((operator, _)), _) if pair[1] == number && !is_arithmetic(after) => {
                Some(*operator)
            }
            (_, Some((_, turned))) if pair[0] == number && !is_arithmetic(before) => Some(*turned),
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
                ("How many cities have at most 50 inhabitants?", false),
                ("How many cities have less than 50 inhabitants?", false),
                ("How many cities have no more than 50 inhabitants?", false),
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
