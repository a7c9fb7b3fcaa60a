//! Standard error: progress, notes, warnings and errors. Everything written here is scrubbed and
//! escaped.

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

/// The logger of notes, warnings and errors in a JSON log.
const LOG: &str = "syrch.console";

/// Standard error, shared by everything that writes to the user.
pub(crate) struct Console {
    quiet: bool,
    format: LogFormat,
    scrubber: Scrubber,
    /// True if the line of progress may be drawn.
    draws: bool,
    bar: Mutex<Option<ProgressBar>>,
    /// The warnings so far, without their source.
    warned: Mutex<Vec<String>>,
}

/// The message of a panic.
fn panic_message(payload: &dyn Any, location: Option<&Location<'_>>) -> String {
    let literal = payload.downcast_ref::<&str>().copied();
    let words = literal
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("it does not say why");
    let place = location.map(|location| format!(" ({location})")).unwrap_or_default();
    format!("a part of the program failed{place}: {words}")
}

/// The lines of a message. All but the first one are indented: a line break, such as one in the
/// name of a file, must not look like the beginning of another message.
fn frame(style: &str, label: &str, text: &str) -> String {
    let text = text.replace('\n', "\n  ");
    let reset = if style.is_empty() { "" } else { RESET };
    match label {
        "" => format!("{style}{text}{reset}\n"),
        _ => format!("{style}{label}{reset}: {text}\n"),
    }
}

impl Console {
    /// A console that writes notes unless `quiet`, and draws progress where the terminal can.
    pub(crate) fn new(quiet: bool, dumb: bool, scrubber: Scrubber) -> Self {
        let draws = !quiet && !dumb && std::io::stderr().is_terminal();
        Self {
            quiet,
            format: LogFormat::default(),
            scrubber,
            draws,
            bar: Mutex::new(None),
            warned: Mutex::default(),
        }
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

    /// Writes a line. Standard error may be closed, which is no error.
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
        self.print(&frame(style, label, &text));
    }

    /// A line of JSON.
    fn record(&self, record: &Record) {
        let mut document = record.document();
        self.scrubber.value(&mut document);
        self.print(&json::line(&document));
    }

    /// Writes a message for people, as a line of JSON where the format is that.
    fn message(&self, level: &'static str, style: &str, label: &str, text: &str) {
        match self.format {
            LogFormat::Text => self.write(style, label, text),
            LogFormat::Json => {
                let logger = LOG.to_owned();
                let message = text.to_owned();
                self.record(&Record { level, logger, message, ..Record::default() });
            }
        }
    }

    /// An error with its hint; also when quiet.
    pub(crate) fn error(&self, failure: &Failure) {
        self.message("ERROR", RED, "error", &failure.message);
        if let Some(hint) = &failure.hint {
            self.message("INFO", CYAN, "hint", hint);
        }
    }

    /// Writes a warning. The reason of a failed task is written once, although its plugin reports
    /// it first; no other message of a plugin can suppress a warning.
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
        self.message("WARNING", YELLOW, "warning", text);
    }

    /// Writes the panics of all threads as errors from now on, escaped and scrubbed, since they may
    /// quote a database or a plugin.
    pub(crate) fn report_panics(self: &Arc<Self>) {
        let console = Arc::clone(self);
        std::panic::set_hook(Box::new(move |panic| {
            if !console.quiet {
                console.message(
                    "ERROR",
                    RED,
                    "error",
                    &panic_message(panic.payload(), panic.location()),
                );
            }
        }));
    }

    /// Forgets the warnings so far. Called when other work begins.
    pub(crate) fn forget_warnings(&self) {
        self.warned.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Writes a note, unless quiet.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            self.message("INFO", DIM, "", text);
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

    /// Writes a question to the user, also when quiet.
    pub(crate) fn ask(&self, text: &str) {
        self.message("INFO", "", "", text);
    }

    /// Shows the progress in one line that is redrawn.
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

    /// Removes the line of progress.
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
        let console =
            Console::new(words.iter().any(|word| word == "quiet"), true, Scrubber::new(Vec::new()));
        let format =
            if words.iter().any(|word| word == "json") { LogFormat::Json } else { LogFormat::Text };
        Arc::new(console.log_format(format)).report_panics();
        drop(std::thread::spawn(|| panic!("of \u{1b}[31mred\u{1b}[0m")).join());
    }

    #[test]
    fn a_message_forges_no_other() {
        let text = "compiling a\nerror: forged.wasm (once)";
        for (label, start) in [("", "compiling a"), ("warning", "warning: compiling a")] {
            let framed = frame("", label, text);
            assert_eq!(framed, format!("{start}\n  error: forged.wasm (once)\n"));
        }
    }

    #[test]
    fn panics_are_escaped_and_go_where_warnings_go() {
        let stderr = |words: &[&str]| {
            let mut command = Command::new(std::env::current_exe().unwrap());
            // The test above reads these words, which name no tests.
            command
                .args(["console::tests::panicking", "--include-ignored", "--exact", "--nocapture"])
                .args(words);
            let output = command.output().unwrap();
            assert!(output.status.success(), "{output:?}");
            String::from_utf8(output.stderr).unwrap()
        };
        let text = stderr(&[]);
        assert!(
            text.starts_with("error: a part of the program failed (") && text.contains("red"),
            "{text}"
        );
        assert!(!text.contains('\u{1b}'), "{text:?}");
        let json: serde_json::Value = serde_json::from_str(&stderr(&["json"])).unwrap();
        assert!(
            json["message"].as_str().unwrap().contains("a part of the program failed"),
            "{json}"
        );
        assert_eq!(stderr(&["quiet"]), "");
    }
}
