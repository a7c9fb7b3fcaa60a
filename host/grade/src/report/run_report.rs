//! The report on a run, whether it has one arm or several: what all renderers take.

use serde::Serialize;

use super::figures::Figures;
use super::head::{Basis, ReportHead};
use super::result::ResultRow;
use super::{BenchmarkReport, CompareOptions, CompareReport};
use crate::run::{Arm, RunRecord};

/// The report on a run. As JSON it is the document of its variant.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum RunReport {
    /// The report on a run with one arm: the document `syrch.benchmark/1`.
    Benchmark(Box<BenchmarkReport>),
    /// The report on a run with several arms: the document `syrch.compare/1`.
    Compare(Box<CompareReport>),
}

impl From<BenchmarkReport> for RunReport {
    fn from(report: BenchmarkReport) -> Self {
        Self::Benchmark(Box::new(report))
    }
}

impl From<CompareReport> for RunReport {
    fn from(report: CompareReport) -> Self {
        Self::Compare(Box::new(report))
    }
}

impl RunReport {
    /// Reports on the graded answers of a run under a rule. `options` apply when the run has
    /// several arms.
    #[must_use]
    pub fn new(record: &RunRecord, rule: &str, options: &CompareOptions) -> Self {
        let header = &record.header;
        let graded = &record.graded;
        if header.own().arms.len() < 2 {
            let mut report = BenchmarkReport::new(header, graded, rule);
            report.with_earlier_tries(&record.earlier);
            return report.into();
        }
        let mut report = CompareReport::new(header, graded, rule, options);
        report.with_earlier_tries(&record.earlier);
        report.into()
    }

    /// The report of one arm, or else that of several.
    pub(crate) fn split(&self) -> (Option<&BenchmarkReport>, Option<&CompareReport>) {
        match self {
            Self::Benchmark(report) => (Some(report), None),
            Self::Compare(report) => (None, Some(report)),
        }
    }

    /// The run and the suite that the report is about.
    #[must_use]
    pub fn head(&self) -> &ReportHead {
        match self {
            Self::Benchmark(report) => &report.head,
            Self::Compare(report) => &report.head,
        }
    }

    /// The rule of the figures and what limits them.
    #[must_use]
    pub fn basis(&self) -> &Basis {
        match self {
            Self::Benchmark(report) => &report.basis,
            Self::Compare(report) => &report.basis,
        }
    }

    /// The same as [`RunReport::basis`], to add warnings or the reason of missing answers.
    pub fn basis_mut(&mut self) -> &mut Basis {
        match self {
            Self::Benchmark(report) => &mut report.basis,
            Self::Compare(report) => &mut report.basis,
        }
    }

    /// Every answer, by arm and in the order of the suite.
    #[must_use]
    pub fn rows(&self) -> &[ResultRow] {
        match self {
            Self::Benchmark(report) => &report.results,
            Self::Compare(report) => &report.results,
        }
    }

    /// Removes what differs between equal runs, such as times and counts of calls.
    pub fn without_times(&mut self) {
        match self {
            Self::Benchmark(report) => report.without_times(),
            Self::Compare(report) => report.without_times(),
        }
    }

    /// Each arm with its figures, in the order of the run.
    pub(crate) fn arms(&self) -> Vec<(&Arm, &Figures)> {
        match self {
            Self::Benchmark(report) => vec![(&report.arm, &report.figures)],
            Self::Compare(report) => {
                report.arms.iter().map(|arm| (&arm.arm, &arm.figures)).collect()
            }
        }
    }
}
