//! The sandbox: loads strategy components, says why one is refused, and calls their roles, each call in a store of its own under every
//! limit. Ports become imports, roles become exports; the rest of the house sees only the traits of `core`.

mod bindings;
mod cache;
mod compile;
mod component;
mod contract;
mod convert;
mod engine;
mod error;
mod flight;
mod limiter;
mod load;
mod meter;
mod plugin;
mod ports;
mod pulse;
mod read;
mod roles;
mod slots;
mod state;
mod toolchain;
mod turns;
mod wasi;

pub use cache::CodeCache;
pub use compile::{CompileFailure, CompileProcess, compile_component};
pub use error::LoadError;
pub use load::{CompileSettings, Origin, Precompiled, Runtime};
pub use plugin::{Configured, Identity, Plugin, Used};
pub use read::{digest, read_component};
pub use toolchain::Toolchain;
