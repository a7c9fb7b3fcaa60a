//! The steps at the end of a task that solvers share.

use serde_json::json;

use crate::prelude::*;
use crate::text::line;

/// The verdicts of the reward on all these candidates, in order. Without a reward there are none,
/// and a note says why.
pub fn judge_candidates(
    host: &(impl Evaluate + Trace),
    task: &Task,
    candidates: &[Candidate],
) -> Vec<Verdict> {
    host.reward(candidates).unwrap_or_else(|error| {
        host.note(
            Level::Info,
            &format!("{}: no result was judged: {}", task.id, port_failure(&error).message),
        );
        Vec::new()
    })
}

/// Returns the text that tells a model why the reward rejected a statement.
#[must_use]
pub fn rejection(opinion: &Opinion) -> String {
    format!("rejected: {}", line(&opinion.reason, 400))
}

/// Adds an accepting opinion to a candidate.
pub fn accept(candidate: &mut Candidate, opinion: &Opinion) {
    candidate.score = Some(opinion.score);
    candidate.signals.reward = Some(opinion.score);
}

/// Warns that a search ended early but found something.
pub fn carry_on(host: &impl Trace, task: &Task, level: Level, why: &str) {
    host.note(level, &format!("{}: going on with what there is: {why}", task.id));
}

/// The outcome of a task without a candidate. The reason becomes a warning, since the host shows
/// the last one to the user, and the memo, which the clarifier reads.
pub fn nothing(host: &impl Trace, why: &str) -> Outcome {
    host.note(Level::Warn, why);
    Outcome { memo: Some(json!({ "reason": line(why, 600) }).to_string()), ..Outcome::default() }
}
