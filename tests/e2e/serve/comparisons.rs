//! Comparisons that clients begin: what may be compared, the progress, the end, and what a killed
//! server leaves.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use syrch_kit::{MockEndpoint, Reply, Script, Usage, scratch};

use super::client::{Server, read_events, serve, serve_with};
use crate::benchmark::{answer, script, suite};
use crate::endpoint::{PLAN, whole};
use crate::shop;

const QUESTIONS: usize = 12;

/// A server by rules over the shop, beside which a suite lies.
fn start(folder: &Path) -> Server {
    std::fs::write(folder.join("suite.jsonl"), suite(QUESTIONS)).unwrap();
    std::fs::write(folder.join("other.json"), "{\"no\": \"suite\"}").unwrap();
    Server::start(serve(&shop(folder), folder))
}

/// The path of the only suite that can be used.
fn find_suite(server: &Server) -> String {
    let offered = server.get("/suites").json();
    assert_eq!(offered["schema"], "syrch.suites/1", "{offered}");
    let suites = offered["suites"].as_array().unwrap();
    let usable: Vec<&Value> = suites.iter().filter(|suite| suite["reason"].is_null()).collect();
    assert_eq!((usable.len(), &usable[0]["questions"]), (1, &json!(QUESTIONS)), "{offered}");
    usable[0]["suite"].as_str().unwrap().to_owned()
}

#[test]
fn a_suite_that_comes_later_is_offered() {
    let folder = scratch();
    let server = Server::start(serve(&shop(folder.path()), folder.path()));
    assert_eq!(server.get("/suites").json()["suites"], json!([]));
    std::fs::write(folder.path().join("suite.jsonl"), suite(QUESTIONS)).unwrap();
    let suite = find_suite(&server);
    let run = begin(&server, &suite);
    assert_eq!(events(&server, &run).last().unwrap().1, "ended");
}

fn begin(server: &Server, suite: &str) -> String {
    let asked = json!({"arms": ["single", "retry3"], "suite": suite});
    let response = server.post("/evaluations", &asked, &[]);
    assert_eq!(response.status, 202, "{}", response.text());
    let run = response.json()["run"].as_str().unwrap().to_owned();
    assert_eq!(response.header("location"), format!("/api/v1/evaluations/{run}"));
    run
}

/// The events of a comparison up to its end.
fn events(server: &Server, run: &str) -> Vec<(u64, String, Value)> {
    let response = server.get(&format!("/evaluations/{run}/events"));
    assert_eq!(response.status, 200, "{}", response.text());
    read_events(&response.text())
}

/// A server with a model that answers the suite's questions, each after that time.
fn start_with_model(endpoint: &MockEndpoint, folder: &Path) -> Server {
    Server::start(serve_with(endpoint, &folder.join("shop.sqlite"), folder))
}

fn model(ms: u64) -> MockEndpoint {
    let slow = Script::new().with(move |request, _| Some(answer(request)?.delay_ms(ms)));
    MockEndpoint::start(slow)
}

fn prepare(folder: &Path) {
    shop(folder);
    std::fs::write(folder.join("suite.jsonl"), suite(QUESTIONS)).unwrap();
}

/// Waits until that many answers of the run are graded.
fn wait_for(server: &Server, run: &str, answers: u64) {
    for _ in 0..1_000 {
        let runs = server.get("/evaluations").json();
        let lines = runs["runs"].as_array().unwrap();
        let line = lines.iter().find(|line| line["run"] == run);
        if line.is_some_and(|line| line["done"].as_u64().unwrap() >= answers) {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("{answers} answers are not there in time");
}

#[test]
fn a_comparison_is_begun_watched_and_reported() {
    let folder = scratch();
    prepare(folder.path());
    let endpoint = MockEndpoint::start(script());
    let server = start_with_model(&endpoint, folder.path());
    let run = begin(&server, &find_suite(&server));
    let events = events(&server, &run);
    let kinds: Vec<&str> = events.iter().map(|(_, kind, _)| kind.as_str()).collect();
    assert_eq!(
        (kinds[0], kinds[1], *kinds.last().unwrap()),
        ("queued", "started", "ended"),
        "{events:?}"
    );
    let (_, _, progress) = events.iter().rfind(|(_, kind, _)| kind == "progress").unwrap();
    assert_eq!((&progress["done"], &progress["of"]), (&json!(24), &json!(24)), "{progress}");
    assert_eq!(progress["arms"][1]["arm"], "retry3", "{progress}");
    let report = server.get(&format!("/evaluations/{run}")).json();
    assert_eq!((&report["schema"], &report["running"]), (&json!("syrch.compare/1"), &json!(false)));
    assert_eq!(report["pairs"][0]["questions"], QUESTIONS, "{report}");
    assert_eq!(report["run"], run.as_str());
    let trace = server.get(&format!("/evaluations/{run}/trace?arm=single&id=q0001"));
    assert_eq!(trace.status, 200, "{}", trace.text());
    // The events can be read again from where a client was.
    let after = server.get(&format!("/evaluations/{run}/events"));
    assert_eq!(read_events(&after.text()), events);
}

#[test]
fn a_comparison_is_of_the_servers_own_suites_and_strategies() {
    let folder = scratch();
    let server = start(folder.path());
    let suite = find_suite(&server);
    let secret = folder.path().join("secret.yml");
    std::fs::write(&secret, "name: secret\nroles: {solver: consistency}\n").unwrap();
    let secret = secret.to_str().unwrap();
    let other = suite.replace("suite.jsonl", "other.json");
    let arms = ["single", "retry3"];
    for (wrong, says) in [
        (json!({"arms": ["single"], "suite": suite}), "two to four"),
        (json!({"arms": ["single", "single"], "suite": suite}), "different"),
        (json!({"arms": ["single", "vote6"], "suite": suite}), "no strategy"),
        (json!({"arms": ["single", secret], "suite": suite}), "no strategy"),
        (json!({"arms": ["single", "solver=chase"], "suite": suite}), "no strategy"),
        (json!({"arms": ["single", "single:policy.max_attempts=9"], "suite": suite}), "no strat"),
        (json!({"arms": arms, "suite": "/etc/passwd"}), "no such suite"),
        (json!({"arms": arms, "suite": "suite.jsonl"}), "no such suite"),
        (json!({"arms": arms, "suite": other}), ""),
        (json!({"arms": arms, "suite": suite, "calls": 0}), "`calls`"),
        (json!({"arms": arms, "suite": suite, "calls": 1_000_000_000}), "`calls`"),
        (json!({"arms": arms, "suite": suite, "usd": -1}), "`usd`"),
        (json!({"arms": arms, "suite": suite, "seconds": 0}), "`seconds`"),
        (json!({"arms": arms, "suite": suite, "workers": 99}), "workers"),
    ] {
        let response = server.post("/evaluations", &wrong, &[]);
        assert_eq!(response.status, 400, "{wrong}: {}", response.text());
        assert!(response.text().contains(says), "{wrong}: {}", response.text());
    }
    assert_eq!(server.get("/evaluations").json()["runs"], json!([]));
    for missing in ["0000000000000000", "..%2f.."] {
        assert_eq!(server.get(&format!("/evaluations/{missing}/events")).status, 404);
        let stopped = server.post(&format!("/evaluations/{missing}/stop"), &json!({}), &[]);
        assert_eq!(stopped.status, 404);
    }
}

#[test]
fn a_comparison_is_stopped_by_its_client_or_by_its_budget() {
    let folder = scratch();
    prepare(folder.path());
    let endpoint = model(150);
    let server = start_with_model(&endpoint, folder.path());
    let suite = find_suite(&server);
    let run = begin(&server, &suite);
    let other = json!({"arms": ["single", "retry3"], "suite": suite});
    let refused = server.post("/evaluations", &other, &[]);
    assert_eq!((refused.status, &refused.json()["run"]), (429, &json!(run)));
    wait_for(&server, &run, 1);
    assert_eq!(server.post(&format!("/evaluations/{run}/stop"), &json!({}), &[]).status, 202);
    let (_, kind, problem) = events(&server, &run).pop().unwrap();
    assert_eq!((kind.as_str(), &problem["class"]), ("failed", &json!("interrupted")), "{problem}");
    let report = server.get(&format!("/evaluations/{run}")).json();
    assert!(report["partial"]["done"].as_u64().unwrap() < 24, "{report}");
    // What its client has stopped is not begun again.
    server.kill();
    let server = start_with_model(&endpoint, folder.path());
    assert_eq!(server.get(&format!("/evaluations/{run}/events")).status, 404);
    let frugal = json!({"arms": ["single", "retry3"], "suite": suite, "calls": 5});
    let run = server.post("/evaluations", &frugal, &[]).json()["run"].as_str().unwrap().to_owned();
    let (_, kind, problem) = events(&server, &run).pop().unwrap();
    assert_eq!((kind.as_str(), &problem["class"]), ("failed", &json!("budget")), "{problem}");
}

/// Searches that the end of a comparison has cut off are paid as well.
#[test]
fn a_comparison_and_questions_spend_one_budget() {
    let folder = scratch();
    prepare(folder.path());
    let config = folder.path().join("mine.yml");
    std::fs::write(&config, "llm:\n  prices:\n    \"mo*\": {input: 9, output: 10}\n").unwrap();
    // A call costs a cent, and from the fourth on none ends while the comparison runs.
    let is_stopped = Arc::new(AtomicBool::new(false));
    let is_quick = Arc::clone(&is_stopped);
    let script = Script::new().with(move |request, before| {
        let reply = match request.prompt().contains(PLAN) {
            true => whole(),
            false => answer(request)
                .unwrap_or_else(|| Reply::sql("SELECT COUNT(*) AS n FROM customers", 0.95)),
        };
        let is_slow = before >= 3 && !is_quick.load(Ordering::SeqCst);
        let wait = if is_slow { 60_000 } else { 0 };
        Some(reply.usage(Usage::Tokens(1_000, 100)).delay_ms(wait))
    });
    let endpoint = MockEndpoint::start(script);
    let mut command = serve_with(&endpoint, &folder.path().join("shop.sqlite"), folder.path());
    command.arg("--config").arg(config).args(["--no-cache", "--max-tokens", "120"]);
    command.args(["--max-usd", "0.06", "--total-usd", "0.10"]);
    let server = Server::start(command);
    let run = begin(&server, &find_suite(&server));
    while endpoint.count() < 4 {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(server.post(&format!("/evaluations/{run}/stop"), &json!({}), &[]).status, 202);
    let (_, kind, problem) = events(&server, &run).pop().unwrap();
    assert_eq!((kind.as_str(), &problem["class"]), ("failed", &json!("interrupted")), "{problem}");
    is_stopped.store(true, Ordering::SeqCst);
    let compared = endpoint.count();
    let question = json!({"question": "How many customers are there?"});
    let is_refused = (0..20).any(|_| {
        let asked = server.post("/ask", &question, &[]);
        asked.text().contains("--total-usd")
    });
    assert!(is_refused && endpoint.count() <= 10, "{compared}, then {} calls", endpoint.count());
}

#[test]
fn a_killed_server_goes_on_with_its_comparison() {
    let folder = scratch();
    prepare(folder.path());
    let endpoint = model(150);
    let mut server = start_with_model(&endpoint, folder.path());
    let run = begin(&server, &find_suite(&server));
    for least in [3, 8] {
        wait_for(&server, &run, least);
        server.kill();
        server = start_with_model(&endpoint, folder.path());
    }
    let (_, kind, _) = events(&server, &run).pop().unwrap();
    assert_eq!(kind, "ended");
    let report = server.get(&format!("/evaluations/{run}")).json();
    assert_eq!(report["results"].as_array().unwrap().len(), 24, "{report}");
    assert_eq!(report["pairs"][0]["questions"], QUESTIONS);
    let runs = server.get("/evaluations").json();
    assert_eq!(runs["runs"].as_array().unwrap().len(), 1, "{runs}");
    server.kill();
    // Nothing is left for another one.
    let server = start_with_model(&endpoint, folder.path());
    assert_eq!(server.get(&format!("/evaluations/{run}/events")).status, 404);
}

/// A note of an earlier server may be anybody's. It names strategies of the server, and no
/// component that runs as one that the user has named.
#[cfg(unix)]
#[test]
fn a_noted_comparison_brings_no_plugin() {
    let folder = scratch();
    let theirs = folder.path().join("theirs.wasm");
    std::fs::write(&theirs, crate::locked::component(2)).unwrap();
    let notes = folder.path().join("state/serve/comparisons");
    std::fs::create_dir_all(&notes).unwrap();
    let run = "00000000000000aa";
    let noted = json!({
        "run": run,
        "database": shop(folder.path()),
        "asked": {
            "arms": ["single", format!("solver={}", theirs.display())],
            "suite": folder.path().join("suite.jsonl"),
        },
    });
    std::fs::write(notes.join(format!("{run}.json")), noted.to_string()).unwrap();
    let server = start(folder.path());
    assert_eq!(server.get(&format!("/evaluations/{run}/events")).status, 404);
    let (_, said) = server.terminate();
    let why = format!("the comparison {run} is not resumed: `solver=");
    assert!(said.contains(&why), "{said}");
}
