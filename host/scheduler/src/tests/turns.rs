//! A run that is played again takes what it took before, in that order, however long things take this time.

use std::collections::VecDeque;

use proptest::prelude::*;
use syrch_core::Turn;

use super::properties::graphs;
use super::*;
use crate::Order;

/// Notes the turns of a run.
#[derive(Default)]
struct Recorder(Mutex<Vec<Turn>>);

#[async_trait]
impl Order for Recorder {
    fn is_playing(&self) -> bool {
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

/// Says what was taken, until it knows no more.
struct Player(Mutex<VecDeque<Turn>>);

#[async_trait]
impl Order for Player {
    fn is_playing(&self) -> bool {
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

/// What must be the same: what was seen in which order, and what each task got and gave.
#[derive(Debug, PartialEq)]
struct Story {
    seen: Vec<(TaskId, Ending)>,
    outputs: BTreeMap<TaskId, Option<String>>,
    graph: Graph,
}

fn play(graph: Graph, times: &[u64], parallel: usize, order: &dyn Order) -> Story {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let log = Log::new();
        // A text tells how sure a task is and whether it fails; how long it takes, the run does.
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
        Story { seen, outputs, graph: run.graph }
    })
}

proptest! {
    #[test]
    fn a_played_run_is_the_run(
        graph in graphs(),
        times in prop::collection::vec(0_u64..40, 1..8),
        other in prop::collection::vec(0_u64..40, 1..8),
        parallel in 1_usize..6,
    ) {
        let recorder = Recorder::default();
        let first = play(graph.clone(), &times, parallel, &recorder);
        let player = Player(Mutex::new(recorder.0.into_inner().unwrap().into()));
        prop_assert_eq!(play(graph, &other, parallel, &player), first);
    }
}
