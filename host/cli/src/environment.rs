//! The only file that reads the environment.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// What the environment says, read once. Not `Debug`: it holds keys.
#[derive(Clone, Default)]
pub(crate) struct Environment {
    /// `SYRCH_*`, empty values left out; none: not UTF-8.
    pub(crate) syrch: BTreeMap<String, Option<String>>,
    /// `OPENAI_API_KEY`.
    pub(crate) openai_key: Option<String>,
    /// The user's home.
    pub(crate) home: Option<PathBuf>,
    /// `XDG_CACHE_HOME`, when it is absolute.
    pub(crate) cache_home: Option<PathBuf>,
    /// Whether the terminal can redraw a line.
    pub(crate) dumb_terminal: bool,
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
        Self {
            syrch,
            openai_key: std::env::var("OPENAI_API_KEY").ok().filter(|key| !key.is_empty()),
            home: path("HOME").or_else(|| path("USERPROFILE")),
            cache_home: path("XDG_CACHE_HOME").filter(|path| path.is_absolute()),
            dumb_terminal: std::env::var_os("TERM").is_some_and(|term| term == "dumb"),
        }
    }

    /// Where compiled plugins are kept: `SYRCH_CACHE_DIR`, else the user's cache directory; none: nowhere.
    pub(crate) fn cache_dir(&self) -> Option<PathBuf> {
        let own = self.syrch.get("SYRCH_CACHE_DIR").cloned().flatten().map(PathBuf::from);
        let cache = || self.cache_home.clone().or_else(|| Some(self.home.as_ref()?.join(".cache")));
        own.or_else(|| Some(cache()?.join("syrch")))
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
}
