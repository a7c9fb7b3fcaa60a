//! A key of a configuration file with its value.

use serde_json::Value;

use super::Origin;
use super::parameter::Target;
use super::spec::Spec;

/// A key of a file with its value.
pub(crate) enum Entry {
    /// An option of the list of options.
    Option(&'static Spec, Value, Origin),
    /// A plugin's own setting, or a setting by name.
    Parameter(Target, String, Value, Origin),
    /// A key of the Python package that has no effect here, and its replacement.
    Replaced(String, &'static str, Origin),
}

impl Entry {
    /// The key as it is written in a file.
    pub(super) fn key(&self) -> String {
        match self {
            Self::Option(spec, ..) => spec.key.to_owned(),
            Self::Parameter(target, key, ..) => target.key(key),
            Self::Replaced(key, ..) => key.clone(),
        }
    }

    /// The file and line of the entry.
    pub(super) fn origin(&self) -> &Origin {
        match self {
            Self::Option(.., origin) | Self::Parameter(.., origin) | Self::Replaced(.., origin) => {
                origin
            }
        }
    }
}
