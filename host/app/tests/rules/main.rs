//! The comparison rules and the fuzzed suite over what 16 real systems answered to 522 questions.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking, and says what it measured"
)]

mod fuzzed;
mod recorded;
mod verdicts;
