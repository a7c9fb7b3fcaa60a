//! Tests of the limits of the work: settings, the policy, budgets, outages, and providers that
//! cannot serve a request.

use super::*;

#[test]
fn the_setting_and_the_policy_bound_the_executions() {
    for (wanted, allowed, executions) in [(1, 3, 1), (2, 3, 2), (5, 3, 3), (5, 9, 5)] {
        let mut host = FakeHost::default();
        host.policy.max_attempts = allowed;
        says(&mut host, &Purpose::Generate, &["BAD 1"]);
        says(&mut host, &Purpose::Repair, &["BAD 1"; 9]);
        database(&mut host);
        let why = failure_reason(&host, settings(&change_workflow(limit_executions(wanted))));
        let attempts =
            if executions == 1 { "1 attempt".to_owned() } else { format!("{executions} attempts") };
        assert_eq!(
            why,
            format!("Failed to execute SQL after {attempts}. Last error: no such column: c1")
        );
        let proposed =
            host.trace.lines().iter().filter(|line| matches!(line, Traced::Proposed(_))).count();
        // Equal texts run once.
        assert_eq!((proposed, host.database.log().len()), (executions, 1));
        let is_reported = host.trace.notes()[0].contains("the policy allows 3 executions");
        assert_eq!(is_reported, wanted > allowed);
    }
    // PF-D2: no attempt at all succeeded without a result.
    let none = change_workflow(|nodes| nodes["generate"]["max_retries"] = json!(0));
    let refused = Settings::read(&json!({ "flow": none }).to_string()).unwrap_err();
    assert_eq!(refused, "flow.nodes.generate.max_retries: 0 is not a whole number from 1 to 10");
}

#[test]
fn a_provider_without_yaml_is_asked_without() {
    let mut host = FakeHost::default();
    host.model.script(&Purpose::Generate, Err(LlmError::Unsupported("this shape".into())));
    says(&mut host, &Purpose::Generate, &["BAD 1"]);
    says(&mut host, &Purpose::Repair, &["SELECT 2"]);
    database(&mut host);
    assert_eq!(ids(&solve_candidates(&host, text2sql())), ["A.2"]);
    let shapes: Vec<Shape> =
        host.model.requests().into_iter().map(|request| request.expect).collect();
    assert_eq!(shapes, [Shape::Yaml(vec!["sql".into()]), Shape::Sql, Shape::Sql]);
    assert!(!host.model.prompt(1).contains("yaml"));
    assert!(host.trace.notes()[0].contains("has no YAML"));
}

#[test]
fn a_model_that_abstains_gives_no_candidate_and_no_failure() {
    let mut host = FakeHost::default();
    host.model.script(&Purpose::Generate, Err(LlmError::Refused("not mine".into())));
    assert_eq!(failure_reason(&host, text2sql()), "the model provider gave no answer: not mine");

    let host = FakeHost::default();
    assert!(failure_reason(&host, text2sql()).contains("cannot do this"));
    assert_eq!(host.model.requests().len(), 2);
}

#[test]
fn an_outage_or_a_spent_budget_is_a_failure() {
    for (error, kind) in [
        (LlmError::Budget, FailureKind::Budget),
        (LlmError::Unavailable("refused".into()), FailureKind::Model),
        (LlmError::Cancelled, FailureKind::Cancelled),
    ] {
        let mut host = FakeHost::default();
        host.model.script(&Purpose::Generate, Err(error));
        assert_eq!(solve(&host, text2sql()).unwrap_err().kind, kind);
        assert_eq!(host.model.requests().len(), 1);
    }
    let mut host = FakeHost::default();
    says(&mut host, &Purpose::Generate, &["SELECT 1"]);
    host.database.fail_run("SELECT 1", sql_error(SqlErrorKind::Unavailable, "the file is locked"));
    let failure = solve(&host, text2sql()).unwrap_err();
    assert_eq!((failure.kind, failure.retryable), (FailureKind::Database, true));
}

#[test]
fn a_prompt_that_is_too_long_is_shortened() {
    let mut host = FakeHost::default();
    host.model
        .script(&Purpose::Generate, Err(LlmError::TooLarge))
        .script(&Purpose::Generate, Err(LlmError::TooLarge));
    says(&mut host, &Purpose::Generate, &["SELECT 1"]);
    database(&mut host);
    let many = Catalog { tables: (0..9).flat_map(|_| catalog().tables).collect(), ..catalog() };
    let solver = FlowSolver::new(Settings {
        common: Common { schema_bytes: 1000, ..Common::default() },
        ..text2sql()
    });
    let problem = Problem::new("q");
    let outcome = solver.solve(&host, &problem, &many, &Task::new("A", "q"), &[]).unwrap();
    assert_eq!(ids(&outcome.candidates), ["A.1"]);
    let tables = |prompt: usize| host.model.prompt(prompt).matches("Table: ").count();
    assert_eq!((tables(0), tables(1), tables(2)), (18, 10, 5));

    let mut host = FakeHost::default();
    for _ in 0..20 {
        host.model.script(&Purpose::Generate, Err(LlmError::TooLarge));
    }
    assert_eq!(solve(&host, text2sql()).unwrap_err().kind, FailureKind::Model);
    assert!(host.model.requests().len() < 12);
}

#[test]
fn the_claims_of_a_single_try_and_the_largest_result_are_settings() {
    let mut host = FakeHost::default();
    says(&mut host, &Purpose::Generate, &["SELECT none", "SELECT 1"]);
    database(&mut host);
    host.database.answer("SELECT 1", numbers(&[1]).counted(21));
    let common =
        Common { unstated: 0.2, unstated_with_rows: 0.6, overflow_rows: 20, ..Common::default() };
    let settings = Settings { common, ..text2sql() };
    assert_eq!(solve_candidates(&host, settings.clone())[0].raw_confidence, Some(0.2));
    let candidate = solve_candidates(&host, settings).remove(0);
    assert_eq!((candidate.raw_confidence, candidate.signals.overflow), (Some(0.6), true));
}
