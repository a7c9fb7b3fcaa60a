//! The settings of the plugin.

syrch_plugin::settings! {
    /// The limits of the decomposition of a question.
    pub struct Settings {
        /// The most subtasks of one plan; later ones are cut off.
        subtasks: u32 = 6, 1 ..= 16;
        /// Tasks of the whole graph, the final one included.
        tasks: u32 = 12, 1 ..= 16;
        /// Bytes of a prompt that the catalog may fill.
        catalog_bytes: u32 = 48_000, 500 ..= 200_000;
        /// Tries the whole question as one task when the plan failed.
        fallback: bool = true;
        /// Plans a task that found no statement again, once, over up to three tables that its plan
        /// did not name.
        replan: bool = true;
    }
}
