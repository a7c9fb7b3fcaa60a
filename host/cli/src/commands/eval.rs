//! `eval`: asks one question and compares the answer with what is expected.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use serde_json::{Value, json};
use syrch::syrch_core::Problem;
use syrch::{Outcome as Ending, Stop};
use syrch_grading::grade::Verdict;
use syrch_grading::grade::rules::Rule;
use syrch_grading::{Eval, EvalReport, Expectation};

use super::Run;
use super::graded::{refuse_interactive, stop_at_interrupt};
use super::{Context, asking};
use crate::config::Given;
use crate::config::flags::Flags;
use crate::config::parameter::Parameter;
use crate::console::progress::Watch;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::sink::{Format, Grid, csv, json as json_sink, markdown, table, terminal};

#[derive(Args)]
#[command(group = clap::ArgGroup::new("gold").required(true))]
pub(crate) struct EvalArgs {
    /// The question
    #[arg(short, long, value_name = "TEXT")]
    pub(crate) question: String,
    /// An explanation of terms of the question
    #[arg(long, value_name = "TEXT")]
    pub(crate) evidence: Option<String>,
    /// The expected rows: a CSV file whose first line names the columns
    #[arg(long, value_name = "FILE", group = "gold")]
    pub(crate) expected: Option<PathBuf>,
    /// A statement that has the expected rows; it is run before anything is asked
    #[arg(long, value_name = "STATEMENT", group = "gold")]
    pub(crate) expected_sql: Option<String>,
    /// The one number or text that is expected
    #[arg(long, value_name = "TEXT", group = "gold", allow_hyphen_values = true)]
    pub(crate) expected_answer: Option<String>,
    /// The order of the rows counts
    #[arg(long)]
    pub(crate) ordered: bool,
    /// The comparison rule that decides: bag-v1, bird-ex, spider-ex, spider2, strict
    #[arg(long, value_name = "NAME", default_value = "bag-v1")]
    pub(crate) rule: Rule,
    /// A plugin's own setting; VALUE is JSON or text. KEY alone will do when one plugin knows it;
    /// settings.NAME is for all plugins
    #[arg(short = 'P', long = "param", value_name = "ROLE.KEY=VALUE")]
    pub(crate) parameters: Vec<Parameter>,
    /// The options of a search.
    #[command(flatten)]
    pub(crate) flags: Flags<true>,
}

impl EvalArgs {
    fn expectation(&self) -> Outcome<Expectation> {
        let csv = self.expected.clone().map(Expectation::Csv);
        csv.or_else(|| self.expected_sql.clone().map(Expectation::Sql))
            .or_else(|| self.expected_answer.clone().map(Expectation::Answer))
            .ok_or_else(|| Failure::usage("nothing is expected"))
    }
}

impl Run for EvalArgs {
    const ENDS_INTERRUPTS: bool = true;
    const LOADS_PLUGINS: bool = true;

    fn config_flags(&self) -> Option<Given<'_>> {
        Some(Given::new(&self.flags, &self.parameters))
    }

    async fn run(self, mut context: Context) -> Outcome {
        if self.question.trim().is_empty() {
            return Err(Failure::usage("no question")
                .hint("ask one by `-q \"How many customers are there?\"`"));
        }
        context.needs_database()?;
        refuse_interactive(&context)?;
        let expected = self.expected.iter().map(|path| ("the expected rows", path.clone()));
        context.output.refuse_to_replace(&expected.collect::<Vec<_>>())?;
        let watch = Arc::new(Watch::new(Arc::clone(&context.console)));
        asking::prepare(&mut context, &watch).await?;
        let settings = context.config.effective.settings.clone();
        let problem = Problem { evidence: self.evidence.clone(), ..Problem::new(&self.question) };
        let gold = self.expectation()?;
        let opened = tokio::select! {
            opened = Eval::open(
                settings.clone(), problem, gold, self.ordered, self.rule, watch.as_ref()
            ) => opened,
            () = context.interrupt.wait() => return Err(
                Failure::new(Exit::Interrupted, "interrupted: nothing was asked yet")
            ),
        };
        let eval = match opened {
            Ok(eval) => eval,
            Err(error) => {
                return Err(asking::explain_error(error, &settings, &context, &watch).await);
            }
        };
        context.console.progress("asking");
        let stop = Stop::new();
        let listener = tokio::spawn(stop_at_interrupt(&context, &stop));
        let asked = eval.carry_out(watch, &stop).await;
        listener.abort();
        context.console.clear();
        let (report, search) = asked?;
        print(&context, &report)?;
        let exit = exit(&context, &report);
        Ok(if search.interrupted { Exit::Interrupted } else { exit })
    }
}

fn print(context: &Context, report: &EvalReport) -> Outcome<()> {
    let mut value = serde_json::to_value(report).map_err(Failure::unwritable_document)?;
    context.scrubber.value(&mut value);
    let report: EvalReport =
        serde_json::from_value(value.clone()).map_err(Failure::unwritable_document)?;
    match context.format {
        Format::Json => context.output.write(&json_sink::document(&value))?,
        Format::Jsonl => context.output.write(&json_sink::line(&value))?,
        Format::Csv => context.output.write(&csv::render(&verdicts(&report)))?,
        Format::Markdown => context.output.write(&in_markdown(&report))?,
        Format::Auto | Format::Table => {
            context.output.write(&for_people(&report, context.output.width()))?
        }
    }
    report.warnings.iter().for_each(|warning| context.console.warn(warning));
    Ok(())
}

/// Reports a search without an answer. Returns the exit code.
fn exit(context: &Context, report: &EvalReport) -> Exit {
    let failure = match report.outcome {
        Ending::Answered if report.is_match == Some(true) => return Exit::Answered,
        Ending::Answered => return Exit::Gate,
        Ending::Partial => Failure::new(
            Exit::Budget,
            "a budget or the time was used up before all parts of the question were answered",
        ),
        Ending::NoAnswer => Failure::new(Exit::NoAnswer, "no acceptable answer was found"),
        Ending::ClarificationNeeded => {
            Failure::new(Exit::Clarify, "the question needs a clarification")
        }
    };
    let hint = format!("`syrch-host trace show {}` shows what the search did", report.run);
    let exit = failure.exit;
    context.console.error(&failure.hint(hint));
    exit
}

fn headline(report: &EvalReport) -> String {
    let rule = &report.rule;
    match (report.outcome, report.is_match) {
        (Ending::Answered, Some(true)) => format!("match under {rule}"),
        (Ending::Answered, Some(false)) => format!("mismatch under {rule}"),
        (Ending::Answered, None) if report.expected_rows == 0 => {
            format!(
                "{rule} cannot tell: the expected result has no rows, and neither have those of \
                 many wrong statements"
            )
        }
        (Ending::Answered, None) => format!("{rule} cannot tell"),
        (Ending::Partial | Ending::NoAnswer | Ending::ClarificationNeeded, _) => {
            "no answer".to_owned()
        }
    }
}

/// The figures, a line each.
fn facts(report: &EvalReport) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(rows) = report.rows {
        let columns = report.columns.len();
        let expected = report.expected_columns.len();
        lines.push(format!(
            "rows: {rows}, expected {}; columns: {columns}, expected {expected}",
            report.expected_rows
        ));
    }
    lines.extend(
        report.out_of_order.map(|row| {
            format!("the rows are the expected ones in another order, from row {row} on")
        }),
    );
    lines.extend(report.confidence.map(|confidence| format!("confidence {confidence:.2}")));
    lines
}

fn verdicts(report: &EvalReport) -> Grid {
    let mut grid = Grid::new(["rule", "verdict"]);
    let word = |verdict: &Verdict| match verdict {
        Verdict::Right => "match",
        Verdict::Wrong => "mismatch",
        Verdict::Excluded => "cannot tell",
    };
    grid.rows = report
        .verdicts
        .iter()
        .map(|(rule, verdict)| vec![json!(rule), json!(word(verdict))])
        .collect();
    grid
}

/// The rows that differ, each under the names of its side's columns.
fn differing_rows(report: &EvalReport) -> Vec<(&'static str, Grid)> {
    // Rows of the answer stand in the order of the expected columns where these have the same
    // names.
    let mut own: Vec<&String> = report.columns.iter().collect();
    let mut expected: Vec<&String> = report.expected_columns.iter().collect();
    own.sort();
    expected.sort();
    let columns = if own == expected { &report.expected_columns } else { &report.columns };
    let grid = |columns: &[String], rows: &[Vec<Value>]| Grid {
        columns: columns.to_vec(),
        rows: rows.to_vec(),
    };
    let sides = [
        ("expected and missing", grid(&report.expected_columns, &report.missing)),
        ("answered and not expected", grid(columns, &report.unexpected)),
    ];
    sides.into_iter().filter(|(_, grid)| !grid.rows.is_empty()).collect()
}

fn statements(report: &EvalReport) -> Vec<(&'static str, &str)> {
    let both = [("answered by", &report.sql), ("expected", &report.expected_sql)];
    both.into_iter().filter_map(|(who, sql)| Some((who, sql.as_deref()?.trim_end()))).collect()
}

fn for_people(report: &EvalReport, width: Option<u16>) -> String {
    let mut out = format!("{}\n", terminal::line(&headline(report)));
    if !report.verdicts.is_empty() {
        out += &table::render(&verdicts(report), width);
    }
    facts(report).iter().for_each(|line| out += &format!("{}\n", terminal::line(line)));
    for (what, grid) in differing_rows(report) {
        out += &format!("\n{what}:\n{}", table::render(&grid, width));
    }
    for (who, sql) in statements(report) {
        out += &format!("\n{who}:\n{}\n", terminal::block(sql));
    }
    out
}

fn in_markdown(report: &EvalReport) -> String {
    let mut parts = vec![format!("**{}**\n", markdown::text(&headline(report)))];
    parts.extend((!report.verdicts.is_empty()).then(|| markdown::table(&verdicts(report))));
    parts.extend(facts(report).iter().map(|line| format!("{}\n", markdown::text(line))));
    for (what, grid) in differing_rows(report) {
        parts.push(format!("{}\n\n{}", markdown::text(what), markdown::table(&grid)));
    }
    for (who, sql) in statements(report) {
        parts.push(format!("{}\n\n{}", markdown::text(who), markdown::code("sql", sql)));
    }
    parts.join("\n")
}
