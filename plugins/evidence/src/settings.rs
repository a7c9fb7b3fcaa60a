//! The settings of the plugin.

syrch_plugin::settings! {
    /// The weights of the evidence.
    pub struct Settings {
        /// Taken off for each task without rows.
        empty: f64 = 0.15, 0.0 ..= 1.0;
        /// Taken off for each task that failed or was skipped.
        error: f64 = 0.15, 0.0 ..= 1.0;
        /// Taken off for each task whose rows are not as many as its `top N` asks for.
        top_n: f64 = 0.05, 0.0 ..= 1.0;
        /// Taken off when the question says `by year` and the answer has no such column.
        by_year: f64 = 0.10, 0.0 ..= 1.0;
        /// Taken off at most.
        cap: f64 = 0.40, 0.0 ..= 1.0;
        /// Share of the ambiguity that is taken off.
        ambiguity: f64 = 0.5, 0.0 ..= 1.0;
        /// The most rows that the answer's text states.
        told_rows: u32 = 3, 1 ..= 50;
        /// Lets a model write the answer's text.
        summarise: bool = false;
    }
}
