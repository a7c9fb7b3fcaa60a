//! The table that the SDKs of all languages share: `sdk/vectors/prompts.json` has for each input
//! the exact output of this crate. The other SDKs are tested with the same table.
//!
//! `cargo test -p syrch-plugin --test vectors -- --ignored` writes it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod cases;
mod compute;
mod read;
mod write;

use std::path::PathBuf;

use serde_json::{Value as Json, json};

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../vectors/prompts.json")
}

/// The whole file: one case on each line.
fn table() -> String {
    let mut out = "{\"cases\": [\n".to_owned();
    let cases = cases::all();
    for (index, (function, name, input)) in cases.iter().enumerate() {
        let output = compute::output(function, input);
        let case = json!({ "function": function, "name": name, "input": input, "output": output });
        out += &format!("{case}{}\n", if index + 1 < cases.len() { "," } else { "" });
    }
    out + "]}\n"
}

#[test]
fn the_table_is_what_this_sdk_makes() {
    let written = std::fs::read_to_string(path()).unwrap();
    let made = table();
    for (written, made) in written.lines().zip(made.lines()) {
        assert_eq!(
            written, made,
            "`cargo test -p syrch-plugin --test vectors -- --ignored` writes the table again"
        );
    }
    assert_eq!(written.lines().count(), made.lines().count());
    // Every case is found by its name.
    let file: Json = serde_json::from_str(&written).unwrap();
    let cases = file["cases"].as_array().unwrap();
    let mut names: Vec<String> =
        cases.iter().map(|case| format!("{}: {}", case["function"], case["name"])).collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), cases.len());
}

#[test]
#[ignore = "writes the table"]
fn write_the_table() {
    std::fs::write(path(), table()).unwrap();
}
