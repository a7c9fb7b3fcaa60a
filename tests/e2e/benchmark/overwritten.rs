//! No report takes the place of what its run reads, or of the run itself.

use std::fs;

use serde_json::json;
use syrch_kit::MockEndpoint;

use super::{Bench, script};
use crate::bad_input::assert_refused;
use crate::endpoint::KEY;

#[test]
fn no_report_replaces_an_input_of_any_kind() {
    let bench = Bench::with_questions(2);
    let endpoint = MockEndpoint::start(script());
    let shop = fs::read(bench.place.path().join("shop.sqlite")).unwrap();
    let answers = json!({"id": "q0000", "sql": "SELECT 4"}).to_string();
    let gold = json!({"id": "g", "db": "shop", "question": "How many?", "expected_data": "in.csv"})
        .to_string();
    bench.place.file("gold.jsonl", gold);
    for (file, content, words, what) in [
        (
            "in.md",
            b"name: mine\nroles: {planner: direct}\n".to_vec(),
            "suite.jsonl --strategy ./in.md",
            "a strategy file",
        ),
        (
            "in.json",
            b"{\"execution\": {\"max_depth\": 2}}".to_vec(),
            "suite.jsonl --config in.json",
            "the config file",
        ),
        ("in.md", b"Orders are sales.\n".to_vec(), "suite.jsonl --notes in.md", "the notes"),
        ("in.json", suite_of_one(), "in.json", "the suite"),
        ("in.csv", b"n\n4\n".to_vec(), "gold.jsonl", "expected rows"),
        ("in.csv", shop, "suite.jsonl --db sqlite:in.csv", "database"),
        ("in.json", answers.into_bytes(), "suite.jsonl --answers in.json", "answers to be graded"),
        ("in.json", suite_of_one(), "suite.jsonl --llm simulated:in.json", "suite"),
    ] {
        let path = bench.place.file(file, &content);
        for flag in ["--report", "-o"] {
            let model =
                if words.contains("--llm") { "" } else { "--llm openai --model mock --base-url" };
            let mut command = bench.command(&format!("benchmark {words} {flag} ./{file} {model}"));
            if !model.is_empty() {
                command.arg(endpoint.url()).env("SYRCH_API_KEY", KEY);
            }
            assert_refused(&mut command, 2, &[flag, file, what]);
            assert_eq!(fs::read(&path).unwrap(), content, "{words} {flag}");
        }
    }
    assert_eq!(endpoint.count(), 0);
    assert!(!bench.state().join("suites").exists());
}

fn suite_of_one() -> Vec<u8> {
    json!([{"id": "a", "db": "shop", "question": "How many?", "gold_sql": "SELECT 4"}])
        .to_string()
        .into_bytes()
}

#[test]
fn a_report_does_not_replace_its_own_run() {
    let bench = Bench::with_questions(3);
    assert_eq!(bench.offline("--timed 1").code, 0);
    let run = bench.state().join("suites").join(&bench.runs()[0]);
    for name in ["run.json", "results.jsonl", "times.json"] {
        let path = run.join(name);
        let before = fs::read(&path).unwrap();
        let flags = if name.ends_with(".json") { vec!["--report", "-o"] } else { vec!["-o"] };
        for flag in flags {
            let mut command = bench.command(&format!("report last {flag}"));
            assert_refused(command.arg(&path), 2, &[name, "of the run itself"]);
            assert!(fs::read(&path).unwrap() == before, "{flag} {name}");
        }
    }
    // A new file beside them is allowed.
    let beside = run.join("own.json");
    assert_eq!(bench.say(&format!("report last --report {}", beside.display())).code, 0);
    assert!(beside.exists() && bench.say("report last").code == 0);
}
