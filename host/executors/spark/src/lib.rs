//! The Spark executor, over Spark Connect (gRPC). Statements are rewritten by the guard and sent as
//! queries, never as commands; they run in a session with fixed settings, within a deadline and
//! caps, and are interrupted when nobody waits for them any more.

mod config;
mod connect;
mod engine;
mod error;
mod execute;
mod introspect;
mod proto;
mod value;

pub use config::SparkConfig;
pub use engine::{SparkDatabase, SparkEngine, open};
