//! One file per command; each gets the shared context and ends with an exit code or a failure.

pub(crate) mod answer;
pub(crate) mod batch;
pub(crate) mod benchmark;
pub(crate) mod build_index;
pub(crate) mod cache;
pub(crate) mod calibrate;
pub(crate) mod compare;
pub(crate) mod compile_component;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod doctor;
mod dry_run;
pub(crate) mod eval;
pub(crate) mod graded;
pub(crate) mod grid;
mod lines;
pub(crate) mod plugin;
pub(crate) mod repl;
pub(crate) mod report;
pub(crate) mod resume;
pub(crate) mod schema;
pub(crate) mod search;
pub(crate) mod sql;
pub(crate) mod statements;
pub(crate) mod strategy;
pub(crate) mod suite;
pub(crate) mod suite_fuzz;
pub(crate) mod trace;

use std::sync::Arc;

use serde_json::Value;

use crate::config::Config;
use crate::console::Console;
use crate::console::interrupt::Interrupt;
use crate::environment::Environment;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::scrub::Scrubber;
use crate::sink::{Format, Grid, json};

/// What every command is given.
pub(crate) struct Context {
    pub(crate) config: Config,
    pub(crate) environment: Environment,
    pub(crate) console: Arc<Console>,
    pub(crate) interrupt: Interrupt,
    pub(crate) scrubber: Scrubber,
    pub(crate) format: Format,
    pub(crate) output: Output,
    /// Whether a terminal shows all rows of an answer.
    pub(crate) all_rows: bool,
}

impl Context {
    /// Writes a document as JSON.
    pub(crate) fn document(&self, mut document: Value) -> Outcome<()> {
        self.scrubber.value(&mut document);
        self.output.write(&json::document(&document))
    }

    /// Writes rows in the chosen format; for JSON the document.
    pub(crate) fn rows(&self, mut grid: Grid, document: impl FnOnce() -> Value) -> Outcome<()> {
        grid.scrub(&self.scrubber);
        match grid.render(self.format, self.output.width()) {
            Some(text) => self.output.write(&text),
            None => self.document(document()),
        }
    }

    /// Fails when there is no database to work on.
    pub(crate) fn needs_database(&self) -> Outcome<()> {
        if self.config.effective.settings.database.is_empty() {
            return Err(Failure::usage("no database")
                .hint("name one by `--db shop.sqlite`, SYRCH_DB or `execution: {db_path: …}` in ~/.syrch/config.yml"));
        }
        Ok(())
    }
}
