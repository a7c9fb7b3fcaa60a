//! The replies of models: the shapes in which a call may expect one, how each is read from text,
//! and how a provider without a model writes one.
//!
//! Every provider reads and writes replies here, so that a strategy sees the same rules whatever
//! answers it.

pub mod shape;
pub mod size;
mod statement;
pub mod written;

pub use statement::{grammar, parser, weight};
