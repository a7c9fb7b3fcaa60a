//! The rewriter `rewrite`: asks a model for a faster statement with the same result, once for each
//! iteration.
//!
//! The model sees the statement, its plan, the tables with their keys, indexes and statistics, and
//! why its last proposals were refused. It sees no row and no value.

mod prompts;
mod rewriter;
mod settings;
#[cfg(test)]
mod tests;

pub use crate::settings::Settings;

syrch_plugin::plugin! {
    /// Implements the role `rewriter`.
    pub struct ModelRewriter(Settings) = "rewrite",
        "asks a model for a faster statement with the same result";
}

syrch_plugin::export!(ModelRewriter: rewriter);
