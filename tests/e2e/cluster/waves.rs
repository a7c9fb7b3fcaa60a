//! A comparison of shards that stops early, where a merge between two waves decides it.

use serde_json::{Value, json};
use syrch_kit::{MockEndpoint, Reply, Script};

use super::run_command;
use crate::benchmark::{Bench, assert_same, question_number, suite};
use crate::endpoint::Said;

/// The arm whose first try is its last.
pub(super) const ONCE: &str = "retry3:policy.max_attempts=1";

/// Writes what does not run first, and repairs it when it is shown.
pub(super) fn script() -> Script {
    Script::new().with(|request, _| {
        let least = question_number(request)? % 5;
        let column = if request.prompt().contains("nothing_of_the_kind") {
            "quantity"
        } else {
            "nothing_of_the_kind"
        };
        let sql = format!("SELECT COUNT(*) AS n FROM orders WHERE {column} >= {least}");
        Some(Reply::sql(&sql, 0.95))
    })
}

pub(super) fn compare(bench: &Bench, endpoint: &MockEndpoint, words: &str) -> Said {
    let mut command = bench.command("compare");
    command.args([ONCE, "retry3", "suite.jsonl", "--stop-early", "--llm", "openai"]);
    command.args(["--model", "mock", "--base-url", &endpoint.url()]);
    command.args(words.split_whitespace());
    run_command(command)
}

#[test]
fn a_merge_decides_between_waves_what_one_process_decides() {
    let bench = Bench::new();
    bench.place.file("suite.jsonl", suite(40));
    let endpoint = MockEndpoint::start(script());
    let said = compare(&bench, &endpoint, "--workers 1 --format json");
    let whole: Value = said.document(0);
    let why = whole["partial"]["why"].as_str().unwrap_or_default();
    assert!(why.contains("stopped early"), "{}", said.all());
    let whole = bench.report("last");
    let mut decided = None;
    for wave in 1..=8 {
        for shard in ["2/2", "1/2"] {
            let words = format!("--folder run --shard {shard} --wave {wave}/8");
            let said = compare(&bench, &endpoint, &words);
            assert_eq!(said.code, 0, "{}", said.all());
            let note = format!("wave {wave}/8 of the run is done");
            assert!(said.stderr.contains(&note), "{}", said.all());
        }
        let said = bench.say("report run");
        if said.code == 0 {
            decided = Some(wave);
            break;
        }
        assert!(said.code == 5 && said.stderr.contains("decide nothing"), "{}", said.all());
        assert!(said.stderr.contains("ask the next wave"), "{}", said.all());
    }
    assert!(decided.is_some_and(|wave| (2..8).contains(&wave)), "{decided:?}");
    assert_same(&bench.report("run"), &whole);
    let report = bench.say("report run --format json").document(0);
    assert_eq!(report["schema"], json!("syrch.compare/1"));
}
