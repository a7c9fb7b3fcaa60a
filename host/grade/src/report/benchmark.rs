//! One arm over a suite: `syrch.benchmark/1`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::bands::{self, Band};
use super::figures::Figures;
use super::head::{Basis, ReportHead};
use super::notes;
use super::reliability::{self, AllRight};
use super::result::{self, ResultRow};
use crate::run::{Arm, EarlierTries, Graded, Header};

/// The format's name in [`BenchmarkReport::schema`].
pub const BENCHMARK_FORMAT: &str = "syrch.benchmark/1";

/// One arm over a suite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BenchmarkReport {
    /// The run and the suite, with the format [`BENCHMARK_FORMAT`].
    #[serde(flatten)]
    pub head: ReportHead,
    /// The arm: a strategy with its plugins and settings.
    pub arm: Arm,
    /// The rule, the data and the limits that the figures are based on.
    #[serde(flatten)]
    pub basis: Basis,
    /// The share of right answers over several seeds. `None` if there is one seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub band: Option<Band>,
    /// The chances that each of several tries is right. Empty if there is one seed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub all_right: Vec<AllRight>,
    /// The speed of the right answers relative to the expected statements, in percent (R-VES,
    /// BIRD's mini-dev). `None` if they were not timed. `without_times` removes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r_ves: Option<f64>,
    /// The number of times that each pair of statements was timed. `None` if none was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timed_repeats: Option<u32>,
    /// The figures of the arm.
    #[serde(flatten)]
    pub figures: Figures,
    /// Every answer, in the suite's order.
    pub results: Vec<ResultRow>,
}

impl BenchmarkReport {
    /// Reports on the run's first arm under a rule. Answers of other arms are left out.
    #[must_use]
    pub fn new(header: &Header, graded: &[Graded], rule: &str) -> Self {
        let own = header.own();
        let all = header;
        let header = &own;
        let arm = header.arms.first().cloned().unwrap_or_else(no_arm);
        let answers = result::arm_answers(graded, &arm.name);
        let seeds = [bands::seeds(all, graded, &arm.name)];
        let band = bands::for_share(&seeds[0], rule);
        Self {
            band,
            all_right: reliability::chances(&seeds[0], rule),
            r_ves: None,
            timed_repeats: None,
            head: ReportHead::new(BENCHMARK_FORMAT, header, &answers),
            basis: Basis::new(header, &seeds, rule),
            figures: Figures::from_answers(&answers, rule),
            results: answers.iter().map(|one| ResultRow::new(one, rule, header)).collect(),
            arm,
        }
    }

    /// Adds what a timed pass found: the R-VES of the arms by name, in percent, each pair of
    /// statements timed so many times.
    pub fn with_timings(&mut self, r_ves: &BTreeMap<String, f64>, repeats: u32) {
        self.r_ves = r_ves.get(&self.arm.name).copied().filter(|r_ves| r_ves.is_finite());
        self.timed_repeats = self.r_ves.map(|_| repeats);
    }

    /// Adds what tries cost that failed and were made again, by arm.
    pub fn with_earlier_tries(&mut self, tries: &BTreeMap<String, EarlierTries>) {
        if let Some(tries) = tries.get(&self.arm.name) {
            self.figures.costs.earlier_tries = Some(*tries);
            self.basis.warnings.push(notes::note_earlier_tries(&self.arm.name, tries));
        }
    }

    /// Removes what differs between equal runs: times, durations, counts of calls with their costs,
    /// and the id of the run.
    pub fn without_times(&mut self) {
        self.head.without_times();
        self.basis.without_times();
        (self.r_ves, self.timed_repeats) = (None, None);
        self.figures.without_times();
        self.results.iter_mut().for_each(ResultRow::without_times);
    }
}

/// The arm of a run that has none.
fn no_arm() -> Arm {
    Arm {
        name: String::new(),
        strategy: String::new(),
        plugins: Vec::new(),
        settings: Value::Null,
        again: None,
    }
}
