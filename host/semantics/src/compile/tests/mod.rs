//! Compiled requests against statements that are written by hand, on SQLite.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail loudly")]

mod errors;
mod hostile;
pub(crate) mod kit;
mod properties;
mod rows;
mod text;
mod tpch;
