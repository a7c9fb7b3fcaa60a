//! Role calls beside the same calls through Extism. A program outside of the workspace measures
//! them, since Extism stands on another wasmtime, which nobody else is to build.

use std::process::{Command, Stdio};

use crate::Outcome;
use crate::child::check_success;
use crate::figure::Figure;
use crate::versus::Versus;
use crate::world::World;

/// Builds the program and runs it. The first build takes minutes.
pub(crate) fn measure(_: &World) -> Outcome<Vec<Figure>> {
    let manifest = syrch_kit::repository().join("tests/bench/extism/Cargo.toml");
    let mut command = Command::new("cargo");
    command
        .args(["run", "--quiet", "--release", "--manifest-path"])
        .arg(manifest)
        .args(["--", "--json"]);
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output()?;
    check_success(&output)?;
    Ok(serde_json::from_slice::<Versus>(&output.stdout)?.figures())
}
