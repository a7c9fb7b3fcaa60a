//! Spark: a Spark Connect server.

use std::sync::Arc;

use syrch_core::Dialect;
use syrch_core::ports::DatabaseError;
use syrch_spark::{SparkConfig, SparkEngine};

use super::entry::{Entry, OpenDatabase, ServerEntry, ServerReport};
use super::open::{Opened, is_named};

pub(super) static ENTRY: Entry = Entry {
    aliases: &[],
    summary: "a Spark Connect server",
    takes: "the URL of a Spark Connect server",
    form: "//HOST:15002",
    dialect: Some(Dialect::Spark),
    telemetry: "other_sql",
    files: None,
    server: Some(ServerEntry {
        variables: &["SPARK_"],
        login: "the token of the address, or SPARK_CONNECT_AUTHENTICATE_TOKEN",
        encryption: "`use_ssl` of the address, and that the server's certificate is signed by an \
                     authority that this machine trusts",
        inspect: Some(|database| Box::pin(spark_report(database))),
        role_sql: None,
    }),
    open: |database| Box::pin(open_spark(database)),
};

fn spark_config(OpenDatabase { url, tables, limits, servers, .. }: OpenDatabase) -> SparkConfig {
    let is_named = is_named(&url, &servers);
    SparkConfig {
        is_on_command_line: is_named && servers.is_on_command_line,
        is_untrusted: !is_named,
        variables: servers.variables,
        os_user: servers.os_user.and_then(|name| name()),
        tables,
        limits,
        ..SparkConfig::new(url.expose())
    }
}

async fn open_spark(database: OpenDatabase) -> Opened {
    Ok(Arc::new(syrch_spark::open(spark_config(database)).await?))
}

async fn spark_report(database: OpenDatabase) -> Result<ServerReport, DatabaseError> {
    let (version, how) = SparkEngine::connect(&spark_config(database)).await?.server().await?;
    let version = version.map(|version| format!(" {version}")).unwrap_or_default();
    let beyond_reading = vec![
        "guard tested, engine forbids nothing: Spark Connect has no users with rights of their own"
            .to_owned(),
    ];
    Ok(ServerReport { detail: format!("Spark{version}, {how}"), beyond_reading })
}
