//! The catalog in all its oddities, and what the index of values finds.
use crate::common::{Fixture, rows, run, runtime};
use syrch_core::ports::{CellIndex, Database, Match, PortError};
use syrch_core::{Catalog, Hit, Table, Value};
use syrch_sqlite::SqliteDatabase;

const SCRIPT: &str = r#"
    CREATE TABLE "order"("group" INTEGER PRIMARY KEY, "select" TEXT NOT NULL, "a b" REAL,
        total GENERATED ALWAYS AS ("a b" * 2) STORED);
    INSERT INTO "order"("group", "select", "a b") VALUES
        (1, 'gold', 2), (2, 'silver', NULL), (7, 'gold', 4);
    CREATE TABLE line(order_id INT, nr INT, city TEXT, PRIMARY KEY(nr, order_id),
        FOREIGN KEY(order_id) REFERENCES "ORDER") WITHOUT ROWID;
    INSERT INTO line VALUES
        (1, 1, 'New York'), (1, 2, 'Newark'), (2, 1, 'Los Angeles'), (2, 2, NULL);
    CREATE TABLE part(o INT, n INT, FOREIGN KEY(n, o) REFERENCES line(nr, order_id));
    CREATE TABLE blobs(b BLOB, long TEXT); INSERT INTO blobs VALUES (x'00', hex(zeroblob(500)));
    CREATE UNIQUE INDEX one ON line(city, nr);
    CREATE INDEX some ON line(nr) WHERE city IS NOT NULL;
    CREATE INDEX low ON line(lower(city));
    CREATE VIEW "my view" AS SELECT city AS place FROM line;
    CREATE VIRTUAL TABLE notes USING fts5(title);
"#;

fn catalog(database: &SqliteDatabase) -> std::sync::Arc<Catalog> {
    runtime().block_on(database.catalog()).unwrap()
}

fn names(table: &Table) -> Vec<&str> {
    table.columns.iter().map(|column| column.name.as_str()).collect()
}

#[test]
fn tables_views_keys_and_indexes() {
    let fixture = Fixture::new(SCRIPT);
    let catalog = catalog(&fixture.open());
    let all: Vec<&str> = catalog.tables.iter().map(|table| table.name.as_str()).collect();
    assert_eq!(all, ["order", "line", "part", "blobs", "my view", "notes"]);

    let order = catalog.table("ORDER").unwrap();
    assert_eq!(names(order), ["group", "select", "a b", "total"]);
    assert_eq!(
        (order.primary_key.as_slice(), order.row_estimate),
        (["group".to_owned()].as_slice(), Some(3))
    );
    let nullable: Vec<bool> = order.columns.iter().map(|column| column.nullable).collect();
    assert_eq!(nullable, [false, false, true, true]);
    assert_eq!(order.columns[3].extra, [("generated".to_owned(), "true".to_owned())]);

    let line = catalog.table("line").unwrap();
    assert_eq!(
        (line.primary_key.as_slice(), line.row_estimate),
        (["nr".to_owned(), "order_id".to_owned()].as_slice(), Some(4))
    );
    let key = &line.foreign_keys[0];
    assert_eq!(
        (key.ref_table.as_str(), key.ref_columns.as_slice()),
        ("order", ["group".to_owned()].as_slice())
    );
    let composite = &catalog.table("part").unwrap().foreign_keys[0];
    assert_eq!(
        (composite.columns.join(","), composite.ref_columns.join(",")),
        ("n,o".into(), "nr,order_id".into())
    );
    let index = |name: &str| line.indexes.iter().find(|index| index.name == name).unwrap();
    assert!(index("one").is_unique && index("one").columns == ["city", "nr"]);
    assert_eq!(index("some").predicate.as_deref(), Some("city IS NOT NULL"));
    assert_eq!(index("low").columns, ["(expression)"]);
    let view = catalog.table("my view").unwrap();
    assert!(view.is_view() && names(view) == ["place"]);
    assert_eq!(names(catalog.table("notes").unwrap()), ["title"]);
}

#[test]
fn changes_by_others_are_seen() {
    let fixture = Fixture::new(SCRIPT);
    let database = fixture.open();
    assert_eq!(names(catalog(&database).table("part").unwrap()), ["o", "n"]);
    assert_eq!(rows(&database, "SELECT * FROM part").len(), 0);
    fixture
        .writer()
        .execute_batch(
            "ALTER TABLE part ADD COLUMN extra; INSERT INTO part VALUES (1, 2, 3); \
             INSERT INTO notes VALUES ('x')",
        )
        .unwrap();
    assert_eq!(rows(&database, "SELECT * FROM part, notes('x')")[0].len(), 4);
    assert_eq!(names(catalog(&database).table("part").unwrap()), ["o", "n", "extra"]);

    // Another file in its place.
    let other = Fixture::new("CREATE TABLE fresh(a); INSERT INTO fresh VALUES (5);");
    std::fs::rename(&other.path, &fixture.path).unwrap();
    assert_eq!(rows(&database, "SELECT a FROM fresh"), [[Value::Integer(5)]]);
    assert_eq!(catalog(&database).tables.len(), 1);
}

#[test]
fn functions_in_from_stay_readable() {
    let fixture = Fixture::new(
        "CREATE TABLE t(a); INSERT INTO t VALUES ('[1, 2]');
        CREATE VIEW parts AS SELECT e.value AS part FROM t, json_each(t.a) AS e;",
    );
    let database = fixture.open();
    for _ in 0..2 {
        assert_eq!(rows(&database, "SELECT part FROM parts").len(), 2);
        assert_eq!(
            rows(&database, "SELECT count(*) FROM t, json_tree(t.a)"),
            [[Value::Integer(3)]]
        );
        fixture
            .writer()
            .execute_batch("CREATE TABLE IF NOT EXISTS other(a); DELETE FROM other")
            .unwrap();
    }
}

fn find(database: &SqliteDatabase, phrase: &str, how: Match) -> Vec<Hit> {
    runtime().block_on(database.find(&[phrase.to_owned()], how, 5)).unwrap().remove(0)
}

#[test]
fn values_are_found_by_what_people_call_them() {
    let fixture = Fixture::new(SCRIPT);
    let database = fixture.open();
    let exact = find(&database, "new york", Match::Exact);
    assert_eq!(
        (exact[0].path.as_str(), exact[0].snippet.as_deref(), exact[0].score),
        ("line.city", Some("New York"), 1.0)
    );
    assert_eq!(find(&database, "GOLD", Match::Exact).len(), 1);
    let near: Vec<_> = find(&database, "New York City", Match::Ngram)
        .into_iter()
        .filter_map(|hit| hit.snippet)
        .collect();
    assert_eq!(near[0], "New York");
    assert_eq!(
        find(&database, "Los Angelos", Match::Fuzzy)[0].snippet.as_deref(),
        Some("Los Angeles")
    );
    assert!(find(&database, "000000", Match::Ngram).is_empty());
    let vector = runtime().block_on(database.find(&["x".into()], Match::Vector, 5));
    assert_eq!(vector.unwrap_err(), PortError::Unsupported);

    fixture.writer().execute_batch("INSERT INTO line VALUES (2, 9, 'Berlin')").unwrap();
    assert_eq!(find(&database, "berlin", Match::Exact).len(), 1);
}

#[test]
fn the_index_and_samples_stay_within_the_grant() {
    let fixture = Fixture::new(SCRIPT);
    let mut config = fixture.config();
    config.tables = vec!["order".into()];
    let database = SqliteDatabase::open(config).unwrap();
    assert!(find(&database, "new york", Match::Exact).is_empty());
    fn samples(
        database: &SqliteDatabase,
        table: &str,
    ) -> Result<Vec<syrch_core::ports::Sample>, PortError> {
        runtime().block_on(database.samples(table, &["city".to_owned()], 3))
    }
    assert_eq!(samples(&database, "line").unwrap_err(), PortError::UnknownName("line".into()));
    assert_eq!(
        samples(&database, "order").unwrap_err(),
        PortError::UnknownName("order.city".into())
    );
}

#[test]
fn samples_and_statistics_describe_columns() {
    let fixture = Fixture::new(SCRIPT);
    let database = fixture.open();
    let columns = ["SELECT".to_owned(), "a b".to_owned()];
    let samples = runtime().block_on(database.samples("Order", &columns, 1)).unwrap();
    assert_eq!(samples[0].frequent, [(Value::Text("gold".into()), 2)]);
    assert_eq!((&samples[1].least, &samples[1].greatest), (&Value::Real(2.0), &Value::Real(4.0)));
    let stats = runtime().block_on(database.column_stats("order", &columns)).unwrap();
    assert_eq!(
        (stats[0].distinct, stats[0].null_fraction, stats[0].average_width),
        (Some(2.0), Some(0.0), Some(5))
    );
    assert_eq!(
        (stats[1].distinct, stats[1].null_fraction, stats[1].correlation),
        (Some(2.0), Some(1.0 - 2.0 / 3.0), Some(1.0))
    );
}

#[test]
fn one_call_looks_for_only_so_much() {
    let fixture = Fixture::new(SCRIPT);
    let database = fixture.open();
    let find =
        |phrases: &[String], how: Match| runtime().block_on(database.find(phrases, how, u32::MAX));
    let refused = find(&vec![String::from("x"); 500_000], Match::Fuzzy).unwrap_err();
    assert!(
        matches!(&refused, PortError::Other(reason) if reason.contains("500000")),
        "{refused:?}"
    );
    // Only the beginning of a phrase is compared.
    let long = format!("  Newark{}", " x".repeat(8 << 20));
    let hits = find(&[long.clone(), "newark".into()], Match::Ngram).unwrap();
    assert_eq!((hits.len(), hits[1][0].snippet.as_deref()), (2, Some("Newark")));
    assert!(find(&[long], Match::Fuzzy).unwrap()[0].is_empty());
    assert_eq!(
        find(&[format!("Newark{}", " ".repeat(1 << 20))], Match::Exact).unwrap()[0].len(),
        1
    );

    let fixture = Fixture::new(
        "CREATE TABLE t(a TEXT); WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r \
         WHERE i < 9000) INSERT INTO t SELECT 'name ' || i FROM r;",
    );
    let many = vec![String::from("name"); 256];
    let found = runtime().block_on(fixture.open().find(&many, Match::Ngram, u32::MAX)).unwrap();
    assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>(), [20_000 / 256; 256]);
}

#[test]
fn columns_are_described_once() {
    let fixture = Fixture::new(SCRIPT);
    let database = fixture.open();
    let many: Vec<String> =
        (0..1_000_000).map(|n| if n % 2 == 0 { "city" } else { "CITY" }.to_owned()).collect();
    let samples = runtime().block_on(database.samples("line", &many, 3)).unwrap();
    assert_eq!(samples.iter().map(|sample| sample.column.as_str()).collect::<Vec<_>>(), ["city"]);
    assert_eq!(runtime().block_on(database.column_stats("line", &many)).unwrap().len(), 1);
    let different: Vec<String> = (0..40_000).map(|n| format!("c{n}")).collect();
    let refused = runtime().block_on(database.samples("line", &different, 3)).unwrap_err();
    assert!(matches!(refused, PortError::Other(_)), "{refused:?}");
}

#[test]
fn views_that_grow_without_end_are_hidden_and_the_rest_stays() {
    let doubling: String = (1..20)
        .map(|n| format!("CREATE VIEW v{n} AS SELECT x.a FROM v{0} AS x, v{0} AS y;", n - 1))
        .collect();
    let fixture = Fixture::new(&format!(
        "CREATE TABLE t(a); INSERT INTO t VALUES (7); CREATE VIEW v0 AS SELECT a FROM t; {doubling}
         CREATE VIEW last AS SELECT a AS b FROM t; CREATE VIEW broken AS SELECT lost FROM t;"
    ));
    let database = fixture.open();
    for _ in 0..2 {
        let catalog = catalog(&database);
        let known = |name: &str| catalog.table(name).is_some();
        assert!(known("t") && known("v0") && known("v3") && known("last"));
        assert!(!known("v14") && !known("v19") && !known("broken"));
        assert_eq!(names(catalog.table("last").unwrap()), ["b"]);
        assert_eq!(
            rows(&database, "SELECT b, x.a FROM last, v2 AS x"),
            [[Value::Integer(7), Value::Integer(7)]]
        );
        assert!(run(&database, "SELECT * FROM v19").is_err());
        // The catalog is read again.
        fixture.writer().execute_batch("UPDATE t SET a = a").unwrap();
    }
    fixture.writer().execute_batch("ALTER TABLE t ADD COLUMN lost").unwrap();
    assert!(catalog(&database).table("broken").is_some());
}

#[test]
fn a_column_that_cannot_be_read_does_not_take_the_others_out_of_the_index() {
    let long: String = (0..120).map(|n| format!(", \"{n}{}\" TEXT", "x".repeat(220))).collect();
    let fixture = Fixture::new(&format!(
        "CREATE TABLE survey(a TEXT{long}, z TEXT); INSERT INTO survey(a, z) \
         VALUES ('first', 'last');
         CREATE TABLE huge(\"{0}\" TEXT, name TEXT); INSERT INTO huge VALUES ('none', 'beside');
         CREATE TABLE made(before TEXT, body TEXT, g AS (replace(hex(zeroblob(900000)), '00', \
           body)), after TEXT);
         INSERT INTO made VALUES ('one', '', 'two'), ('three', 'body', 'four');
         CREATE TABLE city(name TEXT); INSERT INTO city VALUES ('Berlin');",
        "y".repeat(25_000)
    ));
    let database = fixture.open();
    for (value, path) in [
        ("first", "survey.a"),
        ("last", "survey.z"),
        ("beside", "huge.name"),
        ("one", "made.before"),
        ("three", "made.before"),
        ("four", "made.after"),
        ("Berlin", "city.name"),
    ] {
        let found = find(&database, value, Match::Exact);
        assert_eq!(
            found.iter().map(|hit| hit.path.as_str()).collect::<Vec<_>>(),
            [path],
            "{value}"
        );
        assert_eq!(find(&database, value, Match::Ngram)[0].path, path, "{value}");
    }
}

#[test]
fn the_texts_that_constraints_allow_stand_in_the_catalog() {
    let fixture = Fixture::new(
        "CREATE TABLE visits(id INTEGER PRIMARY KEY, kind TEXT NOT NULL CHECK (kind IN ('FIRST', \
         'FOLLOW_UP')), \"my state\" TEXT,
           score INTEGER CHECK (score > 0), CONSTRAINT known CHECK (\"my state\" = 'open' OR \"my \
             state\" = 'closed'));
         CREATE TABLE plain(kind TEXT, checked TEXT);",
    );
    let catalog = catalog(&fixture.open());
    let words = |table: &str, column: &str| {
        catalog.table(table).unwrap().column(column).unwrap().values_in_words()
    };
    assert_eq!(words("visits", "kind").as_deref(), Some("one of 'FIRST', 'FOLLOW_UP'"));
    assert_eq!(words("visits", "my state").as_deref(), Some("one of 'open', 'closed'"));
    for (table, column) in [("visits", "score"), ("plain", "kind"), ("plain", "checked")] {
        assert_eq!(words(table, column), None, "{table}.{column}");
    }
}
