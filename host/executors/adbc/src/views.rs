//! Views whose definitions do what a statement may not: they are left out, since of a statement that reads a view the guard sees the view's name
//! alone.

use std::collections::BTreeSet;

use syrch_arrow_engine::LeftOut;
use syrch_core::text::clip;
use syrch_core::{Catalog, Dialect, SqlError, Table};
use syrch_guard::admission::definition;
use syrch_guard::{Bounds, Granted, Kind, admit, lex};

use crate::execute::Work;
use crate::introspect::cells;

/// Bytes of a reason.
const REASON: usize = 300;

// The statements that read the views of an engine: schema, name, definition, and why it is left out whatever its definition is.

const DUCKDB: &str = "SELECT schema_name, view_name, sql, NULL FROM duckdb_views() \
    WHERE database_name = current_database() AND NOT internal AND NOT temporary";

const SQLITE: &str = "SELECT 'main', name, sql, NULL FROM sqlite_schema WHERE type = 'view'";

/// What users made has ids from 16384 on.
const POSTGRES: &str = "SELECT n.nspname::text, c.relname::text, pg_get_viewdef(c.oid), \
       (SELECT min(CASE WHEN p.oid IS NOT NULL THEN 'it calls `' || p.proname || '`' \
          WHEN o.oid IS NOT NULL THEN 'it uses the operator `' || o.oprname || '`' \
          WHEN t.typtype = 'd' THEN 'it uses the domain `' || t.typname || '`' END) \
        FROM pg_rewrite r JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid \
        LEFT JOIN pg_proc p ON d.refclassid = 'pg_proc'::regclass AND p.oid = d.refobjid \
        LEFT JOIN pg_operator o ON d.refclassid = 'pg_operator'::regclass AND o.oid = d.refobjid \
        LEFT JOIN pg_type t ON d.refclassid = 'pg_type'::regclass AND t.oid = d.refobjid \
        WHERE r.ev_class = c.oid AND d.refobjid >= 16384) \
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'v' AND c.oid >= 16384";

/// A view, and what its definition comes to.
struct View {
    schema: String,
    name: String,
    /// The relations that it reads, as `schema.name` or by their names, in lower case; or why it is left out.
    reads: Result<BTreeSet<String>, String>,
}

/// The tables without the views that are left out, and these with the reason. `path` is where names without a schema are searched.
///
/// # Errors
/// What the driver says.
pub(crate) fn checked(
    work: &mut Work<'_>,
    tables: Vec<Table>,
    path: &[String],
    left: &mut usize,
) -> Result<(Vec<Table>, Vec<LeftOut>), SqlError> {
    let dialect = work.connector.config.dialect.clone();
    let statement = match dialect {
        Dialect::Duckdb => DUCKDB,
        Dialect::Sqlite => SQLITE,
        Dialect::Postgres => POSTGRES,
        _ => return Ok((tables, Vec::new())),
    };
    if !tables.iter().any(Table::is_view) {
        return Ok((tables, Vec::new()));
    }
    let catalog = Catalog { database: String::new(), dialect, tables };
    let granted = Granted::new(&catalog, path.to_vec());
    let mut views = Vec::new();
    for row in work.rows(statement, left)? {
        let [Some(schema), Some(name), text, reason] = cells(row) else { continue };
        let text = text.unwrap_or_default();
        let reads = reason.map_or_else(|| reads(&text, &catalog.dialect, &granted), Err);
        views.push(View { schema, name, reads });
    }
    spread(&mut views);
    let left_out: Vec<LeftOut> = views
        .into_iter()
        .filter_map(|View { schema, name, reads }| {
            let reason = clip(&reads.err()?, REASON).to_owned();
            tracing::warn!(schema, name, reason, "a view is left out");
            Some(LeftOut { schema, name, reason })
        })
        .collect();
    let is_left_out = |table: &Table| {
        let is_it = |view: &LeftOut| view.name == table.name && table.schema_name.as_ref() == Some(&view.schema);
        left_out.iter().any(is_it)
    };
    let tables = catalog.tables.into_iter().filter(|table| !is_left_out(table)).collect();
    Ok((tables, left_out))
}

/// What a definition reads, if a statement might do all that it does.
fn reads(text: &str, dialect: &Dialect, granted: &Granted) -> Result<BTreeSet<String>, String> {
    if *dialect == Dialect::Postgres {
        let found = definition(text).map_err(|error| unread(&error))?;
        return match found.unlisted.first() {
            Some(call) => Err(format!("it calls `{call}`")),
            None => Ok(found.relations),
        };
    }
    let query = query(text, dialect).ok_or("its definition cannot be checked")?;
    let admitted = admit(query, granted, &Bounds::default()).map_err(|error| unread(&error))?;
    Ok(admitted.tables.iter().map(|table| table.to_lowercase()).collect())
}

fn unread(error: &SqlError) -> String {
    match error.kind.is_refusal() {
        true => format!("of its definition, {}", error.message),
        false => format!("its definition cannot be checked: {}", error.message),
    }
}

/// The query of `CREATE VIEW … AS …`: what follows the first AS outside of parentheses.
fn query<'t>(text: &'t str, dialect: &Dialect) -> Option<&'t str> {
    let mut depth = 0_usize;
    for token in lex(text, dialect, 0).ok()? {
        match (token.kind, token.text(text)) {
            (Kind::Symbol, "(") => depth += 1,
            (Kind::Symbol, ")") => depth = depth.checked_sub(1)?,
            (Kind::Word, word) if depth == 0 && word.eq_ignore_ascii_case("as") => return text.get(token.end..),
            _ => {}
        }
    }
    None
}

/// Leaves out what reads a view that is left out, at any depth. Where only names are known, views of the same name in other schemas count.
fn spread(views: &mut [View]) {
    loop {
        let names = |view: &View| {
            let name = view.name.to_lowercase();
            [format!("{}.{name}", view.schema.to_lowercase()), name]
        };
        let left_out: BTreeSet<String> = views.iter().filter(|view| view.reads.is_err()).flat_map(names).collect();
        let reads_one =
            |view: &&mut View| view.reads.as_ref().is_ok_and(|reads| reads.intersection(&left_out).next().is_some());
        let mut found = 0;
        for view in views.iter_mut().filter(reads_one) {
            view.reads = Err("it reads a view that is left out".to_owned());
            found += 1;
        }
        if found == 0 {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_query_of_a_view_is_behind_its_as() {
        for (text, expected) in [
            ("CREATE VIEW a AS SELECT 1;", " SELECT 1;"),
            ("CREATE VIEW \"x AS SELECT 2 --\" (\"as\", b) AS SELECT CAST(1 AS INTEGER)", " SELECT CAST(1 AS INTEGER)"),
            ("create view a /* as */ as with b as (select 1) select * from b", " with b as (select 1) select * from b"),
        ] {
            for dialect in [Dialect::Duckdb, Dialect::Sqlite] {
                let text = if dialect == Dialect::Duckdb { text.replace("/* as */", "") } else { text.to_owned() };
                assert_eq!(query(&text, &dialect), Some(expected), "{text}");
            }
        }
        for text in ["", "CREATE VIEW a", "CREATE VIEW a (AS", "CREATE VIEW 'a"] {
            assert_eq!(query(text, &Dialect::Duckdb), None, "{text}");
        }
    }

    #[test]
    fn what_reads_a_view_that_is_left_out_is_left_out() {
        let view = |name: &str, reads: Result<&[&str], &str>| View {
            schema: "main".to_owned(),
            name: name.to_owned(),
            reads: reads.map(|reads| reads.iter().map(|&name| name.to_owned()).collect()).map_err(str::to_owned),
        };
        let mut views = [
            view("third", Ok(&["main.second", "main.t"])),
            view("second", Ok(&["first"])),
            view("First", Err("it calls `f`")),
            view("other", Ok(&["main.t", "old.first"])),
        ];
        spread(&mut views);
        assert_eq!(views.map(|view| view.reads.is_err()), [true, true, true, false]);
    }
}
