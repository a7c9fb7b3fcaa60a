//! The common parts of engines whose results are Arrow record batches: the guard before a
//! statement, the caps of its result, the index of values, samples and statistics. An engine
//! implements [`ArrowEngine`]; [`ArrowDatabase`] makes a database of it.

mod address;
mod cells;
mod column;
mod database;
mod decimal;
mod engine;
mod sink;
mod spelling;

pub use address::{ServerAddress, decode_percent, is_local_host, split_port};
pub use cells::{Reader, ValueIndex, port_error, resolve, samples};
pub use database::{ArrowDatabase, globs};
pub use decimal::decimals;
pub use engine::{ArrowEngine, LeftOut, Schema, deadline_error, overrun_error};
pub use sink::BatchSink;
pub use spelling::{date, timestamp};
