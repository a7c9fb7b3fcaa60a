//! Logging in, the catalog, and workspaces that are not there.

use std::time::Duration;

use syrch_core::ports::{Database, DatabaseError};
use syrch_core::{Dialect, Table};
use syrch_databricks::{DatabricksConfig, open};
use syrch_kit::databricks::{Behaviour, CLIENT, TENANT, TOKEN};

use crate::common::{Mock, config, mock, open_database, refusal, rows};

#[tokio::test(flavor = "multi_thread")]
async fn the_catalog_has_tables_columns_keys_and_comments() {
    let mock = mock();
    let database = open_database(&mock).await;
    let catalog = database.catalog().await.unwrap();
    let names: Vec<&str> = catalog.tables.iter().map(|table| table.name.as_str()).collect();
    assert_eq!(
        (names, &catalog.dialect),
        (vec!["customers", "numbers", "orders", "products"], &Dialect::Databricks)
    );
    let table = |name: &str| -> &Table { catalog.table(name).unwrap() };
    assert_eq!(
        (table("orders").schema_name.as_deref(), table("orders").primary_key.as_slice()),
        (Some("shop"), ["id".to_owned()].as_slice())
    );
    let mut keys: Vec<_> = table("orders")
        .foreign_keys
        .iter()
        .map(|key| (key.columns.concat(), key.ref_table.clone(), key.ref_columns.concat()))
        .collect();
    keys.sort();
    let key = |column: &str, table: &str| (column.to_owned(), table.to_owned(), "id".to_owned());
    assert_eq!(keys, [key("customer_id", "customers"), key("product_id", "products")]);
    let number = table("numbers");
    assert_eq!(
        (number.comment.as_deref(), number.columns[0].comment.as_deref()),
        (Some("From 1 on"), Some("The number"))
    );
    assert_eq!(
        (number.columns[1].sql_type.as_str(), table("orders").columns[0].nullable),
        ("double", false)
    );
    assert_eq!((database.name(), database.identity().await), ("main", None));
    // The schema is used for a while: another look costs nothing.
    let before = mock.workspace.requests().len();
    database.catalog().await.unwrap();
    assert_eq!(mock.workspace.requests().len(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_catalog_and_schema_the_server_chooses() {
    let mock = mock();
    let mut config = config(&mock);
    config.url = mock.workspace.url().split('?').next().unwrap().to_owned().into();
    config.tables = vec!["shop.cust*".to_owned()];
    let database = open(config).await.unwrap();
    assert_eq!(database.catalog().await.unwrap().tables.len(), 1);
    assert_eq!(rows(&database, "SELECT count(*) FROM customers").await.len(), 1);
    assert!(refusal(&database, "SELECT count(*) FROM orders").await.rule.is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_catalog_that_is_too_large_is_read_for_one_schema() {
    let mock = mock();
    mock.workspace.change(
        "INSERT INTO information_schema.tables SELECT 'main', 'other', 't' || a.i, 'MANAGED', NULL \
         FROM shop.numbers a, shop.numbers b WHERE b.i <= 9;",
    );
    let database = open_database(&mock).await;
    assert_eq!(database.catalog().await.unwrap().tables.len(), 4);
    let warnings = database.warnings();
    assert!(warnings.len() == 1 && warnings[0].contains("schema `shop`"), "{warnings:?}");
}

async fn error(config: DatabricksConfig) -> DatabaseError {
    let error = open(config).await.err().unwrap();
    assert!(!format!("{error} {error:?}").contains("sesame"), "{error}");
    error
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_opened_has_its_reason() {
    let mock = mock();
    fn with(url: String, token: &str) -> DatabricksConfig {
        let mut config = DatabricksConfig::new(url);
        config.variables.insert("DATABRICKS_TOKEN".into(), token.into());
        config
    }
    let url = mock.workspace.url();
    let wrong = error(with(url.clone(), "dapi-sesame")).await;
    assert!(
        matches!(
            &wrong, DatabaseError::LoginRefused { reason, .. } if reason
                .contains("401") && reason
                .contains("***")
        ),
        "{wrong}"
    );
    let unusable = error(with(url.clone(), "se\nsame")).await;
    assert!(matches!(unusable, DatabaseError::LoginRefused { .. }), "{unusable}");
    let missing = error(with(url.replace("mock1", "other"), TOKEN)).await;
    assert!(
        matches!(
            &missing, DatabaseError::Missing { path, .. } if path.ends_with("/warehouses/other")
        ),
        "{missing}"
    );
    let silent =
        error(with("databricks://127.0.0.1:9/sql/1.0/warehouses/w".to_owned(), TOKEN)).await;
    assert!(matches!(silent, DatabaseError::Unreachable { .. }), "{silent}");
    mock.workspace.on("information_schema.tables", Behaviour::Refused(403, "PERMISSION_DENIED"));
    assert!(matches!(error(config(&mock)).await, DatabaseError::LoginRefused { .. }));
    mock.workspace.on(
        "information_schema.tables",
        Behaviour::Fails("BAD_REQUEST", Some("42P01"), "[TABLE_OR_VIEW_NOT_FOUND] none"),
    );
    assert!(error(config(&mock)).await.to_string().contains("Unity Catalog"));
    // A warehouse that starts is waited for, within the deadline.
    let mut slow = config(&mock);
    slow.limits.sql_deadline = Duration::from_millis(400);
    mock.workspace.on("information_schema.tables", Behaviour::Hangs);
    assert!(matches!(error(slow.clone()).await, DatabaseError::Unavailable { .. }));
    mock.workspace.on("information_schema.tables", Behaviour::Takes(1_000));
    assert!(matches!(error(slow).await, DatabaseError::Starting { .. }));
    mock.workspace.on("information_schema.tables", Behaviour::Takes(4));
    open_database(&mock).await;
    let mut foreign = config(&mock);
    foreign.is_untrusted = true;
    foreign.url = "databricks://h.example/sql/1.0/warehouses/w".to_owned().into();
    assert!(error(foreign).await.to_string().contains("only a file names"));
}

fn machine(mock: &Mock) -> DatabricksConfig {
    let mut config = DatabricksConfig::new(mock.workspace.url());
    config.variables.insert("DATABRICKS_CLIENT_ID".into(), CLIENT.0.into());
    config.variables.insert("DATABRICKS_CLIENT_SECRET".into(), CLIENT.1.into());
    config
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_of_clients_are_shared_and_renewed() {
    let mock = mock();
    let database = open(machine(&mock)).await.unwrap();
    let issued = || mock.workspace.count_of("/oidc/v1/token");
    // Several statements at once share one request for a token.
    assert_eq!(issued(), 1);
    mock.workspace.revoke_tokens();
    let count = || rows(&database, "SELECT count(*) FROM customers");
    let (one, two) = tokio::join!(count(), count());
    assert_eq!((one, issued()), (two, 2));
    // A short life: a new one is had before the old one ends, without a refusal.
    mock.workspace.set_token_life(Duration::from_secs(1));
    mock.workspace.revoke_tokens();
    count().await;
    let before = issued();
    tokio::time::sleep(Duration::from_millis(850)).await;
    count().await;
    assert_eq!(issued(), before + 1);
    let secret = CLIENT.1;
    let requests = mock.workspace.requests();
    let elsewhere = requests.iter().filter(|request| !request.path.ends_with("/token"));
    assert!(
        elsewhere.clone().all(|request| !format!("{request:?}").contains(secret))
            && elsewhere.count() > 5
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_log_in_at_databricks_and_at_azure() {
    let mock = mock();
    let mut azure = DatabricksConfig::new(mock.workspace.url());
    azure.azure_login = mock.workspace.host();
    for (name, value) in
        [("ARM_TENANT_ID", TENANT), ("ARM_CLIENT_ID", CLIENT.0), ("ARM_CLIENT_SECRET", CLIENT.1)]
    {
        azure.variables.insert(name.into(), value.into());
    }
    assert_eq!(
        rows(&open(azure.clone()).await.unwrap(), "SELECT count(*) FROM customers").await.len(),
        1
    );
    for mut config in [machine(&mock), azure] {
        for name in ["DATABRICKS_CLIENT_SECRET", "ARM_CLIENT_SECRET"] {
            if let Some(secret) = config.variables.get_mut(name) {
                "sesame".clone_into(secret);
            }
        }
        let wrong = error(config).await;
        assert!(
            matches!(
                &wrong, DatabaseError::LoginRefused { reason,
                    .. } if reason.contains("invalid_client")
            ),
            "{wrong}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_says_what_it_is_and_what_its_user_could_do() {
    let mock = mock();
    mock.workspace.change(
        "INSERT INTO information_schema.table_privileges VALUES ('reader@example.com', 'SELECT', \
         'shop', 'orders'), ('reader@example.com', 'MODIFY', 'shop', 'orders'), ('else', 'MODIFY', \
         'shop', 'orders');",
    );
    let database = open_database(&mock).await;
    let details = database.engine().server().await.unwrap();
    assert_eq!(
        (details.warehouse.as_str(), details.user.as_str(), details.version.as_deref()),
        ("mock1", "reader@example.com", Some("2025.15"))
    );
    assert_eq!(details.beyond_reading, ["the user has MODIFY on `shop`.`orders`"]);
    mock.workspace.change("DROP TABLE information_schema.catalog_privileges");
    let details = database.engine().server().await.unwrap();
    assert!(details.beyond_reading[0].contains("is not known"), "{details:?}");
}
