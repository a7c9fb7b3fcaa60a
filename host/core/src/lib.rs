//! Domain types, ports and roles as plain Rust types and traits.
//!
//! Nothing here does I/O, starts a task or knows a backend. All other crates use these types, and
//! the contract in `wit/` has the same ones under the same file names.

pub mod blocking;
pub mod encode;
mod error;
pub mod imports;
pub mod ledger;
pub mod limits;

pub mod ports;
pub mod result_set;
pub mod roles;
pub mod text;
pub mod types;
pub mod validate;
mod word_list;

pub use error::RoleError;
pub use ledger::Ledger;
pub use limits::Limits;
pub use result_set::ResultSet;
pub use types::*;
pub use word_list::WordList;

/// The contract's version, as plugins name it in `syrch:plugin@…`.
pub const CONTRACT_VERSION: &str = "0.1.0";
