//! Two arms' answers to the same questions, counted and tested.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::costs::price;
use crate::Verdict;
use crate::run::Graded;
use crate::stats::{self, E_STOP, Interval, Pair};

/// The greatest e-value that is written: JSON has no infinity.
const GREATEST: f64 = 1e300;

/// With fewer databases than this, an interval over databases is too narrow (Cameron, Gelbach and
/// Miller, "Bootstrap-Based Improvements for Inference with Clustered Errors", 2008, find too many
/// rejections with five to ten clusters and many with fewer).
pub(crate) const FEW_DATABASES: u64 = 5;

/// The units that the bootstrap draws.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clusters {
    /// `databases`, or `questions` where all are of one database: then the results may not hold for
    /// other databases.
    pub of: Drawn,
    /// The number of clusters.
    pub count: u64,
}

/// The unit that is drawn with replacement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Drawn {
    /// Databases, with all their questions.
    Databases,
    /// Single questions, as there are too few databases.
    Questions,
}

/// The betting e-process on the questions that only one answers right. It may be evaluated after
/// every question: it reaches 20 by chance in at most 5 % of all comparisons, however often it is
/// evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct EProcess {
    /// The e-value over all questions of the pair; at most 1e300.
    pub value: f64,
    /// The e-value from which the difference counts as real.
    pub threshold: f64,
    /// The number of questions, in the order of the suite, after which the threshold was first
    /// reached. `None` if it never was.
    pub stopped_at: Option<u64>,
    /// True if the run was started with early stopping. Then the e-process decides, and McNemar's
    /// test, which is for a fixed number of questions, is only reported.
    pub decides: bool,
}

/// The cost of one more right answer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CostOfOneMoreRight {
    /// The number of right answers that the second has more than the first.
    pub right: u64,
    /// More model calls for each of them, sent or from a cache; below zero when it takes fewer.
    /// Left out by `without_times`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<f64>,
    /// More dollars for each of them; `None` if a price is not known, or no arm paid anything.
    pub usd: Option<f64>,
}

/// Two answers to one question that both count.
pub(crate) type Both<'a> = (&'a Graded, &'a Graded);

/// Counts the questions that only the first and that only the second answers right.
pub(crate) fn discordant(first: &[&Graded], second: &[&Graded], rule: &str) -> (u64, u64) {
    let tally = Tally::from_pairs(&counting(&meet(first, second), rule), rule);
    (tally.b, tally.c)
}

/// The questions that both arms answered, in the suite's order.
pub(crate) fn meet<'a>(first: &[&'a Graded], second: &[&'a Graded]) -> Vec<Both<'a>> {
    let by_key: BTreeMap<(u64, &str), &Graded> =
        second.iter().map(|one| ((one.place, one.id.as_str()), *one)).collect();
    first
        .iter()
        .filter_map(|one| Some((*one, *by_key.get(&(one.place, one.id.as_str()))?)))
        .collect()
}

/// Of these, what counts for both under a rule.
pub(crate) fn counting<'a>(met: &[Both<'a>], rule: &str) -> Vec<Both<'a>> {
    fn counts(rule: &str, one: &Graded) -> bool {
        one.verdict(rule).is_some_and(|verdict| verdict != Verdict::Excluded)
    }
    met.iter()
        .filter(|(first, second)| counts(rule, first) && counts(rule, second))
        .copied()
        .collect()
}

pub(crate) fn is_right(one: &Graded, rule: &str) -> bool {
    one.verdict(rule).is_some_and(Verdict::is_right)
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tally {
    pub(crate) both_right: u64,
    pub(crate) b: u64,
    pub(crate) c: u64,
}

impl Tally {
    pub(crate) fn from_pairs(both: &[Both], rule: &str) -> Self {
        let mut tally = Self::default();
        for (first, second) in both {
            match (is_right(first, rule), is_right(second, rule)) {
                (true, true) => tally.both_right += 1,
                (true, false) => tally.b += 1,
                (false, true) => tally.c += 1,
                (false, false) => {}
            }
        }
        tally
    }

    pub(crate) fn difference(self, questions: u64) -> Option<f64> {
        (questions > 0).then(|| (self.c as f64 - self.b as f64) / questions as f64)
    }
}

pub(crate) fn clusters(both: &[Both]) -> Clusters {
    let databases: BTreeSet<&str> = both.iter().map(|(first, _)| first.db.as_str()).collect();
    match databases.len() {
        0 | 1 => Clusters { of: Drawn::Questions, count: both.len() as u64 },
        count => Clusters { of: Drawn::Databases, count: count as u64 },
    }
}

pub(crate) fn interval(
    both: &[Both],
    rule: &str,
    drawn: Drawn,
    seed: u64,
    resamples: u32,
) -> Option<Interval> {
    fn score(rule: &str, one: &Graded) -> f64 {
        f64::from(u8::from(is_right(one, rule)))
    }
    let pairs: Vec<Pair> = both
        .iter()
        .map(|(first, second)| Pair {
            cluster: &first.db,
            first: score(rule, first),
            second: score(rule, second),
        })
        .collect();
    match drawn {
        Drawn::Databases => stats::bootstrap_difference(&pairs, seed, resamples),
        Drawn::Questions => stats::bootstrap_questions(&pairs, seed, resamples),
    }
}

pub(crate) fn e_process(both: &[Both], rule: &str, decides: bool) -> EProcess {
    let mut b = 0;
    let mut c = 0;
    let mut stopped_at = None;
    for (place, (first, second)) in both.iter().enumerate() {
        match (is_right(first, rule), is_right(second, rule)) {
            (true, false) => b += 1,
            (false, true) => c += 1,
            _ => continue,
        }
        if stopped_at.is_none() && stats::e_value(b, c) >= E_STOP {
            stopped_at = Some(place as u64 + 1);
        }
    }
    EProcess { value: stats::e_value(b, c).min(GREATEST), threshold: E_STOP, stopped_at, decides }
}

pub(crate) fn one_more(both: &[Both], tally: &Tally) -> Option<CostOfOneMoreRight> {
    let right = tally.c.checked_sub(tally.b).filter(|more| *more > 0)?;
    fn per_right_answer(right: u64, total: f64) -> f64 {
        total / right as f64
    }
    let calls: f64 = both
        .iter()
        .map(|(first, second)| f64::from(second.calls()) - f64::from(first.calls()))
        .sum();
    let usd = both
        .iter()
        .try_fold(0.0, |sum, (first, second)| Some(sum + (price(second)? - price(first)?)));
    Some(CostOfOneMoreRight {
        right,
        calls: Some(per_right_answer(right, calls)),
        usd: usd.map(|total| per_right_answer(right, total)),
    })
}
