//! Tests of the library as a program that embeds it uses it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking, and prints what it counted"
)]

mod faults;
mod library;
mod replay;
mod spans;
