//! Servers that are slow: they take one call at a time, never answer, or are asked what nobody
//! needs.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use syrch_kit::{MockEndpoint, Reply, Script};

use super::{PLAN, ask, plan, subtask};
use crate::benchmark::{Bench, question_number};
use crate::shop;

const QUESTION: &str = "How many customers are there?";
const COUNT: &str = "SELECT COUNT(*) AS n FROM customers";

/// A server that works on one request after the other, also on those for which nobody waits any
/// more.
fn one_slot(each: Duration) -> Script {
    let free_at = Mutex::new(Instant::now());
    Script::new().with(move |_, _| {
        let mut free_at = free_at.lock().unwrap();
        let now = Instant::now();
        *free_at = (*free_at).max(now) + each;
        let wait = u64::try_from((*free_at - now).as_millis()).unwrap();
        Some(Reply::sql(COUNT, 0.9).delay_ms(wait))
    })
}

#[test]
fn a_server_of_one_slot_loses_no_sample() {
    let folder = syrch_kit::scratch();
    let endpoint = MockEndpoint::start(one_slot(Duration::from_millis(1_100)));
    let said =
        ask(&endpoint, &shop(folder.path()), QUESTION, &["--strategy", "vote5", "--timeout", "3"]);
    let document = said.document(0);
    assert_eq!(document["candidates"].as_array().unwrap().len(), 5, "{}", said.all());
    assert!(endpoint.count() <= 9, "{}", endpoint.count());
}

#[test]
fn a_timeout_is_repeated_once_and_for_a_shorter_reply() {
    let folder = syrch_kit::scratch();
    let endpoint = MockEndpoint::start(Script::always(Reply::hang()));
    let said =
        ask(&endpoint, &shop(folder.path()), QUESTION, &["--strategy", "single", "--timeout", "1"]);
    assert_eq!(said.code, 12, "{}", said.all());
    let limits: Vec<u64> = endpoint
        .requests()
        .iter()
        .map(|request| request.body["max_tokens"].as_u64().unwrap())
        .collect();
    assert_eq!(limits.len(), 2, "{limits:?}");
    assert!(limits[1] < limits[0], "{limits:?}");
    assert!(
        said.stderr.contains("tried 2 times, the last time for a shorter reply"),
        "{}",
        said.all()
    );
}

#[test]
fn the_time_of_a_run_ends_the_search_in_flight() {
    let bench = Bench::with_questions(5);
    let endpoint = MockEndpoint::start(Script::always(Reply::hang()));
    let began = Instant::now();
    let flags = "--strategy single --workers 1 --total-time 2 --timeout 15 --format json";
    let output = bench.asks(&endpoint, flags).output().unwrap();
    let said = super::Said::from_output(output);
    assert_eq!(said.code, 16, "{}", said.all());
    assert!(began.elapsed() < Duration::from_secs(12), "{:?}", began.elapsed());
    assert_eq!(endpoint.count(), 1);
    assert!(said.stderr.contains("--total-time"), "{}", said.all());
    let warnings = said.document(16)["warnings"].to_string();
    let cost = "cut off cost more than the figures show: 1 search took 1 model call, ";
    assert!(warnings.contains(cost), "{warnings}");
}

#[test]
fn another_seed_is_another_sample() {
    let bench = Bench::with_questions(4);
    // Whether an answer is right follows from the number that is sent as its seed.
    let endpoint = MockEndpoint::start(Script::new().with(|request, _| {
        let least = question_number(request)? % 5
            + usize::from(request.body["seed"].as_u64()? % 2 == 1) * 3;
        Some(Reply::sql(
            &format!("SELECT COUNT(*) AS n FROM orders WHERE quantity >= {least}"),
            0.95,
        ))
    }));
    let run = |words: &str| {
        let mut command =
            bench.asks(&endpoint, &format!("--strategy single --format json {words}"));
        let output = command.env_remove("SYRCH_CACHE").output().unwrap();
        super::Said::from_output(output).document(0)
    };
    let document = run("--seeds 3");
    assert_eq!(endpoint.count(), 12);
    let seeds: std::collections::BTreeSet<u64> =
        endpoint.requests().iter().map(|request| request.body["seed"].as_u64().unwrap()).collect();
    assert_eq!(seeds.len(), 3, "{seeds:?}");
    assert!(endpoint.requests().iter().all(|request| request.body["temperature"] == json!(0.0)));
    let band = &document["band"];
    assert!(band["high"] != band["low"], "{band}");
    // A second run with these seeds, and one with one of them, cost nothing.
    run("--seeds 3");
    run("--seed 1");
    assert_eq!(endpoint.count(), 12);
    run("--seed 7");
    assert_eq!(endpoint.count(), 16);
}

#[test]
fn no_call_words_a_question_that_nobody_reads() {
    let folder = syrch_kit::scratch();
    for reply in
        ["I cannot say.", "The table customers has what you want.", "{\"thought\": \"count\"}"]
    {
        let endpoint = MockEndpoint::start(Script::always(Reply::text(reply)));
        let said = ask(&endpoint, &shop(folder.path()), QUESTION, &["--strategy", "single"]);
        let document = said.document(3);
        assert_eq!(document["cost"]["by_purpose"]["clarify"], Value::Null, "{}", said.all());
        assert_eq!(document["clarify"], Value::Null);
    }
}

#[test]
fn a_budget_that_ends_in_most_parts_leaves_no_answer() {
    let folder = syrch_kit::scratch();
    let database = shop(folder.path());
    let tasks: Vec<Value> =
        (0..6).map(|n| subtask(&format!("T{n}"), &format!("part {n}"), &[])).collect();
    for (calls, code) in [("2", 16), ("5", 16), ("60", 0)] {
        let script = Script::new().on([PLAN], plan(&tasks)).on([""], Reply::sql(COUNT, 0.95));
        let endpoint = MockEndpoint::start(script);
        let said =
            ask(&endpoint, &database, QUESTION, &["--max-calls", calls, "--max-attempts", "1"]);
        let document = said.document(code);
        assert!(document["answer"].is_object(), "{}", said.all());
        let open = document["warnings"]
            .to_string()
            .contains("of 6 parts of the question were not answered");
        assert_eq!(open, code == 16, "{}", said.all());
        assert_eq!(said.stderr.contains("--max-calls"), code == 16, "{}", said.all());
    }
}
