//! SQLite by its ADBC driver. Files of SQLite are better opened without one: the driver cannot
//! cancel.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use syrch_adbc::{AdbcConfig, AdbcDatabase, AdbcEngine};
use syrch_arrow_engine::ArrowEngine;
use syrch_core::ports::{Database, OVERRUN, SqlQuery};
use syrch_core::{Dialect, Limits, SqlErrorKind, Value};
use tempfile::TempDir;

use crate::common::{Direct, driver, is_capped, single, text};

struct Shop {
    folder: TempDir,
    file: PathBuf,
    library: PathBuf,
}

impl Shop {
    fn make() -> Option<Self> {
        let library = driver("libadbc_driver_sqlite.so")?;
        let folder = syrch_kit::scratch();
        let file = syrch_kit::shop(folder.path());
        Some(Self { folder, file, library })
    }

    fn config(&self) -> AdbcConfig {
        AdbcConfig {
            file: Some(self.file.clone()),
            ..AdbcConfig::new("shop", &self.library, Dialect::Sqlite)
        }
    }

    async fn open(&self, limits: Limits) -> Direct {
        Direct::open(AdbcConfig { limits, ..self.config() }).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_catalog_is_the_drivers_list_of_objects() {
    let Some(shop) = Shop::make() else { return };
    let tables = shop.open(Limits::default()).await.engine.schema().await.unwrap().tables;
    let names: Vec<&str> = tables.iter().map(|table| table.name.as_str()).collect();
    assert_eq!(names, ["customers", "products", "orders"]);
    fn is_main(table: &syrch_core::Table) -> bool {
        table.schema_name.as_deref() == Some("main")
    }
    assert!(tables.iter().all(|table| is_main(table) && table.primary_key == ["id"]));
    let keys: Vec<&str> = tables[2].foreign_keys.iter().map(|key| key.ref_table.as_str()).collect();
    assert!(
        keys.contains(&"customers") && keys.contains(&"products") && keys.len() == 2,
        "{keys:?}"
    );
    assert_eq!(tables[1].columns[2].sql_type, "REAL");
}

#[tokio::test(flavor = "multi_thread")]
async fn views_that_do_what_a_statement_may_not_are_left_out() {
    let Some(shop) = Shop::make() else { return };
    let script = "CREATE TABLE customers (name TEXT, country TEXT); INSERT INTO customers \
                  VALUES ('Ben', 'Spain'), ('Ada', 'France'); CREATE VIEW fine AS \
                  SELECT name, count(*) AS n FROM customers WHERE country LIKE 'S%' GROUP BY name; \
                  CREATE VIEW large AS SELECT randomblob(1000000000) AS a FROM customers; \
                  CREATE VIEW again (b) AS SELECT a FROM large;";
    let file = Some(syrch_kit::sqlite(shop.folder.path().join("views.sqlite"), script));
    let database = AdbcDatabase::open(AdbcConfig { file, ..shop.config() }).await.unwrap();
    let rows = database.run(&SqlQuery::new("SELECT name, n FROM fine")).await.unwrap().rows(0, 9);
    assert_eq!(rows, [[text("Ben"), Value::Integer(1)]]);
    for (view, reason) in [("large", "randomblob"), ("again", "left out")] {
        let error =
            database.run(&SqlQuery::new(format!("SELECT * FROM {view}"))).await.unwrap_err();
        assert!(
            error.kind == SqlErrorKind::Denied && error.message.contains(reason),
            "{view}: {error}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn statements_are_answered() {
    let Some(shop) = Shop::make() else { return };
    let direct = shop.open(Limits::default()).await;
    let rows = direct.rows("SELECT name, price, NULL, x'00ff', 3 FROM products WHERE id = 1").await;
    assert_eq!(
        rows,
        [[
            text("lamp"),
            Value::Real(20.0),
            Value::Null,
            Value::Bytes(vec![0, 255]),
            Value::Integer(3)
        ]]
    );
    let database = AdbcDatabase::open(shop.config()).await.unwrap();
    let query = SqlQuery::new("SELECT name FROM customers WHERE country = 'Spain'");
    assert_eq!(
        database.run(&query).await.map(|result| result.rows(0, 9)),
        Ok(vec![vec![text("Ben")]])
    );
    for (sql, kind) in [
        ("SELEC 1", SqlErrorKind::Syntax),
        ("SELECT * FROM persons", SqlErrorKind::UnknownTable),
        ("SELECT nickname FROM customers", SqlErrorKind::UnknownColumn),
        ("SELECT id FROM customers, orders", SqlErrorKind::AmbiguousName),
    ] {
        assert_eq!(direct.error(sql).await.kind, kind, "running `{sql}`");
        assert_eq!(direct.prepare(sql).await.unwrap_err().kind, kind, "preparing `{sql}`");
    }
    let deadline = tokio::time::Instant::now() + Duration::from_secs(5);
    let plan = direct.engine.explain("SELECT name FROM customers", deadline).await.unwrap();
    assert!(plan.format == "sqlite-eqp" && plan.text.contains("customers"), "{}", plan.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn results_are_capped() {
    let Some(shop) = Shop::make() else { return };
    let many = "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) SELECT i FROM c";
    is_capped(shop.config(), many, "SELECT printf('%2000s', 'x')").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_that_cannot_be_cancelled_is_reported_and_its_place_is_free_when_it_ends() {
    let Some(shop) = Shop::make() else { return };
    let direct = shop.open(single(200)).await;
    let long = "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c LIMIT 20000000) \
                SELECT count(*) FROM c";
    let error = direct.error(long).await;
    assert_eq!((error.kind, error.rule.as_deref()), (SqlErrorKind::Timeout, Some(OVERRUN)));
    let busy = direct.error("SELECT 1").await;
    assert_eq!(busy.kind, SqlErrorKind::Unavailable);
    for _ in 0..300 {
        if direct.run("SELECT 1").await.is_ok() {
            return;
        }
    }
    panic!("the place is not free");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_guard_the_file_is_not_written() {
    let Some(shop) = Shop::make() else { return };
    let direct = shop.open(Limits::default()).await;
    let before = fs::read(&shop.file).unwrap();
    let other = shop.folder.path().join("other.sqlite").display().to_string();
    for sql in [
        "CREATE TABLE made (a INTEGER)",
        "INSERT INTO products VALUES (9, 'x', 1)",
        "DELETE FROM orders",
        "PRAGMA user_version = 5",
        "SELECT load_extension('/tmp/x.so')",
        "VACUUM",
    ] {
        direct.error(sql).await;
    }
    // The driver has nothing against these two; the guard has. Of two statements the first runs
    // alone, and its connection is closed.
    direct.run(&format!("ATTACH '{other}' AS other; CREATE TABLE other.made (a)")).await.unwrap();
    assert_eq!(fs::metadata(&other).unwrap().len(), 0);
    direct.run(&format!("VACUUM INTO '{other}'")).await.unwrap();
    assert!(fs::metadata(&other).unwrap().len() > 0);
    assert_eq!(fs::read(&shop.file).unwrap(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_file_has_another_identity() {
    let Some(shop) = Shop::make() else { return };
    let direct = shop.open(Limits::default()).await;
    let before = direct.engine.identity().await;
    assert!(before.is_some() && direct.engine.identity().await == before);
    let other = shop.folder.path().join("b.sqlite");
    fs::copy(&shop.file, &other).unwrap();
    fs::rename(
        syrch_kit::sqlite(other, "CREATE TABLE orders (id); INSERT INTO orders VALUES (7)"),
        &shop.file,
    )
    .unwrap();
    assert_ne!(direct.engine.identity().await, before);
    assert_eq!(direct.rows("SELECT id FROM orders").await, [[Value::Integer(7)]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_library_without_a_driver_does_not_stand_for_another() {
    let (Some(shop), Some(other)) = (Shop::make(), syrch_kit::duckdb::library()) else { return };
    for entry in ["no_such_entry", "nor_this"] {
        let wrong =
            AdbcConfig { library: other.clone(), entry: Some(entry.to_owned()), ..shop.config() };
        let error = AdbcEngine::open(wrong).await.err().unwrap().to_string();
        assert!(error.contains("libduckdb.so") && !error.contains("/proc"), "{error}");
    }
    let direct = shop.open(Limits::default()).await;
    assert_eq!(direct.rows("SELECT sqlite_version() IS NOT NULL").await, [[Value::Integer(1)]]);
}
