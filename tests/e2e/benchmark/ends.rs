//! Tests of runs that end before their end, with which code, and are resumed: the report is in the
//! end that of a run that nobody disturbed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::Value;
use syrch_kit::{MockEndpoint, Reply, Script};

use super::{Bench, answer, assert_same, figures, script};
use crate::endpoint::Said;

const QUESTIONS: usize = 20;

/// The report of this suite when nobody disturbs it, asked of the same endpoint, and whatever was
/// asked for it forgotten.
fn run_undisturbed(bench: &Bench, endpoint: &MockEndpoint) -> String {
    let said = Said::from_output(bench.asks(endpoint, "--format json").output().unwrap());
    assert_eq!(said.code, 0, "{}", said.all());
    let report = bench.report("last");
    std::fs::remove_dir_all(bench.state()).unwrap();
    report
}

fn partial(document: &Value) -> (u64, u64, String) {
    let partial = &document["partial"];
    let number = |name: &str| partial[name].as_u64().unwrap_or_else(|| panic!("{partial}"));
    (number("done"), number("of"), partial["why"].as_str().unwrap().to_owned())
}

#[test]
fn an_endpoint_that_dies_stops_the_run_and_what_failed_is_asked_again() {
    let dead = Arc::new(AtomicBool::new(false));
    let bench = Bench::with_questions(QUESTIONS);
    let is_dead = Arc::clone(&dead);
    let requests = Arc::new(AtomicUsize::new(0));
    let number = Arc::clone(&requests);
    let endpoint = MockEndpoint::start(Script::new().with(move |request, _| {
        let dies = is_dead.load(Ordering::SeqCst) && number.fetch_add(1, Ordering::SeqCst) >= 12;
        if dies { Some(Reply::status(401, "the key was withdrawn")) } else { answer(request) }
    }));
    let expected = run_undisturbed(&bench, &endpoint);
    dead.store(true, Ordering::SeqCst);
    let said = Said::from_output(
        bench.asks(&endpoint, "--format json --workers 2 --max-outages 4").output().unwrap(),
    );
    let document = said.document(12);
    let (done, of, why) = partial(&document);
    assert!(done >= 4 && done < of && of == QUESTIONS as u64, "{}", said.all());
    assert!(
        why.contains("failed 4 times, one after the other") && why.contains("withdrawn"),
        "{why}"
    );
    assert!(said.stderr.contains("--retry-failed` continues"), "{}", said.all());
    let failed = document["ends"]["failed"].as_u64().unwrap();
    assert!((4..=6).contains(&failed), "{document}");
    // Without --retry-failed what failed stays.
    dead.store(false, Ordering::SeqCst);
    let said = Said::from_output(
        bench.asks(&endpoint, "--format json --resume last --shard 1/1").output().unwrap(),
    );
    assert_eq!(said.code, 10, "another shard is another run: {}", said.all());
    let rest =
        Said::from_output(bench.asks(&endpoint, "--format json --resume last").output().unwrap());
    let stays = rest.document(0)["ends"]["failed"].as_u64().unwrap();
    // The other worker's question, if its call had failed by then: its journal knows.
    assert!((failed..=failed + 1).contains(&stays), "{}", rest.all());
    let again = Said::from_output(
        bench.asks(&endpoint, "--format json --resume last --retry-failed").output().unwrap(),
    );
    let document = again.document(0);
    assert_eq!(figures(&document), (16, 20));
    assert_eq!(
        (&document["ends"]["failed"], &document["partial"]),
        (&Value::from(0), &Value::Null)
    );
    let retried =
        document["results"].as_array().unwrap().iter().filter(|row| row["retried"] == true).count();
    assert_eq!(retried as u64, stays);
    // But for the mark it is the report of a run that nobody disturbed.
    let marked = bench.report("last");
    assert_same(&marked.replace("\"retried\": true", "\"retried\": false"), &expected);
    assert_ne!(marked, expected);
}

#[test]
fn an_endpoint_that_is_busy_is_waited_for() {
    let bench = Bench::with_questions(6);
    let busy = Reply::status(429, "slow down").header("retry-after", "0");
    let endpoint =
        MockEndpoint::start(Script::new().times(3, [""], busy).with(|request, _| answer(request)));
    let said = Said::from_output(bench.asks(&endpoint, "--format json").output().unwrap());
    let document = said.document(0);
    assert_eq!(
        (figures(&document), &document["ends"]["failed"]),
        ((5, 6), &Value::from(0)),
        "{}",
        said.all()
    );
    assert_eq!(endpoint.count(), 6 * 2 + 3);
}

#[test]
fn a_run_stops_when_its_budget_is_used_up_and_goes_on_with_more() {
    let bench = Bench::with_questions(QUESTIONS);
    let endpoint = MockEndpoint::start(script());
    let expected = run_undisturbed(&bench, &endpoint);
    let priced = "llm: {prices: {mock: {input: 1, output: 1}}}\n";
    for (words, flag) in [
        ("--total-calls 10", "--total-calls"),
        ("--total-tokens 3000", "--total-tokens"),
        ("--total-time 0.000001", "--total-time"),
        ("--total-usd 0.001", "--total-usd"),
    ] {
        if flag == "--total-usd" {
            bench.place.file("home/.syrch/config.yml", priced);
        }
        let said = Said::from_output(
            bench.asks(&endpoint, &format!("--format json --workers 1 {words}")).output().unwrap(),
        );
        let (done, of, why) = partial(&said.document(16));
        assert!(
            done < of && why.contains("of the whole run were used up"),
            "{words}: {}",
            said.all()
        );
        assert!(said.stderr.contains(&format!("with a higher {flag}")), "{}", said.all());
        let again = Said::from_output(
            bench
                .asks(&endpoint, &format!("--format json --resume last {words}"))
                .output()
                .unwrap(),
        );
        assert_eq!(again.code, 16, "what was used before counts: {}", again.all());
        let on = Said::from_output(
            bench.asks(&endpoint, "--format json --resume last").output().unwrap(),
        );
        assert_eq!(figures(&on.document(0)), (16, 20));
        // Of tokens and money a search may be cut off in the middle, and its cost is reported.
        if ["--total-calls", "--total-time"].contains(&flag) {
            assert_same(&bench.report("last"), &expected);
        }
    }
}

#[cfg(unix)]
mod interrupt {
    use std::process::Stdio;
    use std::time::{Duration, Instant};

    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;

    use super::*;

    fn press(child: &std::process::Child) {
        kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), Signal::SIGINT).unwrap();
    }

    #[test]
    fn ctrl_c_keeps_what_is_done_and_reports_it() {
        let slow = Arc::new(AtomicBool::new(false));
        let bench = Bench::with_questions(QUESTIONS);
        let is_slow = Arc::clone(&slow);
        let endpoint = MockEndpoint::start(Script::new().with(move |request, number| {
            let hangs = is_slow.load(Ordering::SeqCst) && number >= 2 * QUESTIONS + 16;
            if hangs { Some(Reply::hang()) } else { answer(request) }
        }));
        let expected = run_undisturbed(&bench, &endpoint);
        slow.store(true, Ordering::SeqCst);
        let mut command = bench.asks(&endpoint, "--format json --workers 2 --report partial.md");
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        while endpoint.count() < 2 * QUESTIONS + 18 {
            std::thread::sleep(Duration::from_millis(2));
        }
        press(&child);
        let said = Said::from_output(child.wait_with_output().unwrap());
        let (done, _, why) = partial(&said.document(130));
        assert!(done >= 7 && why == "it was interrupted", "{}", said.all());
        assert!(said.stderr.contains("continues"), "{}", said.all());
        let markdown = std::fs::read_to_string(bench.place.path().join("partial.md")).unwrap();
        assert!(markdown.contains("t was interrupted"), "{markdown}");
        slow.store(false, Ordering::SeqCst);
        let on = Said::from_output(
            bench.asks(&endpoint, "--format json --resume last").output().unwrap(),
        );
        assert_eq!(figures(&on.document(0)), (16, 20));
        assert_same(&bench.report("last"), &expected);
    }

    #[test]
    fn one_process_at_a_time_works_on_a_run() {
        let bench = Bench::with_questions(4);
        let endpoint = MockEndpoint::start(Script::always(Reply::hang()));
        let mut command = bench.asks(&endpoint, "");
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let started = Instant::now();
        while endpoint.count() == 0 {
            assert!(started.elapsed() < Duration::from_secs(60), "nothing is asked");
            std::thread::sleep(Duration::from_millis(2));
        }
        let busy = Said::from_output(bench.asks(&endpoint, "--resume last").output().unwrap());
        assert!(
            busy.code == 10 && busy.stderr.contains("still running in another process"),
            "{}",
            busy.all()
        );
        // A report on it can be had all the same.
        let report = bench.say("report --format json").document(0);
        assert_eq!(partial(&report), (0, 4, "it is still going on".to_owned()));
        let list = bench.say("report --list --format json").document(0);
        assert_eq!(list["runs"][0]["state"], "running");
        press(&child);
        let said = Said::from_output(child.wait_with_output().unwrap());
        assert_eq!(said.code, 130, "{}", said.all());
        assert_eq!(
            bench.say("report --list --format json").document(0)["runs"][0]["state"],
            "unfinished"
        );
    }
}
