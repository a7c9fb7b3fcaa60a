//! The settings of the plugin.

syrch_plugin::settings! {
    /// The model, and the limits of its prompts and replies.
    pub struct Settings {
        /// The configured model that is asked; empty: the default one.
        model: String = String::new();
        /// The sampling temperature of each call, 0 to 2.
        temperature: f64 = 0.0, 0.0 ..= 2.0;
        /// The most tokens of a reply.
        max_tokens: u32 = 4_096, 64 ..= 65_536;
        /// The most bytes of a prompt; a statement whose prompt is longer is not optimized.
        prompt_bytes: u64 = 200_000, 4_096 ..= 262_144;
        /// The number of the last refusals that the prompt quotes.
        refusals: u32 = 3, 0 ..= 20;
    }
}
