//! The clarifier `ambiguity`: scores how unclear each task stayed, and asks about the worst one
//! when it stayed too unclear.
//!
//! `words` makes the question: a model's when there is one, else one by rule from what went wrong.

mod clarifier;
mod settings;
#[cfg(test)]
mod tests;

pub use crate::settings::Settings;

syrch_plugin::plugin! {
    /// Implements the role `clarifier`.
    pub struct AmbiguityClarifier(Settings) = "ambiguity",
        "asks the user about the task that stayed most unclear";
}

syrch_plugin::export!(AmbiguityClarifier: clarifier);
