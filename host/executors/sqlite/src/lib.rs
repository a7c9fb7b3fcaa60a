//! The SQLite executor: a file that is only ever read, by statements that an allow-list authorizer
//! let through, within a deadline and caps, and its catalog, plans, statistics and values.

mod authorizer;
mod bench;
pub mod bounded;
mod cached_samples;
mod cells;
mod config;
mod connect;
mod database;
mod deadline;
mod declaration;
mod error;
mod execute;
mod full_text;
mod functions;
mod guard;
mod introspect;
mod journal;
mod memory;
mod queue;
mod session;
mod slots;
mod state;
pub mod store;
mod threads;
mod value;
mod value_store;
mod watch;

pub use cells::INDEX;
pub use config::{Comment, SqliteConfig};
pub use database::SqliteDatabase;
pub use journal::Journal;
pub use memory::count_memory;
pub use syrch_guard::with_single_quotes;
pub use value_store::ValueStore;
