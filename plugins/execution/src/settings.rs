//! The settings of the plugin.

syrch_plugin::settings! {
    /// The deductions from the execution signal.
    pub struct Settings {
        /// Lost for each attempt that did not parse.
        syntax: f64 = 0.10, 0.0 ..= 1.0;
        /// Lost for each attempt that named what the catalog lacks.
        schema: f64 = 0.05, 0.0 ..= 1.0;
        /// Lost for each attempt that failed while running.
        execution: f64 = 0.10, 0.0 ..= 1.0;
        /// Lost when the result has no rows.
        empty: f64 = 0.15, 0.0 ..= 1.0;
        /// Lost when a column of the result is NULL throughout.
        null_column: f64 = 0.05, 0.0 ..= 1.0;
        /// Lost when the result is larger than expected.
        overflow: f64 = 0.05, 0.0 ..= 1.0;
        /// Errors of one kind that count at most.
        most_errors: u32 = 3, 0 ..= 1000;
        /// Rows above this number count as larger than expected.
        overflow_rows: u64 = 1000, 1 ..= 1_000_000_000;
        /// Rejects a result without rows, rather than giving it a lower score.
        reject_empty: bool = false;
        /// Rejects a statement that lacks a metric, an aggregation, a filter or a time range of its
        /// task's plan, rather than giving it a score below one half.
        reject_missing: bool = true;
        /// Lost for each dimension, grain or table of the plan that the statement lacks.
        missing: f64 = 0.10, 0.0 ..= 1.0;
    }
}
