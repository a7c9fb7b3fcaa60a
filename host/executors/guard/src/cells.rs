//! The parts of the ports for cells and statistics that engines share: which columns are meant, and
//! the reasons why they cannot be read.

use syrch_core::ports::{OVERRUN, PortError};
use syrch_core::{Catalog, SqlError, SqlErrorKind, Table};

/// The table that a name means, and its columns by their names, each once.
///
/// # Errors
/// [`PortError::UnknownName`] for a table or column that the catalog lacks.
pub fn resolve<'c>(
    catalog: &'c Catalog,
    table: &str,
    columns: &[String],
) -> Result<(&'c Table, Vec<String>), PortError> {
    let found = catalog.table(table).ok_or_else(|| PortError::UnknownName(table.to_owned()))?;
    let mut names: Vec<String> = Vec::new();
    for name in columns {
        let column =
            found.column(name).ok_or_else(|| PortError::UnknownName(format!("{table}.{name}")))?;
        if !names.contains(&column.name) {
            names.push(column.name.clone());
        }
    }
    Ok((found, names))
}

/// Converts the error of a statement of the host's own into one of the port.
#[must_use]
pub fn port_error(error: SqlError) -> PortError {
    match error.kind {
        _ if error.rule.as_deref() == Some(OVERRUN) => PortError::Budget,
        SqlErrorKind::Denied | SqlErrorKind::FunctionRefused => PortError::Denied(error.message),
        SqlErrorKind::Unavailable | SqlErrorKind::Timeout | SqlErrorKind::Cancelled => {
            PortError::Unavailable(error.message)
        }
        _ => PortError::Other(error.message),
    }
}

#[cfg(test)]
mod tests {
    use syrch_core::{Column, Dialect};

    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn columns_are_found_once_and_by_their_own_spelling() {
        let columns = names(&["Id", "b"]).into_iter();
        let columns = columns.map(|name| Column { name, ..Column::default() }).collect();
        let tables = vec![Table { name: "t".into(), columns, ..Table::default() }];
        let catalog = Catalog { database: "x".into(), dialect: Dialect::Sqlite, tables };
        let found = resolve(&catalog, "t", &names(&["b", "id", "B", "Id"])).unwrap();
        assert_eq!((found.0.name.as_str(), found.1), ("t", names(&["b", "Id"])));
        for (table, column, missing) in [("u", "b", "u"), ("t", "c", "t.c")] {
            let error = resolve(&catalog, table, &names(&[column])).unwrap_err();
            assert_eq!(error, PortError::UnknownName(missing.into()));
        }
    }
}
