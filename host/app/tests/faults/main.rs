//! Faults of everything that a search leans on: it ends with the right answer or an error that says what is wrong, and its books equal
//! what the endpoint counted. All chances are drawn from seeds.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking"
)]

mod cache;
mod database;
mod disk;
mod journal;
mod model;
mod together;
mod world;
