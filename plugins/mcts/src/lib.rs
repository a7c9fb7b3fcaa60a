//! The solver `mcts`: searches a tree of statements, guided by how far their results agree.
//!
//! The root is the task, every other node a statement. A rollout goes down from the root by UCT
//! (Kocsis and Szepesvári 2006), expands the node that it reaches, takes the new statement through
//! the database, and backs its value up. The root is expanded by a fresh draw, a statement that
//! failed by a repair, one that ran by a revision that sees what the others found.
//!
//! A statement's value is its execution agreement: the share of all statements that ran so far
//! whose result equals its own; nothing when it failed, and less when the result has no rows.
//! Values are not fixed when they are backed up. Each new statement changes them all, so a node's
//! mean is always that of the present values in its subtree, and its visits are the statements
//! there.
//!
//! The answer is the result that most statements gave; among equals the higher mean, then more
//! visits, then the earlier one. Ties in the selection are broken by SplitMix64 from the run's
//! seed, so that a run can be repeated.
//!
//! `tree` holds nodes and values, `select` goes down it, `prompts` writes what is asked, `search`
//! is the loop, `grow` takes statements into the tree, and `outcome` makes the outcome.

mod prompts;
mod settings;
mod solver;
#[cfg(test)]
mod tests;

pub use crate::settings::Settings;

syrch_plugin::plugin! {
    /// Implements the role `solver`.
    pub struct Mcts(Settings) = "mcts",
        "searches a tree of statements, guided by how far their results agree";
}

syrch_plugin::export!(Mcts: solver);
