//! The solver against scripted models and databases.

mod bounds;
mod faults;

use syrch_plugin::fakes::{FakeHost, FakeRows, Traced, reply, sql_error};
use syrch_plugin::prelude::*;
use syrch_plugin::serde_json::{Value as JsonValue, json};

use crate::{Mcts, Settings};

/// A parent, or nothing; a candidate; and its origin.
type Edge = (String, String, String);
/// The candidate that a step is shown under, its name, and what it says.
type Step = (Option<String>, String, JsonValue);

fn catalog() -> Catalog {
    let column = |name: &str| Column { name: name.into(), ..Column::default() };
    let orders = Table {
        name: "orders".into(),
        columns: vec![column("id"), column("total")],
        ..Table::default()
    };
    Catalog {
        database: "shop".into(),
        dialect: Dialect::Sqlite,
        tables: vec![orders],
        ..Catalog::default()
    }
}

fn try_solve(host: &FakeHost, settings: Settings, parents: &[Parent]) -> Result<Outcome, Failure> {
    let task = Task::new("A", "How much?");
    Mcts::new(settings).solve(host, &Problem::new("How much?"), &catalog(), &task, parents)
}

fn solve(host: &FakeHost, settings: Settings) -> Outcome {
    try_solve(host, settings, &[]).unwrap()
}

/// Settings that never stop early.
fn whole(rollouts: u32, width: u32, depth: u32) -> Settings {
    Settings { rollouts, width, depth, agree: 0, ..Settings::default() }
}

fn says(host: &mut FakeHost, purpose: &Purpose, sql: &str) {
    let parsed = json!({ "sql": sql, "confidence": null });
    host.model.script(purpose, Ok(reply(sql, Some(&parsed))));
    let number = sql.split_whitespace().nth(1).and_then(|word| word.parse().ok());
    match (sql.split_whitespace().next(), number) {
        (Some("SELECT"), Some(number)) => host.database.answer(sql, number_rows(number)),
        (Some("EMPTY"), _) => host.database.answer(sql, FakeRows::new(&["n"], vec![])),
        _ => host
            .database
            .fail_check(sql, sql_error(SqlErrorKind::Syntax, &format!("cannot parse {sql}"))),
    };
}

/// A model that draws and repairs so, in turn. `SELECT n` gives n, `EMPTY` no row, and all else
/// fails its check.
fn host(draws: &[&str], repairs: &[&str]) -> FakeHost {
    let mut host = FakeHost::default();
    draws.iter().for_each(|sql| says(&mut host, &Purpose::Generate, sql));
    repairs.iter().for_each(|sql| says(&mut host, &Purpose::Repair, sql));
    host
}

fn number_rows(number: i64) -> FakeRows {
    FakeRows::new(&["n"], vec![vec![Value::Integer(number)]])
}

#[test]
fn a_result_with_faults_is_revised_and_has_no_vote() {
    let mut revised = host(&["SELECT 0"; 8], &["SELECT 7"; 8]);
    revised.database.answer("SELECT 0", number_rows(0).with_warning("no value `SPAIN`"));
    let outcome = solve(&revised, Settings::default());
    assert_eq!(outcome.candidates[0].sql, "SELECT 7");
    assert!(revised.model.prompt(3).contains("no value `SPAIN`"), "{}", revised.model.prompt(3));
    let mut repeated = host(&["SELECT 0"; 8], &["SELECT 0"; 8]);
    repeated.database.answer("SELECT 0", number_rows(0).with_warning("no value `SPAIN`"));
    assert_eq!(solve(&repeated, Settings::default()).candidates[0].sql, "SELECT 0");
    assert_eq!(repeated.model.requests().len(), 6, "each of three draws is revised once");
}

fn ids(outcome: &Outcome) -> Vec<&str> {
    outcome.candidates.iter().map(|candidate| candidate.id.as_str()).collect()
}

fn proposals(host: &FakeHost) -> Vec<Candidate> {
    host.trace
        .lines()
        .into_iter()
        .filter_map(|line: Traced| match line {
            Traced::Proposed(candidate) => Some(candidate),
            _ => None,
        })
        .collect()
}

/// The edges of the tree: each candidate with its parent, or with nothing.
fn edges(host: &FakeHost) -> Vec<Edge> {
    proposals(host)
        .into_iter()
        .map(|candidate: Candidate| (candidate.parents.concat(), candidate.id, candidate.origin))
        .collect()
}

/// The strategy's own steps: the candidate they are shown under, their names and what they say.
fn events(host: &FakeHost) -> Vec<Step> {
    host.trace
        .lines()
        .into_iter()
        .filter_map(|line: Traced| match line {
            Traced::Event(candidate, name, data) => Some((candidate, name, data)),
            _ => None,
        })
        .collect()
}

fn events_of(host: &FakeHost, name: &str) -> Vec<JsonValue> {
    events(host)
        .into_iter()
        .filter(|(_, known, _)| known == name)
        .map(|(_, _, data)| data)
        .collect()
}

fn samples(host: &FakeHost) -> Vec<u32> {
    host.model.requests().iter().map(|request| request.sample).collect()
}

#[test]
fn the_first_draws_are_made_at_once_and_suffice_when_they_agree() {
    let host = host(&["SELECT 7", "SELECT 7 AS n", "SELECT 7"], &[]);
    let outcome = solve(&host, Settings::default());

    let requests = host.model.requests();
    assert_eq!((requests.len(), samples(&host)), (3, vec![0, 1, 2]));
    assert!(
        requests
            .iter()
            .all(|request| request.purpose == Purpose::Generate && request.temperature == Some(0.7))
    );
    for part in ["You answer questions with one SQL ", "Table orders", "Question: How much?"] {
        assert!(host.model.prompt(2).contains(part), "{part}");
    }
    // Equal texts run once.
    assert_eq!(host.database.log(), ["SELECT 7", "SELECT 7 AS n"]);
    // One candidate for the one result.
    assert_eq!(ids(&outcome), ["A.1"]);
    let best = &outcome.candidates[0];
    assert_eq!((best.signals.samples, best.signals.agreeing, best.score), (3, 3, Some(1.0)));
    assert_eq!(best.rationale.as_deref(), Some("3 of 3 results, mean value 1.00"));
    assert_eq!(host.trace.discarded("A.3").unwrap(), "the same result as A.1");
    let steps: Vec<String> = events(&host).into_iter().map(|(_, name, _)| name).collect();
    assert_eq!(steps[..3], ["expand", "expand", "expand"]);
    assert_eq!(steps[3..], ["evaluate", "back-up", "evaluate", "back-up", "evaluate", "back-up"]);
}

#[test]
fn what_failed_is_repaired_and_what_ran_is_revised() {
    let mut host = host(&["BAD", "SELECT 1"], &["SELECT 2", "WORSE", "SELECT 2 AS n"]);
    // Greedy: of 1 and BAD it looks at 1 first; the values of 1 and 2 are equal then, and the
    // exploration decides.
    host.seed = 7;
    let outcome = solve(&host, Settings { exploration: 0.0, ..whole(5, 2, 2) });
    let edges = edges(&host);
    assert_eq!(edges[0], (String::new(), "A.1".into(), "generate".into()));
    assert_eq!(edges[2], ("A.2".into(), "A.3".into(), "revise".into()));
    assert_eq!(edges[3], ("A.2".into(), "A.4".into(), "revise".into()));
    assert_eq!(edges[4], ("A.1".into(), "A.5".into(), "repair".into()));
    assert_eq!(ids(&outcome), ["A.3", "A.2"]);
    assert_eq!(host.trace.discarded("A.5").unwrap(), "the same result as A.3");

    let revision = host.model.prompt(2);
    for part in [
        "A statement for this task that runs:\nSELECT 1\nIt returns 1 row of n. 1 of 1 \
         statements agree.\n",
        "agree.\nIts first rows:\nn\n1\n",
        "Repeat the first one if it does.",
    ] {
        assert!(revision.contains(part), "{part} is missing in {revision}");
    }
    assert!(!revision.contains("Other statements"));
    let second = host.model.prompt(3);
    assert!(
        second.contains(
            "give something else:\nSELECT 2\nIt returns 1 row of n. 1 of 2 statements agree."
        ),
        "{second}"
    );
    let repair = host.model.prompt(4);
    assert!(repair.contains("Attempt 1:\nBAD\nWhat was wrong: cannot parse BAD"), "{repair}");
    let requests = host.model.requests();
    assert_eq!(requests[3].subjects, ["SELECT 1", "SELECT 2"]);
    assert_eq!(requests[4].subjects, ["BAD"]);
    assert!(requests[2..].iter().all(|request| request.purpose == Purpose::Repair));
    // The number of a request is its sample and its subjects: a list of answers gives each once.
    assert_eq!(samples(&host), [0, 1, 1, 1, 3]);
}

#[test]
fn a_repair_carries_the_failures_on_its_way_and_of_its_siblings() {
    let host = host(&["BAD"], &["BAD A", "BAD B", "SELECT 3"]);
    let settings = Settings { exploration: 0.0, ..whole(4, 2, 3) };
    // One draw, so that the way down has no choice: the root is filled by its only child.
    let settings = Settings { width: 1, ..settings };
    let outcome = solve(&host, settings);
    let prompt = host.model.prompt(2);
    assert!(
        prompt.contains("Attempt 1:\nBAD\n") && prompt.contains("Attempt 2:\nBAD A\n"),
        "{prompt}"
    );
    assert!(outcome.candidates.is_empty());
    // The tree is full at its depth: the fourth rollout has nothing to expand.
    assert_eq!(host.model.requests().len(), 3);
    assert_eq!(proposals(&host)[2].signals.syntax_errors, 3);
    assert_eq!(
        (proposals(&host)[2].signals.attempts, proposals(&host)[2].signals.max_attempts),
        (3, 3)
    );
}

#[test]
fn values_follow_the_agreement_as_it_changes() {
    let host = host(&["SELECT 1", "SELECT 2", "SELECT 2", "EMPTY 1"], &[]);
    let outcome = solve(&host, whole(4, 4, 1));
    let evaluated = events_of(&host, "evaluate");
    assert_eq!(evaluated[0], json!({ "value": 1.0, "agreeing": 1, "running": 1 }));
    assert_eq!(evaluated[2], json!({ "value": 2.0 / 3.0, "agreeing": 2, "running": 3 }));
    // A result without rows counts half.
    assert_eq!(evaluated[3]["value"], 0.125);
    let scores: Vec<f64> =
        outcome.candidates.iter().filter_map(|candidate| candidate.score).collect();
    assert_eq!((ids(&outcome), scores), (vec!["A.2", "A.1", "A.4"], vec![0.5, 0.25, 0.125]));
    // The root's mean is that of all present values.
    let backed_up = &events_of(&host, "back-up")[3]["path"];
    assert_eq!(backed_up[0], json!({ "id": "A.4", "visits": 1, "mean": 0.125 }));
    assert_eq!(backed_up[1], json!({ "id": "", "visits": 4, "mean": 1.375 / 4.0 }));
    assert_eq!(
        host.trace.discarded("A.1").unwrap(),
        "1 of 4 results, mean value 0.25, where A.2 has 2 of 4 results, mean value 0.50"
    );
}

/// Three failures are tied at the top of the tree; the seed says which is looked at first.
fn solve_with_seed(seed: u64) -> (Vec<Edge>, Vec<Step>) {
    let mut host =
        host(&["BAD 1", "BAD 2", "BAD 3"], &["BAD 4", "BAD 5", "BAD 6", "BAD 7", "BAD 8"]);
    host.seed = seed;
    solve(&host, whole(8, 3, 3));
    (edges(&host), events(&host))
}

#[test]
fn a_seed_gives_one_tree_and_another_seed_may_give_another() {
    assert_eq!(solve_with_seed(1), solve_with_seed(1));
    let trees: Vec<_> = (0..8).map(|seed| solve_with_seed(seed).0).collect();
    assert!(trees.iter().any(|tree| *tree != trees[0]));
    // Every one is a tree of eight statements, of which three are draws.
    for tree in trees {
        assert_eq!(
            (tree.len(), tree.iter().filter(|(parent, ..)| parent.is_empty()).count()),
            (8, 3)
        );
    }
}

#[test]
fn the_way_down_is_reported() {
    let (_, events) = solve_with_seed(3);
    let (id, name, data) = events.iter().find(|(_, name, _)| name == "select").unwrap();
    assert_eq!((name.as_str(), &data["steps"][0]["tied"]), ("select", &json!(3)));
    assert!(["A.1", "A.2", "A.3"].contains(&id.as_deref().unwrap()));
    let uct = data["steps"][0]["among"][0]["uct"].as_f64().unwrap();
    assert!((uct - 1.4 * 3.0_f64.ln().sqrt()).abs() < 1e-12);
    // The root has no id; its expansions are the search's.
    assert!(
        events
            .iter()
            .any(|(id, name, data)| id.is_none() && name == "expand" && data["how"] == "generate")
    );
    assert!(
        events
            .iter()
            .any(|(id, name, data)| id.is_some() && name == "expand" && data["how"] == "repair")
    );
}
