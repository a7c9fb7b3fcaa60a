//! Clients of `serve` at once: how long a question takes beside its model calls, and how much
//! memory the server has at its peak.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::figure::Figure;
use crate::samples::{median, milliseconds, quantile};
use crate::world::{World, endpoint_with_delay};
use crate::{Outcome, child};

const CLIENTS: usize = 64;
/// Questions of each client, one after the other; the first warms up.
const QUESTIONS: usize = 6;
/// The time of each of the two calls of a question.
const DELAY: Duration = Duration::from_millis(500);
const CALLS: usize = 2;
/// The time that a response may take.
const PATIENCE: Duration = Duration::from_secs(60);
const TOKEN: &str = "the-token-of-a-measurement";

/// 64 clients that ask at once: the overhead of a question in the median and at the 95th
/// percentile, and the memory of the server.
pub(crate) fn measure(world: &World) -> Outcome<Vec<Figure>> {
    let endpoint = endpoint_with_delay(DELAY);
    let place = world.place("serve")?;
    let token = place.join("token");
    std::fs::write(&token, TOKEN)?;
    let url = endpoint.url();
    let arguments = ["serve", "--listen", "127.0.0.1:0", "--format", "jsonl", "--no-cache"];
    let mut command = child::host(world, &arguments)?;
    command.args(["--llm", "openai", "--model", "mock"]);
    command.args(["--base-url", &url, "--db"]).arg(&world.shop).arg("--token-file").arg(&token);
    command.env("SYRCH_API_KEY", "a-key").stdout(Stdio::piped()).stderr(Stdio::null());
    let mut server = Server(command.spawn()?);
    let address = server.read_address()?;
    let before = endpoint.count();
    let clients: Vec<_> = (0..CLIENTS)
        .map(|client| {
            let address = address.clone();
            std::thread::spawn(move || ask_all(&address, client))
        })
        .collect();
    let mut times = Vec::new();
    for client in clients {
        times.extend(client.join().map_err(|_| "a client panicked")??);
    }
    let calls = endpoint.count() - before;
    if calls != CLIENTS * QUESTIONS * CALLS {
        return Err(format!("{calls} model calls, where each question has {CALLS}").into());
    }
    let model = DELAY.as_secs_f64() * 1e3 * CALLS as f64;
    let overheads: Vec<f64> = times.into_iter().map(|time| time - model).collect();
    let what = format!("{CLIENTS} clients of `serve` at once: a question beside its model calls");
    let note = format!("{} questions, each with {CALLS} calls of 500 ms", overheads.len());
    let tail = quantile(overheads.clone(), 0.95);
    let peak = read_peak(server.0.id())?;
    Ok(vec![
        Figure::new(format!("{what}, median"), median(overheads), "ms").note(note),
        Figure::new(format!("{what}, 95th percentile"), tail, "ms"),
        Figure::new(format!("memory of `serve` with {CLIENTS} clients, at its peak"), peak, "MiB"),
    ])
}

/// The server, which is ended with the value.
struct Server(Child);

impl Server {
    /// The address in the link that the server prints when it listens.
    fn read_address(&mut self) -> Outcome<String> {
        let output = self.0.stdout.take().ok_or("no standard output")?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        let line: Value = serde_json::from_str(&line)?;
        let link = line["link"].as_str().and_then(|link| link.strip_prefix("http://"));
        let (address, _) = link.and_then(|link| link.split_once('/')).ok_or("no link")?;
        Ok(address.to_owned())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// The times of a client's questions after its first, in milliseconds.
fn ask_all(address: &str, client: usize) -> Outcome<Vec<f64>> {
    let mut times = Vec::with_capacity(QUESTIONS);
    for number in 0..QUESTIONS {
        let question = format!("How many customers are there in each country? ({client}/{number})");
        let begin = Instant::now();
        let answer = ask(address, &question)?;
        times.push(milliseconds(begin));
        if answer["outcome"] != "answered" {
            return Err(format!("`{question}` is not answered: {answer}").into());
        }
    }
    times.remove(0);
    Ok(times)
}

/// Asks a question on a connection of its own. Returns the response's document.
fn ask(address: &str, question: &str) -> Outcome<Value> {
    let body = json!({"question": question}).to_string();
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let length = body.len();
    write!(
        stream,
        "POST /api/v1/ask HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\
         Authorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\n\r\n{body}"
    )?;
    let mut response = String::new();
    stream.read_to_string(&mut response)?;
    let (_, document) = response.split_once("\r\n\r\n").ok_or("no response")?;
    serde_json::from_str(document).map_err(|error| format!("{error}: {response}").into())
}

/// The memory that a process had at its peak, in MiB, as Linux reports it.
fn read_peak(process: u32) -> Outcome<f64> {
    let status =
        std::fs::read_to_string(Path::new("/proc").join(process.to_string()).join("status"))
            .map_err(|error| {
                format!("the system does not report the memory of a process: {error}")
            })?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM")?;
    let kibibytes: f64 = line.trim().trim_end_matches(" kB").trim().parse()?;
    Ok(kibibytes / 1024.0)
}
