//! Asks the user on the terminal, when the search wants to know something.

use std::io::{BufRead, IsTerminal, Read};
use std::sync::Arc;

use async_trait::async_trait;
use syrch::Ask;
use syrch::syrch_core::Question;

use super::Console;
use super::interrupt::Interrupt;

/// Bytes of an answer at most.
const LONGEST: u64 = 64 << 10;

/// Asks on standard error and reads from standard input.
pub(crate) struct Prompt {
    console: Arc<Console>,
    interrupt: Interrupt,
}

impl Prompt {
    /// A prompt that Ctrl-C ends.
    pub(crate) fn new(console: Arc<Console>, interrupt: Interrupt) -> Self {
        Self { console, interrupt }
    }
}

/// The question with its numbered choices.
pub(crate) fn question(text: &str, choices: &[String]) -> String {
    let numbered =
        choices.iter().enumerate().map(|(index, choice)| format!("\n  {}. {choice}", index + 1));
    format!("{text}{}", numbered.collect::<String>())
}

/// The user's line as an answer: a choice's number stands for the choice; an empty line says
/// nothing.
pub(crate) fn answer(line: &str, choices: &[String]) -> Option<String> {
    let line = line.trim();
    let chosen = line.parse::<usize>().ok().and_then(|number| choices.get(number.checked_sub(1)?));
    chosen.cloned().or_else(|| (!line.is_empty()).then(|| line.to_owned()))
}

/// Asks whether to go on. An answer that comes from a pipe is none of a person who has read the
/// question, so nobody agrees without a terminal.
pub(crate) async fn confirm(console: &Console, interrupt: &Interrupt, text: &str) -> bool {
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return false;
    }
    console.ask(&format!("{text} [y/N]"));
    tokio::select! {
        line = tokio::task::spawn_blocking(read_line) => {
            line.ok().flatten().is_some_and(|line| is_yes(&line))
        }
        () = interrupt.wait() => false,
    }
}

fn is_yes(answer: &str) -> bool {
    ["y", "yes"].iter().any(|yes| answer.trim().eq_ignore_ascii_case(yes))
}

fn read_line() -> Option<String> {
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(LONGEST).read_until(b'\n', &mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[async_trait]
impl Ask for Prompt {
    async fn ask(&self, asked: &Question) -> Option<String> {
        self.console.clear();
        self.console.ask(&question(&asked.text, &asked.choices));
        self.console.ask(if asked.choices.is_empty() {
            "Your answer (an empty line to go on without):"
        } else {
            "Your answer, or a number (an empty line to go on without):"
        });
        tokio::select! {
            line = tokio::task::spawn_blocking(read_line) => answer(&line.ok()??, &asked.choices),
            // Ctrl-C stops the search as well, which ends this wait; an answer from here could come
            // first and be taken for the user's.
            () = self.interrupt.wait() => std::future::pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_yes_is_yes() {
        assert!(is_yes("y\n") && is_yes(" YES "));
        assert!(!is_yes("") && !is_yes("n") && !is_yes("yesterday"));
    }

    #[test]
    fn numbers_choose_and_other_text_stands_for_itself() {
        let choices = ["gross".to_owned(), "net".to_owned()];
        assert_eq!(answer("2\n", &choices), Some("net".into()));
        assert_eq!(answer("3\n", &choices), Some("3".into()));
        assert_eq!(answer(" only paid \r\n", &choices), Some("only paid".into()));
        assert_eq!(answer("\n", &choices), None);
        assert_eq!(question("Which?", &choices), "Which?\n  1. gross\n  2. net");
    }
}
