//! Databases of ADBC drivers that the configuration names.

use std::collections::BTreeMap;
use std::sync::Arc;

use secrecy::SecretString;
use syrch_adbc::{AdbcConfig, AdbcDatabase};
use syrch_core::ports::DatabaseError;
use syrch_core::types::{split_options, unquote_option};

use super::entry::{Entry, OpenDatabase, ServerEntry};
use super::open::{Opened, is_named};
use crate::settings::DriverSettings;

pub(super) static ENTRY: Entry = Entry {
    aliases: &["jdbc"],
    summary: "a database of an ADBC driver",
    takes: "a driver of your configuration with its options",
    form: "DRIVER;NAME=VALUE;…",
    dialect: None,
    telemetry: "other_sql",
    files: None,
    server: Some(ServerEntry {
        variables: &[],
        login: "the options of the address: docs/adbc.md says how they are written",
        encryption: "the driver's own options for TLS",
        inspect: None,
        role_sql: None,
    }),
    open: |database| Box::pin(open_adbc(database)),
};

/// The address is the name of a driver of the configuration, and then options of the database with
/// semicolons between them.
async fn open_adbc(database: OpenDatabase) -> Opened {
    let OpenDatabase { url, tables, limits, servers, .. } = database;
    let (name, options) = url.rest().split_once(';').unwrap_or((url.rest(), ""));
    let invalid = |reason: String| DatabaseError::Address { reason };
    // A driver decides by itself what it does with an address, so one that a suite names is not
    // opened.
    if !is_named(&url, &servers) {
        let reason = "a database of an ADBC driver is opened only where you name it yourself, \
                      by --db or in your configuration";
        return Err(invalid(reason.to_owned()));
    }
    let driver = servers.drivers.get(name).ok_or_else(|| {
        let known: Vec<&str> = servers.drivers.keys().map(String::as_str).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        invalid(format!(
            "`{name}` is no driver of `drivers` in your configuration, which has {known}"
        ))
    })?;
    let mut options_of: BTreeMap<String, SecretString> = BTreeMap::new();
    for option in split_options(options).filter(|option| !option.trim().is_empty()) {
        let (key, value) = option.split_once('=').ok_or_else(|| {
            invalid(
                "an option of the driver is not `name=value`: write \
                 `adbc:DRIVER;name=value;name=value`, and a value that has a semicolon in \
                 quotation marks"
                    .to_owned(),
            )
        })?;
        let is_quoted = value.starts_with(['"', '\'']);
        let value = if is_quoted { unquote_option(value) } else { Some(value.to_owned()) }
            .ok_or_else(|| {
                invalid(format!(
                    "the quotation mark before the value of `{}` has none after it",
                    key.trim()
                ))
            })?;
        options_of.insert(key.trim().to_owned(), value.into());
    }
    let DriverSettings { path, sha256, entrypoint, dialect } = driver.clone();
    let config = AdbcConfig {
        sha256: Some(sha256),
        entry: entrypoint,
        database: options_of,
        tables,
        limits,
        ..AdbcConfig::new(name, path, dialect)
    };
    Ok(Arc::new(AdbcDatabase::open(config).await?))
}
