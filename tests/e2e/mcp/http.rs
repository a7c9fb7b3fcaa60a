//! Streamable HTTP: the token, hosts and origins, sessions and requests without one.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::{SESSIONS, STATELESS, call, meta, server};
use crate::shop;

/// A server that listens.
struct Listening {
    child: Child,
    /// The address that it printed.
    url: String,
}

/// A response, with its headers in small letters.
struct Response {
    status: u16,
    head: String,
    body: String,
}

impl Response {
    /// The messages of the body, which is JSON or a stream of events.
    fn messages(&self) -> Vec<Value> {
        if self.head.contains("application/json") {
            return vec![serde_json::from_str(&self.body).unwrap()];
        }
        let lines = self.body.lines().filter_map(|line| line.strip_prefix("data:"));
        let lines = lines.map(str::trim).filter(|line| !line.is_empty());
        lines.map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn result(&self) -> Value {
        let messages = self.messages();
        let last = messages.last().unwrap_or_else(|| panic!("{}\n{}", self.head, self.body));
        last.get("result").cloned().unwrap_or_else(|| panic!("{last:#}"))
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim)
    }
}

impl Listening {
    fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Self { child, url: url.trim().to_owned() }
    }

    fn address(&self) -> &str {
        self.url.strip_prefix("http://").unwrap().split('/').next().unwrap()
    }

    fn token(&self) -> &str {
        self.url.split('/').nth(3).unwrap()
    }

    /// Sends a request as it stands. The connection ends with the response.
    fn send(&self, line: &str, headers: &[(&str, &str)], body: &str) -> Response {
        let mut stream = TcpStream::connect(self.address()).unwrap();
        let mut head = format!("{line} HTTP/1.1\r\nConnection: close\r\n");
        let is_named = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host"));
        let host = ("Host", self.address());
        let accept = ("Accept", "application/json, text/event-stream");
        let own = [accept, ("Content-Type", "application/json")];
        let named = (!is_named).then_some(host);
        for (name, value) in named.iter().chain(&own).chain(headers) {
            head += &format!("{name}: {value}\r\n");
        }
        head += &format!("Content-Length: {}\r\n\r\n{body}", body.len());
        stream.write_all(head.as_bytes()).unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split_whitespace().nth(1).unwrap().parse().unwrap();
        let head = head.to_lowercase();
        let body =
            if head.contains("transfer-encoding: chunked") { join(body) } else { body.into() };
        Response { status, head, body }
    }

    fn post(&self, headers: &[(&str, &str)], message: &Value) -> Response {
        let bearer = format!("Bearer {}", self.token());
        let mut all = vec![("Authorization", bearer.as_str())];
        all.extend_from_slice(headers);
        self.send("POST /mcp", &all, &message.to_string())
    }
}

impl Listening {
    /// Sends a request of the stateless era, with the headers that repeat its body.
    fn post_stateless(&self, method: &str, name: Option<&str>, mut params: Value) -> Response {
        params["_meta"] = meta(json!({}));
        let mut headers = vec![("MCP-Protocol-Version", STATELESS), ("Mcp-Method", method)];
        headers.extend(name.map(|name| ("Mcp-Name", name)));
        self.post(&headers, &request(1, method, params))
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// The content of a body in chunks.
fn join(mut chunks: &str) -> String {
    let mut body = String::new();
    while let Some((size, rest)) = chunks.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap();
        body += &rest[..size];
        chunks = rest[size..].trim_start_matches("\r\n");
    }
    body
}

fn request(id: u32, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn initialize() -> Value {
    request(
        1,
        "initialize",
        json!({
            "protocolVersion": SESSIONS, "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        }),
    )
}

#[test]
fn only_requests_with_the_token_and_to_this_host_pass() {
    let folder = syrch_kit::scratch();
    let server = Listening::start(server(&shop(folder.path()), &["--http", "0"]));
    assert!(server.url.starts_with("http://127.0.0.1:"), "{}", server.url);
    let body = initialize().to_string();
    for line in ["POST /mcp", "POST /wrong/mcp", "GET /mcp", "POST /"] {
        assert_eq!(server.send(line, &[], &body).status, 401, "{line}");
    }
    let with_token = format!("POST /{}/mcp", server.token());
    assert_eq!(server.send(&with_token, &[], &body).status, 200);
    assert_eq!(server.post(&[], &initialize()).status, 200);
    let bearer = format!("Bearer {}", server.token());
    let elsewhere = server.send("POST /other", &[("Authorization", &bearer)], &body);
    assert_eq!(elsewhere.status, 404);
    let own = format!("http://{}", server.address());
    for (headers, status) in [
        (("Host", "evil.example"), 403),
        (("Origin", "http://evil.example"), 403),
        (("Origin", "null"), 403),
        (("Origin", own.as_str()), 200),
    ] {
        assert_eq!(server.post(&[headers], &initialize()).status, status, "{headers:?}");
    }
    let large =
        json!({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"a": "x".repeat(1 << 20)}});
    assert_eq!(server.post(&[], &large).status, 413);
    // What cannot be read as a message gets an error of the protocol.
    for (body, code) in [("{bad", -32700), ("[17]", -32600)] {
        let refused = server.send(&with_token, &[], body);
        assert_eq!(refused.status, 400, "{body}: {}", refused.body);
        let error = &refused.messages()[0];
        assert_eq!((&error["error"]["code"], &error["id"]), (&json!(code), &Value::Null));
    }
}

#[test]
fn a_session_has_an_id_and_an_end() {
    let folder = syrch_kit::scratch();
    let server = Listening::start(server(&shop(folder.path()), &["--http", "0"]));
    let begun = server.post(&[], &initialize());
    assert_eq!(begun.result()["protocolVersion"], SESSIONS);
    let id = begun.header("mcp-session-id").unwrap().to_owned();
    let headers = [("Mcp-Session-Id", id.as_str()), ("MCP-Protocol-Version", SESSIONS)];
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(server.post(&headers, &initialized).status, 202);
    let question = call("ask_database", json!({"question": "How many customers are there?"}));
    let asked = server.post(&headers, &request(2, "tools/call", question)).result();
    assert_eq!(asked["structuredContent"]["schema"], "syrch.answer/1", "{asked:#}");
    server.end(&id);
    let late = server.post(&headers, &request(3, "tools/list", json!({})));
    assert_eq!(late.status, 404);
}

impl Listening {
    /// Begins a session and returns its id.
    fn begin(&self) -> String {
        let begun = self.post(&[], &initialize());
        assert_eq!(begun.status, 200, "{}", begun.body);
        begun.header("mcp-session-id").unwrap().to_owned()
    }

    /// Ends a session.
    fn end(&self, id: &str) {
        let token = format!("Bearer {}", self.token());
        let session = [("Mcp-Session-Id", id), ("MCP-Protocol-Version", SESSIONS)];
        let headers = [("Authorization", token.as_str()), session[0], session[1]];
        let ended = self.send("DELETE /mcp", &headers, "");
        assert!((200..300).contains(&ended.status), "{}", ended.status);
    }

    /// The status of a `ping` in a session.
    fn ping(&self, id: &str) -> u16 {
        let headers = [("Mcp-Session-Id", id), ("MCP-Protocol-Version", SESSIONS)];
        self.post(&headers, &request(5, "ping", json!({}))).status
    }

    /// Opens the stream of events of a session, which lasts as long as the connection.
    fn open_stream(&self, id: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address()).unwrap();
        let host = self.address();
        let token = self.token();
        write!(
            stream,
            "GET /mcp HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\
             Accept: text/event-stream\r\nMcp-Session-Id: {id}\r\n\
             MCP-Protocol-Version: {SESSIONS}\r\n\r\n"
        )
        .unwrap();
        let mut line = String::new();
        BufReader::new(stream.try_clone().unwrap()).read_line(&mut line).unwrap();
        assert!(line.contains("200"), "{line}");
        stream
    }
}

/// Clients that never end their sessions lock nobody else out.
#[test]
fn a_new_session_takes_the_place_of_the_one_that_is_idle_for_longest() {
    /// The limit on open sessions.
    const OPEN: usize = 128;
    let folder = syrch_kit::scratch();
    let server = Listening::start(server(&shop(folder.path()), &["--http", "0"]));
    let mut ids: Vec<String> = (0..OPEN).map(|_| server.begin()).collect();
    // The first has a stream, the second made a request, so the third is idle for longest.
    let stream = server.open_stream(&ids[0]);
    assert_eq!(server.ping(&ids[1]), 200);
    ids.push(server.begin());
    let gone: Vec<usize> = (0..ids.len()).filter(|at| server.ping(&ids[*at]) != 200).collect();
    assert_eq!(gone, [2]);
    // A call without a session finds a place as well.
    let tools = server.post_stateless("tools/list", None, json!({})).result();
    assert_eq!(tools["tools"].as_array().unwrap().len(), 4);
    assert_eq!(server.ping(&ids[0]), 200, "a session with a stream is in use");
    // A server may learn late that a stream is closed: ended, its session takes no place.
    drop(stream);
    server.end(&ids[0]);
    // Where all are in use, a client learns when to try again.
    let ids: Vec<String> = (0..OPEN).map(|_| server.begin()).collect();
    let streams: Vec<TcpStream> = ids.iter().map(|id| server.open_stream(id)).collect();
    let refused = server.post(&[], &initialize());
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("5")));
    drop(streams);
}

#[test]
fn the_stateless_era_has_no_session() {
    let folder = syrch_kit::scratch();
    let server = Listening::start(server(&shop(folder.path()), &["--http", "0"]));
    let found = server.post_stateless("server/discover", None, json!({}));
    assert_eq!(found.header("mcp-session-id"), None);
    assert!(found.result()["supportedVersions"].as_array().unwrap().contains(&json!(STATELESS)));
    let tools = server.post_stateless("tools/list", None, json!({})).result();
    assert_eq!((&tools["resultType"], &tools["ttlMs"]), (&json!("complete"), &json!(300_000)));
    let question = call("ask_database", json!({"question": "How many customers are there?"}));
    let asked = server.post_stateless("tools/call", Some("ask_database"), question).result();
    assert_eq!(asked["structuredContent"]["schema"], "syrch.answer/1", "{asked:#}");
}

/// Clients that open connections and send nothing, or a part of a request, keep nobody waiting.
#[test]
fn idle_connections_make_place_for_others() {
    /// More than the limit on open connections.
    const IDLE: usize = 400;
    let folder = syrch_kit::scratch();
    let server = Listening::start(server(&shop(folder.path()), &["--http", "0"]));
    let idle: Vec<TcpStream> = (0..IDLE)
        .map(|at| {
            let mut stream = TcpStream::connect(server.address()).unwrap();
            let path = &server.url[server.url.rfind(server.address()).unwrap()..];
            let path = path.strip_prefix(server.address()).unwrap();
            let head = format!("POST {path} HTTP/1.1\r\nHost: {}\r\n", server.address());
            match at % 3 {
                0 => write!(stream, "{head}").unwrap(),
                1 => write!(stream, "{head}Content-Length: 9\r\n\r\n{{").unwrap(),
                _ => {}
            }
            stream
        })
        .collect();
    let began = std::time::Instant::now();
    let tools = server.post_stateless("tools/list", None, json!({})).result();
    assert_eq!(tools["tools"].as_array().unwrap().len(), 4);
    assert!(began.elapsed().as_secs() < 5, "{:?}", began.elapsed());
    drop(idle);
}

impl Listening {
    fn ask_in(&self, conversation: &str, question: &str) -> Value {
        let arguments = json!({"question": question, "conversation": conversation});
        let params = call("ask_database", arguments);
        self.post_stateless("tools/call", Some("ask_database"), params).result()
    }
}

/// Any client may claim the name of another, so that only an id that the server made leads to a
/// conversation.
#[test]
fn clients_without_a_session_share_no_conversation_by_an_id_of_their_choice() {
    let place = crate::defined::shop();
    let semantics = place.path().join("shop.yml").display().to_string();
    let flags = ["--http", "0", "--semantics", semantics.as_str()];
    let server = Listening::start(server(&place.path().join("shop.sqlite"), &flags));
    let chosen = server.ask_in("1", "orders in 2024");
    assert_eq!(chosen["isError"], true, "{chosen:#}");
    let first = server.ask_in("new", "orders in 2024");
    let id = first["structuredContent"]["conversation"].as_str().unwrap();
    assert_eq!(id.len(), 32, "{id}");
    let second = server.ask_in(id, "and in 2023?");
    let origin = &second["structuredContent"]["origin"];
    assert_eq!(origin["request"], "orders, in 2023", "{second:#}");
    let other = server.ask_in("new", "orders in 2024");
    assert_ne!(other["structuredContent"]["conversation"], json!(id));
}

/// Starts a server that does not start. Returns the exit code and what was on standard error.
fn fail(shop: &Path, flags: &[&str], token: Option<&str>) -> (i32, String) {
    let mut command = server(shop, flags);
    command.envs(token.map(|token| ("SYRCH_MCP_TOKEN", token)));
    let output = command.output().unwrap();
    (output.status.code().unwrap(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn another_address_needs_a_token_and_names() {
    let folder = syrch_kit::scratch();
    let shop = shop(folder.path());
    let token = "a-token-that-nobody-guesses";
    let (code, errors) = fail(&shop, &["--listen", "127.0.0.1:0"], None);
    assert!(code == 2 && errors.contains("SYRCH_MCP_TOKEN"), "{errors}");
    let (code, errors) = fail(&shop, &["--listen", "127.0.0.1:0"], Some("short"));
    assert!(code == 10 && errors.contains("24 characters"), "{errors}");
    let (code, errors) = fail(&shop, &["--listen", "0.0.0.0:0"], Some(token));
    assert!(code == 10 && errors.contains("--allow-host"), "{errors}");

    let mut command = server(&shop, &["--listen", "127.0.0.1:0", "--allow-host", "db.example"]);
    let mut server = Listening::start({
        command.env("SYRCH_MCP_TOKEN", token);
        command
    });
    // The user's own token is not printed.
    assert!(server.url.ends_with("/mcp") && !server.url.contains(token), "{}", server.url);
    server.url = server.url.replace("/mcp", &format!("/{token}/mcp"));
    assert_eq!(server.post(&[("Host", "db.example")], &initialize()).status, 200);
    assert_eq!(server.post(&[("Host", "other.example")], &initialize()).status, 403);
}
