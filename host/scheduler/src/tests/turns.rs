//! A replayed run makes the same decisions in the same order, however long tasks take this time.

use std::collections::VecDeque;

use proptest::prelude::*;
use syrch_core::Turn;

use super::properties::graphs;
use super::*;
use crate::{End, Order};

/// The records in a journal of a run's own decisions.
#[derive(Debug, Clone, PartialEq)]
enum Mark {
    Took(Turn),
    Closed(Option<TaskId>),
}

/// Records the decisions of a run, and stops it when there are that many.
struct Recorder {
    marks: Mutex<Vec<Mark>>,
    stop: Stop,
    after: usize,
}

impl Recorder {
    fn push(&self, mark: Mark) {
        let mut marks = self.marks.lock().unwrap();
        marks.push(mark);
        if marks.len() == self.after {
            self.stop.trigger();
        }
    }
}

#[async_trait]
impl Order for Recorder {
    fn is_replaying(&self) -> bool {
        false
    }

    async fn next(&self) -> Option<Turn> {
        None
    }

    async fn took(&self, turn: Turn) {
        self.push(Mark::Took(turn));
    }

    async fn closing(&self, task: Option<&TaskId>) {
        self.push(Mark::Closed(task.cloned()));
    }
}

/// Lets happen what the journal has next, and nothing else.
struct Replayed(Mutex<VecDeque<Mark>>);

impl Replayed {
    /// Waits for ever if the journal has something else.
    async fn pass(&self, mark: Mark) {
        let is_next = self.0.lock().unwrap().pop_front_if(|next| *next == mark).is_some();
        if !is_next {
            std::future::pending().await
        }
    }
}

#[async_trait]
impl Order for Replayed {
    fn is_replaying(&self) -> bool {
        !self.0.lock().unwrap().is_empty()
    }

    async fn next(&self) -> Option<Turn> {
        let next = self.0.lock().unwrap().front().cloned();
        match next {
            Some(Mark::Took(turn)) => Some(turn),
            Some(Mark::Closed(_)) => std::future::pending().await,
            None => None,
        }
    }

    async fn took(&self, turn: Turn) {
        self.pass(Mark::Took(turn)).await;
    }

    async fn closing(&self, task: Option<&TaskId>) {
        self.pass(Mark::Closed(task.cloned())).await;
    }
}

/// The parts of a run that must be the same: the observations in their order, and the output of
/// each task.
#[derive(Debug, PartialEq)]
struct Trace {
    seen: Vec<(TaskId, Ending)>,
    outputs: BTreeMap<TaskId, Option<String>>,
    graph: Graph,
    end: End,
}

fn run(
    graph: Graph,
    times: &[u64],
    parallel: usize,
    grace: u64,
    order: &dyn Order,
    stop: &Stop,
) -> Trace {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(async {
        let log = Log::new();
        // The text determines the confidence of a task and whether it fails; the run determines how
        // long it takes.
        let acts = (0_u8..12).map(|text| {
            let after = times[usize::from(text) % times.len()];
            let act = if text == 7 {
                Act::Fail(after)
            } else {
                Act::Solve(after, Some(f64::from(text) / 12.0))
            };
            (format!("text {text}"), act)
        });
        let runner = Arc::new(Script { acts: acts.collect(), log: log.clone() });
        let planner = Thinker {
            log: log.clone(),
            think: times[0],
            next: Box::new(|_, _, _| Ok(Step::default())),
        };
        let options = Options {
            max_parallel: parallel,
            max_rounds: 16,
            deadline: None,
            grace: Duration::from_millis(grace),
            limits: Limits::default(),
        };
        let run = execute(graph, runner, Some(&planner), &log, order, &options, stop);
        let run = tokio::time::timeout(Duration::from_secs(60), run)
            .await
            .expect("the run stands still")
            .unwrap();
        let seen = run.seen.into_iter().map(|seen| (seen.task, seen.ending)).collect();
        let outputs = run.ended.into_iter().map(|(task, ended)| (task, ended.output)).collect();
        Trace { seen, outputs, graph: run.graph, end: run.end }
    })
}

proptest! {
    #[test]
    fn a_replayed_run_is_the_same(
        graph in graphs(),
        times in prop::collection::vec(0_u64..40, 1..8),
        other in prop::collection::vec(0_u64..40, 1..8),
        parallel in 1_usize..6,
        grace in 0_u64..60,
        after in 0_usize..40,
    ) {
        let stop = Stop::new();
        if after == 0 {
            stop.trigger();
        }
        let recorder = Recorder { marks: Mutex::default(), stop: stop.clone(), after };
        let first = run(graph.clone(), &times, parallel, grace, &recorder, &stop);
        let marks = recorder.marks.into_inner().unwrap();
        let player = Replayed(Mutex::new(marks.clone().into()));
        let second = run(graph, &other, parallel, grace, &player, &Stop::new());
        prop_assert_eq!(second, first, "{:?}", marks);
        prop_assert!(player.0.lock().unwrap().is_empty(), "not all was replayed of {:?}", marks);
    }
}
