//! The settings of the plugin.

syrch_plugin::settings! {
    /// Bounds of the rules.
    pub struct Settings {
        /// A longer statement, in bytes, is left as it is.
        statement_bytes: u32 = 16_384, 64 ..= 65_536;
        /// A rule that fits several places is applied to all of them, and then to each of so many
        /// alone.
        places: u32 = 4, 0 ..= 16;
    }
}
