//! Sets `WASMTIME_VERSION` to the version in the workspace's lock file and `SYRCH_COMMIT` to the
//! commit, which `--version` and `doctor` show, and says how the program is linked: stripped in a
//! release, quick to start in a debug build.
// A build script gets its input from the environment.
#![allow(clippy::disallowed_methods, clippy::print_stdout)]

use std::error::Error;
use std::path::Path;
use std::process::Command;

/// The variable with the commit of the sources, where there is no repository around them.
const COMMIT: &str = "SYRCH_COMMIT";

fn main() -> Result<(), Box<dyn Error>> {
    let lock = Path::new(&std::env::var("CARGO_MANIFEST_DIR")?).join("../../Cargo.lock");
    println!("cargo::rerun-if-changed={}", lock.display());
    let text = std::fs::read_to_string(lock)?;
    let mut lines = text.lines().skip_while(|line| *line != "name = \"wasmtime\"");
    let version =
        lines.nth(1).and_then(|line| line.strip_prefix("version = \"")?.strip_suffix('"'));
    println!(
        "cargo::rustc-env=WASMTIME_VERSION={}",
        version.ok_or("the lock file has no wasmtime")?
    );
    println!("cargo::rerun-if-env-changed={COMMIT}");
    let is_release = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let commit = std::env::var(COMMIT).ok().or_else(|| is_release.then(commit).flatten());
    println!("cargo::rustc-env={COMMIT}={}", commit.as_deref().unwrap_or("none"));
    fn is_set_to(variable: &str, value: &str) -> bool {
        std::env::var(variable).is_ok_and(|found| found == value)
    }
    let is_linux = is_set_to("CARGO_CFG_TARGET_OS", "linux");
    let is_gnu = is_linux && is_set_to("CARGO_CFG_TARGET_ENV", "gnu");
    if is_set_to("PROFILE", "debug") && is_gnu {
        // At a fixed place: the loader would fill in half a million addresses at each start, and
        // the tests start it thousands of times.
        println!("cargo::rustc-link-arg=-no-pie");
    }
    if is_set_to("PROFILE", "release") && is_linux {
        println!("cargo::rustc-link-arg-bins=-Wl,--strip-all");
        // The 130,000 addresses that the loader fills in take a fiftieth of the space. Such a
        // program starts with this loader or a newer one.
        let is_for_here = std::env::var("HOST")? == std::env::var("TARGET")?;
        if is_for_here && is_gnu && glibc().is_some_and(|version| version >= (2, 36)) {
            println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
        }
    }
    Ok(())
}

/// The commit of this repository, with `-dirty` after it where files have changed since. A release
/// alone reads it: a debug build would compile this crate again after each commit.
fn commit() -> Option<String> {
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    println!("cargo::rerun-if-changed={log}");
    git(&["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"])
}

/// The first line that git prints; `None` if it fails.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned()).filter(|line| !line.is_empty())
}

/// The version of this machine's glibc; `None` if it does not report one.
fn glibc() -> Option<(u32, u32)> {
    let said = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let text = String::from_utf8(said.stdout).ok()?;
    let (major, minor) = text.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
