//! The settings of the plugin.

syrch_plugin::settings! {
    /// The threshold above which the user is asked, and the weights of the score.
    pub struct Settings {
        /// Above this score the user is asked.
        threshold: f64 = 0.35, 0.0 ..= 1.0;
        /// Weight of how far the best confidence is from certainty.
        doubt: f64 = 0.35, 0.0 ..= 1.0;
        /// Weight of the variance of the confidences.
        variance: f64 = 0.15, 0.0 ..= 1.0;
        /// Weight of an error; an error counts half of it.
        error: f64 = 0.30, 0.0 ..= 1.0;
        /// Weight of an empty result; it counts three tenths of it.
        empty: f64 = 0.20, 0.0 ..= 1.0;
        /// Lets a model word the question.
        ask_model: bool = true;
    }
}
