//! The planner `decompose`: divide and conquer. A model splits the question into subtasks, subtasks
//! that are not yet simple are split again, and several loose ends meet in one task that chooses or
//! joins.
//!
//! `prompts` has the prompts, `draft` checks what the model planned, `expand` puts a plan in a
//! subtask's place, `graph` makes the host's graph, and `replan` changes it for a task that found
//! no statement.

mod planner;
mod prompts;
mod settings;
#[cfg(test)]
mod tests;

pub use crate::settings::Settings;

syrch_plugin::plugin! {
    /// Implements the role `planner`.
    pub struct Decompose(Settings) = "decompose",
        "divides a question into a graph of tasks and conquers the parts";
}

syrch_plugin::export!(Decompose: planner);
