//! The generators, the repairs, and what a provider, a database or a budget does to them.

use syrch_plugin::replies::plan_context;

use super::*;

#[test]
fn each_generator_draws_in_its_own_way() {
    let host = draws(&["SELECT 1"; 5]);
    let candidates = solve_candidates(&host, Settings::default());
    assert_eq!(ids(&candidates), ["A.1"]);
    let requests = host.model.requests();
    assert_eq!(requests.iter().map(|request| request.sample).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    for request in &requests {
        assert_eq!((&request.purpose, &request.expect), (&Purpose::Generate, &Shape::Sql));
        assert_eq!(request.temperature, Some(1.0));
    }
    let settings = [
        "its plan in three steps",
        "its plan in three steps",
        "Divide and conquer",
        "Divide and conquer",
    ];
    for (place, manner) in settings.iter().enumerate() {
        assert_parts(
            &host.model.prompt(place),
            &[manner, "Table orders", "How much was sold?", "```sql fence"],
        );
    }
    assert_parts(&host.model.prompt(4), &["make up 3 questions that these tables can answer"]);
    let origins: Vec<String> = host
        .trace
        .lines()
        .into_iter()
        .filter_map(|line| {
            if let Traced::Proposed(candidate) = line { Some(candidate.origin) } else { None }
        })
        .collect();
    assert_eq!(
        origins,
        ["query-plan", "query-plan", "divide-and-conquer", "divide-and-conquer", "direct"]
    );
    // The same text runs once.
    assert_eq!(host.database.log(), ["SELECT 1"]);
    assert_eq!(candidates[0].tokens(), 10.0);
}

#[test]
fn the_plan_of_the_task_is_for_its_generator_alone() {
    let host = draws(&["SELECT 1"; 3]);
    let context = plan_context(&["Find the relevant tables: orders".to_owned()]);
    let task = Task { context, ..Task::new("A", "How much was sold?") };
    let settings = Settings { query_plan: 1, divide_and_conquer: 1, ..Settings::default() };
    solve_task(&host, settings, &task).unwrap();
    assert_parts(
        &host.model.prompt(0),
        &["Work along the plan", "1. Find the relevant tables: orders"],
    );
    for place in 1..3 {
        assert!(!host.model.prompt(place).contains("Find the relevant tables"));
    }
    assert!(!host.model.prompt(0).contains("its plan in three steps"));
}

#[test]
fn what_else_the_context_carries_stays() {
    let host = draws(&["SELECT 1"]);
    let key = json!({ "left": "A", "left_col": "id", "right": "B", "right_col": "order id" });
    let context = Some(json!({ "plan": ["one"], "join_keys": [key] }).to_string());
    let task = Task { context, ..Task::new("A", "x") };
    let relation = Relation {
        name: "task_b".into(),
        candidate: Candidate::default(),
        results: numbers(&[16]).handle(),
    };
    let output = Output::Relation(Box::new(relation));
    let parent = Parent { task: Task::new("B", "the orders"), output, memo: None };
    let settings = Settings { parent_rows: 0, ..direct(1) };
    Chase::new(settings).solve(&host, &Problem::new("q"), &catalog(), &task, &[parent]).unwrap();
    assert_parts(
        &host.model.prompt(0),
        &["task_b.\"order id\" matches id", "in FROM as task_b (n), 1 row"],
    );
    assert!(!host.model.prompt(0).contains("Its first rows"));
}

#[test]
fn stored_examples_stand_in_the_direct_prompt() {
    fn hit(number: u32) -> syrch_plugin::prelude::Hit {
        Hit {
            corpus: Corpus::Examples,
            id: number.to_string(),
            path: format!("example {number}"),
            table: None,
            column: None,
            snippet: None,
            payload: Some(
                json!({
                    "question": format!("Question {number}?"), "sql": format!("SELECT '{number}'")
                })
                .to_string(),
            ),
            score: 1.0,
        }
    }
    let mut host = draws(&["SELECT 1"; 2]);
    host.retrieval.script(
        &Corpus::Examples,
        &Retriever::Lexical,
        vec![hit(1), Hit { payload: None, ..hit(2) }, hit(3)],
    );
    solve_candidates(&host, Settings { examples: 2, ..direct(1) });
    assert_eq!(host.retrieval.queries()[0].text, "How much was sold?");
    assert_parts(&host.model.prompt(0), &["Question: Question 1?\nSQL: SELECT '1'"]);
    assert!(
        !host.model.prompt(0).contains("Question 3?") && !host.model.prompt(0).contains("make up")
    );

    solve_candidates(&host, Settings { examples: 0, ..direct(1) });
    assert!(
        !host.model.prompt(1).contains("Question 1?") && !host.model.prompt(1).contains("make up")
    );
    assert_eq!(host.retrieval.queries().len(), 1);
}

#[test]
fn a_generator_can_be_turned_off_but_not_all_of_them() {
    let host = draws(&["SELECT 1"; 3]);
    solve_candidates(
        &host,
        Settings {
            query_plan: 0,
            direct: 0,
            divide_and_conquer: 3,
            temperature: 0.5,
            ..Settings::default()
        },
    );
    let requests = host.model.requests();
    assert_eq!((requests.len(), requests[2].temperature), (3, Some(0.5)));
    assert!((0..3).all(|place| host.model.prompt(place).contains("Divide and conquer")));
    assert!(host.retrieval.queries().is_empty());

    let failure = solve(&host, direct(0)).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Input);
    assert!(failure.message.contains("no generator is turned on"));
}

#[test]
fn each_failed_candidate_is_repaired_with_its_error() {
    let mut host = draws(&["BAD 1", "SELECT 2", "BAD 3"]);
    says(&mut host, &Purpose::Repair, &["SELECT 2", "BAD 4"]);
    let candidates = solve_candidates(
        &host,
        Settings { query_plan: 1, divide_and_conquer: 1, ..Settings::default() },
    );
    // The repairs come after all draws, concurrently.
    let purposes: Vec<Purpose> =
        host.model.requests().into_iter().map(|request| request.purpose).collect();
    assert_eq!(purposes[3..], [Purpose::Repair, Purpose::Repair]);
    let requests = host.model.requests();
    assert_eq!(
        (requests[3].subjects[0].as_str(), requests[4].subjects[0].as_str()),
        ("BAD 1", "BAD 3")
    );
    assert_parts(&host.model.prompt(3), &["BAD 1", "no such column: c1", "How much was sold?"]);
    assert_parts(&host.model.prompt(4), &["BAD 3", "no such column: c3"]);

    assert_eq!(ids(&candidates), ["A.4"]);
    assert_eq!(
        (candidates[0].parents[0].as_str(), candidates[0].origin.as_str()),
        ("A.1", "query-plan repair")
    );
    let signals = &candidates[0].signals;
    assert_eq!((signals.attempts, signals.max_attempts, signals.execution_errors), (2, 2, 1));
    assert_eq!((signals.samples, signals.agreeing), (3, 2));
    assert_eq!(host.trace.discarded("A.1").unwrap(), "no such column: c1");
    assert_eq!(host.trace.discarded("A.5").unwrap(), "no such column: c4");
    assert_eq!(host.trace.discarded("A.2").unwrap(), "it has the same result as A.4");
}

#[test]
fn repairs_are_bounded_by_the_setting_and_the_policy() {
    for (repairs, attempts, asked_for) in [(0, 3, 0), (1, 3, 1), (5, 3, 2), (5, 9, 5), (5, 1, 0)] {
        let mut host = draws(&["BAD 1"]);
        host.policy.max_attempts = attempts;
        says(&mut host, &Purpose::Repair, &["BAD 2"; 9]);
        let outcome = solve(&host, Settings { repairs, ..direct(1) }).unwrap();
        assert!(outcome.candidates.is_empty());
        assert_eq!(count_requests(&host, &Purpose::Repair), asked_for);
        let wrong = if asked_for == 0 { "c1" } else { "c2" };
        assert_eq!(
            *host.trace.notes().last().unwrap(),
            format!("none of 1 candidate did: no such column: {wrong}")
        );
        assert!(outcome.memo.unwrap().contains("none of 1 candidate did"));
    }
}

/// The one-shot baseline of the design document (EP-17): one statement along the plan, executed,
/// and nothing else.
#[test]
fn one_statement_along_the_plan_is_a_setting() {
    let settings = Settings {
        query_plan: 1,
        divide_and_conquer: 0,
        direct: 0,
        repairs: 0,
        ..Settings::default()
    };
    for (statement, candidates) in [("SELECT 1", 1), ("BAD 1", 0)] {
        let host = draws(&[statement]);
        assert_eq!(solve(&host, settings.clone()).unwrap().candidates.len(), candidates);
        assert_eq!((host.model.requests().len(), host.database.log().len()), (1, 1));
    }
}

#[test]
fn a_statement_without_rows_is_repaired_on_request() {
    let with = |second: &str| {
        let mut host = draws(&["SELECT none"]);
        says(&mut host, &Purpose::Repair, &[second]);
        let candidates = solve_candidates(&host, Settings { repair_empty: true, ..direct(1) });
        assert_parts(&host.model.prompt(1), &["SELECT none", "the result has no rows"]);
        (ids(&candidates)[0].to_owned(), host)
    };
    let (used, host) = with("SELECT 1");
    assert_eq!(
        (used.as_str(), host.trace.discarded("A.1").unwrap().as_str()),
        ("A.2", "it has no rows; its repair A.2 has")
    );
    let (used, _) = with("BAD 1");
    assert_eq!(used, "A.1");
    let mut host = draws(&["SELECT none"]);
    host.database.answer("SELECT  none", numbers(&[]));
    says(&mut host, &Purpose::Repair, &["SELECT  none"]);
    assert_eq!(
        ids(&solve_candidates(&host, Settings { repair_empty: true, ..direct(1) })),
        ["A.1"]
    );
    assert_eq!(host.trace.discarded("A.2").unwrap(), "it has no rows either, as A.1");

    let host = draws(&["SELECT none"]);
    let candidates = solve_candidates(&host, direct(1));
    assert!(candidates[0].signals.empty_result);
    assert_eq!(count_requests(&host, &Purpose::Repair), 0);
}

#[test]
fn a_reply_without_a_statement_is_drawn_anew() {
    let mut host = FakeHost::default();
    host.model.script(&Purpose::Generate, Err(LlmError::Malformed("I cannot".into())));
    says(&mut host, &Purpose::Generate, &["SELECT 1", "SELECT 1"]);
    database(&mut host);
    let candidates = solve_candidates(&host, direct(2));
    let samples: Vec<u32> = host.model.requests().iter().map(|request| request.sample).collect();
    assert_eq!(samples, [0, 1, 2]);
    assert_parts(&host.model.prompt(2), &["it began: I cannot"]);
    assert_eq!(candidates[0].signals.agreeing, 2);
}

#[test]
fn a_provider_that_only_writes_statements_will_do() {
    // Of five draws it has two, and no word on which is better.
    let mut host = draws(&["SELECT 1", "SELECT 2", "BAD 1"]);
    says(&mut host, &Purpose::Repair, &["SELECT 2"]);
    let candidates = solve_candidates(&host, Settings::default());
    assert_eq!(ids(&candidates), ["A.2", "A.1"]);
    assert_eq!(candidates[0].raw_confidence, Some(2.0 / 3.0));
    let notes = host.trace.notes();
    assert!(
        notes[0].starts_with("A: 2 of 5 calls came to nothing: the model provider cannot do this"),
        "{notes:?}"
    );
    assert!(notes[1].starts_with("A: a comparison came to nothing"), "{notes:?}");
}

#[test]
fn a_model_that_abstains_gives_no_candidate_and_no_failure() {
    let host = FakeHost::default();
    let outcome = solve(&host, Settings::default()).unwrap();
    assert!(outcome.candidates.is_empty());
    assert!(outcome.memo.unwrap().contains("cannot do this"));
    assert_eq!(host.model.requests().len(), 5);
}

#[test]
fn an_outage_or_a_spent_budget_fails_only_with_empty_hands() {
    for (error, kind) in [
        (LlmError::Budget, FailureKind::Budget),
        (LlmError::Unavailable("refused".into()), FailureKind::Model),
    ] {
        let mut host = FakeHost::default();
        host.model.script(&Purpose::Generate, Err(error.clone()));
        assert_eq!(solve(&host, direct(1)).unwrap_err().kind, kind);

        let mut host = draws(&["SELECT 1", "BAD 1"]);
        host.model.script(&Purpose::Generate, Err(error));
        says(&mut host, &Purpose::Repair, &["SELECT 2"]);
        assert_eq!(ids(&solve_candidates(&host, direct(3))), ["A.1"]);
        // Nothing more is asked.
        assert_eq!(count_requests(&host, &Purpose::Repair), 0);
        assert!(host.trace.notes().iter().any(|note| note.contains("going on with what there is")));
    }
}

#[test]
fn a_database_that_is_gone_is_a_failure() {
    let mut host = draws(&["SELECT 1", "SELECT 2"]);
    host.database.fail_run("SELECT 1", sql_error(SqlErrorKind::Unavailable, "the file is locked"));
    host.database.fail_run("SELECT 2", sql_error(SqlErrorKind::Unavailable, "the file is locked"));
    let failure = solve(&host, direct(2)).unwrap_err();
    assert_eq!((failure.kind, failure.retryable), (FailureKind::Database, true));
    assert_eq!(host.trace.discarded("A.2").unwrap(), "the file is locked");
    assert_eq!(count_requests(&host, &Purpose::Repair), 0);
}

#[test]
fn prompts_that_are_too_long_are_shortened() {
    let mut host = draws(&["SELECT 1"]);
    host.model.script(&Purpose::Generate, Err(LlmError::TooLarge));
    says(&mut host, &Purpose::Generate, &["SELECT 1"]);
    let problem = problem_with_example("How much was sold?");
    let task = Task::new("A", "How much was sold?");
    let outcome = Chase::new(direct(2)).solve(&host, &problem, &catalog(), &task, &[]).unwrap();
    assert_eq!(outcome.candidates[0].signals.agreeing, 2);
    // Only the one that was too long is asked again.
    assert_eq!(
        host.model.requests().iter().map(|request| request.sample).collect::<Vec<_>>(),
        [0, 1, 1]
    );
}

#[test]
fn the_largest_result_is_a_setting() {
    fn overflow(overflow_rows: u64) -> bool {
        let mut host = draws(&["SELECT 9"]);
        host.database.answer("SELECT 9", numbers(&[1]).counted(21));
        solve_candidates(&host, Settings { overflow_rows, ..direct(1) })[0].signals.overflow
    }
    assert_eq!((overflow(20), overflow(21)), (true, false));
}

#[test]
fn a_result_of_which_the_host_warns_is_repaired() {
    for (second, best) in
        [(numbers(&[2]), "SELECT 2"), (numbers(&[2]).with_warning("y"), "SELECT 1")]
    {
        let mut host = FakeHost::default();
        host.model.reply_sql("SELECT 1", None).reply_sql("SELECT 2", None);
        host.database.answer(
            "SELECT 1",
            numbers(&[1]).with_warning("8 of 344 values of mass are no numbers"),
        );
        host.database.answer("SELECT 2", second);
        let candidates = solve_candidates(&host, Settings { repairs: 1, ..direct(1) });
        assert_eq!(candidates.iter().map(|one| one.sql.as_str()).collect::<Vec<_>>(), [best]);
        assert!(host.model.prompt(1).contains("8 of 344 values of mass are no numbers"));
        let limit = if best == "SELECT 1" { 0.5 } else { 1.0 };
        assert!(candidates[0].raw_confidence.unwrap() <= limit);
    }
}
