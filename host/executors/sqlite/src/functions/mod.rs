//! The functions that a statement may call. Not listed: whatever loads code, reveals anything of
//! the process or of the connection, or changes something.

mod call;
mod checked;
mod math;
mod percentile;
mod regexp;

use rusqlite::Connection;
use syrch_core::WordList;

/// The functions and operators that statements may call, in lower case.
pub(crate) static LISTED: WordList = WordList::new(include_str!("listed.txt"));

/// Table-valued functions that read nothing but their arguments.
pub(crate) const TABLES: [&str; 2] = ["json_each", "json_tree"];

/// Gives a connection our own functions: those that the build of the engine leaves out, and
/// versions of others that check the deadline.
pub(crate) fn add(connection: &Connection) -> rusqlite::Result<()> {
    checked::replace(connection)?;
    math::add(connection)?;
    percentile::add(connection)?;
    regexp::add(connection)
}

/// Returns true if a statement may call it.
pub(crate) fn is_listed(name: &str) -> bool {
    LISTED.has(&name.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letter_case_does_not_matter() {
        assert!(
            is_listed("COUNT")
                && is_listed("->>")
                && !is_listed("load_extension")
                && !is_listed("sqlite_version")
        );
    }

    /// Statements that call the functions whose calls are not ordinary ones.
    const OTHERS: &[(&str, &str)] = &[
        ("->", "SELECT '{}' -> 'a'"),
        ("->>", "SELECT '{}' ->> 'a'"),
        ("bm25", "SELECT bm25(docs) FROM docs('fox')"),
        ("current_date", "SELECT current_date"),
        ("current_time", "SELECT current_time"),
        ("current_timestamp", "SELECT current_timestamp"),
        ("highlight", "SELECT highlight(docs, 0, '[', ']') FROM docs('fox')"),
        ("likelihood", "SELECT likelihood(1, 0.5)"),
        ("match", "SELECT 1 FROM docs WHERE docs MATCH 'fox'"),
        ("offsets", "SELECT offsets(old) FROM old WHERE old MATCH 'fox'"),
        ("snippet", "SELECT snippet(docs, 0, '[', ']', '', 5) FROM docs('fox')"),
    ];

    #[test]
    fn every_function_of_the_list_exists() {
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        add(&connection).unwrap();
        let tables = "CREATE VIRTUAL TABLE docs USING fts5(body); INSERT INTO docs VALUES ('fox'); \
                      CREATE VIRTUAL TABLE old USING fts3(body); INSERT INTO old VALUES ('fox');";
        connection.execute_batch(tables).unwrap();
        let run = |sql: &str| connection.query_row(sql, [], |_| Ok(()));
        for name in LISTED.words() {
            if let Some((_, sql)) = OTHERS.iter().find(|(other, _)| other == name) {
                run(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
                continue;
            }
            let arguments = ["", "1", "'[]'", "1, 1", "'[]', '[]'", "'{}', '$', 1", "1, 1, 1"];
            let calls = arguments.iter().flat_map(|given| {
                [format!("SELECT {name}({given})"), format!("SELECT {name}({given}) OVER ()")]
            });
            let errors: Vec<_> = calls.map_while(|sql| run(&sql).err()).collect();
            assert!(errors.len() < 2 * arguments.len(), "{name}: {errors:?}");
        }
    }
}
