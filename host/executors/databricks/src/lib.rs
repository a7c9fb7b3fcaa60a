//! Databricks SQL, over the Statement Execution API: statements are submitted to a warehouse,
//! waited for, and cancelled when nobody waits for them any more; results come as Arrow streams
//! from links, or as JSON in replies.

mod api;
mod auth;
mod config;
mod connect;
mod error;
mod execute;
mod http;
mod introspect;
mod link;
mod plan;
mod role;
mod statement;
mod value;
mod wire;

pub use config::DatabricksConfig;
pub use connect::{DatabricksDatabase, DatabricksEngine, open};
pub use role::{ServerDetails, role_sql, role_sql_of};
