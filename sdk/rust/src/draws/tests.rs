//! Drawings against a model whose replies arrive in the order that the test wants.

use std::cell::RefCell;

use super::{Drawing, Pool, Sampler, Stopped};
use crate::fakes::{FakeHost, FakeRows, reply, sql_error};
use crate::prelude::*;

/// Hands out one reply at a time, the youngest first.
struct Backwards(FakeHost, RefCell<Vec<usize>>);

impl Wait for Backwards {
    fn any(&self, tickets: &[u32]) -> Vec<u32> {
        self.1.borrow_mut().push(tickets.len());
        tickets.last().copied().into_iter().collect()
    }
}

impl Llm for Backwards {
    fn models(&self) -> Vec<String> {
        self.0.models()
    }
    fn complete(&self, request: &Request) -> Result<Reply, LlmError> {
        self.0.complete(request)
    }
    fn complete_all(&self, requests: &[Request]) -> Vec<Result<Reply, LlmError>> {
        self.0.complete_all(requests)
    }
    fn start_reply(&self, request: &Request) -> PendingReply {
        self.0.start_reply(request)
    }
}

impl Inspect for Backwards {
    fn check(&self, text: &str) -> Result<Facts, SqlError> {
        self.0.check(text)
    }
    fn explain(&self, text: &str) -> Result<Plan, SqlError> {
        self.0.explain(text)
    }
    fn column_stats(&self, table: &str, columns: &[String]) -> Result<Vec<ColumnStats>, PortError> {
        self.0.column_stats(table, columns)
    }
}

impl Sql for Backwards {
    fn run(&self, text: &str) -> Result<ResultSet, SqlError> {
        self.0.run(text)
    }
    fn run_all(&self, texts: &[String]) -> Vec<Result<ResultSet, SqlError>> {
        self.0.run_all(texts)
    }
    fn start_statement(&self, text: &str) -> RunningStatement {
        self.0.start_statement(text)
    }
}

impl Trace for Backwards {
    fn note(&self, level: Level, message: &str) {
        self.0.note(level, message);
    }
    fn propose(&self, candidate: &Candidate) {
        self.0.propose(candidate);
    }
    fn keep(&self, candidate: &str, reason: &str) {
        self.0.keep(candidate, reason);
    }
    fn discard(&self, candidate: &str, reason: &str) {
        self.0.discard(candidate, reason);
    }
    fn event(&self, candidate: Option<&str>, name: &str, data: &serde_json::Value) {
        self.0.event(candidate, name, data);
    }
}

/// Stops when that many agree; `true`: in rounds.
struct Agree(u32, bool);

impl Sampler for Agree {
    fn request(&mut self, number: u32, _pool: &Pool) -> Request {
        Ask::new(Purpose::Generate).user(format!("draw {number}")).sample(number - 1).sql()
    }
    fn missing(&self, pool: &Pool) -> u32 {
        let largest = pool.clusters(false).first().map_or(0, |cluster| cluster.members.len());
        self.0.saturating_sub(u32::try_from(largest).unwrap())
    }
    fn in_rounds(&self) -> bool {
        self.1
    }
    fn shorten(&mut self) -> bool {
        false
    }
}

fn number(n: i64) -> FakeRows {
    FakeRows::new(&["n"], vec![vec![Value::Integer(n)]])
}

/// A model that draws these results in turn; `SELECT n` gives n, `BAD` fails its check.
fn host(draws: &[&str]) -> Backwards {
    let mut host = FakeHost::default();
    for sql in draws {
        let parsed = serde_json::json!({ "sql": sql, "confidence": null });
        host.model.script(&Purpose::Generate, Ok(reply(sql, Some(&parsed))));
        if let Some(n) = sql.strip_prefix("SELECT ") {
            host.database.answer(sql, number(n.trim().parse().unwrap()));
        }
    }
    host.database.fail_check("BAD", sql_error(SqlErrorKind::Syntax, "cannot parse"));
    Backwards(host, RefCell::new(Vec::new()))
}

fn task() -> Task {
    Task::new("A", "how many")
}

fn numbers(pool: &Pool) -> Vec<u32> {
    pool.draws().iter().map(|draw| draw.number).collect()
}

#[test]
fn as_many_are_drawn_as_one_after_the_other_would_be_in_whatever_order_they_arrive() {
    let host = host(&["SELECT 1", "SELECT 2", "BAD", "SELECT 2", "SELECT  2", "SELECT 2"]);
    let task = task();
    let mut drawing = Drawing::new(&host, &task, 9, 1000);
    assert_eq!(drawing.run(&mut Agree(3, false)), Stopped::Done);
    // The third 2 is the fifth draw.
    assert_eq!(drawing.started(), 5);
    assert_eq!(numbers(&drawing.pool), [1, 2, 3, 4, 5]);
    let clusters = drawing.pool.clusters(false);
    assert_eq!(clusters[0].members, [2, 4, 5]);
    assert_eq!(clusters[1].members, [1]);
    assert_eq!(host.0.model.prompt(4), "draw 5");
    // Never more under way than are still missing.
    assert_eq!(*host.1.borrow(), [3, 3, 2, 1, 1]);
    // The same text ran once.
    assert_eq!(host.0.database.log(), ["SELECT 2", "SELECT 1", "SELECT  2"]);
}

#[test]
fn in_rounds_all_draws_end_before_others_start() {
    let host = host(&["SELECT 1", "BAD", "SELECT 1", "SELECT 2", "SELECT 1"]);
    let task = task();
    let mut drawing = Drawing::new(&host, &task, 9, 1000);
    assert_eq!(drawing.run(&mut Agree(3, true)), Stopped::Done);
    assert_eq!(drawing.started(), 5);
    assert_eq!(*host.1.borrow(), [3, 2, 1, 1, 1]);
}

#[test]
fn a_rejected_result_leaves_the_vote_and_drawing_goes_on() {
    let host = host(&["SELECT 1", "SELECT 1", "SELECT 1", "SELECT 2", "SELECT 2"]);
    let task = task();
    let mut drawing = Drawing::new(&host, &task, 9, 1000);
    drawing.run(&mut Agree(2, false));
    let one = drawing.pool.clusters(false)[0].fingerprint.clone();
    drawing.pool.reject(&one, "one is no answer");
    assert_eq!(drawing.run(&mut Agree(2, false)), Stopped::Done);
    assert_eq!(drawing.pool.clusters(false)[0].members, [4, 5]);
    let tried = drawing.pool.tried(false);
    assert_eq!(tried.len(), 3);
    assert_eq!(tried[2].wrong, "rejected: one is no answer");
}

#[test]
fn a_spent_budget_keeps_what_is_under_way() {
    let mut host = host(&["SELECT 1", "SELECT 2"]);
    host.0.model.script(&Purpose::Generate, Err(LlmError::Budget));
    let task = task();
    let mut drawing = Drawing::new(&host, &task, 9, 1000);
    let Stopped::Failed(failure) = drawing.run(&mut Agree(3, false)) else { panic!() };
    assert_eq!(failure.kind, FailureKind::Budget);
    assert_eq!(numbers(&drawing.pool), [1, 2]);
    assert_eq!(drawing.started(), 3);
}

#[test]
fn a_database_that_is_gone_ends_it_at_once() {
    let mut host = host(&["SELECT 1", "SELECT 2", "SELECT 3"]);
    host.0.database.fail_run("SELECT 3", sql_error(SqlErrorKind::Unavailable, "gone"));
    let task = task();
    let mut drawing = Drawing::new(&host, &task, 9, 1000);
    let Stopped::Failed(failure) = drawing.run(&mut Agree(3, false)) else { panic!() };
    assert!(failure.retryable);
    // The last came first; the other two were not waited for.
    assert_eq!(host.1.borrow().len(), 1);
    assert_eq!(host.0.trace.discarded("A.3").unwrap(), "gone");
}

#[test]
fn errors_add_up_to_a_draw_and_prompts_that_are_too_large_cost_one() {
    let mut host = host(&["BAD"]);
    host.0.model.script(&Purpose::Generate, Err(LlmError::Malformed("well".into())));
    host.0.model.script(&Purpose::Generate, Err(LlmError::TooLarge));
    let task = task();
    let mut drawing = Drawing::new(&host, &task, 9, 1000);
    let Stopped::Failed(failure) = drawing.run(&mut Agree(1, false)) else { panic!() };
    assert_eq!(failure.kind, FailureKind::Model);
    let second = drawing.pool.draw(2).unwrap();
    let candidate = drawing.pool.candidate(&task, second, 9);
    assert_eq!(candidate.signals.syntax_errors, 2);
    assert_eq!((candidate.signals.attempts, candidate.signals.max_attempts), (2, 9));
    assert_eq!(drawing.started(), 3);
}
