//! `calibrate fit`: fits a calibrator on a graded run, measures it on databases that it was not
//! fitted on, and writes a strategy that uses it.

use std::collections::BTreeMap;

use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};
use syrch::plugins::Inspection;
use syrch::syrch_core::roles::Role;
use syrch_grading::grade::calibrate::{Against, Measured, Method, Report};
use syrch_grading::grade::run::{self, RunRecord};
use syrch_grading::{Calibration, calibrate};
use syrch_report::words::count;

use super::Run;
use super::graded::{run_files, runs};
use super::{Context, strategy};
use crate::config::Given;
use crate::exit::Exit;
use crate::failure::Outcome;
use crate::sink::{Format, Grid};

/// Databases that are named on standard error at most; the document has all.
const NAMED: usize = 20;

/// The commands of `calibrate`.
#[derive(Subcommand)]
pub(crate) enum CalibrateCommand {
    /// Fit a curve from confidences to shares of right answers on a run of `benchmark` or
    /// `compare`, and write a strategy file that uses it, measured on databases that it was not
    /// fitted on
    #[command(after_help = Exit::help())]
    Fit(FitArgs),
}

#[derive(Args)]
pub(crate) struct FitArgs {
    /// The run: its id, the beginning of it, `last`, or its folder
    #[arg(value_name = "RUN")]
    run: String,
    /// The arm whose answers count, where the run has several
    #[arg(long, value_name = "NAME")]
    arm: Option<String>,
    /// The curve: isotonic, logistic, none, or the one that does best on held-out answers
    #[arg(long, value_enum, default_value_t, value_name = "METHOD")]
    method: MethodArg,
}

/// A curve, or the choice of the best one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum MethodArg {
    /// The best on held-out answers
    #[default]
    Auto,
    /// Corners: follows what was measured
    Isotonic,
    /// Two parameters: for few answers
    Logistic,
    /// No curve: confidences stay, and their record is quoted
    None,
}

impl MethodArg {
    fn method(self) -> Option<Method> {
        match self {
            Self::Auto => None,
            Self::Isotonic => Some(Method::Isotonic),
            Self::Logistic => Some(Method::Logistic),
            Self::None => Some(Method::None),
        }
    }
}

impl Run for CalibrateCommand {
    fn config_flags(&self) -> Option<Given<'_>> {
        Some(Given { any_strategy: true, ..Given::default() })
    }

    async fn run(self, context: Context) -> Outcome {
        let CalibrateCommand::Fit(FitArgs { run, arm, method }) = self;
        let folder = runs(&context)?.find(&run).map_err(syrch::Error::from)?.path;
        // The strategy must not replace a file of the run.
        context.output.refuse_to_replace(&run_files(&folder))?;
        let record = run::read(&folder).map_err(syrch::Error::from)?;
        let mut found = calibrate(&record, arm.as_deref(), method.method())?;
        let (text, plugins) = strategy::file_of(&context, &mut found.definition).await?;
        for warning in warnings(&record, &found, &plugins) {
            context.console.warn(&warning);
        }
        for line in figure_lines(&found) {
            context.console.note(&line);
        }
        match context.format {
            Format::Auto | Format::Table => context.output.write(&context.scrubber.text(&text))?,
            _ => context.rows(grid(&found), || document(&found, &text))?,
        }
        Ok(Exit::Answered)
    }
}

/// Returns warnings on what limits the figures.
fn warnings(
    record: &RunRecord,
    found: &Calibration,
    plugins: &BTreeMap<Role, Inspection>,
) -> Vec<String> {
    let mut warnings = Vec::new();
    if !record.is_whole() {
        let done = record.graded.len();
        let of = record.total_answers();
        warnings.push(format!("the run is not finished: {done} of {of} answers are graded"));
    }
    if found.left_out > 0 {
        let left_out = found.left_out;
        let are = if left_out == 1 { "is" } else { "are" };
        let answers = count(left_out, "answer");
        warnings
            .push(format!("{answers} {are} not counted: no candidate of their own was calibrated"));
    }
    if !found.report.by_database {
        warnings.push(
            "all answers are over one database: the curve may not hold for others".to_owned(),
        );
    }
    let arm = record.header.arms.iter().find(|arm| arm.name == found.arm);
    for plugin in arm.iter().flat_map(|arm| &arm.plugins) {
        let now = plugins
            .iter()
            .find(|(role, _)| role.name() == plugin.role && **role != Role::Calibrator);
        if now.is_some_and(|(_, now)| now.digest != plugin.digest) {
            let role = &plugin.role;
            let source = &plugin.source;
            warnings.push(format!(
                "the {role} `{source}` is another than in the run, whose figures may \
                 not hold for it"
            ));
        }
    }
    warnings
}

/// The figures as lines for people.
fn figure_lines(found: &Calibration) -> Vec<String> {
    let Calibration { run, arm, rule, model, report, .. } = found;
    let (answers, right) = totals(report);
    let databases = syrch::syrch_core::text::count(report.databases.len(), "database");
    let parts = report.folds;
    let held_out = if report.by_database { "databases" } else { "answers" };
    let mut lines = vec![
        format!(
            "run {run}, arm {arm}: {right} of {answers} answers are right by {rule}, over \
             {databases}, with {model}"
        ),
        format!(
            "each figure, and what footers will quote, is of answers that the curve was not fitted \
             on: {parts} parts, each of whole {held_out}"
        ),
        format!(
            "{:<10}  {:>7}  {:>8}  {:>7}  {:>7}",
            "method", "Brier", "log loss", "ECE", "AUROC"
        ),
    ];
    lines.extend(report.measured.iter().map(|measured| {
        let Measured { method, brier, log_loss, calibration_error, auroc, against, .. } = measured;
        let written = if *method == found.method { "  <- written" } else { "" };
        let against = against.map(|against| format!("  {}", against.name())).unwrap_or_default();
        let mark = against + written;
        format!(
            "{:<10}  {brier:>7.4}  {log_loss:>8.4}  {calibration_error:>7.4}  {auroc:>7.4}{mark}",
            name(*method)
        )
    }));
    let each = report
        .databases
        .iter()
        .take(NAMED)
        .map(|(name, of)| format!("{name} {} of {}", of.right, of.answers));
    let more = report.databases.len().saturating_sub(NAMED);
    let more = if more > 0 {
        format!(", and {}", count(more as u64, "more database"))
    } else {
        String::new()
    };
    lines.push(format!("right by database: {}{more}", each.collect::<Vec<_>>().join(", ")));
    lines
}

/// The name of a method in the table.
fn name(method: Method) -> &'static str {
    if method == Method::None { "as printed" } else { method.name() }
}

fn totals(report: &Report) -> (u64, u64) {
    let sum = |of: fn(&syrch_grading::grade::calibrate::Shares) -> u64| {
        report.databases.values().map(of).sum()
    };
    (sum(|shares| shares.answers), sum(|shares| shares.right))
}

fn grid(found: &Calibration) -> Grid {
    let mut grid = Grid::new([
        "method",
        "brier",
        "log_loss",
        "calibration_error",
        "auroc",
        "written",
        "against",
    ]);
    grid.rows = found
        .report
        .measured
        .iter()
        .map(|measured| figures(found, measured).into_iter().map(|(_, value)| value).collect())
        .collect();
    grid
}

fn figures(found: &Calibration, measured: &Measured) -> [(&'static str, Value); 7] {
    [
        ("method", json!(measured.method.name())),
        ("brier", json!(measured.brier)),
        ("log_loss", json!(measured.log_loss)),
        ("calibration_error", json!(measured.calibration_error)),
        ("auroc", json!(measured.auroc)),
        ("written", json!(measured.method == found.method)),
        ("against", json!(measured.against.map(Against::name))),
    ]
}

/// The fitted curve and its figures as the document `syrch.calibration/1`.
fn document(found: &Calibration, text: &str) -> Value {
    let (answers, right) = totals(&found.report);
    let methods = found.report.measured.iter().map(|measured| {
        figures(found, measured)
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect::<serde_json::Map<_, _>>()
    });
    let calibrator = found.definition.roles.get(&Role::Calibrator).map(|part| &part.config);
    json!({
        "schema": "syrch.calibration/1",
        "run": found.run,
        "arm": found.arm,
        "rule": found.rule,
        "model": found.model,
        "answers": answers,
        "right": right,
        "left_out": found.left_out,
        "databases": found.report.databases,
        "held_out": {"parts": found.report.folds, "by_database": found.report.by_database},
        "methods": methods.collect::<Vec<_>>(),
        "best": found.report.chosen.name(),
        "method": found.method.name(),
        "calibrator": calibrator,
        "strategy": text,
    })
}
