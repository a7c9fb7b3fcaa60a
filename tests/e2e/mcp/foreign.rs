//! Clients that nobody here wrote, where `tests/mcp/install.sh` has installed them: the official
//! SDKs, the conformance suite and the Inspector's command line.

use std::process::Command;

use syrch_kit::repository;

use crate::{host, shop};

/// Runs a script of `tests/mcp` with a program of the installed ones.
fn run(program: &str, script: &str) {
    let Some(folder) = syrch_kit::find_mcp_clients() else { return };
    let work = syrch_kit::scratch();
    let shop = shop(work.path());
    // What the test's own host has of the environment, and nothing of the user's.
    let own = host();
    let mut command = Command::new(folder.join(program));
    for (name, value) in own.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
        .env("TEST_HOST", env!("CARGO_BIN_EXE_syrch-host"))
        .env("TEST_SHOP", shop)
        .env("TEST_CLIENTS", &folder)
        .env("TEST_WORK", work.path())
        .current_dir(folder.join("node"))
        .arg(repository().join("tests/mcp").join(script));
    let output = command.output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    println!("{stdout}");
    assert!(output.status.success(), "{script}: {}\n{stdout}\n{stderr}", output.status);
}

const NODE: &str = "node/node_modules/.bin/node";

#[test]
fn the_sdk_of_python_is_a_client() {
    run("python/bin/python", "python_sdk.py");
}

#[test]
fn the_sdk_of_typescript_is_a_client() {
    run(NODE, "typescript_sdk.mjs");
}

#[test]
fn the_stateless_sdk_of_typescript_is_a_client() {
    run(NODE, "typescript_client.mjs");
}

#[test]
fn the_conformance_suite_passes() {
    run(NODE, "conformance.mjs");
}

#[test]
fn the_inspector_calls_tools() {
    run(NODE, "inspector.mjs");
}

/// Each script is run by a test of this file; the installer and what scripts share are no tests.
#[test]
fn no_script_is_forgotten() {
    let this = include_str!("foreign.rs");
    for entry in std::fs::read_dir(repository().join("tests/mcp")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let is_shared = ["install.sh", "server.mjs"].contains(&name.as_str());
        assert!(is_shared || this.contains(&format!("\"{name}\"")), "tests/mcp/{name} is not run");
    }
}
