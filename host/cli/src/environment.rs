//! The only file that reads the environment.

use std::collections::BTreeMap;
use std::path::PathBuf;

use syrch::secrecy::SecretString;

/// What the variables of keys begin with: the default endpoint's, and with a name behind it those of the others.
pub(crate) const KEY: &str = "SYRCH_API_KEY";

/// What the environment says, read once. Not `Debug`: it holds keys.
#[derive(Clone, Default)]
pub(crate) struct Environment {
    /// `SYRCH_*`, empty values left out; none: not UTF-8.
    pub(crate) syrch: BTreeMap<String, Option<String>>,
    /// `OPENAI_API_KEY`.
    pub(crate) openai_key: Option<String>,
    /// `ANTHROPIC_API_KEY`.
    pub(crate) anthropic_key: Option<String>,
    /// The user's home.
    pub(crate) home: Option<PathBuf>,
    /// `XDG_CACHE_HOME`, when it is absolute.
    pub(crate) cache_home: Option<PathBuf>,
    /// `XDG_STATE_HOME`, when it is absolute.
    pub(crate) state_home: Option<PathBuf>,
    /// Whether the terminal cannot redraw a line: `TERM=dumb`.
    pub(crate) dumb_terminal: bool,
    /// Whether `NO_COLOR` asks for no colour.
    pub(crate) no_color: bool,
}

impl Environment {
    /// Reads it.
    #[allow(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]
    pub(crate) fn read() -> Self {
        let path = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let syrch = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
            .filter(|(name, value)| name.starts_with("SYRCH_") && !value.is_empty())
            .map(|(name, value)| (name, value.into_string().ok()))
            .collect();
        let key = |name: &str| std::env::var(name).ok().filter(|key| !key.trim().is_empty());
        Self {
            syrch,
            openai_key: key("OPENAI_API_KEY"),
            anthropic_key: key("ANTHROPIC_API_KEY"),
            home: path("HOME").or_else(|| path("USERPROFILE")),
            cache_home: path("XDG_CACHE_HOME").filter(|path| path.is_absolute()),
            state_home: path("XDG_STATE_HOME").filter(|path| path.is_absolute()),
            dumb_terminal: std::env::var_os("TERM").is_some_and(|term| term == "dumb"),
            no_color: path("NO_COLOR").is_some(),
        }
    }

    /// Every key that it holds, whoever is given it.
    pub(crate) fn keys(&self) -> impl Iterator<Item = SecretString> {
        let own = self.syrch.iter().filter(|(name, _)| name.starts_with(KEY)).filter_map(|(_, value)| value.as_ref());
        own.chain(&self.openai_key).chain(&self.anthropic_key).map(|key| SecretString::from(key.clone()))
    }

    /// Where compiled plugins and kept answers are: `SYRCH_CACHE_DIR`, else the user's cache directory; none: nowhere.
    pub(crate) fn cache_dir(&self) -> Option<PathBuf> {
        self.folder("SYRCH_CACHE_DIR", self.cache_home.as_ref(), ".cache")
    }

    /// Where what was done is kept, such as the history of the prompt: `SYRCH_STATE_DIR`, else the user's state directory; none: nowhere.
    pub(crate) fn state_dir(&self) -> Option<PathBuf> {
        self.folder("SYRCH_STATE_DIR", self.state_home.as_ref(), ".local/state")
    }

    fn folder(&self, own: &str, base: Option<&PathBuf>, below_home: &str) -> Option<PathBuf> {
        let own = self.syrch.get(own).cloned().flatten().map(PathBuf::from);
        let base = || base.cloned().or_else(|| Some(self.home.as_ref()?.join(below_home)));
        own.or_else(|| Some(base()?.join("syrch")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_directory_has_three_sources() {
        let mut environment = Environment { home: Some("/home/ada".into()), ..Environment::default() };
        assert_eq!(environment.cache_dir(), Some("/home/ada/.cache/syrch".into()));
        environment.cache_home = Some("/cache".into());
        assert_eq!(environment.cache_dir(), Some("/cache/syrch".into()));
        environment.syrch.insert("SYRCH_CACHE_DIR".into(), Some("mine".into()));
        assert_eq!(environment.cache_dir(), Some("mine".into()));
        assert_eq!(Environment::default().cache_dir(), None);
    }

    #[test]
    fn so_has_the_state_directory() {
        let mut environment = Environment { home: Some("/home/ada".into()), ..Environment::default() };
        assert_eq!(environment.state_dir(), Some("/home/ada/.local/state/syrch".into()));
        environment.state_home = Some("/state".into());
        assert_eq!(environment.state_dir(), Some("/state/syrch".into()));
        environment.syrch.insert("SYRCH_STATE_DIR".into(), Some("mine".into()));
        assert_eq!(environment.state_dir(), Some("mine".into()));
        assert_eq!(Environment::default().state_dir(), None);
    }
}
