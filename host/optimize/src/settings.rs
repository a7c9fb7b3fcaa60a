//! The settings of an optimization, which the user chooses.

use serde::{Deserialize, Serialize};

/// The proposals in a row after which early stop ends an optimization, where it is asked for.
pub const EARLY_STOP: u32 = 2;

/// The settings of one optimization.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The most proposals of the rewriter.
    pub iterations: u32,
    /// The least share of the best time that a candidate must save, 0 to 1.
    pub min_gain: f64,
    /// The least time that a candidate must save, in milliseconds.
    pub min_gain_ms: u64,
    /// The number of proposals in a row that may be slower, different or too large before the
    /// optimization ends.
    pub early_stop: u32,
    /// On how many changed copies of the database a candidate must be equal, too.
    pub copies: u32,
    /// The most pairs of the final measurement.
    pub pairs: u32,
    /// The least pairs of the final measurement, however long they take, where [`Settings::pairs`]
    /// allows as many.
    pub min_pairs: u32,
    /// The time for which the final measurement may execute statements before it ends with the
    /// pairs that it has, in milliseconds.
    pub final_ms: u64,
    /// Decides which statement of a pair comes first.
    pub seed: u64,
}

impl Default for Settings {
    /// Five iterations, a gain of 10 % and 50 ms, no early stop; 6 copies, and up to 24 pairs
    /// within 5 minutes, of which there are 7 however long they take: fewer can confirm nothing.
    fn default() -> Self {
        Self {
            iterations: 5,
            min_gain: 0.10,
            min_gain_ms: 50,
            early_stop: 0,
            copies: 6,
            pairs: 24,
            min_pairs: 7,
            final_ms: 300_000,
            seed: 0,
        }
    }
}

/// A setting that is out of its range.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` must be {range}")]
pub struct SettingsError {
    /// The name of the field of [`Settings`].
    pub name: &'static str,
    /// The values that it may have.
    pub range: &'static str,
}

impl Settings {
    /// Checks that every setting is in its range.
    ///
    /// # Errors
    /// The first setting that is out of its range.
    pub fn check(&self) -> Result<(), SettingsError> {
        let Self {
            iterations,
            min_gain,
            min_gain_ms: _,
            early_stop: _,
            copies,
            pairs,
            min_pairs,
            final_ms: _,
            seed: _,
        } = *self;
        let wrong = |name, range| Err(SettingsError { name, range });
        if !(1..=100).contains(&iterations) {
            return wrong("iterations", "1 to 100");
        }
        if !(0.0..1.0).contains(&min_gain) {
            return wrong("min_gain", "0 or more and less than 1");
        }
        if copies > 100 {
            return wrong("copies", "0 to 100");
        }
        if !(3..=200).contains(&pairs) {
            return wrong("pairs", "3 to 200");
        }
        if !(1..=200).contains(&min_pairs) {
            return wrong("min_pairs", "1 to 200");
        }
        Ok(())
    }
}
