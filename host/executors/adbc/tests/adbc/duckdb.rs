//! DuckDB by its library.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures::future::join_all;
use syrch_adbc::{AdbcConfig, AdbcDatabase, AdbcEngine, digest};
use syrch_arrow_engine::ArrowEngine;
use syrch_core::ports::{Database, DatabaseError, SqlQuery};
use syrch_core::{ForeignKey, Limits, SqlErrorKind, Value};
use syrch_guard::{Bounds, Granted, admit};
use syrch_kit::corpus::{is_same, lines};
use syrch_kit::duckdb::{library, script};
use tempfile::TempDir;

use crate::common::{Direct, is_capped, single, text};

const SHOP: &[&str] = &[
    "CREATE TABLE people (id INTEGER PRIMARY KEY, name VARCHAR NOT NULL, height DOUBLE, mood ENUM \
     ('good', 'bad'))",
    "INSERT INTO people VALUES (1, 'Zoë', 1.75, 'good'), (2, '名前 🦆', NULL, NULL)",
    "CREATE TABLE orders (id BIGINT, person INTEGER REFERENCES people(id), total DECIMAL(10, 2), \
     state VARCHAR CHECK (state IN ('open', 'paid')), PRIMARY KEY (id, total))",
    "INSERT INTO orders VALUES (10, 1, 5.50, 'paid')",
    "CREATE SCHEMA old",
    "CREATE TABLE old.people (\"Full \"\"Name\"\"\" VARCHAR)",
    "CREATE VIEW tall AS SELECT name FROM people WHERE height > 1",
    "CREATE VIEW files AS SELECT * FROM read_csv('/etc/passwd')",
    "COMMENT ON TABLE people IS 'who buys'",
    "COMMENT ON COLUMN people.height IS 'in metres'",
    "CHECKPOINT",
];

/// 10¹³ rows that are counted one by one.
const ENDLESS: &str = "SELECT count(*) FROM range(100000000) a, range(100000) b \
                       WHERE (a.range * 7 + b.range) % 3 = 5";

/// A database that no process has open.
struct Shop {
    _folder: TempDir,
    file: PathBuf,
    library: PathBuf,
}

impl Shop {
    fn make() -> Option<Self> {
        let library = library()?;
        let folder = syrch_kit::scratch();
        let file = folder.path().join("shop.duckdb");
        script(&library, &file, SHOP);
        Some(Self { _folder: folder, file, library })
    }

    fn config(&self) -> AdbcConfig {
        let sha256 = Some(digest(&self.library).unwrap());
        AdbcConfig { sha256, ..AdbcConfig::duckdb(&self.library, &self.file) }
    }

    async fn open(&self, limits: Limits) -> Direct {
        Direct::open(AdbcConfig { limits, ..self.config() }).await
    }

    /// Puts a changed copy in the file's place, as another program may.
    fn replace(&self, statement: &str) {
        let copy = self.file.with_extension("copy");
        fs::copy(&self.file, &copy).unwrap();
        script(&self.library, &copy, &[statement, "CHECKPOINT"]);
        fs::rename(copy, &self.file).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_catalog_has_tables_views_keys_and_comments() {
    let Some(shop) = Shop::make() else { return };
    let schema = shop.open(Limits::default()).await.engine.schema().await.unwrap();
    let names: Vec<(&str, &str)> = schema
        .tables
        .iter()
        .map(|table| (table.schema_name.as_deref().unwrap(), table.name.as_str()))
        .collect();
    let expected = [("main", "orders"), ("main", "people"), ("main", "tall"), ("old", "people")];
    assert_eq!(names, expected);
    assert_eq!(schema.path, ["main"]);
    let [orders, people, tall, old] = [0, 1, 2, 3].map(|place| &schema.tables[place]);
    let columns: Vec<(&str, &str, bool)> = people
        .columns
        .iter()
        .map(|column| (column.name.as_str(), column.sql_type.as_str(), column.nullable))
        .collect();
    let expected = [
        ("id", "INTEGER", false),
        ("name", "VARCHAR", false),
        ("height", "DOUBLE", true),
        ("mood", "ENUM('good', 'bad')", true),
    ];
    assert_eq!(columns, expected);
    assert_eq!((people.comment.as_deref(), people.row_estimate), (Some("who buys"), Some(2)));
    assert_eq!(people.columns[2].comment.as_deref(), Some("in metres"));
    assert_eq!(people.columns[3].values_in_words().as_deref(), Some("one of 'good', 'bad'"));
    assert_eq!(orders.columns[3].values_in_words().as_deref(), Some("one of 'open', 'paid'"));
    assert_eq!(people.columns[1].values(), None);
    assert_eq!(
        (people.primary_key.as_slice(), orders.primary_key.as_slice()),
        (["id".to_owned()].as_slice(), ["id".to_owned(), "total".to_owned()].as_slice())
    );
    let key = ForeignKey {
        columns: vec!["person".to_owned()],
        ref_table: "main.people".to_owned(),
        ref_columns: vec!["id".to_owned()],
    };
    assert_eq!(orders.foreign_keys, [key]);
    assert!(tall.is_view() && !people.is_view());
    assert_eq!(old.columns[0].name, "Full \"Name\"");
}

#[tokio::test(flavor = "multi_thread")]
async fn views_that_do_what_a_statement_may_not_are_left_out() {
    let Some(shop) = Shop::make() else { return };
    // What people write, and what DuckDB makes of it: `~~`, `main.date_part`, `count_star()`,
    // `to_days`, lambdas.
    let fine = [
        "SELECT name FROM people WHERE name LIKE 'Z%' AND name NOT ILIKE 'x' \
         AND name ILIKE 'z%' ESCAPE '!'",
        "SELECT count(*) AS n, sum(total)::DOUBLE AS t, extract(year FROM DATE '2020-01-01') \
         FROM orders GROUP BY person",
        "SELECT DATE '2020-01-01' - INTERVAL 7 DAY, INTERVAL '1' MONTH, now() FROM people",
        "SELECT CASE WHEN height > 1 THEN 'a' ELSE 'b' END, coalesce(name, 'x') || 'y', name GLOB \
         'Z*' FROM people",
        "SELECT [1, 2][1], {'a': 1}, list_transform([name], lambda x: upper(x)), array_value(1, 2) \
         FROM people",
        "WITH c AS (SELECT * FROM tall) SELECT * FROM c UNION ALL SELECT \"Full \"\"Name\"\"\" \
         FROM old.people",
        "SELECT row_number() OVER (ORDER BY id) AS r, count(*) FILTER (WHERE id > 1) OVER () \
         FROM people",
        "SELECT * FROM range(3) t(i) WHERE EXISTS (SELECT 1 FROM orders o WHERE o.person = t.i)",
        "SELECT name ~ 'Z.*', position('o' IN name), substring(name FROM 1 FOR 2), trim(name), \
         name SIMILAR TO 'Z' FROM people",
    ];
    let hidden = [
        ("SELECT * FROM read_text('/etc/passwd')", "`read_text`"),
        ("SELECT * FROM query('SELECT 1')", "`query`"),
        ("SELECT * FROM duckdb_settings()", "`duckdb_settings`"),
        ("SELECT current_setting('home_directory') AS a FROM people", "`current_setting`"),
        ("SELECT damerau_levenshtein(name, name) AS a FROM people", "`damerau_levenshtein`"),
        ("SELECT name FROM people WHERE id IN (SELECT secret(id) FROM people)", "`secret`"),
        ("SELECT id @@@ id AS a FROM people", "`@@@`"),
        ("SELECT * FROM hidden0", "left out"),
        ("WITH fine0 AS (SELECT * FROM main.hidden7) SELECT * FROM fine0", "left out"),
    ];
    let mut statements = ["CREATE MACRO secret(x) AS x + 1", "CREATE MACRO \"@@@\"(a, b) AS a + b"]
        .map(str::to_owned)
        .to_vec();
    statements.extend(
        fine.iter().enumerate().map(|(place, view)| format!("CREATE VIEW fine{place} AS {view}")),
    );
    statements.extend(
        hidden
            .iter()
            .enumerate()
            .map(|(place, (view, _))| format!("CREATE VIEW hidden{place} AS {view}")),
    );
    statements.push("CREATE VIEW twice0 AS SELECT id FROM people".to_owned());
    statements.extend((0..11).map(|step: i32| {
        format!(
            "CREATE VIEW twice{} AS SELECT id FROM twice{step} UNION ALL SELECT id \
             FROM twice{step}",
            step + 1
        )
    }));
    statements.push("CHECKPOINT".to_owned());
    script(&shop.library, &shop.file, &statements.iter().map(String::as_str).collect::<Vec<_>>());
    let database = AdbcDatabase::open(shop.config()).await.unwrap();
    for (place, view) in fine.iter().enumerate() {
        let result = database.run(&SqlQuery::new(format!("SELECT * FROM fine{place}"))).await;
        assert!(result.is_ok(), "{view}: {result:?}");
    }
    let refused = async |view: String| {
        database.run(&SqlQuery::new(format!("SELECT * FROM {view}"))).await.unwrap_err()
    };
    for (place, (view, reason)) in hidden.iter().enumerate() {
        let error = refused(format!("hidden{place}")).await;
        assert_eq!(error.kind, SqlErrorKind::Denied, "{view}: {error}");
        assert!(error.message.contains(reason), "{view}: {error}");
    }
    assert!(refused("files".to_owned()).await.message.contains("`read_csv`"));
    assert!(refused("twice8".to_owned()).await.message.contains("relations"));
    assert!(refused("twice11".to_owned()).await.message.contains("left out"));
    assert_eq!(
        database.run(&SqlQuery::new("SELECT id FROM twice5")).await.unwrap().row_count(),
        64
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_are_answered_through_the_guard() {
    let Some(shop) = Shop::make() else { return };
    let database = AdbcDatabase::open(shop.config()).await.unwrap();
    assert_eq!((database.name(), database.warnings().len()), ("shop", 0));
    let query = SqlQuery::new(
        "SELECT p.name, sum(o.total) FROM people p JOIN orders o ON o.person = p.id \
         GROUP BY p.name",
    );
    let result = database.run(&query).await.unwrap();
    assert_eq!(result.rows(0, 9), [[text("Zoë"), Value::Decimal("5.50".to_owned())]]);
    let refused = database.run(&SqlQuery::new("DELETE FROM orders")).await.unwrap_err();
    assert!(refused.kind.is_refusal(), "{refused}");
    let narrow = AdbcConfig { tables: vec!["main.o*".to_owned()], ..shop.config() };
    let narrow = AdbcDatabase::open(narrow).await.unwrap();
    assert_eq!(narrow.catalog().await.unwrap().tables.len(), 1);
    assert!(narrow.run(&SqlQuery::new("SELECT name FROM people")).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn every_type_arrives() {
    let Some(shop) = Shop::make() else { return };
    let direct = shop.open(Limits::default()).await;
    for (sql, sql_type, expected) in [
        ("(-9223372036854775808)::BIGINT", "BIGINT", Value::Integer(i64::MIN)),
        (
            "'170141183460469231731687303715884105727'::HUGEINT",
            "HUGEINT",
            Value::Decimal("170141183460469231731687303715884105727".into()),
        ),
        (
            "'340282366920938463463374607431768211455'::UHUGEINT",
            "UHUGEINT",
            text("340282366920938463463374607431768211455"),
        ),
        (
            "'12345678901234567890123456789012345.678'::DECIMAL(38, 3)",
            "DECIMAL(38,3)",
            Value::Decimal("12345678901234567890123456789012345.678".into()),
        ),
        ("'2020-02-29'::DATE", "DATE", text("2020-02-29")),
        ("'10:11:12.5'::TIME", "TIME", text("10:11:12.5")),
        ("'10:11:12+02'::TIMETZ", "TIME WITH TIME ZONE", text("10:11:12+02")),
        ("'2020-01-01 10:00:00'::TIMESTAMP", "TIMESTAMP", text("2020-01-01 10:00:00")),
        (
            "'aa0e8400-e29b-41d4-a716-446655440000'::UUID",
            "UUID",
            text("aa0e8400-e29b-41d4-a716-446655440000"),
        ),
        ("'good'::ENUM ('bad', 'good')", "ENUM('bad', 'good')", text("good")),
        ("'\\xAA'::BLOB", "BLOB", Value::Bytes(vec![0xAA])),
        ("'10101'::BIT", "BIT", text("10101")),
        ("['1', NULL]", "VARCHAR[]", text("[1, NULL]")),
        ("['10'::BIT]", "BIT[]", text("[10]")),
        ("union_value(k := 1)", "UNION(k INTEGER)", text("1")),
        ("NULL", "INTEGER", Value::Null),
        ("1.5::FLOAT", "FLOAT", Value::Real(1.5)),
    ] {
        let result = direct.run(&format!("SELECT {sql} AS \"a b\"")).await.unwrap();
        let column = &result.columns()[0];
        assert_eq!((column.name.as_str(), column.sql_type.as_str()), ("a b", sql_type), "{sql}");
        if sql_type != "VARCHAR[]" {
            assert_eq!(result.rows(0, 1), [[expected]], "{sql}");
        }
    }
    for sql in [
        "INTERVAL '1 month 2 days'",
        "{'a': 1, 'b': [2, 3]}",
        "MAP {'k': 1}",
        "[1, 2]::INTEGER[2]",
        "'2020-01-01 10:00:00+01'::TIMESTAMPTZ",
    ] {
        let rows = direct.rows(&format!("SELECT {sql}")).await;
        assert!(matches!(&rows[0][0], Value::Text(text) if !text.is_empty()), "{sql}: {rows:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn results_are_capped() {
    let Some(shop) = Shop::make() else { return };
    let many = "SELECT a.range, b.range FROM range(100000000) a, range(1000) b";
    is_capped(shop.config(), many, "SELECT repeat('x', 2000)").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_is_bounded_and_nothing_is_written_to_disk() {
    let Some(shop) = Shop::make() else { return };
    let mut config = shop.config();
    config.database.insert("memory_limit".into(), "100MB".into());
    let direct = Direct::open(config).await;
    for sql in [
        "SELECT list(range) FROM range(1000000000)",
        "SELECT range FROM range(200000000) ORDER BY hash(range)",
        "SELECT repeat('x', 1000000) || range FROM range(3000)",
    ] {
        let error = direct.error(sql).await;
        assert_eq!(
            (error.kind, error.rule.as_deref()),
            (SqlErrorKind::TooLarge, Some("memory")),
            "{sql}: {error}"
        );
    }
    let beside: Vec<_> = fs::read_dir(shop.file.parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(beside, ["shop.duckdb"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn statements_end_at_their_deadline_and_when_they_are_dropped() {
    let Some(shop) = Shop::make() else { return };
    shop.open(single(500)).await.ends_at_its_deadline(ENDLESS).await;
    let direct = shop.open(single(60_000)).await;
    direct.ends_when_dropped(ENDLESS).await;
    // Also one that has sent rows already and would send more for hours.
    let slow = "SELECT a.range FROM range(1000000) a WHERE a.range < 5000 OR \
                (SELECT count(*) FROM range(100000000) b WHERE b.range % 7 = a.range % 11) < 0";
    direct.ends_when_dropped(slow).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn statements_run_at_once() {
    let Some(shop) = Shop::make() else { return };
    let direct = shop
        .open(Limits {
            sql_in_flight: 2,
            sql_deadline: Duration::from_secs(60),
            ..Limits::default()
        })
        .await;
    let long = direct.run(ENDLESS);
    let short = join_all((0..50).map(|n| {
        let direct = &direct;
        async move { (n, direct.rows(&format!("SELECT {n}")).await) }
    }));
    tokio::select! {
        _ = long => panic!("the long statement ended first"),
        short = short => {
            for (n, rows) in short {
                assert_eq!(rows, [[Value::Integer(n)]]);
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_have_kinds_and_quote_no_cells() {
    use SqlErrorKind::{AmbiguousName, Denied, Syntax, TypeMismatch, UnknownColumn, UnknownTable};
    let Some(shop) = Shop::make() else { return };
    let direct = shop.open(Limits::default()).await;
    for (sql, kind) in [
        ("SELEC 1", Syntax),
        ("SELECT * FROM persons", UnknownTable),
        ("SELECT nickname FROM people", UnknownColumn),
        ("SELECT p.nickname FROM people p", UnknownColumn),
        ("SELECT id FROM people, orders", AmbiguousName),
        ("SELECT sum(name) FROM people", TypeMismatch),
        ("SELECT * FROM files", Denied),
    ] {
        assert_eq!(direct.error(sql).await.kind, kind, "running `{sql}`");
        assert_eq!(direct.prepare(sql).await.unwrap_err().kind, kind, "preparing `{sql}`");
    }
    for sql in [
        "SELECT CAST(name AS INTEGER) FROM people",
        "SELECT strptime(name, '%Y') FROM people",
        "SELECT error(name) FROM people",
        "SELECT name::ENUM ('a') FROM people",
        "SELECT json_extract(name, '$.a') FROM people",
        "SELECT CAST(name AS INTEGER[]) FROM people",
        "SELECT (name || '-13-45')::DATE FROM people",
    ] {
        let error = direct.error(sql).await;
        assert!(
            !error.message.contains("Zo") && !error.message.contains("名前"),
            "`{sql}`: {error}"
        );
    }
    // Preparing a statement does not run it.
    direct.prepare(ENDLESS).await.unwrap();
    let deadline = tokio::time::Instant::now() + Duration::from_secs(5);
    let plan = direct.engine.explain("SELECT name FROM people", deadline).await.unwrap();
    assert!(plan.format == "duckdb-explain" && plan.text.contains("people"), "{}", plan.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_guard_nothing_is_written_and_no_file_is_read() {
    let Some(shop) = Shop::make() else { return };
    let direct = shop.open(Limits::default()).await;
    let folder = shop.file.parent().unwrap().to_owned();
    let before = fs::read(&shop.file).unwrap();
    let csv = folder.join("out.csv").display().to_string();
    let other = folder.join("other.duckdb").display().to_string();
    let export = folder.join("export").display().to_string();
    for sql in [
        "CREATE TABLE made (a INTEGER)".to_owned(),
        "INSERT INTO orders VALUES (11, 1, 1)".to_owned(),
        "UPDATE people SET name = 'x'".to_owned(),
        "DELETE FROM orders".to_owned(),
        "DROP TABLE orders".to_owned(),
        "CREATE MACRO f(x) AS x + 1".to_owned(),
        "SELECT 1; DROP TABLE orders".to_owned(),
        format!("COPY people TO '{csv}'"),
        "COPY orders FROM '/etc/passwd'".to_owned(),
        format!("EXPORT DATABASE '{export}'"),
        format!("ATTACH '{other}' AS other"),
        "ATTACH ':memory:' AS other".to_owned(),
        "INSTALL httpfs".to_owned(),
        "LOAD httpfs".to_owned(),
        format!("LOAD '{other}'"),
        "SELECT * FROM read_csv('/etc/passwd')".to_owned(),
        "SELECT * FROM read_text('/etc/passwd')".to_owned(),
        "SELECT * FROM '/etc/passwd'".to_owned(),
        "SELECT * FROM glob('/etc/*')".to_owned(),
        "SELECT * FROM query('SELECT * FROM read_csv(''/etc/passwd'')')".to_owned(),
        "SELECT getenv('HOME')".to_owned(),
        "CREATE SECRET s (TYPE s3)".to_owned(),
        "SET memory_limit = '100GB'".to_owned(),
        "SET enable_external_access = true".to_owned(),
        "SET lock_configuration = false".to_owned(),
        "RESET memory_limit".to_owned(),
        "PRAGMA memory_limit = '100GB'".to_owned(),
        format!("PRAGMA profiling_output = '{csv}'"),
    ] {
        let error = direct.error(&sql).await;
        assert!(!error.message.contains("root:"), "`{sql}`: {error}");
    }
    // What a connection may change of itself ends with the statement.
    for sql in
        ["CREATE TEMP TABLE people (secret INTEGER)", "USE old", "BEGIN", "SET VARIABLE x = 1"]
    {
        let _ = direct.run(sql).await;
        assert_eq!(
            direct.rows("SELECT count(name) FROM people").await,
            [[Value::Integer(2)]],
            "after `{sql}`"
        );
    }
    let beside: Vec<_> =
        fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(beside, ["shop.duckdb"]);
    assert_eq!(fs::read(&shop.file).unwrap(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_file_is_read_anew_and_has_another_identity() {
    let Some(shop) = Shop::make() else { return };
    let direct = shop.open(Limits::default()).await;
    let count = "SELECT count(*) FROM orders";
    assert_eq!(direct.rows(count).await, [[Value::Integer(1)]]);
    let before = direct.engine.identity().await;
    assert!(before.is_some() && direct.engine.identity().await == before);
    assert_eq!(shop.open(Limits::default()).await.engine.identity().await, before);
    shop.replace("INSERT INTO orders VALUES (11, 2, 1, NULL)");
    assert_ne!(direct.engine.identity().await, before);
    assert_eq!(direct.rows(count).await, [[Value::Integer(2)]]);
    fs::remove_file(&shop.file).unwrap();
    assert_eq!(direct.engine.identity().await, None);
    assert_eq!(direct.error(count).await.kind, SqlErrorKind::Unavailable);
}

/// A macro of a file is called in place of DuckDB's function of that name, whatever its letters
/// are.
#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_redefines_functions_is_not_opened() {
    let Some(shop) = Shop::make() else { return };
    assert!(AdbcDatabase::open(shop.config()).await.is_ok());
    for (number, definition) in [
        "CREATE MACRO LOWER(x) AS (SELECT max(name) FROM people)",
        "CREATE MACRO \"+\"(a, b) AS 1",
        "CREATE MACRO sum(x) AS 1",
    ]
    .into_iter()
    .enumerate()
    {
        let file = shop.file.with_extension(format!("{number}.duckdb"));
        script(&shop.library, &file, &[SHOP[0], definition, "CHECKPOINT"]);
        let error =
            AdbcDatabase::open(AdbcConfig { file: Some(file), ..shop.config() }).await.err();
        assert!(
            error.is_some_and(|error| error.to_string().contains("of DuckDB itself")),
            "{definition}"
        );
    }
    shop.replace("CREATE MACRO doubled(x) AS x * 2");
    assert!(AdbcDatabase::open(shop.config()).await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_database_is_not_opened() {
    let Some(library) = library() else { return };
    let folder = syrch_kit::scratch();
    let open = async |file: &Path| AdbcEngine::open(AdbcConfig::duckdb(&library, file)).await.err();
    let missing = folder.path().join("none.duckdb");
    assert!(matches!(open(&missing).await, Some(DatabaseError::Missing { .. })));
    assert!(!missing.exists());
    let other = folder.path().join("text.duckdb");
    let sqlite = syrch_kit::shop(folder.path());
    fs::write(&other, "not a database".repeat(1_000)).unwrap();
    for file in [other.as_path(), sqlite.as_path(), folder.path()] {
        let error = open(file).await;
        assert!(
            matches!(error, Some(DatabaseError::NotADatabase { .. })),
            "{}: {error:?}",
            file.display()
        );
    }
    let wrong =
        AdbcConfig { sha256: Some("0".repeat(64)), ..AdbcConfig::duckdb(&library, &sqlite) };
    let error = AdbcEngine::open(wrong).await.err().unwrap().to_string();
    assert!(error.contains(&digest(&library).unwrap()), "{error}");
    let wrong = AdbcConfig {
        entry: Some("no_such_entry".to_owned()),
        ..AdbcConfig::duckdb(&library, &sqlite)
    };
    assert!(
        AdbcEngine::open(wrong).await.err().unwrap().to_string().contains("not a usable driver")
    );
}

/// The tables that the statements of the corpus speak of.
const CORPUS: [&str; 8] = [
    "CREATE TABLE customers (id INTEGER, name VARCHAR NOT NULL, city VARCHAR)",
    "CREATE TABLE orders (id INTEGER, customer_id INTEGER, total DOUBLE, ordered_on DATE)",
    "CREATE TABLE events (id INTEGER, payload JSON)",
    "INSERT INTO customers VALUES (1, 'Ada', 'Vienna'), (2, 'Bo', NULL), (3, 'Åsa', 'Graz'), (4, \
     'Dee', 'Vienna')",
    "INSERT INTO orders VALUES (1, 1, 10.5, '2024-01-05'), (2, 1, 30, '2024-02-29')",
    "INSERT INTO orders VALUES (3, 2, 22, '2023-12-31'), (4, 4, 7.25, '2024-06-01')",
    "INSERT INTO events VALUES (1, '{\"kind\": \"login\", \"tags\": [\"a\", \"b\"]}'), (2, \
     '{\"kind\": \"logout\", \"tags\": []}')",
    "CHECKPOINT",
];

// What runs is what the guard has written again: it has to mean what the user wrote.
#[tokio::test(flavor = "multi_thread")]
async fn a_statement_that_the_guard_wrote_again_gives_the_same_rows() {
    let Some(library) = library() else { return };
    let folder = syrch_kit::scratch();
    let file = folder.path().join("corpus.duckdb");
    script(&library, &file, &CORPUS);
    let config = AdbcConfig {
        sha256: Some(digest(&library).unwrap()),
        ..AdbcConfig::duckdb(&library, &file)
    };
    let database = AdbcDatabase::open(config.clone()).await.unwrap();
    let catalog = database.catalog().await.unwrap();
    let granted = Granted::new(&catalog, Vec::new());
    let direct = Direct::open(config).await;
    let statements = syrch_kit::repository().join("tests/sql");
    let forms = lines(&statements.join("forms.jsonl"), "duckdb");
    let mut lines = lines(&statements.join("benign.jsonl"), "duckdb");
    lines.extend(forms.into_iter().filter(|line| line["reading"] == "read"));
    let mut wrong = Vec::new();
    for line in &lines {
        let sql = syrch_kit::corpus::text(line);
        let admitted = admit(&sql, &granted, &Bounds::default()).unwrap().sql;
        let given = direct.run(&sql).await;
        let written = direct.run(&admitted).await;
        let same = match (&given, &written) {
            (Ok(given), Ok(written)) => {
                is_same(&sql, &given.rows(0, u64::MAX), &written.rows(0, u64::MAX))
            }
            _ => false,
        };
        let query = SqlQuery::new(sql.as_str());
        let checked = database.check(&query).await.err().or(database.run(&query).await.err());
        if !same || checked.is_some() {
            wrong.push(format!(
                "{sql}\n  {checked:?}\n  {admitted}\n  {:?}\n  {:?}",
                given.map(|r| r.rows(0, 9)),
                written.map(|r| r.rows(0, 9))
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(lines.len() > 100, "{}", lines.len());
}
