//! Each rule of the second check, by statements that the server's analysis refuses and others that it admits. The
//! first check is not asked here: the second one has to hold by itself.

use super::*;

const SCRIPT: &str = "\
    CREATE TYPE mood AS ENUM ('sad', 'glad'); CREATE DOMAIN small AS int CHECK (VALUE < 10); \
    CREATE TABLE t(id int PRIMARY KEY, g int NOT NULL, v numeric, price numeric(10, 2), r float8, s text, n varchar(10), c char(3), d timestamptz, \
      day date, i interval, j jsonb, o json, b bool, tags text[], u uuid, x bytea, at time); \
    CREATE TABLE u(id int PRIMARY KEY, t_id int REFERENCES t, name text); CREATE TABLE secret(v int); \
    CREATE TABLE moods(id int, mood mood); CREATE TABLE smalls(id int, small small); CREATE TABLE lists(id int, moods mood[]); \
    CREATE TABLE parts(id int) PARTITION BY RANGE (id); CREATE TABLE part PARTITION OF parts DEFAULT; \
    CREATE TABLE parent(id int); CREATE TABLE child() INHERITS (parent); CREATE VIEW seen AS SELECT id FROM t; \
    CREATE MATERIALIZED VIEW copied AS SELECT id FROM t; CREATE TABLE owned(id int); ALTER TABLE owned ENABLE ROW LEVEL SECURITY; \
    CREATE TABLE ruled(id int); CREATE RULE quiet AS ON INSERT TO ruled DO INSTEAD NOTHING; \
    CREATE FUNCTION one(int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT $1'; \
    CREATE FUNCTION number(bool) RETURNS numeric IMMUTABLE LANGUAGE sql AS 'SELECT 1.0'; CREATE CAST (bool AS numeric) WITH FUNCTION number(bool) AS IMPLICIT; \
    CREATE FUNCTION same(int, int) RETURNS bool IMMUTABLE LANGUAGE sql AS 'SELECT $1 = $2'; \
    CREATE OPERATOR === (LEFTARG = int, RIGHTARG = int, FUNCTION = same); \
    CREATE AGGREGATE total(int) (SFUNC = int4pl, STYPE = int, INITCOND = '0'); \
    CREATE COLLATION folded (provider = icu, locale = 'und-u-ks-level2', deterministic = false); \
    CREATE FUNCTION pg_catalog.planted(int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT $1'";

/// A statement, and the rule by which it is refused with a token in the message.
const REFUSED: &[(&str, &str, &str)] = &[
    ("INSERT INTO public.t(id, g) VALUES (9, 9)", "read-only", "SELECT"),
    ("WITH w AS (DELETE FROM public.t RETURNING id) SELECT id FROM w", "read-only", "SELECT"),
    ("SELECT id INTO public.other FROM public.t", "read-only", "SELECT"),
    ("SELECT id FROM public.t FOR UPDATE", "locks", "FOR UPDATE"),
    ("SELECT id FROM (SELECT id FROM public.t FOR KEY SHARE) AS k", "locks", "FOR UPDATE"),
    ("SELECT id FROM public.t ORDER BY id LIMIT 1", "limit", "LIMIT"),
    ("SELECT id FROM public.t WHERE id IN (SELECT t_id FROM public.u OFFSET 1)", "limit", "OFFSET"),
    ("WITH w AS (SELECT id FROM public.t FETCH FIRST ROW ONLY) SELECT id FROM w", "limit", "LIMIT"),
    ("SELECT DISTINCT ON (g) g, id FROM public.t", "distinct-on", "DISTINCT ON"),
    ("SELECT id FROM public.t TABLESAMPLE SYSTEM (50)", "sample", "TABLESAMPLE"),
    ("SELECT id FROM public.t WHERE id = $1", "parameters", "$1"),
    ("SELECT t.id FROM public.t, generate_series(1, 2)", "table-function", "generate_series"),
    ("SELECT t.id FROM public.t, (VALUES (1)) AS v(a)", "values", "VALUES"),
    ("SELECT t.id FROM public.t, XMLTABLE('a' PASSING '<a/>' COLUMNS a text)", "table-function", "xmltable"),
    ("SELECT generate_series(1, g) FROM public.t", "set-returning", "generate_series"),
    ("SELECT 1", "base-table", "SELECT"),
    ("SELECT array_agg(id) FROM public.t", "aggregate", "array_agg"),
    ("SELECT string_agg(s, ',') FROM public.t", "aggregate", "string_agg"),
    ("SELECT jsonb_object_agg(id, g) FROM public.t", "aggregate", "jsonb_object_agg"),
    ("SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY g) FROM public.t", "aggregate", "WITHIN GROUP"),
    ("SELECT public.total(g) FROM public.t", "aggregate", "total"),
    ("SELECT xmlagg(xmlparse(CONTENT s)) FROM public.t", "node", "XMLEXPR"),
    ("SELECT sum(r) FROM public.t", "float-aggregate", "sum"),
    ("SELECT avg(r::real) FROM public.t", "float-aggregate", "avg"),
    ("SELECT corr(g, id) FROM public.t", "float-aggregate", "corr"),
    ("SELECT row_number() OVER (ORDER BY g) FROM public.t", "aggregate", "row_number"),
    ("SELECT lag(g) OVER (ORDER BY id) FROM public.t", "aggregate", "lag"),
    ("SELECT first_value(g) OVER (ORDER BY id) FROM public.t", "aggregate", "first_value"),
    ("SELECT sum(g) OVER (ORDER BY id) FROM public.t", "window", "sum"),
    ("SELECT count(*) OVER (ROWS UNBOUNDED PRECEDING) FROM public.t", "window", "count"),
    ("SELECT random() < 2 FROM public.t", "function", "random"),
    ("SELECT public.one(id) FROM public.t", "function", "one"),
    ("SELECT planted(id) FROM public.t", "function", "planted"),
    ("SELECT age(d) FROM public.t", "function", "age"),
    ("SELECT current_setting('timezone') FROM public.t", "function", "current_setting"),
    ("SELECT id FROM public.t WHERE id OPERATOR(public.===) g", "function", "same"),
    ("SELECT id::public.small FROM public.t", "node", "COERCETODOMAIN"),
    ("SELECT 'sad'::public.mood FROM public.t", "type", "mood"),
    ("SELECT id::money FROM public.t", "type", "money"),
    ("SELECT ROW(id, g) FROM public.t", "node", "ROW"),
    ("SELECT t FROM public.t", "type", "t"),
    ("SELECT id FROM public.seen", "ordinary-table", "seen"),
    ("SELECT id FROM public.copied", "ordinary-table", "copied"),
    ("SELECT id FROM public.parts", "ordinary-table", "parts"),
    ("SELECT id FROM public.parent", "ordinary-table", "parent"),
    ("SELECT id FROM public.owned", "ordinary-table", "owned"),
    ("SELECT id FROM public.ruled", "ordinary-table", "ruled"),
    ("SELECT relname::text FROM pg_catalog.pg_class", "granted-tables", "pg_class"),
    ("SELECT id FROM public.moods", "ordinary-table", "moods"),
    ("SELECT id FROM public.smalls", "ordinary-table", "smalls"),
    ("SELECT id FROM public.lists", "ordinary-table", "lists"),
    ("SELECT id FROM public.t WHERE b + 1.0 > 1", "function", "number"),
    (
        "WITH t AS (SELECT rolname::text AS s FROM pg_catalog.pg_roles) SELECT s FROM t UNION ALL SELECT s FROM public.t",
        "granted-tables",
        "pg_roles",
    ),
    ("SELECT ARRAY(SELECT id FROM public.u) FROM public.t", "aggregate", "ARRAY"),
    ("SELECT sum(g) OVER w FROM public.t WINDOW w AS (ORDER BY id)", "window", "sum"),
    (
        "SELECT sum(g) OVER w FROM public.t WINDOW v AS (PARTITION BY g), w AS (v ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)",
        "window",
        "sum",
    ),
    (
        "SELECT sum(g) OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE CURRENT ROW) FROM public.t",
        "window",
        "sum",
    ),
    ("SELECT id FROM public.t WHERE d < CURRENT_TIMESTAMP", "clock", "current_timestamp"),
    ("SELECT id, current_user FROM public.t", "clock", "current_user"),
    ("SELECT id FROM public.t WHERE d < now()", "function", "now"),
    ("SELECT id FROM public.t WHERE day < 'today'", "clock", "today"),
    ("SELECT id FROM public.t WHERE s::date < day", "clock", "CAST"),
    ("SELECT (j ->> 'at')::timestamp FROM public.t", "clock", "CAST"),
    ("SELECT ctid FROM public.t", "system-column", "ctid"),
    ("SELECT id FROM public.t WHERE tableoid = 0", "system-column", "ctid"),
    ("SELECT DISTINCT r FROM public.t", "mixed-values", "float8eq"),
    ("SELECT i, count(*) FROM public.t GROUP BY i", "mixed-values", "interval_eq"),
    ("SELECT j FROM public.t UNION SELECT j FROM public.t", "mixed-values", "jsonb_eq"),
    ("SELECT max(r) FROM public.t", "mixed-values", "max"),
    ("SELECT min(i) OVER () FROM public.t", "mixed-values", "min"),
    ("SELECT v::text FROM public.t GROUP BY v", "mixed-values", "CAST"),
    ("SELECT max(v) / 3 FROM public.t", "mixed-values", "/"),
    ("SELECT concat(v) FROM (SELECT DISTINCT v FROM public.t) AS k", "mixed-values", "concat"),
    ("SELECT avg(v) FROM (SELECT DISTINCT v FROM public.t) AS k", "mixed-values", "avg"),
    ("SELECT sum(DISTINCT i) FROM public.t", "mixed-values", "interval_eq"),
    ("SELECT DISTINCT trim(c)::char FROM public.t UNION SELECT s::bpchar FROM public.t", "mixed-values", "bpchareq"),
    ("SELECT id FROM public.t WHERE s COLLATE public.folded = 'a'", "collation", "folded"),
];

/// Statements that are admitted, with the tables that they read.
const ADMITTED: &[(&str, &[&str])] = &[
    ("SELECT id FROM public.t", &["t"]),
    ("SELECT id FROM public.t WHERE s = 'FOR UPDATE'", &["t"]),
    ("SELECT id FROM public.t ORDER BY id", &["t"]),
    ("SELECT DISTINCT g FROM public.t", &["t"]),
    ("SELECT id FROM public.t WHERE j ? 'a'", &["t"]),
    (
        "SELECT t.id FROM public.t JOIN (SELECT t_id FROM public.u) AS k ON k.t_id = t.id LEFT JOIN public.u USING (id)",
        &["t", "u"],
    ),
    (
        "SELECT count(*), sum(g), avg(v), min(s), max(day), bool_and(b), every(b), bit_or(g), stddev(g), var_pop(v), count(DISTINCT r), max(price) \
            FROM public.t",
        &["t"],
    ),
    ("SELECT sum(i), avg(i), sum(DISTINCT g) FILTER (WHERE b) FROM public.t", &["t"]),
    (
        "SELECT rank() OVER (ORDER BY r), dense_rank() OVER (PARTITION BY g ORDER BY s), cume_dist() OVER (ORDER BY g) FROM public.t",
        &["t"],
    ),
    ("SELECT sum(g) OVER w, count(*) OVER () FROM public.t WINDOW w AS (PARTITION BY s)", &["t"]),
    ("SELECT sum(g) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM public.t", &["t"]),
    (
        "SELECT coalesce(g, 1), nullif(g, 2), greatest(g, id), lower(s), round(v, 2), substring(s, 1, 2) FROM public.t",
        &["t"],
    ),
    (
        "SELECT id FROM public.t WHERE s LIKE 'a%' AND s ~ 'b' AND (g, id) < (1, 2) AND g IN (1, 2) AND g IS DISTINCT FROM 3",
        &["t"],
    ),
    (
        "SELECT g::text, s::numeric, g::float8, day::timestamp, s::varchar(3), '{1}'::int[], u::text FROM public.t",
        &["t"],
    ),
    ("SELECT id FROM ONLY public.parent", &["parent"]),
    ("SELECT r, j, o, tags, u, x, at, i, c FROM public.t", &["t"]),
    ("WITH u AS (SELECT id FROM public.t) SELECT id FROM u", &["t"]),
    (
        "WITH RECURSIVE w AS (SELECT 1 AS id UNION ALL SELECT t.id FROM public.t, w WHERE w.id < t.g) SELECT id FROM w",
        &["t"],
    ),
    (
        "SELECT id FROM public.t WHERE EXISTS (SELECT 1 FROM public.u WHERE u.t_id = t.id) AND id NOT IN (SELECT v FROM public.secret)",
        &["secret", "t", "u"],
    ),
    ("WITH c AS (SELECT id FROM public.u) SELECT id FROM public.t UNION ALL SELECT id FROM c", &["t", "u"]),
    (
        "SELECT t.id FROM public.t JOIN public.u ON t.id = u.t_id AND (SELECT max(v) FROM public.secret) = 42",
        &["secret", "t", "u"],
    ),
    ("SELECT sum(g) OVER (v) FROM public.t WINDOW v AS (PARTITION BY s)", &["t"]),
    (
        "SELECT length(s), s || 'x', s || g, concat(s, g), concat_ws('-', s, n), format('%s', s), age(d, d), date(d), to_char(d, 'YYYY'), to_date(s, 'YYYY'), \
            timezone('UTC', d), to_jsonb(g), jsonb_build_object('a', g), date_trunc('month', d), extract(year FROM d) FROM public.t",
        &["t"],
    ),
    ("SELECT id FROM public.t WHERE day < '2024-01-01' AND d < '2024-01-01 00:00+01' AND s <> 'known'", &["t"]),
    ("SELECT id FROM public.t WHERE s LIKE '%today%'", &["t"]),
    ("SELECT price, count(*), price::text FROM public.t GROUP BY price", &["t"]),
    ("SELECT v FROM public.t UNION SELECT price FROM public.t", &["t"]),
    ("SELECT c FROM public.t GROUP BY c HAVING max(c) = c", &["t"]),
    ("SELECT s COLLATE \"C\" FROM public.t GROUP BY s", &["t"]),
    ("SELECT g, s, grouping(g), count(*) FROM public.t GROUP BY ROLLUP (g, s)", &["t"]),
    (
        "SELECT CASE WHEN g > 1 THEN s ELSE n END, tags[1], g = ANY (ARRAY[1, 2]), b IS NOT TRUE, (SELECT max(id) FROM public.u) FROM public.t",
        &["t", "u"],
    ),
];

#[tokio::test(flavor = "multi_thread")]
async fn the_servers_analysis_refuses_and_admits_by_the_rules() {
    let Some(server) = Server::start() else { return };
    // Only a superuser that sets `allow_system_table_mods` may put a function where the server's own are.
    server.database("rules", &format!("SET allow_system_table_mods = on; {SCRIPT}"));
    let mut bench = bench(&server, "admin", "rules").await;
    let mut wrong = Vec::new();
    for (sql, rule, token) in REFUSED {
        match second(&mut bench, sql).await {
            Err(error) if error.rule.as_deref() == Some(*rule) && error.message.contains(token) => {}
            other => wrong.push(format!("{sql}: {other:?}")),
        }
    }
    for (sql, tables) in ADMITTED {
        match second(&mut bench, sql).await {
            Ok(found) if found == *tables => {}
            other => wrong.push(format!("{sql}: {other:?}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // An analysis that is too long to be read.
    let list = vec!["1"; 40_000].join(",");
    let error = second(&mut bench, &format!("SELECT id FROM public.t WHERE g IN ({list})")).await.unwrap_err();
    assert_eq!(error.rule.as_deref(), Some("tree"), "{error:?}");
    // A refusal leaves the snapshot as it was.
    assert_eq!(bench.connection.snapshots, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn names_that_look_like_a_tree_hide_nothing() {
    let Some(server) = Server::start() else { return };
    server.database("rules", SCRIPT.split("CREATE FUNCTION pg_catalog").next().unwrap().trim_end_matches("; "));
    let mut bench = bench(&server, "admin", "rules").await;
    for name in
        [":relid", "} {QUERY :relid 1", "<>", "[", "(", ")", "{", "}", "\\", "\"", "a\nb", ":limitCount <>", "1"]
    {
        let quoted = format!("\"{}\"", name.replace('"', "\"\""));
        let sql = format!(
            "SELECT k.{quoted} AS {quoted} FROM (SELECT max(v) AS {quoted} FROM public.secret AS {quoted}) AS k"
        );
        assert_eq!(second(&mut bench, &sql).await, Ok(vec!["secret".to_owned()]), "{sql}");
        let sql = format!("SELECT random() AS {quoted} FROM public.secret AS {quoted}");
        assert_eq!(second(&mut bench, &sql).await.unwrap_err().rule.as_deref(), Some("function"), "{sql}");
    }
    // Names whose spelling is longer than a line of the server: refused wherever a word may be broken.
    for length in 1..=63 {
        let name = "{".repeat(length);
        let sql = format!("SELECT random() AS \"{name}\" FROM public.secret AS \"{name}\"");
        let rule = second(&mut bench, &sql).await.unwrap_err().rule;
        assert!(matches!(rule.as_deref(), Some("function" | "tree")), "{length}: {rule:?}");
        assert!(length > 30 || rule.as_deref() == Some("function"), "{length}");
    }
}
