//! The three roles against scripted models and databases. `Stage` is a host whose reward is the
//! plugin's own, so that a solver's test sees every call.

mod beam;
mod course;
mod judging;
mod planning;
mod recovery;

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde_json::{Value as JsonValue, json};
use syrch_plugin::fakes::{
    FakeHost, FakeRows, Traced, facts, problem_with_example, reply, sql_error,
};
use syrch_plugin::prelude::*;

use crate::{Progressive, Settings};

const QUESTION: &str = "Show employees with salary > 50000 in Engineering";
const ALL: &str = "SELECT * FROM employees";
const IN: &str = "SELECT * FROM employees WHERE department = 'Engineering'";
const BOTH: &str = "SELECT * FROM employees WHERE department = 'Engineering' AND salary > 50000";
const YES: &str = "TABLES: YES\nCORRECT: YES\nREASONING: it is right";

fn no(label: &str, why: &str) -> String {
    format!("{label}: NO\nCORRECT: NO\nREASONING: {why}")
}

fn catalog() -> Catalog {
    let column =
        |name: &str| Column { name: name.into(), sql_type: "TEXT".into(), ..Column::default() };
    let key = ForeignKey {
        columns: vec!["department".into()],
        ref_table: "departments".into(),
        ref_columns: vec!["name".into()],
    };
    let employees = Table {
        name: "employees".into(),
        columns: ["id", "name", "salary", "department"].map(column).to_vec(),
        foreign_keys: vec![key],
        ..Table::default()
    };
    let departments =
        Table { name: "departments".into(), columns: vec![column("name")], ..Table::default() };
    Catalog {
        database: "firm".into(),
        dialect: Dialect::Sqlite,
        tables: vec![employees, departments],
        ..Catalog::default()
    }
}

fn rows(count: usize) -> FakeRows {
    FakeRows::new(
        &["name"],
        (0..count).map(|n| vec![Value::Text(format!("person {count}-{n}"))]).collect(),
    )
}

fn subtask(id: u32, operation: &str, confidence: f64, dependencies: &[u32]) -> JsonValue {
    json!({
        "id": id, "operation": operation, "type": "filter", "confidence": confidence,
        "dependencies": dependencies
    })
}

/// The design document's example: a table, and two filters of it.
fn example() -> Vec<JsonValue> {
    vec![
        subtask(1, "read employees", 0.95, &[]),
        subtask(2, "keep Engineering", 0.92, &[1]),
        subtask(3, "keep salaries over 50000", 0.90, &[1]),
    ]
}

/// A host that judges by the plugin's own reward.
struct Stage {
    host: FakeHost,
    settings: Settings,
    task: Task,
    rows: BTreeMap<String, FakeRows>,
    tables: BTreeMap<String, Facts>,
    /// Model calls left after so many requests, where that matters.
    calls: Option<u32>,
    judged: RefCell<Vec<Candidate>>,
    /// The verdicts of another reward, in place of the plugin's own.
    verdicts: RefCell<Vec<Verdict>>,
}

impl Stage {
    fn new(subtasks: &[JsonValue]) -> Self {
        let plan = [
            "Find the tables: employees",
            "Perform the operations: two filters",
            "Select the columns: all",
        ];
        let context = json!({ "plan": plan, "subtasks": subtasks }).to_string();
        Self {
            host: FakeHost::default(),
            settings: Settings { recalculate_every: 0, ..Settings::default() },
            task: Task { context: Some(context), ..Task::new("A", QUESTION) },
            rows: BTreeMap::new(),
            tables: BTreeMap::new(),
            calls: None,
            judged: RefCell::default(),
            verdicts: RefCell::default(),
        }
    }

    /// This statement runs and gives so many rows.
    fn runs(&mut self, sql: &str, count: usize) -> &mut Self {
        self.host.database.answer(sql, rows(count));
        self.rows.insert(sql.to_owned(), rows(count));
        self
    }

    /// The next statement that the model writes for that purpose.
    fn writes(&mut self, purpose: &Purpose, sql: &str) -> &mut Self {
        self.host
            .model
            .script(purpose, Ok(reply(sql, Some(&json!({ "sql": sql, "confidence": 0.8 })))));
        self
    }

    fn generates(&mut self, sql: &str) -> &mut Self {
        self.writes(&Purpose::Generate, sql)
    }

    fn repairs(&mut self, sql: &str) -> &mut Self {
        self.writes(&Purpose::Repair, sql)
    }

    fn judges(&mut self, replies: &[&str]) -> &mut Self {
        for text in replies {
            self.host.model.reply_text(&Purpose::Judge, text);
        }
        self
    }

    /// The document's example as it goes when all is well.
    fn example() -> Self {
        let mut stage = Self::new(&example());
        stage.runs(ALL, 10).runs(IN, 5).runs(BOTH, 2);
        stage.generates(ALL).generates(IN).generates(BOTH).judges(&[YES; 4]);
        stage
    }

    fn solve_with(&self, parents: &[Parent]) -> Result<Outcome, Failure> {
        self.solve_problem(&Problem::new(QUESTION), parents)
    }

    fn solve_problem(&self, problem: &Problem, parents: &[Parent]) -> Result<Outcome, Failure> {
        Progressive::new(self.settings.clone()).solve(
            self,
            problem,
            &catalog(),
            &self.task,
            parents,
        )
    }

    fn solve(&self) -> Outcome {
        self.solve_with(&[]).unwrap()
    }

    /// The statement of the first candidate.
    fn answer(&self) -> Option<String> {
        self.solve().candidates.first().map(|candidate| candidate.sql.clone())
    }

    fn purposes(&self) -> Vec<Purpose> {
        self.host.model.requests().into_iter().map(|request| request.purpose).collect()
    }

    /// The prompts of that purpose, in order.
    fn prompts(&self, purpose: &Purpose) -> Vec<String> {
        let places = self.purposes().into_iter().enumerate().filter(|(_, asked)| asked == purpose);
        places.map(|(place, _)| self.host.model.prompt(place)).collect()
    }

    fn events(&self, name: &str) -> Vec<JsonValue> {
        self.host
            .trace
            .lines()
            .into_iter()
            .filter_map(|line: Traced| match line {
                Traced::Event(_, event, data) if event == name => Some(data),
                _ => None,
            })
            .collect()
    }

    /// The candidates as (id, parents, origin).
    fn proposals(&self) -> Vec<(String, String, String)> {
        self.host
            .trace
            .lines()
            .into_iter()
            .filter_map(|line: Traced| match line {
                Traced::Proposed(candidate) => {
                    Some((candidate.id, candidate.parents.join(" "), candidate.origin))
                }
                _ => None,
            })
            .collect()
    }
}

fn memo(outcome: &Outcome) -> JsonValue {
    serde_json::from_str(outcome.memo.as_deref().unwrap()).unwrap()
}

fn assert_has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is missing in {text}");
    }
}

fn assert_lacks(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(!text.contains(part), "`{part}` stands in {text}");
    }
}

impl Evaluate for Stage {
    fn calibrate(&self, claims: &[(f64, Signals)]) -> Result<Vec<f64>, PortError> {
        self.host.calibrate(claims)
    }

    fn reward(&self, candidates: &[Candidate]) -> Result<Vec<Verdict>, PortError> {
        self.judged.borrow_mut().extend(candidates.iter().cloned());
        if !self.verdicts.borrow().is_empty() {
            return Ok(vec![self.verdicts.borrow_mut().remove(0)]);
        }
        let rivals: Vec<Rival> = candidates
            .iter()
            .map(|candidate: &Candidate| Rival {
                candidate: candidate.clone(),
                results: self.rows[&candidate.sql].handle(),
            })
            .collect();
        let reward = Progressive::new(self.settings.clone());
        Ok(reward.judge(self, &Problem::new(QUESTION), &catalog(), &self.task, &rivals).unwrap())
    }

    fn start_reward(&self, candidates: &[Candidate]) -> Judging {
        self.host.start_reward(candidates)
    }
}

impl Run for Stage {
    fn policy(&self) -> Policy {
        self.host.policy()
    }
    fn setting(&self, name: &str) -> Option<JsonValue> {
        self.host.setting(name)
    }
    fn remaining(&self) -> Budget {
        let asked = u32::try_from(self.host.model.requests().len()).unwrap();
        let left = self.host.remaining();
        Budget {
            llm_calls: self.calls.map_or(left.llm_calls, |calls| calls.saturating_sub(asked)),
            ..left
        }
    }
    fn seed(&self) -> u64 {
        self.host.seed()
    }
}

impl Wait for Stage {
    fn any(&self, tickets: &[u32]) -> Vec<u32> {
        self.host.any(tickets)
    }

    fn pause(&self, length: std::time::Duration) {
        self.host.pause(length);
    }
}

impl Llm for Stage {
    fn models(&self) -> Vec<String> {
        self.host.models()
    }
    fn complete(&self, request: &Request) -> Result<Reply, LlmError> {
        self.host.complete(request)
    }
    fn complete_all(&self, requests: &[Request]) -> Vec<Result<Reply, LlmError>> {
        self.host.complete_all(requests)
    }
    fn start_reply(&self, request: &Request) -> PendingReply {
        self.host.start_reply(request)
    }
}

impl Inspect for Stage {
    fn check(&self, text: &str) -> Result<Facts, SqlError> {
        let plain = self.host.check(text)?;
        Ok(self.tables.get(text).cloned().unwrap_or(plain))
    }
    fn explain(&self, text: &str) -> Result<Plan, SqlError> {
        self.host.explain(text)
    }
    fn column_stats(&self, table: &str, columns: &[String]) -> Result<Vec<ColumnStats>, PortError> {
        self.host.column_stats(table, columns)
    }
}

impl Sql for Stage {
    fn run(&self, text: &str) -> Result<ResultSet, SqlError> {
        Sql::run(&self.host, text)
    }
    fn run_all(&self, texts: &[String]) -> Vec<Result<ResultSet, SqlError>> {
        self.host.run_all(texts)
    }
    fn start_statement(&self, text: &str) -> RunningStatement {
        self.host.start_statement(text)
    }
}

impl Rows for Stage {
    fn read(&self, results: &ResultSet, offset: u64, limit: u32) -> Result<Page, PortError> {
        Rows::read(&self.host, results, offset, limit)
    }
}

impl Cells for Stage {
    fn samples(
        &self,
        table: &str,
        columns: &[String],
        limit: u32,
    ) -> Result<Vec<Sample>, PortError> {
        self.host.samples(table, columns, limit)
    }
    fn find(
        &self,
        phrases: &[String],
        how: &Match,
        limit: u32,
    ) -> Result<Vec<Vec<Hit>>, PortError> {
        Cells::find(&self.host, phrases, how, limit)
    }
}

impl Retrieval for Stage {
    fn retrieve(&self, query: &RetrievalQuery) -> Result<Vec<Hit>, PortError> {
        self.host.retrieve(query)
    }
    fn retrieve_all(&self, queries: &[RetrievalQuery]) -> Vec<Result<Vec<Hit>, PortError>> {
        self.host.retrieve_all(queries)
    }
    fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, PortError> {
        self.host.embed(texts)
    }
}

impl Trace for Stage {
    fn note(&self, level: Level, message: &str) {
        self.host.note(level, message);
    }
    fn propose(&self, candidate: &Candidate) {
        self.host.propose(candidate);
    }
    fn keep(&self, candidate: &str, reason: &str) {
        self.host.keep(candidate, reason);
    }
    fn discard(&self, candidate: &str, reason: &str) {
        self.host.discard(candidate, reason);
    }
    fn event(&self, candidate: Option<&str>, name: &str, data: &JsonValue) {
        self.host.event(candidate, name, data);
    }
}
