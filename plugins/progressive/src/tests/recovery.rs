//! Failed steps and their dependents, rejected wholes, and searches that come to nothing: EP-D4,
//! EP-D5.

use super::*;
use crate::Dependents;

use Purpose::{Generate, Judge, Repair};

const FINAL: &str = "SELECT name FROM employees WHERE salary > 50000";

/// A chain of three whose first step the engine refuses.
fn broken(dependents: Dependents) -> Stage {
    let list = [
        subtask(1, "read employees", 0.9, &[]),
        subtask(2, "keep Engineering", 0.8, &[1]),
        subtask(3, "keep salaries", 0.7, &[]),
        subtask(4, "names alone", 0.6, &[2]),
    ];
    let mut stage = Stage::new(&list);
    stage.settings =
        Settings { dependents, alternatives: 0, recalculate_every: 0, ..Settings::default() };
    stage
        .host
        .database
        .fail_check("SELECT nothing", sql_error(SqlErrorKind::UnknownTable, "no table `nothing`"));
    stage.generates("SELECT nothing").runs(ALL, 10).runs(IN, 5).runs(BOTH, 2).runs(FINAL, 1);
    stage.judges(&[YES; 9]);
    stage
}

fn statuses(outcome: &Outcome) -> Vec<String> {
    let reported = memo(outcome);
    reported["subtasks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["status"].as_str().unwrap().to_owned())
        .collect()
}

// EP-D4: in the reference a failed task satisfied its dependents.
#[test]
fn dependents_of_a_failed_step_are_skipped() {
    let mut stage = broken(Dependents::Skip);
    stage.generates(FINAL);
    let outcome = stage.solve();
    assert_eq!(statuses(&outcome), ["failed", "skipped", "done", "skipped"]);
    assert_eq!(outcome.candidates[0].sql, FINAL);
    assert_eq!(stage.purposes(), [Generate, Generate, Judge, Judge]);
    let notes = stage.host.trace.notes().join("\n");
    assert_has(
        &notes,
        &[
            "sub-task 1 failed: no table `nothing`",
            "not executed, since they wait for a failed sub-task: 2, 4",
        ],
    );
}

#[test]
fn dependents_may_go_on_without_it() {
    let mut stage = broken(Dependents::Proceed);
    stage.generates(IN).generates(BOTH).generates(FINAL);
    let outcome = stage.solve();
    assert_eq!(statuses(&outcome), ["failed", "done", "done", "done"]);
    assert_has(
        &stage.prompts(&Generate)[1],
        &["Not in it, since no attempt did: read employees", "keep Engineering"],
    );
    assert_eq!(memo(&outcome)["context"]["missing"], json!(["read employees"]));
}

#[test]
fn or_the_failed_one_gets_a_second_chance_after_the_others() {
    let mut stage = broken(Dependents::Repair);
    stage.generates(ALL).repairs(BOTH).generates(IN).generates(FINAL);
    let outcome = stage.solve();
    assert_eq!(statuses(&outcome), ["done", "done", "done", "done"]);
    assert_eq!(stage.purposes()[..5], [Generate, Generate, Judge, Repair, Judge]);
    let again = &stage.prompts(&Repair)[0];
    assert_has(
        again,
        &["read employees", "SELECT nothing", "no table `nothing`", "Done, step 1: keep salaries"],
    );
    assert_eq!(stage.proposals()[2].2, "second chance");
    assert_has(
        &stage.host.trace.notes().join("\n"),
        &["sub-task 1 is tried again after the others"],
    );

    // A second failure is one for good.
    let mut stage = broken(Dependents::Repair);
    stage
        .host
        .database
        .fail_check("SELECT void", sql_error(SqlErrorKind::UnknownTable, "no table `void`"));
    stage.generates(ALL).repairs("SELECT void");
    assert_eq!(statuses(&stage.solve()), ["failed", "skipped", "done", "skipped"]);
}

#[test]
fn circles_in_a_context_do_not_stand_still() {
    let mut stage = Stage::new(&[subtask(1, "a", 0.4, &[2]), subtask(2, "b", 0.6, &[1])]);
    stage.runs(ALL, 10).runs(IN, 5).generates(ALL).generates(IN).judges(&[YES; 3]);
    assert_eq!(stage.answer().unwrap(), IN);
    assert_has(&stage.prompts(&Generate)[0], &["Your step now, filter: b"]);
    assert_has(&stage.host.trace.notes().join("\n"), &["in a circle"]);
}

#[test]
fn a_whole_that_is_rejected_is_mended_like_a_step() {
    let mut stage = Stage::example();
    stage.settings.alternatives = 1;
    stage.host.model = syrch_plugin::fakes::FakeModel::default();
    stage.generates(ALL).generates(IN).generates(BOTH).runs(FINAL, 1).repairs(FINAL);
    stage.judges(&[YES, YES, YES, &no("COLUMNS", "names are asked for"), YES]);
    let outcome = stage.solve();
    assert_eq!(outcome.candidates[0].sql, FINAL);
    assert_eq!(stage.proposals()[3], ("A.4".into(), "A.3".into(), "alternative".into()));
    assert_has(
        &stage.prompts(&Repair)[0],
        &["Write the statement that answers the whole question", BOTH, "names are asked for"],
    );
    assert_has(&stage.host.trace.discarded("A.3").unwrap(), &["rejected as a whole: wrong_column"]);
    assert_lacks(stage.prompts(&Judge).last().unwrap(), &["this step:"]);
    assert_eq!(memo(&outcome)["errors"], json!({ "wrong_column": 1 }));
}

// EP-D5: the reference returned an empty statement, which ran.
#[test]
fn nothing_accepted_is_no_statement_and_never_an_empty_one() {
    let mut stage = Stage::example();
    stage.settings.alternatives = 1;
    stage.settings.max_branch_depth = 1;
    stage.host.model = syrch_plugin::fakes::FakeModel::default();
    stage
        .generates(ALL)
        .repairs(IN)
        .repairs(BOTH)
        .repairs(FINAL)
        .runs(FINAL, 1)
        .repairs("SELECT 1")
        .runs("SELECT 1", 1);
    stage.judges(&[no("TABLES", "another one").as_str(); 9]);
    let outcome = stage.solve();
    assert!(outcome.candidates.is_empty());
    let reported = memo(&outcome);
    assert_eq!(reported["sql"], JsonValue::Null);
    assert_has(reported["reason"].as_str().unwrap(), &["no statement did", "another one"]);
    assert_has(stage.host.trace.notes().last().unwrap(), &["no statement did"]);
    assert!(!stage.host.database.log().contains(&String::new()));
    assert_eq!(stage.purposes().iter().filter(|purpose| **purpose == Repair).count(), 4);
    // As the last resort the whole question was asked, with what went wrong before.
    assert_has(stage.prompts(&Repair).last().unwrap(), &[ALL, FINAL, "another one"]);
    assert_lacks(stage.prompts(&Repair).last().unwrap(), &["Your step now"]);
}

#[test]
fn a_reply_without_a_statement_is_a_failed_attempt() {
    let mut stage = Stage::new(&[]);
    stage.host.model.script(&Generate, Err(LlmError::Malformed("I would rather".into())));
    stage.generates(BOTH).runs(BOTH, 2).judges(&[YES]);
    assert_eq!(stage.answer().unwrap(), BOTH);
    assert_eq!(stage.purposes(), [Generate, Generate, Judge]);
    assert_has(&stage.prompts(&Generate)[1], &["(no statement)", "it began: I would rather"]);
}

#[test]
fn a_model_that_writes_nothing_that_runs_is_left_alone() {
    fn calls(most: u32) -> usize {
        let mut stage = Stage::example();
        stage.settings.most_in_vain = most;
        stage.host.model = syrch_plugin::fakes::FakeModel::default();
        for purpose in [Generate, Repair] {
            for _ in 0..200 {
                stage
                    .host
                    .model
                    .script(&purpose, Err(LlmError::Malformed("I would rather".into())));
            }
        }
        let outcome = stage.solve();
        assert!(outcome.candidates.is_empty());
        assert_has(
            memo(&outcome)["reason"].as_str().unwrap(),
            &["replies in a row held no statement that runs"],
        );
        stage.purposes().iter().filter(|purpose| [Generate, Repair].contains(purpose)).count()
    }
    // Alternatives that were asked for together all came.
    assert_eq!((calls(9), calls(4)), (10, 6));
}

#[test]
fn after_outages_the_best_so_far_is_the_answer() {
    let mut stage = Stage::example();
    stage.host.model = syrch_plugin::fakes::FakeModel::default();
    stage.generates(ALL).judges(&[YES, YES]);
    stage.host.model.script(&Generate, Err(LlmError::Unavailable("down".into())));
    assert_eq!(stage.answer().unwrap(), ALL);
    assert_has(
        &stage.host.trace.notes().join("\n"),
        &["going on with what there is: the model cannot be reached"],
    );

    let stage = Stage::new(&example());
    let outcome = stage.solve();
    assert!(
        outcome.candidates.is_empty()
            && stage.host.trace.notes().join("\n").contains("cannot do this")
    );
    for error in [LlmError::Budget, LlmError::Cancelled, LlmError::Unavailable("down".into())] {
        let mut stage = Stage::new(&example());
        stage.host.model.script(&Generate, Err(error));
        assert!(stage.solve_with(&[]).is_err());
    }
}

#[test]
fn a_database_that_is_gone_ends_the_search() {
    let mut stage = Stage::example();
    stage.host.database.fail_run(IN, sql_error(SqlErrorKind::Budget, "no more statements"));
    assert_eq!(stage.answer().unwrap(), ALL);
    assert_eq!(stage.host.trace.discarded("A.2").unwrap(), "no more statements");
}

#[test]
fn a_spent_budget_leaves_a_call_for_the_judgement_of_the_whole() {
    let solved = |calls: u32| {
        let mut stage = Stage::example();
        stage.calls = Some(calls);
        stage.settings.recalculate_every = 1;
        let sql = stage.answer().unwrap();
        (sql, stage.purposes(), stage.host.trace.notes().join("\n"))
    };
    for calls in [3, 4] {
        let (sql, purposes, notes) = solved(calls);
        assert_eq!((sql.as_str(), purposes), (ALL, vec![Generate, Judge, Judge]));
        assert_has(&notes, &["the budget does not last for another step"]);
    }
    let (sql, purposes, notes) = solved(5);
    assert_eq!((sql.as_str(), purposes), (IN, vec![Generate, Judge, Generate, Judge, Judge]));
    assert_has(&notes, &["no calls are left for a recalculation"]);
    assert_eq!(solved(6).1[2], Purpose::Calibrate);
}

#[test]
fn a_prompt_that_is_too_long_is_shortened() {
    let mut stage = Stage::new(&[]);
    stage.host.model.script(&Generate, Err(LlmError::TooLarge));
    stage.generates(BOTH).runs(BOTH, 2).judges(&[YES]);
    let outcome = stage.solve_problem(&problem_with_example(QUESTION), &[]).unwrap();
    assert_eq!(outcome.candidates[0].sql, BOTH);
    // It does not go on for ever.
    let mut stage = Stage::new(&[]);
    for _ in 0..20 {
        stage.host.model.script(&Generate, Err(LlmError::TooLarge));
    }
    assert!(stage.solve_with(&[]).is_err());
    assert!(stage.purposes().len() < 10);
}

#[test]
fn a_model_that_mends_nothing_may_still_go_on() {
    // The provider knows no repairs: the second step fails, and the third is written all the same.
    let mut stage = Stage::new(&example());
    stage.settings.alternatives = 2;
    stage.runs(ALL, 10).runs(IN, 5).runs(FINAL, 1);
    stage.generates(ALL).generates(IN).generates(FINAL).judges(&[
        YES,
        &no("FILTERS", "off"),
        YES,
        YES,
    ]);
    let outcome = stage.solve();
    assert_eq!(outcome.candidates[0].sql, FINAL);
    assert_eq!(statuses(&outcome), ["done", "failed", "done"]);
    assert_has(
        &stage.host.trace.notes().join("\n"),
        &["A: not mended: the model provider cannot do this"],
    );
}

#[test]
fn a_confidence_that_nobody_stated_is_left_to_the_host() {
    fn claim(list: &[JsonValue], sql: &str) -> Option<f64> {
        let mut stage = Stage::new(list);
        for _ in 0..list.len().max(1) {
            stage.host.model.script(&Generate, Ok(reply(sql, Some(&json!({ "sql": sql })))));
        }
        stage.runs(sql, 2).judges(&[YES; 4]);
        stage.solve().candidates[0].raw_confidence
    }
    assert_eq!(claim(&[], BOTH), None);
    assert_eq!(claim(&example(), BOTH), Some(0.9));
}

#[test]
fn the_judge_knows_the_results_that_a_statement_reads() {
    let mut stage = Stage::new(&[]);
    let read = Facts { tasks: vec!["task_P".into()], ..facts(BOTH, &[]) };
    stage.tables.insert(BOTH.to_owned(), read);
    stage.runs(BOTH, 2).generates(BOTH).judges(&[YES]);
    stage.solve();
    assert_has(
        &stage.prompts(&Judge)[0],
        &["Results of earlier parts, which may be read like tables: task_P"],
    );
}

#[test]
fn a_result_of_which_the_host_warns_gets_alternatives() {
    fn warn() -> syrch_plugin::fakes::FakeRows {
        rows(2).with_warning("8 of 344 values of salary are no numbers")
    }
    for (alternative, best) in [(rows(1), FINAL), (rows(1).with_warning("y"), BOTH)] {
        let mut stage = Stage::new(&[subtask(1, "keep salaries", 0.9, &[])]);
        stage.settings = Settings { alternatives: 1, max_branch_depth: 1, ..Settings::default() };
        stage.generates(BOTH).repairs(FINAL).runs(BOTH, 2).runs(FINAL, 1);
        stage.host.database.answer(BOTH, warn()).answer(FINAL, alternative);
        stage.judges(&[YES; 4]);
        let outcome = stage.solve();
        assert_eq!(outcome.candidates[0].sql, best);
        assert_has(&stage.prompts(&Repair)[0], &["8 of 344 values of salary are no numbers"]);
    }
}
