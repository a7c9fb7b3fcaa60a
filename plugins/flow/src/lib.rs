//! The solver `flow`: runs the flow of a strategy file, a graph of nodes whose edges follow the
//! word that a node ends with.
//!
//! `settings` reads the flow; what it may say is in the crate `syrch-flows`, which the host checks
//! it with, too. `branch` is the state that travels along the edges, `walk` follows them, `work`
//! does what the nodes say, `join` makes one branch of several, and `outcome` chooses among the
//! results. `later` continues in another task what waits for another plugin. `prompts` and
//! `schema` write the prompts, `judge` reads a judgement.

mod branch;
mod join;
mod judge;
mod later;
mod outcome;
mod prompts;
mod schema;
mod settings;
mod solver;
#[cfg(test)]
mod tests;
mod walk;
mod work;

pub use crate::settings::Settings;

syrch_plugin::plugin! {
    /// Implements the role `solver`.
    pub struct FlowSolver(Settings) = "flow",
        "runs the flow of a strategy file: nodes that draft, run, judge, repair, vote and choose";
}

syrch_plugin::export!(FlowSolver: solver);
