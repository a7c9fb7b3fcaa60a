//! Applies the discounts, and then the curve, to each claim.

use syrch_plugin::prelude::*;
use syrch_plugin::text::clamp01;

use crate::{FittedCalibrator, Method, Settings};

/// The share of the confidence itself that is mixed in: enough to keep the order where a curve is
/// level, too little to be visible.
const GRAIN: f64 = 1e-6;
/// Nearer to 0 or 1 no confidence counts on a logistic curve, as it was fitted.
const SUREST: f64 = 1e-3;

impl CalibratorRole for FittedCalibrator {
    fn calibrate(&self, claims: &[(f64, Signals)]) -> Vec<f64> {
        let weights = &self.settings.weights;
        claims
            .iter()
            .map(|(raw, signals)| self.settings.on_the_curve(weights.discount(*raw, signals)))
            .collect()
    }
}

impl Settings {
    /// Never falls, and keeps the order of confidences.
    fn on_the_curve(&self, confidence: f64) -> f64 {
        let there = match self.curve.method {
            Method::None => return confidence,
            Method::Isotonic => self.isotonic(confidence),
            Method::Logistic => self.logistic(confidence),
        };
        clamp01((1.0 - GRAIN) * there + GRAIN * confidence)
    }

    /// Straight between the corners, level beyond them.
    fn isotonic(&self, confidence: f64) -> f64 {
        let thresholds = &self.curve.thresholds.0;
        let values = &self.curve.values.0;
        let above = thresholds.partition_point(|threshold| *threshold <= confidence);
        let corner = |place: usize| Some((*thresholds.get(place)?, *values.get(place)?));
        match (above.checked_sub(1).and_then(corner), corner(above)) {
            (None, None) => confidence,
            (Some((_, value)), None) | (None, Some((_, value))) => value,
            (Some((from, low)), Some((to, high))) => {
                low + (high - low) * (confidence - from) / (to - from)
            }
        }
    }

    /// `σ(slope × logit(confidence) + intercept)`.
    fn logistic(&self, confidence: f64) -> f64 {
        let confidence = confidence.clamp(SUREST, 1.0 - SUREST);
        let logit = (confidence / (1.0 - confidence)).ln();
        1.0 / (1.0 + (-(self.curve.slope * logit + self.curve.intercept)).exp())
    }
}
