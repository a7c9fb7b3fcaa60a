//! The scheduler: checks a strategy's search graph, drops what the answer does not need, and runs
//! each task as soon as its own dependencies end.
//!
//! It knows tasks and observations only. What running a task means is the caller's [`TaskRunner`],
//! and what changes the graph while it runs is the caller's [`Replanner`]. Nothing here opens a
//! database, calls a model or prints.

mod api;
mod check;
mod choose;
mod edit;
mod expand;
mod frontier;
mod join;
mod optimise;
mod planning;
mod pool;
mod run;
mod shape;
mod stop;

#[cfg(test)]
mod tests;

pub use api::{AsItComes, End, Ended, Options, Order, Replanner, Run, TaskRunner, Watch};
pub use check::{GraphError, check};
pub use optimise::{Optimised, optimise};
pub use run::execute;
pub use stop::Stop;
