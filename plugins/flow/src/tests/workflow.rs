//! Rows PF-20 to PF-27, and the defects of the reference the other way round.

use super::*;

#[test]
fn a_statement_is_generated_from_the_schema_and_executed() {
    let mut host = FakeHost::default();
    says(&mut host, &Purpose::Generate, &["SELECT 1 ;\n"]);
    database(&mut host);
    let candidates = solve_candidates(&host, text2sql());

    assert_eq!(ids(&candidates), ["A.1"]);
    assert_eq!(
        (candidates[0].sql.as_str(), candidates[0].origin.as_str()),
        ("SELECT 1", "generate")
    );
    assert_eq!(candidates[0].raw_confidence, Some(0.85));
    assert_eq!((candidates[0].signals.attempts, candidates[0].signals.max_attempts), (1, 3));
    assert_eq!(candidates[0].tokens(), 10.0);
    assert_eq!(host.database.log(), ["SELECT 1"]);
    assert_eq!(host.trace.kept("A.1").unwrap(), "it executed at attempt 1 of 3");
    let requests = host.model.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].purpose, Purpose::Generate);
    assert_eq!(requests[0].expect, Shape::Yaml(vec!["sql".into()]));
    // One user message, and the model's own temperature.
    assert_eq!((requests[0].messages.len(), requests[0].messages[0].speaker), (1, Speaker::User));
    assert_eq!(requests[0].temperature, None);
    let prompt = host.model.prompt(0);
    let schema = "Table: customers\n  - id (INTEGER)\n  - name (TEXT)\n\n\
                  Table: orders\n  - id (INTEGER)\n  - total (REAL)\n";
    for part in [schema, "How much was sold?", "one SQL SELECT", "```yaml\nsql: |"] {
        assert!(prompt.contains(part), "{part} is missing in {prompt}");
    }
    assert!(
        !prompt.contains("not shown")
            && !prompt.contains("primary key")
            && !prompt.contains("Tables:"),
        "{prompt}"
    );
}

#[test]
fn a_failed_statement_is_repaired_with_its_error() {
    let mut host = FakeHost::default();
    says(&mut host, &Purpose::Generate, &["BAD 1"]);
    says(&mut host, &Purpose::Repair, &["BAD 2", "SELECT 3"]);
    database(&mut host);
    let candidates = solve_candidates(&host, text2sql());

    assert_eq!(ids(&candidates), ["A.3"]);
    assert_eq!(
        (candidates[0].parents.as_slice(), candidates[0].origin.as_str()),
        (["A.2".to_owned()].as_slice(), "repair")
    );
    assert_eq!((candidates[0].signals.attempts, candidates[0].signals.execution_errors), (3, 2));
    assert_eq!(host.trace.discarded("A.1").unwrap(), "no such column: c1");
    assert_eq!(purposes(&host), [Purpose::Generate, Purpose::Repair, Purpose::Repair]);
    assert_eq!(host.model.requests()[2].subjects, ["BAD 2"]);
    assert_eq!(host.model.requests()[2].expect, Shape::Yaml(vec!["sql".into()]));
    let last = host.model.prompt(2);
    for part in
        ["BAD 2", "no such column: c2", "How much was sold?", "Table: orders", "```yaml\nsql: |"]
    {
        assert!(last.contains(part), "{part} is missing in {last}");
    }
    // The workflow shows the last failure alone.
    assert!(!last.contains("BAD 1") && !last.contains("c1"), "{last}");
}

#[test]
fn three_attempts_are_three_executions_and_two_repairs() {
    let mut host = FakeHost::default();
    says(&mut host, &Purpose::Generate, &["BAD 1"]);
    says(&mut host, &Purpose::Repair, &["BAD 2", "BAD 3", "SELECT 4"]);
    database(&mut host);
    let why = failure_reason(&host, text2sql());
    assert_eq!(why, "Failed to execute SQL after 3 attempts. Last error: no such column: c3");
    assert_eq!(host.database.log(), ["BAD 1", "BAD 2", "BAD 3"]);
    assert_eq!(purposes(&host), [Purpose::Generate, Purpose::Repair, Purpose::Repair]);
}

// PF-D3: writes were executed, and a statement with a comment before it lost its rows. What may run
// is the host's rule here.
#[test]
fn a_write_is_an_error_like_any_other() {
    let mut host = FakeHost::default();
    says(&mut host, &Purpose::Generate, &["DROP TABLE orders"]);
    says(&mut host, &Purpose::Repair, &["-- all\nSELECT 1"]);
    host.database
        .fail_check(
            "DROP TABLE orders",
            sql_error(SqlErrorKind::WriteRefused, "this would change something"),
        )
        .answer("-- all\nSELECT 1", numbers(&[1]));
    assert_eq!(ids(&solve_candidates(&host, text2sql())), ["A.2"]);
    assert_eq!(host.database.log(), ["-- all\nSELECT 1"]);
    assert!(host.model.prompt(1).contains("this would change something"));
}

// PF-D4: a reply without the block ended the run with an exception.
#[test]
fn a_reply_of_another_shape_is_asked_for_once_more() {
    let mut host = FakeHost::default();
    host.model.script(&Purpose::Generate, Err(LlmError::Malformed("I'd rather".into())));
    says(&mut host, &Purpose::Generate, &["BAD 1"]);
    says(&mut host, &Purpose::Repair, &[" ; ", "SELECT 2"]);
    database(&mut host);
    let candidates = solve_candidates(&host, text2sql());
    assert_eq!(ids(&candidates), ["A.2"]);
    // It costs calls, and no execution.
    assert_eq!((candidates[0].signals.attempts, candidates[0].signals.syntax_errors), (2, 2));
    assert_eq!(samples(&host), [0, 1, 1, 2]);
    // The second request says what was wrong with the reply to the first.
    assert!(!host.model.prompt(0).contains("could not be used"));
    assert!(
        host.model.prompt(1).contains("Your last reply could not be used: ")
            && host.model.prompt(1).contains("I'd rather")
    );
    assert!(
        !host.model.prompt(2).contains("could not be used")
            && host.model.prompt(3).contains("the statement is empty")
    );
    assert!(
        host.trace.notes()[0]
            .contains("it is asked again; the reply held no statement; it began: I'd rather"),
        "{:?}",
        host.trace.notes()
    );
}

#[test]
fn a_second_reply_of_another_shape_is_an_honest_failure() {
    let mut host = FakeHost::default();
    for _ in 0..3 {
        host.model.script(&Purpose::Generate, Err(LlmError::Malformed("no".into())));
    }
    let why = failure_reason(&host, text2sql());
    assert_eq!(
        why,
        "the model's reply was not the YAML block that was asked for, twice in a row; the reply \
         held no statement; it began: no"
    );
    assert_eq!(host.model.requests().len(), 2);
}

// PF-D5: an empty but wrong result counted as success without a word.
#[test]
fn an_empty_result_counts_in_the_signals_and_is_reported() {
    let mut host = FakeHost::default();
    says(&mut host, &Purpose::Generate, &["SELECT none"]);
    database(&mut host);
    let candidates = solve_candidates(&host, text2sql());
    assert!(candidates[0].signals.empty_result);
    assert_eq!(candidates[0].raw_confidence, Some(0.7));
    assert_eq!(
        host.trace.kept("A.1").unwrap(),
        "it executed at attempt 1 of 3; the result has no rows"
    );
}

#[test]
fn finished_dependencies_and_the_task_stand_in_the_prompt() {
    let mut host = FakeHost::default();
    let relation = Relation {
        name: "task_b".into(),
        candidate: Candidate::default(),
        results: numbers(&[16]).handle(),
    };
    let parent = Parent {
        task: Task::new("B", "best customers"),
        output: Output::Relation(Box::new(relation)),
        memo: None,
    };
    says(&mut host, &Purpose::Generate, &["SELECT 1"]);
    database(&mut host);
    let task = Task::new("A", "what they bought");
    let solver = FlowSolver::new(text2sql());
    solver.solve(&host, &Problem::new("Who?"), &catalog(), &task, &[parent]).unwrap();
    let prompt = host.model.prompt(0);
    for part in [
        "Question: Who?",
        "Your task is this part of it: what they bought",
        "in FROM as task_b (n), 1 row",
        "n\n16\n",
    ] {
        assert!(prompt.contains(part), "{part} is missing in {prompt}");
    }
}

#[test]
fn a_result_of_which_the_host_warns_is_repaired_and_stays_without_a_better_one() {
    for (second, best) in [("SELECT 2", "SELECT 2"), ("BAD 1", "SELECT 1")] {
        let mut host = FakeHost::default();
        database(&mut host);
        host.database.answer(
            "SELECT 1",
            numbers(&[1]).with_warning("8 of 344 values of mass are no numbers"),
        );
        says(&mut host, &Purpose::Generate, &["SELECT 1"]);
        says(&mut host, &Purpose::Repair, &[second, "BAD 2"]);
        let candidates = solve_candidates(&host, text2sql());
        assert_eq!(candidates[0].sql, best);
        assert!(
            host.model.prompt(1).contains("What was wrong: 8 of 344 values of mass are no numbers")
        );
        if best == "SELECT 1" {
            assert!(candidates[0].raw_confidence.unwrap() <= 0.5);
        }
    }
}
