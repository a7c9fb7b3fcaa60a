//! Where the hostile guests of `tests/zoo` lie, built anew by the build script whenever they or the contract change, and beside them the
//! plugins that the host carries.

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

/// The file of a plugin that the host carries. The host's build script puts it beside the guests, so that it is there wherever the host is.
#[must_use]
pub fn built_in(name: &str) -> PathBuf {
    hostile().with_file_name(format!("{name}.wasm"))
}
