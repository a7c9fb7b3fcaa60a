//! Passes the version of the compiler to the program: a figure means little without.
// A build script gets everything through the environment.
#![allow(clippy::disallowed_methods, clippy::print_stdout)]

use std::error::Error;
use std::process::Command;

fn main() -> Result<(), Box<dyn Error>> {
    // No file: the program of `extism` uses this script from its own folder.
    println!("cargo::rerun-if-env-changed=RUSTC");
    let version = Command::new(std::env::var("RUSTC")?).arg("--version").output()?;
    println!("cargo::rustc-env=BENCH_RUSTC={}", String::from_utf8(version.stdout)?.trim());
    println!("cargo::rustc-env=BENCH_PROFILE={}", std::env::var("PROFILE")?);
    Ok(())
}
