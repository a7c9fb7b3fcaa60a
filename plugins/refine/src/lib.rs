//! The solver `refine`: a loop that generates a statement, runs it, has it judged and calibrated,
//! and repairs it until it is trusted or the attempts are used up. The most trusted statement that
//! ran is the answer.
//!
//! Unlike `consistency` it has no vote: the calibrated confidence of a single statement ends the
//! loop, and a statement that runs but is not trusted is repaired too.

mod settings;
mod solver;
#[cfg(test)]
mod tests;

pub use crate::settings::Settings;

syrch_plugin::plugin! {
    /// Implements the role `solver`.
    pub struct Refine(Settings) = "refine",
        "writes a statement, runs it, and repairs it until it is trusted";
}

syrch_plugin::export!(Refine: solver);
