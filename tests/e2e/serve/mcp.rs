//! MCP in the process of a server: by the token alone, and in the slots of the page.

use std::io::Read;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use syrch_kit::{MockEndpoint, Reply, Script, Usage, scratch};

use super::client::{Response, Server, TOKEN, serve, serve_with, slow_model};
use crate::endpoint::{PLAN, whole};
use crate::mcp::{STATELESS, call, meta};
use crate::{host, shop};

const MANY: &str = "How many customers are there?";

/// The body of a call of a tool.
fn body(tool: &str, arguments: Value) -> String {
    let mut params = call(tool, arguments);
    params["_meta"] = meta(json!({}));
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string()
}

/// Sends a call of a tool with these headers besides those of the protocol.
fn send(server: &Server, tool: &str, arguments: Value, more: &[(&str, &str)]) -> Response {
    let mut headers = vec![
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
        ("MCP-Protocol-Version", STATELESS),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", tool),
    ];
    headers.extend(more);
    server.send("POST", "/mcp", &headers, &body(tool, arguments))
}

/// Asks as a client with the token does. Returns the result of the call.
fn ask(server: &Server, question: &str) -> Value {
    let bearer = format!("Bearer {TOKEN}");
    let own = [("Host", server.address.as_str()), ("Authorization", bearer.as_str())];
    let response = send(server, "ask_database", json!({"question": question}), &own);
    assert_eq!(response.status, 200, "{}", response.text());
    read_result(&response.text())
}

/// Sends a question without waiting for its answer.
fn begin(server: &Server) -> TcpStream {
    let body = body("ask_database", json!({"question": MANY}));
    server.open(&format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {TOKEN}\r\n\
         Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         MCP-Protocol-Version: {STATELESS}\r\nMcp-Method: tools/call\r\nMcp-Name: ask_database\r\n\
         Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
        server.address,
        body.len()
    ))
}

/// The result in a body, which is JSON or a stream of events.
fn read_result(text: &str) -> Value {
    let mut lines = text.lines().map(|line| line.strip_prefix("data:").unwrap_or(line).trim());
    let message = lines.rfind(|line| line.starts_with('{')).unwrap_or_else(|| panic!("{text}"));
    let message: Value = serde_json::from_str(message).unwrap();
    message.get("result").cloned().unwrap_or_else(|| panic!("{message:#}"))
}

/// A search of the page and a call take from one budget, as the cost of each is known.
#[test]
fn the_page_and_calls_spend_one_budget() {
    let folder = scratch();
    // A call costs a cent.
    let cost = Usage::Tokens(1_000, 100);
    let statement = Reply::sql("SELECT count(*) AS n FROM customers", 0.95).usage(cost.clone());
    let script = Script::new().on([PLAN], whole().usage(cost));
    let endpoint = MockEndpoint::start(script.with(move |_, _| Some(statement.clone())));
    let config = folder.path().join("mine.yml");
    std::fs::write(&config, "llm:\n  prices:\n    \"mo*\": {input: 9, output: 10}\n").unwrap();
    let mut command = serve_with(&endpoint, &shop(folder.path()), folder.path());
    command.arg("--config").arg(config).args(["--mcp", "--no-cache", "--max-tokens", "120"]);
    command.args(["--max-usd", "0.06", "--total-usd", "0.05"]);
    let server = Server::start(command);
    assert_eq!(ask(&server, MANY)["structuredContent"]["answer"]["rows"], json!([[4]]));
    let refused = (0..5).find_map(|_| {
        let asked = server.post("/ask", &json!({"question": MANY}), &[]);
        asked.text().contains("--total-usd").then_some(asked)
    });
    assert!((2..=5).contains(&endpoint.count()), "{} calls at a cent", endpoint.count());
    let refused = refused.expect("nothing bounds it");
    assert_eq!((refused.status, &refused.json()["class"]), (422, &json!("budget")));
    let called = ask(&server, MANY);
    assert_eq!(called["isError"], true, "{called:#}");
}

/// The status of a request with these headers.
fn status(server: &Server, headers: &[(&str, &str)]) -> u16 {
    send(server, "search_schema", json!({"words": "customers"}), headers).status
}

fn start(folder: &std::path::Path) -> Server {
    let mut command = serve(&shop(folder), folder);
    command.arg("--mcp");
    Server::start(command)
}

#[test]
fn clients_with_the_token_are_served_over_mcp() {
    let folder = scratch();
    let server = start(folder.path());
    let asked = ask(&server, MANY);
    let document = &asked["structuredContent"];
    assert_eq!(document["schema"], "syrch.answer/1", "{asked:#}");
    assert_eq!(document["answer"]["rows"], json!([[4]]));
    // The page lists the run as those of its own questions.
    let runs = server.get("/runs").json();
    assert_eq!(runs["runs"][0]["run"], document["run"], "{runs:#}");
}

/// A request that no tool can take gets an error of JSON-RPC, as from `mcp --http`.
#[test]
fn errors_are_those_of_the_protocol() {
    let folder = scratch();
    let server = start(folder.path());
    let bearer = format!("Bearer {TOKEN}");
    let own = [("Host", server.address.as_str()), ("Authorization", bearer.as_str())];
    for (arguments, status, code) in
        [(json!({"question": "x".repeat(1 << 20)}), 413, -32600), (json!("SELECT 1"), 200, -32602)]
    {
        let refused = send(&server, "ask_database", arguments, &own);
        assert_eq!(refused.status, status, "{}", refused.text());
        let text = refused.text();
        let mut lines = text.lines().map(|line| line.strip_prefix("data:").unwrap_or(line).trim());
        let message = lines.rfind(|line| line.starts_with('{')).unwrap_or_default();
        let message: Value = serde_json::from_str(message).unwrap();
        assert_eq!(message["error"]["code"], code, "{message:#}");
    }
}

#[test]
fn foreign_names_pages_and_sessions_do_not_reach_it() {
    let folder = scratch();
    let server = start(folder.path());
    let own = server.address.clone();
    let bearer = format!("Bearer {TOKEN}");
    let server = &server;
    let token = ("Authorization", bearer.as_str());
    assert_eq!(status(server, &[("Host", &own), token]), 200);
    assert_eq!(status(server, &[("Host", &own)]), 401);
    assert_eq!(status(server, &[("Host", &own), ("Authorization", "Bearer wrong")]), 401);
    assert_eq!(status(server, &[("Host", "evil.example"), token]), 421);
    assert_eq!(status(server, &[("Host", &own), token, ("Origin", "http://evil.example")]), 403);
    assert_eq!(status(server, &[("Host", &own), token, ("Sec-Fetch-Site", "cross-site")]), 403);
    let same = format!("http://{own}");
    assert_eq!(status(server, &[("Host", &own), token, ("Origin", &same)]), 200);
    // A browser sends the cookie of a session by itself, so that it is not enough.
    let headers = [("Host", own.as_str()), ("Content-Type", "application/json")];
    let code = json!({"code": server.code}).to_string();
    let opened = server.send("POST", "/api/v1/session", &headers, &code);
    let cookie = opened.header("set-cookie").split(';').next().unwrap();
    assert_eq!(status(server, &[("Host", &own), ("Cookie", cookie)]), 401);
    let long = json!({"words": "x".repeat(1 << 20)});
    assert_eq!(send(server, "search_schema", long, &[("Host", &own), token]).status, 413);
}

#[test]
fn it_is_served_where_it_was_asked_for() {
    let folder = scratch();
    let server = Server::start(serve(&shop(folder.path()), folder.path()));
    let bearer = format!("Bearer {TOKEN}");
    let own = [("Host", server.address.as_str()), ("Authorization", bearer.as_str())];
    assert_eq!(send(&server, "search_schema", json!({"words": "a"}), &own).status, 404);
    let mut command = host();
    command.args(["serve", "--mcp", "--db"]).arg(shop(folder.path()));
    let output = command.output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && errors.contains("--token-file"), "{errors}");
}

#[test]
fn its_searches_and_those_of_the_page_share_their_slots() {
    let folder = scratch();
    let endpoint = slow_model(1_500);
    let mut command = serve_with(&endpoint, &shop(folder.path()), folder.path());
    command.args(["--mcp", "--no-cache", "--searches", "1", "--queue", "1"]);
    let server = Server::start(command);
    let run = server.begin(&json!({"question": MANY}));
    let mut waiting = begin(&server);
    let began = Instant::now();
    let about = loop {
        let about = server.get("/server").json();
        if about["waiting"] == 1 || began.elapsed() > Duration::from_secs(30) {
            break about;
        }
    };
    assert_eq!((&about["running"], &about["waiting"]), (&json!(1), &json!(1)), "{about}");
    let refused = ask(&server, MANY);
    let text = refused["content"][0]["text"].as_str().unwrap();
    assert!(refused["isError"] == true && text.contains("too many calls"), "{refused:#}");
    assert_eq!(server.events(&run, 0).last().unwrap().1, "answer");
    let mut text = String::new();
    waiting.read_to_string(&mut text).unwrap();
    assert!(text.contains("syrch.answer/1"), "{text}");
}

#[cfg(unix)]
#[test]
fn a_call_that_runs_when_the_server_stops_gets_its_answer() {
    let folder = scratch();
    let endpoint = slow_model(700);
    let mut command = serve_with(&endpoint, &shop(folder.path()), folder.path());
    command.args(["--mcp", "--no-cache"]);
    let server = Server::start(command);
    let mut stream = begin(&server);
    while endpoint.count() < 2 {
        std::thread::sleep(Duration::from_millis(10));
    }
    let (status, errors) = server.terminate();
    assert_eq!(status.code(), Some(0), "{errors}");
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert!(text.contains("syrch.answer/1"), "{text}");
}
