//! The first check of the verified optimizer: whether a statement gives the same rows whatever the plan, as far as its text and the catalog show
//! it. The engine's own view is the second check.
//!
//! Two walks go over the parsed statement. This one asks for determinism; the one of [`admission`](crate::admission) then asks for what a
//! statement may have at all, quotes every name and writes the statement again. Neither leaves out a field or a form of the parser's tree. What was
//! written is read, checked and written once more, and must come out unchanged.
//!
//! | rule | what is refused |
//! |---|---|
//! | `limit` | LIMIT and OFFSET, unless the rows that ORDER BY leaves equal are the same row to the list of results (SQLite) |
//! | `distinct-on`, `sample`, `values`, `table-function` | rows that are picked or made |
//! | `aggregate`, `window` | functions whose result depends on the order of rows |
//! | `float-aggregate` | a sum or a mean of what may be a real (SQLite; the second check knows the types of PostgreSQL) |
//! | `clock` | what reads the time of day |
//! | `bare-column` | a column beside GROUP BY that the groups do not determine (SQLite; PostgreSQL refuses it) |
//! | `scalar-rows` | a query in place of a value that may have several rows (SQLite takes the first; PostgreSQL fails) |
//! | `mixed-values` | DISTINCT, UNION, GROUP BY, `min` and `max` of what may hold both `1` and `1.0` (SQLite) |
//! | `collation` | COLLATE other than BINARY (SQLite) |
//! | `merged-column` | the column that USING or NATURAL makes of two, beside a comma or in a join that retains the right side (SQLite) |
//! | `outer-aggregate` | an aggregate in a sub-query over columns of the query around it alone (SQLite) |
//! | `shadowed-name` | a name of a common table expression, an alias or a column list that is a granted table's |
//! | `ordinary-table`, `base-table` | a view or a virtual table, and a statement that reads no table |
//! | `system-column` | the place or the age of a row (PostgreSQL) |
//! | `columns`, `round-trip`, `dialect` | too many columns, a text that changes when it is read and written again, another engine |
//!
//! and those of [`admission::admit`](crate::admission::admit).
//!
//! What the text cannot show, and neither check asks for: a column of SQLite that is declared for integers and holds reals, and a time in a cell
//! that is the text `now`.

mod call;
mod depend;
mod expr;
mod functions;
mod kind;
mod output;
mod parts;
mod query;
mod scope;
mod select;
mod source;
mod window;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::rc::Rc;

use sqlparser::tokenizer::Span;
use syrch_core::text::clip;
use syrch_core::{Catalog, Dialect, SqlError, SqlErrorKind, Table};

use crate::admission::{self, Granted};
use crate::facts::Places;
use crate::{Bounds, Token, prelex};
use scope::{Columns, Scope};

pub(crate) use functions::SQLITE as SQLITE_FUNCTIONS;

/// Columns of a query at most: what SQLite allows, and more than PostgreSQL does.
const COLUMNS: usize = 2_000;

/// How many times as long a statement may be when it was written again.
const LONGER: usize = 4;

/// A statement that the first check let through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// The statement, written again: without comments, with every name in quotes and every output column with a name.
    pub sql: String,
    /// The tables that stand in it, spelled as the catalog shows them; sorted. Names of common table expressions in scope are no tables.
    pub tables: Vec<String>,
    /// Whether the outermost query has ORDER BY.
    pub is_ordered: bool,
}

/// Checks a statement of SQLite or PostgreSQL against a whole catalog of the granted tables, with all their columns.
///
/// An output column without a name gets one. In SQLite it is the text of the expression as the parser spaces it and without double quotes, which
/// is what the engine shows but for these and for space; in PostgreSQL it is the engine's own name for calls, casts and CASE, and `?column?`
/// for the rest. A column of a table or sub-query keeps its name.
///
/// # Errors
/// Each names its rule, and the token in its message; [`SqlErrorKind::Syntax`] when the text does not parse.
pub fn admit(text: &str, catalog: &Catalog, dialect: &Dialect) -> Result<Checked, SqlError> {
    if !matches!(dialect, Dialect::Sqlite | Dialect::Postgres) {
        let message = format!("statements of `{}` are not checked for determinism", dialect.name());
        return Err(SqlError::new(SqlErrorKind::Denied, message).rule("dialect"));
    }
    let granted = Granted::new(catalog, path(catalog)).of_dialect(dialect);
    let bounds = Bounds::default();
    let first = once(text, catalog, &granted, &bounds)?;
    // With a quote around each name it is longer.
    let second = once(&first.sql, catalog, &granted, &Bounds { bytes: bounds.bytes * LONGER, ..bounds });
    if second.is_ok_and(|second| second == first) {
        return Ok(first);
    }
    let message = "the statement changes when it is read and written again; write it in a simpler way";
    Err(SqlError::new(SqlErrorKind::Denied, message).rule("round-trip"))
}

/// The schemas whose tables their plain names mean.
fn path(catalog: &Catalog) -> Vec<String> {
    let mut path: Vec<String> = Vec::new();
    for table in catalog.tables.iter().filter(|table| !table.needs_schema()) {
        if let Some(schema) = table.schema_name.as_ref().filter(|schema| !path.contains(schema)) {
            path.push(schema.clone());
        }
    }
    path
}

fn once(text: &str, catalog: &Catalog, granted: &Granted, bounds: &Bounds) -> Result<Checked, SqlError> {
    let source = admission::rewrite(text, granted.dialect(), bounds.comment_depth);
    let work = |tokens: &[Token]| {
        admission::on_a_stack(&source.text, tokens, || {
            admission::written(
                &source.text,
                tokens,
                granted,
                admission::deterministic_rules(granted),
                |query, places| {
                    let mut walk = Walk::new(catalog, granted.dialect(), places);
                    walk.query(query, query::Purpose::Result)?;
                    Ok(query.order_by.is_some())
                },
            )
        })
    };
    let written = prelex(&source.text, granted.dialect(), bounds).and_then(|tokens| work(&tokens));
    let (admitted, _, is_ordered) = written.map_err(|mut error| {
        error.position = error.position.map(|position| source.original(position));
        error
    })?;
    let mut tables = Vec::with_capacity(admitted.tables.len());
    for name in &admitted.tables {
        let table = catalog.table(name).ok_or_else(|| refusal("granted-tables", name, "is not granted"))?;
        if table.extra.iter().any(|(key, _)| key == "kind") {
            return Err(refusal("ordinary-table", name, "is a view or a virtual table"));
        }
        tables.push(catalog.table_name(table));
    }
    if tables.is_empty() {
        return Err(refusal("base-table", "FROM", "names no table: there is nothing to read faster"));
    }
    tables.sort();
    Ok(Checked { sql: admitted.sql, tables, is_ordered })
}

/// Whether a function of SQLite may stand in an admitted statement, or is an operator of one, by the name that the engine gives it.
#[must_use]
pub fn is_listed(function: &str) -> bool {
    SQLITE_FUNCTIONS.contains(&function.to_ascii_lowercase().as_str())
}

fn refusal(rule: &str, token: &str, why: &str) -> SqlError {
    SqlError::new(SqlErrorKind::Denied, format!("`{}` {why}", clip(token, 64))).rule(rule)
}

/// A common table expression in scope.
struct Common {
    /// The name in lower case.
    name: String,
    columns: Rc<Columns>,
}

/// One walk over a statement.
struct Walk<'w> {
    catalog: &'w Catalog,
    is_sqlite: bool,
    places: &'w Places<'w>,
    commons: Vec<Common>,
    scopes: Vec<Scope>,
    /// The columns of tables that were named, by the place of the table in the catalog.
    tables: HashMap<usize, Rc<Columns>>,
    /// The places of tables by their names in lower case.
    names: HashMap<String, usize>,
}

impl<'w> Walk<'w> {
    fn new(catalog: &'w Catalog, dialect: &Dialect, places: &'w Places<'w>) -> Self {
        let name = |(place, table): (usize, &Table)| (table.name.to_lowercase(), place);
        Self {
            catalog,
            is_sqlite: *dialect == Dialect::Sqlite,
            places,
            commons: Vec::new(),
            scopes: Vec::new(),
            tables: HashMap::new(),
            names: catalog.tables.iter().enumerate().map(name).collect(),
        }
    }

    /// A refusal that names its rule and the token, at the token's place.
    fn refuse(&self, rule: &str, token: &str, why: &str, span: Span) -> SqlError {
        let mut error = refusal(rule, token, why);
        error.position = self.places.byte(span.start);
        error
    }
}
