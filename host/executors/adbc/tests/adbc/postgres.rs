//! PostgreSQL by its ADBC driver. Its databases are better opened without one: the host's own
//! executor checks more.

use syrch_adbc::{AdbcConfig, AdbcDatabase, AdbcEngine};
use syrch_arrow_engine::ArrowEngine;
use syrch_core::ports::{Database, DatabaseError, SqlQuery};
use syrch_core::{Dialect, Limits, SqlErrorKind, Value};
use syrch_kit::postgres::Server;

use crate::common::{Direct, driver, is_capped, single, text};

const SHOP: &str = "CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT NOT NULL, height \
                    DOUBLE PRECISION);
    INSERT INTO people VALUES (1, 'Zoë', 1.75), (2, '名前 🦆', NULL);
    CREATE TABLE orders (id BIGINT, person INTEGER REFERENCES people(id), total NUMERIC(10, 2), \
      PRIMARY KEY (id, total));
    INSERT INTO orders VALUES (10, 1, 5.50);
    CREATE SCHEMA old;
    CREATE TABLE old.people (name VARCHAR(20));
    CREATE VIEW tall AS SELECT name FROM people WHERE height > 1;
    COMMENT ON TABLE people IS 'who buys';
    ANALYZE people;
    CREATE ROLE reader LOGIN;
    GRANT SELECT ON people, orders TO reader;";

const ENDLESS: &str =
    "SELECT count(*) FROM generate_series(1, 10000000) a, generate_series(1, 1000) b";

/// A configuration for a database of its own.
fn config(database: &str, user: &str) -> Option<(AdbcConfig, &'static Server)> {
    let library = driver("libadbc_driver_postgresql.so")?;
    let server = Server::get_shared()?;
    server.database(database, &SHOP.replace("reader", &format!("{database}_reader")));
    let mut config = AdbcConfig::new(database, library, Dialect::Postgres);
    let user = user.replace("reader", &format!("{database}_reader"));
    config.database.insert("uri".to_owned(), server.url(&user, database).into());
    Some((config, server))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_catalog_has_what_the_user_may_read() {
    let Some((config, _)) = config("adbc_catalog", "admin") else { return };
    let schema = Direct::open(config).await.engine.schema().await.unwrap();
    let names: Vec<&str> = schema.tables.iter().map(|table| table.name.as_str()).collect();
    assert_eq!(names, ["people", "orders", "people", "tall"]);
    assert_eq!(schema.path, ["public"]);
    let [orders, people, tall] = [1, 2, 3].map(|place| &schema.tables[place]);
    assert_eq!((people.comment.as_deref(), people.row_estimate), (Some("who buys"), Some(2)));
    assert_eq!(
        (orders.primary_key.join(","), orders.columns[2].sql_type.as_str()),
        ("id,total".to_owned(), "numeric(10,2)")
    );
    assert_eq!(orders.foreign_keys[0].ref_table, "public.people");
    assert!(tall.is_view() && !people.columns[1].nullable && people.columns[2].nullable);
}

#[tokio::test(flavor = "multi_thread")]
async fn views_that_do_what_a_statement_may_not_are_left_out() {
    let Some((config, server)) = config("adbc_views", "reader") else { return };
    let script = "CREATE FUNCTION hit() RETURNS int LANGUAGE sql AS 'SELECT 1'; \
        CREATE DOMAIN small AS int CHECK (VALUE < 10); CREATE FUNCTION same(int, int) RETURNS bool \
        LANGUAGE sql AS 'SELECT $1 = $2'; CREATE OPERATOR === (LEFTARG = int, RIGHTARG = int, \
        FUNCTION = same); CREATE VIEW calls AS SELECT hit() AS h FROM people; \
        CREATE VIEW compares AS SELECT id FROM people WHERE id === 1; \
        CREATE VIEW casts AS SELECT id::small AS id FROM people; CREATE VIEW reads AS \
        SELECT pg_read_file('PG_VERSION') AS f; CREATE VIEW again AS SELECT f || 'x' AS f \
        FROM reads; CREATE VIEW \"Third\" AS SELECT f FROM again; CREATE VIEW fine AS \
        SELECT upper(name) AS name FROM tall WHERE name LIKE 'Z%'; GRANT \
        SELECT ON ALL TABLES IN SCHEMA public TO adbc_views_reader";
    server.psql("adbc_views", script).unwrap();
    let database = AdbcDatabase::open(config).await.unwrap();
    let catalog = database.catalog().await.unwrap();
    let views: Vec<&str> = catalog
        .tables
        .iter()
        .filter(|table| table.is_view())
        .map(|table| table.name.as_str())
        .collect();
    assert_eq!(views, ["fine", "tall"]);
    for (view, reason) in [
        ("calls", "`hit`"),
        ("compares", "`===`"),
        ("casts", "`small`"),
        ("reads", "`pg_read_file`"),
        ("again", "a view that is left out"),
        ("\"Third\"", "a view that is left out"),
    ] {
        let refused =
            database.run(&SqlQuery::new(format!("SELECT * FROM {view}"))).await.unwrap_err();
        assert_eq!(refused.kind, SqlErrorKind::Denied);
        assert!(refused.message.contains(reason), "{view}: {refused}");
    }
    let rows = database.run(&SqlQuery::new("SELECT name FROM fine")).await.unwrap().rows(0, 9);
    assert_eq!(rows, [[text("ZOë")]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn statements_are_answered_through_the_guard() {
    let Some((config, _)) = config("adbc_answers", "reader") else { return };
    let database = AdbcDatabase::open(config).await.unwrap();
    let tables: Vec<String> =
        database.catalog().await.unwrap().tables.iter().map(|table| table.name.clone()).collect();
    assert_eq!(tables, ["orders", "people"]);
    let query = SqlQuery::new(
        "SELECT p.name, o.total, 3, NULL FROM people p JOIN orders o ON o.person = p.id",
    );
    let result = database.run(&query).await.unwrap().rows(0, 9);
    let total = Value::Decimal("5.50".to_owned());
    assert_eq!(result, [[text("Zoë"), total, Value::Integer(3), Value::Null]]);
    let plan = database.explain(&query).await.unwrap();
    assert!(
        plan.format == "postgres-explain" && plan.cost.is_some() && plan.rows.is_some(),
        "{plan:?}"
    );
    let unknown = database.check(&SqlQuery::new("SELECT nickname FROM people")).await.unwrap_err();
    assert_eq!(unknown.kind, SqlErrorKind::UnknownColumn);
    assert_eq!(database.identity().await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn types_that_the_driver_does_not_know_arrive_as_texts() {
    let Some((config, _)) = config("adbc_types", "admin") else { return };
    let direct = Direct::open(config).await;
    for (sql, sql_type, expected) in [
        ("-5::int2", "int2", Value::Integer(-5)),
        ("true", "bool", Value::Boolean(true)),
        ("'1.20'::money::numeric", "numeric", Value::Decimal("1.20".to_owned())),
        (
            "'-123456789012345678901234567.000000001'::numeric",
            "numeric",
            Value::Decimal("-123456789012345678901234567.000000001".to_owned()),
        ),
        ("repeat('9', 39)::numeric", "numeric", text(&"9".repeat(39))),
        ("'$1.20'::money", "money", text("$1.20")),
        ("inet '10.0.0.1'", "inet", text("10.0.0.1/32")),
        ("bit '101'", "bit", text("101")),
        (
            "'aa0e8400-e29b-41d4-a716-446655440000'::uuid",
            "uuid",
            text("aa0e8400-e29b-41d4-a716-446655440000"),
        ),
        ("'[1,5)'::int4range", "", text("[1,5)")),
        ("date '2020-02-29'", "date", text("2020-02-29")),
        ("jsonb '{\"a\": 1}'", "jsonb", text("{\"a\": 1}")),
        ("bytea '\\x00ff'", "bytea", Value::Bytes(vec![0, 255])),
    ] {
        let result = direct
            .run(&format!("SELECT {sql} AS \"a b\""))
            .await
            .unwrap_or_else(|error| panic!("{sql}: {error}"));
        assert_eq!(result.columns()[0].name, "a b");
        assert!(
            result.columns()[0].sql_type.starts_with(sql_type),
            "{sql}: {}",
            result.columns()[0].sql_type
        );
        assert_eq!(result.rows(0, 1), [[expected]], "{sql}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_have_kinds_and_quote_no_cells() {
    use SqlErrorKind::{AmbiguousName, Syntax, UnknownColumn, UnknownTable};
    let Some((config, _)) = config("adbc_errors", "admin") else { return };
    let direct = Direct::open(config).await;
    for (sql, kind) in [
        ("SELEC 1", Syntax),
        ("SELECT * FROM public.persons", UnknownTable),
        ("SELECT nickname FROM public.people", UnknownColumn),
        ("SELECT id FROM public.people, public.orders", AmbiguousName),
    ] {
        assert_eq!(direct.error(sql).await.kind, kind, "running `{sql}`");
        assert_eq!(direct.prepare(sql).await.unwrap_err().kind, kind, "preparing `{sql}`");
    }
    for sql in
        ["SELECT CAST(name AS INTEGER) FROM public.people", "SELECT name::date FROM public.people"]
    {
        let error = direct.error(sql).await;
        assert!(
            !error.message.contains("Zo") && !error.message.contains("名前"),
            "`{sql}`: {error}"
        );
    }
    assert_eq!(direct.rows("SELECT count(*) FROM public.people").await, [[Value::Integer(2)]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn results_are_capped() {
    let Some((config, _)) = config("adbc_caps", "admin") else { return };
    let many = "SELECT a, b FROM generate_series(1, 100000) a, generate_series(1, 1000) b";
    is_capped(config, many, "SELECT repeat('x', 2000)").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn statements_end_at_their_deadline_and_when_they_are_dropped() {
    let Some((config, server)) = config("adbc_deadline", "admin") else { return };
    let direct = Direct::open(AdbcConfig { limits: single(1_000), ..config.clone() }).await;
    direct.ends_at_its_deadline(ENDLESS).await;
    let direct = Direct::open(AdbcConfig { limits: single(60_000), ..config }).await;
    direct.ends_when_dropped(ENDLESS).await;
    let running = "SELECT count(*) FROM pg_stat_activity WHERE datname = 'adbc_deadline' \
                   AND state = 'active'";
    assert_eq!(server.psql("postgres", running).as_deref(), Ok("0"));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_guard_statements_do_not_write_and_leave_nothing_behind() {
    let Some((config, server)) = config("adbc_writes", "admin") else { return };
    let direct = Direct::open(AdbcConfig { limits: single(5_000), ..config }).await;
    for sql in [
        "CREATE TABLE public.made (a INTEGER)",
        "INSERT INTO public.orders VALUES (11, 1, 1)",
        "DELETE FROM public.orders",
        "WITH gone AS (DELETE FROM public.orders RETURNING 1) SELECT * FROM gone",
        "SELECT 1; DELETE FROM public.orders",
        "SELECT nextval('public.made')",
    ] {
        direct.error(sql).await;
    }
    // What a session may change of itself ends with the statement.
    for sql in [
        "SELECT set_config('default_transaction_read_only', 'off', false)",
        "SET default_transaction_read_only = off",
        "BEGIN READ WRITE",
        "SELECT pg_advisory_lock(5)",
    ] {
        let _ = direct.run(sql).await;
        let refused = direct.error("DELETE FROM public.orders").await;
        assert_eq!(refused.kind, SqlErrorKind::WriteRefused, "after `{sql}`: {refused}");
    }
    let state = "SELECT (SELECT count(*) FROM public.orders), (SELECT count(*) FROM pg_locks \
                 WHERE locktype = 'advisory')";
    assert_eq!(server.psql("adbc_writes", state).as_deref(), Ok("1|0"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_password_is_in_no_error() {
    let Some((mut config, server)) = config("adbc_password", "admin") else { return };
    let address = format!("postgresql://admin:hunter22@127.0.0.1:{}/adbc_password", server.port());
    let garbled = "postgresql//admin:hunter22@127.0.0.1/adbc_password".to_owned();
    for (uri, is_refused) in [(address, true), (garbled, false)] {
        config.database.insert("uri".to_owned(), uri.into());
        let error = AdbcEngine::open(config.clone()).await.err().unwrap();
        assert!(!error.to_string().contains("hunter22"), "{error}");
        if is_refused {
            assert!(
                matches!(
                    error,
                    DatabaseError::LoginRefused { .. } | DatabaseError::Unreachable { .. }
                ),
                "{error:?}"
            );
        }
    }
    let down = "postgresql://admin@127.0.0.1:1/none".to_owned();
    config.database.insert("uri".to_owned(), down.into());
    let config = AdbcConfig { limits: Limits::default(), ..config };
    assert!(matches!(
        AdbcEngine::open(config).await.err(),
        Some(DatabaseError::Unreachable { .. })
    ));
}
