//! The aggregator `evidence`: takes the most trusted result, or joins several, and says how far to
//! trust it and why.
//!
//! `join` writes the joining statement, `doubts` counts what speaks against the answer, `words`
//! puts it into a sentence.

mod aggregator;
mod settings;
#[cfg(test)]
mod tests;

pub use crate::settings::Settings;

syrch_plugin::plugin! {
    /// Implements the role `aggregator`.
    pub struct Evidence(Settings) = "evidence",
        "answers with the most trusted result or a join of several, and says how far to trust it";
}

syrch_plugin::export!(Evidence: aggregator);
