//! Recorded answers in a model's place: what real systems answered to the questions of a suite.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking, and says what it measured"
)]

mod figures;
mod replies;
mod world;
