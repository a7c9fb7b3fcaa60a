//! The SQLite executor over real files: opening, catalog, statements, and the corpora of hostile
//! and real statements, and the bench of the verified optimizer.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test may fail loudly"
)]

mod bench;
mod catalog;
mod common;
mod corpus;
mod golds;
mod opening;
mod plans;
mod statements;
