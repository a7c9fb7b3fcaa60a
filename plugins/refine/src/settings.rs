//! What the user may set.

syrch_plugin::settings! {
    /// How the loop weighs what it sees.
    pub struct Settings {
        /// The confidence of a statement for which the model states none.
        unstated: f64 = 0.7, 0.0 ..= 1.0;
        /// The same, when its result has rows.
        unstated_with_rows: f64 = 0.85, 0.0 ..= 1.0;
        ..solver
    }
}
