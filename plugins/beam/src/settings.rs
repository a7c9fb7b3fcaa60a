//! What the user may set.

syrch_plugin::settings! {
    /// How many tables are explored, and what counts for a statement.
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
        /// Whether all candidate tables are explored, whatever the results.
        exhaustive: bool = false;
        /// What a result gains when all others agree with it; a part of them gives a part of it.
        agreement: f64 = 0.5, 0.0 ..= 1.0;
        /// Candidate tables have at least this share of the best one's score.
        keep_share: f64 = 0.1, 0.0 ..= 1.0;
        /// Candidate tables at the most.
        most_tables: u32 = 10, 1 ..= 100;
        /// Whether retrieval's clearness decides how many candidate tables there are instead: 5
        /// when the best one has 0.7 of what the best ten have together, 10 from 0.35 on, else 15.
        adaptive: bool = false;
        /// The confidence of a statement for which the model states none.
        unstated: f64 = 0.7, 0.0 ..= 1.0;
        /// The same, when its result has rows.
        unstated_with_rows: f64 = 0.85, 0.0 ..= 1.0;
        ..solver
    }
}
