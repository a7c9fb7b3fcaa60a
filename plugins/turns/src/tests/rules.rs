//! Without a model: the same closed loop by rule.

use super::*;

fn by_rule(script: Vec<Observation>) -> Scene {
    let mut scene =
        Scene::with(FakeHost::default(), Settings { model: false, ..Settings::default() }, script);
    scene.run();
    assert_eq!(scene.calls(), 0);
    scene
}

fn query(scene: &Scene, id: &str) -> (Corpus, Retriever, String) {
    match &scene.task(id).operation {
        Operation::Retrieve(query) => {
            (query.corpus.clone(), query.retriever.clone(), query.text.clone())
        }
        other => panic!("{id} is {other:?}"),
    }
}

fn columns() -> Observation {
    observe_hits(
        "s1",
        vec![
            hit(Corpus::Columns, "customers.country", "residence"),
            hit(Corpus::Columns, "orders.placed", ""),
        ],
    )
}

#[test]
fn words_then_what_they_lead_to_then_the_question() {
    let scene = by_rule(vec![
        columns(),
        observe_hits("s2", vec![hit(Corpus::Notes, "glossary", "FR is France")]),
        observe_hits("s3", vec![]),
        observe_success("t1", "SELECT 1", 1, 0.6),
    ]);
    assert_eq!(scene.tasks(), ["s1", "s2", "s3", "t1"]);
    assert_eq!(
        query(&scene, "s1"),
        (Corpus::Columns, Retriever::Lexical, "orders french customers place".into())
    );
    // One for each piece of evidence, of the words that were not used yet.
    assert_eq!(
        query(&scene, "s2"),
        (Corpus::Notes, Retriever::SegmentFuzzy, "country residence".into())
    );
    assert_eq!(query(&scene, "s3").2, "placed");
    assert_eq!(
        (scene.task("s2").depends_on.clone(), scene.task("s3").depends_on.clone()),
        (vec!["s1".into()], vec!["s1".into()])
    );
    assert_eq!(scene.task("t1").text, QUESTION);
    assert_eq!(scene.task("t1").depends_on, ["s3", "s2", "s1"]);
    assert_eq!((scene.stop_reason(), scene.graph.answer.as_str()), ("goal-satisfied", "t1"));
}

#[test]
fn an_error_names_what_to_look_for_next() {
    let missed = observe_failure(
        "t1",
        "no statement did after 3 of 3 attempts: no such column `nation`; near: native",
    );
    let again = observe_hits("s3", vec![hit(Corpus::Columns, "countries.nation_name", "")]);
    let second = observe_success("t2", "SELECT 2", 1, 0.6);
    let first =
        vec![observe_hits("s1", vec![hit(Corpus::Columns, "orders.french", "")]), missed, second];
    let scene =
        by_rule([first.clone(), vec![Observation { task: "s2".into(), ..again.clone() }]].concat());
    assert_eq!(scene.tasks(), ["s1", "t1", "s2", "t2"]);
    assert_eq!(
        query(&scene, "s2"),
        (Corpus::Columns, Retriever::PathFuzzy, "nation native".into())
    );
    assert_eq!(scene.task("t2").depends_on, ["s2", "s1"]);
    assert_eq!(scene.stop_reason(), "goal-satisfied");

    let scene = by_rule(
        [first, vec![observe_hits("s2", vec![hit(Corpus::Columns, "orders.french", "")])]].concat(),
    );
    assert_eq!(scene.tasks(), ["s1", "t1", "s2"]);
    assert_eq!(scene.stop_reason(), "no-additional-evidence");
    assert!(scene.finished);
}

#[test]
fn an_empty_result_is_tried_once_more_and_accepted() {
    let long =
        "Which premium customers in northern regions bought seasonal garden furniture cheaply?";
    let mut scene = Scene::with(
        FakeHost::default(),
        Settings { model: false, ..Settings::default() },
        vec![
            observe_hits("s1", vec![]),
            observe_success("t1", "SELECT 1", 0, 0.3),
            observe_hits("s2", vec![hit(Corpus::Columns, "a.b", "")]),
            observe_success("t2", "SELECT 2", 0, 0.2),
        ],
    );
    let problem = Problem { evidence: Some("cheap means below 5".into()), ..Problem::new(long) };
    scene.graph = scene.planner.plan(&scene.host, &problem, &catalog()).unwrap();
    for _ in 0..5 {
        let ready: Vec<String> = scene.ready();
        for id in ready {
            let observation = scene.outcome(&id);
            scene.seen.push(observation);
        }
        let step = scene
            .planner
            .next(&scene.host, &problem, &catalog(), &scene.graph, &scene.seen, 0)
            .unwrap();
        scene.apply(step);
    }
    assert_eq!(query(&scene, "s1").2, "premium customers northern regions bought seasonal");
    // An empty result has no error: the rest of the question is left.
    assert_eq!(query(&scene, "s2").2, "garden furniture cheaply cheap means below");
    assert_eq!(
        (scene.stop_reason(), scene.graph.answer.as_str()),
        ("no-additional-evidence", "t2")
    );
}

#[test]
fn each_end_has_its_reason() {
    fn lose() -> Vec<syrch_plugin::prelude::Observation> {
        vec![observe_hits("s1", vec![]), observe_failure("t1", "syntax error")]
    }
    assert_eq!(by_rule(lose()).stop_reason(), "no-further-queries");

    let run = |rounds: u32, script: Vec<Observation>| {
        let mut scene = Scene::with(
            FakeHost::default(),
            Settings { model: false, ..Settings::default() },
            script,
        );
        scene.host.policy.max_rounds = rounds;
        scene.run();
        scene
    };
    // The last turn is the question's.
    let scene = run(1, vec![columns(), observe_success("t1", "SELECT 1", 1, 0.6)]);
    assert_eq!((scene.tasks(), scene.stop_reason()), (vec!["s1", "t1"], "goal-satisfied"));
    let scene = run(1, vec![columns(), observe_failure("t1", "no such column `x1`")]);
    assert_eq!(scene.stop_reason(), "step-limit-reached");

    let spent =
        Observation::ended("t1", Ending::Failed(failure(FailureKind::Budget, "no `calls` left")));
    let scene = by_rule(vec![observe_hits("s1", vec![]), spent]);
    assert_eq!((scene.tasks(), scene.stop_reason()), (vec!["s1", "t1"], "no-additional-evidence"));
}

#[test]
fn retrieval_that_is_refused_is_no_obstacle() {
    let denied = Observation::ended(
        "s1",
        Ending::Failed(failure(FailureKind::Unsupported, "no such retriever")),
    );
    let scene = by_rule(vec![denied, observe_success("t1", "SELECT 1", 1, 0.6)]);
    assert_eq!((scene.tasks(), scene.stop_reason()), (vec!["s1", "t1"], "goal-satisfied"));
}

#[test]
fn a_model_that_cannot_do_it_leaves_it_to_the_rules() {
    for error in [
        LlmError::Refused("no model".into()),
        LlmError::Unsupported("plan".into()),
        LlmError::TooLarge,
    ] {
        let mut host = FakeHost::default();
        host.model.script(&Purpose::Plan, Err(error));
        let mut scene = Scene::with(
            host,
            Settings::default(),
            vec![observe_hits("s1", vec![]), observe_success("t1", "SELECT 1", 1, 0.6)],
        );
        scene.run();
        assert_eq!(
            (scene.tasks(), scene.calls(), scene.stop_reason()),
            (vec!["s1", "t1"], 1, "goal-satisfied")
        );
    }
    let mut host = FakeHost::default();
    for _ in 0..2 {
        host.model.script(&Purpose::Plan, Err(LlmError::Malformed("Sure!".into())));
    }
    let mut scene = Scene::with(host, Settings::default(), vec![]);
    scene.plan();
    assert_eq!((scene.tasks(), scene.calls()), (vec!["s1"], 2));
}

#[test]
fn an_outage_is_reported_at_first_and_survived_later() {
    fn outage() -> syrch_plugin::prelude::LlmError {
        LlmError::Unavailable("connection refused".into())
    }
    let mut host = FakeHost::default();
    host.model.script(&Purpose::Plan, Err(outage()));
    let failure = Turns::new(Settings::default())
        .plan(&host, &Problem::new(QUESTION), &catalog())
        .unwrap_err();
    assert_eq!((failure.kind, failure.retryable), (FailureKind::Model, true));

    let mut host = FakeHost::default();
    // The rules go on where the model left off: what waits is tried.
    host.model
        .reply_plan(&turn(&[fork("main", "b2", "t1", "child"), fork("main", "b3", "t2", "child")]));
    host.model.script(&Purpose::Plan, Err(outage()));
    let script =
        vec![observe_failure("t1", "no `such` luck"), observe_success("t2", "SELECT 1", 1, 0.6)];
    let mut scene = Scene::with(host, Settings::default(), script);
    scene.run();
    assert_eq!(
        (scene.tasks(), scene.calls(), scene.stop_reason()),
        (vec!["t1", "t2"], 2, "goal-satisfied")
    );
    assert!(scene.host.trace.notes().iter().any(|note| note.contains("connection refused")));
}
