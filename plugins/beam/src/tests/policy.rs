//! Tests of the settings that decide when another table is explored.

use super::*;

fn tables_by_exploration(host: &ShopHost) -> Vec<JsonValue> {
    events(host, "explore").into_iter().map(|event| event["tables"].clone()).collect()
}

/// A host whose model gives a different result for each table.
fn disagreeing() -> ShopHost {
    let mut host = ShopHost::default();
    all_found(&mut host);
    drafts(&mut host, &[("a", 1), ("b", 2), ("c", 3), ("d", 4), ("e", 5), ("f", 6)]);
    host
}

#[test]
fn the_width_is_the_floor_and_the_budget_the_ceiling() {
    let host = disagreeing();
    let outcome = solve(
        &host,
        Settings { beam_width: 2, candidate_budget: 4, expansion: 0, ..Settings::default() },
    );
    assert_eq!(tables_by_exploration(&host), [json!(["a", "b"]), json!(["c"]), json!(["d"])]);
    assert_eq!((outcome.candidates.len(), outcome.ask.unwrap().ambiguity), (4, 0.75));

    let host = disagreeing();
    solve(
        &host,
        Settings { beam_width: 5, candidate_budget: 2, expansion: 0, ..Settings::default() },
    );
    assert_eq!(tables_by_exploration(&host), [json!(["a", "b"])]);
}

#[test]
fn a_tie_at_the_end_explores_further_tables_one_by_one() {
    let host = disagreeing();
    solve(&host, Settings { beam_width: 2, candidate_budget: 2, ..Settings::default() });
    assert_eq!(tables_by_exploration(&host), [json!(["a", "b"]), json!(["c"]), json!(["d"])]);

    // The third table agrees with the second, which ends the tie.
    let mut host = ShopHost::default();
    all_found(&mut host);
    drafts(&mut host, &[("a", 1), ("b", 2), ("c", 2), ("d", 4)]);
    let outcome =
        solve(&host, Settings { beam_width: 2, candidate_budget: 2, ..Settings::default() });
    assert_eq!(tables_by_exploration(&host), [json!(["a", "b"]), json!(["c"])]);
    assert_eq!((ids(&outcome), outcome.ask.clone()), (vec!["A.2", "A.1"], None));
}

#[test]
fn exploring_stops_at_the_margin() {
    // Two of three agree: half of the agreement of one in three is 0.167 ahead.
    for (stop_margin, tables) in [(0.15, 3), (0.17, 5)] {
        let mut host = ShopHost::default();
        all_found(&mut host);
        drafts(&mut host, &[("a", 1), ("b", 2), ("c", 2), ("d", 1), ("e", 1), ("f", 1)]);
        let beam =
            Settings { stop_margin, candidate_budget: 5, expansion: 0, ..Settings::default() };
        let outcome = solve(&host, beam);
        assert_eq!(
            (outcome.candidates.len(), outcome.candidates[0].signals.samples),
            (2, tables),
            "{stop_margin}"
        );
    }
    // A margin of nothing is always reached, so that the floor suffices.
    let host = disagreeing();
    solve(&host, Settings { stop_margin: 0.0, expansion: 0, ..Settings::default() });
    assert_eq!(tables_by_exploration(&host).len(), 1);
}

#[test]
fn the_share_of_agreement_moves_the_margin() {
    for (agreement, rounds) in [(0.5, 1), (0.3, 2)] {
        let mut host = ShopHost::default();
        all_found(&mut host);
        drafts(&mut host, &[("a", 1), ("b", 2), ("c", 2), ("d", 2)]);
        solve(&host, Settings { agreement, candidate_budget: 4, ..Settings::default() });
        assert_eq!(tables_by_exploration(&host).len(), rounds, "{agreement}");
    }
}

#[test]
fn one_viable_statement_is_not_enough() {
    let mut host = ShopHost::default();
    finds(&mut host, &[("a", 0.9), ("b", 0.8), ("c", 0.7)]);
    drafts(&mut host, &[("a", 1), ("b", 1)]);
    // No table alone has a rival, but nothing confirms it either.
    let outcome = solve(&host, Settings { beam_width: 1, ..Settings::default() });
    assert_eq!(tables_by_exploration(&host), [json!(["a"]), json!(["b"])]);
    assert_eq!(
        events(&host, "weigh")[1],
        json!({ "viable": 2, "results": 1, "margin": 1.25, "go_on": false })
    );
    assert_eq!((ids(&outcome), outcome.candidates[0].signals.agreeing), (vec!["A.1"], 2));
}

#[test]
fn exhaustive_explores_all_tables_whatever_they_give() {
    let mut host = ShopHost::default();
    all_found(&mut host);
    drafts(&mut host, &[("a", 1), ("b", 1), ("c", 1), ("d", 1), ("e", 1), ("f", 1)]);
    let outcome =
        solve(&host, Settings { exhaustive: true, candidate_budget: 2, ..Settings::default() });
    assert_eq!(tables_by_exploration(&host), [json!(["a", "b", "c", "d", "e", "f"])]);
    assert_eq!((rounds(&host), outcome.candidates[0].signals.agreeing), (vec![6], 6));
    assert!(events(&host, "weigh").is_empty());
}

fn pool(beam: Settings, scores: &[f64]) -> usize {
    let mut host = ShopHost::default();
    let names = ["a", "b", "c", "d", "e", "f"];
    let tables: Vec<(&str, f64)> = names.into_iter().zip(scores.iter().copied()).collect();
    finds(&mut host, &tables);
    solve(&host, beam);
    events(&host, "tables")[0]["tables"].as_array().unwrap().len()
}

#[test]
fn candidate_tables_have_a_share_of_the_best_score_and_are_not_too_many() {
    let scores = [1.0, 0.9, 0.5, 0.1, 0.09, 0.01];
    assert_eq!(pool(Settings::default(), &scores), 4);
    assert_eq!(pool(Settings { keep_share: 0.5, ..Settings::default() }, &scores), 3);
    assert_eq!(pool(Settings { keep_share: 0.0, ..Settings::default() }, &scores), 6);
    assert_eq!(pool(Settings { most_tables: 2, ..Settings::default() }, &scores), 2);
    // A best score of 0 excludes no table.
    assert_eq!(pool(Settings::default(), &[0.0; 6]), 6);
}

#[test]
fn adaptive_counts_tables_by_how_clear_retrieval_is() {
    fn adaptive() -> crate::settings::Settings {
        Settings { adaptive: true, keep_share: 0.0, most_tables: 1, ..Settings::default() }
    }
    assert_eq!(pool(adaptive(), &[1.0, 0.1, 0.1, 0.05, 0.05, 0.05]), 5);
    assert_eq!(pool(adaptive(), &[1.0, 0.9, 0.8, 0.7, 0.6, 0.5]), 6);
    assert_eq!(pool(adaptive(), &[0.0; 6]), 6);
}
