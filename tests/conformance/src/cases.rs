//! The cases. Each opens the fixture with limits of its own and says in its error what the engine
//! did.

use std::fmt::Debug;
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, stream};
use syrch_core::ports::{Database, Match, PortError, Relation, SqlQuery};
use syrch_core::{Column, Limits, SqlErrorKind, Value};

use crate::{Capabilities, Engine, NUMBERS};

type Checked = Result<(), String>;

/// A capability by its name, and whether an engine declares it.
type Capability = (&'static str, fn(&Capabilities) -> bool);

/// A case that all engines must pass, or those with a capability.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// The capability that it is about, and whether an engine has it.
    pub(crate) needs: Option<Capability>,
    pub(crate) check: for<'a> fn(&'a dyn Engine) -> BoxFuture<'a, Checked>,
}

macro_rules! cases {
    (@needs) => {
        None
    };
    (@needs $capability:ident) => {{
        let has: fn(&Capabilities) -> bool = |capabilities| capabilities.$capability;
        Some((stringify!($capability), has))
    }};
    ($($name:ident $(if $capability:ident)?),* $(,)?) => {
        pub(crate) fn all() -> Vec<Case> {
            vec![$(Case {
                name: stringify!($name),
                needs: cases!(@needs $($capability)?),
                check: |engine| $name(engine).boxed(),
            }),*]
        }
    };
}

cases![
    names_and_dialect,
    catalog,
    keys if has_keys,
    types_and_nulls,
    unicode,
    odd_names,
    empty_results,
    errors_by_kind,
    writes_are_refused,
    checks_run_nothing,
    facts,
    rows_are_capped,
    bytes_are_capped,
    long_statements_are_refused,
    relations_are_spliced,
    plans if has_plans,
    statistics if has_statistics,
    what_is_not_declared_fails,
    deadline if can_interrupt,
    dropped_statements_end if can_interrupt,
    statements_at_once,
    short_beside_long if is_concurrent,
    identity,
];

/// A statement that would take hours: it counts 10¹⁴ rows.
const ENDLESS: &str = "SELECT count(*) FROM numbers a, numbers b, numbers c, numbers d, numbers e, \
                       numbers f, numbers g WHERE a.n + b.n + c.n + d.n + e.n + f.n + g.n < 0";

fn same<T: PartialEq + Debug>(what: &str, found: T, expected: T) -> Checked {
    if found == expected {
        Ok(())
    } else {
        Err(format!("{what}: {found:?} in place of {expected:?}"))
    }
}

fn holds(what: &str, is_so: bool) -> Checked {
    if is_so { Ok(()) } else { Err(what.to_owned()) }
}

fn quote(engine: &dyn Engine, name: &str) -> String {
    syrch_basics::quote_name(name, engine.capabilities().quote)
}

async fn rows(database: &dyn Database, sql: &str) -> Result<Vec<Vec<Value>>, String> {
    let result =
        database.run(&SqlQuery::new(sql)).await.map_err(|error| format!("`{sql}`: {error}"))?;
    Ok(result.rows(0, u64::MAX))
}

async fn kind(database: &dyn Database, sql: &str) -> Option<SqlErrorKind> {
    database.run(&SqlQuery::new(sql)).await.err().map(|error| error.kind)
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

async fn names_and_dialect(engine: &dyn Engine) -> Checked {
    let database = engine.open(Limits::default()).await;
    let dialect = engine.capabilities().dialect;
    same("the dialect", database.dialect(), dialect.clone())?;
    let catalog = database.catalog().await.map_err(|error| error.to_string())?;
    same("the catalog's dialect", &catalog.dialect, &dialect)?;
    same("the catalog's name", catalog.database.as_str(), database.name())?;
    holds(
        "the name is empty or an address",
        !database.name().is_empty() && !database.name().contains(['/', ':', '@']),
    )
}

async fn catalog(engine: &dyn Engine) -> Checked {
    let database = engine.open(Limits::default()).await;
    let catalog = database.catalog().await.map_err(|error| error.to_string())?;
    let mut tables: Vec<&str> = catalog.tables.iter().map(|table| table.name.as_str()).collect();
    tables.sort_unstable();
    let capabilities = engine.capabilities();
    let mut expected = vec![capabilities.odd_table, "numbers", "orders", "people"];
    expected.sort_unstable();
    same("the tables", tables, expected)?;
    let table = catalog.table("PEOPLE").ok_or("`PEOPLE` is not found, letter case aside")?;
    let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
    same("the columns", names, vec!["id", "name", "height", "note"])?;
    holds("a column has no type", table.columns.iter().all(|column| !column.sql_type.is_empty()))?;
    let nullable: Vec<bool> = table.columns[1..].iter().map(|column| column.nullable).collect();
    same("whether NULL is allowed", nullable, vec![!capabilities.has_not_null, true, true])?;
    holds("a table is taken for a view", !catalog.tables.iter().any(syrch_core::Table::is_view))
}

async fn keys(engine: &dyn Engine) -> Checked {
    let database = engine.open(Limits::default()).await;
    let catalog = database.catalog().await.map_err(|error| error.to_string())?;
    let orders = catalog.table("orders").ok_or("no table `orders`")?;
    same("the primary key", orders.primary_key.join(","), "id".to_owned())?;
    let keys: Vec<String> = orders
        .foreign_keys
        .iter()
        .map(|key| {
            format!("{} {} {}", key.columns.join(","), key.ref_table, key.ref_columns.join(","))
        })
        .collect();
    same("the foreign keys", keys, vec!["person people id".to_owned()])
}

async fn types_and_nulls(engine: &dyn Engine) -> Checked {
    let database = engine.open(Limits::default()).await;
    let found = rows(&*database, "SELECT id, height, note FROM people ORDER BY id").await?;
    let expected = vec![
        vec![Value::Integer(1), Value::Real(1.75), Value::Null],
        vec![Value::Integer(2), Value::Null, text("")],
        vec![Value::Integer(3), Value::Real(2.5), text("It's")],
    ];
    same("the rows", found, expected)?;
    let query = SqlQuery::new("SELECT total FROM orders");
    let profile = database.run(&query).await.map_err(|error| error.to_string())?.profile();
    same("rows and NULLs", (profile.rows, profile.columns[0].nulls), (3, 1))
}

async fn unicode(engine: &dyn Engine) -> Checked {
    let database = engine.open(Limits::default()).await;
    let found = rows(&*database, "SELECT name FROM people WHERE name <> 'ü' ORDER BY id").await?;
    same("the names", found, ["Zoë", "Łukasz", "名前 🦆"].map(|name| vec![text(name)]).to_vec())?;
    let found = rows(&*database, "SELECT id FROM people WHERE name = '名前 🦆'").await?;
    same("who has that name", found, vec![vec![Value::Integer(3)]])
}

async fn odd_names(engine: &dyn Engine) -> Checked {
    let database = engine.open(Limits::default()).await;
    let odd = engine.capabilities().odd_table;
    let [table, name, word] = [odd, "Product \"Name\"", "select"].map(|name| quote(engine, name));
    let sql = format!("SELECT {name}, {word} FROM {table}");
    let result =
        database.run(&SqlQuery::new(&sql)).await.map_err(|error| format!("`{sql}`: {error}"))?;
    same("the row", result.rows(0, 9), vec![vec![text("Lamp"), Value::Integer(1)]])?;
    let names: Vec<String> = result.columns().into_iter().map(|column| column.name).collect();
    same("the columns", names, vec!["Product \"Name\"".to_owned(), "select".to_owned()])?;
    let facts = database.check(&SqlQuery::new(&sql)).await.map_err(|error| error.to_string())?;
    same("the tables", facts.tables, vec![odd.to_owned()])
}

async fn empty_results(engine: &dyn Engine) -> Checked {
    let database = engine.open(Limits::default()).await;
    let query = SqlQuery::new("SELECT id, name FROM people WHERE id < 0");
    let result = database.run(&query).await.map_err(|error| error.to_string())?;
    same(
        "rows, columns and whether it was cut",
        (result.row_count(), result.columns().len(), result.is_truncated()),
        (0, 2, false),
    )
}

async fn errors_by_kind(engine: &dyn Engine) -> Checked {
    use SqlErrorKind::{AmbiguousName, Syntax, UnknownColumn, UnknownTable};
    let database = engine.open(Limits::default()).await;
    for (sql, expected) in [
        ("SELECT FROM WHERE", Syntax),
        ("SELECT 'open", Syntax),
        ("", Syntax),
        ("SELECT * FROM persons", UnknownTable),
        ("SELECT nickname FROM people", UnknownColumn),
        ("SELECT id FROM people, orders", AmbiguousName),
    ] {
        same(&format!("running `{sql}`"), kind(&*database, sql).await, Some(expected))?;
        let checked = database.check(&SqlQuery::new(sql)).await.err().map(|error| error.kind);
        same(&format!("checking `{sql}`"), checked, Some(expected))?;
    }
    let error = database
        .run(&SqlQuery::new("SELECT * FROM poeple"))
        .await
        .err()
        .ok_or("an unknown table was read")?;
    holds("the nearest name is not offered", error.suggestions.iter().any(|name| name == "people"))
}

async fn writes_are_refused(engine: &dyn Engine) -> Checked {
    let database = engine.open(Limits::default()).await;
    for sql in [
        "DELETE FROM orders",
        "INSERT INTO numbers VALUES (0)",
        "UPDATE people SET name = 'x'",
        "DROP TABLE orders",
        "CREATE TABLE made (a INTEGER)",
        "WITH gone AS (SELECT 1) DELETE FROM orders",
        "SELECT 1; DELETE FROM orders",
    ] {
        let error = database.run(&SqlQuery::new(sql)).await.err();
        holds(
            &format!("`{sql}` was not refused: {error:?}"),
            error.is_some_and(|error| error.kind.is_refusal()),
        )?;
    }
    let found =
        rows(&*database, "SELECT (SELECT count(*) FROM orders), (SELECT count(*) FROM numbers)")
            .await?;
    same("rows after all refusals", found, vec![vec![Value::Integer(3), Value::Integer(NUMBERS)]])?;
    let catalog = database.catalog().await.map_err(|error| error.to_string())?;
    same("tables after all refusals", catalog.tables.len(), 4)
}

async fn checks_run_nothing(engine: &dyn Engine) -> Checked {
    let database = engine.open(Limits::default()).await;
    let checked =
        tokio::time::timeout(Duration::from_secs(20), database.check(&SqlQuery::new(ENDLESS)))
            .await;
    checked
        .map_err(|_| "checking a long statement takes long")?
        .map(drop)
        .map_err(|error| error.to_string())
}

async fn facts(engine: &dyn Engine) -> Checked {
    let database = engine.open(Limits::default()).await;
    let sql =
        "SELECT NAME FROM People JOIN orders ON person = people.id WHERE total > 5 ORDER BY name";
    let facts = database.check(&SqlQuery::new(sql)).await.map_err(|error| error.to_string())?;
    let mut tables = facts.tables;
    tables.sort_unstable();
    same("the tables", tables, vec!["orders".to_owned(), "people".to_owned()])?;
    holds("a column is missing", facts.columns.iter().any(|column| column == "people.name"))?;
    holds("the order is missing", facts.ordered)
}

async fn rows_are_capped(engine: &dyn Engine) -> Checked {
    let database = engine.open(Limits { rows: 7, ..Limits::default() }).await;
    let started = Instant::now();
    // Many rows: an engine that reads all of them before it cuts takes long.
    let query =
        SqlQuery::new("SELECT a.n FROM numbers a, numbers b, numbers c, numbers d, numbers e");
    let result = database.run(&query).await.map_err(|error| error.to_string())?;
    same("rows and whether it was cut", (result.row_count(), result.is_truncated()), (7, true))?;
    holds("nobody is warned", !result.warnings().is_empty())?;
    holds(
        "all rows were read before the result was cut",
        started.elapsed() < Duration::from_secs(20),
    )?;
    let exact = database.run(&SqlQuery::new("SELECT n FROM numbers WHERE n <= 7")).await;
    let exact = exact.map_err(|error| error.to_string())?;
    same("an exact fit", (exact.row_count(), exact.is_truncated()), (7, false))
}

async fn bytes_are_capped(engine: &dyn Engine) -> Checked {
    let limits = Limits { result_bytes: 4_096, cell_bytes: 512, ..Limits::default() };
    let database = engine.open(limits).await;
    let query = SqlQuery::new("SELECT p.name, n FROM numbers, people p ORDER BY n");
    let result = database.run(&query).await.map_err(|error| error.to_string())?;
    holds(
        "more bytes than allowed are returned",
        result.is_truncated() && result.row_count() < 300,
    )?;
    holds("nothing is returned", result.row_count() > 0)?;
    let long = format!("SELECT '{}'", "x".repeat(600));
    same("a large cell", kind(&*database, &long).await, Some(SqlErrorKind::TooLarge))
}

async fn long_statements_are_refused(engine: &dyn Engine) -> Checked {
    let database = engine.open(Limits { sql_bytes: 100, ..Limits::default() }).await;
    let sql = format!("SELECT n FROM numbers WHERE n = 1{}", " OR n = 1".repeat(20));
    same("a long statement", kind(&*database, &sql).await, Some(SqlErrorKind::TooLarge))
}

fn relation(name: &str, sql: &str) -> Relation {
    Relation {
        name: name.to_owned(),
        sql: sql.to_owned(),
        columns: vec![Column { name: "id".into(), ..Column::default() }],
    }
}

async fn relations_are_spliced(engine: &dyn Engine) -> Checked {
    let database = engine.open(Limits::default()).await;
    let tall = relation("tall", "SELECT id FROM people WHERE height > 1");
    let busy =
        relation("busy", "SELECT id FROM tall WHERE id IN (SELECT person FROM orders) AND id > 1");
    let query = SqlQuery { text: "SELECT id FROM busy".to_owned(), relations: vec![tall, busy] };
    let result = database.run(&query).await.map_err(|error| error.to_string())?;
    same("the rows", result.rows(0, 9), vec![vec![Value::Integer(3)]])?;
    let facts = database.check(&query).await.map_err(|error| error.to_string())?;
    same("the tasks", facts.tasks, vec!["busy".to_owned()])?;
    let composed = database.compose(&query).map_err(|error| error.to_string())?;
    same("the statement that ran", &result.sql, &composed)?;
    same(
        "the statement on its own",
        rows(&*database, &composed).await?,
        vec![vec![Value::Integer(3)]],
    )?;
    let alone = kind(&*database, "SELECT id FROM busy").await;
    same("a relation that the query does not have", alone, Some(SqlErrorKind::UnknownTable))
}

async fn plans(engine: &dyn Engine) -> Checked {
    let database = engine.open(Limits::default()).await;
    let plan = database
        .explain(&SqlQuery::new("SELECT name FROM people"))
        .await
        .map_err(|error| error.to_string())?;
    holds("the plan has no format or no text", !plan.format.is_empty() && !plan.text.is_empty())?;
    let refused = database.explain(&SqlQuery::new("DELETE FROM orders")).await.err();
    holds("a write has a plan", refused.is_some_and(|error| error.kind.is_refusal()))
}

async fn statistics(engine: &dyn Engine) -> Checked {
    let database = engine.open(Limits::default()).await;
    let columns = ["height".to_owned()];
    let found =
        database.column_stats("people", &columns).await.map_err(|error| error.to_string())?;
    same("the columns", found.iter().map(|stats| stats.column.as_str()).collect(), vec!["height"])?;
    let unknown = database.column_stats("people", &["weight".to_owned()]).await.err();
    holds("an unknown column has statistics", matches!(unknown, Some(PortError::UnknownName(_))))?;
    let samples =
        database.samples("people", &columns, 5).await.map_err(|error| error.to_string())?;
    let sample = samples.first().ok_or("no samples")?;
    same(
        "least and greatest",
        (&sample.least, &sample.greatest),
        (&Value::Real(1.75), &Value::Real(2.5)),
    )?;
    let unknown = database.samples("persons", &columns, 5).await.err();
    holds("an unknown table has samples", matches!(unknown, Some(PortError::UnknownName(_))))
}

async fn what_is_not_declared_fails(engine: &dyn Engine) -> Checked {
    let database = engine.open(Limits::default()).await;
    let capabilities = engine.capabilities();
    if !capabilities.has_plans {
        holds(
            "there is a plan",
            database.explain(&SqlQuery::new("SELECT name FROM people")).await.is_err(),
        )?;
    }
    if !capabilities.has_statistics {
        let found = database.column_stats("people", &["height".to_owned()]).await.err();
        same("statistics", found, Some(PortError::Unsupported))?;
        let found = database.samples("people", &["height".to_owned()], 5).await.err();
        same("samples", found, Some(PortError::Unsupported))?;
    }
    let found = database.find(&["Zoë".to_owned()], Match::Other("none".to_owned()), 1).await.err();
    same("an unknown match", found, Some(PortError::Unsupported))
}

async fn deadline(engine: &dyn Engine) -> Checked {
    let database =
        engine.open(Limits { sql_deadline: Duration::from_millis(500), ..Limits::default() }).await;
    let started = Instant::now();
    let ended = tokio::time::timeout(Duration::from_secs(30), kind(&*database, ENDLESS)).await;
    same(
        "how it ended",
        ended.map_err(|_| "it does not end at its deadline")?,
        Some(SqlErrorKind::Timeout),
    )?;
    let elapsed = started.elapsed();
    holds("it ended before its deadline", elapsed >= Duration::from_millis(400))?;
    holds("it ended long after its deadline", elapsed < Duration::from_secs(10))?;
    same("the next statement", rows(&*database, "SELECT 1").await?, vec![vec![Value::Integer(1)]])
}

async fn dropped_statements_end(engine: &dyn Engine) -> Checked {
    let limits =
        Limits { sql_in_flight: 1, sql_deadline: Duration::from_secs(60), ..Limits::default() };
    let database = engine.open(limits).await;
    for _ in 0..3 {
        let query = SqlQuery::new(ENDLESS);
        let ended = tokio::time::timeout(Duration::from_millis(200), database.run(&query)).await;
        holds("the statement ended by itself", ended.is_err())?;
    }
    // The only connection is free again, long before the deadline of those that were dropped.
    let next = tokio::time::timeout(Duration::from_secs(20), rows(&*database, "SELECT 1")).await;
    same(
        "the next statement",
        next.map_err(|_| "a dropped statement runs on")??,
        vec![vec![Value::Integer(1)]],
    )
}

async fn statements_at_once(engine: &dyn Engine) -> Checked {
    let database = engine.open(Limits::default()).await;
    let each = stream::iter(1..=NUMBERS).map(|n| {
        let database = &database;
        async move {
            let found = rows(&**database, &format!("SELECT n FROM numbers WHERE n = {n}")).await?;
            same("a row", found, vec![vec![Value::Integer(n)]])
        }
    });
    let all: Vec<Checked> = each.buffer_unordered(16).collect().await;
    all.into_iter().collect()
}

async fn short_beside_long(engine: &dyn Engine) -> Checked {
    let limits =
        Limits { sql_in_flight: 2, sql_deadline: Duration::from_secs(60), ..Limits::default() };
    let database = engine.open(limits).await;
    let endless = SqlQuery::new(ENDLESS);
    let mut long = database.run(&endless);
    let short = rows(&*database, "SELECT 1");
    tokio::select! {
        _ = &mut long => Err("the long statement ended first".to_owned()),
        found = short => same("the short statement", found?, vec![vec![Value::Integer(1)]]),
    }
}

/// Comes last: it changes the database.
async fn identity(engine: &dyn Engine) -> Checked {
    let database = engine.open(Limits::default()).await;
    let before = database.identity().await;
    if !engine.capabilities().has_identity {
        return same("the identity of an engine that does not declare it", before, None);
    }
    holds("there is no identity", before.is_some())?;
    let other = engine.open(Limits::default()).await;
    same("the identity of the same database", other.identity().await, before.clone())?;
    same(
        "the identity after a query",
        {
            rows(&*database, "SELECT 1").await?;
            database.identity().await
        },
        before.clone(),
    )?;
    engine.change().await;
    holds("a changed table has the same identity", database.identity().await != before)?;
    let found = rows(&*database, "SELECT count(*) FROM orders").await?;
    same("rows after a change", found, vec![vec![Value::Integer(4)]])
}
