//! Tests of the facts: what must resolve, what must pass, and what is certainly wrong.

use proptest::prelude::*;
use syrch_core::Column;

use super::*;

fn table(name: &str, columns: &[&str]) -> syrch_core::Table {
    syrch_core::Table {
        name: name.into(),
        columns: columns
            .iter()
            .map(|name| Column { name: (*name).into(), ..Column::default() })
            .collect(),
        ..syrch_core::Table::default()
    }
}

fn shop(dialect: Dialect) -> Catalog {
    Catalog {
        database: "shop".into(),
        dialect,
        tables: vec![
            table("customers", &["id", "name", "country"]),
            table("orders", &["id", "customer_id", "total", "status"]),
            table("Order Items", &["order_id", "Qty"]),
        ],
    }
}

fn task() -> Vec<Relation> {
    fn column(name: &str) -> Column {
        Column { name: name.into(), ..Column::default() }
    }
    vec![Relation {
        name: "task_a".into(),
        sql: "SELECT 1".into(),
        columns: vec![column("n"), column("country")],
    }]
}

fn check(text: &str) -> Result<Facts, Unresolved> {
    facts(text, &task(), &shop(Dialect::Sqlite))
}

fn refusal(text: &str) -> SqlError {
    match check(text) {
        Err(Unresolved::Refused(error)) => error,
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn what_syrch_0_1_2_refused_wrongly_resolves() {
    for text in [
        "SELECT country, count(*) AS n FROM customers GROUP BY country ORDER BY n DESC",
        "WITH t AS (SELECT country AS land FROM customers) SELECT land FROM t WHERE land <> 'DE'",
        "WITH t(a, b) AS (SELECT id, name FROM customers) SELECT b FROM t ORDER BY a",
        "SELECT s.c FROM (SELECT count(*) AS c FROM orders) AS s WHERE s.c > 1",
        "SELECT list_size(name) FROM customers",
        "SELECT column1 FROM (VALUES (1, 2)) WHERE column2 = 2",
        "SELECT t.x FROM (VALUES (1)) AS t(x)",
        "SELECT rowid, _rowid_ FROM orders WHERE oid = 1",
        "SELECT * FROM customers WHERE \"name\" = 'Anna' ORDER BY \"country\"",
        "SELECT total AS t FROM orders GROUP BY t HAVING t > 1",
        "SELECT id FROM orders UNION SELECT id FROM customers ORDER BY id",
        "SELECT id, name FROM customers JOIN orders USING (id) WHERE id = 1",
        "SELECT name FROM customers c WHERE EXISTS (SELECT 1 FROM orders o \
         WHERE o.customer_id = c.id)",
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5) \
         SELECT n FROM r",
        "SELECT \"Qty\", [order_id] FROM \"order items\"",
        "SELECT e.value FROM orders, json_each(orders.status) AS e",
        "SELECT main.customers.name FROM main.customers",
        "SELECT sum(total) OVER (PARTITION BY customer_id ORDER BY id) AS running FROM orders \
         ORDER BY running",
        "SELECT n, country FROM task_a WHERE country IN (SELECT country FROM customers)",
        "SELECT (SELECT max(total) FROM orders WHERE customer_id = customers.id) AS top \
         FROM customers ORDER BY top",
        "WITH b AS (SELECT * FROM a), a AS (SELECT id AS x FROM orders) SELECT x FROM b",
    ] {
        if let Err(error) = check(text) {
            panic!("{text}: {error:?}");
        }
    }
}

#[test]
fn wrong_names_are_reported_with_the_nearest() {
    use SqlErrorKind::{AmbiguousName, UnknownColumn, UnknownTable};
    for (text, kind, near, at) in [
        ("SELECT nmae FROM customers", UnknownColumn, "name", "nmae"),
        ("SELECT c.nmae FROM customers c", UnknownColumn, "c.name", "nmae"),
        ("SELECT x.name FROM customers c", UnknownColumn, "c.name", "x.name"),
        ("SELECT 1\nFROM custmers", UnknownTable, "customers", "custmers"),
        ("SELECT 1 FROM main.custmers", UnknownTable, "customers", "custmers"),
        ("SELECT id FROM customers, orders", AmbiguousName, "customers.id", "id"),
        ("SELECT name FROM customers WHERE total > 1", UnknownColumn, "orders.total", "total"),
        (
            "WITH t AS (SELECT id AS x FROM orders) SELECT id FROM t",
            UnknownColumn,
            "customers.id",
            "id FROM t",
        ),
        ("SELECT s.d FROM (SELECT 1 AS c) AS s", UnknownColumn, "", "d FROM"),
        ("SELECT name FROM customers ORDER BY ü, nam", UnknownColumn, "", "ü"),
        ("SELECT nn FROM task_a", UnknownColumn, "n", "nn"),
        ("SELECT \"nmae\" FROM customers", UnknownColumn, "name", "\"nmae\""),
        ("SELECT id FROM orders GROUP BY \"statsu\"", UnknownColumn, "status", "\"statsu\""),
        ("SELECT id FROM orders ORDER BY \"totl\" DESC", UnknownColumn, "total", "\"totl\""),
        ("SELECT count(*) FROM orders HAVING \"totl\" > 1", UnknownColumn, "total", "\"totl\""),
        (
            "SELECT sum(id) OVER (PARTITION BY \"totl\") FROM orders",
            UnknownColumn,
            "total",
            "\"totl\"",
        ),
        (
            "SELECT o.id FROM orders o JOIN customers c ON c.id = \"custmer_id\"",
            UnknownColumn,
            "",
            "\"custmer_id\"",
        ),
        (
            "WITH t AS (SELECT \"totl\" AS x FROM orders) SELECT x FROM t",
            UnknownColumn,
            "total",
            "\"totl\"",
        ),
        (
            "SELECT id FROM orders WHERE id IN (SELECT \"idd\" FROM customers)",
            UnknownColumn,
            "id",
            "\"idd\"",
        ),
    ] {
        let error = refusal(text);
        assert_eq!(error.kind, kind, "{text}");
        assert_eq!(error.position, text.rfind(at).map(|at| at as u32), "{text}: {error:?}");
        assert!(
            near.is_empty() || error.suggestions.contains(&near.to_owned()),
            "{text}: {error:?}"
        );
    }
}

#[test]
fn writes_in_disguise_are_refused() {
    let postgres = |text: &str| facts(text, &[], &shop(Dialect::Postgres)).unwrap_err();
    for text in [
        "WITH d AS (DELETE FROM orders RETURNING id) SELECT * FROM d",
        "SELECT * INTO copy FROM orders",
        "SELECT * FROM orders FOR UPDATE",
        "DELETE FROM orders",
    ] {
        let Unresolved::Refused(error) = postgres(text) else { panic!("{text}") };
        assert_eq!(
            (error.kind, error.rule.as_deref()),
            (SqlErrorKind::WriteRefused, Some("read-only")),
            "{text}"
        );
    }
}

#[test]
fn facts_speak_the_catalogs_spelling() {
    let found = check(
        "SELECT C.NAME, count(*) FROM CUSTOMERS c JOIN orders o ON o.customer_id = c.id \
         WHERE lower(country) = 'de' AND status IN ('paid', 'open') AND total BETWEEN 1 AND 20 \
         GROUP BY 1 HAVING count(*) > 3 ORDER BY 2 DESC LIMIT 7",
    )
    .unwrap();
    assert_eq!(found.tables, ["customers", "orders"]);
    assert_eq!(
        found.columns,
        [
            "customers.country",
            "customers.id",
            "customers.name",
            "orders.customer_id",
            "orders.status",
            "orders.total"
        ]
    );
    assert_eq!(found.functions, ["count", "lower"]);
    fn literal(table: &str, column: &str, text: &str) -> syrch_core::ports::Literal {
        syrch_core::ports::Literal {
            table: Some(table.into()),
            column: Some(column.into()),
            text: text.into(),
        }
    }
    for wanted in [
        literal("customers", "country", "de"),
        literal("orders", "status", "paid"),
        literal("orders", "status", "open"),
        literal("orders", "total", "20"),
    ] {
        assert_eq!(
            found.literals.iter().filter(|literal| literal.text == wanted.text).collect::<Vec<_>>(),
            [&wanted]
        );
    }
    assert!(found.ordered && !found.literals.iter().any(|literal| literal.text == "7"));
    assert!(
        found.skeleton.contains("= ?") && !found.skeleton.contains("'de'"),
        "{}",
        found.skeleton
    );
    assert_eq!(check("SELECT n FROM task_a, (SELECT 1)").unwrap().tasks, ["task_a"]);
}

/// Two schemas with a table of one name, and one with a table that only it has.
fn two_schemas(dialect: Dialect, first: &str) -> Catalog {
    let of = |schema: &str, mut table: syrch_core::Table| {
        table.schema_name = Some(schema.to_owned());
        table
    };
    let tables = vec![
        of("archive", table("orders", &["id", "old_total"])),
        of(first, table("orders", &["id", "total", "status"])),
        of(first, table("customers", &["id", "name"])),
    ];
    Catalog { database: "shop".into(), dialect, tables }
}

#[test]
fn tables_of_one_name_are_told_apart_by_their_schema() {
    for (dialect, usual, quote) in [
        (Dialect::Postgres, "public", '"'),
        (Dialect::Duckdb, "main", '"'),
        (Dialect::Spark, "default", '`'),
        (Dialect::Databricks, "default", '`'),
    ] {
        let catalog = two_schemas(dialect.clone(), usual);
        let check = |text: &str| {
            facts(text, &[], &catalog)
                .map_err(|error| panic!("{dialect:?} {text}: {error:?}"))
                .unwrap()
        };
        let found =
            check("SELECT old_total, c.name FROM archive.orders o JOIN customers c ON o.id = c.id");
        assert_eq!(found.tables, ["archive.orders", "customers"]);
        assert_eq!(
            found.columns,
            ["archive.orders.id", "archive.orders.old_total", "customers.id", "customers.name"]
        );
        // Without a schema the engine's own comes first.
        let found = check("SELECT total FROM orders WHERE status = 'open'");
        assert_eq!(found.tables, [format!("{usual}.orders")]);
        assert_eq!(found.literals[0].table, Some(format!("{usual}.orders")));
        assert_eq!(found.literals[0].text, "open");
        let both = format!(
            "SELECT archive.orders.old_total, {usual}.orders.total \
             FROM archive.orders, {usual}.{quote}orders{quote}"
        );
        assert_eq!(check(&both).tables, ["archive.orders".to_owned(), format!("{usual}.orders")]);
        assert_eq!(
            check("SELECT x.a FROM (SELECT old_total AS a FROM shop.archive.orders) x").tables,
            ["archive.orders"]
        );
        let ambiguous =
            facts(&format!("SELECT id FROM archive.orders, {usual}.orders"), &[], &catalog);
        let Err(Unresolved::Refused(error)) = ambiguous else { panic!("{ambiguous:?}") };
        assert_eq!(
            error.suggestions,
            ["archive.orders.id".to_owned(), format!("{usual}.orders.id")]
        );
        let unknown = facts("SELECT total FROM archive.orders", &[], &catalog);
        let Err(Unresolved::Refused(error)) = unknown else { panic!("{unknown:?}") };
        assert_eq!(error.kind, SqlErrorKind::UnknownColumn);
    }
    // Neither schema is one that an engine makes by itself: either may be meant.
    let found =
        facts("SELECT old_total, total FROM orders", &[], &two_schemas(Dialect::Spark, "shop"))
            .unwrap();
    assert_eq!(found.tables, ["archive.orders"]);
}

#[test]
fn each_dialect_is_read_as_its_engine_reads_it() {
    let spark = facts(
        r#"SELECT id FROM orders WHERE status = "it\'s" AND status <> r'\d'"#,
        &[],
        &shop(Dialect::Spark),
    )
    .unwrap();
    assert_eq!(
        spark.literals.iter().map(|literal| literal.text.as_str()).collect::<Vec<_>>(),
        ["it's", r"\d"]
    );
    let duckdb =
        facts(r"SELECT id FROM orders WHERE status = 'a\'", &[], &shop(Dialect::Duckdb)).unwrap();
    assert_eq!(duckdb.literals[0].text, r"a\");
    for (dialect, text) in [
        (Dialect::Duckdb, "FROM orders SELECT * EXCLUDE (id) WHERE total // 2 > 1"),
        (Dialect::Duckdb, "SELECT f.total FROM (FROM orders) f"),
        (Dialect::Spark, "SELECT t.x FROM orders LATERAL VIEW explode(split(status, ',')) t AS x"),
        (
            Dialect::Databricks,
            "SELECT total, transform(array(1), y -> y + total) FROM orders \
             QUALIFY row_number() OVER (ORDER BY id) = 1",
        ),
    ] {
        let found =
            facts(text, &[], &shop(dialect)).unwrap_or_else(|error| panic!("{text}: {error:?}"));
        assert_eq!(found.tables, ["orders"], "{text}");
    }
}

#[test]
fn what_is_not_certain_passes() {
    let generous = |text: &str| facts(text, &[], &shop(Dialect::Duckdb));
    for text in [
        "SELECT name.first FROM customers",
        "SELECT list_transform([1, 2], x -> x + 1)",
        "SELECT anything FROM read_csv('x')",
        "SELECT c FROM (SELECT max(total) FROM orders)",
    ] {
        assert!(!matches!(generous(text), Err(Unresolved::Refused(_))), "{text}");
    }
}

#[test]
fn what_only_the_engine_understands_is_unparsed() {
    let Err(Unresolved::Unparsed(error)) = check("SELECT 1 FROM orders WHERE") else { panic!() };
    assert_eq!(error.kind, SqlErrorKind::Syntax);
    let deep = format!("SELECT {}1{}", "(".repeat(5_000), ")".repeat(5_000));
    assert!(matches!(check(&deep), Err(Unresolved::Unparsed(_))));
    let long = format!("SELECT 1{}", "|1".repeat(30_000));
    assert!(matches!(check(&long), Err(Unresolved::Unparsed(_))));
    let chain = format!("SELECT 1{}", "+1".repeat(3_900));
    assert!(check(&chain).is_ok());
    let unions = format!("SELECT 1{}", " UNION ALL SELECT 1".repeat(3_000));
    assert!(check(&unions).is_ok());
}

proptest! {
    #[test]
    fn nothing_panics(text in "(SELECT|WITH|FROM|a|b\\.c|,|\\(|\\)|customers|'x'|\"y\"|AS|JOIN|ON|\
                               =|1|\\*| ){0,40}|\\PC{0,80}") {
        for dialect in [Dialect::Sqlite, Dialect::Postgres, Dialect::Duckdb, Dialect::Spark] {
            let _ = facts(&text, &[], &shop(dialect));
        }
    }

    #[test]
    fn any_alias_may_be_ordered_by(alias in "[a-z][a-z0-9_]{0,8}", column in "id|total|status") {
        let text = format!("SELECT {column} AS \"{alias}\" FROM orders ORDER BY \"{alias}\"");
        prop_assert!(check(&text).is_ok());
        let inner =
            format!("SELECT s.\"{alias}\" FROM (SELECT {column} AS \"{alias}\" FROM orders) s");
        prop_assert!(check(&inner).is_ok());
    }

    #[test]
    fn a_name_that_nothing_has_is_found_out(name in "zz[a-z]{1,8}") {
        let text = format!("SELECT total FROM orders WHERE {name} = 1");
        let error = refusal(&text);
        prop_assert_eq!(error.kind, SqlErrorKind::UnknownColumn);
        prop_assert_eq!(error.position, text.find(&name).map(|at| at as u32));
    }
}

#[test]
fn a_text_in_double_quotes_is_an_unknown_column_with_a_hint() {
    fn hint(text: &str) -> String {
        format!("no such column `{text}`; a text is written in single quotes: '{text}'")
    }
    for (text, name) in [
        ("SELECT id FROM orders WHERE status = \"paid\"", "paid"),
        ("SELECT id FROM orders WHERE \"paid\" = status", "paid"),
        ("SELECT id FROM orders WHERE status IN ('open', (\"paid\"))", "paid"),
        ("SELECT id FROM orders WHERE status LIKE \"pa%\"", "pa%"),
        ("SELECT id FROM orders WHERE status BETWEEN \"aa\" AND 'b'", "aa"),
        ("SELECT strftime(\"%Y\", status) FROM orders", "%Y"),
        ("SELECT status || \" of \" || id FROM orders", " of "),
        ("SELECT CASE status WHEN 'paid' THEN \"yes\" ELSE 'no' END FROM orders", "yes"),
    ] {
        assert_eq!(refusal(text).message, hint(name), "{text}");
    }
    for text in [
        "SELECT \"lab\" FROM orders",
        "SELECT id FROM orders WHERE \"lab\" = 'x'",
        "SELECT max(\"lab\") FROM orders",
    ] {
        assert_eq!(refusal(text).message, "no such column `lab`", "{text}");
    }
}

#[test]
fn texts_in_double_quotes_are_found_where_they_can_be_nothing_else() {
    let catalog = shop(Dialect::Sqlite);
    for (text, expected) in [
        (
            "SELECT id FROM orders WHERE status = \"it's\" AND \"total\" > 1",
            Some("SELECT id FROM orders WHERE status = 'it''s' AND \"total\" > 1"),
        ),
        (
            "SELECT \"name\" FROM customers WHERE \"Süd\" = country UNION SELECT status \
             FROM orders WHERE lower(status) LIKE \"%x\"",
            Some(
                "SELECT \"name\" FROM customers WHERE 'Süd' = country UNION SELECT status \
                 FROM orders WHERE lower(status) LIKE '%x'",
            ),
        ),
        // Nothing to change, a name that nearly exists, one of another table, and a name where no
        // value is expected.
        ("SELECT \"id\" FROM orders WHERE status = 'paid'", None),
        ("SELECT id FROM orders WHERE status = \"statsu\"", None),
        ("SELECT id FROM orders WHERE status = \"country\"", None),
        ("SELECT \"lab\" FROM orders WHERE status = \"paid\"", None),
        ("SELECT id FROM orders WHERE \"lab\" = \"paid\"", None),
        ("SELECT (", None),
        (
            "SELECT id FROM orders WHERE status = \"United status\"",
            Some("SELECT id FROM orders WHERE status = 'United status'"),
        ),
    ] {
        assert_eq!(with_single_quotes(text, &catalog).as_deref(), expected, "{text}");
    }
    assert_eq!(
        with_single_quotes(
            "SELECT id FROM orders WHERE status = \"paid\"",
            &shop(Dialect::Postgres)
        ),
        None
    );
}
