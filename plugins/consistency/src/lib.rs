//! The solver `consistency`: samples several statements for one task and takes the result that most of them give
//! (self-consistency, Wang et al. 2022), with an early stop once enough agree.
//!
//! Results are equal as multisets of rows, whatever their columns are called. Results without rows have no vote unless `empty_counts`;
//! they stand only when there is nothing else. Of equally large groups the one with the earliest sample wins, by its number and not by
//! its arrival. One sample is the plain strategy, `agree` 1 with `repair` is retrying, `agree` 2 of 5 samples a gate.
//!
//! The user's `max_attempts` bounds chains: a statement and its repairs. Independent samples are bounded by `samples` alone. Retrying is one
//! chain, so that there both bound the samples.
//!
//! `sample` writes the prompts and counts the votes.

mod sample;
#[cfg(test)]
mod tests;

use syrch_plugin::brief::{Brief, Room};
use syrch_plugin::draws::elect;
use syrch_plugin::prelude::*;

use crate::sample::Samples;

syrch_plugin::settings! {
    /// How many statements are sampled and when they suffice.
    pub struct Gate {
        /// Statements that are sampled at the most; where `repair` and `agree` 1 make one chain of them, the user's `max_attempts` bounds
        /// them too.
        samples: u32 = 5, 1 ..= 64;
        /// Sampling stops as soon as that many results with rows are equal; 0: never early.
        agree: u32 = 0, 0 ..= 64;
        /// Whether the sample after a failed one is a repair, which carries what failed and why, instead of a fresh one; a statement and
        /// its repairs are at most the user's `max_attempts`.
        repair: bool = false;
        /// Whether a result without rows may vote.
        empty_counts: bool = false;
        /// The temperature of fresh samples when there are several; 0 leaves it to the model.
        temperature: f64 = 0.7, 0.0 ..= 2.0;
        /// The confidence of a statement for which the model states none.
        unstated: f64 = 0.7, 0.0 ..= 1.0;
        /// How many further results what the model claims counts as, when it is weighed against the agreement.
        claim_weight: f64 = 2.0, 0.01 ..= 100.0;
        /// Rows above this number count as more than a good answer has.
        overflow_rows: u64 = 1000, 1 ..= 1_000_000_000;
        /// Rows of each finished dependency that stand in the prompt, as far as they are granted.
        parent_rows: u32 = 3, 0 ..= 50;
        /// Bytes of a prompt that the catalog may fill.
        catalog_bytes: u32 = 48_000, 500 ..= 200_000;
    }
}

/// The solver.
pub struct Consistency {
    gate: Gate,
}

impl Plugin for Consistency {
    const NAME: &'static str = "consistency";
    const SUMMARY: &'static str = "samples several statements and takes the result that most of them give";
    type Settings = Gate;

    fn new(gate: Gate) -> Self {
        Self { gate }
    }
}

impl SolverRole for Consistency {
    fn solve(
        &self,
        host: &impl SolverHost,
        problem: &Problem,
        catalog: &Catalog,
        task: &Task,
        parents: &[Parent],
    ) -> Result<Outcome, Failure> {
        let room = Room { catalog_bytes: self.gate.catalog_bytes, parent_rows: self.gate.parent_rows };
        let brief = Brief::new(host, room, problem, catalog, task, parents);
        let attempts = host.policy().max_attempts.max(1);
        let is_chain = self.gate.repair && self.gate.agree == 1;
        let most = if is_chain { self.gate.samples.min(attempts) } else { self.gate.samples };
        elect(host, task, most, self.gate.overflow_rows, &mut Samples::new(&self.gate, attempts, most, brief))
    }
}

syrch_plugin::export!(Consistency: solver);
