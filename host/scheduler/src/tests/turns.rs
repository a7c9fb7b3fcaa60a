//! A replayed run makes the same decisions in the same order, however long tasks take this time.

use std::collections::VecDeque;

use proptest::prelude::*;
use syrch_core::Turn;

use super::properties::graphs;
use super::*;
use crate::Order;

/// Records the decisions of a run.
#[derive(Default)]
struct Recorder(Mutex<Vec<Turn>>);

#[async_trait]
impl Order for Recorder {
    fn is_replaying(&self) -> bool {
        false
    }

    async fn next(&self) -> Option<Turn> {
        None
    }

    async fn took(&self, turn: Turn) {
        self.0.lock().unwrap().push(turn);
    }

    async fn closing(&self, _: Option<&TaskId>) {}
}

struct Replayed(Mutex<VecDeque<Turn>>);

#[async_trait]
impl Order for Replayed {
    fn is_replaying(&self) -> bool {
        !self.0.lock().unwrap().is_empty()
    }

    async fn next(&self) -> Option<Turn> {
        self.0.lock().unwrap().front().cloned()
    }

    async fn took(&self, turn: Turn) {
        assert_eq!(self.0.lock().unwrap().pop_front(), Some(turn));
    }

    async fn closing(&self, _: Option<&TaskId>) {}
}

/// What must be the same: the observations in their order, and the output of each task.
#[derive(Debug, PartialEq)]
struct Trace {
    seen: Vec<(TaskId, Ending)>,
    outputs: BTreeMap<TaskId, Option<String>>,
    graph: Graph,
}

fn run(graph: Graph, times: &[u64], parallel: usize, order: &dyn Order) -> Trace {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let log = Log::new();
        // The text determines the confidence of a task and whether it fails; the run determines how long it takes.
        let acts = (0_u8..12).map(|text| {
            let after = times[usize::from(text) % times.len()];
            let act = if text == 7 { Act::Fail(after) } else { Act::Solve(after, Some(f64::from(text) / 12.0)) };
            (format!("text {text}"), act)
        });
        let runner = Arc::new(Script { acts: acts.collect(), log: log.clone() });
        let planner = Thinker { log: log.clone(), think: times[0], next: Box::new(|_, _, _| Ok(Step::default())) };
        let options = Options { max_parallel: parallel, max_rounds: 16, deadline: None, limits: Limits::default() };
        let run = execute(graph, runner, Some(&planner), &log, order, &options, &Stop::new()).await.unwrap();
        let seen = run.seen.into_iter().map(|seen| (seen.task, seen.ending)).collect();
        let outputs = run.ended.into_iter().map(|(task, ended)| (task, ended.output)).collect();
        Trace { seen, outputs, graph: run.graph }
    })
}

proptest! {
    #[test]
    fn a_replayed_run_is_the_same(
        graph in graphs(),
        times in prop::collection::vec(0_u64..40, 1..8),
        other in prop::collection::vec(0_u64..40, 1..8),
        parallel in 1_usize..6,
    ) {
        let recorder = Recorder::default();
        let first = run(graph.clone(), &times, parallel, &recorder);
        let player = Replayed(Mutex::new(recorder.0.into_inner().unwrap().into()));
        prop_assert_eq!(run(graph, &other, parallel, &player), first);
    }
}
