//! SHIM
use syrch_core::{Catalog, Dialect, SqlError};
/// SHIM
pub struct Checked { /// x
 pub sql: String, /// x
 pub tables: Vec<String>, /// x
 pub is_ordered: bool }
/// SHIM
/// # Errors
/// x
pub fn admit(text: &str, catalog: &Catalog, _dialect: &Dialect) -> Result<Checked, SqlError> {
    let _ = catalog;
    let is_ordered = text.to_ascii_lowercase().contains("order by");
    Ok(Checked { sql: text.to_owned(), tables: vec![], is_ordered })
}
