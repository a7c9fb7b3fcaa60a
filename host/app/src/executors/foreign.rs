//! Addresses of other programs, those of SQLAlchemy and of JDBC, and how their databases are named
//! here.

use syrch_core::DatabaseUrl;

/// The page of the documentation on databases of ODBC and of ADBC drivers.
const PAGE: &str = "docs/adbc.md";

/// The schemes of databases that have an executor of their own, with the address that it takes.
const OWN: [(&[&str], &str); 5] = [
    (&["postgresql", "postgres", "redshift", "cockroachdb"], "postgresql://USER@HOST/DATABASE"),
    (&["sqlite"], "sqlite:PATH"),
    (&["duckdb"], "duckdb:PATH"),
    (&["databricks"], "databricks://HOST/sql/1.0/warehouses/ID"),
    (&["spark"], "sc://HOST:15002"),
];

/// The schemes of databases that a driver of ODBC reaches, with their names and the name of the SQL
/// that they speak.
const ODBC: [(&[&str], &str, &str); 4] = [
    (&["mysql", "mariadb"], "MySQL and MariaDB", "mysql"),
    (&["mssql", "sqlserver"], "SQL Server", "ansi"),
    (&["oracle"], "Oracle", "ansi"),
    (
        &["db2", "access", "hana", "firebird", "teradata", "teradatasql", "vertica"],
        "this database",
        "ansi",
    ),
];

/// The schemes of databases that have an ADBC driver of their own.
const ADBC: [(&[&str], &str); 2] = [(&["snowflake"], "Snowflake"), (&["bigquery"], "BigQuery")];

/// Returns what to do with an address, in lower case, that no executor takes as it is; `None` where
/// nothing is known of it.
pub(super) fn tip(address: &str) -> Option<String> {
    let inner = address.strip_prefix("jdbc:").unwrap_or(address);
    let scheme = DatabaseUrl::parse(inner).scheme()?;
    let engine = scheme.split('+').next().unwrap_or_default();
    if let Some((_, form)) = OWN.iter().find(|(names, _)| names.contains(&engine)) {
        return Some(format!("write {form}, without `jdbc:` and without the name of a driver"));
    }
    if let Some((_, name, dialect)) = ODBC.iter().find(|(names, ..)| names.contains(&engine)) {
        return Some(format!(
            "{name} can be reached by a driver of ODBC, `adbc:odbc;uri=\"Driver=…;Server=…\"` with \
             `dialect: {dialect}`; {PAGE} says how"
        ));
    }
    let (_, name) = ADBC.iter().find(|(names, _)| names.contains(&engine))?;
    Some(format!(
        "{name} can be reached by its ADBC driver, `adbc:NAME;option=value`; {PAGE} says how"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_other_programs_get_a_tip() {
        for (address, part) in [
            ("mysql://ann@h/shop", "adbc:odbc"),
            ("mysql+pymysql://ann@h/shop", "dialect: mysql"),
            ("mariadb+mariadbconnector://h/shop", "MariaDB"),
            ("mssql+pyodbc://ann@h/shop", "SQL Server"),
            ("oracle+oracledb://h", "Oracle"),
            ("oracle+cx_oracle://h", "Oracle"),
            ("mysql+mysql_connector://h", "dialect: mysql"),
            ("db2://h/shop", "driver of ODBC"),
            ("snowflake://account/shop", "Snowflake"),
            ("bigquery://project", "BigQuery"),
            ("postgresql+psycopg2://ann@h/shop", "postgresql://USER@HOST/DATABASE"),
            ("sqlite+pysqlite:///shop.db", "sqlite:PATH"),
            ("databricks+connector://token@h", "databricks://HOST"),
            ("jdbc:postgresql://h/shop", "without `jdbc:`"),
            ("jdbc:mysql://h/shop", "dialect: mysql"),
            ("jdbc:sqlserver://h;databasename=shop", "SQL Server"),
            ("jdbc:oracle:thin:@h:1521:shop", "Oracle"),
        ] {
            let tip = tip(address).unwrap_or_default();
            assert!(tip.contains(part), "{address}: {tip}");
        }
        assert_eq!(
            (tip("nonsense://h"), tip("jdbc:nonsense:x"), tip("shop.sqlite")),
            (None, None, None)
        );
    }
}
