//! Tests of the uses that a statement has.

use syrch_core::ports::{
    ColumnName, Comparison, Cut, OrderKey, Outline, Repeated, Selected, Use, UseKind,
};
use syrch_core::{Catalog, Column, Dialect, ForeignKey, Table};

use super::super::facts;

fn table(name: &str, columns: &[&str], key: &[&str]) -> Table {
    let columns =
        columns.iter().map(|&name| Column { name: name.into(), ..Column::default() }).collect();
    let primary_key = key.iter().map(|&name| name.to_owned()).collect();
    Table {
        name: name.into(),
        columns,
        primary_key,
        foreign_keys: Vec::<ForeignKey>::new(),
        ..Table::default()
    }
}

fn catalog(dialect: Dialect) -> Catalog {
    let tables = vec![
        table("birds", &["id", "kind", "mass", "seen", "site"], &["id"]),
        table("sites", &["id", "name", "Opened"], &["id"]),
        table("counts", &["site", "bird", "n"], &[]),
    ];
    Catalog { database: "d".into(), dialect, tables }
}

fn uses(text: &str, dialect: Dialect) -> Vec<Use> {
    match facts(text, &[], &catalog(dialect)) {
        Ok(facts) => facts.uses,
        Err(error) => panic!("{text}: {error}"),
    }
}

/// Each use as a line.
fn list_uses(text: &str, dialect: Dialect) -> Vec<String> {
    uses(text, dialect)
        .into_iter()
        .map(|one: Use| {
            let value = one.value.map(|value| format!(" as {value}")).unwrap_or_default();
            let filter = one.filter.map(|filter| format!(" where {filter}")).unwrap_or_default();
            let kind = match one.kind {
                UseKind::Number(by) => format!("number {by}"),
                UseKind::Cast => "cast".to_owned(),
                UseKind::Order(by) => format!("order {by}"),
                UseKind::Join { table, column } => format!("join {table}.{column}"),
                UseKind::Compared { operator, number } => format!("compared {operator} {number}"),
                UseKind::ComparedText(operator) => format!("compared text {operator}"),
                UseKind::Ratio => "ratio".to_owned(),
                UseKind::Groups { keys, .. } if keys.is_empty() => "groups".to_owned(),
                UseKind::Groups { keys, .. } => format!("groups beside {}", keys.join(", ")),
                UseKind::NotIn => "not in".to_owned(),
                UseKind::Day { operator, day } => format!("day {operator} {day}"),
                UseKind::Texts(texts) => format!("texts {}", texts.join("|")),
                UseKind::Date => "date".to_owned(),
                UseKind::Condition => "condition".to_owned(),
                UseKind::Beside { keys } => format!("beside {keys:?}"),
                UseKind::Extreme { function, of } => {
                    format!("{function} of {}.{}", of.table, of.column)
                }
                UseKind::Repeated { function, rows } => format!("repeated {function} by {rows}"),
                UseKind::Unconnected(other) => format!("unconnected {other}"),
                UseKind::Never => "never".to_owned(),
                UseKind::Always => "always".to_owned(),
                UseKind::Scalar { values } => format!("scalar by {values}"),
                UseKind::Padded { rows } => format!("padded by {rows}"),
            };
            format!("{kind}: {}.{}{value}{filter}", one.table, one.column)
        })
        .collect()
}

/// Compares all uses but groups, joins and tables without one, which most statements have.
#[track_caller]
fn assert_uses(dialect: Dialect, cases: &[(&str, &[&str])]) {
    for (text, wanted) in cases {
        let mut found = list_uses(text, dialect.clone());
        found.retain(|line| {
            !["groups", "join", "unconnected"].iter().any(|kind| line.starts_with(kind))
        });
        assert_eq!(found, *wanted, "{text}");
    }
}

#[track_caller]
fn assert_all_uses(dialect: Dialect, cases: &[(&str, &[&str])]) {
    for (text, wanted) in cases {
        assert_eq!(list_uses(text, dialect.clone()), *wanted, "{text}");
    }
}

#[test]
fn arithmetic_and_order_are_uses_as_numbers() {
    assert_uses(
        Dialect::Sqlite,
        &[
            ("SELECT avg(mass) FROM birds", &["number AVG: birds.mass"]),
            ("SELECT sum(b.mass * 2) FROM birds b", &["number *: birds.mass"]),
            (
                "SELECT SUM(CASE WHEN id > n THEN mass ELSE 0 END) FROM birds, counts",
                &["number SUM: birds.mass"],
            ),
            ("SELECT max(id, mass), 1 + count(*) FROM birds GROUP BY id, mass", &[]),
            ("SELECT round(avg(coalesce(mass, 0)), 2) FROM birds", &["number AVG: birds.mass"]),
            (
                "SELECT avg(nullif(mass, 'NA')) FROM birds",
                &["number AVG: birds.mass as nullif(\"mass\", 'NA')"],
            ),
            ("SELECT max(mass) FROM birds", &["order MAX: birds.mass"]),
            (
                "SELECT kind AS k FROM birds ORDER BY mass DESC LIMIT 1",
                &["order ORDER BY: birds.mass"],
            ),
            ("SELECT mass AS m FROM birds ORDER BY m", &["order ORDER BY: birds.mass"]),
            ("SELECT id FROM birds ORDER BY 1", &["order ORDER BY: birds.id"]),
            ("SELECT rank() OVER (ORDER BY mass) FROM birds", &["order ORDER BY: birds.mass"]),
            (
                "SELECT id FROM birds WHERE mass > 3 AND 4 >= mass",
                &["compared > 3: birds.mass", "compared <= 4: birds.mass"],
            ),
        ],
    );
    assert_uses(
        Dialect::Sqlite,
        &[
            (
                "SELECT id FROM birds WHERE mass BETWEEN 1 AND '7'",
                &["compared >= 1: birds.mass", "compared <= 7: birds.mass"],
            ),
            ("SELECT kind || mass, count(*) FROM birds GROUP BY 1", &[]),
            (
                "SELECT avg(s) FROM (SELECT mass AS s FROM birds WHERE kind <> site) x",
                &["number AVG: birds.mass where (\"kind\" <> \"site\")"],
            ),
            (
                "WITH m AS (SELECT * FROM birds WHERE mass <> kind) SELECT sum(mass) FROM m \
                 WHERE id <> site",
                &["number SUM: birds.mass where (\"mass\" <> \"kind\") AND (\"id\" <> \"site\")"],
            ),
            // Of a union nobody knows which table a value comes from.
            (
                "SELECT sum(m) FROM (SELECT mass AS m FROM birds UNION ALL SELECT n FROM counts) x",
                &[],
            ),
        ],
    );
}

#[test]
fn casts_are_uses_of_what_is_cast() {
    assert_uses(
        Dialect::Sqlite,
        &[
            ("SELECT avg(CAST(mass AS REAL)) FROM birds", &["cast: birds.mass"]),
            (
                "SELECT CAST(replace(mass, ',', '') AS INTEGER) FROM birds",
                &["cast: birds.mass as replace(\"mass\", ',', '')"],
            ),
            ("SELECT CAST(seen AS DATE) FROM birds", &["cast: birds.seen"]),
            (
                "SELECT CAST(strftime('%Y', seen) AS INTEGER) FROM birds",
                &["date: birds.seen as strftime('%Y', \"seen\")"],
            ),
            ("SELECT CAST(mass AS TEXT) FROM birds", &[]),
            // What is left out by its text is left out on purpose; what is left out by its value as
            // a number is not.
            (
                "SELECT sum(CAST(mass AS REAL)) FROM birds WHERE mass <> 'NA' AND site > 3",
                &[
                    "cast: birds.mass where (\"mass\" <> 'NA') AND (\"site\" > 3)",
                    "texts NA: birds.mass where (\"site\" > 3)",
                    "compared > 3: birds.site where (\"mass\" <> 'NA')",
                ],
            ),
            (
                "SELECT CAST(mass AS REAL) FROM birds WHERE CAST(mass AS REAL) > 3",
                &["cast: birds.mass"],
            ),
        ],
    );
    let own = "SELECT sum(CAST(CASE WHEN mass ~ '^[0-9]+$' THEN mass END AS NUMERIC)) FROM birds";
    assert_uses(Dialect::Postgres, &[(own, &["cast: birds.mass"])]);
    assert_uses(
        Dialect::Duckdb,
        &[("SELECT TRY_CAST(mass AS DOUBLE) FROM birds", &["cast: birds.mass"])],
    );
    assert_uses(
        Dialect::Spark,
        &[("SELECT CAST(`mass` AS DOUBLE) FROM birds", &["cast: birds.mass"])],
    );
}

#[test]
fn days_and_texts_are_compared() {
    for dialect in [Dialect::Sqlite, Dialect::Postgres, Dialect::Duckdb, Dialect::Spark] {
        for (condition, wanted) in [
            ("seen = '2024-05-11'", "day = 2024-05-11"),
            ("'2024-05-11' >= seen", "day <= 2024-05-11"),
            ("seen = DATE '2024-05-11'", "day = 2024-05-11"),
            ("seen = CAST('2024-05-11' AS DATE)", "day = 2024-05-11"),
            ("seen IN ('2024-05-11')", "day = 2024-05-11"),
            ("kind <> 'Auk'", "texts Auk"),
            ("(kind = 'Auk' OR kind IN ('auk', 'Gull'))", "texts Auk|auk|Gull"),
        ] {
            let text = format!("SELECT id FROM birds WHERE {condition}");
            let found = list_uses(&text, dialect.clone());
            assert!(
                found.len() == 1 && found[0].starts_with(&format!("{wanted}: birds.")),
                "{text}: {found:?}"
            );
        }
    }
    assert_uses(
        Dialect::Sqlite,
        &[
            (
                "SELECT count(*) FROM birds WHERE lower(kind) = 'auk' AND kind LIKE 'A%'",
                &["condition: birds.kind as lower(\"kind\") = 'auk' where \"kind\" IS NOT NULL"],
            ),
            (
                "SELECT (SELECT count(*) FROM birds WHERE kind = 'a'), (SELECT count(*) FROM birds \
                 WHERE kind = 'A')",
                &["texts a|A: birds.kind"],
            ),
            (
                "SELECT id FROM birds WHERE date(seen) = '2024-05-11'",
                &[
                    "condition: birds.seen as date(\"seen\") = '2024-05-11' where \
                     \"seen\" IS NOT NULL",
                    "date: birds.seen as date(\"seen\")",
                ],
            ),
        ],
    );
}

#[test]
fn columns_beside_aggregates_are_found_unless_the_groups_decide_them() {
    assert_uses(
        Dialect::Sqlite,
        &[
            (
                "SELECT kind, count(*), site FROM birds GROUP BY kind",
                &["beside Some([\"\\\"kind\\\"\"]): birds.site"],
            ),
            ("SELECT kind, count(*) FROM birds", &["beside Some([]): birds.kind"]),
            (
                "SELECT kind FROM birds GROUP BY site ORDER BY count(*)",
                &["beside Some([\"\\\"site\\\"\"]): birds.kind"],
            ),
            (
                "SELECT s.name, count(*) FROM birds b JOIN sites s ON b.site = s.id \
                 GROUP BY b.kind",
                &["beside None: sites.name"],
            ),
            // Grouped, by the key or by what is equal to it.
            ("SELECT kind, count(*) FROM birds GROUP BY kind ORDER BY count(*)", &[]),
            ("SELECT kind AS k, count(*) FROM birds GROUP BY k", &[]),
            ("SELECT lower(kind), count(*) FROM birds GROUP BY lower(kind)", &[]),
            ("SELECT kind, site, count(*) FROM birds GROUP BY id", &[]),
            (
                "SELECT s.name, count(*) FROM birds b JOIN sites s ON b.site = s.id \
                 GROUP BY b.site",
                &[],
            ),
            (
                "SELECT s.name, b.kind, count(*) FROM birds b JOIN sites s ON b.site = s.id \
                 GROUP BY b.id",
                &[],
            ),
            (
                "SELECT name, count(*) FROM counts JOIN sites ON counts.site = sites.id \
                 GROUP BY counts.site",
                &[],
            ),
            // The row of the one minimum or maximum.
            ("SELECT kind, count(*), max(n) FROM birds, counts", &["order MAX: counts.n"]),
            ("SELECT kind, (SELECT count(*) FROM counts) FROM birds", &[]),
            ("SELECT kind, count(*) OVER () FROM birds", &[]),
        ],
    );
}

#[test]
fn a_statement_has_a_bounded_number_of_uses() {
    let sums: Vec<String> = (0..300).map(|n| format!("sum(mass) + count(kind = 'k{n}')")).collect();
    let text = format!("SELECT {} FROM birds", sums.join(", "));
    assert!(uses(&text, Dialect::Sqlite).len() <= super::USES);
}

#[test]
fn groups_and_lists_are_uses() {
    assert_all_uses(
        Dialect::Sqlite,
        &[
            ("SELECT kind, count(*) FROM birds GROUP BY 1", &["groups: birds.kind"]),
            ("SELECT kind AS k, count(*) FROM birds GROUP BY k", &["groups: birds.kind"]),
            ("SELECT DISTINCT kind FROM birds", &["groups: birds.kind"]),
            ("SELECT count(DISTINCT kind), count(site) FROM birds", &["groups: birds.kind"]),
            ("SELECT lower(kind), count(*) FROM birds GROUP BY lower(kind)", &[]),
            (
                "SELECT id FROM birds WHERE id NOT IN (SELECT bird FROM counts)",
                &["not in: counts.bird"],
            ),
            (
                "SELECT id FROM birds WHERE id NOT IN (SELECT bird FROM counts \
                 WHERE bird IS NOT NULL)",
                &[],
            ),
            (
                "SELECT id FROM birds WHERE NOT (id IN (SELECT bird FROM counts WHERE n > 1))",
                &["compared > 1: counts.n", "not in: counts.bird where (\"n\" > 1)"],
            ),
            (
                "SELECT id FROM birds WHERE id NOT IN (3, NULL)",
                &[
                    "condition: birds.id as \"id\" NOT IN (3, NULL) where \"id\" IS NOT NULL",
                    "not in: birds.id as NULL where (\"id\" NOT IN (3, NULL))",
                ],
            ),
            (
                "SELECT kind, site, count(*) FROM birds GROUP BY 1, 2",
                &["groups beside \"site\": birds.kind", "groups beside \"kind\": birds.site"],
            ),
            ("SELECT sum(n) / count(*) FROM counts", &["number SUM: counts.n"]),
            ("SELECT count(n) * 100 / count(*) FROM counts", &["ratio: counts.site"]),
            ("SELECT id FROM birds WHERE id IN (SELECT bird FROM counts)", &[]),
            (
                "SELECT id FROM birds WHERE id NOT IN (SELECT max(bird) FROM counts)",
                &["order MAX: counts.bird"],
            ),
        ],
    );
    assert_uses(
        Dialect::Sqlite,
        &[
            ("SELECT id FROM birds WHERE kind = 1", &["compared = 1: birds.kind"]),
            (
                "SELECT id FROM birds WHERE kind <> NULL",
                &[
                    "condition: birds.kind as \"kind\" <> NULL where \"kind\" IS NOT NULL",
                    "never: birds.kind as \"kind\" <> NULL",
                ],
            ),
            ("SELECT id FROM birds WHERE kind IS NULL", &[]),
        ],
    );
}

#[test]
fn ratios_of_counts_in_queries_are_uses() {
    assert_uses(
        Dialect::Sqlite,
        &[
            (
                "SELECT (SELECT count(*) FROM birds WHERE kind = 'Auk') / (SELECT count(*) \
                 FROM birds)",
                &["texts Auk: birds.kind", "ratio: birds.id"],
            ),
            (
                "SELECT (SELECT count(*) FROM birds) * 100 / (SELECT count(*) FROM sites) AS share",
                &["ratio: birds.id"],
            ),
            (
                "WITH a AS (SELECT count(*) AS n FROM birds), b AS (SELECT count(*) AS m \
                 FROM sites) SELECT a.n / b.m FROM a, b",
                &["ratio: birds.id"],
            ),
            (
                "SELECT n / m FROM (SELECT count(id) AS n, count(site) AS m FROM birds) x",
                &["ratio: birds.id"],
            ),
            ("SELECT count(*) / 600 FROM birds", &["ratio: birds.id"]),
            ("SELECT 100 / count(*) FROM birds", &["ratio: birds.id"]),
            // Pairs, a middle, a part of the rows, and what has decimals.
            ("SELECT count(*) / 2 FROM birds", &[]),
            ("SELECT id FROM birds LIMIT (SELECT count(*) / 10 FROM birds)", &[]),
            ("SELECT count(*) / 600.0 FROM birds", &[]),
            ("SELECT 100.0 * (SELECT count(*) FROM birds) / (SELECT count(*) FROM sites)", &[]),
            ("SELECT a.n * 1.0 / a.n FROM (SELECT count(*) AS n FROM birds) a", &[]),
        ],
    );
    assert_uses(Dialect::Duckdb, &[("SELECT count(*) / 600 FROM birds", &[])]);
}

#[test]
fn equal_columns_of_two_tables_are_uses() {
    assert_all_uses(
        Dialect::Sqlite,
        &[
            (
                "SELECT b.id FROM birds b JOIN sites s ON s.id = b.site",
                &["join sites.id: birds.site"],
            ),
            (
                "SELECT b.id FROM birds b, counts c WHERE c.bird = b.id",
                &["join counts.bird: birds.id"],
            ),
            ("SELECT n FROM counts JOIN birds USING (site)", &["join counts.site: birds.site"]),
            ("SELECT a.id FROM birds a JOIN birds b ON a.id = b.mass", &[]),
            (
                "SELECT x.s FROM (SELECT site AS s FROM birds) x JOIN sites ON x.s = sites.id",
                &["join sites.id: birds.site"],
            ),
            (
                "SELECT id FROM birds WHERE EXISTS (SELECT 1 FROM counts WHERE bird = birds.id)",
                &["join counts.bird: birds.id"],
            ),
        ],
    );
}

#[test]
fn extremes_of_other_columns_are_uses() {
    assert_uses(
        Dialect::Sqlite,
        &[
            (
                "SELECT kind FROM birds WHERE seen > (SELECT max(mass) FROM birds)",
                &["order MAX: birds.mass", "max of birds.mass: birds.seen"],
            ),
            (
                "SELECT kind FROM birds b WHERE (SELECT min(c.n) FROM counts c \
                 JOIN sites s ON c.site = s.id) = b.site",
                &["order MIN: counts.n", "min of counts.n: birds.site"],
            ),
            (
                "SELECT kind FROM birds WHERE mass = (SELECT max(mass) FROM birds)",
                &["order MAX: birds.mass"],
            ),
            (
                "SELECT kind FROM birds WHERE mass > (SELECT avg(id) FROM sites)",
                &["number AVG: sites.id"],
            ),
            // Two tables have the column, or a task stands there.
            (
                "SELECT kind FROM birds WHERE seen > (SELECT max(site) FROM birds \
                 JOIN counts USING (site))",
                &["order MAX: birds.site"],
            ),
        ],
    );
}

#[test]
fn tables_without_a_condition_between_them_are_uses() {
    fn lonely(text: &str) -> Vec<String> {
        let shown = list_uses(text, Dialect::Sqlite);
        shown.into_iter().filter(|one| one.starts_with("unconnected")).collect::<Vec<_>>()
    }
    assert_eq!(lonely("SELECT count(*) FROM birds, sites"), ["unconnected birds: sites.id"]);
    assert_eq!(
        lonely(
            "SELECT 1 FROM birds b JOIN counts c ON b.id = c.bird, sites s WHERE b.kind = 'owl'"
        ),
        ["unconnected birds: sites.id"]
    );
    for text in [
        "SELECT 1 FROM birds CROSS JOIN sites",
        "SELECT 1 FROM birds, sites WHERE birds.site = sites.id",
        "SELECT 1 FROM birds, counts WHERE birds.mass + counts.n > 3",
        "SELECT 1 FROM birds JOIN counts USING (site)",
        "SELECT 1 FROM birds, (SELECT max(n) AS n FROM counts) AS most",
        "WITH sites AS (SELECT max(n) AS n FROM counts) SELECT 1 FROM birds, sites",
    ] {
        assert!(lonely(text).is_empty(), "{text}");
    }
}

#[test]
fn aggregates_over_rows_that_a_join_repeats_are_uses() {
    fn repeat(text: &str) -> Vec<String> {
        let shown = list_uses(text, Dialect::Sqlite);
        shown.into_iter().filter(|one| one.starts_with("repeated")).collect::<Vec<_>>()
    }
    assert_eq!(
        repeat("SELECT sum(b.mass) FROM birds b JOIN counts c ON c.bird = b.id WHERE c.n > 1"),
        ["repeated SUM by SELECT 1 AS v FROM birds b JOIN counts c ON c.bird = b.id \
             WHERE c.n > 1 GROUP BY b.\"id\" HAVING count(*) > 1 LIMIT 1: birds.mass"]
    );
    assert_eq!(
        repeat("SELECT kind, avg(mass) FROM birds, counts WHERE bird = birds.id GROUP BY kind"),
        ["repeated AVG by SELECT 1 AS v FROM birds, counts WHERE bird = birds.id \
          GROUP BY birds.\"id\", kind HAVING count(*) > 1 LIMIT 1: birds.mass"]
    );
    assert_eq!(repeat("SELECT count(birds.id) FROM birds JOIN counts ON bird = birds.id").len(), 1);
    for text in [
        "SELECT sum(b.mass * (1 - b.id)) FROM birds b JOIN counts c ON c.bird = b.id",
        "SELECT avg(round(b.mass)) FROM birds b JOIN counts c ON c.bird = b.id",
        "SELECT sum(CASE WHEN b.kind = 'x' THEN b.mass ELSE 0 END) FROM birds b \
         JOIN counts c ON c.bird = b.id",
    ] {
        let found = repeat(text);
        assert!(matches!(found.as_slice(), [one] if one.contains("GROUP BY b.\"id\"")), "{text}");
    }
    // The number of joined rows that meet a condition, in every form.
    for count in [
        "sum(b.kind = 'Auk')",
        "sum((b.kind = 'Auk') * 1)",
        "sum(CAST(b.kind IN ('Auk') AS INTEGER))",
        "sum(iif(b.kind LIKE 'A%', 1, 0))",
        "sum(coalesce(b.kind = 'Auk' AND NOT b.mass > 3, 0))",
        "sum(CASE WHEN b.kind = 'Auk' THEN 1 ELSE 0 END)",
        "sum(CASE WHEN b.mass > 3 THEN b.kind = 'Auk' END)",
        "total(b.kind IS NULL)",
        "avg(b.mass BETWEEN 1 AND 3)",
        "count(CASE WHEN b.kind = 'Auk' THEN b.id END)",
        "count(*) FILTER (WHERE b.kind = 'Auk')",
        "sum(1) FILTER (WHERE b.kind = 'Auk')",
    ] {
        let text = format!("SELECT {count} FROM birds b JOIN counts c ON c.bird = b.id");
        assert_eq!(repeat(&text), Vec::<String>::new(), "{text}");
    }
    for sum in ["iif(b.kind = 'Auk', b.mass, 0)", "b.mass * (b.kind = 'Auk')", "-b.mass"] {
        let text = format!("SELECT sum({sum}) FROM birds b JOIN counts c ON c.bird = b.id");
        assert_eq!(repeat(&text).len(), 1, "{text}");
    }
    for text in [
        // A number of cases counts the joined rows, and a product takes each of them once.
        "SELECT sum(CASE WHEN c.n > 1 THEN 1 ELSE 0 END) FROM birds b \
         JOIN counts c ON c.bird = b.id",
        "SELECT sum(b.mass * c.n) FROM birds b JOIN counts c ON c.bird = b.id",
        // A site of a bird is one, and the table that repeats rows is aggregated, shown or grouped
        // by.
        "SELECT avg(b.mass) FROM birds b JOIN sites s ON b.site = s.id",
        "SELECT sum(c.n) FROM birds b JOIN counts c ON c.bird = b.id",
        "SELECT c.site, avg(b.mass) FROM birds b JOIN counts c ON c.bird = b.id GROUP BY c.site",
        "SELECT count(DISTINCT b.id) FROM birds b JOIN counts c ON c.bird = b.id",
        "SELECT b.id, count(b.id) FROM birds b JOIN counts c ON c.bird = b.id GROUP BY b.id",
        "SELECT max(b.mass) FROM birds b JOIN counts c ON c.bird = b.id",
        // Of one bird, the mean is its mass, and the count is that of its counts.
        "SELECT b.id, avg(b.mass), count(b.id), max(c.n) FROM birds b \
         JOIN counts c ON c.bird = b.id GROUP BY b.id",
    ] {
        assert_eq!(repeat(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn measures_of_two_tables_are_uses_of_the_one_that_is_repeated() {
    fn repeat(text: &str) -> Vec<String> {
        let shown = list_uses(text, Dialect::Sqlite);
        let kinds = shown.iter().filter(|one| one.starts_with("repeated"));
        kinds
            .filter_map(|one| Some((one.split(' ').nth(1)?, one.rsplit(": ").next()?)))
            .map(|(function, column)| format!("{function} {column}"))
            .collect::<Vec<_>>()
    }
    let from = "FROM birds b JOIN counts c ON c.bird = b.id";
    for (text, wanted) in [
        (format!("SELECT sum(b.mass), sum(c.n) {from}"), "SUM birds.mass"),
        (format!("SELECT b.kind, sum(b.mass), sum(c.n) {from} GROUP BY b.kind"), "SUM birds.mass"),
        (format!("SELECT b.kind, count(b.id), sum(c.n) {from} GROUP BY b.kind"), "COUNT birds.id"),
        (format!("SELECT b.id, sum(b.mass), max(c.n) {from} GROUP BY b.id"), "SUM birds.mass"),
    ] {
        assert_eq!(repeat(&text), [wanted], "{text}");
    }
    for text in [
        format!("SELECT b.kind, count(DISTINCT b.id), sum(c.n) {from} GROUP BY b.kind"),
        format!("SELECT b.kind, max(b.mass), sum(c.n) {from} GROUP BY b.kind"),
        format!("SELECT b.kind, sum(c.n), count(c.n) {from} GROUP BY b.kind"),
        format!("SELECT b.kind, sum(b.mass * c.n), sum(c.n) {from} GROUP BY b.kind"),
        format!("SELECT sum(b.mass) FILTER (WHERE c.n > 1), sum(c.n) {from}"),
    ] {
        assert_eq!(repeat(&text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn conditions_that_no_row_meets_are_uses() {
    fn never(text: &str) -> Vec<String> {
        let shown = list_uses(text, Dialect::Sqlite);
        shown.into_iter().filter(|one| one.starts_with("never")).collect::<Vec<_>>()
    }
    for (text, wanted) in [
        (
            "SELECT id FROM birds WHERE id > 3 OR kind = NULL",
            "never: birds.kind as \"kind\" = NULL",
        ),
        (
            "SELECT id FROM birds b WHERE b.kind IN ('Auk', NULL)",
            "never: birds.kind as \"kind\" = NULL",
        ),
        (
            "SELECT sum(CASE WHEN NULL <> kind THEN 1 ELSE 0 END) FROM birds",
            "never: birds.kind as \"kind\" <> NULL",
        ),
        (
            "SELECT CASE kind WHEN NULL THEN 'none' ELSE kind END FROM birds",
            "never: birds.kind as \"kind\" = NULL",
        ),
        (
            "SELECT site FROM birds GROUP BY site HAVING max(mass) = NULL",
            "never: birds.mass as max(\"mass\") = NULL",
        ),
        (
            "SELECT id FROM birds WHERE kind = 'Auk' AND id > 3 AND 'Gull' = kind",
            "never: birds.kind as kind = 'Auk' AND 'Gull' = kind",
        ),
        (
            "SELECT id FROM birds WHERE (site = 1 AND site = 2)",
            "never: birds.site as site = 1 AND site = 2",
        ),
        (
            "SELECT id FROM birds b WHERE id > 3 AND strftime('%m', b.seen) = '2'",
            "never: birds.seen as strftime('%m', \"seen\") = '2'",
        ),
        ("SELECT id FROM birds WHERE kind = 'Auk' OR 'Gull'", "never: birds.kind as 'Gull'"),
    ] {
        assert_eq!(never(text), [wanted], "{text}");
    }
    for text in [
        "SELECT id FROM birds WHERE kind IS NULL OR kind = 'Auk'",
        "SELECT id FROM birds WHERE strftime('%m', seen) = '02'",
        "SELECT id FROM birds WHERE strftime('%m', seen) = '2' OR strftime('%m', seen) = '02'",
        "SELECT id FROM birds WHERE strftime('%Y-%j', seen) = '2024-031'",
        "SELECT id FROM birds WHERE strftime('%e', seen) = '2'",
        "SELECT id FROM birds WHERE kind = 'Auk' OR '1'",
        "SELECT id FROM birds WHERE kind = 'Auk' OR kind = 'Gull'",
        "SELECT id FROM birds WHERE kind = 'Auk' AND kind = 'auk'",
        "SELECT a.id FROM birds a, birds b WHERE a.kind = 'Auk' AND b.kind = 'Gull' \
         AND a.site = b.site",
        "SELECT id FROM birds WHERE site = 1 AND site = 1.0",
        "SELECT coalesce(kind, NULL) FROM birds",
    ] {
        assert_eq!(never(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn counts_of_rows_that_a_left_join_makes_are_uses() {
    fn pad(text: &str) -> Vec<String> {
        let shown = list_uses(text, Dialect::Sqlite);
        shown.into_iter().filter(|one| one.starts_with("padded")).collect::<Vec<_>>()
    }
    assert_eq!(
        pad("SELECT s.name, count(*) FROM sites s LEFT JOIN birds b ON b.site = s.id \
             WHERE s.id > 3 GROUP BY s.id"),
        ["padded by SELECT 1 AS v FROM sites s LEFT JOIN birds b ON b.site = s.id \
             WHERE (s.id > 3) AND b.site IS NULL LIMIT 1: birds.site"]
    );
    for text in [
        "SELECT s.name, count(1) FROM sites s LEFT JOIN birds b ON s.id = b.site GROUP BY s.name",
        "SELECT name, count(s.id) AS n FROM sites s LEFT OUTER JOIN birds b ON s.id = b.site \
         GROUP BY 1 ORDER BY n",
    ] {
        assert_eq!(pad(text).len(), 1, "{text}");
    }
    for text in [
        "SELECT s.name, count(b.id) FROM sites s LEFT JOIN birds b ON b.site = s.id GROUP BY s.id",
        "SELECT s.name, count(*) FROM sites s JOIN birds b ON b.site = s.id GROUP BY s.id",
        "SELECT s.name, count(*) FROM sites s LEFT JOIN birds b ON b.site = s.id GROUP BY s.id \
         HAVING count(*) > 3",
        "SELECT b.kind, count(*) FROM birds b LEFT JOIN sites s ON b.site = s.id GROUP BY b.kind",
        "SELECT s.Opened, count(*) FROM sites s LEFT JOIN birds b ON b.site = s.id \
         GROUP BY s.Opened",
        "SELECT s.name FROM sites s LEFT JOIN birds b ON b.site = s.id GROUP BY s.id \
         ORDER BY count(*)",
    ] {
        assert_eq!(pad(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn a_condition_on_the_right_table_undoes_a_left_join() {
    fn is_inner(text: &str) -> bool {
        let facts = facts(text, &[], &catalog(Dialect::Sqlite)).unwrap();
        facts.outline.unwrap().is_inner
    }
    let from = "SELECT s.id FROM sites s LEFT JOIN birds b ON b.site = s.id";
    for condition in ["b.mass > 3", "s.id > 3 AND kind IN ('Auk')", "b.kind LIKE 'A%'"] {
        assert!(is_inner(&format!("{from} WHERE {condition}")), "{condition}");
    }
    for condition in
        ["b.id IS NULL", "s.id > 3", "b.mass > 3 OR b.id IS NULL", "coalesce(b.mass, 0) < 3"]
    {
        assert!(!is_inner(&format!("{from} WHERE {condition}")), "{condition}");
    }
    assert!(!is_inner("SELECT s.id FROM sites s JOIN birds b ON b.site = s.id WHERE b.mass > 3"));
}

#[test]
fn the_outline_is_that_of_the_outermost_select() {
    fn outline(text: &str) -> Option<Outline> {
        facts(text, &[], &catalog(Dialect::Sqlite)).unwrap().outline
    }
    let column =
        |table: &str, column: &str| ColumnName { table: table.into(), column: column.into() };
    let text = "WITH s AS (SELECT id, name FROM sites LIMIT 9) SELECT b.kind, round(max(b.mass), \
                1) AS m, 1 + 1 FROM birds AS b JOIN s ON b.site = s.id WHERE b.kind <> '' \
                GROUP BY 1 ORDER BY m DESC NULLS LAST LIMIT 3";
    let max = Selected::Aggregate {
        function: "max".into(),
        of: Some(column("birds", "mass")),
        is_distinct: false,
    };
    let kind = Selected::Column(column("birds", "kind"));
    let order =
        OrderKey { by: max.clone(), is_descending: true, nulls_first: Some(false), filter: None };
    let wanted = Outline {
        columns: vec![kind.clone(), max, Selected::Other],
        relations: 2,
        groups: vec![kind.clone()],
        order: Some(order),
        limit: Some(3),
        ..Outline::default()
    };
    let found = outline(text).map(|outline| Outline { cut: None, ..outline });
    assert_eq!(found, Some(wanted));
    let sorted =
        outline("SELECT kind FROM birds WHERE kind IS NOT NULL ORDER BY kind LIMIT 2, 1").unwrap();
    assert_eq!((sorted.limit, sorted.relations), (Some(1), 1));
    let filter = Some("(\"kind\" IS NOT NULL)".to_owned());
    assert_eq!(
        sorted.order,
        Some(OrderKey { by: kind, is_descending: false, nulls_first: None, filter })
    );
    assert_eq!(outline("SELECT id FROM birds UNION SELECT id FROM sites ORDER BY 1 LIMIT 1"), None);
    assert_eq!(outline("VALUES (1)"), None);
}

#[test]
fn the_outline_has_the_comparisons_of_where() {
    fn outline(condition: &str) -> Outline {
        let text = format!("SELECT b.id FROM birds b JOIN sites s ON b.site = s.id {condition}");
        facts(&text, &[], &catalog(Dialect::Sqlite)).unwrap().outline.unwrap()
    }
    fn show(all: &[Comparison]) -> String {
        let all: Vec<String> =
            all.iter().map(|one| format!("{} {}", one.column.column, one.literal)).collect();
        all.join(", ")
    }
    for (condition, all) in [
        ("WHERE kind = 'Auk' AND (mass > 3 AND 5 < s.id)", "kind Auk, mass 3, id 5"),
        ("WHERE kind LIKE '%Auk%' AND s.name IN ('x')", "kind Auk, name x"),
        ("WHERE kind = s.name AND mass + 1 = 3 AND NOT (mass = 2)", ""),
        ("", ""),
    ] {
        assert_eq!(show(&outline(condition).all_of), all, "{condition}");
    }
    for (condition, any) in [
        ("WHERE mass > 1 AND (kind = 'Auk' OR (mass < 3 OR s.id = 2))", "kind Auk, mass 3, id 2"),
        ("WHERE kind IN ('Auk', 'Gull')", "kind Auk, kind Gull"),
        ("WHERE kind = 'Auk' OR mass IS NULL", ""),
        ("WHERE NOT (kind = 'Auk' OR mass = 3)", ""),
    ] {
        let found = outline(condition).any_of;
        assert_eq!(found.iter().map(|any| show(any)).collect::<String>(), any, "{condition}");
    }
    for (condition, differing) in [
        ("WHERE kind <> 'Auk' OR kind IS NULL", "kind Auk"),
        (
            "WHERE kind NOT IN ('Auk', 'Gull') AND s.name NOT LIKE 'x%'",
            "kind Auk, kind Gull, name x",
        ),
        ("WHERE NOT kind = 'Auk' AND NOT (mass IN (3))", "kind Auk, mass 3"),
        ("WHERE NOT (kind <> 'Auk') AND NOT mass < 3", ""),
    ] {
        assert_eq!(show(&outline(condition).differing), differing, "{condition}");
    }
}

#[test]
fn things_that_a_join_repeats_are_read_by_a_query() {
    fn find_repeated(text: &str) -> Option<Repeated> {
        let outline = facts(text, &[], &catalog(Dialect::Sqlite)).unwrap().outline;
        outline.unwrap_or_default().repeated
    }
    let from = "FROM birds b JOIN counts c ON c.bird = b.id";
    let rows = "GROUP BY b.\"id\" HAVING count(*) > 1 LIMIT 1";
    for text in [
        format!("SELECT b.kind {from} WHERE c.n > 1"),
        format!("SELECT c.bird, b.kind AS k {from} WHERE c.n > 1 ORDER BY k, b.mass LIMIT 3"),
    ] {
        let rows = format!("SELECT 1 AS v {from} WHERE c.n > 1 {rows}");
        facts(&rows, &[], &catalog(Dialect::Sqlite)).unwrap();
        assert_eq!(find_repeated(&text), Some(Repeated { table: "birds".into(), rows }), "{text}");
    }
    let listed = "SELECT s.name, b.site FROM birds b JOIN sites s ON b.site = s.id";
    assert_eq!(find_repeated(listed).map(|it| it.table).as_deref(), Some("sites"));
    for text in [
        format!("SELECT DISTINCT b.kind {from}"),
        format!("SELECT b.kind {from} GROUP BY b.kind"),
        format!("SELECT b.kind, c.n {from}"),
        format!("SELECT b.kind {from} ORDER BY c.n"),
        format!("SELECT b.kind, 1 {from}"),
        format!("SELECT count(*) {from}"),
        "SELECT b.kind, s.name FROM birds b JOIN sites s ON b.site = s.id".to_owned(),
        "SELECT kind FROM birds".to_owned(),
        "SELECT kind FROM birds WHERE id IN (SELECT bird FROM counts)".to_owned(),
        format!("SELECT count(*) FROM (SELECT b.kind {from}) AS t"),
    ] {
        assert_eq!(find_repeated(&text), None, "{text}");
    }
}

#[test]
fn the_rows_where_a_limit_cuts_an_order_are_read_by_a_query() {
    fn cut(text: &str) -> Option<Cut> {
        let outline = facts(text, &[], &catalog(Dialect::Sqlite)).unwrap().outline;
        outline.unwrap_or_default().cut
    }
    for (text, rows, keys, name) in [
        (
            "SELECT kind FROM birds GROUP BY kind ORDER BY COUNT(*) DESC LIMIT 1",
            "SELECT kind, COUNT(*) AS order_key_0 FROM birds GROUP BY kind ORDER BY COUNT(*) DESC \
             LIMIT 6 OFFSET 0",
            1,
            "COUNT(*)",
        ),
        (
            "SELECT kind, max(mass) AS m FROM birds GROUP BY 1 ORDER BY m DESC, 1 LIMIT 2, 3",
            "SELECT kind, max(mass) AS m, max(mass) AS order_key_0, kind AS order_key_1 FROM birds \
             GROUP BY 1 ORDER BY m DESC, 1 LIMIT 6 OFFSET 4",
            2,
            "m",
        ),
        (
            "SELECT DISTINCT kind FROM birds ORDER BY kind LIMIT 1",
            "SELECT DISTINCT kind, kind AS order_key_0 FROM birds ORDER BY kind LIMIT 6 OFFSET 0",
            1,
            "kind",
        ),
        (
            "SELECT DISTINCT kind FROM birds ORDER BY mass LIMIT 1",
            "SELECT kind, mass AS order_key_0 FROM birds ORDER BY mass LIMIT 6 OFFSET 0",
            1,
            "mass",
        ),
    ] {
        let found = Cut { rows: rows.to_owned(), keys, name: name.to_owned() };
        assert_eq!(cut(text), Some(found), "{text}");
        // The guard takes the query.
        facts(rows, &[], &catalog(Dialect::Sqlite)).unwrap();
    }
    for text in [
        "SELECT DISTINCT kind FROM birds ORDER BY mass LIMIT 2",
        "SELECT *, kind FROM birds ORDER BY 2 LIMIT 1",
        "SELECT kind FROM birds ORDER BY mass",
        "SELECT kind FROM birds LIMIT 1",
        "SELECT kind FROM birds ORDER BY mass LIMIT 101",
        "SELECT kind FROM birds ORDER BY mass LIMIT 0",
        "SELECT kind FROM birds ORDER BY mass LIMIT 1 + 1",
    ] {
        assert_eq!(cut(text), None, "{text}");
    }
}

#[test]
fn conditions_without_any_value_or_with_every_value_are_uses() {
    fn when(condition: &str) -> Option<UseKind> {
        let text = format!("SELECT id FROM birds b WHERE {condition}");
        let mut kinds = uses(&text, Dialect::Sqlite).into_iter().map(|one| one.kind);
        kinds.find(|kind| matches!(kind, UseKind::Never | UseKind::Always))
    }
    for never in [
        "mass BETWEEN 40 AND 20",
        "mass > 40 AND mass < 20",
        "mass >= 40 AND kind = 'x' AND 20 > b.mass",
        "mass > 20 AND mass < 20",
        "mass = 10 AND mass > 20",
        "seen BETWEEN '2024-01-01' AND '2023-01-01'",
        "mass BETWEEN 10 AND 20 AND mass > 30",
    ] {
        assert_eq!(when(never), Some(UseKind::Never), "{never}");
    }
    for always in [
        "mass > 20 OR mass < 40",
        "mass >= 20 OR mass <= 20",
        "kind <> 'Auk' OR kind <> 'Gull'",
        "site = 3 AND (kind <> 'Auk' OR kind <> 'Gull' OR kind <> 'Owl')",
    ] {
        assert_eq!(when(always), Some(UseKind::Always), "{always}");
    }
    for some in [
        "mass BETWEEN 20 AND 40",
        "mass NOT BETWEEN 40 AND 50",
        "mass > 20 AND mass < 40",
        "mass >= 20 AND mass <= 20",
        "mass > 40 OR mass < 20",
        "mass > 20 OR mass < 20",
        "kind <> 'Auk' AND kind <> 'Gull'",
        "kind <> 'Auk' OR site <> 3",
        "kind <> 'Auk' OR kind <> 'auk'",
        "mass > 40 OR seen < 20",
        "mass > '9' AND mass < '40'",
        "kind BETWEEN 'b' AND 'a'",
    ] {
        assert_eq!(when(some), None, "{some}");
    }
}

#[test]
fn a_day_without_quotes_is_a_number() {
    assert_uses(
        Dialect::Sqlite,
        &[
            ("SELECT id FROM birds WHERE seen > 2023-01-01", &["day > 2023 - 01 - 01: birds.seen"]),
            ("SELECT id FROM birds WHERE (2023-1-31) > seen", &["day < 2023 - 1 - 31: birds.seen"]),
            ("SELECT id FROM birds WHERE seen > 2023 - 13 - 1", &[]),
            ("SELECT id FROM birds WHERE seen > 2023 - 1", &[]),
            ("SELECT id FROM birds WHERE seen > 23 - 1 - 1", &[]),
        ],
    );
}

#[test]
fn a_query_in_the_place_of_one_value_is_counted() {
    let values = "SELECT count(*) AS n FROM (SELECT DISTINCT * FROM (SELECT id FROM sites) AS s \
                  LIMIT 2) AS t";
    facts(values, &[], &catalog(Dialect::Sqlite)).unwrap();
    let line = format!("scalar by {values}: birds.site");
    let text = "SELECT id FROM birds WHERE site = (SELECT id FROM sites)";
    assert_uses(Dialect::Sqlite, &[(text, &[line.as_str()])]);
    assert_uses(Dialect::Postgres, &[(text, &[])]);
    assert_uses(
        Dialect::Sqlite,
        &[
            ("SELECT id FROM birds WHERE site IN (SELECT id FROM sites)", &[]),
            ("SELECT id FROM birds WHERE site > (SELECT id FROM sites)", &[]),
        ],
    );
}

#[test]
fn an_or_beside_an_and_without_parentheses_is_read() {
    fn loose(condition: &str) -> Option<[String; 2]> {
        let text = format!("SELECT id FROM birds WHERE {condition}");
        let found = facts(&text, &[], &catalog(Dialect::Sqlite)).unwrap().outline.unwrap().loose;
        found.map(|both| both.map(|one| one.literal))
    }
    let both = Some(["Auk".to_owned(), "Gull".to_owned()]);
    for condition in [
        "mass > 3 AND kind = 'Auk' OR kind = 'Gull'",
        "(mass > 3 AND site = 1 AND kind = 'Auk' OR kind = 'Gull')",
        "mass > 3 AND kind = 'Auk' OR kind = 'Gull' OR kind = 'Owl'",
    ] {
        assert_eq!(loose(condition), both, "{condition}");
    }
    for condition in [
        "mass > 3 AND (kind = 'Auk' OR kind = 'Gull')",
        "(mass > 3 AND kind = 'Auk') OR kind = 'Gull'",
        "mass > 3 AND kind = 'Auk' OR mass > 3 AND kind = 'Gull'",
        "mass > 3 AND kind = 'Auk' OR site = 2",
        "kind = 'Owl' AND kind = 'Auk' OR kind = 'Gull'",
        "kind = 'Auk' OR kind = 'Gull'",
    ] {
        assert_eq!(loose(condition), None, "{condition}");
    }
}
