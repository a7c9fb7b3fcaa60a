//! Parses the word that names an arm on the command line: a strategy, or a plugin in its role, and
//! perhaps settings behind a colon.

use std::path::Path;

use serde_json::Value;
use syrch::settings::PluginSource;
use syrch::strategies;
use syrch::syrch_core::roles::Role;
use syrch::syrch_core::text::nearest;

use crate::commands::grid::{Named, list};
use crate::failure::{Failure, Outcome, alternatives};

/// An arm as it was written.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Word {
    /// The argument as it was written, for messages and names.
    pub(super) text: String,
    /// The strategy or plugin.
    pub(super) who: Who,
    /// The settings that it sets beside that, with the names as they were written.
    pub(super) settings: Vec<(Named, String, Value)>,
    /// The settings as they were written, with the colon.
    suffix: String,
}

/// The strategy or plugin that an arm names.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Who {
    /// A strategy: a built-in's name, or a file.
    Strategy(String),
    /// A plugin with its role. `None` means the only role that it implements.
    Plugin(Option<Role>, String),
}

impl Word {
    /// Reads an arm: a strategy or plugin, and its settings behind a colon.
    pub(super) fn read(text: &str) -> Outcome<Self> {
        let (head, suffix) = split(text);
        let wrong = |why: String| Failure::usage(format!("the arm `{text}`: {why}"));
        let mut settings = Vec::new();
        if let Some(list) = suffix.strip_prefix(':') {
            for (name, value) in list::settings(list).map_err(wrong)? {
                settings.push((name.parse().map_err(wrong)?, name, value));
            }
        }
        Ok(Self {
            text: text.to_owned(),
            who: Who::read(head, text)?,
            settings,
            suffix: suffix.to_owned(),
        })
    }

    /// A short name of the arm, with the stem of a file in place of its path.
    pub(super) fn short_name(&self) -> String {
        let who = match &self.who {
            Who::Strategy(word) if strategies::is_file(word) => stem(word),
            Who::Strategy(name) => name.clone(),
            Who::Plugin(None, plugin) => stem(plugin),
            Who::Plugin(Some(role), plugin) => match PluginSource::parse(plugin) {
                PluginSource::Builtin(name) => format!("{role}={name}"),
                PluginSource::File(_) => format!("{role}={}", stem(plugin)),
            },
        };
        who + &self.suffix
    }
}

/// Takes the settings off: from the first colon on that `NAME=` follows. A file that is called so
/// is one.
fn split(text: &str) -> (&str, &str) {
    fn is_name(name: &str) -> bool {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c))
    }
    fn begins_setting(text: &str, at: &usize) -> bool {
        text[at + 1..].split_once('=').is_some_and(|(name, _)| is_name(name))
    }
    let colon = text.match_indices(':').map(|(at, _)| at).find(|at| begins_setting(text, at));
    match colon.filter(|_| !Path::new(text).is_file()) {
        Some(at) => text.split_at(at),
        None => (text, ""),
    }
}

impl Who {
    fn read(head: &str, text: &str) -> Outcome<Self> {
        fn is_plain(role: &str) -> bool {
            role.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
        }
        if let Some((role, plugin)) = head.split_once('=').filter(|(role, _)| is_plain(role)) {
            let Some(known) = Role::SEARCH.into_iter().find(|known| known.name() == role) else {
                let failure =
                    Failure::usage(format!("the arm `{text}`: `{role}` is no role of a search"));
                let near = alternatives(&nearest(role, Role::SEARCH.map(Role::name)));
                return Err(failure.hint(near.map_or_else(
                    || format!("the roles are {}", Role::SEARCH.map(Role::name).join(", ")),
                    |names| format!("did you mean {names}?"),
                )));
            };
            if plugin.trim().is_empty() {
                return Err(Failure::usage(format!(
                    "the arm `{text}` names no plugin for the {role}"
                )));
            }
            return Ok(Self::Plugin(Some(known), plugin.to_owned()));
        }
        if head.trim().is_empty() {
            return Err(Failure::usage(format!(
                "the arm `{text}` names no strategy and no plugin"
            ))
            .hint(
                "name a strategy, such as decompose, a strategy file, or a plugin in its role, \
                 such as solver=refine",
            ));
        }
        Ok(match head.to_ascii_lowercase().ends_with(".wasm") {
            true => Self::Plugin(None, head.to_owned()),
            false => Self::Strategy(head.to_owned()),
        })
    }
}

fn stem(path: &str) -> String {
    Path::new(path)
        .file_stem()
        .map_or_else(|| path.to_owned(), |stem| stem.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn who(text: &str) -> Who {
        Word::read(text).unwrap().who
    }

    #[test]
    fn strategies_files_and_plugins_are_distinguished() {
        assert_eq!(who("vote5"), Who::Strategy("vote5".into()));
        assert_eq!(who("a/b=c.yml"), Who::Strategy("a/b=c.yml".into()));
        assert_eq!(who("plugins/x.WASM"), Who::Plugin(None, "plugins/x.WASM".into()));
        assert_eq!(who("solver=chase"), Who::Plugin(Some(Role::Solver), "chase".into()));
        assert_eq!(who("C:\\s.yml"), Who::Strategy("C:\\s.yml".into()));
    }

    #[test]
    fn settings_stand_behind_a_colon() {
        let word = Word::read("decompose:solver.rounds=2,policy.max_depth=1").unwrap();
        assert_eq!(word.who, Who::Strategy("decompose".into()));
        let settings: Vec<_> =
            word.settings.iter().map(|(_, name, value)| (name.as_str(), value)).collect();
        assert_eq!(settings, [("solver.rounds", &json!(2)), ("policy.max_depth", &json!(1))]);
        assert_eq!(word.short_name(), "decompose:solver.rounds=2,policy.max_depth=1");
        let plugin = Word::read("solver=a:b/x.wasm:rounds=[1,2]").unwrap();
        assert_eq!(
            (plugin.who, plugin.settings.len()),
            (Who::Plugin(Some(Role::Solver), "a:b/x.wasm".into()), 1)
        );
    }

    #[test]
    fn short_names_leave_out_folders() {
        let short = |text: &str| Word::read(text).unwrap().short_name();
        assert_eq!(short("a/b/mine.yml:x=1"), "mine:x=1");
        assert_eq!(
            (short("plugins/x.wasm"), short("solver=plugins/x.wasm")),
            ("x".into(), "solver=x".into())
        );
        assert_eq!(
            (short("solver=chase"), short("vote5")),
            ("solver=chase".into(), "vote5".into())
        );
    }

    #[test]
    fn wrong_words_are_explained() {
        let failure = |text: &str| Word::read(text).unwrap_err();
        assert_eq!(failure("slover=chase").hint.as_deref(), Some("did you mean `solver`?"));
        assert_eq!(failure("solver=").message, "the arm `solver=` names no plugin for the solver");
        assert_eq!(failure("").message, "the arm `` names no strategy and no plugin");
        assert_eq!(failure(":x=1").message, "the arm `:x=1` names no strategy and no plugin");
        assert!(
            failure("vote5:policy.x=1")
                .message
                .starts_with("the arm `vote5:policy.x=1`: the policy has no `x`")
        );
        assert!(failure("vote5:x=1,2").message.contains("`2` is not NAME=VALUE"));
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_an_arm_or_refused(text in proptest::prelude::any::<String>()) {
            if let Ok(word) = Word::read(&text) {
                proptest::prop_assert_eq!(&word.text, &text);
                drop(word.short_name());
            }
        }
    }
}
