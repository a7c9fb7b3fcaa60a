//! Tests of the library as a program that embeds it sees it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod preview;
mod query;
mod recordings;
mod shop;
