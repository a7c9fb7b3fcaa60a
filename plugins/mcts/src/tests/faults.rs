//! Models, databases and judges that give up.

use super::*;

#[test]
fn a_budget_that_ends_in_the_middle_keeps_what_there_is() {
    for error in [LlmError::Budget, LlmError::Cancelled, LlmError::Unavailable("down".into())] {
        let mut some = host(&["SELECT 1", "SELECT 2"], &[]);
        some.model.script(&Purpose::Repair, Err(error.clone()));
        let outcome = solve(&some, whole(8, 2, 3));
        assert_eq!((outcome.candidates.len(), some.model.requests().len()), (2, 3));
        assert!(some.trace.notes()[0].contains("going on with what there is"));

        let mut none = FakeHost::default();
        none.model.script(&Purpose::Generate, Err(error.clone()));
        let failure = try_solve(&none, whole(8, 1, 3), &[]).unwrap_err();
        assert_eq!(failure, llm_failure(&error));
    }
}

#[test]
fn all_statements_failing_is_an_honest_empty_outcome() {
    let host = host(&["BAD 1", "BAD 2"], &["BAD 3", "BAD 4"]);
    let outcome = solve(&host, whole(4, 2, 2));
    assert!(outcome.candidates.is_empty() && host.database.log().is_empty());
    assert!(
        outcome
            .memo
            .unwrap()
            .contains("no statement did after 4 of 4 rollouts: cannot parse BAD 4")
    );
    for id in ["A.1", "A.2", "A.3", "A.4"] {
        assert!(host.trace.discarded(id).is_some(), "{id}");
    }
}

#[test]
fn a_model_that_abstains_gives_no_candidate_and_no_failure() {
    for error in
        [LlmError::Refused("below its threshold".into()), LlmError::Unsupported("generate".into())]
    {
        let mut host = FakeHost::default();
        for _ in 0..3 {
            host.model.script(&Purpose::Generate, Err(error.clone()));
        }
        let outcome = solve(&host, Settings::default());
        assert!(outcome.candidates.is_empty() && outcome.memo.is_some());
        assert_eq!(host.model.requests().len(), 3);
    }
}

#[test]
fn a_model_that_only_draws_draws_on_and_one_that_only_repairs_repairs() {
    // Nothing is scripted for repairs: the fake model does not support them.
    let draws = host(&["SELECT 1", "SELECT 2", "SELECT 3", "SELECT 3 AS n"], &[]);
    let outcome = solve(&draws, whole(5, 2, 3));
    assert_eq!(draws.model.requests().len(), 5);
    assert_eq!(outcome.candidates[0].id, "A.3");

    let repairs = host(&["SELECT 1"], &["SELECT 2", "SELECT 2 AS n"]);
    let outcome = solve(&repairs, whole(4, 2, 3));
    assert_eq!(repairs.model.requests().len(), 4);
    assert_eq!(outcome.candidates[0].id, "A.2");

    let neither = host(&["SELECT 1"], &[]);
    assert_eq!(ids(&solve(&neither, whole(8, 2, 3))), ["A.1"]);
    assert_eq!(neither.model.requests().len(), 3);
}

#[test]
fn a_database_that_is_gone_is_not_the_models_fault() {
    let mut gone = host(&["SELECT 1", "SELECT 2"], &[]);
    gone.database.fail_run("SELECT 2", sql_error(SqlErrorKind::Unavailable, "locked"));
    assert_eq!(ids(&solve(&gone, whole(8, 2, 3))), ["A.1"]);
    assert_eq!(
        (gone.model.requests().len(), gone.trace.discarded("A.2").as_deref()),
        (2, Some("locked"))
    );

    let mut gone = host(&["SELECT 1"], &[]);
    gone.database.fail_run("SELECT 1", sql_error(SqlErrorKind::Unavailable, "locked"));
    let failure = try_solve(&gone, whole(8, 1, 3), &[]).unwrap_err();
    assert_eq!((failure.kind, failure.retryable), (FailureKind::Database, true));
}

#[test]
fn replies_without_a_statement_are_rollouts() {
    let mut host = FakeHost::default();
    host.model.script(&Purpose::Generate, Err(LlmError::Malformed("I cannot tell".into())));
    host.model.script(&Purpose::Generate, Ok(reply("", None)));
    says(&mut host, &Purpose::Generate, "SELECT 1");
    assert_eq!(ids(&solve(&host, whole(3, 1, 1))), ["A.1"]);
    assert_eq!(samples(&host), [0, 1, 2]);
    let notes = host.trace.notes();
    assert_eq!(
        notes,
        [
            "A: the reply held no statement; it began: I cannot tell",
            "A: the reply held no statement"
        ]
    );
}

#[test]
fn a_statement_that_the_model_stands_by_is_no_new_evidence() {
    let host = host(&["SELECT 1"], &["SELECT 1", "SELECT 2"]);
    let outcome = solve(&host, whole(8, 1, 3));
    // The node is settled, and so is the tree.
    assert_eq!((ids(&outcome), host.model.requests().len()), (vec!["A.1"], 2));
    assert_eq!(outcome.candidates[0].signals.samples, 1);
    assert!(host.trace.notes()[0].contains("the model repeats the statement of A.1"));
}

#[test]
fn what_the_reward_rejects_has_failed_and_is_repaired() {
    let mut host = host(&["SELECT 1", "SELECT 1", "SELECT 2"], &["SELECT 3"]);
    host.evaluate
        .judge("SELECT 1", rejected(0.1, "wrong year"))
        .judge("SELECT 2", accepted(0.8, "fine"));
    let outcome = solve(&host, Settings { exploration: 100.0, ..whole(4, 3, 2) });
    assert_eq!(outcome.candidates[0].id, "A.3");
    assert_eq!(outcome.candidates[0].signals.reward, Some(0.8));
    for id in ["A.1", "A.2"] {
        assert_eq!(host.trace.discarded(id).unwrap(), "rejected: wrong year");
    }
    // Neither counts among the results.
    assert!(
        outcome
            .candidates
            .iter()
            .all(|candidate| candidate.sql != "SELECT 1" && candidate.signals.samples <= 2)
    );
}

#[test]
fn a_judge_that_is_missing_changes_nothing_and_is_noted() {
    let mut host = host(&["SELECT 1"], &[]);
    host.evaluate.reward_error = Some(PortError::Unavailable("no judge".into()));
    let best = solve(&host, whole(1, 1, 1)).candidates.remove(0);
    assert_eq!((best.raw_confidence, best.signals.reward), (Some(0.7), None));
    assert_eq!(host.trace.notes(), ["A: no result was judged: no judge"]);
}
