//! The sandbox: loads plugins, checks them against the contract, and calls their roles, each call
//! in a store of its own under every limit. Ports become imports and roles become exports; other
//! crates see only the traits of `core`.

mod bindings;
mod cache;
mod capacity;
mod compile;
mod component;
mod contract;
mod convert;
mod engine;
mod error;
mod flight;
mod forward;
#[cfg(target_os = "linux")]
mod isolate;
#[cfg(not(target_os = "linux"))]
#[path = "isolate/elsewhere.rs"]
mod isolate;
mod job;
mod limiter;
mod liveness;
mod load;
mod meter;
mod plugin;
mod ports;
mod process;
mod read;
mod release;
mod remote;
mod roles;
mod session;
mod signature;
mod slices;
mod state;
mod toolchain;
mod wasi;
mod wire;

pub use cache::{CodeCache, WriteCode};
pub use compile::{CompileFailure, CompileProcess, compile_component};
pub use error::LoadError;
pub use isolate::run_worker;
pub use job::Used;
pub use load::{
    Code, CompileSettings, NameCheck, Origin, Precompiled, Runtime, check_names, port_names,
};
pub use plugin::{Configured, Identity, Plugin};
pub use process::{Probed, WorkerProcess};
pub use read::{digest, read_component};
pub use toolchain::{Toolchain, producers};
