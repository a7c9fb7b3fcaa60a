//! What tests share: a mock model endpoint, scratch databases, and where the test data lie.
//!
//! Nothing of the house may depend on this but tests. Everything here works from ordinary tests, without a runtime around them, so
//! that a test can start the endpoint, spawn the binary against it and then look at what was sent:
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

mod data;
mod endpoint;
pub mod recorded;
mod reply;
mod script;
pub mod toolchains;
pub mod zoo;

pub use data::{data_root, repository, scale, scratch, sqlite};
pub use endpoint::{HANGS, MockEndpoint};
pub use reply::{Reply, Usage};
pub use script::{Recorded, Script};
