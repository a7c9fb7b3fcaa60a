//! A calibrator that reads the probability of a claim from a list of steps.

use syrch_plugin::prelude::*;

syrch_plugin::settings! {
    /// The settings of the plugin.
    pub struct Settings {
        /// Pairs of a claim and the probability from there on, ascending.
        steps: Vec<[f64; 2]> = vec![[0.0, 0.2], [0.5, 0.5], [0.9, 0.8]];
    }
}

syrch_plugin::plugin! {
    /// The plugin.
    pub struct Steps(Settings) = "steps", "reads probabilities from a list of steps";
}

impl Steps {
    fn probability(&self, claimed: f64, signals: &Signals) -> f64 {
        let step = self.settings.steps.iter().rfind(|[from, _]| *from <= claimed);
        let probability = step.map_or(0.0, |[_, probability]| *probability);
        let errors = signals.syntax_errors + signals.schema_errors + signals.execution_errors;
        (probability - 0.1 * f64::from(errors)).clamp(0.0, 1.0)
    }
}

impl CalibratorRole for Steps {
    fn calibrate(&self, claims: &[(f64, Signals)]) -> Vec<f64> {
        claims.iter().map(|(claimed, signals)| self.probability(*claimed, signals)).collect()
    }
}

syrch_plugin::export!(Steps: calibrator);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_has_the_probability_of_its_step_less_its_errors() {
        let of = |claimed: f64, syntax_errors: u32| {
            (claimed, Signals { syntax_errors, ..Signals::default() })
        };
        let plugin = Steps::new(Settings::default());
        assert_eq!(
            plugin.calibrate(&[of(0.49, 0), of(0.5, 0), of(1.0, 0), of(0.1, 3)]),
            [0.2, 0.5, 0.8, 0.0]
        );
    }
}
