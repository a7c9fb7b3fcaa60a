//! The solver against scripted models and databases: first the flow of `text2sql` as its file has
//! it, and variants of it; then what flows do.

mod edges;
mod joins;
mod judge;
mod later;
mod limits;
mod vote;
mod workflow;

use syrch_plugin::fakes::{FakeHost, FakeRows, Traced, reply, sql_error};
use syrch_plugin::prelude::*;
use syrch_plugin::serde_json::{Value as Json, json};

use crate::settings::Common;
use crate::{FlowSolver, Settings};

/// The flow of the built-in strategy `text2sql`.
fn workflow() -> Json {
    let file = include_str!("../../../strategies/text2sql.yml");
    let file: Json = serde_saphyr::from_str(file).unwrap();
    file["flow"].clone()
}

fn settings(flow: &Json) -> Settings {
    Settings::read(&json!({ "flow": flow }).to_string()).unwrap()
}

fn text2sql() -> Settings {
    settings(&workflow())
}

/// The workflow after a change of its nodes.
fn change_workflow(change: impl FnOnce(&mut Json)) -> Json {
    let mut flow = workflow();
    change(&mut flow["nodes"]);
    flow
}

/// Limits a try to that many executions.
fn limit_executions(number: u32) -> impl FnOnce(&mut Json) {
    move |nodes| match number {
        1 => {
            nodes["execute"]["on"] = json!({});
            nodes.as_object_mut().unwrap().shift_remove("debug");
        }
        number => nodes["debug"]["max_visits"] = json!(number - 1),
    }
}

/// Returns a flow with that many tries side by side, whose results vote.
fn vote_over(flow: &Json, votes: u32) -> Settings {
    settings(&json!({ "start": "tries", "nodes": {
        "tries": { "do": "flow", "flow": flow, "times": votes, "next": "vote" },
        "vote": {},
    } }))
}

fn catalog() -> Catalog {
    let table = |name: &str, columns: [(&str, &str); 2]| Table {
        name: name.to_owned(),
        columns: columns
            .map(|(name, kind): (&str, &str)| Column {
                name: name.to_owned(),
                sql_type: kind.to_owned(),
                comment: Some("a comment that is not shown".to_owned()),
                ..Column::default()
            })
            .to_vec(),
        primary_key: vec!["id".to_owned()],
        ..Table::default()
    };
    let tables = vec![
        table("customers", [("id", "INTEGER"), ("name", "TEXT")]),
        table("orders", [("id", "INTEGER"), ("total", "REAL")]),
    ];
    Catalog { database: "shop".into(), dialect: Dialect::Sqlite, tables, ..Catalog::default() }
}

fn solve(host: &FakeHost, settings: Settings) -> Result<Outcome, Failure> {
    let problem = Problem::new("How much was sold?");
    let task = Task::new("A", "How much was sold?");
    FlowSolver::new(settings).solve(host, &problem, &catalog(), &task, &[])
}

fn solve_candidates(host: &FakeHost, settings: Settings) -> Vec<Candidate> {
    solve(host, settings).unwrap().candidates
}

/// The reason in the memo of an outcome without candidates.
fn failure_reason(host: &FakeHost, settings: Settings) -> String {
    let outcome = solve(host, settings).unwrap();
    assert!(outcome.candidates.is_empty());
    let memo: syrch_plugin::serde_json::Value =
        syrch_plugin::serde_json::from_str(&outcome.memo.unwrap()).unwrap();
    let reason = memo["reason"].as_str().unwrap().to_owned();
    assert_eq!(host.trace.notes().last(), Some(&reason));
    reason
}

/// The model writes these, the first of a try for `generate`.
fn says(host: &mut FakeHost, purpose: &Purpose, statements: &[&str]) {
    for sql in statements {
        host.model.script(purpose, Ok(reply("", Some(&json!({ "sql": sql })))));
    }
}

fn numbers(list: &[i64]) -> FakeRows {
    FakeRows::new(&["n"], list.iter().map(|n| vec![Value::Integer(*n)]).collect())
}

/// `BAD n` fails when it is run, `SELECT n` gives n.
fn database(host: &mut FakeHost) {
    for n in 1..=4 {
        host.database.answer(&format!("SELECT {n}"), numbers(&[n]));
        let error = sql_error(SqlErrorKind::Other, &format!("no such column: c{n}"));
        host.database.fail_run(&format!("BAD {n}"), error);
    }
    host.database.answer("SELECT none", numbers(&[]));
}

fn purposes(host: &FakeHost) -> Vec<Purpose> {
    host.model.requests().into_iter().map(|request| request.purpose).collect()
}

fn samples(host: &FakeHost) -> Vec<u32> {
    host.model.requests().into_iter().map(|request| request.sample).collect()
}

fn ids(candidates: &[Candidate]) -> Vec<&str> {
    candidates.iter().map(|candidate| candidate.id.as_str()).collect()
}
