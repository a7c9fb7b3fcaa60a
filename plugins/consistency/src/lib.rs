//! The solver `consistency`: samples several statements for one task and takes the result that most
//! of them give (self-consistency, Wang et al. 2022), with an early stop once enough agree.
//!
//! Results are equal as multisets of rows, whatever their columns are called. Results without rows
//! have no vote unless `empty_counts`; they count only if there are no others. Of equally large
//! groups the one with the earliest sample wins, by its number and not by its arrival. One sample
//! is the plain strategy, `agree` 1 with `repair` is retrying, `agree` 2 of 5 samples a gate.
//!
//! The user's `max_attempts` bounds chains: a statement and its repairs. Independent samples are
//! bounded by `samples` alone. Retrying is one chain, so that there both bound the samples.

mod settings;
mod solver;
#[cfg(test)]
mod tests;

pub use crate::settings::Settings;

syrch_plugin::plugin! {
    /// Implements the role `solver`.
    pub struct Consistency(Settings) = "consistency",
        "samples several statements and takes the result that most of them give";
}

syrch_plugin::export!(Consistency: solver);
