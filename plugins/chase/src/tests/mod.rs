//! The plugin against scripted models and databases.

mod compare;
mod draw;
mod planner;
mod reward;
mod solver;

use syrch_plugin::fakes::{FakeHost, FakeRows, Traced, problem_with_example, reply, sql_error};
use syrch_plugin::prelude::*;
use syrch_plugin::serde_json::{Value as JsonValue, json};

use crate::{Chase, Settings};

fn catalog() -> Catalog {
    let table = |name: &str| Table {
        name: name.into(),
        columns: ["id", "total"]
            .map(|name| Column { name: name.into(), ..Column::default() })
            .to_vec(),
        ..Table::default()
    };
    Catalog {
        database: "shop".into(),
        dialect: Dialect::Sqlite,
        tables: vec![table("orders"), table("customers")],
        ..Catalog::default()
    }
}

fn solve_task(host: &FakeHost, settings: Settings, task: &Task) -> Result<Outcome, Failure> {
    Chase::new(settings).solve(host, &Problem::new("How much was sold?"), &catalog(), task, &[])
}

fn solve(host: &FakeHost, settings: Settings) -> Result<Outcome, Failure> {
    solve_task(host, settings, &Task::new("A", "How much was sold?"))
}

fn solve_candidates(host: &FakeHost, settings: Settings) -> Vec<Candidate> {
    solve(host, settings).unwrap().candidates
}

fn ids(candidates: &[Candidate]) -> Vec<&str> {
    candidates.iter().map(|candidate| candidate.id.as_str()).collect()
}

/// Returns settings with only that many direct draws.
fn direct(direct: u32) -> Settings {
    Settings { query_plan: 0, divide_and_conquer: 0, direct, ..Settings::default() }
}

fn says(host: &mut FakeHost, purpose: &Purpose, statements: &[&str]) {
    for sql in statements {
        let parsed = json!({ "sql": sql, "confidence": null });
        host.model.script(purpose, Ok(reply(sql, Some(&parsed))));
    }
}

/// Scripts the model's answers to the next comparisons.
fn prefers(host: &mut FakeHost, words: &[&str]) {
    for word in words {
        host.model.script(&Purpose::Select, Ok(reply(word, Some(&json!(word)))));
    }
}

fn numbers(list: &[i64]) -> FakeRows {
    FakeRows::new(&["n"], list.iter().map(|n| vec![Value::Integer(*n)]).collect())
}

/// `SELECT n` gives n, `BAD n` fails when it is run, `SELECT none` has no rows.
fn database(host: &mut FakeHost) {
    for n in 1..=4 {
        host.database.answer(&format!("SELECT {n}"), numbers(&[n]));
        let error = sql_error(SqlErrorKind::Other, &format!("no such column: c{n}"));
        host.database.fail_run(&format!("BAD {n}"), error);
    }
    host.database.answer("SELECT none", numbers(&[]));
}

/// A host whose model draws these, with the database.
fn draws(statements: &[&str]) -> FakeHost {
    let mut host = FakeHost::default();
    says(&mut host, &Purpose::Generate, statements);
    database(&mut host);
    host
}

fn events(host: &FakeHost, name: &str) -> Vec<(Option<String>, JsonValue)> {
    host.trace
        .lines()
        .into_iter()
        .filter_map(|line: Traced| match line {
            Traced::Event(candidate, event, data) if event == name => Some((candidate, data)),
            _ => None,
        })
        .collect()
}

fn count_requests(host: &FakeHost, purpose: &Purpose) -> usize {
    host.model.requests().iter().filter(|request| request.purpose == *purpose).count()
}

/// The places of the requests of that purpose.
fn places(host: &FakeHost, purpose: &Purpose) -> Vec<usize> {
    let requests = host.model.requests();
    (0..requests.len()).filter(|place| requests[*place].purpose == *purpose).collect()
}

fn assert_parts(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
}
