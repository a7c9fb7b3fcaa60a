//! Statements: results, caps, deadlines, refusals, errors and plans.
use std::time::Duration;

use crate::common::{Fixture, hasty, refusal, rows, run, runtime};
use arrow_schema::DataType;
use syrch_core::ports::{Database, Relation, SqlQuery};
use syrch_core::{SqlErrorKind, Value};
use syrch_sqlite::SqliteDatabase;

const SHOP: &str = "CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT, country \
                    VARCHAR(2), born DATE);
    INSERT INTO customers VALUES (1, 'Anna', 'DE', '1990-01-02'), (2, 'Bert', NULL, NULL);
    CREATE TABLE orders(id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers, \
      total REAL);
    INSERT INTO orders VALUES (1, 1, 9.5), (2, 1, 3), (3, 2, 1);
    CREATE TABLE odd(x, y); INSERT INTO odd VALUES (1, '006'), (2.5, 'a'), (NULL, x'00ff');
    CREATE TABLE secrets(token TEXT); INSERT INTO secrets VALUES ('sk-1');
    CREATE VIEW leak AS SELECT token FROM secrets;
    CREATE VIEW broken AS SELECT lost FROM nowhere;
    CREATE VIRTUAL TABLE notes USING fts5(title, body); INSERT INTO notes \
      VALUES ('a', 'the quick fox');";

fn open_granted(fixture: &Fixture) -> SqliteDatabase {
    let mut config = hasty(fixture);
    config.tables =
        ["customers", "orders", "odd", "notes", "leak", "broken"].map(str::to_owned).to_vec();
    SqliteDatabase::open(config).unwrap()
}

/// A place for a statement comes free. A busy machine may give a short deadline no time at all, so
/// the statement is tried again.
fn assert_is_free(database: &SqliteDatabase) {
    let found = (0..100).find_map(|_| match run(database, "SELECT 1") {
        Ok(result) => Some(result.rows(0, 2)),
        Err(error) if matches!(error.kind, SqlErrorKind::Timeout | SqlErrorKind::Unavailable) => {
            None
        }
        Err(error) => panic!("{error:?}"),
    });
    assert_eq!(found.unwrap(), [[Value::Integer(1)]]);
}

#[test]
fn results_have_the_types_and_names_of_the_statement() {
    let fixture = Fixture::new(SHOP);
    let database = fixture.open();
    let result = run(
        &database,
        "SELECT id, name, country AS name, born, id + 0.5, x'01', NULL FROM customers ORDER BY id",
    )
    .unwrap();
    let types: Vec<DataType> =
        result.schema().fields().iter().map(|field| field.data_type().clone()).collect();
    use DataType::{Binary, Float64, Int64, Null, Utf8};
    assert_eq!(types, [Int64, Utf8, Utf8, Utf8, Float64, Binary, Null]);
    let columns = result.columns();
    assert_eq!(columns[1].name, columns[2].name);
    let declared: Vec<&str> = columns.iter().map(|column| column.sql_type.as_str()).collect();
    assert_eq!(declared, ["INTEGER", "TEXT", "VARCHAR(2)", "DATE", "", "", ""]);
    assert_eq!(result.rows(1, 1)[0][2], Value::Null);
    assert_eq!(
        result.sql,
        "SELECT id, name, country AS name, born, id + 0.5, x'01', NULL FROM customers ORDER BY id"
    );

    let mixed = rows(&database, "SELECT x, y FROM odd");
    assert_eq!(mixed[0], [Value::Real(1.0), Value::Text("006".into())]);
    assert_eq!(mixed[2], [Value::Null, Value::Text("X'00FF'".into())]);
    let none = run(&database, "SELECT id FROM customers WHERE 0").unwrap();
    assert_eq!((none.row_count(), none.columns().len()), (0, 1));
}

#[test]
fn broken_text_is_mended_with_a_warning() {
    let fixture =
        Fixture::new("CREATE TABLE t(a TEXT); INSERT INTO t VALUES (CAST(x'61ff62' AS TEXT));");
    let result = run(&fixture.open(), "SELECT a FROM t").unwrap();
    assert_eq!(result.rows(0, 1), [[Value::Text("a\u{fffd}b".into())]]);
    assert_eq!(result.profile().warnings.len(), 1);
}

#[test]
fn caps_cut_and_say_so() {
    let fixture = Fixture::new(SHOP);
    let mut config = fixture.config();
    config.limits.rows = 2;
    let result =
        run(&SqliteDatabase::open(config.clone()).unwrap(), "SELECT id FROM orders").unwrap();
    assert_eq!(
        (result.row_count(), result.is_truncated(), result.profile().warnings.len()),
        (2, true, 1)
    );
    let exact =
        run(&SqliteDatabase::open(config.clone()).unwrap(), "SELECT id FROM customers").unwrap();
    assert!(!exact.is_truncated());

    config.limits.rows = 1_000;
    // A number has 8 bytes and a NULL none, and each cell counts for 24 more.
    config.limits.result_bytes = 70;
    let result =
        run(&SqliteDatabase::open(config.clone()).unwrap(), "SELECT id FROM orders").unwrap();
    assert_eq!((result.row_count(), result.is_truncated()), (2, true));
    let nulls =
        run(&SqliteDatabase::open(config.clone()).unwrap(), "SELECT NULL, NULL FROM orders")
            .unwrap();
    assert_eq!((nulls.row_count(), nulls.is_truncated()), (1, true));

    let long = "n".repeat(30_000);
    let columns = |count: usize| {
        format!("SELECT {} FROM orders", vec![format!("id AS {long}"); count].join(", "))
    };
    let database = SqliteDatabase::open(fixture.config()).unwrap();
    assert!(run(&database, &columns(2)).is_ok());
    let wide =
        format!("SELECT {} FROM (SELECT id AS {long} FROM orders) AS o", ["*"; 5].join(", "));
    let error = refusal(&database, &wide);
    assert_eq!((error.kind, error.rule.as_deref()), (SqlErrorKind::TooLarge, Some("column-names")));

    config.limits.cell_bytes = 100;
    let error = refusal(&SqliteDatabase::open(config).unwrap(), "SELECT hex(zeroblob(200))");
    assert_eq!((error.kind, error.rule.as_deref()), (SqlErrorKind::TooLarge, Some("cell-bytes")));
}

#[test]
fn large_results_are_whole_in_several_batches() {
    let fixture = Fixture::new(SHOP);
    let sql = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 40)
               SELECT n, iif(n = 30, 'x', n), iif(n > 30, n / 2.0, NULL), printf('%.*c', \
                 250000, 'a') FROM r";
    let result = run(&fixture.open(), sql).unwrap();
    assert!(result.batches().len() > 1);
    for (row, n) in result.rows(0, 40).iter().zip(1..) {
        let half = if n > 30 { Value::Real(n as f64 / 2.0) } else { Value::Null };
        let other = if n == 30 { "x".to_owned() } else { n.to_string() };
        assert_eq!(row[..3], [Value::Integer(n), Value::Text(other), half]);
        assert!(matches!(&row[3], Value::Text(text) if text.len() == 250_000));
    }
    assert_eq!(result.row_count(), 40);
    assert_eq!(
        result.profile().columns.iter().map(|column| column.nulls).collect::<Vec<_>>(),
        [0, 0, 30, 0]
    );

    let mut config = fixture.config();
    config.limits.result_bytes = 5_000_000;
    let cut = run(&SqliteDatabase::open(config).unwrap(), sql).unwrap();
    assert_eq!((cut.row_count(), cut.is_truncated()), (19, true));
    assert_eq!(cut.rows(18, 1)[0][0], Value::Integer(19));
}

#[test]
fn refusals_name_rule_and_token() {
    let fixture = Fixture::new(SHOP);
    let database = open_granted(&fixture);
    use SqlErrorKind::{Denied, FunctionRefused, Syntax, TooLarge, WriteRefused};
    let deep = format!("SELECT {}1", "1+".repeat(300));
    let wide = format!("SELECT {}1", "1,".repeat(600));
    let many = format!("SELECT 1{}", " UNION ALL SELECT 1".repeat(60));
    for (text, kind, rule, token) in [
        ("DELETE FROM orders", WriteRefused, "read-only", "DELETE"),
        ("SELECT 1; SELECT 2", Denied, "single-statement", "SELECT"),
        ("SELECT token FROM secrets", Denied, "granted-tables", "secrets"),
        ("SELECT 1 FROM secrets", Denied, "granted-tables", "secrets"),
        ("SELECT * FROM leak", Denied, "granted-tables", "leak"),
        ("SELECT count(*) FROM sqlite_master", Denied, "granted-tables", "sqlite_master"),
        ("SELECT * FROM pragma_database_list", Denied, "granted-tables", "pragma_database_list"),
        ("SELECT count(*) FROM dbstat", Denied, "granted-tables", "dbstat"),
        ("SELECT block FROM notes_data", Denied, "granted-tables", "notes_data"),
        ("SELECT load_extension('x')", FunctionRefused, "function", "load_extension"),
        ("SELECT sqlite_version()", FunctionRefused, "function", "sqlite_version"),
        ("SELECT lenght(name) FROM customers", FunctionRefused, "function", "lenght"),
        ("SELECT ?", Denied, "parameters", "?"),
        ("SELECT 'a", Syntax, "unterminated", "string"),
        (&deep, TooLarge, "expression-depth", "depth"),
        (&wide, TooLarge, "columns", "columns"),
        (&many, TooLarge, "compound-select", "compound"),
    ] {
        let error = refusal(&database, text);
        assert_eq!((error.kind, error.rule.as_deref()), (kind, Some(rule)), "{text}: {error:?}");
        assert!(error.message.contains(token), "{text}: {error:?}");
        let checked = runtime().block_on(database.check(&SqlQuery::new(text))).unwrap_err();
        assert_eq!(
            (checked.kind, checked.rule.as_deref()),
            (kind, Some(rule)),
            "{text}: {checked:?}"
        );
    }
    assert!(
        refusal(&database, "SELECT lenght(name) FROM customers")
            .suggestions
            .contains(&"length".to_owned())
    );
    // A common table expression may have any name of its own, and hides nothing.
    assert_eq!(
        rows(&database, "WITH extra AS (SELECT 1) SELECT count(*) FROM extra"),
        [[Value::Integer(1)]]
    );
    let hidden =
        refusal(&database, "WITH secrets AS (SELECT 1 AS a) SELECT count(*) FROM main.secrets");
    assert_eq!(hidden.rule.as_deref(), Some("granted-tables"));
}

#[test]
fn errors_have_kinds_places_and_suggestions() {
    let fixture = Fixture::new(SHOP);
    let database = fixture.open();
    use SqlErrorKind::{AmbiguousName, Other, Syntax, UnknownColumn, UnknownTable};
    for (text, kind, at, near) in [
        ("SELECT * FROM costumers", UnknownTable, Some("costumers"), Some("customers")),
        ("SELECT nme FROM customers", UnknownColumn, Some("nme"), Some("name")),
        ("SELECT total FROM customers", UnknownColumn, Some("total"), Some("orders.total")),
        ("SELECT id FROM customers, orders", AmbiguousName, Some("id"), Some("orders.id")),
        ("SELECT id FORM customers WHERE", Syntax, None, None),
        ("SELECT count(*) FROM orders WHERE sum(total) > 1", Other, None, None),
        ("SELECT id FROM orders HAVING total > 1", Other, None, None),
        ("SELECT id FROM orders WHERE id = (SELECT id, total FROM orders)", Other, None, None),
        ("SELECT abs(1, 2)", Other, None, None),
        ("SELECT id, FROM orders", Syntax, None, None),
    ] {
        let error = refusal(&database, text);
        assert_eq!(error.kind, kind, "{text}: {error:?}");
        if let Some(at) = at {
            assert_eq!(error.position, text.find(at).map(|at| at as u32), "{text}: {error:?}");
        }
        if let Some(near) = near {
            assert!(error.suggestions.contains(&near.to_owned()), "{text}: {error:?}");
        }
    }
}

#[test]
fn no_error_quotes_cells() {
    let fixture = Fixture::new(SHOP);
    let database = fixture.open();
    let words = [
        "too many columns",
        "string or blob too big",
        "no such table: ",
        "unsafe use of ",
        "$",
        "x",
        "malformed",
    ];
    let mut texts: Vec<String> = words
        .iter()
        .flat_map(|word| {
            [
                format!(
                    "SELECT json_extract('{{}}', '{word}' || (SELECT group_concat(token) \
                     FROM secrets))"
                ),
                format!("SELECT json_set('{{}}', '{word}' || token, 1) FROM secrets"),
                format!("SELECT * FROM secrets, json_each('{{}}', '{word}' || token)"),
                format!(
                    "SELECT 1 FROM notes WHERE notes MATCH '{word}' || (SELECT '\"' || token \
                     FROM secrets)"
                ),
                format!(
                    "SELECT 1 FROM notes WHERE notes MATCH (SELECT '{{' || token || '}} : {word}' \
                     FROM secrets)"
                ),
                format!(
                    "SELECT percentile(total, '{word}' || (SELECT token FROM secrets)) FROM orders"
                ),
            ]
        })
        .collect();
    // FTS5 takes its ranking function and that one's arguments from a text, and compiles them.
    fn rank(inner: &str) -> String {
        format!(
            "SELECT * FROM notes WHERE notes MATCH 'fox' AND rank MATCH (SELECT {inner} \
             FROM secrets) ORDER BY rank"
        )
    }
    texts.push(rank(
        "'bm25((WITH \"sqlite_' || token || '\" AS (SELECT 1) SELECT count(*) \
         FROM \"sqlite_' || token || '\"))'",
    ));
    texts.push(rank("'bm25(\"' || token || '\"())'"));
    texts.push(rank("replace(token, '-', '_') || '()'"));
    let mut failed = 0;
    for text in &texts {
        let Err(error) = run(&database, text) else { continue };
        failed += 1;
        assert!(
            !format!("{error:?}").contains("sk-1") && !format!("{error:?}").contains("sk_1"),
            "{text}: {error:?}"
        );
    }
    assert!(failed > texts.len() / 2, "{failed} of {}", texts.len());
    let error = refusal(&database, &texts[0]);
    assert_eq!((error.kind, error.rule.as_deref()), (SqlErrorKind::Other, None));
    let error =
        refusal(&database, "SELECT length(replace(hex(zeroblob(3000000)), '0', '12345678'))");
    assert_eq!((error.kind, error.rule.as_deref()), (SqlErrorKind::TooLarge, Some("length")));
}

#[test]
fn who_waits_for_a_busy_database_is_reported() {
    let fixture = Fixture::new(SHOP);
    let mut config = fixture.config();
    config.limits.sql_in_flight = 1;
    // While others wait, a statement gives its place up once it has computed for 5 ms, so that six
    // have had it by then.
    config.limits.sql_deadline = Duration::from_millis(30);
    let database = SqliteDatabase::open(config).unwrap();
    let endless = SqlQuery::new(
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r",
    );
    runtime().block_on(async {
        let results = futures::future::join_all((0..16).map(|_| database.run(&endless))).await;
        let kinds: Vec<_> = results.into_iter().map(|result| result.unwrap_err().kind).collect();
        assert!(
            kinds
                .iter()
                .all(|kind| matches!(kind, SqlErrorKind::Timeout | SqlErrorKind::Unavailable)),
            "{kinds:?}"
        );
        assert!(
            kinds.contains(&SqlErrorKind::Unavailable) && kinds.contains(&SqlErrorKind::Timeout),
            "{kinds:?}"
        );
    });
    assert_is_free(&database);
}

#[test]
fn common_table_expressions_that_double_end() {
    let fixture = Fixture::new(SHOP);
    let database = fixture.open();
    for last in [14, 18, 24, 40, 300] {
        let doubling: String = (1..=last)
            .map(|n| format!(", c{n} AS (SELECT x.a FROM c{0} x, c{0} y)", n - 1))
            .collect();
        let error = refusal(
            &database,
            &format!("WITH c0 AS (SELECT 1 AS a){doubling} SELECT * FROM c{last}"),
        );
        assert_eq!(error.kind, SqlErrorKind::TooLarge, "{last}: {error:?}");
    }
    assert_is_free(&database);
}

#[test]
fn deadlines_and_memory_end_a_statement() {
    let fixture = Fixture::new(SHOP);
    let mut config = hasty(&fixture);
    config.limits.sql_deadline = Duration::from_millis(200);
    let database = SqliteDatabase::open(config.clone()).unwrap();
    let endless =
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r";
    let error = refusal(&database, endless);
    assert_eq!((error.kind, error.rule.as_deref()), (SqlErrorKind::Timeout, Some("deadline")));
    assert_is_free(&database);

    config.limits.sql_deadline = Duration::from_secs(60);
    config.memory = 8 << 20;
    let bomb = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) \
                SELECT count(DISTINCT hex(randomblob(1000))) FROM r";
    let error = refusal(&SqliteDatabase::open(config).unwrap(), bomb);
    assert_eq!((error.kind, error.rule.as_deref()), (SqlErrorKind::TooLarge, Some("memory")));
}

#[test]
fn dropping_the_future_frees_the_connection() {
    let fixture = Fixture::new(SHOP);
    let mut config = fixture.config();
    config.limits.sql_in_flight = 1;
    config.limits.sql_deadline = Duration::from_secs(3_600);
    let database = SqliteDatabase::open(config).unwrap();
    runtime().block_on(async {
        let endless = SqlQuery::new(
            "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) \
             SELECT count(*) FROM r",
        );
        let cut = tokio::time::timeout(Duration::from_millis(100), database.run(&endless)).await;
        assert!(cut.is_err());
        // The only permit comes back because the statement was interrupted.
        assert_eq!(database.run(&SqlQuery::new("SELECT 1")).await.unwrap().row_count(), 1);
    });
}

#[test]
fn finished_tasks_stand_in_from() {
    let fixture = Fixture::new(SHOP);
    let database = fixture.open();
    fn relation(name: &str, sql: &str, columns: &[&str]) -> Relation {
        Relation {
            name: name.into(),
            sql: sql.into(),
            columns: columns
                .iter()
                .map(|name| syrch_core::Column { name: (*name).into(), ..Default::default() })
                .collect(),
        }
    }
    let query = SqlQuery {
        text:
            "SELECT t.name, s.spent FROM task_b AS s JOIN customers AS t ON t.id = s.customer_id \
             ORDER BY 2; -- done"
                .into(),
        relations: vec![
            relation(
                "task_a",
                "SELECT customer_id, total FROM orders -- all\n;",
                &["customer_id", "total"],
            ),
            relation(
                "task_b",
                "SELECT customer_id, sum(total) AS spent FROM task_a GROUP BY 1",
                &["customer_id", "spent"],
            ),
            relation("task_c", "SELECT 1", &["1"]),
        ],
    };
    let result = runtime().block_on(database.run(&query)).unwrap();
    assert_eq!(result.row_count(), 2);
    assert!(
        result.sql.starts_with("WITH task_a AS (") && !result.sql.contains("task_c"),
        "{}",
        result.sql
    );
    assert_eq!(result.sql, database.compose(&query).unwrap());
    assert_eq!(rows(&database, &result.sql), result.rows(0, 10));
    let facts = runtime().block_on(database.check(&query)).unwrap();
    assert_eq!(
        (facts.tasks, facts.tables),
        (vec!["task_b".to_owned()], vec!["customers".to_owned()])
    );

    let wrong = SqlQuery { text: query.text.replace("s.spent", "s.spend"), ..query };
    let error = runtime().block_on(database.run(&wrong)).unwrap_err();
    assert_eq!(
        (error.kind, error.suggestions.first().map(String::as_str)),
        (SqlErrorKind::UnknownColumn, Some("s.spent"))
    );
    assert_eq!(error.position, wrong.text.find("spend").map(|at| at as u32));
}

#[test]
fn what_only_the_engine_parses_is_checked_by_it() {
    let fixture = Fixture::new(SHOP);
    let database = fixture.open();
    for text in [
        "SELECT name FROM customers WHERE name IN secrets",
        "SELECT name FROM customers NOT INDEXED WHERE country ISNULL",
        "SELECT \"name\" FROM customers WHERE \"name\" IS NOT DISTINCT FROM 'Anna'",
        "SELECT title, rank FROM notes WHERE notes MATCH 'quick' ORDER BY rank",
        "SELECT rowid, bm25(notes) FROM notes('fox')",
    ] {
        let facts = runtime().block_on(database.check(&SqlQuery::new(text)));
        assert!(facts.is_ok_and(|facts| !facts.tables.is_empty()), "{text}");
        run(&database, text).unwrap();
    }
}

#[test]
fn plans_are_trees() {
    let fixture = Fixture::new(SHOP);
    let database = fixture.open();
    let query =
        SqlQuery::new("SELECT name FROM customers WHERE id = 1 UNION SELECT name FROM customers");
    let plan = runtime().block_on(database.explain(&query)).unwrap();
    assert_eq!(plan.format, "sqlite-eqp");
    assert!(
        plan.text.contains("\n  ") && plan.text.contains("USING INTEGER PRIMARY KEY"),
        "{}",
        plan.text
    );
    assert!(runtime().block_on(database.explain(&SqlQuery::new("DELETE FROM orders"))).is_err());
}

/// A row of long values: texts of `a`, one that ends with `b`, one of other letters, and a pattern.
const LONG: &str = "WITH a AS MATERIALIZED (SELECT replace(hex(zeroblob(990000)), '0', 'a') AS a),
    h AS MATERIALIZED (SELECT replace(hex(zeroblob(490000)), '0', 'a') || 'b' AS h),
    c AS MATERIALIZED (SELECT replace(hex(zeroblob(80000)), '0', 'c') AS c),
    s AS MATERIALIZED (SELECT replace(hex(zeroblob(20)), '0', 'a') || 'b' AS s)";

#[test]
fn functions_over_long_values_end_with_the_deadline() {
    let fixture = Fixture::new(SHOP);
    let mut config = hasty(&fixture);
    config.limits.sql_in_flight = 1;
    let database = SqliteDatabase::open(config).unwrap();
    let likes = vec!["(a LIKE '%' || s)"; 60].join(" + ");
    for expression in [
        "instr(a, h)",
        "replace(a, h, '')",
        "length(trim(a, c || 'a'))",
        "length(ltrim(a, c || 'a'))",
        "length(unhex(replace(substr(a, 1, 900000), 'a', 'z'), c || 'z'))",
        &likes,
        &likes.replace("LIKE '%'", "GLOB '*'"),
    ] {
        let error = refusal(&database, &format!("{LONG} SELECT {expression} FROM a, h, c, s"));
        // Not that its thread was given up.
        assert_eq!(
            (error.kind, error.rule.as_deref()),
            (SqlErrorKind::Timeout, Some("deadline")),
            "{expression}"
        );
    }
    // The engine checks no deadline within a row: what stands in one may be long, or its values
    // may.
    let many = format!("max({}0)", format!("max({}0), ", "-a, ".repeat(30)).repeat(30));
    let text = format!("{LONG} SELECT max({}0) FROM a", format!("{many}, ").repeat(10));
    let error = refusal(&database, &text);
    assert_eq!(
        (error.kind, error.rule.as_deref()),
        (SqlErrorKind::TooLarge, Some("length")),
        "{error:?}"
    );
    assert_is_free(&database);
}

#[test]
fn full_text_search_in_long_rows_ends() {
    let long = "INSERT INTO notes SELECT 'long', replace(hex(zeroblob(490000)), '00', 'a ');";
    let fixture = Fixture::new(&format!("{SHOP} {long}"));
    let database = fixture.open();
    for function in
        ["snippet(notes, 1, '', '', '', 64)", "highlight(notes, 1, '', '')", "bm25(notes)"]
    {
        let error = refusal(&database, &format!("SELECT {function} FROM notes('a')"));
        assert_eq!(
            (error.kind, error.rule.as_deref()),
            (SqlErrorKind::TooLarge, Some("full-text")),
            "{error:?}"
        );
        assert_eq!(
            rows(&database, &format!("SELECT {function} FROM notes WHERE notes MATCH 'fox'")).len(),
            1
        );
    }
    // One row of as many words as there may be, each of them wherever it is looked for.
    let words = vec!["a"; 15].join(" ");
    let near =
        SqlQuery::new(format!("SELECT count(*) FROM notes WHERE notes MATCH 'NEAR({words})'"));
    let hasty = SqliteDatabase::open(hasty(&fixture)).unwrap();
    if let Err(error) = runtime().block_on(hasty.run(&near)) {
        assert_eq!(
            (error.kind, error.rule.as_deref()),
            (SqlErrorKind::Timeout, Some("deadline")),
            "{error:?}"
        );
    }
    // Ranking by `snippet`, which no statement calls by its name.
    let ranked = "SELECT length(rank) FROM notes('a', 'snippet(1, '''', '''', '''', 64)')";
    assert_eq!(refusal(&database, ranked).rule.as_deref(), Some("full-text"));
    let others = [
        "SELECT 1 FROM notes('a' || ' b')",
        "SELECT 1 FROM notes WHERE \"match\"('a' || 'b', body)",
    ];
    for computed in others {
        assert_eq!(refusal(&database, computed).rule.as_deref(), Some("full-text"), "{computed}");
    }
    let computed =
        "SELECT 1 FROM notes WHERE notes MATCH (SELECT group_concat(body, ' ') FROM notes)";
    let error = refusal(&database, computed);
    assert_eq!(
        (error.kind, error.rule.as_deref()),
        (SqlErrorKind::Denied, Some("full-text")),
        "{error:?}"
    );
    assert_eq!(error.position, computed.find("MATCH").map(|at| at as u32));
}

#[test]
fn memory_is_counted_for_each_statement() {
    let fixture = Fixture::new(SHOP);
    let mut config = fixture.config();
    config.memory = 48 << 20;
    config.limits.sql_in_flight = 4;
    let database = SqliteDatabase::open(config).unwrap();
    let sort = SqlQuery::new(
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) \
         SELECT count(*) FROM (SELECT n, hex(randomblob(200000)) AS x FROM r ORDER BY x \
         LIMIT 1000000)",
    );
    // Its own sort holds more than nothing beside three that take all that one may.
    let harmless = SqlQuery::new(
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 4000) \
         SELECT count(*) FROM (SELECT n, hex(randomblob(500)) AS x FROM r ORDER BY x LIMIT 4000)",
    );
    runtime().block_on(async {
        let beside = async {
            for _ in 0..3 {
                database.run(&harmless).await.unwrap();
            }
        };
        let (a, b, c, ()) =
            tokio::join!(database.run(&sort), database.run(&sort), database.run(&sort), beside);
        for error in [a, b, c].map(|result| result.unwrap_err()) {
            assert_eq!(
                (error.kind, error.rule.as_deref()),
                (SqlErrorKind::TooLarge, Some("memory")),
                "{error:?}"
            );
            assert!(error.message.contains("48 MiB"), "{error:?}");
        }
    });
}

#[test]
fn a_statement_may_have_many_steps_over_short_values() {
    let fixture = Fixture::new(SHOP);
    let database = fixture.open();
    let sums: Vec<String> = (0..450)
        .map(|n| format!("max(length(name), {n}, customers.id + {n}, total * {n})"))
        .collect();
    let text = format!("SELECT {} FROM customers, orders", sums.join(", "));
    assert_eq!(run(&database, &text).unwrap().columns().len(), 450);
}

/// A database with a full-text table `d` whose row in the schema was changed.
fn with_changed_schema(change: &str) -> Fixture {
    let fixture = Fixture::new(
        "CREATE TABLE t(a); INSERT INTO t VALUES ('fox'); CREATE VIRTUAL TABLE d USING fts5(x); \
         INSERT INTO d VALUES ('fox');",
    );
    let writer = fixture.writer();
    writer.set_db_config(rusqlite::config::DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false).unwrap();
    writer.pragma_update(None, "writable_schema", true).unwrap();
    writer.execute_batch(change).unwrap();
    fixture
}

#[test]
fn a_table_whose_row_in_the_schema_deceives_is_not_readable() {
    for change in [
        "sql = 'create virtual table d using fts5(x) /* never'",
        "sql = 'create virtual table D using ''fts5''(x) -- more' || char(10) || '/* '",
        "rootpage = 2",
        "type = 'TABLE'",
        "type = CAST('table' AS BLOB), sql = CAST(sql || '/* ' AS BLOB)",
    ] {
        let fixture =
            with_changed_schema(&format!("UPDATE sqlite_schema SET {change} WHERE name = 'd'"));
        // The engine itself takes it for what it was.
        let count = fixture
            .writer()
            .query_row("SELECT count(*) FROM d('fox')", [], |row| row.get::<_, i64>(0));
        assert_eq!(count, Ok(1), "{change}");
        let database = fixture.open();
        assert_eq!(rows(&database, "SELECT a FROM t"), [[Value::Text("fox".into())]], "{change}");
        for sql in [
            "SELECT x FROM d",
            "SELECT count(*) FROM d('fox' || '')",
            "SELECT count(*) FROM d WHERE d MATCH 'fox' || ''",
            "SELECT * FROM d_content",
            "SELECT count(*) FROM d_data",
        ] {
            let error = refusal(&database, sql);
            assert_eq!(
                (error.kind, error.rule.as_deref()),
                (SqlErrorKind::Denied, Some("granted-tables")),
                "{change}: {sql}"
            );
        }
    }
}

#[test]
fn full_text_tables_are_known_however_they_are_declared() {
    let fixture = Fixture::new(
        "CREATE TABLE t(a, b); INSERT INTO t VALUES ('fox', 1); CREATE VIEW \"it's\" AS \
         SELECT a, b FROM t;
         CREATE VIRTUAL TABLE quoted USING 'fts5'(a); INSERT INTO quoted VALUES ('fox');
         CREATE VIRTUAL TABLE short USING fts5(a, con='it''s'); CREATE VIRTUAL TABLE column USING \
           fts5(content, content='it''s');
         CREATE VIEW searches AS SELECT a FROM quoted WHERE quoted = 'f' || 'ox';",
    );
    let database = fixture.open();
    assert_eq!(rows(&database, "SELECT a FROM quoted WHERE quoted MATCH 'fox'").len(), 1);
    for sql in [
        "SELECT 1 FROM quoted WHERE quoted MATCH 'f' || 'ox'",
        "SELECT 1 FROM searches",
        "SELECT a FROM searches",
    ] {
        assert_eq!(refusal(&database, sql).rule.as_deref(), Some("full-text"), "{sql}");
    }
    for table in ["short", "\"column\""] {
        let error = refusal(&database, &format!("SELECT * FROM {table}"));
        assert!(error.message.contains("its content is a view"), "{error:?}");
    }
    assert_eq!(rows(&database, "SELECT a FROM \"it's\"").len(), 1);
}

#[test]
fn a_name_in_double_quotes_that_nothing_has_is_an_unknown_column_everywhere() {
    let fixture = Fixture::new(
        "CREATE TABLE samples(sample_id INTEGER PRIMARY KEY, origin TEXT, status TEXT, \
         \"odd`name\" TEXT);
         INSERT INTO samples VALUES (1, 'a', 'done', 'x'), (2, 'b', 'open', 'y'), (3, 'c', \
           'done', 'z');
         CREATE VIEW finished AS SELECT sample_id, status, \"final\" AS state FROM samples \
           WHERE status = \"done\";",
    );
    let database = fixture.open();
    let runtime = runtime();
    for sql in [
        "SELECT DISTINCT \"lab_name\" FROM samples",
        "SELECT count(*) FROM samples WHERE \"state\" = 'done'",
        "SELECT count(*) FROM samples WHERE status = \"done\"",
        "SELECT sample_id FROM samples ORDER BY \"pionts\" DESC",
        "SELECT count(*) FROM samples GROUP BY \"pionts\"",
        "SELECT status FROM samples GROUP BY status HAVING \"pionts\" > 1",
        "SELECT a.sample_id FROM samples a LEFT JOIN samples b ON a.sample_id = \"b_id\"",
        "SELECT upper(\"lab_name\") FROM samples",
        "SELECT sample_id FROM samples WHERE origin IN (SELECT \"lab_name\" FROM samples)",
        "WITH c AS (SELECT \"lab_name\" AS x FROM samples) SELECT x FROM c",
        "SELECT sum(sample_id) OVER (PARTITION BY \"lab_name\") FROM samples",
        "SELECT sum(sample_id) OVER w FROM samples WINDOW w AS (ORDER BY \"lab_name\")",
        "SELECT value FROM json_each(\"lab_name\")",
        "VALUES (\"lab_name\")",
        "SELECT \"lab_name\" FROM finished",
        "SELECT f.state FROM finished f JOIN samples s ON s.sample_id = \"f_id\"",
        "SELECT sample_id FROM finished ORDER BY \"pionts\"",
    ] {
        let query = SqlQuery::new(sql);
        let run = runtime.block_on(database.run(&query)).unwrap_err();
        let check = runtime.block_on(database.check(&query)).unwrap_err();
        let explain = runtime.block_on(database.explain(&query)).unwrap_err();
        for error in [run, check, explain] {
            assert_eq!(error.kind, SqlErrorKind::UnknownColumn, "{sql}: {error:?}");
            assert!(
                error.message.starts_with("no such column") && !error.message.contains("literal"),
                "{error:?}"
            );
        }
    }
    let error = refusal(&database, "SELECT DISTINCT \"orgin\" FROM samples");
    assert_eq!(
        (error.position, error.suggestions.as_slice()),
        (Some(16), ["origin".to_owned()].as_slice())
    );
    let error = refusal(&database, "SELECT count(*) FROM samples WHERE status = \"done\"");
    assert!(error.message.ends_with("a text is written in single quotes: 'done'"), "{error:?}");
}

#[test]
fn names_in_double_quotes_and_texts_in_views_mean_what_they_did() {
    let fixture = Fixture::new(
        "CREATE TABLE samples(sample_id INTEGER PRIMARY KEY, status TEXT, \"odd`\"\"name\" TEXT);
         INSERT INTO samples VALUES (1, 'done', 'x'), (2, 'open', 'y'), (3, 'done', 'z');
         CREATE VIEW finished AS SELECT sample_id, status, \"final\" AS state FROM samples \
           WHERE status = \"done\";
         CREATE VIEW above AS SELECT count(*) AS n FROM finished WHERE state = \"final\";",
    );
    let database = fixture.open();
    fn integer(n: i64) -> Vec<Vec<Value>> {
        vec![vec![Value::Integer(n)]]
    }
    for (sql, expected) in [
        ("SELECT count(*) FROM finished", integer(2)),
        (
            "SELECT count(*) FROM \"finished\" AS \"f\" WHERE \"f\".\"state\" = 'final' \
             AND \"sample_id\" > 1",
            integer(1),
        ),
        ("SELECT n FROM above", integer(2)),
        ("SELECT \"n\" AS \"odd\" FROM above ORDER BY \"odd\"", integer(2)),
        (
            "SELECT count(\"odd`\"\"name\") FROM samples JOIN finished USING (\"sample_id\")",
            integer(2),
        ),
        ("SELECT \"count(*)\" FROM (SELECT count(*) FROM samples)", integer(3)),
        (
            "SELECT \"max(\"\"sample_id\"\")\" FROM (SELECT max(\"sample_id\") FROM samples)",
            integer(3),
        ),
        ("SELECT \"ROWID\" FROM samples WHERE status = 'open'", integer(2)),
    ] {
        assert_eq!(rows(&database, sql), expected, "{sql}");
    }
    let result = run(&database, "SELECT \"sample_id\" + 1 FROM finished").unwrap();
    assert_eq!(result.columns()[0].name, "\"sample_id\" + 1");
    // The samples of a view and the plans of statements over it are read as before.
    let samples = runtime().block_on(async {
        use syrch_core::ports::CellIndex;
        database.run(&SqlQuery::new("SELECT count(*) FROM finished")).await.unwrap();
        database.samples("finished", &["state".to_owned()], 3).await.unwrap()
    });
    assert_eq!(samples[0].frequent, [(Value::Text("final".into()), 2)]);
}
