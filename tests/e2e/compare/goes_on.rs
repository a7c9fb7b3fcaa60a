//! A comparison that was cut short is resumed with the same settings, and its report is made again.

use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use syrch_kit::{MockEndpoint, Reply, Script};

use super::{ONCE, arm, compare, endpoint, offline, run_command, state, suite};
use crate::bad_input::{Place, assert_refused};
use crate::endpoint::Said;

fn report(place: &Place, words: &str) -> Said {
    let mut command = place.words(&format!("report {words}"));
    run_command(command.env("SYRCH_STATE_DIR", state(place)))
}

#[test]
fn stopping_early_belongs_to_the_run() {
    for (started, other, was) in
        [("", "--stop-early", "it was not requested"), ("--stop-early", "", "it was requested")]
    {
        let place = Place::new();
        suite(&place);
        let endpoint = endpoint(0);
        let words = "single retry3 suite.jsonl --workers 1";
        let stopped = run_command(&mut compare(
            &place,
            &endpoint,
            &format!("{words} {started} --total-calls 4"),
        ));
        assert_eq!(stopped.code, 16, "{}", stopped.all());
        let asked = endpoint.count();
        let reported = ["cannot be resumed: changed since: ", &format!("stopping early ({was})")];
        assert_refused(
            &mut compare(&place, &endpoint, &format!("{words} {other} --resume last")),
            10,
            &reported,
        );
        assert_eq!(endpoint.count(), asked, "something was asked");
        let on = run_command(&mut compare(
            &place,
            &endpoint,
            &format!("{words} {started} --resume last --format json"),
        ));
        let e_process = &on.document(0)["pairs"][0]["e_process"];
        assert_eq!(e_process["decides"], !started.is_empty(), "{e_process}");
        // The report knows it of the run.
        assert_eq!(
            report(&place, "last --format json").document(0)["pairs"][0]["e_process"],
            *e_process
        );
    }
}

#[test]
fn the_report_is_made_on_the_terms_of_the_comparison() {
    let place = Place::new();
    suite(&place);
    let endpoint = endpoint(0);
    let words = format!("{ONCE} retry3 suite.jsonl --no-cache --resamples 100 --format json");
    let document = run_command(&mut compare(&place, &endpoint, &words)).document(0);
    assert!(
        document["warnings"]
            .to_string()
            .contains("the arms did not share samples: there is no cache"),
        "{document}"
    );
    assert_eq!(report(&place, "last --format json").document(0), document);
    let interval = |words: &str| {
        let document = report(&place, &format!("last --format json {words}")).document(0);
        document["pairs"][0]["interval"].clone()
    };
    assert_eq!(interval("--resamples 100"), document["pairs"][0]["interval"]);
    let run = state(&place).join("suites").join(document["run"].as_str().unwrap());
    let terms: serde_json::Value =
        serde_json::from_slice(&std::fs::read(run.join("compare.json")).unwrap()).unwrap();
    assert_eq!(terms["resamples"], 100);
}

#[test]
fn an_arm_in_the_middle_of_a_question_goes_on_there() {
    let place = Place::new();
    suite(&place);
    let hangs = Arc::new(AtomicBool::new(true));
    let is_hanging = Arc::clone(&hangs);
    // Both arms fail at first; the sixth question is not repaired while it hangs.
    let endpoint = MockEndpoint::start(Script::new().with(move |request, _| {
        let prompt = request.prompt();
        let is_repair = prompt.contains("nothing_of_the_kind");
        if is_repair && prompt.contains("plus 5?") && is_hanging.load(Ordering::SeqCst) {
            return Some(Reply::hang());
        }
        // Not the statement of an example, which would be doubted and asked for once more.
        let sql = if is_repair {
            "SELECT count(*) + 0 FROM customers"
        } else {
            "SELECT nothing_of_the_kind FROM customers"
        };
        Some(Reply::sql(sql, 0.9))
    }));
    let words = "retry3 retry3:policy.max_attempts=2 suite.jsonl --workers 1 --no-cache";
    let child =
        compare(&place, &endpoint, words).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut child = child.unwrap();
    let started = Instant::now();
    while endpoint.count() < 5 * 4 + 2 {
        assert!(started.elapsed() < Duration::from_secs(60), "it does not come to the question");
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    hangs.store(false, Ordering::SeqCst);
    let on = run_command(&mut compare(
        &place,
        &endpoint,
        &format!("{words} --resume last --format json"),
    ));
    assert!(
        on.document(0)["partial"].is_null() && on.stderr.contains("10 are done already"),
        "{}",
        on.all()
    );
    // Of 24 questions each arm asks twice; only the call that hung was made once more.
    assert_eq!(endpoint.count(), 24 * 4 + 1);
}

#[test]
fn what_failed_and_was_asked_again_is_reported_by_the_comparison_as_by_its_report() {
    let place = Place::new();
    suite(&place);
    let fails = Arc::new(AtomicBool::new(true));
    let is_failing = Arc::clone(&fails);
    let endpoint = MockEndpoint::start(Script::new().with(move |request, _| {
        let is_away = is_failing.load(Ordering::SeqCst) && request.prompt().contains("plus 2?");
        Some(if is_away {
            Reply::status(401, "away")
        } else {
            Reply::sql("SELECT count(*) FROM customers", 0.9)
        })
    }));
    let run = |words: &str| {
        let mut command = compare(
            &place,
            &endpoint,
            &format!("single retry3 suite.jsonl --cache --workers 1 --format json {words}"),
        );
        run_command(command.env("SYRCH_CACHE_DIR", place.path().join("cache")))
    };
    assert_eq!(run("").document(0)["arms"][0]["ends"]["failed"], 1);
    fails.store(false, Ordering::SeqCst);
    let again = run("--resume last --retry-failed").document(0);
    for name in ["single", "retry3"] {
        let earlier = &arm(&again, name)["costs"]["earlier_tries"];
        assert_eq!(
            (&arm(&again, name)["ends"]["failed"], &earlier["tries"]),
            (&json!(0), &json!(1)),
            "{name}"
        );
    }
    assert_eq!(report(&place, "last --format json").document(0), again);
}

#[test]
fn the_report_of_a_comparison_is_made_again() {
    let place = Place::new();
    suite(&place);
    let words = "decompose retry3 suite.jsonl";
    let made = run_command(&mut offline(&place, &format!("{words} --format json"))).document(0);
    assert_eq!(made["schema"], "syrch.compare/1");
    assert_eq!(report(&place, "--format json").document(0), made);
    for format in ["table", "markdown", "csv", "jsonl"] {
        let shown =
            run_command(&mut offline(&place, &format!("{words} --resume last --format {format}")));
        assert_eq!(
            (shown.code, &report(&place, &format!("last --format {format}")).stdout),
            (0, &shown.stdout),
            "{format}"
        );
    }
    let strict = report(&place, "last --rule strict --format json").document(0);
    assert_eq!((&strict["rule"], &strict["run"]), (&json!("strict"), &made["run"]));
    // Also of one that has no answer yet.
    let none = run_command(&mut offline(
        &place,
        &format!("{words} --total-time 0.000001 --fail-on regression"),
    ));
    assert_eq!(none.code, 16, "{}", none.all());
    let said = report(&place, "last");
    let nothing = "no comparison is possible: no question counts for both `decompose` and \
                   `retry3`; the run ended after 0 of 48 answers";
    assert!(said.code == 0 && said.stdout.starts_with(nothing), "{}", said.all());
}
