//! What the user may set.

syrch_plugin::settings! {
    /// The model and the bounds of its prompt.
    pub struct Settings {
        /// The name of the model that is asked; none for the default model of the purpose `rewrite`.
        model: String = String::new();
        /// The most tokens of a reply.
        max_tokens: u32 = 4096, 16 ..= 65_536;
        /// The most bytes of a prompt. A longer one is not sent.
        prompt_bytes: u32 = 48_000, 1_000 ..= 200_000;
        /// Earlier proposals that stand in the prompt with what became of them, the latest ones.
        earlier: u32 = 3, 0 ..= 20;
    }
}
