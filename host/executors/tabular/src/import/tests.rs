//! Tests from files to an open database.

use std::fs;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use syrch_core::ports::{Database, SqlQuery};
use syrch_core::{Dialect, Limits};

use super::*;
use syrch_core::imports::{ImportCaps, ReadOptions};

fn config(path: &Path, folder: Option<&Path>) -> TabularConfig {
    TabularConfig {
        path: path.to_owned(),
        name: "sales".to_owned(),
        tables: Vec::new(),
        limits: Limits::default(),
        caps: ImportCaps::default(),
        options: ReadOptions::default(),
        folder: folder.map(Path::to_owned),
        retained_bytes: u64::MAX,
        retained: Duration::from_secs(3_600),
        progress: None,
    }
}

fn open_database(config: &TabularConfig) -> Result<SqliteDatabase, DatabaseError> {
    open(config, &AtomicBool::new(false))
}

async fn first(database: &SqliteDatabase, sql: &str) -> String {
    let query = SqlQuery { text: sql.to_owned(), ..SqlQuery::default() };
    let result = database.run(&query).await.unwrap();
    format!("{:?}", result.rows(0, 1))
}

/// The tables that were read, as they were reported.
fn reports(config: &mut TabularConfig) -> Arc<Mutex<Vec<Imported>>> {
    let read = Arc::new(Mutex::new(Vec::new()));
    let reported = Arc::clone(&read);
    config.progress = Some(Arc::new(move |progress| {
        if let Progress::Read(imported) = progress {
            reported.lock().unwrap().push(imported.clone());
        }
    }));
    read
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_becomes_a_database_that_is_used_again_until_a_file_changes() {
    let data = tempfile::tempdir().unwrap();
    let cache = tempfile::tempdir().unwrap();
    fs::write(data.path().join("big orders.csv"), "id,amount\n1,2.5\n2,4\n").unwrap();
    fs::write(data.path().join("big-orders.jsonl"), "{\"id\": 1}\n").unwrap();
    let folder = cache.path().join("tables");
    let mut config = config(data.path(), Some(&folder));
    let read = reports(&mut config);
    let database = open_database(&config).unwrap();
    let catalog = database.catalog().await.unwrap();
    let tables: Vec<&str> = catalog.tables.iter().map(|table| table.name.as_str()).collect();
    assert_eq!(
        (tables, catalog.dialect.clone()),
        (vec!["big_orders", "big_orders_2"], Dialect::Sqlite)
    );
    assert_eq!(database.name(), "sales");
    let of_first = Imported {
        file: "big orders.csv".to_owned(),
        table: "big_orders".to_owned(),
        columns: vec![("id".to_owned(), "INTEGER"), ("amount".to_owned(), "REAL")],
        rows: 2,
        nested: Vec::new(),
        notes: Vec::new(),
    };
    assert_eq!(read.lock().unwrap()[0], of_first);
    assert!(first(&database, "SELECT sum(amount) FROM big_orders").await.contains("6.5"));
    let identity = database.identity().unwrap();
    // Again, also at the same time: nothing is read.
    let again = open_database(&config).unwrap();
    assert_eq!((read.lock().unwrap().len(), again.identity().unwrap()), (2, identity.clone()));
    drop((database, again));
    fs::write(data.path().join("big orders.csv"), "id,amount\n1,2.5\n2,5\n").unwrap();
    let changed = open_database(&config).unwrap();
    assert!(first(&changed, "SELECT sum(amount) FROM big_orders").await.contains("7.5"));
    assert_eq!(read.lock().unwrap().len(), 4);
    assert_ne!(changed.identity().unwrap(), identity);
    // Nothing was written beside the files.
    assert_eq!(fs::read_dir(data.path()).unwrap().count(), 2);
    assert_eq!(store::store_size(&folder).unwrap().count, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_folder_the_database_is_gone_when_it_is_closed() {
    let data = tempfile::tempdir().unwrap();
    let path = data.path().join("a.csv");
    fs::write(&path, "x\n7\n").unwrap();
    let Filled { path: private, held, .. } =
        ensure_filled(&config(&path, None), &AtomicBool::new(false)).unwrap();
    assert!(private.is_file());
    drop(held);
    assert!(!private.exists());
    let database = open_database(&config(&path, None)).unwrap();
    assert!(first(&database, "SELECT x FROM a").await.contains('7'));
}

#[tokio::test(flavor = "multi_thread")]
async fn several_that_open_at_once_have_one_read_it() {
    let data = tempfile::tempdir().unwrap();
    let cache = tempfile::tempdir().unwrap();
    let path = data.path().join("a.csv");
    fs::write(&path, format!("x\n{}", "1\n".repeat(50_000))).unwrap();
    let mut config = config(&path, Some(cache.path()));
    let read = reports(&mut config);
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let config = config.clone();
            std::thread::spawn(move || open_database(&config).unwrap())
        })
        .collect();
    for thread in threads {
        assert!(first(&thread.join().unwrap(), "SELECT count(*) FROM a").await.contains("50000"));
    }
    assert_eq!(read.lock().unwrap().len(), 1);
}

#[test]
fn errors_name_the_file_and_say_what_the_user_gave() {
    let data = tempfile::tempdir().unwrap();
    fs::write(data.path().join("a.csv"), "x\n1\n").unwrap();
    fs::write(data.path().join("b.csv"), "x,y\n1\n").unwrap();
    let error = open_database(&config(data.path(), Some(data.path()))).err().unwrap().to_string();
    assert!(
        error.contains("cannot be read: `b.csv`, line 2: it has 1 value, and the first line has 2"),
        "{error}"
    );
    let missing = open_database(&config(&data.path().join("c.csv"), None)).err().unwrap();
    assert!(matches!(missing, DatabaseError::Missing { .. }), "{missing}");
    let mut wrong = config(&data.path().join("a.csv"), None);
    wrong.tables = vec!["none".to_owned()];
    let error = open_database(&wrong).err().unwrap().to_string();
    assert!(error.contains("a.csv` matches"), "{error}");
}

#[test]
fn a_database_that_grows_too_large_is_given_up() {
    let data = tempfile::tempdir().unwrap();
    let path = data.path().join("a.jsonl");
    let names: String = (0..2_000).map(|at| format!("\"c{at}\": 1,")).collect();
    fs::write(&path, format!("{{{}}}\n{}", names.trim_end_matches(','), "{}\n".repeat(100_000)))
        .unwrap();
    let mut config = config(&path, None);
    config.caps.bytes = 400_000;
    let error = open_database(&config).err().unwrap().to_string();
    assert!(error.contains("bytes of it: raise --max-import-bytes to read more"), "{error}");
}

#[test]
fn tables_are_called_as_their_files() {
    let mut taken = HashSet::new();
    let names: Vec<String> = ["Sales 2024", "sales-2024", "été", "...", "sqlite_x", "a_b"]
        .iter()
        .map(|stem| table_name(stem, &mut taken))
        .collect();
    assert_eq!(names, ["Sales_2024", "sales_2024_2", "été", "table", "_sqlite_x", "a_b"]);
}
