//! Runs the tries of a task, and takes the statement that is accepted or voted for.

pub(crate) mod judge;
pub(crate) mod schema;
pub(crate) mod vote;
pub(crate) mod work;

use syrch_plugin::prelude::*;

use crate::Text2Sql;
use crate::prompts::Prompts;
use crate::solver::work::Work;

impl SolverRole for Text2Sql {
    fn solve(
        &self,
        host: &impl SolverHost,
        problem: &Problem,
        catalog: &Catalog,
        task: &Task,
        parents: &[Parent],
    ) -> Result<Outcome, Failure> {
        let prompts = Prompts::new(host, &self.settings, problem, catalog, task, parents);
        let done = Work::new(host, &self.settings, task, prompts).run();
        vote::outcome(host, &self.settings, task, done)
    }
}
