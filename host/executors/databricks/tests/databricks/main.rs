//! A warehouse over the mock of its protocol, and what Databricks' own SDK says of that mock.

mod common;
mod opening;
mod results;
mod sdk;
mod statements;
