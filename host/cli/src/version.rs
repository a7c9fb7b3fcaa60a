//! The versions that this program is made of.

use syrch::syrch_core::CONTRACT_VERSION;

/// The version of the program.
pub(crate) const PROGRAM: &str = env!("CARGO_PKG_VERSION");
/// The version of the engine that runs plugins.
pub(crate) const WASMTIME: &str = env!("WASMTIME_VERSION");

/// The commit of the sources; `None` for a debug build, which does not read it, and for sources
/// without a repository.
pub(crate) fn commit() -> Option<&'static str> {
    Some(env!("SYRCH_COMMIT")).filter(|commit| *commit != "none")
}

/// The text of `--version` after the name of the program.
pub(crate) fn describe() -> String {
    let commit = commit().unwrap_or("unknown (a debug build, or one without git)");
    format!(
        "{PROGRAM}\ncommit: {commit}\nengine: wasmtime {WASMTIME}\ncontract: {CONTRACT_VERSION}"
    )
}
