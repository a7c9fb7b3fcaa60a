//! Runs the flow for a task and returns the outcome.

use syrch_plugin::prelude::*;

use crate::prompts::Prompts;
use crate::walk::Walk;
use crate::{FlowSolver, outcome};

impl SolverRole for FlowSolver {
    fn solve(
        &self,
        host: &impl SolverHost,
        problem: &Problem,
        catalog: &Catalog,
        task: &Task,
        parents: &[Parent],
    ) -> Result<Outcome, Failure> {
        let prompts = Prompts::new(host, &self.settings.common, problem, catalog, task, parents);
        let (branches, question) = Walk::new(host, &self.settings, task, prompts).run();
        let outcome = outcome::outcome(host, &self.settings.common, task, branches)?;
        Ok(Outcome { ask: question, ..outcome })
    }
}
