//! No gate passes by searches that failed, and what failed is named.

use serde_json::{Value, json};
use syrch_kit::{MockEndpoint, Reply, Script};

use super::{arm, compare, run_command, suite};
use crate::bad_input::Place;
use crate::endpoint::{PLAN, whole};

const GATES: [&str; 4] = ["regression", "difference", "not-better", "below:-100"];

fn has_warning(document: &Value, of: &str) -> bool {
    document["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .any(|warning| warning.as_str().unwrap().starts_with(of))
}

#[test]
fn no_gate_passes_when_every_search_fails() {
    let place = Place::new();
    suite(&place);
    let endpoint = MockEndpoint::start(Script::always(Reply::status(401, "no such key")));
    for gate in GATES {
        for (outages, reported) in [
            (0, "all 48 searches failed"),
            (10, "the run stopped: the model's endpoint failed 10 times"),
        ] {
            let words = format!(
                "single retry3 suite.jsonl --max-outages {outages} --fail-on {gate} --format json"
            );
            let said = run_command(&mut compare(&place, &endpoint, &words));
            let document = said.document(12);
            assert!(
                said.stderr.contains(reported) && said.stderr.contains("no such key"),
                "{}",
                said.all()
            );
            assert_eq!(document["partial"].is_null(), outages == 0, "{document}");
            let verdict = document["pairs"][0]["verdict"].as_str().unwrap();
            let failed = |name: &str| {
                format!(
                    "{} searches of `{name}` failed (model): the figures mean nothing",
                    share(&document, name)
                )
            };
            assert_eq!(verdict, format!("{}; {}", failed("single"), failed("retry3")));
        }
    }
    // Nor does one when nobody listens.
    let mut command = compare(&place, &endpoint, "single retry3 suite.jsonl --fail-on regression");
    drop(endpoint);
    let said = run_command(&mut command);
    assert!(
        said.code == 12 && said.stdout.contains("failed (model): the figures mean nothing"),
        "{}",
        said.all()
    );
}

/// Searches of an arm that failed, and all of them: `24 of 24`.
fn share(document: &Value, name: &str) -> String {
    let arm = arm(document, name);
    format!("{} of {}", arm["ends"]["failed"], arm["costs"]["questions"])
}

#[test]
fn an_arm_that_fails_passes_no_gate_and_is_named() {
    let place = Place::new();
    suite(&place);
    // Only one of the arms asks for plans; all others have the same wrong answer.
    for (failing, reported) in [
        (24, "24 of 24 searches of `decompose` failed (model): the figures mean nothing"),
        (3, "3 of 24 searches of `decompose` failed (model): they count as wrong"),
    ] {
        let fails = move |prompt: &str| {
            (0..failing).any(|n| prompt.contains(&format!("are there, plus {n}?")))
        };
        let endpoint = MockEndpoint::start(Script::new().with(move |request, _| {
            let prompt = request.prompt();
            match prompt.contains(PLAN) {
                true if fails(&prompt) => Some(Reply::status(401, "no such key")),
                true => Some(whole()),
                false => Some(Reply::sql("SELECT count(*) + 99 FROM customers", 0.95)),
            }
        }));
        let words = "single decompose suite.jsonl --max-outages 0";
        let open = run_command(&mut compare(&place, &endpoint, &format!("{words} --format json")));
        let document = open.document(0);
        assert!(
            has_warning(&document, reported) && open.stderr.contains(reported),
            "{}",
            open.all()
        );
        assert_eq!(
            (&arm(&document, "single")["ends"]["failed"], &document["pairs"][0]["b"]),
            (&json!(0), &json!(0))
        );
        for gate in GATES {
            let gated = run_command(&mut compare(
                &place,
                &endpoint,
                &format!("{words} --resume last --fail-on {gate}"),
            ));
            assert_eq!(gated.code, 5, "{gate}: {}", gated.all());
            let (_, why) =
                gated.stderr.split_once(&format!("the gate failed: --fail-on {gate}")).unwrap();
            assert!(
                why.contains(&format!("{failing} of 24 searches of `decompose` failed")),
                "{}",
                gated.all()
            );
        }
    }
}
