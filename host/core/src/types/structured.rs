//! The choice of replies whose format an endpoint enforces.

use serde::{Deserialize, Serialize};

/// The requests whose replies the endpoint is asked to format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StructuredReplies {
    /// Documents are; statements too, from the first reply of a model on that should hold one and
    /// does not.
    #[default]
    Auto,
    /// Documents and statements are.
    Always,
    /// Nothing is: the prompt alone asks for documents.
    Never,
}

impl StructuredReplies {
    /// The names in settings.
    pub const NAMES: &'static [&'static str] = &["auto", "always", "never"];

    /// Returns its name in settings.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Always => "always",
            Self::Never => "never",
        }
    }

    /// Returns the choice of a name; `None` for any other text.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Auto, Self::Always, Self::Never].into_iter().find(|one| one.name() == name)
    }
}
