//! Whatever the graph, the failures, the limit and the planner: the same few things hold.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;
use crate::check;

/// A random task: what it depends on is chosen among the tasks before it.
#[derive(Debug, Clone)]
struct Draft {
    depends_on: u32,
    join: u8,
    tolerant: bool,
    chooses: bool,
    /// Tasks of one text are equal when the rest is; the text determines the time, the confidence
    /// and the failure of a task.
    text: u8,
    priority: i8,
}

fn draft() -> impl Strategy<Value = Draft> {
    (
        any::<u32>(),
        any::<u32>(),
        0_u8..6,
        prop::bool::weighted(0.2),
        prop::bool::weighted(0.2),
        0_u8..12,
        -2_i8..3,
    )
        .prop_map(|(one, other, join, tolerant, chooses, text, priority)| {
            // About a quarter of all tasks before it.
            Draft { depends_on: one & other, join, tolerant, chooses, text, priority }
        })
}

fn build(drafts: &[Draft], order: &[usize]) -> Graph {
    let tasks: Vec<Task> = drafts.iter().enumerate().map(|(at, draft)| finish(at, draft)).collect();
    let answer = format!("t{}", drafts.len() - 1);
    Graph { tasks: order.iter().map(|at| tasks[*at].clone()).collect(), answer, memo: None }
}

fn finish(at: usize, draft: &Draft) -> Task {
    let depends_on: Vec<TaskId> = (0..at)
        .filter(|bit| draft.depends_on >> bit & 1 == 1)
        .map(|bit| format!("t{bit}"))
        .collect();
    let count = u32::try_from(depends_on.len()).unwrap();
    let join = match draft.join {
        0..=2 => Join::AllOf,
        3..=4 => Join::AnyOf,
        _ if count == 0 => Join::AllOf,
        _ => Join::AtLeast(1 + draft.depends_on % count),
    };
    Task {
        operation: if draft.chooses && count > 0 { Operation::Choose } else { Operation::Solve },
        join,
        tolerant: draft.tolerant,
        priority: f64::from(draft.priority),
        text: format!("text {}", draft.text),
        ..Task { id: format!("t{at}"), depends_on, ..Task::default() }
    }
}

pub(super) fn graphs() -> impl Strategy<Value = Graph> {
    (prop::collection::vec(draft(), 1..24)).prop_flat_map(|drafts| {
        let order: Vec<usize> = (0..drafts.len()).collect();
        Just(order).prop_shuffle().prop_map(move |order| build(&drafts, &order))
    })
}

/// Texts from the second number on fail.
fn acts(lengths: &[u64], failing: usize) -> BTreeMap<String, Act> {
    lengths
        .iter()
        .enumerate()
        .map(|(at, after): (usize, &u64)| {
            let confidence = Some(f64::from(u8::try_from(at).unwrap() % 4) / 4.0);
            (
                format!("text {at}"),
                if at >= failing { Act::Fail(*after) } else { Act::Solve(*after, confidence) },
            )
        })
        .collect()
}

fn run(
    graph: Graph,
    acts: BTreeMap<String, Act>,
    max_parallel: usize,
    planner: Option<Box<Next>>,
) -> Finished {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    play_on(&runtime, graph, acts, max_parallel, planner)
}

fn play_on(
    runtime: &tokio::runtime::Runtime,
    graph: Graph,
    acts: BTreeMap<String, Act>,
    max_parallel: usize,
    planner: Option<Box<Next>>,
) -> Finished {
    runtime.block_on(async {
        let mut scene = Scene::new(vec![]).parallel(max_parallel);
        scene.options.limits.depth = 64;
        (scene.graph, scene.acts, scene.planner) = (graph, acts, planner.map(|next| (3, next)));
        scene.run().await
    })
}

fn required_count(task: &Task) -> usize {
    match task.join {
        Join::AllOf => task.depends_on.len(),
        Join::AnyOf => task.depends_on.len().min(1),
        Join::AtLeast(wanted) => wanted as usize,
    }
}

/// Each task ends once, starts at most once and not before its dependencies allow, and no more than
/// the limit run at once.
fn holds(finished: &Finished, max_parallel: usize) -> Result<(), TestCaseError> {
    let run = &finished.run;
    let ids: BTreeSet<&TaskId> = run.graph.tasks.iter().map(|task| &task.id).collect();
    prop_assert_eq!(run.seen.len(), ids.len());
    prop_assert_eq!(&finished.observation_order().into_iter().collect::<BTreeSet<_>>(), &ids);
    prop_assert_eq!(&run.ended.keys().collect::<BTreeSet<_>>(), &ids);

    let mut started = BTreeSet::new();
    let mut ended = BTreeSet::new();
    let mut under_way = 0_usize;
    for (_, entry) in finished.log.all() {
        let (what, id) = entry.split_once(' ').unwrap_or((&entry, ""));
        match what {
            "start" => {
                prop_assert!(started.insert(id.to_owned()), "{} starts twice", id);
                let task = &run.ended[id].task;
                let satisfied = task
                    .depends_on
                    .iter()
                    .filter(|id: &&String| {
                        ended.contains(*id) && run.ended[*id].observation.ending.is_success()
                    })
                    .count()
                    >= required_count(task);
                let all = task.depends_on.iter().all(|id| ended.contains(id));
                prop_assert!(satisfied || (task.tolerant && all), "{} starts too early", id);
            }
            "end" => prop_assert!(ended.insert(id.to_owned()), "{} ends twice", id),
            "enter" => under_way += 1,
            "leave" | "drop" => under_way -= 1,
            _ => {}
        }
        prop_assert!(under_way <= max_parallel);
    }
    prop_assert_eq!(under_way, 0);
    Ok(())
}

/// Returns whether a task succeeds, computed from the graph alone.
fn succeeds(
    graph: &Graph,
    acts: &BTreeMap<String, Act>,
    id: &str,
    known: &mut BTreeMap<TaskId, bool>,
) -> bool {
    if let Some(known) = known.get(id) {
        return *known;
    }
    let task = graph.task(id).unwrap();
    let good = task.depends_on.iter().filter(|id| succeeds(graph, acts, id, known)).count();
    let starts = task.tolerant || good >= required_count(task);
    let well = match task.operation {
        Operation::Choose => good > 0,
        _ => matches!(acts[&task.text], Act::Solve(..)),
    };
    known.insert(id.to_owned(), starts && well);
    starts && well
}

/// A task's result, confidence and end, where nothing fails and every task waits for all: computed
/// from the graph alone.
fn result(
    graph: &Graph,
    acts: &BTreeMap<String, Act>,
    id: &str,
    known: &mut BTreeMap<TaskId, (String, f64, u64)>,
) -> (String, f64, u64) {
    if let Some(known) = known.get(id) {
        return known.clone();
    }
    let task = graph.task(id).unwrap();
    let parents: Vec<_> = task.depends_on.iter().map(|id| result(graph, acts, id, known)).collect();
    let begin = parents.iter().map(|parent| parent.2).max().unwrap_or(0);
    let found = if task.operation == Operation::Choose {
        let best = parents
            .iter()
            .fold(&parents[0], |best, next| if next.1 > best.1 { next } else { best });
        (best.0.clone(), best.1, begin)
    } else {
        let Act::Solve(after, Some(confidence)) = acts[&task.text] else {
            panic!("nothing fails here")
        };
        (digest(&task.text, parents.iter().map(|parent| &parent.0)), confidence, begin + after)
    };
    known.insert(id.to_owned(), found.clone());
    found
}

fn edit() -> impl Strategy<Value = Edit> {
    let name = || (0_usize..30).prop_map(|at| format!("t{at}"));
    prop_oneof![
        4 => (draft(), 0_usize..30).prop_map(|(draft, at)| Edit::Add(finish(at, &draft))),
        3 => (draft(), 0_usize..30).prop_map(|(draft, at)| Edit::Update(finish(at, &draft))),
        3 => name().prop_map(Edit::Cancel),
        2 => name().prop_map(Edit::Answer),
        1 => Just(Edit::Other("fly".into())),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn every_run_keeps_its_order(
        graph in graphs(),
        lengths in prop::collection::vec(0_u64..6, 12),
        failing in 3_usize..13,
        max_parallel in 1_usize..7,
    ) {
        let acts = acts(&lengths, failing);
        let finished = run(graph.clone(), acts.clone(), max_parallel, None);
        holds(&finished, max_parallel)?;
        prop_assert_eq!(finished.run.end, crate::End::Complete);
        let expected = succeeds(&graph, &acts, &graph.answer, &mut BTreeMap::new());
        prop_assert_eq!(finished.ending(&finished.run.graph.answer).is_success(), expected);
    }

    #[test]
    fn the_passes_keep_the_answer_and_time_is_the_critical_path(
        mut graph in graphs(),
        lengths in prop::collection::vec(0_u64..6, 12),
    ) {
        graph.tasks.iter_mut().for_each(|task| task.join = Join::AllOf);
        let acts = acts(&lengths, 12);
        let (output, _, end) = result(&graph, &acts, &graph.answer, &mut BTreeMap::new());
        let finished = run(graph, acts, 64, None);
        let answer = &finished.run.graph.answer;
        prop_assert_eq!(finished.run.ended[answer].output.as_ref(), Some(&output));
        prop_assert_eq!(finished.end_time(answer), Some(end));
    }

    #[test]
    fn no_planner_breaks_a_run(
        graph in graphs(),
        lengths in prop::collection::vec(0_u64..6, 12),
        failing in 3_usize..13,
        max_parallel in 1_usize..7,
        steps in prop::collection::vec(prop::collection::vec(edit(), 0..4), 0..40),
    ) {
        let steps = Mutex::new(steps.into_iter());
        let finished = run(
            graph, acts(&lengths, failing), max_parallel,
            Some(
                Box::new(
                    move |_: &Graph, _: &[Observation], _| edits(
                        steps.lock().unwrap().next().unwrap_or_default()
                    )
                )
            )
        );
        holds(&finished, max_parallel)?;
        let limits = Limits { depth: 64, ..Limits::default() };
        prop_assert_eq!(check(&finished.run.graph, &limits), Ok(()));
    }

    #[test]
    fn real_threads_keep_it_too(
        graph in graphs(),
        lengths in prop::collection::vec(0_u64..2, 12),
        failing in 3_usize..13,
        max_parallel in 1_usize..7,
    ) {
        static RUNTIME: LazyLock<tokio::runtime::Runtime> = LazyLock::new(|| {
            tokio::runtime::Builder::new_multi_thread()
                .worker_threads(4)
                .enable_time()
                .build()
                .unwrap()
        });
        let acts = acts(&lengths, failing);
        let finished = play_on(&RUNTIME, graph.clone(), acts.clone(), max_parallel, None);
        holds(&finished, max_parallel)?;
        let expected = succeeds(&graph, &acts, &graph.answer, &mut BTreeMap::new());
        prop_assert_eq!(finished.ending(&finished.run.graph.answer).is_success(), expected);
    }

    #[test]
    fn a_cycle_is_always_found_and_real(
        count in 2_usize..40,
        pairs in prop::collection::btree_set((0_usize..40, 0_usize..40), 1..80),
    ) {
        let mut tasks: Vec<Task> = (0..count).map(|at| task(&format!("t{at}"), &[])).collect();
        let mut edges = BTreeSet::new();
        for (from, to) in pairs
            .into_iter()
            .map(|(from, to)| (from % count, to % count))
            .filter(|(from, to)| from != to) {
            if edges.insert((from, to)) {
                tasks[from].depends_on.push(format!("t{to}"));
            }
        }
        // Taking away tasks that wait for nothing that is left empties an acyclic graph, and no
        // other.
        let mut left: BTreeSet<usize> = (0..count).collect();
        while let Some(free) = left
            .iter()
            .copied()
            .find(|at| !edges.iter().any(|(from, to)| from == at && left.contains(to))) {
            left.remove(&free);
        }
        let limits = Limits { depth: 64, ..Limits::default() };
        match check(&graph(tasks.clone()), &limits) {
            Ok(()) => prop_assert!(left.is_empty()),
            Err(GraphError::Cycle { tasks: cycle }) => {
                prop_assert!(!left.is_empty());
                prop_assert_eq!(cycle.iter().collect::<BTreeSet<_>>().len(), cycle.len());
                for (at, id) in cycle.iter().enumerate() {
                    let needs = &cycle[(at + 1) % cycle.len()];
                    let task = tasks.iter().find(|task| task.id == *id).unwrap();
                    prop_assert!(
                        task.depends_on.contains(needs), "{} does not depend on {}", id, needs
                    );
                }
            }
            Err(other) => prop_assert!(false, "{}", other),
        }
    }
}
