//! Settings of the clients of database servers besides an address. The library reads no
//! environment: the program that embeds it gives these.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use syrch_core::Dialect;

/// The settings of the clients of database servers besides the address. By default they are empty.
#[derive(Clone, Default)]
pub struct ServerSettings {
    /// The variables of the environment that clients of the engines read, by name; their names
    /// begin as [`Executor::variables`](crate::databases::Executor::variables) says. They may hold
    /// passwords.
    pub variables: BTreeMap<String, String>,
    /// Returns the user's name at the operating system, which is the default user at a server. It
    /// is called when a server's address is read.
    pub os_user: Option<Arc<dyn Fn() -> Option<String> + Send + Sync>>,
    /// The user's home folder, in which clients have files of passwords and of certificates.
    pub home: Option<PathBuf>,
    /// The address that the user named. Addresses from elsewhere, such as a suite, may be somebody
    /// else's: passwords of variables and of files go to no other machine that only such an address
    /// names. `None` means that they stay on this machine.
    pub named: Option<String>,
    /// True if `named` stands on the command line, where other users of the machine can read it.
    pub is_on_command_line: bool,
    /// The ADBC drivers that addresses may name. A driver is native code with all rights of the
    /// process: none comes from anywhere else.
    pub drivers: BTreeMap<String, DriverSettings>,
}

/// A library with an ADBC driver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DriverSettings {
    /// The absolute path of the library.
    pub path: PathBuf,
    /// The SHA-256 digest of the library, in hexadecimal digits. Another library is not loaded.
    pub sha256: String,
    /// The function that makes the driver; `None` for the usual names.
    pub entrypoint: Option<String>,
    /// The SQL that its databases speak.
    pub dialect: Dialect,
}

impl fmt::Debug for ServerSettings {
    /// Writes the settings without values of variables and without the address, which may hold a
    /// password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerSettings")
            .field("variables", &self.variables.keys())
            .field("home", &self.home)
            .field("drivers", &self.drivers)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_secret_is_shown() {
        let settings = ServerSettings {
            variables: [("PGPASSWORD".to_owned(), "s3cret".to_owned())].into(),
            named: Some("postgres://ann:s3cret@h/shop".to_owned()),
            ..ServerSettings::default()
        };
        let shown = format!("{settings:?}");
        assert!(shown.contains("PGPASSWORD") && !shown.contains("s3cret"), "{shown}");
    }
}
