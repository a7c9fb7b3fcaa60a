//! The scheduler: takes a strategy's search graph, refuses what is no sound graph, leaves out what the answer does not need, and
//! runs each task as soon as its own dependencies end.
//!
//! It knows tasks and observations only: what running a task means is the caller's [`TaskRunner`], and who may change the graph
//! on the way is the caller's [`Replanner`]. Nothing here opens a database, calls a model or prints.

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
