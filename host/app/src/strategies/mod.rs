//! Strategies by name: files with the plugin of each role, its settings, and the policy. This is
//! the only file that knows their names.
//!
//! The files of `plugins/strategies` travel in the binary; others are read from where they lie. A
//! file holds values, not code: whatever a strategy does, its plugins do. A flow of nodes is a
//! value as well, which the plugin [`FLOW`] runs. A file never holds endpoints, keys, databases,
//! grants or budgets.
//!
//! ```
//! use syrch::{Host, strategies};
//!
//! let chosen = strategies::find(strategies::WITH_MODEL)?;
//! let host = Host::builder()
//!     .database("shop.sqlite")
//!     .configure(|settings| chosen.apply(settings));
//! # drop(host);
//! # Ok::<(), syrch::Error>(())
//! ```

mod check;
mod definition;
mod error;
mod policy;
mod read;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;

use syrch_core::roles::Role;
use syrch_core::text::nearest;

pub use check::check;
pub use definition::{Definition, Part};
pub use error::StrategyError;
pub use policy::{LIMITS, Limit};

use crate::settings::{ModelSettings, Strategy};
use crate::{Settings, recordings, yaml};

include!(concat!(env!("OUT_DIR"), "/strategies.rs"));

/// The default strategy without a model. What a strategy's file leaves out is as in this one.
pub const DEFAULT: &str = "decompose";

/// The default strategy with a model; `docs/strategies.md` has the figures for it.
pub const WITH_MODEL: &str = "repair3of9";

/// Earlier names of built-in strategies, which [`find`] still accepts, each with the present one.
const ALIASES: [(&str, &str); 1] = [("founding", "decompose")];

/// The word in a plugin's place for a role without a plugin. Only the linker may be left out.
pub const NOBODY: &str = "none";

/// The plugin that runs flows, which is also the key of a flow in a strategy file and in the
/// settings of the plugin.
pub const FLOW: &str = "flow";

/// The JSON Schema (draft 2020-12) of strategy files, for editors.
pub const SCHEMA: &str = include_str!("../../../../plugins/strategies/strategy.schema.json");

/// The built-in strategies' names, sorted.
pub fn names() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(name, _)| *name)
}

/// Returns whether a word is a file's path rather than a built-in's name: it has a separator, or
/// ends in `.yml` or `.yaml`.
#[must_use]
pub fn is_file(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    word.contains(['/', '\\']) || lower.ends_with(".yml") || lower.ends_with(".yaml")
}

/// The strategy of that name, or of the file at that path. Its plugins are not looked at: [`check`]
/// does.
///
/// # Errors
/// When no built-in is called so, or the file cannot be read, or something in it is wrong.
pub fn find(word: &str) -> Result<Definition, StrategyError> {
    if is_file(word) {
        let path = Path::new(word);
        let text = yaml::text_of(path, false)
            .map_err(|why| StrategyError::Unreadable { file: word.to_owned(), why })?;
        let read = read::read(&text, word, path.parent(), default_definition())?;
        return Ok(Definition { path: Some(path.to_owned()), ..read });
    }
    let word = ALIASES.iter().find(|(alias, _)| *alias == word).map_or(word, |(_, name)| name);
    match FILES.iter().find(|(name, _)| *name == word) {
        Some((name, text)) => read::read(text, &format!("{name}.yml"), None, default_definition()),
        None => {
            Err(StrategyError::Unknown { name: word.to_owned(), similar: nearest(word, names()) })
        }
    }
}

/// The name of the default strategy with that model: [`DEFAULT`] if rules answer, or a recording of
/// them, and [`WITH_MODEL`] otherwise.
#[must_use]
pub fn default_for(model: &ModelSettings) -> &'static str {
    let by_rules = match &model.replay {
        Some(recording) => recordings::is_by_rules(recording),
        None => model.is_by_rules(),
    };
    if by_rules { DEFAULT } else { WITH_MODEL }
}

/// Chooses the strategy by the model, if nobody named one. The plugins of the roles in `named`
/// stay, as do those that are not the default ones, and settings of plugins that are set already.
pub fn settle(settings: &mut Settings, named: &BTreeSet<Role>) {
    if !std::mem::take(&mut settings.strategy.is_default) {
        return;
    }
    let name = default_for(&settings.model);
    let (Some(default), Ok(chosen)) = (default_definition(), find(name)) else { return };
    let strategy = &mut settings.strategy;
    name.clone_into(&mut strategy.name);
    for (role, part) in chosen.roles {
        let before = default.roles.get(&role).map(|part| &part.plugin);
        if named.contains(&role) || strategy.roles.get(&role) != before {
            continue;
        }
        strategy.roles.insert(role, part.plugin);
        if !part.config.is_empty() {
            let config = strategy.config.entry(role).or_default();
            part.config.into_iter().for_each(|(key, value)| _ = config.entry(key).or_insert(value));
        }
    }
}

/// The strategy [`DEFAULT`]. A test reads every built-in file; without it each role must be named
/// by hand, and [`crate::Host::open`] returns an error.
fn default_definition() -> Option<&'static Definition> {
    static READ: LazyLock<Option<Definition>> = LazyLock::new(|| {
        let (name, text) = FILES.iter().find(|(name, _)| *name == DEFAULT)?;
        read::read(text, &format!("{name}.yml"), None, None).ok()
    });
    READ.as_ref()
}

impl Default for Strategy {
    /// The strategy with the name [`DEFAULT`], which [`settle`] may replace.
    fn default() -> Self {
        let strategy = default_definition().map(Definition::strategy).unwrap_or(Self {
            name: DEFAULT.to_owned(),
            roles: [].into(),
            config: [].into(),
            file: None,
            named_by: [].into(),
            is_default: true,
        });
        Self { is_default: true, ..strategy }
    }
}
