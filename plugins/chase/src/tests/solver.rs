//! The choice among results: agreement, points, and the log.

use super::*;

#[test]
fn equal_results_are_agreement() {
    let mut host = draws(&["SELECT 1", "SELECT 2", "SELECT  1", "SELECT 1", "SELECT 1"]);
    host.database.answer("SELECT  1", numbers(&[1]));
    let candidates = solve_candidates(&host, direct(5));
    assert_eq!(ids(&candidates), ["A.1", "A.2"]);
    assert_eq!(
        (candidates[0].raw_confidence, candidates[1].raw_confidence),
        (Some(0.8), Some(0.2))
    );
    assert_eq!((candidates[0].signals.samples, candidates[0].signals.agreeing), (5, 4));
    // Three pairs among the four, and half of each pair with the other.
    assert_eq!((candidates[0].score, candidates[1].score), (Some(3.5 / 4.0), Some(0.5)));
    assert_eq!(host.trace.kept("A.1").unwrap(), "4 of 5 candidates agree");
    assert_eq!(host.trace.discarded("A.2").unwrap(), "2 points against 3.5 of A.1");
    assert_eq!(host.trace.discarded("A.3").unwrap(), "it has the same result as A.1");
    let clusters = events(&host, "cluster");
    assert_eq!(
        clusters[0],
        (
            Some("A.1".into()),
            json!({ "members": ["A.1", "A.3", "A.4", "A.5"], "of": 5, "rows": 1 })
        )
    );
    assert_eq!(clusters[1].1["members"], json!(["A.2"]));
    // The lead is clear.
    assert_eq!(count_requests(&host, &Purpose::Select), 0);
}

/// As under `consistency`: (agreeing − 1 + 2·claim) / (draws − 1 + 2).
#[test]
fn what_the_model_states_counts_beside_the_agreement() {
    let mut host = FakeHost::default();
    let parsed = json!({ "sql": "SELECT 1", "confidence": 0.6 });
    for _ in 0..5 {
        host.model.script(&Purpose::Generate, Ok(reply("SELECT 1", Some(&parsed))));
    }
    database(&mut host);
    let found = solve_candidates(&host, direct(5))[0].raw_confidence.unwrap();
    assert!((found - 5.2 / 6.0).abs() < 1e-9, "{found}");
}

#[test]
fn a_draw_without_rivals_claims_no_agreement() {
    let host = draws(&["SELECT 1"]);
    let candidates = solve_candidates(&host, direct(1));
    assert_eq!((candidates[0].score, candidates[0].raw_confidence), (None, Some(0.7)));
    assert_eq!((candidates[0].signals.samples, candidates[0].signals.agreeing), (0, 0));
    assert_eq!(host.trace.kept("A.1").unwrap(), "the only candidate");
    assert!(events(&host, "comparison").is_empty());

    // The others are refused; what the model says itself goes before the setting.
    let mut host = FakeHost::default();
    host.model.reply_sql("SELECT 1", Some(0.4));
    database(&mut host);
    assert_eq!(solve_candidates(&host, direct(3))[0].raw_confidence, Some(0.4));
    let host = draws(&["SELECT 1"]);
    assert_eq!(
        solve_candidates(&host, Settings { unstated: 0.3, ..direct(3) })[0].raw_confidence,
        Some(0.3)
    );
}

/// Returns the letter of the place that a statement has in the prompt.
fn word(host: &FakeHost, place: usize, sql: &str) -> &'static str {
    if host.model.prompt(place).contains(&format!("Statement A:\n{sql}\n")) { "A" } else { "B" }
}

/// Runs once to see how the pairs are shown, then with a model that prefers these.
fn with_winners(
    statements: &[&str],
    winners: &[&str],
    settings: &Settings,
) -> (FakeHost, Vec<Candidate>) {
    let mut host = draws(statements);
    prefers(&mut host, &vec!["A"; winners.len()]);
    solve_candidates(&host, settings.clone());
    let shown = places(&host, &Purpose::Select);
    assert_eq!(shown.len(), winners.len());
    let words: Vec<&str> =
        shown.into_iter().zip(winners).map(|(place, sql)| word(&host, place, sql)).collect();
    let mut host = draws(statements);
    prefers(&mut host, &words);
    let candidates = solve_candidates(&host, settings.clone());
    (host, candidates)
}

#[test]
fn comparisons_decide_where_agreement_does_not() {
    let statements = ["SELECT 1", "SELECT 2", "SELECT 2", "SELECT 1", "SELECT 3"];
    // 1 against 2, 1 against 3, 2 against 3.
    let winners = ["SELECT 2", "SELECT 1", "SELECT 2"];
    let (host, candidates) = with_winners(&statements, &winners, &direct(5));
    assert_eq!(ids(&candidates), ["A.2", "A.1", "A.5"]);
    // 2: the pair within, both of 1, the one of 3. 1: the pair within and the one of 3.
    let scores: Vec<Option<f64>> = candidates.iter().map(|candidate| candidate.score).collect();
    assert_eq!(scores, [Some(4.0 / 4.0), Some(2.0 / 4.0), Some(0.0)]);
    // Agreement of 0.4 and two of two won; 0.4 and one of two; 0.2 and none.
    let claims: Vec<Option<f64>> =
        candidates.iter().map(|candidate| candidate.raw_confidence).collect();
    assert_eq!(claims, [Some(0.7), Some(0.45), Some(0.1)]);
    let extra = &candidates[0].signals.extra;
    assert!(
        extra.contains(&("comparisons-won".into(), 2.0))
            && extra.contains(&("comparisons-lost".into(), 0.0))
    );
    assert_eq!(host.trace.kept("A.2").unwrap(), "2 of 5 candidates agree, 2 of 2 comparisons won");
    assert_eq!(
        host.trace.discarded("A.5").unwrap(),
        "0 points against 4 of A.2, 0 of 2 comparisons won"
    );
    let reported = events(&host, "comparison");
    assert_eq!(reported.len(), 3);
    assert_eq!(
        (reported[0].0.as_deref(), &reported[0].1["won"], &reported[0].1["why"]),
        (Some("A.1"), &json!("A.2"), &json!(null))
    );
}

#[test]
fn one_that_wins_a_comparison_may_beat_more_that_agree() {
    let settings = Settings { comparisons: 1, ..direct(3) };
    let (_, candidates) =
        with_winners(&["SELECT 1", "SELECT 1", "SELECT 2"], &["SELECT 2"], &settings);
    // Two points against one.
    assert_eq!(ids(&candidates), ["A.3", "A.1"]);
    assert_eq!(candidates[0].raw_confidence, Some(f64::midpoint(1.0 / 3.0, 1.0)));
}

#[test]
fn comparisons_are_bounded_by_the_setting_the_budget_and_the_lead() {
    let asked_for = |comparisons, clear_lead, left| {
        let mut host = draws(&["SELECT 1", "SELECT 1", "SELECT 2", "SELECT 3", "SELECT 4"]);
        host.budget.llm_calls = left;
        let candidates = solve_candidates(&host, Settings { comparisons, clear_lead, ..direct(5) });
        assert_eq!(ids(&candidates)[0], "A.1");
        count_requests(&host, &Purpose::Select)
    };
    assert_eq!(
        [asked_for(3, 0.75, 100), asked_for(0, 0.75, 100), asked_for(50, 0.75, 100)],
        [3, 0, 6]
    );
    assert_eq!([asked_for(3, 0.4, 100), asked_for(3, 0.41, 100)], [0, 3]);
    assert_eq!([asked_for(3, 0.75, 2), asked_for(3, 0.75, 0)], [2, 0]);
}

#[test]
fn a_word_that_is_none_decides_nothing() {
    let mut host = draws(&["SELECT 1", "SELECT 2"]);
    host.model.script(&Purpose::Select, Ok(reply("both", None)));
    let candidates = solve_candidates(&host, direct(2));
    assert_eq!(ids(&candidates), ["A.1", "A.2"]);
    assert_eq!(candidates[0].raw_confidence, Some(0.5));
    assert_eq!(events(&host, "comparison")[0].1["why"], json!("it named neither"));
    assert_eq!(host.trace.discarded("A.2").unwrap(), "as many points as A.1, but later");
}
