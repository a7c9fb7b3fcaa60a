//! Rust: cargo makes the component itself.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::Build;
use super::run::ask;
use crate::Error;

const TARGET: &str = "wasm32-wasip2";
const INSTALL: &str = "install Rust by rustup, https://rustup.rs";

pub(super) fn build(build: &Build<'_>, out: &Path) -> Result<(), Error> {
    target(build)?;
    build.runner.step("cargo build");
    let mut cargo = Command::new("cargo");
    cargo.current_dir(&build.project.folder).args(["build", "--release", "--target", TARGET]);
    cargo.arg("--message-format=json-render-diagnostics");
    let messages = build.runner.read(&format!("cargo build --release --target {TARGET}"), &mut cargo, INSTALL)?;
    let made =
        made(&String::from_utf8_lossy(&messages), &build.project.folder.join("Cargo.toml")).ok_or_else(|| {
            let why = "Cargo.toml has no library with `crate-type = [\"cdylib\"]`".to_owned();
            Error::NothingMade { tool: "cargo build".to_owned(), why }
        })?;
    std::fs::copy(&made, out).map(drop).map_err(|error| Error::file(&made, error))
}

/// Adds the target where it is missing.
fn target(build: &Build<'_>) -> Result<(), Error> {
    let rustc = ["--print", "target-libdir", "--target", TARGET];
    let libdir = ask(Command::new("rustc").current_dir(&build.project.folder).args(rustc))
        .ok_or_else(|| Error::Missing { tool: "rustc".to_owned(), install: INSTALL.to_owned() })?;
    if Path::new(&libdir).is_dir() {
        return Ok(());
    }
    build.runner.step(&format!("rustup target add {TARGET} (once)"));
    let install = format!("the target {TARGET} of this Rust is missing, and there is no rustup to add it; {INSTALL}");
    let mut rustup = Command::new("rustup");
    build.runner.run(
        &format!("rustup target add {TARGET}"),
        rustup.current_dir(&build.project.folder).args(["target", "add", TARGET]),
        &install,
    )
}

/// The component among what cargo reports that it made of the package of this manifest.
fn made(messages: &str, manifest: &Path) -> Option<PathBuf> {
    let of_package = |message: &Value| {
        message.get("reason").is_some_and(|reason| reason == "compiler-artifact")
            && message.get("manifest_path").and_then(Value::as_str).is_some_and(|path| Path::new(path) == manifest)
    };
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()).filter(of_package);
    let files = messages.filter_map(|message| message.get("filenames")?.as_array().cloned()).flatten();
    let mut paths = files.filter_map(|file| file.as_str().map(PathBuf::from));
    paths.rfind(|path| path.extension().is_some_and(|ending| ending == "wasm"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_component_is_that_of_the_package() {
        let messages = [
            r#"{"reason":"compiler-artifact","manifest_path":"/p/sdk/rust/Cargo.toml","filenames":["/p/target/x.wasm"]}"#,
            "no JSON",
            r#"{"reason":"compiler-artifact","manifest_path":"/p/Cargo.toml","filenames":["/p/target/libp.rlib","/p/target/p.wasm"]}"#,
            r#"{"reason":"build-finished","success":true}"#,
        ]
        .join("\n");
        assert_eq!(made(&messages, Path::new("/p/Cargo.toml")), Some(PathBuf::from("/p/target/p.wasm")));
        assert_eq!(made(&messages, Path::new("/q/Cargo.toml")), None);
    }
}
