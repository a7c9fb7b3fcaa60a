//! The settings of the simulated model, with measured values as defaults.

use serde::{Deserialize, Serialize};

/// The settings of the simulated model. The defaults are those of the recorded systems.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SimulatedKnobs {
    /// Added to the log-odds of a right answer: 0 for the recorded systems; 1 multiplies the odds
    /// by 2.7.
    pub skill: f64,
    /// The share, 0 to 1, of otherwise wrong repairs that are right because of the feedback. The
    /// recorded systems had no feedback: 0.
    pub repair_rate: f64,
    /// Added to the log-odds of claimed confidences: above 0 they are too high.
    pub confidence_bias: f64,
    /// The standard deviation of the log-odds of claimed confidences around the true ones.
    pub confidence_spread: f64,
    /// The share of wrong statements, 0 to 1, that the model accepts as a judge.
    pub false_accept: f64,
    /// The share of right statements, 0 to 1, that the model rejects as a judge.
    pub false_reject: f64,
    /// The average number of tokens of a prompt; with 0, none are counted.
    pub input_tokens: f64,
    /// The average number of tokens of a reply; with 0, none are counted.
    pub output_tokens: f64,
    /// The time of replies as a multiple of the measured time; with 0, they take no time.
    pub latency: f64,
    /// The share of tries, 0 to 1, that fail because of a rate limit (HTTP 429) and are to be made
    /// again.
    pub rate_limited: f64,
    /// The negative control: samples are independent of each other, and no two wrong answers are
    /// equal.
    pub naive: bool,
}

impl Default for SimulatedKnobs {
    /// Tokens are those of llama-3.3-70b over Spider's questions, the false accepts the least that
    /// was found of judges over them. False rejects and claims were not measured: they are set so
    /// that a claim is right on average.
    fn default() -> Self {
        Self {
            skill: 0.0,
            repair_rate: 0.0,
            confidence_bias: 0.0,
            confidence_spread: 1.0,
            false_accept: 0.74,
            false_reject: 0.05,
            input_tokens: 1_022.0,
            output_tokens: 38.0,
            latency: 0.0,
            rate_limited: 0.0,
            naive: false,
        }
    }
}

impl SimulatedKnobs {
    /// Log-odds at most: higher ones mean certainty.
    pub const ODDS: f64 = 20.0;
    /// Tokens of one call at most.
    pub const TOKENS: f64 = 1e6;
    /// Multiples of the measured time at most.
    pub const LATENCY: f64 = 1e3;

    /// Checks that all settings are within their bounds. The error names the one that is not.
    ///
    /// # Errors
    /// When a share is not from 0 to 1, or another number is negative, NaN or too large.
    pub fn check(&self) -> Result<(), String> {
        let within =
            |name: &str, value: f64, low: f64, high: f64| match (low..=high).contains(&value) {
                true => Ok(()),
                false => Err(format!("{name} is {value}, which is not from {low} to {high}")),
            };
        within("the skill", self.skill, -Self::ODDS, Self::ODDS)?;
        within("the bias of claims", self.confidence_bias, -Self::ODDS, Self::ODDS)?;
        within("the spread of claims", self.confidence_spread, 0.0, Self::ODDS)?;
        within("the tokens of a prompt", self.input_tokens, 0.0, Self::TOKENS)?;
        within("the tokens of a reply", self.output_tokens, 0.0, Self::TOKENS)?;
        within("the multiple of the measured time", self.latency, 0.0, Self::LATENCY)?;
        for (name, share) in [
            ("the share of repairs that come out right", self.repair_rate),
            ("the share of wrong statements that are accepted", self.false_accept),
            ("the share of right statements that are rejected", self.false_reject),
            ("the share of tries that are turned away", self.rate_limited),
        ] {
            within(name, share, 0.0, 1.0)?;
        }
        Ok(())
    }

    /// The label of a figure with these settings: `simulated, skill 0, seed 7`, and `simulated,
    /// naive` for the negative control.
    #[must_use]
    pub fn label(&self, seed: u64) -> String {
        match self.naive {
            true => "simulated, naive".to_owned(),
            false => format!("simulated, skill {}, seed {seed}", self.skill),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_out_of_bounds_is_named() {
        let of = |change: fn(&mut SimulatedKnobs)| {
            let mut knobs = SimulatedKnobs::default();
            change(&mut knobs);
            knobs.check()
        };
        assert_eq!(of(|_| ()), Ok(()));
        assert_eq!(
            of(|knobs| knobs.skill = f64::NAN).unwrap_err(),
            "the skill is NaN, which is not from -20 to 20"
        );
        let wrong = of(|knobs| knobs.false_accept = 1.5).unwrap_err();
        assert_eq!(
            wrong,
            "the share of wrong statements that are accepted is 1.5, which is not from 0 to 1"
        );
        for change in [
            |knobs: &mut SimulatedKnobs| knobs.repair_rate = -0.1,
            |knobs: &mut SimulatedKnobs| knobs.false_reject = 2.0,
            |knobs: &mut SimulatedKnobs| knobs.rate_limited = 2.0,
            |knobs: &mut SimulatedKnobs| knobs.confidence_bias = f64::INFINITY,
            |knobs: &mut SimulatedKnobs| knobs.confidence_spread = -1.0,
            |knobs: &mut SimulatedKnobs| knobs.input_tokens = -1.0,
            |knobs: &mut SimulatedKnobs| knobs.output_tokens = 1e9,
            |knobs: &mut SimulatedKnobs| knobs.latency = -1.0,
        ] {
            assert!(of(change).is_err());
        }
    }

    #[test]
    fn figures_are_labelled() {
        let knobs = SimulatedKnobs::default();
        assert_eq!(knobs.label(7), "simulated, skill 0, seed 7");
        assert_eq!(
            SimulatedKnobs { skill: -0.5, ..knobs.clone() }.label(1),
            "simulated, skill -0.5, seed 1"
        );
        assert_eq!(SimulatedKnobs { naive: true, ..knobs }.label(7), "simulated, naive");
    }
}
