//! The settings of the plugin.

syrch_plugin::settings! {
    /// The size of the tree, and the parameters of its search.
    pub struct Settings {
        /// Statements that are asked for at the most, one in each rollout.
        rollouts: u32 = 8, 1 ..= 64;
        /// Children of a node at the most; the root's are fresh draws.
        width: u32 = 3, 1 ..= 64;
        /// Levels of statements below the root, at most the user's `max_attempts`: a level is one
        /// more attempt at a statement.
        depth: u32 = 3, 1 ..= 16;
        /// The constant of UCT: the higher, the more seldom visited nodes are preferred.
        exploration: f64 = 1.4, 0.0 ..= 100.0;
        /// The search stops when that many results are equal, or when no other result can come up
        /// with the leading one any more; 0: never early.
        agree: u32 = 3, 0 ..= 64;
        /// The value of a result without rows, where one with rows has 1.
        empty: f64 = 0.5, 0.0 ..= 1.0;
        /// The temperature of all statements; 0 leaves it to the model.
        temperature: f64 = 0.7, 0.0 ..= 2.0;
        /// The weight of the model's stated confidence against the agreement, as a number of
        /// further results.
        claim_weight: f64 = 2.0, 0.01 ..= 100.0;
        /// The confidence of a statement for which the model states none.
        unstated: f64 = 0.7, 0.0 ..= 1.0;
        /// Rows above this number count as more than a good answer has.
        overflow_rows: u64 = 1000, 1 ..= 1_000_000_000;
        /// Other results that a revision is shown.
        others: u32 = 3, 0 ..= 16;
        /// Rows of each result and of each finished dependency that stand in a prompt, as far as
        /// they are granted.
        shown_rows: u32 = 3, 0 ..= 50;
        /// Bytes of a prompt that the catalog may fill.
        catalog_bytes: u32 = 48_000, 500 ..= 200_000;
    }
}
