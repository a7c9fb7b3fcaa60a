//! Whom to connect as: the statements that let a principal read and nothing else, and what the
//! connected one is and could do beyond reading.

use syrch_core::Dialect;
use syrch_core::ports::DatabaseError;

use crate::config::{self, DatabricksConfig};
use crate::connect::DatabricksEngine;
use crate::error::Failure;

/// The principal that [`role_sql_of`] grants to.
const PRINCIPAL: &str = "syrch_reader";

/// Privileges beyond reading that the user has, itself or by its groups, and what it owns.
const FINDINGS: [&str; 3] = [
    "SELECT DISTINCT concat('the user has ', privilege_type, ' on the catalog') \
     FROM information_schema.catalog_privileges WHERE (grantee = current_user() OR \
     is_account_group_member(grantee)) AND privilege_type NOT IN ('SELECT', 'BROWSE', \
     'USE_CATALOG', 'USE CATALOG', 'USE_SCHEMA', 'USE SCHEMA') ORDER BY 1 LIMIT 10",
    "SELECT DISTINCT concat('the user has ', privilege_type, ' on the schema `', schema_name, '`') \
     FROM information_schema.schema_privileges WHERE (grantee = current_user() OR \
     is_account_group_member(grantee)) AND privilege_type NOT IN ('SELECT', 'BROWSE', \
     'USE_SCHEMA', 'USE SCHEMA') ORDER BY 1 LIMIT 10",
    "SELECT DISTINCT concat('the user has ', privilege_type, ' on `', table_schema, '`.`', \
     table_name, '`') FROM information_schema.table_privileges WHERE (grantee = current_user() OR \
     is_account_group_member(grantee)) AND privilege_type NOT IN ('SELECT', 'BROWSE') \
     ORDER BY 1 LIMIT 10",
];

/// The statements that let a principal read the tables of these schemas. Nothing is connected to.
///
/// # Errors
/// [`DatabaseError::Address`] for a wrong address, and for one without a catalog.
pub fn role_sql_of(config: &DatabricksConfig, schemas: &[String]) -> Result<String, DatabaseError> {
    let target = config::target(config)?;
    let missing = "name the catalog, by `catalog=` in the address or DATABRICKS_CATALOG";
    let catalog =
        target.catalog.ok_or_else(|| DatabaseError::Address { reason: missing.to_owned() })?;
    Ok(role_sql(PRINCIPAL, &catalog, schemas))
}

/// The statements that an administrator runs to let a principal read the tables of these schemas.
/// The principal, a group or the application id of a service principal, is made in the account's
/// console, and gets `CAN USE` of the warehouse in the warehouse's settings: SQL can do neither.
#[must_use]
pub fn role_sql(principal: &str, catalog: &str, schemas: &[String]) -> String {
    let principal = Dialect::Databricks.quote(principal);
    let catalog = Dialect::Databricks.quote(catalog);
    let mut lines = vec![format!("GRANT USE CATALOG ON CATALOG {catalog} TO {principal};")];
    for schema in schemas {
        let schema = Dialect::Databricks.quote(schema);
        lines.push(format!("GRANT USE SCHEMA ON SCHEMA {catalog}.{schema} TO {principal};"));
        lines.push(format!("GRANT SELECT ON SCHEMA {catalog}.{schema} TO {principal};"));
    }
    lines.join("\n") + "\n"
}

/// The server's description of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerDetails {
    /// The id of the warehouse.
    pub warehouse: String,
    /// The user who is logged in.
    pub user: String,
    /// The version of Databricks SQL, such as `2025.15`; `None` where the server does not say it.
    pub version: Option<String>,
    /// The rights of the user beyond reading, a sentence for each.
    pub beyond_reading: Vec<String>,
}

impl DatabricksEngine {
    /// Asks the server what it is, and what its user could do beyond reading.
    ///
    /// # Errors
    /// When the server cannot be asked.
    pub async fn server(&self) -> Result<ServerDetails, DatabaseError> {
        let first = |rows: Vec<Vec<Option<String>>>| rows.into_iter().flatten().next().flatten();
        let opening = |failure: Failure| failure.opening(self.api.target.display_address());
        let user = self
            .texts("SELECT current_user()", 1)
            .await
            .map(first)
            .map_err(opening)?
            .unwrap_or_default();
        let version = self.texts("SELECT current_version().dbsql_version", 1).await.map(first);
        let mut beyond_reading = Vec::new();
        for sql in FINDINGS {
            match self.texts(sql, 10).await {
                Ok(rows) => beyond_reading.extend(rows.into_iter().flatten().flatten()),
                Err(Failure::Statement(error)) => {
                    beyond_reading.push(format!(
                        "what the user may do beyond reading is not known: {}",
                        error.message
                    ));
                    break;
                }
                Err(failure) => return Err(opening(failure)),
            }
        }
        let warehouse = self.api.target.warehouse.clone();
        Ok(ServerDetails { warehouse, user, version: version.ok().flatten(), beyond_reading })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted() {
        let sql = role_sql("re`ader", "main", &["shop".into()]);
        let expected = "GRANT USE CATALOG ON CATALOG `main` TO `re``ader`;\n\
                        GRANT USE SCHEMA ON SCHEMA `main`.`shop` TO `re``ader`;\nGRANT \
                        SELECT ON SCHEMA `main`.`shop` TO `re``ader`;\n";
        assert_eq!(sql, expected);
        let config = DatabricksConfig::new("databricks://token:x@h.example/sql/1.0/warehouses/w");
        assert!(role_sql_of(&config, &[]).unwrap_err().to_string().contains("DATABRICKS_CATALOG"));
    }
}
