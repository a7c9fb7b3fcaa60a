//! Values of the granted tables: an index to find them by what people call them, samples, and
//! statistics. Everything here reads under the same authorizer, deadline and limits as a guest's
//! statement does.

mod index;
mod samples;
mod shared;
mod stored;

use rusqlite::Statement;
use syrch_core::SqlError;
use syrch_core::ports::SqlQuery;
use syrch_guard::{Bounds, Guard};

use crate::error::Context;
use crate::session::Session;
use crate::watch::Snapshot;

#[cfg(test)]
pub(crate) use index::build;
pub(crate) use samples::{column_stats, samples};
pub(crate) use shared::ValueIndex;
pub use stored::INDEX;

/// Compiles one of our own statements as if it were a guest's.
fn compile<'s>(
    sql: &str,
    session: &'s Session,
    snapshot: &Snapshot,
) -> Result<Statement<'s>, SqlError> {
    let query = SqlQuery::new(sql);
    let guard = Guard::new(snapshot.catalog.dialect.clone(), Bounds::default().bytes);
    let spliced = guard.compose(&query)?;
    let context = Context { query: &query, spliced: &spliced, catalog: &snapshot.catalog };
    session.compile(sql, &snapshot.grant, &context)
}
