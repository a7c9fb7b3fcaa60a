//! `optimize SQL|FILE|-` and `optimize --resume RUN`: one statement, whose fastest verified form is
//! printed alone.

use std::path::PathBuf;
use std::sync::Arc;

use syrch::journal::{Folder, Journal};
use syrch::syrch_core::ports::BenchLimits;
use syrch::{Host, SearchReport};
use syrch_optimizing::{self as optimizer, Optimized, Optimizes, Outcome as Ending, Settings};
use syrch_report::words::count_grouped;

use super::args::LoopArgs;
use super::opened::{self, Opened};
use super::report::{self, Report, words};
use super::statement::{self, Named};
use crate::commands::report_file::ReportFile;
use crate::commands::{Context, dry_run, resume};
use crate::console::progress::Watch;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::sink::{Format, table};

/// Changed copies of the database for one statement.
const COPIES: u32 = 6;

pub(super) async fn run(mut context: Context, word: Option<String>, flags: LoopArgs) -> Outcome {
    let word = word.ok_or_else(|| {
        Failure::usage("no statement").hint(
            "give one, the file of one, or `-`, as in `syrch-host optimize --db shop.sqlite \
             slow.sql`; `syrch-host optimize --help` shows more",
        )
    })?;
    context.needs_database()?;
    let inputs: Vec<(&str, PathBuf)> =
        statement::file(&word).map(|path| ("the statement", path)).into_iter().collect();
    flags.report.iter().try_for_each(|file| file.refuse_to_replace(&inputs))?;
    let statement = statement::read(&word)?;
    let opened = opened::open(&mut context, &flags, COPIES).await?;
    opened.check_quiescent(&flags).await?;
    if flags.dry_run {
        let previews = opened.preview(&context, &statement.sql).await?;
        return dry_run::show(&context, &previews);
    }
    let document = opened.optimize(&context, &statement).await?;
    print(&context, &statement.name, document, &flags.report)
}

/// Continues a run that was killed. Its journal has the statement and the settings of the loop; it
/// holds no address, so that the database and the model are given anew, and are refused where they
/// are others.
pub(super) async fn resume(mut context: Context, run: &str, flags: LoopArgs) -> Outcome {
    context.needs_database()?;
    flags.report.iter().try_for_each(|file| file.refuse_to_replace(&[]))?;
    let journals = Folder::new(resume::folder(&context.config)?);
    let journal = journals.find(run).map_err(syrch::Error::from)?.path;
    let opened = opened::open(&mut context, &flags, COPIES).await?;
    opened.check_quiescent(&flags).await?;
    let document = opened.resume(&context, &journal).await?;
    let name = Named::from_text(&document.report.given).name;
    print(&context, &name, document, &flags.report)
}

/// Looks for a faster form of an answer's statement, with the settings by which `optimize` works on
/// one.
pub(crate) async fn optimize_answer(
    context: &Context,
    host: &Host,
    report: &SearchReport,
) -> Outcome<()> {
    let Some(sql) = &report.document.sql else { return Ok(()) };
    let watch = Arc::new(Watch::new(Arc::clone(&context.console)));
    let host = host.clone().with_rewriter(watch.as_ref()).await?;
    let settings = Settings { copies: COPIES, ..Settings::default() };
    let opened = Opened::new(context, host, watch, settings, None, BenchLimits::default(), false);
    let statement = Named {
        name: report.document.question.clone(),
        description: String::new(),
        sql: sql.clone(),
    };
    let document = opened.optimize(context, &statement).await?;
    let report = &document.report;
    if report.is_optimized() {
        let what = if report.is_confirmed() { "a faster form" } else { "an equal form" };
        context.console.note(&format!("{what} of the statement, verified:\n{}", report.best));
    }
    explain(context, &document, exit(context, report));
    Ok(())
}

/// Repeats a run from its journal, and prints it as it printed itself.
pub(crate) async fn replay(
    context: &Context,
    host: &Host,
    watch: Arc<Watch>,
    journal: Journal,
) -> Outcome {
    let document = host.optimize("").observer(watch).replay(journal).await;
    context.console.clear();
    let document = document?;
    let name = Named::from_text(&document.report.given).name;
    print(context, &name, document, &[])
}

/// Prints the statement, and what was found. Returns the exit code.
fn print(context: &Context, name: &str, document: Optimized, files: &[ReportFile]) -> Outcome {
    let report = Report::Statement(name.to_owned(), Box::new(document)).scrub(&context.scrubber)?;
    let Report::Statement(_, document) = &report else {
        return Err(Failure::new(Exit::Unexpected, "the report is none of a statement"));
    };
    match context.format {
        Format::Json => context.document(report.value()?)?,
        Format::Markdown => context.output.write(&report.markdown())?,
        _ => context.output.write(&format!("{}\n", document.report.best.trim_end()))?,
    }
    let exit = exit(context, &document.report);
    explain(context, document, exit);
    files.iter().try_for_each(|file| report::write(file, &report))?;
    Ok(exit)
}

/// Writes the proposals and what was found to standard error.
fn explain(context: &Context, document: &Optimized, exit: Exit) {
    for warning in &document.warnings {
        context.console.warn(warning);
    }
    let report = &document.report;
    if !report.iterations.is_empty() {
        let drawn = table::render(&report::iterations_grid(document), context.output.width());
        context.console.note(drawn.trim_end());
    }
    if let Some(cost) = Some(&document.cost).filter(|cost| cost.calls > 0) {
        let money = cost.usd.map_or_else(|| "cost unknown".to_owned(), |usd| format!("${usd:.4}"));
        let calls = count_grouped(u64::from(cost.calls), "model call");
        context.console.note(&format!(
            "{calls}, {} + {} tokens, {money}",
            cost.input_tokens, cost.output_tokens
        ));
    }
    let verdict = words::verdict(report);
    if exit == Exit::Answered || (exit == Exit::Interrupted && report.is_optimized()) {
        context.console.note(&verdict);
    } else {
        context
            .console
            .error(&Failure { hint: hint(report.outcome), ..Failure::new(exit, verdict) });
    }
}

/// The exit code of an outcome. A script may rely on 0: the statement is equal, and either
/// confirmed to be faster or the one that was given.
fn exit(context: &Context, report: &optimizer::Report) -> Exit {
    if context.interrupt.is_pressed() {
        return Exit::Interrupted;
    }
    match report.outcome {
        Ending::Optimized if report.is_confirmed() => Exit::Answered,
        // What ends it early besides Ctrl-C is the deadline.
        _ if report.interrupted.is_some() => Exit::Budget,
        Ending::Unchanged => Exit::Answered,
        Ending::UnsupportedSafety => Exit::Denied,
        Ending::Error => Exit::Database,
        Ending::Optimized
        | Ending::UnsupportedTypes
        | Ending::UnsupportedTooLarge
        | Ending::UnsupportedPrompt
        | Ending::NoValidCandidate
        | Ending::NoVerifiedCandidate
        | Ending::VerificationFailed
        | Ending::VerificationTie => Exit::NoAnswer,
    }
}

/// Returns advice on an outcome.
fn hint(outcome: Ending) -> Option<String> {
    let hint = match outcome {
        Ending::Optimized => {
            "the statement has the same rows, and its speed-up may be chance: measure again on a \
             machine with less to do, or with more --pairs"
        }
        Ending::UnsupportedSafety => {
            "docs/optimize.md has the rules; `syrch-host optimize check` shows them for \
             many statements"
        }
        Ending::UnsupportedTooLarge => {
            "narrow the statement by WHERE, or let --max-rows and --max-bytes allow more"
        }
        Ending::UnsupportedPrompt => "--rewriter rules asks no model",
        Ending::NoValidCandidate | Ending::NoVerifiedCandidate => {
            "--report FILE.html shows every proposal with its reason; try another --rewriter"
        }
        Ending::VerificationFailed | Ending::VerificationTie => {
            "the statement is as it was; --report FILE.html shows every proposal"
        }
        _ => return None,
    };
    Some(hint.to_owned())
}
