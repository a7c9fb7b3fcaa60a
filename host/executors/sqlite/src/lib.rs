//! The SQLite executor: a file that is only ever read, by statements that an allow-list authorizer let through, within a deadline and
//! caps, and its catalog, plans, statistics and values.

mod alarm;
mod authorizer;
mod cells;
mod config;
mod connect;
mod database;
mod declaration;
mod error;
mod execute;
mod full_text;
mod functions;
mod guard;
mod introspect;
mod memory;
mod queue;
mod seats;
mod session;
mod state;
mod threads;
mod value;
pub mod variant;
mod watch;

pub use config::SqliteConfig;
pub use database::SqliteDatabase;
pub use memory::count_memory;
