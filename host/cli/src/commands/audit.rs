//! `audit`: the log of what plugins that are not built in used of their grants, and what was denied
//! to them.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use clap::{Args, Subcommand};
use syrch::audit::{AuditReader, Entry, Kind};

use super::{Context, Run};
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};

/// The time between two looks at a log that is followed.
const PAUSE: Duration = Duration::from_millis(200);
/// Names of plugins in a warning, at most.
const NAMES: usize = 10;

/// The commands of `audit`.
#[derive(Subcommand)]
pub(crate) enum AuditCommand {
    /// Print the last entries of the log, a JSON line each
    #[command(after_help = Exit::help())]
    Tail(TailArgs),
}

#[derive(Args)]
pub(crate) struct TailArgs {
    /// Go on with what is written from now on, until Ctrl-C
    #[arg(long)]
    follow: bool,
    /// Only entries of the plugin of this name, or whose digest begins so
    #[arg(long, value_name = "NAME")]
    plugin: Option<String>,
    /// Only entries of this kind: used, denied, limit, ended
    #[arg(long, value_name = "KIND", value_parser = |text: &str| text.parse::<Kind>())]
    kind: Option<Kind>,
    /// The number of entries that are printed at most before new ones
    #[arg(long, value_name = "N", default_value_t = 100)]
    lines: usize,
}

impl TailArgs {
    /// Returns whether an entry is one of the plugin that is named.
    fn names(&self, entry: &Entry) -> bool {
        self.plugin.as_ref().is_none_or(|name| {
            entry.plugin == *name || (name.len() >= 8 && entry.digest.starts_with(name))
        })
    }

    fn wants(&self, entry: &Entry) -> bool {
        self.names(entry) && self.kind.is_none_or(|kind| entry.kind == kind)
    }
}

/// The warning of a log without an entry of the plugin that is named.
fn nothing_of(arguments: &TailArgs, path: &Path, entries: &[Entry]) -> String {
    let path = path.display();
    let known: BTreeSet<&str> = entries.iter().map(|entry| entry.plugin.as_str()).collect();
    let known: Vec<&str> = known.into_iter().take(NAMES).collect();
    match &arguments.plugin {
        Some(name) if !known.is_empty() => {
            format!("`{path}` has no entry of `{name}`; it has those of {}", known.join(", "))
        }
        _ => format!("`{path}` has no entry yet"),
    }
}

impl Run for AuditCommand {
    async fn run(self, context: Context) -> Outcome {
        let Self::Tail(arguments) = self;
        let audit = &context.config.effective.settings.audit;
        let path = audit.path().ok_or_else(|| {
            Failure::config("there is no folder for the audit log")
                .hint("set SYRCH_STATE_DIR to a folder of yours")
        })?;
        let mut reader = AuditReader::new(path);
        let mut output = context.output.stream()?;
        let mut wrong = 0;
        let mut skips = true;
        loop {
            let read = reader.read().map_err(|error| {
                let message = format!("the audit log `{}`: {error}", path.display());
                Failure::new(Exit::Unexpected, message)
            });
            let mut entries = read?;
            if skips && !entries.iter().any(|entry| arguments.names(entry)) {
                context.console.warn(&nothing_of(&arguments, path, &entries));
            }
            entries.retain(|entry| arguments.wants(entry));
            // Of what was there before, the last ones alone.
            let first = match std::mem::take(&mut skips) {
                true => entries.len().saturating_sub(arguments.lines),
                false => 0,
            };
            for entry in &entries[first..] {
                output.write(&context.scrubber.text(&format!("{}\n", entry.to_line())))?;
            }
            if reader.unreadable_lines() > wrong {
                wrong = reader.unreadable_lines();
                context.console.warn(&format!(
                    "{wrong} lines of `{}` are no entries and were left out",
                    path.display()
                ));
            }
            if !arguments.follow || output.is_closed() {
                output.finish()?;
                return Ok(Exit::Answered);
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}
