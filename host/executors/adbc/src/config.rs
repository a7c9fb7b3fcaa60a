//! The configuration of a database behind an ADBC driver. The caller reads it from the user's own
//! configuration, never from a project's file, a suite or a URL: a driver is native code.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use secrecy::{ExposeSecret, SecretString};
use syrch_core::ports::DatabaseError;
use syrch_core::types::string_secrets;
use syrch_core::{Dialect, Limits};

use crate::places::DUCKDB_ENTRY;

/// The configuration with which a database is opened by an ADBC driver.
#[derive(Clone)]
pub struct AdbcConfig {
    /// The name of the database for plugins and people; never a path or an address.
    pub name: String,
    /// The driver's library, by its absolute path.
    pub library: PathBuf,
    /// The SHA-256 of the library in hexadecimal digits, compared before it is loaded. `None` loads
    /// it as it is, which is meant for a library that [`find_duckdb`](crate::find_duckdb) returned.
    pub sha256: Option<String>,
    /// The function of the library that makes the driver; `None` for `AdbcDriverInit` or the one
    /// named after the file.
    pub entry: Option<String>,
    /// The SQL that the database speaks.
    pub dialect: Dialect,
    /// The file of a DuckDB or SQLite database.
    pub file: Option<PathBuf>,
    /// Options of the database, such as `uri`, `username` and `password`. No value is ever shown.
    pub database: BTreeMap<String, SecretString>,
    /// Options of each connection. No value is ever shown.
    pub connection: BTreeMap<String, SecretString>,
    /// Patterns of the tables and views that may be seen, matched with `name` and with
    /// `schema.name`, letter case aside. If there are none, all may be seen.
    pub tables: Vec<String>,
    /// Deadline, caps and concurrency of statements.
    pub limits: Limits,
}

impl fmt::Debug for AdbcConfig {
    /// Formats the names of the options without their values.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AdbcConfig")
            .field("name", &self.name)
            .field("library", &self.library)
            .field("dialect", &self.dialect)
            .field("database", &self.database.keys())
            .field("connection", &self.connection.keys())
            .finish_non_exhaustive()
    }
}

impl AdbcConfig {
    /// A database with all of its tables and the default limits, without options.
    #[must_use]
    pub fn new(name: impl Into<String>, library: impl Into<PathBuf>, dialect: Dialect) -> Self {
        Self {
            name: name.into(),
            library: library.into(),
            sha256: None,
            entry: None,
            dialect,
            file: None,
            database: BTreeMap::new(),
            connection: BTreeMap::new(),
            tables: Vec::new(),
            limits: Limits::default(),
        }
    }

    /// The database of a file, opened by DuckDB's library: what `duckdb:FILE` means.
    #[must_use]
    pub fn duckdb(library: impl Into<PathBuf>, file: impl Into<PathBuf>) -> Self {
        let file = file.into();
        let name = file
            .file_stem()
            .map_or_else(|| "duckdb".to_owned(), |stem| stem.to_string_lossy().into_owned());
        let config = Self::new(name, library, Dialect::Duckdb);
        Self { entry: Some(DUCKDB_ENTRY.to_owned()), file: Some(file), ..config }
    }

    /// The database as messages show it.
    pub(crate) fn display_address(&self) -> String {
        match (&self.dialect, self.location()) {
            (Dialect::Duckdb, Some(file)) => format!("duckdb:{}", file.display()),
            (_, Some(file)) => file.display().to_string(),
            (_, None) => format!("adbc:{}", self.name),
        }
    }

    /// The file of an embedded database: [`file`](Self::file), or the option that the driver reads
    /// it from.
    pub(crate) fn location(&self) -> Option<&Path> {
        let option = match self.dialect {
            Dialect::Duckdb => "path",
            Dialect::Sqlite => "uri",
            _ => return None,
        };
        self.file
            .as_deref()
            .or_else(|| self.database.get(option).map(|value| Path::new(value.expose_secret())))
    }

    /// # Errors
    /// [`DatabaseError::Address`] for a relative path of the library, and for an embedded database
    /// that is not a file.
    pub(crate) fn check(&self) -> Result<(), DatabaseError> {
        let invalid = |reason: String| Err(DatabaseError::Address { reason });
        if !self.library.is_absolute() {
            return invalid(format!(
                "the driver `{}` is not an absolute path",
                self.library.display()
            ));
        }
        let is_embedded = matches!(self.dialect, Dialect::Duckdb | Dialect::Sqlite);
        match self.location().map(Path::to_string_lossy) {
            None if is_embedded => invalid(format!("`{}` names no file", self.name)),
            // Both libraries give such names a meaning of their own.
            Some(path)
                if path.is_empty() || path.starts_with("file:") || path.starts_with(":memory:") =>
            {
                invalid(format!("`{path}` is not the path of a file"))
            }
            _ => Ok(()),
        }
    }

    /// A text of a driver without the values of the options, which some drivers quote in their
    /// errors, as a whole or in part.
    pub(crate) fn remove_secrets(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for value in self.database.values().chain(self.connection.values()) {
            let value = value.expose_secret();
            let within = string_secrets(value);
            for secret in std::iter::once(value)
                .chain(passwords(value))
                .chain(within.iter().map(String::as_str))
            {
                // Short values such as `true` are no secrets, and parts of other words.
                if secret.len() >= 4 && !matches!(secret, "true" | "false") {
                    text = text.replace(secret, "…");
                }
            }
        }
        text
    }
}

/// Passwords within a connection string, be it well formed or not: what stands between `:` and the
/// last `@`, and values of pairs whose name says that they are secret.
fn passwords(value: &str) -> impl Iterator<Item = &str> {
    let user = value.rsplit_once('@').map_or("", |(user, _)| user);
    let ends = user.match_indices(':').map(|(colon, _)| &user[colon + 1..]);
    let pairs = value.split(['&', ';', '?', ' ', ',']).filter_map(|pair| pair.split_once('='));
    fn is_secret(name: &str) -> bool {
        let name = name.to_lowercase();
        ["pass", "pwd", "secret", "token", "key"].iter().any(|word| name.contains(word))
    }
    ends.chain(
        pairs
            .filter(move |(name, _)| is_secret(name))
            .map(|(_, secret)| secret.trim_matches(['\'', '"'])),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> AdbcConfig {
        let mut config = AdbcConfig::new("sales", "/opt/driver.so", Dialect::Postgres);
        config.database.insert("uri".into(), "postgresql://ada:hunter22@db/sales".into());
        config.connection.insert("token".into(), "sk-12345".into());
        config
    }

    #[test]
    fn no_value_of_an_option_is_shown() {
        let shown = format!("{:?}", config());
        assert!(shown.contains("uri") && shown.contains("token"), "{shown}");
        assert!(!shown.contains("hunter22") && !shown.contains("sk-12345"), "{shown}");
        assert_eq!(config().display_address(), "adbc:sales");
    }

    #[test]
    fn errors_of_drivers_are_scrubbed() {
        for (text, expected) in [
            ("cannot parse postgresql://ada:hunter22@db/sales", "cannot parse …"),
            ("password `hunter22` of `ada` is wrong", "password `…` of `ada` is wrong"),
            (
                "invalid connection option \"postgresql://ada:hunter22@db\"",
                "invalid connection option \"postgresql:…@db\"",
            ),
            ("token sk-12345 has expired", "token … has expired"),
            ("no route to host", "no route to host"),
        ] {
            assert_eq!(config().remove_secrets(text), expected);
        }
        let mut odbc = config();
        odbc.database.insert("uri".into(), "Driver=x;Uid=ann;Pwd={hunter;22}".into());
        assert_eq!(odbc.remove_secrets("access denied (`hunter;22`)"), "access denied (`…`)");
    }

    #[test]
    fn passwords_are_found_in_pairs_and_in_what_is_no_url() {
        for value in [
            "host=db password='hunter22' user=ada",
            "postgresql//ada:hunter22@db?x=1",
            "a@b:hunter22@db",
            "x://db?sslKey=hunter22&y=2",
        ] {
            assert!(passwords(value).any(|password| password == "hunter22"), "{value}");
        }
        assert_eq!(passwords("file:/data/shop.sqlite?mode=ro").count(), 0);
    }

    #[test]
    fn a_driver_has_an_absolute_path_and_an_embedded_database_a_file() {
        assert_eq!(config().check(), Ok(()));
        assert_eq!(AdbcConfig::duckdb("/opt/libduckdb.so", "shop.duckdb").check(), Ok(()));
        for wrong in [
            AdbcConfig::duckdb("libduckdb.so", "shop.duckdb"),
            AdbcConfig::duckdb("/opt/libduckdb.so", ":memory:"),
            AdbcConfig::new("shop", "/opt/libduckdb.so", Dialect::Duckdb),
            AdbcConfig {
                file: Some("file:shop.sqlite?mode=rwc".into()),
                ..AdbcConfig::new("shop", "/opt/a.so", Dialect::Sqlite)
            },
        ] {
            assert!(matches!(wrong.check(), Err(DatabaseError::Address { .. })), "{wrong:?}");
        }
    }

    #[test]
    fn the_short_form_is_named_after_its_file() {
        let config = AdbcConfig::duckdb("/opt/libduckdb.so", "data/shop.duckdb");
        assert_eq!(
            (config.name.as_str(), config.display_address().as_str()),
            ("shop", "duckdb:data/shop.duckdb")
        );
    }
}
