//! The strategy of searches for which nobody names one: with a model it is another than without.

use serde_json::{Value, json};
use syrch_kit::{MockEndpoint, Reply, Script, Usage};

use crate::STRATEGY;
use crate::bad_input::{Place, finish, read_streams};
use crate::batch::batch;
use crate::benchmark::Bench;
use crate::endpoint::{PLAN, REPAIR, Said, WRITE, search, whole};

const QUESTION: &str = "How many customers are from France?";
const RIGHT: &str = "SELECT COUNT(*) AS n FROM customers WHERE country = 'France'";
const WITHOUT_MODEL: [(&str, &str); 2] = [("planner", "decompose"), ("solver", "refine")];
const WITH_MODEL: [(&str, &str); 2] = [("planner", "direct"), ("solver", "consistency")];

/// Asks the question as a user does who names no strategy.
fn ask(place: &Place, endpoint: &MockEndpoint, flags: &[&str]) -> Said {
    let mut command = search(&endpoint.url(), &place.path().join("shop.sqlite"));
    command.env_remove(STRATEGY).args(["--format", "json", "-q", QUESTION]).args(flags);
    Said::from_output(command.output().unwrap())
}

/// A model that writes one statement, whatever it is asked.
fn always(statement: &str) -> MockEndpoint {
    let reply = Reply::sql(statement, 0.9).usage(Usage::Tokens(600, 60));
    MockEndpoint::start(Script::new().on([WRITE], reply))
}

/// Checks which plugins a search used.
fn assert_plugins(document: &Value, expected: [(&str, &str); 2]) {
    for (role, name) in expected {
        let plugins = document["plugins"].as_array().unwrap();
        let found = plugins.iter().find(|plugin| plugin["role"] == role).unwrap();
        assert_eq!(found["name"], name, "{document:#}");
    }
}

#[test]
fn a_model_is_asked_until_three_results_are_equal() {
    let place = Place::new();
    let endpoint = always(RIGHT);
    let document = ask(&place, &endpoint, &[]).document(0);
    assert_plugins(&document, WITH_MODEL);
    assert_eq!((&document["answer"]["rows"], endpoint.count()), (&json!([[2]]), 3));
    assert_eq!(document["cost"]["calls"], 3);
    assert!(document["confidence"]["calibrated"].as_f64().unwrap() > 0.85, "{document:#}");
    let seeds = endpoint.requests().into_iter().map(|request| request.body["seed"].as_u64());
    let mut seeds: Vec<_> = seeds.collect();
    seeds.sort_unstable();
    assert_eq!(seeds, [Some(0), Some(1), Some(2)]);
}

/// A model that repeats its mistake is asked for a repair.
#[test]
fn what_fails_is_empty_or_doubtful_is_repaired() {
    for wrong in [
        "SELECT COUNT(*) AS n FROM custmers WHERE country = 'France'",
        "SELECT COUNT(*) AS n FROM customers WHERE country = 'FRANCE'",
        "SELECT id FROM customers WHERE country = 'Frankreich'",
    ] {
        let place = Place::new();
        let script = Script::new().on([REPAIR], Reply::sql(RIGHT, 0.9));
        let endpoint = MockEndpoint::start(script.on([WRITE], Reply::sql(wrong, 0.9)));
        let document = ask(&place, &endpoint, &[]).document(0);
        let rows = &document["answer"]["rows"];
        assert_eq!((rows, endpoint.count()), (&json!([[2]]), 6), "{wrong}: {document:#}");
    }
}

#[test]
fn a_model_that_repeats_its_mistake_is_asked_nine_times_at_most() {
    let place = Place::new();
    let endpoint = always("SELECT COUNT(*) AS n FROM custmers");
    let said = ask(&place, &endpoint, &[]);
    assert_eq!((said.code, endpoint.count()), (3, 9), "{}", said.all());
    assert!(said.stderr.contains("no such table `custmers`"), "{}", said.stderr);
}

#[test]
fn a_small_budget_gives_an_answer_with_fewer_calls() {
    let place = Place::new();
    for most in [1, 2] {
        let endpoint = always(RIGHT);
        let document = ask(&place, &endpoint, &["--max-calls", &most.to_string()]).document(0);
        assert_eq!((&document["answer"]["rows"], endpoint.count()), (&json!([[2]]), most));
        let warnings = document["warnings"].to_string();
        assert!(warnings.contains("the budget is used up: model calls"), "{warnings}");
    }
    let config = place.file("mine.yml", "llm:\n  prices:\n    \"mo*\": {input: 9, output: 10}\n");
    let config = config.to_str().unwrap();
    let mut counts = Vec::new();
    for (flag, amounts) in [
        ("--budget", ["200", "1500", "2500", "9000"]),
        ("--max-usd", ["0.000001", "0.015", "0.025", "0.1"]),
    ] {
        for amount in amounts {
            let endpoint = always(RIGHT);
            let flags = [flag, amount, "--max-tokens", "120", "--config", config];
            let said = ask(&place, &endpoint, &flags);
            if endpoint.count() == 0 {
                assert_eq!(said.document(16)["error"]["class"], "budget");
            } else {
                let document = said.document(0);
                assert_eq!(document["answer"]["rows"], json!([[2]]), "{document:#}");
                let warnings = document["warnings"].to_string();
                let is_short = endpoint.count() < 3;
                assert_eq!(warnings.contains("the budget is used up"), is_short, "{document:#}");
            }
            counts.push(endpoint.count());
        }
    }
    for counts in counts.chunks(4) {
        assert!(counts[0] == 0 && counts[3] == 3 && counts.is_sorted(), "{counts:?}");
        assert!(matches!(counts[1], 1 | 2), "{counts:?}");
    }
}

#[test]
fn a_model_without_temperature_or_seed_is_asked_as_well() {
    let place = Place::new();
    for parameter in ["temperature", "seed"] {
        let script = Script::new().on([WRITE], Reply::sql(RIGHT, 0.9)).refuses(parameter);
        let endpoint = MockEndpoint::start(script);
        let document = ask(&place, &endpoint, &[]).document(0);
        assert_eq!(document["answer"]["rows"], json!([[2]]), "{parameter}: {document:#}");
        // The first three are sent at once, so that each of them learns it by itself.
        let calls = document["cost"]["calls"].as_u64().unwrap();
        assert!((4..=6).contains(&calls), "{document:#}");
    }
}

#[test]
fn rules_and_recordings_of_them_divide_the_question() {
    fn ask(place: &Place, words: &str) -> Value {
        let mut command = place.words(&format!("{words} --db shop.sqlite --format json -q"));
        Said::from_output(command.env_remove(STRATEGY).arg(QUESTION).output().unwrap()).document(0)
    }
    let place = Place::new();
    for source in ["offline", "record:own.jsonl", "replay:own.jsonl"] {
        let document = ask(&place, &format!("--llm {source}"));
        assert_plugins(&document, WITHOUT_MODEL);
        assert_eq!(document["answer"]["rows"], json!([[2]]), "{source}: {document:#}");
    }
    // What a model said by default is found again by default.
    let endpoint = always(RIGHT);
    let model = format!("--model mock --base-url {}", endpoint.url());
    assert_plugins(&ask(&place, &format!("--llm record:model.jsonl {model}")), WITH_MODEL);
    let replayed = ask(&place, "--llm replay:model.jsonl");
    assert_plugins(&replayed, WITH_MODEL);
    assert_eq!((&replayed["sql"], endpoint.count()), (&json!(RIGHT), 3));
}

#[test]
fn parts_of_it_can_be_named() {
    fn script() -> Script {
        Script::new().on([PLAN], whole()).on([WRITE], Reply::sql(RIGHT, 0.9))
    }
    let place = Place::new();
    let endpoint = MockEndpoint::start(script());
    let document = ask(&place, &endpoint, &["--planner", "decompose"]).document(0);
    assert_plugins(&document, [WITHOUT_MODEL[0], WITH_MODEL[1]]);
    assert_eq!((endpoint.count(), endpoint.count_of(PLAN)), (4, 1));
    for flags in [["-P", "solver.samples=1"], ["-P", "samples=1"], ["--strategy", "single"]] {
        let endpoint = MockEndpoint::start(script());
        ask(&place, &endpoint, &flags).document(0);
        assert_eq!(endpoint.count(), 1, "{flags:?}");
    }
}

#[test]
fn the_program_says_which_strategy_it_is() {
    fn document(words: &str) -> Value {
        let endpoint = always(RIGHT);
        let place = Place::new();
        let mut command = place.words(words);
        command.args(["--llm", "openai", "--model", "mock", "--base-url", &endpoint.url()]);
        let output = finish(command.env_remove(STRATEGY).args(["--format", "json"]), "");
        let (stdout, stderr) = read_streams(&output);
        serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}\n{stdout}{stderr}"))
    }
    let expected = json!({"value": "repair3of9", "origin": "the default with a model"});
    assert_eq!(document("config --origin")["strategy"], expected);
    let examined = document("doctor --db shop.sqlite").to_string();
    assert!(examined.contains("repair3of9 (the default with a model): "), "{examined}");
}

#[test]
fn a_batch_and_a_benchmark_use_it_too() {
    let bench = Bench::with_questions(1);
    let endpoint = always("SELECT COUNT(*) AS n FROM orders WHERE quantity >= 0");
    let said = Said::from_output(bench.asks(&endpoint, "").env_remove(STRATEGY).output().unwrap());
    assert_eq!((said.code, endpoint.count()), (0, 3), "{}", said.all());
    assert!(said.stdout.contains("repair3of9 on suite.jsonl"), "{}", said.all());

    let endpoint = always(RIGHT);
    let mut command = bench.place.words("batch --db shop.sqlite --llm openai --model mock");
    command.args(["--base-url", &endpoint.url()]).env_remove(STRATEGY);
    let (answers, _) = batch(&mut command, format!("{}\n", json!({"question": QUESTION})), 0);
    assert_plugins(&answers[0]["answer"], WITH_MODEL);
    assert_eq!(endpoint.count(), 3);
}
