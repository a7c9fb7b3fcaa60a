//! Fan-outs and joins: votes, choices, questions.

use proptest::prelude::*;

use super::*;

/// Two drafts side by side, whose results meet.
fn two(join: Json) -> Settings {
    let mut flow = json!({ "start": "plan", "nodes": {
        "plan": { "do": "draft", "next": ["plain", "parts"] },
        "plain": { "do": "run", "next": "meet" },
        "parts": {
            "do": "draft", "settings": { "instructions": "Divide the question." }, "next": "run"
        },
        "run": { "next": "meet" },
        "meet": join,
    } });
    if flow["nodes"]["meet"]["next"] == json!("ask") {
        flow["nodes"]["ask"] = json!({});
    }
    settings(&flow)
}

fn script_host(statements: &[&str]) -> FakeHost {
    let mut host = FakeHost::default();
    says(&mut host, &Purpose::Generate, statements);
    database(&mut host);
    host
}

#[test]
fn a_list_of_nodes_is_visited_side_by_side() {
    let host = script_host(&["SELECT 1", "SELECT 2"]);
    let candidates = solve_candidates(&host, two(json!({ "do": "vote" })));
    assert_eq!(ids(&candidates), ["A.1", "A.2"]);
    assert_eq!((candidates[0].raw_confidence, candidates[0].signals.samples), (Some(0.5), 2));
    let joined = host.trace.lines().into_iter().find_map(|line| match line {
        Traced::Event(_, _, data) if data["do"] == "vote" => Some(data),
        _ => None,
    });
    assert_eq!(joined.unwrap()["joined"], 2);
    // The one that failed is dropped, and the other alone claims no agreement.
    let host = script_host(&["SELECT 1", "BAD 2"]);
    let candidates = solve_candidates(&host, two(json!({ "do": "vote" })));
    assert_eq!((ids(&candidates), candidates[0].signals.samples), (vec!["A.1"], 2));
    assert!(host.trace.notes().iter().any(|note| note.contains("1 branch was dropped")));
}

#[test]
fn a_vote_without_agreement_has_an_action_where_an_edge_asks_for_it() {
    fn join(agree: u32) -> serde_json::Value {
        json!({ "do": "vote", "settings": { "agree": agree }, "on": { "disagreed": "last" } })
    }
    let flow = |agree| {
        settings(&json!({ "start": "plan", "nodes": {
            "plan": { "do": "draft", "next": ["one", "two"] },
            "one": { "do": "run", "next": "meet" },
            "two": { "do": "draft", "next": "one" },
            "meet": join(agree),
            "last": { "do": "draft", "next": "end" },
            "end": { "do": "run" },
        } }))
    };
    let host = script_host(&["SELECT 1", "SELECT 2", "SELECT 3"]);
    assert_eq!(solve_candidates(&host, flow(2))[0].sql, "SELECT 3");
    let host = script_host(&["SELECT 1", "SELECT 1"]);
    let candidates = solve_candidates(&host, flow(2));
    assert_eq!((candidates[0].sql.as_str(), candidates[0].raw_confidence), ("SELECT 1", Some(1.0)));
    let host = script_host(&["SELECT 1", "SELECT 2"]);
    assert_eq!(solve_candidates(&host, flow(1))[0].sql, "SELECT 1");
}

#[test]
fn the_model_chooses_among_results_and_without_its_word_the_vote_counts() {
    for (word, best, confidence) in
        [(Some("B"), "A.2", 0.5), (Some("Z"), "A.1", 0.5), (None, "A.1", 0.5)]
    {
        let mut host = script_host(&["SELECT 1", "SELECT 2"]);
        if let Some(word) = word {
            host.model.script(&Purpose::Select, Ok(reply(word, Some(&json!(word)))));
        }
        let candidates = solve_candidates(&host, two(json!({ "do": "choose" })));
        assert_eq!((ids(&candidates)[0], candidates[0].raw_confidence), (best, Some(confidence)));
        assert_eq!(
            host.trace.kept(best).unwrap().starts_with("chosen among 2 results"),
            word == Some("B")
        );
        let asked = host.model.prompt(2);
        for part in [
            "Statement A:\n```sql\nSELECT 1\n",
            "Statement B:\n",
            "Its result: 1 row",
            "letters A, B",
        ] {
            assert!(asked.contains(part), "{part} is missing in {asked}");
        }
    }
    // Equal results leave nothing to choose.
    let host = script_host(&["SELECT 1", "SELECT 1"]);
    assert_eq!(
        solve_candidates(&host, two(json!({ "do": "choose" })))[0].raw_confidence,
        Some(1.0)
    );
    assert_eq!(host.model.requests().len(), 2);
}

#[test]
fn the_reward_chooses_the_result_with_the_highest_score() {
    let mut host = script_host(&["SELECT 1", "SELECT 2"]);
    host.evaluate
        .judge("SELECT 1", accepted(0.4, "so so"))
        .judge("SELECT 2", accepted(0.9, "fine"));
    assert_eq!(
        ids(&solve_candidates(
            &host,
            two(json!({ "do": "choose", "settings": { "by": "reward" } }))
        )),
        ["A.2", "A.1"]
    );
    let mut host = script_host(&["SELECT 1", "SELECT 2"]);
    host.evaluate.judge("SELECT 1", rejected(0.1, "no")).judge("SELECT 2", rejected(0.1, "no"));
    assert_eq!(
        ids(&solve_candidates(
            &host,
            two(json!({ "do": "choose", "settings": { "by": "reward" } }))
        )),
        ["A.1", "A.2"]
    );
}

#[test]
fn a_reward_judges_as_a_node() {
    let flow = settings(&json!({ "start": "draft", "nodes": {
        "draft": { "next": "run" },
        "run": { "next": "judge" },
        "judge": { "settings": { "by": "reward" }, "on": { "rejected": "repair" } },
        "repair": { "next": "run", "max_visits": 1 },
    } }));
    let mut host = script_host(&["SELECT 1"]);
    says(&mut host, &Purpose::Repair, &["SELECT 2"]);
    host.evaluate
        .judge("SELECT 1", rejected(0.1, "wrong year"))
        .judge("SELECT 2", accepted(0.9, "fine"));
    let candidates = solve_candidates(&host, flow);
    assert_eq!((ids(&candidates), candidates[0].score), (vec!["A.2"], Some(0.9)));
    assert!(host.model.prompt(1).contains("a judge did not pass it: wrong year"));
}

#[test]
fn results_that_differ_make_a_question_and_equal_ones_do_not() {
    let ask = json!({ "do": "vote", "next": "ask" });
    let host = script_host(&["SELECT 1", "SELECT 2"]);
    let question = solve(&host, two(ask.clone())).unwrap().ask.unwrap();
    assert_eq!(
        question.text,
        "\"How much was sold?\" can be read in 2 ways that give different results. Which \
         one is meant?"
    );
    assert_eq!((question.choices[1].as_str(), question.ambiguity), ("1 row of n (SELECT 2)", 0.5));
    let host = script_host(&["SELECT 1", "SELECT 1"]);
    assert_eq!(solve(&host, two(ask)).unwrap().ask, None);
    let own = json!({ "start": "draft", "nodes": {
        "draft": { "next": "run" },
        "run": { "on": { "error": "ask" } },
        "ask": { "settings": { "question": "Which table?", "choices": ["orders", "customers"] } },
    } });
    let host = script_host(&["BAD 1"]);
    let question = solve(&host, settings(&own)).unwrap().ask.unwrap();
    assert_eq!((question.text.as_str(), question.choices.len()), ("Which table?", 2));
}

#[test]
fn branches_that_never_meet_are_voted_on_at_the_end() {
    let flow = settings(&json!({ "start": "tries", "nodes": { "tries": {
        "do": "flow", "times": 3,
        "flow": { "start": "draft", "nodes": { "draft": { "next": "run" }, "run": {} } },
    } } }));
    let host = script_host(&["SELECT 1", "SELECT 2", "SELECT 2"]);
    let candidates = solve_candidates(&host, flow);
    assert_eq!((ids(&candidates), candidates[0].signals.agreeing), (vec!["A.2", "A.1"], 2));
}

#[test]
fn inner_fan_outs_meet_before_outer_ones() {
    let flow = settings(&json!({ "start": "outer", "nodes": {
        "outer": { "do": "flow", "times": 2, "next": "choose",
            "flow": { "start": "inner", "nodes": {
            "inner": { "do": "flow", "times": 3, "next": "vote", "flow": {
                "start": "draft", "nodes": { "draft": { "next": "run" }, "run": {} }
            } },
            "vote": {},
        } } },
        "choose": {},
    } }));
    let mut host =
        script_host(&["SELECT 1", "SELECT 2", "SELECT 1", "SELECT 3", "SELECT 3", "SELECT 1"]);
    host.model.script(&Purpose::Select, Ok(reply("B", Some(&json!("B")))));
    let candidates = solve_candidates(&host, flow);
    let mut sqls: Vec<&str> = candidates.iter().map(|candidate| candidate.sql.as_str()).collect();
    assert_eq!(sqls.len(), 3);
    sqls.sort_unstable();
    assert_eq!(sqls, ["SELECT 1", "SELECT 2", "SELECT 3"]);
    assert_eq!(candidates[0].signals.samples, 6);
}

#[test]
fn fan_outs_are_bounded() {
    fn wide(inner: Json) -> serde_json::Value {
        json!({ "start": "a", "nodes": { "a": { "do": "flow", "times": 32, "flow": inner } } })
    }
    let flow = wide(wide(wide(
        json!({ "start": "draft", "nodes": { "draft": { "next": "run" }, "run": {} } }),
    )));
    let host = script_host(&["SELECT 1"]);
    solve(&host, settings(&flow)).unwrap();
    assert_eq!(host.model.requests().len(), 64);
    assert!(host.trace.notes().iter().any(|note| note.contains("a flow has at most 64 branches")));
}

/// Flows of all kinds of nodes with any edges.
fn flows() -> impl Strategy<Value = Json> {
    const NODES: [(&str, &str); 7] = [
        ("draft", "abstained"),
        ("run", "error"),
        ("repair", "exhausted"),
        ("vote", "disagreed"),
        ("choose", "none"),
        ("judge", "rejected"),
        ("check", "error"),
    ];
    let targets =
        || prop::collection::vec(prop::sample::select(NODES.map(|(name, _)| name).to_vec()), 1..4);
    prop::collection::vec(
        (prop::option::of(targets()), prop::option::of(targets()), 1u32..4),
        NODES.len(),
    )
    .prop_map(|edges| {
        let mut nodes = json!({});
        for ((name, action), (next, other, visits)) in NODES.iter().zip(edges) {
            nodes[*name] = json!({ "max_visits": visits });
            if let Some(next) = next {
                nodes[*name]["next"] = json!(next);
            }
            if let Some(other) = other {
                nodes[*name]["on"] = json!({ *action: other });
            }
        }
        json!({ "start": "draft", "nodes": nodes })
    })
}

/// The flow without the nodes that nothing leads to.
fn reachable(mut flow: Json) -> Json {
    loop {
        let Err(problems) = syrch_flows::read(&flow) else { return flow };
        let lost: Vec<String> = problems
            .iter()
            .filter(|problem| problem.why.starts_with("no edge"))
            .map(|problem| problem.path[1].clone())
            .collect();
        if lost.is_empty() {
            return flow;
        }
        for name in lost {
            flow["nodes"].as_object_mut().unwrap().shift_remove(&name);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Whatever the edges are, a flow that is accepted ends, and ends alike when it runs again.
    #[test]
    fn every_flow_ends(flow in flows(), statements in prop::collection::vec(0usize..6, 40)) {
        let flow = reachable(flow);
        if let Ok(settings) = Settings::read(&json!({ "flow": flow }).to_string()) {
            let texts = ["SELECT 1", "SELECT 2", "SELECT none", "BAD 1", "BAD 2", ""];
            let run = || {
                let mut host = FakeHost::default();
                host.policy.max_attempts = 5;
                for (place, text) in statements.iter().enumerate() {
                    let purpose = if place % 2 == 0 { Purpose::Generate } else { Purpose::Repair };
                    says(&mut host, &purpose, &[texts[*text]]);
                }
                database(&mut host);
                let outcome = solve(&host, settings.clone());
                (outcome.map(|outcome| outcome.candidates), host.model.requests().len())
            };
            let (candidates, requests) = run();
            prop_assert!(requests <= 1000);
            prop_assert_eq!((candidates, requests), run());
        }
    }
}
