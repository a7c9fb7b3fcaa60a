//! The PostgreSQL executor, for servers from version 13 on. Statements are rewritten by the guard
//! and run read-only, in sessions with fixed settings, within a deadline and caps.

mod bench;
mod config;
mod connect;
mod engine;
mod error;
mod execute;
mod guard;
mod introspect;
mod notices;
mod role;
mod session;
mod tls;
mod value;
mod wire;

pub use config::PostgresConfig;
pub use engine::{PostgresDatabase, PostgresEngine, open};
pub use role::{role_sql, role_sql_of};
