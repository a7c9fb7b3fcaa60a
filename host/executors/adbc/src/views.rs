//! Views whose definitions do what a statement may not: they are left out, since of a statement
//! that reads a view the guard sees the view's name alone.

use std::collections::HashMap;

use serde_json::Value as Json;
use syrch_arrow_engine::LeftOut;
use syrch_core::text::clip;
use syrch_core::{Catalog, Dialect, SqlError, Table};
use syrch_guard::admission::{definition, is_listed};
use syrch_guard::{Bounds, Granted, Kind, admit, lex};

use crate::execute::Work;
use crate::value::cells;

/// Bytes of a reason.
const REASON: usize = 300;
/// Bytes of a definition's tree.
const TREE: usize = 16 << 20;
/// Relations that a view may unfold into: views that read each other several times double at each
/// step, and an engine unfolds them before any limit of its own holds.
const RELATIONS: usize = 1_000;
/// Operators of DuckDB that its tree has as functions.
const OPERATORS: [&str; 29] = [
    "!", "!~~", "!~~*", "%", "&", "&&", "*", "**", "+", "-", "->", "->>", "/", "//", "<->", "<<",
    "<=>", "<@", ">>", "@", "@>", "^", "^@", "|", "||", "~", "~~", "~~*", "~~~",
];
/// Functions of DuckDB that only stand for a form of its grammar.
const FORMS: [&str; 2] = ["array_value", "ilike_escape"];

// The statements that read the views of an engine: schema, name, definition, and why it is left out
// whatever its definition is.

const DUCKDB: &str = "SELECT schema_name, view_name, sql, NULL FROM duckdb_views() \
    WHERE database_name = current_database() AND NOT internal AND NOT temporary";

const SQLITE: &str = "SELECT 'main', name, sql, NULL FROM sqlite_schema WHERE type = 'view'";

/// The query for the views of PostgreSQL and what each of them uses that users made: its ids begin
/// at 16384.
const POSTGRES: &str = "SELECT n.nspname::text, c.relname::text, pg_get_viewdef(c.oid), \
       (SELECT min(CASE WHEN p.oid IS NOT NULL THEN 'it calls `' || p.proname || '`' \
          WHEN o.oid IS NOT NULL THEN 'it uses the operator `' || o.oprname || '`' \
          WHEN t.typtype = 'd' THEN 'it uses the domain `' || t.typname || '`' END) \
        FROM pg_rewrite r JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass \
        AND d.objid = r.oid LEFT JOIN pg_proc p ON d.refclassid = 'pg_proc'::regclass \
        AND p.oid = d.refobjid LEFT JOIN pg_operator o ON d.refclassid = 'pg_operator'::regclass \
        AND o.oid = d.refobjid LEFT JOIN pg_type t ON d.refclassid = 'pg_type'::regclass \
        AND t.oid = d.refobjid WHERE r.ev_class = c.oid AND d.refobjid >= 16384) \
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'v' \
     AND c.oid >= 16384";

/// A view, and what its definition comes to.
struct View {
    schema: String,
    name: String,
    /// The relations that it reads, as `schema.name` or by their names, in lower case, in DuckDB
    /// once for each time that it reads them; or why it is left out.
    reads: Result<Vec<String>, String>,
}

/// The tables without the views that are left out, and these with the reason. `path` is where names
/// without a schema are searched.
///
/// # Errors
/// The driver's error.
pub(crate) fn filter_views(
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
        let reads = match (reason, &catalog.dialect) {
            (Some(reason), _) => Err(reason),
            (None, Dialect::Postgres) => in_postgres(&text),
            (None, Dialect::Duckdb) => in_duckdb(work, &text),
            (None, dialect) => in_sqlite(&text, dialect, &granted),
        };
        views.push(View { schema, name, reads });
    }
    spread(&mut views);
    let left_out: HashMap<(String, String), String> = views
        .into_iter()
        .filter_map(|view| {
            Some(((view.schema, view.name), clip(&view.reads.err()?, REASON).to_owned()))
        })
        .collect();
    let key = |table: &Table| (table.schema_name.clone().unwrap_or_default(), table.name.clone());
    let tables =
        catalog.tables.into_iter().filter(|table| !left_out.contains_key(&key(table))).collect();
    let left_out = left_out.into_iter().map(|((schema, name), reason)| {
        tracing::warn!(schema, name, reason, "a view is left out");
        LeftOut { schema, name, reason }
    });
    Ok((tables, left_out.collect()))
}

fn describe_unread(error: &SqlError) -> String {
    format!("its definition is refused or cannot be checked: {}", error.message)
}

fn calls(name: &str) -> String {
    format!("it calls `{}`", clip(name, 64))
}

/// Returns the relations that a definition reads, if it calls listed functions alone.
fn in_postgres(text: &str) -> Result<Vec<String>, String> {
    let found = definition(text).map_err(|error| describe_unread(&error))?;
    match found.unlisted.first() {
        Some(call) => Err(calls(call)),
        None => Ok(found.relations.into_iter().collect()),
    }
}

/// Returns the tables that a definition reads, if a statement of that text would be admitted.
fn in_sqlite(text: &str, dialect: &Dialect, granted: &Granted) -> Result<Vec<String>, String> {
    let query = query(text, dialect).ok_or_else(definition_error)?;
    let admitted =
        admit(query, granted, &Bounds::default()).map_err(|error| describe_unread(&error))?;
    Ok(admitted.tables.iter().map(|table| table.to_lowercase()).collect())
}

/// Returns the relations that a definition reads, by DuckDB's own tree of it, if it calls listed
/// functions alone: DuckDB writes definitions in forms that its statements need not have, such as
/// `~~` for LIKE.
fn in_duckdb(work: &mut Work<'_>, text: &str) -> Result<Vec<String>, String> {
    let query = query(text, &Dialect::Duckdb).ok_or_else(definition_error)?;
    let statement =
        format!("SELECT CAST(json_serialize_sql('{}') AS VARCHAR)", query.replace('\'', "''"));
    let rows = work.rows(&statement, &mut TREE.clone()).map_err(|_| definition_error())?;
    let tree = rows
        .into_iter()
        .next()
        .and_then(|row| row.into_iter().next()?)
        .ok_or_else(definition_error)?;
    reads_of_tree(&tree)
}

fn definition_error() -> String {
    "its definition cannot be read".to_owned()
}

fn reads_of_tree(tree: &str) -> Result<Vec<String>, String> {
    // Its depth is bounded by the reader.
    let tree: Json = serde_json::from_str(tree).map_err(|_| definition_error())?;
    if tree["error"] != false
        || tree["statements"].as_array().is_none_or(|statements| statements.len() != 1)
    {
        return Err(definition_error());
    }
    let mut reads = Vec::new();
    let mut nodes = vec![&tree];
    while let Some(node) = nodes.pop() {
        if node.get("function_name").is_some() {
            let name = node["function_name"].as_str().unwrap_or_default().to_lowercase();
            if !is_listed(&name, &Dialect::Duckdb)
                && !OPERATORS.contains(&name.as_str())
                && !FORMS.contains(&name.as_str())
            {
                return Err(calls(&name));
            }
        }
        if node["type"] == "BASE_TABLE" {
            let schema = node["schema_name"].as_str().unwrap_or_default().to_lowercase();
            let name = node["table_name"].as_str().unwrap_or_default().to_lowercase();
            reads.push(if schema.is_empty() { name } else { format!("{schema}.{name}") });
        }
        match node {
            Json::Array(items) => nodes.extend(items),
            Json::Object(fields) => nodes.extend(fields.values()),
            _ => {}
        }
    }
    Ok(reads)
}

/// The query of `CREATE VIEW … AS …`: what follows the first AS outside of parentheses.
fn query<'t>(text: &'t str, dialect: &Dialect) -> Option<&'t str> {
    let mut depth = 0_usize;
    for token in lex(text, dialect, 0).ok()? {
        match (token.kind, token.text(text)) {
            (Kind::Symbol, "(") => depth += 1,
            (Kind::Symbol, ")") => depth = depth.checked_sub(1)?,
            (Kind::Word, word) if depth == 0 && word.eq_ignore_ascii_case("as") => {
                return text.get(token.end..);
            }
            _ => {}
        }
    }
    None
}

/// Leaves out what reads a view that is left out, and what unfolds into more than [`RELATIONS`], at
/// any depth. Where a name has no schema, the views of that name in all schemas count.
fn spread(views: &mut [View]) {
    let mut places: HashMap<String, Vec<usize>> = HashMap::new();
    for (place, view) in views.iter().enumerate() {
        let name = view.name.to_lowercase();
        places.entry(format!("{}.{name}", view.schema.to_lowercase())).or_default().push(place);
        places.entry(name).or_default().push(place);
    }
    let mut sizes = vec![1_usize; views.len()];
    let mut has_changed = true;
    while std::mem::take(&mut has_changed) {
        for place in 0..views.len() {
            let Ok(reads) = &views[place].reads else { continue };
            let read =
                reads.iter().flat_map(|name| places.get(name).map_or(&[][..], Vec::as_slice));
            let read: Vec<usize> = read.copied().filter(|read| *read != place).collect();
            let size =
                read.iter().map(|read| sizes[*read]).fold(1 + reads.len(), usize::saturating_add);
            let reason = if read.iter().any(|read| views[*read].reads.is_err()) {
                "it reads a view that is left out".to_owned()
            } else if size > RELATIONS {
                format!("it unfolds into more than {RELATIONS} relations")
            } else {
                has_changed |= size != sizes[place];
                sizes[place] = size;
                continue;
            };
            has_changed = true;
            views[place].reads = Err(reason);
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
            (
                "CREATE VIEW \"x AS SELECT 2 --\" (\"as\", b) AS SELECT CAST(1 AS INTEGER)",
                " SELECT CAST(1 AS INTEGER)",
            ),
            (
                "create view a as with b as (select 1) select * from b",
                " with b as (select 1) select * from b",
            ),
        ] {
            for dialect in [Dialect::Duckdb, Dialect::Sqlite] {
                assert_eq!(query(text, &dialect), Some(expected), "{text}");
            }
        }
        for text in ["", "CREATE VIEW a", "CREATE VIEW a (AS", "CREATE VIEW 'a"] {
            assert_eq!(query(text, &Dialect::Duckdb), None, "{text}");
        }
    }

    #[test]
    fn a_tree_has_its_calls_and_its_relations() {
        fn tree(from: &str, function: &str) -> String {
            format!(
                "{{\"error\": false, \"statements\": [{{\"select_list\": [{{\"function_name\": \
                 \"{function}\", \"children\": []}}], \"from\": {{\"type\": \"BASE_TABLE\", \
                 \"schema_name\": \"{from}\", \"table_name\": \"T\"}}}}]}}"
            )
        }
        assert_eq!(reads_of_tree(&tree("Main", "sum")), Ok(vec!["main.t".to_owned()]));
        assert_eq!(reads_of_tree(&tree("", "~~")), Ok(vec!["t".to_owned()]));
        assert_eq!(reads_of_tree(&tree("", "Getenv")), Err("it calls `getenv`".to_owned()));
        assert_eq!(reads_of_tree(&tree("", "@@@")), Err("it calls `@@@`".to_owned()));
        for text in [
            "",
            "{}",
            "{\"error\": true}",
            "{\"error\": false, \"statements\": []}",
            &"[".repeat(1_000),
        ] {
            assert!(reads_of_tree(text).is_err(), "{text}");
        }
    }

    fn view(name: &str, reads: Result<&[&str], &str>) -> View {
        View {
            schema: "main".to_owned(),
            name: name.to_owned(),
            reads: reads
                .map(|reads| reads.iter().map(|&name| name.to_owned()).collect())
                .map_err(str::to_owned),
        }
    }

    #[test]
    fn what_reads_a_view_that_is_left_out_is_left_out() {
        let mut views = [
            view("third", Ok(&["main.second", "main.t"])),
            view("second", Ok(&["first"])),
            view("First", Err("it calls `f`")),
            view("other", Ok(&["main.t", "old.first", "other"])),
        ];
        spread(&mut views);
        assert_eq!(views.map(|view| view.reads.is_err()), [true, true, true, false]);
    }

    #[test]
    fn views_that_double_are_left_out() {
        let names: Vec<String> = (0..30).map(|step| format!("v{step}")).collect();
        let mut views: Vec<View> = (1..30)
            .map(|step| view(&names[step], Ok(&[&names[step - 1], &names[step - 1]])))
            .collect();
        spread(&mut views);
        let left: Vec<&str> =
            views.iter().filter(|view| view.reads.is_ok()).map(|view| view.name.as_str()).collect();
        assert_eq!(left, ["v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8"]);
        // A long chain is none of them.
        let mut views: Vec<View> =
            (1..30).map(|step| view(&names[step], Ok(&[&names[step - 1]]))).collect();
        spread(&mut views);
        assert!(views.iter().all(|view| view.reads.is_ok()));
    }
}
