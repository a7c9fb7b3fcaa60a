//! What a report says of one arm.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::budget::{self, BudgetPoint};
use super::calibration::Calibration;
use super::costs::Costs;
use super::share::{Share, mean};
use super::slices::{self, Slice};
use crate::Verdict;
use crate::run::{End, Graded};

/// From this share of failed searches on, the figures say more of the failures than of the arm: a report warns, and no gate passes.
const MANY: f64 = 0.1;
/// From this share of failed searches on, nothing can be said of an arm.
const NOTHING_SAID: f64 = 0.5;
/// The class of an error that has none.
const UNKNOWN: &str = "unknown";

/// The figures of one arm under one rule, and its right answers under every other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// What is right under the report's rule.
    #[serde(flatten)]
    pub share: Share,
    /// What is right under every rule, by the rules' names: rules disagree on one pair in twenty, and reorder those they judge.
    pub rules: Vec<RuleShare>,
    /// The mean soft-F1 (BIRD mini-dev) of the answers that count, 0 to 1, no answer being 0; none when nothing counts.
    pub soft_f1: Option<f64>,
    /// How the searches ended.
    pub ends: Ends,
    /// What became of each question, which counts once.
    pub outcomes: Outcomes,
    /// What went wrong where there is no answer: how many of each class; `unknown` where nothing is said.
    pub errors: BTreeMap<String, u64>,
    /// What is right by every field with at most 20 values.
    pub slices: Vec<Slice>,
    /// What it cost.
    pub costs: Costs,
    /// Whether its confidence means what it says; none when no answer that counts has one.
    pub calibration: Option<Calibration>,
    /// What is right within so many calls a question. Empty after `without_times`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub budget_curve: Vec<BudgetPoint>,
}

/// What is right under one rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RuleShare {
    /// The rule.
    pub rule: String,
    /// What is right.
    #[serde(flatten)]
    pub share: Share,
}

/// How many searches ended in which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Ends {
    /// With an answer.
    pub answered: u64,
    /// With nothing acceptable.
    pub no_answer: u64,
    /// With a question to the user.
    pub clarify: u64,
    /// With an error.
    pub failed: u64,
}

/// What became of the questions. Each is counted once: right answers by `Share::of` are `right` by the sum of all but `excluded` and
/// `not_graded`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Outcomes {
    /// Right answers.
    pub right: u64,
    /// Wrong answers.
    pub wrong: u64,
    /// Questions that the rule cannot tell, however the search ended.
    pub excluded: u64,
    /// Of the others, searches that ended with nothing acceptable.
    pub no_answer: u64,
    /// Searches that ended with a question to the user.
    pub clarify: u64,
    /// Searches that ended with an error.
    pub failed: u64,
    /// Questions without a verdict, however the search ended: the expected answer could not be had, or the rule is not stored.
    pub not_graded: u64,
}

impl Figures {
    /// The figures of these answers, which are one arm's.
    pub(crate) fn of(graded: &[&Graded], rule: &str) -> Self {
        Self {
            share: Share::of(graded.iter().copied(), rule),
            rules: by_rule(graded),
            soft_f1: soft_f1(graded, rule),
            ends: Ends::of(graded),
            outcomes: Outcomes::of(graded, rule),
            errors: errors(graded),
            slices: slices::shares(graded, rule),
            costs: Costs::of(graded),
            calibration: Calibration::of(graded, rule),
            budget_curve: budget::curve(graded, rule),
        }
    }

    /// The class of error that most of the searches failed with, when at least half of all failed: then the figures say nothing of the arm.
    #[must_use]
    pub fn most_failed(&self) -> Option<&str> {
        self.ends.says_nothing().then(|| most(&self.errors))
    }

    /// That at least half of the searches failed, in words.
    pub(crate) fn failure(&self, arm: &str) -> Option<String> {
        let class = self.most_failed()?;
        Some(format!("{} ({class}): nothing can be said", self.ends.failed_of(arm)))
    }

    pub(crate) fn without_times(&mut self) {
        self.costs.without_times();
        self.budget_curve.clear();
    }
}

impl Ends {
    /// Counts them.
    pub(crate) fn of(graded: &[&Graded]) -> Self {
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

    /// All searches.
    #[must_use]
    pub fn all(&self) -> u64 {
        self.answered + self.no_answer + self.clarify + self.failed
    }

    /// Whether a tenth of the searches or more ended with an error: then the figures say more of the failures than of the arm.
    #[must_use]
    pub fn many_failed(&self) -> bool {
        self.failed_from(MANY)
    }

    /// Whether at least half of them did: then they say nothing of the arm.
    pub(crate) fn says_nothing(&self) -> bool {
        self.failed_from(NOTHING_SAID)
    }

    fn failed_from(&self, share: f64) -> bool {
        self.all() > 0 && self.failed as f64 / self.all() as f64 >= share
    }

    /// How many of an arm's searches failed, in words.
    pub(crate) fn failed_of(&self, arm: &str) -> String {
        match (self.failed, self.all()) {
            (1, 1) => format!("the only search of `{arm}` failed"),
            (failed, of) => format!("{failed} of {of} searches of `{arm}` failed"),
        }
    }
}

/// That every search of a run failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AllFailed<'a> {
    /// The class of error that most of them failed with, of equally frequent ones the first by name; `unknown` where nothing is said.
    pub class: &'a str,
    /// How many failed with it.
    pub count: u64,
    /// What the first of these said.
    pub message: Option<&'a str>,
}

/// That all these searches failed, those of every arm under every seed; none: one ended in another way, or there is none. Then there is no
/// answer to speak of.
#[must_use]
pub fn all_failed(graded: &[Graded]) -> Option<AllFailed<'_>> {
    if graded.is_empty() || graded.iter().any(|one| one.end != End::Failed) {
        return None;
    }
    let errors = errors(&graded.iter().collect::<Vec<_>>());
    let (class, count) = (most(&errors), errors.values().copied().max().unwrap_or(0));
    let fault = graded.iter().filter_map(|one| one.fault.as_ref()).find(|fault| fault.class == class);
    let (class, message) = fault.map_or((UNKNOWN, None), |fault| (fault.class.as_str(), Some(fault.message.as_str())));
    Some(AllFailed { class, count, message })
}

impl Outcomes {
    fn of(graded: &[&Graded], rule: &str) -> Self {
        let mut outcomes = Self::default();
        for one in graded {
            *match (one.verdict(rule), one.end) {
                (None, _) => &mut outcomes.not_graded,
                (Some(Verdict::Excluded), _) => &mut outcomes.excluded,
                (_, End::NoAnswer) => &mut outcomes.no_answer,
                (_, End::Clarify) => &mut outcomes.clarify,
                (_, End::Failed) => &mut outcomes.failed,
                (Some(Verdict::Right), End::Answered) => &mut outcomes.right,
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

/// What is right under every rule that any of these answers was graded under.
pub(crate) fn by_rule(graded: &[&Graded]) -> Vec<RuleShare> {
    let share = |rule: &str| Share::of(graded.iter().copied(), rule);
    rules(graded).into_iter().map(|rule| RuleShare { rule: rule.to_owned(), share: share(rule) }).collect()
}

fn soft_f1(graded: &[&Graded], rule: &str) -> Option<f64> {
    let counts = |one: &&&Graded| one.verdict(rule).is_some_and(|verdict| verdict != Verdict::Excluded);
    mean(graded.iter().filter(counts).map(|one| one.soft_f1.filter(|score| score.is_finite()).unwrap_or(0.0)))
}

/// The class that comes most often; of equally frequent ones the first by name.
fn most(errors: &BTreeMap<String, u64>) -> &str {
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
