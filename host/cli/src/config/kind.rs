//! The kinds of options: which values are allowed, whether they come from a flag, the environment
//! or YAML.

use serde_json::{Value, json};
use syrch::Provider;
use syrch::cache::Place;
use syrch::databases::Executor;
use syrch::imports::Encoding;
use syrch::syrch_core::ports::RowsGrant;
use syrch::syrch_core::text::nearest;

use super::mapping::Mapping;
use crate::failure::alternatives;

/// The type of an option, with its bounds.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    /// Any text but the empty one.
    Text,
    /// A secret text, which no error repeats.
    Secret,
    /// A whole number within these bounds.
    Integer(u64, u64),
    /// A number above the first bound (or equal to it, when the flag is set) and at most the
    /// second.
    Number { min: f64, inclusive: bool, max: f64 },
    /// A time in seconds, above zero and at most this many, or [`NO_LIMIT`].
    SecondsOrNone(f64),
    /// A Boolean value, `true` or `false` in a file.
    Boolean,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A database engine by name.
    Executor,
    /// Patterns of names; in a word separated by commas.
    Globs,
    /// Paths of files; in a word separated by commas. A flag of this kind may stand several times.
    Files,
    /// Texts; in a word separated by commas. A flag of this kind may stand several times.
    Texts,
    /// An encoding of texts by name.
    Encoding,
    /// A grant of rows.
    Rows,
    /// The source of model replies: a provider, a recording to read or to make, or a suite for a
    /// simulated model.
    ModelSource,
    /// The place of a shared cache: a folder or a server. It may hold a password, which no error
    /// repeats.
    SharedCache,
    /// A provider that has endpoints.
    EndpointProvider,
    /// A mapping of names that only files hold.
    Mapping(Mapping),
}

/// The seconds of a day, the longest time of most options.
pub(super) const DAY: f64 = 86_400.0;

/// A time of at most a day.
pub(super) const TIME: Kind = Kind::seconds(DAY);

/// The word for no limit.
pub(crate) const NO_LIMIT: &str = "none";

/// The providers by name.
pub(crate) fn providers() -> impl Iterator<Item = &'static str> {
    Provider::all().map(Provider::name)
}

/// The names of the providers that have endpoints.
pub(crate) fn endpoint_providers() -> impl Iterator<Item = &'static str> {
    Provider::all().filter(|provider| provider.endpoint().is_some()).map(Provider::name)
}

/// The words before the colon and a file: a recording, or the suite of a simulated model.
pub(crate) const FILES: [&str; 3] = ["replay", "record", "simulated"];

impl Kind {
    /// Reads a word of the command line or the environment.
    pub(crate) fn parse(self, word: &str) -> Result<Value, String> {
        let value = match self {
            Self::Integer(..) => word
                .trim()
                .parse::<i128>()
                .map(integer)
                .map_err(|_| self.wrong_value(&quote(word)))?,
            Self::Number { .. } => word
                .trim()
                .parse::<f64>()
                .map(|n| json!(n))
                .map_err(|_| self.wrong_value(&quote(word)))?,
            Self::SecondsOrNone(_) if word.trim() == NO_LIMIT => json!(NO_LIMIT),
            Self::SecondsOrNone(max) => {
                Self::seconds(max).parse(word).map_err(|_| self.wrong_value(&quote(word)))?
            }
            Self::Boolean => match word.trim().to_ascii_lowercase().as_str() {
                "true" | "yes" | "on" | "1" => json!(true),
                "false" | "no" | "off" | "0" => json!(false),
                _ => return Err(self.wrong_value(&quote(word))),
            },
            Self::Globs | Self::Files | Self::Texts => word
                .split(',')
                .map(str::trim)
                .filter(|item| !item.is_empty())
                .collect::<Vec<_>>()
                .into(),
            Self::Text
            | Self::Secret
            | Self::Choice(_)
            | Self::Executor
            | Self::Encoding
            | Self::Rows
            | Self::ModelSource
            | Self::SharedCache
            | Self::EndpointProvider => {
                json!(word)
            }
            Self::Mapping(_) => return Err(self.wrong_value(&quote(word))),
        };
        // The error shows the word as it was written, unless it is a list or a secret.
        self.check(value).map_err(|why| match self {
            Self::Secret
            | Self::Globs
            | Self::Files
            | Self::Texts
            | Self::ModelSource
            | Self::SharedCache => why,
            _ => self.wrong_value(&quote(word)),
        })
    }

    /// Checks a value that has a type already.
    pub(crate) fn check(self, value: Value) -> Result<Value, String> {
        let fits = match (self, &value) {
            (Self::Text, Value::String(text)) => !text.trim().is_empty() && !text.contains('\0'),
            (Self::Secret, Value::String(text)) => {
                !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic())
            }
            (Self::Integer(min, max), value) => {
                value.as_u64().is_some_and(|n| (min..=max).contains(&n))
            }
            (Self::Number { min, inclusive, max }, value) => value
                .as_f64()
                .is_some_and(|n| n.is_finite() && (n > min || (inclusive && n >= min)) && n <= max),
            (Self::SecondsOrNone(_), Value::String(word)) => word == NO_LIMIT,
            (Self::SecondsOrNone(max), value) => Self::seconds(max).check(value.clone()).is_ok(),
            (Self::Boolean, Value::Bool(_)) => true,
            (Self::Choice(words), Value::String(word)) => words.contains(&word.as_str()),
            (Self::Executor, Value::String(word)) => Executor::from_name(word).is_some(),
            (Self::EndpointProvider, Value::String(word)) => {
                endpoint_providers().any(|name| name == word)
            }
            (Self::Globs, Value::Array(items)) => {
                let texts: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
                texts.as_deref().map(patterns).transpose()?.is_some()
            }
            (Self::Encoding, Value::String(name)) => Encoding::for_name(name).is_some(),
            (Self::Files | Self::Texts, Value::Array(items)) => {
                items.iter().all(|item| Self::Text.check(item.clone()).is_ok())
            }
            (Self::Rows, Value::String(text)) => text.parse::<RowsGrant>().is_ok(),
            (Self::ModelSource, Value::String(word)) => model_source(word)?,
            (Self::SharedCache, Value::String(word)) if Self::Text.check(value.clone()).is_ok() => {
                Place::read_shared(word).map(|_| true).map_err(|error| error.to_string())?
            }
            (Self::Mapping(_), value) => value.is_object(),
            _ => false,
        };
        if fits { Ok(value) } else { Err(self.wrong_value(&describe_value(self, &value))) }
    }

    /// A time above zero, at most `max` seconds.
    pub(super) const fn seconds(max: f64) -> Self {
        Self::Number { min: 0.0, inclusive: false, max }
    }

    fn wrong_value(self, found: &str) -> String {
        format!("{found} is not {}", self.describe_values())
    }

    /// The allowed values in words.
    pub(crate) fn describe_values(self) -> String {
        match self {
            Self::Text => "a text that is not empty".to_owned(),
            Self::Secret => "a key: printable ASCII without spaces".to_owned(),
            Self::Integer(min, u64::MAX) => format!("a whole number of at least {min}"),
            Self::Integer(min, max) => format!("a whole number from {min} to {max}"),
            Self::Number { min, inclusive: true, max } => format!("a number from {min} to {max}"),
            Self::Number { min, inclusive: false, max } => {
                format!("a number above {min}, at most {max}")
            }
            Self::SecondsOrNone(max) => {
                format!("{}, or {NO_LIMIT}", Self::seconds(max).describe_values())
            }
            Self::Boolean => "true or false".to_owned(),
            Self::Choice(words) => format!("one of {}", words.join(", ")),
            Self::Executor => format!("one of {}", join_names(Executor::all().map(Executor::name))),
            Self::Globs => "a list of patterns".to_owned(),
            Self::Files => "a list of paths".to_owned(),
            Self::Texts => "a list of texts".to_owned(),
            Self::Encoding => {
                "the name of an encoding, such as windows-1252 or utf-16le".to_owned()
            }
            Self::Rows => "one of none, aggregates, sample:N (N at least 1), full".to_owned(),
            Self::ModelSource => {
                format!(
                    "one of {}, replay:FILE, record:FILE, simulated:SUITE",
                    join_names(providers())
                )
            }
            Self::SharedCache => "a folder, or redis://host:port, or rediss://host:port".to_owned(),
            Self::EndpointProvider => format!("one of {}", join_names(endpoint_providers())),
            Self::Mapping(_) => "a mapping of names".to_owned(),
        }
    }
}

fn join_names(names: impl Iterator<Item = &'static str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

/// Checks whether the word names a model source. The error explains a word that nearly does.
fn model_source(word: &str) -> Result<bool, String> {
    match word.split_once(':') {
        None if providers().any(|name| name == word) => Ok(true),
        None if FILES.contains(&word) => Err(format!("`{word}` names no file: write {word}:FILE")),
        None => Err(unknown_source(word, providers().chain(FILES), word)),
        Some((how, file)) if FILES.contains(&how) => {
            match file.trim().is_empty() || file.contains('\0') {
                true => Err(format!("`{word}` names no file: write {how}:FILE")),
                false => Ok(true),
            }
        }
        Some((how, _)) => Err(unknown_source(how, FILES.into_iter(), word)),
    }
}

fn unknown_source<'a>(near: &str, known: impl Iterator<Item = &'a str>, word: &str) -> String {
    let hint = alternatives(&nearest(near, known)).map(|names| format!("; did you mean {names}?"));
    format!("{}{}", Kind::ModelSource.wrong_value(&quote(word)), hint.unwrap_or_default())
}

/// Checks patterns as whoever opens the database will read them.
pub(super) fn patterns(texts: &[&str]) -> Result<(), String> {
    texts.iter().try_for_each(|text| match globset::Glob::new(text) {
        _ if text.trim().is_empty() => Err("a pattern is empty".to_owned()),
        Err(error) => Err(format!("the pattern `{text}` is wrong: {}", error.kind())),
        Ok(_) => Ok(()),
    })
}

fn quote(word: &str) -> String {
    format!("`{word}`")
}

/// A secret is not repeated in an error about it.
fn describe_value(kind: Kind, value: &Value) -> String {
    match (kind, value) {
        (Kind::Secret | Kind::SharedCache, _) => "the value".to_owned(),
        (_, Value::String(text)) => quote(text),
        (_, Value::Object(_)) => "a mapping".to_owned(),
        (_, value) => quote(&value.to_string()),
    }
}

/// Out of range of 64 bits is out of every bound, and is shown as it was written.
fn integer(n: i128) -> Value {
    u64::try_from(n)
        .map(Value::from)
        .or_else(|_| i64::try_from(n).map(Value::from))
        .unwrap_or_else(|_| Value::String(n.to_string()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn bounds_hold_for_words_and_values() {
        let attempts = Kind::Integer(1, 100);
        assert_eq!(attempts.parse("3"), Ok(json!(3)));
        assert_eq!(attempts.parse("0").unwrap_err(), "`0` is not a whole number from 1 to 100");
        assert_eq!(attempts.parse("-1").unwrap_err(), "`-1` is not a whole number from 1 to 100");
        assert!(attempts.check(json!("3")).is_err() && attempts.check(json!(2.5)).is_err());
        let share = Kind::Number { min: 0.0, inclusive: false, max: 1.0 };
        assert!(
            share.parse("0").is_err()
                && share.parse("nan").is_err()
                && share.parse("1e400").is_err()
        );
        assert_eq!(share.check(json!(1)), Ok(json!(1)));
    }

    #[test]
    fn a_time_may_be_without_a_limit() {
        let deadline = Kind::SecondsOrNone(60.0);
        assert_eq!(
            (deadline.parse("1.5"), deadline.parse(" none ")),
            (Ok(json!(1.5)), Ok(json!("none")))
        );
        assert_eq!(
            (deadline.check(json!(60)), deadline.check(json!("none"))),
            (Ok(json!(60)), Ok(json!("none")))
        );
        for wrong in ["0", "61", "never", "-1", "inf"] {
            let message = deadline.parse(wrong).unwrap_err();
            assert_eq!(message, format!("`{wrong}` is not a number above 0, at most 60, or none"));
        }
        assert!(deadline.check(json!("1")).is_err() && deadline.check(json!(null)).is_err());
    }

    #[test]
    fn words_become_values() {
        assert_eq!(Kind::Boolean.parse("Yes"), Ok(json!(true)));
        assert_eq!(Kind::Globs.parse("a*, b,"), Ok(json!(["a*", "b"])));
        assert!(Kind::Globs.parse("a, [").unwrap_err().starts_with("the pattern `[` is wrong: "));
        assert!(
            Kind::Globs.check(json!(["a", " "])).is_err() && Kind::Globs.check(json!([1])).is_err()
        );
        assert_eq!(Kind::Files.parse("a.wasm, b/c.wasm"), Ok(json!(["a.wasm", "b/c.wasm"])));
        assert!(
            Kind::Files.check(json!(["a", " "])).is_err() && Kind::Files.check(json!("a")).is_err()
        );
        assert_eq!(Kind::Rows.parse("sample:5"), Ok(json!("sample:5")));
        assert!(Kind::Rows.parse("sample:0").is_err() && Kind::Choice(&["a"]).parse("b").is_err());
    }

    #[test]
    fn a_recording_has_a_file() {
        for word in [
            "openai",
            "anthropic",
            "offline",
            "replay:runs/a.jsonl",
            "record:C:\\a.jsonl",
            "simulated:suite.jsonl",
        ] {
            assert_eq!(Kind::ModelSource.parse(word), Ok(json!(word)));
        }
        for (word, why) in [
            ("replay", "`replay` names no file: write replay:FILE"),
            ("record: ", "`record: ` names no file: write record:FILE"),
            ("simulated", "`simulated` names no file: write simulated:FILE"),
            ("simulate:a", "did you mean `simulated`?"),
            ("opneai", "did you mean `openai`?"),
            ("repaly:a", "did you mean `replay`?"),
            (
                "gpt",
                "`gpt` is not one of openai, anthropic, offline, replay:FILE, record:FILE, \
                 simulated:SUITE",
            ),
        ] {
            let reported = Kind::ModelSource.parse(word).unwrap_err();
            assert!(reported.contains(why), "{reported}");
        }
    }

    #[test]
    fn a_wrong_secret_is_not_repeated() {
        assert!(!Kind::Secret.parse("sk canary").unwrap_err().contains("canary"));
    }

    proptest! {
        #[test]
        fn any_word_is_read_or_refused(word in any::<String>()) {
            for kind in [
                Kind::Integer(1, u64::MAX), Kind::Number { min: 0.0, inclusive: true, max: 2.0 },
                Kind::Boolean, Kind::Globs, Kind::Files, Kind::ModelSource
            ] {
                if let Ok(value) = kind.parse(&word) {
                    prop_assert!(kind.check(value).is_ok());
                }
            }
        }
    }
}
