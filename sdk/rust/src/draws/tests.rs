//! Drawings against a model whose replies arrive in the order that the test wants.

use std::cell::RefCell;

use super::{Draw, Drawing, Pool, Sampler, Stopped};
use crate::fakes::{FakeHost, FakeRows, Traced, reply, sql_error};
use crate::prelude::*;

/// Hands out one reply at a time, the youngest first.
struct Backwards(FakeHost, RefCell<Vec<usize>>);

impl Wait for Backwards {
    fn any(&self, tickets: &[u32]) -> Vec<u32> {
        self.1.borrow_mut().push(tickets.len());
        tickets.last().copied().into_iter().collect()
    }

    fn pause(&self, _: std::time::Duration) {}
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

impl Rows for Backwards {
    fn read(&self, results: &ResultSet, offset: u64, limit: u32) -> Result<Page, PortError> {
        self.0.read(results, offset, limit)
    }
}

impl Cells for Backwards {
    fn samples(
        &self,
        table: &str,
        columns: &[String],
        limit: u32,
    ) -> Result<Vec<Sample>, PortError> {
        self.0.samples(table, columns, limit)
    }
    fn find(
        &self,
        phrases: &[String],
        how: &Match,
        limit: u32,
    ) -> Result<Vec<Vec<Hit>>, PortError> {
        self.0.find(phrases, how, limit)
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
    assert_eq!(drawing.draw_count(), 5);
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
    assert_eq!(drawing.draw_count(), 5);
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
    let tried = drawing.pool.failures(false);
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
    assert_eq!(drawing.draw_count(), 3);
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
fn errors_add_up_to_a_draw() {
    let mut host = host(&["BAD"]);
    host.0.model.script(&Purpose::Generate, Err(LlmError::Malformed("well".into())));
    let task = task();
    let mut drawing = Drawing::new(&host, &task, 2, 1000);
    assert_eq!(drawing.run(&mut Agree(1, false)), Stopped::Done);
    let second = drawing.pool.draw(2).unwrap();
    let candidate = drawing.pool.candidate(&task, second, 9);
    assert_eq!(candidate.signals.syntax_errors, 2);
    assert_eq!((candidate.signals.attempts, candidate.signals.max_attempts), (2, 9));
    assert_eq!(drawing.draw_count(), 2);
}

/// Draws that many; its prompts can be made shorter so often.
struct Shorter(u32, u32, bool);

impl Sampler for Shorter {
    fn request(&mut self, number: u32, _pool: &Pool) -> Request {
        Ask::new(Purpose::Generate)
            .user(format!("draw {number}, {} left", self.1))
            .sample(number - 1)
            .sql()
    }
    fn missing(&self, pool: &Pool) -> u32 {
        self.0 - u32::try_from(pool.draws().len()).unwrap()
    }
    fn in_rounds(&self) -> bool {
        self.2
    }
    fn shorten(&mut self) -> bool {
        let is_left = self.1 > 0;
        self.1 = self.1.saturating_sub(1);
        is_left
    }
}

fn too_large(replies: &[Option<&str>]) -> Backwards {
    let mut host = host(&[]);
    for reply in replies {
        match reply {
            Some(sql) => {
                let parsed = serde_json::json!({ "sql": sql, "confidence": null });
                host.0.model.script(&Purpose::Generate, Ok(self::reply(sql, Some(&parsed))));
                host.0.database.answer(sql, number(1));
            }
            None => {
                host.0.model.script(&Purpose::Generate, Err(LlmError::TooLarge));
            }
        }
    }
    host
}

fn prompts(host: &Backwards) -> Vec<String> {
    (0..host.0.model.requests().len()).map(|index| host.0.model.prompt(index)).collect()
}

#[test]
fn a_prompt_that_is_too_large_is_asked_again_shorter_and_costs_no_draw() {
    for in_rounds in [false, true] {
        let host = too_large(&[None, None, Some("SELECT 1")]);
        let task = task();
        let mut drawing = Drawing::new(&host, &task, 1, 1000);
        assert_eq!(drawing.run(&mut Shorter(1, 5, in_rounds)), Stopped::Done);
        assert_eq!(prompts(&host), ["draw 1, 5 left", "draw 1, 4 left", "draw 1, 3 left"]);
        assert_eq!((drawing.draw_count(), numbers(&drawing.pool)), (1, vec![1]));
        assert!(host.0.trace.discarded("A.1").is_none());
    }
}

#[test]
fn prompts_of_one_size_are_made_shorter_once() {
    let host = too_large(&[None, None, None, Some("SELECT 1"), Some("SELECT 2"), Some("SELECT 3")]);
    let task = task();
    let mut drawing = Drawing::new(&host, &task, 3, 1000);
    let mut sampler = Shorter(3, 5, false);
    assert_eq!(drawing.run(&mut sampler), Stopped::Done);
    assert_eq!((sampler.1, drawing.draw_count(), host.0.model.requests().len()), (4, 3, 6));
    assert_eq!(numbers(&drawing.pool), [1, 2, 3]);
    let proposed: Vec<String> = host.0.trace.lines().into_iter().filter_map(proposal_id).collect();
    assert_eq!(proposed, ["A.1", "A.2", "A.3"]);
}

fn proposal_id(line: Traced) -> Option<String> {
    match line {
        Traced::Proposed(candidate) => Some(candidate.id),
        _ => None,
    }
}

#[test]
fn a_prompt_that_cannot_be_made_shorter_ends_the_drawing() {
    let host = too_large(&[None, None, None, None]);
    let task = task();
    let mut drawing = Drawing::new(&host, &task, 9, 1000);
    let Stopped::Failed(failure) = drawing.run(&mut Shorter(1, 2, false)) else { panic!() };
    assert_eq!(failure.kind, FailureKind::Model);
    assert_eq!((host.0.model.requests().len(), drawing.draw_count()), (3, 1));
}

/// All replies at once, the statements of which are checked until the budget ends.
#[test]
fn what_came_beside_an_error_that_holds_for_all_is_run_and_told() {
    let mut fake = host(&["SELECT 1", "SELECT 2", "SELECT 3", "SELECT 4"]).0;
    fake.database.fail_check("SELECT 3", sql_error(SqlErrorKind::Budget, "no statement is left"));
    let task = task();
    let mut drawing = Drawing::new(&fake, &task, 4, 1000);
    let mut sampler = Seen(Vec::new());
    let Stopped::Failed(failure) = drawing.run(&mut sampler) else { panic!() };
    assert_eq!(failure.kind, FailureKind::Budget);
    assert_eq!((numbers(&drawing.pool), &sampler.0), (vec![1, 2, 3, 4], &vec![1, 2, 3, 4]));
    assert_eq!(
        (drawing.pool.ran(), fake.database.log()),
        (2, vec!["SELECT 1".to_owned(), "SELECT 2".to_owned()])
    );
    for id in ["A.3", "A.4"] {
        assert_eq!(fake.trace.discarded(id).unwrap(), "no statement is left");
    }
    let proposed: Vec<String> = fake.trace.lines().into_iter().filter_map(proposal_id).collect();
    assert_eq!(proposed, ["A.1", "A.2", "A.3", "A.4"]);

    // The same when a run says so: what ran beside it stays.
    let mut fake = host(&["SELECT 1", "SELECT 2", "SELECT 3", "SELECT 3"]).0;
    fake.database.fail_run("SELECT 1", sql_error(SqlErrorKind::Unavailable, "gone"));
    let mut drawing = Drawing::new(&fake, &task, 4, 1000);
    assert!(matches!(drawing.run(&mut Seen(Vec::new())), Stopped::Failed(_)));
    assert_eq!((numbers(&drawing.pool), drawing.pool.ran()), (vec![1, 2, 3, 4], 3));
}

/// Four draws, and which of them it was shown.
struct Seen(Vec<u32>);

impl Sampler for Seen {
    fn request(&mut self, number: u32, _pool: &Pool) -> Request {
        Ask::new(Purpose::Generate).user("draw").sample(number - 1).sql()
    }
    fn missing(&self, pool: &Pool) -> u32 {
        4 - u32::try_from(pool.draws().len()).unwrap()
    }
    fn observe(&mut self, draw: &Draw) {
        self.0.push(draw.number);
    }
    fn shorten(&mut self) -> bool {
        false
    }
}
