//! Where the hostile guests of `tests/zoo` lie, built anew by the build script whenever they or the contract change.

use std::path::PathBuf;

/// The plugin with every bad habit; its setting `habit` names the one to show.
#[must_use]
pub fn hostile() -> PathBuf {
    PathBuf::from(env!("ZOO_HOSTILE"))
}

/// The plugin that spins when asked who it is.
#[must_use]
pub fn mute() -> PathBuf {
    PathBuf::from(env!("ZOO_MUTE"))
}
