//! `suite linking`: what a strategy's linker shows of what the expected statements of a suite need.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use serde_json::json;
use syrch::databases::suite_databases;
use syrch_grading::{
    LinkingObserver, LinkingReport, MissedInLinking, ShownShare, linking, read_suite,
};

use super::graded::{DATABASE, databases, databases_flag};
use super::{Context, asking};
use crate::config::flags::Flags;
use crate::config::parameter::Parameter;
use crate::console::Console;
use crate::console::progress::Watch;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::sink::{Format, Grid, table, terminal};

/// The questions that are listed for people; a document has all.
const LISTED: usize = 20;

#[derive(Args)]
#[command(mut_arg(DATABASE, databases))]
pub(crate) struct LinkingArgs {
    /// The suite: JSON lines, a JSON array (also BIRD's and Spider's), or CSV
    #[arg(value_name = "SUITE")]
    pub(crate) suite: PathBuf,
    /// A plugin's own setting; VALUE is JSON or text. KEY alone will do when one plugin knows it;
    /// settings.NAME is for all plugins
    #[arg(short = 'P', long = "param", value_name = "ROLE.KEY=VALUE")]
    pub(crate) parameters: Vec<Parameter>,
    /// The options of a search.
    #[command(flatten)]
    pub(crate) flags: Flags<true>,
}

/// Links the questions and prints what was shown of what they need.
pub(super) async fn run(mut context: Context, arguments: LinkingArgs) -> Outcome {
    let suite = read_suite(&arguments.suite).await?;
    let databases = suite_databases(&suite, databases_flag(&context).as_ref())?;
    let watch = Arc::new(Watch::new(Arc::clone(&context.console)));
    asking::prepare(&mut context, &watch).await?;
    let settings = context.config.effective.settings.clone();
    let progress = Progress(Arc::clone(&context.console));
    let report =
        linking(&suite, &databases, settings.clone(), &(Arc::clone(&watch) as _), &progress).await;
    context.console.clear();
    let report = match report {
        Ok(report) => report,
        Err(error) => return Err(asking::explain_error(error, &settings, &context, &watch).await),
    };
    check_read(&report)?;
    show(&context, &report)?;
    context.console.note(&summary(&report));
    Ok(Exit::Answered)
}

/// Refuses a report in which no question counts.
fn check_read(report: &LinkingReport) -> Outcome<()> {
    let unread = report.unread.first().filter(|_| report.questions == 0);
    let Some(first) = unread else { return Ok(()) };
    let reason = report.reason.as_deref().unwrap_or_default();
    let message = format!(
        "no question of the suite counts: the guard passes none of their expected statements; that \
         of `{first}`: {reason}"
    );
    Err(Failure::new(Exit::Config, message)
        .hint("`syrch-host suite lint` checks each of them; --db names the databases"))
}

struct Progress(Arc<Console>);

impl LinkingObserver for Progress {
    fn on_question_linked(&self, done: u64, of: u64) {
        self.0.progress(&format!("{done}/{of} questions"));
    }
}

fn show(context: &Context, report: &LinkingReport) -> Outcome<()> {
    let mut grid =
        Grid::new(["what", "needed", "shown", "both", "recall", "precision", "questions with all"]);
    let share = |name: &str, share: &ShownShare| {
        let rounded = |share: Option<f64>| json!(share.map(|share| (share * 1e4).round() / 1e4));
        let recall = rounded(share.recall);
        let precision = rounded(share.precision);
        vec![
            json!(name),
            json!(share.needed),
            json!(share.shown),
            json!(share.both),
            recall,
            precision,
            json!(share.whole),
        ]
    };
    grid.rows.push(share("tables", &report.tables));
    grid.rows.push(share("columns", &report.columns));
    grid.rows.push(share("literals", &report.literals));
    if matches!(context.format, Format::Auto | Format::Table) {
        let figures = table::render(&grid, context.output.width());
        let listed: String = report.missed.iter().take(LISTED).map(line).collect();
        let more = report.missed.len().saturating_sub(LISTED);
        let rest = if more > 0 {
            format!("and {more} more; --format json lists all\n")
        } else {
            String::new()
        };
        let missed =
            if listed.is_empty() { String::new() } else { format!("\nnot shown:\n{listed}{rest}") };
        return context.output.write(&context.scrubber.text(&format!("{figures}{missed}")));
    }
    let mut document = serde_json::to_value(report).map_err(Failure::unwritable_document)?;
    context.scrubber.value(&mut document);
    context.rows(grid, || document)
}

/// A question with what it is not shown.
fn line(missed: &MissedInLinking) -> String {
    let literals = missed.literals.iter().map(|text| format!("'{text}'"));
    let parts: Vec<String> =
        missed.tables.iter().chain(&missed.columns).cloned().chain(literals).collect();
    format!(
        "{}\n",
        terminal::line(&format!("{}: {} ({})", missed.id, parts.join(", "), missed.question))
    )
}

/// The number of questions and the length of their prompts, on one line.
fn summary(report: &LinkingReport) -> String {
    let questions = syrch::syrch_core::text::count(report.questions, "question");
    let prompt = match report.prompt {
        Some(prompt) => {
            format!(
                "the first prompt has {} characters in the median, {} at most",
                prompt.median, prompt.longest
            )
        }
        None => "no prompt is sent, since no model is asked".to_owned(),
    };
    let unread = match report.unread.len() {
        0 => String::new(),
        unread => format!(
            "; {unread} left out, whose expected statements the guard does not pass (`suite lint`)"
        ),
    };
    format!("{questions} under `{}`: {prompt}{unread}", report.strategy)
}
