//! `suite`, and of it `lint`: checks the expected answers of a suite before any run is graded by
//! them.

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;
use syrch::databases::{database_files, suite_databases};
use syrch_grading::grade::suite::SuiteError;
use syrch_grading::{LintObserver, LintReport, lint, read_suite};

use super::Run;
use super::graded::databases_flag;
use super::suite_fuzz::FuzzArgs;
use super::suite_linking::LinkingArgs;
use super::{Context, suite_fuzz, suite_linking};
use crate::config::Given;
use crate::config::flags::Flags;
use crate::console::Console;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::sink::{Format, Grid};

/// The commands of `suite`.
#[derive(Subcommand)]
pub(crate) enum SuiteCommand {
    /// Run every expected statement under the guard, and report those that fail, write, are empty,
    /// or whose rows or their order ties leave to chance
    #[command(after_help = Exit::help())]
    Lint(Box<LintArgs>),
    /// Make variants of the databases, on all of which a right answer must give what the expected
    /// one gives: what is right by luck is not
    #[command(after_help = Exit::help())]
    Fuzz(Box<FuzzArgs>),
    /// Link every question, and report the tables, columns and literals of its expected statement
    /// that the prompt shows and lacks
    #[command(after_help = Exit::help())]
    Linking(Box<LinkingArgs>),
}

#[derive(Args)]
pub(crate) struct LintArgs {
    /// The suite: JSON lines, a JSON array (also BIRD's and Spider's), or CSV. Its databases are
    /// searched in --db first, which may be a folder or the one database of all questions, then
    /// beside the suite
    #[arg(value_name = "SUITE")]
    pub(crate) suite: PathBuf,
    /// Exit with 5 when there are findings: never, of the severity error, or of any
    #[arg(long, value_enum, default_value_t, value_name = "SEVERITY")]
    pub(crate) fail_on: FailOn,
    /// The options of a database.
    #[command(flatten)]
    pub(crate) flags: Flags<false>,
}

/// The findings that fail a lint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum FailOn {
    /// No finding fails the lint
    None,
    /// Findings by which no answer can be graded fail the lint
    #[default]
    Error,
    /// Every finding fails the lint
    Any,
}

impl Run for SuiteCommand {
    fn config_flags(&self) -> Option<Given<'_>> {
        Some(match self {
            Self::Lint(lint) => Given::new(&lint.flags, &[]),
            Self::Fuzz(fuzz) => Given::new(&fuzz.flags, &[]),
            Self::Linking(linking) => Given::new(&linking.flags, &linking.parameters),
        })
    }

    fn inputs(&self) -> Vec<(&'static str, PathBuf)> {
        match self {
            Self::Lint(lint) => vec![("the suite", lint.suite.clone())],
            Self::Linking(linking) => vec![("the suite", linking.suite.clone())],
            Self::Fuzz(_) => Vec::new(),
        }
    }

    fn makes_folder(&self) -> bool {
        matches!(self, Self::Fuzz(_))
    }

    fn loads_plugins(&self) -> bool {
        matches!(self, Self::Linking(_))
    }

    async fn run(self, context: Context) -> Outcome {
        match self {
            SuiteCommand::Lint(arguments) => run_lint(&context, *arguments).await,
            SuiteCommand::Fuzz(arguments) => suite_fuzz::run(&context, *arguments).await,
            SuiteCommand::Linking(arguments) => suite_linking::run(context, *arguments).await,
        }
    }
}

async fn run_lint(context: &Context, arguments: LintArgs) -> Outcome {
    let LintArgs { suite: path, fail_on, .. } = arguments;
    let suite = read_suite(&path).await.map_err(lint_failure)?;
    let databases = suite_databases(&suite, databases_flag(context).as_ref())?;
    let files = databases.values().flat_map(database_files);
    context.output.refuse_to_replace(
        &files.map(|file| ("a database of the suite", file)).collect::<Vec<_>>(),
    )?;
    let watch = Watch(Arc::clone(&context.console));
    let report = lint(&suite, &databases, &context.config.effective.settings, &watch).await;
    context.console.clear();
    show(context, &report)?;
    context.console.note(&summary(&report));
    let is_failed = match fail_on {
        FailOn::None => false,
        FailOn::Error => report.errors > 0,
        FailOn::Any => report.errors + report.warnings > 0,
    };
    Ok(if is_failed { Exit::Gate } else { Exit::Answered })
}

/// The failure of a suite with a mistake in it, with another hint than that to lint it.
fn lint_failure(error: syrch::Error) -> Failure {
    let is_mistake =
        matches!(&error, syrch::Error::Suite(why) if !matches!(why, SuiteError::Unreadable { .. }));
    let failure = Failure::from(error);
    if is_mistake {
        failure.hint("correct it there; findings are reported once the suite can be read")
    } else {
        failure
    }
}

struct Watch(Arc<Console>);

impl LintObserver for Watch {
    fn on_question_checked(&self, done: u64, of: u64) {
        self.0.progress(&format!("{done}/{of} questions"));
    }
}

fn show(context: &Context, report: &LintReport) -> Outcome<()> {
    if report.findings.is_empty() && matches!(context.format, Format::Auto | Format::Table) {
        return context.output.write("no findings\n");
    }
    let mut grid = Grid::new(["severity", "kind", "id", "line", "db", "gold", "what"]);
    grid.rows = report
        .findings
        .iter()
        .map(|finding: &syrch_grading::Finding| {
            vec![
                json!(finding.severity.name()),
                json!(finding.kind.name()),
                json!(finding.id),
                json!(finding.line.or(finding.item)),
                json!(finding.db),
                json!(finding.gold),
                json!(finding.what),
            ]
        })
        .collect();
    let document = serde_json::to_value(report).map_err(Failure::unwritable_document)?;
    context.rows(grid, || document)
}

/// The counts of what was checked and found, on one line.
fn summary(report: &LintReport) -> String {
    let count = |count: u64, one: &str, many: &str| {
        format!("{count} {}", if count == 1 { one } else { many })
    };
    let suite = &report.suite;
    let checked = format!(
        "{} on {}, with {}",
        count(suite.questions, "question", "questions"),
        count(suite.databases, "database", "databases"),
        count(suite.golds, "expected answer", "expected answers"),
    );
    if report.findings.is_empty() {
        return format!("{checked}: nothing found");
    }
    let kinds: Vec<String> =
        report.counts.iter().map(|(kind, found)| format!("{found} {kind}")).collect();
    let found =
        [count(report.errors, "error", "errors"), count(report.warnings, "warning", "warnings")]
            .join(" and ");
    format!("{checked}: {found} ({})", kinds.join(", "))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use syrch_grading::{LINT_SCHEMA, SuiteOfLint};

    use super::*;

    #[test]
    fn the_summary_counts() {
        let suite = SuiteOfLint {
            path: "s.jsonl".into(),
            format: "jsonl",
            digest: String::new(),
            questions: 2,
            golds: 3,
            databases: 1,
        };
        let counts = BTreeMap::new();
        let findings = Vec::new();
        let report =
            LintReport { schema: LINT_SCHEMA, suite, errors: 0, warnings: 0, counts, findings };
        assert_eq!(
            summary(&report),
            "2 questions on 1 database, with 3 expected answers: nothing found"
        );
    }
}
