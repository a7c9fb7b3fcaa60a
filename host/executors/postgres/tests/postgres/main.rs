//! The PostgreSQL executor over servers of its own: opening, encryption, catalog, statements,
//! faults, and the corpus of hostile and benign ones.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test may fail loudly"
)]

mod bench;
mod common;
mod corpus;
mod statements;
