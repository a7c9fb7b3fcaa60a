//! The closed loop: each turn follows from what the one before found.

use super::*;
use crate::planner::state::{BranchState, Standing};

fn script() -> Vec<Observation> {
    vec![
        observe_hits(
            "s1",
            vec![
                hit(Corpus::Columns, "customers.country", "where they live"),
                hit(Corpus::Columns, "orders.id", ""),
            ],
        ),
        Observation {
            memo: Some(r#"{"reason":"country may be a code"}"#.into()),
            ..observe_success("t1", "SELECT name, 0 FROM customers", 3, 0.4)
        },
        observe_success("t2", "SELECT count(*) FROM orders", 1, 0.9),
        observe_success("t3", "SELECT a.n, b.n FROM t1 a, t2 b", 1, 0.7),
    ]
}

fn merge(branch: &str, target: &str, node: &str) -> JsonValue {
    json!({
        "action": "merge", "branch": branch, "target_branch": target, "target_node": node,
        "text": "add both counts",
        "rationale": "both hold"
    })
}

fn prune(branch: &str) -> JsonValue {
    json!({ "action": "prune", "branch": branch, "rationale": "it has the wrong rows" })
}

/// search, continue, fork, merge, terminate.
fn whole() -> Scene {
    let turns = [
        turn(&[search("main", "s1", "french customers")]),
        turn(&[go_on("main", "t1", "orders of each French customer")]),
        turn(&[fork("main", "b2", "t2", "sibling")]),
        turn(&[merge("main", "b2", "t3")]),
        turn(&[terminate("goal-satisfied")]),
    ];
    let mut scene = Scene::new(Settings::default(), &turns, script());
    scene.run();
    scene
}

#[test]
fn each_turn_is_decided_from_what_the_one_before_found() {
    let scene = whole();
    assert_eq!(scene.tasks(), ["s1", "t1", "t2", "t3"]);
    assert_eq!(
        (scene.calls(), scene.stop_reason(), scene.graph.answer.as_str()),
        (5, "goal-satisfied", "t3")
    );
    assert_eq!(scene.steps[3], [Edit::Answer("t3".into()), Edit::Finish]);
    let prompt = |call: usize| scene.host.model.prompt(call);
    let has = |call: usize, parts: &[&str]| {
        for part in parts {
            assert!(
                prompt(call).contains(part),
                "{part} is missing in call {call}:\n{}",
                prompt(call)
            );
        }
    };
    has(
        0,
        &[
            "You plan how to answer",
            "Table customers",
            QUESTION,
            "This is turn 1 of 6.",
            "Nothing has been done yet",
            "no-further-queries",
        ],
    );
    has(
        1,
        &[
            "This is turn 2 of 6.",
            "Branch main (active, worked on last)\n  \
             NEW s1: search of columns by lexical for \"french customers\": 2 hits, \
             2 of them new\n",
            "    [columns] customers.country: where they live (by s1)\n",
        ],
    );
    has(
        2,
        &[
            "  s1: search",
            "  NEW t1: statement for \"orders of each French customer\" after s1: 3 rows of (name, \
             total), NULL in total 1 time, confidence 0.40\n",
            "    SQL: SELECT name, 0 FROM customers\n",
            "the solver's note: {\"reason\":\"country may be a code\"}",
        ],
    );
    has(
        3,
        &[
            "Branch b2 (active, worked on last)\n  NEW t2: statement for \"another reading t2\" \
             after s1: 1 row",
            "confidence 0.90",
        ],
    );
    has(
        4,
        &["Branch b2 (merged)", "  NEW t3: statement for \"add both counts\" after t1, t2: 1 row"],
    );
    assert!(!prompt(1).contains("t1:") && !prompt(2).contains("NEW s1"));
    let request = &scene.host.model.requests()[1];
    assert_eq!(request.purpose, Purpose::Plan);
    assert!(matches!(
        &request.expect, Shape::Json(schema) if schema.contains("\"title\":\"syrch-turn\"")
    ));
}

#[test]
fn decisions_become_tasks_with_what_they_build_on() {
    let scene = whole();
    let query = RetrievalQuery {
        corpus: Corpus::Columns,
        retriever: Retriever::Lexical,
        text: "french customers".into(),
        limit: 10,
    };
    assert_eq!(scene.task("s1").operation, Operation::Retrieve(query));
    // The statement depends on the search that it builds on, the sibling on the same, the merge on
    // both and on the search.
    assert_eq!(scene.task("t1").depends_on, ["s1"]);
    assert_eq!(scene.task("t2").depends_on, ["s1"]);
    assert_eq!(scene.task("t3").depends_on, ["t1", "t2", "s1"]);
    assert!(scene.graph.tasks.iter().all(|task| task.tolerant && task.join == Join::AllOf));
    // While t2 runs, the answer is the better of it and what there is.
    assert_eq!(
        (scene.task("turn-3").depends_on.clone(), scene.task("turn-3").operation.clone()),
        (vec!["t2".into(), "t1".into()], Operation::Choose)
    );
    let state = scene.state();
    assert_eq!(state.branch("b2").unwrap().state, BranchState::Merged);
    assert_eq!(state.branch("main").unwrap().state, BranchState::Completed);
    let edges: Vec<String> = state
        .edges
        .iter()
        .map(|edge| format!("{} {:?} {:?} {}", edge.id, edge.kind, edge.from, edge.to))
        .collect();
    assert_eq!(
        edges,
        [
            "e1 Root None s1",
            "e2 Child Some(\"s1\") t1",
            "to-t2 Sibling Some(\"t1\") t2",
            "e3 Child Some(\"t1\") t3",
            "e4 Merge Some(\"t2\") t3"
        ]
    );
    let notes = scene.host.trace.notes();
    assert_eq!(notes[0], "turn 1 of 6: search s1: unknown names");
    assert_eq!(notes.last().unwrap(), "stopped: goal-satisfied, answering from t3");
}

#[test]
fn a_merge_that_fails_leaves_both_results() {
    let mut script = script();
    script[3] = observe_failure("t3", "no such table");
    let turns = [
        turn(&[go_on("main", "t1", "count")]),
        turn(&[fork("main", "b2", "t2", "sibling")]),
        turn(&[merge("main", "b2", "t3")]),
        turn(&[terminate("no-additional-evidence")]),
    ];
    let mut scene = Scene::new(Settings::default(), &turns, script);
    scene.run();
    // The later one of the two: it was to be added to the first.
    assert_eq!((scene.tasks(), scene.graph.answer.as_str()), (vec!["t1", "t2", "t3"], "t2"));
}

#[test]
fn a_merge_takes_evidence_once_and_within_the_limit() {
    let mut script = script();
    script.push(observe_hits(
        "s2",
        vec![
            hit(Corpus::Columns, "orders.id", ""),
            hit(Corpus::Notes, "glossary", "French: country FR"),
        ],
    ));
    let mut other = fork("main", "b2", "s2", "child");
    other["query"] = "glossary".into();
    other["corpus"] = "notes".into();
    let turns = [
        turn(&[search("main", "s1", "french")]),
        turn(&[other]),
        turn(&[merge("main", "b2", "t1")]),
        turn(&[terminate("no-additional-evidence")]),
    ];
    let mut scene = Scene::new(Settings { retained: 2, ..Settings::default() }, &turns, script);
    scene.run();
    let state = scene.state();
    let retained: Vec<&str> =
        state.branch("main").unwrap().evidence.iter().map(|piece| piece.path.as_str()).collect();
    assert_eq!(retained, ["customers.country", "orders.id"]);
    assert!(state.let_go > 0 && scene.host.model.prompt(3).contains("of evidence let go"));
    assert_eq!(scene.task("t1").depends_on, ["s1", "s2"]);
    assert_eq!(scene.stop_reason(), "no-additional-evidence");
}

#[test]
fn a_pruned_branch_gives_no_answer() {
    let mut pruned = terminate("goal-satisfied");
    pruned["node"] = "t2".into();
    let turns = [
        turn(&[fork("main", "b2", "t2", "child")]),
        turn(&[prune("b2"), go_on("main", "t3", "count again")]),
        turn(&[pruned]),
        turn(&[terminate("goal-satisfied")]),
    ];
    let mut scene = Scene::new(Settings::default(), &turns, script());
    scene.run();
    // The surer result is the pruned one's.
    assert_eq!((scene.tasks(), scene.graph.answer.as_str()), (vec!["t2", "t3"], "t3"));
    assert!(scene.graph.task("turn-2").is_none(), "the answer waits for t3 alone");
    assert_eq!(scene.state().branch("b2").unwrap().state, BranchState::Pruned);
    let prompt = |call: usize| scene.host.model.prompt(call);
    assert!(prompt(2).contains("Branch b2 (pruned)"), "{}", prompt(2));
    assert!(
        prompt(3).contains("decision 1 (terminate): missing-branch: `b2` was pruned"),
        "{}",
        prompt(3)
    );
}

#[test]
fn tasks_under_way_are_called_off_when_one_result_is_enough() {
    let select = json!({
        "action": "select", "branch": "b2", "node": "t2", "frontier": "f-b2", "rationale": "at once"
    });
    let mut first = fork("main", "b2", "t2", "child");
    first["priority"] = 0.9.into();
    let turns = [
        turn(&[first, select, go_on("main", "t1", "count")]),
        turn(&[prune("main"), terminate("goal-satisfied")]),
    ];
    fn settings() -> crate::settings::Settings {
        Settings { together: false, ..Settings::default() }
    }
    let mut scene = Scene::new(settings(), &turns, script());
    scene.plan();
    assert_eq!(scene.task("turn-1").depends_on, ["t2", "t1"]);
    assert_eq!((scene.task("t2").priority, scene.task("t1").priority), (0.9, 0.5));
    assert!(scene.advance(&["t2"]));
    assert_eq!(
        scene.steps[0],
        [Edit::Cancel("t1".into()), Edit::Answer("t2".into()), Edit::Finish]
    );
    assert!(scene.host.model.prompt(1).contains("t1: statement for \"count\": under way"));
    assert_eq!(scene.state().node("t1").unwrap().standing, Standing::Cancelled);

    // Otherwise a turn waits for all of its tasks, and the model is asked once.
    let mut scene = Scene::new(Settings::default(), &turns, script());
    scene.plan();
    assert!(scene.advance(&["t2"]) && scene.steps.is_empty() && scene.calls() == 1);
    assert!(scene.advance(&["t1"]) && scene.calls() == 2);
}

#[test]
fn a_refused_stream_is_reported_once_and_then_rules_decide() {
    let wrong = turn(&[go_on("b7", "t1", "count")]);
    let mut scene = Scene::new(
        Settings::default(),
        &[wrong.clone(), turn(&[go_on("main", "t1", "count")])],
        script(),
    );
    scene.plan();
    assert_eq!((scene.tasks(), scene.calls(), scene.state().by_model), (vec!["t1"], 2, true));
    let prompt = scene.host.model.prompt(1);
    assert!(
        prompt.contains(
            "Your decisions cannot be used: decision 1 (continue): missing-branch: there is no \
             branch `b7`."
        ),
        "{prompt}"
    );
    assert!(prompt.contains("\"b7\""), "{prompt}");

    let mut scene = Scene::new(Settings::default(), &[wrong.clone(), wrong], script());
    scene.plan();
    assert_eq!((scene.tasks(), scene.calls(), scene.state().by_model), (vec!["s1"], 2, false));
    assert!(matches!(
        &scene.task("s1").operation, Operation::Retrieve(query) if query.text
            == "orders french customers place"
    ));
    assert!(
        scene
            .host
            .trace
            .notes()
            .contains(&"the model decided wrong twice: deciding by rule from here on".to_owned())
    );
}

#[test]
fn the_last_turn_tries_the_question_and_the_limit_ends_it() {
    let turns = [turn(&[search("main", "s1", "french")]), turn(&[search("main", "s2", "orders")])];
    let script = || {
        [script(), vec![observe_hits("s2", vec![]), observe_success("t1", "SELECT 1", 1, 0.2)]]
            .concat()
    };
    let mut scene = Scene::new(Settings { steps: 2, ..Settings::default() }, &turns, script());
    scene.run();
    assert_eq!((scene.tasks(), scene.calls()), (vec!["s1", "s2", "t1"], 2));
    assert_eq!(scene.task("t1").text, QUESTION);
    assert_eq!(scene.task("t1").depends_on, ["s2", "s1"]);
    assert_eq!((scene.stop_reason(), scene.graph.answer.as_str()), ("step-limit-reached", "t1"));
    assert!(
        scene.host.model.prompt(1).contains("This is turn 2 of 2. No task can be added after it")
    );

    // The user's rounds bound the turns too; without any there is nothing to look at, and no model
    // is asked.
    for (rounds, tasks, calls) in [(1, vec!["s1", "s2", "t1"], 2), (0, vec!["t1"], 0)] {
        let mut scene = Scene::new(Settings::default(), &turns, script());
        scene.host.policy.max_rounds = rounds;
        scene.plan();
        (0..rounds).for_each(|_| assert!(scene.advance(&[])));
        assert_eq!((scene.tasks(), scene.calls()), (tasks, calls));
        assert_eq!(scene.graph.answer == "t1", rounds == 0);
        assert!(rounds == 0 || scene.task(&scene.graph.answer).depends_on == ["t1", "s2"]);
    }
}

#[test]
fn settings_bound_what_a_turn_may_do() {
    let two = turn(&[search("main", "s1", "french"), search("main", "s2", "orders")]);
    let refusal = |settings: Settings, turns: &[JsonValue]| {
        let mut scene =
            Scene::new(settings, turns, [script(), vec![observe_hits("s2", vec![])]].concat());
        scene.plan();
        scene.advance(&[]);
        scene.host.trace.notes().into_iter().find(|note| note.contains("cannot be used"))
    };
    assert_eq!(refusal(Settings::default(), std::slice::from_ref(&two)), None);
    let said = refusal(Settings { actions_per_turn: 1, ..Settings::default() }, &[two]);
    assert_eq!(
        said.unwrap(),
        "the model's decisions cannot be used: 2 decisions in one turn, over the limit of 1"
    );

    let forks = [turn(&[go_on("main", "t1", "x")]), turn(&[fork("main", "b2", "t2", "child")])];
    assert_eq!(refusal(Settings::default(), &forks), None);
    let said = refusal(Settings { branches: 1, ..Settings::default() }, &forks);
    assert!(
        said.unwrap()
            .ends_with("there are as many branches as may be (1): merge or prune one first")
    );

    let mut scene = Scene::new(
        Settings { hits: 3, catalog_bytes: 500, ..Settings::default() },
        &[turn(&[search("main", "s1", "x")])],
        script(),
    );
    scene.plan();
    assert!(matches!(&scene.task("s1").operation, Operation::Retrieve(query) if query.limit == 3));
    let wide = Table {
        name: "wide".into(),
        columns: ["a", "b", "c"]
            .map(|name| Column { name: name.repeat(200), ..Column::default() })
            .to_vec(),
        ..Table::default()
    };
    let catalog = Catalog { tables: vec![wide], ..catalog() };
    for (bytes, shown) in [(500, false), (5000, true)] {
        let mut host = FakeHost::default();
        host.model.reply_plan(&turn(&[search("main", "s1", "x")]));
        Turns::new(Settings { catalog_bytes: bytes, ..Settings::default() })
            .plan(&host, &Problem::new(QUESTION), &catalog)
            .unwrap();
        assert_eq!(host.model.prompt(0).contains("Table wide"), shown);
    }
}

#[test]
fn the_same_results_make_the_same_search() {
    let one = whole();
    let two = whole();
    assert_eq!(one.graph, two.graph);
    assert_eq!(one.steps, two.steps);
    assert_eq!(one.host.model.requests(), two.host.model.requests());
    let state = one.state();
    assert_eq!(State::read(state.memo().as_deref()), Some(state));
}

#[test]
fn a_memo_that_is_not_its_own_changes_nothing() {
    let mut scene = whole();
    for memo in [None, Some("{}"), Some("[]"), Some("no json")] {
        scene.graph.memo = memo.map(str::to_owned);
        let step = scene
            .planner
            .next(&scene.host, &Problem::new(QUESTION), &catalog(), &scene.graph, &scene.seen, 0)
            .unwrap();
        assert_eq!((step.edits, step.memo), (vec![], memo.map(str::to_owned)));
    }
    let mut state = State::new();
    state.active = "gone".into();
    assert_eq!(State::read(state.memo().as_deref()), None);
}
