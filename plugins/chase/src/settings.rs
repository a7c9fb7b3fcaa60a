//! The settings of the plugin.

syrch_plugin::settings! {
    /// The settings of the draws, the repairs and the comparisons.
    pub struct Settings {
        /// Candidates that follow the three steps of a query plan; 0 turns the generator off.
        query_plan: u32 = 2, 0 ..= 16;
        /// Candidates by sub-questions that are solved and put together; 0 turns the generator off.
        divide_and_conquer: u32 = 2, 0 ..= 16;
        /// Candidates written at once, after examples; 0 turns the generator off.
        direct: u32 = 1, 0 ..= 16;
        /// The temperature of a draw; repairs and judgements have the model's own.
        temperature: f64 = 1.0, 0.0 ..= 2.0;
        /// Solved examples before a direct candidate: stored ones, else ones that the model makes
        /// up on these tables. 0: none.
        examples: u32 = 3, 0 ..= 10;
        /// Repairs of one candidate, as far as the policy's attempts allow.
        repairs: u32 = 1, 0 ..= 5;
        /// Repairs a statement without rows, too.
        repair_empty: bool = false;
        /// Pairs of results that the model compares at most; 0: agreement alone decides.
        comparisons: u32 = 3, 0 ..= 50;
        /// The share of agreeing candidates from which on nothing is compared.
        clear_lead: f64 = 0.75, 0.0 ..= 1.0;
        /// The confidence of a candidate without rivals, when the model states none.
        unstated: f64 = 0.7, 0.0 ..= 1.0;
        /// Rows by which two results differ that a comparison shows of each, as far as they are
        /// granted.
        compared_rows: u32 = 5, 0 ..= 50;
        ..solver
    }
}
