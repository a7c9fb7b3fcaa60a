//! The lines of the prompt: commands and questions.

use syrch::syrch_core::text::nearest;

use crate::failure::{Failure, alternatives};

/// The commands with what they take and do.
pub(super) const COMMANDS: [(&str, &str, &str); 6] = [
    ("\\schema", "[TABLE]", "show the tables, or one of them"),
    ("\\sql", "STATEMENT", "run a statement under the guard and the limits of a search"),
    ("\\why", "", "show the last search: its candidates, and why its task uses it or not"),
    ("\\new", "", "forget the last answer, so that the next question is no change of it"),
    ("\\help", "", "show this"),
    ("\\quit", "", "leave; so does Ctrl-D"),
];

/// A line at the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// A line of spaces.
    Empty,
    /// `\schema` with its table, if it names one.
    Schema(Option<&'a str>),
    /// `\sql` with its statement.
    Sql(&'a str),
    /// `\why`, which explains the last answer.
    Why,
    /// `\new`, after which a question is one of its own.
    New,
    /// `\help`, which lists the commands.
    Help,
    /// `\quit`, which leaves the prompt.
    Quit,
    /// Any other text, which is a question.
    Question(&'a str),
}

impl<'a> Line<'a> {
    /// Reads a line. What begins with a backslash is a command, and so are the single words with
    /// which other prompts are left or explained.
    ///
    /// # Errors
    /// When there is no such command, or it lacks what it takes or has what it does not take.
    pub(super) fn parse(line: &'a str) -> Result<Self, Failure> {
        let line = line.trim();
        if !line.starts_with('\\') {
            return Ok(match line {
                "" => Self::Empty,
                "quit" | "exit" => Self::Quit,
                "help" | "?" => Self::Help,
                question => Self::Question(question),
            });
        }
        let (command, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        match (command, rest) {
            ("\\schema", table) => Ok(Self::Schema((!table.is_empty()).then_some(table))),
            ("\\sql", "") => {
                Err(Failure::usage("`\\sql` lacks a statement").hint("as in `\\sql SELECT 1`"))
            }
            ("\\sql", statement) => Ok(Self::Sql(statement)),
            ("\\why", "") => Ok(Self::Why),
            ("\\new", "") => Ok(Self::New),
            ("\\help", "") => Ok(Self::Help),
            ("\\quit", "") => Ok(Self::Quit),
            _ => Err(unknown_command(command)),
        }
    }
}

fn unknown_command(command: &str) -> Failure {
    let known = || COMMANDS.iter().map(|(name, ..)| *name);
    if known().any(|name| name == command) {
        return Failure::usage(format!("`{command}` takes nothing"));
    }
    let failure = Failure::usage(format!("there is no command `{command}`"));
    match alternatives(&nearest(command, known())) {
        Some(names) => failure.hint(format!("did you mean {names}?")),
        None => failure.hint("`\\help` shows all"),
    }
}

/// The text that `\help` prints.
pub(super) fn help() -> String {
    let commands: String = COMMANDS
        .iter()
        .map(|(name, takes, does): &(&str, &str, &str)| {
            format!("{:<16}  {does}\n", format!("{name} {takes}"))
        })
        .collect();
    format!(
        "{:<16}  ask it\n{commands}Ctrl-C stops a search with the best so far.\n",
        "any other text"
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn commands_begin_with_a_backslash() {
        let parsed = |line| Line::parse(line).unwrap();
        assert_eq!(parsed("  "), Line::Empty);
        assert_eq!(parsed(" How many customers? "), Line::Question("How many customers?"));
        assert_eq!(
            (parsed("\\schema"), parsed("\\schema  orders ")),
            (Line::Schema(None), Line::Schema(Some("orders")))
        );
        assert_eq!(
            [parsed("exit"), parsed("quit"), parsed("help")],
            [Line::Quit, Line::Quit, Line::Help]
        );
        assert_eq!(parsed("exit codes?"), Line::Question("exit codes?"));
        assert_eq!(parsed("\\sql  SELECT 1 "), Line::Sql("SELECT 1"));
        assert_eq!(
            [parsed("\\why"), parsed("\\help"), parsed("\\quit")],
            [Line::Why, Line::Help, Line::Quit]
        );
    }

    #[test]
    fn wrong_commands_are_reported_with_the_right_one() {
        let hint = |line| Line::parse(line).unwrap_err().hint;
        assert!(hint("\\shema").is_some_and(|hint| hint.starts_with("did you mean `\\schema`")));
        assert_eq!(hint("\\xyzzy").as_deref(), Some("`\\help` shows all"));
        assert!(hint("\\sql ").is_some_and(|hint| hint.contains("\\sql SELECT 1")));
        assert_eq!(Line::parse("\\quit now").unwrap_err().message, "`\\quit` takes nothing");
    }

    #[test]
    fn the_help_shows_every_command() {
        assert!(
            COMMANDS.iter().all(|(name, _, does)| help().contains(name) && help().contains(does))
        );
    }

    proptest! {
        #[test]
        fn any_line_is_read_or_refused(line in any::<String>()) {
            match Line::parse(&line) {
                Ok(Line::Question(text)) => prop_assert_eq!(text, line.trim()),
                Ok(Line::Empty) => prop_assert!(line.trim().is_empty()),
                Ok(Line::Quit | Line::Help) if !line.trim().starts_with('\\') => {
                    prop_assert!(["quit", "exit", "help", "?"].contains(&line.trim()));
                }
                Ok(_) | Err(_) => prop_assert!(line.trim().starts_with('\\')),
            }
        }
    }
}
