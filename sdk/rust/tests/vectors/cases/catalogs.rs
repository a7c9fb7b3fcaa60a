//! Catalogs: a shop, names that are hostile, and tables that are wide.

use serde_json::{Value as Json, json};

use super::{Case, HOSTILE, case, syntax};

/// A small shop with keys, comments, a view, an odd name and a key of two columns.
pub(super) fn shop() -> Json {
    json!({
        "database": "shop",
        "tables": [
            {
                "name": "customers",
                "columns": [
                    {"name": "id", "sql_type": "INTEGER"},
                    {
                        "name": "city", "sql_type": "TEXT", "nullable": true,
                        "comment": "where they\nlive"
                    },
                ],
                "primary_key": ["id"], "row_estimate": 2, "comment": "people who bought something",
            },
            {
                "name": "order",
                "columns": [
                    {"name": "id", "sql_type": "INTEGER"},
                    {"name": "customer id", "sql_type": "INTEGER"},
                    {"name": "total", "sql_type": "NUMERIC(10, 2)", "comment": "  "},
                    {"name": "größe"},
                ],
                "primary_key": ["id"],
                "foreign_keys": [
                    {"columns": ["customer id"], "ref_table": "customers", "ref_columns": ["id"]},
                    {
                        "columns": ["id", "total"], "ref_table": "daily",
                        "ref_columns": ["day", "sum of it"]
                    },
                ],
                "row_estimate": 1,
            },
            {
                "name": "daily",
                "columns": [{"name": "day", "sql_type": "DATE"}, {"name": "sum of it"}],
                "foreign_keys": [{
                    "columns": ["day"], "ref_table": "not granted", "ref_columns": []
                }],
                "extra": [["kind", "\"view\""]], "row_estimate": 0,
            },
        ],
    })
}

pub(super) fn hostile() -> Json {
    json!({
        "database": "shop",
        "tables": [{
            "schema_name": HOSTILE, "name": HOSTILE,
            "columns": [{"name": HOSTILE, "sql_type": HOSTILE, "comment": HOSTILE}],
            "foreign_keys": [
                {"columns": [HOSTILE], "ref_table": HOSTILE, "ref_columns": [HOSTILE]},
                {"columns": [HOSTILE, "x"], "ref_table": HOSTILE, "ref_columns": [HOSTILE, "y"]},
            ],
            "comment": format!("{HOSTILE} {}", "very long ".repeat(40)),
        }],
    })
}

/// Several tables of one name in several schemas.
pub(super) fn schemas(quotes: &str) -> Json {
    fn key(to: &str) -> serde_json::Value {
        json!({"columns": ["id"], "ref_table": to, "ref_columns": ["id"]})
    }
    let columns = json!([{"name": "id", "sql_type": "INT"}]);
    json!({
        "database": "db", "syntax": syntax(quotes),
        "tables": [
            {
                "schema_name": "archive", "name": "orders", "columns": columns,
                "extra": [["needs_schema", "true"]]
            },
            {
                "schema_name": "my sales", "name": "orders", "columns": columns,
                "foreign_keys": [key("archive.orders")]
            },
            {
                "schema_name": "my sales", "name": "Lines", "columns": columns,
                "foreign_keys": [key("Orders"), key("MY SALES.ORDERS")]
            },
        ],
    })
}

pub(super) fn wide(tables: usize, columns: usize) -> Json {
    let columns: Vec<Json> = (0..columns)
        .map(|number| {
            let name = format!("column_{number}");
            json!({"name": name, "sql_type": "TEXT", "comment": "of no use"})
        })
        .collect();
    let tables: Vec<Json> = (0..tables)
        .map(|number| {
            let name = format!("table_{number}");
            json!({"name": name, "columns": columns, "primary_key": ["column_0"]})
        })
        .collect();
    json!({"database": "wide", "tables": tables})
}

pub(super) fn catalogs() -> Vec<Case> {
    let prompt = |name: &str, catalog: &Json, bytes: usize| {
        case("prompt.catalog", name, json!({"catalog": catalog, "bytes": bytes}))
    };
    let empty = json!({"database": "none", "tables": []});
    let mut cases = vec![
        prompt("no table", &empty, 1000),
        prompt("whole", &shop(), 4096),
        prompt("without comments", &shop(), 320),
        prompt("names alone", &shop(), 200),
        prompt("one table", &shop(), 60),
        prompt("not even one", &shop(), 10),
        prompt("hostile names", &hostile(), 4096),
        prompt("hostile names alone", &hostile(), 400),
        prompt("schemas", &schemas("backticks"), 4096),
        prompt("schemas that fold names", &schemas("folding"), 4096),
        prompt("wide, whole", &wide(3, 4), 4096),
        prompt("wide, without comments", &wide(3, 4), 400),
        prompt("wide, names alone", &wide(3, 4), 250),
        prompt("wide, cut", &wide(30, 4), 250),
        prompt("wide, one is left out", &wide(3, 4), 120),
    ];
    for (name, catalog) in [("shop", shop()), ("schemas", schemas("folding")), ("empty", empty)] {
        cases.push(case("catalog.table_names", name, json!({ "catalog": catalog })));
    }
    for name in [
        "orders",
        "Orders",
        "ORDERS",
        "archive.orders",
        "Archive.Orders",
        "my sales.orders",
        "lines",
        "Lines",
        "my sales.Lines",
        "archive.lines",
        "people",
        "",
        ".",
        "orders.",
        "größe.orders",
    ] {
        cases.push(case(
            "catalog.place",
            name,
            json!({"catalog": schemas("folding"), "name": name}),
        ));
    }
    cases
}
