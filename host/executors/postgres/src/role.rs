//! The role to connect as: the statements that make one which only reads, and what a connected role
//! could do beyond reading.

use syrch_core::Dialect;
use syrch_core::ports::DatabaseError;
use tokio_postgres::{Client, Error};

use crate::config::{self, PostgresConfig};

/// The role that [`role_sql_of`] makes.
const ROLE: &str = "syrch_reader";

/// [`role_sql`] for the database that a config names, which is not connected to.
///
/// # Errors
/// [`DatabaseError::Address`] for a wrong connection string.
pub fn role_sql_of(config: &PostgresConfig, schemas: &[String]) -> Result<String, DatabaseError> {
    Ok(role_sql(ROLE, &config::target(config)?.database, schemas))
}

/// The statements that an administrator runs to make a role which only reads the tables of these
/// schemas. Its password is set apart from them, by `\password` in `psql`.
#[must_use]
pub fn role_sql(role: &str, database: &str, schemas: &[String]) -> String {
    let role = Dialect::Postgres.quote(role);
    let database = Dialect::Postgres.quote(database);
    let mut lines = vec![
        format!(
            "CREATE ROLE {role} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION \
             NOBYPASSRLS;"
        ),
        format!("GRANT CONNECT ON DATABASE {database} TO {role};"),
        format!("REVOKE TEMPORARY ON DATABASE {database} FROM PUBLIC;"),
    ];
    for schema in schemas {
        let schema = Dialect::Postgres.quote(schema);
        lines.push(format!("REVOKE CREATE ON SCHEMA {schema} FROM PUBLIC;"));
        lines.push(format!("GRANT USAGE ON SCHEMA {schema} TO {role};"));
        lines.push(format!("GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {role};"));
        lines.push(format!(
            "ALTER DEFAULT PRIVILEGES IN SCHEMA {schema} GRANT SELECT ON TABLES TO {role};"
        ));
    }
    for (name, value) in [
        ("default_transaction_read_only", "on"),
        ("statement_timeout", "'30s'"),
        ("lock_timeout", "'2s'"),
        ("idle_in_transaction_session_timeout", "'60s'"),
        ("temp_file_limit", "'1GB'"),
        ("work_mem", "'64MB'"),
    ] {
        lines.push(format!("ALTER ROLE {role} SET {name} = {value};"));
    }
    lines.join("\n") + "\n"
}

/// The queries for the rights of a role beyond reading, each with one text column.
const FINDINGS: [&str; 7] = [
    "SELECT 'the role is ' || what FROM pg_roles, LATERAL (VALUES (rolsuper, 'a superuser'), \
     (rolcreaterole, 'allowed to create roles'), (rolcreatedb, 'allowed to create databases'), \
     (rolreplication, 'allowed to replicate'), (rolbypassrls, 'not bound by row security')) AS \
     v(has, what) WHERE rolname = current_user AND has",
    "SELECT 'the role is a member of `' || rolname || '`' FROM pg_roles \
       WHERE rolname LIKE 'pg\\_%' AND rolname <> ALL (ARRAY['pg_read_all_data', \
       'pg_read_all_settings', 'pg_database_owner']) AND pg_has_role(oid, 'MEMBER') \
       AND NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) ORDER BY 1",
    "SELECT 'the role may change `' || n.nspname || '.' || c.relname || '`' FROM pg_class c \
       JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'p', 'v', 'f', 'm') \
       AND NOT n.nspname LIKE 'pg\\_%' AND n.nspname <> 'information_schema' \
       AND (has_any_column_privilege(c.oid, 'INSERT, UPDATE') OR has_table_privilege(c.oid, \
       'DELETE, TRUNCATE, TRIGGER' || CASE WHEN current_setting('server_version_num')::int >= \
       170000 THEN ', MAINTAIN' ELSE '' END) OR pg_has_role(c.relowner, 'USAGE')) \
       ORDER BY 1 LIMIT 10",
    "SELECT 'the role may create objects in the schema `' || nspname || '`' FROM pg_namespace \
       WHERE NOT nspname LIKE 'pg\\_%' AND has_schema_privilege(oid, 'CREATE') ORDER BY 1 LIMIT 10",
    "SELECT 'the role may create schemas' WHERE has_database_privilege(current_database(), \
     'CREATE')",
    "SELECT 'the role may create temporary tables' \
     WHERE has_database_privilege(current_database(), 'TEMPORARY')",
    "SELECT 'the role may call `' || n.nspname || '.' || p.proname || '`, which runs with the \
     rights of its owner' FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace \
     WHERE p.prosecdef AND NOT n.nspname LIKE 'pg\\_%' AND n.nspname <> 'information_schema' \
     AND has_function_privilege(p.oid, 'EXECUTE') ORDER BY 1 LIMIT 10",
];

/// Returns the rights of the connected role beyond reading, a sentence for each.
///
/// # Errors
/// Those of the server, and a lost connection.
pub(crate) async fn findings(client: &Client) -> Result<Vec<String>, Error> {
    let mut findings = Vec::new();
    for sql in FINDINGS {
        for row in client.query_typed(sql, &[]).await? {
            findings.push(row.try_get(0)?);
        }
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_are_quoted() {
        let sql = super::role_sql("re\"ader", "shop", &["public".into()]);
        assert!(sql.starts_with("CREATE ROLE \"re\"\"ader\" LOGIN NOSUPERUSER"), "{sql}");
        assert!(
            sql.contains("GRANT SELECT ON ALL TABLES IN SCHEMA \"public\" TO \"re\"\"ader\";\n"),
            "{sql}"
        );
    }
}
