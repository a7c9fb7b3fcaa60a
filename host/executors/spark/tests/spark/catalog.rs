//! Tests of what the engine finds out about the tables.

use syrch_arrow_engine::ArrowEngine;
use syrch_core::{Dialect, Table};
use syrch_kit::spark::{Kind, Server};
use syrch_spark::{SparkConfig, SparkEngine};

use crate::common::usual;

pub(crate) async fn tables_columns_and_comments(server: &'static Server) {
    let engine = usual(server).await;
    assert_eq!((engine.name(), engine.dialect()), ("default", Dialect::Spark));
    assert_eq!(engine.display_address(), format!("sc://127.0.0.1:{}", server.port()));
    let schema = engine.schema().await.unwrap();
    assert_eq!(schema.path, ["default"]);
    let find =
        |name: &str| schema.tables.iter().find(|table| table.name.eq_ignore_ascii_case(name));
    let items = find("items").unwrap();
    assert_eq!(
        (items.schema_name.as_deref(), items.comment.as_deref()),
        (Some("shop"), Some("all items"))
    );
    let columns: Vec<(&str, &str, Option<&str>)> = items
        .columns
        .iter()
        .map(|column| (column.name.as_str(), column.sql_type.as_str(), column.comment.as_deref()))
        .collect();
    assert_eq!(
        columns,
        [
            ("id", "INT", Some("the number")),
            ("name", "STRING", None),
            ("price", "DECIMAL(10,2)", None)
        ]
    );
    assert!(!items.is_view() && find("cheap").is_some_and(Table::is_view));
    let odd: Vec<&str> =
        find("mixed_case").unwrap().columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(odd, ["Odd Name", "select"]);
    assert_eq!(find("secrets").unwrap().schema_name.as_deref(), Some("default"));
    // Sail has the columns of a view in its catalog, and does not look further.
    if server.kind() == Kind::Spark {
        assert!(find("broken").is_none());
        let left_out = schema.left_out.iter().find(|left_out| left_out.name == "broken").unwrap();
        assert!(left_out.reason.contains("gone"), "{}", left_out.reason);
    }
}

pub(crate) async fn patterns_leave_other_tables_undescribed(server: &'static Server) {
    let config =
        SparkConfig { tables: vec!["SHOP.items".to_owned()], ..SparkConfig::new(server.address()) };
    let engine = SparkEngine::connect(&config).await.unwrap();
    let schema = engine.schema().await.unwrap();
    for table in schema.tables {
        assert_eq!(table.columns.is_empty(), table.name != "items", "{}", table.name);
    }
}

pub(crate) async fn a_version_is_reported(server: &'static Server) {
    let (version, how) = usual(server).await.server().await.unwrap();
    assert_eq!(how, "not encrypted");
    match server.kind() {
        Kind::Sail => assert_eq!(version, None),
        Kind::Spark => assert!(version.is_some_and(|version| version.starts_with("4."))),
    }
}
