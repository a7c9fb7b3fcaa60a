//! The journal of a search, made by hand.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use serde_json::{Value, json};
use syrch_core::ledger::Entry;
use syrch_core::ports::{LlmError, Message, Purpose, Reply, Request, Shape, Speaker, Usage};
use syrch_core::roles::Role;
use syrch_core::{
    Candidate, Catalog, Dialect, Edit, Ending, Failure, FailureKind, Graph, Observation, Opinion,
    Problem, Question, ResultSet, Signals, SqlError, SqlErrorKind, Task, Verdict,
};

use crate::read::Journal;
use crate::record::{
    Ask, Event, FORMAT, Fact, Got, Header, PluginRecord, Record, RowRetention, RunKind, VERSION,
};
use crate::stored::Stored;

/// A journal that is being made.
struct Fixture {
    at_us: u64,
    records: Vec<Record>,
    stored: Stored,
}

pub(crate) fn propose(call: u64, id: &str) -> Event {
    let candidate = Candidate { id: id.to_owned(), ..Candidate::default() };
    Event::Port { call, ask: Ask::Propose(Box::new(candidate)), got: Got::Nothing }
}

fn task(id: &str, text: &str, after: &[&str]) -> Task {
    let depends_on = after.iter().map(|id| (*id).to_owned()).collect();
    Task { id: id.to_owned(), text: text.to_owned(), depends_on, ..Task::default() }
}

fn candidate(id: &str, sql: &str, confidence: Option<f64>) -> Candidate {
    let signals = Signals { attempts: 1, ..Signals::default() };
    let id = id.to_owned();
    let sql = sql.to_owned();
    Candidate {
        id,
        sql,
        origin: "sample".to_owned(),
        raw_confidence: Some(0.9),
        confidence,
        signals,
        ..Candidate::default()
    }
}

fn result(values: &[i64], sql: &str) -> Arc<ResultSet> {
    let schema = Arc::new(Schema::new(vec![Field::new("n", DataType::Int64, true)]));
    let column: ArrayRef = Arc::new(Int64Array::from(values.to_vec()));
    let batch = RecordBatch::try_new(Arc::clone(&schema), vec![column]).unwrap();
    Arc::new(ResultSet::new(schema, vec![batch], false, Vec::new(), sql.to_owned()))
}

impl Fixture {
    fn event(&mut self, event: Event) {
        self.at_us += 10_000;
        self.records.push(Record::Event { at_us: self.at_us, event });
    }

    fn fact(&mut self, fact: Fact) {
        self.at_us += 1_000;
        self.records.push(Record::Fact { at_us: self.at_us, fact });
    }

    fn call(&mut self, call: u64, role: Role, task: &str, from: Option<(u64, u32)>) {
        self.event(Event::Call { call, role, task: task.to_owned(), from });
    }

    fn end(&mut self, call: u64) {
        self.event(Event::Left { call });
        self.event(Event::End { call, error: None });
    }

    fn call_model(&mut self, call: u64, ticket: u32, purpose: Purpose, is_cached: bool) {
        let text = format!("the prompt of {}", purpose.name());
        let name = purpose.name().to_owned();
        let request = Request {
            model: Some("small".to_owned()),
            sample: ticket,
            ..Request::new(purpose, vec![Message { speaker: Speaker::User, text }], Shape::Sql)
        };
        self.event(Event::Issue { call, ticket, ask: Ask::Llm(Box::new(request)) });
        if !is_cached {
            let entry = Entry::Reserved { purpose: name, tokens: 500, cost_micros: None };
            self.records.push(Record::Ledger { entry });
        }
    }

    fn reply(&mut self, call: u64, ticket: u32, purpose: &str, tokens: u32, is_cached: bool) {
        let usage = Usage {
            input_tokens: tokens,
            output_tokens: 5,
            model: "small-1".to_owned(),
            ..Usage::default()
        };
        let (purpose, text) = (purpose.to_owned(), format!("the reply of {purpose}"));
        let entry = if is_cached {
            Entry::Hit {
                purpose,
                tokens: u64::from(tokens) + 5,
                output_tokens: 5,
                cost_micros: None,
            }
        } else {
            Entry::Settled { purpose, tokens: 500, cost_micros: None, usage: Some(usage.clone()) }
        };
        self.records.push(Record::Ledger { entry });
        let reply = Reply { text, parsed: None, truncated: false, logprob: None, usage };
        self.event(Event::Done { call, ticket, got: Got::Reply(Ok(Box::new(reply))) });
    }

    fn settle_without_usage(&mut self, purpose: &str) {
        let purpose = purpose.to_owned();
        let usage = None;
        self.records.push(Record::Ledger {
            entry: Entry::Settled { purpose, tokens: 500, cost_micros: None, usage },
        });
    }

    fn run(&mut self, call: u64, sql: &str, found: Result<&[i64], SqlError>) {
        self.event(Event::Issue { call, ticket: 0, ask: Ask::Sql(sql.to_owned()) });
        self.records.push(Record::Ledger { entry: Entry::SqlRun });
        let got = match found {
            Ok(values) => {
                let (stored, record) = self.stored.store(&result(values, sql), RowRetention::Full);
                self.records.extend(record);
                Got::Rows(Ok(stored))
            }
            Err(error) => Got::Rows(Err(error)),
        };
        self.event(Event::Done { call, ticket: 0, got });
    }

    fn propose_candidate(&mut self, call: u64, candidate: &Candidate) {
        let ask = Ask::Propose(Box::new(Candidate { confidence: None, ..candidate.clone() }));
        self.event(Event::Port { call, ask, got: Got::Nothing });
    }

    fn keep(&mut self, call: u64, id: &str, reason: &str) {
        self.event(Event::Port {
            call,
            ask: Ask::Keep(id.to_owned(), reason.to_owned()),
            got: Got::Nothing,
        });
    }

    fn first_round(&mut self) {
        self.fact(Fact::Round { number: 0 });
        self.call(0, Role::Planner, "", None);
        self.call_model(0, 1, Purpose::Plan, false);
        self.reply(0, 1, "plan", 40, false);
        self.end(0);
        let tasks = vec![task("A", "what the French spent", &[])];
        self.fact(Fact::Graph(Graph { tasks, answer: "A".to_owned(), memo: None }));
        self.fact(Fact::Started { task: "A".to_owned() });
        self.call(1, Role::Solver, "A", None);
        let one = candidate("s1", "SELECT 7", Some(0.3));
        self.propose_candidate(1, &one);
        self.keep(1, "s1", "it ran");
        self.end(1);
        let observation =
            Observation { candidates: vec![one], ..Observation::from_ending("A", Ending::Solved) };
        self.fact(Fact::Ended(observation));
        let question = Question {
            text: "Which year?".to_owned(),
            choices: vec!["last year".to_owned()],
            ambiguity: 0.8,
        };
        self.event(Event::User { question, answer: Some("last year".to_owned()) });
    }

    fn second_round(&mut self) {
        self.fact(Fact::Round { number: 1 });
        let tasks = vec![
            task("A", "customers in France", &[]),
            task("B", "orders of them last year", &["A"]),
            task("C", "prices of what they bought", &["A"]),
            Task { tolerant: true, ..task("D", "what each of them spent", &["B", "C"]) },
        ];
        self.fact(Fact::Graph(Graph { tasks, answer: "D".to_owned(), memo: None }));
        self.solves_a();
        self.fact(Fact::Started { task: "B".to_owned() });
        self.call(4, Role::Solver, "B", None);
        self.call_model(4, 1, Purpose::Repair, false);
        self.call_model(4, 2, Purpose::Repair, false);
        self.settle_without_usage("repair");
        let error = Got::Reply(Err(LlmError::Unavailable("the endpoint answered 500".to_owned())));
        self.event(Event::Done { call: 4, ticket: 1, got: error });
        self.settle_without_usage("repair");
        self.end(4);
        let failure = Failure::new(FailureKind::Model, "no reply could be read");
        self.fact(Fact::Ended(Observation::from_ending("B", Ending::Failed(failure))));
        self.fact(Fact::Started { task: "D".to_owned() });
        self.fact(Fact::Expanded {
            task: "D".to_owned(),
            subtasks: vec![task("D.x", "sums by customer", &["B", "C"])],
        });
        let edits = vec![
            Edit::Add(task("E", "the sums, largest first", &["D"])),
            Edit::Answer("E".to_owned()),
        ];
        self.fact(Fact::Edited { edits });
        self.fact(Fact::Refused { reason: "task `E` exists already".to_owned() });
    }

    fn solves_a(&mut self) {
        self.fact(Fact::Started { task: "A".to_owned() });
        self.call(2, Role::Solver, "A", None);
        self.call_model(2, 1, Purpose::Generate, false);
        self.call_model(2, 2, Purpose::Generate, true);
        self.reply(2, 2, "generate", 30, true);
        self.reply(2, 1, "generate", 60, false);
        let one = candidate("s1", "SELECT nmae FROM customers", None);
        let two = candidate("s2", "SELECT id FROM customers WHERE country = 'France'", Some(0.8));
        let three = candidate(
            "s3",
            "SELECT id FROM customers WHERE country IN ('France') ORDER BY id DESC",
            Some(0.7),
        );
        let four = candidate("s4", "SELECT count(*) FROM orders", None);
        [&one, &two, &three, &four]
            .into_iter()
            .for_each(|candidate| self.propose_candidate(2, candidate));
        let unknown = SqlError::new(SqlErrorKind::UnknownColumn, "no column `nmae`");
        self.run(2, &one.sql, Err(unknown));
        self.run(2, &two.sql, Ok(&[1, 3]));
        self.run(2, &three.sql, Ok(&[3, 1]));
        self.run(2, &four.sql, Ok(&[4]));
        self.run(2, &two.sql, Ok(&[1, 3]));
        self.event(Event::Issue { call: 2, ticket: 0, ask: Ask::Reward(vec![four.clone()]) });
        self.call(3, Role::Reward, "A", Some((2, 0)));
        let reason = "it counts orders, not customers".to_owned();
        self.end(3);
        let verdict = Verdict::Rejected(Opinion { score: 0.1, reason, checks: Vec::new() });
        self.event(Event::Done { call: 2, ticket: 0, got: Got::Verdicts(Ok(vec![verdict])) });
        self.keep(2, "s2", "two of three agree");
        self.keep(2, "s3", "the same rows as s2");
        self.end(2);
        let observation = Observation {
            candidates: vec![two, three],
            ..Observation::from_ending("A", Ending::Solved)
        };
        self.fact(Fact::Ended(observation));
    }
}

/// The `syrch.answer/1` of the search.
fn document() -> Value {
    fn report(
        id: &str,
        task: &str,
        status: &str,
        cluster: Option<u32>,
        confidence: Option<f64>,
        reason: &str,
    ) -> Value {
        json!({"id": id, "task": task, "sql": "SELECT 1", "status": status, "cluster": cluster,
               "confidence": confidence, "reason": reason})
    }
    let candidates = [
        report(
            "round1:s1",
            "round1:A",
            "dropped",
            None,
            Some(0.3),
            "from before the clarification: it ran",
        ),
        report("s1", "A", "dropped", None, None, "its SQL does not run: no column `nmae`"),
        report("s2", "A", "kept", Some(1), Some(0.8), "two of three agree"),
        report("s3", "A", "dropped", Some(1), Some(0.7), "the same rows as s2"),
        report("s4", "A", "dropped", Some(2), None, "rejected: it counts orders, not customers"),
        report("e1", "E", "answer", Some(1), Some(0.81), "it ran"),
    ];
    json!({
        "schema": "syrch.answer/1", "run": "00c1a51f1ed0", "question": "What did the French spend?",
        "answer": {"text": "Ada and Ben spent 42.", "columns": ["name", "spent"],
            "rows": [["Ada", 40.0], ["Ben", 2.0]],
                   "row_count": 2, "truncated": false, "basis": []},
        "sql": "SELECT name, sum(price) FROM t GROUP BY 1", "dialect": "sqlite",
        "confidence": {"raw": 0.9, "calibrated": 0.81}, "candidates": candidates, "clarify": null,
        "warnings": ["task B failed: no reply could be read"],
    })
}

fn header() -> Header {
    fn plugin(role: Role, name: &str) -> PluginRecord {
        PluginRecord {
            role,
            source: name.to_owned(),
            name: name.to_owned(),
            version: "0.1.0".to_owned(),
            digest: "0123456789abcdef".repeat(4),
            untrusted: false,
        }
    }
    Header {
        format: FORMAT.to_owned(),
        version: VERSION,
        run: "00c1a51f1ed0".to_owned(),
        began_ms: 1_767_225_600_000,
        host: "0.1.0".to_owned(),
        problem: Problem::new("What did the French spend?"),
        catalog: Arc::new(Catalog {
            database: "shop".to_owned(),
            dialect: Dialect::Sqlite,
            tables: Vec::new(),
        }),
        database_identity: None,
        models: vec!["small".to_owned()],
        provider: "openai".to_owned(),
        plugins: vec![plugin(Role::Planner, "chase"), plugin(Role::Solver, "sampler")],
        rows: RowRetention::Full,
        settings: Arc::new(json!({"seed": 7, "policy": {"max_parallel": 4}})),
        kind: RunKind::Search,
        verified: None,
        defined: crate::Defined::default(),
    }
}

/// The journal of the search.
pub(crate) fn journal() -> Journal {
    let mut fixture = Fixture { at_us: 0, records: Vec::new(), stored: Stored::default() };
    fixture.first_round();
    fixture.second_round();
    let outcome = "answered".to_owned();
    fixture.fact(Fact::Answer {
        document: document(),
        outcome,
        interrupted: false,
        beside: Vec::new(),
    });
    Journal { header: header(), records: fixture.records, whole_bytes: 0 }
}

/// The journal as a file.
pub(crate) fn lines() -> String {
    let journal = journal();
    let header = serde_json::to_string(&journal.header).unwrap();
    let records = journal.records.iter().map(|record| serde_json::to_string(record).unwrap());
    std::iter::once(header).chain(records).map(|line| line + "\n").collect()
}

/// A line without what depends on how a result is encoded.
pub(crate) fn without_digests(line: &Value) -> Value {
    match line {
        Value::Object(map) => {
            let shown = map
                .iter()
                .filter(|(key, value)| *key != "bytes" && !(*key == "digest" && value.is_string()));
            shown.map(|(key, value)| (key.clone(), without_digests(value))).collect()
        }
        Value::Array(items) => items.iter().map(without_digests).collect(),
        other => other.clone(),
    }
}
