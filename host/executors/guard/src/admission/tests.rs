//! Statements that are admitted and refused, by dialect.

use proptest::prelude::*;
use syrch_core::{Catalog, Column, Table};

use super::*;

fn example_grant() -> Granted {
    fn table(schema: &str, name: &str) -> Table {
        Table {
            schema_name: Some(schema.into()),
            name: name.into(),
            columns: vec![Column { name: "id".into(), ..Column::default() }],
            ..Table::default()
        }
    }
    let tables = vec![
        table("public", "customers"),
        table("public", "orders"),
        table("sales", "orders"),
        table("sales", "regions"),
        table("hr", "people"),
        table("ops", "people"),
        table("public", "Mixed"),
    ];
    let catalog = Catalog { database: "shop".into(), dialect: Dialect::Postgres, tables };
    let mut granted = Granted::new(&catalog, vec!["public".into()]);
    granted.leave_out("public", "v_evil", "it calls `audit_hit`".into());
    granted
}

fn admit_text(text: &str) -> String {
    admit(text, &example_grant(), &Bounds::default())
        .unwrap_or_else(|error| panic!("{text}: {error:?}"))
        .sql
}

fn rule(text: &str) -> String {
    admit(text, &example_grant(), &Bounds::default()).unwrap_err().rule.unwrap()
}

#[test]
fn relations_are_qualified_and_names_quoted() {
    for (text, expected) in [
        ("select C.ID from Customers c", r#"SELECT "c"."id" FROM "public"."customers" "c""#),
        ("SELECT * FROM regions", r#"SELECT * FROM "sales"."regions""#),
        ("SELECT * FROM sales.orders o", r#"SELECT * FROM "sales"."orders" "o""#),
        ("SELECT * FROM orders", r#"SELECT * FROM "public"."orders""#),
        ("TABLE orders", r#"SELECT * FROM "public"."orders""#),
        (r#"SELECT * FROM "Mixed""#, r#"SELECT * FROM "public"."Mixed""#),
        (
            "WITH orders AS (SELECT 1 AS x) SELECT x FROM orders",
            r#"WITH "orders" AS (SELECT 1 AS "x") SELECT "x" FROM "orders""#,
        ),
        // Not recursive: within itself the name means the table.
        (
            "WITH orders AS (SELECT * FROM orders) SELECT * FROM orders",
            r#"WITH "orders" AS (SELECT * FROM "public"."orders") SELECT * FROM "orders""#,
        ),
        ("SELECT pg_catalog.lower('X')", "SELECT lower('X')"),
        ("SELECT - -1", "SELECT -(-1)"),
        (
            "SELECT 'a''''b', E'x\\'y', $$it's$$, 'a\\'",
            r"SELECT E'a\'\'b', E'x\'y', E'it\'s', E'a\\'",
        ),
        ("SELECT 5 BETWEEN SYMMETRIC 9 AND 1", "SELECT (5 BETWEEN 9 AND 1 OR 5 BETWEEN 1 AND 9)"),
    ] {
        assert_eq!(admit_text(text), expected, "{text}");
    }
}

#[test]
fn refusals_name_their_rule() {
    for (text, expected) in [
        ("DELETE FROM orders", "read-only"),
        ("WITH d AS (DELETE FROM orders RETURNING *) SELECT * FROM d", "read-only"),
        ("SELECT * INTO x FROM orders", "read-only"),
        ("SELECT * FROM orders FOR UPDATE", "locks"),
        ("SELECT 1; SELECT 2", "single-statement"),
        ("SELECT $1", "parameters"),
        ("SELECT * FROM pg_shadow", "granted-tables"),
        ("SELECT * FROM pg_catalog.pg_class", "granted-tables"),
        ("SELECT * FROM information_schema.tables", "granted-tables"),
        ("SELECT * FROM secret", "granted-tables"),
        ("SELECT * FROM v_evil", "granted-tables"),
        ("SELECT * FROM people", "ambiguous-table"),
        ("WITH pg_shadow AS (SELECT 1) SELECT 1", "name"),
        ("SELECT pg_sleep(1)", "function"),
        ("SELECT public.lower('x')", "function"),
        ("SELECT current_user", "function"),
        ("SELECT * FROM dblink('x') AS t(a int)", "function"),
        ("SELECT 1 OPERATOR(public.+) 2", "operator"),
        ("SELECT !! 5", "operator"),
        ("SELECT 'orders'::regclass", "type"),
        ("SELECT 'x'::evil_dom", "type"),
        ("SELECT 'x'::char(1000000)", "type"),
        ("SELECT repeat('x', id) FROM orders", "size-argument"),
        ("SELECT repeat(repeat('x', 10000), 10000)", "size-argument"),
        ("SELECT format('%1000000s', 'x')", "size-argument"),
        ("SELECT format('%*s', 10, 'x')", "size-argument"),
        (r#"SELECT 1 AS "a\""b""#, "name"),
        ("SELECT * FROM orders TABLESAMPLE BERNOULLI (1)", "clause"),
    ] {
        assert_eq!(rule(text), expected, "{text}");
    }
}

/// Each is written as two ranges, so that one in another is written four times.
#[test]
fn symmetric_ranges_in_each_other_are_few() {
    fn nest(levels: usize) -> String {
        let begin = "(".repeat(levels);
        let ends = " BETWEEN SYMMETRIC false AND true)".repeat(levels);
        format!("SELECT {begin}true{ends}")
    }
    assert_eq!(rule(&nest(12)), "expression-depth");
    assert!(admit_text(&nest(3)).len() < 1_000);
    let beside = vec![nest(3).replace("SELECT ", ""); 20].join(", ");
    admit_text(&format!("SELECT {beside}"));
}

#[test]
fn an_error_about_a_long_name_is_short() {
    let name = "é".repeat(20_000);
    for text in [format!("SELECT * FROM {name}"), format!("SELECT * FROM {name}.orders")] {
        let error = admit(&text, &example_grant(), &Bounds::default()).unwrap_err();
        assert!(error.message.len() < SqlError::MESSAGE + 16, "{}", error.message.len());
        assert!(error.message.ends_with("… (cut)"), "{}", error.message);
    }
}

#[test]
fn an_error_has_the_place_of_its_token() {
    fn position(text: &str) -> Option<u32> {
        admit(text, &example_grant(), &Bounds::default()).unwrap_err().position
    }
    assert_eq!(position("SELECT id, pg_sleep(1) FROM orders"), Some(11));
    assert_eq!(position("TABLE secret"), Some(6));
    let error = admit("SELECT * FROM custmers", &example_grant(), &Bounds::default()).unwrap_err();
    assert_eq!(error.suggestions, ["customers"]);
    let error = admit("SELECT * FROM mixed", &example_grant(), &Bounds::default()).unwrap_err();
    assert_eq!(error.suggestions, ["\"Mixed\""]);
}

/// The same tables in another dialect.
fn example_grant_in(dialect: Dialect) -> Granted {
    fn table(schema: &str, name: &str) -> Table {
        Table {
            schema_name: (!schema.is_empty()).then(|| schema.into()),
            name: name.into(),
            columns: vec![Column { name: "id".into(), ..Column::default() }],
            ..Table::default()
        }
    }
    let tables = vec![
        table("sales", "Orders"),
        table("sales", "customers"),
        table("old", "orders"),
        table("", "plain"),
    ];
    let path = vec!["sales".into()];
    Granted::new(&Catalog { database: "shop".into(), dialect, tables }, path)
}

fn admit_text_in(dialect: Dialect, text: &str) -> String {
    let granted = example_grant_in(dialect.clone());
    let admitted = admit(text, &granted, &Bounds::default());
    let admitted = admitted.unwrap_or_else(|error| panic!("{dialect:?} {text}: {error:?}")).sql;
    let again = admit(&admitted, &granted, &Bounds::default()).map(|again| again.sql);
    assert_eq!(again.as_ref(), Ok(&admitted), "{text}");
    admitted
}

#[test]
fn each_dialect_is_written_in_its_own_quotes() {
    fn other(name: &str) -> syrch_core::Dialect {
        Dialect::Other(name.to_owned())
    }
    for (dialect, text, expected) in [
        (Dialect::Duckdb, "SELECT ID FROM ORDERS", r#"SELECT "ID" FROM "sales"."Orders""#),
        (Dialect::Duckdb, "SELECT * FROM OLD.Orders o", r#"SELECT * FROM "old"."orders" "o""#),
        (
            Dialect::Duckdb,
            "WITH Orders AS (SELECT 1 AS x) SELECT x FROM orders",
            r#"WITH "Orders" AS (SELECT 1 AS "x") SELECT "x" FROM "Orders""#,
        ),
        (
            Dialect::Duckdb,
            r"SELECT 'a\', 'it''s', E'\t\'', 'a\''b'",
            "SELECT 'a\\', 'it''s', '\t''', 'a\\''b'",
        ),
        (
            Dialect::Duckdb,
            r#"SELECT {'a"b': 1}, "x y" FROM plain"#,
            r#"SELECT {'a"b': 1}, "x y" FROM "plain""#,
        ),
        (Dialect::Duckdb, "SELECT p -> '$.a' FROM plain", r#"SELECT "p" -> '$.a' FROM "plain""#),
        (Dialect::Spark, "SELECT ID FROM ORDERS", "SELECT `ID` FROM `sales`.`Orders`"),
        (
            Dialect::Spark,
            r#"SELECT "it's", 'a\'b', r'\d', 'x\%', '\\' FROM `old`.orders"#,
            r"SELECT 'it\'s', 'a\'b', '\\d', 'x\\%', '\\' FROM `old`.`orders`",
        ),
        (
            Dialect::Databricks,
            "SELECT a.`b c` FROM plain a WHERE a.x == 1",
            "SELECT `a`.`b c` FROM `plain` `a` WHERE `a`.`x` = 1",
        ),
        (
            Dialect::Mysql,
            r#"SELECT "it's", id FROM orders"#,
            "SELECT 'it''s', `id` FROM `sales`.`Orders`",
        ),
        (
            Dialect::Sqlite,
            r"SELECT [id], 'a\' FROM orders",
            r#"SELECT "id", 'a\' FROM "sales"."Orders""#,
        ),
        (
            other("snowflake"),
            "SELECT id, Name FROM orders",
            r#"SELECT id, Name FROM "sales"."Orders""#,
        ),
        (
            other("bigquery"),
            r#"SELECT "it's", id FROM orders"#,
            r#"SELECT "it's", `id` FROM `sales`.`Orders`"#,
        ),
    ] {
        assert_eq!(admit_text_in(dialect, text), expected, "{text}");
    }
}

#[test]
fn the_databases_own_catalog_may_stand_before_a_schema() {
    for (dialect, expected) in [
        (Dialect::Databricks, "SELECT * FROM `main`.`sales`.`Orders`"),
        (Dialect::Duckdb, r#"SELECT * FROM "main"."sales"."Orders""#),
    ] {
        let granted = example_grant_in(dialect).in_catalog("main");
        for text in [
            "SELECT * FROM main.sales.orders",
            "SELECT * FROM sales.orders",
            "SELECT * FROM orders",
        ] {
            let admitted = admit(text, &granted, &Bounds::default()).unwrap();
            assert_eq!(
                (admitted.sql.as_str(), admitted.tables),
                (expected, vec!["sales.Orders".to_owned()])
            );
        }
        for name in ["other.sales.orders", "main.sales.secret", "a.main.sales.orders"] {
            let refused =
                admit(&format!("SELECT * FROM {name}"), &granted, &Bounds::default()).unwrap_err();
            assert_eq!(refused.rule.as_deref(), Some("granted-tables"));
        }
    }
    assert_eq!(rule("SELECT * FROM shop.public.orders"), "granted-tables");
}

#[test]
fn sizes_of_a_series_are_counted() {
    fn rule(dialect: Dialect, text: &str) -> Option<String> {
        admit(text, &example_grant_in(dialect), &Bounds::default())
            .err()
            .and_then(|error| error.rule)
    }
    for text in [
        "SELECT * FROM range(1000)",
        "SELECT * FROM range(-10, 10, 2)",
        "SELECT * FROM generate_series(DATE '1990-01-01', DATE '2024-12-31', INTERVAL 1 DAY)",
        "SELECT * FROM generate_series('2024-01-01'::TIMESTAMP, '2024-02-01'::TIMESTAMP, \
         INTERVAL '1 day')",
    ] {
        assert_eq!(rule(Dialect::Duckdb, text), None, "{text}");
    }
    for text in [
        "SELECT * FROM range(1000001)",
        "SELECT * FROM range(1, 10, 0)",
        "SELECT * FROM range(1001) a, range(1001) b",
        "SELECT range(id) FROM orders",
        "SELECT * FROM range(CAST(DATE '1970-01-01' AS BIGINT), CAST(DATE '1970-01-02' AS BIGINT))",
        "SELECT * FROM generate_series(DATE '1990-01-01', DATE '2024-12-31', INTERVAL 1 SECOND)",
        "SELECT * FROM generate_series(DATE '1990-01-01', DATE '2024-12-31', INTERVAL 0 DAY)",
    ] {
        assert_eq!(rule(Dialect::Duckdb, text).as_deref(), Some("size-argument"), "{text}");
    }
    assert_eq!(rule(Dialect::Spark, "SELECT explode(sequence(1, 10))"), None);
    // Seconds, not days.
    let seconds = "SELECT * FROM range(CAST(TIMESTAMP '1970-01-01' AS BIGINT), CAST(TIMESTAMP \
                   '2024-01-01' AS BIGINT))";
    assert_eq!(rule(Dialect::Spark, seconds).as_deref(), Some("size-argument"));
    assert_eq!(
        rule(Dialect::Spark, "SELECT name RLIKE '(a+)+' FROM old.orders").as_deref(),
        Some("pattern")
    );
}

/// The stack on which a statement is read without a larger one is enough for it.
#[test]
fn the_stack_is_large_enough() {
    fn deep(open: &str, inner: &str, close: &str, levels: usize) -> String {
        format!("SELECT {}{inner}{} FROM orders", open.repeat(levels), close.repeat(levels))
    }
    let statements = [
        format!("SELECT id FROM orders WHERE id = 1{}", " OR id > 5 AND id < 9".repeat(300)),
        format!("SELECT 1{}", " UNION ALL SELECT 1".repeat(300)),
        format!("SELECT id{} FROM orders", "::text || 'a'".repeat(300)),
        deep("lower(", "'x'", ")", 45),
        deep("(SELECT max(", "id", ") FROM orders)", 20),
        deep("CASE WHEN id > 1 THEN ", "1", " ELSE 0 END", 45),
        format!("SELECT 1 {}", "+ -(1 * (2))".repeat(200)),
    ];
    for text in statements {
        let tokens = prelex(&text, &Dialect::Postgres, &Bounds::default()).unwrap();
        let operators = facts::check_chains(&text, &tokens).unwrap();
        let size = stack::BASE + operators * stack::PER_OPERATOR + (256 << 10);
        let thread = std::thread::Builder::new().stack_size(size);
        thread
            .spawn(move || {
                admit(&text, &example_grant(), &Bounds::default())
                    .map(|_| ())
                    .map_err(|error| (error, text))
            })
            .unwrap()
            .join()
            .unwrap()
            .unwrap();
    }
}

/// Statements that pass, to be changed.
const SEEDS: &[&str] = &[
    "SELECT c.id, count(*) FILTER (WHERE o.id > 1) FROM customers AS c \
     JOIN orders o ON o.id = c.id GROUP BY 1 ORDER BY 2 DESC LIMIT 3",
    "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 9) \
     SELECT n, 'a''b' || E'c\\'d' FROM t",
    "SELECT id::numeric(10, 2), -(-1), '{\"a\": 1}'::jsonb ->> 'a', ARRAY[1, 2] && ARRAY[2] \
     FROM \"Mixed\"",
    "SELECT extract(year FROM DATE '2024-01-01'), INTERVAL '1 day', id BETWEEN SYMMETRIC 9 AND 1 \
     FROM sales.orders",
    "SELECT sum(id) OVER (PARTITION BY id ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) \
     FROM regions, LATERAL (SELECT 1) x",
];

const PIECES: &[&str] = &[
    "'",
    "''",
    "\"",
    "\\",
    "\\'",
    "$$",
    "$a$",
    "--",
    "/*",
    "*/",
    ";",
    "(",
    ")",
    "-",
    "!!",
    "E'",
    "U&'",
    "U&\"",
    "B'",
    "X'",
    "::",
    " TABLE ",
    " INTO x ",
    " FOR UPDATE ",
    "pg_shadow",
    "pg_sleep(1)",
    "\u{0}",
    "\u{feff}",
    "é",
    " SYMMETRIC ",
    " ONLY ",
    ",",
    ".",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn a_changed_statement_never_crashes_the_guard_and_what_passes_stays_as_it_is(
        seed in 0..SEEDS.len(),
        changes in prop::collection::vec(
            (any::<prop::sample::Index>(), 0..PIECES.len(), 0_usize..6), 1..5
        ),
    ) {
        let mut text: Vec<char> = SEEDS[seed].chars().collect();
        for (at, piece, removed) in changes {
            let at = at.index(text.len() + 1);
            let end = (at + removed).min(text.len());
            text.splice(at..end, PIECES[piece].chars());
        }
        let text: String = text.into_iter().collect();
        if let Ok(first) = admit(&text, &example_grant(), &Bounds::default()) {
            // Admitted again, it is the same statement: nothing in it reads otherwise than it was
            // checked.
            let second = admit(&first.sql, &example_grant(), &Bounds::default());
            prop_assert_eq!(second.map(|second| second.sql), Ok(first.sql), "{}", text);
            prop_assert!(!first.functions.iter().any(|function| function.starts_with("pg_")));
        }
    }

    #[test]
    fn no_text_crashes_the_guard(text in any::<String>()) {
        let _ = admit(&text, &example_grant(), &Bounds::default());
    }
}

#[test]
fn a_common_table_is_read_only_where_every_engine_takes_the_name_for_it() {
    // Checked with DuckDB 2.0: in each of these it takes `secret` for a table of its own.
    for text in [
        "WITH RECURSIVE a AS (SELECT * FROM secret), secret AS (SELECT 1) SELECT * FROM a",
        "WITH RECURSIVE a AS (SELECT * FROM \"/etc/x.csv\"), \"/etc/x.csv\" AS (SELECT 1) \
         SELECT * FROM a",
        "WITH RECURSIVE secret AS (SELECT * FROM secret) SELECT * FROM secret",
        "WITH RECURSIVE secret AS (SELECT * FROM secret UNION ALL SELECT 1) SELECT * FROM secret",
        "WITH RECURSIVE secret AS (SELECT 1 UNION ALL SELECT * FROM secret UNION ALL SELECT 2) \
         SELECT * FROM secret",
        "WITH RECURSIVE secret AS (SELECT 1 INTERSECT SELECT * FROM secret) SELECT * FROM secret",
        "WITH RECURSIVE secret AS (SELECT 1 AS s UNION BY NAME SELECT s FROM secret) \
         SELECT * FROM secret",
        "WITH RECURSIVE b AS (WITH c AS (SELECT 1) SELECT 1 UNION ALL SELECT 2), d AS (SELECT 1 \
         UNION ALL SELECT * FROM secret), secret AS (SELECT 1) SELECT 1",
    ] {
        for dialect in [Dialect::Duckdb, Dialect::Spark, Dialect::Mysql, Dialect::Ansi] {
            let rule = admit(text, &example_grant_in(dialect.clone()), &Bounds::default())
                .unwrap_err()
                .rule
                .unwrap();
            let has_form =
                dialect == Dialect::Duckdb || !text.contains("BY NAME") && !text.contains('"');
            assert!(rule == "granted-tables" || !has_form, "{dialect:?} {text}: {rule}");
        }
    }
    // A granted table is read where the name means no common table yet.
    assert_eq!(
        admit_text_in(
            Dialect::Duckdb,
            "WITH RECURSIVE a AS (SELECT * FROM orders), orders AS (SELECT 1) SELECT * FROM a"
        ),
        r#"WITH RECURSIVE "a" AS (SELECT * FROM "sales"."Orders"), "orders" AS (SELECT 1) SELECT * FROM "a""#
    );
    for text in [
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n \
         WHERE i < 5), m AS (SELECT * FROM n) SELECT * FROM m",
        "WITH RECURSIVE n AS (SELECT 1 AS i UNION SELECT n.i FROM orders \
         JOIN n ON n.i = orders.id) SELECT * FROM n",
        "WITH a AS (SELECT 1), b AS (SELECT * FROM a) SELECT * FROM (WITH a AS (SELECT * FROM b) \
         SELECT * FROM a)",
    ] {
        for dialect in
            [Dialect::Postgres, Dialect::Duckdb, Dialect::Spark, Dialect::Mysql, Dialect::Ansi]
        {
            admit(text, &example_grant_in(dialect.clone()), &Bounds::default())
                .unwrap_or_else(|error| panic!("{dialect:?} {text}: {error}"));
        }
    }
}

#[test]
fn a_common_table_is_written_as_it_was_defined() {
    // The sign for kelvin becomes a `k` in lower case, and is another letter to DuckDB.
    for (dialect, text, expected) in [
        (
            Dialect::Duckdb,
            "WITH \"ban\u{212a}\" AS (SELECT 1) SELECT * FROM bank",
            "WITH \"ban\u{212a}\" AS (SELECT 1) SELECT * FROM \"ban\u{212a}\"",
        ),
        (
            Dialect::Mysql,
            "WITH a AS (SELECT 1) SELECT * FROM A",
            "WITH `a` AS (SELECT 1) SELECT * FROM `a`",
        ),
        (
            Dialect::Ansi,
            "WITH a AS (SELECT 1) SELECT * FROM \"a\"",
            "WITH a AS (SELECT 1) SELECT * FROM a",
        ),
        (
            Dialect::Ansi,
            "WITH \"A\" AS (SELECT 1) SELECT * FROM a",
            "WITH \"A\" AS (SELECT 1) SELECT * FROM \"A\"",
        ),
    ] {
        assert_eq!(admit_text_in(dialect, text), expected);
    }
    let text = "WITH \"A\" AS (SELECT 1) SELECT * FROM a";
    assert_eq!(
        admit(text, &example_grant_in(Dialect::Postgres), &Bounds::default())
            .unwrap_err()
            .rule
            .unwrap(),
        "granted-tables"
    );
}
