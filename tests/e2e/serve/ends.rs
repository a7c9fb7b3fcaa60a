//! Ends of a server: a search that was accepted is answered, by this server or by the next one.

use std::time::Duration;

use serde_json::json;
use syrch_kit::{MockEndpoint, scratch};

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
