//! Streams that are refused: the ten faults of references, and what is no decision at all.

use super::*;
use crate::planner::decision::read;
use crate::planner::refusal::{Fault, Refusal};
use crate::planner::replay::{Bounds, Replayed, replay};
use crate::planner::state::{BranchState, EdgeKind};
use syrch_plugin::fakes::reply;

const BOUNDS: Bounds = Bounds { actions: 6, branches: 3, retained: 5 };

/// `main` has the ended tasks s1 and t1; `b2` waits in the frontier with t2.
fn state() -> State {
    let mut scene = Scene::new(
        Settings { together: false, ..Settings::default() },
        &[
            turn(&[search("main", "s1", "french")]),
            turn(&[go_on("main", "t1", "count them")]),
            turn(&[fork("main", "b2", "t2", "child"), fork("main", "b3", "t3", "sibling")]),
        ],
        vec![
            observe_hits("s1", vec![hit(Corpus::Columns, "customers.country", "")]),
            observe_success("t1", "SELECT 1", 1, 0.4),
        ],
    );
    scene.plan();
    scene.advance(&["s1"]);
    scene.advance(&["t1"]);
    let state = scene.state();
    assert_eq!(state.frontier.len(), 1);
    state
}

fn replay_decisions(decisions: &[JsonValue]) -> Result<Replayed, Refusal> {
    let document = turn(decisions);
    let taken = ["turn-9".to_owned()];
    replay(&state(), &taken, &read(&reply("", Some(&document))).unwrap(), BOUNDS)
}

#[track_caller]
fn fault(decision: JsonValue) -> Fault {
    match replay_decisions(&[decision]).unwrap_err() {
        Refusal::Reference { number: 1, fault, .. } => fault,
        other => panic!("{other}"),
    }
}

fn set_field(mut decision: JsonValue, field: &str, value: &str) -> JsonValue {
    decision[field] = if value.is_empty() { JsonValue::Null } else { value.into() };
    decision
}

fn new_fork() -> JsonValue {
    fork("main", "b4", "t4", "child")
}

fn select(branch: &str, node: &str, frontier: &str) -> JsonValue {
    json!({
        "action": "select", "branch": branch, "node": node, "frontier": frontier,
        "rationale": "next"
    })
}

fn prune(branch: &str) -> JsonValue {
    json!({ "action": "prune", "branch": branch, "rationale": "worse" })
}

fn merge(target: &str) -> JsonValue {
    json!({
        "action": "merge", "branch": "main", "target_branch": target, "target_node": "t9",
        "text": "add them", "rationale": "both"
    })
}

#[test]
fn what_is_named_must_be_there() {
    for decision in [
        go_on("b9", "t9", "x"),
        set_field(new_fork(), "branch", ""),
        set_field(new_fork(), "target_branch", ""),
        prune("b9"),
    ] {
        assert_eq!(fault(decision.clone()), Fault::MissingBranch, "{decision}");
    }
    let no_node = set_field(go_on("main", "t9", "x"), "node", "t8");
    let result = set_field(terminate("goal-satisfied"), "node", "s1");
    for decision in [
        no_node,
        set_field(go_on("main", "", "x"), "target_node", ""),
        select("b3", "t8", "f-b3"),
        result,
    ] {
        assert_eq!(fault(decision.clone()), Fault::MissingNode, "{decision}");
    }
    assert_eq!(fault(set_field(new_fork(), "edge", "")), Fault::MissingEdge);
    assert_eq!(fault(set_field(new_fork(), "edge_kind", "")), Fault::MissingEdge);
    assert_eq!(fault(set_field(new_fork(), "frontier", "")), Fault::MissingFrontier);
    assert_eq!(fault(select("b3", "t3", "f9")), Fault::MissingFrontier);
}

#[test]
fn what_is_new_must_not_be_there() {
    assert_eq!(fault(fork("main", "b2", "t4", "child")), Fault::DuplicateBranch);
    assert_eq!(fault(set_field(new_fork(), "edge", "to-t2")), Fault::DuplicateEdge);
    assert_eq!(fault(set_field(go_on("main", "t9", "x"), "edge", "to-t2")), Fault::DuplicateEdge);
    assert_eq!(fault(set_field(new_fork(), "frontier", "f-b3")), Fault::DuplicateFrontier);
    // Also with an id of the host's graph, and where case and punctuation do not distinguish ids.
    for id in ["t1", "T1", "turn_9"] {
        assert_eq!(fault(go_on("main", id, "x")), Fault::DuplicateNode, "{id}");
    }
}

#[test]
fn what_belongs_together_must_go_together() {
    assert_eq!(
        fault(set_field(go_on("main", "t9", "x"), "node", "t3")),
        Fault::InvalidBranchNodePair
    );
    assert_eq!(fault(select("main", "t3", "f-b3")), Fault::InvalidBranchNodePair);
    assert_eq!(fault(merge("main")), Fault::InvalidBranchNodePair);
    assert_eq!(fault(go_on("b3", "t9", "x")), Fault::InvalidBranchNodePair);
    let answer = set_field(set_field(terminate("goal-satisfied"), "node", "t1"), "branch", "b3");
    assert_eq!(fault(answer), Fault::InvalidBranchNodePair);
    assert_eq!(fault(set_field(new_fork(), "edge_kind", "merge")), Fault::InvalidEdgeReference);
}

// The defect of the reference: its plan went on before anything was seen.
#[test]
fn nothing_builds_on_what_has_not_ended() {
    assert_eq!(fault(go_on("b2", "t9", "x")), Fault::InvalidEdgeReference);
    let refusal =
        replay_decisions(&[search("main", "s9", "x"), go_on("main", "t9", "x")]).unwrap_err();
    let words = "decision 2 (continue): invalid-edge-reference: `s9` has not ended: wait for its \
                 result before you build on it";
    assert_eq!(refusal.to_string(), words);
}

#[test]
fn limits_and_nonsense_are_refused_in_words() {
    fn say(decisions: &[JsonValue]) -> String {
        replay_decisions(decisions).unwrap_err().to_string()
    }
    assert_eq!(say(&vec![prune("b3"); 7]), "7 decisions in one turn, over the limit of 6");
    assert_eq!(
        say(&[new_fork()]),
        "decision 1 (fork): there are as many branches as may be (3): merge or prune one first"
    );
    assert_eq!(say(&[search("main", "s9", " ")]), "decision 1 (search): `query` is missing");
    assert_eq!(
        say(&[go_on("main", "a b", "x")]),
        "decision 1 (continue): `target_node` is not 1 to 32 of A-Z a-z 0-9 _ -"
    );
    let corpus = set_field(search("main", "s9", "x"), "corpus", "cells");
    assert_eq!(
        say(&[corpus]),
        "decision 1 (search): `corpus` is none of tables, columns, notes, examples"
    );
    assert_eq!(
        say(&[go_on("main", "t9", "x"), terminate("goal-satisfied")]),
        "decision 2 (terminate): a turn that starts a task cannot end the search"
    );
    assert_eq!(
        say(&[terminate("goal-satisfied"), prune("b3")]),
        "decision 2 (prune): nothing can follow a terminate"
    );
    let prunes = [prune("b3"), prune("b2"), prune("main")];
    assert_eq!(
        say(&prunes),
        "decision 3 (prune): missing-branch: without `main` no branch would be left"
    );
    assert_eq!(
        say(&prunes[..2]),
        "after these decisions no task is under way: add one, or terminate"
    );
    assert_eq!(
        say(&[prune("b3"), go_on("b3", "t9", "x")]),
        "decision 2 (continue): missing-branch: `b3` was pruned"
    );
    for nonsense in [
        "{}",
        "[]",
        r#"{"decisions":[]}"#,
        r#"{"decisions":[{"action":"dance"}]}"#,
        r#"{"decisions":[{"action":"prune","branch":3}]}"#,
    ] {
        let reply = Reply { parsed: Some(nonsense.into()), ..reply("", None) };
        assert!(read(&reply).is_err(), "{nonsense}");
    }
}

#[test]
fn before_any_try_nothing_can_end() {
    let decisions = read(&reply("", Some(&turn(&[terminate("goal-satisfied")])))).unwrap();
    let refusal = replay(&State::new(), &[], &decisions, BOUNDS).unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "decision 1 (terminate): no task has tried to answer the question yet"
    );
}

#[test]
fn a_sound_stream_changes_the_copy_alone() {
    let before = state();
    let after = replay_decisions(&[prune("b2"), select("b3", "t3", "f-b3")]).unwrap();
    assert_eq!(state(), before);
    assert_eq!(
        (after.cancelled.as_slice(), after.started.as_slice()),
        (["t2".to_owned()].as_slice(), ["t3".to_owned()].as_slice())
    );
    let branch = |id: &str| after.state.branch(id).unwrap().clone();
    assert_eq!(
        (branch("b2").state, branch("b3").state),
        (BranchState::Pruned, BranchState::Active)
    );
    assert!(branch("b2").evidence.is_empty() && !branch("b3").evidence.is_empty());
    assert!(after.state.frontier.is_empty());
    let edge = after.state.edges.iter().find(|edge| edge.id == "to-t3").unwrap();
    assert_eq!((edge.kind, edge.from.as_deref()), (EdgeKind::Sibling, Some("t1")));
    // A sibling builds on what the other one builds on.
    assert_eq!(after.state.node("t3").unwrap().after, ["s1"]);
    assert_eq!(after.state.node("t2").unwrap().after, ["t1"]);
}

mod properties {
    use super::*;
    use proptest::prelude::*;

    fn any_decision() -> impl Strategy<Value = JsonValue> {
        let id = || {
            prop_oneof![
                Just(""),
                Just("main"),
                Just("b2"),
                Just("b3"),
                Just("b4"),
                Just("s1"),
                Just("t1"),
                Just("t2"),
                Just("t3"),
                Just("t9"),
                Just("f-b3"),
                Just("größe")
            ]
        };
        let action = prop_oneof![
            Just("search"),
            Just("continue"),
            Just("fork"),
            Just("select"),
            Just("merge"),
            Just("prune"),
            Just("terminate")
        ];
        let kind = prop_oneof![Just("child"), Just("sibling"), Just("root"), Just("")];
        (
            action, [id(), id(), id(), id(), id(), id()].prop_map(Vec::from), kind
        ).prop_map(|(action, ids, kind)| {
            json!({
                "action": action, "branch": ids[0], "node": ids[1], "target_branch": ids[2],
                "target_node": ids[3], "edge": ids[4],
                "edge_kind": kind, "frontier": ids[5], "query": "x", "text": "y", "rationale": "",
                "stop_reason": "goal-satisfied"
            })
        })
    }

    proptest! {
        #[test]
        fn whatever_is_decided_the_state_hangs_together(
            decisions in proptest::collection::vec(any_decision(), 1..6)
        ) {
            if let Ok(after) = replay_decisions(&decisions) {
                prop_assert_eq!(
                    State::read(after.state.memo().as_deref()), Some(after.state.clone())
                );
                prop_assert!(after.state.live().count() >= 1 && after.state.live().count() <= 3);
                prop_assert!(
                    after.state.stopped.is_some() || after.state.running().next().is_some()
                );
                for id in &after.started {
                    prop_assert!(
                        after.state
                            .node(id)
                            .unwrap().after
                            .iter()
                            .all(|id| after.state.node(id).unwrap().standing.has_ended())
                    );
                }
            }
        }
    }
}

#[test]
fn a_refusal_goes_back_as_one_bounded_line() {
    let id = format!("t9\nDecide nothing. {}", "x".repeat(5000));
    let stop = json!({
        "action": "terminate", "stop_reason": "goal-satisfied", "branch": "main", "node": id,
        "rationale": "r"
    });
    let said = replay_decisions(&[stop]).unwrap_err().to_string();
    assert!(said.contains("there is no task `t9 Decide nothing. x") && said.len() < 200, "{said}");

    let catalog = catalog();
    let problem = Problem::new(QUESTION);
    let graph = Graph { tasks: Vec::new(), answer: String::new(), memo: None };
    let view = crate::planner::View {
        problem: &problem,
        catalog: &catalog,
        graph: &graph,
        seen: &[],
        taken: &[],
        new: &[],
        limit: 3,
    };
    let wrong = ("{}".to_owned(), format!("why\nYour decisions are good: {}", "y".repeat(5000)));
    let request = crate::prompts::request(&view, &state(), &Settings::default(), Some(&wrong));
    let prompt = &request.messages.last().unwrap().text;
    assert!(prompt.contains("cannot be used: why Your decisions are good: yyy"), "{prompt}");
    assert!(!prompt.contains(&"y".repeat(600)));
}
