//! The statistics against other libraries and against simulated worlds.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails by panicking, and prints what it measured"
)]

mod simulations;
mod vectors;
