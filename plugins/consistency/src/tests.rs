//! The solver against scripted models and databases.

use syrch_plugin::fakes::{FakeHost, FakeRows, problem_with_example, reply, sql_error};
use syrch_plugin::prelude::*;

use crate::{Consistency, Settings};

const SINGLE: &str = r#"{"samples":1}"#;
const RETRY: &str = r#"{"samples":3,"agree":1,"repair":true}"#;
const VOTE: &str = r#"{"samples":5}"#;
const GATE2: &str = r#"{"samples":5,"agree":2}"#;
const GATE3: &str = r#"{"samples":9,"agree":3}"#;

/// A model that gives these replies in turn, to whatever is asked; `SELECT n` gives n (a trailing
/// remark makes another statement of the same result), `EMPTY` gives no rows and `BAD` does not
/// parse.
fn host(replies: &[&str]) -> FakeHost {
    let mut host = FakeHost::default();
    for sql in replies {
        let answer =
            || Ok(reply(sql, Some(&serde_json::json!({ "sql": sql, "confidence": null }))));
        host.model.script(&Purpose::Generate, answer());
        script_statement(&mut host, sql);
    }
    host
}

fn script_statement(host: &mut FakeHost, sql: &str) {
    fn rows(n: i64) -> FakeRows {
        FakeRows::new(&["n"], vec![vec![Value::Integer(n)]])
    }
    match sql.split_whitespace().collect::<Vec<_>>().as_slice() {
        ["SELECT", n, ..] => host.database.answer(sql, rows(n.parse().unwrap())),
        ["EMPTY", ..] => host.database.answer(sql, FakeRows::new(&["n"], Vec::new())),
        _ => host.database.fail_check(sql, sql_error(SqlErrorKind::Syntax, "cannot parse")),
    };
}

fn repairs(host: &mut FakeHost, replies: &[&str]) {
    for sql in replies {
        let answer = Ok(reply(sql, Some(&serde_json::json!({ "sql": sql, "confidence": null }))));
        host.model.script(&Purpose::Repair, answer);
        script_statement(host, sql);
    }
}

fn solve(host: &FakeHost, gate: &str) -> Result<Outcome, Failure> {
    solve_problem(host, gate, &Problem::new("How much?"))
}

fn solve_problem(host: &FakeHost, gate: &str, problem: &Problem) -> Result<Outcome, Failure> {
    let column = Column { name: "total".into(), ..Column::default() };
    let orders = Table { name: "orders".into(), columns: vec![column], ..Table::default() };
    let catalog = Catalog {
        database: "shop".into(),
        dialect: Dialect::Sqlite,
        tables: vec![orders],
        ..Catalog::default()
    };
    let task = Task::new("A", "How much?");
    Consistency::new(Settings::read(gate).unwrap()).solve(host, problem, &catalog, &task, &[])
}

/// The statements of the candidates, best first, and how many calls were made.
fn answers(replies: &[&str], gate: &str) -> (Vec<String>, usize) {
    let host = host(replies);
    let candidates = solve(&host, gate).unwrap().candidates;
    (candidates.into_iter().map(|candidate| candidate.sql).collect(), host.model.requests().len())
}

fn round(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}

#[test]
fn one_sample_is_one_call_and_keeps_its_claim() {
    let mut host = FakeHost::default();
    host.model.reply_sql("SELECT 1", Some(0.9));
    host.database.answer("SELECT 1", FakeRows::new(&["n"], vec![vec![Value::Integer(1)]]));
    let candidates = solve(&host, SINGLE).unwrap().candidates;
    assert_eq!(candidates[0].raw_confidence, Some(0.9));
    assert_eq!((candidates[0].signals.samples, candidates[0].signals.agreeing), (1, 1));
    assert_eq!(host.model.requests().len(), 1);
    assert_eq!(host.model.requests()[0].temperature, Some(0.7));
    for part in ["How much?", "Table orders", "total", "SQL SELECT"] {
        assert!(host.model.prompt(0).contains(part), "{part} is missing");
    }
}

#[test]
fn a_vote_of_five_makes_five_calls_and_takes_the_largest_group() {
    let replies = ["SELECT 1", "SELECT 2", "SELECT 2 --", "BAD", "SELECT 1 --", "SELECT 9"];
    // Two and two: the group with the earliest sample wins.
    assert_eq!(answers(&replies, VOTE), (vec!["SELECT 1".into(), "SELECT 2".into()], 5));

    let host = host(&["SELECT 1", "SELECT 2", "SELECT 2 --", "BAD", "SELECT 2"]);
    let candidates = solve(&host, VOTE).unwrap().candidates;
    assert_eq!(candidates[0].id, "A.2");
    assert_eq!((candidates[0].signals.samples, candidates[0].signals.agreeing), (4, 3));
    // The sample that failed agrees with nothing: (3 − 1 + 2 × 0.7) / (5 − 1 + 2), and
    // (1 − 1 + 2 × 0.7) / 6.
    assert_eq!(candidates[0].raw_confidence.map(round), Some(0.567));
    assert_eq!(candidates[1].raw_confidence.map(round), Some(0.233));
    assert_eq!(host.trace.kept("A.2").unwrap(), "3 of 5 samples");
    assert_eq!(
        host.trace.discarded("A.1").unwrap(),
        "1 of 5 samples, where A.2 has 3 of 5 samples"
    );
    assert_eq!(host.trace.discarded("A.3").unwrap(), "the same result as A.2");
    assert_eq!(host.trace.discarded("A.4").unwrap(), "cannot parse");
    assert_eq!(host.trace.discarded("A.5").unwrap(), "the same result as A.2");
    // The same text is run once.
    assert_eq!(host.database.log(), ["SELECT 1", "SELECT 2", "SELECT 2 --"]);
    let samples: Vec<u32> = host.model.requests().iter().map(|request| request.sample).collect();
    assert_eq!(samples, [0, 1, 2, 3, 4]);
    assert!(host.model.requests().iter().all(|request| request.temperature == Some(0.7)));
    assert!((1..5).all(|number| host.model.prompt(number) == host.model.prompt(0)));
}

#[test]
fn a_gate_stops_as_soon_as_enough_agree() {
    assert_eq!(answers(&["SELECT 1", "SELECT 1 --", "SELECT 1"], GATE2).1, 2);
    assert_eq!(
        answers(&["SELECT 1", "SELECT 2", "SELECT 2", "SELECT 2"], GATE2),
        (vec!["SELECT 2".into(), "SELECT 1".into()], 3)
    );
    // Never agreed: all five, and the earliest.
    assert_eq!(
        answers(&["SELECT 1", "SELECT 2", "SELECT 3", "SELECT 4", "SELECT 5", "SELECT 1"], GATE2).1,
        5
    );
    assert_eq!(
        answers(
            &["SELECT 1", "SELECT 2", "SELECT 1", "BAD", "SELECT 2", "SELECT 1", "SELECT 1"],
            GATE3
        )
        .1,
        6
    );
}

#[test]
fn results_without_rows_have_no_vote_unless_they_may() {
    let replies = ["EMPTY", "EMPTY --", "SELECT 1", "SELECT 1", "SELECT 1"];
    assert_eq!(answers(&replies, GATE2), (vec!["SELECT 1".into()], 4));
    let (sql, calls) = answers(&replies, r#"{"samples":5,"agree":2,"empty_counts":true}"#);
    assert_eq!((sql[0].as_str(), calls), ("EMPTY", 2));
}

#[test]
fn results_without_rows_are_the_last_resort() {
    let host = host(&["BAD", "EMPTY", "EMPTY --", "BAD", "EMPTY"]);
    let candidates = solve(&host, VOTE).unwrap().candidates;
    assert_eq!(candidates.len(), 1);
    assert_eq!(candidates[0].id, "A.2");
    assert!(candidates[0].signals.empty_result);

    let host = self::host(&["EMPTY", "SELECT 1"]);
    solve(&host, r#"{"samples":2}"#).unwrap();
    assert_eq!(host.trace.discarded("A.1").unwrap(), "the result has no rows");
}

#[test]
fn retrying_stops_at_the_first_result_with_rows() {
    assert_eq!(answers(&["SELECT 1", "SELECT 2"], RETRY), (vec!["SELECT 1".into()], 1));

    let mut host = host(&["BAD"]);
    repairs(&mut host, &["EMPTY", "SELECT 3"]);
    let candidates = solve(&host, RETRY).unwrap().candidates;
    assert_eq!(candidates[0].sql, "SELECT 3");
    assert_eq!(
        (candidates[0].origin.as_str(), candidates[0].parents.as_slice()),
        ("repair", &["A.2".to_owned()][..])
    );
    assert_eq!((candidates[0].signals.attempts, candidates[0].signals.syntax_errors), (3, 1));
    let requests = host.model.requests();
    assert_eq!(requests[2].purpose, Purpose::Repair);
    assert_eq!(requests[2].subjects, ["BAD", "EMPTY"]);
    assert_eq!((requests[0].temperature, requests[2].temperature), (Some(0.7), None));
    // Each is a repair of the first sample.
    assert_eq!((requests[1].sample, requests[2].sample), (0, 0));
    for part in
        ["BAD\nWhat was wrong: cannot parse", "EMPTY\nWhat was wrong: the result has no rows"]
    {
        assert!(host.model.prompt(2).contains(part), "{part} is missing");
    }
}

#[test]
fn retrying_is_one_chain_that_the_users_attempts_bound() {
    fn calls(attempts: u32) -> usize {
        let mut host = host(&["BAD"]);
        repairs(&mut host, &["BAD B", "BAD C", "SELECT 1"]);
        host.policy.max_attempts = attempts;
        let memo = solve(&host, RETRY).unwrap().memo.unwrap();
        assert!(memo.contains(&format!("after {0} of {0} attempts", attempts.min(3))), "{memo}");
        host.model.requests().len()
    }
    assert_eq!([calls(1), calls(2), calls(3), calls(9)], [1, 2, 3, 3]);
}

#[test]
fn a_chain_ends_after_the_users_attempts_and_the_next_sample_is_fresh() {
    fn purposes(attempts: u32) -> Vec<usize> {
        let mut host = host(&["BAD 1", "BAD 2", "BAD 3", "BAD 4", "BAD 5", "BAD 6"]);
        repairs(&mut host, &["BAD A", "BAD B", "BAD C", "BAD D", "BAD E"]);
        host.policy.max_attempts = attempts;
        solve(&host, r#"{"samples":6,"agree":2,"repair":true}"#).unwrap();
        host.model
            .requests()
            .iter()
            .map(|request: &Request| request.subjects.len())
            .collect::<Vec<_>>()
    }
    // Two at once, as many as have to agree: what is repaired grows from round to round.
    assert_eq!(purposes(1), [0, 0, 0, 0, 0, 0]);
    assert_eq!(purposes(2), [0, 0, 2, 2, 0, 0]);
    assert_eq!(purposes(3), [0, 0, 2, 2, 4, 4]);
}

#[test]
fn independent_samples_are_not_attempts() {
    let host = {
        let mut host = host(&["SELECT 1", "SELECT 2", "SELECT 3", "SELECT 4", "SELECT 5"]);
        host.policy.max_attempts = 1;
        host
    };
    solve(&host, VOTE).unwrap();
    assert_eq!(host.model.requests().len(), 5);
}

#[test]
fn each_result_is_judged_once_and_a_reward_that_cannot_be_asked_is_noted() {
    let mut host = host(&["SELECT 1", "SELECT 1", "SELECT 2", "SELECT 3", "SELECT 2", "SELECT 2"]);
    host.evaluate.judge("SELECT 1", rejected(0.1, "no")).judge("SELECT 2", rejected(0.2, "no"));
    solve(&host, r#"{"samples":6,"agree":2}"#).unwrap();
    let asked: Vec<String> = host.evaluate.requests().concat();
    assert_eq!(asked, ["SELECT 1", "SELECT 2", "SELECT 3"]);

    let mut host = self::host(&["SELECT 1"]);
    host.evaluate.reward_error = Some(PortError::Budget);
    assert_eq!(solve(&host, SINGLE).unwrap().candidates.len(), 1);
    assert_eq!(host.trace.notes(), ["A: no result was judged: the budget is used up"]);
}

#[test]
fn one_sample_is_asked_for_again_when_its_prompt_is_too_large() {
    let mut host = FakeHost::default();
    host.model.script(&Purpose::Generate, Err(LlmError::TooLarge));
    let answer =
        reply("SELECT 1", Some(&serde_json::json!({ "sql": "SELECT 1", "confidence": null })));
    host.model.script(&Purpose::Generate, Ok(answer));
    script_statement(&mut host, "SELECT 1");
    let problem = problem_with_example("How much?");
    let candidates = solve_problem(&host, SINGLE, &problem).unwrap().candidates;
    assert_eq!(
        (candidates.len(), candidates[0].signals.attempts, host.model.requests().len()),
        (1, 1, 2)
    );
}

#[test]
fn after_a_statement_that_did_a_repairing_gate_samples_afresh() {
    let mut host = host(&["SELECT 1", "BAD", "SELECT 2", "SELECT 2"]);
    repairs(&mut host, &["SELECT 3"]);
    let candidates = solve(&host, r#"{"samples":5,"agree":2,"repair":true}"#).unwrap().candidates;
    assert_eq!(candidates[0].sql, "SELECT 2");
    let purposes: Vec<bool> =
        host.model.requests().iter().map(|request| request.purpose == Purpose::Repair).collect();
    assert_eq!(purposes, [false, false, true, false, false]);
    assert_eq!(host.model.requests()[2].subjects, ["BAD"]);
    // The repair of the second sample is that sample again; the fresh ones count on.
    let samples: Vec<u32> = host.model.requests().iter().map(|request| request.sample).collect();
    assert_eq!(samples, [0, 1, 1, 3, 4]);
    assert_eq!(
        candidates.iter().find(|candidate| candidate.sql == "SELECT 3").unwrap().parents,
        ["A.2"]
    );
}

#[test]
fn a_repair_after_a_reply_without_a_statement_has_the_last_statement_as_its_parent() {
    let mut host = host(&["BAD"]);
    host.model.script(&Purpose::Repair, Err(LlmError::Malformed("Well".into())));
    repairs(&mut host, &["SELECT 3"]);
    let candidates = solve(&host, RETRY).unwrap().candidates;
    assert_eq!(
        (candidates[0].id.as_str(), candidates[0].parents.as_slice()),
        ("A.3", &["A.1".to_owned()][..])
    );
    assert!(host.model.prompt(2).contains("(no statement)"));
}

#[test]
fn without_repair_a_failed_statement_is_followed_by_a_fresh_sample() {
    let host = host(&["BAD", "SELECT 1"]);
    solve(&host, r#"{"samples":3,"agree":1}"#).unwrap();
    assert!(host.model.requests().iter().all(|request| request.purpose == Purpose::Generate));
    assert!(!host.model.prompt(1).contains("BAD"));
}

#[test]
fn a_rejected_result_is_no_answer_and_sampling_goes_on() {
    let mut host = host(&["SELECT 1", "SELECT 1", "SELECT 2", "SELECT 2"]);
    host.evaluate
        .judge("SELECT 1", rejected(0.1, "there are no single orders"))
        .judge("SELECT 2", accepted(0.8, "fine"));
    let candidates = solve(&host, GATE2).unwrap().candidates;
    assert_eq!(candidates.len(), 1);
    assert_eq!((candidates[0].sql.as_str(), candidates[0].score), ("SELECT 2", Some(0.8)));
    assert_eq!(candidates[0].signals.reward, Some(0.8));
    assert_eq!(host.model.requests().len(), 4);
    assert_eq!(host.trace.discarded("A.2").unwrap(), "rejected: there are no single orders");
}

#[test]
fn when_all_is_wrong_the_outcome_says_why() {
    let host = host(&["BAD", "BAD", "BAD"]);
    let outcome = solve(&host, r#"{"samples":3}"#).unwrap();
    assert!(outcome.candidates.is_empty());
    assert!(outcome.memo.unwrap().contains("no statement did after 3 of 3 attempts: cannot parse"));

    let mut host = self::host(&["SELECT 1"]);
    host.evaluate.judge("SELECT 1", rejected(0.0, "no"));
    let outcome = solve(&host, SINGLE).unwrap();
    assert!(outcome.memo.unwrap().contains("rejected: no"));
    assert_eq!(host.trace.discarded("A.1").unwrap(), "rejected: no");
}

#[test]
fn a_spent_budget_leaves_what_there_is_and_without_any_is_a_failure() {
    let mut host = host(&["SELECT 1", "SELECT 2"]);
    host.model.script(&Purpose::Generate, Err(LlmError::Budget));
    let candidates = solve(&host, VOTE).unwrap().candidates;
    assert_eq!(candidates.len(), 2);
    assert_eq!(host.trace.notes(), ["A: going on with what there is: the model budget is used up"]);

    let mut host = FakeHost::default();
    host.model.script(&Purpose::Generate, Err(LlmError::Budget));
    assert_eq!(solve(&host, GATE2).unwrap_err().kind, FailureKind::Budget);
    // The second was under way by then; no third was started.
    assert_eq!(host.model.requests().len(), 2);
}

#[test]
fn a_model_that_abstains_is_no_failure_and_mumbling_costs_a_sample() {
    let mut host = FakeHost::default();
    host.model.script(&Purpose::Generate, Err(LlmError::Refused("I would rather not".into())));
    let outcome = solve(&host, SINGLE).unwrap();
    assert!(outcome.memo.unwrap().contains("I would rather not"));

    let mut host = self::host(&["SELECT 1"]);
    host.model.script(&Purpose::Generate, Err(LlmError::Refused("that is enough".into())));
    assert_eq!(solve(&host, GATE2).unwrap().candidates.len(), 1);
    assert!(host.trace.notes()[0].contains(
        "going on with what there is: the model provider gave no answer: that is enough"
    ));

    let mut host = self::host(&["SELECT 1"]);
    host.model.script(&Purpose::Generate, Err(LlmError::Malformed("Well".into())));
    let candidates = solve(&host, r#"{"samples":2}"#).unwrap().candidates;
    assert_eq!(candidates.len(), 1);
}

#[test]
fn prompts_that_are_too_large_are_made_shorter() {
    let mut host = FakeHost::default();
    host.model.script(&Purpose::Generate, Err(LlmError::TooLarge));
    let answer =
        reply("SELECT 1", Some(&serde_json::json!({ "sql": "SELECT 1", "confidence": null })));
    host.model.script(&Purpose::Generate, Ok(answer));
    script_statement(&mut host, "SELECT 1");
    let gate = r#"{"samples":3,"agree":1}"#;
    let problem = problem_with_example("How much?");
    assert_eq!(solve_problem(&host, gate, &problem).unwrap().candidates.len(), 1);
    assert_eq!(host.model.requests().len(), 2);
    // One that cannot be shortened is not sent again.
    let mut host = FakeHost::default();
    host.model.script(&Purpose::Generate, Err(LlmError::TooLarge));
    assert_eq!(solve(&host, gate).unwrap_err().kind, FailureKind::Model);
    assert_eq!(host.model.requests().len(), 1);
}

#[test]
fn the_claim_the_temperature_and_the_overflow_are_settings() {
    // A single sample may have the temperature 0, as in the strategy `single`.
    let single = host(&["SELECT 1"]);
    solve(&single, r#"{"samples":1,"temperature":0.0}"#).unwrap();
    assert_eq!(single.model.requests()[0].temperature, Some(0.0));
    let host = host(&["SELECT 1", "SELECT 1", "SELECT 2"]);
    let gate =
        r#"{"samples":3,"unstated":0.5,"claim_weight":1.0,"temperature":0.0,"overflow_rows":1}"#;
    let candidates = solve(&host, gate).unwrap().candidates;
    // (2 − 1 + 0.5) / (3 − 1 + 1)
    assert_eq!(candidates[0].raw_confidence.map(round), Some(0.5));
    assert_eq!(host.model.requests()[0].temperature, None);
    assert!(!candidates[0].signals.overflow);

    let mut host = FakeHost::default();
    host.model.reply_sql("SELECT 1", None);
    host.database.answer("SELECT 1", FakeRows::new(&["n"], vec![vec![Value::Null]]).counted(2));
    assert!(
        solve(&host, r#"{"samples":1,"overflow_rows":1}"#).unwrap().candidates[0].signals.overflow
    );
}

fn parent() -> Parent {
    let rows = FakeRows::new(&["id"], vec![vec![Value::Integer(7)], vec![Value::Integer(8)]]);
    let relation =
        Relation { name: "t_A".into(), candidate: Candidate::default(), results: rows.handle() };
    Parent {
        task: Task::new("A", "the customers"),
        output: Output::Relation(Box::new(relation)),
        memo: None,
    }
}

#[test]
fn rows_of_dependencies_stand_in_the_prompt_as_far_as_wanted_and_granted() {
    fn prompt(gate: &str, granted: Option<u32>) -> String {
        let mut host = host(&["SELECT 1"]);
        host.database.granted_rows = granted;
        let catalog = Catalog {
            database: "shop".into(),
            dialect: Dialect::Sqlite,
            tables: Vec::new(),
            ..Catalog::default()
        };
        let solver = Consistency::new(Settings::read(gate).unwrap());
        solver
            .solve(
                &host,
                &Problem::new("How much?"),
                &catalog,
                &Task::new("B", "their orders"),
                &[parent()],
            )
            .unwrap();
        host.model.prompt(0)
    }
    assert!(prompt(r#"{"samples":1}"#, Some(3)).contains("id\n7\n8\n"));
    assert!(!prompt(r#"{"samples":1,"parent_rows":1}"#, Some(3)).contains("\n8\n"));
    let without = prompt(r#"{"samples":1}"#, None);
    assert!(
        without.contains("can stand in FROM as t_A (id), 2 rows") && !without.contains("\n7\n")
    );
}

/// No row has the country `GERMANY`, and the count of one says so only in words that the host or
/// the index of values adds.
fn germany(host: &mut FakeHost, right: &str, repaired: &str) {
    let literal = Literal {
        table: Some("customers".into()),
        column: Some("country".into()),
        text: if right.contains("GERMANY") { "GERMANY" } else { "Germany" }.into(),
    };
    let facts = syrch_plugin::fakes::facts(right, &["customers"]);
    fn rows(n: i64) -> FakeRows {
        FakeRows::new(&["n"], vec![vec![Value::Integer(n)]])
    }
    host.database.answer_with(right, Facts { literals: vec![literal], ..facts }, rows(0));
    host.database.answer(repaired, rows(60));
    let cell = Hit {
        corpus: Corpus::Cells,
        id: "1".into(),
        path: "customers.country".into(),
        table: Some("customers".into()),
        column: Some("country".into()),
        snippet: Some("Germany".into()),
        payload: None,
        score: 1.0,
    };
    host.database.hits.insert("GERMANY".into(), vec![cell]);
}

#[test]
fn a_count_of_nothing_is_repaired_by_the_value_that_exists() {
    let first = "SELECT count(*) FROM customers WHERE country = 'GERMANY'";
    let second = "SELECT count(*) FROM customers WHERE country = 'Germany'";
    let mut host = FakeHost::default();
    host.model.reply_sql(first, Some(0.9)).reply_sql(second, Some(0.9));
    germany(&mut host, first, second);
    let candidates = solve(&host, RETRY).unwrap().candidates;
    assert_eq!(candidates[0].sql, second);
    assert!(candidates[0].raw_confidence > Some(0.5));
    assert!(
        host.model
            .prompt(1)
            .contains("customers.country has no known value `GERMANY`; the nearest: `Germany`")
    );

    // Without a repair it stays, with little confidence.
    let mut host = FakeHost::default();
    for _ in 0..3 {
        host.model.reply_sql(first, Some(0.9));
    }
    germany(&mut host, first, second);
    let candidates = solve(&host, RETRY).unwrap().candidates;
    assert_eq!(
        (candidates.len(), candidates[0].sql.as_str(), candidates[0].raw_confidence),
        (1, first, Some(0.5))
    );
}

#[test]
fn a_result_of_which_the_host_warns_is_repaired() {
    fn rows(n: i64) -> FakeRows {
        FakeRows::new(&["n"], vec![vec![Value::Integer(n)]])
    }
    for (second, best) in
        [(rows(2), "SELECT 2"), (rows(2).with_warning("x is no number"), "SELECT 1")]
    {
        let mut host = FakeHost::default();
        host.model
            .reply_sql("SELECT 1", Some(0.9))
            .reply_sql("SELECT 2", Some(0.9))
            .reply_sql("SELECT 1", Some(0.9));
        host.database
            .answer("SELECT 1", rows(1).with_warning("2 of 9 values of mass are no numbers"));
        host.database.answer("SELECT 2", second);
        let candidates = solve(&host, RETRY).unwrap().candidates;
        assert_eq!(candidates[0].sql, best);
        assert!(
            host.model.prompt(1).contains("What was wrong: 2 of 9 values of mass are no numbers")
        );
    }
}
