//! Explores statements on the candidate tables, and takes the one that fits best.

pub(crate) mod explore;
pub(crate) mod fit;
pub(crate) mod needs;
pub(crate) mod outcome;
pub(crate) mod path;
pub(crate) mod policy;
pub(crate) mod settle;
pub(crate) mod tables;
pub(crate) mod weigh;
pub(crate) mod words;

use syrch_plugin::brief::Brief;
use syrch_plugin::prelude::*;

use crate::BeamSolver;
use crate::solver::explore::Explorer;
use crate::solver::policy::search;

impl SolverRole for BeamSolver {
    fn solve(
        &self,
        host: &impl SolverHost,
        problem: &Problem,
        catalog: &Catalog,
        task: &Task,
        parents: &[Parent],
    ) -> Result<Outcome, Failure> {
        let brief = Brief::new(host, &self.settings, problem, catalog, task, parents);
        let pool = tables::candidates(host, &self.settings, problem, catalog, task);
        search(Explorer::new(host, &self.settings, problem, catalog, task, brief, pool))
    }
}
