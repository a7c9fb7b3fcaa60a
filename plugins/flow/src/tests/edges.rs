//! Edges, bounds, retries, fallbacks and inner flows (PF-01 to PF-09).

use std::time::Duration;

use super::*;

/// The visits that were logged: the node, and the action that it ended with.
pub(super) fn visits(host: &FakeHost) -> Vec<(String, String)> {
    let lines = host.trace.lines();
    lines
        .iter()
        .filter_map(|line: &Traced| match line {
            Traced::Event(_, name, data) if name == "visit" => {
                Some((data["node"].as_str()?.to_owned(), data["action"].as_str()?.to_owned()))
            }
            _ => None,
        })
        .collect()
}

pub(super) fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter().map(|(node, action)| ((*node).to_owned(), (*action).to_owned())).collect()
}

fn small(run: Json, more: Json) -> Settings {
    let mut flow = json!({ "start": "draft", "nodes": { "draft": { "next": "run" }, "run": run } });
    for (name, node) in more.as_object().unwrap() {
        flow["nodes"][name] = node.clone();
    }
    settings(&flow)
}

#[test]
fn each_visit_is_logged_with_its_action() {
    let mut host = FakeHost::default();
    says(&mut host, &Purpose::Generate, &["BAD 1"]);
    says(&mut host, &Purpose::Repair, &["SELECT 2"]);
    database(&mut host);
    solve_candidates(&host, text2sql());
    assert_eq!(
        visits(&host),
        pairs(&[
            ("generate", "default"),
            ("execute", "error"),
            ("debug", "default"),
            ("execute", "default")
        ])
    );
    let lines = host.trace.lines();
    let last = lines.iter().rev().find_map(|line| match line {
        Traced::Event(candidate, _, data) => Some((candidate.clone(), data.clone())),
        _ => None,
    });
    let data =
        json!({ "node": "execute", "do": "run", "visit": 2, "branch": 0, "action": "default" });
    assert_eq!(last, Some((Some("A.2".to_owned()), data)));
}

#[test]
fn an_action_without_an_edge_ends_the_flow_and_never_falls_back_to_default() {
    let mut host = FakeHost::default();
    says(&mut host, &Purpose::Generate, &["BAD 1"]);
    database(&mut host);
    let why = failure_reason(&host, small(json!({ "next": "judge" }), json!({ "judge": {} })));
    assert_eq!(why, "Failed to execute SQL after 1 attempt. Last error: no such column: c1");
    assert_eq!(visits(&host), pairs(&[("draft", "default"), ("run", "error")]));
    assert!(
        host.trace.notes()[0]
            .contains("the flow ends at `run`: there is no edge for `error`, only for default")
    );
}

#[test]
fn a_bound_that_is_reached_is_an_action_of_its_own() {
    fn flow(exhausted: Json) -> crate::settings::Settings {
        small(
            json!({ "on": { "error": "repair" } }),
            json!({
                "repair": { "next": "run", "max_visits": 1, "on": exhausted },
                "last": { "do": "draft", "next": "end" },
                "end": { "do": "run" },
            }),
        )
    }
    let mut host = FakeHost::default();
    says(&mut host, &Purpose::Generate, &["BAD 1", "SELECT 4"]);
    says(&mut host, &Purpose::Repair, &["BAD 2"]);
    database(&mut host);
    assert_eq!(ids(&solve_candidates(&host, flow(json!({ "exhausted": "last" })))), ["A.3"]);
    let last = pairs(&[("repair", "exhausted"), ("last", "default"), ("end", "default")]);
    assert_eq!(visits(&host)[4..], last);
    // Bounds of one branch are counted anew in another search, and the flow of the file is as it
    // was.
    says(&mut host, &Purpose::Generate, &["BAD 1", "SELECT 4"]);
    says(&mut host, &Purpose::Repair, &["SELECT 2"]);
    assert_eq!(ids(&solve_candidates(&host, flow(json!({ "exhausted": "last" })))), ["A.2"]);
}

#[test]
fn edges_between_spent_nodes_end_too() {
    let flow = settings(&json!({ "start": "draft", "nodes": {
        "draft": { "next": "run", "max_visits": 1, "on": { "exhausted": "draft" } },
        "run": { "on": { "error": "draft" } },
    } }));
    let mut host = FakeHost::default();
    says(&mut host, &Purpose::Generate, &["BAD 1"]);
    database(&mut host);
    assert!(failure_reason(&host, flow).starts_with("Failed to execute SQL after 1 attempt"));
    assert_eq!(host.model.requests().len(), 1);
}

#[test]
fn attempts_are_counted_in_all_and_the_fallback_comes_after_the_last() {
    let flow = |max_retries: u32, fallback: Json| {
        let mut flow = json!({ "start": "draft", "nodes": {
            "draft": { "next": "run", "max_retries": max_retries },
            "run": {},
        } });
        if !fallback.is_null() {
            flow["nodes"]["draft"]["fallback"] = fallback;
            flow["nodes"]["draft"]["on"] = json!({ "other": "plain" });
            flow["nodes"]["plain"] =
                json!({ "do": "draft", "settings": { "form": "yaml" }, "next": "run" });
        }
        settings(&flow)
    };
    for max_retries in [1, 2, 3] {
        let mut host = FakeHost::default();
        for _ in 0..5 {
            host.model.script(&Purpose::Generate, Err(LlmError::Malformed("no".into())));
        }
        failure_reason(&host, flow(max_retries, Json::Null));
        assert_eq!(host.model.requests().len(), max_retries as usize);
        assert_eq!(visits(&host), pairs(&[("draft", "failed")]));
    }
    let mut host = FakeHost::default();
    for _ in 0..2 {
        host.model.script(&Purpose::Generate, Err(LlmError::Malformed("no".into())));
    }
    says(&mut host, &Purpose::Generate, &["SELECT 1"]);
    database(&mut host);
    assert_eq!(ids(&solve_candidates(&host, flow(2, json!("other")))), ["A.1"]);
    assert_eq!(
        visits(&host),
        pairs(&[("draft", "other"), ("plain", "default"), ("run", "default")])
    );
    // An outage has its fallback too, at once; a used-up budget has none.
    for (error, requests) in [(LlmError::Unavailable("down".into()), 2), (LlmError::Budget, 1)] {
        let mut host = FakeHost::default();
        host.model.script(&Purpose::Generate, Err(error));
        says(&mut host, &Purpose::Generate, &["SELECT 1"]);
        database(&mut host);
        assert_eq!(solve(&host, flow(2, json!("other"))).is_ok(), requests == 2);
        assert_eq!(host.model.requests().len(), requests);
    }
}

#[test]
fn the_last_action_of_an_inner_flow_drives_the_outer_edges() {
    let flow = settings(&json!({ "start": "part", "nodes": {
        "part": {
            "do": "flow",
            "flow": { "start": "draft", "nodes": { "draft": { "next": "run" }, "run": {} } },
            "on": { "error": "repair", "default": "judge" },
        },
        "repair": { "next": "run" },
        "run": {},
        "judge": {},
    } }));
    for (first, actions) in [
        (
            "BAD 1",
            pairs(&[
                ("part/run", "error"),
                ("part", "error"),
                ("repair", "default"),
                ("run", "default"),
            ]),
        ),
        ("SELECT 1", pairs(&[("part/run", "default"), ("part", "default"), ("judge", "default")])),
    ] {
        let mut host = FakeHost::default();
        says(&mut host, &Purpose::Generate, &[first]);
        says(&mut host, &Purpose::Repair, &["SELECT 2"]);
        let judgement = json!({ "score": 9, "verdict": "PASS" });
        host.model.script(&Purpose::Judge, Ok(reply("", Some(&judgement))));
        database(&mut host);
        assert_eq!(solve_candidates(&host, flow.clone()).len(), 1);
        assert_eq!(visits(&host)[1..], actions);
    }
}

#[test]
fn a_task_is_handed_to_other_plugins_where_the_flow_found_nothing() {
    fn solver(plugin: &str) -> serde_json::Value {
        json!({ "do": "solver", "settings": { "plugin": plugin } })
    }
    let flow = settings(&json!({ "start": "draft", "nodes": {
        "draft": { "next": "run" },
        "run": { "on": { "error": ["more", "last"] } },
        "more": solver("consistency"),
        "last": solver("beam"),
    } }));
    let mut host = FakeHost::default();
    says(&mut host, &Purpose::Generate, &["BAD 1", "SELECT 1"]);
    database(&mut host);
    let outcome = solve(&host, flow.clone()).unwrap();
    assert!(outcome.candidates.is_empty());
    let operations: Vec<&Operation> = outcome.subtasks.iter().map(|task| &task.operation).collect();
    let named = |name: &str| Operation::Other(format!("solver/{name}"));
    assert_eq!(operations, [&named("last"), &named("more"), &Operation::Choose]);
    assert_eq!(outcome.subtasks[2].depends_on, ["S1", "S2"]);
    assert!(outcome.subtasks.iter().all(|task| task.text == "How much was sold?"));
    assert_eq!(visits(&host)[2..], pairs(&[("more", "handed"), ("last", "handed")]));
    // What the flow itself finds counts first.
    assert_eq!(ids(&solve_candidates(&host, flow)), ["A.1"]);
}

#[test]
fn a_check_finds_errors_without_a_run() {
    let flow = settings(&json!({ "start": "draft", "nodes": {
        "draft": { "next": "check" },
        "check": { "next": "run", "on": { "error": "repair" } },
        "repair": { "next": "check", "max_visits": 1 },
        "run": {},
    } }));
    let mut host = FakeHost::default();
    says(&mut host, &Purpose::Generate, &["SELECT x"]);
    says(&mut host, &Purpose::Repair, &["SELECT 1"]);
    host.database.fail_check("SELECT x", sql_error(SqlErrorKind::UnknownColumn, "no column x"));
    database(&mut host);
    assert_eq!(ids(&solve_candidates(&host, flow)), ["A.1"]);
    assert_eq!(host.database.log(), ["SELECT 1"]);
    assert!(host.model.prompt(1).contains("no column x"));
}

#[test]
fn empty_results_are_told_apart_where_an_edge_asks_for_it() {
    let mut host = FakeHost::default();
    says(&mut host, &Purpose::Generate, &["SELECT none", "SELECT none"]);
    says(&mut host, &Purpose::Repair, &["SELECT 1"]);
    database(&mut host);
    assert_eq!(solve_candidates(&host, small(json!({}), json!({})))[0].sql, "SELECT none");
    let repaired = small(
        json!({ "on": { "empty": "repair" } }),
        json!({ "repair": { "next": "run", "max_visits": 1 } }),
    );
    let candidates = solve_candidates(&host, repaired);
    assert_eq!(candidates[0].sql, "SELECT 1");
    assert!(host.model.prompt(2).contains("the result has no rows"));
}

#[test]
fn the_settings_of_a_node_reach_its_request() {
    let flow = settings(&json!({ "start": "draft", "nodes": {
        "draft": {
            "settings": { "temperature": 0.7, "instructions": "Divide the question into parts." },
            "next": "run"
        },
        "run": {},
    } }));
    let mut host = FakeHost::default();
    says(&mut host, &Purpose::Generate, &["SELECT 1"]);
    database(&mut host);
    solve_candidates(&host, flow);
    let requests = host.model.requests();
    assert_eq!((requests[0].temperature, &requests[0].expect), (Some(0.7), &Shape::Sql));
    assert!(host.model.prompt(0).ends_with("Divide the question into parts.\n"));
}

#[test]
fn settings_that_are_wrong_are_refused_with_every_reason() {
    let flow = json!({
        "start": "draft", "nodes": { "draft": { "next": "rnu" }, "run": { "do": "walk" } }
    });
    let refused = Settings::read(&json!({ "flow": flow }).to_string()).unwrap_err();
    assert_eq!(
        refused,
        "flow.nodes.draft.next: there is no node `rnu`; flow.nodes.run.do: \"walk\" is no \
         kind of node"
    );
    assert!(Settings::read(r#"{"floe": {}}"#).unwrap_err().contains("floe"));
    assert!(Settings::read(r#"{"unstated": 2}"#).unwrap_err().contains("unstated"));
    // Without a flow there is one with two repairs.
    assert_eq!(Settings::read("").unwrap().flow.nodes.len(), 3);
}

#[test]
fn a_node_waits_before_each_further_attempt() {
    fn flow(wait: Json) -> crate::settings::Settings {
        let draft = json!({ "next": "run", "max_retries": 3, "wait": wait });
        settings(&json!({ "start": "draft", "nodes": { "draft": draft, "run": {} } }))
    }
    fn seconds(host: &FakeHost) -> Vec<f64> {
        host.pauses.borrow().iter().map(Duration::as_secs_f64).collect::<Vec<_>>()
    }
    // A model that cannot be reached is asked again then, too.
    for error in [LlmError::Malformed("no".into()), LlmError::Unavailable("down".into())] {
        let mut host = FakeHost::default();
        host.model.script(&Purpose::Generate, Err(error.clone()));
        host.model.script(&Purpose::Generate, Err(error));
        says(&mut host, &Purpose::Generate, &["SELECT 1"]);
        database(&mut host);
        assert_eq!(ids(&solve_candidates(&host, flow(json!(1.5)))), ["A.1"]);
        assert_eq!(seconds(&host), [1.5, 1.5]);
    }
    let mut host = FakeHost::default();
    for _ in 0..3 {
        host.model.script(&Purpose::Generate, Err(LlmError::Malformed("no".into())));
    }
    failure_reason(&host, flow(json!(0)));
    assert!(seconds(&host).is_empty());
}

#[test]
fn a_branch_that_waits_does_not_hold_up_the_others() {
    let mut host = FakeHost::default();
    fn draft(wait: f64) -> serde_json::Value {
        json!({ "do": "draft", "next": "run", "max_retries": 2, "wait": wait })
    }
    let flow = settings(&json!({ "start": "plan", "nodes": {
        "plan": { "do": "draft", "next": ["slow", "slower", "quick"] },
        "slow": draft(2.0), "slower": draft(5.0), "quick": { "do": "run", "next": "meet" },
        "run": { "next": "meet" }, "meet": { "do": "vote" },
    } }));
    says(&mut host, &Purpose::Generate, &["SELECT 1"]);
    for _ in 0..2 {
        host.model.script(&Purpose::Generate, Err(LlmError::Malformed("no".into())));
    }
    says(&mut host, &Purpose::Generate, &["SELECT 1", "SELECT 1"]);
    database(&mut host);
    assert_eq!(solve_candidates(&host, flow)[0].signals.samples, 3);
    assert_eq!(*host.pauses.borrow(), [2, 3].map(Duration::from_secs));
    let nodes: Vec<String> = visits(&host).into_iter().map(|(node, _)| node).collect();
    assert_eq!(nodes, ["plan", "quick", "slow", "run", "slower", "run", "meet"]);
}

#[test]
fn an_inner_flow_runs_with_the_settings_of_each_item() {
    let mut host = FakeHost::default();
    let inner = json!({ "start": "draft", "nodes": { "draft": { "next": "run" }, "run": {} } });
    let flow = settings(&json!({ "start": "tries", "nodes": {
        "tries": {
            "do": "flow", "flow": inner, "next": "vote",
            "settings": { "instructions": "Use few tables." },
            "each": [{ "temperature": 0 }, { "temperature": 0.5, "instructions": "Use CTEs." }],
        },
        "vote": {},
    } }));
    says(&mut host, &Purpose::Generate, &["SELECT 1", "SELECT 1"]);
    database(&mut host);
    let candidates = solve_candidates(&host, flow);
    assert_eq!((candidates[0].signals.samples, candidates[0].signals.agreeing), (2, 2));
    let requests = host.model.requests();
    let asked: Vec<_> = requests
        .iter()
        .map(|request| {
            let prompt = &request.messages.last().unwrap().text;
            (request.temperature, prompt.contains("Use few tables."), prompt.contains("Use CTEs."))
        })
        .collect();
    assert_eq!(asked, [(Some(0.0), true, false), (Some(0.5), false, true)]);
    let items: Vec<Json> = host
        .trace
        .lines()
        .iter()
        .filter_map(|line| match line {
            Traced::Event(_, _, data) if data["do"] == "draft" => Some(data["items"].clone()),
            _ => None,
        })
        .collect();
    assert_eq!(items, [json!([1]), json!([2])]);
}
