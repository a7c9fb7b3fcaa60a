//! What the user may set.

syrch_plugin::settings! {
    /// What the execution signal loses for what.
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
        /// Whether a result without rows is rejected rather than scored lower.
        reject_empty: bool = false;
        /// Whether a statement is rejected that lacks a metric, an aggregation, a filter or a time
        /// range of its task's plan, rather than scored below one half.
        reject_missing: bool = true;
        /// Lost for each dimension, grain or table of the plan that the statement lacks.
        missing: f64 = 0.10, 0.0 ..= 1.0;
    }
}
