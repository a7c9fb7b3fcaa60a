//! What is found, and the report of it.

use std::collections::BTreeMap;

use serde::Serialize;
use syrch_grade::suite::{Place, Suite};

/// The name of the report's form.
pub const LINT_SCHEMA: &str = "syrch.lint/1";

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Nobody can be graded by it.
    Error,
    /// A right answer may be graded as wrong, or a wrong one as right.
    Warning,
}

impl Severity {
    /// The name in output.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

/// What is wrong with an expected answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// The question's database cannot be opened.
    NoDatabase,
    /// The question is for another engine than its database.
    OtherEngine,
    /// The statement fails.
    DoesNotRun,
    /// The statement would change something, and the guard refuses it.
    Writes,
    /// The guard refuses it for another reason.
    Refused,
    /// A file of expected rows cannot be read.
    Unreadable,
    /// The result has no rows.
    Empty,
    /// A cap cuts the result.
    Truncated,
    /// LIMIT cuts a tie, so that another result is as right.
    TieCut,
    /// The order of rows is graded, and the statement has none.
    Unordered,
    /// The order of rows is graded, and some of them tie.
    OrderTies,
    /// Another question asks the same and expects something else.
    Contradiction,
}

impl FindingKind {
    /// The name in output.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::NoDatabase => "no-database",
            Self::OtherEngine => "other-engine",
            Self::DoesNotRun => "does-not-run",
            Self::Writes => "writes",
            Self::Refused => "refused",
            Self::Unreadable => "unreadable",
            Self::Empty => "empty",
            Self::Truncated => "truncated",
            Self::TieCut => "tie-cut",
            Self::Unordered => "unordered",
            Self::OrderTies => "order-ties",
            Self::Contradiction => "contradiction",
        }
    }

    /// How bad it is.
    #[must_use]
    pub fn severity(self) -> Severity {
        match self {
            Self::NoDatabase
            | Self::OtherEngine
            | Self::DoesNotRun
            | Self::Writes
            | Self::Refused
            | Self::Unreadable => Severity::Error,
            Self::Empty | Self::Truncated | Self::TieCut | Self::Unordered | Self::OrderTies | Self::Contradiction => {
                Severity::Warning
            }
        }
    }
}

/// One thing that is wrong with one question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// What kind of thing.
    pub kind: FindingKind,
    /// The question.
    pub id: String,
    /// The line of the suite on which it stands; none in an array.
    pub line: Option<u64>,
    /// The item of the array that it is; none where there are lines.
    pub item: Option<u64>,
    /// Its database, as the suite names it.
    pub db: String,
    /// Which of its expected answers, from 1; none when it is about all of them.
    pub gold: Option<u32>,
    /// What, in words.
    pub what: String,
}

/// The suite that a report is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SuiteOfLint {
    /// Its file.
    pub path: String,
    /// What it is written in.
    pub format: &'static str,
    /// What tells it from another.
    pub digest: String,
    /// How many questions it has.
    pub questions: u64,
    /// How many expected answers they have.
    pub golds: u64,
    /// How many databases they are about.
    pub databases: u64,
}

/// `syrch.lint/1`: everything that was found in a suite, in its order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LintReport {
    /// [`LINT_SCHEMA`].
    pub schema: &'static str,
    /// The suite.
    pub suite: SuiteOfLint,
    /// Findings of the severity error.
    pub errors: u64,
    /// The other findings.
    pub warnings: u64,
    /// Findings by kind; only kinds that were found.
    pub counts: BTreeMap<&'static str, u64>,
    /// The findings.
    pub findings: Vec<Finding>,
}

impl LintReport {
    /// Of the findings of each question, in the suite's order.
    pub(super) fn new(
        suite: &Suite,
        databases: usize,
        found: impl Iterator<Item = Vec<(FindingKind, Option<u32>, String)>>,
    ) -> Self {
        let about = suite.questions.iter().zip(&suite.places);
        let findings: Vec<Finding> = about
            .zip(found)
            .flat_map(|((question, place), found)| {
                let (line, item) = match *place {
                    Place::Line(line) => (Some(line), None),
                    Place::Item(item) => (None, Some(item)),
                };
                found.into_iter().map(move |(kind, gold, what)| Finding {
                    severity: kind.severity(),
                    kind,
                    id: question.id.clone(),
                    line,
                    item,
                    db: question.db.clone(),
                    gold,
                    what,
                })
            })
            .collect();
        let mut counts = BTreeMap::new();
        findings.iter().for_each(|finding| *counts.entry(finding.kind.name()).or_default() += 1);
        let of = |severity| findings.iter().filter(|finding| finding.severity == severity).count() as u64;
        Self {
            schema: LINT_SCHEMA,
            suite: SuiteOfLint {
                path: suite.path.display().to_string(),
                format: suite.format.name(),
                digest: suite.digest.clone(),
                questions: suite.questions.len() as u64,
                golds: suite.questions.iter().map(|question| question.golds.len() as u64).sum(),
                databases: databases as u64,
            },
            errors: of(Severity::Error),
            warnings: of(Severity::Warning),
            counts,
            findings,
        }
    }
}
