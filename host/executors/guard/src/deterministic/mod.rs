//! The first check of the verified optimizer: whether a statement gives the same rows whatever the
//! plan, as far as its text and the catalog show it. The engine's own view is the second check.
//!
//! Two walks go over the parsed statement. This one asks for determinism; the one of
//! [`admission`](crate::admission) then asks for what a statement may have at all, quotes every
//! name and writes the statement again. Neither leaves out a field or a form of the parser's tree.
//! The text that was written is read, checked and written once more, and must come out unchanged.
//!
//! | rule | what is refused |
//! |---|---|
//! | `limit` | LIMIT and OFFSET, unless the rows that ORDER BY leaves equal give equal results (e) |
//! | `distinct-on`, `sample`, `values`, `table-function` | rows that are picked or made |
//! | `aggregate`, `window` | functions whose result depends on the order of rows |
//! | `float-aggregate` | a sum or a mean of what may be a real, unless [`RealSums`] admits it (b) |
//! | `clock` | what reads the time of day |
//! | `bare-column` | a column beside GROUP BY that the groups do not determine (a) |
//! | `scalar-rows` | a query in place of a value that may have several rows (c) |
//! | `mixed-values` | DISTINCT, UNION, GROUP BY, `min`, `max` of what may hold `1` and `1.0` (e) |
//! | `collation` | COLLATE other than BINARY (SQLite) |
//! | `merged-column` | the column that USING or NATURAL makes of two, in some joins (d) |
//! | `outer-aggregate` | an aggregate in a sub-query over columns of the outer query alone (e) |
//! | `only` | ONLY before a table, which the parser takes for the table (PostgreSQL) |
//! | `shadowed-name` | a granted table's name as one of a common table expression, alias or column |
//! | `ordinary-table`, `base-table` | a view or a virtual table, and a statement that reads no table |
//! | `system-column` | the place or the age of a row (PostgreSQL) |
//! | `columns` | too many columns |
//! | `round-trip` | a text that changes when it is read and written again |
//! | `dialect` | another engine |
//!
//! (a) In SQLite; PostgreSQL refuses it. (b) In SQLite; the second check knows the types of
//! PostgreSQL. (c) In SQLite, which takes the first row; PostgreSQL fails. (d) In SQLite, beside a
//! comma or in a join that retains the right side. (e) In SQLite.
//!
//! The others are those of [`admission::admit`](crate::admission::admit).
//!
//! The text cannot show two things, and neither check asks for them: a column of SQLite that is
//! declared for integers and holds reals, and a time in a cell that is the text `now`.

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
use crate::carry;
use crate::facts::Places;
use crate::{Bounds, Kind, Token, prelex};
use scope::{Columns, Scope};

pub(crate) use functions::SQLITE as SQLITE_FUNCTIONS;

/// The most columns of a query: as many as SQLite allows, and more than PostgreSQL does.
const COLUMNS: usize = 2_000;

/// The factor by which a statement may grow when it is written again.
const LONGER: usize = 4;

/// The choice whether a sum or a mean of what may be a real passes: its last digits depend on the
/// order in which the engine adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RealSums {
    /// They are refused.
    Refused,
    /// They pass, and whoever compares results compares all of their digits.
    Admitted,
}

impl RealSums {
    /// The choice that a flag makes.
    #[must_use]
    pub fn from_flag(are_admitted: bool) -> Self {
        if are_admitted { Self::Admitted } else { Self::Refused }
    }
}

/// A statement that the first check let through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// The statement, written again: without comments, with every name in quotes and every output
    /// column with a name.
    pub sql: String,
    /// The tables that stand in it, spelled as the catalog shows them; sorted. Names of common
    /// table expressions in scope are no tables.
    pub tables: Vec<String>,
    /// True if the outermost query has ORDER BY.
    pub is_ordered: bool,
    /// The names that were given to output columns without one, those of sub-queries too.
    pub unnamed: Vec<String>,
}

/// Checks a statement of SQLite or PostgreSQL against a whole catalog of the granted tables, with
/// all their columns.
///
/// An output column without a name gets one. In SQLite it is the text of the expression as the
/// parser spaces it and without double quotes, which is what the engine shows but for these and for
/// space; in PostgreSQL it is the engine's own name for calls, casts and CASE, and `?column?` for
/// the rest. A column of a table or sub-query keeps its name.
///
/// # Errors
/// Each names its rule, and the token in its message; [`SqlErrorKind::Syntax`] when the text does
/// not parse.
pub fn admit(text: &str, catalog: &Catalog, dialect: &Dialect) -> Result<Checked, SqlError> {
    admit_with(text, catalog, dialect, RealSums::Refused)
}

/// Does the same as [`admit`], with a choice about sums of reals.
///
/// # Errors
/// As [`admit`].
pub fn admit_with(
    text: &str,
    catalog: &Catalog,
    dialect: &Dialect,
    sums: RealSums,
) -> Result<Checked, SqlError> {
    if !matches!(dialect, Dialect::Sqlite | Dialect::Postgres) {
        let message = format!("statements of `{}` are not checked for determinism", dialect.name());
        return Err(SqlError::new(SqlErrorKind::Denied, message).rule("dialect"));
    }
    let granted = Granted::new(catalog, path(catalog)).with_dialect(dialect);
    let bounds = Bounds::default();
    let first = check_once(text, catalog, &granted, &bounds, sums)?;
    // With a quote around each name it is longer.
    let longer = Bounds { bytes: bounds.bytes * LONGER, ..bounds };
    let second = check_once(&first.sql, catalog, &granted, &longer, sums);
    // By then every column has a name.
    if second.is_ok_and(|second| Checked { unnamed: first.unnamed.clone(), ..second } == first) {
        return Ok(first);
    }
    let message =
        "the statement changes when it is read and written again; write it in a simpler way";
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

fn check_once(
    text: &str,
    catalog: &Catalog,
    granted: &Granted,
    bounds: &Bounds,
    sums: RealSums,
) -> Result<Checked, SqlError> {
    let source = admission::rewrite(text, granted.dialect(), bounds.comment_depth);
    let work = |tokens: &[Token]| {
        admission::on_a_stack(&source.text, tokens, || {
            admission::rewrite_statement(
                &source.text,
                tokens,
                granted,
                admission::deterministic_rules(granted),
                |query, places| {
                    // Forms that the parser lacks are not known to this walk.
                    let shown = query.to_string();
                    if carry::restore(shown.clone(), granted.dialect()) != shown {
                        let why = "is refused: EXCLUDE in a frame, SEARCH, CYCLE and sets of \
                                   groups within sets are not read";
                        return Err(refusal("clause", "this form", why));
                    }
                    let mut walk = Walk::new(catalog, granted.dialect(), places);
                    walk.sums = sums;
                    walk.query(query, query::Purpose::Result)?;
                    Ok((query.order_by.is_some(), walk.unnamed))
                },
            )
        })
    };
    let tokens = prelex(&source.text, granted.dialect(), bounds).and_then(|tokens| {
        match granted.dialect() {
            Dialect::Postgres => refuse_only(&source.text, &tokens).map(|()| tokens),
            _ => Ok(tokens),
        }
    });
    let written = tokens.and_then(|tokens| work(&tokens));
    let (admitted, _, (is_ordered, unnamed)) = written.map_err(|mut error| {
        error.position = error.position.map(|position| source.original(position));
        error
    })?;
    let mut tables = Vec::with_capacity(admitted.tables.len());
    for name in &admitted.tables {
        let table =
            catalog.table(name).ok_or_else(|| refusal("granted-tables", name, "is not granted"))?;
        if table.extra.iter().any(|(key, _)| key == "kind") {
            return Err(refusal("ordinary-table", name, "is a view or a virtual table"));
        }
        tables.push(catalog.table_name(table));
    }
    if tables.is_empty() {
        return Err(refusal(
            "base-table",
            "FROM",
            "names no table: there is nothing to read faster",
        ));
    }
    tables.sort();
    Ok(Checked { sql: admitted.sql, tables, is_ordered, unnamed })
}

/// Refuses ONLY before a table of PostgreSQL, a word that no table can have without quotes. The
/// parser takes it for the table.
fn refuse_only(text: &str, tokens: &[Token]) -> Result<(), SqlError> {
    let mut before = "";
    for token in tokens.iter().filter(|token| !matches!(token.kind, Kind::Space | Kind::Comment)) {
        let word = token.text(text);
        let is_in_from = before == ","
            || ["FROM", "JOIN"].iter().any(|clause| before.eq_ignore_ascii_case(clause));
        if is_in_from && token.kind == Kind::Word && word.eq_ignore_ascii_case("ONLY") {
            let why = "is refused before a table: it leaves out the rows of tables that inherit \
                       from it, and is not read here";
            let mut error = refusal("only", "ONLY", why);
            error.position = u32::try_from(token.start).ok();
            return Err(error);
        }
        before = word;
    }
    Ok(())
}

/// Returns true if a function of SQLite may stand in an admitted statement, or is an operator of
/// one, by the name that the engine gives it.
#[must_use]
pub fn is_listed(function: &str) -> bool {
    SQLITE_FUNCTIONS.has(&function.to_ascii_lowercase())
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

/// A walk over a statement.
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
    /// The names that columns were given.
    unnamed: Vec<String>,
    sums: RealSums,
}

impl<'w> Walk<'w> {
    fn new(catalog: &'w Catalog, dialect: &Dialect, places: &'w Places<'w>) -> Self {
        Self {
            catalog,
            is_sqlite: *dialect == Dialect::Sqlite,
            places,
            commons: Vec::new(),
            scopes: Vec::new(),
            tables: HashMap::new(),
            names: catalog
                .tables
                .iter()
                .enumerate()
                .map(|(place, table): (usize, &Table)| (table.name.to_lowercase(), place))
                .collect(),
            unnamed: Vec::new(),
            sums: RealSums::Refused,
        }
    }

    /// A refusal that names its rule and the token, at the token's place.
    fn refuse(&self, rule: &str, token: &str, why: &str, span: Span) -> SqlError {
        let mut error = refusal(rule, token, why);
        error.position = self.places.byte(span.start);
        error
    }
}
