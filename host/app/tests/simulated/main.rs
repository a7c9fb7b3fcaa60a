//! The simulated model: whether its figures are those of recorded systems, and what its knobs do.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking, and says what it measured"
)]

mod drawn;
mod figures;
mod knobs;
mod robust;
mod strategies;
mod world;
