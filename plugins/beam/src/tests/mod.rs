//! The solver against scripted models, databases and retrieval.

mod host;
mod limits;
mod policy;

use syrch_plugin::fakes::{FakeRows, Traced, problem_with_example, reply, sql_error};
use syrch_plugin::prelude::*;
use syrch_plugin::serde_json::{Value as JsonValue, json};

use self::host::ShopHost;
use crate::{BeamSolver, Settings};

/// Tables a to f; b refers to a, c and d share a column.
fn catalog() -> Catalog {
    let table = |name: &str, columns: &[&str]| Table {
        name: name.into(),
        columns: columns
            .iter()
            .map(|name: &&str| Column { name: (*name).into(), ..Column::default() })
            .collect(),
        ..Table::default()
    };
    let key = ForeignKey {
        columns: vec!["a_id".into()],
        ref_table: "a".into(),
        ref_columns: vec!["id".into()],
    };
    let b = Table { foreign_keys: vec![key], ..table("b", &["id", "a_id", "name"]) };
    let tables = vec![
        table("a", &["id", "name"]),
        b,
        table("c", &["id", "code"]),
        table("d", &["code", "ordered_at"]),
        table("e", &["x"]),
        table("f", &["y"]),
    ];
    Catalog { database: "shop".into(), dialect: Dialect::Sqlite, tables, ..Catalog::default() }
}

fn task(text: &str) -> Task {
    Task::new("A", text)
}

fn solve_with(
    host: &ShopHost,
    beam: Settings,
    text: &str,
    parents: &[Parent],
) -> Result<Outcome, Failure> {
    let problem = Problem::new("Which things?");
    BeamSolver::new(beam).solve(host, &problem, &catalog(), &task(text), parents)
}

/// As [`solve`], with a prompt that can be shortened once.
fn solve_shortened(host: &ShopHost) -> Outcome {
    let problem = problem_with_example("Which things?");
    let solver = BeamSolver::new(Settings::default());
    solver.solve(host, &problem, &catalog(), &task("Which things?"), &[]).unwrap()
}

fn solve(host: &ShopHost, beam: Settings) -> Outcome {
    solve_with(host, beam, "Which things?", &[]).unwrap()
}

/// Retrieval that finds these tables.
fn finds(host: &mut ShopHost, tables: &[(&str, f64)]) {
    host.fake.retrieval.script(
        &Corpus::Tables,
        &Retriever::Lexical,
        tables
            .iter()
            .map(|(name, score): &(&str, f64)| Hit {
                corpus: Corpus::Tables,
                id: (*name).into(),
                path: (*name).into(),
                table: Some((*name).into()),
                column: None,
                snippet: None,
                payload: None,
                score: *score,
            })
            .collect(),
    );
}

fn all_found(host: &mut ShopHost) {
    finds(host, &[("a", 0.9), ("b", 0.8), ("c", 0.7), ("d", 0.6), ("e", 0.5), ("f", 0.4)]);
}

fn says(host: &mut ShopHost, purpose: &Purpose, sql: &str, confidence: Option<f64>) {
    let parsed = json!({ "sql": sql, "confidence": confidence });
    host.fake.model.script(purpose, Ok(reply(sql, Some(&parsed))));
}

/// A statement on that table which gives the number.
fn on(table: &str, number: i64) -> String {
    format!("SELECT {number} FROM {table}")
}

/// The model drafts these statements in turn, and each gives its number.
fn drafts(host: &mut ShopHost, drafts: &[(&str, i64)]) {
    for (table, number) in drafts {
        let sql = on(table, *number);
        says(host, &Purpose::Generate, &sql, Some(0.8));
        host.fake.database.answer(&sql, number_rows(*number));
    }
}

fn number_rows(number: i64) -> FakeRows {
    FakeRows::new(&["n"], vec![vec![Value::Integer(number)]])
}

fn ids(outcome: &Outcome) -> Vec<&str> {
    outcome.candidates.iter().map(|candidate| candidate.id.as_str()).collect()
}

fn rounds(host: &ShopHost) -> Vec<usize> {
    host.rounds.borrow().clone()
}

fn events(host: &ShopHost, name: &str) -> Vec<JsonValue> {
    host.fake
        .trace
        .lines()
        .into_iter()
        .filter_map(|line: Traced| match line {
            Traced::Event(_, known, data) if known == name => Some(data),
            _ => None,
        })
        .collect()
}

#[test]
fn the_first_tables_are_drafted_at_once_each_with_its_own_prompt() {
    let mut host = ShopHost::default();
    all_found(&mut host);
    drafts(&mut host, &[("a", 7), ("b", 7), ("c", 7)]);
    let outcome = solve(&host, Settings::default());

    assert_eq!(host.fake.retrieval.queries()[0].text, "Which things?");
    assert_eq!((rounds(&host), host.judged.borrow().clone()), (vec![3], vec![3]));
    let requests = host.fake.model.requests();
    assert!(
        requests
            .iter()
            .all(|request| request.purpose == Purpose::Generate && request.expect == Shape::Sql)
    );
    assert_eq!(requests.iter().map(|request| request.sample).collect::<Vec<_>>(), [0, 1, 2]);
    for (index, parts) in [
        ["Build the statement on the table a:", "- b.a_id = a.id\n"],
        ["Build the statement on the table b:", "- b.a_id = a.id\n"],
        ["Build the statement on the table c:", "- d also has code\n"],
    ]
    .iter()
    .enumerate()
    {
        let prompt = host.fake.model.prompt(index);
        for part in parts.iter().chain(&[
            "Question: Which things?",
            "Table d",
            "You answer questions with one SQL ",
        ]) {
            assert!(prompt.contains(part), "{part} is missing in {prompt}");
        }
    }
    // What only shares an id or a name is no way to join.
    assert!(!host.fake.model.prompt(0).contains("also has"));
    // One candidate for the one result.
    assert_eq!(ids(&outcome), ["A.1"]);
    for id in ["A.2", "A.3"] {
        assert_eq!(host.fake.trace.discarded(id).unwrap(), "the same result as A.1");
    }
    assert_eq!(host.fake.database.log(), [on("a", 7), on("b", 7), on("c", 7)]);
}

// syrch 0.1.2, bug 9: two tables with a viable statement each were ambiguous even when the results
// were equal, and 0.9 became 0.41.
#[test]
fn equal_results_are_agreement_and_no_doubt() {
    let mut host = ShopHost::default();
    all_found(&mut host);
    drafts(&mut host, &[("a", 7), ("b", 7), ("c", 9)]);
    let outcome = solve(&host, Settings::default());
    assert_eq!(ids(&outcome), ["A.1", "A.3"]);
    assert_eq!(outcome.ask, None);
    let signals = &outcome.candidates[0].signals;
    assert_eq!(
        (signals.samples, signals.agreeing, outcome.candidates[0].raw_confidence),
        (3, 2, Some(0.8))
    );
    assert!(
        host.fake
            .trace
            .kept("A.1")
            .unwrap()
            .contains("built on a (score 0.90); 2 statements agree")
    );
    assert_eq!(host.fake.trace.discarded("A.2").unwrap(), "the same result as A.1");
    assert!(host.fake.trace.discarded("A.3").unwrap().contains("but fewer statements agree"));
}

#[test]
fn different_results_that_fit_equally_well_are_a_tie_and_asked_about() {
    let mut host = ShopHost::default();
    finds(&mut host, &[("a", 0.9), ("b", 0.8)]);
    drafts(&mut host, &[("a", 7), ("b", 9)]);
    let outcome = solve(&host, Settings::default());
    assert_eq!(ids(&outcome), ["A.1", "A.2"]);
    let question = outcome.ask.unwrap();
    assert!(question.text.contains("\"Which things?\" can be read in 2 ways"));
    assert_eq!(
        question.choices,
        ["built on a (score 0.90): 1 row of n", "built on b (score 0.80): 1 row of n"]
    );
    assert_eq!(question.ambiguity, 0.5);
    // Half of the ambiguity is taken off.
    assert_eq!(outcome.candidates[0].raw_confidence, Some(0.8 * 0.75));
    assert!(
        outcome.candidates[0]
            .rationale
            .as_ref()
            .unwrap()
            .ends_with("another result fits equally well")
    );
    assert!(
        host.fake
            .trace
            .discarded("A.2")
            .unwrap()
            .contains("fits as well as that of A.1; its table was found later")
    );
}

#[test]
fn what_fits_the_question_better_wins_over_what_was_found_earlier() {
    let mut host = ShopHost::default();
    finds(&mut host, &[("a", 0.9), ("d", 0.8)]);
    drafts(&mut host, &[("a", 7), ("d", 9)]);
    let outcome = solve_with(&host, Settings::default(), "Which things of 2024?", &[]).unwrap();
    assert_eq!((ids(&outcome), outcome.ask.clone()), (vec!["A.2", "A.1"], None));
    assert_eq!(outcome.candidates[1].score, Some(0.8));
    assert!(
        host.fake
            .trace
            .discarded("A.1")
            .unwrap()
            .contains("fits worse than that of A.2: structure 1.00")
    );
    // The task says what is looked for, and the question around it.
    assert_eq!(host.fake.retrieval.queries()[0].text, "Which things of 2024?\nWhich things?");
}

// syrch 0.1.2, bug 13: feedback was overwritten. Bug 17: a statement that does not parse ended the
// task.
#[test]
fn a_path_is_repaired_with_all_of_its_own_feedback_and_no_other() {
    let mut host = ShopHost::default();
    finds(&mut host, &[("a", 0.9), ("b", 0.8)]);
    drafts(&mut host, &[("a", 7)]);
    says(&mut host, &Purpose::Generate, "SELECT ' FROM b", None);
    says(&mut host, &Purpose::Repair, "SELECT x FROM b", None);
    says(&mut host, &Purpose::Repair, &on("b", 7), Some(0.9));
    host.fake
        .database
        .fail_check("SELECT ' FROM b", sql_error(SqlErrorKind::Syntax, "unterminated string"));
    host.fake
        .database
        .fail_check("SELECT x FROM b", sql_error(SqlErrorKind::UnknownColumn, "no column `x`"));
    host.fake.database.answer(&on("b", 7), number_rows(7));
    let outcome = solve(&host, Settings::default());

    assert_eq!(rounds(&host), [2, 1, 1]);
    let last = host.fake.model.prompt(3);
    for part in [
        "on the table b:",
        "SELECT ' FROM b\n",
        "unterminated string",
        "SELECT x FROM b\n",
        "no column `x`",
    ] {
        assert!(last.contains(part), "{part} is missing in {last}");
    }
    assert!(!last.contains(&on("a", 7)));
    let request = &host.fake.model.requests()[3];
    assert_eq!((request.purpose.clone(), request.sample), (Purpose::Repair, 1));
    assert_eq!(request.subjects, ["SELECT ' FROM b", "SELECT x FROM b"]);
    // Both results are equal; the one that came about smoothly stands for them.
    assert_eq!(ids(&outcome), ["A.1"]);
    let proposed = host.fake.trace.lines().into_iter().filter_map(|line| match line {
        Traced::Proposed(candidate) => Some(candidate),
        _ => None,
    });
    let repaired = &proposed.into_iter().find(|candidate| candidate.id == "A.4").unwrap();
    assert_eq!(
        (repaired.origin.as_str(), &repaired.parents[..]),
        ("repair", &["A.3".to_owned()][..])
    );
    assert_eq!(
        (repaired.signals.attempts, repaired.signals.syntax_errors, repaired.signals.schema_errors),
        (3, 1, 1)
    );
}

#[test]
fn a_statement_on_another_table_is_out_of_scope_and_does_not_run() {
    let mut host = ShopHost::default();
    finds(&mut host, &[("b", 0.9)]);
    says(&mut host, &Purpose::Generate, &on("a", 7), Some(0.9));
    says(&mut host, &Purpose::Repair, "SELECT 7 FROM a JOIN b", Some(0.9));
    host.fake
        .database
        .answer(&on("a", 7), number_rows(7))
        .answer("SELECT 7 FROM a JOIN b", number_rows(7));
    let outcome = solve(&host, Settings::default());
    assert_eq!(ids(&outcome), ["A.2"]);
    assert_eq!(outcome.candidates[0].signals.schema_errors, 1);
    assert_eq!(host.fake.trace.discarded("A.1").unwrap(), "it is not built on the table b");
    assert!(host.fake.model.prompt(1).contains("What was wrong: it is not built on the table b"));
    assert_eq!(host.fake.database.log(), ["SELECT 7 FROM a JOIN b"]);
}

#[test]
fn what_was_out_of_scope_stands_when_nothing_else_came() {
    let mut host = ShopHost::default();
    finds(&mut host, &[("b", 0.9), ("c", 0.8)]);
    for table in ["a", "a"] {
        says(&mut host, &Purpose::Generate, &on(table, 7), Some(0.9));
    }
    host.fake.database.answer(&on("a", 7), number_rows(7));
    host.fake.policy.max_attempts = 1;
    let outcome = solve(&host, Settings::default());
    // Both paths have the same text, which runs once.
    assert_eq!((ids(&outcome), host.fake.database.log()), (vec!["A.1"], vec![on("a", 7)]));
    assert_eq!(events(&host, "last-resort"), [json!({ "candidates": ["A.1"] })]);
    assert!(
        host.fake
            .trace
            .kept("A.1")
            .unwrap()
            .starts_with("not built on b; no other statement agrees")
    );
    assert_eq!(outcome.candidates[0].signals.schema_errors, 1);
}

#[test]
fn a_statement_over_finished_tasks_alone_is_in_scope() {
    let mut host = ShopHost::default();
    finds(&mut host, &[("b", 0.9)]);
    drafts(&mut host, &[("task_b", 7)]);
    assert_eq!(ids(&solve(&host, Settings::default())), ["A.1"]);
}

#[test]
fn without_a_hit_names_decide() {
    let mut host = ShopHost::default();
    drafts(&mut host, &[("c", 7), ("a", 7), ("b", 7)]);
    let outcome = solve_with(&host, Settings::default(), "the c", &[]).unwrap();
    assert_eq!((ids(&outcome), outcome.candidates[0].signals.samples), (vec!["A.1"], 3));
    let tables = &events(&host, "tables")[0];
    assert_eq!(
        (&tables["by"], &tables["tables"][0]),
        (&json!("names"), &json!({ "table": "c", "score": 1.0 }))
    );
    assert_eq!(tables["tables"].as_array().unwrap().len(), 6);
}

#[test]
fn the_catalog_decides_which_hits_are_tables() {
    let mut host = ShopHost::default();
    finds(&mut host, &[("elsewhere", 1.0), ("B", 0.9), ("b", 0.8)]);
    drafts(&mut host, &[("b", 7)]);
    solve(&host, Settings::default());
    assert_eq!(events(&host, "tables")[0]["tables"], json!([{ "table": "b", "score": 0.9 }]));
}

#[test]
fn what_the_reward_rejects_is_repaired() {
    let mut host = ShopHost::default();
    finds(&mut host, &[("a", 0.9)]);
    drafts(&mut host, &[("a", 7)]);
    says(&mut host, &Purpose::Repair, &on("a", 9), Some(0.9));
    host.fake.database.answer(&on("a", 9), number_rows(9));
    host.fake
        .evaluate
        .judge(&on("a", 7), rejected(0.1, "wrong year"))
        .judge(&on("a", 9), accepted(0.6, "fine"));
    let outcome = solve(&host, Settings::default());
    assert_eq!(ids(&outcome), ["A.2"]);
    assert_eq!(outcome.candidates[0].signals.reward, Some(0.6));
    // The reward is how well it ran.
    assert!((outcome.candidates[0].score.unwrap() - 0.92).abs() < 1e-9);
    assert!(host.fake.model.prompt(1).contains("rejected: wrong year"));
}
