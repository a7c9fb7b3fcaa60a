//! Each rule of the second check, by statements that the server's analysis refuses and others that
//! it admits. The first check is not asked here: the second one has to hold by itself.

use syrch_core::ports::Bench;
use syrch_kit::acceptance::{ADMISSION, BEYOND, missing};

use super::*;

const SCRIPT: &str = "\
    CREATE TYPE mood AS ENUM ('sad', 'glad'); CREATE DOMAIN small AS int CHECK (VALUE < 10); \
    CREATE TABLE t(id int PRIMARY KEY, g int NOT NULL, v numeric, price numeric(10, 2), r float8, \
    s text, n varchar(10), c char(3), d timestamptz, day date, i interval, j jsonb, o json, \
    b bool, tags text[], u uuid, x bytea, at time); CREATE TABLE u(id int PRIMARY KEY, t_id int \
    REFERENCES t, name text); CREATE TABLE secret(v int); CREATE TABLE moods(id int, mood mood); \
    CREATE TABLE smalls(id int, small small); CREATE TABLE lists(id int, moods mood[]); \
    CREATE TABLE parts(id int) PARTITION BY RANGE (id); CREATE TABLE part PARTITION OF parts \
    DEFAULT; CREATE TABLE parent(id int); CREATE TABLE child() INHERITS (parent); \
    CREATE VIEW seen AS SELECT id FROM t; CREATE MATERIALIZED VIEW copied AS SELECT id FROM t; \
    CREATE TABLE owned(id int); ALTER TABLE owned ENABLE ROW LEVEL SECURITY; \
    CREATE TABLE ruled(id int); CREATE RULE quiet AS ON INSERT TO ruled DO INSTEAD NOTHING; \
    CREATE FUNCTION one(int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT $1'; \
    CREATE FUNCTION number(bool) RETURNS numeric IMMUTABLE LANGUAGE sql AS 'SELECT 1.0'; \
    CREATE CAST (bool AS numeric) WITH FUNCTION number(bool) AS IMPLICIT; \
    CREATE FUNCTION same(int, int) RETURNS bool IMMUTABLE LANGUAGE sql AS 'SELECT $1 = $2'; \
    CREATE OPERATOR === (LEFTARG = int, RIGHTARG = int, FUNCTION = same); \
    CREATE AGGREGATE total(int) (SFUNC = int4pl, STYPE = int, INITCOND = '0'); \
    CREATE COLLATION folded (provider = icu, locale = 'und-u-ks-level2', deterministic = false); \
    CREATE FUNCTION pg_catalog.planted(int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT $1'";

/// The row of the acceptance list, a statement, and the rule by which it is refused with a token in
/// the message.
const REFUSED: &[(&str, &str, &str, &str)] = &[
    ("AR-01", "INSERT INTO public.t(id, g) VALUES (9, 9)", "read-only", "SELECT"),
    (
        "AR-01",
        "WITH w AS (DELETE FROM public.t RETURNING id) SELECT id FROM w",
        "read-only",
        "SELECT",
    ),
    ("AR-D8", "SELECT id INTO public.other FROM public.t", "read-only", "SELECT"),
    ("AR-02", "SELECT id FROM public.t FOR UPDATE", "locks", "FOR UPDATE"),
    ("AR-02", "SELECT id FROM (SELECT id FROM public.t FOR KEY SHARE) AS k", "locks", "FOR UPDATE"),
    ("AR-03", "SELECT id FROM public.t ORDER BY id LIMIT 1", "limit", "LIMIT"),
    (
        "AR-03",
        "SELECT id FROM public.t WHERE id IN (SELECT t_id FROM public.u OFFSET 1)",
        "limit",
        "OFFSET",
    ),
    (
        "AR-03",
        "WITH w AS (SELECT id FROM public.t FETCH FIRST ROW ONLY) SELECT id FROM w",
        "limit",
        "LIMIT",
    ),
    ("AR-04", "SELECT DISTINCT ON (g) g, id FROM public.t", "distinct-on", "DISTINCT ON"),
    ("AR-04", "SELECT id FROM public.t TABLESAMPLE SYSTEM (50)", "sample", "TABLESAMPLE"),
    ("AR-05", "SELECT id FROM public.t WHERE id = $1", "parameters", "$1"),
    (
        "AR-06",
        "SELECT t.id FROM public.t, generate_series(1, 2)",
        "table-function",
        "generate_series",
    ),
    ("AR-06", "SELECT t.id FROM public.t, (VALUES (1)) AS v(a)", "values", "VALUES"),
    (
        "AR-06",
        "SELECT t.id FROM public.t, XMLTABLE('a' PASSING '<a/>' COLUMNS a text)",
        "table-function",
        "xmltable",
    ),
    ("AR-06", "SELECT generate_series(1, g) FROM public.t", "set-returning", "generate_series"),
    ("AR-06", "SELECT 1", "base-table", "SELECT"),
    ("AR-08", "SELECT array_agg(id) FROM public.t", "aggregate", "array_agg"),
    ("AR-08", "SELECT string_agg(s, ',') FROM public.t", "aggregate", "string_agg"),
    ("AR-08", "SELECT jsonb_object_agg(id, g) FROM public.t", "aggregate", "jsonb_object_agg"),
    (
        "AR-08",
        "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY g) FROM public.t",
        "aggregate",
        "WITHIN GROUP",
    ),
    ("AR-08", "SELECT public.total(g) FROM public.t", "aggregate", "total"),
    ("AR-08", "SELECT xmlagg(xmlparse(CONTENT s)) FROM public.t", "node", "XMLEXPR"),
    ("AR-08", "SELECT sum(r) FROM public.t", "float-aggregate", "sum"),
    ("AR-08", "SELECT avg(r::real) FROM public.t", "float-aggregate", "avg"),
    ("AR-08", "SELECT corr(g, id) FROM public.t", "float-aggregate", "corr"),
    ("AR-09", "SELECT row_number() OVER (ORDER BY g) FROM public.t", "aggregate", "row_number"),
    ("AR-09", "SELECT lag(g) OVER (ORDER BY id) FROM public.t", "aggregate", "lag"),
    ("AR-09", "SELECT first_value(g) OVER (ORDER BY id) FROM public.t", "aggregate", "first_value"),
    ("AR-09", "SELECT sum(g) OVER (ORDER BY id) FROM public.t", "window", "sum"),
    ("AR-09", "SELECT count(*) OVER (ROWS UNBOUNDED PRECEDING) FROM public.t", "window", "count"),
    ("AR-10", "SELECT random() < 2 FROM public.t", "function", "random"),
    ("AR-10", "SELECT public.one(id) FROM public.t", "function", "one"),
    ("AR-10", "SELECT planted(id) FROM public.t", "function", "planted"),
    ("AR-D12", "SELECT age(d) FROM public.t", "function", "age"),
    ("AR-10", "SELECT current_setting('timezone') FROM public.t", "function", "current_setting"),
    ("AR-11", "SELECT id FROM public.t WHERE id OPERATOR(public.===) g", "function", "same"),
    ("AR-12", "SELECT id::public.small FROM public.t", "node", "COERCETODOMAIN"),
    ("AR-12", "SELECT 'sad'::public.mood FROM public.t", "type", "mood"),
    ("AR-12", "SELECT id::money FROM public.t", "type", "money"),
    (BEYOND, "SELECT ROW(id, g) FROM public.t", "node", "ROW"),
    (BEYOND, "SELECT t FROM public.t", "type", "t"),
    ("AR-13", "SELECT id FROM public.seen", "ordinary-table", "seen"),
    ("AR-13", "SELECT id FROM public.copied", "ordinary-table", "copied"),
    ("AR-13", "SELECT id FROM public.parts", "ordinary-table", "parts"),
    ("AR-13", "SELECT id FROM public.parent", "ordinary-table", "parent"),
    ("AR-13", "SELECT id FROM public.owned", "ordinary-table", "owned"),
    ("AR-13", "SELECT id FROM public.ruled", "ordinary-table", "ruled"),
    ("AR-13", "SELECT relname::text FROM pg_catalog.pg_class", "granted-tables", "pg_class"),
    ("AR-14", "SELECT id FROM public.moods", "ordinary-table", "moods"),
    ("AR-14", "SELECT id FROM public.smalls", "ordinary-table", "smalls"),
    ("AR-14", "SELECT id FROM public.lists", "ordinary-table", "lists"),
    ("AR-17", "SELECT id FROM public.t WHERE b + 1.0 > 1", "function", "number"),
    (
        "AR-15",
        "WITH seen AS (SELECT relname::text AS name FROM pg_catalog.pg_class) \
         SELECT name FROM seen",
        "granted-tables",
        "pg_class",
    ),
    (
        "AR-D1",
        "WITH t AS (SELECT rolname::text AS s FROM pg_catalog.pg_roles) SELECT s FROM t UNION ALL \
         SELECT s FROM public.t",
        "granted-tables",
        "pg_roles",
    ),
    ("AR-D3", "SELECT ARRAY(SELECT id FROM public.u) FROM public.t", "aggregate", "ARRAY"),
    ("AR-D4", "SELECT sum(g) OVER w FROM public.t WINDOW w AS (ORDER BY id)", "window", "sum"),
    (
        "AR-D4",
        "SELECT sum(g) OVER w FROM public.t WINDOW v AS (PARTITION BY g), w AS (v \
         ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)",
        "window",
        "sum",
    ),
    (
        "AR-09",
        "SELECT sum(g) OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE \
         CURRENT ROW) FROM public.t",
        "window",
        "sum",
    ),
    ("AR-D8", "SELECT id FROM public.t WHERE d < CURRENT_TIMESTAMP", "clock", "current_timestamp"),
    ("AR-D8", "SELECT id, current_user FROM public.t", "clock", "current_user"),
    ("AR-10", "SELECT id FROM public.t WHERE d < now()", "function", "now"),
    ("AR-10", "SELECT id FROM public.t WHERE day < 'today'", "clock", "today"),
    ("AR-10", "SELECT id FROM public.t WHERE s::date < day", "clock", "CAST"),
    ("AR-10", "SELECT (j ->> 'at')::timestamp FROM public.t", "clock", "CAST"),
    (BEYOND, "SELECT ctid FROM public.t", "system-column", "ctid"),
    (BEYOND, "SELECT id FROM public.t WHERE tableoid = 0", "system-column", "ctid"),
    (BEYOND, "SELECT DISTINCT r FROM public.t", "mixed-values", "float8eq"),
    (BEYOND, "SELECT i, count(*) FROM public.t GROUP BY i", "mixed-values", "interval_eq"),
    (BEYOND, "SELECT j FROM public.t UNION SELECT j FROM public.t", "mixed-values", "jsonb_eq"),
    (BEYOND, "SELECT max(r) FROM public.t", "mixed-values", "max"),
    (BEYOND, "SELECT min(i) OVER () FROM public.t", "mixed-values", "min"),
    (BEYOND, "SELECT v::text FROM public.t GROUP BY v", "mixed-values", "CAST"),
    (BEYOND, "SELECT max(v) / 3 FROM public.t", "mixed-values", "/"),
    (
        BEYOND,
        "SELECT concat(v) FROM (SELECT DISTINCT v FROM public.t) AS k",
        "mixed-values",
        "concat",
    ),
    (BEYOND, "SELECT avg(v) FROM (SELECT DISTINCT v FROM public.t) AS k", "mixed-values", "avg"),
    (BEYOND, "SELECT sum(DISTINCT i) FROM public.t", "mixed-values", "interval_eq"),
    (
        BEYOND,
        "SELECT DISTINCT trim(c)::char FROM public.t UNION SELECT s::bpchar FROM public.t",
        "mixed-values",
        "bpchareq",
    ),
    (BEYOND, "SELECT id FROM public.t WHERE s COLLATE public.folded = 'a'", "collation", "folded"),
];

/// The row, and a statement that is admitted, with the tables that it reads.
const ADMITTED: &[(&str, &str, &[&str])] = &[
    ("AR-01", "SELECT id FROM public.t", &["t"]),
    ("AR-02", "SELECT id FROM public.t WHERE s = 'FOR UPDATE'", &["t"]),
    ("AR-03", "SELECT id FROM public.t ORDER BY id", &["t"]),
    ("AR-04", "SELECT DISTINCT g FROM public.t", &["t"]),
    ("AR-05", "SELECT id FROM public.t WHERE j ? 'a'", &["t"]),
    (
        "AR-06",
        "SELECT t.id FROM public.t JOIN (SELECT t_id FROM public.u) AS k ON k.t_id = t.id LEFT \
         JOIN public.u USING (id)",
        &["t", "u"],
    ),
    (
        "AR-08",
        "SELECT count(*), sum(g), avg(v), min(s), max(day), bool_and(b), every(b), bit_or(g), \
         stddev(g), var_pop(v), count(DISTINCT r), max(price) FROM public.t",
        &["t"],
    ),
    ("AR-08", "SELECT regr_count(r, g), count(r) FROM public.t", &["t"]),
    ("AR-08", "SELECT sum(i), avg(i), sum(DISTINCT g) FILTER (WHERE b) FROM public.t", &["t"]),
    (
        "AR-09",
        "SELECT rank() OVER (ORDER BY r), dense_rank() OVER (PARTITION BY g \
         ORDER BY s), cume_dist() OVER (ORDER BY g) FROM public.t",
        &["t"],
    ),
    (
        "AR-09",
        "SELECT sum(g) OVER w, count(*) OVER () FROM public.t WINDOW w AS (PARTITION BY s)",
        &["t"],
    ),
    (
        "AR-09",
        "SELECT sum(g) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) \
         FROM public.t",
        &["t"],
    ),
    (
        "AR-10",
        "SELECT coalesce(g, 1), nullif(g, 2), greatest(g, id), lower(s), round(v, 2), substring(s, \
         1, 2) FROM public.t",
        &["t"],
    ),
    (
        "AR-11",
        "SELECT id FROM public.t WHERE s LIKE 'a%' AND s ~ 'b' AND (g, id) < (1, 2) \
         AND g IN (1, 2) AND g IS DISTINCT FROM 3",
        &["t"],
    ),
    (
        "AR-12",
        "SELECT g::text, s::numeric, g::float8, day::timestamp, s::varchar(3), '{1}'::int[], \
         u::text FROM public.t",
        &["t"],
    ),
    ("AR-13", "SELECT id FROM ONLY public.parent", &["parent"]),
    (BEYOND, "SELECT r, j, o, tags, u, x, at, i, c FROM public.t", &["t"]),
    ("AR-15", "WITH u AS (SELECT id FROM public.t) SELECT id FROM u", &["t"]),
    (
        "AR-15",
        "WITH RECURSIVE w AS (SELECT 1 AS id UNION ALL SELECT t.id FROM public.t, w \
         WHERE w.id < t.g) SELECT id FROM w",
        &["t"],
    ),
    (
        "AR-16",
        "SELECT id FROM public.t WHERE EXISTS (SELECT 1 FROM public.u WHERE u.t_id = t.id) \
         AND id NOT IN (SELECT v FROM public.secret)",
        &["secret", "t", "u"],
    ),
    (
        "AR-D1",
        "WITH c AS (SELECT id FROM public.u) SELECT id FROM public.t UNION ALL SELECT id FROM c",
        &["t", "u"],
    ),
    (
        "AR-D2",
        "SELECT t.id FROM public.t JOIN public.u ON t.id = u.t_id AND (SELECT max(v) \
         FROM public.secret) = 42",
        &["secret", "t", "u"],
    ),
    ("AR-D4", "SELECT sum(g) OVER (v) FROM public.t WINDOW v AS (PARTITION BY s)", &["t"]),
    (
        "AR-D12",
        "SELECT length(s), s || 'x', s || g, concat(s, g), concat_ws('-', s, n), format('%s', s), \
            age(d, d), date(d), to_char(d, 'YYYY'), to_date(s, 'YYYY'), \
            timezone('UTC', d), to_jsonb(g), jsonb_build_object('a', g), date_trunc('month', d), \
            extract(year FROM d) FROM public.t",
        &["t"],
    ),
    (
        "AR-D8",
        "SELECT id FROM public.t WHERE day < '2024-01-01' AND d < '2024-01-01 00:00+01' \
         AND s <> 'known'",
        &["t"],
    ),
    ("AR-D8", "SELECT id FROM public.t WHERE s LIKE '%today%'", &["t"]),
    ("AR-13", "SELECT u.name FROM public.u", &["u"]),
    ("AR-14", "SELECT v FROM public.secret", &["secret"]),
    ("AR-17", "SELECT id FROM public.t WHERE g + 1.5 > 1 AND d > day", &["t"]),
    ("AR-D3", "SELECT id FROM public.t WHERE g = ANY (ARRAY[1, 2])", &["t"]),
    (BEYOND, "SELECT price, count(*), price::text FROM public.t GROUP BY price", &["t"]),
    (BEYOND, "SELECT v FROM public.t UNION SELECT price FROM public.t", &["t"]),
    (BEYOND, "SELECT c FROM public.t GROUP BY c HAVING max(c) = c", &["t"]),
    (BEYOND, "SELECT s COLLATE \"C\" FROM public.t GROUP BY s", &["t"]),
    (BEYOND, "SELECT g, s, grouping(g), count(*) FROM public.t GROUP BY ROLLUP (g, s)", &["t"]),
    (
        BEYOND,
        "SELECT CASE WHEN g > 1 THEN s ELSE n END, tags[1], g = ANY (ARRAY[1, 2]), b IS NOT TRUE, \
         (SELECT max(id) FROM public.u) FROM public.t",
        &["t", "u"],
    ),
];

/// The row, and a candidate that is refused where the original reads the tables `t` and `u` alone.
const OUTSIDE: &[(&str, &str)] = &[
    ("AR-16", "SELECT v FROM public.secret"),
    ("AR-16", "SELECT id FROM public.t WHERE EXISTS (SELECT 1 FROM public.secret)"),
    (
        "AR-D1",
        "WITH c AS (SELECT v FROM public.secret) SELECT id FROM public.t UNION ALL SELECT v FROM c",
    ),
    (
        "AR-D2",
        "SELECT t.id FROM public.t JOIN public.u ON t.id = u.t_id AND (SELECT max(v) \
         FROM public.secret) = 42",
    ),
];

#[tokio::test(flavor = "multi_thread")]
async fn the_servers_analysis_refuses_and_admits_by_the_rules() {
    let Some(server) = Server::start() else { return };
    // Only a superuser that sets `allow_system_table_mods` may put a function where the server's
    // own are.
    server.database("rules", &format!("SET allow_system_table_mods = on; {SCRIPT}"));
    let mut bench = bench(&server, "admin", "rules").await;
    let mut wrong = Vec::new();
    for (row, sql, rule, token) in REFUSED {
        match second(&mut bench, sql).await {
            Err(error) if error.rule.as_deref() == Some(*rule) && error.message.contains(token) => {
            }
            other => wrong.push(format!("{row}: {sql}: {other:?}")),
        }
        // Both checks together refuse no less.
        if let Ok(admitted) = bench.admit(sql, None).await {
            wrong.push(format!("{row}: {sql} passes as {}", admitted.sql));
        }
    }
    let mut shown = Vec::new();
    for (row, sql, tables) in ADMITTED {
        match second(&mut bench, sql).await {
            Ok(found) if found == *tables => {}
            other => wrong.push(format!("{row}: {sql}: {other:?}")),
        }
        // The first check refuses a name that stands for a table and for something else.
        if bench.admit(sql, None).await.is_ok_and(|admitted| admitted.tables == *tables) {
            shown.push(*row);
        }
    }
    let within = ["t".to_owned(), "u".to_owned()];
    for (row, sql) in OUTSIDE {
        let alone = bench.admit(sql, None).await;
        let inside = bench.admit(sql, Some(&within)).await;
        if alone.is_err() || !inside.as_ref().is_err_and(|error| error.kind.is_refusal()) {
            wrong.push(format!(
                "{row}: {sql}: {alone:?}, and within the tables of another: {inside:?}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let refused = REFUSED.iter().map(|(row, ..)| *row).chain(OUTSIDE.iter().map(|(row, _)| *row));
    assert_eq!(missing(ADMISSION, refused), Vec::<&str>::new(), "rows without a refused statement");
    assert_eq!(missing(ADMISSION, shown), Vec::<&str>::new(), "rows without an admitted statement");
    // An analysis that is too long to be read.
    let list = vec!["1"; 40_000].join(",");
    let error = second(&mut bench, &format!("SELECT id FROM public.t WHERE g IN ({list})"))
        .await
        .unwrap_err();
    assert_eq!(error.rule.as_deref(), Some("tree"), "{error:?}");
    // A refusal leaves the snapshot as it was.
    assert_eq!(bench.connection.snapshots, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn sums_of_reals_are_admitted_where_the_limits_say_so() {
    let Some(server) = Server::start() else { return };
    server.database("sums", "CREATE TABLE t(id int PRIMARY KEY, g int, r float8); ANALYZE");
    let mut bench = bench(&server, "admin", "sums").await;
    bench.limits.real_sums = true;
    for sql in [
        "SELECT sum(r), avg(r::real), corr(g, id), regr_slope(r, g) FROM public.t",
        "SELECT stddev(r) FROM public.t",
    ] {
        assert_eq!(second(&mut bench, sql).await.unwrap(), ["t"], "{sql}");
    }
    for sql in
        ["SELECT array_agg(r) FROM public.t", "SELECT sum(r) OVER (ORDER BY id) FROM public.t"]
    {
        second(&mut bench, sql).await.unwrap_err();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn names_that_look_like_a_tree_hide_nothing() {
    let Some(server) = Server::start() else { return };
    server.database(
        "rules",
        SCRIPT.split("CREATE FUNCTION pg_catalog").next().unwrap().trim_end_matches("; "),
    );
    let mut bench = bench(&server, "admin", "rules").await;
    for name in [
        ":relid",
        "} {QUERY :relid 1",
        "<>",
        "[",
        "(",
        ")",
        "{",
        "}",
        "\\",
        "\"",
        "a\nb",
        ":limitCount <>",
        "1",
    ] {
        let quoted = format!("\"{}\"", name.replace('"', "\"\""));
        let sql = format!(
            "SELECT k.{quoted} AS {quoted} FROM (SELECT max(v) AS {quoted} \
             FROM public.secret AS {quoted}) AS k"
        );
        assert_eq!(second(&mut bench, &sql).await, Ok(vec!["secret".to_owned()]), "{sql}");
        let sql = format!("SELECT random() AS {quoted} FROM public.secret AS {quoted}");
        assert_eq!(
            second(&mut bench, &sql).await.unwrap_err().rule.as_deref(),
            Some("function"),
            "{sql}"
        );
    }
    // Names whose spelling is longer than a line of the server: refused wherever a word may be
    // broken.
    for length in 1..=63 {
        let name = "{".repeat(length);
        let sql = format!("SELECT random() AS \"{name}\" FROM public.secret AS \"{name}\"");
        let rule = second(&mut bench, &sql).await.unwrap_err().rule;
        assert!(matches!(rule.as_deref(), Some("function" | "tree")), "{length}: {rule:?}");
        assert!(length > 30 || rule.as_deref() == Some("function"), "{length}");
    }
}
