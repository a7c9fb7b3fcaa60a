//! A server that runs, and requests to it as bytes, so that tests decide every header.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::Value;
use syrch_kit::{MockEndpoint, Reply, Script};

use crate::benchmark::suite;
use crate::endpoint::{KEY, PLAN, whole};
use crate::host;

/// The time that a server may take for anything.
const PATIENCE: Duration = Duration::from_secs(60);
/// The token of the tests' programs.
pub(super) const TOKEN: &str = "the-token-of-a-test-4711";

/// A server, which is killed when it is dropped.
pub(super) struct Server {
    child: Child,
    /// The lines of its standard output: a link each.
    lines: Receiver<String>,
    pub(super) address: String,
    /// The code of its last link.
    pub(super) code: String,
    /// True if that link was given away.
    is_taken: bool,
}

/// A response.
#[derive(Debug)]
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) head: String,
    pub(super) body: Vec<u8>,
}

impl Response {
    /// The value of a header; empty if there is none.
    pub(super) fn header(&self, name: &str) -> &str {
        let start = format!("{name}:");
        let mut lines = self.head.lines();
        lines
            .find(|line| line.to_ascii_lowercase().starts_with(&start))
            .map_or("", |line| line[start.len()..].trim())
    }

    pub(super) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {} {}", self.head, self.text()))
    }
}

/// Compares two strategies on a suite of so many questions over the shop of that folder, with a
/// simulated model.
pub(super) fn compare(folder: &Path, questions: usize) {
    std::fs::write(folder.join("suite.jsonl"), suite(questions)).unwrap();
    let mut command = host();
    command.env("SYRCH_STATE_DIR", folder.join("state")).current_dir(folder);
    command.args(["compare", "single", "retry3", "suite.jsonl", "--seeds", "1"]);
    let output =
        command.args(["--traces", "all", "--llm", "simulated:suite.jsonl"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A server over that database, by rules, with a folder of its own for what it writes.
pub(super) fn serve(database: &Path, folder: &Path) -> Command {
    let mut command = host();
    command.arg("serve").arg("--db").arg(database);
    finish(command, folder)
}

/// A model that takes its time for a statement.
pub(super) fn slow_model(ms: u64) -> MockEndpoint {
    let statement = Reply::sql("SELECT count(*) AS number FROM customers", 0.95).delay_ms(ms);
    let script = Script::new().on([PLAN], whole());
    MockEndpoint::start(script.with(move |_, _| Some(statement.clone())))
}

/// A server over that database whose searches ask that endpoint.
pub(super) fn serve_with(endpoint: &MockEndpoint, database: &Path, folder: &Path) -> Command {
    let mut command = host();
    command.env("SYRCH_API_KEY", KEY).args(["serve", "--llm", "openai", "--model", "mock"]);
    command.args(["--base-url", &endpoint.url(), "--db"]).arg(database);
    finish(command, folder)
}

/// Adds the flags that every server of a test has.
fn finish(mut command: Command, folder: &Path) -> Command {
    let token = folder.join("token");
    std::fs::write(&token, format!("{TOKEN}\n")).unwrap();
    command.env("SYRCH_STATE_DIR", folder.join("state"));
    command.args(["--listen", "127.0.0.1:0", "--format", "jsonl", "--token-file"]).arg(token);
    command
}

impl Server {
    pub(super) fn start(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, lines) = channel();
        let output = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                drop(sender.send(line));
            }
        });
        let mut server =
            Self { child, lines, address: String::new(), code: String::new(), is_taken: false };
        server.read_link();
        server
    }

    /// Reads the next link that the server prints.
    pub(super) fn read_link(&mut self) {
        let line = self.lines.recv_timeout(PATIENCE).unwrap_or_else(|error| {
            drop(self.child.kill());
            let mut text = String::new();
            drop(self.child.stderr.take().unwrap().read_to_string(&mut text));
            panic!("no link: {error}\n{text}")
        });
        let line: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(line["schema"], "syrch.serve/1");
        let link = line["link"].as_str().unwrap();
        let (address, code) = link.strip_prefix("http://").unwrap().split_once("/#code=").unwrap();
        self.address = address.to_owned();
        self.code = code.to_owned();
        self.is_taken = false;
    }

    /// A link that nobody has used. The one before must have been used.
    pub(super) fn take_link(&mut self) -> String {
        if self.is_taken {
            self.read_link();
        }
        self.is_taken = true;
        format!("http://{}/#code={}", self.address, self.code)
    }

    pub(super) fn open(&self, request: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        stream
    }

    /// Sends a request with exactly these headers. The connection is closed after it.
    pub(super) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Response {
        let mut request = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        for (name, value) in headers {
            request += &format!("{name}: {value}\r\n");
        }
        if !body.is_empty() {
            request += &format!("Content-Length: {}\r\n", body.len());
        }
        let mut stream = self.open(&format!("{request}\r\n{body}"));
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        parse(&bytes)
    }

    fn with_token(&self, method: &str, path: &str, more: &[(&str, &str)], body: &str) -> Response {
        let bearer = format!("Bearer {TOKEN}");
        let mut headers = vec![("Host", self.address.as_str()), ("Authorization", &bearer)];
        headers.extend(more);
        self.send(method, &format!("/api/v1{path}"), &headers, body)
    }

    pub(super) fn get(&self, path: &str) -> Response {
        self.with_token("GET", path, &[], "")
    }

    pub(super) fn post(&self, path: &str, body: &Value, more: &[(&str, &str)]) -> Response {
        let mut headers = vec![("Content-Type", "application/json")];
        headers.extend(more);
        self.with_token("POST", path, &headers, &body.to_string())
    }

    /// Asks without waiting. Returns the id of the run.
    pub(super) fn begin(&self, body: &Value) -> String {
        let response = self.post("/ask", body, &[("Prefer", "respond-async")]);
        assert_eq!(response.status, 202, "{}", response.text());
        let run = response.json()["run"].as_str().unwrap().to_owned();
        assert_eq!(response.header("location"), format!("/api/v1/runs/{run}"));
        run
    }

    /// The events of a run after the one of that number, until the stream ends.
    pub(super) fn events(&self, run: &str, after: u64) -> Vec<(u64, String, Value)> {
        let after = after.to_string();
        let path = format!("/runs/{run}/events");
        let response = self.with_token("GET", &path, &[("Last-Event-ID", &after)], "");
        assert_eq!(response.status, 200, "{}", response.text());
        assert_eq!(response.header("content-type"), "text/event-stream");
        read_events(&response.text())
    }

    /// Ends the server at once, as by a power cut.
    pub(super) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks the server to stop, and waits until it has. Returns its standard error, too.
    #[cfg(unix)]
    pub(super) fn terminate(mut self) -> (ExitStatus, String) {
        use nix::sys::signal::{Signal, kill};
        use nix::unistd::Pid;
        kill(Pid::from_raw(i32::try_from(self.child.id()).unwrap()), Signal::SIGTERM).unwrap();
        let began = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(began.elapsed() < PATIENCE, "the server does not stop");
            std::thread::sleep(Duration::from_millis(10));
        };
        let mut text = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
        (status, text)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// The value of a field of an event.
fn field<'a>(block: &'a str, name: &str) -> &'a str {
    let start = format!("{name}: ");
    block.lines().find_map(|line| line.strip_prefix(&start)).unwrap()
}

/// The events of a stream: number, kind and document.
pub(super) fn read_events(text: &str) -> Vec<(u64, String, Value)> {
    let mut events = Vec::new();
    for block in text.split("\n\n").filter(|block| block.contains("id: ")) {
        events.push((
            field(block, "id").parse().unwrap(),
            field(block, "event").to_owned(),
            serde_json::from_str(field(block, "data")).unwrap(),
        ));
    }
    events
}

fn parse(bytes: &[u8]) -> Response {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("a head");
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let mut response = Response { status, head, body: bytes[end + 4..].to_vec() };
    if response.header("transfer-encoding") == "chunked" {
        response.body = join_chunks(&response.body);
    }
    response
}

/// The content of a chunked body, as far as it came.
fn join_chunks(mut bytes: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = bytes.windows(2).position(|two| two == b"\r\n") {
        let size = std::str::from_utf8(&bytes[..end]).unwrap();
        let size = usize::from_str_radix(size, 16).unwrap();
        let Some(chunk) = bytes.get(end + 2..end + 2 + size).filter(|chunk| !chunk.is_empty())
        else {
            break;
        };
        body.extend_from_slice(chunk);
        bytes = &bytes[end + 2 + size + 2..];
    }
    body
}
