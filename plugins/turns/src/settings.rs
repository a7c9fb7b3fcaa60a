//! The settings of the plugin.

syrch_plugin::settings! {
    /// The limits of a search in turns.
    pub struct Settings {
        /// Turns that may add tasks, the first one included; the user's rounds bound them too.
        steps: u32 = 6, 1 ..= 12;
        /// Branches at once; merged and pruned ones do not count.
        branches: u32 = 3, 1 ..= 6;
        /// Hits that a branch retains as evidence.
        retained: u32 = 5, 1 ..= 20;
        /// Decisions of one turn.
        actions_per_turn: u32 = 3, 1 ..= 6;
        /// Hits that one search asks for.
        hits: u32 = 10, 1 ..= 50;
        /// Bytes of a prompt that the catalog may fill.
        catalog_bytes: u32 = 48_000, 500 ..= 200_000;
        /// Decides only when all tasks of a turn have ended; otherwise after each of them, so that
        /// the others can be called off.
        together: bool = true;
        /// Lets a model decide; otherwise all goes by rule.
        model: bool = true;
    }
}
