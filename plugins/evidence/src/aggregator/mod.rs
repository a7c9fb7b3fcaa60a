//! Chooses or joins the results of the finished tasks, and states the confidence and its basis.

pub(crate) mod doubts;
pub(crate) mod join;
pub(crate) mod rows;
pub(crate) mod sentence;
pub(crate) mod words;

use syrch_plugin::prelude::*;
use syrch_plugin::replies::join_keys_of;
use syrch_plugin::text::{clamp01, line};

use crate::Evidence;
use crate::aggregator::doubts::{Doubts, Support};
use crate::aggregator::join::Joined;

/// The source of the answer's rows.
enum Source<'a> {
    /// One task's result, out of so many.
    Best(&'a Finished),
    /// The results of several tasks, joined by one statement.
    Joined(Joined),
}

impl Source<'_> {
    fn results(&self) -> &ResultSet {
        match self {
            Source::Best(finished) => &finished.results,
            Source::Joined(joined) => &joined.results,
        }
    }
}

impl AggregatorRole for Evidence {
    fn aggregate(
        &self,
        host: &impl AggregatorHost,
        problem: &Problem,
        graph: &Graph,
        finished: &[Finished],
        seen: &[Observation],
    ) -> Result<Option<Answer>, Failure> {
        let Some(target) = graph.task(&graph.answer) else { return Ok(None) };
        let rivals = rivals(target, finished);
        let Some(best) = most_trusted(&rivals) else {
            host.note(Level::Info, "no task that could give the answer has a result");
            return Ok(None);
        };
        let mut basis = Vec::new();
        let mut caveats = Vec::new();
        let support = Support::new(graph, finished, seen);
        basis.extend(support.steps());
        let source = choose(host, target, &rivals, best, &mut basis, &mut caveats);
        let doubts =
            self.settings.doubts(problem, &support, &source.results().profile(), &best.task.id);
        let confidence = self.confidence(best, &doubts, &mut basis);
        caveats.extend(doubts.caveats);
        let text = words::text(
            host,
            problem,
            source.results(),
            self.settings.told_rows,
            self.settings.summarise,
        );
        let (task, candidate, sql) = match source {
            Source::Best(finished) => {
                (finished.task.id.clone(), Some(finished.candidate.id.clone()), None)
            }
            Source::Joined(joined) => (target.id.clone(), None, Some(joined.sql)),
        };
        Ok(Some(Answer { text, task, candidate, sql, confidence, basis, caveats }))
    }
}

/// The results that may answer: those that the final choice waits for, or the answering task's own.
fn rivals<'a>(target: &Task, finished: &'a [Finished]) -> Vec<&'a Finished> {
    fn is_of_target(target: &Task, done: &&Finished) -> bool {
        done.task.id == target.id
    }
    if target.operation != Operation::Choose {
        return finished.iter().filter(|done| is_of_target(target, done)).collect();
    }
    let waited: Vec<&Finished> = target
        .depends_on
        .iter()
        .filter_map(|id| finished.iter().find(|done| done.task.id == *id))
        .collect();
    if waited.is_empty() {
        finished.iter().filter(|done| is_of_target(target, done)).collect()
    } else {
        waited
    }
}

/// Highest confidence; fewer tokens on a tie; then the first.
fn most_trusted<'a>(rivals: &[&'a Finished]) -> Option<&'a Finished> {
    let better = |a: &Candidate, b: &Candidate| {
        a.sureness() > b.sureness() || (a.sureness() == b.sureness() && a.tokens() < b.tokens())
    };
    rivals
        .iter()
        .copied()
        .reduce(|best, next| if better(&next.candidate, &best.candidate) { next } else { best })
}

fn choose<'a>(
    host: &impl AggregatorHost,
    target: &Task,
    rivals: &[&'a Finished],
    best: &'a Finished,
    basis: &mut Vec<String>,
    caveats: &mut Vec<String>,
) -> Source<'a> {
    let keys = join_keys_of(target);
    if rivals.len() > 1 && !keys.is_empty() {
        match join::join(host, rivals, &keys) {
            Ok(joined) => {
                basis.push(format!("joined {}", joined.reported));
                caveats.extend(
                    joined.left_out.iter().map(|id| {
                        format!("the result of {id} could not be joined and is left out")
                    }),
                );
                return Source::Joined(joined);
            }
            Err(why) => caveats.push(format!(
                "the results could not be joined ({why}): this is the most trusted of them"
            )),
        }
    }
    if rivals.len() > 1 {
        let ids: Vec<&str> = rivals.iter().map(|rival| rival.task.id.as_str()).collect();
        basis.push(format!("took {}, the most trusted of {}", best.task.id, ids.join(", ")));
    }
    Source::Best(best)
}

impl Evidence {
    /// `clamp01(round(best × (1 − 0.5 × ambiguity) × (1 − penalty), 3))`, which is a step of the
    /// basis.
    fn confidence(&self, best: &Finished, doubts: &Doubts, basis: &mut Vec<String>) -> f64 {
        let sureness = clamp01(best.candidate.sureness());
        let ambiguity = self.settings.ambiguity * doubts.ambiguity;
        let confidence = clamp01(
            (sureness * (1.0 - ambiguity) * (1.0 - doubts.penalty) * 1000.0).round() / 1000.0,
        );
        basis.push(format!(
            "confidence {confidence:.3} = {sureness:.3} × (1 − {ambiguity:.4} for ambiguity) × (1 \
             − {:.2} for doubts)",
            doubts.penalty
        ));
        confidence
    }
}

/// A task as it is named to people.
fn task_title(task: &Task) -> String {
    format!("{}: {}", task.id, line(&task.text, 160))
}
