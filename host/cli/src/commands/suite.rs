//! `suite`, and of it `lint`: looks at the expected answers of a suite before anybody is graded by them.

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;
use syrch::grading::{LintObserver, LintReport, lint, read_suite};

use super::Run;
use super::graded::given_databases;
use super::suite_fuzz::FuzzArgs;
use super::{Context, suite_fuzz};
use crate::config::Given;
use crate::config::flags::Flags;
use crate::console::Console;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::sink::{Format, Grid};

/// The commands of `suite`.
#[derive(Subcommand)]
pub(crate) enum SuiteCommand {
    /// Run every expected statement under the guard, and tell those that fail, write, are empty, or whose rows or their order ties leave to
    /// chance
    #[command(after_help = Exit::help())]
    Lint(Box<LintArgs>),
    /// Make variants of the databases, on all of which a right answer must give what the expected one gives: what is right by luck is not
    #[command(after_help = Exit::help())]
    Fuzz(Box<FuzzArgs>),
}

/// Flags of `suite lint`.
#[derive(Args)]
pub(crate) struct LintArgs {
    /// The suite: JSON lines, a JSON array (also BIRD's and Spider's), or CSV. Its databases are looked for beside it, and first in --db, which
    /// may be a folder, or the one database of all questions
    #[arg(value_name = "SUITE")]
    pub(crate) suite: PathBuf,
    /// Exit with 5 when there are findings: never, of the severity error, or of any
    #[arg(long, value_enum, default_value_t, value_name = "SEVERITY")]
    pub(crate) fail_on: FailOn,
    /// The options.
    #[command(flatten)]
    pub(crate) flags: Flags<false>,
}

/// The findings that fail a lint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum FailOn {
    /// None
    None,
    /// Those by which nobody can be graded
    #[default]
    Error,
    /// All
    Any,
}

impl Run for SuiteCommand {
    fn given(&self) -> Option<Given<'_>> {
        Some(match self {
            Self::Lint(lint) => Given::new(&lint.flags, &[]),
            Self::Fuzz(fuzz) => Given::new(&fuzz.flags, &[]),
        })
    }

    fn inputs(&self) -> Vec<(&'static str, PathBuf)> {
        match self {
            Self::Lint(lint) => vec![("the suite", lint.suite.clone())],
            Self::Fuzz(_) => Vec::new(),
        }
    }

    fn makes_folder(&self) -> bool {
        matches!(self, Self::Fuzz(_))
    }

    async fn run(self, context: Context) -> Outcome {
        run(&context, self).await
    }
}

/// Runs the command.
async fn run(context: &Context, command: SuiteCommand) -> Outcome {
    match command {
        SuiteCommand::Lint(arguments) => run_lint(context, *arguments).await,
        SuiteCommand::Fuzz(arguments) => suite_fuzz::run(context, *arguments).await,
    }
}

async fn run_lint(context: &Context, arguments: LintArgs) -> Outcome {
    let LintArgs { suite: path, fail_on, .. } = arguments;
    let suite = read_suite(&path).await.map_err(of_lint)?;
    let databases = suite.databases(given_databases(context).as_deref()).map_err(syrch::Error::from)?;
    let files = databases.values().flat_map(|path| output::database_files(&path.to_string_lossy()));
    context.output.spares(&files.map(|file| ("a database of the suite", file)).collect::<Vec<_>>())?;
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

/// A suite that cannot be read, without the advice to do what is being done.
fn of_lint(error: syrch::Error) -> Failure {
    let failure = Failure::from(error);
    match failure.hint.as_ref().is_some_and(|hint| hint.contains("suite lint")) {
        true => failure.hint("correct it there; the findings are told of a suite that can be read"),
        false => failure,
    }
}

/// Tells the console how far it is.
struct Watch(Arc<Console>);

impl LintObserver for Watch {
    fn checked(&self, done: u64, of: u64) {
        self.0.progress(&format!("{done}/{of} questions"));
    }
}

fn show(context: &Context, report: &LintReport) -> Outcome<()> {
    if report.findings.is_empty() && matches!(context.format, Format::Auto | Format::Table) {
        return context.output.write("no findings\n");
    }
    let mut grid = Grid::new(["severity", "kind", "id", "line", "db", "gold", "what"]);
    let row = |finding: &syrch::grading::Finding| {
        vec![
            json!(finding.severity.name()),
            json!(finding.kind.name()),
            json!(finding.id),
            json!(finding.line.or(finding.item)),
            json!(finding.db),
            json!(finding.gold),
            json!(finding.what),
        ]
    };
    grid.rows = report.findings.iter().map(row).collect();
    let document = serde_json::to_value(report)
        .map_err(|error| Failure::new(Exit::Unexpected, format!("the report cannot be written: {error}")))?;
    context.rows(grid, || document)
}

/// What was looked at and how much was found, on one line.
fn summary(report: &LintReport) -> String {
    let count = |count: u64, one: &str, many: &str| format!("{count} {}", if count == 1 { one } else { many });
    let suite = &report.suite;
    let looked = format!(
        "{} on {}, with {}",
        count(suite.questions, "question", "questions"),
        count(suite.databases, "database", "databases"),
        count(suite.golds, "expected answer", "expected answers"),
    );
    if report.findings.is_empty() {
        return format!("{looked}: nothing found");
    }
    let kinds: Vec<String> = report.counts.iter().map(|(kind, found)| format!("{found} {kind}")).collect();
    let found = [count(report.errors, "error", "errors"), count(report.warnings, "warning", "warnings")].join(" and ");
    format!("{looked}: {found} ({})", kinds.join(", "))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use syrch::grading::{LINT_SCHEMA, SuiteOfLint};

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
        let (counts, findings) = (BTreeMap::new(), Vec::new());
        let report = LintReport { schema: LINT_SCHEMA, suite, errors: 0, warnings: 0, counts, findings };
        assert_eq!(summary(&report), "2 questions on 1 database, with 3 expected answers: nothing found");
    }
}
