//! Runs the flow for a task and returns the outcome.

use syrch_plugin::prelude::*;

use crate::prompts::Prompts;
use crate::walk::Walk;
use crate::{FlowSolver, later, outcome};

impl SolverRole for FlowSolver {
    fn solve(
        &self,
        host: &impl SolverHost,
        problem: &Problem,
        catalog: &Catalog,
        task: &Task,
        parents: &[Parent],
    ) -> Result<Outcome, Failure> {
        let common = &self.settings.common;
        let (own, solved) = later::split(task, parents);
        let prompts = Prompts::new(host, common, problem, catalog, task, own);
        let mut walk = Walk::new(host, &self.settings, task, prompts);
        walk.resume(solved)?;
        walk.run();
        let ask = walk.question.take();
        let subtasks = walk.postpone(own);
        if !subtasks.is_empty() {
            return Ok(Outcome { ask, subtasks, ..Outcome::default() });
        }
        let outcome = outcome::outcome(host, common, task, walk.branches)?;
        Ok(Outcome { ask, ..outcome })
    }
}
