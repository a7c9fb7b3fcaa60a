//! The solver against scripted models and databases; among them every bug of syrch 0.1.2 that
//! concerns solving.

use syrch_plugin::fakes::{FakeHost, FakeRows, Traced, problem_with_example, reply, sql_error};
use syrch_plugin::prelude::*;

use crate::{Refine, Settings};

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

fn solve_with(host: &FakeHost, parents: &[Parent]) -> Result<Outcome, Failure> {
    let task = Task { expected: Some("one number".into()), ..Task::new("A", "sum of totals") };
    Refine::new(Settings::default()).solve(
        host,
        &Problem::new("How much?"),
        &catalog(),
        &task,
        parents,
    )
}

fn solve_candidates(host: &FakeHost) -> Vec<Candidate> {
    solve_with(host, &[]).unwrap().candidates
}

fn rows(count: i64) -> FakeRows {
    FakeRows::new(&["n"], (0..count).map(|n| vec![Value::Integer(n)]).collect())
}

fn ids(candidates: &[Candidate]) -> Vec<&str> {
    candidates.iter().map(|candidate| candidate.id.as_str()).collect()
}

#[test]
fn a_trusted_statement_ends_the_loop() {
    let mut host = FakeHost::default();
    host.model.reply_sql("SELECT 1", Some(0.9)).reply_sql("SELECT 2", Some(1.0));
    host.database.answer("SELECT 1", rows(1));
    let candidates = solve_candidates(&host);
    assert_eq!(ids(&candidates), ["A.1"]);
    assert_eq!(candidates[0].origin, "generate");
    assert_eq!(candidates[0].signals.attempts, 1);
    assert_eq!(candidates[0].tokens(), 10.0);
    assert_eq!(host.model.requests().len(), 1);
    assert_eq!(host.trace.kept("A.1").unwrap(), "the only statement that ran");
}

#[test]
fn a_result_of_which_the_host_warns_is_repaired_and_comes_last() {
    let mut host = FakeHost::default();
    host.model.reply_sql("SELECT 1", Some(1.0)).reply_sql("SELECT 2", Some(0.9));
    host.database.answer("SELECT 1", rows(1).with_warning("2 of 9 values of n are no numbers"));
    host.database.answer("SELECT 2", rows(1));
    assert_eq!(ids(&solve_candidates(&host)), ["A.2", "A.1"]);
    let requests = host.model.requests();
    assert_eq!(requests.len(), 2);
    let repair: String = requests[1].messages.iter().map(|message| message.text.as_str()).collect();
    assert!(repair.contains("2 of 9 values of n are no numbers"), "{repair}");
}

// syrch 0.1.2, bug 13: feedback was overwritten, so that three attempts had one and the same
// prompt.
#[test]
fn a_repair_carries_all_earlier_statements_and_what_was_wrong() {
    let mut host = FakeHost::default();
    host.model
        .reply_sql("SELEC", None)
        .reply_sql("SELECT totl FROM orders", None)
        .reply_sql("SELECT 3", Some(0.95));
    host.database.fail_check("SELEC", sql_error(SqlErrorKind::Syntax, "cannot parse"));
    let mut unknown = sql_error(SqlErrorKind::UnknownColumn, "no column `totl`");
    unknown.suggestions = vec!["total".into()];
    host.database.fail_check("SELECT totl FROM orders", unknown).answer("SELECT 3", rows(1));
    let candidates = solve_candidates(&host);

    assert_eq!(ids(&candidates), ["A.3"]);
    assert_eq!(candidates[0].parents, ["A.2"]);
    assert_eq!(candidates[0].origin, "repair");
    let signals = &candidates[0].signals;
    assert_eq!((signals.attempts, signals.syntax_errors, signals.schema_errors), (3, 1, 1));
    let last = host.model.prompt(2);
    for part in
        ["SELEC\n", "cannot parse", "SELECT totl FROM orders", "no column `totl`; near: total"]
    {
        assert!(last.contains(part), "{part} is missing in {last}");
    }
    let requests = host.model.requests();
    assert_eq!(requests[2].purpose, Purpose::Repair);
    assert_eq!(requests[2].subjects, ["SELEC", "SELECT totl FROM orders"]);
    assert_eq!(requests.iter().map(|request| request.sample).collect::<Vec<_>>(), [0, 0, 0]);
}

// syrch 0.1.2, bug 6: the last path that ran won, not the best.
#[test]
fn the_most_trusted_statement_wins() {
    let mut host = FakeHost::default();
    host.model
        .reply_sql("SELECT 1", Some(0.8))
        .reply_sql("SELECT 2", Some(0.2))
        .reply_sql("SELECT 3", Some(0.5));
    for sql in ["SELECT 1", "SELECT 2", "SELECT 3"] {
        host.database.answer(sql, rows(1));
    }
    assert_eq!(ids(&solve_candidates(&host)), ["A.1", "A.3", "A.2"]);
    assert_eq!(host.trace.discarded("A.2").unwrap(), "confidence 0.20 is below the 0.80 of A.1");
}

#[test]
fn fewer_tokens_win_a_tie() {
    let mut host = FakeHost::default();
    let statement = |sql: &str, tokens: u32| {
        let mut reply = reply(sql, Some(&serde_json::json!({ "sql": sql, "confidence": 0.5 })));
        reply.usage.output_tokens = tokens;
        Ok(reply)
    };
    host.model
        .script(&Purpose::Generate, statement("SELECT 1", 90))
        .script(&Purpose::Repair, statement("SELECT 2", 20));
    host.database.answer("SELECT 1", rows(1)).answer("SELECT 2", rows(1));
    assert_eq!(ids(&solve_candidates(&host)), ["A.2", "A.1"]);
}

// syrch 0.1.2, bug 7: a statement that its own checks had refused each time was run and returned.
#[test]
fn what_never_ran_is_never_returned() {
    let mut host = FakeHost::default();
    for sql in ["BAD 1", "BAD 2"] {
        host.model.reply_sql(sql, Some(1.0));
        host.database
            .fail_check(sql, sql_error(SqlErrorKind::WriteRefused, "this would change something"));
    }
    host.model.reply_sql("SELECT 3", Some(1.0));
    host.database.fail_run("SELECT 3", sql_error(SqlErrorKind::Timeout, "the deadline ended it"));
    let outcome = solve_with(&host, &[]).unwrap();
    assert!(outcome.candidates.is_empty());
    assert_eq!(host.database.log(), ["SELECT 3"]);
    assert_eq!(host.trace.discarded("A.3").unwrap(), "the deadline ended it");
    assert!(
        outcome
            .memo
            .unwrap()
            .contains("no statement did after 3 of 3 attempts: the deadline ended it")
    );
    let proposed =
        host.trace.lines().iter().filter(|line| matches!(line, Traced::Proposed(_))).count();
    assert_eq!(proposed, 3);
}

// syrch 0.1.2, bug 5: any row count that ends in 0 above 1000 was "0 rows".
#[test]
fn the_shape_of_a_result_is_counted() {
    fn shape(answer: FakeRows) -> (bool, u32, bool) {
        let mut host = FakeHost::default();
        host.model.reply_sql("SELECT 1", Some(1.0));
        host.database.answer("SELECT 1", answer);
        let signals = solve_candidates(&host).remove(0).signals;
        (signals.empty_result, signals.null_columns, signals.overflow)
    }
    assert_eq!(shape(rows(1).counted(1010)), (false, 0, true));
    assert_eq!(shape(rows(1).counted(1000)), (false, 0, false));
    assert_eq!(shape(rows(0)), (true, 0, false));
    assert_eq!(
        shape(FakeRows::new(&["a", "b"], vec![vec![Value::Null, Value::Integer(1)]])),
        (false, 1, false)
    );
}

#[test]
fn a_doubtful_result_is_repaired_with_the_doubt_in_words() {
    let mut host = FakeHost::default();
    host.evaluate.calibrate =
        Some(|raw, signals| if signals.empty_result { raw * 0.5 } else { raw });
    host.model.reply_sql("SELECT 1", Some(0.9)).reply_sql("SELECT 2", Some(0.9));
    host.database.answer("SELECT 1", rows(0)).answer("SELECT 2", rows(2));
    let candidates = solve_candidates(&host);
    assert_eq!(ids(&candidates), ["A.2", "A.1"]);
    assert!(!candidates[0].signals.empty_result);
    assert!(host.model.prompt(1).contains(
        "the result has no rows; it ran, but is trusted only 0.45 where 0.85 is asked for"
    ));
}

#[test]
fn a_statement_without_a_stated_confidence_has_that_of_syrch_0_1_2() {
    for (count, expected) in [(1, 0.85), (0, 0.7)] {
        let mut host = FakeHost::default();
        host.model.reply_sql("SELECT 1", None);
        host.database.answer("SELECT 1", rows(count));
        assert_eq!(solve_candidates(&host)[0].raw_confidence, Some(expected));
    }
}

#[test]
fn a_rejected_statement_is_dropped_with_the_reason_as_feedback() {
    let mut host = FakeHost::default();
    host.model.reply_sql("SELECT 1", Some(1.0)).reply_sql("SELECT 2", Some(0.9));
    host.database.answer("SELECT 1", rows(1)).answer("SELECT 2", rows(1));
    host.evaluate
        .judge("SELECT 1", rejected(0.1, "wrong year"))
        .judge("SELECT 2", accepted(0.8, "fine"));
    let candidates = solve_candidates(&host);
    assert_eq!(ids(&candidates), ["A.2"]);
    assert_eq!(candidates[0].signals.reward, Some(0.8));
    assert!(host.model.prompt(1).contains("rejected: wrong year"));
    assert_eq!(host.trace.discarded("A.1").unwrap(), "rejected: wrong year");
}

#[test]
fn a_judge_and_a_calibrator_that_are_missing_change_nothing() {
    let mut host = FakeHost::default();
    host.evaluate.calibrate = None;
    host.model.reply_sql("SELECT 1", Some(0.9));
    host.database.answer("SELECT 1", rows(1));
    assert_eq!(solve_candidates(&host)[0].confidence, Some(0.9));
}

#[test]
fn a_model_that_abstains_gives_no_candidate_and_no_failure() {
    for error in
        [LlmError::Refused("below its threshold".into()), LlmError::Unsupported("generate".into())]
    {
        let mut host = FakeHost::default();
        host.model.script(&Purpose::Generate, Err(error));
        let outcome = solve_with(&host, &[]).unwrap();
        assert!(outcome.candidates.is_empty());
        assert_eq!(host.trace.notes().len(), 1);
        assert!(outcome.memo.is_some());
    }
}

#[test]
fn an_abstention_from_a_repair_keeps_what_there_is() {
    let mut host = FakeHost::default();
    host.model
        .reply_sql("SELECT 1", Some(0.5))
        .script(&Purpose::Repair, Err(LlmError::Refused("no repairs".into())));
    host.database.answer("SELECT 1", rows(1));
    assert_eq!(ids(&solve_candidates(&host)), ["A.1"]);
}

#[test]
fn an_outage_or_a_spent_budget_fails_only_with_empty_hands() {
    for (error, kind) in [
        (LlmError::Budget, FailureKind::Budget),
        (LlmError::Unavailable("refused".into()), FailureKind::Model),
    ] {
        let mut host = FakeHost::default();
        host.model.script(&Purpose::Generate, Err(error.clone()));
        assert_eq!(solve_with(&host, &[]).unwrap_err().kind, kind);

        let mut host = FakeHost::default();
        host.model.reply_sql("SELECT 1", Some(0.5)).script(&Purpose::Repair, Err(error));
        host.database.answer("SELECT 1", rows(1));
        assert_eq!(ids(&solve_candidates(&host)), ["A.1"]);
    }
}

#[test]
fn a_database_that_is_gone_is_not_the_models_fault() {
    let mut host = FakeHost::default();
    host.model.reply_sql("SELECT 1", Some(0.9)).reply_sql("SELECT 2", Some(0.9));
    host.database.fail_run("SELECT 1", sql_error(SqlErrorKind::Unavailable, "the file is locked"));
    let failure = solve_with(&host, &[]).unwrap_err();
    assert_eq!((failure.kind, failure.retryable), (FailureKind::Database, true));
    assert_eq!(host.model.requests().len(), 1);
}

// syrch 0.1.2, bug 17: a reply that does not parse ended the task without another attempt.
#[test]
fn a_reply_without_a_statement_is_an_attempt() {
    let mut host = FakeHost::default();
    host.model.script(&Purpose::Generate, Err(LlmError::Malformed("I cannot tell'".into())));
    // After a reply without a statement there is nothing to repair: the next call generates again.
    host.model.script(
        &Purpose::Generate,
        Ok(reply("", Some(&serde_json::json!({ "sql": "SELECT 1", "confidence": 0.9 })))),
    );
    host.database.answer("SELECT 1", rows(1));
    let candidates = solve_candidates(&host);
    assert_eq!(candidates[0].signals.syntax_errors, 1);
    assert_eq!(candidates[0].origin, "generate");
    assert!(host.model.prompt(1).contains("it began: I cannot tell'"));
}

#[test]
fn a_prompt_that_is_too_long_is_shortened() {
    let mut host = FakeHost::default();
    host.model.script(&Purpose::Generate, Err(LlmError::TooLarge));
    host.model.script(
        &Purpose::Generate,
        Ok(reply("", Some(&serde_json::json!({ "sql": "SELECT 1", "confidence": 0.9 })))),
    );
    host.database.answer("SELECT 1", rows(1));
    let problem = problem_with_example("How much?");
    let solver = Refine::new(Settings::default());
    let outcome = solver.solve(&host, &problem, &catalog(), &Task::new("A", "x"), &[]).unwrap();
    // It is no attempt.
    assert_eq!(ids(&outcome.candidates), ["A.1"]);
}

#[test]
fn a_model_that_stands_by_its_statement_is_not_asked_again() {
    let mut host = FakeHost::default();
    host.model
        .reply_sql("SELECT 1", Some(0.5))
        .reply_sql("SELECT 1", Some(0.5))
        .reply_sql("SELECT 2", Some(0.9));
    host.database.answer("SELECT 1", rows(1));
    assert_eq!(ids(&solve_candidates(&host)), ["A.1"]);
    assert_eq!(host.model.requests().len(), 2);
}

fn parent(rows: &FakeRows) -> Parent {
    let relation =
        Relation { name: "task_b".into(), candidate: Candidate::default(), results: rows.handle() };
    let task = Task { context: None, ..Task::new("B", "best customers") };
    Parent { task, output: Output::Relation(Box::new(relation)), memo: None }
}

#[test]
fn finished_dependencies_stand_in_the_prompt_under_their_relation_name() {
    let result = FakeRows::new(&["customer id"], vec![vec![Value::Text("six\nteen".into())]]);
    let mut host = FakeHost::default();
    let failed = Parent {
        task: Task::new("C", "worst customers"),
        output: Output::Failed(failure(FailureKind::Model, "nobody knows")),
        memo: None,
    };
    assert!(solve_with(&host, &[parent(&result), failed]).unwrap().candidates.is_empty());
    let prompt = host.model.prompt(0);
    for part in [
        "\"best customers\" can stand in FROM as task_b (\"customer id\"), 1 row.",
        "six teen",
        "There is no result for \"worst customers\": nobody knows",
        "Your task is this part of it: sum of totals",
        "The result should be: one number",
        "Table orders",
    ] {
        assert!(prompt.contains(part), "{part} is missing in {prompt}");
    }

    host.database.granted_rows = None;
    solve_with(&host, &[parent(&result)]).unwrap();
    assert!(!host.model.prompt(1).contains("six teen"));
    assert!(host.model.prompt(1).contains("task_b"));
}
