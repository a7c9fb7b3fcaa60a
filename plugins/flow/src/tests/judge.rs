//! The judge of the neighbours (PF-28), which accepts nothing that it rejected; what it could not
//! judge stands.

use super::*;

/// The workflow with a judge after the execution, with these settings of it.
fn with_judge(settings: &Json, attempts: u32) -> Json {
    change_workflow(|nodes| {
        limit_executions(attempts)(nodes);
        nodes["execute"]["next"] = json!("judge");
        let on = if attempts == 1 { json!({}) } else { json!({ "rejected": "debug" }) };
        nodes["judge"] = json!({ "settings": settings, "on": on });
    })
}

fn judge_settings() -> Settings {
    settings(&with_judge(&json!({}), 3))
}

fn says_judge(host: &mut FakeHost, score: u32, verdict: &str, feedback: &str) {
    let judgement =
        json!({ "score": score, "reasoning": "because", "verdict": verdict, "feedback": feedback });
    host.model.script(&Purpose::Judge, Ok(reply("", Some(&judgement))));
}

#[test]
fn a_statement_that_the_judge_does_not_pass_is_written_anew_with_the_feedback() {
    let mut host = FakeHost::default();
    says(&mut host, &Purpose::Generate, &["SELECT 1"]);
    says(&mut host, &Purpose::Repair, &["SELECT 2"]);
    says_judge(&mut host, 4, "FAIL", "sum the totals");
    says_judge(&mut host, 8, "FAIL", "fine");
    database(&mut host);
    let candidates = solve_candidates(&host, judge_settings());

    assert_eq!(ids(&candidates), ["A.2"]);
    assert_eq!((candidates[0].score, candidates[0].signals.reward), (Some(0.8), Some(0.8)));
    assert_eq!(
        purposes(&host),
        [Purpose::Generate, Purpose::Judge, Purpose::Repair, Purpose::Judge]
    );
    assert_eq!(host.trace.discarded("A.1").unwrap(), "the judge did not pass it: sum the totals");
    assert!(
        host.model
            .prompt(2)
            .contains("What was wrong: it ran, but a judge did not pass it: sum the totals")
    );
    let judge = &host.model.requests()[1];
    let keys = ["score", "reasoning", "verdict", "feedback"].map(str::to_owned).to_vec();
    assert_eq!(
        (&judge.expect, judge.subjects.as_slice()),
        (&Shape::Yaml(keys), ["SELECT 1".to_owned()].as_slice())
    );
    for part in [
        "How much was sold?",
        "Table: orders",
        "SELECT 1",
        "1 row, with the columns n",
        "n\n1\n",
        "PASS or FAIL",
    ] {
        assert!(
            host.model.prompt(1).contains(part),
            "{part} is missing in {}",
            host.model.prompt(1)
        );
    }
}

#[test]
fn nothing_is_accepted_when_the_attempts_are_used_up() {
    for (attempts, executed) in [(1, 1), (2, 2), (9, 3)] {
        let mut host = FakeHost::default();
        says(&mut host, &Purpose::Generate, &["SELECT 1"]);
        says(&mut host, &Purpose::Repair, &["SELECT 2", "SELECT 3"]);
        for _ in 0..3 {
            says_judge(&mut host, 6, "FAIL", "wrong year");
        }
        database(&mut host);
        let why = failure_reason(&host, settings(&with_judge(&json!({}), attempts)));
        let times =
            if executed == 1 { "1 attempt".to_owned() } else { format!("{executed} attempts") };
        assert_eq!(
            why,
            format!("no statement passed the judge in {times}; its last feedback: wrong year")
        );
        assert_eq!(host.database.log().len(), executed);
    }
}

#[test]
fn the_score_that_passes_is_a_setting() {
    let mut host = FakeHost::default();
    says(&mut host, &Purpose::Generate, &["SELECT 1"]);
    says_judge(&mut host, 5, "FAIL", "so so");
    database(&mut host);
    assert_eq!(
        ids(&solve_candidates(&host, settings(&with_judge(&json!({ "pass_score": 5.0 }), 3)))),
        ["A.1"]
    );
}

#[test]
fn a_judge_that_cannot_judge_is_neither_a_yes_nor_a_no() {
    let mut host = FakeHost::default();
    says(&mut host, &Purpose::Generate, &["SELECT 1"]);
    database(&mut host);
    let candidates = solve_candidates(&host, judge_settings());
    assert_eq!((candidates[0].score, candidates[0].signals.reward), (None, None));
    assert!(candidates[0].raw_confidence.is_some_and(|sure| sure <= 0.5));
    let warned = Traced::Note(Level::Warn, host.trace.notes()[0].clone());
    assert!(
        host.trace.notes()[0].contains("A.1 is not judged") && host.trace.lines().contains(&warned)
    );
}

#[test]
fn the_judge_sees_as_many_rows_as_are_granted() {
    let seen = |granted, shown_rows| {
        let mut host = FakeHost::default();
        host.database.granted_rows = granted;
        says(&mut host, &Purpose::Generate, &["SELECT 1"]);
        says_judge(&mut host, 9, "PASS", "");
        host.database.answer("SELECT 1", numbers(&[71, 72, 73, 74]));
        solve_candidates(&host, settings(&with_judge(&json!({ "shown_rows": shown_rows }), 3)));
        let prompt = host.model.prompt(1);
        assert!(prompt.contains("4 rows"));
        ["71", "72", "73", "74"].iter().filter(|cell| prompt.contains(*cell)).count()
    };
    assert_eq!([seen(None, 3), seen(Some(2), 3), seen(Some(9), 3), seen(Some(9), 0)], [0, 2, 3, 0]);
}

#[test]
fn only_tries_that_pass_vote() {
    let mut host = FakeHost::default();
    says(&mut host, &Purpose::Generate, &["SELECT 1", "SELECT 2", "SELECT 1"]);
    for (score, verdict) in [(2, "FAIL"), (9, "PASS"), (1, "FAIL")] {
        says_judge(&mut host, score, verdict, "no");
    }
    database(&mut host);
    let candidates = solve_candidates(&host, vote_over(&with_judge(&json!({}), 1), 3));
    assert_eq!(ids(&candidates), ["A.2"]);
    assert_eq!(candidates[0].signals.samples, 3);
    // All judgements of a round are asked for together.
    assert_eq!(purposes(&host)[3..], [Purpose::Judge, Purpose::Judge, Purpose::Judge]);
}
