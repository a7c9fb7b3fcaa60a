//! The rewriter `rewrite-rules`: proposes other forms of a statement by fixed rules, without a
//! model and without a key.
//!
//! A rule changes the syntax tree where its conditions hold. `rewriter/mod.rs` ranks the rules by
//! what the plan shows, and `rewriter/rules` has one file for each family. Each file states why its
//! rule is sound for all data that the catalog allows, or what it assumes. The host compares the
//! rows of every proposal with the original's, so that an unsound one costs an iteration and
//! nothing else.

mod rewriter;
mod settings;
#[cfg(test)]
mod tests;

pub use crate::settings::Settings;

syrch_plugin::plugin! {
    /// Implements the role `rewriter`.
    pub struct RewriteRules(Settings) = "rewrite-rules",
        "proposes faster forms of a statement by rules, without a model";
}

syrch_plugin::export!(RewriteRules: rewriter);
