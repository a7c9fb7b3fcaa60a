//! The calibrator `fitted`: the discounts of `signals`, followed by a curve that `calibrate fit`
//! found on graded answers, so that a confidence is the share of such answers that were right.
//!
//! The curve is fitted on what `signals` gave the answers of a run, and applied to the same.
//! `settings` reads what the strategy file holds.

mod calibrator;
mod settings;
#[cfg(test)]
mod tests;

pub use crate::settings::{Method, Settings};

syrch_plugin::plugin! {
    /// Implements the role `calibrator`.
    pub struct FittedCalibrator(Settings) = "fitted",
        "turns confidences into how often such answers were right, by a curve fitted on \
         graded answers";
}

syrch_plugin::export!(FittedCalibrator: calibrator);
