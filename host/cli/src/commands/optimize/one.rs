//! `optimize SQL|FILE|-`: one statement, whose fastest verified form is printed alone.

use std::path::PathBuf;
use std::sync::Arc;

use syrch::optimize::Settings;
use syrch::syrch_core::ports::BenchLimits;
use syrch::{Host, SearchReport};

use super::args::LoopArgs;
use super::opened::{self, Opened};
use super::report::{self, Document, Report, words};
use super::statement::{self, Named};
use crate::commands::{Context, dry_run};
use crate::console::progress::Watch;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::sink::{Format, table};

/// Changed copies of the database for one statement.
const COPIES: u32 = 6;

pub(super) async fn run(mut context: Context, word: Option<String>, flags: LoopArgs) -> Outcome {
    let word = word.ok_or_else(|| {
        Failure::usage("no statement").hint(
            "give one, the file of one, or `-`, as in `syrch-host optimize --db shop.sqlite slow.sql`; `syrch-host optimize --help` shows more",
        )
    })?;
    context.needs_database()?;
    let inputs: Vec<(&str, PathBuf)> = statement::file(&word).map(|path| ("the statement", path)).into_iter().collect();
    flags.report.iter().try_for_each(|file| file.spares(&inputs))?;
    let statement = statement::read(&word)?;
    let opened = opened::open(&mut context, &flags, COPIES).await?;
    opened.check_quiescent(&flags).await?;
    if flags.dry_run {
        let previews = opened.preview(&context, &statement.sql).await?;
        return dry_run::show(&context, &previews);
    }
    let document = optimize(&context, &opened, &statement).await?;
    print(&context, &document, &flags)
}

/// Optimizes a statement, and shows the progress.
async fn optimize(context: &Context, opened: &Opened, statement: &Named) -> Outcome<Document> {
    let optimized = opened.optimize(context, statement).await?;
    let mut document = Document::new(opened.about(Some(optimized.run), statement), &optimized.report);
    document.warnings.extend(optimized.warnings);
    document.cost = Some(optimized.cost);
    Ok(document)
}

/// Looks for a faster form of an answer's statement, with the settings by which `optimize` works on one.
pub(crate) async fn of_answer(context: &Context, host: &Host, report: &SearchReport) -> Outcome<()> {
    let Some(sql) = &report.document.sql else { return Ok(()) };
    let watch = Arc::new(Watch::new(Arc::clone(&context.console)));
    let host = host.clone().with_rewriter(watch.as_ref()).await?;
    let settings = Settings { copies: COPIES, early_stop: 0, ..Settings::default() };
    let opened = Opened::new(context, host, watch, settings, None, BenchLimits::default(), false);
    let statement = Named { name: report.document.question.clone(), description: String::new(), sql: sql.clone() };
    let document = optimize(context, &opened, &statement).await?;
    if document.is_optimized() {
        context.console.note(&format!("a faster form of the statement, verified:\n{}", document.statement()));
    }
    explain(context, &document);
    Ok(())
}

/// Prints the statement, and what was found. Returns the exit code.
fn print(context: &Context, document: &Document, flags: &LoopArgs) -> Outcome {
    let report = Report::Statement(Box::new(document.clone())).scrubbed(&context.scrubber)?;
    let Report::Statement(document) = &report else {
        return Err(Failure::new(Exit::Unexpected, "the report is none of a statement"));
    };
    match context.format {
        Format::Json => context.document(report.value()?)?,
        Format::Markdown => context.output.write(&report.markdown())?,
        _ => context.output.write(&format!("{}\n", document.statement().trim_end()))?,
    }
    explain(context, document);
    flags.report.iter().try_for_each(|file| file.write(&report))?;
    let is_cut = context.interrupt.is_pressed();
    Ok(if is_cut { Exit::Interrupted } else { exit(document) })
}

/// Writes the proposals and what was found to standard error.
fn explain(context: &Context, document: &Document) {
    for warning in &document.warnings {
        context.console.warn(warning);
    }
    if !document.iterations.is_empty() {
        let drawn = table::render(&report::iterations_grid(document), context.output.width());
        context.console.note(drawn.trim_end());
    }
    if let Some(cost) = document.cost.as_ref().filter(|cost| cost.calls > 0) {
        let money = cost.usd.map_or_else(|| "cost unknown".to_owned(), |usd| format!("${usd:.4}"));
        let calls = words::counted(u64::from(cost.calls), "model call");
        context.console.note(&format!("{calls}, {} + {} tokens, {money}", cost.input_tokens, cost.output_tokens));
    }
    if exit(document) == Exit::Answered {
        context.console.note(&words::verdict(document));
    } else {
        context
            .console
            .error(&Failure { hint: hint(document), ..Failure::new(exit(document), words::verdict(document)) });
    }
}

/// The exit code of an outcome: a statement that is refused is denied by policy, and where nothing was verified there is no acceptable answer.
fn exit(document: &Document) -> Exit {
    match document.outcome.as_str() {
        "OPTIMIZED" | "UNCHANGED" => Exit::Answered,
        "UNSUPPORTED_SAFETY" => Exit::Denied,
        "ERROR" => Exit::Database,
        _ => Exit::NoAnswer,
    }
}

/// What to do about an outcome.
fn hint(document: &Document) -> Option<String> {
    let hint = match document.outcome.as_str() {
        "UNSUPPORTED_SAFETY" => {
            "docs/optimize.md has the rules; `syrch-host optimize check` shows them for many statements"
        }
        "UNSUPPORTED_TOO_LARGE" => "10,000 rows and 10 MB are compared at most: narrow the statement by WHERE",
        "NO_VALID_CANDIDATE" | "NO_VERIFIED_CANDIDATE" => {
            "--report FILE.html shows every proposal with its reason; try another --rewriter"
        }
        "VERIFICATION_FAILED" | "VERIFICATION_TIE" => {
            "the statement is as it was; --report FILE.html shows every proposal"
        }
        _ => return None,
    };
    Some(hint.to_owned())
}
