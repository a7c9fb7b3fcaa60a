//! The discount of a claim by what happened on the way to its statement, which the calibrator
//! `signals` applies, and `fitted` before its curve.
//!
//! The weights are the table of syrch 0.1.2; each discounts once, however often its signal
//! occurred.

use crate::bindings::types::Signals;
use crate::text::clamp01;

crate::settings! {
    /// The amounts that the signals take off a confidence.
    pub struct Weights {
        /// Taken off when an attempt did not parse.
        syntax: f64 = 0.10, 0.0 ..= 1.0;
        /// Taken off when an attempt named what the catalog lacks.
        schema: f64 = 0.05, 0.0 ..= 1.0;
        /// Taken off when an attempt failed while running.
        execution: f64 = 0.10, 0.0 ..= 1.0;
        /// Taken off when the result has no rows.
        empty: f64 = 0.15, 0.0 ..= 1.0;
        /// Taken off when a column of the result is NULL throughout.
        null_column: f64 = 0.05, 0.0 ..= 1.0;
        /// Taken off when the result is larger than expected.
        overflow: f64 = 0.05, 0.0 ..= 1.0;
        /// Taken off when the last allowed attempt was needed; earlier attempts lose their share of
        /// it.
        retry: f64 = 0.05, 0.0 ..= 1.0;
    }
}

impl Weights {
    /// `clamp01(raw × Π (1 − weight))` over the signals that occurred.
    #[must_use]
    pub fn discount(&self, raw: f64, signals: &Signals) -> f64 {
        let occurred = [
            (signals.syntax_errors > 0, self.syntax),
            (signals.schema_errors > 0, self.schema),
            (signals.execution_errors > 0, self.execution),
            (signals.empty_result, self.empty),
            (signals.null_columns > 0, self.null_column),
            (signals.overflow, self.overflow),
        ];
        let factors =
            occurred.iter().filter(|(occurred, _)| *occurred).map(|(_, weight)| 1.0 - weight);
        let retries = self.retry * retry_share(signals.attempts, signals.max_attempts);
        clamp01(
            factors.fold(clamp01(raw), |confidence, factor| confidence * factor) * (1.0 - retries),
        )
    }
}

/// `num/max − 1/max`: nothing for the first attempt, and nothing when only one is allowed.
fn retry_share(attempts: u32, max_attempts: u32) -> f64 {
    if max_attempts <= 1 {
        return 0.0;
    }
    let used = f64::from(attempts.clamp(1, max_attempts) - 1);
    used / f64::from(max_attempts)
}
