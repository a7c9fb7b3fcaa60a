//! The calibration of an arm: checks whether a confidence is a share of right answers.

use serde::{Deserialize, Serialize};

use super::share::thin_out;
use crate::Verdict;
use crate::run::{End, Graded};
use crate::stats::{self, Interval};

/// Bins of the reliability diagram.
const BINS: u32 = 10;
/// Points of the risk–coverage curve at most.
const POINTS: usize = 200;

/// A comparison of an arm's confidence with its right answers, over the answers that have a
/// confidence and count under the rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// The number of answers that have a confidence and count under the rule.
    pub answers: u64,
    /// Answers that count and have no confidence.
    pub without_confidence: u64,
    /// The reliability diagram: ten bins of equal width, the empty ones left out.
    pub bins: Vec<ReliabilityBin>,
    /// The expected calibration error over the bins, 0 to 1.
    pub ece: f64,
    /// The Brier score, 0 to 1, less is better.
    pub brier: Option<f64>,
    /// The area under the ROC curve: how often a right answer is surer than a wrong one; `None` if
    /// all are right or all wrong.
    pub auroc: Option<f64>,
    /// The share of wrong answers when only the surest are given, surest first; at most 200 points
    /// of it, with both ends.
    pub risk_coverage: Vec<RiskCoveragePoint>,
}

/// Answers of about the same confidence.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ReliabilityBin {
    /// The least confidence of the bin, 0 to 1.
    pub low: f64,
    /// The confidence at which the next bin begins. The last bin includes 1.
    pub high: f64,
    /// The number of answers in the bin, at least 1.
    pub answers: u64,
    /// The number of them that are right.
    pub right: u64,
    /// The mean confidence of the bin's answers.
    pub mean_confidence: f64,
    /// The share of right answers: `right` divided by `answers`.
    pub share: f64,
    /// Its 95 % interval after Wilson.
    pub interval: Interval,
}

/// The coverage and the risk when only answers from a threshold of confidence on are given.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RiskCoveragePoint {
    /// The part of the answers that is given, 0 to 1.
    pub coverage: f64,
    /// The part of those that is wrong, 0 to 1.
    pub risk: f64,
    /// The least confidence that is given.
    pub threshold: f64,
}

impl Calibration {
    /// `None` if no answer that counts has a confidence.
    pub(crate) fn from_answers(graded: &[&Graded], rule: &str) -> Option<Self> {
        let counted = graded.iter().filter(|one| one.end == End::Answered).filter_map(|one| {
            let verdict = one.verdict(rule).filter(|verdict| *verdict != Verdict::Excluded)?;
            let confidence =
                one.confidence.filter(|sure| sure.is_finite()).map(|sure| sure.clamp(0.0, 1.0));
            Some((confidence, verdict.is_right()))
        });
        let mut scored = Vec::new();
        let mut without_confidence = 0;
        for (confidence, is_right) in counted {
            match confidence {
                Some(confidence) => scored.push((confidence, is_right)),
                None => without_confidence += 1,
            }
        }
        if scored.is_empty() {
            return None;
        }
        let bins = stats::reliability(&scored, BINS);
        let points: Vec<_> = stats::risk_coverage(&scored)
            .into_iter()
            .map(|point| RiskCoveragePoint {
                coverage: point.coverage,
                risk: point.risk,
                threshold: point.threshold,
            })
            .collect();
        Some(Self {
            answers: scored.len() as u64,
            without_confidence,
            ece: stats::expected_calibration_error(&bins),
            bins: bins.iter().map(ReliabilityBin::from_bin).collect(),
            brier: stats::brier(&scored),
            auroc: stats::auroc(&scored),
            risk_coverage: thin_out(&points, POINTS),
        })
    }
}

impl ReliabilityBin {
    fn from_bin(bin: &stats::Bin) -> Self {
        Self {
            low: bin.low,
            high: bin.high,
            answers: bin.answers,
            right: bin.right,
            mean_confidence: bin.mean_confidence,
            share: bin.right as f64 / bin.answers.max(1) as f64,
            interval: bin.interval,
        }
    }
}
