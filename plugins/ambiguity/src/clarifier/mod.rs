//! Scores how unclear each task stayed, and asks about the worst one above the threshold.

pub(crate) mod words;

use syrch_plugin::prelude::*;
use syrch_plugin::score::{AmbiguityWeights, ambiguity_of};

use crate::{AmbiguityClarifier, Settings};

impl ClarifierRole for AmbiguityClarifier {
    fn assess(
        &self,
        host: &impl ClarifierHost,
        problem: &Problem,
        catalog: &Catalog,
        graph: &Graph,
        seen: &[Observation],
    ) -> Result<Vec<Question>, Failure> {
        let Some((score, worst)) = self.worst(graph, seen) else { return Ok(Vec::new()) };
        if score <= self.settings.threshold {
            return Ok(Vec::new());
        }
        let reported =
            graph.task(&worst.task).map_or(problem.question.as_str(), |task| task.text.as_str());
        let (text, choices) = words::by_rule(reported, catalog, worst);
        let text = if self.settings.ask_model {
            words::by_model(host, problem, catalog, reported, worst).unwrap_or(text)
        } else {
            text
        };
        if problem.answers.iter().any(|(question, _)| *question == text) {
            host.note(Level::Info, "the one question worth asking was asked before");
            return Ok(Vec::new());
        }
        Ok(vec![Question { text, choices, ambiguity: score }])
    }
}

impl Settings {
    fn weights(&self) -> AmbiguityWeights {
        AmbiguityWeights {
            doubt: self.doubt,
            variance: self.variance,
            error: self.error,
            empty: self.empty,
        }
    }
}

impl AmbiguityClarifier {
    /// The most unclear task and its score; the first one of several. What an answer of the user's
    /// cannot mend does not count, and neither does a task that the answer was found without.
    fn worst<'a>(&self, graph: &Graph, seen: &'a [Observation]) -> Option<(f64, &'a Observation)> {
        let weights = self.settings.weights();
        let rests_on = answer_tasks(graph, seen);
        let mut worst: Option<(f64, &Observation)> = None;
        for observation in seen
            .iter()
            .filter(|observation: &&Observation| {
                graph.task(&observation.task).is_none_or(|task| task.operation == Operation::Solve)
            })
            .filter(|observation| can_be_mended(observation))
            .filter(|one| rests_on.as_ref().is_none_or(|ids| ids.contains(&one.task.as_str())))
        {
            let Some(score) = ambiguity_of(&weights, observation) else { continue };
            if worst.is_none_or(|(highest, _)| score > highest) {
                worst = Some((score, observation));
            }
        }
        worst
    }
}

/// The tasks that a found answer rests on; `None` if there is no answer.
fn answer_tasks<'g>(graph: &'g Graph, seen: &[Observation]) -> Option<Vec<&'g str>> {
    let ended = seen.iter().rfind(|observation| observation.task == graph.answer)?;
    if !matches!(ended.ending, Ending::Solved | Ending::Empty) {
        return None;
    }
    let mut ids = vec![graph.answer.as_str()];
    let mut at = 0;
    while let Some(id) = ids.get(at) {
        let parents = graph.task(id).map_or(&[][..], |task| task.depends_on.as_slice());
        let new: Vec<&str> =
            parents.iter().map(String::as_str).filter(|parent| !ids.contains(parent)).collect();
        ids.extend(new);
        at += 1;
    }
    Some(ids)
}

/// A user cannot answer away a spent budget, a lost database or an endpoint that is down.
fn can_be_mended(observation: &Observation) -> bool {
    match &observation.ending {
        Ending::Failed(failure) => match failure.kind {
            FailureKind::Budget
            | FailureKind::Cancelled
            | FailureKind::Database
            | FailureKind::Internal => false,
            FailureKind::Model => !failure.retryable,
            _ => true,
        },
        _ => true,
    }
}
