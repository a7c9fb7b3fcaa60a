//! A client over standard streams that writes and reads messages one by one.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

use super::SESSIONS;

/// The time that a message may take: machines that test much are slow.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server that runs, with its messages.
pub(super) struct Client {
    child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    id: u64,
    /// The messages besides the responses that were waited for.
    pub(super) others: Vec<Value>,
}

impl Client {
    /// Starts the server and sends nothing yet.
    pub(super) fn start(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let output = child.stdout.take().unwrap();
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines() {
                let line = line.unwrap();
                let message = serde_json::from_str(&line)
                    .unwrap_or_else(|error| panic!("{error}: a line is no message: {line}"));
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        let input = child.stdin.take();
        Self { child, input, messages, id: 0, others: Vec::new() }
    }

    /// Starts the server and a session of the era with sessions.
    pub(super) fn begin(command: Command, capabilities: Value) -> Self {
        let mut client = Self::start(command);
        client.initialize(capabilities);
        client
    }

    /// Begins a session of the era with sessions.
    pub(super) fn initialize(&mut self, capabilities: Value) {
        let begun = self.ask(
            "initialize",
            json!({
                "protocolVersion": SESSIONS,
                "capabilities": capabilities,
                "clientInfo": {"name": "test", "version": "1"},
            }),
        );
        assert_eq!(begun["protocolVersion"], SESSIONS, "{begun:#}");
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    }

    pub(super) fn send(&mut self, message: &Value) {
        self.write(&message.to_string());
    }

    /// Sends a line as it stands.
    pub(super) fn write(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        writeln!(input, "{line}").unwrap();
        input.flush().unwrap();
    }

    /// Sends a request and returns its id.
    pub(super) fn request(&mut self, method: &str, params: Value) -> u64 {
        self.id += 1;
        let id = self.id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// The next message of the server.
    pub(super) fn next(&mut self) -> Value {
        self.messages.recv_timeout(PATIENCE).unwrap_or_else(|error| {
            drop(self.child.kill());
            panic!("{error}; so far: {:#?}", self.others)
        })
    }

    /// The response to that request.
    pub(super) fn response(&mut self, id: u64) -> Value {
        loop {
            let message = self.next();
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
            self.others.push(message);
        }
    }

    /// Sends a request and returns its result.
    pub(super) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        let response = self.response(id);
        let result = response.get("result").cloned();
        result.unwrap_or_else(|| panic!("{method} failed: {response:#}"))
    }

    /// Sends a request and returns its error.
    pub(super) fn fail(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        let response = self.response(id);
        response.get("error").cloned().unwrap_or_else(|| panic!("no error: {response:#}"))
    }

    pub(super) fn process(&self) -> u32 {
        self.child.id()
    }

    /// Closes the streams. Returns the exit code and what was on standard error.
    pub(super) fn close(mut self) -> (i32, String) {
        drop(self.input.take());
        let mut errors = String::new();
        let mut stderr = self.child.stderr.take().unwrap();
        std::io::Read::read_to_string(&mut stderr, &mut errors).unwrap();
        (self.child.wait().unwrap().code().unwrap(), errors)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
