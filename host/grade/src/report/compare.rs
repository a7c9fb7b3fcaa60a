//! Several arms on the same questions: `syrch.compare/1`.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::arm::ArmReport;
use super::bands;
use super::budget;
use super::figures::Figures;
use super::head::{Basis, Partial, ReportHead};
use super::notes;
use super::pair::{Decision, Drawing, PairReport};
use super::reliability;
use super::result::{self, ResultRow};
use super::sentence::{self, Circumstances};
use super::share::thin_out;
use crate::run::{Arm, EarlierTries, Graded, Header};
use crate::stats;

/// The format's name in [`CompareReport::schema`].
pub const COMPARE_FORMAT: &str = "syrch.compare/1";
/// Up to so many arms, every one is compared with every other; of more, every one with the first.
const ALL_PAIRS: usize = 4;
/// Budgets of a report at most.
const BUDGETS: usize = 50;

/// The options of a comparison of arms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompareOptions {
    /// The seed of the bootstrap. `None` means the seed of the run.
    pub seed: Option<u64>,
    /// The number of bootstrap samples for the difference of a pair.
    pub resamples: u32,
}

impl Default for CompareOptions {
    fn default() -> Self {
        Self { seed: None, resamples: 10_000 }
    }
}

/// Several arms on the same questions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompareReport {
    /// The run and the suite, with the format [`COMPARE_FORMAT`].
    #[serde(flatten)]
    pub head: ReportHead,
    /// The rule, the data and the limits that the figures are based on.
    #[serde(flatten)]
    pub basis: Basis,
    /// The number of times that each pair of statements was timed. `None` if none was.
    /// `without_times` removes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timed_repeats: Option<u32>,
    /// The arms, as on the command line.
    pub arms: Vec<ArmReport>,
    /// The pairs: every arm with every later one, or with more than four arms every one with the
    /// first.
    pub pairs: Vec<PairReport>,
    /// The arms that no other beats in right answers without costing more.
    pub pareto: ParetoSets,
    /// Right answers of each arm within a number of calls a question. Empty after `without_times`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub equal_budget: Vec<BudgetRow>,
    /// Every answer, by arm and in the suite's order.
    pub results: Vec<ResultRow>,
}

/// The Pareto sets: names of arms, in the arms' order. An arm of which nothing counts is in none.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ParetoSets {
    /// Right answers against calls a question. Left out by `without_times`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<Vec<String>>,
    /// Right answers against money; `None` if a price is not known, or nothing was paid at all.
    pub usd: Option<Vec<String>>,
    /// Right answers against the median time; `None` if more than a tenth of an arm's calls came
    /// from a cache. Left out by `without_times`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p50_ms: Option<Vec<String>>,
}

/// Right answers of each arm within one budget.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BudgetRow {
    /// Model calls that a question may take.
    pub calls: u64,
    /// By arm, in the arms' order.
    pub arms: Vec<ShareOfArm>,
}

/// Right answers of one arm within a budget.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ShareOfArm {
    /// The name of the arm.
    pub arm: String,
    /// Right answers that took no more.
    pub right: u64,
    /// The number of the arm's answers that count under the rule.
    pub of: u64,
    /// `right` by `of`; `None` if nothing counts.
    pub share: Option<f64>,
}

impl CompareReport {
    /// Compares the arms of a run under a rule.
    #[must_use]
    pub fn new(header: &Header, graded: &[Graded], rule: &str, options: &CompareOptions) -> Self {
        let own = header.own();
        let all = header;
        let header = &own;
        let answers: Vec<Vec<&Graded>> =
            header.arms.iter().map(|arm| result::arm_answers(graded, &arm.name)).collect();
        let seeds: Vec<_> =
            header.arms.iter().map(|arm| bands::seeds(all, graded, &arm.name)).collect();
        let arms: Vec<ArmReport> = header
            .arms
            .iter()
            .zip(&answers)
            .zip(&seeds)
            .map(|((arm, answers), seeds): ((&Arm, &Vec<&Graded>), &Vec<Vec<&Graded>>)| ArmReport {
                arm: arm.clone(),
                band: bands::for_share(seeds, rule),
                all_right: reliability::chances(seeds, rule),
                r_ves: None,
                figures: Figures::from_answers(answers, rule),
            })
            .collect();
        let mut basis = Basis::new(header, &seeds, rule);
        let mut pairs = pairs(header, &answers, rule, options);
        for pair in &mut pairs {
            let of = |name: &str| {
                arms.iter().position(|arm| arm.arm.name == name).and_then(|at| seeds.get(at))
            };
            pair.band = of(&pair.first)
                .zip(of(&pair.second))
                .and_then(|(a, b)| bands::for_difference(a, b, rule));
        }
        if nothing_paid(&arms) {
            pairs
                .iter_mut()
                .filter_map(|pair| pair.cost_of_one_more_right.as_mut())
                .for_each(|cost| cost.usd = None);
        }
        judge(&mut pairs, &arms, header, basis.partial.as_ref());
        if header.stop_early && pairs.iter().any(|pair| pair.e_process.stopped_at.is_some()) {
            basis.because("stopped early, as requested: the e-process had decided");
        }
        basis.warnings.extend(notes::comparison_warnings(&arms, &pairs));
        let all: Vec<&Graded> = answers.iter().flatten().copied().collect();
        Self {
            head: ReportHead::new(COMPARE_FORMAT, header, &all),
            basis,
            timed_repeats: None,
            pareto: ParetoSets::new(&arms),
            equal_budget: equal_budget(header, &answers, rule),
            arms,
            pairs,
            results: all.iter().map(|one| ResultRow::new(one, rule, header)).collect(),
        }
    }

    /// Adds what a timed pass found: the R-VES of the arms by name, in percent, each pair of
    /// statements timed so many times.
    pub fn with_timings(&mut self, r_ves: &BTreeMap<String, f64>, repeats: u32) {
        for arm in &mut self.arms {
            arm.r_ves = r_ves.get(&arm.arm.name).copied().filter(|r_ves| r_ves.is_finite());
        }
        self.timed_repeats = self.arms.iter().any(|arm| arm.r_ves.is_some()).then_some(repeats);
    }

    /// Adds what tries cost that failed and were made again, by arm.
    pub fn with_earlier_tries(&mut self, tries: &BTreeMap<String, EarlierTries>) {
        for arm in &mut self.arms {
            if let Some(tries) = tries.get(&arm.arm.name) {
                arm.figures.costs.earlier_tries = Some(*tries);
                self.basis.warnings.push(notes::note_earlier_tries(&arm.arm.name, tries));
            }
        }
    }

    /// Removes what differs between equal runs: times, durations, counts of calls with their costs,
    /// and the id of the run.
    pub fn without_times(&mut self) {
        self.head.without_times();
        self.basis.without_times();
        self.timed_repeats = None;
        self.arms.iter_mut().for_each(|arm| {
            arm.figures.without_times();
            arm.r_ves = None;
        });
        self.pairs.iter_mut().for_each(PairReport::without_times);
        self.pareto = ParetoSets::default();
        self.equal_budget.clear();
        self.results.iter_mut().for_each(ResultRow::without_times);
    }
}

fn pairs(
    header: &Header,
    answers: &[Vec<&Graded>],
    rule: &str,
    options: &CompareOptions,
) -> Vec<PairReport> {
    let drawing = Drawing {
        seed: options.seed.unwrap_or(header.seed),
        resamples: options.resamples,
        stop_early: header.stop_early,
    };
    let arms: Vec<(&str, &Vec<&Graded>)> =
        header.arms.iter().map(|arm| arm.name.as_str()).zip(answers).collect();
    let firsts = if arms.len() <= ALL_PAIRS { arms.len() } else { 1 };
    let mut pairs = Vec::new();
    for (place, (first, firsts_answers)) in arms.iter().enumerate().take(firsts) {
        for (second, seconds_answers) in arms.iter().skip(place + 1) {
            pairs.push(PairReport::new(
                firsts_answers,
                seconds_answers,
                (first, second),
                rule,
                drawing,
            ));
        }
    }
    pairs
}

/// Adjusts the tests of all pairs, and decides each pair with its sentence.
fn judge(pairs: &mut [PairReport], arms: &[ArmReport], header: &Header, partial: Option<&Partial>) {
    let adjusted = stats::holm(&pairs.iter().map(|pair| pair.mcnemar).collect::<Vec<_>>());
    let by_e = stats::holm(
        &pairs.iter().map(|pair| (1.0 / pair.e_process.value).min(1.0)).collect::<Vec<_>>(),
    );
    let of_all = pairs.len();
    for (pair, (adjusted, by_e)) in pairs.iter_mut().zip(adjusted.into_iter().zip(by_e)) {
        pair.holm = adjusted;
        let of_pair =
            arms.iter().filter(|arm| [&pair.first, &pair.second].contains(&&arm.arm.name));
        let failures: Vec<String> =
            of_pair.filter_map(|arm| arm.figures.failure(&arm.arm.name)).collect();
        let about = Circumstances {
            simulated: header.simulated.as_deref(),
            unfinished: partial.map(|partial| (partial.done, partial.of)),
            pairs: of_all,
            failures: &failures,
        };
        pair.decision =
            if failures.is_empty() { sentence::decide(pair, by_e) } else { Decision::Unsure };
        pair.verdict = sentence::sentence(pair, about);
    }
}

impl ParetoSets {
    fn new(arms: &[ArmReport]) -> Self {
        Self {
            calls: pareto(arms, |figures| figures.costs.calls_mean),
            usd: if nothing_paid(arms) {
                None
            } else {
                pareto(arms, |figures| figures.costs.usd_mean)
            },
            p50_ms: if arms.iter().any(|arm| arm.figures.costs.is_cached()) {
                None
            } else {
                pareto(arms, |figures| figures.costs.latency.map(|latency| latency.p50_ms))
            },
        }
    }
}

/// Returns true if nothing was paid at all: without an endpoint, from a recording, or of a
/// simulated model.
fn nothing_paid(arms: &[ArmReport]) -> bool {
    arms.iter().filter_map(|arm| arm.figures.costs.usd).sum::<f64>() <= 0.0
        && arms.iter().all(|arm| arm.figures.costs.usd.is_some())
}

/// The names of the arms on the Pareto edge. `None` if the cost of an arm with answers is not
/// known.
fn pareto(arms: &[ArmReport], cost: impl Fn(&Figures) -> Option<f64>) -> Option<Vec<String>> {
    let mut points = Vec::new();
    for arm in arms {
        let Some(share) = arm.figures.share.share else { continue };
        points.push((arm.arm.name.as_str(), share, cost(&arm.figures)?));
    }
    fn beats(other: &(&str, f64, f64), one: &(&str, f64, f64)) -> bool {
        other.1 >= one.1 && other.2 <= one.2 && (other.1 > one.1 || other.2 < one.2)
    }
    let edge = points.iter().filter(|one| !points.iter().any(|other| beats(other, one)));
    Some(edge.map(|(name, ..)| (*name).to_owned()).collect())
}

fn equal_budget(header: &Header, answers: &[Vec<&Graded>], rule: &str) -> Vec<BudgetRow> {
    let all: BTreeSet<u64> = answers.iter().flatten().map(|one| u64::from(one.calls())).collect();
    let budgets = thin_out(&all.into_iter().collect::<Vec<_>>(), BUDGETS);
    fn share(rule: &str, name: &str, answers: &[&Graded], calls: u64) -> ShareOfArm {
        let point = budget::point(answers, rule, calls);
        ShareOfArm { arm: name.to_owned(), right: point.right, of: point.of, share: point.share }
    }
    budgets
        .into_iter()
        .map(|calls| BudgetRow {
            calls,
            arms: header
                .arms
                .iter()
                .zip(answers)
                .map(|(arm, answers)| share(rule, &arm.name, answers, calls))
                .collect(),
        })
        .collect()
}
