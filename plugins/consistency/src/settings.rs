//! The settings of the plugin.

syrch_plugin::settings! {
    /// The number of statements to sample, and the condition on which they suffice.
    pub struct Settings {
        /// Statements that are sampled at the most; where `repair` and `agree` 1 make one chain of
        /// them, the user's `max_attempts` bounds them too.
        samples: u32 = 5, 1 ..= 64;
        /// Sampling stops as soon as that many results with rows are equal; 0: never early.
        agree: u32 = 0, 0 ..= 64;
        /// Repairs after a failed sample, with the statement and its error in the prompt, instead
        /// of drawing a fresh one; a statement and its repairs are at most the user's
        /// `max_attempts`.
        repair: bool = false;
        /// Lets a result without rows vote.
        empty_counts: bool = false;
        /// The temperature of fresh samples. Where there are several, 0 leaves it to the model,
        /// since equal samples cannot vote.
        temperature: f64 = 0.7, 0.0 ..= 2.0;
        /// The confidence of a statement for which the model states none.
        unstated: f64 = 0.7, 0.0 ..= 1.0;
        /// The weight of the model's stated confidence against the agreement, as a number of
        /// further results.
        claim_weight: f64 = 2.0, 0.01 ..= 100.0;
        ..solver
    }
}
