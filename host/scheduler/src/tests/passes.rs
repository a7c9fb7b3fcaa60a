//! Tests of what the passes leave out.

use super::*;
use crate::{check, optimise};

fn equal(id: &str, text: &str, depends_on: &[&str]) -> Task {
    Task { text: text.into(), ..task(id, depends_on) }
}

fn pair(left: &str, right: &str) -> (TaskId, TaskId) {
    (left.into(), right.into())
}

fn ids(graph: &Graph) -> Vec<&str> {
    graph.tasks.iter().map(|task| task.id.as_str()).collect()
}

#[test]
fn what_the_answer_does_not_need_is_dropped() {
    fn child(id: &str, parent: &str, depends_on: &[&str]) -> syrch_core::Task {
        Task { parent: Some(parent.into()), ..task(id, depends_on) }
    }
    let tasks = vec![
        task("a", &[]),
        child("side", "a", &["a"]),
        task("after", &["z"]),
        child("z", "side", &["a"]),
    ];
    let graph = Graph { answer: "z".into(), ..graph(tasks) };
    let passed = optimise(graph);
    assert_eq!(passed.dropped, ["side", "after"]);
    assert_eq!(ids(&passed.graph), ["a", "z"]);
    // Its parent is gone, its grandparent is not.
    assert_eq!(passed.graph.tasks[1].parent.as_deref(), Some("a"));
}

#[test]
fn tasks_of_different_solvers_are_not_equal() {
    fn by(id: &str, solver: &str) -> syrch_core::Task {
        Task { operation: Operation::Other(format!("solver/{solver}")), ..equal(id, "count", &[]) }
    }
    let tasks = vec![
        equal("a", "count", &[]),
        by("b", "x"),
        by("c", "y"),
        by("d", "x"),
        task("z", &["a", "b", "c", "d"]),
    ];
    assert_eq!(optimise(Graph { answer: "z".into(), ..graph(tasks) }).merged, [pair("d", "b")]);
}

#[test]
fn equal_tasks_are_merged_and_make_their_dependents_equal() {
    let tasks = vec![
        equal("a", "count", &[]),
        Task { priority: 3.0, ..equal("b", "count", &[]) },
        equal("x", "sum", &["a"]),
        equal("y", "sum", &["b"]),
        equal("z", "compare", &["x", "y", "b"]),
    ];
    let passed = optimise(graph(tasks));
    assert_eq!(passed.merged, [pair("b", "a"), pair("y", "x")]);
    assert_eq!(ids(&passed.graph), ["a", "x", "z"]);
    assert_eq!(passed.graph.task("z").unwrap().depends_on, ["x", "a"]);
    assert_eq!(passed.graph.task("a").unwrap().priority, 3.0);
}

#[test]
fn an_equal_of_the_answer_is_not_needed() {
    let tasks = vec![task("r", &[]), equal("a", "count", &["r"]), equal("b", "count", &["r"])];
    let passed = optimise(graph(tasks));
    assert_eq!((passed.dropped, passed.merged), (vec!["a".to_owned()], vec![]));
    assert_eq!(passed.graph.answer, "b");
}

#[test]
fn any_difference_keeps_tasks_apart() {
    let twin = || equal("b", "count", &["r"]);
    fn retrieve(text: &str) -> syrch_core::Operation {
        let text = text.to_owned();
        Operation::Retrieve(RetrievalQuery {
            corpus: Corpus::Tables,
            retriever: Retriever::Lexical,
            text,
            limit: 1,
        })
    }
    let different = [
        Task { operation: retrieve("orders"), ..twin() },
        Task { text: "sum".into(), ..twin() },
        Task { operation: Operation::Choose, ..twin() },
        Task { depends_on: vec![], ..twin() },
        Task { join: Join::AnyOf, ..twin() },
        Task { tolerant: true, ..twin() },
        Task { expected: Some("a number".into()), ..twin() },
        Task { database: Some("other".into()), ..twin() },
        Task { context: Some("{}".into()), ..twin() },
    ];
    let merged = |twin: Task| {
        let tasks = vec![task("r", &[]), equal("a", "count", &["r"]), twin, task("z", &["a", "b"])];
        optimise(graph(tasks)).merged.len()
    };
    assert_eq!(merged(twin()), 1);
    let merges = |text: &str| {
        let first = Task { operation: retrieve("orders"), ..equal("a", "count", &["r"]) };
        let tasks = vec![
            task("r", &[]),
            first,
            Task { operation: retrieve(text), ..twin() },
            task("z", &["a", "b"]),
        ];
        optimise(graph(tasks)).merged.len()
    };
    assert_eq!((merges("orders"), merges("people")), (1, 0));
    for task in different {
        assert_eq!(merged(task.clone()), 0, "{task:?}");
    }
}

#[test]
fn tasks_that_are_counted_are_not_merged() {
    fn voters() -> Vec<syrch_core::Task> {
        vec![equal("a", "vote", &[]), equal("b", "vote", &[]), task("c", &[])]
    }
    let with = |join| {
        optimise(graph(
            voters().into_iter().chain([join_task(join, "z", &["a", "b", "c"])]).collect(),
        ))
    };
    assert_eq!(with(Join::AtLeast(2)).merged, []);
    assert_eq!(with(Join::AllOf).merged, [pair("b", "a")]);
    assert_eq!(with(Join::AnyOf).merged, [pair("b", "a")]);
}

#[test]
fn a_choice_keeps_the_order_that_breaks_its_ties() {
    let tasks = vec![
        equal("a", "count", &[]),
        task("b", &[]),
        equal("c", "count", &[]),
        choice("z", &["c", "b", "a"]),
    ];
    assert_eq!(optimise(graph(tasks)).graph.task("z").unwrap().depends_on, ["a", "b"]);
    let mirrored = vec![
        task("a", &[]),
        task("b", &[]),
        choice("x", &["a", "b"]),
        choice("y", &["b", "a"]),
        task("z", &["x", "y"]),
    ];
    fn same(mut tasks: Vec<Task>) -> usize {
        tasks[2].text = "either".into();
        tasks[3].text = "either".into();
        optimise(graph(tasks)).merged.len()
    }
    assert_eq!(same(mirrored.clone()), 0);
    let solved =
        mirrored.into_iter().map(|task| Task { operation: Operation::Solve, ..task }).collect();
    assert_eq!(same(solved), 1);
}

#[test]
fn merged_families_close_no_ring() {
    fn child(id: &str, text: &str, parent: Option<&str>) -> syrch_core::Task {
        Task { parent: parent.map(str::to_owned), ..equal(id, text, &[]) }
    }
    // Merging b into a and d into c would make each the other's parent.
    let tasks = vec![
        child("a", "one", Some("d")),
        child("c", "two", Some("b")),
        child("b", "one", None),
        child("d", "two", None),
        task("z", &["a", "b", "c", "d"]),
    ];
    let passed = optimise(graph(tasks));
    assert_eq!(passed.merged.len(), 2);
    assert_eq!(check(&passed.graph, &Limits::default()), Ok(()));
}

#[tokio::test(start_paused = true)]
async fn a_run_tells_what_was_left_out() {
    let tasks = vec![
        equal("a", "count", &[]),
        equal("b", "count", &[]),
        task("side", &["a"]),
        task("z", &["a", "b"]),
    ];
    let finished = Scene::new(tasks).run().await;
    assert_eq!(
        (finished.run.dropped, finished.run.merged),
        (vec!["side".to_owned()], vec![pair("b", "a")])
    );
    assert_eq!(finished.log.entries_with("enter").len(), 2);
}
