//! `trace prune`: removes old journals.

use std::time::Duration;

use clap::Args;
use serde_json::json;
use syrch::journal::Entry;
use syrch_report::words::{count, size};

use super::super::Context;
use crate::exit::Exit;
use crate::failure::Outcome;
use crate::sink::{Format, Grid};

const DAY: Duration = Duration::from_secs(86_400);

#[derive(Args)]
pub(crate) struct PruneArgs {
    /// Retain this many of the latest
    #[arg(long, value_name = "N")]
    pub(crate) keep: Option<usize>,
    /// Remove those that are older
    #[arg(long, value_name = "DAYS")]
    pub(crate) older: Option<u32>,
    /// Remove the oldest, until the others have at most so many bytes together
    #[arg(long, value_name = "N")]
    pub(crate) max_bytes: Option<u64>,
    /// Only show which would be removed
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Removes the journals over the bounds, and prints them.
pub(super) fn run(context: &Context, arguments: &PruneArgs) -> Outcome {
    let bounds = &context.config.effective.settings.journal;
    let keep = arguments.keep.unwrap_or(bounds.keep);
    let age = arguments.older.map_or(bounds.age, |days| DAY * days);
    let bytes = arguments.max_bytes.unwrap_or(bounds.bytes);
    let folder = super::folder(context)?;
    let removed = if arguments.dry_run {
        folder.over(keep, age, bytes)
    } else {
        folder.prune(keep, age, bytes)
    };
    let removed = removed.map_err(syrch::Error::from)?;
    let is_for_people = matches!(context.format, Format::Auto | Format::Table | Format::Markdown);
    let mut grid = Grid::new(["run", "bytes"]);
    let shown =
        |entry: &Entry| if is_for_people { json!(size(entry.bytes)) } else { json!(entry.bytes) };
    grid.rows = removed.iter().map(|entry| vec![json!(entry.run), shown(entry)]).collect();
    let sum: u64 = removed.iter().map(|entry| entry.bytes).sum();
    if !removed.is_empty() || !is_for_people {
        context.rows(grid, || {
            let runs: Vec<_> = removed
                .iter()
                .map(|entry| json!({"run": entry.run, "bytes": entry.bytes}))
                .collect();
            json!({
                "schema": "syrch.pruned/1", "dry_run": arguments.dry_run, "bytes": sum, "runs": runs
            })
        })?;
    }
    let verb = if arguments.dry_run { "would be removed" } else { "removed" };
    let runs = count(removed.len(), "journal");
    context.console.note(&format!("{runs} of {} {verb}", size(sum)));
    Ok(Exit::Answered)
}
