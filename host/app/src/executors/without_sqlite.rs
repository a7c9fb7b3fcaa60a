//! Stands in for `sqlite` in a build without it.

use std::io;
use std::path::Path;

use syrch_core::Catalog;

use crate::imports::Stored;

/// Leaves statements as they are: only SQLite takes texts in double quotes.
pub(crate) fn with_single_quotes(_: &str, _: &Catalog) -> Option<String> {
    None
}

/// Finds nothing: this build stores no private databases.
///
/// # Errors
/// Never.
pub fn store_size(_: &Path) -> io::Result<Stored> {
    Ok(Stored::default())
}

/// Removes nothing: this build stores no private databases.
///
/// # Errors
/// Never.
pub fn clear(_: &Path) -> io::Result<Stored> {
    Ok(Stored::default())
}
