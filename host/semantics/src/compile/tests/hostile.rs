//! Names and values from outside that try to become a part of the statement.

use syrch_core::Dialect;

use crate::{Aggregate, Filter, Literal, Operator, Request, Semantics};

use super::kit::{compile_for, dimension, filter, measure, open, parse, request, rows, table};

const HOSTILE: [&str; 9] = [
    "'; DROP TABLE t; --",
    "\\'; DROP TABLE t; --",
    "''",
    "\\",
    "a\"b",
    "`x`",
    "%_!\\",
    "/* x */",
    "Zo\u{eb} \u{1f986}",
];

#[test]
fn hostile_values_are_only_values() {
    for value in HOSTILE {
        let connection = open("CREATE TABLE t (k TEXT, v INTEGER)");
        connection.execute("INSERT INTO t VALUES (?1, 1), ('other', 2)", [value]).unwrap();
        let mut semantics = Semantics {
            tables: vec![table("t")],
            dimensions: vec![dimension("t", "k", false)],
            metrics: vec![measure("total", Aggregate::Sum, "t.v", "t", None)],
            ..Semantics::default()
        };
        for operator in [Operator::In, Operator::Contains, Operator::AtLeast] {
            let filters = vec![filter("k", operator, &[value])];
            let request = Request { filters, ..request(&["total"], &["k"]) };
            let sql = compile_for(&semantics, &request, &Dialect::Sqlite).unwrap().sql;
            let found = rows(&connection, &sql);
            assert!(found.contains(&vec![value.to_owned(), "1.000000".to_owned()]), "{sql}");
        }
        // The same text in an expression of the file.
        let text = format!("t.k = '{}'", value.replace('\'', "''"));
        semantics.metrics.push(measure("of it", Aggregate::Count, "*", "t", Some(&text)));
        let sql = compile_for(&semantics, &request(&["of it"], &[]), &Dialect::Sqlite).unwrap().sql;
        assert_eq!(rows(&connection, &sql), [["1.000000"]]);
    }
}

#[test]
fn hostile_names_are_only_names() {
    for name in HOSTILE {
        let quoted = format!("\"{}\"", name.replace('"', "\"\""));
        let connection = open(&format!(
            "CREATE TABLE {quoted} ({quoted} TEXT, v INTEGER); INSERT INTO {quoted} VALUES ('a', 3)"
        ));
        let mut total = measure(name, Aggregate::Sum, "x.v", name, None);
        if let crate::MetricKind::Measure(measure) = &mut total.kind {
            measure.argument = Some(parse(&format!("{quoted}.v")));
        }
        let mut by = dimension("x", "y", false);
        by.table = name.to_owned();
        by.name = name.to_owned();
        by.expression = parse(&format!("{quoted}.{quoted}"));
        let semantics = Semantics {
            tables: vec![crate::Table { source: quoted.clone(), ..table(name) }],
            dimensions: vec![by],
            metrics: vec![total],
            ..Semantics::default()
        };
        let sql =
            compile_for(&semantics, &request(&[name], &[name]), &Dialect::Sqlite).unwrap().sql;
        assert_eq!(rows(&connection, &sql), [["a", "3.000000"]], "{sql}");
    }
}

#[test]
fn relations_of_the_statement_hide_no_table() {
    let connection = open(
        "CREATE TABLE measured (k TEXT, v INTEGER); CREATE TABLE joined (k TEXT, v INTEGER);
         INSERT INTO measured VALUES ('a', 1); INSERT INTO joined VALUES ('b', 2)",
    );
    let semantics = Semantics {
        tables: vec![table("measured"), table("joined")],
        metrics: vec![
            measure("one", Aggregate::Sum, "measured.v", "measured", None),
            measure("two", Aggregate::Sum, "joined.v", "joined", None),
        ],
        ..Semantics::default()
    };
    let sql =
        compile_for(&semantics, &request(&["one", "two"], &[]), &Dialect::Sqlite).unwrap().sql;
    assert_eq!(rows(&connection, &sql), [["1.000000", "2.000000"]], "{sql}");
}

#[test]
fn texts_end_where_they_end_in_every_dialect() {
    let value = "\\' OR 1=1 -- '";
    let semantics = super::kit::shop();
    let filters = vec![filter("country", Operator::In, &[value])];
    let request = Request { filters, ..request(&["orders"], &[]) };
    for (dialect, literal) in [
        (Dialect::Sqlite, r"'\'' OR 1=1 -- '''"),
        (Dialect::Postgres, r"'\'' OR 1=1 -- '''"),
        (Dialect::Duckdb, r"'\'' OR 1=1 -- '''"),
        (Dialect::Ansi, r"'\'' OR 1=1 -- '''"),
        (Dialect::Mysql, r"'\\'' OR 1=1 -- '''"),
        (Dialect::Spark, r"'\\\' OR 1=1 -- \''"),
        (Dialect::Databricks, r"'\\\' OR 1=1 -- \''"),
    ] {
        let sql = compile_for(&semantics, &request, &dialect).unwrap().sql;
        assert!(sql.contains(&format!("country = {literal}")), "{dialect:?}: {sql}");
    }
    let other = Dialect::Other("bigquery".to_owned());
    assert!(compile_for(&semantics, &request, &other).is_err());
}

#[test]
fn numbers_are_numbers_and_texts_have_no_nul() {
    let semantics = super::kit::shop();
    for (value, is_fine) in [
        (Literal::Number("-1.5e3".to_owned()), true),
        (Literal::Number("1 OR 1=1".to_owned()), false),
        (Literal::Number("1--".to_owned()), false),
        (Literal::Number(String::new()), false),
        (Literal::Number(".".to_owned()), false),
        (Literal::Text("a\0b".to_owned()), false),
    ] {
        let filters = vec![Filter {
            dimension: "country".to_owned(),
            operator: Operator::In,
            values: vec![value.clone()],
        }];
        let request = Request { filters, ..request(&["orders"], &[]) };
        let compiled = compile_for(&semantics, &request, &Dialect::Sqlite);
        assert_eq!(compiled.is_ok(), is_fine, "{value:?}");
    }
}
