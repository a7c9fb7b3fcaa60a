//! The solver `beam`: builds statements on the most promising tables one by one, and weighs them against each other (the search policies
//! `beam` and `exhaustive` of syrch 0.3.7).
//!
//! For each candidate table a statement is generated that is built on it, and repaired until one is viable. A first few tables are explored
//! side by side; further ones follow while the best result is not clearly ahead. Statements with equal results agree: they stand together
//! and are stronger for it. Only different results that fit equally well are a tie, and a tie is told.
//!
//! Taken over of 0.3.7: the choice of candidate tables, the policy with its margin and its expansion, what makes a path viable, the
//! formulas of `fit`, and the order of `weigh`. Not taken over, since there is no requirement spec: `semantic_match`, missing metrics,
//! filters and supporting relations. Retrieval's scores order the tables and weigh nothing else, as there. JOINs are not confined to listed
//! tables: the host refuses what was not granted, and a bridge may be two keys away. What was out of scope stands when nothing else came,
//! where 0.3.7 failed.
//!
//! `tables` finds the candidate tables, `explore` takes them through the model and `settle` through the database, `needs` and `fit` compare
//! what came with the question, `weigh` groups and orders it, `policy` decides when to stop, and `tell` makes the outcome.

mod explore;
mod fit;
mod needs;
mod path;
mod policy;
mod settle;
mod tables;
mod tell;
#[cfg(test)]
mod tests;
mod weigh;
mod words;

use syrch_plugin::brief::{Brief, Room};
use syrch_plugin::prelude::*;

use crate::explore::Explorer;
use crate::policy::search;

syrch_plugin::settings! {
    /// How many tables are explored, and what counts for a statement.
    pub struct Beam {
        /// Tables that are explored in any case, side by side.
        beam_width: u32 = 3, 1 ..= 64;
        /// Tables that are explored at the most, ties aside.
        candidate_budget: u32 = 8, 1 ..= 64;
        /// Exploring goes on while the best result is not that far ahead of the next one.
        stop_margin: f64 = 0.15, 0.0 ..= 1.0;
        /// Further tables that are explored, one after the other, when different results are tied at the end.
        expansion: u32 = 2, 0 ..= 16;
        /// Whether all candidate tables are explored, whatever the results.
        exhaustive: bool = false;
        /// What a result gains when all others agree with it; a part of them gives a part of it.
        agreement: f64 = 0.5, 0.0 ..= 1.0;
        /// Candidate tables have at least this share of the best one's score.
        keep_share: f64 = 0.1, 0.0 ..= 1.0;
        /// Candidate tables at the most.
        most_tables: u32 = 10, 1 ..= 100;
        /// Whether retrieval's clearness decides how many candidate tables there are instead: 5 when the best one has 0.7 of what the best
        /// ten have together, 10 from 0.35 on, else 15.
        adaptive: bool = false;
        /// The confidence of a statement for which the model states none.
        unstated: f64 = 0.7, 0.0 ..= 1.0;
        /// The same, when its result has rows.
        unstated_with_rows: f64 = 0.85, 0.0 ..= 1.0;
        /// Rows above this number count as more than a good answer has.
        overflow_rows: u64 = 1000, 1 ..= 1_000_000_000;
        /// Rows of each finished dependency that stand in the prompt, as far as they are granted.
        parent_rows: u32 = 3, 0 ..= 50;
        /// Bytes of a prompt that the catalog may fill.
        catalog_bytes: u32 = 48_000, 500 ..= 200_000;
    }
}

/// The solver.
pub struct BeamSolver {
    beam: Beam,
}

impl Plugin for BeamSolver {
    const NAME: &'static str = "beam";
    const SUMMARY: &'static str = "builds statements on the most promising tables and takes the one that fits best";
    type Settings = Beam;

    fn new(beam: Beam) -> Self {
        Self { beam }
    }
}

impl SolverRole for BeamSolver {
    fn solve(
        &self,
        host: &impl SolverHost,
        problem: &Problem,
        catalog: &Catalog,
        task: &Task,
        parents: &[Parent],
    ) -> Result<Outcome, Failure> {
        let room = Room { catalog_bytes: self.beam.catalog_bytes, parent_rows: self.beam.parent_rows };
        let brief = Brief::new(host, room, problem, catalog, task, parents);
        let pool = tables::candidates(host, &self.beam, problem, catalog, task);
        search(Explorer::new(host, &self.beam, problem, catalog, task, brief, pool))
    }
}

syrch_plugin::export!(BeamSolver: solver);
