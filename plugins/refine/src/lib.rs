//! The solver `refine`: a loop that generates a statement, checks it, runs it, looks at the result, and repairs it until it is
//! trusted or the attempts are used up. The most trusted statement that ran is the answer.
//!
//! `search` is the loop, `rank` orders what ran.

mod rank;
mod search;
#[cfg(test)]
mod tests;

use syrch_plugin::brief::{Brief, Room};
use syrch_plugin::prelude::*;

use crate::search::Search;

syrch_plugin::settings! {
    /// How the loop weighs what it sees.
    pub struct Habits {
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
pub struct Refine {
    habits: Habits,
}

impl Plugin for Refine {
    const NAME: &'static str = "refine";
    const SUMMARY: &'static str = "writes a statement, runs it, and repairs it until it is trusted";
    type Settings = Habits;

    fn new(habits: Habits) -> Self {
        Self { habits }
    }
}

impl SolverRole for Refine {
    fn solve(
        &self,
        host: &impl SolverHost,
        problem: &Problem,
        catalog: &Catalog,
        task: &Task,
        parents: &[Parent],
    ) -> Result<Outcome, Failure> {
        let room = Room { catalog_bytes: self.habits.catalog_bytes, parent_rows: self.habits.parent_rows };
        let brief = Brief::new(host, room, problem, catalog, task, parents);
        Search::new(host, &self.habits, task, brief).run()
    }
}

syrch_plugin::export!(Refine: solver);
