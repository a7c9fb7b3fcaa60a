//! The calibrator `signals`: what a model claims, discounted by what happened on the way to its
//! statement.
//!
//! The weights are the table of syrch 0.1.2; each discounts once, however often its signal
//! occurred. The formula is the SDK's, since `fitted` begins with it, too.

mod calibrator;
#[cfg(test)]
mod tests;

use syrch_plugin::discount::Weights;
syrch_plugin::plugin! {
    /// Implements the role `calibrator`.
    pub struct SignalsCalibrator(Weights) = "signals",
        "discounts a model's confidence by errors, retries and the shape of the result";
}

syrch_plugin::export!(SignalsCalibrator: calibrator);
