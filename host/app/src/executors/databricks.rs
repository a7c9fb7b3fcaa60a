//! Databricks SQL: warehouses.

use std::sync::Arc;

use syrch_core::Dialect;
use syrch_core::ports::DatabaseError;
use syrch_databricks::{DatabricksConfig, DatabricksEngine};

use super::entry::{Entry, OpenDatabase, ServerEntry, ServerReport};
use super::open::{Opened, is_named};

pub(super) static ENTRY: Entry = Entry {
    aliases: &["databricks-sql"],
    summary: "a Databricks SQL warehouse",
    takes: "the URL of a Databricks SQL warehouse",
    form: "//HOST/sql/1.0/warehouses/ID",
    dialect: Some(Dialect::Databricks),
    telemetry: "other_sql",
    files: None,
    server: Some(ServerEntry {
        variables: &["DATABRICKS_", "ARM_", "AZURE_"],
        login: "DATABRICKS_TOKEN, or DATABRICKS_CLIENT_ID and DATABRICKS_CLIENT_SECRET, and that \
                the user may use the warehouse",
        encryption: "that the host's certificate is signed by an authority that this \
                     machine trusts",
        inspect: Some(|database| Box::pin(databricks_report(database))),
        role_sql: Some(databricks_role),
    }),
    open: |database| Box::pin(open_databricks(database)),
};

fn databricks_config(
    OpenDatabase { url, tables, limits, servers, .. }: OpenDatabase,
) -> DatabricksConfig {
    let is_named = is_named(&url, &servers);
    DatabricksConfig {
        is_on_command_line: is_named && servers.is_on_command_line,
        is_untrusted: !is_named,
        variables: servers.variables,
        tables,
        limits,
        ..DatabricksConfig::new(url.expose())
    }
}

async fn open_databricks(database: OpenDatabase) -> Opened {
    Ok(Arc::new(syrch_databricks::open(databricks_config(database)).await?))
}

async fn databricks_report(database: OpenDatabase) -> Result<ServerReport, DatabaseError> {
    let details = DatabricksEngine::new(&databricks_config(database))?.server().await?;
    let version = details.version.map(|version| format!(" {version}")).unwrap_or_default();
    let detail = format!(
        "Databricks SQL{version}, warehouse {}, as {}: guard tested, engine not tested",
        details.warehouse, details.user
    );
    Ok(ServerReport { detail, beyond_reading: details.beyond_reading })
}

fn databricks_role(database: OpenDatabase, schemas: &[String]) -> Result<String, DatabaseError> {
    syrch_databricks::role_sql_of(&databricks_config(database), schemas)
}
