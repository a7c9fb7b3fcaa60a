//! The linker `narrow`: selects those tables and columns of a large catalog that a question is
//! likely to need, within a number of bytes.
//!
//! `phrases` takes the question apart, `keywords` asks a model for more, `retrievers` and `cells`
//! search, `fuse` ranks what they found, `joins` adds the tables between, `fit` cuts to the bytes.

mod linker;
mod settings;
#[cfg(test)]
mod tests;

pub use crate::settings::Settings;

syrch_plugin::plugin! {
    /// Implements the role `linker`.
    pub struct Narrow(Settings) = "narrow",
        "keeps the tables and columns of a large catalog that a question needs";
}

syrch_plugin::export!(Narrow: linker);
