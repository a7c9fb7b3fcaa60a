//! Spans from records, without a host.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use syrch_core::ledger::Entry;
use syrch_core::ports::{
    LlmError, Message, Purpose, Reply, Request, Shape, Speaker, Ticket, Usage,
};
use syrch_core::roles::Role;
use syrch_core::{Graph, Observation, SqlError, SqlErrorKind, Task};
use syrch_journal::{Ask, CallId, Event, Fact, Got, Record, StoredRows};

use super::about::{About, Model, Models};
use super::spans::Spans;
use super::{Span, SpanKind, SpanSink, Value};

#[derive(Debug, Default)]
struct CollectedSpans {
    spans: Mutex<Vec<Span>>,
    sql: bool,
}

impl SpanSink for CollectedSpans {
    fn take(&self, span: Span) {
        self.spans.lock().unwrap_or_else(PoisonError::into_inner).push(span);
    }

    fn wants_sql(&self) -> bool {
        self.sql
    }
}

/// A run whose clock ticks a second with every record.
struct Reported {
    sink: Arc<CollectedSpans>,
    spans: Option<Spans>,
    ticks: u64,
}

fn about() -> About {
    let model = |name: &str, provider: &str| Model {
        name: name.to_owned(),
        provider: provider.to_owned(),
        is_here: provider == "syrch.offline",
    };
    About {
        run: "0123".to_owned(),
        database: "shop".to_owned(),
        system: "sqlite",
        plugins: BTreeMap::from([(Role::Solver, "refine".to_owned())]),
        temperature: Some(0.7),
        max_tokens: Some(100),
        models: Models {
            default: model("big", "openai"),
            named: BTreeMap::from([
                ("cheap".to_owned(), model("small-1", "anthropic")),
                ("rules".to_owned(), model("offline", "syrch.offline")),
            ]),
            purposes: BTreeMap::from([("judge".to_owned(), "cheap".to_owned())]),
        },
    }
}

fn at(ticks: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_000 + ticks)
}

impl Reported {
    fn new(sql: bool) -> Self {
        let sink = Arc::new(CollectedSpans { sql, ..CollectedSpans::default() });
        let mut spans = Spans::new(about(), Some(Arc::clone(&sink) as _));
        spans.begin(at(0));
        Self { sink, spans: Some(spans), ticks: 0 }
    }

    fn note(&mut self, record: &Record) {
        self.ticks += 1;
        self.spans.as_mut().unwrap().record(at(self.ticks), record);
    }

    fn event(&mut self, event: Event) {
        self.note(&Record::Event { at_us: 0, event });
    }

    fn fact(&mut self, fact: Fact) {
        self.note(&Record::Fact { at_us: 0, fact });
    }

    fn call(&mut self, call: CallId, role: Role, task: &str, from: Option<(CallId, Ticket)>) {
        self.event(Event::Call { call, role, task: task.to_owned(), from });
    }

    fn ask(&mut self, call: CallId, ticket: Ticket, ask: Ask, got: Got) {
        self.event(Event::Issue { call, ticket, ask });
        self.event(Event::Done { call, ticket, got });
    }

    fn end(&mut self, call: CallId) {
        self.event(Event::End { call, error: None });
    }

    fn report_answer(&mut self) {
        let outcome = "answered".to_owned();
        let beside = Vec::new();
        self.fact(Fact::Answer {
            document: Default::default(),
            outcome,
            interrupted: false,
            beside,
        });
    }

    /// The spans that have ended, in that order.
    fn spans(&self) -> Vec<Span> {
        self.sink.spans.lock().unwrap().clone()
    }
}

fn find_span<'a>(spans: &'a [Span], name: &str) -> &'a Span {
    spans.iter().find(|span| span.name == name).unwrap_or_else(|| panic!("no {name}: {spans:#?}"))
}

fn find_task_span<'a>(spans: &'a [Span], task: &str) -> &'a Span {
    spans
        .iter()
        .find(|span| span.name == "solver" && span.attribute("syrch.task") == Some(&task.into()))
        .unwrap()
}

fn request(purpose: Purpose) -> Request {
    Request::new(
        purpose,
        vec![Message { speaker: Speaker::User, text: "a secret prompt".to_owned() }],
        Shape::Text,
    )
}

fn reply(input_tokens: u32, output_tokens: u32) -> Got {
    let usage =
        Usage { input_tokens, output_tokens, model: "big-2".to_owned(), ..Usage::default() };
    let text = "a secret reply".to_owned();
    Got::Reply(Ok(Box::new(Reply { text, parsed: None, truncated: false, logprob: None, usage })))
}

fn rows(rows: u64) -> Got {
    let columns = Vec::new();
    let sql = "SELECT 'secret'".to_owned();
    Got::Rows(Ok(StoredRows { rows, columns, truncated: false, sql, digest: None }))
}

fn task(id: &str, needs: &[&str]) -> Task {
    Task {
        id: id.to_owned(),
        depends_on: needs.iter().map(|&id| id.to_owned()).collect(),
        ..Task::default()
    }
}

#[test]
fn a_run_is_one_trace_of_parts_in_wholes() {
    let mut reported = Reported::new(false);
    reported.call(0, Role::Solver, "A", None);
    reported.ask(0, 1, Ask::Llm(Box::new(request(Purpose::Generate))), reply(30, 4));
    reported.call(1, Role::Reward, "A", Some((0, 2)));
    reported.ask(1, 0, Ask::Sql("SELECT 'secret'".to_owned()), rows(3));
    reported.end(1);
    reported.end(0);
    reported.report_answer();

    let spans = reported.spans();
    let names: Vec<&str> = spans.iter().map(|span| span.name.as_str()).collect();
    assert_eq!(names, ["chat big", "SELECT shop", "reward", "solver", "search"]);
    assert!(spans.iter().all(|span| span.trace == spans[0].trace && span.error.is_none()));
    let [model, statement, reward, solver, search] = spans.try_into().unwrap();
    assert_eq!((model.parent, statement.parent), (Some(solver.id), Some(reward.id)));
    assert_eq!(
        (reward.parent, solver.parent, search.parent),
        (Some(solver.id), Some(search.id), None)
    );
    assert_eq!(
        (model.kind, statement.kind, solver.kind),
        (SpanKind::Client, SpanKind::Client, SpanKind::Internal)
    );
    assert_eq!((model.start, model.end), (at(2), at(3)));
    assert_eq!((search.start, search.end), (at(0), at(9)));
    let mut ids = vec![model.id, statement.id, reward.id, solver.id, search.id];
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 5);

    let expected: Vec<(&str, Value)> = vec![
        ("gen_ai.operation.name", "chat".into()),
        ("gen_ai.provider.name", "openai".into()),
        ("gen_ai.request.model", "big".into()),
        ("syrch.purpose", "generate".into()),
        ("gen_ai.request.temperature", Value::Number(0.7)),
        ("gen_ai.request.max_tokens", Value::Whole(100)),
        ("gen_ai.response.model", "big-2".into()),
        ("gen_ai.response.finish_reasons", Value::Texts(vec!["stop".to_owned()])),
        ("gen_ai.usage.input_tokens", Value::Whole(30)),
        ("gen_ai.usage.output_tokens", Value::Whole(4)),
        ("syrch.cached", Value::Flag(false)),
    ];
    assert_eq!(model.attributes, expected);
    let expected: Vec<(&str, Value)> = vec![
        ("db.system.name", "sqlite".into()),
        ("db.namespace", "shop".into()),
        ("db.operation.name", "SELECT".into()),
        ("db.response.returned_rows", Value::Whole(3)),
        ("syrch.truncated", Value::Flag(false)),
    ];
    assert_eq!(statement.attributes, expected);
    assert_eq!(search.attribute("syrch.outcome"), Some(&"answered".into()));
    assert_eq!(solver.attribute("syrch.plugin"), Some(&"refine".into()));
}

#[test]
fn the_edges_of_the_graph_are_links() {
    let mut reported = Reported::new(false);
    reported.fact(Fact::Round { number: 0 });
    let tasks = vec![task("A", &[]), task("B", &["A"]), task("C", &["A", "B"])];
    reported.fact(Fact::Graph(Graph { tasks, answer: "C".to_owned(), memo: None }));
    reported.call(0, Role::Solver, "A", None);
    reported.end(0);
    reported.call(1, Role::Solver, "B", None);
    reported.end(1);
    // B was too much: it becomes a choice of the last of its parts.
    reported.fact(Fact::Expanded {
        task: "B".to_owned(),
        subtasks: vec![task("B.1", &["A"]), task("B.2", &["B.1"])],
    });
    for (call, task) in [(2, "B.1"), (3, "B.2"), (4, "B"), (5, "C")] {
        reported.call(call, Role::Solver, task, None);
        reported.end(call);
    }
    reported
        .fact(Fact::Edited { edits: vec![syrch_core::Edit::Add(task("D", &["C", "unknown"]))] });
    reported.call(6, Role::Solver, "D", None);
    reported.end(6);

    let mut spans = reported.spans();
    fn links(span: &Span) -> Vec<String> {
        span.links.iter().map(|link| link.task.clone()).collect()
    }
    let early = spans.remove(1);
    assert_eq!(links(&early), ["A"]);
    for (task, needs) in [
        ("A", &[][..]),
        ("B.1", &["A"]),
        ("B.2", &["B.1"]),
        ("B", &["B.2"]),
        ("C", &["A", "B"]),
        ("D", &["C"]),
    ] {
        let span = find_task_span(&spans, task);
        assert_eq!(links(span), needs, "{task}");
        for link in &span.links {
            assert_eq!(link.span, find_task_span(&spans, &link.task).id, "{task}");
        }
    }
    // Another wording has another graph.
    reported.fact(Fact::Round { number: 1 });
    reported.call(7, Role::Solver, "D", None);
    reported.end(7);
    assert!(reported.spans().last().unwrap().links.is_empty());
}

#[test]
fn errors_have_a_class_and_no_words() {
    let mut reported = Reported::new(false);
    reported.call(0, Role::Solver, "", None);
    let failed = LlmError::Malformed("a secret reply".to_owned());
    reported.ask(0, 1, Ask::Llm(Box::new(request(Purpose::Judge))), Got::Reply(Err(failed)));
    let failed = SqlError::new(SqlErrorKind::UnknownColumn, "no such column: secret");
    reported.ask(0, 2, Ask::Sql("SELECT secret".to_owned()), Got::Rows(Err(failed)));
    reported.end(0);
    reported.fact(Fact::Failed { message: "a secret".to_owned(), class: String::new() });

    let spans = reported.spans();
    let model = find_span(&spans, "chat small-1");
    assert_eq!(model.attribute("gen_ai.provider.name"), Some(&"anthropic".into()));
    for (name, class) in
        [("chat small-1", "malformed"), ("SELECT shop", "unknown-column"), ("search", "failed")]
    {
        let span = find_span(&spans, name);
        assert_eq!(
            (span.error, span.attribute("error.type")),
            (Some(class), Some(&class.into())),
            "{name}"
        );
    }
    assert!(!format!("{spans:?}").contains("secret"), "{spans:#?}");
}

#[test]
fn statements_are_reported_only_to_who_asks() {
    for wanted in [false, true] {
        let mut reported = Reported::new(wanted);
        reported.call(0, Role::Solver, "", None);
        reported.ask(0, 0, Ask::Sql("SELECT 1".to_owned()), rows(1));
        let spans = reported.spans();
        let text = wanted.then(|| Value::from("SELECT 1"));
        assert_eq!(find_span(&spans, "SELECT shop").attribute("db.query.text"), text.as_ref());
    }
}

#[test]
fn only_the_books_tell_that_a_cache_answered() {
    let mut reported = Reported::new(false);
    reported.call(0, Role::Solver, "", None);
    reported.event(Event::Issue {
        call: 0,
        ticket: 1,
        ask: Ask::Llm(Box::new(request(Purpose::Generate))),
    });
    reported.event(Event::Issue {
        call: 0,
        ticket: 2,
        ask: Ask::Llm(Box::new(request(Purpose::Generate))),
    });
    reported.note(&Record::Ledger {
        entry: Entry::Hit {
            purpose: "generate".to_owned(),
            tokens: 12,
            output_tokens: 2,
            cost_micros: None,
        },
    });
    reported.event(Event::Done { call: 0, ticket: 1, got: reply(5, 5) });
    reported.event(Event::Done { call: 0, ticket: 2, got: reply(10, 2) });
    reported.ask(0, 3, Ask::Llm(Box::new(request(Purpose::Generate))), reply(10, 2));
    let cached: Vec<_> =
        reported.spans().iter().map(|span| span.attribute("syrch.cached").cloned()).collect();
    assert_eq!(cached, [Some(false.into()), Some(true.into()), Some(false.into())]);
}

#[test]
fn rules_in_this_process_are_no_client_call() {
    let mut reported = Reported::new(false);
    reported.call(0, Role::Solver, "", None);
    let asked = Request { model: Some("rules".to_owned()), ..request(Purpose::Generate) };
    reported.ask(0, 1, Ask::Llm(Box::new(asked)), reply(0, 0));
    let spans = reported.spans();
    let span = find_span(&spans, "chat offline");
    assert_eq!(span.kind, SpanKind::Internal);
    assert_eq!(span.attribute("gen_ai.request.temperature"), None);
}

#[test]
fn what_nobody_waits_for_any_more_is_cancelled() {
    let mut reported = Reported::new(false);
    reported.call(0, Role::Solver, "A", None);
    reported.call(1, Role::Reward, "A", Some((0, 1)));
    for ticket in [1, 2, 3] {
        reported.event(Event::Issue {
            call: 0,
            ticket,
            ask: Ask::Llm(Box::new(request(Purpose::Generate))),
        });
    }
    reported.event(Event::Port { call: 0, ask: Ask::GiveUp(2), got: Got::GaveUp(false) });
    assert_eq!(reported.spans().len(), 1);
    reported.event(Event::Closed { task: "A".to_owned() });
    reported.event(Event::Done { call: 0, ticket: 1, got: reply(1, 1) });
    reported.call(2, Role::Planner, "", None);
    reported.event(Event::Over { place: "planner".to_owned() });
    reported.call(3, Role::Aggregator, "", None);
    drop(reported.spans.take());

    let spans = reported.spans();
    let names: Vec<&str> = spans.iter().map(|span| span.name.as_str()).collect();
    assert_eq!(names.len(), 8, "{names:?}");
    assert!(spans.iter().all(|span| span.error == Some("cancelled")), "{spans:#?}");
    assert_eq!(names.last(), Some(&"search"));
}

#[test]
fn a_resumed_run_goes_on_with_its_trace() {
    let mut reported = Reported::new(false);
    let event = |event| Record::Event { at_us: 0, event };
    let graph = Graph { tasks: vec![task("A", &[]), task("B", &["A"])], ..Graph::default() };
    let past = [
        Record::Fact { at_us: 0, fact: Fact::Graph(graph) },
        event(Event::Call { call: 0, role: Role::Solver, task: "A".to_owned(), from: None }),
        event(Event::Issue { call: 0, ticket: 1, ask: Ask::Sql("SELECT 1".to_owned()) }),
        event(Event::Done { call: 0, ticket: 1, got: rows(1) }),
        event(Event::End { call: 0, error: None }),
        Record::Fact {
            at_us: 0,
            fact: Fact::Ended(Observation::from_ending("A", syrch_core::Ending::Solved)),
        },
        event(Event::Call { call: 1, role: Role::Solver, task: "B".to_owned(), from: None }),
        event(Event::Issue {
            call: 1,
            ticket: 1,
            ask: Ask::Llm(Box::new(request(Purpose::Generate))),
        }),
    ];
    past.iter().for_each(|record| reported.note(record));
    let before = reported.spans();
    assert_eq!(before.len(), 2);

    let mut again = Reported::new(false);
    again.spans = None;
    again.sink.spans.lock().unwrap().clear();
    let mut spans = Spans::new(about(), Some(Arc::clone(&again.sink) as _));
    spans.resume(at(100), &past);
    again.spans = Some(spans);
    again.ticks = 100;
    again.event(Event::Done { call: 1, ticket: 1, got: reply(1, 2) });
    again.end(1);
    again.report_answer();
    let after = again.spans();
    let names: Vec<&str> = after.iter().map(|span| span.name.as_str()).collect();
    assert_eq!(names, ["chat big", "solver", "search"]);
    assert_eq!((after[0].start, after[0].end), (at(100), at(101)));
    assert_eq!(after[1].links[0].span, find_task_span(&before, "A").id);
    assert_eq!(
        (after[2].trace, after[2].id),
        (before[0].trace, find_task_span(&before, "A").parent.unwrap())
    );
    assert_eq!(after[2].attribute("syrch.resumed"), Some(&true.into()));
}
