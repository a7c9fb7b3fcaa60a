//! The calibrator: halves what is claimed after more attempts than usual.

use syrch_plugin::prelude::*;

use crate::{{name_pascal}}Plugin;

impl CalibratorRole for {{name_pascal}}Plugin {
    fn calibrate(&self, claims: &[(f64, Signals)]) -> Vec<f64> {
        claims
            .iter()
            .map(
                |(claimed, signals): &(f64, Signals)| match signals.attempts {
                    attempts if attempts > self.settings.most => claimed / 2.0,
                    _ => *claimed,
                },
            )
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;

    #[test]
    fn many_attempts_halve_a_claim() {
        let claim = |attempts: u32| {
            (
                0.5,
                Signals {
                    attempts,
                    ..Signals::default()
                },
            )
        };
        let plugin = {{name_pascal}}Plugin::new(Settings { most: 2 });
        assert_eq!(plugin.calibrate(&[claim(2), claim(3)]), [0.5, 0.25]);
    }
}
