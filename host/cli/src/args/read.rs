//! Parses the command line. Flags of a search may be on both sides of its name; errors about
//! misplaced and renamed flags say what to write.

use std::ffi::OsString;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory, FromArgMatches};

use super::Cli;
use crate::commands::Command;
use crate::commands::asking::SearchArgs;
use crate::config::earlier;

/// Flags of `search` in syrch 0.1.2 that another command has replaced, with that command.
const MOVED: [(&str, &str); 4] = [
    ("--grid", "`syrch-host grid` tries many settings, on one question by -q or on a suite"),
    (
        "--grid-parallel",
        "`syrch-host grid` tries many settings, --grid-max-workers of them at once",
    ),
    (
        "--grid-sequential",
        "`syrch-host grid --grid-max-workers 1` tries many settings, one after the other",
    ),
    ("--grid-max-workers", "`syrch-host grid --grid-max-workers N` tries many settings, N at once"),
];

impl Cli {
    /// Reads the arguments. Flags of a search before another command are refused, since they would
    /// be forgotten silently.
    pub(crate) fn read(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        let mut command = Self::command();
        let arguments = arguments.into_iter().map(separate_comment);
        let matches = command.try_get_matches_from_mut(arguments).map_err(suggest_replacement)?;
        if let Some((name, flag)) = find_misplaced_flag(&command, &matches) {
            let message = format!(
                "`--{flag}` belongs to a search; write it after `{name}` if {name} takes it"
            );
            return Err(command.error(ErrorKind::ArgumentConflict, message));
        }
        let mut cli = Self::from_arg_matches(&matches)?;
        if let Some(Command::Search(search)) = &mut cli.command {
            **search = std::mem::take(&mut cli.search).merge(std::mem::take(&mut **search));
        }
        Ok(cli)
    }
}

impl SearchArgs {
    /// Adds the flags of `other`, which win over equal ones.
    fn merge(mut self, other: Self) -> Self {
        self.question = other.question.or(self.question);
        self.evidence = other.evidence.or(self.evidence);
        self.resume = other.resume.or(self.resume);
        self.dry_run |= other.dry_run;
        self.optimize |= other.optimize;
        self.parameters.extend(other.parameters);
        self.flags.merge(other.flags);
        self
    }
}

/// An argument that begins with a comment of SQL, with a blank before it: it is a statement, and no
/// option has blanks in its name.
fn separate_comment(argument: OsString) -> OsString {
    let name = argument
        .to_str()
        .and_then(|text| text.strip_prefix("--"))
        .map(|text| text.split('=').next().unwrap_or(text));
    match name {
        Some(name) if name.contains(char::is_whitespace) => {
            let mut statement = OsString::from(" ");
            statement.push(argument);
            statement
        }
        _ => argument,
    }
}

/// The command, if it is no search, with the first flag of a search before it.
fn find_misplaced_flag<'a>(
    command: &'a clap::Command,
    matches: &'a ArgMatches,
) -> Option<(&'a str, &'a str)> {
    let (name, _) = matches.subcommand().filter(|(name, _)| *name != "search")?;
    let flag = command
        .get_arguments()
        .filter(|argument| !argument.is_global_set())
        .filter(|argument| {
            matches.value_source(argument.get_id().as_str()) == Some(ValueSource::CommandLine)
        })
        .find_map(|argument| argument.get_long())?;
    Some((name, flag))
}

/// The error; about a replaced flag, with its replacement as the suggestion.
fn suggest_replacement(mut error: clap::Error) -> clap::Error {
    let of = |flag: &str| {
        let moved = MOVED.iter().find(|(moved, _)| *moved == flag).map(|(_, instead)| *instead);
        moved.or_else(|| earlier::flag(flag))
    };
    let instead = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(flag)) if error.kind() == ErrorKind::UnknownArgument => of(flag),
        _ => None,
    };
    if let Some(instead) = instead {
        // Flags with similar names do something else.
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::SuggestedSubcommand);
        error.insert(
            ContextKind::Suggested,
            ContextValue::StyledStrs(vec![StyledStr::from(instead)]),
        );
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::Exit;
    use crate::sink::Format;

    fn read(words: &str) -> Result<Cli, clap::Error> {
        Cli::read(std::iter::once("syrch-host").chain(words.split_whitespace()).map(Into::into))
    }

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn global_flags_stand_on_both_sides_and_search_flags_do_not() {
        assert_eq!(read("--format json schema x.sqlite").ok().unwrap().global.format, Format::Json);
        assert_eq!(read("schema x.sqlite --format json").ok().unwrap().global.format, Format::Json);
        for words in [
            "--max-depth 3 schema x",
            "-q hi config",
            "--db x sql SELECT",
            "--no-interactive plugin list",
        ] {
            let error = read(words).err().unwrap();
            assert_eq!(error.exit_code(), 2, "{words}");
            assert!(error.to_string().contains("belongs to a search"), "{error}");
        }
    }

    #[test]
    fn search_may_stand_in_the_middle() {
        let Some(Command::Search(search)) =
            read("-q one --seed 1 search -q two --budget 5").ok().unwrap().command
        else {
            panic!("not a search");
        };
        assert_eq!(search.question.as_deref(), Some("two"));
        let values: Vec<_> =
            search.flags.entries().map(|(_, value, _)| value.to_string()).collect();
        assert_eq!(values, ["5", "1"]);
    }

    #[test]
    fn grid_flags_of_syrch_0_1_2_lead_to_the_command() {
        for words in ["search -q hi", "-q hi", ""] {
            for (flag, instead) in MOVED {
                let error = read(&format!("{words} {flag}")).err().unwrap();
                let reported = error.to_string();
                assert_eq!(error.exit_code(), 2, "{words} {flag}");
                assert!(
                    reported.contains(&format!("unexpected argument '{flag}' found")),
                    "{reported}"
                );
                assert_eq!(reported.matches("tip: ").count(), 1, "{reported}");
                assert!(reported.contains(&format!("tip: {instead}")), "{reported}");
            }
        }
        let beam = read("-q hi --beam-width 3").err().unwrap().to_string();
        assert!(beam.contains("tip: `--strategy beam -P solver.beam_width=N` sets it"), "{beam}");
        assert!(read("-q hi --executor sqlite --non-interactive --no-calibration").is_ok());
        let other = read("search --gird").err().unwrap().to_string();
        assert!(!other.contains("syrch-host grid"), "{other}");
        assert!(read("grid suite.jsonl --grid-max-workers 2").is_ok());
    }

    #[test]
    fn a_mistyped_option_is_no_statement() {
        for (words, option) in [
            ("sql --max-row 5 SELECT", "--max-row"),
            ("sql --chek SELECT", "--chek"),
            ("sql --no-cach SELECT", "--no-cach"),
            ("optimize --iteration 3 SELECT", "--iteration"),
            ("schema --tabel x", "--tabel"),
            ("suite lint --al x", "--al"),
        ] {
            let error = read(words).err().unwrap();
            assert_eq!(
                (error.kind(), error.exit_code()),
                (ErrorKind::UnknownArgument, 2),
                "{words}"
            );
            let reported = error.to_string();
            assert!(
                reported.contains(&format!("unexpected argument '{option}' found")),
                "{reported}"
            );
        }
        let error = read("sql --max-row 5 SELECT").err().unwrap().to_string();
        assert!(error.contains("'--max-rows'"), "{error}");
    }

    #[test]
    fn a_statement_may_begin_with_a_comment() {
        for statement in ["-- all\nSELECT 1", "--all = \nSELECT 1", "--all\nSELECT 1"] {
            for before in [vec!["sql"], vec!["sql", "--check"], vec!["optimize"]] {
                let arguments = std::iter::once("syrch-host").chain(before).chain([statement]);
                let read = match Cli::read(arguments.map(Into::into)).ok().unwrap().command {
                    Some(Command::Sql(sql)) => sql.statement,
                    Some(Command::Optimize(optimize)) => optimize.statement,
                    _ => None,
                };
                assert_eq!(read.as_deref().map(str::trim_start), Some(statement));
            }
        }
    }

    #[test]
    fn the_cache_can_be_left_out_wherever_a_database_is_opened() {
        for words in [
            "sql --no-cache SELECT",
            "schema --no-cache x.csv",
            "optimize check --no-cache SELECT",
            "search --no-cache",
        ] {
            assert!(read(words).is_ok(), "{words}");
        }
    }

    #[test]
    fn the_help_ends_with_the_exit_codes() {
        let help = Cli::command().render_long_help().to_string();
        assert!(
            help.contains("Exit codes:") && help.trim_end().ends_with(Exit::Interrupted.meaning()),
            "{help}"
        );
    }
}
