//! Standard error: progress, notes, warnings and errors. Everything written here is scrubbed and escaped.

pub(crate) mod interrupt;
pub(crate) mod logging;
pub(crate) mod progress;
pub(crate) mod prompt;

use std::any::Any;
use std::io::{IsTerminal, Write};
use std::panic::Location;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressStyle};

use crate::failure::Failure;
use crate::scrub::Scrubber;
use crate::sink::{json, terminal};
use logging::{LogFormat, Record};

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

/// The name that what the program tells people has in a log of JSON.
const LOG: &str = "syrch.console";

/// Standard error, shared by everything that speaks to the user.
pub(crate) struct Console {
    quiet: bool,
    format: LogFormat,
    scrubber: Scrubber,
    /// Whether the line of progress may be drawn.
    draws: bool,
    bar: Mutex<Option<ProgressBar>>,
    /// What was warned of, without who said it.
    warned: Mutex<Vec<String>>,
}

/// What a panic says.
fn panicked(payload: &dyn Any, location: Option<&Location<'_>>) -> String {
    let literal = payload.downcast_ref::<&str>().copied();
    let words =
        literal.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("it does not say why");
    let place = location.map(|location| format!(" ({location})")).unwrap_or_default();
    format!("a part of the program failed{place}: {words}")
}

impl Console {
    /// One that writes notes unless `quiet`, and draws progress where the terminal can.
    pub(crate) fn new(quiet: bool, dumb: bool, scrubber: Scrubber) -> Self {
        let draws = !quiet && !dumb && std::io::stderr().is_terminal();
        Self { quiet, format: LogFormat::default(), scrubber, draws, bar: Mutex::new(None), warned: Mutex::default() }
    }

    /// Writes in this format; one of JSON objects has no line of progress.
    pub(crate) fn log_format(mut self, format: LogFormat) -> Self {
        self.format = format;
        self.draws &= format == LogFormat::Text;
        self
    }

    fn bar(&self) -> MutexGuard<'_, Option<ProgressBar>> {
        self.bar.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Standard error may be closed; there is nobody left to tell then.
    fn print(&self, line: &str) {
        let write = || drop(anstream::stderr().write_all(line.as_bytes()));
        match self.bar().as_ref() {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }

    fn write(&self, style: &str, label: &str, text: &str) {
        let clean = self.scrubber.text(text);
        let text = terminal::block(&clean);
        let reset = if style.is_empty() { "" } else { RESET };
        self.print(&if label.is_empty() {
            format!("{style}{text}{reset}\n")
        } else {
            format!("{style}{label}{reset}: {}\n", text.replace('\n', "\n  "))
        });
    }

    /// A line of JSON.
    fn record(&self, record: &Record) {
        let mut document = record.document();
        self.scrubber.value(&mut document);
        self.print(&json::line(&document));
    }

    /// What people are told, as a line of JSON where the format is that.
    fn tell(&self, level: &'static str, style: &str, label: &str, text: &str) {
        match self.format {
            LogFormat::Text => self.write(style, label, text),
            LogFormat::Json => {
                let (logger, message) = (LOG.to_owned(), text.to_owned());
                self.record(&Record { level, logger, message, ..Record::default() });
            }
        }
    }

    /// An error with its hint; also when quiet.
    pub(crate) fn error(&self, failure: &Failure) {
        self.tell("ERROR", RED, "error", &failure.message);
        if let Some(hint) = &failure.hint {
            self.tell("INFO", CYAN, "hint", hint);
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
        self.tell("WARNING", YELLOW, "warning", text);
    }

    /// From here on a panic of any thread is told like a warning: what it quotes may come from a database or a plugin.
    pub(crate) fn hear_panics(self: &Arc<Self>) {
        let console = Arc::clone(self);
        std::panic::set_hook(Box::new(move |panic| {
            if !console.quiet {
                console.tell("ERROR", RED, "error", &panicked(panic.payload(), panic.location()));
            }
        }));
    }

    /// Forgets what was warned of, since other work begins.
    pub(crate) fn forget_warnings(&self) {
        self.warned.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Something that the user may like to know.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            self.tell("INFO", DIM, "", text);
        }
    }

    /// A line of the log; verbosity was decided before.
    fn log(&self, record: &Record) {
        match self.format {
            // A line break in a message must not look like another line of the log.
            LogFormat::Text => self.write("", "", &terminal::line(&record.text())),
            LogFormat::Json => self.record(record),
        }
    }

    /// A question to the user; also when quiet, since somebody has to answer it.
    pub(crate) fn ask(&self, text: &str) {
        self.tell("INFO", "", "", text);
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

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// Panics as the program would, in a process of its own: the test below starts it.
    #[test]
    #[ignore = "it panics on purpose"]
    fn panicking() {
        let words: Vec<String> = std::env::args().collect();
        let console = Console::new(words.iter().any(|word| word == "quiet"), true, Scrubber::new(Vec::new()));
        let format = if words.iter().any(|word| word == "json") { LogFormat::Json } else { LogFormat::Text };
        Arc::new(console.log_format(format)).hear_panics();
        drop(std::thread::spawn(|| panic!("of \u{1b}[31mred\u{1b}[0m")).join());
    }

    #[test]
    fn panics_are_escaped_and_go_where_warnings_go() {
        let stderr = |words: &[&str]| {
            let mut command = Command::new(std::env::current_exe().unwrap());
            // Names of tests that there are none of tell it what to do.
            command.args(["console::tests::panicking", "--include-ignored", "--exact", "--nocapture"]).args(words);
            let output = command.output().unwrap();
            assert!(output.status.success(), "{output:?}");
            String::from_utf8(output.stderr).unwrap()
        };
        let text = stderr(&[]);
        assert!(text.starts_with("error: a part of the program failed (") && text.contains("red"), "{text}");
        assert!(!text.contains('\u{1b}'), "{text:?}");
        let json: serde_json::Value = serde_json::from_str(&stderr(&["json"])).unwrap();
        assert!(json["message"].as_str().unwrap().contains("a part of the program failed"), "{json}");
        assert_eq!(stderr(&["quiet"]), "");
    }
}
