//! Statements whose columns are named by cells, such as DuckDB's `PIVOT t ON column`. The names of
//! columns pass every grant of rows, so such a statement needs all rows.

use syrch_core::ports::{RowsGrant, SqlQuery};
use syrch_core::{SqlError, SqlErrorKind};

/// The words by which engines write them.
const WORDS: [&str; 2] = ["pivot", "pivot_wider"];

/// Checks that a statement, with the tasks that it reads, names no columns by cells that the grant
/// does not allow. Where the word stands does not matter: a text or a name that holds it is refused
/// as well, since quotes differ between engines.
///
/// # Errors
/// [`SqlErrorKind::Denied`] if it may.
pub(crate) fn check_columns(query: &SqlQuery, grant: RowsGrant) -> Result<(), SqlError> {
    if grant == RowsGrant::Full {
        return Ok(());
    }
    let relations = query.relations.iter().map(|relation| relation.sql.as_str());
    for text in relations.chain([query.text.as_str()]) {
        let lower = text.to_lowercase();
        let mut words = lower.split(|c: char| !c.is_alphanumeric() && c != '_');
        if words.any(|word| WORDS.contains(&word)) {
            return Err(SqlError::new(
                SqlErrorKind::Denied,
                format!(
                    "PIVOT makes names of columns out of cells, and all rows are not granted \
                     (--rows {grant}): write `SUM(CASE WHEN … END)` for each column, or grant \
                     `--rows full`"
                ),
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_that_cells_name_need_all_rows() {
        let dynamic = SqlQuery::new("SELECT * FROM (PiVoT s ON secret USING count(*))");
        for grant in [RowsGrant::None, RowsGrant::Aggregates, RowsGrant::Sample(3)] {
            let error = check_columns(&dynamic, grant).unwrap_err();
            assert_eq!(error.kind, SqlErrorKind::Denied, "{grant}");
            assert!(check_columns(&SqlQuery::new("SELECT pivots FROM t"), grant).is_ok());
        }
        assert!(check_columns(&dynamic, RowsGrant::Full).is_ok());
    }
}
