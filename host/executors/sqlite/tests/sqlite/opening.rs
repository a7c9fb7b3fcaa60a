//! Opening: what is wrong with a path is said, and nothing is ever created.
use std::io::Write;
use std::path::Path;

use crate::common::{Fixture, hasty, refusal, rows, runtime};
use syrch_core::ports::{Database, DatabaseError};
use syrch_core::{SqlErrorKind, Value};
use syrch_sqlite::{SqliteConfig, SqliteDatabase};

const SHOP: &str = "CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT); \
                    INSERT INTO customers VALUES (1, 'Anna');
    CREATE TABLE secrets(token TEXT); CREATE VIEW v AS SELECT name FROM customers; \
      CREATE VIEW leak AS SELECT * FROM secrets;";

fn failure(path: &Path) -> DatabaseError {
    SqliteDatabase::open(SqliteConfig::new(path)).err().unwrap()
}

#[test]
fn a_missing_file_stays_missing_and_similar_names_are_offered() {
    let fixture = Fixture::new(SHOP);
    let error = failure(&fixture.folder.path().join("shp.sqlite"));
    let DatabaseError::Missing { similar, .. } = error else { panic!("{error:?}") };
    assert_eq!(similar, ["shop.sqlite"]);
    assert_eq!(fixture.names(), ["shop.sqlite"]);
    // `sqlite:///Cargo.toml` is a relative path to SQLAlchemy, and an absolute one here.
    let error = failure(Path::new("/Cargo.toml"));
    let DatabaseError::Missing { similar, .. } = error else { panic!("{error:?}") };
    assert_eq!(similar, ["Cargo.toml"]);
    assert!(matches!(failure(&fixture.path.join("inside")), DatabaseError::Missing { .. }));
    assert!(matches!(failure(Path::new("file:x?mode=memory")), DatabaseError::Missing { .. }));
}

#[test]
fn what_is_no_database_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, content: &[u8]| {
        let path = folder.path().join(name);
        std::fs::File::create(&path).unwrap().write_all(content).unwrap();
        path
    };
    for (path, what) in [
        (folder.path().to_owned(), "folder"),
        (file("empty.db", b""), "empty"),
        (file("a.parquet", b"PAR1xxxx"), "Parquet"),
        (file("text.db", b"id,name\n1,Anna\n"), "does not begin like"),
    ] {
        let error = failure(&path);
        let DatabaseError::NotADatabase { reason, .. } = &error else { panic!("{error:?}") };
        assert!(reason.contains(what), "{reason}");
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_is_refused_without_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe.db");
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    if !made.is_ok_and(|status| status.success()) {
        syrch_kit::skip("there is no `mkfifo`: install coreutils");
        return;
    }
    assert!(matches!(failure(&path), DatabaseError::NotADatabase { .. }));
}

#[test]
fn damage_is_reported_at_opening_or_when_it_is_met() {
    let fixture = Fixture::new(&format!(
        "{SHOP} WITH RECURSIVE r(i) AS (SELECT 2 UNION ALL SELECT i+1 FROM r WHERE i<5000)
        INSERT INTO customers SELECT i, 'name'||i FROM r;"
    ));
    let mut bytes = std::fs::read(&fixture.path).unwrap();
    let body = 4096 * 4;
    bytes[body..].fill(0xAA);
    let inner = fixture.folder.path().join("inner.sqlite");
    std::fs::write(&inner, &bytes).unwrap();
    let error = match SqliteDatabase::open(SqliteConfig::new(&inner)) {
        Ok(database) => refusal(&database, "SELECT count(*), max(name) FROM customers"),
        Err(error) => panic!("{error:?}"),
    };
    assert_eq!(error.kind, SqlErrorKind::Unavailable, "{error:?}");
    assert!(error.message.contains("damaged"), "{error:?}");

    bytes[100..4096].fill(0xAA);
    let outer = fixture.folder.path().join("outer.sqlite");
    std::fs::write(&outer, &bytes).unwrap();
    assert!(matches!(failure(&outer), DatabaseError::Corrupt { .. }), "{:?}", failure(&outer));
}

#[test]
fn a_lock_of_somebody_else_is_reported() {
    let fixture = Fixture::new(SHOP);
    let database = SqliteDatabase::open(hasty(&fixture)).unwrap();
    let writer = fixture.writer();
    writer.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let mut config = fixture.config();
    config.busy = std::time::Duration::from_millis(20);
    assert!(matches!(SqliteDatabase::open(config).err(), Some(DatabaseError::Locked { .. })));
    assert_eq!(refusal(&database, "SELECT 1 FROM customers").kind, SqlErrorKind::Unavailable);
    writer.execute_batch("ROLLBACK").unwrap();
    assert_eq!(rows(&database, "SELECT name FROM customers"), [[Value::Text("Anna".into())]]);
}

#[test]
fn a_database_in_wal_mode_is_read_and_left_as_it_was() {
    let fixture = Fixture::new(&format!("PRAGMA journal_mode = WAL; {SHOP}"));
    let before = (std::fs::read(&fixture.path).unwrap(), fixture.names());
    assert_eq!(before.1, ["shop.sqlite"]);
    let database = fixture.open();
    assert_eq!(rows(&database, "SELECT name FROM customers").len(), 1);
    assert_eq!((std::fs::read(&fixture.path).unwrap(), fixture.names()), before);

    // Somebody begins to write, stays, ends, and begins again: each state is seen.
    let writer = fixture.writer();
    writer.execute_batch("INSERT INTO customers VALUES (2, 'Bert')").unwrap();
    assert_eq!(rows(&database, "SELECT name FROM customers").len(), 2);
    writer
        .execute_batch("INSERT INTO customers VALUES (3, 'Cleo'); CREATE TABLE later(a)")
        .unwrap();
    assert_eq!(
        rows(&database, "SELECT name FROM customers, (SELECT count(*) FROM later)").len(),
        3
    );
    drop(database);
    drop(writer);
    let database = fixture.open();
    fixture.writer().execute_batch("INSERT INTO customers VALUES (4, 'Dora')").unwrap();
    assert_eq!(rows(&database, "SELECT name FROM customers").len(), 4);
    drop(database);
    assert_eq!(fixture.names(), ["shop.sqlite"]);
}

#[test]
fn a_log_without_its_index_is_reported_and_nothing_is_made() {
    let fixture = Fixture::new(&format!("PRAGMA journal_mode = WAL; {SHOP}"));
    let writer = fixture.writer();
    writer.execute_batch("INSERT INTO customers VALUES (2, 'Bert')").unwrap();
    let copy = tempfile::tempdir().unwrap();
    for name in ["shop.sqlite", "shop.sqlite-wal"] {
        std::fs::copy(fixture.folder.path().join(name), copy.path().join(name)).unwrap();
    }
    let error = failure(&copy.path().join("shop.sqlite"));
    assert!(
        matches!(&error, DatabaseError::Unavailable { reason, .. } if reason.contains("WAL mode")),
        "{error:?}"
    );
    assert_eq!(std::fs::read_dir(copy.path()).unwrap().count(), 2);
}

#[test]
fn the_grant_limits_the_catalog() {
    let fixture = Fixture::new(SHOP);
    let mut config = fixture.config();
    config.tables = vec!["CUST*".into(), "v".into(), "leak".into()];
    let database = SqliteDatabase::open(config.clone()).unwrap();
    let catalog = runtime().block_on(database.catalog()).unwrap();
    let names: Vec<&str> = catalog.tables.iter().map(|table| table.name.as_str()).collect();
    assert_eq!(names, ["customers", "v"]);

    config.tables = vec!["zzz*".into()];
    let error = SqliteDatabase::open(config.clone()).err().unwrap();
    let DatabaseError::NothingGranted { tables, .. } = error else { panic!("{error:?}") };
    assert_eq!(tables, ["customers", "secrets", "v", "leak"]);
    config.tables = vec!["[".into()];
    assert!(matches!(SqliteDatabase::open(config).err(), Some(DatabaseError::Unavailable { .. })));
}

#[test]
fn the_identity_follows_the_content() {
    let fixture = Fixture::new(SHOP);
    let one = fixture.open();
    let two = fixture.open();
    let first = one.identity().unwrap();
    assert_eq!(first, two.identity().unwrap());
    fixture.writer().execute_batch("INSERT INTO customers VALUES (7, 'Zoe')").unwrap();
    assert_ne!(first, one.identity().unwrap());
    assert_ne!(Fixture::new(SHOP).open().identity().unwrap(), first);
}

#[test]
fn a_time_that_was_set_back_hides_no_change() {
    let fixture = Fixture::new(SHOP);
    let database = fixture.open();
    let first = database.identity().unwrap();
    // Other bytes of the same size, in the same file, with the same time and the same header.
    let mut bytes = std::fs::read(&fixture.path).unwrap();
    let changed = std::fs::metadata(&fixture.path).unwrap().modified().unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    let file = std::fs::OpenOptions::new().write(true).open(&fixture.path).unwrap();
    std::io::Write::write_all(&mut &file, &bytes).unwrap();
    file.set_modified(changed).unwrap();
    drop(file);
    assert_eq!(std::fs::metadata(&fixture.path).unwrap().modified().unwrap(), changed);
    assert_ne!(database.identity().unwrap(), first);
}

/// By POSIX, closing any descriptor of a file gives up all of the process's locks on it. Looking at
/// a file's identity must not.
#[cfg(target_os = "linux")]
#[test]
fn reading_the_identity_releases_no_locks_of_a_reader() {
    let fixture = Fixture::new(SHOP);
    let database = fixture.open();
    // A reader of this process in the middle of its transaction.
    let reader = rusqlite::Connection::open(&fixture.path).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM customers").unwrap();
    assert_eq!(lock_of_this_process(&fixture.path), Some("READ"));
    database.identity().unwrap();
    assert_eq!(lock_of_this_process(&fixture.path), Some("READ"));
}

/// The entries of the system's table of locks for this process and that file.
#[cfg(target_os = "linux")]
fn lock_of_this_process(path: &std::path::Path) -> Option<&'static str> {
    use std::os::unix::fs::MetadataExt;
    let inode = std::fs::metadata(path).unwrap().ino();
    let locks = std::fs::read_to_string("/proc/locks").unwrap();
    let line = locks.lines().find(|line: &&str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words.get(4) == Some(&std::process::id().to_string().as_str())
            && words.get(5).is_some_and(|place| place.ends_with(&format!(":{inode}")))
    })?;
    Some(if line.contains("READ") { "READ" } else { "WRITE" })
}

/// The file with each of these marks replaced by bytes that are not UTF-8.
fn with_broken_names(script: &str) -> Fixture {
    let fixture = Fixture::new(script);
    let mut bytes = std::fs::read(&fixture.path).unwrap();
    while let Some(at) = bytes.windows(4).position(|part| part == b"zz_z") {
        bytes[at..at + 4].copy_from_slice(b"z\xff\xe9z");
    }
    std::fs::write(&fixture.path, bytes).unwrap();
    fixture
}

#[test]
fn names_that_are_not_utf8_cost_only_their_own_tables() {
    let fixture = with_broken_names(
        "CREATE TABLE good(id INTEGER PRIMARY KEY, a TEXT); INSERT INTO good \
         VALUES (1, 'x'), (2, 'y');
         CREATE INDEX zz_z1 ON good(a); CREATE INDEX part ON good(id) WHERE a <> 'zz_z';
         CREATE TABLE zz_z2(a); CREATE TABLE columns(a, zz_z3 TEXT); CREATE TABLE types(a zz_z4);
         CREATE TABLE refers(a REFERENCES zz_z2(a), b REFERENCES columns(zz_z3), \
           c REFERENCES good(id));
         CREATE TABLE checks(a CHECK (a <> 'zz_z'), b DEFAULT 'zz_z'); INSERT INTO checks(a) \
           VALUES (1);
         CREATE VIEW zz_z5 AS SELECT a FROM good; CREATE VIEW reads AS SELECT a FROM zz_z5;
         CREATE VIEW star AS SELECT * FROM columns; CREATE VIEW named AS \
           SELECT a AS zz_z6 FROM good;
         CREATE VIEW text AS SELECT 'zz_z'; CREATE VIEW fine AS SELECT a, 'zz_z' AS b FROM good;
         CREATE VIRTUAL TABLE found USING fts5(a, zz_z7); CREATE TRIGGER zz_z8 AFTER \
           INSERT ON good BEGIN SELECT 1; END;",
    );
    let database = fixture.open();
    let catalog = runtime().block_on(database.catalog()).unwrap();
    let names: Vec<&str> = catalog.tables.iter().map(|table| table.name.as_str()).collect();
    assert_eq!(names, ["good", "refers", "checks", "fine"]);
    let keys = &catalog.table("refers").unwrap().foreign_keys;
    assert_eq!(keys.iter().map(|key| key.ref_table.as_str()).collect::<Vec<_>>(), ["good"]);
    assert_eq!(rows(&database, "SELECT a FROM good WHERE a = 'x'"), [[Value::Text("x".into())]]);
    assert_eq!(rows(&database, "SELECT * FROM checks").len(), 1);
    assert_eq!(rows(&database, "SELECT b FROM fine").len(), 2);
    let plan = runtime().block_on(
        database.explain(&syrch_core::ports::SqlQuery::new("SELECT a FROM good WHERE a = 'x'")),
    );
    assert!(plan.unwrap().text.contains("good"));
    for (table, what) in [
        ("columns", "column"),
        ("types", "column"),
        ("named", "column"),
        ("found", "column"),
        ("text", "column"),
    ] {
        let error = refusal(&database, &format!("SELECT * FROM {table}"));
        assert_eq!(error.kind, SqlErrorKind::Denied, "{error:?}");
        assert!(
            error.message.contains("is not UTF-8") && error.message.contains(what),
            "{error:?}"
        );
    }
    for view in ["reads", "star"] {
        assert_eq!(refusal(&database, &format!("SELECT * FROM {view}")).kind, SqlErrorKind::Denied);
    }
}

#[test]
fn very_many_tables_open() {
    let mut script = String::from("BEGIN;");
    for n in 0..6_000 {
        script += &format!("CREATE TABLE t{n}(id INTEGER PRIMARY KEY, a TEXT);");
    }
    // One view and one virtual table made the engine's own list of tables compile in proportion to
    // their square.
    script += "CREATE INDEX i ON t5(a); CREATE VIEW v AS SELECT a FROM t1; \
               CREATE VIRTUAL TABLE f USING fts5(a);
        CREATE TABLE f_other(a); CREATE TABLE w(a, b, PRIMARY KEY (b)) WITHOUT ROWID;
        CREATE TABLE c(a PRIMARY KEY /* WITHOUT ROWID */); COMMIT;";
    let fixture = Fixture::new(&script);
    let database = fixture.open();
    let catalog = runtime().block_on(database.catalog()).unwrap();
    assert_eq!(catalog.tables.len(), 6_005);
    assert_eq!(catalog.table("t5").unwrap().indexes.len(), 1);
    assert_eq!(catalog.table("f").unwrap().columns.len(), 1);
    assert!(catalog.table("f_data").is_none() && catalog.table("f_other").is_some());
    let nullable =
        |table: &str, column: &str| catalog.table(table).unwrap().column(column).unwrap().nullable;
    assert!(!nullable("w", "b") && nullable("w", "a") && nullable("c", "a"));
    assert_eq!(catalog.table("w").unwrap().indexes.len(), 1);
    for from in ["t5999, v", "t5999, f"] {
        assert_eq!(rows(&database, &format!("SELECT count(*) FROM {from}")), [[Value::Integer(0)]]);
    }
}

#[test]
fn what_repeats_long_names_takes_only_so_much_of_the_catalog() {
    let long = "k".repeat(60_000);
    let references = "REFERENCES t ".repeat(1_000);
    let keys: String = (0..5)
        .map(|n| format!("CREATE TABLE u{n}(a {references}, b REFERENCES t(\"{long}\"));"))
        .collect();
    let repeated: String =
        (0..5).map(|n| format!("CREATE TABLE w{n}(\"{long}\" {references});")).collect();
    let others: String = (0..1_300).map(|n| format!("CREATE TABLE o{n}(a PRIMARY KEY);")).collect();
    let different: String = (0..1_300).map(|n| format!("REFERENCES o{n} ")).collect();
    let stars = vec!["*"; 50].join(",");
    let views: String =
        (0..30).map(|n| format!("CREATE VIEW v{n} AS SELECT {stars} FROM t;")).collect();
    let fixture = Fixture::new(&format!(
        "BEGIN; CREATE TABLE t(\"{long}\" INTEGER PRIMARY KEY); {keys} {repeated} \
         CREATE TABLE last(a);
         CREATE VIEW small AS SELECT a FROM last; {views} COMMIT;"
    ));
    let database = fixture.open();
    let catalog = runtime().block_on(database.catalog()).unwrap();
    for table in ["u0", "u4"] {
        let keys = &catalog.table(table).unwrap().foreign_keys;
        assert_eq!(keys.iter().map(|key| key.columns.join(",")).collect::<Vec<_>>(), ["a", "b"]);
        assert!(keys.iter().all(|key| key.ref_columns == [long.as_str()]));
    }
    assert_eq!(catalog.table("w4").unwrap().foreign_keys.len(), 1);
    assert_eq!(rows(&database, "SELECT count(*) FROM t, last, small"), [[Value::Integer(0)]]);
    // Each of them takes 3 MB.
    assert!(
        catalog.tables.iter().filter(|table| table.is_view()).count() <= 22
            && catalog.table("v29").is_none()
    );
    let error = refusal(&database, "SELECT * FROM v29");
    assert!(error.message.contains("the catalog would take more than 64 MiB"), "{error:?}");

    let script = format!(
        "BEGIN; {others} CREATE TABLE u(a {}); CREATE TABLE many(\"{long}\" {different}); \
         CREATE TABLE last(a); COMMIT;",
        "REFERENCES t ".repeat(40_000)
    );
    let catalog = runtime().block_on(Fixture::new(&script).open().catalog()).unwrap();
    let many = catalog.table("many").unwrap().foreign_keys.len();
    assert!((800..1_300).contains(&many) && catalog.table("last").is_some(), "{many}");
}
