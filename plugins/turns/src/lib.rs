//! The planner `turns`: an agent that searches the catalog, tries statements, forks, merges and
//! prunes lines of work, and sees each result before it decides the next step.
//!
//! A turn is a stream of decisions (`decision`) by a model (`prompts`, which shows it the `report`)
//! or by rule (`heuristic`). It is replayed on a copy of the `state` (`replay`, `actions`,
//! `references`) and refused as a whole when it does not fit (`refusal`); a sound one becomes edits
//! of the host's graph (`edits`). What the host saw is taken over by `observe`, which retains the
//! `evidence`. The state travels in the graph's memo.
//!
//! The actions are sift's (search, fork, select, merge, prune, continue, terminate); its planner
//! decided them before the first result.

mod planner;
mod prompts;
mod settings;
#[cfg(test)]
mod tests;

pub use crate::settings::Settings;

syrch_plugin::plugin! {
    /// Implements the role `planner`.
    pub struct Turns(Settings) = "turns",
        "searches, tries, forks, merges and prunes in turns, and sees each result before \
         the next step";
}

syrch_plugin::export!(Turns: planner);
