//! Ends of a server: a search that was accepted is answered, by this server or by the next one.

use std::time::Duration;

use serde_json::{Value, json};
use syrch_kit::{MockEndpoint, scale, scratch};

use super::client::{Server, serve_with, slow_model};
use crate::shop;

const MANY: &str = "How many customers are there?";

fn start(endpoint: &MockEndpoint, folder: &std::path::Path, more: &[&str]) -> Server {
    let mut command = serve_with(endpoint, &folder.join("shop.sqlite"), folder);
    command.arg("--no-cache").args(more);
    Server::start(command)
}

#[test]
fn a_killed_server_resumes_what_it_had_accepted() {
    let folder = scratch();
    shop(folder.path());
    let endpoint = slow_model(1_000);
    let server = start(&endpoint, folder.path(), &["--searches", "1"]);
    let running = server.begin(&json!({"question": MANY}));
    while endpoint.count() < 2 {
        std::thread::sleep(Duration::from_millis(10));
    }
    let waiting = server.begin(&json!({"question": "How many products are there?"}));
    server.kill();
    let before = endpoint.count();
    let server = start(&endpoint, folder.path(), &["--searches", "1"]);
    for run in [&running, &waiting] {
        let events = server.events(run, 0);
        let (_, kind, answer) = events.last().unwrap();
        assert_eq!(
            (kind.as_str(), &answer["outcome"]),
            ("answer", &json!("answered")),
            "{events:?}"
        );
        assert_eq!(answer["run"], run.as_str());
    }
    // The plan of the first is not made again, its statement is; the second is asked as a whole.
    let calls = endpoint.count() - before;
    assert!(calls <= 3, "{calls} calls");
    let resumed = server.events(&running, 0);
    assert!(resumed.iter().any(|(_, kind, data)| kind == "started" && data["resumed"] == true));
    server.kill();
    // Nothing is left for a third one.
    let server = start(&endpoint, folder.path(), &[]);
    assert_eq!(server.get(&format!("/runs/{running}/events")).status, 404);
    assert_eq!(server.get(&format!("/runs/{running}")).json()["outcome"]["kind"], "answered");
}

#[cfg(unix)]
#[test]
fn a_server_that_is_asked_to_stop_ends_what_it_can() {
    let folder = scratch();
    shop(folder.path());
    let endpoint = slow_model(500);
    let server = start(&endpoint, folder.path(), &[]);
    let run = server.begin(&json!({"question": MANY}));
    while endpoint.count() < 2 {
        std::thread::sleep(Duration::from_millis(10));
    }
    let (status, said) = server.terminate();
    assert!(status.success(), "{status}: {said}");
    assert!(said.contains("stopping"), "{said}");
    let server = start(&endpoint, folder.path(), &[]);
    assert_eq!(server.get(&format!("/runs/{run}")).json()["outcome"]["kind"], "answered");
}

#[test]
fn a_search_is_stopped_with_the_best_so_far() {
    let folder = scratch();
    shop(folder.path());
    let endpoint = slow_model(20_000);
    let server = start(&endpoint, folder.path(), &[]);
    let run = server.begin(&json!({"question": MANY}));
    while endpoint.count() < 2 {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(server.post(&format!("/runs/{run}/stop"), &json!({}), &[]).status, 202);
    let events = server.events(&run, 0);
    let (_, kind, problem) = events.last().unwrap();
    assert_eq!((kind.as_str(), &problem["class"]), ("failed", &json!("interrupted")));
    assert_eq!(problem["run"], run.as_str());
}

/// Kills the server during questions, again and again: each that was accepted is answered once.
#[test]
fn a_server_that_is_killed_again_and_again_loses_no_question() {
    let folder = scratch();
    shop(folder.path());
    let endpoint = slow_model(40);
    let kills = scale(5, 20);
    let mut accepted = Vec::new();
    let mut server = start(&endpoint, folder.path(), &["--searches", "3"]);
    for kill in 0..kills {
        for number in 0..4 {
            let question = format!("How many customers are there? ({kill}/{number})");
            accepted.push(server.begin(&json!({"question": question})));
        }
        // In the middle of plans, statements and what waits.
        std::thread::sleep(Duration::from_millis(23 * (kill as u64 % 7)));
        server.kill();
        server = start(&endpoint, folder.path(), &["--searches", "3"]);
    }
    for run in &accepted {
        let tree = wait_for_end(&server, run);
        assert_eq!(tree["outcome"]["kind"], "answered", "{run}: {tree}");
        assert_eq!(tree["answer"]["rows"], json!([[4]]), "{run}");
    }
    let runs = server.get("/runs?limit=500").json();
    let listed = runs["runs"].as_array().unwrap();
    let mut listed: Vec<&str> = listed.iter().map(|run| run["run"].as_str().unwrap()).collect();
    listed.sort_unstable();
    accepted.sort_unstable();
    assert_eq!(listed, accepted);
}

/// The trace of a run once it has ended.
fn wait_for_end(server: &Server, run: &str) -> Value {
    for _ in 0..3_000 {
        let response = server.get(&format!("/runs/{run}"));
        if response.status == 200 && response.json()["outcome"]["kind"] != "unfinished" {
            return response.json();
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("the run {run} does not end: {}", server.get(&format!("/runs/{run}")).text());
}
