//! The settings of the plugin.

syrch_plugin::settings! {
    /// The number of tables to explore, and the weights of a statement's signals.
    pub struct Settings {
        /// Tables that are explored in any case, concurrently.
        beam_width: u32 = 3, 1 ..= 64;
        /// Tables that are explored at the most, ties aside.
        candidate_budget: u32 = 8, 1 ..= 64;
        /// Exploring continues while the best result is not that far ahead of the next one.
        stop_margin: f64 = 0.15, 0.0 ..= 1.0;
        /// Further tables that are explored, one after the other, when different results are tied
        /// at the end.
        expansion: u32 = 2, 0 ..= 16;
        /// Explores all candidate tables, whatever the results.
        exhaustive: bool = false;
        /// Added to a result's standing when all others agree with it; a part of it when a part of
        /// them does.
        agreement: f64 = 0.5, 0.0 ..= 1.0;
        /// Candidate tables have at least this share of the best one's score.
        keep_share: f64 = 0.1, 0.0 ..= 1.0;
        /// Candidate tables at the most.
        most_tables: u32 = 10, 1 ..= 100;
        /// Derives the number of candidate tables from the retrieval scores instead: 5 if the best
        /// table has 0.7 of the sum of the best ten, 10 if it has 0.35, else 15.
        adaptive: bool = false;
        /// The confidence of a statement for which the model states none.
        unstated: f64 = 0.7, 0.0 ..= 1.0;
        /// The confidence of such a statement when its result has rows.
        unstated_with_rows: f64 = 0.85, 0.0 ..= 1.0;
        ..solver
    }
}
