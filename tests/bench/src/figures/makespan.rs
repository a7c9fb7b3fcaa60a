//! Measures how close a run comes to its critical path: graphs on which a scheduler that works
//! layer by layer would lose.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use syrch_core::ports::Policy;
use syrch_core::{Ending, Graph, Limits, Observation, Task};
use syrch_scheduler::{AsItComes, End, Ended, Options, Stop, TaskRunner, Watch, execute};

use crate::Outcome;
use crate::figure::Figure;
use crate::samples::{median, milliseconds};
use crate::world::World;

/// The unit of the lengths below.
const UNIT: Duration = Duration::from_millis(100);
const RUNS: usize = 3;

/// A task: its id, its length, and what it waits for. Each stands after those that it waits for;
/// the last is the answer.
type Step = (&'static str, u32, &'static [&'static str]);

/// Two chains whose long tasks are never in the same layer.
const ZIGZAG: &[Step] = &[
    ("a1", 1, &[]),
    ("b1", 3, &[]),
    ("a2", 3, &["a1"]),
    ("b2", 1, &["b1"]),
    ("a3", 1, &["a2"]),
    ("b3", 3, &["b2"]),
    ("end", 1, &["a3", "b3"]),
];

/// One long task beside a chain of short ones.
const STRAGGLER: &[Step] = &[
    ("long", 6, &[]),
    ("c1", 1, &[]),
    ("c2", 1, &["c1"]),
    ("c3", 1, &["c2"]),
    ("c4", 1, &["c3"]),
    ("end", 1, &["long", "c4"]),
];

/// A chain of many short tasks and one of few long ones.
const TWO_CHAINS: &[Step] = &[
    ("a1", 1, &[]),
    ("b1", 2, &[]),
    ("a2", 1, &["a1"]),
    ("b2", 2, &["b1"]),
    ("a3", 1, &["a2"]),
    ("b3", 2, &["b2"]),
    ("a4", 1, &["a3"]),
    ("a5", 1, &["a4"]),
    ("a6", 1, &["a5"]),
    ("end", 1, &["a6", "b3"]),
];

/// One task on which three uneven ones stand, and one that needs them all.
const DIAMOND: &[Step] = &[
    ("top", 1, &[]),
    ("left", 1, &["top"]),
    ("middle", 2, &["top"]),
    ("right", 3, &["top"]),
    ("end", 1, &["left", "middle", "right"]),
];

/// Runs each of the four graphs, and compares its duration with its critical path.
pub(crate) fn measure(world: &World) -> Outcome<Vec<Figure>> {
    let graphs = [
        ("zigzag", ZIGZAG),
        ("straggler", STRAGGLER),
        ("two chains", TWO_CHAINS),
        ("diamond", DIAMOND),
    ];
    let mut figures = Vec::new();
    for (name, steps) in graphs {
        let critical = UNIT.as_secs_f64() * 1e3 * f64::from(critical_path(steps));
        let mut times = Vec::new();
        for _ in 0..RUNS {
            times.push(world.runtime.block_on(makespan(steps))?);
        }
        let made = median(times);
        let figure =
            Figure::new(format!("makespan against critical path, {name}"), made / critical, "×");
        figures.push(figure.at_most(1.05).note(format!("{made:.1} ms, {critical:.0} ms")));
    }
    Ok(figures)
}

/// The longest way through the graph, in units.
fn critical_path(steps: &[Step]) -> u32 {
    let mut ends: BTreeMap<&str, u32> = BTreeMap::new();
    for (id, length, needs) in steps {
        let begin = needs.iter().filter_map(|need| ends.get(need)).max().copied().unwrap_or(0);
        ends.insert(id, begin + length);
    }
    ends.into_values().max().unwrap_or(0)
}

/// Returns the time that a run of the graph takes, in milliseconds.
async fn makespan(steps: &[Step]) -> Outcome<f64> {
    let lengths = steps.iter().map(|(id, length, _)| ((*id).to_owned(), UNIT * *length)).collect();
    let policy = Policy::default();
    let options = Options {
        max_parallel: policy.max_parallel as usize,
        max_rounds: policy.max_rounds,
        deadline: None,
        grace: Duration::ZERO,
        limits: Limits::default(),
    };
    let begin = Instant::now();
    let runner = Arc::new(Sleeper(lengths));
    let run =
        execute(graph(steps), runner, None, &Silence, &AsItComes, &options, &Stop::new()).await;
    let taken = milliseconds(begin);
    let run = run.map_err(|error| error.to_string())?;
    if run.end != End::Complete || run.seen.len() != steps.len() {
        return Err(format!(
            "{} of {} tasks ended, and the run by {:?}",
            run.seen.len(),
            steps.len(),
            run.end
        )
        .into());
    }
    Ok(taken)
}

fn graph(steps: &[Step]) -> Graph {
    let answer = steps.last().map_or("", |(id, ..)| *id).to_owned();
    Graph {
        tasks: steps
            .iter()
            .map(|(id, _, needs): &Step| Task {
                id: (*id).to_owned(),
                text: (*id).to_owned(),
                depends_on: needs.iter().map(|need| (*need).to_owned()).collect(),
                ..Task::default()
            })
            .collect(),
        answer,
        memo: None,
    }
}

/// A task sleeps as long as it is.
struct Sleeper(BTreeMap<String, Duration>);

#[async_trait]
impl TaskRunner for Sleeper {
    type Output = ();

    async fn run(&self, task: Task, _: Vec<Ended<()>>) -> (Observation, Option<()>) {
        tokio::time::sleep(self.0.get(&task.id).copied().unwrap_or_default()).await;
        (Observation::from_ending(task.id, Ending::Solved), Some(()))
    }
}

struct Silence;

impl Watch for Silence {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_critical_path_is_the_longest_way_and_layers_would_miss_it() {
        assert_eq!(critical_path(ZIGZAG), 8);
        assert_eq!(critical_path(STRAGGLER), 7);
        assert_eq!(critical_path(TWO_CHAINS), 7);
        assert_eq!(critical_path(DIAMOND), 5);
        assert_eq!(critical_path(&[]), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_run_takes_its_critical_path() {
        for steps in [ZIGZAG, STRAGGLER, TWO_CHAINS, DIAMOND] {
            let begin = tokio::time::Instant::now();
            makespan(steps).await.unwrap();
            let path = UNIT * critical_path(steps);
            let taken = begin.elapsed();
            assert!(taken >= path && taken < path + UNIT / 5, "{taken:?} for {path:?}");
        }
    }
}
