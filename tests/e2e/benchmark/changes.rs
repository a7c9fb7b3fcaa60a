//! A run is resumed only with what it was started with; what changed is named.

use serde_json::json;
use syrch_kit::{MockEndpoint, Script, zoo};

use super::{Bench, answer, script, suite};
use crate::bad_input::assert_refused;
use crate::endpoint::Said;

/// A run of which two questions are done.
fn start_run() -> (Bench, MockEndpoint) {
    let bench = Bench::with_questions(6);
    let endpoint = MockEndpoint::start(script());
    let said =
        Said::from_output(bench.asks(&endpoint, "--workers 1 --total-calls 4").output().unwrap());
    assert_eq!(said.code, 16, "{}", said.all());
    (bench, endpoint)
}

#[test]
fn what_changed_is_named_and_nothing_is_asked() {
    let (bench, endpoint) = start_run();
    let asked = endpoint.count();
    let other = MockEndpoint::start(Script::new().with(|request, _| answer(request)));
    for (words, changed) in [
        ("--model other", "the setting model.model of"),
        ("--solver consistency", "the plugin of the solver of"),
        ("--strategy single", "the arms (they were "),
        ("--high-conf 0.5", "high_confidence of"),
        ("--seed 7", "the seed (it was 0)"),
        ("--rule strict", "the rule (it was bag-v1)"),
        ("--shard 1/2", "the shard (it was the whole suite)"),
        ("-P calibrator.empty=0.1", "calibrator"),
    ] {
        let mut command = bench.asks(&endpoint, &format!("--resume last {words}"));
        let document = assert_refused(&mut command, 10, &["cannot be resumed", changed]);
        assert!(
            document["error"]["message"].as_str().unwrap().contains("changed since"),
            "{document}"
        );
    }
    assert_refused(&mut bench.asks(&other, "--resume last"), 10, &["base_url"]);
    // The number of questions at once, budgets and traces change no answer.
    let path = bench.place.path().join("suite.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replacen("quantity >= 3", "quantity >= 2", 1)).unwrap();
    assert_refused(
        &mut bench.asks(&endpoint, "--resume last"),
        10,
        &["the suite's questions or expected answers"],
    );
    std::fs::write(&path, suite(7)).unwrap();
    assert_refused(&mut bench.asks(&endpoint, "--resume last"), 10, &["with 6 questions"]);
    std::fs::write(&path, text).unwrap();
    let database = bench.place.path().join("shop.sqlite");
    let before = std::fs::read(&database).unwrap();
    let connection = rusqlite::Connection::open(&database).unwrap();
    connection.execute("UPDATE orders SET quantity = 9 WHERE id = 1", []).unwrap();
    drop(connection);
    assert_refused(&mut bench.asks(&endpoint, "--resume last"), 10, &["the database `shop`"]);
    std::fs::write(&database, before).unwrap();
    assert_eq!((endpoint.count(), other.count()), (asked, 0));
}

#[test]
fn what_changes_no_answer_may_change() {
    let (bench, endpoint) = start_run();
    let words =
        "--resume last --workers 3 --traces all --total-calls 1000 --report r.md --format json";
    let said = Said::from_output(bench.asks(&endpoint, words).output().unwrap());
    assert_eq!(said.document(0)["of"], 6);
    assert_eq!(endpoint.count(), 12);
    // What is done is not done again.
    let again =
        Said::from_output(bench.asks(&endpoint, "--resume last --format json").output().unwrap());
    assert_eq!((again.document(0)["of"].clone(), endpoint.count()), (json!(6), 12));
}

#[test]
fn the_suite_of_a_run_need_not_be_named_again() {
    let (bench, endpoint) = start_run();
    let run = bench.runs().remove(0);
    let mut command = bench.command("benchmark --llm openai --model mock --format json --resume");
    command
        .args([&run[..6], "--base-url", &endpoint.url()])
        .env("SYRCH_API_KEY", crate::endpoint::KEY);
    assert_eq!(Said::from_output(command.output().unwrap()).document(0)["of"], 6);
}

#[test]
fn another_plugin_under_the_same_name_is_another() {
    let bench = Bench::with_questions(4);
    let endpoint = MockEndpoint::start(script());
    let plugin = |name: &str| std::fs::read(zoo::builtin_path(name)).unwrap();
    bench.place.file("solver.wasm", plugin("refine"));
    let words = "--solver ./solver.wasm --workers 1";
    let said = Said::from_output(
        bench.asks(&endpoint, &format!("{words} --total-calls 2")).output().unwrap(),
    );
    assert_eq!(said.code, 16, "{}", said.all());
    bench.place.file("solver.wasm", plugin("consistency"));
    assert_refused(
        &mut bench.asks(&endpoint, &format!("{words} --resume last")),
        10,
        &["the plugin of the solver of", "solver.wasm"],
    );
}
