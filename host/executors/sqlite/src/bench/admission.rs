//! The second check: what the engine made of a statement, as its authorizer was asked, without running it.

use syrch_core::ports::{Admitted, SqlQuery};
use syrch_core::text::clip;
use syrch_core::{Dialect, SqlError, SqlErrorKind};
use syrch_guard::{Bounds, deterministic, splice};

use crate::execute::Composed;
use crate::session::Session;
use crate::watch::Snapshot;

fn refusal(rule: &str, token: &str, why: &str) -> SqlError {
    SqlError::new(SqlErrorKind::Denied, format!("`{}` {why}", clip(token, 64))).rule(rule)
}

/// Checks a statement by its text, then by what the engine would do.
pub(super) fn admit(
    text: &str,
    within: Option<&[String]>,
    session: &Session,
    snapshot: &Snapshot,
) -> Result<Admitted, SqlError> {
    let checked = deterministic::admit(text, &snapshot.catalog, &Dialect::Sqlite)?;
    let query = SqlQuery::new(checked.sql.as_str());
    let spliced = splice(&checked.sql, &[], &Dialect::Sqlite, &Bounds::default())?;
    // Positions in the statement that was written again mean nothing in the given one.
    let unplaced = |error: SqlError| SqlError { position: None, ..error };
    drop(Composed { query: &query, spliced: &spliced }.compile(session, snapshot).map_err(unplaced)?);
    session.authorizer.own();
    let seen = session.authorizer.seen();
    if let Some(function) = seen.functions().find(|function| !deterministic::is_listed(function)) {
        return Err(refusal("function", function, "is refused: its result may depend on more than its arguments"));
    }
    let mut tables: Vec<String> = Vec::new();
    for name in seen.tables() {
        let found = snapshot.catalog.table(name);
        let Some(table) = found.filter(|table| !table.extra.iter().any(|(key, _)| key == "kind")) else {
            return Err(refusal("ordinary-table", name, "is no ordinary table"));
        };
        // The text names every table that the engine reads: views are refused.
        if !checked.tables.contains(&table.name) {
            return Err(refusal("ordinary-table", name, "is read though the statement does not name it"));
        }
        if !tables.contains(&table.name) {
            tables.push(table.name.clone());
        }
    }
    if tables.is_empty() {
        return Err(refusal("base-table", "FROM", "reads no table"));
    }
    tables.sort();
    if let Some(other) = within.and_then(|within| tables.iter().find(|table| !within.contains(*table))) {
        return Err(refusal("other-table", other, "is refused: the original statement does not read it"));
    }
    for (table, column) in seen.columns() {
        check_collation(table, column, session)?;
    }
    Ok(Admitted { sql: checked.sql, tables, is_ordered: checked.is_ordered })
}

/// Refuses a column to whose collation texts that differ are equal: which of them a group shows depends on the plan.
fn check_collation(table: &str, column: &str, session: &Session) -> Result<(), SqlError> {
    let found = session.connection.column_metadata(Some("main"), table, column);
    let (_, collation, ..) = found.map_err(|error| crate::error::running(&error))?;
    match collation.map(|name| name.to_string_lossy()) {
        Some(name) if !name.eq_ignore_ascii_case("binary") => {
            let shown = format!("{table}.{column}");
            Err(refusal(
                "collation",
                &shown,
                &format!("is refused: to its collation {name} texts that differ are equal"),
            ))
        }
        _ => Ok(()),
    }
}
