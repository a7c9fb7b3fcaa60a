//! `build-index`: asks a model once what people call tables and columns, has their texts embedded,
//! and saves that for searches over the same schema.

use std::sync::Arc;

use clap::Args;
use serde_json::json;
use syrch::knowledge::{IndexParts, IndexReport};
use syrch::{Provider, Stop};

use super::{Context, Run, asking};
use crate::config::Given;
use crate::config::flags::Flags;
use crate::console::progress::Watch;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::sink::{Format, Grid, terminal};

/// Budgets of a build that the user sets none for: one call for each table, which is not a search.
const CALLS: u32 = 100_000;
const TOKENS: u64 = 1_000_000_000;

#[derive(Args)]
pub(crate) struct BuildIndexArgs {
    /// Make vectors alone, by the model of --embeddings, and ask no language model for terms; those
    /// of an earlier index stay
    #[arg(long)]
    pub(crate) vectors_only: bool,
    /// Flags of a search: the database, the model, what it may cost.
    #[command(flatten)]
    pub(crate) flags: Flags<true>,
}

impl Run for BuildIndexArgs {
    const ENDS_INTERRUPTS: bool = true;

    fn config_flags(&self) -> Option<Given<'_>> {
        Some(Given::new(&self.flags, &[]))
    }

    async fn run(self, context: Context) -> Outcome {
        run(context, self.vectors_only).await
    }
}

async fn run(mut context: Context, vectors_only: bool) -> Outcome {
    context.needs_database()?;
    if vectors_only && context.config.effective.settings.model.embeddings.is_none() {
        return Err(Failure::usage("--vectors-only without a model for embeddings")
            .hint("name one by --embeddings"));
    }
    let parts = if vectors_only { IndexParts::Vectors } else { IndexParts::All };
    let calls = context.config.is_set("execution.max_calls");
    let tokens = context.config.is_set("execution.token_budget");
    let budgets = &mut context.config.effective.settings.budgets;
    if !calls {
        budgets.llm_calls = CALLS;
    }
    if !tokens {
        budgets.tokens = TOKENS;
    }
    let watch = Arc::new(Watch::new(Arc::clone(&context.console)));
    let interrupt = context.interrupt.clone();
    let stop = Stop::new();
    let host = tokio::select! {
        host = asking::open(&mut context, &watch) => host?,
        () = interrupt.wait() => return Err(Failure::new(Exit::Interrupted, "interrupted")),
    };
    let building = host.build_index(parts, Arc::clone(&watch) as _, &stop);
    let report = tokio::select! {
        report = building => report,
        () = interrupt.wait() => return Err(
            Failure::new(
                Exit::Interrupted, "interrupted: nothing was written; what the cache holds is \
                                    not asked again"
            )
        ),
    };
    context.console.clear();
    let is_offline = context.config.effective.settings.model.provider == Provider::OFFLINE;
    let report = report.map_err(|error| match error {
        syrch::Error::Model { .. } if is_offline => Failure::from(error)
            .hint("name a model by --model, and where it is by --base-url or a key"),
        error => Failure::from(error),
    })?;
    for (table, why) in &report.failed {
        context.console.warn(&format!("table {table} has no terms: {why}"));
    }
    print(&context, &report)?;
    if report.failed.is_empty() {
        return Ok(Exit::Answered);
    }
    Err(Failure::new(Exit::Model, "the index is incomplete")
        .hint("run build-index again: what the cache holds is not asked again"))
}

fn print(context: &Context, report: &IndexReport) -> Outcome<()> {
    let path = report.path.display().to_string();
    let (sent, cached) = report.calls;
    if matches!(context.format, Format::Auto | Format::Table) {
        let IndexReport { tables, named, terms, vectors, .. } = report;
        let vectors = if *vectors == 0 { String::new() } else { format!(", {vectors} vectors") };
        let calls = format!("{sent} model calls, {cached} from the cache");
        let text = format!(
            "{terms} terms for {named} tables and columns of {tables} tables{vectors}; {calls}\n\
             {}\n",
            terminal::line(&path)
        );
        return context.output.write(&context.scrubber.text(&text));
    }
    let mut grid = Grid::new(["path", "tables", "named", "terms", "vectors", "calls", "cached"]);
    let IndexReport { tables, named, terms, vectors, failed, .. } = report;
    grid.rows = vec![vec![
        json!(path),
        json!(tables),
        json!(named),
        json!(terms),
        json!(vectors),
        json!(sent),
        json!(cached),
    ]];
    let failed: Vec<_> =
        failed.iter().map(|(table, why)| json!({"table": table, "reason": why})).collect();
    let document = json!({
        "schema": "syrch.index/1", "path": path, "tables": tables, "named": named, "terms": terms,
        "vectors": vectors,
        "cost": {"calls": sent, "cached": cached}, "failed": failed,
    });
    context.rows(grid, || document)
}
