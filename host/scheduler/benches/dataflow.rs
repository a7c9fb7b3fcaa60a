//! Measures the scheduler itself: graphs of 256 tasks whose runner does nothing. Divided by 256 it
//! is the overhead of a task.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use divan::counter::ItemsCount;
use syrch_core::{Ending, Graph, Limits, Observation, Task};
use syrch_scheduler::{AsItComes, Ended, Options, Stop, TaskRunner, Watch, execute};

const TASKS: usize = 256;

struct Nothing;

#[async_trait]
impl TaskRunner for Nothing {
    type Output = ();

    async fn run(&self, task: Task, _parents: Vec<Ended<()>>) -> (Observation, Option<()>) {
        (Observation::from_ending(task.id, Ending::Solved), Some(()))
    }
}

struct Silence;

impl Watch for Silence {}

/// Tasks of distinct texts, so that none is merged; the last is the answer.
fn graph(dependencies: impl Fn(usize) -> std::ops::Range<usize>) -> Graph {
    Graph {
        tasks: (0..TASKS)
            .map(|position: usize| Task {
                id: format!("t{position}"),
                text: format!("question {position}"),
                depends_on: dependencies(position)
                    .map(|dependency| format!("t{dependency}"))
                    .collect(),
                ..Task::default()
            })
            .collect(),
        answer: format!("t{}", TASKS - 1),
        memo: None,
    }
}

/// One answer that needs 255 tasks.
fn wide() -> Graph {
    graph(|position| if position == TASKS - 1 { 0..position } else { 0..0 })
}

/// Layers of 32, each task of which needs eight tasks of the layer before it; the answer needs the
/// last two layers.
fn layers_graph() -> Graph {
    graph(|position| match position {
        0..32 => 0..0,
        _ if position == TASKS - 1 => TASKS - 64..position,
        _ => {
            let begin = (position / 32 - 1) * 32 + position % 25;
            begin..begin + 8
        }
    })
}

fn run(bencher: divan::Bencher<'_, '_>, graph: &Graph) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_time().build() else {
        return;
    };
    let runner = Arc::new(Nothing);
    let stop = Stop::new();
    let options = Options {
        max_parallel: 8,
        max_rounds: 0,
        deadline: None,
        grace: Duration::ZERO,
        limits: Limits::default(),
    };
    bencher
        .counter(ItemsCount::new(graph.tasks.len()))
        .with_inputs(|| graph.clone())
        .bench_local_values(|graph| {
            let run = runtime.block_on(execute(
                graph,
                Arc::clone(&runner),
                None,
                &Silence,
                &AsItComes,
                &options,
                &stop,
            ));
            assert!(run.is_ok_and(|run| run.seen.len() == TASKS), "every task runs");
        });
}

#[divan::bench]
fn wide_256(bencher: divan::Bencher<'_, '_>) {
    run(bencher, &wide());
}

#[divan::bench]
fn layered_256(bencher: divan::Bencher<'_, '_>) {
    run(bencher, &layers_graph());
}

fn main() {
    divan::main();
}
