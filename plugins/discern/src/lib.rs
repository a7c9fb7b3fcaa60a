//! The solver `discern`: samples statements until one result leads clearly, where a vote counts less the more speaks against its
//! statement.
//!
//! Agreement alone does not distinguish a popular mistake from the answer. Signs of the statement and its result do:
//! a value that its column does not hold, a join away from the foreign keys, a word of the question that names a column it does not
//! use, repeated rows, more columns than its rivals, fewer tables. Each takes its share off the vote's weight; README.md states how the
//! shares were fitted and what they are worth.
//!
//! `evidence` has the signs of one draw, from `words`, `joins` and `probes`; `solver` weighs them, stops the sampling, and orders the results.

mod settings;
mod solver;
#[cfg(test)]
mod tests;

pub use crate::settings::Settings;

syrch_plugin::plugin! {
    /// Implements the role `solver`.
    pub struct Discern(Settings) = "discern",
        "samples statements until a result leads, weighing each by what it shows";
}

syrch_plugin::export!(Discern: solver);
