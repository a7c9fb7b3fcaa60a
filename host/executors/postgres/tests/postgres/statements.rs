//! Statements against a live server: types, names, limits, deadlines, cancelling, and servers that
//! are not there.

use std::time::{Duration, Instant};

use crate::common::{config, refusal, rows, run};
use syrch_core::ports::{CellIndex, Database, DatabaseError, Match, PortError, SqlQuery};
use syrch_core::{SqlErrorKind, Value};
use syrch_kit::postgres::Server;
use syrch_postgres::{PostgresConfig, role_sql};

const SHOP: &str = "
CREATE ROLE owner LOGIN PASSWORD 'right'; CREATE ROLE reader LOGIN PASSWORD 'right';
GRANT ALL ON DATABASE shop TO owner; GRANT CREATE ON SCHEMA public TO owner;
SET ROLE owner;
CREATE SCHEMA sales;
CREATE TABLE customers(id int PRIMARY KEY, name text NOT NULL, country varchar(2));
CREATE TABLE sales.orders(id int PRIMARY KEY, customer int REFERENCES customers, total \
  numeric(12,2));
CREATE TABLE orders(id int, note text);
CREATE INDEX by_note ON orders (lower(note), id) WHERE id > 0;
CREATE VIEW rich AS SELECT * FROM sales.orders WHERE total > 10;
CREATE VIEW slow AS SELECT id FROM orders WHERE pg_sleep(0)::text = '';
CREATE VIEW slower AS SELECT id FROM slow;
COMMENT ON TABLE customers IS 'who buys'; COMMENT ON COLUMN customers.country IS 'ISO 3166';
INSERT INTO customers SELECT i, 'c' || i, 'DE' FROM generate_series(1, 100) i;
INSERT INTO sales.orders SELECT i, i, i * 1.5 FROM generate_series(1, 50) i;
INSERT INTO orders SELECT i, repeat('x', 1000) FROM generate_series(1, 30000) i;
CREATE TYPE mood AS ENUM ('sad', 'glad');
CREATE TABLE kinds(b bool, i2 int2, i4 int4, i8 int8, f4 float4, f8 float8, n numeric, t text, \
  v varchar(9), c char(3), by bytea,
  d date, tm time, tz timetz, ts timestamp, tsz timestamptz, iv interval, u uuid, j json, \
    jb jsonb, a int[], aa text[][], r int4range,
  ip inet, m money, mo mood, bi bit(3), p point, x xml, tv tsvector);
INSERT INTO kinds VALUES (true, -1, 2, 9223372036854775807, 0.1, 1e-300, \
  12345678901234567890.123456789, 'é''', 'v', 'c', '\\x00ff',
  '2024-02-29', '12:34:56.789', '12:00+02', '2024-02-29 12:00', '2024-02-29 12:00+00', '1 mon 2 \
    days 03:04:05', 
  '00000000-0000-0000-0000-000000000001', '{\"a\": 1}', '{\"b\":[1.50]}', '{1,NULL}', \
    '{{a,b},{c,d}}', '[1,5)', '10.0.0.1/8', 1.5, 'glad',
  B'101', '(1,2)', '<a/>', 'cat');
INSERT INTO kinds(b) VALUES (NULL);
RESET ROLE;
ALTER ROLE owner SET timezone = 'UTC';
ANALYZE;
";

fn text(value: &str) -> Value {
    Value::Text(value.to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_is_read_within_its_limits() {
    let Some(server) = Server::start() else { return };
    server.database("shop", SHOP);
    let mut config = config(&server, "owner", "shop");
    config.limits.sql_deadline = Duration::from_secs(20);
    let database = syrch_postgres::open(config.clone()).await.unwrap();

    // Every type.
    let result = run(&database, "SELECT * FROM kinds").await.unwrap();
    let types: Vec<String> = result.columns().into_iter().map(|column| column.sql_type).collect();
    assert_eq!(types[6..8].concat() + &types[20], "numerictextint4[]");
    let cells = result.rows(0, 2);
    assert_eq!(
        cells[0],
        [
            Value::Boolean(true),
            Value::Integer(-1),
            Value::Integer(2),
            Value::Integer(i64::MAX),
            Value::Real(0.1),
            Value::Real(1e-300),
            Value::Decimal("12345678901234567890.123456789".to_owned()),
            text("é'"),
            text("v"),
            text("c  "),
            Value::Bytes(vec![0, 255]),
            text("2024-02-29"),
            text("12:34:56.789"),
            text("12:00:00+02"),
            text("2024-02-29 12:00:00"),
            text("2024-02-29 12:00:00+00"),
            text("1 mon 2 days 03:04:05"),
            text("00000000-0000-0000-0000-000000000001"),
            text("{\"a\": 1}"),
            text("{\"b\": [1.50]}"),
            text("{1,NULL}"),
            text("{{a,b},{c,d}}"),
            text("[1,5)"),
            text("10.0.0.1/8"),
            text("$1.50"),
            text("glad"),
            text("101"),
            text("(1,2)"),
            text("<a/>"),
            text("'cat'"),
        ]
    );
    assert!(cells[1].iter().all(|cell| *cell == Value::Null));
    // Dates and timestamps are spelled here as the server spells them.
    let times = "SELECT t::date, t::date::text, t, t::text FROM (SELECT timestamp '4713-01-01 \
                 00:00:01.5 BC' + n * interval '91 days 1 us'
        FROM generate_series(0, 30000) n UNION ALL VALUES ('infinity'::timestamp), ('-infinity'), \
          ('0001-12-31 BC'), ('0001-01-01'),
        ('9999-12-31 23:59:59.999999'), ('10000-01-01'), ('294276-12-31 23:59:59'), ('1999-12-31 \
          23:59:59.10')) AS v(t)";
    let times = rows(&database, times).await;
    assert!(times.len() > 1_000);
    for row in times {
        assert!(row[0] == row[1] && row[2] == row[3], "{row:?}");
    }
    assert_eq!(
        rows(&database, "SELECT 1 AS a, 2 AS a, row(1, 'x')").await,
        [[Value::Integer(1), Value::Integer(2), text("(1,x)")]]
    );
    assert_eq!(
        rows(&database, "SELECT n FROM (VALUES (3), (1), (2)) v(n) ORDER BY n DESC").await[0],
        [Value::Integer(3)]
    );

    // The catalog.
    let catalog = database.catalog().await.unwrap();
    let names: Vec<String> = catalog
        .tables
        .iter()
        .map(|table| format!("{}.{}", table.schema_name.as_deref().unwrap(), table.name))
        .collect();
    assert_eq!(
        names,
        ["public.customers", "public.kinds", "public.orders", "public.rich", "sales.orders"]
    );
    let [customers, _, notes, rich, orders] = &catalog.tables[..] else { panic!("{names:?}") };
    assert_eq!(
        (customers.primary_key.as_slice(), customers.row_estimate),
        (&["id".to_owned()][..], Some(100))
    );
    assert_eq!(customers.comment.as_deref(), Some("who buys"));
    let country = customers.column("country").unwrap();
    assert_eq!((country.sql_type.as_str(), country.nullable), ("character varying(2)", true));
    assert_eq!(
        (country.comment.as_deref(), customers.column("name").unwrap().nullable),
        (Some("ISO 3166"), false)
    );
    assert_eq!((orders.foreign_keys[0].ref_table.as_str(), rich.is_view()), ("customers", true));
    let index = &notes.indexes[0];
    assert_eq!(
        (index.columns.as_slice(), index.method.as_deref()),
        (&["lower(note)".to_owned(), "id".into()][..], Some("btree"))
    );
    assert_eq!(index.predicate.as_deref(), Some("(id > 0)"));
    let stats = database.column_stats("sales.orders", &["total".into()]).await.unwrap();
    assert_eq!((stats[0].distinct, stats[0].null_fraction), (Some(50.0), Some(0.0)));
    let samples = database.samples("customers", &["country".into()], 3).await.unwrap();
    assert_eq!(samples[0].frequent, [(text("DE"), 100)]);

    // Names in several schemas, and views that do more than read.
    assert_eq!(rows(&database, "SELECT count(*) FROM sales.orders").await, [[Value::Integer(50)]]);
    assert_eq!(rows(&database, "SELECT count(*) FROM orders").await, [[Value::Integer(30_000)]]);
    for view in ["slow", "slower"] {
        let error = refusal(&database, &format!("SELECT * FROM {view}")).await;
        assert_eq!(
            (error.kind, error.rule.as_deref()),
            (SqlErrorKind::Denied, Some("granted-tables")),
            "{error}"
        );
    }
    let facts = database
        .check(&SqlQuery::new("SELECT name FROM customers WHERE country = 'DE'"))
        .await
        .unwrap();
    assert_eq!(facts.columns, ["customers.country", "customers.name"]);
    let plan = database.explain(&SqlQuery::new("SELECT * FROM customers")).await.unwrap();
    assert_eq!((plan.rows, plan.cost.is_some_and(|cost| cost > 0.0)), (Some(100.0), true));

    // Errors name what is wrong, and no cell.
    for (sql, kind) in [
        ("SELECT nam FROM customers", SqlErrorKind::UnknownColumn),
        ("SELECT name + 1 FROM customers", SqlErrorKind::TypeMismatch),
        ("SELECT name::int FROM customers", SqlErrorKind::TypeMismatch),
        ("SELECT id / 0 FROM customers", SqlErrorKind::Other),
    ] {
        let error = refusal(&database, sql).await;
        assert_eq!(error.kind, kind, "{sql}: {error:?}");
        assert!(!error.message.contains("c1"), "{error}");
    }
    assert_eq!(
        refusal(&database, "SELECT nam FROM customers")
            .await
            .suggestions
            .first()
            .map(String::as_str),
        Some("name")
    );

    // Caps.
    let result = run(&database, "SELECT id FROM orders").await.unwrap();
    assert_eq!((result.row_count(), result.is_truncated()), (10_000, true));
    let result =
        run(&database, "SELECT a.note || b.note || a.note || b.note FROM orders a, orders b")
            .await
            .unwrap();
    assert!(result.is_truncated() && result.row_count() > 1_000, "{}", result.row_count());
    let error = refusal(&database, "SELECT string_agg(note, ',') FROM orders").await;
    assert_eq!((error.kind, error.rule.as_deref()), (SqlErrorKind::TooLarge, Some("cell-bytes")));
    assert_eq!(rows(&database, "SELECT 1").await, [[Value::Integer(1)]]);

    // The identity changes with the data, and only then.
    let identity = database.identity().await.unwrap();
    assert_eq!(database.identity().await.as_ref(), Some(&identity));
    server.psql("shop", "UPDATE customers SET country = 'FR' WHERE id = 1").unwrap();
    assert_ne!(database.identity().await.unwrap(), identity);

    // What the role could do, and one that only reads.
    let findings = database.engine().role_findings().await.unwrap();
    assert!(findings.iter().any(|finding| finding.contains("public.customers")), "{findings:?}");
    server.psql("shop", &role_sql("careful", "shop", &["public".into(), "sales".into()])).unwrap();
    let careful =
        syrch_postgres::open(crate::common::config(&server, "careful", "shop")).await.unwrap();
    assert_eq!(careful.engine().role_findings().await.unwrap(), Vec::<String>::new());
    assert_eq!(rows(&careful, "SELECT count(*) FROM sales.orders").await, [[Value::Integer(50)]]);

    let version: u32 = server.psql("shop", "SHOW server_version_num").unwrap().parse().unwrap();
    if version >= 170_000 {
        server.psql("shop", "GRANT MAINTAIN ON customers TO careful").unwrap();
        assert_eq!(
            careful.engine().role_findings().await.unwrap(),
            ["the role may change `public.customers`"]
        );
    }

    config.tables = vec!["nothing*".into()];
    assert!(matches!(
        syrch_postgres::open(config).await,
        Err(DatabaseError::NothingGranted { .. })
    ));
}

/// Statements that the server runs, those of this query aside.
fn active(server: &Server) -> String {
    let sql = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' \
               AND backend_type = 'client backend' AND pid <> pg_backend_pid()";
    server.psql("shop", sql).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_ends_with_its_deadline_its_future_or_its_server() {
    const LONG: &str = "SELECT count(*) FROM orders a, orders b, orders c";
    let Some(mut server) = Server::start() else { return };
    server.database("shop", SHOP);
    let mut config = config(&server, "owner", "shop");
    config.limits.sql_deadline = Duration::from_millis(500);
    let database = syrch_postgres::open(config.clone()).await.unwrap();
    let started = Instant::now();
    let error = refusal(&database, LONG).await;
    assert_eq!((error.kind, error.rule.as_deref()), (SqlErrorKind::Timeout, Some("deadline")));
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    assert_eq!(active(&server), "0");

    config.limits.sql_deadline = Duration::from_secs(60);
    let patient = syrch_postgres::open(config).await.unwrap();
    let dropped = tokio::time::timeout(Duration::from_millis(500), run(&patient, LONG)).await;
    assert!(dropped.is_err());
    let started = Instant::now();
    while active(&server) != "0" {
        assert!(started.elapsed() < Duration::from_secs(10), "the statement still runs");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(rows(&patient, "SELECT 1").await, [[Value::Integer(1)]]);

    let (killed, ()) = tokio::join!(refusal(&patient, LONG), async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        server.kill();
    });
    assert_eq!(killed.kind, SqlErrorKind::Unavailable, "{killed:?}");
    assert_eq!(refusal(&patient, "SELECT 1").await.kind, SqlErrorKind::Unavailable);
    assert_eq!(patient.identity().await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_refuses_says_why_without_the_password() {
    let Some(server) = Server::start() else { return };
    server.database("shop", SHOP);
    let port = server.port();
    let open = async |url: String| syrch_postgres::open(PostgresConfig::new(url)).await.err();
    assert_eq!(open(format!("postgres://owner:right@127.0.0.1:{port}/shop")).await, None);
    for (url, part) in [
        (format!("postgres://owner:wr0ng@127.0.0.1:{port}/shop"), "password authentication failed"),
        (format!("postgres://owner:right@127.0.0.1:{port}/shop?sslmode=require"), "TLS"),
        ("postgres://owner:wr0ng@127.0.0.1:1/shop".to_owned(), "no server listens there"),
        ("postgres://owner:wr0ng@/shop?host=/nowhere".to_owned(), "no such socket"),
    ] {
        let error = open(url.clone()).await.unwrap().to_string();
        assert!(
            error.contains(part) && !error.contains("wr0ng") && !error.contains("right"),
            "{url}: {error}"
        );
    }
    let missing = open(format!("postgres://owner:right@127.0.0.1:{port}/shoq")).await;
    assert!(matches!(missing, Some(DatabaseError::Missing { .. })), "{missing:?}");
}

/// Opens a connection with these parameters, such as `sslmode` and root certificates, and returns
/// whether it is encrypted, or the error.
async fn check_encryption(
    server: &Server,
    host: &str,
    parameters: &str,
) -> Result<&'static str, DatabaseError> {
    let url = format!("postgres://owner:right@{host}:{}/shop?{parameters}", server.port());
    Ok(syrch_postgres::open(PostgresConfig::new(url)).await?.engine().server().await?.1)
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_are_encrypted_as_sslmode_says() {
    let Some(server) = Server::start_encrypted() else { return };
    server.database("shop", SHOP);
    let folder = syrch_kit::scratch();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let right = file("right.pem", syrch_kit::postgres::AUTHORITY);
    let wrong = file("wrong.pem", syrch_kit::postgres::OTHER_AUTHORITY);
    let broken =
        file("broken.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    // The certificate is for `localhost`; the address is that of the same server.
    for (host, parameters, expected) in [
        ("localhost", "sslmode=disable".to_owned(), Some("not encrypted")),
        ("localhost", "sslmode=allow".to_owned(), Some("not encrypted")),
        ("localhost", "sslmode=prefer".to_owned(), Some("TLS")),
        ("localhost", String::new(), Some("TLS")),
        ("127.0.0.1", "sslmode=require".to_owned(), Some("TLS")),
        ("127.0.0.1", format!("sslmode=require&sslrootcert={right}"), Some("TLS")),
        ("127.0.0.1", format!("sslmode=require&sslrootcert={wrong}"), None),
        ("127.0.0.1", format!("sslmode=verify-ca&sslrootcert={right}"), Some("TLS")),
        ("127.0.0.1", format!("sslmode=verify-ca&sslrootcert={wrong}"), None),
        ("localhost", format!("sslmode=verify-full&sslrootcert={right}"), Some("TLS")),
        ("localhost", format!("sslmode=verify-full&sslrootcert={wrong}"), None),
        ("127.0.0.1", format!("sslmode=verify-full&sslrootcert={right}"), None),
        ("localhost", "sslrootcert=system".to_owned(), None),
        ("localhost", format!("sslmode=verify-ca&sslrootcert={broken}"), None),
        ("localhost", "sslmode=verify-ca&sslrootcert=/nowhere.pem".to_owned(), None),
    ] {
        match (check_encryption(&server, host, &parameters).await, expected) {
            (Ok(how), Some(expected)) => assert_eq!(how, expected, "{host} {parameters}"),
            (Err(DatabaseError::Encryption { reason, .. }), None) => assert!(!reason.is_empty()),
            (other, _) => panic!("{host} {parameters}: {other:?}"),
        }
    }
    // A statement is cancelled over an encrypted connection, too.
    let mut config = PostgresConfig::new(format!(
        "postgres://owner:right@localhost:{}/shop?sslmode=require",
        server.port()
    ));
    config.limits.sql_deadline = Duration::from_millis(500);
    let database = syrch_postgres::open(config).await.unwrap();
    assert_eq!(database.warnings(), Vec::<String>::new());
    let error = refusal(&database, "SELECT count(*) FROM orders a, orders b, orders c").await;
    assert_eq!((error.kind, active(&server).as_str()), (SqlErrorKind::Timeout, "0"));
}

#[tokio::test(flavor = "multi_thread")]
async fn values_are_found_by_what_a_question_calls_them() {
    let Some(server) = Server::start() else { return };
    let script = "CREATE TYPE mood AS ENUM ('sad', 'very glad'); CREATE SCHEMA other; \
        CREATE TABLE people(id int, name text, mood mood, note text, tags text[]); \
        CREATE TABLE other.people(name varchar(20)); INSERT INTO people VALUES (1, 'Ada Lovelace', \
        'sad', NULL, '{Paris}'), (2, 'Zoë', 'very glad', repeat('x', 200), NULL); \
        INSERT INTO other.people VALUES ('ada lovelace'), (''); CREATE TABLE cities(city text, \
        n int); INSERT INTO cities SELECT 'city ' || i, i FROM generate_series(1, 3000) i; \
        CREATE VIEW v AS SELECT name FROM people;";
    server.database("shop", script);
    let database = syrch_postgres::open(config(&server, "admin", "shop")).await.unwrap();
    let find = async |phrase: &str, how: Match| {
        let found = database.find(&[phrase.to_owned()], how, 5).await.unwrap().remove(0);
        found
            .into_iter()
            .map(|hit| format!("{}={}", hit.path, hit.snippet.unwrap_or_default()))
            .collect::<Vec<_>>()
    };
    let mut both = find("ADA lovelace", Match::Exact).await;
    both.sort();
    assert_eq!(both, ["other.people.name=ada lovelace", "public.people.name=Ada Lovelace"]);
    assert_eq!(find("Very Glad", Match::Exact).await, ["public.people.mood=very glad"]);
    assert_eq!(find("city 2999", Match::Exact).await, ["cities.city=city 2999"]);
    assert_eq!(find("Zoe", Match::Fuzzy).await, ["public.people.name=Zoë"]);
    assert_eq!(find("Paris", Match::Exact).await, Vec::<String>::new());
    assert_eq!(database.find(&[], Match::Vector, 1).await.err(), Some(PortError::Unsupported));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_with_traces_of_a_statement_is_not_used_again() {
    let Some(server) = Server::start() else { return };
    server.database("shop", SHOP);
    let mut config = config(&server, "owner", "shop");
    config.limits.sql_in_flight = 1;
    let database = syrch_postgres::open(config).await.unwrap();
    let sessions =
        "SELECT pid FROM pg_stat_activity WHERE application_name = 'syrch-host' ORDER BY pid";
    rows(&database, "SELECT 1").await;
    let before = server.psql("shop", sessions).unwrap();
    rows(&database, "SELECT 1").await;
    assert_eq!(server.psql("shop", sessions).unwrap(), before);
    assert!(!before.is_empty(), "no session waits for the next statement");
    // No statement may leave anything, so an administrator ends what is there: the next statement
    // has another session.
    server.psql("shop", &format!("SELECT pg_terminate_backend({before})")).unwrap();
    let started = Instant::now();
    while run(&database, "SELECT 1").await.is_err() {
        assert!(started.elapsed() < Duration::from_secs(10), "no new session is made");
    }
    assert_ne!(server.psql("shop", sessions).unwrap(), before);
}

const VISITS: &str = "
CREATE TYPE visit_kind AS ENUM ('FIRST', 'FOLLOW_UP', 'REMOTE');
CREATE TYPE \"Odd Kind\" AS ENUM ('it''s');
CREATE DOMAIN known_kind AS visit_kind; CREATE DOMAIN some_kinds AS known_kind[];
CREATE TABLE visits(id int, kind visit_kind, other known_kind, several visit_kind[], more \
  some_kinds, odd \"Odd Kind\",
  state text CHECK (state IN ('open', 'closed')), size varchar(9) CHECK (size = 'S' OR \
    size = 'L'), n int CHECK (n > 0));
INSERT INTO visits VALUES (1, 'FIRST', 'REMOTE', '{FIRST}', '{REMOTE}', 'it''s', 'open', 'S', 1);
DO $$ BEGIN EXECUTE (SELECT 'CREATE TYPE huge AS ENUM (' || string_agg(quote_literal('label \
  ' || i), ',' ORDER BY i) || ')'
  FROM generate_series(1, 100000) i); END $$;
CREATE TABLE wide(h huge);
";

#[tokio::test(flavor = "multi_thread")]
async fn closed_sets_stand_in_the_catalog_and_in_the_error_of_a_wrong_label() {
    let Some(server) = Server::start() else { return };
    server.database("clinic", VISITS);
    let database = syrch_postgres::open(config(&server, "admin", "clinic")).await.unwrap();
    let catalog = database.catalog().await.unwrap();
    let words = |table: &str, column: &str| {
        catalog.table(table).unwrap().column(column).unwrap().values_in_words()
    };
    let kinds = "one of 'FIRST', 'FOLLOW_UP', 'REMOTE'";
    for (column, expected) in [
        ("kind", Some(kinds)),
        ("other", Some(kinds)),
        ("several", Some(kinds)),
        ("more", Some(kinds)),
        ("odd", Some("one of 'it''s'")),
        ("state", Some("one of 'open', 'closed'")),
        ("size", Some("one of 'S', 'L'")),
        ("n", None),
        ("id", None),
    ] {
        assert_eq!(words("visits", column).as_deref(), expected, "{column}");
    }
    let huge = words("wide", "h").unwrap();
    assert!(
        huge.len() < 140
            && huge.starts_with("one of 'label 1', 'label 2'")
            && huge.ends_with(" more"),
        "{huge}"
    );
    assert_eq!(catalog.table("wide").unwrap().columns[0].values().unwrap().1, 100_000 - 50);
    for (sql, kind) in [
        ("SELECT count(*) FROM visits WHERE kind = 'TELEMEDICINE'", "visit_kind"),
        ("SELECT count(*) FROM visits WHERE other IN ('FIRST', 'sk-SECRET')", "visit_kind"),
        ("SELECT count(*) FROM visits WHERE 'x' = ANY (several)", "visit_kind"),
    ] {
        for error in
            [refusal(&database, sql).await, database.check(&SqlQuery::new(sql)).await.unwrap_err()]
        {
            assert_eq!(error.kind, SqlErrorKind::TypeMismatch, "{sql}: {error:?}");
            assert_eq!(
                error.message,
                format!("invalid input value for enum public.{kind}: {kinds}"),
                "{sql}"
            );
        }
    }
    let error = refusal(&database, "SELECT 1 FROM visits WHERE odd = 'x'").await;
    assert_eq!(error.message, "invalid input value for enum public.\"Odd Kind\": one of 'it''s'");
}
