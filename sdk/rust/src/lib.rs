//! The SDK for authors of plugins.
//!
//! A plugin is a Rust type that implements [`Plugin`](roles::Plugin) and at least one role, and one
//! line that exports it:
//!
//! ```
//! use syrch_plugin::prelude::*;
//!
//! /// Accepts whatever has rows.
//! struct HasRows;
//!
//! impl Plugin for HasRows {
//!     const NAME: &'static str = "has-rows";
//!     const SUMMARY: &'static str = "accepts a result that has rows";
//!     type Settings = NoSettings;
//!     fn new(_: NoSettings) -> Self {
//!         Self
//!     }
//! }
//!
//! impl RewardRole for HasRows {
//!     fn judge(
//!         &self,
//!         _host: &impl RewardHost,
//!         _problem: &Problem,
//!         _catalog: &Catalog,
//!         _task: &Task,
//!         rivals: &[Rival],
//!     ) -> Result<Vec<Verdict>, Failure> {
//!         Ok(rivals
//!             .iter()
//!             .map(|rival| match rival.results.profile().rows {
//!                 0 => rejected(0.0, "the result is empty"),
//!                 rows => accepted(1.0, format!("the result has {rows} rows")),
//!             })
//!             .collect())
//!     }
//! }
//!
//! syrch_plugin::export!(HasRows: reward);
//! ```
//!
//! Built for `wasm32-wasip2` as a `cdylib` it is a component that the host loads. Built natively,
//! it is a library whose role can be called with a [`fakes::FakeHost`] in plain unit tests.
//!
//! A panic ends the role call with an error that has its place and its message; see [`export!`]. A
//! role returns a [`Failure`](prelude::Failure) where it can.
//!
//! A role reaches the host through the traits in [`ports`] only, and each role's `Host` trait has
//! exactly the ports of that role's world.

pub mod ask;
pub mod attempt;
#[doc(hidden)]
pub mod bindings;
pub mod brief;
mod catalog;
pub mod dice;
pub mod discount;
pub mod draws;
mod export;
pub mod failure;
#[cfg(not(target_arch = "wasm32"))]
pub mod fakes;
pub mod handles;
mod host;
pub mod names;
#[doc(hidden)]
pub mod panics;
pub mod ports;
pub mod prompt;
pub mod replies;
pub mod requirements;
pub mod roles;
pub mod score;
pub mod settings;
pub mod text;
mod values;
pub mod words;

#[doc(hidden)]
pub use export::{describe, fresh};
pub use host::Host;
pub use serde_json;

/// The types, traits and functions that most plugins use.
pub mod prelude {
    pub use crate::ask::Ask;
    pub use crate::bindings::llm::{
        LlmError, Message, Purpose, Reply, Request, Shape, Speaker, Usage,
    };
    pub use crate::bindings::trace::Level;
    pub use crate::bindings::types::*;
    pub use crate::failure::{failure, internal, llm_failure, port_failure, sql_failure};
    pub use crate::handles::{Judging, PendingReply, ResultSet, RunningStatement};
    pub use crate::ports::*;
    pub use crate::roles::*;
    pub use crate::settings::Settings as _;
    pub use crate::settings::{NoSettings, Settings};
    pub use crate::values::{accepted, rejected};
}

/// The examples of the guide run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Guide;
