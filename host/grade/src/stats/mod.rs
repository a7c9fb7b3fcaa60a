//! Statistics of graded answers: intervals for a share, tests and intervals for two arms on the
//! same questions, what a suite can find at all, and how far confidences can be trusted.
//!
//! Everything is a pure function of its arguments; what is random starts at a given seed.

mod bootstrap;
mod calibration;
mod e_process;
mod holm;
mod mcnemar;
mod power;
mod ranking;
mod wilson;

use serde::{Deserialize, Serialize};

pub use bootstrap::{Pair, bootstrap_difference, bootstrap_questions};
pub use calibration::{Bin, brier, expected_calibration_error, log_loss, reliability};
pub use e_process::{E_STOP, e_value, is_decided};
pub use holm::holm;
pub use mcnemar::mcnemar;
pub use power::{minimum_detectable, power, questions_needed};
pub use ranking::{RiskPoint, auroc, risk_coverage};
pub use wilson::wilson;

/// The 97.5 % quantile of the standard normal distribution: two-sided 95 %.
const Z_95: f64 = 1.959_963_984_540_054;

/// A 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The lower end, which is part of the interval.
    pub low: f64,
    /// The upper end, which is part of the interval.
    pub high: f64,
}

impl Interval {
    /// Returns true if a value lies in the interval, ends included.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}
