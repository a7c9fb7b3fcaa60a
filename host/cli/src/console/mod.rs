//! Standard error: progress, notes, warnings and errors. Everything written here is scrubbed and escaped.

pub(crate) mod interrupt;
pub(crate) mod logging;
pub(crate) mod progress;
pub(crate) mod prompt;

use std::io::{IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressStyle};

use crate::failure::Failure;
use crate::scrub::Scrubber;
use crate::sink::terminal;

/// When to colour what goes to standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless `NO_COLOR` is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl Color {
    /// Makes it hold for the whole program.
    pub(crate) fn apply(self) {
        match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        }
        .write_global();
    }
}

const RED: &str = "\u{1b}[1;31m";
const YELLOW: &str = "\u{1b}[1;33m";
const CYAN: &str = "\u{1b}[1;36m";
const DIM: &str = "\u{1b}[2m";
const RESET: &str = "\u{1b}[0m";

/// Standard error, shared by everything that speaks to the user.
pub(crate) struct Console {
    quiet: bool,
    scrubber: Scrubber,
    /// Whether the line of progress may be drawn.
    draws: bool,
    bar: Mutex<Option<ProgressBar>>,
    /// What was warned of, without who said it.
    warned: Mutex<Vec<String>>,
}

impl Console {
    /// One that writes notes unless `quiet`, and draws progress where the terminal can.
    pub(crate) fn new(quiet: bool, dumb: bool, scrubber: Scrubber) -> Self {
        let draws = !quiet && !dumb && std::io::stderr().is_terminal();
        Self { quiet, scrubber, draws, bar: Mutex::new(None), warned: Mutex::default() }
    }

    fn bar(&self) -> MutexGuard<'_, Option<ProgressBar>> {
        self.bar.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Standard error may be closed; there is nobody left to tell then.
    fn write(&self, style: &str, label: &str, text: &str) {
        let clean = self.scrubber.text(text);
        let text = terminal::block(&clean);
        let reset = if style.is_empty() { "" } else { RESET };
        let separator = if label.is_empty() { "" } else { ": " };
        let line = if label.is_empty() {
            format!("{style}{text}{reset}\n")
        } else {
            format!("{style}{label}{reset}{separator}{}\n", text.replace('\n', "\n  "))
        };
        let write = || drop(anstream::stderr().write_all(line.as_bytes()));
        match self.bar().as_ref() {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }

    /// An error with its hint; also when quiet.
    pub(crate) fn error(&self, failure: &Failure) {
        self.write(RED, "error", &failure.message);
        if let Some(hint) = &failure.hint {
            self.write(CYAN, "hint", hint);
        }
    }

    /// Something that the user should know. Why a task failed is said once, although its plugin says it first; nothing else that a
    /// plugin says can keep a warning back.
    pub(crate) fn warn(&self, text: &str) {
        if self.quiet {
            return;
        }
        let mut warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
        let failed = text.strip_prefix("task ").and_then(|rest| rest.split_once(" failed: "));
        if failed.is_some_and(|(_, why)| warned.iter().any(|earlier| earlier == why)) {
            return;
        }
        warned.extend(text.split_once(": ").map(|(_, what)| what.to_owned()));
        drop(warned);
        self.write(YELLOW, "warning", text);
    }

    /// Something that the user may like to know.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            self.write(DIM, "", text);
        }
    }

    /// A line of the log; verbosity was decided before.
    pub(crate) fn log(&self, line: &str) {
        self.write("", "", line.trim_end_matches('\n'));
    }

    /// A question to the user; also when quiet, since somebody has to answer it.
    pub(crate) fn ask(&self, text: &str) {
        self.write("", "", text);
    }

    /// Shows what is going on, in one line that is redrawn.
    pub(crate) fn progress(&self, text: &str) {
        if !self.draws {
            return;
        }
        let clean = self.scrubber.text(text);
        let text = terminal::line(&clean).into_owned();
        let mut bar = self.bar();
        let bar = bar.get_or_insert_with(|| {
            let bar = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg} {elapsed}") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(100));
            bar
        });
        bar.set_message(text);
    }

    /// Takes the line of progress away.
    pub(crate) fn clear(&self) {
        if let Some(bar) = self.bar().take() {
            bar.finish_and_clear();
        }
    }
}
