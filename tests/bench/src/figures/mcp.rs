//! Measures the MCP server over standard streams: the memory of one that waits, and the time of a
//! call beside that of the same search in process.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use syrch::{Host, Settings, Silent};

use crate::Outcome;
use crate::child::host;
use crate::figure::Figure;
use crate::samples::{median, milliseconds};
use crate::world::{World, add_journal, search};

const WARM_UP: usize = 20;
const CALLS: usize = 200;
/// The time after which a server that was asked nothing waits.
const PAUSE: Duration = Duration::from_secs(1);
const QUESTION: &str = "How many customers are there?";

/// A server with a client that has begun a session.
struct Server {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    id: u64,
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Server {
    fn start(world: &World) -> Outcome<Self> {
        let shop = world.shop.display().to_string();
        let mut command = host(world, &["mcp", "--db", &shop, "--llm", "offline"])?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        let streams = child.stdin.take().zip(child.stdout.take());
        let (input, output) = streams.ok_or("the server has no streams")?;
        let mut server = Self { child, input, output: BufReader::new(output), id: 0 };
        let client = json!({"name": "bench", "version": "1"});
        server.ask(
            "initialize",
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}),
        )?;
        server.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        server.ask("tools/list", json!({}))?;
        Ok(server)
    }

    fn send(&mut self, message: &Value) -> Outcome<()> {
        writeln!(self.input, "{message}")?;
        Ok(self.input.flush()?)
    }

    /// Sends a request and returns its result. The server sends nothing else to this client.
    fn ask(&mut self, method: &str, params: Value) -> Outcome<Value> {
        self.id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params}))?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        let mut response: Value = serde_json::from_str(&line)?;
        match response.get_mut("result") {
            Some(result) => Ok(result.take()),
            None => Err(format!("{method}: {line}").into()),
        }
    }

    /// Asks the question, which has an answer.
    fn search(&mut self) -> Outcome<()> {
        let arguments = json!({"question": QUESTION});
        let result =
            self.ask("tools/call", json!({"name": "ask_database", "arguments": arguments}))?;
        match &result["structuredContent"]["answer"] {
            Value::Null => Err(format!("no answer: {result}").into()),
            _ => Ok(()),
        }
    }

    /// MiB of memory that the server has now.
    fn memory(&self) -> Outcome<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kibibytes = resident.and_then(|text| text.trim().strip_suffix("kB"));
        let kibibytes: f64 = kibibytes.ok_or("the system does not say")?.trim().parse()?;
        Ok(kibibytes / 1024.0)
    }
}

/// A search by rules in both, with a journal, one after the other in each round.
pub(crate) fn measure(world: &World) -> Outcome<Vec<Figure>> {
    let mut server = Server::start(world)?;
    std::thread::sleep(PAUSE);
    let idle = server.memory()?;
    let database = world.shop.display().to_string();
    let settings = add_journal(Settings { database, ..Settings::default() }, &world.place("mcp")?);
    let inside = world.runtime.block_on(Host::open(settings, &Silent))?;
    let mut calls = Vec::with_capacity(CALLS);
    let mut searches = Vec::with_capacity(CALLS);
    for round in 0..WARM_UP + CALLS {
        let begin = Instant::now();
        server.search()?;
        let call = milliseconds(begin);
        let begin = Instant::now();
        world.runtime.block_on(search(&inside, QUESTION))?;
        if round >= WARM_UP {
            calls.push(call);
            searches.push(milliseconds(begin));
        }
    }
    std::thread::sleep(PAUSE);
    let after = server.memory()?;
    let call = median(calls);
    let search = median(searches);
    let what = "a call of `ask_database` over the same search in process";
    Ok(vec![
        Figure::new("memory of an MCP server that waits", idle, "MiB")
            .at_most(60.0)
            .note(format!("{after:.1} MiB after {} calls", WARM_UP + CALLS)),
        Figure::new(what, call - search, "ms").at_most(5.0).note(format!(
            "by rules, over standard streams: {call:.2} and {search:.2} ms, medians of {CALLS}"
        )),
    ])
}
