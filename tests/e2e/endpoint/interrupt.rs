//! Ctrl-C in the middle of a search, wherever it is, and deadlines, which end it in the same way.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use syrch_kit::{MockEndpoint, Reply, Script};

use super::{PLAN, Said, WRITE, ask, for_task, plan, search, subtask, whole};
use crate::shop;

/// The time that a stopped program may take to end; far below the time that a hanging call may
/// take.
const PATIENCE: Duration = Duration::from_secs(15);
const QUESTION: &str = "How many orders are there?";
const COUNT: &str = "SELECT COUNT(*) AS n FROM orders";

/// A search under way.
struct Running {
    child: Child,
    errors: BufReader<std::process::ChildStderr>,
    stderr: String,
}

impl Running {
    fn start(endpoint: &MockEndpoint, folder: &Path, flags: &[&str]) -> Self {
        let mut command = search(&endpoint.url(), &shop(folder));
        command.args(["--format", "json", "-v", "-q", QUESTION]).args(flags);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let errors = BufReader::new(child.stderr.take().unwrap());
        Self { child, errors, stderr: String::new() }
    }

    /// Waits until standard error contains these words.
    fn wait_for(&mut self, words: &str) {
        while !self.stderr.contains(words) {
            let read = self.errors.read_line(&mut self.stderr).unwrap();
            assert!(read > 0, "it ended without `{words}`: {}", self.stderr);
        }
    }

    fn press(&self) {
        assert!(
            Command::new("kill")
                .args(["-INT", &self.child.id().to_string()])
                .status()
                .unwrap()
                .success()
        );
    }

    /// Returns the output of the program at its end, which must come soon. Its standard input stays
    /// open until then.
    fn end(mut self) -> Said {
        let pressed = Instant::now();
        let input = self.child.stdin.take();
        self.errors.read_to_string(&mut self.stderr).unwrap();
        let mut output = self.child.wait_with_output().unwrap();
        drop(input);
        assert!(pressed.elapsed() < PATIENCE, "it took {:?}", pressed.elapsed());
        output.stderr = self.stderr.into_bytes();
        Said::from_output(output)
    }
}

fn until(what: &str, done: impl Fn() -> bool) {
    let started = Instant::now();
    while !done() {
        assert!(started.elapsed() < Duration::from_secs(60), "{what} never happened");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_search_without_a_result_ends_interrupted() {
    let folder = syrch_kit::scratch();
    let hangs = [
        (1, Script::always(Reply::hang())),
        (2, Script::new().on([PLAN], whole()).on([""], Reply::hang())),
    ];
    for (calls, script) in hangs {
        let endpoint = MockEndpoint::start(script);
        let running = Running::start(&endpoint, folder.path(), &[]);
        until("the call that hangs", || endpoint.count() == calls);
        running.press();
        let document = running.end().document(130);
        assert_eq!(
            (&document["schema"], &document["error"]["class"]),
            (&json!("syrch.error/1"), &json!("interrupted"))
        );
    }
}

#[test]
fn a_search_with_a_result_ends_with_it() {
    let folder = syrch_kit::scratch();
    let endpoint = MockEndpoint::start(
        Script::new()
            .on([PLAN], plan(&[subtask("A", "the orders", &[]), subtask("B", "the rest", &[])]))
            .on([&for_task("the orders")], Reply::sql(COUNT, 0.95))
            .on([""], Reply::hang()),
    );
    let mut running = Running::start(&endpoint, folder.path(), &[]);
    running.wait_for("task A ended");
    running.press();
    let said = running.end();
    is_best_so_far(&said, &said.document(130), "interrupted: this is the best so far");
    assert!(said.stderr.contains("stopping with the best so far"), "{}", said.stderr);
}

/// A task draws several replies: those that have come count, though others hang.
#[test]
fn what_a_task_under_way_has_found_is_not_lost() {
    let folder = syrch_kit::scratch();
    fn script() -> Script {
        Script::new().times(2, [""], Reply::sql(COUNT, 0.9)).on([""], Reply::hang())
    }
    for strategy in ["repair3of9", "gate3of9", "vote5"] {
        let flags = ["--strategy", strategy, "--max-concurrency", "3"];
        let endpoint = MockEndpoint::start(script());
        let running = Running::start(&endpoint, folder.path(), &flags);
        until("the call that hangs", || endpoint.count() >= 3);
        // The host reads the other replies meanwhile.
        std::thread::sleep(Duration::from_millis(500));
        running.press();
        let said = running.end();
        is_best_so_far(&said, &said.document(130), "interrupted: this is the best so far");

        let endpoint = MockEndpoint::start(script());
        let flags = [flags.as_slice(), &["--deadline", "10"]].concat();
        let said = ask(&endpoint, &shop(folder.path()), QUESTION, &flags);
        is_best_so_far(&said, &said.document(0), "the deadline passed: this is the best so far");
    }
}

/// Nor is it where a statement runs at the deadline.
#[test]
fn a_statement_that_does_not_end_by_the_deadline_costs_no_answer() {
    const ENDLESS: &str = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) \
                           SELECT COUNT(*) AS n FROM c, orders";
    let folder = syrch_kit::scratch();
    let script =
        Script::new().times(2, [""], Reply::sql(COUNT, 0.9)).on([""], Reply::sql(ENDLESS, 0.9));
    let endpoint = MockEndpoint::start(script);
    // One call after the other, so that the first draws have the first replies.
    let flags = ["--strategy", "vote5", "--max-concurrency", "1", "--deadline", "8"];
    let said = ask(&endpoint, &shop(folder.path()), QUESTION, &flags);
    is_best_so_far(&said, &said.document(0), "the deadline passed: this is the best so far");
}

fn is_best_so_far(said: &Said, document: &Value, warning: &str) {
    assert_eq!(document["schema"], "syrch.answer/1");
    assert_eq!(document["answer"]["rows"], json!([[4]]), "{}", said.all());
    assert_eq!(document["clarify"], Value::Null);
    assert!(document["warnings"].to_string().contains(warning), "{}", said.all());
}

/// All tasks have ended, and the model is asked to word the answer: the rows are there, and a rule
/// can word it.
#[test]
fn an_answer_that_is_being_worded_is_not_lost() {
    let folder = syrch_kit::scratch();
    let script = || {
        Script::new()
            .on([PLAN], whole())
            .on([WRITE], Reply::sql(COUNT, 0.95))
            .on([""], Reply::hang())
    };
    let summarise = ["-P", "aggregator.summarise=true"];
    let endpoint = MockEndpoint::start(script());
    let running = Running::start(&endpoint, folder.path(), &summarise);
    until("the call that hangs", || endpoint.count() == 3);
    running.press();
    let said = running.end();
    let document = said.document(130);
    is_best_so_far(&said, &document, "interrupted");
    assert_eq!(document["answer"]["text"], "The answer is 4.");

    let endpoint = MockEndpoint::start(script());
    let started = Instant::now();
    let flags = ["-P", "aggregator.summarise=true", "--deadline", "2"];
    let said = ask(&endpoint, &shop(folder.path()), QUESTION, &flags);
    is_best_so_far(&said, &said.document(0), "the deadline passed");
    assert!(started.elapsed() < PATIENCE, "{:?}", started.elapsed());
}

/// Nothing acceptable was found, and the model is asked to word a question to the user.
#[test]
fn a_question_that_is_being_worded_is_given_up() {
    let folder = syrch_kit::scratch();
    let endpoint = MockEndpoint::start(
        Script::new()
            .on([PLAN], whole())
            .on([WRITE], Reply::sql("SELECT zilch FROM nowhere", 0.95))
            .on([""], Reply::hang()),
    );
    let running = Running::start(&endpoint, folder.path(), &["--interactive"]);
    until("the call that hangs", || endpoint.count() == 5);
    running.press();
    assert_eq!(running.end().document(130)["error"]["class"], "interrupted");
}

#[test]
fn a_question_to_the_user_can_be_interrupted() {
    let folder = syrch_kit::scratch();
    let endpoint = MockEndpoint::start(
        Script::new()
            .on([PLAN], whole())
            .on([WRITE], Reply::sql("SELECT zilch FROM nowhere", 0.95))
            .on([""], Reply::text("Which one?")),
    );
    let mut running = Running::start(&endpoint, folder.path(), &["--interactive"]);
    running.wait_for("Your answer");
    running.press();
    assert_eq!(running.end().document(130)["error"]["class"], "interrupted");
}

#[test]
fn pressed_twice_it_ends_at_once() {
    let folder = syrch_kit::scratch();
    let endpoint = MockEndpoint::start(Script::always(Reply::hang()));
    let running = Running::start(&endpoint, folder.path(), &[]);
    until("the call that hangs", || endpoint.count() == 1);
    running.press();
    running.press();
    assert_eq!(running.end().code, 130);
}
