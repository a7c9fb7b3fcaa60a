//! The settings of the plugin.

syrch_plugin::settings! {
    /// The condition on which sampling stops, and the weights of votes.
    pub struct Settings {
        /// Statements that are sampled at the most, repairs included; the user's `max_attempts`
        /// bounds chains of repairs, not samples.
        samples: u32 = 12, 1 ..= 64;
        /// Sampling stops when the first result leads the second by that many votes, counted in the
        /// weight of the weightiest so far.
        lead: f64 = 2.5, 0.1 ..= 64.0;
        /// The share of a vote that is left after each finding against its statement.
        keep: f64 = 0.5, 0.0 ..= 1.0;
        /// Runs small statements of its own to look for values, repeated rows and results of 0;
        /// they count as statements of the search, and leave 32 of them to the candidates.
        probes: bool = true;
        /// Repairs after a failed or doubtful sample, with the statement and its error in the
        /// prompt, instead of drawing a fresh one; a statement and its repairs are at most the
        /// user's `max_attempts`.
        repair: bool = true;
        /// The temperature of fresh samples when there are several; 0 leaves it to the model.
        temperature: f64 = 0.7, 0.0 ..= 2.0;
        /// The log-odds of a result that has no share of the votes.
        confidence_base: f64 = -2.6, -20.0 ..= 20.0;
        /// Added to the log-odds for the whole of the votes, one more vote being counted for a
        /// result that nobody drew.
        confidence_share: f64 = 7.7, 0.0 ..= 40.0;
        ..solver
    }
}
