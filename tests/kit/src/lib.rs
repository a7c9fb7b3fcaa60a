//! Utilities that tests share: a mock model endpoint, databases made from scripts, and the test
//! data.
//!
//! Only tests may depend on this crate. Everything here works in ordinary tests without an async
//! runtime, so that a test can start the endpoint, run the binary against it and then check what
//! was sent:
//!
//! ```
//! use syrch_kit::{MockEndpoint, Reply, Script};
//!
//! let endpoint = MockEndpoint::start(
//!     Script::new()
//!         .on(["decompose"], Reply::text(r#"{"subtasks": []}"#))
//!         .once(["orders"], Reply::status(500, "out of memory"))
//!         .on(["orders"], Reply::sql("SELECT count(*) FROM orders", 0.9)),
//! );
//! // … run the binary with `--base-url` and endpoint.url() …
//! assert_eq!(endpoint.count(), 0);
//! ```
#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a library for tests: what cannot be set up fails the test that asked for it"
)]

pub mod acceptance;
#[cfg(unix)]
pub mod cluster;
pub mod corpus;
mod data;
pub mod databricks;
pub mod duckdb;
mod endpoint;
pub mod languages;
pub mod markup;
#[cfg(unix)]
pub mod postgres;
pub mod recorded;
pub mod registry;
mod reply;
mod script;
#[cfg(unix)]
pub mod spark;
pub mod zoo;

pub use data::{
    data_root, find_installed, find_mcp_clients, has_program, repository, scale, scratch, sha256,
    shop, skip, sqlite,
};
pub use endpoint::{HANGS, MockEndpoint};
pub use reply::{Reply, Usage};
pub use script::{Recorded, Script};
