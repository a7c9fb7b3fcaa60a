//! `plugin call`, `test`, `check` and `inspect`: what the author of a plugin works with.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};
use syrch_kit::{languages, zoo};

use crate::compare::assert_snapshot;
use crate::endpoint::Said;
use crate::host;

const REWARD: &str = "role: reward
database: |
  CREATE TABLE customers (id INTEGER PRIMARY KEY, city TEXT);
  INSERT INTO customers VALUES (1, 'Vienna'), (2, 'Graz');
rows: full
input:
  problem: {question: 'How many customers?'}
  rivals: [{candidate: {id: a, sql: 'SELECT * FROM customers'}}]
";
const SOLVER: &str = "role: solver
settings: {samples: 3}
database: |
  CREATE TABLE customers (id INTEGER PRIMARY KEY, city TEXT);
  INSERT INTO customers VALUES (1, 'Vienna'), (2, 'Graz');
evaluate: {confidences: [0.5], verdicts: [{accepted: {score: 1.0}}]}
model:
- {sql: 'SELECT count(*) FROM customers', confidence: 0.9}
- {error: {unavailable: no network}}
- {text: \"```sql\\nSELECT count(*) FROM customers\\n```\"}
input: {problem: 'How many customers?'}
";

fn said(folder: &Path, words: &[&str], stdin: &str) -> Said {
    let mut command = host();
    command.current_dir(folder).arg("plugin").args(words);
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.unwrap();
    // A command that reads nothing may have ended already.
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    Said::of(child.wait_with_output().unwrap())
}

fn component(folder: &Path, name: &str) -> String {
    fs::write(folder.join(format!("{name}.wasm")), languages::component(name)).unwrap();
    format!("./{name}.wasm")
}

#[test]
fn a_call_prints_what_the_role_gave_and_each_port_call() {
    let folder = syrch_kit::scratch();
    let place = folder.path();
    fs::write(place.join("one.yml"), SOLVER).unwrap();
    let call = || said(place, &["call", "consistency", "--case", "one.yml"], "").document(0);
    let document = call();
    assert_eq!(document, call(), "equal calls give equal documents");
    assert_eq!((&document["schema"], &document["role"]), (&json!("syrch.call/1"), &json!("solver")));
    for port in ["llm", "sql", "trace", "wait"] {
        assert!(document["used"].as_array().unwrap().contains(&port.into()), "{document:#}");
    }
    let calls = document["calls"].as_array().unwrap();
    let model: Vec<&Value> = calls.iter().filter(|call| call["port"] == "llm").collect();
    assert_eq!(model[0]["reply"]["parsed"], json!({"confidence": 0.9, "sql": "SELECT count(*) FROM customers"}));
    assert_eq!(
        (&model[1]["error"], &model[0]["request"]["temperature"]),
        (&json!({"unavailable": "no network"}), &json!(0.7))
    );
    assert_eq!(document["output"]["candidates"][0]["sql"], "SELECT count(*) FROM customers");
    let sql = calls.iter().find(|call| call["port"] == "sql").unwrap();
    assert_eq!(sql["reply"], json!({"columns": ["count(*)"], "rows": 1, "truncated": false}));
}

#[test]
fn an_input_comes_from_standard_input() {
    let folder = syrch_kit::scratch();
    let place = folder.path();
    let document =
        said(place, &["call", "signals", "calibrator"], r#"{"claims": [0.5, [0.9, {"attempts": 2}]]}"#).document(0);
    assert_eq!(document["output"].as_array().map(Vec::len), Some(2), "{document:#}");
    let shop = crate::shop(place);
    let input = r#"{"rivals": [{"candidate": {"id": "a", "sql": "SELECT * FROM customers"}}]}"#;
    let words = ["call", "execution", "reward", "--db", shop.to_str().unwrap()];
    assert!(said(place, &words, input).document(0)["output"][0]["accepted"].is_object());
    let without = said(place, &words[..3], input);
    assert_eq!(without.code, 10, "{}", without.all());
    assert!(without.stderr.contains("the statement of the rival `a` does not run"), "{}", without.all());
    for (words, stdin, code, expected) in [
        (&["call", "signals", "calibrater"][..], "", 2, "did you mean `calibrator`?"),
        (&["call", "signals", "calibrator"], r#"{"claim": []}"#, 10, "did you mean `claims`?"),
        (&["call", "signals", "calibrator"], "[", 10, "standard input"),
        (&["call", "signals", "reward"], "{}", 13, "does not implement the role reward"),
        (&["call", "signals", "calibrator", "--settings", "[]"], "{}", 2, "a JSON object"),
        (&["call", "signals"], "", 2, "ROLE"),
    ] {
        let said = said(place, words, stdin);
        assert_eq!(said.code, code, "{}", said.all());
        assert!(said.stderr.contains(expected), "{expected}: {}", said.all());
    }
}

#[test]
fn cases_are_compared_with_their_golden_files() {
    let folder = syrch_kit::scratch();
    let place = folder.path();
    let cases = place.join("tests");
    fs::create_dir(&cases).unwrap();
    fs::write(cases.join("rows.yml"), REWARD).unwrap();
    fs::write(cases.join("broken.yml"), "role: reward\ninputs: {}\n").unwrap();
    let test = |words: &[&str]| said(place, &[&["test", "execution", "--cases", "tests"], words].concat(), "");
    let new = test(&["--filter", "rows"]);
    assert_eq!(new.code, 5, "{}", new.all());
    assert!(new.stdout.contains("no golden file") && new.stderr.contains("--update"), "{}", new.all());
    assert_eq!(test(&["--filter", "rows", "--update"]).code, 0);
    assert_eq!(test(&["--filter", "rows"]).code, 0);

    let golden = cases.join("rows.golden.json");
    let text = fs::read_to_string(&golden).unwrap();
    fs::write(&golden, text.replace("ran with 2 rows", "ran with 3 rows")).unwrap();
    let differs = test(&[]);
    assert_eq!(differs.code, 5, "{}", differs.all());
    assert_snapshot(
        "plugin_test.txt",
        &differs.stdout.lines().map(|line| line.trim_end().to_owned() + "\n").collect::<String>(),
    );
    let document = test(&["--format", "json"]).document(5);
    assert_eq!((&document["schema"], &document["failed"]), (&json!("syrch.plugin-test/1"), &json!(2)));
    assert!(document["cases"][1]["difference"].as_array().unwrap().len() > 2, "{document:#}");
    assert_eq!(test(&["--filter", "nothing"]).code, 2);
}

#[test]
fn a_project_without_its_component_is_to_be_built() {
    let folder = syrch_kit::scratch();
    let place = folder.path();
    fs::create_dir_all(place.join("short/tests")).unwrap();
    fs::write(place.join("short/plugin.yml"), "name: short\nlanguage: rust\nroles: [solver]\n").unwrap();
    fs::write(place.join("short/tests/one.yml"), "role: solver\ninput: {problem: 'How many?'}\n").unwrap();
    let missing = said(place, &["test", "short"], "");
    assert_eq!(missing.code, 13, "{}", missing.all());
    assert!(missing.stderr.contains("syrch-host plugin build short"), "{}", missing.all());
    fs::create_dir(place.join("short/build")).unwrap();
    fs::write(place.join("short/build/short.wasm"), languages::component("rust")).unwrap();
    assert_eq!(said(place, &["test", "short", "--update"], "").code, 0);
    let tested = said(place, &["test", "short"], "");
    assert_eq!(tested.code, 0, "{}", tested.all());
    assert_eq!(said(place, &["test", "."], "").code, 10, "no project");
}

#[test]
fn a_component_is_checked_against_the_contract() {
    let folder = syrch_kit::scratch();
    let place = folder.path();
    let fits = said(place, &["check", &component(place, "rust"), "--format", "json"], "").document(0);
    assert_eq!((&fits["fits"], &fits["language"], &fits["error"]), (&json!(true), &json!("Rust"), &Value::Null));

    let bytes = languages::altered("go", "syrch:plugin/planner@0.1.0", "syrch:plugin/planner@0.9.0");
    fs::write(place.join("later.wasm"), bytes).unwrap();
    let later = said(place, &["check", "./later.wasm"], "");
    assert_eq!(later.code, 13, "{}", later.all());
    assert!(
        later.stdout.contains("syrch:plugin/solver@0.1.0")
            && later.stdout.contains("offers `syrch:plugin/planner@0.1.0`")
    );
    assert!(later.stderr.contains("go build"), "{}", later.all());
    let document = said(place, &["check", "./later.wasm", "--format", "json"], "").document(13);
    assert!(document["error"]["hint"].as_str().unwrap().contains("go build"), "{document:#}");
}

/// A function of another type is named, with its type and that of the contract.
#[test]
fn a_function_of_another_type_is_named() {
    let folder = syrch_kit::scratch();
    let place = folder.path();
    let module = r#"(core module $m (memory (export "m") 1)
        (func (export "f") (param i32 i32) (result i32) unreachable)
        (func (export "r") (param i32 i32 i32 i32) (result i32) unreachable))
        (core instance $i (instantiate $m))
        (func $f (param "question" string) (result string)
            (canon lift (core func $i "f") (memory (core memory $i "m")) (realloc (core func $i "r"))))"#;
    let exports = r#"(instance $p (export "plan" (func $f)))
        (export "syrch:plugin/planner@0.1.0" (instance $p)) (export "syrch:plugin/about@0.1.0" (instance $p))"#;
    let import = r#"(import "syrch:plugin/run@0.1.0" (instance (export "seed" (func (result string)))))"#;
    let check = |import: &str| {
        let text = format!("(component {import} {module} {exports})");
        fs::write(place.join("odd.wasm"), wat::parse_str(text).unwrap()).unwrap();
        let said = said(place, &["check", "./odd.wasm"], "");
        assert_eq!(said.code, 13, "{}", said.all());
        said
    };
    let import = check(import);
    let expected = "`seed`: the plugin has `func() -> string`, this host has `func() -> u64`";
    assert!(import.stderr.contains(expected), "{}", import.all());
}

#[test]
fn inspecting_shows_what_made_a_plugin_and_what_it_may_reach() {
    let folder = syrch_kit::scratch();
    let place = folder.path();
    for (name, language) in [("rust", "Rust"), ("c", "C"), ("go", "Go"), ("js", "JavaScript")] {
        let path = component(place, name);
        let document = said(place, &["inspect", &path, "--format", "json"], "").document(0);
        assert_eq!(document["language"], language, "{document:#}");
        assert!(document["granted"].as_array().unwrap().contains(&"llm".into()), "{document:#}");
        assert_eq!(document["limits"]["cpu_seconds_per_call"], 5.0);
        let again = said(place, &["inspect", &path, "--format", "json"], "").document(0);
        assert_eq!(again["compiled"], true, "{again:#}");
    }
    let shown = said(place, &["inspect", "execution"], "");
    assert!(shown.stdout.contains("memory bytes") && shown.stdout.contains("granted"), "{}", shown.all());
}

#[test]
fn hostile_cases_and_plugins_are_errors() {
    let folder = syrch_kit::scratch();
    let place = folder.path();
    fs::create_dir(place.join("cases")).unwrap();
    fs::write(place.join("secret.sql"), "CREATE TABLE secret(a)").unwrap();
    let call = |text: &str, code: i32, expected: &str| {
        fs::write(place.join("cases/one.yml"), text).unwrap();
        let said = said(place, &["call", "execution", "--case", "cases/one.yml"], "");
        assert_eq!(said.code, code, "{text}: {}", said.all());
        assert!(said.stderr.contains(expected), "{expected}: {}", said.all());
    };
    call("role: reward\ndatabase: {file: ../secret.sql}\n", 10, "not in the folder of the project");
    call("role: reward\ndatabase: \"ATTACH '/tmp/other.sqlite' AS o\"\n", 10, "the case's database");
    call(&format!("role: reward\ninput: {}{}\n", "{a: ".repeat(99), "}".repeat(99)), 10, "nested too deep");
    call(&format!("role: reward\ninput: {{problem: '{}'}}\n", "x".repeat(300_000)), 10, "larger than");
    let hostile = zoo::hostile();
    let spin = said(
        place,
        &["call", hostile.to_str().unwrap(), "planner", "--settings", r#"{"habit": "spin"}"#],
        r#"{"problem": "How many?"}"#,
    );
    let document = spin.document(14);
    let error = document["error"].as_str().unwrap();
    assert!(error.starts_with("the plugin hit the limit `cpu-per-call` in `planner.plan`"), "{document:#}");
}
