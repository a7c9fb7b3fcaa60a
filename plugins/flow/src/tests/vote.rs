//! The majority vote and the self-healing of the neighbours (PF-28).

use super::*;

fn votes(votes: u32) -> Settings {
    vote_over(&workflow(), votes)
}

#[test]
fn the_most_common_result_wins_and_a_failed_try_is_dropped() {
    let mut host = FakeHost::default();
    host.database.answer("SELECT  2", numbers(&[2]));
    says(&mut host, &Purpose::Generate, &["SELECT 1", "SELECT 2", "BAD 1", "SELECT  2", "BAD 2"]);
    // Both repairs of a round are asked for together: the third try is repaired at once, the fifth
    // never.
    says(&mut host, &Purpose::Repair, &["SELECT 2", "BAD 3", "BAD 4"]);
    database(&mut host);
    let candidates = solve_candidates(&host, votes(5));

    assert_eq!(ids(&candidates), ["A.2", "A.1"]);
    assert_eq!(
        (candidates[0].raw_confidence, candidates[1].raw_confidence),
        (Some(0.6), Some(0.2))
    );
    assert_eq!((candidates[0].signals.samples, candidates[0].signals.agreeing), (5, 3));
    assert_eq!(host.trace.kept("A.2").unwrap(), "3 of 5 branches agree");
    assert_eq!(host.trace.discarded("A.1").unwrap(), "1 for it, where 3 are for A.2");
    assert_eq!(host.trace.discarded("A.4").unwrap(), "it has the same result as A.2");
    let reported = "A: 1 branch was dropped: Failed to execute SQL after 3 attempts. Last error: \
                    no such column: c4";
    assert_eq!(host.trace.notes(), [reported]);
    let repairs = [Purpose::Repair, Purpose::Repair, Purpose::Repair];
    assert_eq!(purposes(&host)[5..], repairs);
    assert_eq!(samples(&host), [0, 1, 2, 3, 4, 2, 4, 4]);
    // Each try repairs its own statement.
    assert_eq!(host.model.requests()[5].subjects, ["BAD 1"]);
    assert_eq!(host.model.requests()[6].subjects, ["BAD 2"]);
}

/// As under `consistency`: (agreeing − 1 + 2·claim) / (voters − 1 + 2).
#[test]
fn what_the_model_states_counts_beside_the_votes() {
    for (stated, confidence) in [(0.6, 5.2 / 6.0), (0.95, 5.9 / 6.0), (0.0, 4.0 / 6.0)] {
        let mut host = FakeHost::default();
        for _ in 0..5 {
            let written = json!({ "sql": "SELECT 1", "confidence": stated });
            host.model.script(&Purpose::Generate, Ok(reply("", Some(&written))));
        }
        database(&mut host);
        let found = solve_candidates(&host, votes(5))[0].raw_confidence.unwrap();
        assert!((found - confidence).abs() < 1e-9, "{stated}: {found}");
    }
}

#[test]
fn the_earliest_of_equally_common_results_wins() {
    let mut host = FakeHost::default();
    says(&mut host, &Purpose::Generate, &["SELECT 2", "SELECT 1"]);
    database(&mut host);
    let candidates = solve_candidates(&host, votes(2));
    assert_eq!(ids(&candidates), ["A.1", "A.2"]);
    assert_eq!(host.trace.discarded("A.2").unwrap(), "as common as A.1, but later");
}

#[test]
fn tries_that_the_model_refuses_do_not_vote() {
    let mut host = FakeHost::default();
    says(&mut host, &Purpose::Generate, &["SELECT 1"]);
    for _ in 0..2 {
        host.model.script(&Purpose::Generate, Err(LlmError::Refused("no further reading".into())));
    }
    database(&mut host);
    let candidates = solve_candidates(&host, votes(3));
    // One try alone claims no agreement.
    assert_eq!((candidates[0].raw_confidence, candidates[0].signals.samples), (Some(0.85), 0));
    assert!(host.trace.notes()[0].contains("2 branches were dropped"));
}

#[test]
fn what_there_is_survives_an_outage() {
    let mut host = FakeHost::default();
    says(&mut host, &Purpose::Generate, &["SELECT 1"]);
    host.model.script(&Purpose::Generate, Err(LlmError::Budget));
    database(&mut host);
    assert_eq!(ids(&solve_candidates(&host, votes(2))), ["A.1"]);
}

#[test]
fn self_healing_shows_all_earlier_failures() {
    let mut host = FakeHost::default();
    says(&mut host, &Purpose::Generate, &["BAD 1"]);
    says(&mut host, &Purpose::Repair, &["BAD 2", "SELECT 3"]);
    database(&mut host);
    let candidates = solve_candidates(
        &host,
        settings(&change_workflow(|nodes| nodes["debug"]["settings"]["history"] = json!("all"))),
    );
    assert_eq!(ids(&candidates), ["A.3"]);
    let last = host.model.prompt(2);
    for part in ["BAD 1", "no such column: c1", "BAD 2", "no such column: c2"] {
        assert!(last.contains(part), "{part} is missing in {last}");
    }
    assert_eq!(host.model.requests()[2].subjects, ["BAD 1", "BAD 2"]);
}
