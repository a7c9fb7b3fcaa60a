//! `-P`: a plugin's own setting, for a role (`-P planner.width=3`), for whichever plugin of the
//! strategy knows it (`-P width=3`), or a setting that plugins read by name (`-P
//! settings.style=short`).

use std::fmt;
use std::str::FromStr;

use serde_json::Value;
use syrch::syrch_core::roles::Role;

/// The recipient of a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Target {
    /// The plugin of this role.
    Role(Role),
    /// All plugins, through the port `run`.
    Setting,
    /// The one plugin that knows the key.
    Any,
}

impl Target {
    /// The key of one of its settings in a config file.
    pub(crate) fn key(self, name: &str) -> String {
        match self {
            Self::Role(role) => format!("plugins.{role}.config.{name}"),
            Self::Setting | Self::Any => format!("settings.{name}"),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Role(role) => f.write_str(role.name()),
            Self::Setting => f.write_str("settings"),
            Self::Any => f.write_str("any"),
        }
    }
}

/// A setting of `-P`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Parameter {
    /// The role or plugins that get the setting.
    pub(crate) target: Target,
    /// The key without its prefix.
    pub(crate) key: String,
    /// The value: JSON where the text is JSON, else the text itself.
    pub(crate) value: Value,
}

impl fmt::Display for Parameter {
    /// Writes it as it is given to `-P`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.target {
            Target::Any => write!(f, "{}={}", self.key, self.value),
            target => write!(f, "{target}.{}={}", self.key, self.value),
        }
    }
}

/// The flag of a value of the policy, without dashes.
pub(crate) fn flag_of(key: &str) -> Option<&'static str> {
    super::options::find_policy(key)?.flag.map(|(flag, _)| flag)
}

impl FromStr for Parameter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, value) = text
            .split_once('=')
            .ok_or("expected ROLE.KEY=VALUE, KEY=VALUE or settings.NAME=VALUE")?;
        let (target, key) = match name.split_once('.') {
            None => (Target::Any, name),
            Some(("settings", key)) => (Target::Setting, key),
            Some((role, key)) => match Role::ALL.into_iter().find(|known| known.name() == role) {
                Some(role) => (Target::Role(role), key),
                None if role == "policy" => {
                    return Err(match flag_of(key) {
                        Some(flag) => format!("the policy has flags of its own: use --{flag}"),
                        None => format!("the policy has no `{key}`"),
                    });
                }
                None => {
                    return Err(format!(
                        "`{role}` is no role: {} or settings",
                        Role::ALL.map(Role::name).join(", ")
                    ));
                }
            },
        };
        if key.trim().is_empty() {
            return Err("the key before `=` is empty".to_owned());
        }
        let value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()));
        Ok(Self { target, key: key.to_owned(), value })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn read(text: &str) -> Parameter {
        text.parse().unwrap()
    }

    #[test]
    fn targets_and_values() {
        let planner =
            Parameter { target: Target::Role(Role::Planner), key: "width".into(), value: json!(3) };
        assert_eq!(read("planner.width=3"), planner);
        assert_eq!(
            read("width=wide"),
            Parameter { target: Target::Any, key: "width".into(), value: json!("wide") }
        );
        assert_eq!(read("settings.a.b={\"x\": [1]}").value, json!({"x": [1]}));
        assert_eq!(
            (read("settings.a.b=1").key, read("x=a=b").value),
            ("a.b".to_owned(), json!("a=b"))
        );
        assert_eq!(read("x=\"3\"").value, json!("3"));
    }

    #[test]
    fn wrong_ones_are_refused() {
        for text in ["", "x", "=1", "planner.=1", "planer.x=1", "settings. =1"] {
            assert!(text.parse::<Parameter>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_policy_is_set_by_flags() {
        let wrong = |text: &str| text.parse::<Parameter>().unwrap_err();
        assert_eq!(
            wrong("policy.max_attempts=3"),
            "the policy has flags of its own: use --max-attempts"
        );
        assert_eq!(
            wrong("policy.high_confidence=1"),
            "the policy has flags of its own: use --high-conf"
        );
        assert_eq!(wrong("policy.nothing=1"), "the policy has no `nothing`");
        assert_eq!(flag_of("rounds"), None);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            key in "[a-z_]{1,9}", value in any::<String>(), number in any::<i64>()
        ) {
            let text = json!(value).to_string();
            prop_assert_eq!(read(&format!("solver.{key}={text}")).value, json!(value));
            let read = read(&format!("{key}={number}"));
            prop_assert_eq!((read.key, read.value), (key, json!(number)));
        }

        #[test]
        fn any_text_is_read_or_refused(text in any::<String>()) {
            let _ = text.parse::<Parameter>();
        }
    }
}
