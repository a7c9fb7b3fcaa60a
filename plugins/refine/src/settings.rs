//! The settings of the plugin.

syrch_plugin::settings! {
    /// The confidences of the loop.
    pub struct Settings {
        /// The confidence of a statement for which the model states none.
        unstated: f64 = 0.7, 0.0 ..= 1.0;
        /// The confidence of such a statement when its result has rows.
        unstated_with_rows: f64 = 0.85, 0.0 ..= 1.0;
        ..solver
    }
}
