//! The flags of the options: parser and help are made from the same list, so they cannot differ.

use clap::builder::{PossibleValue, TypedValueParser, ValueParser};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use serde_json::Value;
use syrch::strategies;

use super::kind::Kind;
use super::options::SPECS;
use super::spec::{STRATEGY, Spec};
use super::{Effective, Origin};

/// The flags that were given, for commands that search (`SEARCH`) or only open a database. Not
/// `Debug`: a key may be among them.
#[derive(Clone, Default)]
pub(crate) struct Flags<const SEARCH: bool> {
    values: Vec<(&'static str, Value)>,
}

impl<const SEARCH: bool> Flags<SEARCH> {
    fn specs() -> impl Iterator<Item = (&'static Spec, &'static str, &'static str)> {
        SPECS
            .iter()
            .filter(|spec| SEARCH || spec.database)
            .filter_map(|spec| spec.flag.map(|(flag, value)| (spec, flag, value)))
    }

    /// The options with their values and flags.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&'static Spec, &Value, Origin)> {
        Self::specs().filter_map(|(spec, flag, _)| {
            let (_, value) = self.values.iter().find(|(key, _)| *key == spec.key)?;
            Some((spec, value, Origin::Flag(format!("--{flag}"))))
        })
    }

    /// Sets an option, in place of an earlier value.
    pub(crate) fn set(&mut self, key: &'static str, value: Value) {
        self.values.retain(|(known, _)| *known != key);
        self.values.push((key, value));
    }

    /// Adds the flags of `other`, which win over equal ones.
    pub(crate) fn merge(&mut self, other: Self) {
        other.values.into_iter().for_each(|(key, value)| self.set(key, value));
    }
}

fn argument(spec: &'static Spec, flag: &'static str, value: &'static str, default: &Value) -> Arg {
    let default = match default {
        _ if spec.key == STRATEGY => format!(
            " [default: {} with a model, {} without one]",
            strategies::WITH_MODEL,
            strategies::DEFAULT
        ),
        Value::Null => String::new(),
        Value::Array(items) if items.is_empty() => String::new(),
        Value::String(text) => format!(" [default: {text}]"),
        other => format!(" [default: {other}]"),
    };
    let help = spec.help();
    let own = help.contains("[default:") || matches!(spec.kind, Kind::Secret);
    let help = format!("{help}{}", if own { "" } else { &default });
    let kind = match spec.kind {
        // The parser would repeat a wrong key in its error; the merge checks it instead.
        Kind::Secret => Kind::Text,
        kind => kind,
    };
    // A value may begin with a dash, so that the error about `--max-depth -1` is about the number.
    Arg::new(spec.key)
        .long(flag)
        .value_name(value)
        .help(help)
        .help_heading(heading(spec.key))
        .action(if matches!(spec.kind, Kind::Files | Kind::Texts) {
            ArgAction::Append
        } else {
            ArgAction::Set
        })
        .allow_hyphen_values(matches!(
            spec.kind,
            Kind::Integer(..) | Kind::Number { .. } | Kind::SecondsOrNone(_) | Kind::Texts
        ))
        .hide_possible_values(true)
        .value_parser(match spec.key {
            STRATEGY => ValueParser::new(NameOrFile.map(Value::from)),
            _ => ValueParser::new(move |word: &str| kind.parse(word)),
        })
}

/// Takes a strategy's name or its file's path, and offers the names to whoever completes it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NameOrFile;

impl TypedValueParser for NameOrFile {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        word: &std::ffi::OsStr,
    ) -> Result<String, clap::Error> {
        let parser = |word: &str| Kind::Text.parse(word).map(|_| word.to_owned());
        parser.parse_ref(command, arg, word)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(strategies::names().map(PossibleValue::new)))
    }
}

fn heading(key: &str) -> &'static str {
    match key.split('.').next() {
        Some("llm") => "Model",
        Some("cache") => "Cache",
        Some("strategy" | "plugins") => "Plugins (a path, or a built-in's name)",
        _ => "Search",
    }
}

fn switch(spec: &'static Spec, flag: &'static str) -> [Arg; 2] {
    let yes = Arg::new(spec.key)
        .long(flag)
        .action(ArgAction::SetTrue)
        .help(spec.help())
        .help_heading(heading(spec.key));
    let no = Arg::new(negation(flag))
        .long(negation(flag))
        .alias(format!("non-{flag}"))
        .action(ArgAction::SetTrue)
        .help(format!("The opposite of --{flag}"))
        .help_heading(heading(spec.key));
    [yes.overrides_with(negation(flag)), no.overrides_with(spec.key)]
}

fn negation(flag: &str) -> String {
    format!("no-{flag}")
}

impl<const SEARCH: bool> Args for Flags<SEARCH> {
    fn augment_args(command: Command) -> Command {
        let defaults = Effective::default();
        Self::specs().fold(command, |command, (spec, flag, value)| match spec.kind {
            Kind::Boolean => command.args(switch(spec, flag)),
            _ => command.arg(argument(spec, flag, value, &spec.get(&defaults))),
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<const SEARCH: bool> FromArgMatches for Flags<SEARCH> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut flags = Self::default();
        flags.update_from_arg_matches(matches)?;
        Ok(flags)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        let given = |id: &str| matches.value_source(id) == Some(ValueSource::CommandLine);
        for (spec, flag, _) in Self::specs() {
            match spec.kind {
                Kind::Boolean if given(spec.key) => self.set(spec.key, Value::Bool(true)),
                Kind::Boolean if given(&negation(flag)) => self.set(spec.key, Value::Bool(false)),
                Kind::Boolean => {}
                Kind::Files | Kind::Texts if given(spec.key) => {
                    let words = matches.get_many::<Value>(spec.key).into_iter().flatten();
                    let files: Vec<Value> =
                        words.filter_map(Value::as_array).flatten().cloned().collect();
                    self.set(spec.key, files.into());
                }
                _ => {
                    if let Some(value) = matches.get_one::<Value>(spec.key) {
                        self.set(spec.key, value.clone());
                    }
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parse(words: &[&str]) -> Result<Flags<true>, clap::Error> {
        let command = Flags::<true>::augment_args(Command::new("x").no_binary_name(true));
        Flags::from_arg_matches(&command.try_get_matches_from(words)?)
    }

    #[test]
    fn flags_are_typed_and_bounded() {
        let flags =
            parse(&["--max-depth", "2", "--no-interactive", "--interactive", "--tables", "a,b"])
                .unwrap();
        let shown: Vec<_> = flags
            .entries()
            .map(|(spec, value, origin)| format!("{} {value} {origin}", spec.key))
            .collect();
        assert_eq!(
            shown,
            [
                "execution.tables [\"a\",\"b\"] --tables",
                "execution.max_depth 2 --max-depth",
                "execution.interactive true --interactive",
            ]
        );
        for wrong in [
            ["--max-attempts", "0"],
            ["--budget", "-5"],
            ["--high-conf", "0"],
            ["--deadline", "-1.5"],
        ] {
            let error = parse(&wrong).err().unwrap();
            assert_eq!(error.exit_code(), 2);
            assert!(error.to_string().contains("is not a"), "{error}");
        }
    }

    #[test]
    fn a_flag_of_files_may_stand_several_times() {
        let flags = parse(&["--trust", "a.wasm", "--trust", "b.wasm,c.wasm"]).unwrap();
        let values: Vec<_> = flags.entries().map(|(_, value, _)| value.clone()).collect();
        assert_eq!(values, [json!(["a.wasm", "b.wasm", "c.wasm"])]);
    }

    #[test]
    fn later_flags_win() {
        let mut first = parse(&["--seed", "1", "--budget", "9"]).unwrap();
        first.merge(parse(&["--seed", "2"]).unwrap());
        let values: Vec<_> = first.entries().map(|(_, value, _)| value.clone()).collect();
        assert_eq!(values, [json!(9), json!(2)]);
    }

    #[test]
    fn the_help_names_the_defaults() {
        let help = Flags::<true>::augment_args(Command::new("x")).render_long_help().to_string();
        assert!(help.contains("[default: 3]") && help.contains("--planner <PATH|NAME>"), "{help}");
        let strategy = format!("[default: {} with a model", strategies::WITH_MODEL);
        assert!(help.contains(&strategy) && !help.contains("[default: decompose]"), "{help}");
        let database =
            Flags::<false>::augment_args(Command::new("x")).render_long_help().to_string();
        assert!(database.contains("--db") && !database.contains("--planner"), "{database}");
    }
}
