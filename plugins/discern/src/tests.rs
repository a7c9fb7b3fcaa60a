//! The solver against scripted models and databases, and its evidence on single statements.

use syrch_plugin::draws::Ran;
use syrch_plugin::fakes::{
    FakeHost, FakeRows, Traced, facts, problem_with_example, reply, sql_error,
};
use syrch_plugin::prelude::*;

use crate::solver::evidence::{Evidence, Looker};
use crate::{Discern, Settings};

fn table(name: &str, columns: &[&str], keys: &[(&str, &str, &str)]) -> Table {
    Table {
        name: name.into(),
        columns: columns
            .iter()
            .map(|name| Column { name: (*name).into(), ..Column::default() })
            .collect(),
        foreign_keys: keys
            .iter()
            .map(|(column, table, to): &(&str, &str, &str)| ForeignKey {
                columns: vec![(*column).into()],
                ref_table: (*table).into(),
                ref_columns: vec![(*to).into()],
            })
            .collect(),
        ..Table::default()
    }
}

fn shop() -> Catalog {
    let tables = vec![
        table("customers", &["id", "name", "country"], &[]),
        table("orders", &["id", "customer_id", "total"], &[("customer_id", "customers", "id")]),
    ];
    Catalog { database: "shop".into(), dialect: Dialect::Sqlite, tables, ..Catalog::default() }
}

fn numbers(columns: &[&str], rows: &[i64]) -> FakeRows {
    FakeRows::new(
        columns,
        rows.iter().map(|n| columns.iter().map(|_| Value::Integer(*n)).collect()).collect(),
    )
}

fn ran(facts: Facts, rows: &FakeRows) -> Ran {
    let results = rows.handle();
    Ran {
        facts,
        profile: results.profile(),
        results,
        doubts: Vec::new(),
        faults: Vec::new(),
        fingerprint: String::new(),
    }
}

fn literal_of(table: &str, column: &str, text: &str) -> Literal {
    Literal { table: Some(table.into()), column: Some(column.into()), text: text.into() }
}

fn evidence_of(host: &FakeHost, question: &str, ran: &Ran) -> Evidence {
    Looker::new(host, &shop(), question, true).evidence_of(ran)
}

const GERMANS: &str = "SELECT 1 FROM customers WHERE country = 'Germany' LIMIT 1";

#[test]
fn a_value_that_its_column_does_not_hold_is_seen_without_a_cell() {
    fn absent(probe: &[i64], literal: Literal, functions: &[&str]) -> (bool, usize) {
        let mut host = FakeHost::default();
        host.database.granted_rows = None;
        host.database.answer(GERMANS, numbers(&["1"], probe));
        host.database.answer(
            "SELECT 1 FROM customers WHERE lower(country) = lower('Germany') LIMIT 1",
            numbers(&["1"], &[1]),
        );
        let mut facts = facts("SELECT", &["customers"]);
        facts.functions = functions.iter().map(|name| (*name).to_owned()).collect();
        facts.literals = vec![literal];
        let evidence = evidence_of(&host, "", &ran(facts, &numbers(&["n", "m"], &[1])));
        (evidence.absent_value, host.database.log().len())
    }
    assert_eq!(absent(&[], literal_of("customers", "country", "Germany"), &[]), (true, 1));
    assert_eq!(absent(&[1], literal_of("customers", "country", "Germany"), &[]), (false, 1));
    assert_eq!(absent(&[], literal_of("customers", "country", "Germany"), &["LOWER"]), (false, 1));
    // Unknown: an unscripted probe fails. Not probed: numbers, patterns, and what is compared with
    // no column.
    assert_eq!(absent(&[], literal_of("customers", "name", "Anna"), &[]), (false, 1));
    assert_eq!(absent(&[], literal_of("orders", "total", "3000"), &[]), (false, 0));
    assert_eq!(absent(&[], literal_of("customers", "country", "Ger%"), &[]), (false, 0));
    let alone = Literal { table: None, column: None, text: "Germany".into() };
    assert_eq!(absent(&[], alone, &[]), (false, 0));
}

#[test]
fn a_probe_runs_once_and_never_while_runs_are_scarce() {
    let mut facts = facts("SELECT", &["customers"]);
    facts.literals = vec![
        literal_of("customers", "country", "Germany"),
        literal_of("customers", "country", "Germany"),
    ];
    let ran = ran(facts, &numbers(&["n", "m"], &[1]));
    let mut host = FakeHost::default();
    host.database.answer(GERMANS, numbers(&["1"], &[]));
    let catalog = shop();
    let mut looker = Looker::new(&host, &catalog, "", true);
    assert!(looker.evidence_of(&ran).absent_value && looker.evidence_of(&ran).absent_value);
    assert_eq!(host.database.log(), [GERMANS]);

    host.budget.sql_runs = 32;
    assert!(!evidence_of(&host, "", &ran).absent_value);
    host.budget.sql_runs = 500;
    assert!(!Looker::new(&host, &catalog, "", false).evidence_of(&ran).absent_value);
    assert_eq!(host.database.log().len(), 1);
}

#[test]
fn probes_leave_the_spare_runs() {
    let literals =
        ["Germany", "France", "Chile", "Peru"].map(|text| literal_of("customers", "country", text));
    let run = |left: u32| {
        let mut facts = facts("SELECT", &["customers"]);
        facts.literals = literals.to_vec();
        let mut host = FakeHost::default();
        host.budget.sql_runs = left;
        evidence_of(&host, "", &ran(facts, &numbers(&["n", "m"], &[1])));
        host.database.log()
    };
    assert_eq!(run(34), [GERMANS, &GERMANS.replace("Germany", "France")]);
    assert_eq!([run(20).len(), run(32).len(), run(33).len(), run(500).len()], [0, 0, 1, 4]);
}

#[test]
fn words_that_name_something_and_are_not_used_are_counted() {
    let unused = |question: &str, columns: &[&str], literal: &str| {
        let mut facts = facts("SELECT", &["orders"]);
        facts.columns = columns.iter().map(|name| (*name).to_owned()).collect();
        facts.literals = vec![Literal { table: None, column: None, text: literal.into() }];
        evidence_of(&FakeHost::default(), question, &ran(facts, &numbers(&["n", "m"], &[1])))
            .unused_words
    };
    assert_eq!(unused("What is the total of all orders?", &["orders.total"], ""), 0);
    assert_eq!(unused("What are the totals by country and name?", &["orders.total"], ""), 2);
    assert_eq!(
        unused("What are the totals by country and name?", &["orders.total"], "the name"),
        1
    );
    assert_eq!(unused("Which customer, id, total, country, name?", &[], ""), 3);
    // Words that name nothing here do not count.
    assert_eq!(unused("How much revenue?", &[], ""), 0);
}

#[test]
fn doubts_repeated_rows_and_results_of_0_are_seen() {
    let sql = "SELECT o.id FROM customers AS c JOIN orders AS o ON c.id = o.id";
    let mut host = FakeHost::default();
    host.database
        .answer(&format!("SELECT DISTINCT * FROM ({sql}) AS t"), numbers(&["id"], &[1, 2]));
    let facts = facts(sql, &["customers", "orders"]);
    let repeated = evidence_of(&host, "", &ran(facts.clone(), &numbers(&["id"], &[1, 2, 2])));
    assert_eq!(repeated, Evidence { repeated_rows: true, ..Evidence::default() });
    assert_eq!(
        evidence_of(&host, "", &ran(facts.clone(), &numbers(&["id"], &[1, 2]))),
        Evidence::default()
    );

    let doubted = Ran {
        faults: vec!["the keys differ".into()],
        ..ran(facts.clone(), &numbers(&["id"], &[1, 2]))
    };
    let doubted = evidence_of(&host, "", &doubted);
    assert_eq!(doubted, Evidence { doubted: true, ..Evidence::default() });
    assert_eq!(doubted.describe_findings(), "a doubt");
    assert_eq!(
        Evidence { zero: true, ..repeated }.describe_findings(),
        "repeated rows, a result of 0"
    );
}

#[test]
fn a_result_of_0_is_seen_without_a_cell() {
    fn is_zero(rows: &FakeRows) -> (bool, usize) {
        let mut host = FakeHost::default();
        host.database.granted_rows = None;
        host.database.answer("SELECT 0 AS n", numbers(&["n"], &[0]));
        host.database.answer("SELECT NULL AS n", FakeRows::new(&["n"], vec![vec![Value::Null]]));
        let results = rows.handle();
        let fingerprint = results.fingerprint(&Equality::Bag).unwrap();
        let ran = Ran { fingerprint, ..ran(facts("SELECT", &["customers"]), rows) };
        (evidence_of(&host, "", &ran).zero, host.database.log().len())
    }
    assert_eq!(is_zero(&numbers(&["total"], &[0])), (true, 2));
    assert_eq!(is_zero(&FakeRows::new(&["total"], vec![vec![Value::Null]])), (true, 2));
    assert_eq!(is_zero(&numbers(&["total"], &[7])), (false, 2));
    // Nothing is asked about a result of another shape.
    assert_eq!(is_zero(&numbers(&["a", "b"], &[0])), (false, 0));
}

#[test]
fn each_finding_leaves_a_share_of_the_vote() {
    let keep =
        |keep: f64, evidence: Evidence| evidence.weight(&Settings { keep, ..Settings::default() });
    let none = Evidence::default;
    assert_eq!(keep(0.5, none()), 1.0);
    for one in [
        Evidence { doubted: true, ..none() },
        Evidence { absent_value: true, ..none() },
        Evidence { unused_words: 1, ..none() },
        Evidence { repeated_rows: true, ..none() },
        Evidence { zero: true, ..none() },
    ] {
        assert_eq!((keep(0.5, one.clone()), keep(0.2, one)), (0.5, 0.2));
    }
    assert_eq!(keep(0.5, Evidence { unused_words: 2, doubted: true, ..none() }), 0.125);
    assert_eq!(keep(0.0, Evidence { zero: true, ..none() }), 0.0);
}

/// A model that gives these replies in turn. `SELECT n` gives one column with n, `TWICE n` two
/// equal rows; `EMPTY` gives none, and `BAD` does not parse.
fn host(replies: &[&str]) -> FakeHost {
    let mut host = FakeHost::default();
    for sql in replies {
        script(&mut host, &Purpose::Generate, sql);
    }
    host
}

fn script(host: &mut FakeHost, purpose: &Purpose, sql: &str) {
    let answer = Ok(reply(sql, Some(&serde_json::json!({ "sql": sql, "confidence": null }))));
    host.model.script(purpose, answer);
    let words: Vec<&str> = sql.split_whitespace().collect();
    let n = words.get(1).and_then(|n| n.parse().ok()).unwrap_or(0);
    let rows = match words[0] {
        "SELECT" => numbers(&["n"], &[n]),
        "TWICE" => numbers(&["n"], &[n, n]),
        "EMPTY" => numbers(&["n"], &[]),
        _ => {
            host.database.fail_check(sql, sql_error(SqlErrorKind::Syntax, "cannot parse"));
            return;
        }
    };
    host.database.answer(sql, rows);
    host.database.answer(&format!("SELECT DISTINCT * FROM ({sql}) AS t"), numbers(&["n"], &[n]));
}

fn solve_with(host: &FakeHost, settings: Settings) -> Result<Outcome, Failure> {
    let task = Task::new("A", "How much?");
    Discern::new(settings).solve(host, &Problem::new("How much?"), &shop(), &task, &[])
}

/// The best candidate's statement, and how many calls were made.
fn best(replies: &[&str], settings: Settings) -> (String, usize) {
    let host = host(replies);
    let candidates = solve_with(&host, settings).unwrap().candidates;
    (candidates[0].sql.clone(), host.model.requests().len())
}

#[test]
fn a_result_with_faults_does_not_lead_before_it_is_repaired() {
    fn solve_doubtful(repairs: &[&str]) -> (String, usize) {
        let mut host = host(&["SELECT 0"; 12]);
        repairs.iter().for_each(|sql| script(&mut host, &Purpose::Repair, sql));
        host.database.answer("SELECT 0", numbers(&["n"], &[0]).with_warning("no value `SPAIN`"));
        let candidates = solve_with(&host, Settings::default()).unwrap().candidates;
        let prompts = host.model.requests().len();
        assert!(host.model.prompt(3).contains("no value `SPAIN`"), "{}", host.model.prompt(3));
        (candidates[0].sql.clone(), prompts)
    }
    // Fresh draws have the fault again, at half a vote each.
    assert_eq!(solve_doubtful(&["SELECT 7"; 9]), ("SELECT 7".into(), 9));
    // A fault that a chain of repairs does not change leads after all.
    let (sql, calls) = solve_doubtful(&["SELECT 0"; 9]);
    assert_eq!(sql, "SELECT 0");
    assert!((4..12).contains(&calls), "{calls}");
}

#[test]
fn sampling_stops_when_one_result_leads() {
    let settings = Settings::default;
    assert_eq!(best(&["SELECT 1"; 12], settings()), ("SELECT 1".into(), 3));
    assert_eq!(
        best(&["SELECT 1", "SELECT 2", "SELECT 1", "SELECT 1", "SELECT 1", "SELECT 1"], settings())
            .1,
        5
    );
    // Never a lead: all samples, and the earliest of equals.
    let torn = ["SELECT 1", "SELECT 2", "SELECT 2", "SELECT 1"].repeat(3);
    assert_eq!(best(&torn, settings()), ("SELECT 1".into(), 12));
    assert_eq!(best(&torn, Settings { samples: 6, ..settings() }).1, 6);
    assert_eq!(best(&torn, Settings { lead: 1.0, ..settings() }).1, 1);
}

#[test]
fn never_more_are_drawn_than_one_after_the_other_would_be() {
    let host =
        host(&["SELECT 1", "TWICE 1", "TWICE 1", "SELECT 1", "SELECT 1", "SELECT 1", "SELECT 1"]);
    solve_with(&host, Settings::default()).unwrap();
    // Two votes for repeated rows weigh one: the third of the others leads by 2, the fourth by 3.
    assert_eq!(host.model.requests().len(), 6);
}

#[test]
fn fewer_votes_win_when_the_others_weigh_less() {
    let twice = ["TWICE 1", "TWICE 1", "SELECT 1", "BAD", "TWICE 1"];
    let settings = Settings { samples: 5, repair: false, ..Settings::default() };
    let keep = |keep: f64| best(&twice, Settings { keep, ..settings.clone() });
    assert_eq!(keep(1.0), ("TWICE 1".into(), 5));
    assert_eq!(keep(0.3), ("SELECT 1".into(), 5));
    assert_eq!(best(&twice, Settings { keep: 0.3, probes: false, ..settings }).0, "TWICE 1");
}

#[test]
fn people_see_the_evidence_and_what_it_weighed() {
    let host = host(&["SELECT 1", "TWICE 2", "SELECT 1", "SELECT 1"]);
    let candidates = solve_with(&host, Settings::default()).unwrap().candidates;
    assert_eq!((candidates[0].signals.samples, candidates[0].signals.agreeing), (4, 3));
    assert_eq!(host.trace.kept("A.1").unwrap(), "3 of 4 results weighing 3.00");
    assert_eq!(
        host.trace.discarded("A.2").unwrap(),
        "1 of 4 results weighing 0.50, against it: repeated rows, where A.1 has 3 of 4 results \
         weighing 3.00"
    );
    assert_eq!(host.trace.discarded("A.3").unwrap(), "the same result as A.1");
    let seen: Vec<(String, f64)> = host
        .trace
        .lines()
        .into_iter()
        .filter_map(|line| match line {
            Traced::Event(id, name, data) if name == "evidence" => {
                Some((id?, data["weight"].as_f64()?))
            }
            _ => None,
        })
        .collect();
    assert_eq!(
        seen.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(),
        ["A.1", "A.2", "A.3", "A.4"]
    );
    assert_eq!(seen[1].1 / seen[0].1, 0.5);
}

#[test]
fn the_confidence_grows_with_the_share_of_the_votes() {
    fn raw(replies: &[&str], settings: Settings) -> f64 {
        let outcome = solve_with(&host(replies), settings).unwrap();
        (outcome.candidates[0].raw_confidence.unwrap() * 1e3).round() / 1e3
    }
    // σ(−2.6 + 7.7 × 3/4), σ(−2.6 + 7.7 × 1/2)
    assert_eq!(raw(&["SELECT 1"; 3], Settings::default()), 0.96);
    assert_eq!(raw(&["SELECT 1"], Settings { samples: 1, ..Settings::default() }), 0.777);
    let flat = Settings { confidence_base: 0.0, confidence_share: 0.0, ..Settings::default() };
    assert_eq!(raw(&["SELECT 1"; 3], flat), 0.5);
}

#[test]
fn a_failed_statement_is_repaired_or_sampled_afresh() {
    let mut host = host(&["BAD", "BAD", "BAD"]);
    for _ in 0..3 {
        script(&mut host, &Purpose::Repair, "SELECT 1");
    }
    assert_eq!(solve_with(&host, Settings::default()).unwrap().candidates[0].sql, "SELECT 1");
    assert_eq!(host.model.requests().len(), 6);
    assert_eq!(host.model.requests()[3].subjects, ["BAD", "BAD", "BAD"]);
    assert_eq!(
        (host.model.requests()[0].temperature, host.model.requests()[3].temperature),
        (Some(0.7), None)
    );

    let host = self::host(&["BAD", "SELECT 1", "SELECT 1", "SELECT 1"]);
    solve_with(&host, Settings { repair: false, temperature: 0.0, ..Settings::default() }).unwrap();
    assert!(host.model.requests().iter().all(|request| request.purpose == Purpose::Generate));
    assert_eq!((host.model.requests().len(), host.model.requests()[0].temperature), (4, None));
}

#[test]
fn the_users_attempts_bound_a_chain_of_repairs_and_not_the_samples() {
    fn repair(attempts: u32) -> Vec<usize> {
        let mut host = host(&["BAD"; 9]);
        for _ in 0..9 {
            script(&mut host, &Purpose::Repair, "WORSE");
        }
        host.policy.max_attempts = attempts;
        solve_with(&host, Settings { samples: 9, ..Settings::default() }).unwrap();
        host.model.requests().iter().map(|request| request.subjects.len()).collect::<Vec<_>>()
    }
    assert_eq!(repair(1), [0; 9]);
    assert_eq!(repair(2), [0, 0, 0, 3, 3, 3, 0, 0, 0]);
    assert_eq!(repair(3), [0, 0, 0, 3, 3, 3, 6, 6, 6]);
}

#[test]
fn results_without_rows_are_the_last_resort() {
    let host = host(&["EMPTY", "EMPTY", "EMPTY"]);
    let settings = Settings { samples: 3, repair: false, ..Settings::default() };
    let candidates = solve_with(&host, settings).unwrap().candidates;
    assert_eq!((candidates.len(), candidates[0].signals.empty_result), (1, true));
}

#[test]
fn a_rejected_result_loses_its_votes() {
    let mut host = host(&["SELECT 1", "SELECT 1", "SELECT 1", "SELECT 2", "SELECT 2", "SELECT 2"]);
    host.evaluate.judge("SELECT 1", rejected(0.0, "there is more than one"));
    let settings = Settings { repair: false, ..Settings::default() };
    let candidates = solve_with(&host, settings).unwrap().candidates;
    assert_eq!((candidates.len(), candidates[0].sql.as_str()), (1, "SELECT 2"));
    assert_eq!(host.model.requests().len(), 6);
}

#[test]
fn without_rows_budget_or_model_it_keeps_what_there_is() {
    let mut host = host(&["SELECT 1", "SELECT 1"]);
    host.database.granted_rows = None;
    host.model.script(&Purpose::Generate, Err(LlmError::Budget));
    assert_eq!(solve_with(&host, Settings::default()).unwrap().candidates.len(), 1);

    let mut host = FakeHost::default();
    host.model.script(&Purpose::Generate, Err(LlmError::Refused("no".into())));
    let outcome = solve_with(&host, Settings { samples: 1, ..Settings::default() }).unwrap();
    assert!(outcome.candidates.is_empty() && outcome.memo.unwrap().contains("gave no answer"));

    let mut host = FakeHost::default();
    host.model.script(&Purpose::Generate, Err(LlmError::Budget));
    assert_eq!(solve_with(&host, Settings::default()).unwrap_err().kind, FailureKind::Budget);
}

#[test]
fn the_prompt_and_the_look_follow_their_settings() {
    let host = host(&["SELECT 1"; 3]);
    let candidates =
        solve_with(&host, Settings { overflow_rows: 1, ..Settings::default() }).unwrap().candidates;
    assert!(!candidates[0].signals.overflow);
    assert!(
        host.model.prompt(0).contains("Table orders") && host.model.prompt(0).contains("How much?")
    );

    // A prompt that cannot be shortened is not sent again.
    for (problem, calls) in [(Problem::new("Much?"), 3), (problem_with_example("Much?"), 4)] {
        let mut host = FakeHost::default();
        host.model.script(&Purpose::Generate, Err(LlmError::TooLarge));
        (0..3).for_each(|_| script(&mut host, &Purpose::Generate, "SELECT 1"));
        let solver = Discern::new(Settings { repair: false, ..Settings::default() });
        solver.solve(&host, &problem, &shop(), &Task::new("A", "Much?"), &[]).unwrap();
        assert_eq!(host.model.requests().len(), calls);
    }

    let rows = numbers(&["id"], &[7, 8]);
    let relation =
        Relation { name: "t_A".into(), candidate: Candidate::default(), results: rows.handle() };
    let output = Output::Relation(Box::new(relation));
    let parent = Parent { task: Task::new("A", "the customers"), output, memo: None };
    let host = self::host(&["TWICE 1"; 3]);
    let settings = Settings { parent_rows: 1, overflow_rows: 1, ..Settings::default() };
    let task = Task::new("B", "their orders");
    let outcome = Discern::new(settings)
        .solve(&host, &Problem::new("How much?"), &shop(), &task, &[parent])
        .unwrap();
    assert!(outcome.candidates[0].signals.overflow);
    assert!(host.model.prompt(0).contains("id\n7\n") && !host.model.prompt(0).contains("\n8\n"));
}
