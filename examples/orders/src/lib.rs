//! The database `orders_10dim`: the orders of TPC-H, one row each, with ten dimension tables, at
//! any scale.
//!
//! Rows go from the generator straight into SQLite; only the current row is held in memory,
//! whatever the scale.

mod dimensions;
mod error;
mod facts;
mod file;
mod lines;
mod scale;
mod schema;

use std::path::Path;

use rusqlite::Connection;
use tpchgen::distribution::Distributions;
use tpchgen::text::TextPool;

pub use error::OrdersError;
pub use scale::{Scale, ScaleError};

/// The size in bytes of the pool of text that the generator draws comments from. No comment is
/// written, so a small pool does: the default one has 300 MiB.
const TEXT_BYTES: i32 = 1 << 20;

/// The progress of the generator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// A dimension table is full.
    Dimension {
        /// The name of the table.
        table: &'static str,
        /// The number of its rows.
        rows: u64,
    },
    /// So many orders are written. Reported after every hundredth of them.
    Orders {
        /// The number of orders that are written.
        done: u64,
        /// The number of orders in all.
        total: u64,
    },
    /// An index is about to be built.
    Index {
        /// The name of the indexed table.
        table: &'static str,
        /// The name of the indexed column.
        column: &'static str,
    },
}

/// The size of the database that was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Made {
    /// The number of rows of `orders`.
    pub orders: u64,
    /// Size of the file.
    pub bytes: u64,
}

/// Writes the database to `path`, or leaves what was there as it was. The same scale gives the same
/// rows every time.
///
/// A file that this function made before is replaced; any other only when `force` is set. Until the
/// end everything goes to a hidden file beside `path`, which a later run for the same path takes
/// over.
///
/// # Errors
/// When `path` holds something else, is in use or cannot be written.
pub fn make_orders(
    path: &Path,
    scale: Scale,
    force: bool,
    report: &mut dyn FnMut(Progress),
) -> Result<Made, OrdersError> {
    file::replace(path, force, |connection| fill(connection, scale, report))
}

fn fill(
    connection: &Connection,
    scale: Scale,
    report: &mut dyn FnMut(Progress),
) -> rusqlite::Result<u64> {
    let distributions = Distributions::static_default();
    let pool = TextPool::new(TEXT_BYTES, distributions);
    connection.execute_batch(schema::TABLES)?;
    connection.execute_batch("BEGIN")?;
    dimensions::fill(connection, scale, distributions, &pool, report)?;
    let orders = facts::fill(connection, scale, distributions, &pool, report)?;
    connection.execute_batch("COMMIT")?;
    for (table, column) in schema::INDEXED {
        report(Progress::Index { table, column });
        connection
            .execute_batch(&format!("CREATE INDEX {table}_by_{column} ON {table} ({column})"))?;
    }
    connection.execute_batch(schema::FINISH)?;
    Ok(orders)
}
