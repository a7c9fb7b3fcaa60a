//! PostgreSQL: a server.

use std::sync::Arc;

use syrch_core::Dialect;
use syrch_core::ports::DatabaseError;
use syrch_postgres::PostgresConfig;

use super::entry::{Entry, OpenDatabase, ServerEntry, ServerReport};
use super::open::{Opened, is_named};

pub(super) static ENTRY: Entry = Entry {
    aliases: &[],
    summary: "a PostgreSQL database",
    takes: "the URL of a PostgreSQL database",
    form: "//USER@HOST/DATABASE",
    dialect: Some(Dialect::Postgres),
    telemetry: "postgresql",
    files: None,
    server: Some(ServerEntry {
        variables: &["PG"],
        login: "the user of the address, the password in ~/.pgpass or PGPASSWORD, and that the \
                server's pg_hba.conf allows the connection",
        encryption: "`sslmode` and `sslrootcert` of the address: docs/postgres.md says \
                     what each checks",
        inspect: Some(|database| Box::pin(postgres_report(database))),
        role_sql: Some(postgres_role_sql),
    }),
    open: |database| Box::pin(open_postgres(database)),
};

/// Returns the configuration with which `psql` would connect to an address. What follows the scheme
/// is that of a URL, pairs such as `host=localhost dbname=shop`, or the name of a database.
fn postgres_config(
    OpenDatabase { url, tables, limits, servers, .. }: OpenDatabase,
) -> PostgresConfig {
    let rest = url.rest();
    let given = if rest.starts_with("//") { format!("postgres:{rest}") } else { rest.to_owned() };
    let is_named = is_named(&url, &servers);
    PostgresConfig {
        is_on_command_line: is_named && servers.is_on_command_line,
        is_untrusted: !is_named,
        variables: servers.variables,
        os_user: servers.os_user.and_then(|name| name()),
        home: servers.home,
        tables,
        limits,
        ..PostgresConfig::new(given)
    }
}

fn postgres_role_sql(database: OpenDatabase, schemas: &[String]) -> Result<String, DatabaseError> {
    syrch_postgres::role_sql_of(&postgres_config(database), schemas)
}

async fn open_postgres(database: OpenDatabase) -> Opened {
    Ok(Arc::new(syrch_postgres::open(postgres_config(database)).await?))
}

async fn postgres_report(database: OpenDatabase) -> Result<ServerReport, DatabaseError> {
    let database = syrch_postgres::open(postgres_config(database)).await?;
    let (version, how) = database.engine().server().await?;
    let beyond_reading = database.engine().role_findings().await?;
    Ok(ServerReport { detail: format!("PostgreSQL {version}, {how}"), beyond_reading })
}
