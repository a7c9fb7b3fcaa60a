//! Databases of any engine that has an ADBC driver: a native library that answers in Arrow record
//! batches. DuckDB's own library is one.
//!
//! A driver runs inside this process and may do whatever this process may do. It is loaded from the
//! absolute path that the user's own configuration names, and only if its content has the SHA-256
//! that stands there.

mod config;
mod connect;
mod database;
mod error;
mod execute;
mod file;
mod introspect;
mod library;
mod objects;
mod places;
mod session;
mod spelled;
mod value;
mod views;

pub use config::AdbcConfig;
pub use database::{AdbcDatabase, AdbcEngine};
pub use library::digest;
pub use places::{DUCKDB_ENTRY, duckdb_places, find_duckdb};
