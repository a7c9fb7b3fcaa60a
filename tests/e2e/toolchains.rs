//! Plugins of other toolchains: each is loaded and implements its roles, and errors name the tool that made it.

use std::fs;

use serde_json::{Value, json};
use syrch_kit::toolchains;

use crate::endpoint::Said;
use crate::{host, shop};

fn answers_a_question(name: &str) {
    let folder = syrch_kit::scratch();
    let plugin = folder.path().join("plugin.wasm");
    fs::write(&plugin, toolchains::component(name)).unwrap();
    let inspected = Said::of(host().args(["plugin", "inspect"]).arg(&plugin).output().unwrap());
    assert_eq!(inspected.code, 0, "{}", inspected.all());
    assert!(inspected.stdout.contains("planner") && inspected.stdout.contains("solver"), "{}", inspected.stdout);
    let mut command = host();
    command.args(["--llm", "offline", "--format", "json", "-q", "How many customers are there?", "--db"]);
    command.arg(shop(folder.path())).arg("--planner").arg(&plugin).arg("--solver").arg(&plugin);
    let answered = Said::of(command.output().unwrap());
    assert_eq!(answered.code, 0, "{}", answered.all());
    let document: Value = serde_json::from_str(&answered.stdout).unwrap();
    assert_eq!(document["sql"], "SELECT 1 AS n", "{document:#}");
    // The plugin proposes its candidate and logs nothing else about it.
    let candidate = &document["candidates"][0];
    assert_eq!((&candidate["status"], &candidate["reason"]), (&json!("answer"), &json!("always the same statement")));
    assert_eq!(candidate["rationale"], "always the same statement");
}

#[test]
fn components_of_rust_answer() {
    answers_a_question("rust");
}

#[test]
fn components_of_c_answer() {
    answers_a_question("c");
}

#[test]
fn components_of_go_answer() {
    answers_a_question("go");
}

#[test]
fn components_of_quickjs_answer() {
    answers_a_question("qjs");
    answers_a_question("qjs-small");
}

#[test]
fn components_of_python_answer() {
    answers_a_question("python");
}

#[test]
fn every_built_component_is_tried() {
    let folder = syrch_kit::repository().join("tests/toolchains/built");
    let mut built: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap()).collect();
    built.sort_by_key(fs::DirEntry::file_name);
    let mut names = toolchains::NAMES.map(|name| format!("{name}.wasm.gz"));
    names.sort();
    assert_eq!(built.iter().map(|file| file.file_name().into_string().unwrap()).collect::<Vec<_>>(), names);
    let bytes: u64 = built.iter().map(|file| file.metadata().unwrap().len()).sum();
    assert!(bytes <= 10_000_000, "{bytes}");
}

/// The hint of a component that speaks another version of the contract.
#[test]
fn a_hint_names_the_tool_that_made_the_component() {
    for (name, tool) in [
        ("rust", "cargo build"),
        ("c", "clang"),
        ("go", "go build"),
        ("qjs", "componentize-qjs"),
        ("qjs-small", "componentize-qjs"),
        ("python", "componentize-py"),
    ] {
        let folder = syrch_kit::scratch();
        let plugin = folder.path().join("plugin.wasm");
        let mut bytes = toolchains::component(name);
        let old = b"syrch:plugin/planner@0.1.0";
        while let Some(at) = bytes.windows(old.len()).position(|window| window == old) {
            bytes[at..at + old.len()].copy_from_slice(b"syrch:plugin/planner@0.9.0");
        }
        fs::write(&plugin, bytes).unwrap();
        let refused = Said::of(host().args(["plugin", "inspect"]).arg(&plugin).output().unwrap());
        assert_eq!(refused.code, 13, "{name}: {}", refused.all());
        assert!(refused.stderr.contains("0.9.0") && refused.stderr.contains(tool), "{name}: {}", refused.all());
    }
}
