//! Tests the effect of each setting.

use super::*;

fn calls(settings: Settings, draws: &[&str], repairs: &[&str]) -> usize {
    count_requests(100, settings, draws, repairs)
}

fn count_requests(
    max_attempts: u32,
    settings: Settings,
    draws: &[&str],
    repairs: &[&str],
) -> usize {
    let mut host = host(draws, repairs);
    host.policy.max_attempts = max_attempts;
    solve(&host, settings);
    host.model.requests().len()
}

#[test]
fn rollouts_bound_the_calls() {
    let draws = ["SELECT 1", "SELECT 2", "SELECT 3", "SELECT 4", "SELECT 5"];
    assert_eq!(calls(whole(4, 9, 1), &draws, &[]), 4);
    assert_eq!(calls(whole(1, 9, 1), &draws, &[]), 1);
}

#[test]
fn width_and_depth_bound_the_tree() {
    let bad = ["BAD 1", "BAD 2", "BAD 3", "BAD 4", "BAD 5", "BAD 6", "BAD 7"];
    // Two draws with two repairs each; then the tree is full.
    assert_eq!(calls(whole(20, 2, 2), &bad, &bad[2..]), 6);
    assert_eq!(calls(whole(20, 2, 1), &bad, &[]), 2);
    assert_eq!(calls(whole(20, 1, 4), &bad, &bad[1..]), 4);
}

#[test]
fn the_users_attempts_bound_the_depth_and_not_the_draws() {
    let bad = ["BAD 1", "BAD 2", "BAD 3", "BAD 4", "BAD 5", "BAD 6", "BAD 7"];
    fn calls(bad: &[&str; 7], attempts: u32) -> usize {
        count_requests(attempts, whole(20, 2, 3), bad, &bad[2..])
    }
    assert_eq!([calls(&bad, 0), calls(&bad, 1), calls(&bad, 2)], [2, 2, 6]);
    fn chain(bad: &[&str; 7], attempts: u32) -> usize {
        count_requests(attempts, whole(20, 1, 3), bad, &bad[1..])
    }
    assert_eq!([chain(&bad, 1), chain(&bad, 2), chain(&bad, 3), chain(&bad, 9)], [1, 2, 3, 3]);
    let host = {
        let mut host = host(&bad, &bad[2..]);
        host.policy.max_attempts = 2;
        host
    };
    solve(&host, whole(20, 2, 3));
    assert!(proposals(&host).iter().all(|candidate| candidate.signals.max_attempts == 2));
}

#[test]
fn exploration_draws_to_what_was_seldom_visited() {
    // Two draws agree, one does not. Greedy looks at the agreeing ones only; much exploration looks
    // at all three.
    fn look_at(exploration: f64) -> Vec<String> {
        let repairs = ["SELECT 5", "SELECT 6", "SELECT 7"];
        let host = host(&["SELECT 1", "SELECT 1 AS n", "SELECT 2"], &repairs);
        solve(&host, Settings { exploration, ..whole(6, 3, 2) });
        let mut parents: Vec<String> =
            edges(&host).into_iter().skip(3).map(|(parent, ..)| parent).collect();
        parents.sort();
        parents
    }
    assert_eq!(look_at(100.0), ["A.1", "A.2", "A.3"]);
    assert!(!look_at(0.0).contains(&"A.3".to_owned()));
}

#[test]
fn the_search_stops_when_enough_agree() {
    let draws = ["SELECT 1", "SELECT 2", "SELECT 1 AS n", "SELECT 1 AS m", "SELECT 3", "SELECT 4"];
    let agree = |agree| Settings { agree, ..whole(6, 6, 1) };
    assert_eq!(calls(agree(2), &draws, &[]), 3);
    assert_eq!(calls(agree(3), &draws, &[]), 4);
    // Never four, but two cannot become four any more in the last draw.
    assert_eq!(calls(agree(4), &draws, &[]), 5);
    assert_eq!(calls(agree(0), &draws, &[]), 6);
    // One that agrees with itself is enough for whoever asks for no more.
    assert_eq!(calls(agree(1), &draws, &[]), 1);
}

#[test]
fn results_without_rows_count_as_set() {
    let best = |empty: f64| {
        let host = host(&["EMPTY 1", "EMPTY 2", "EMPTY 3", "SELECT 1", "SELECT 1 AS n"], &[]);
        let outcome = solve(&host, Settings { empty, ..whole(5, 5, 1) });
        (outcome.candidates[0].id.clone(), outcome.candidates.len())
    };
    assert_eq!(best(0.5), ("A.4".to_owned(), 2));
    assert_eq!(best(1.0), ("A.1".to_owned(), 2));
    // Nothing with rows came: an empty result is better than none.
    let host = host(&["EMPTY 1"], &[]);
    assert_eq!(ids(&solve(&host, Settings { empty: 0.0, ..whole(1, 1, 1) })), ["A.1"]);
}

#[test]
fn the_temperature_is_sent_or_left_to_the_model() {
    for (temperature, sent) in [(0.2, Some(0.2_f32)), (0.0, None)] {
        let host = host(&["BAD"], &["SELECT 1"]);
        solve(&host, Settings { temperature, ..whole(2, 1, 2) });
        assert!(
            host.model.requests().iter().all(|request| request.temperature == sent),
            "{temperature}"
        );
    }
}

#[test]
fn agreement_outweighs_the_claim_by_its_weight() {
    fn confidence(claim_weight: f64, unstated: f64) -> f64 {
        let host = host(&["SELECT 1", "SELECT 1 AS n", "SELECT 2"], &[]);
        let outcome = solve(&host, Settings { claim_weight, unstated, ..whole(3, 3, 1) });
        (outcome.candidates[0].raw_confidence.unwrap() * 1e6).round() / 1e6
    }
    // (2 − 1 + 2 × 0.7) / (3 − 1 + 2)
    assert_eq!(confidence(2.0, 0.7), 0.6);
    assert_eq!(confidence(2.0, 0.9), 0.7);
    assert_eq!(confidence(100.0, 0.7), (71.0_f64 / 102.0 * 1e6).round() / 1e6);
}

#[test]
fn the_more_confident_of_equal_results_stands_for_them() {
    let mut host = host(&["SELECT 1"], &[]);
    let parsed = json!({ "sql": "SELECT 1 AS n", "confidence": 0.9 });
    host.model.script(&Purpose::Generate, Ok(reply("", Some(&parsed))));
    host.database.answer("SELECT 1 AS n", number_rows(1));
    assert_eq!(ids(&solve(&host, whole(2, 2, 1))), ["A.2"]);
    assert_eq!(host.trace.discarded("A.1").unwrap(), "the same result as A.2");
}

#[test]
fn others_and_rows_are_shown_as_set_and_granted() {
    let prompt = |others: u32, shown_rows: u32, granted: Option<u32>| {
        let mut host = host(&["SELECT 41", "SELECT 42", "SELECT 43"], &["SELECT 44"]);
        host.database.granted_rows = granted;
        solve(&host, Settings { others, shown_rows, ..whole(4, 3, 2) });
        let prompt = host.model.prompt(3);
        (prompt.matches("statements agree").count(), prompt.matches("Its first rows").count())
    };
    assert_eq!(prompt(3, 3, Some(3)), (3, 3));
    assert_eq!(prompt(1, 3, Some(3)), (2, 2));
    assert_eq!(prompt(0, 3, Some(3)), (1, 1));
    assert_eq!(prompt(3, 0, Some(3)), (3, 0));
    assert_eq!(prompt(3, 3, None), (3, 0));
}

#[test]
fn the_settings_of_prompts_and_results_are_heeded() {
    let rows = FakeRows::new(&["k"], vec![vec![Value::Integer(41)], vec![Value::Integer(42)]]);
    let relation =
        Relation { name: "task_b".into(), candidate: Candidate::default(), results: rows.handle() };
    let parent = Parent {
        task: Task::new("B", "keys"),
        output: Output::Relation(Box::new(relation)),
        memo: None,
    };
    let mut host = host(&["SELECT 1"], &[]);
    host.database.answer("SELECT 1", number_rows(1).counted(8));
    let settings = Settings { overflow_rows: 7, shown_rows: 1, ..whole(1, 1, 1) };
    let outcome = try_solve(&host, settings, &[parent]).unwrap();
    assert!(outcome.candidates[0].signals.overflow);
    let prompt = host.model.prompt(0);
    assert!(prompt.contains("task_b") && prompt.contains("41") && !prompt.contains("42"));

    // A prompt that cannot be shortened is not sent again.
    let mut host = FakeHost::default();
    host.model.script(&Purpose::Generate, Err(LlmError::TooLarge));
    let failure = try_solve(&host, whole(4, 1, 1), &[]).unwrap_err();
    assert_eq!((host.model.requests().len(), failure.kind), (1, FailureKind::Model));
}
