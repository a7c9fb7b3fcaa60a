//! The rewriter `rewrite`: asks a model for another form of a statement, once for each iteration.
//!
//! The model sees the statement, its tables with types, keys, indexes and counts, its plan, and what became of the last proposals. It sees no row,
//! no value of a column and no other statistics; `prompts` writes all that is sent, and nothing else is.

mod prompts;
mod rewriter;
mod settings;
#[cfg(test)]
mod tests;

pub use crate::settings::Settings;

syrch_plugin::plugin! {
    /// Implements the role `rewriter`.
    pub struct Rewrite(Settings) = "rewrite",
        "asks a model for a faster form of a statement";
}

syrch_plugin::export!(Rewrite: rewriter);
