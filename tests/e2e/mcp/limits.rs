//! Progress, cancelled calls, slots, money and memory.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;
use syrch_kit::{MockEndpoint, Reply, Script, Usage};

use super::client::Client;
use super::{call, server};
use crate::endpoint::{KEY, PLAN, WRITE, whole};
use crate::{STRATEGY, host, shop};

const COUNT: &str = "SELECT COUNT(*) AS n FROM customers";

/// A server whose model is that endpoint.
fn with_model(endpoint: &MockEndpoint, folder: &Path, flags: &[&str]) -> Command {
    let config = folder.join("mine.yml");
    std::fs::write(&config, "llm:\n  prices:\n    \"mo*\": {input: 9, output: 10}\n").unwrap();
    let mut command = host();
    command.env("SYRCH_API_KEY", KEY).args(["mcp", "--llm", "openai", "--model", "mock"]);
    command.args(["--base-url", &endpoint.url(), "--db"]).arg(shop(folder));
    command.arg("--config").arg(config).args(flags);
    command
}

fn question(n: u32) -> serde_json::Value {
    call("ask_database", json!({"question": format!("How many customers are there? ({n})")}))
}

#[test]
fn the_model_decides_on_the_strategy() {
    let folder = syrch_kit::scratch();
    let endpoint = MockEndpoint::start(Script::new().on([WRITE], Reply::sql(COUNT, 0.95)));
    let mut command = with_model(&endpoint, folder.path(), &[]);
    command.env_remove(STRATEGY);
    let mut client = Client::begin(command, json!({}));
    let asked = call("ask_database", json!({"question": "How many customers are there?"}));
    let result = client.ask("tools/call", asked);
    assert_eq!(result["structuredContent"]["answer"]["row_count"], 1, "{result:#}");
    assert_eq!(endpoint.count(), 3);
}

#[test]
fn progress_is_told_where_it_is_asked_for() {
    let folder = syrch_kit::scratch();
    let script = Script::new()
        .on([PLAN], whole().delay_ms(200))
        .on([WRITE], Reply::sql(COUNT, 0.95).delay_ms(300));
    let endpoint = MockEndpoint::start(script);
    let mut client = Client::begin(with_model(&endpoint, folder.path(), &[]), json!({}));
    let mut params = question(1);
    params["_meta"] = json!({"progressToken": "p1"});
    let result = client.ask("tools/call", params);
    assert_eq!(result["structuredContent"]["answer"]["row_count"], 1, "{result:#}");
    let steps: Vec<f64> = client
        .others
        .iter()
        .map(|message| {
            assert_eq!(message["method"], "notifications/progress", "{message:#}");
            assert_eq!(message["params"]["progressToken"], "p1");
            message["params"]["progress"].as_f64().unwrap()
        })
        .collect();
    assert!(steps.len() >= 2 && steps.is_sorted_by(|one, other| one < other), "{steps:?}");
    let last = &client.others.last().unwrap()["params"];
    assert_eq!(
        (&last["progress"], &last["message"]),
        (&last["total"], &json!("1 of 1 tasks ended"))
    );
    let (code, errors) = client.close();
    assert!(code == 0 && !errors.contains(KEY), "{errors}");
}

#[test]
fn a_cancelled_call_ends_its_search_and_frees_its_slot() {
    let folder = syrch_kit::scratch();
    let script = Script::new()
        .on([PLAN], whole())
        .once([WRITE, "(1)"], Reply::hang())
        .on([WRITE], Reply::sql(COUNT, 0.95));
    let endpoint = MockEndpoint::start(script);
    let flags = ["--searches", "1", "--waiting", "2"];
    let mut client = Client::begin(with_model(&endpoint, folder.path(), &flags), json!({}));
    let hanging = client.request("tools/call", question(1));
    while endpoint.count_of("(1)") < 2 {
        std::thread::sleep(Duration::from_millis(20));
    }
    // One waits, the second of the same client is refused.
    let waiting = client.request("tools/call", question(2));
    // Calls are read in order, and begin side by side.
    std::thread::sleep(Duration::from_millis(500));
    let refused = client.ask("tools/call", question(3));
    let text = refused["content"][0]["text"].as_str().unwrap();
    assert!(refused["isError"] == true && text.contains("too many calls of this client"), "{text}");
    let began = Instant::now();
    client.send(&json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": {"requestId": hanging, "reason": "enough"},
    }));
    let answered = client.response(waiting);
    assert_eq!(answered["result"]["structuredContent"]["answer"]["row_count"], 1, "{answered:#}");
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    // The cancelled call has no response.
    assert!(client.others.iter().all(|message| message["id"] != hanging), "{:#?}", client.others);
}

#[test]
fn the_money_of_the_server_is_bounded() {
    let folder = syrch_kit::scratch();
    let cost = Usage::Tokens(1_000, 100);
    let script = Script::new()
        .on([PLAN], whole().usage(cost.clone()))
        .on([WRITE], Reply::sql(COUNT, 0.95).usage(cost));
    let endpoint = MockEndpoint::start(script);
    // A call costs a cent; a search makes two. What a call reserves is what it may cost at most.
    let flags = ["--max-usd", "0.06", "--total-usd", "0.05", "--max-tokens", "120", "--no-cache"];
    let mut client = Client::begin(with_model(&endpoint, folder.path(), &flags), json!({}));
    let mut answered = 0;
    let last = loop {
        let result = client.ask("tools/call", question(answered));
        if result["isError"] == true || result["structuredContent"]["answer"].is_null() {
            break result;
        }
        answered += 1;
        assert!(answered < 5, "nothing bounds it");
    };
    assert!((1..=2).contains(&answered), "{answered} answers; then {last:#}");
    assert!(endpoint.count() <= 5, "{} calls at a cent", endpoint.count());
    // From now on nothing is left for a call.
    let text = last["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("budget"), "{text}");
}

/// A size of a process in kilobytes.
#[cfg(target_os = "linux")]
fn read_size(status: &str, name: &str) -> u64 {
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// The memory of a server that has answered and waits, on systems that tell it.
#[test]
#[cfg(target_os = "linux")]
fn an_idle_server_is_small() {
    let folder = syrch_kit::scratch();
    let mut client = Client::begin(server(&shop(folder.path()), &[]), json!({}));
    let question = json!({"question": "How many customers are there?"});
    client.ask("tools/call", call("ask_database", question));
    let status = std::fs::read_to_string(format!("/proc/{}/status", client.process())).unwrap();
    let own = read_size(&status, "RssAnon:") + read_size(&status, "RssShmem:");
    println!("anonymous memory {own} kB, with mapped files {} kB", read_size(&status, "VmRSS:"));
    assert!(own <= 60 << 10, "{own} kB");
}
