//! Tests of graded runs, and of what they need: the comparison rules, and the models that answer in
//! place of an endpoint.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking, and prints what it measured"
)]

#[cfg(unix)]
mod copied;
mod engines;
mod recorded;
mod rules;
mod simulated;
