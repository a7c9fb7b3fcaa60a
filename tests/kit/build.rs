//! Builds the hostile guests of `tests/zoo`, so that no test can run against an old one.
// A build script gets all its inputs from the environment.
#![allow(clippy::disallowed_methods, clippy::print_stdout)]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(&std::env::var("CARGO_MANIFEST_DIR")?).join("../..").canonicalize()?;
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    // Not `sdk/rust` itself, in whose examples the tests build.
    let watched =
        ["tests/zoo", "sdk/rust/Cargo.toml", "sdk/rust/src", "wit", "Cargo.toml", "Cargo.lock"];
    for watched in watched {
        println!("cargo::rerun-if-changed={}", root.join(watched).display());
    }
    let target_dir =
        out.ancestors().nth(4).ok_or("OUT_DIR is not where cargo puts it")?.join("plugins");
    let mut cargo = Command::new(std::env::var("CARGO")?);
    cargo.current_dir(&root).args([
        "build",
        "--quiet",
        "-p",
        "zoo-hostile",
        "-p",
        "zoo-mute",
        "-p",
        "zoo-schema",
    ]);
    cargo
        .args(["--target", "wasm32-wasip2", "--profile", "plugin", "--target-dir"])
        .arg(&target_dir);
    for set_by_cargo in [
        "CARGO_ENCODED_RUSTFLAGS",
        "RUSTC_WORKSPACE_WRAPPER",
        "CARGO_BUILD_TARGET",
        "CARGO_TARGET_DIR",
    ] {
        cargo.env_remove(set_by_cargo);
    }
    if !cargo.status()?.success() {
        return Err("the hostile guests do not build; see above".into());
    }
    let folder = target_dir.join("wasm32-wasip2/plugin");
    println!("cargo::rustc-env=ZOO_HOSTILE={}", folder.join("zoo_hostile.wasm").display());
    println!("cargo::rustc-env=ZOO_SCHEMA={}", folder.join("zoo_schema.wasm").display());
    println!("cargo::rustc-env=ZOO_MUTE={}", folder.join("zoo_mute.wasm").display());
    Ok(())
}
