//! Comparison rules, named and versioned: a report names the rule that it was made under. One file
//! each, and a line in [`RULES`].

mod bag_v1;
mod bird_ex;
mod cells;
mod fingerprint;
mod judge;
#[cfg(test)]
mod laws;
mod matching;
mod r_ves;
#[cfg(test)]
mod sample;
mod soft_f1;
mod spider2;
mod spider_ex;
mod strict;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use syrch_core::ResultSet;
use syrch_core::text::nearest;

use cells::{Pair, Sheet};

pub use bag_v1::{bag_v1, bag_v1_any};
pub use judge::judge_all;
pub use r_ves::{r_ves, reward, time_ratio};
pub use soft_f1::{soft_f1, soft_f1_any};

/// All rules, the default first.
const RULES: [Rule; 5] =
    [Rule::BAG_V1, Rule::BIRD_EX, Rule::SPIDER_EX, Rule::SPIDER2, Rule::STRICT];

/// The verdict of a rule on one prediction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The result is the expected one.
    Right,
    /// The result differs from the expected one, or there is none.
    Wrong,
    /// The expected result cannot distinguish right from wrong answers: no expected result has
    /// rows, as almost any wrong statement has none, or a cap cut them. It counts neither way,
    /// whatever the answer is: the model does not change how many questions count.
    Excluded,
}

impl Verdict {
    /// Returns true if it counts as right.
    #[must_use]
    pub fn is_right(self) -> bool {
        self == Self::Right
    }

    fn right_if(is_right: bool) -> Self {
        if is_right { Self::Right } else { Self::Wrong }
    }

    /// The better of two: right, then excluded, then wrong.
    fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Right, _) | (_, Self::Right) => Self::Right,
            (Self::Excluded, _) | (_, Self::Excluded) => Self::Excluded,
            (Self::Wrong, Self::Wrong) => Self::Wrong,
        }
    }
}

/// The facts about a question that a comparison needs beside the results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Facts {
    /// True if the question asks for an order of rows.
    pub ordered: bool,
    /// True if the expected statement says ORDER BY, anywhere.
    pub gold_has_order_by: bool,
    /// True if the expected rows have no column names of their own, as an expected text has none:
    /// then names are not compared.
    pub unnamed: bool,
}

impl Facts {
    /// The facts of a question of that kind with that expected statement. ORDER BY is looked for as
    /// Spider's test suites do: as text.
    #[must_use]
    pub fn new(ordered: bool, gold_sql: Option<&str>) -> Self {
        let gold_has_order_by = gold_sql.is_some_and(|sql| sql.to_lowercase().contains("order by"));
        Self { ordered, gold_has_order_by, unnamed: false }
    }
}

/// The definition of a rule.
struct RuleDef {
    name: &'static str,
    summary: &'static str,
    /// True if an expected result without rows distinguishes right answers from wrong ones.
    empty_is_informative: bool,
    /// True if a right answer that has rows has the expected number of columns.
    counts_columns: bool,
    /// Of results that no cap cut.
    compare: fn(&Pair<'_>, Facts) -> Verdict,
    fingerprint: fn(&Sheet<'_>, Facts) -> String,
}

/// A comparison rule: it judges whether a result is the expected one.
#[derive(Clone, Copy)]
pub struct Rule(&'static RuleDef);

impl Rule {
    /// The default: rows as a multiset, columns in any order, numbers to 1e-6.
    pub const BAG_V1: Self = Self(&bag_v1::BAG_V1);
    /// The execution accuracy of BIRD: rows as a set, columns by position.
    pub const BIRD_EX: Self = Self(&bird_ex::BIRD_EX);
    /// The execution accuracy of Spider's test suites.
    pub const SPIDER_EX: Self = Self(&spider_ex::SPIDER_EX);
    /// Spider 2.0's comparison of tables.
    pub const SPIDER2: Self = Self(&spider2::SPIDER2);
    /// Rows in sequence, columns by position and name, numbers exact.
    pub const STRICT: Self = Self(&strict::STRICT);

    /// All rules, the default first.
    #[must_use]
    pub fn all() -> &'static [Self] {
        &RULES
    }

    /// Its name, as reports and options spell it.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// Returns a description of what it compares, in one line.
    #[must_use]
    pub fn summary(self) -> &'static str {
        self.0.summary
    }

    /// Returns true if a right answer that has rows has as many columns as expected. Of results
    /// without rows some rules do not ask for it.
    #[must_use]
    pub fn counts_columns(self) -> bool {
        self.0.counts_columns
    }

    /// The verdict on a prediction. Excluded when a limit cut the expected result, and under
    /// `bag-v1` when it has no rows. A prediction that a cap cut is not the answer, whatever part
    /// of it is there: wrong.
    #[must_use]
    pub fn compare(self, gold: &ResultSet, predicted: &ResultSet, facts: Facts) -> Verdict {
        if self.is_blank(gold) {
            return Verdict::Excluded;
        }
        cut(gold, predicted).unwrap_or_else(|| (self.0.compare)(&Pair::new(gold, predicted), facts))
    }

    /// The best that it says over several expected results, each with its own facts; wrong over
    /// none. Under `bag-v1` those without rows are passed over where another has some.
    #[must_use]
    pub fn any<'a>(
        self,
        golds: impl IntoIterator<Item = (&'a ResultSet, Facts)>,
        predicted: &ResultSet,
    ) -> Verdict {
        let (blank, telling): (Vec<_>, Vec<_>) =
            golds.into_iter().partition(|(gold, _)| self.is_blank(gold));
        if telling.is_empty() && !blank.is_empty() {
            return Verdict::Excluded;
        }
        let mut best = Verdict::Wrong;
        for (gold, facts) in telling {
            best = best.or(self.compare(gold, predicted, facts));
            if best.is_right() {
                break;
            }
        }
        best
    }

    /// Returns true if an expected result is uninformative, because it has no rows.
    fn is_blank(self, gold: &ResultSet) -> bool {
        !self.0.empty_is_informative && gold.row_count() == 0 && !gold.is_truncated()
    }

    /// A digest of a result: equal for results that the rule calls equal, the same on every machine
    /// and in every run. Numbers within the rule's tolerance are rounded first, to six significant
    /// digits or two decimals, so that two on different sides of a rounding edge have different
    /// digests although the rule calls them equal. Under `spider2`, which asks for less than
    /// equality, the results that are equal are those that answer the same.
    #[must_use]
    pub fn fingerprint(self, predicted: &ResultSet, facts: Facts) -> String {
        (self.0.fingerprint)(&Sheet::new(predicted), facts)
    }
}

/// Returns the verdict of every rule when a cap cut one of the results.
fn cut(gold: &ResultSet, predicted: &ResultSet) -> Option<Verdict> {
    match (gold.is_truncated(), predicted.is_truncated()) {
        (true, _) => Some(Verdict::Excluded),
        (false, true) => Some(Verdict::Wrong),
        (false, false) => None,
    }
}

impl Default for Rule {
    fn default() -> Self {
        Self::BAG_V1
    }
}

impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Rule {}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Rule({})", self.name())
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// There is no rule of that name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no comparison rule `{name}`; {hint}")]
pub struct UnknownRule {
    /// The name that was given.
    pub name: String,
    /// The rule that may have been meant, or all there are.
    pub hint: String,
}

impl FromStr for Rule {
    type Err = UnknownRule;

    fn from_str(name: &str) -> Result<Self, UnknownRule> {
        let names = || RULES.iter().map(|rule| rule.name());
        RULES.iter().copied().find(|rule| rule.name() == name).ok_or_else(|| UnknownRule {
            name: name.to_owned(),
            hint: match nearest(name, names()).first() {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there are {}", names().collect::<Vec<_>>().join(", ")),
            },
        })
    }
}

impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Rule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::sample::{cut, ints, table};
    use super::*;

    #[test]
    fn rules_are_known_by_their_names() {
        for rule in Rule::all() {
            assert_eq!(rule.name().parse(), Ok(*rule));
            let json = serde_json::to_string(rule).unwrap();
            assert_eq!(serde_json::from_str::<Rule>(&json).unwrap(), *rule);
        }
        fn unknown(name: &str) -> String {
            name.parse::<Rule>().unwrap_err().to_string()
        }
        assert_eq!(unknown("bird"), "there is no comparison rule `bird`; did you mean `bird-ex`?");
        let all = "there is no comparison rule `zzz`; there are bag-v1, bird-ex, spider-ex, \
                   spider2, strict";
        assert_eq!(unknown("zzz"), all);
    }

    #[test]
    fn a_result_that_was_cut_is_never_right() {
        let whole = table(vec![ints(&[1, 2])]);
        let part = cut(vec![ints(&[1, 2])]);
        for rule in Rule::all() {
            let verdict_of = |gold: &ResultSet, predicted: &ResultSet| {
                rule.compare(gold, predicted, Facts::default())
            };
            assert_eq!(verdict_of(&whole, &whole), Verdict::Right);
            assert_eq!(verdict_of(&whole, &part), Verdict::Wrong);
            assert_eq!(verdict_of(&part, &whole), Verdict::Excluded);
            assert_eq!(verdict_of(&part, &part), Verdict::Excluded);
            let facts = Facts::default();
            assert_eq!(rule.any([(&part, facts), (&whole, facts)], &whole), Verdict::Right);
            assert_eq!(
                rule.any([(&part, facts), (&whole, facts)], &table(vec![ints(&[3])])),
                Verdict::Excluded
            );
            assert_ne!(rule.fingerprint(&whole, facts), rule.fingerprint(&part, facts));
        }
    }

    #[test]
    fn order_by_is_found_as_text() {
        assert!(Facts::new(false, Some("SELECT a FROM t Order By a")).gold_has_order_by);
        assert!(!Facts::new(true, Some("SELECT a FROM t")).gold_has_order_by);
        assert!(!Facts::new(true, None).gold_has_order_by);
    }
}
