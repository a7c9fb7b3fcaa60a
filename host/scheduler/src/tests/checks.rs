//! Tests of the graphs that are refused, and of the messages.

use super::*;
use crate::check;

fn refusal(graph: &Graph) -> String {
    check(graph, &Limits::default()).unwrap_err().to_string()
}

#[test]
fn a_sound_graph_passes() {
    let tasks = vec![
        task("A.1_x-y", &[]),
        Task { parent: Some("A.1_x-y".into()), confidence: Some(1.0), ..task("b", &["A.1_x-y"]) },
        choice("c", &["b", "A.1_x-y"]),
        Task { operation: Operation::Other("solver/tries/help".into()), ..task("e", &["c"]) },
        join_task(Join::AtLeast(2), "d", &["c", "b"]),
    ];
    assert_eq!(check(&graph(tasks), &Limits::default()), Ok(()));
}

#[test]
fn each_fault_is_named() {
    let long = "x".repeat(65);
    let with = |last: Task| graph(vec![task("a", &[]), last]);
    let cases = [
        (graph(vec![]), "the graph has no tasks"),
        (with(task("", &[])), "task id `` is not 1 to 64 of A-Z a-z 0-9 _ . -"),
        (with(task("a b", &[])), "task id `a b` is not 1 to 64 of A-Z a-z 0-9 _ . -"),
        (with(task("\u{1b}[2J", &[])), r"task id `\u{1b}[2J` is not 1 to 64 of A-Z a-z 0-9 _ . -"),
        (
            with(task(&long, &[])),
            &format!("task id `{}` is not 1 to 64 of A-Z a-z 0-9 _ . -", &long[..64]),
        ),
        (with(task("a", &[])), "task id `a` is used twice"),
        (with(task("b", &["x\n"])), r"`b` depends on `x\n`, which is not a task of the graph"),
        (with(task("b", &["b"])), "`b` depends on itself"),
        (with(task("b", &["a", "a"])), "`b` depends on `a` twice"),
        (
            with(join_task(Join::AtLeast(0), "b", &["a"])),
            "`b` waits for at least 0 of its dependencies, not for 1 to 1",
        ),
        (
            with(join_task(Join::AtLeast(2), "b", &["a"])),
            "`b` waits for at least 2 of its dependencies, not for 1 to 1",
        ),
        (with(choice("b", &[])), "`b` chooses, but has no dependencies to choose from"),
        (
            with(Task { operation: Operation::Other("fly\t".into()), ..task("b", &[]) }),
            r"`b` has the unknown operation `fly\t`",
        ),
        (
            with(Task { operation: Operation::Other("solver/".into()), ..task("b", &[]) }),
            "`b` has the unknown operation `solver/`",
        ),
        (
            with(Task { priority: f64::INFINITY, ..task("b", &[]) }),
            "`b` has the priority inf, which is not finite",
        ),
        (
            with(Task { confidence: Some(f64::NAN), ..task("b", &[]) }),
            "`b` has the confidence NaN, not 0 to 1",
        ),
        (
            with(Task { confidence: Some(-0.1), ..task("b", &[]) }),
            "`b` has the confidence -0.1, not 0 to 1",
        ),
        (
            with(Task { parent: Some("q".into()), ..task("b", &[]) }),
            "`b` was made from `q`, which is not a task of the graph",
        ),
        (
            with(Task { parent: Some("b".into()), ..task("b", &[]) }),
            "tasks are made from each other in a cycle: b -> b",
        ),
        (
            Graph { answer: "q".into(), ..with(task("b", &[])) },
            "the answer `q` is not a task of the graph",
        ),
    ];
    for (graph, reason) in cases {
        assert_eq!(refusal(&graph), reason);
    }
}

#[test]
fn cycles_are_named_in_order() {
    let tasks = vec![task("e", &["b"]), task("a", &["c"]), task("b", &["a"]), task("c", &["b"])];
    let error = check(&graph(tasks), &Limits::default()).unwrap_err();
    assert_eq!(error, GraphError::Cycle { tasks: ["a", "c", "b"].map(String::from).to_vec() });
    assert_eq!(error.to_string(), "tasks depend on each other in a cycle: a -> c -> b -> a");
    fn make(id: &str, parent: &str) -> syrch_core::Task {
        Task { parent: Some(parent.into()), ..task(id, &[]) }
    }
    assert_eq!(
        refusal(&graph(vec![make("a", "b"), make("b", "a")])),
        "tasks are made from each other in a cycle: a -> b -> a"
    );
}

#[test]
fn a_long_cycle_has_a_short_message() {
    let ids: Vec<String> = (0..200).map(|number| format!("t{number:03}")).collect();
    let tasks = (0..200).map(|at| task(&ids[at], &[&ids[(at + 1) % 200]])).collect();
    let error = check(&graph(tasks), &Limits::default()).unwrap_err();
    assert!(error.to_string().ends_with("t015 -> … -> t000 (200 tasks)"), "{error}");
    assert_eq!(error, GraphError::Cycle { tasks: ids });
}

fn chain(length: usize) -> Vec<Task> {
    let ids: Vec<String> = (0..length).map(|number| format!("t{number}")).collect();
    (0..length)
        .map(|at| {
            task(
                &ids[at],
                &at.checked_sub(1)
                    .map(|before| ids[before].as_str())
                    .into_iter()
                    .collect::<Vec<_>>(),
            )
        })
        .collect()
}

#[test]
fn limits_are_inclusive() {
    let limits = Limits::default();
    assert_eq!(check(&graph(chain(limits.depth)), &limits), Ok(()));
    let deep = "the chain of dependencies that ends in `t16` has 17 tasks, over the limit of 16";
    assert_eq!(refusal(&graph(chain(17))), deep);
    let parents = |length| {
        graph(
            chain(length)
                .into_iter()
                .map(|task: Task| Task {
                    parent: task.depends_on.first().cloned(),
                    depends_on: vec![],
                    ..task
                })
                .collect(),
        )
    };
    assert_eq!(check(&parents(16), &limits), Ok(()));
    assert_eq!(
        refusal(&parents(17)),
        "the chain of parents that ends in `t16` has 17 tasks, over the limit of 16"
    );
    let flat =
        |count: usize| graph((0..count).map(|number| task(&format!("t{number}"), &[])).collect());
    assert_eq!(check(&flat(256), &limits), Ok(()));
    assert_eq!(refusal(&flat(257)), "the graph has 257 tasks, over the limit of 256");
    let few = Limits { edges: 14, ..limits };
    assert_eq!(check(&graph(chain(15)), &few), Ok(()));
    assert_eq!(
        check(&graph(chain(16)), &few),
        Err(GraphError::TooManyEdges { edges: 15, limit: 14 })
    );
}
