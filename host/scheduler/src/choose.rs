//! The only operation that the scheduler performs itself: taking over the best of several results.

use syrch_core::{Observation, TaskId};

use crate::Ended;

/// The result that `task` takes over from the parent that succeeded with the highest confidence,
/// the first of equals. `None` when no parent succeeded.
pub(crate) fn choose<O: Clone>(
    task: &TaskId,
    parents: &[Ended<O>],
) -> Option<(Observation, Option<O>)> {
    let good = parents.iter().filter(|parent| parent.observation.ending.is_success());
    // `max_by` would return the last of equals.
    let best =
        good.reduce(|best, next| if confidence(next) > confidence(best) { next } else { best })?;
    let observation =
        Observation { task: task.clone(), subtasks: Vec::new(), ..best.observation.clone() };
    Some((observation, best.output.clone()))
}

/// The confidence of the best candidate; negative infinity without a calibrated one.
fn confidence<O>(parent: &Ended<O>) -> f64 {
    let known = parent.observation.candidates.first().and_then(|candidate| candidate.confidence);
    known.filter(|confidence| !confidence.is_nan()).unwrap_or(f64::NEG_INFINITY)
}
