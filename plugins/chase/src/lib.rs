//! CHASE-SQL (Pourreza et al. 2024) as a plugin of three roles, which work together or apart: a
//! planner that writes the plan of one statement in three steps, a solver that draws candidates
//! from several generators, repairs them and lets them compete, and a reward that lets the
//! candidates of another solver compete.
//!
//! `prompts` has the generators, `compare` asks which of two results is right, and `tournament`
//! counts points.

mod compare;
mod planner;
mod prompts;
mod reward;
mod settings;
mod solver;
#[cfg(test)]
mod tests;
mod tournament;

pub use crate::settings::Settings;

syrch_plugin::plugin! {
    /// The plugin of the three roles.
    pub struct Chase(Settings) = "chase",
        "plans a statement in three steps, draws it in several ways, and lets the results compete";
}

syrch_plugin::export!(Chase: planner, solver, reward);
