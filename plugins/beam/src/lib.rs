//! The solver `beam`: builds statements on the most promising tables one by one, and weighs them
//! against each other (the search policies `beam` and `exhaustive` of syrch 0.3.7).
//!
//! For each candidate table a statement is generated that is built on it, and repaired until one is
//! viable. A first few tables are explored concurrently; further ones follow while the best result
//! is not clearly ahead. Statements with equal results agree: they form a group, which is stronger
//! than a single one. Only different results that fit equally well are a tie, and a tie is
//! reported.
//!
//! Taken over of 0.3.7: the choice of candidate tables, the policy with its margin and its
//! expansion, what makes a path viable, the formulas of `fit`, and the order of `weigh`. Not taken
//! over, since there is no requirement spec: `semantic_match`, missing metrics, filters and
//! supporting relations. Retrieval's scores order the tables and weigh nothing else, as there.
//! JOINs are not confined to listed tables: the host refuses what was not granted, and a bridge may
//! be two keys away. What was out of scope stands when nothing else came, where 0.3.7 failed.
//!
//! `tables` finds the candidate tables, `explore` takes them through the model and `settle` through
//! the database, `needs` and `fit` compare what came with the question, `weigh` groups and orders
//! it, `policy` decides when to stop, and `outcome` makes the outcome.

mod settings;
mod solver;
#[cfg(test)]
mod tests;

pub use crate::settings::Settings;

syrch_plugin::plugin! {
    /// Implements the role `solver`.
    pub struct BeamSolver(Settings) = "beam",
        "builds statements on the most promising tables and takes the one that fits best";
}

syrch_plugin::export!(BeamSolver: solver);
