//! The progress of a run, and an estimate of the remaining time.

use std::collections::VecDeque;
use std::time::Duration;

use super::graded::Graded;

/// Items by whose times the rest is estimated.
const RECENT: usize = 64;

/// The progress of a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Progress {
    /// Items that are in the log, of all processes that worked on the run; those that failed and
    /// are repeated are not.
    pub done: u64,
    /// Items in all, of this shard.
    pub of: u64,
    /// Items that were in the log when this process began.
    pub resumed: u64,
    /// Each arm's right answers under the run's rule, in the order of the arms.
    pub arms: Vec<ArmProgress>,
    /// Items of all arms that ended with an error.
    pub failed: u64,
    /// Model calls, sent or from a cache, also those of tries that were repeated.
    pub calls: u64,
    /// Tokens of prompts and replies.
    pub tokens: u64,
    /// Money in dollars. `None` if no price is known.
    pub usd: Option<f64>,
    /// The time of the run, of all its processes together.
    pub elapsed: Duration,
    /// The estimate of the remaining time. `None` before this process has finished an item.
    pub left: Option<Duration>,
}

/// The progress of an arm.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ArmProgress {
    /// The name of the arm.
    pub arm: String,
    /// Right answers under the rule of the run.
    pub right: u64,
    /// Answers that were right or wrong: neither excluded by the rule nor without an expected
    /// answer.
    pub of: u64,
}

/// The state of the log when a process begins to execute a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Resumed {
    /// Items in the log.
    pub done: u64,
    /// Those of them that failed and are repeated.
    pub again: u64,
    /// Bytes of a last line that was cut off and is removed. 0 for a complete log.
    pub torn: u64,
}

/// Receives the progress of a run.
pub trait Observer: Send + Sync {
    /// Called once, before the first item begins.
    fn on_resume(&self, _resumed: &Resumed) {}

    /// Called after each item, once its line is written.
    fn progress(&self, progress: &Progress, last: &Graded);

    /// Called when an item that has no line has cost something: it was dropped, or cut off by a
    /// budget.
    fn on_cost(&self, _progress: &Progress) {}
}

/// An observer that ignores everything.
#[derive(Debug, Clone, Copy)]
pub struct Silent;

impl Observer for Silent {
    fn progress(&self, _progress: &Progress, _last: &Graded) {}
}

/// Estimates the remaining time from the last items of this process.
#[derive(Debug, Default)]
pub(crate) struct Estimate {
    recent: VecDeque<Duration>,
}

impl Estimate {
    /// Adds the time of an item.
    pub(crate) fn note(&mut self, took: Duration) {
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(took);
    }

    /// The time for a number of items with a number of workers: by the mean of the recent times
    /// without the tenth at either end, so that one item that hung for minutes does not count.
    pub(crate) fn time_left(&self, items: u64, workers: usize) -> Option<Duration> {
        let mut times: Vec<f64> = self.recent.iter().map(Duration::as_secs_f64).collect();
        times.sort_by(f64::total_cmp);
        let cut = times.len().div_ceil(10).min(times.len().saturating_sub(1) / 2);
        let middle = times.get(cut..times.len() - cut).filter(|middle| !middle.is_empty())?;
        let mean = middle.iter().sum::<f64>() / middle.len() as f64;
        let at_once = (workers as u64).min(items).max(1);
        Duration::try_from_secs_f64(mean * items as f64 / at_once as f64).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(all: &[u64], items: u64, workers: usize) -> Option<u64> {
        let mut estimate = Estimate::default();
        all.iter().for_each(|each| estimate.note(Duration::from_secs(*each)));
        estimate.time_left(items, workers).map(|left| left.as_secs())
    }

    #[test]
    fn the_rest_takes_as_long_as_the_last_items_over_the_workers() {
        assert_eq!(seconds(&[], 10, 2), None);
        assert_eq!(seconds(&[4], 10, 2), Some(20));
        assert_eq!(seconds(&[2, 4], 10, 1), Some(30));
        // No more at once than there are.
        assert_eq!(seconds(&[4], 1, 8), Some(4));
        assert_eq!(seconds(&[4], 0, 8), Some(0));
        // One that hung does not count, and what is long ago neither.
        assert_eq!(seconds(&[3, 3, 3, 3, 600], 10, 1), Some(30));
        let mut slow_then_fast = vec![100; 50];
        slow_then_fast.extend([1; RECENT]);
        assert_eq!(seconds(&slow_then_fast, 10, 1), Some(10));
    }
}
