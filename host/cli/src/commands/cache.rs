//! `cache`: shows and clears the cache of model replies, of results and of files that were read,
//! also where searches do not use it now.

use std::io;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use clap::Subcommand;
use serde_json::{Map, Value, json};
use syrch::cache::{Cache, CacheError, Kind, Place, Size, Stats, open_cache};
use syrch::imports::{Stored, clear, store_size};
use syrch_report::words::size;

use super::Context;
use super::Run;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::sink::{Format, Grid, terminal};

/// The commands of `cache`.
#[derive(Subcommand)]
pub(crate) enum CacheCommand {
    /// Show how many answers are cached, and how large they are
    #[command(after_help = Exit::help())]
    Stats,
    /// Delete cached answers
    #[command(after_help = Exit::help())]
    Clear {
        /// Only replies of models (llm), results of statements (sql), or databases that files of
        /// rows were read into (files)
        #[arg(value_name = "llm|sql|files")]
        kind: Option<What>,
    },
}

/// The part of the cache that a command concerns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    /// Answers of that kind.
    Answers(Kind),
    /// Databases that files of rows were read into.
    Files,
}

/// The name of [`What::Files`].
const FILES: &str = "files";

impl FromStr for What {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            FILES => Ok(Self::Files),
            name => name
                .parse()
                .map(Self::Answers)
                .map_err(|_| format!("`{name}` is not one of llm, sql, {FILES}")),
        }
    }
}

impl Run for CacheCommand {
    async fn run(self, context: Context) -> Outcome {
        let cache = open(&context)?;
        let done = match self {
            CacheCommand::Stats => cache.stats().await.map(Done::Stats),
            CacheCommand::Clear { kind: Some(What::Files) } => Ok(Done::Cleared(Size::default())),
            CacheCommand::Clear { kind: Some(What::Answers(kind)) } => {
                cache.clear(Some(kind)).await.map(Done::Cleared)
            }
            CacheCommand::Clear { kind: None } => cache.clear(None).await.map(Done::Cleared),
        };
        for warning in cache.take_warnings() {
            context.console.warn(&warning);
        }
        let is_for_files = matches!(self, CacheCommand::Clear { kind: None | Some(What::Files) });
        match done.map_err(|error| failure(&error, cache.place()))? {
            Done::Stats(stats) => show(&context, &stats, measure_files(&context, store_size)?)?,
            Done::Cleared(Size { entries, bytes }) => {
                let files =
                    if is_for_files { measure_files(&context, clear)? } else { Size::default() };
                show_cleared(
                    &context,
                    Size { entries: entries + files.entries, bytes: bytes + files.bytes },
                )?;
            }
        }
        Ok(Exit::Answered)
    }
}

/// The size of the databases that files of rows were read into, by what looks at their folder.
fn measure_files(context: &Context, measure: fn(&Path) -> io::Result<Stored>) -> Outcome<Size> {
    let Some(folder) = &context.config.tables else { return Ok(Size::default()) };
    let Stored { count, bytes } = measure(folder).map_err(|error| {
        Failure::new(
            Exit::Unexpected,
            format!("the folder `{}` cannot be read: {error}", folder.display()),
        )
        .hint("make it a folder of yours alone, or set SYRCH_CACHE_DIR to another")
    })?;
    Ok(Size { entries: count as u64, bytes })
}

enum Done {
    Stats(Stats),
    Cleared(Size),
}

fn open(context: &Context) -> Outcome<Arc<Cache>> {
    let mut settings = context.config.effective.settings.clone();
    settings.cache.folder.clone_from(&context.config.answers);
    settings.cache.shared.clone_from(&context.config.effective.shared_cache);
    open_cache(&settings).ok_or_else(|| {
        Failure::config("there is no folder for answers")
            .hint("set SYRCH_CACHE_DIR to a folder of yours")
    })
}

fn failure(error: &CacheError, place: &Place) -> Failure {
    let hint = match error {
        CacheError::Folder { .. } => {
            format!("make `{place}` a folder of yours alone, or set SYRCH_CACHE_DIR to another")
        }
        CacheError::Locked { .. } => "try again when the other process is done".to_owned(),
        CacheError::Full { .. } => "free space on the disk".to_owned(),
        CacheError::Damaged { .. } | CacheError::Unavailable { .. } => match place {
            Place::Redis(_) => "searches go on without it; start the server".to_owned(),
            Place::Local(_) | Place::Shared(_) => {
                format!("searches go on without it; delete `{place}` for a new one")
            }
        },
    };
    Failure::new(Exit::Unexpected, error.to_string()).hint(hint)
}

/// The entries by kind, those without any too.
fn entries_by_kind(stats: &Stats, files: Size) -> impl Iterator<Item = (&'static str, Size)> {
    let all =
        Size { entries: stats.all.entries + files.entries, bytes: stats.all.bytes + files.bytes };
    Kind::ALL
        .map(|kind: Kind| (kind.name(), stats.kinds.get(&kind).copied().unwrap_or_default()))
        .into_iter()
        .chain([(FILES, files), ("all", all)])
}

fn show(context: &Context, stats: &Stats, files: Size) -> Outcome<()> {
    if matches!(context.format, Format::Auto | Format::Table) {
        let path = stats.path.display().to_string();
        let head = format!("{}: {} on disk\n", terminal::line(&path), size(stats.file_bytes));
        let text: String = std::iter::once(head)
            .chain(
                entries_by_kind(stats, files)
                    .map(|(name, held): (&str, Size)| format!("{name:<5} {}\n", amount(held))),
            )
            .collect();
        return context.output.write(&context.scrubber.text(&text));
    }
    let mut grid = Grid::new(["kind", "entries", "bytes"]);
    grid.rows = entries_by_kind(stats, files)
        .map(|(name, held)| vec![json!(name), json!(held.entries), json!(held.bytes)])
        .collect();
    context.rows(grid, || document(stats, files))
}

/// The statistics as the document `syrch.cache/1`.
fn document(stats: &Stats, files: Size) -> Value {
    json!({
        "schema": "syrch.cache/1",
        "path": stats.path.to_string_lossy(),
        "file_bytes": stats.file_bytes,
        "kept": entries_by_kind(stats, files).map(|(name, held): (&str, Size)| {
        (name.to_owned(), json!({"entries": held.entries, "bytes": held.bytes}))
    }).collect::<Map<_, _>>(),
    })
}

fn show_cleared(context: &Context, cleared: Size) -> Outcome<()> {
    if matches!(context.format, Format::Auto | Format::Table) {
        return context.output.write(&format!("cleared {}\n", amount(cleared)));
    }
    let mut grid = Grid::new(["entries", "bytes"]);
    grid.rows = vec![vec![json!(cleared.entries), json!(cleared.bytes)]];
    let document = json!({
        "schema": "syrch.cache-cleared/1", "entries": cleared.entries, "bytes": cleared.bytes
    });
    context.rows(grid, || document)
}

fn amount(held: Size) -> String {
    let plural = if held.entries == 1 { "entry" } else { "entries" };
    format!("{} {plural}, {}", held.entries, size(held.bytes))
}
