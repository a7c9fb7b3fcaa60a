//! The observer that writes the progress of a comparison into its feed.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use syrch::report::CostReport;
use syrch_grade::run::{Graded, Observer, Progress, Resumed};

use crate::Program;
use crate::searches::Feed;

/// Writes the progress of a comparison, without secrets.
pub(super) struct FeedObserver {
    pub(super) feed: Arc<Feed>,
    pub(super) program: Arc<dyn Program>,
    /// The cost so far.
    pub(super) cost: Mutex<CostReport>,
}

impl FeedObserver {
    /// The cost of the searches that have ended.
    pub(super) fn cost(&self) -> CostReport {
        self.cost.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Observer for FeedObserver {
    /// Called when the run has its folder, so that its report can be read from now on.
    fn on_resume(&self, resumed: &Resumed) {
        self.feed.push("started", &json!({"done": resumed.done}));
    }

    fn progress(&self, progress: &Progress, last: &Graded) {
        let arms: Vec<Value> = progress
            .arms
            .iter()
            .map(|arm| json!({"arm": arm.arm, "right": arm.right, "of": arm.of}))
            .collect();
        let mut document = json!({
            "done": progress.done,
            "of": progress.of,
            "arms": arms,
            "failed": progress.failed,
            "calls": progress.calls,
            "usd": progress.usd,
            "left_s": progress.left.map(|left| left.as_secs_f64().ceil()),
            "last": {"arm": last.arm, "id": last.id},
        });
        self.program.scrub(&mut document);
        self.feed.push("progress", &document);
        self.on_cost(progress);
    }

    fn on_cost(&self, progress: &Progress) {
        let calls = u32::try_from(progress.calls).unwrap_or(u32::MAX);
        let cost = CostReport { calls, usd: progress.usd, ..CostReport::default() };
        *self.cost.lock().unwrap_or_else(PoisonError::into_inner) = cost;
    }
}
