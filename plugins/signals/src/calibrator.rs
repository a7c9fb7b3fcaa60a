//! Discounts each claim by its signals.

use syrch_plugin::prelude::*;

use crate::SignalsCalibrator;

impl CalibratorRole for SignalsCalibrator {
    fn calibrate(&self, claims: &[(f64, Signals)]) -> Vec<f64> {
        claims.iter().map(|(raw, signals)| self.settings.discount(*raw, signals)).collect()
    }
}
