//! The optimizer as a program that embeds the library uses it: over a database whose rows and clock
//! are scripted.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking, and prints what it counted"
)]

mod consent;
mod fake;
mod hostile;
mod journals;
mod mutate;
mod runs;
mod wrong;
