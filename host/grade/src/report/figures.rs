//! The figures of one arm.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use syrch_core::Access;

use super::budget::{self, BudgetPoint};
use super::calibration::Calibration;
use super::costs::Costs;
use super::judges::{self, JudgeReport};
use super::reliability::{self, OriginShare};
use super::share::{Share, mean};
use super::slices::{self, Slice};
use crate::Verdict;
use crate::run::{End, Graded};

/// The share of failed searches from which the figures depend more on the failures than on the arm:
/// a report warns, and no gate passes.
const MANY: f64 = 0.1;
/// The share of failed searches from which the figures mean nothing.
const MOST: f64 = 0.5;
/// The class of an error that has none.
const UNKNOWN: &str = "unknown";

/// The figures of one arm under one rule, and its right answers under every other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// The right answers under the rule of the report.
    #[serde(flatten)]
    pub share: Share,
    /// The right answers under every rule, by name. Rules disagree on one pair of statements in
    /// twenty, which can change the order of arms.
    pub rules: Vec<RuleShare>,
    /// The mean soft-F1 (BIRD mini-dev) of the answers that count, 0 to 1, no answer being 0;
    /// `None` if nothing counts.
    pub soft_f1: Option<f64>,
    /// The number of searches by their end.
    pub ends: Ends,
    /// The outcomes of the questions, each counted once.
    pub outcomes: Outcomes,
    /// The number of errors of each class where there is no answer; `unknown` where no class is
    /// recorded.
    pub errors: BTreeMap<String, u64>,
    /// The answers by the origin of their statements. Empty where none is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub origins: Vec<OriginShare>,
    /// The conversations of which every turn is right; `None` if the suite has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversations: Option<Share>,
    /// The right answers by every field with at most 20 values.
    pub slices: Vec<Slice>,
    /// The costs of the searches.
    pub costs: Costs,
    /// The agreement of confidences with shares of right answers. `None` if no answer that counts
    /// has a confidence.
    pub calibration: Option<Calibration>,
    /// Judges against the truth. Empty where no statement was judged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub judges: Vec<JudgeReport>,
    /// The use that plugins which are not built in made of their grants, over all searches. Empty
    /// where there are none, and after `without_times`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub access: Vec<Access>,
    /// The right answers within a number of calls a question. Empty after `without_times`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub budget_curve: Vec<BudgetPoint>,
}

/// The right answers under one rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RuleShare {
    /// The name of the rule.
    pub rule: String,
    /// The right answers and those that count.
    #[serde(flatten)]
    pub share: Share,
}

/// The number of searches by their end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Ends {
    /// Searches with an answer.
    pub answered: u64,
    /// Searches without an acceptable answer.
    pub no_answer: u64,
    /// Searches that ended with a question to the user.
    pub clarify: u64,
    /// Searches that ended with an error.
    pub failed: u64,
}

/// The outcomes of the questions, each counted once. The share of right answers is `right` by the
/// sum of all but `excluded` and `not_graded`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Outcomes {
    /// Answers that the rule judges right.
    pub right: u64,
    /// Answers that the rule judges wrong.
    pub wrong: u64,
    /// Questions that the rule excludes, however the search ended.
    pub excluded: u64,
    /// Of the others, searches that ended with nothing acceptable.
    pub no_answer: u64,
    /// Searches that ended with a question to the user.
    pub clarify: u64,
    /// Searches that ended with an error.
    pub failed: u64,
    /// Questions without a verdict, however the search ended: the expected answer is not available,
    /// or the rule is not stored.
    pub not_graded: u64,
}

impl Figures {
    /// The figures of these answers, which are one arm's.
    pub(crate) fn from_answers(graded: &[&Graded], rule: &str) -> Self {
        Self {
            share: Share::from_answers(graded.iter().copied(), rule),
            rules: by_rule(graded),
            soft_f1: soft_f1(graded, rule),
            ends: Ends::from_answers(graded),
            outcomes: Outcomes::from_answers(graded, rule),
            errors: errors(graded),
            origins: reliability::origins(graded, rule),
            conversations: reliability::conversations(graded, rule),
            slices: slices::shares(graded, rule),
            costs: Costs::from_answers(graded),
            calibration: Calibration::from_answers(graded, rule),
            judges: judges::judges(graded, rule),
            access: sum_access(graded),
            budget_curve: budget::curve(graded, rule),
        }
    }

    /// The most frequent class of error when at least half of the searches failed: then the figures
    /// mean nothing. `None` otherwise.
    #[must_use]
    pub fn most_failed(&self) -> Option<&str> {
        self.ends.most_failed().then(|| most_frequent(&self.errors))
    }

    /// A sentence about an arm of which at least half of the searches failed.
    pub(crate) fn failure(&self, arm: &str) -> Option<String> {
        let class = self.most_failed()?;
        Some(format!("{} ({class}): the figures mean nothing", self.ends.describe_failures(arm)))
    }

    pub(crate) fn without_times(&mut self) {
        self.costs.without_times();
        self.budget_curve.clear();
        self.access.clear();
    }
}

/// The uses of each plugin, over all searches.
fn sum_access(graded: &[&Graded]) -> Vec<Access> {
    let mut sums: Vec<Access> = Vec::new();
    for one in graded.iter().flat_map(|one| &one.access) {
        // One whose grants were changed meanwhile is another row.
        let same = sums.iter_mut().find(|sum| {
            let about = (&one.plugin, &one.digest, &one.wanted, &one.granted);
            (&sum.plugin, &sum.digest, &sum.wanted, &sum.granted) == about
        });
        match same {
            Some(sum) => sum.add(one),
            None => sums.push(one.clone()),
        }
    }
    sums
}

impl Ends {
    /// Counts the ends of these searches.
    pub(crate) fn from_answers(graded: &[&Graded]) -> Self {
        let mut ends = Self::default();
        for one in graded {
            *match one.end {
                End::Answered => &mut ends.answered,
                End::NoAnswer => &mut ends.no_answer,
                End::Clarify => &mut ends.clarify,
                End::Failed => &mut ends.failed,
            } += 1;
        }
        ends
    }

    /// The number of all searches.
    #[must_use]
    pub fn all(&self) -> u64 {
        self.answered + self.no_answer + self.clarify + self.failed
    }

    /// Returns true if a tenth of the searches or more ended with an error: then the figures depend
    /// more on the failures than on the arm.
    #[must_use]
    pub fn many_failed(&self) -> bool {
        self.failure_share_reaches(MANY)
    }

    /// Returns true if at least half of the searches ended with an error: then the figures mean
    /// nothing.
    pub(crate) fn most_failed(&self) -> bool {
        self.failure_share_reaches(MOST)
    }

    fn failure_share_reaches(&self, share: f64) -> bool {
        self.all() > 0 && self.failed as f64 / self.all() as f64 >= share
    }

    /// Says in words how many of an arm's searches failed.
    pub(crate) fn describe_failures(&self, arm: &str) -> String {
        match (self.failed, self.all()) {
            (1, 1) => format!("the only search of `{arm}` failed"),
            (failed, of) => format!("{failed} of {of} searches of `{arm}` failed"),
        }
    }
}

/// A run whose searches all failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AllFailed<'a> {
    /// The class of error that most of them failed with, of equally frequent ones the first by
    /// name; `unknown` where no class is recorded.
    pub class: &'a str,
    /// Searches that failed with it.
    pub count: u64,
    /// The message of the first of these.
    pub message: Option<&'a str>,
}

/// The errors of these searches, those of every arm under every seed, if all of them failed. `None`
/// if one ended otherwise, or there is no search.
#[must_use]
pub fn all_failed(graded: &[Graded]) -> Option<AllFailed<'_>> {
    if graded.is_empty() || graded.iter().any(|one| one.end != End::Failed) {
        return None;
    }
    let errors = errors(&graded.iter().collect::<Vec<_>>());
    let class = most_frequent(&errors);
    let count = errors.values().copied().max().unwrap_or(0);
    let fault =
        graded.iter().filter_map(|one| one.fault.as_ref()).find(|fault| fault.class == class);
    let (class, message) =
        fault.map_or((UNKNOWN, None), |fault| (fault.class.as_str(), Some(fault.message.as_str())));
    Some(AllFailed { class, count, message })
}

impl Outcomes {
    fn from_answers(graded: &[&Graded], rule: &str) -> Self {
        let mut outcomes = Self::default();
        for one in graded {
            *match (one.verdict(rule), one.end) {
                (None, _) => &mut outcomes.not_graded,
                (Some(Verdict::Excluded), _) => &mut outcomes.excluded,
                (Some(Verdict::Right), _) => &mut outcomes.right,
                (_, End::NoAnswer) => &mut outcomes.no_answer,
                (_, End::Clarify) => &mut outcomes.clarify,
                (_, End::Failed) => &mut outcomes.failed,
                (Some(Verdict::Wrong), End::Answered) => &mut outcomes.wrong,
            } += 1;
        }
        outcomes
    }
}

/// The rules that any of these answers was graded under, by name.
pub(crate) fn rules<'a>(graded: &[&'a Graded]) -> BTreeSet<&'a str> {
    graded.iter().flat_map(|one| one.verdicts.keys().map(String::as_str)).collect()
}

/// The right answers under every rule that any of these answers was graded under.
pub(crate) fn by_rule(graded: &[&Graded]) -> Vec<RuleShare> {
    fn share(graded: &[&Graded], rule: &str) -> Share {
        Share::from_answers(graded.iter().copied(), rule)
    }
    rules(graded)
        .into_iter()
        .map(|rule| RuleShare { rule: rule.to_owned(), share: share(graded, rule) })
        .collect()
}

fn soft_f1(graded: &[&Graded], rule: &str) -> Option<f64> {
    mean(
        graded
            .iter()
            .filter(|one: &&&Graded| {
                one.verdict(rule).is_some_and(|verdict| verdict != Verdict::Excluded)
            })
            .map(|one| one.soft_f1.filter(|score| score.is_finite()).unwrap_or(0.0)),
    )
}

/// The class that comes most often; of equally frequent ones the first by name.
fn most_frequent(errors: &BTreeMap<String, u64>) -> &str {
    errors.iter().rev().max_by_key(|(_, count)| **count).map_or(UNKNOWN, |(class, _)| class)
}

fn errors(graded: &[&Graded]) -> BTreeMap<String, u64> {
    let mut errors = BTreeMap::new();
    for one in graded {
        let class = match &one.fault {
            Some(fault) => fault.class.clone(),
            None if one.end == End::Failed => UNKNOWN.to_owned(),
            None => continue,
        };
        *errors.entry(class).or_default() += 1;
    }
    errors
}
