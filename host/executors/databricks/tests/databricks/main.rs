//! A warehouse over the mock of its protocol, and what Databricks' own SDK says of that mock.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod common;
mod opening;
mod results;
mod sdk;
mod statements;
