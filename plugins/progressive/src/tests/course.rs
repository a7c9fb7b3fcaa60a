//! The loop when nothing goes wrong: order, context, recalculation, and the settings that steer
//! them.

use super::*;
use crate::{Accumulation, Dependents};

use Purpose::{Calibrate, Generate, Judge, Repair};

// EP-08, EP-D1: highest confidence first, each step extends and is judged, the whole once at the
// end.
#[test]
fn the_example_grows_step_by_step_and_is_judged_as_a_whole() {
    let stage = Stage::example();
    let outcome = stage.solve();
    assert_eq!(stage.purposes(), [Generate, Judge, Generate, Judge, Generate, Judge, Judge]);
    assert_eq!(stage.host.database.log(), [ALL, IN, BOTH]);
    let [candidate] = outcome.candidates.as_slice() else { panic!("not one candidate") };
    assert_eq!(
        (candidate.id.as_str(), candidate.sql.as_str(), candidate.score),
        ("A.3", BOTH, Some(1.0))
    );
    assert_eq!((candidate.signals.reward, candidate.signals.attempts), (Some(1.0), 1));
    assert_eq!(candidate.raw_confidence, Some(0.8));
    let prompts = stage.prompts(&Generate);
    assert_has(
        &prompts[0],
        &[
            "Your step now, filter: read employees",
            "Later steps, not yours: keep Engineering; keep",
        ],
    );
    assert_lacks(&prompts[0], &["The statement so far:"]);
    assert_has(
        &prompts[1],
        &[
            "Done, step 1: read employees (10 rows)",
            "The statement so far:\nSELECT * FROM employees\n",
        ],
    );
    assert_has(&prompts[1], &["keep Engineering", "extend the statement so far"]);
    assert_has(
        &prompts[2],
        &["Done, step 2: keep Engineering (5 rows)", IN, "It is the last step"],
    );
    // EP-D3: the plan was never given to generation.
    for prompt in &prompts {
        assert_has(
            prompt,
            &["A plan of the statement:", "1. Find the tables: employees", QUESTION],
        );
    }
    let judged = stage.prompts(&Judge);
    assert_has(&judged[1], &["this step: keep Engineering", "Done before: read employees."]);
    assert_lacks(&judged[3], &["this step:"]);
    let parents = [("A.1", "", "generate"), ("A.2", "A.1", "generate"), ("A.3", "A.2", "generate")];
    assert_eq!(
        stage.proposals(),
        parents.map(|(id, parent, origin)| (id.into(), parent.into(), origin.into()))
    );
    assert_eq!(stage.host.trace.discarded("A.1").unwrap(), "extended by A.2");
    assert_has(&stage.host.trace.kept("A.3").unwrap(), &["accepted as a whole", "3.00"]);
}

// EP-15, EP-11.
#[test]
fn the_memo_has_the_documents_output() {
    let mut stage = Stage::example();
    let mut names = facts(BOTH, &["employees", "departments"]);
    names.columns = vec!["employees.salary".into()];
    let salary = Literal { table: None, column: Some("salary".into()), text: "50000".into() };
    names.literals = vec![salary, Literal { table: None, column: None, text: "x".into() }];
    stage.tables.insert(BOTH.to_owned(), names);
    let reported = memo(&stage.solve());
    assert_eq!(
        (&reported["sql"], &reported["reward"], &reported["iterations"]),
        (&json!(BOTH), &json!(1.0), &json!(3))
    );
    assert_eq!(reported["plan"].as_array().unwrap().len(), 3);
    assert_eq!(reported["judgement"], "it is right");
    let last = &reported["subtasks"][2];
    assert_eq!(
        (&last["status"], &last["confidence"], &last["reward"]),
        (&json!("done"), &json!(0.9), &json!(1.0))
    );
    let context = &reported["context"];
    assert_eq!(context["tables"], json!(["employees", "departments"]));
    assert_eq!(
        (&context["filters"], &context["columns"]),
        (&json!(["salary: 50000"]), &json!(["employees.salary"]))
    );
    assert_eq!(context["joins"], json!(["employees(department) = departments(name)"]));
    assert_eq!(context["metadata"], json!({ "syntax_errors": 0, "semantic_errors": 0 }));
    assert_eq!(context["done"][1], json!({ "operation": "keep Engineering", "rows": 5 }));
    assert_eq!(reported["branches"].as_array().unwrap().len(), 1);
    assert_eq!(
        (&reported["branches"][0]["cumulative_reward"], &reported["branches_explored"]),
        (&json!(3.0), &json!(1))
    );
    assert_eq!(reported["result"], json!({ "rows": 2, "columns": ["name"] }));
    assert_eq!(reported["branches"][0]["done"], json!(["1", "2", "3"]));
    assert_eq!(reported["branches"][0]["tables"], json!(["employees", "departments"]));
}

#[test]
fn the_context_may_be_the_latest_step_alone() {
    fn prompt_of(context: Accumulation) -> String {
        let mut stage = Stage::example();
        stage.tables.insert(IN.to_owned(), facts(IN, &["employees"]));
        stage.settings.context = context;
        stage.solve();
        stage.prompts(&Generate).remove(2)
    }
    assert_has(
        &prompt_of(Accumulation::All),
        &["read employees (10", "keep Engineering (5", "reads the tables: employees"],
    );
    let latest = prompt_of(Accumulation::Latest);
    assert_has(&latest, &["Done, step 2: keep Engineering (5 rows)", IN]);
    assert_lacks(&latest, &["read employees (10", "reads the tables"]);
}

fn reply_confidences(confidences: &JsonValue) -> Result<Reply, LlmError> {
    Ok(reply("", Some(&json!({ "updated_confidences": confidences }))))
}

// EP-10: written and never called in the reference.
#[test]
fn confidences_are_recalculated_after_each_execution_and_change_the_order() {
    let mut stage = Stage::example();
    stage.settings.recalculate_every = 1;
    let swapped = json!({ "2": 0.3, "3": 0.99, "1": 0.1, "9": 1 });
    stage
        .host
        .model
        .script(&Calibrate, reply_confidences(&swapped))
        .script(&Calibrate, reply_confidences(&json!({ "2": 1.4 })));
    let outcome = stage.solve();
    assert_eq!(
        stage.purposes(),
        [Generate, Judge, Calibrate, Generate, Judge, Calibrate, Generate, Judge, Judge]
    );
    assert_has(&stage.prompts(&Generate)[1], &["Your step now, filter: keep salaries over 50000"]);
    let asked = stage.prompts(&Calibrate);
    assert_has(
        &asked[0],
        &["Done, step 1: read employees", "2. [0.92] keep Engineering", "3. [0.90] keep salaries"],
    );
    assert_lacks(&asked[1], &["3. [0.99]"]);
    let request = &stage.host.model.requests()[2];
    assert_eq!((request.max_tokens, request.temperature), (Some(1024), Some(0.0)));
    let reported = memo(&outcome);
    let confidences: Vec<f64> =
        (0..3).map(|at| reported["subtasks"][at]["confidence"].as_f64().unwrap()).collect();
    assert_eq!(confidences, [0.95, 1.0, 0.99]);
    assert_eq!(
        stage.events("recalculated")[0]["confidences"],
        json!({ "2": [0.92, 0.3], "3": [0.9, 0.99] })
    );
}

#[test]
fn a_failed_recalculation_changes_nothing_and_is_reported() {
    let mut stage = Stage::example();
    stage.settings.recalculate_every = 1;
    stage
        .host
        .model
        .script(&Calibrate, Err(LlmError::Malformed("hm".into())))
        .script(&Calibrate, reply_confidences(&json!({})));
    assert_eq!(stage.answer().unwrap(), BOTH);
    let notes = stage.host.trace.notes().join("\n");
    assert_has(
        &notes,
        &["stay as they are: the model's reply has another shape", "names no remaining sub-task"],
    );
    // What the provider cannot do is not asked twice.
    let mut stage = Stage::example();
    stage.settings.recalculate_every = 1;
    assert_eq!(stage.answer().unwrap(), BOTH);
    assert_eq!(stage.prompts(&Calibrate).len(), 1);
    assert_has(&stage.host.trace.notes().join("\n"), &["and will not be recalculated"]);
}

#[test]
fn recalculation_has_an_interval_a_limit_and_a_model() {
    let mut stage = Stage::example();
    stage.settings = Settings {
        recalculate_every: 2,
        recalculation_max_tokens: 77,
        confidence_temperature: 0.4,
        model_subtasks: "thinker".into(),
        ..Settings::default()
    };
    stage.host.model.script(&Calibrate, reply_confidences(&json!({ "3": 0.9 })));
    stage.solve();
    assert_eq!(
        stage.purposes(),
        [Generate, Judge, Generate, Judge, Calibrate, Generate, Judge, Judge]
    );
    let request = &stage.host.model.requests()[4];
    assert_eq!(
        (request.max_tokens, request.temperature, request.model.as_deref()),
        (Some(77), Some(0.4), Some("thinker"))
    );
}

// EP-06: at or above the threshold a sub-task is executed at once; below it, confidences are looked
// at anew before.
#[test]
fn a_sub_task_below_the_threshold_waits_for_a_recalculation() {
    for (threshold, recalculations) in [(0.85, 0), (0.91, 1), (0.95, 2)] {
        let mut stage = Stage::example();
        stage.settings = Settings {
            recalculate_every: 9,
            high_confidence_threshold: threshold,
            ..Settings::default()
        };
        for _ in 0..2 {
            stage.host.model.script(&Calibrate, reply_confidences(&json!({ "3": 0.9 })));
        }
        stage.solve();
        assert_eq!(stage.prompts(&Calibrate).len(), recalculations, "{threshold}");
    }
}

#[test]
fn without_sub_tasks_the_question_is_the_one_step() {
    let mut stage = Stage::new(&[]);
    stage.runs(BOTH, 2).generates(BOTH).judges(&[YES]);
    assert_eq!(stage.answer().unwrap(), BOTH);
    assert_eq!(stage.purposes(), [Generate, Judge]);
    assert_lacks(&stage.prompts(&Generate)[0], &["step by step", "Your step now"]);
    assert_lacks(&stage.prompts(&Judge)[0], &["this step:"]);
}

#[test]
fn rounds_are_bounded_and_the_rest_is_reported() {
    let mut stage = Stage::example();
    stage.settings.max_iterations = 2;
    let outcome = stage.solve();
    assert_eq!(outcome.candidates[0].sql, IN);
    assert_eq!(memo(&outcome)["subtasks"][2]["status"], "waiting");
    assert_has(&stage.host.trace.notes().join("\n"), &["2 rounds are used up"]);
    // As it is not the whole, it is judged as the whole.
    assert_lacks(stage.prompts(&Judge).last().unwrap(), &["this step:"]);
}

// A part is no answer of the model's confidence in a step.
#[test]
fn an_unaccepted_part_is_as_sure_as_its_share_of_the_sub_tasks() {
    let solved = |whole: &str| {
        let mut stage = Stage::new(&[
            subtask(1, "read employees", 0.95, &[]),
            subtask(2, "keep Engineering", 0.9, &[1]),
        ]);
        stage.settings.max_iterations = 1;
        stage.settings.alternatives = 0;
        stage.runs(ALL, 10).generates(ALL).judges(&[YES, whole]);
        let outcome = stage.solve();
        (outcome.candidates[0].clone(), memo(&outcome), stage)
    };
    let (candidate, reported, stage) = solved("I cannot say");
    assert_eq!((candidate.sql.as_str(), candidate.raw_confidence), (ALL, Some(0.4)));
    assert_has(
        candidate.rationale.as_deref().unwrap(),
        &["1 of 2 sub-tasks are done", "scaled by that share"],
    );
    assert_eq!(reported["reason"], "not judged as a whole, with 1 of 2 sub-tasks done");
    assert_has(&stage.host.trace.kept("A.1").unwrap(), &["with 1 of 2 sub-tasks done"]);
    let (candidate, reported, _) = solved(YES);
    assert_eq!(
        (candidate.raw_confidence, &reported["reason"]),
        (Some(0.8), &json!("accepted as a whole"))
    );
    assert_lacks(candidate.rationale.as_deref().unwrap(), &["scaled"]);
}

// Nothing was done step by step, and the statement was written for the whole all the same.
#[test]
fn a_statement_for_the_whole_is_no_part() {
    let mut stage = Stage::new(&[
        subtask(1, "read employees", 0.95, &[]),
        subtask(2, "keep Engineering", 0.9, &[1]),
    ]);
    stage.settings = Settings {
        alternatives: 1,
        max_branch_depth: 1,
        max_iterations: 1,
        recalculate_every: 0,
        ..Settings::default()
    };
    stage.runs(ALL, 10).runs(IN, 5).runs(BOTH, 2);
    stage.generates(ALL).repairs(IN).repairs(BOTH);
    stage.judges(&[&no("FILTERS", "off"), &no("FILTERS", "off"), "I cannot say"]);
    let outcome = stage.solve();
    assert_eq!(
        (outcome.candidates[0].sql.as_str(), outcome.candidates[0].raw_confidence),
        (BOTH, Some(0.8))
    );
}

#[test]
fn steps_may_go_unjudged_and_count_a_half() {
    let mut stage = Stage::example();
    stage.settings.judge_steps = false;
    let outcome = stage.solve();
    assert_eq!(stage.purposes(), [Generate, Generate, Generate, Judge]);
    assert_eq!(
        (&outcome.candidates[0].sql, memo(&outcome)["branches"][0]["cumulative_reward"].as_f64()),
        (&BOTH.to_owned(), Some(1.5))
    );
}

// EP-12: executed and not judged is 0.5; it is no yes, and no branch is made for it.
#[test]
fn what_cannot_be_judged_is_neither_a_yes_nor_a_no() {
    let mut stage = Stage::new(&example());
    stage.runs(ALL, 10).runs(IN, 5).runs(BOTH, 2);
    stage.generates(ALL).generates(IN).generates(BOTH).judges(&["Yes, but wrong table"; 4]);
    let outcome = stage.solve();
    assert_eq!((outcome.candidates[0].sql.as_str(), outcome.candidates[0].score), (BOTH, None));
    let reported = memo(&outcome);
    assert_eq!(
        (&reported["reward"], &reported["reason"]),
        (&JsonValue::Null, &json!("not judged as a whole"))
    );
    assert_eq!(reported["branches"][0]["cumulative_reward"], 1.5);
    assert_eq!(reported["branches_explored"], 1);
    assert_has(
        &stage.host.trace.notes().join("\n"),
        &["A.1 is not judged: the judge gave no verdict", "the whole is not judged"],
    );
}

#[test]
fn statements_have_a_model_and_a_limit_and_dependencies_rows() {
    fn parent() -> syrch_plugin::roles::Parent {
        Parent {
            task: Task::new("P", "the parents"),
            output: Output::Relation(Box::new(Relation {
                name: "task_P".into(),
                candidate: Candidate::default(),
                results: rows(3).handle(),
            })),
            memo: None,
        }
    }
    let asked = |parent_rows: u32| {
        let mut stage = Stage::example();
        stage.settings.sql_max_tokens = 88;
        stage.settings.model_sql = "coder".into();
        stage.settings.parent_rows = parent_rows;
        stage.solve_with(&[parent()]).unwrap();
        (stage.host.model.requests().remove(0), stage.host.model.prompt(0))
    };
    let (request, prompt) = asked(1);
    assert_eq!(
        (request.model.as_deref(), request.max_tokens, request.temperature),
        (Some("coder"), Some(88), None)
    );
    assert!(prompt.contains("person 3-0") && !prompt.contains("person 3-1"), "{prompt}");
    assert!(!asked(0).1.contains("person"));
}

// EP-09: only what does not parse is repaired; the error's kind says so, not its text.
#[test]
fn syntax_is_repaired_so_often_and_other_errors_are_not() {
    let solved = |retries: u32, attempts: u32| {
        let mut stage = Stage::new(&[]);
        stage.settings =
            Settings { max_syntax_retries: retries, alternatives: 0, ..Settings::default() };
        stage.host.policy.max_attempts = attempts;
        stage
            .host
            .database
            .fail_check("SELEC", sql_error(SqlErrorKind::Syntax, "no such table in sight"));
        stage.runs(BOTH, 2).generates("SELEC").repairs("SELEC 1").repairs(BOTH).judges(&[YES]);
        (stage.answer(), stage)
    };
    let (answer, stage) = solved(2, 3);
    assert_eq!(
        (answer.as_deref(), stage.purposes()),
        (Some(BOTH), vec![Generate, Repair, Repair, Judge])
    );
    assert_has(
        &stage.prompts(&Repair)[1],
        &["SELEC\n", "no such table in sight", "SELEC 1\n", "balanced parentheses"],
    );
    assert_eq!(stage.proposals()[2], ("A.3".into(), "A.2".into(), "repair".into()));
    assert_eq!(solved(1, 3).0, None);
    assert_eq!(solved(2, 1).0, None);

    let mut stage = Stage::new(&[]);
    stage.settings.alternatives = 0;
    stage.settings.dependents = Dependents::Skip;
    stage.host.database.fail_check(ALL, sql_error(SqlErrorKind::UnknownTable, "syntax error near"));
    stage.generates(ALL);
    assert_eq!((stage.answer(), stage.purposes()), (None, vec![Generate]));
    assert_has(&stage.host.trace.discarded("A.1").unwrap(), &["wrong_table: "]);
}
