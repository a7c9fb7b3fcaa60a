//! The solver `discern`: samples statements until one result leads clearly, where a vote counts
//! less the more speaks against its statement.
//!
//! Agreement alone does not distinguish a popular mistake from the answer. What a statement and its
//! result show does: a doubt of the host, a value that its column does not hold, a word of the
//! question that names a column it does not use, repeated rows, a result of 0. Each such finding
//! halves the vote; README.md states what that is worth.
//!
//! `evidence` has the findings against one draw, from `probes`; `solver` weighs them, stops the
//! sampling, and orders the results.

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
