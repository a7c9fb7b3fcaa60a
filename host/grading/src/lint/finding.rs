//! The findings of `suite lint`, and the report of them.

use std::collections::BTreeMap;

use serde::Serialize;
use syrch_grade::suite::{Place, Suite};

/// The name and version of the report's format.
pub const LINT_SCHEMA: &str = "syrch.lint/1";

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// No answer can be graded by it.
    Error,
    /// A right answer may be graded as wrong, or a wrong one as right.
    Warning,
}

impl Severity {
    /// The name, as output has it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

/// The kind of an error in an expected answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// The question's database cannot be opened.
    NoDatabase,
    /// The question is for another engine than its database.
    OtherEngine,
    /// The engine refuses the statement, or running it fails.
    DoesNotRun,
    /// The statement would change something, and the guard refuses it.
    Writes,
    /// The guard refuses it for another reason.
    Refused,
    /// A file of expected rows cannot be read.
    Unreadable,
    /// The expected result has no rows, as that of most wrong statements.
    Empty,
    /// A limit cuts the expected result.
    Truncated,
    /// LIMIT cuts rows that tie, so that another result is as right.
    TieCut,
    /// The order of rows is graded, and the statement has none.
    Unordered,
    /// The order of rows is graded, and some of them tie.
    OrderTies,
    /// Another question asks the same and expects something else.
    Contradiction,
}

impl FindingKind {
    /// The name, as output has it.
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

    /// The severity of all findings of this kind.
    #[must_use]
    pub fn severity(self) -> Severity {
        match self {
            Self::NoDatabase
            | Self::OtherEngine
            | Self::DoesNotRun
            | Self::Writes
            | Self::Refused
            | Self::Unreadable => Severity::Error,
            Self::Empty
            | Self::Truncated
            | Self::TieCut
            | Self::Unordered
            | Self::OrderTies
            | Self::Contradiction => Severity::Warning,
        }
    }
}

/// Something that is wrong with one question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The severity of its kind.
    pub severity: Severity,
    /// The kind of the finding.
    pub kind: FindingKind,
    /// The id of the question.
    pub id: String,
    /// The line of the suite that has the question; `None` in a JSON array.
    pub line: Option<u64>,
    /// The item of the JSON array that is the question; `None` in a file of lines.
    pub item: Option<u64>,
    /// The name that the suite has for the question's database.
    pub db: String,
    /// The number of the expected answer, from 1; `None` if the finding is about the question as a
    /// whole.
    pub gold: Option<u32>,
    /// A message that says what is wrong.
    pub what: String,
}

/// The suite that a report is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SuiteOfLint {
    /// The path of its file.
    pub path: String,
    /// The name of the file's format.
    pub format: &'static str,
    /// The digest of its questions and expected answers.
    pub digest: String,
    /// The number of its questions.
    pub questions: u64,
    /// The number of the questions' expected answers.
    pub golds: u64,
    /// The number of databases that the questions are about.
    pub databases: u64,
}

/// `syrch.lint/1`: everything that was found in a suite, in its order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LintReport {
    /// The name of the document's format, always [`LINT_SCHEMA`].
    pub schema: &'static str,
    /// The suite that was checked.
    pub suite: SuiteOfLint,
    /// The number of findings that are errors.
    pub errors: u64,
    /// The number of findings that are warnings.
    pub warnings: u64,
    /// The number of findings of each kind that was found, by its name.
    pub counts: BTreeMap<&'static str, u64>,
    /// The findings, in the order of the suite.
    pub findings: Vec<Finding>,
}

impl LintReport {
    /// The report of the findings of each question, which are in the order of the suite.
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
        let of = |severity| {
            findings.iter().filter(|finding| finding.severity == severity).count() as u64
        };
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
