//! Copies of databases: which rows change, and that the original does not.

use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;
use rusqlite::Connection;
use tempfile::TempDir;

use super::*;

const SHOP: &str = "
    PRAGMA foreign_keys = OFF;
    CREATE TABLE countries(code TEXT PRIMARY KEY, name TEXT NOT NULL);
    CREATE TABLE customers(
        id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT REFERENCES countries,
        age INT CHECK (age BETWEEN 18 AND 99));
    CREATE TABLE cards(
        customer INT PRIMARY KEY REFERENCES customers(id), number TEXT UNIQUE, boss INT REFERENCES \
          cards(customer));
    CREATE TABLE orders(
        customer INT NOT NULL REFERENCES customers(id), total REAL, note TEXT, doubled REAL AS \
          (total * 2));
    CREATE TABLE log(word TEXT);
    CREATE UNIQUE INDEX names ON countries(name);
    CREATE INDEX totals ON orders(total);
    CREATE VIEW rich AS SELECT name FROM customers JOIN orders ON customer = id WHERE total > 50;
    INSERT INTO countries VALUES
        ('ES', 'Spain'), ('IT', 'Italy'), ('FR', 'France'), ('PT', 'Portugal'), ('DE', 'Germany');
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
    INSERT INTO customers
        SELECT i, 'Customer ' || char(64 + i % 26), substr('ESITFRPTDE', 1 + 2 * (i % 5), 2), \
          18 + i FROM n;
    INSERT INTO customers VALUES (100, 'Nobody', 'XX', 40), (101, 'Nowhere', NULL, 41);
    INSERT INTO cards SELECT id, 'card-' || id, 1 + id % 5 FROM customers WHERE id <= 30;
    INSERT INTO orders(customer, total, note)
        SELECT id, id * 1.25, CASE WHEN id % 7 = 0 THEN NULL ELSE 'note of ' || id END \
          FROM customers WHERE id <= 60;
    INSERT INTO orders(customer, total, note) SELECT customer, total + 0.5, 'second' FROM orders;
    CREATE TRIGGER loud AFTER INSERT ON orders BEGIN DELETE FROM customers; END;
";

fn shop(folder: &TempDir) -> PathBuf {
    let path = folder.path().join("shop.sqlite");
    Connection::open(&path).unwrap().execute_batch(SHOP).unwrap();
    path
}

fn number(path: &Path, sql: &str) -> i64 {
    let connection =
        Connection::open_with_flags(path, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    connection.query_row(sql, [], |row| row.get(0)).unwrap_or_else(|error| panic!("{sql}: {error}"))
}

fn keeping(constants: &[&str]) -> VariantConfig {
    VariantConfig {
        keep: constants.iter().map(|constant| (*constant).to_owned()).collect(),
        ..Default::default()
    }
}

#[test]
fn a_variant_has_the_schema_and_another_content() {
    let folder = tempfile::tempdir().unwrap();
    let source = shop(&folder);
    let before = fs::read(&source).unwrap();
    let target = folder.path().join("1.sqlite");
    let variant = make_variant(&source, &target, 1, &VariantConfig::default()).unwrap();
    assert_eq!(fs::read(&source).unwrap(), before, "the database is only read");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 2, "nothing else is left");
    assert_eq!(
        variant.tables.keys().collect::<Vec<_>>(),
        ["cards", "countries", "customers", "log", "orders"]
    );
    assert!(variant.skipped.is_empty(), "{variant:?}");
    for (table, rows) in &variant.tables {
        assert_eq!(number(&target, &format!("SELECT count(*) FROM {table}")), *rows as i64);
    }
    let objects =
        "SELECT count(*) FROM sqlite_schema WHERE type IN ('view', 'index') AND sql IS NOT NULL";
    assert_eq!((number(&target, objects), number(&source, objects)), (3, 3));
    assert_eq!(number(&target, "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'"), 0);
    assert!(number(&target, "SELECT count(*) FROM rich") > 0);
}

#[test]
fn the_schema_holds_and_joins_find_their_rows() {
    let folder = tempfile::tempdir().unwrap();
    let source = shop(&folder);
    for seed in 0..20 {
        let target = folder.path().join(format!("{seed}.sqlite"));
        make_variant(&source, &target, seed, &VariantConfig::default()).unwrap();
        // The one country that stands nowhere is the only key without a row, in the source as in
        // the variant.
        let lost = "SELECT count(*) FROM pragma_foreign_key_check AS k \
                    WHERE NOT (k.\"table\" = 'customers')";
        assert_eq!((number(&source, lost), number(&target, lost)), (0, 0), "{seed}");
        assert_eq!(
            number(
                &target,
                "SELECT count(*) FROM customers WHERE country NOT IN (SELECT code FROM countries) \
                 AND country <> 'XX'"
            ),
            0
        );
        assert_eq!(
            number(
                &target,
                "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'"
            ),
            0
        );
        assert_eq!(number(&target, "SELECT count(*) FROM orders WHERE doubled <> total * 2"), 0);
        assert!(
            number(
                &target,
                "SELECT count(*) FROM orders JOIN customers ON id = customer \
                 JOIN countries ON code = country"
            ) > 20
        );
        assert!(number(&target, "SELECT count(*) FROM cards") > 5, "{seed}");
    }
}

#[test]
fn a_seed_decides_everything() {
    let folder = tempfile::tempdir().unwrap();
    let source = shop(&folder);
    let bytes = |name: &str, seed| {
        let target = folder.path().join(name);
        make_variant(&source, &target, seed, &keeping(&["Spain"])).unwrap();
        fs::read(target).unwrap()
    };
    assert_eq!(bytes("a", 7), bytes("b", 7));
    assert_ne!(bytes("c", 8), bytes("d", 9));
}

#[test]
fn constants_stay_findable() {
    let folder = tempfile::tempdir().unwrap();
    let source = shop(&folder);
    let config = keeping(&["italy", "FR", "note of 33", "%of 5_%", "47.5"]);
    for seed in 0..20 {
        let target = folder.path().join(format!("{seed}.sqlite"));
        make_variant(&source, &target, seed, &config).unwrap();
        for sql in [
            "SELECT count(*) FROM countries WHERE name = 'Italy'",
            "SELECT count(*) FROM customers WHERE country = 'FR'",
            "SELECT count(*) FROM orders WHERE note = 'note of 33'",
            "SELECT count(*) FROM orders WHERE note LIKE '%of 5_%'",
            "SELECT count(*) FROM orders WHERE total = 47.5",
        ] {
            assert!(number(&target, sql) > 0, "{seed}: {sql}");
        }
    }
}

#[test]
fn great_tables_are_sampled() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("great.sqlite");
    let script =
        "CREATE TABLE t(id INTEGER PRIMARY KEY, word TEXT); CREATE TABLE u(t INT REFERENCES t);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
        INSERT INTO t SELECT i, 'w' || i FROM n;
        INSERT INTO u SELECT id FROM t;";
    Connection::open(&source).unwrap().execute_batch(script).unwrap();
    let target = folder.path().join("v.sqlite");
    let config = VariantConfig { rows: 500, keep: vec!["w19999".to_owned()] };
    let variant = make_variant(&source, &target, 3, &config).unwrap();
    // Sampled first, then some rows stand twice.
    assert!(
        (250..=600).contains(&variant.tables["t"]) && variant.tables["u"] <= 600,
        "{variant:?}"
    );
    assert_eq!(number(&target, "SELECT count(*) FROM u WHERE t NOT IN (SELECT id FROM t)"), 0);
    assert!(number(&target, "SELECT count(*) FROM t WHERE word = 'w19999'") > 0);
}

#[test]
fn nothing_is_ever_overwritten_or_left_behind() {
    let folder = tempfile::tempdir().unwrap();
    let source = shop(&folder);
    let same = make_variant(&source, &source, 1, &VariantConfig::default()).unwrap_err();
    assert!(matches!(same, VariantError::Exists { .. }), "{same}");
    let nowhere = folder.path().join("none/1.sqlite");
    let error = make_variant(&source, &nowhere, 1, &VariantConfig::default()).unwrap_err();
    assert!(matches!(error, VariantError::Make { .. }), "{error}");
    let missing = folder.path().join("shap.sqlite");
    let error =
        make_variant(&missing, &folder.path().join("2.sqlite"), 1, &VariantConfig::default())
            .unwrap_err();
    assert!(matches!(error, VariantError::Source(DatabaseError::Missing { .. })), "{error}");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
}

#[test]
fn virtual_tables_are_left_out_and_said_so() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("text.sqlite");
    let script = "CREATE TABLE t(a TEXT); INSERT INTO t VALUES ('x'), ('y'), ('z'); \
                  CREATE VIRTUAL TABLE docs USING fts5(body);";
    Connection::open(&source).unwrap().execute_batch(script).unwrap();
    let target = folder.path().join("1.sqlite");
    let variant = make_variant(&source, &target, 1, &VariantConfig::default()).unwrap();
    assert_eq!((variant.skipped, variant.tables.len()), (vec!["docs".to_owned()], 1));
}

/// A doctored schema cannot make the writer do anything but declare.
#[test]
fn a_doctored_schema_declares_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let source = shop(&folder);
    let elsewhere = folder.path().join("elsewhere.sqlite");
    let connection = Connection::open(&source).unwrap();
    connection.execute_batch("PRAGMA writable_schema = 1").unwrap();
    let attach = format!("ATTACH '{}' AS other", elsewhere.display());
    connection
        .execute("UPDATE sqlite_schema SET sql = ?1 WHERE name = 'totals'", [&attach])
        .unwrap();
    drop(connection);
    let made = make_variant(&source, &folder.path().join("1.sqlite"), 1, &VariantConfig::default());
    assert!(!elsewhere.exists(), "{made:?}");
    assert!(made.is_err() || made.is_ok_and(|variant| variant.skipped == ["totals"]));
}

/// A database whose schema was changed behind the engine's back, as nobody could have filled it.
fn doctor_schema(folder: &TempDir, script: &str, old: &str, new: &str) -> PathBuf {
    let source = folder.path().join("doctored.sqlite");
    let connection = Connection::open(&source).unwrap();
    connection.execute_batch(script).unwrap();
    connection.execute_batch("PRAGMA writable_schema = 1").unwrap();
    let changed = connection
        .execute("UPDATE sqlite_schema SET sql = replace(sql, ?1, ?2)", [old, new])
        .unwrap();
    assert!(changed > 0);
    source
}

#[test]
fn what_a_schema_makes_of_a_row_is_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let script = "CREATE TABLE t(a INT, b AS (zeroblob(1)) STORED); INSERT INTO t \
                  VALUES (1), (2), (3), (4);";
    let source = doctor_schema(&folder, script, "zeroblob(1)", "zeroblob(9000000)");
    let error =
        make_variant(&source, &folder.path().join("1.sqlite"), 1, &VariantConfig::default())
            .unwrap_err();
    fn is_too_big(source: &rusqlite::Error) -> bool {
        source.sqlite_error_code() == Some(rusqlite::ErrorCode::TooBig)
    }
    assert!(
        matches!(&error, VariantError::Write { source, .. } if is_too_big(source)),
        "{error:?}"
    );
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "nothing is left behind");
}

#[test]
fn what_a_schema_calls_is_listed() {
    let folder = tempfile::tempdir().unwrap();
    let script =
        "CREATE TABLE t(a INT CHECK (abs(a) >= 0)); CREATE TABLE u(a INT CHECK (abs(a) > -1));";
    let source = doctor_schema(&folder, script, "abs(a) >= 0", "sqlite_version() > 0");
    let variant =
        make_variant(&source, &folder.path().join("1.sqlite"), 1, &VariantConfig::default())
            .unwrap();
    assert_eq!((variant.skipped, variant.tables.len()), (vec!["t".to_owned()], 1));
}

#[test]
fn writing_ends_with_its_time() {
    let folder = tempfile::tempdir().unwrap();
    let mut source = Source::open(&shop(&folder)).unwrap();
    let target = Target::create(&folder.path().join("1.sqlite"), Duration::ZERO, MEMORY).unwrap();
    let error = write(&mut source, &target, 1, &VariantConfig::default()).unwrap_err();
    target.discard();
    fn is_over(source: &rusqlite::Error) -> bool {
        source.to_string().contains("too much time or memory")
    }
    assert!(matches!(&error, VariantError::Write { source, .. } if is_over(source)), "{error:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn any_small_database_has_variants(
        rows in prop::collection::vec(
            (prop::option::of(-5..50_i64), "[a-c]{0,3}", prop::option::of(0..6_i64)), 0..30
        ),
        seed in any::<u64>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("s.sqlite");
        let connection = Connection::open(&source).unwrap();
        let script = "PRAGMA foreign_keys = OFF; CREATE TABLE p(id INTEGER PRIMARY KEY, n INT);
            CREATE TABLE c(p INT REFERENCES p, w TEXT UNIQUE, m REAL)";
        connection.execute_batch(script).unwrap();
        for (n, word, reference) in &rows {
            connection.execute("INSERT INTO p(n) VALUES (?1)", [n]).unwrap();
            connection
                .execute("INSERT OR IGNORE INTO c VALUES (?1, ?2, ?3)", (reference, word, n))
                .unwrap();
        }
        let dangling = "SELECT count(*) FROM pragma_foreign_key_check";
        let was_whole =
            connection.query_row(dangling, [], |row| row.get::<_, i64>(0)).unwrap() == 0;
        drop(connection);
        let target = folder.path().join("t.sqlite");
        let variant = make_variant(&source, &target, seed, &VariantConfig::default()).unwrap();
        prop_assert_eq!(variant.tables.len(), 2);
        prop_assert!(!was_whole || number(&target, dangling) == 0);
        prop_assert_eq!(number(&target, "SELECT count(*) FROM p") > 0, !rows.is_empty());
    }
}
