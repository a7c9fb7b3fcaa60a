//! The first check on statements that pass and statements that are refused, in both dialects.

use proptest::prelude::*;
use syrch_core::{Catalog, Column, Dialect, Index, Table};

use super::{Checked, RealSums, admit, admit_with};

/// Tables with a key, without one, with columns of each kind, and a view.
pub(super) fn catalog(dialect: &Dialect) -> Catalog {
    let column = |text: &str| {
        let (name, sql_type) = text.split_once(' ').unwrap_or((text, ""));
        let nullable = !sql_type.contains('!');
        Column {
            name: name.into(),
            sql_type: sql_type.replace('!', ""),
            nullable,
            ..Column::default()
        }
    };
    let schema_name = (*dialect == Dialect::Postgres).then(|| "public".to_owned());
    let table = |name: &str, columns: &[&str], key: &[&str]| Table {
        schema_name: schema_name.clone(),
        name: name.into(),
        columns: columns.iter().map(|text| column(text)).collect(),
        primary_key: key.iter().map(|&name| name.to_owned()).collect(),
        ..Table::default()
    };
    let index = |name: &str, column: &str, is_unique, predicate: Option<&str>| Index {
        name: name.into(),
        columns: vec![column.into()],
        is_unique,
        method: None,
        predicate: predicate.map(str::to_owned),
    };
    let customers = Table {
        indexes: vec![
            index("by_mail", "mail", true, None),
            index("by_city", "city", true, Some("city > 'a'")),
        ],
        ..table("customers", &["id integer!", "name text", "city text", "mail text!"], &["id"])
    };
    let view = Table {
        extra: vec![("kind".into(), "\"view\"".into())],
        ..table("v_big", &["id integer", "total real"], &[])
    };
    let tables = vec![
        customers,
        table(
            "orders",
            &[
                "id integer!",
                "customer integer",
                "total real",
                "pieces int",
                "day date",
                "anything",
            ],
            &["id"],
        ),
        table("secret", &["id integer!", "v int"], &["id"]),
        table("notes", &["code text", "line text"], &["code"]),
        view,
    ];
    Catalog { database: "shop".into(), dialect: dialect.clone(), tables }
}

fn check(text: &str, dialect: &Dialect) -> Result<Checked, String> {
    admit(text, &catalog(dialect), dialect)
        .map_err(|error| error.rule.unwrap_or_else(|| format!("{:?}", error.kind)))
}

fn both(text: &str) -> [Result<Checked, String>; 2] {
    [check(text, &Dialect::Sqlite), check(text, &Dialect::Postgres)]
}

/// A subject of the rules with its rows of the acceptance list, statements that are refused with
/// the rule that refuses each, and statements that pass.
type Subject = (&'static str, &'static [(&'static str, &'static str)], &'static [&'static str]);

/// The subjects of the rules on both engines.
const SUBJECTS: &[Subject] = &[
    (
        "AR-01: one query",
        &[
            ("SELECT id FROM orders; SELECT 1", "single-statement"),
            ("DELETE FROM orders", "read-only"),
            ("WITH d AS (DELETE FROM orders RETURNING id) SELECT id FROM d", "*"),
            ("SELECT id FROM orders WHERE (", "syntax"),
        ],
        &["SELECT id FROM orders", "WITH a AS (SELECT id FROM orders) SELECT id FROM a"],
    ),
    (
        "AR-02: locks",
        &[
            ("SELECT id FROM orders FOR UPDATE", "locks"),
            ("SELECT id FROM orders FOR SHARE", "locks"),
        ],
        &["SELECT id FROM orders WHERE id > 3"],
    ),
    (
        "AR-03: limits",
        &[
            ("SELECT id FROM orders LIMIT 3", "limit"),
            ("SELECT id FROM orders WHERE id IN (SELECT id FROM orders LIMIT 3)", "limit"),
            ("SELECT customer FROM orders ORDER BY total LIMIT 3", "limit"),
            ("SELECT id FROM orders OFFSET 3", "limit"),
            ("SELECT id FROM orders FETCH FIRST 3 ROWS ONLY", "limit"),
            ("SELECT id FROM orders UNION SELECT id FROM secret ORDER BY 1 LIMIT 2", "limit"),
        ],
        &["SELECT id FROM orders ORDER BY total"],
    ),
    (
        "AR-04: picked rows",
        &[
            ("SELECT DISTINCT ON (customer) id FROM orders", "distinct-on"),
            ("SELECT id FROM orders TABLESAMPLE SYSTEM (10)", "sample"),
        ],
        &["SELECT DISTINCT customer FROM orders"],
    ),
    (
        "AR-05: parameters",
        &[("SELECT id FROM orders WHERE id = $1", "parameters")],
        &["SELECT id FROM orders WHERE id = 1"],
    ),
    (
        "AR-06: sources of rows",
        &[
            ("SELECT value FROM json_each('[1]')", "table-function"),
            ("SELECT g FROM generate_series(1, 3) AS g", "table-function"),
            ("SELECT a FROM (VALUES (1), (2)) AS x(a)", "values"),
            ("SELECT 1", "base-table"),
            ("WITH a AS (SELECT 1 AS x) SELECT x FROM a", "base-table"),
        ],
        &[
            "SELECT o.id FROM orders AS o LEFT JOIN (SELECT id FROM secret) AS s ON s.id = o.id",
            "WITH a AS (SELECT id FROM orders) SELECT a.id FROM a, secret AS s WHERE a.id = s.id",
        ],
    ),
    (
        "AR-08: aggregates",
        &[
            ("SELECT string_agg(name, ',') FROM customers", "aggregate"),
            ("SELECT json_group_array(name) FROM customers", "aggregate"),
            ("SELECT array_agg(name) FROM customers", "aggregate"),
            ("SELECT json_agg(name) FROM customers", "aggregate"),
            ("SELECT sum(id ORDER BY id) FROM orders", "aggregate"),
        ],
        &[
            "SELECT count(*), count(DISTINCT city), max(name), sum(id), avg(id) FROM customers",
            "SELECT customer, sum(pieces) FROM orders GROUP BY customer",
        ],
    ),
    (
        "AR-09: windows",
        &[
            ("SELECT row_number() OVER (ORDER BY total) FROM orders", "aggregate"),
            ("SELECT lag(id) OVER (ORDER BY id) FROM orders", "aggregate"),
            ("SELECT sum(pieces) OVER (ORDER BY day) FROM orders", "window"),
            (
                "SELECT sum(pieces) OVER (ORDER BY day ROWS BETWEEN 1 PRECEDING \
                 AND CURRENT ROW) FROM orders",
                "window",
            ),
        ],
        &[
            "SELECT rank() OVER (PARTITION BY customer ORDER BY day) FROM orders",
            "SELECT sum(pieces) OVER (PARTITION BY customer) FROM orders",
            "SELECT max(id) OVER (ORDER BY day ROWS BETWEEN UNBOUNDED PRECEDING \
             AND UNBOUNDED FOLLOWING) FROM orders",
        ],
    ),
    (
        "AR-10: functions",
        &[
            ("SELECT random() FROM orders", "function"),
            ("SELECT id FROM orders WHERE public.f(id)", "*"),
            ("SELECT id FROM orders WHERE day > current_date", "clock"),
        ],
        &["SELECT lower(name), length(name), coalesce(city, name) FROM customers"],
    ),
    (
        "AR-11: operators",
        &[("SELECT id FROM orders WHERE id OPERATOR(public.+) 1 > 2", "*")],
        &["SELECT id + 1 FROM orders WHERE id % 2 = 0 AND id <> 3 AND NOT id BETWEEN 4 AND 5"],
    ),
    (
        "AR-12: types",
        &[
            ("SELECT CAST(id AS regclass) FROM orders", "type"),
            ("SELECT CAST(id AS public.mood) FROM orders", "type"),
        ],
        &["SELECT CAST(id AS text), CAST(total AS int) FROM orders"],
    ),
    (
        "AR-13: ordinary tables",
        &[("SELECT id FROM v_big", "ordinary-table")],
        &["SELECT id FROM secret"],
    ),
    (
        "AR-15: common table expressions",
        &[
            (
                "WITH a AS (SELECT id FROM b), b AS (SELECT id FROM orders) SELECT id FROM a",
                "granted-tables",
            ),
            (
                "SELECT id FROM (WITH a AS (SELECT id FROM orders) SELECT id FROM a) AS x, a",
                "granted-tables",
            ),
            ("WITH secret AS (SELECT id FROM orders) SELECT id FROM secret", "shadowed-name"),
            ("SELECT secret.id FROM orders AS secret", "shadowed-name"),
            ("WITH a(secret) AS (SELECT id FROM orders) SELECT secret FROM a", "shadowed-name"),
        ],
        &[
            "WITH a AS (SELECT id FROM orders), b AS (SELECT id FROM a) SELECT id FROM b",
            "SELECT orders.id FROM orders AS orders",
        ],
    ),
];

#[test]
fn sums_of_reals_pass_where_they_are_admitted() {
    let sums = |text: &str| {
        let sums = RealSums::Admitted;
        let checked = admit_with(text, &catalog(&Dialect::Sqlite), &Dialect::Sqlite, sums);
        checked.map(|checked| checked.unnamed).map_err(|error| error.rule.unwrap_or_default())
    };
    assert_eq!(sums("SELECT sum(total) FROM orders"), Ok(vec!["sum(total)".to_owned()]));
    assert_eq!(sums("SELECT avg(pieces * 1.5) AS a FROM orders"), Ok(Vec::new()));
    assert_eq!(
        sums("SELECT sum(total) OVER () FROM orders"),
        Ok(vec!["sum(total) OVER ()".to_owned()])
    );
    // A sum may be 1 in one row and 1.0 in another.
    assert_eq!(
        sums("SELECT DISTINCT sum(total) FROM orders GROUP BY customer"),
        Err("mixed-values".to_owned())
    );
    assert_eq!(sums("SELECT group_concat(total) FROM orders"), Err("aggregate".to_owned()));
}

#[test]
fn only_before_a_table_is_refused_as_such() {
    for text in [
        "SELECT id FROM ONLY orders",
        "SELECT o.id FROM only orders AS o JOIN customers c ON c.id = o.id",
        "SELECT id FROM ONLY (orders)",
    ] {
        let error = admit(text, &catalog(&Dialect::Postgres), &Dialect::Postgres).unwrap_err();
        assert_eq!(error.rule.as_deref(), Some("only"), "{text}: {error}");
        assert!(error.message.starts_with("`ONLY` is refused"), "{error}");
    }
}

#[test]
fn each_rule_refuses_and_admits() {
    let mut wrong = Vec::new();
    for (subject, refused, admitted) in SUBJECTS {
        for (text, rule) in *refused {
            for (dialect, result) in ["sqlite", "postgres"].iter().zip(both(text)) {
                let is_right = result.as_ref().is_err_and(|found| *rule == "*" || found == rule);
                // What one engine has no word for does not parse there, or is no function of it.
                let is_foreign = result
                    .as_ref()
                    .is_err_and(|found| matches!(found.as_str(), "syntax" | "function" | "clause"));
                if !is_right && !is_foreign {
                    wrong.push(format!("{subject} {dialect}: {text}: {result:?}"));
                }
            }
            if !both(text)
                .iter()
                .any(|result| result.as_ref().is_err_and(|found| *rule == "*" || found == rule))
            {
                wrong.push(format!("{subject}: {text}: never {rule}: {:?}", both(text)));
            }
        }
        for text in *admitted {
            for result in both(text) {
                if result.is_err() {
                    wrong.push(format!("{subject}: {text}: {result:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Rules of SQLite, whose engine takes any row where others refuse.
#[test]
fn sqlite_refuses_what_differs_from_plan_to_plan() {
    let refused = [
        ("SELECT customer, id FROM orders GROUP BY customer", "bare-column"),
        ("SELECT max(id), day FROM orders", "bare-column"),
        ("SELECT * FROM orders GROUP BY customer", "bare-column"),
        ("SELECT customer FROM orders GROUP BY customer HAVING id > 3", "bare-column"),
        ("SELECT customer FROM orders GROUP BY customer ORDER BY day", "bare-column"),
        // A key that may be NULL in several rows determines nothing.
        ("SELECT line FROM notes GROUP BY code", "bare-column"),
        // Of an outer join, rows without a partner have no key.
        (
            "SELECT o.day FROM customers AS c LEFT JOIN orders AS o ON o.customer = c.id \
             GROUP BY c.id",
            "bare-column",
        ),
        (
            "SELECT c.name FROM orders AS o LEFT JOIN customers AS c ON c.id = o.customer \
             AND o.pieces > 3 GROUP BY o.customer",
            "bare-column",
        ),
        ("SELECT mail FROM customers GROUP BY city", "bare-column"),
        ("SELECT sum(total) FROM orders", "float-aggregate"),
        ("SELECT avg(pieces * 1.5) FROM orders", "float-aggregate"),
        ("SELECT sum(name) FROM customers", "float-aggregate"),
        ("SELECT sum(total) OVER () FROM orders", "float-aggregate"),
        ("SELECT DISTINCT anything FROM orders", "mixed-values"),
        ("SELECT max(anything) FROM orders", "mixed-values"),
        ("SELECT max(round(total)) FROM orders", "mixed-values"),
        ("SELECT count(*) FROM orders GROUP BY anything", "mixed-values"),
        ("SELECT total FROM orders UNION SELECT pieces FROM orders", "mixed-values"),
        ("SELECT name COLLATE NOCASE FROM customers", "collation"),
        ("SELECT DISTINCT name FROM customers ORDER BY name COLLATE NOCASE", "collation"),
        (
            "SELECT id FROM orders WHERE customer = (SELECT id FROM customers WHERE name = 'x')",
            "scalar-rows",
        ),
        (
            "SELECT id FROM orders WHERE id = (SELECT id FROM customers UNION SELECT id \
             FROM secret)",
            "scalar-rows",
        ),
        ("SELECT customer FROM orders GROUP BY customer ORDER BY count(*) DESC LIMIT 1", "limit"),
        ("SELECT id FROM orders LIMIT 1 + 1", "limit"),
        ("SELECT id, rank() OVER (ORDER BY day) FROM orders ORDER BY id LIMIT 2", "limit"),
        ("SELECT (SELECT max(o.id) FROM customers) FROM orders AS o", "outer-aggregate"),
        ("SELECT id FROM orders WHERE day > date('now')", "clock"),
        ("SELECT id FROM orders WHERE day > date()", "clock"),
        ("SELECT strftime('%H', day, 'LocalTime') FROM orders", "clock"),
        ("SELECT nothing FROM orders", "column"),
        ("SELECT o.\"nothing\" FROM orders AS o", "column"),
        ("SELECT id FROM customers WHERE name = \"Anna\"", "column"),
        ("SELECT id FROM orders ORDER BY id, \"nothing\"", "column"),
    ];
    for (text, rule) in refused {
        assert_eq!(check(text, &Dialect::Sqlite).unwrap_err(), rule, "{text}");
    }
    let admitted = [
        "SELECT customer, count(*) FROM orders GROUP BY customer HAVING count(*) > 1 \
         ORDER BY count(*)",
        "SELECT id, name FROM customers GROUP BY id",
        "SELECT mail, name FROM customers GROUP BY mail",
        "SELECT c.name, count(*) FROM customers AS c JOIN orders AS o ON o.customer = c.id \
         GROUP BY o.customer",
        "SELECT c.name, count(o.id) FROM customers AS c LEFT JOIN orders AS o ON o.customer = c.id \
         GROUP BY c.id",
        "SELECT c.name FROM orders AS o LEFT JOIN customers AS c ON c.id = o.customer \
         GROUP BY o.customer",
        "SELECT c.name FROM customers AS c, orders AS o WHERE o.customer = c.id \
         GROUP BY o.customer",
        "SELECT line, count(*) FROM notes WHERE code = 'x'  GROUP BY code",
        "SELECT strftime('%Y', day) AS year, count(*) FROM orders GROUP BY year ORDER BY year",
        "SELECT upper(city), count(*) FROM customers GROUP BY 1",
        "SELECT upper(city) || '!', count(*) FROM customers GROUP BY upper(city)",
        "SELECT DISTINCT total FROM orders",
        "SELECT max(total), min(day) FROM orders",
        "SELECT min(julianday(day)) FROM orders GROUP BY customer",
        "SELECT sum(pieces), avg(pieces), total(pieces) FROM orders",
        "SELECT id FROM orders WHERE customer = (SELECT id FROM customers WHERE mail = 'x')",
        "SELECT id FROM orders WHERE id > (SELECT avg(id) FROM orders)",
        "SELECT (SELECT name FROM customers AS c WHERE c.id = o.customer) FROM orders AS o",
        "SELECT id, name FROM customers ORDER BY id LIMIT 3",
        "SELECT name FROM customers ORDER BY name DESC LIMIT 3 OFFSET 1",
        "SELECT customer, count(*) FROM orders GROUP BY customer ORDER BY count(*) DESC, customer \
         LIMIT 1",
        "SELECT count(*) FROM orders GROUP BY customer ORDER BY count(*) DESC LIMIT 1",
        "SELECT name AS n, city FROM customers ORDER BY n, 2 LIMIT 3",
        "SELECT id FROM orders WHERE day > date('2024-01-01')",
        "SELECT rowid FROM orders ORDER BY rowid",
        "WITH RECURSIVE up(n) AS (SELECT id FROM secret WHERE id = 1 UNION ALL SELECT n + 1 \
         FROM up WHERE n < 3) SELECT n FROM up",
    ];
    for text in admitted {
        check(text, &Dialect::Sqlite).unwrap_or_else(|rule| panic!("{rule}: {text}"));
    }
}

/// Statements by which a check of the text could be deceived.
#[test]
fn no_form_of_a_statement_hides_tables_clocks_or_the_order_of_rows() {
    fn tables(text: &str, dialect: &Dialect) -> Vec<String> {
        check(text, dialect).unwrap().tables
    }
    for dialect in [Dialect::Sqlite, Dialect::Postgres] {
        // AR-D1: the bodies of common table expressions beside a set operation.
        let text =
            "WITH t1 AS (SELECT id FROM secret) SELECT id FROM t1 UNION ALL SELECT id FROM orders";
        assert_eq!(tables(text, &dialect), ["orders", "secret"]);
        let text = "WITH customers AS (SELECT id FROM secret) SELECT id FROM customers UNION ALL \
                    SELECT id FROM orders";
        assert_eq!(check(text, &dialect).unwrap_err(), "shadowed-name");
        // AR-D2: a sub-query in the condition of a join.
        let text = "SELECT o.id FROM orders AS o JOIN customers AS c ON c.id = o.customer \
                    AND (SELECT max(v) FROM secret) = 42";
        assert_eq!(tables(text, &dialect), ["customers", "orders", "secret"]);
        // AR-D3: aggregates that list what they find, by whatever name.
        for call in [
            "json_arrayagg(name)",
            "json_objectagg(name, id)",
            "any_value(name)",
            "range_agg(name)",
            "group_concat(name)",
        ] {
            let error = check(&format!("SELECT {call} FROM customers"), &dialect).unwrap_err();
            assert!(matches!(error.as_str(), "aggregate" | "syntax"), "{call}: {error}");
        }
        // AR-D4: named windows, and those made of others.
        for (window, over) in [
            ("w AS (ORDER BY day)", "w"),
            ("w AS (ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)", "w"),
            ("v AS (ORDER BY day), w AS (v)", "w"),
            ("w AS (PARTITION BY customer)", "(w ORDER BY day)"),
        ] {
            let text = format!("SELECT sum(pieces) OVER {over} FROM orders WINDOW {window}");
            assert_eq!(check(&text, &dialect).unwrap_err(), "window", "{text}");
        }
        check(
            "SELECT sum(pieces) OVER w FROM orders WINDOW w AS (PARTITION BY customer)",
            &dialect,
        )
        .unwrap();
        // AR-D8: INTO, and clocks that are no function.
        assert_eq!(check("SELECT id INTO copy FROM orders", &dialect).unwrap_err(), "read-only");
        for clock in ["CURRENT_TIMESTAMP", "current_time", "CURRENT_DATE"] {
            assert_eq!(
                check(&format!("SELECT {clock} FROM orders"), &dialect).unwrap_err(),
                "clock",
                "{clock}"
            );
        }
        // AR-D12: plain functions pass.
        check("SELECT length(name), name || 'x' FROM customers", &dialect).unwrap();
    }
    fn postgres(text: &str) -> Result<Checked, String> {
        check(text, &Dialect::Postgres)
    }
    assert_eq!(
        postgres("SELECT ARRAY(SELECT id FROM orders) FROM secret").unwrap_err(),
        "aggregate"
    );
    assert_eq!(postgres("SELECT id FROM orders WHERE day < 'now'").unwrap_err(), "clock");
    assert_eq!(
        postgres("SELECT id FROM orders WHERE ctid = '(0,1)'").unwrap_err(),
        "system-column"
    );
    for call in ["concat(name, city)", "to_char(id, '99')", "date_trunc('day', now2)", "age(a, b)"]
    {
        postgres(&format!("SELECT {call} FROM customers")).unwrap();
    }
}

/// AR-07.
#[test]
fn what_was_admitted_is_written_without_comments_with_names_and_texts_that_are_texts() {
    fn write(text: &str, dialect: &Dialect) -> String {
        check(text, dialect).unwrap().sql
    }
    let text = "select COUNT( * ), /* all */ upper(Name) , (City) from Customers group by \
                Name, City -- end";
    let found = write(text, &Dialect::Sqlite);
    assert!(found.contains("AS \"COUNT(*)\"") && found.contains("AS \"upper(Name)\""), "{found}");
    assert!(
        !found.contains("--") && !found.contains("/*") && !found.contains("AS \"City\""),
        "{found}"
    );
    let found = write(text, &Dialect::Postgres);
    assert!(
        found.contains("AS \"count\"")
            && found.contains("AS \"upper\"")
            && found.contains("\"public\".\"customers\""),
        "{found}"
    );
    let found =
        write("SELECT id FROM customers WHERE name = 'Anna' AND \"city\" = 'x'", &Dialect::Sqlite);
    assert!(found.contains("\"name\" = 'Anna' AND \"city\" = 'x'"), "{found}");
    assert!(check("SELECT id FROM orders ORDER BY id", &Dialect::Sqlite).unwrap().is_ordered);
    assert!(
        !check("SELECT id FROM (SELECT id FROM orders ORDER BY id)", &Dialect::Sqlite)
            .unwrap()
            .is_ordered
    );
    let error =
        admit("SELECT id FROM orders LIMIT 3", &catalog(&Dialect::Sqlite), &Dialect::Duckdb)
            .unwrap_err();
    assert_eq!(error.rule.as_deref(), Some("dialect"));
}

#[test]
fn every_refusal_names_its_token() {
    for (text, token) in [
        ("SELECT row_number() OVER () FROM orders", "row_number"),
        ("SELECT customer, day FROM orders GROUP BY customer", "day"),
        ("SELECT sum(total) FROM orders", "sum"),
        ("WITH secret AS (SELECT id FROM orders) SELECT id FROM secret", "secret"),
        ("SELECT id FROM orders LIMIT 3", "LIMIT"),
        ("SELECT id FROM v_big", "v_big"),
    ] {
        let error = admit(text, &catalog(&Dialect::Sqlite), &Dialect::Sqlite).unwrap_err();
        assert!(error.message.contains(&format!("`{token}`")), "{text}: {}", error.message);
    }
}

proptest! {
    /// Statements made of pieces, most of them wrong: none is a crash, and what was admitted is
    /// admitted again without a change.
    #[test]
    fn admission_is_a_fixed_point(
        pieces in proptest::collection::vec(0_usize..PIECES.len(), 1..24), is_sqlite: bool
    ) {
        let dialect = if is_sqlite { Dialect::Sqlite } else { Dialect::Postgres };
        let text: Vec<&str> = pieces.into_iter().map(|piece| PIECES[piece]).collect();
        let text = format!("SELECT {} FROM orders AS o", text.join(" "));
        if let Ok(checked) = check(&text, &dialect) {
            let again = check(&checked.sql, &dialect);
            prop_assert_eq!(again, Ok(Checked { unnamed: Vec::new(), ..checked }));
        }
    }

    /// Admitted statements with one place changed.
    #[test]
    fn a_changed_statement_is_no_crash(
        which in 0_usize..100, at in 0_usize..200, with in "[ (),'\"*=<>a-z0-9]{0,3}",
        gone in 0_usize..6
    ) {
        let statements: Vec<&str> =
            SUBJECTS.iter().flat_map(|(.., admitted)| admitted.iter().copied()).collect();
        let mut text = statements[which % statements.len()].to_owned();
        let at = at % text.len();
        text.replace_range(at..(at + gone).min(text.len()), &with);
        for dialect in [Dialect::Sqlite, Dialect::Postgres] {
            if let Ok(checked) = check(&text, &dialect) {
                let again = check(&checked.sql, &dialect);
                prop_assert_eq!(again, Ok(Checked { unnamed: Vec::new(), ..checked }));
            }
        }
    }
}

const PIECES: &[&str] = &[
    "o.id",
    "id",
    ",",
    ",",
    "+",
    "-",
    "- -1",
    "||",
    "(",
    ")",
    "'it''s'",
    "\"day\"",
    "\"x\"",
    "count(*)",
    "sum(pieces)",
    "max(id)",
    "AS",
    "a",
    "\"a b\"",
    "CASE WHEN",
    "THEN",
    "ELSE 1 END",
    "NOT",
    "IS NULL",
    "IN (1, 2)",
    "BETWEEN 1 AND 2",
    "LIKE '%\\%'",
    "(SELECT max(id) FROM secret)",
    "EXISTS (SELECT 1 FROM customers AS c WHERE c.id = o.customer)",
    "1.0e3",
    "x'ff'",
    "CAST(id AS text)",
    "1",
    "[id]",
    "`id`",
    "*",
    "/* c */",
    "OVER ()",
    "FILTER (WHERE id > 1)",
    "COLLATE \"C\"",
    "E'\\n'",
    "::text",
];
