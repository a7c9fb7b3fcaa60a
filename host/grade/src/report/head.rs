//! The head of every report: the run, the suite, and what its figures are based on.
//!
//! These are two structures, since the document of a benchmark has the arm between them. Both are
//! flattened into the documents.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::notes;
use crate::run::{Dropped, Graded, Header};

/// The run and the suite of a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportHead {
    /// The format's name, such as [`BENCHMARK_FORMAT`](super::BENCHMARK_FORMAT).
    pub schema: String,
    /// The version of the host that made the run.
    pub host: String,
    /// The id of the run. `without_times` removes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The suite of the run.
    pub suite: SuiteOfReport,
}

/// The rule and the data that the figures of a report are based on, and what limits them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Basis {
    /// The name of the comparison rule of the figures.
    pub rule: String,
    /// The label of the simulated model that gave the answers. `None` if a real one gave them.
    pub simulated: Option<String>,
    /// The part of the run that is finished. `None` if it is complete.
    pub partial: Option<Partial>,
    /// Warnings about the figures, each a sentence without a capital and a full stop.
    pub warnings: Vec<String>,
}

/// The suite of a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuiteOfReport {
    /// The path of the suite as it was given.
    pub path: String,
    /// The SHA-256 of its questions and expected answers, in hex.
    pub digest: String,
    /// Questions of the whole suite, also those of other shards.
    pub questions: u64,
    /// Questions with an answer in the report.
    pub asked: u64,
    /// Questions that do not count, because their expected answer is not available.
    pub gold_faults: u64,
}

/// The finished part of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Partial {
    /// Answers so far: one for each question, arm and seed.
    pub done: u64,
    /// Answers of the complete run.
    pub of: u64,
    /// The reason why answers are missing.
    pub why: String,
}

impl ReportHead {
    pub(crate) fn new(schema: &str, header: &Header, graded: &[&Graded]) -> Self {
        Self {
            schema: schema.to_owned(),
            host: header.host.clone(),
            run: Some(header.id.clone()),
            suite: SuiteOfReport::new(header, graded),
        }
    }

    pub(crate) fn without_times(&mut self) {
        self.run = None;
    }
}

impl Basis {
    /// The basis of the answers of each arm under each seed, in the form of [`notes::warnings`].
    pub(crate) fn new(header: &Header, seeds: &[Vec<Vec<&Graded>>], rule: &str) -> Self {
        Self {
            rule: rule.to_owned(),
            simulated: header.simulated.clone(),
            partial: notes::partial(header, seeds),
            warnings: notes::warnings(header, seeds, rule),
        }
    }

    /// Sets the reason of missing answers. No effect on a complete run.
    pub fn because(&mut self, why: &str) {
        if let Some(partial) = &mut self.partial {
            partial.why = why.to_owned();
        }
    }

    /// Adds a warning about searches that were dropped when the run stopped, if there are any.
    /// `without_times` removes it.
    pub fn warn_of_dropped(&mut self, dropped: &Dropped) {
        self.warnings.extend(notes::describe_dropped(dropped));
    }

    /// Adds a warning about a timed pass. `without_times` removes it together with the times.
    pub fn warn_of_times(&mut self, what: &str) {
        self.warnings.push(notes::timing_warning(what));
    }

    pub(crate) fn without_times(&mut self) {
        notes::without_times(&mut self.warnings);
    }
}

impl SuiteOfReport {
    fn new(header: &Header, graded: &[&Graded]) -> Self {
        let asked: BTreeSet<(u64, &str)> =
            graded.iter().map(|one| (one.place, one.id.as_str())).collect();
        let faulty: BTreeSet<(u64, &str)> = graded
            .iter()
            .filter(|one| one.gold_fault.is_some())
            .map(|one| (one.place, one.id.as_str()))
            .collect();
        Self {
            path: header.suite.path.clone(),
            digest: header.suite.digest.clone(),
            questions: header.suite.questions,
            asked: asked.len() as u64,
            gold_faults: faulty.len() as u64,
        }
    }
}
