//! Tells the program which wasmtime it carries, for `doctor`: the workspace's lock file knows. Strips the released binary.
#![allow(clippy::disallowed_methods, clippy::print_stdout)] // A build script is told everything through the environment.

use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let lock = Path::new(&std::env::var("CARGO_MANIFEST_DIR")?).join("../../Cargo.lock");
    println!("cargo::rerun-if-changed={}", lock.display());
    let text = std::fs::read_to_string(lock)?;
    let mut lines = text.lines().skip_while(|line| *line != "name = \"wasmtime\"");
    let version = lines.nth(1).and_then(|line| line.strip_prefix("version = \"")?.strip_suffix('"'));
    println!("cargo::rustc-env=WASMTIME_VERSION={}", version.ok_or("the lock file has no wasmtime")?);
    let is = |variable: &str, value: &str| std::env::var(variable).is_ok_and(|found| found == value);
    if is("PROFILE", "release") && is("CARGO_CFG_TARGET_OS", "linux") {
        println!("cargo::rustc-link-arg-bins=-Wl,--strip-all");
        // The 130,000 addresses that the loader fills in take a fiftieth of the space; linkers that do not know it say so and go on.
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
    Ok(())
}
