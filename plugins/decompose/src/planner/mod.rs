//! Plans the question as a graph, and replaces subtasks that are not simple by smaller ones.

pub(crate) mod draft;
pub(crate) mod expand;
pub(crate) mod graph;
pub(crate) mod memo;
pub(crate) mod replan;

use syrch_plugin::failure::llm_words;
use syrch_plugin::prelude::*;
use syrch_plugin::requirements::Requirements;

use crate::planner::draft::{Draft, read_plan};
use crate::planner::memo::Memo;
use crate::{Decompose, prompts};

impl PlannerRole for Decompose {
    fn plan(
        &self,
        host: &impl PlannerHost,
        problem: &Problem,
        catalog: &Catalog,
    ) -> Result<Graph, Failure> {
        let Some(draft) = self.first_plan(host, problem, catalog)? else {
            return Ok(graph::direct("A", problem));
        };
        let whole = self.expand(host, problem, catalog, draft);
        Ok(graph::build_graph(whole, problem))
    }

    /// Plans tasks that found no statement again over other tables, each once; when the answer's
    /// task is lost all the same, the whole question is tried as one task, once.
    fn next(
        &self,
        host: &impl PlannerHost,
        problem: &Problem,
        catalog: &Catalog,
        graph: &Graph,
        seen: &[Observation],
        fresh: usize,
    ) -> Result<Step, Failure> {
        let mut memo = Memo::read(graph.memo.as_deref());
        let again = replan::replan(&self.settings, catalog, graph, seen, fresh, &mut memo);
        if !again.edits.is_empty() {
            again.notes.iter().for_each(|note| host.note(Level::Info, note));
            return Ok(Step { edits: again.edits, memo: Some(memo.text()) });
        }
        let unchanged = Step { edits: Vec::new(), memo: graph.memo.clone() };
        let is_other = graph.tasks.len() > 1 || graph.tasks.iter().any(is_bound);
        if !self.settings.fallback || memo.fallback || !is_other || !graph::is_lost(graph, seen) {
            return Ok(unchanged);
        }
        host.note(Level::Info, "the plan came to nothing: trying the whole question as one task");
        memo.fallback = true;
        Ok(graph::fallback(graph, problem, &memo))
    }
}

impl Decompose {
    /// The model's first plan, checked. It gets one more chance when its plan contradicts itself;
    /// `None` if there is no usable plan. A model that cannot be reached or paid is the user's
    /// business, and so a failure.
    fn first_plan(
        &self,
        host: &impl PlannerHost,
        problem: &Problem,
        catalog: &Catalog,
    ) -> Result<Option<Draft>, Failure> {
        let mut wrong: Option<(String, String)> = None;
        for _ in 0..2 {
            let request = prompts::plan(
                problem,
                catalog,
                &self.settings,
                host.policy().max_depth,
                wrong.as_ref(),
            );
            let reply = match host.complete(&request) {
                Ok(reply) => reply,
                // A plan whose requirements have another form is asked for once more in any form.
                Err(LlmError::Malformed(begins))
                    if wrong.is_none()
                        && begins.contains("subtasks")
                        && begins.contains("requirements") =>
                {
                    wrong = Some((begins, "it has another form".to_owned()));
                    continue;
                }
                Err(error) => return without_plan(host, &error),
            };
            let Some(subtasks) = read_plan(host, &reply) else {
                host.note(
                    Level::Warn,
                    "the model's plan has no subtask: the question stays one task",
                );
                return Ok(None);
            };
            match Draft::from_plan(subtasks, self.widest()) {
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

/// Returns true if a task's statement must state something, so that the question without the plan
/// is another task.
fn is_bound(task: &Task) -> bool {
    Requirements::from_task(task)
        .map(|required| Requirements { tables: Vec::new(), unread: Vec::new(), ..required })
        .is_some_and(|required| !required.is_empty())
}

fn without_plan(host: &impl PlannerHost, error: &LlmError) -> Result<Option<Draft>, Failure> {
    match error {
        LlmError::Refused(_)
        | LlmError::Unsupported(_)
        | LlmError::Malformed(_)
        | LlmError::TooLarge => {
            host.note(Level::Info, &format!("{}: the question stays one task", llm_words(error)));
            Ok(None)
        }
        _ => Err(llm_failure(error)),
    }
}
