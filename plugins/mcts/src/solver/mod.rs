//! Grows the tree until the rollouts are used up or enough statements agree.

pub(crate) mod grow;
pub(crate) mod outcome;
pub(crate) mod search;
pub(crate) mod select;
pub(crate) mod tree;

use syrch_plugin::brief::{Brief, PromptSize};
use syrch_plugin::prelude::*;

use crate::solver::search::Search;
use crate::{Mcts, Settings};

impl SolverRole for Mcts {
    fn solve(
        &self,
        host: &impl SolverHost,
        problem: &Problem,
        catalog: &Catalog,
        task: &Task,
        parents: &[Parent],
    ) -> Result<Outcome, Failure> {
        let size = PromptSize {
            catalog_bytes: self.settings.catalog_bytes,
            parent_rows: self.settings.shown_rows,
        };
        let brief = Brief::new(host, size, problem, catalog, task, parents);
        let depth = self.settings.depth.min(host.attempts());
        Search::new(host, &Settings { depth, ..self.settings.clone() }, task, brief).run()
    }
}
