//! A SQLite database written again as a script for PostgreSQL: the same names in quotes, the same
//! rows, and the keys that hold there.

use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};

/// The script. A column is `bigint` or `double precision` where all its values are such numbers, or
/// texts of whole numbers in a column of a key, and `text` otherwise.
pub(crate) fn script(path: &Path) -> String {
    let source = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let names = "SELECT name FROM sqlite_schema WHERE type = 'table' \
                 AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'";
    let tables = texts(&source, names);
    let parts = [table_script, unique_keys, foreign_keys];
    let script: String =
        parts.iter().flat_map(|part| tables.iter().map(|table| part(&source, table))).collect();
    script + "ANALYZE;\n"
}

fn texts(source: &Connection, sql: &str) -> Vec<String> {
    let mut statement = source.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn text(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn table_script(source: &Connection, table: &str) -> String {
    let columns = texts(source, &format!("SELECT name FROM pragma_table_info({})", text(table)));
    let declared = texts(source, &format!("SELECT type FROM pragma_table_info({})", text(table)));
    let kinds: Vec<&str> = columns
        .iter()
        .zip(&declared)
        .map(|(name, kind)| kind_of(source, table, name, kind))
        .collect();
    let parts: Vec<String> =
        columns.iter().zip(&kinds).map(|(name, kind)| format!("{} {kind}", quote(name))).collect();
    let mut script = format!("CREATE TABLE {} ({});\n", quote(table), parts.join(", "));
    let mut statement = source.prepare(&format!("SELECT * FROM {}", quote(table))).unwrap();
    let mut rows = statement.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let values: Vec<String> = (0..columns.len())
            .map(|at: usize| match (row.get_ref(at).unwrap(), kinds[at]) {
                (ValueRef::Null, _) => "NULL".to_owned(),
                (ValueRef::Integer(number), "text") => text(&number.to_string()),
                (ValueRef::Integer(number), _) => number.to_string(),
                (ValueRef::Real(number), "text") => text(&number.to_string()),
                (ValueRef::Real(number), _) => format!("{number:?}"),
                (ValueRef::Text(bytes) | ValueRef::Blob(bytes), "text") => {
                    text(&String::from_utf8_lossy(bytes))
                }
                (ValueRef::Text(bytes) | ValueRef::Blob(bytes), _) => {
                    String::from_utf8_lossy(bytes).into_owned()
                }
            })
            .collect();
        script += &format!("INSERT INTO {} VALUES ({});\n", quote(table), values.join(", "));
    }
    script
}

fn kind_of(source: &Connection, table: &str, column: &str, declared: &str) -> &'static str {
    let name = quote(column);
    let from = quote(table);
    let values = texts(
        source,
        &format!("SELECT DISTINCT CAST({name} AS TEXT) FROM {from} WHERE {name} IS NOT NULL"),
    );
    let kinds = texts(
        source,
        &format!("SELECT DISTINCT typeof({name}) FROM {from} WHERE {name} IS NOT NULL"),
    );
    let is_key = "SELECT name FROM pragma_table_info($t) WHERE pk > 0 UNION SELECT \"from\" \
                  FROM pragma_foreign_key_list($t)";
    let is_key = texts(source, &is_key.replace("$t", &text(table))).contains(&column.to_owned());
    let all = |names: &[&str]| kinds.iter().all(|kind| names.contains(&kind.as_str()));
    match kinds.is_empty() {
        true if declared.to_ascii_lowercase().contains("int") => "bigint",
        true => "text",
        false
            if all(&["integer"])
                || (is_key
                    && values.iter().all(|value: &String| {
                        value.parse::<i64>().is_ok_and(|number| number.to_string() == *value)
                    })) =>
        {
            "bigint"
        }
        false if all(&["integer", "real"]) => "double precision",
        false => "text",
    }
}

fn add_column(table: &str, what: &str) -> String {
    format!(
        "DO $$ BEGIN ALTER TABLE {} ADD {what}; EXCEPTION WHEN OTHERS THEN NULL; END $$;\n",
        quote(table)
    )
}

fn list(names: &[String]) -> String {
    names.iter().map(|name| quote(name)).collect::<Vec<_>>().join(", ")
}

/// The primary key and the other columns that are unique, each left out where the rows are not.
fn unique_keys(source: &Connection, table: &str) -> String {
    let name = text(table);
    let key = texts(
        source,
        &format!("SELECT name FROM pragma_table_info({name}) WHERE pk > 0 ORDER BY pk"),
    );
    let mut script = if key.is_empty() {
        String::new()
    } else {
        add_column(table, &format!("PRIMARY KEY ({})", list(&key)))
    };
    for index in texts(
        source,
        &format!("SELECT name FROM pragma_index_list({name}) WHERE \"unique\" AND origin <> 'pk'"),
    ) {
        let columns = texts(
            source,
            &format!("SELECT name FROM pragma_index_info({}) ORDER BY seqno", text(&index)),
        );
        script += &add_column(table, &format!("UNIQUE ({})", list(&columns)));
    }
    script
}

/// The foreign keys, each left out where its target is not unique.
fn foreign_keys(source: &Connection, table: &str) -> String {
    let name = text(table);
    let of = |id: &str, column: &str| {
        let list = format!("pragma_foreign_key_list({name})");
        texts(
            source,
            &format!(
                "SELECT {column} FROM {list} WHERE id = {id} AND {column} IS NOT NULL ORDER BY seq"
            ),
        )
    };
    let mut script = String::new();
    for id in texts(
        source,
        &format!("SELECT DISTINCT CAST(id AS TEXT) FROM pragma_foreign_key_list({name})"),
    ) {
        let from = of(&id, "\"from\"");
        let to = of(&id, "\"to\"");
        let target = of(&id, "\"table\"").swap_remove(0);
        let to = if to.is_empty() { String::new() } else { format!(" ({})", list(&to)) };
        script += &add_column(
            table,
            &format!("FOREIGN KEY ({}) REFERENCES {}{to} NOT VALID", list(&from), quote(&target)),
        );
    }
    script
}
