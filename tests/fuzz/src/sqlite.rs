//! The guard of SQLite: its executor, whose authorizer decides, and the allow-lists that hold for
//! SQLite behind a driver. The engine itself says what each statement would do.

use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::{Connection, OpenFlags};
use syrch_core::ports::{Database, SqlQuery};
use syrch_core::{Dialect, Limits, SqlError};
use syrch_guard::admission::is_listed;
use syrch_guard::{Granted, Guard};
use syrch_sqlite::{SqliteConfig, SqliteDatabase};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

use crate::guard::{catalog, check_admitted, check_composed, query};

/// The tables and rows on which the statements run.
const SCHEMA: &str = include_str!("../../sql/schema.sql");
/// Rows of a result at most.
const ROWS: u64 = 100;
/// Functions that operators and words stand for.
const OPERATORS: [&str; 7] =
    ["like", "glob", "->", "->>", "current_date", "current_time", "current_timestamp"];

const GRANTED: [&str; 3] = ["customers", "orders", "events"];
/// The other tables and views of the database.
const OTHERS: [&str; 2] = ["order", "order_totals"];

/// A database, opened by the executor and by the engine alone.
struct World {
    runtime: Runtime,
    database: SqliteDatabase,
    /// The engine alone, and what the statement that it prepares would do and may not.
    plain: Mutex<Connection>,
    wrong: Arc<Mutex<Vec<String>>>,
    folder: TempDir,
    bytes: Vec<u8>,
}

static WORLD: LazyLock<World> = LazyLock::new(World::new);

impl World {
    fn new() -> Self {
        // Before the engine's first use.
        syrch_sqlite::count_memory();
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("shop.sqlite");
        let made = Connection::open(&path).expect("a database");
        made.execute_batch(SCHEMA).expect("the script is right");
        made.close().expect("the database is closed");
        let limits =
            Limits { rows: ROWS, sql_deadline: Duration::from_millis(200), ..Limits::default() };
        let tables = GRANTED.map(str::to_owned).to_vec();
        let config = SqliteConfig { limits, tables, ..SqliteConfig::new(&path) };
        let database = SqliteDatabase::open(config).expect("the database opens");
        let plain = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_ONLY);
        let mut plain = plain.expect("the database opens");
        let wrong = Arc::new(Mutex::new(Vec::new()));
        watch(&mut plain, Arc::clone(&wrong));
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let bytes = std::fs::read(&path).expect("the database is read");
        Self { runtime, database, plain: Mutex::new(plain), wrong, folder, bytes }
    }

    /// The names of the files in the folder of the database.
    fn files(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.folder.path()).expect("the folder is read");
        entries.map(|entry| entry.expect("an entry").path()).collect()
    }

    /// Has the engine prepare a statement. Returns what it would do and may not; `None` if it is no
    /// statement to it.
    fn prepare(&self, sql: &str) -> Option<Vec<String>> {
        let plain = self.plain.lock().unwrap_or_else(PoisonError::into_inner);
        let mut wrong = self.wrong.lock().unwrap_or_else(PoisonError::into_inner);
        wrong.clear();
        drop(wrong);
        let statement = plain.prepare(sql).ok()?;
        let mut wrong = self.wrong.lock().unwrap_or_else(PoisonError::into_inner);
        if !statement.readonly() {
            wrong.push("it writes".to_owned());
        }
        Some(std::mem::take(&mut *wrong))
    }
}

/// Notes what a statement would do that no read of the granted tables does.
fn watch(connection: &mut Connection, wrong: Arc<Mutex<Vec<String>>>) {
    let set = connection.authorizer(Some(move |context: AuthContext<'_>| {
        if !is_read(&context.action) {
            let mut wrong = wrong.lock().unwrap_or_else(PoisonError::into_inner);
            wrong.push(format!("{:?}", context.action));
        }
        Authorization::Allow
    }));
    set.expect("an authorizer");
}

/// Returns true for what a read of the granted tables does, by functions that are listed.
fn is_read(action: &AuthAction<'_>) -> bool {
    match action {
        AuthAction::Select | AuthAction::Recursive => true,
        AuthAction::Read { table_name, column_name } => {
            let name = table_name.to_lowercase();
            // A subquery of which no column is used is reported like a table.
            let is_subquery = column_name.is_empty()
                && !OTHERS.contains(&name.as_str())
                && !name.starts_with("sqlite_");
            GRANTED.contains(&name.as_str()) || is_subquery
        }
        AuthAction::Function { function_name } => {
            let name = function_name.to_lowercase();
            OPERATORS.contains(&name.as_str()) || is_listed(&name, &Dialect::Sqlite)
        }
        _ => false,
    }
}

pub(crate) fn check(input: &[u8]) {
    let query = query(input);
    let guard = Guard::new(Dialect::Sqlite, 64 << 10);
    check_composed(&guard, &query);
    check_allow_lists(&guard, &query);
    check_executor(&query);
}

/// Checks that the engine reads what the allow-lists admit as a read of granted tables.
fn check_allow_lists(guard: &Guard, query: &SqlQuery) {
    let catalog = catalog(Dialect::Sqlite, "main");
    let granted = Granted::new(&catalog, vec!["main".to_owned()]);
    let Some(admitted) = check_admitted(guard, &granted, &Dialect::Sqlite, query) else { return };
    let wrong = WORLD.prepare(&admitted.sql).unwrap_or_default();
    assert!(wrong.is_empty(), "{wrong:?}: {}", admitted.sql);
}

/// Checks that the executor reads, and leaves nothing behind.
fn check_executor(query: &SqlQuery) {
    let world = &*WORLD;
    match world.runtime.block_on(world.database.run(query)) {
        Ok(rows) => {
            assert!(rows.row_count() <= ROWS, "{} rows of {query:?}", rows.row_count());
            let plain = world.plain.lock().unwrap_or_else(PoisonError::into_inner);
            // The connection lacks the functions that the executor adds.
            let statement = plain.prepare(&rows.sql).ok();
            assert!(
                statement.is_none_or(|statement| statement.readonly()),
                "{query:?} ran as {}",
                rows.sql
            );
        }
        Err(error) => assert!(error.message.len() <= SqlError::MESSAGE + 256, "{error:?}"),
    }
    assert_eq!(world.files().len(), 1, "{query:?}");
    let bytes = std::fs::read(world.folder.path().join("shop.sqlite"));
    assert!(bytes.is_ok_and(|bytes| bytes == world.bytes), "{query:?} changed the database");
}
