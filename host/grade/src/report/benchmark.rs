//! One arm over a suite: `syrch.benchmark/1`.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::bands::{self, Band};
use super::figures::Figures;
use super::notes;
use super::result::{self, ResultRow};
use crate::run::{Arm, EarlierTries, Graded, Header};

/// The format's name in [`BenchmarkReport::schema`].
pub const BENCHMARK_FORMAT: &str = "syrch.benchmark/1";

/// One arm over a suite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BenchmarkReport {
    /// Always [`BENCHMARK_FORMAT`].
    pub schema: String,
    /// The host's version.
    pub host: String,
    /// The run's id. Left out by `without_times`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The suite.
    pub suite: SuiteOfReport,
    /// Who answered.
    pub arm: Arm,
    /// The rule that the figures go by.
    pub rule: String,
    /// The simulated model that the answers come from; none: real ones.
    pub simulated: Option<String>,
    /// How much of the run there is, when it is not whole.
    pub partial: Option<Partial>,
    /// What to know before believing the figures.
    pub warnings: Vec<String>,
    /// The share of right answers over several seeds; none: there is but one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub band: Option<Band>,
    /// How quick the right answers are against the expected statements, in percent (R-VES, BIRD's mini-dev); none: they were not timed. Left
    /// out by `without_times`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r_ves: Option<f64>,
    /// How often each pair of statements was timed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timed_repeats: Option<u32>,
    /// The figures.
    #[serde(flatten)]
    pub figures: Figures,
    /// Every answer, in the suite's order.
    pub results: Vec<ResultRow>,
}

/// The suite of a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuiteOfReport {
    /// Its path as given.
    pub path: String,
    /// The SHA-256 of its questions and expected answers, in hex.
    pub digest: String,
    /// Questions in it, also those of other shards.
    pub questions: u64,
    /// Questions of which the report has an answer.
    pub asked: u64,
    /// Questions that count for nobody, because their expected answer could not be had.
    pub gold_faults: u64,
}

/// How much of a run there is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Partial {
    /// Answers that there are: one a question, arm and seed.
    pub done: u64,
    /// Answers that there would be.
    pub of: u64,
    /// Why there are no more.
    pub why: String,
}

impl SuiteOfReport {
    pub(crate) fn of(header: &Header, graded: &[&Graded]) -> Self {
        let asked: BTreeSet<(u64, &str)> = graded.iter().map(|one| (one.place, one.id.as_str())).collect();
        let faulty: BTreeSet<(u64, &str)> =
            graded.iter().filter(|one| one.gold_fault.is_some()).map(|one| (one.place, one.id.as_str())).collect();
        Self {
            path: header.suite.path.clone(),
            digest: header.suite.digest.clone(),
            questions: header.suite.questions,
            asked: asked.len() as u64,
            gold_faults: faulty.len() as u64,
        }
    }
}

impl BenchmarkReport {
    /// Reports on the run's first arm under a rule. Answers of other arms are left out.
    #[must_use]
    pub fn new(header: &Header, graded: &[Graded], rule: &str) -> Self {
        let (own, all) = (header.own(), header);
        let header = &own;
        let arm = header.arms.first().cloned().unwrap_or_else(nobody);
        let answers = result::of_arm(graded, &arm.name);
        let seeds = [bands::seeds(all, graded, &arm.name)];
        let band = bands::of_share(&seeds[0], rule);
        Self {
            band,
            r_ves: None,
            timed_repeats: None,
            schema: BENCHMARK_FORMAT.to_owned(),
            host: header.host.clone(),
            run: Some(header.id.clone()),
            suite: SuiteOfReport::of(header, &answers),
            rule: rule.to_owned(),
            simulated: header.simulated.clone(),
            partial: notes::partial(header, &seeds),
            warnings: notes::warnings(header, &seeds, rule),
            figures: Figures::of(&answers, rule),
            results: answers.iter().map(|one| ResultRow::of(one, rule, header)).collect(),
            arm,
        }
    }

    /// The class of error that most searches failed with, when every one failed: the run has no answer to speak of.
    #[must_use]
    pub fn all_failed(&self) -> Option<&str> {
        self.figures.failed_share().filter(|share| *share >= 1.0)?;
        self.figures.most_failed()
    }

    /// Adds what a timed pass found: the R-VES of the arms by name, in percent, each pair of statements timed so many times.
    pub fn with_timings(&mut self, r_ves: &BTreeMap<String, f64>, repeats: u32) {
        self.r_ves = r_ves.get(&self.arm.name).copied().filter(|r_ves| r_ves.is_finite());
        self.timed_repeats = self.r_ves.map(|_| repeats);
    }

    /// Adds what tries cost that failed and were made again, by arm.
    pub fn with_earlier_tries(&mut self, tries: &BTreeMap<String, EarlierTries>) {
        if let Some(tries) = tries.get(&self.arm.name) {
            self.figures.costs.earlier_tries = Some(*tries);
            self.warnings.push(notes::earlier(&self.arm.name, tries));
        }
    }

    /// Says why the run is not whole. Without effect when it is.
    pub fn because(&mut self, why: &str) {
        if let Some(partial) = &mut self.partial {
            partial.why = why.to_owned();
        }
    }

    /// Takes out what differs between equal runs: times, durations, counts of calls with what they cost, and where the
    /// run is kept.
    pub fn without_times(&mut self) {
        self.run = None;
        (self.r_ves, self.timed_repeats) = (None, None);
        self.figures.without_times();
        self.results.iter_mut().for_each(ResultRow::without_times);
        notes::without_times(&mut self.warnings);
    }
}

/// The arm of a run that has none.
fn nobody() -> Arm {
    Arm { name: String::new(), strategy: String::new(), plugins: Vec::new(), settings: Value::Null, again: None }
}
