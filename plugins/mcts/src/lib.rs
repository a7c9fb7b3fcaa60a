//! The solver `mcts`: searches a tree of statements, guided by how far their results agree.
//!
//! The root is the task, every other node a statement. A rollout goes down from the root by UCT (Kocsis and Szepesvári 2006), expands the
//! node that it comes to, takes the new statement through the database, and backs its value up. The root is expanded by a fresh draw, a
//! statement that failed by a repair, one that ran by a revision that sees what the others found.
//!
//! A statement's value is its execution agreement: the share of all statements that ran so far whose result equals its own; nothing when it
//! failed, and less when the result has no rows. Values are not fixed when they are backed up. Each new statement changes them all, so a
//! node's mean is always that of the present values in its subtree, and its visits are the statements there.
//!
//! The answer is the result that most statements gave; among equals the higher mean, then more visits, then the earlier one. Ties in the
//! selection are broken by SplitMix64 from the run's seed, so that a run can be repeated.
//!
//! `tree` holds nodes and values, `select` goes down it, `prompts` writes what is asked, `search` is the loop, `grow` takes
//! statements into the tree, and `tell` makes the outcome.

mod grow;
mod prompts;
mod search;
mod select;
mod tell;
#[cfg(test)]
mod tests;
mod tree;

use syrch_plugin::brief::{Brief, Room};
use syrch_plugin::prelude::*;

use crate::search::Search;

syrch_plugin::settings! {
    /// How large the tree may become and how it is searched.
    pub struct Bounds {
        /// Statements that are asked for at the most, one in each rollout.
        rollouts: u32 = 8, 1 ..= 64;
        /// Children of a node at the most; the root's are fresh draws.
        width: u32 = 3, 1 ..= 64;
        /// Levels of statements below the root, at most the user's `max_attempts`: a level is one more attempt at a statement.
        depth: u32 = 3, 1 ..= 16;
        /// How much a node that was seldom visited draws: the constant of UCT.
        exploration: f64 = 1.4, 0.0 ..= 100.0;
        /// The search stops when that many results are equal, or when no other result can come up with the leading one any more; 0: never
        /// early.
        agree: u32 = 3, 0 ..= 64;
        /// What a result without rows counts, where one with rows counts 1.
        empty: f64 = 0.5, 0.0 ..= 1.0;
        /// The temperature of all statements; 0 leaves it to the model.
        temperature: f64 = 0.7, 0.0 ..= 2.0;
        /// How many further results what the model claims counts as, when it is weighed against the agreement.
        claim_weight: f64 = 2.0, 0.01 ..= 100.0;
        /// The confidence of a statement for which the model states none.
        unstated: f64 = 0.7, 0.0 ..= 1.0;
        /// Rows above this number count as more than a good answer has.
        overflow_rows: u64 = 1000, 1 ..= 1_000_000_000;
        /// Other results that a revision is shown.
        others: u32 = 3, 0 ..= 16;
        /// Rows of each result and of each finished dependency that stand in a prompt, as far as they are granted.
        shown_rows: u32 = 3, 0 ..= 50;
        /// Bytes of a prompt that the catalog may fill.
        catalog_bytes: u32 = 48_000, 500 ..= 200_000;
    }
}

/// The solver.
pub struct Mcts {
    bounds: Bounds,
}

impl Plugin for Mcts {
    const NAME: &'static str = "mcts";
    const SUMMARY: &'static str = "searches a tree of statements, guided by how far their results agree";
    type Settings = Bounds;

    fn new(bounds: Bounds) -> Self {
        Self { bounds }
    }
}

impl SolverRole for Mcts {
    fn solve(
        &self,
        host: &impl SolverHost,
        problem: &Problem,
        catalog: &Catalog,
        task: &Task,
        parents: &[Parent],
    ) -> Result<Outcome, Failure> {
        let room = Room { catalog_bytes: self.bounds.catalog_bytes, parent_rows: self.bounds.shown_rows };
        let brief = Brief::new(host, room, problem, catalog, task, parents);
        let depth = self.bounds.depth.min(host.policy().max_attempts.max(1));
        Search::new(host, &Bounds { depth, ..self.bounds.clone() }, task, brief).run()
    }
}

syrch_plugin::export!(Mcts: solver);
