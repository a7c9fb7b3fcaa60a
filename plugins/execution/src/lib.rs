//! The reward `execution`: a statement that ran is accepted, and scored by how smoothly it came
//! about.
//!
//! `score = 0.5 + 0.5 × execution signal` (syrch 0.3.7), where the signal starts at 1 and loses a
//! share for each error of the attempts made for the task, at most three of a kind, and for each
//! doubt about the result's shape.
//!
//! If the planner states requirements of the statement, `requirements` compares them with the
//! statement's facts: one that lacks a metric, an aggregation, a filter or a time range is rejected
//! by name, so that the prompt of the repair states it.

mod requirements;
mod reward;
mod settings;
#[cfg(test)]
mod tests;

pub use crate::settings::Settings;

syrch_plugin::plugin! {
    /// Implements the role `reward`.
    pub struct ExecutionReward(Settings) = "execution",
        "accepts what ran, scored by the errors on the way and the shape of the result";
}

syrch_plugin::export!(ExecutionReward: reward);
