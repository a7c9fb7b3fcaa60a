//! What every report says first: of which run and suite it is, and what its figures rest on.
//!
//! These are two structures, for in a benchmark's document the arm stands between them. Both lie flat in the documents.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::notes;
use crate::run::{Graded, Header};

/// Of which run and suite a report is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportHead {
    /// The format's name, such as [`BENCHMARK_FORMAT`](super::BENCHMARK_FORMAT).
    pub schema: String,
    /// The host's version.
    pub host: String,
    /// The run's id. Left out by `without_times`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The suite.
    pub suite: SuiteOfReport,
}

/// What a report's figures rest on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Basis {
    /// The rule that the figures go by.
    pub rule: String,
    /// The simulated model that the answers come from; none: real ones.
    pub simulated: Option<String>,
    /// How much of the run there is, when it is not whole.
    pub partial: Option<Partial>,
    /// What to know before believing the figures.
    pub warnings: Vec<String>,
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

impl ReportHead {
    pub(crate) fn new(schema: &str, header: &Header, graded: &[&Graded]) -> Self {
        Self {
            schema: schema.to_owned(),
            host: header.host.clone(),
            run: Some(header.id.clone()),
            suite: SuiteOfReport::of(header, graded),
        }
    }

    pub(crate) fn without_times(&mut self) {
        self.run = None;
    }
}

impl Basis {
    /// Of the answers of each arm under each seed, as [`notes::warnings`] takes them.
    pub(crate) fn new(header: &Header, seeds: &[Vec<Vec<&Graded>>], rule: &str) -> Self {
        Self {
            rule: rule.to_owned(),
            simulated: header.simulated.clone(),
            partial: notes::partial(header, seeds),
            warnings: notes::warnings(header, seeds, rule),
        }
    }

    /// Says why the run is not whole. Without effect when it is.
    pub fn because(&mut self, why: &str) {
        if let Some(partial) = &mut self.partial {
            partial.why = why.to_owned();
        }
    }

    /// Adds what is to be known of a timed pass. Taken out by `without_times`, as the times are.
    pub fn tell_of_times(&mut self, what: &str) {
        self.warnings.push(notes::timed(what));
    }

    pub(crate) fn without_times(&mut self) {
        notes::without_times(&mut self.warnings);
    }
}

impl SuiteOfReport {
    fn of(header: &Header, graded: &[&Graded]) -> Self {
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
