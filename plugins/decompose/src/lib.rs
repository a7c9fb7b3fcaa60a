//! The planner `decompose`: divide and conquer. A model splits the question into subtasks, subtasks that are not yet simple are
//! split again, and several loose ends meet in one task that chooses or joins.
//!
//! `ask` writes the prompts, `draft` checks what the model planned, `expand` puts a plan in a subtask's place, `graph` makes the host's graph.

mod ask;
mod draft;
mod expand;
mod graph;
#[cfg(test)]
mod tests;

use syrch_plugin::failure::llm_words;
use syrch_plugin::prelude::*;
use syrch_plugin::replies::plan_reply;

use crate::draft::Draft;

syrch_plugin::settings! {
    /// How far a question is taken apart.
    pub struct Limits {
        /// Subtasks of one plan that are looked at; later ones are cut off.
        subtasks: u32 = 6, 1 ..= 16;
        /// Tasks of the whole graph, the final one included.
        tasks: u32 = 12, 1 ..= 16;
        /// Bytes of a prompt that the catalog may fill.
        catalog_bytes: u32 = 48_000, 500 ..= 200_000;
        /// Whether to try the whole question as one task when the plan came to nothing.
        fallback: bool = true;
    }
}

/// The planner.
pub struct Decompose {
    limits: Limits,
}

impl Plugin for Decompose {
    const NAME: &'static str = "decompose";
    const SUMMARY: &'static str = "divides a question into a graph of tasks and conquers the parts";
    type Settings = Limits;

    fn new(limits: Limits) -> Self {
        Self { limits }
    }
}

impl PlannerRole for Decompose {
    fn plan(&self, host: &impl PlannerHost, problem: &Problem, catalog: &Catalog) -> Result<Graph, Failure> {
        let Some(draft) = self.first_plan(host, problem, catalog)? else {
            return Ok(graph::direct("A", problem));
        };
        let whole = self.expand(host, problem, catalog, draft);
        Ok(graph::finished(whole, problem))
    }

    fn next(
        &self,
        host: &impl PlannerHost,
        problem: &Problem,
        _catalog: &Catalog,
        graph: &Graph,
        seen: &[Observation],
        _fresh: usize,
    ) -> Result<Step, Failure> {
        let unchanged = Step { edits: Vec::new(), memo: graph.memo.clone() };
        if !self.limits.fallback || graph.memo.is_some() || graph.tasks.len() < 2 || !graph::is_lost(graph, seen) {
            return Ok(unchanged);
        }
        host.note(Level::Info, "the plan came to nothing: trying the whole question as one task");
        Ok(graph::fallback(graph, problem))
    }
}

impl Decompose {
    /// The model's first plan, checked. It gets one more chance when its plan contradicts itself; none when there is no usable plan.
    /// A model that cannot be reached or paid is the user's business, and so a failure.
    fn first_plan(
        &self,
        host: &impl PlannerHost,
        problem: &Problem,
        catalog: &Catalog,
    ) -> Result<Option<Draft>, Failure> {
        let mut wrong: Option<(String, String)> = None;
        for _ in 0..2 {
            let request = ask::plan(problem, catalog, &self.limits, host.policy().max_depth, wrong.as_ref());
            let reply = match host.complete(&request) {
                Ok(reply) => reply,
                Err(error) => return without_plan(host, &error),
            };
            let Some(subtasks) = plan_reply(&reply) else {
                host.note(Level::Warn, "the model's plan has no subtask: the question stays one task");
                return Ok(None);
            };
            match Draft::of(subtasks, self.widest()) {
                Ok(draft) => return Ok(Some(draft)),
                Err(problem) => {
                    host.note(Level::Warn, &format!("the model's plan cannot be used: {problem}"));
                    wrong = Some((reply.text, problem));
                }
            }
        }
        host.note(Level::Warn, "no plan was usable: the question stays one task");
        Ok(None)
    }
}

fn without_plan(host: &impl PlannerHost, error: &LlmError) -> Result<Option<Draft>, Failure> {
    match error {
        LlmError::Refused(_) | LlmError::Unsupported(_) | LlmError::Malformed(_) | LlmError::TooLarge => {
            host.note(Level::Info, &format!("{}: the question stays one task", llm_words(error)));
            Ok(None)
        }
        _ => Err(llm_failure(error)),
    }
}

syrch_plugin::export!(Decompose: planner);
