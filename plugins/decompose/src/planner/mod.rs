//! Plans the question as a graph, and replaces subtasks that are not simple by smaller ones.

pub(crate) mod draft;
pub(crate) mod expand;
pub(crate) mod graph;

use syrch_plugin::failure::llm_words;
use syrch_plugin::prelude::*;
use syrch_plugin::replies::plan_reply;

use crate::planner::draft::Draft;
use crate::{Decompose, prompts};

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
        if !self.settings.fallback || graph.memo.is_some() || graph.tasks.len() < 2 || !graph::is_lost(graph, seen) {
            return Ok(unchanged);
        }
        host.note(Level::Info, "the plan came to nothing: trying the whole question as one task");
        Ok(graph::fallback(graph, problem))
    }
}

impl Decompose {
    /// The model's first plan, checked. It gets one more chance when its plan contradicts itself; `None` if there is no usable plan.
    /// A model that cannot be reached or paid is the user's business, and so a failure.
    fn first_plan(
        &self,
        host: &impl PlannerHost,
        problem: &Problem,
        catalog: &Catalog,
    ) -> Result<Option<Draft>, Failure> {
        let mut wrong: Option<(String, String)> = None;
        for _ in 0..2 {
            let request = prompts::plan(problem, catalog, &self.settings, host.policy().max_depth, wrong.as_ref());
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
