//! Tests of the whole program, through the binary as a user runs it. One file a subject; each is a
//! module here.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a test fails by panicking, and says what it measured"
)]

mod acceptance;
mod adding;
mod audit;
mod bad_input;
mod batch;
mod benchmark;
mod cache;
mod calibrate;
mod circles;
mod clarify;
mod cluster;
mod compare;
mod completions;
mod contract;
mod conversations;
mod cosign;
mod cost;
mod crates;
mod defined;
mod doctor;
mod endpoint;
#[cfg(unix)]
mod engines;
mod eval;
mod examples;
mod files_of_rows;
mod forged;
mod grid;
mod idiom;
#[cfg(target_os = "linux")]
mod isolate;
mod languages;
mod linking;
mod live;
mod locked;
mod logging;
mod mcp;
mod metric;
mod money;
mod obedient;
mod offline_figures;
mod optimize;
mod output;
mod plugin;
#[cfg(unix)]
mod postgres;
mod projects;
#[cfg(unix)]
mod prompt;
mod readme;
mod recorded;
mod registry;
mod replay;
mod resume;
mod retrieval;
mod semantics;
mod serve;
mod side_by_side;
mod simulated;
mod statements;
mod strategies;
mod suites;
mod trace;
mod trust;
mod zoo;

use std::path::Path;
use std::process::Command;

use syrch_kit::shop;

/// The variable that names the strategy.
const STRATEGY: &str = "SYRCH_STRATEGY";

/// The binary as on a first run: no configuration, no key; compiled plugins are shared between
/// tests, answers are not.
fn host() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_syrch-host"));
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if [
            "SYRCH_",
            "OPENAI_",
            "ANTHROPIC_",
            "PG",
            "DATABRICKS_",
            "ARM_",
            "AZURE_",
            "SPARK_",
            "DOCKER_",
        ]
        .iter()
        .any(|start| name.starts_with(start))
        {
            command.env_remove(&*name);
        }
    }
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("home");
    std::fs::create_dir_all(&home).unwrap();
    lives_in(&mut command, &home).env("SYRCH_CACHE_DIR", home.join("cache")).current_dir(&home);
    // Most scripts of models are for its prompts; tests of the default remove it again.
    command.env(STRATEGY, syrch::strategies::DEFAULT);
    // A port of this endpoint may have been that of another test's, whose answers must not be
    // reused here.
    command.env("SYRCH_CACHE", "no");
    command
}

/// Gives the program a home. All homes have one key of compiled plugins, since they share the code:
/// with a key of its own, each would compile them anew.
fn lives_in<'a>(command: &'a mut Command, home: &Path) -> &'a mut Command {
    const KEY: [u8; 32] = *b"the key of every home of a test.";
    let state = home.join(".local/state/syrch");
    let key = state.join("compiled.key");
    if std::fs::read(&key).ok().as_deref() != Some(&KEY) {
        std::fs::create_dir_all(&state).unwrap();
        // Put in place whole: tests may do so side by side.
        let mut file = tempfile::NamedTempFile::new_in(&state).unwrap();
        std::io::Write::write_all(&mut file, &KEY).unwrap();
        file.persist(&key).unwrap();
    }
    command.env("HOME", home)
}

/// Every file here is a module of this program: none is forgotten.
#[test]
fn no_test_file_is_forgotten() {
    let folder = syrch_kit::repository().join("tests/e2e");
    let main = std::fs::read_to_string(folder.join("main.rs")).unwrap();
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if let Some(module) = name.strip_suffix(".rs").filter(|module| *module != "main") {
            assert!(main.contains(&format!("\nmod {module};")), "tests/e2e/{name} is not run");
        }
    }
}
