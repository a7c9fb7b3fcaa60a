//! The common parts of engines whose results are Arrow record batches: the guard before a
//! statement, the caps of its result, the index of values, samples and statistics. An engine
//! implements [`ArrowEngine`]; [`ArrowDatabase`] makes a database of it.

mod address;
mod cells;
mod column;
mod database;
mod decimal;
mod engine;
mod recent;
mod sink;
mod spelling;
mod statement;

pub use address::{ServerAddress, decode_percent, is_local_host, split_port};
pub use database::{ArrowDatabase, Snapshot, globs};
pub use decimal::decimals;
pub use engine::{ArrowEngine, LeftOut, Schema, deadline_error, overrun_error, unavailable};
pub use sink::{BatchSink, check_names};
pub use spelling::{date, timestamp};
pub use statement::{cast_to_text, read_estimates};
