use proptest::prelude::*;
use syrch_core::{Catalog, Column, Table};

use super::*;

fn granted() -> Granted {
    let table = |schema: &str, name: &str| Table {
        schema_name: Some(schema.into()),
        name: name.into(),
        columns: vec![Column { name: "id".into(), ..Column::default() }],
        ..Table::default()
    };
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

fn admitted(text: &str) -> String {
    admit(text, &granted(), &Bounds::default()).unwrap_or_else(|error| panic!("{text}: {error:?}")).sql
}

fn rule(text: &str) -> String {
    admit(text, &granted(), &Bounds::default()).unwrap_err().rule.unwrap()
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
        ("SELECT 'a''''b', E'x\\'y', $$it's$$, 'a\\'", r"SELECT E'a\'\'b', E'x\'y', E'it\'s', E'a\\'"),
        ("SELECT 5 BETWEEN SYMMETRIC 9 AND 1", "SELECT (5 BETWEEN 9 AND 1 OR 5 BETWEEN 1 AND 9)"),
    ] {
        assert_eq!(admitted(text), expected, "{text}");
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

#[test]
fn an_error_has_the_place_of_its_token() {
    let position = |text: &str| admit(text, &granted(), &Bounds::default()).unwrap_err().position;
    assert_eq!(position("SELECT id, pg_sleep(1) FROM orders"), Some(11));
    assert_eq!(position("TABLE secret"), Some(6));
    let error = admit("SELECT * FROM custmers", &granted(), &Bounds::default()).unwrap_err();
    assert_eq!(error.suggestions, ["customers"]);
    let error = admit("SELECT * FROM mixed", &granted(), &Bounds::default()).unwrap_err();
    assert_eq!(error.suggestions, ["\"Mixed\""]);
}

/// Statements that pass, to be changed.
const SEEDS: &[&str] = &[
    "SELECT c.id, count(*) FILTER (WHERE o.id > 1) FROM customers AS c JOIN orders o ON o.id = c.id GROUP BY 1 ORDER BY 2 DESC LIMIT 3",
    "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 9) SELECT n, 'a''b' || E'c\\'d' FROM t",
    "SELECT id::numeric(10, 2), -(-1), '{\"a\": 1}'::jsonb ->> 'a', ARRAY[1, 2] && ARRAY[2] FROM \"Mixed\"",
    "SELECT extract(year FROM DATE '2024-01-01'), INTERVAL '1 day', id BETWEEN SYMMETRIC 9 AND 1 FROM sales.orders",
    "SELECT sum(id) OVER (PARTITION BY id ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM regions, LATERAL (SELECT 1) x",
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
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0..PIECES.len(), 0_usize..6), 1..5),
    ) {
        let mut text: Vec<char> = SEEDS[seed].chars().collect();
        for (at, piece, removed) in changes {
            let at = at.index(text.len() + 1);
            let end = (at + removed).min(text.len());
            text.splice(at..end, PIECES[piece].chars());
        }
        let text: String = text.into_iter().collect();
        if let Ok(first) = admit(&text, &granted(), &Bounds::default()) {
            // Admitted again, it is the same statement: nothing in it reads otherwise than it was checked.
            let second = admit(&first.sql, &granted(), &Bounds::default());
            prop_assert_eq!(second.map(|second| second.sql), Ok(first.sql), "{}", text);
            prop_assert!(!first.functions.iter().any(|function| function.starts_with("pg_")));
        }
    }

    #[test]
    fn no_text_crashes_the_guard(text in any::<String>()) {
        let _ = admit(&text, &granted(), &Bounds::default());
    }
}
