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
//! let default = strategies::find(strategies::DEFAULT)?;
//! let host = Host::builder()
//!     .database("shop.sqlite")
//!     .configure(|settings| default.apply(settings));
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

use std::path::Path;
use std::sync::LazyLock;

use syrch_core::text::nearest;

pub use check::check;
pub use definition::{Definition, Part};
pub use error::StrategyError;
pub use policy::{LIMITS, Limit};

use crate::settings::Strategy;
use crate::yaml;

include!(concat!(env!("OUT_DIR"), "/strategies.rs"));

/// The default strategy. What a strategy's file leaves out is as in this one.
pub const DEFAULT: &str = "decompose";

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

/// The default strategy. A test reads every built-in file; without it each role must be named by
/// hand, and [`crate::Host::open`] returns an error.
fn default_definition() -> Option<&'static Definition> {
    static READ: LazyLock<Option<Definition>> = LazyLock::new(|| {
        let (name, text) = FILES.iter().find(|(name, _)| *name == DEFAULT)?;
        read::read(text, &format!("{name}.yml"), None, None).ok()
    });
    READ.as_ref()
}

impl Default for Strategy {
    /// The strategy with the name [`DEFAULT`].
    fn default() -> Self {
        default_definition().map(Definition::strategy).unwrap_or(Self {
            name: DEFAULT.to_owned(),
            roles: [].into(),
            config: [].into(),
            file: None,
        })
    }
}
