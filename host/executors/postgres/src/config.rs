//! The configuration with which a database is opened, and the meaning of its connection string:
//! URLs and `key=value` pairs, the variables that `psql` reads and its file of passwords. The
//! caller gives the variables: nothing here reads the environment.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use syrch_arrow_engine::{ServerAddress, decode_percent, is_local_host, split_port};
use syrch_core::Limits;
use syrch_core::ports::DatabaseError;

/// The configuration with which a PostgreSQL database is opened.
#[derive(Clone)]
pub struct PostgresConfig {
    /// The connection string, as `psql` takes it: `postgres://user@host/database?sslmode=require`
    /// or `host=… dbname=…`.
    pub url: SecretString,
    /// True if the connection string stands on the command line, where other users of the machine
    /// can read a password in it.
    pub is_on_command_line: bool,
    /// True if the connection string may be somebody else's. Then passwords of variables and files
    /// are sent to a server of this machine, or to the one that `PGHOST` names, and to no other.
    pub is_untrusted: bool,
    /// The environment's variables that begin with `PG`.
    pub variables: BTreeMap<String, String>,
    /// The user's name at the operating system, which is the default user.
    pub os_user: Option<String>,
    /// The user's home folder, where `.pgpass` and `.postgresql/root.crt` are.
    pub home: Option<PathBuf>,
    /// Patterns of the tables and views that may be seen, matched with `name` and with
    /// `schema.name`, letter case aside. If there are none, all may be seen.
    pub tables: Vec<String>,
    /// True if foreign tables, which read files or other servers, may be seen.
    pub foreign_tables: bool,
    /// Deadline, caps and concurrency of statements.
    pub limits: Limits,
}

impl fmt::Debug for PostgresConfig {
    /// Leaves out the connection string and the variables, which may hold a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresConfig")
            .field("tables", &self.tables)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl PostgresConfig {
    /// A database with all of its tables and the default limits; no variables, no home folder.
    #[must_use]
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: SecretString::from(url.into()),
            is_on_command_line: false,
            is_untrusted: false,
            variables: BTreeMap::new(),
            os_user: None,
            home: None,
            tables: Vec::new(),
            foreign_tables: false,
            limits: Limits::default(),
        }
    }
}

/// The requirement on a connection's encryption, as libpq's `sslmode` states it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SslMode {
    Disable,
    Allow,
    Prefer,
    Require,
    VerifyCa,
    VerifyFull,
}

/// The certificates that vouch for a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Roots {
    /// The server's certificate is not checked.
    None,
    /// Those of the operating system.
    System,
    /// Those of a file in PEM format.
    File(PathBuf),
}

/// One server that may have the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Endpoint {
    /// A name, an address, or the folder of a socket.
    pub(crate) host: String,
    /// The address to connect to, where it is given beside the name.
    pub(crate) address: Option<String>,
    pub(crate) port: u16,
}

impl Endpoint {
    /// The socket of a server on this machine.
    pub(crate) fn socket(&self) -> Option<PathBuf> {
        let is_folder = self.address.is_none() && self.host.starts_with('/');
        is_folder.then(|| Path::new(&self.host).join(format!(".s.PGSQL.{}", self.port)))
    }

    /// Returns true if what is sent stays on this machine.
    pub(crate) fn is_local(&self) -> bool {
        let address = self.address.as_deref().unwrap_or(&self.host);
        self.socket().is_some() || is_local_host(address)
    }
}

/// The target that a connection string names.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) endpoints: Vec<Endpoint>,
    pub(crate) user: String,
    pub(crate) password: Option<SecretString>,
    /// True if passwords of variables and of files may be sent to this server.
    pub(crate) may_send: bool,
    pub(crate) database: String,
    pub(crate) ssl: SslMode,
    pub(crate) roots: Roots,
    pub(crate) timeout: Duration,
    /// The warnings for the user.
    pub(crate) warnings: Vec<String>,
}

impl Target {
    /// Returns the database as messages show it, without the password.
    pub(crate) fn display_address(&self) -> String {
        let Endpoint { host, port, .. } = &self.endpoints[0];
        match host.starts_with('/') {
            true => format!("postgres://{}@/{}?host={host}&port={port}", self.user, self.database),
            false => format!("postgres://{}@{host}:{port}/{}", self.user, self.database),
        }
    }
}

/// The parameters of a connection string that are understood, and the variable that stands for
/// each.
const PARAMETERS: [(&str, &str); 13] = [
    ("application_name", "PGAPPNAME"),
    ("connect_timeout", "PGCONNECT_TIMEOUT"),
    ("dbname", "PGDATABASE"),
    ("host", "PGHOST"),
    ("hostaddr", "PGHOSTADDR"),
    ("options", "PGOPTIONS"),
    ("passfile", "PGPASSFILE"),
    ("password", "PGPASSWORD"),
    ("port", "PGPORT"),
    ("sslmode", "PGSSLMODE"),
    ("sslrootcert", "PGSSLROOTCERT"),
    ("target_session_attrs", "PGTARGETSESSIONATTRS"),
    ("user", "PGUSER"),
];

/// Folders in which servers have their socket.
const SOCKETS: [&str; 2] = ["/var/run/postgresql", "/tmp"];

const PORT: u16 = 5432;

/// Time for connecting, where the connection string gives none.
const CONNECT: Duration = Duration::from_secs(10);

/// Reads the connection string of a config.
///
/// # Errors
/// [`DatabaseError::Address`] with what is wrong in it; never with a password.
pub(crate) fn target(config: &PostgresConfig) -> Result<Target, DatabaseError> {
    let given = parse_connection_string(config.url.expose_secret()).map_err(invalid)?;
    let value = |name: &str| -> Option<String> {
        let variable =
            PARAMETERS.iter().find(|(known, _)| *known == name).map(|(_, variable)| *variable);
        let given = given.get(name).cloned().or_else(|| config.variables.get(variable?).cloned());
        given.filter(|value| !value.is_empty())
    };
    for (name, variable, default) in [
        ("options", "PGOPTIONS", None),
        ("target_session_attrs", "PGTARGETSESSIONATTRS", Some("any")),
    ] {
        if value(name).is_some_and(|value| Some(value.as_str()) != default) {
            return Err(invalid(format!(
                "`{name}` is not supported: remove it from the address, or unset {variable}"
            )));
        }
    }
    let user = value("user").or_else(|| config.os_user.clone());
    let user = user
        .ok_or_else(|| invalid("no user is given (`postgres://user@host/database`)".to_owned()))?;
    let database = value("dbname").unwrap_or_else(|| user.clone());
    let endpoints = endpoints(value("host"), value("hostaddr"), value("port")).map_err(invalid)?;
    let is_system = value("sslrootcert").as_deref() == Some("system");
    let ssl = read_ssl_mode(value("sslmode").as_deref(), is_system).map_err(invalid)?;
    let roots = match value("sslrootcert") {
        Some(_) if is_system => Roots::System,
        Some(file) => Roots::File(PathBuf::from(file)),
        None => {
            let file = config.home.as_ref().map(|home| home.join(".postgresql/root.crt"));
            file.filter(|file| file.is_file()).map_or(Roots::None, Roots::File)
        }
    };
    if roots == Roots::None && matches!(ssl, SslMode::VerifyCa | SslMode::VerifyFull) {
        let reason = "`sslmode` asks for a check of the server's certificate: name the file of \
                      root certificates by `sslrootcert`, or `sslrootcert=system`";
        return Err(invalid(reason.to_owned()));
    }
    let timeout = value("connect_timeout").map(|text| read_timeout(&text)).transpose();
    let timeout = timeout.map_err(invalid)?.unwrap_or(CONNECT);
    let mut warnings = Vec::new();
    if config.is_on_command_line && given.contains_key("password") {
        warnings.push(
            "the password stands on the command line, where other users of this machine can read \
             it: use `.pgpass` or PGPASSWORD"
                .to_owned(),
        );
    }
    // A file from elsewhere may choose neither the server nor how it is checked.
    let names_server = ["host", "hostaddr", "port", "sslmode", "sslrootcert"]
        .iter()
        .any(|name| given.contains_key(*name));
    let may_send =
        !config.is_untrusted || !names_server || endpoints.iter().all(Endpoint::is_local);
    let password = if may_send { value("password") } else { given.get("password").cloned() };
    let mut password = password.filter(|password| !password.is_empty()).map(SecretString::from);
    if password.is_none() && may_send {
        let file = value("passfile")
            .map(PathBuf::from)
            .or_else(|| Some(config.home.as_ref()?.join(".pgpass")));
        if let Some(file) = file {
            password = from_file(&file, &endpoints[0], &database, &user, &mut warnings);
        }
    }
    Ok(Target { endpoints, user, password, may_send, database, ssl, roots, timeout, warnings })
}

/// Reads `sslmode`; `is_system` says that the certificates of the system are the roots.
fn read_ssl_mode(mode: Option<&str>, is_system: bool) -> Result<SslMode, String> {
    Ok(match mode {
        None if is_system => SslMode::VerifyFull,
        None | Some("prefer") => SslMode::Prefer,
        Some("disable") => SslMode::Disable,
        Some("allow") => SslMode::Allow,
        Some("require") => SslMode::Require,
        Some("verify-ca") => SslMode::VerifyCa,
        Some("verify-full") => SslMode::VerifyFull,
        Some(other) => {
            return Err(format!(
                "`sslmode` is `{other}`, which is none of disable, allow, prefer, require, \
                 verify-ca and verify-full"
            ));
        }
    })
}

/// Reads `connect_timeout` as libpq does: 0 waits for long, and 1 as long as 2.
fn read_timeout(text: &str) -> Result<Duration, String> {
    match text.parse::<u64>() {
        Ok(0) => Ok(Duration::from_secs(3_600)),
        Ok(seconds) => Ok(Duration::from_secs(seconds.max(2))),
        Err(_) => Err("`connect_timeout` is not a number of seconds".to_owned()),
    }
}

fn invalid(reason: String) -> DatabaseError {
    DatabaseError::Address { reason }
}

/// The parameters of a connection string.
fn parse_connection_string(text: &str) -> Result<BTreeMap<String, String>, String> {
    let parameters =
        match text.strip_prefix("postgres://").or_else(|| text.strip_prefix("postgresql://")) {
            Some(rest) => from_url(rest)?,
            None => from_pairs(text)?,
        };
    match parameters.keys().find(|name| !PARAMETERS.iter().any(|(known, _)| known == name)) {
        Some(name) => Err(format!(
            "`{}` is not supported in a connection string",
            syrch_core::text::clip(name, 32)
        )),
        None => Ok(parameters),
    }
}

fn from_url(rest: &str) -> Result<BTreeMap<String, String>, String> {
    let ServerAddress { user, password, hosts, path, parameters } =
        ServerAddress::parse(rest, '?', '&')?;
    let mut names = Vec::new();
    let mut ports = Vec::new();
    for host in hosts.split(',').filter(|_| !hosts.is_empty()) {
        let (name, port) = split_port(host);
        names.push(decode_percent(name.trim_start_matches('[').trim_end_matches(']'))?);
        ports.push(port.unwrap_or_default());
    }
    let has_port = ports.iter().any(|port| !port.is_empty());
    let parts = [
        ("user", user),
        ("password", password.map(|password| password.expose_secret().to_owned())),
        ("host", Some(names.join(","))),
        ("port", has_port.then(|| ports.join(","))),
        ("dbname", Some(decode_percent(&path)?)),
    ];
    let parts = parts.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Ok(parts.chain(parameters).filter(|(_, value)| !value.is_empty()).collect())
}

/// `key=value` pairs, whose values may stand in single quotes with backslashes; a text without `=`
/// is the name of a database.
fn from_pairs(text: &str) -> Result<BTreeMap<String, String>, String> {
    let mut parameters = BTreeMap::new();
    let mut rest = text.trim_start();
    if !rest.is_empty() && !rest.contains('=') {
        parameters.insert("dbname".to_owned(), rest.trim_end().to_owned());
        return Ok(parameters);
    }
    while !rest.is_empty() {
        let wrong = "a connection string is `postgres://user@host/database` or pairs such as \
                     `host=localhost dbname=shop`";
        let (name, after) = rest.split_once('=').ok_or(wrong)?;
        let after = after.trim_start();
        let is_quoted = after.starts_with('\'');
        let mut value = String::new();
        let mut letters = after.char_indices().skip(usize::from(is_quoted));
        let end = loop {
            match letters.next() {
                Some((_, '\\')) => value.extend(letters.next().map(|(_, letter)| letter)),
                Some((at, '\'')) if is_quoted => break at + 1,
                Some((at, letter)) if !is_quoted && letter.is_whitespace() => break at,
                Some((_, letter)) => value.push(letter),
                None if is_quoted => {
                    return Err("a value in the connection string has no closing quote".to_owned());
                }
                None => break after.len(),
            }
        };
        parameters.insert(name.trim().to_owned(), value);
        rest = after[end..].trim_start();
    }
    Ok(parameters)
}

fn endpoints(
    host: Option<String>,
    address: Option<String>,
    port: Option<String>,
) -> Result<Vec<Endpoint>, String> {
    fn split_list(text: &Option<String>) -> Vec<String> {
        text.as_deref()
            .map(|text| text.split(',').map(|part| part.trim().to_owned()).collect())
            .unwrap_or_default()
    }
    let hosts = split_list(&host);
    let addresses = split_list(&address);
    let ports = split_list(&port);
    let count = hosts.len().max(addresses.len()).max(1);
    let many = |length: usize| length > 1 && length != count;
    if many(hosts.len()) || many(addresses.len()) || many(ports.len()) {
        return Err("the lists of hosts, addresses and ports differ in length".to_owned());
    }
    (0..count)
        .map(|index: usize| {
            let port = ports.get(index).or(if ports.len() == 1 { ports.first() } else { None });
            let port = match port.filter(|port| !port.is_empty()) {
                None => PORT,
                Some(text) => {
                    text.parse().map_err(|_| "a port is not a number from 1 to 65535".to_owned())?
                }
            };
            let address = addresses.get(index).filter(|address| !address.is_empty()).cloned();
            let host = hosts.get(index).filter(|host| !host.is_empty()).cloned();
            let host = host.or_else(|| address.clone()).unwrap_or_else(|| {
                SOCKETS
                    .iter()
                    .find(|folder: &&&str| {
                        Path::new(folder).join(format!(".s.PGSQL.{port}")).exists()
                    })
                    .map_or("localhost", |folder| folder)
                    .to_owned()
            });
            Ok(Endpoint { host, address, port })
        })
        .collect()
}

/// The password of the first line of a file of passwords that fits. A file that others may read is
/// not used.
fn from_file(
    file: &Path,
    endpoint: &Endpoint,
    database: &str,
    user: &str,
    warnings: &mut Vec<String>,
) -> Option<SecretString> {
    use std::os::unix::fs::PermissionsExt;
    let metadata = std::fs::metadata(file).ok().filter(std::fs::Metadata::is_file)?;
    if metadata.permissions().mode() & 0o077 != 0 {
        warnings.push(format!(
            "the file of passwords `{}` is not used, since others may read it (chmod 0600)",
            file.display()
        ));
        return None;
    }
    let text = std::fs::read_to_string(file).ok()?;
    let host = match endpoint.socket() {
        Some(_) if SOCKETS.contains(&endpoint.host.as_str()) => "localhost",
        _ => &endpoint.host,
    };
    let port = endpoint.port.to_string();
    text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let fields = fields(line);
        let fits = |index: usize, wanted: &str| {
            fields.get(index).is_some_and(|field| field == "*" || field == wanted)
        };
        let is_it = fits(0, host) && fits(1, &port) && fits(2, database) && fits(3, user);
        fields.get(4).filter(|_| is_it).map(|password| SecretString::from(password.clone()))
    })
}

/// The fields of a line, in which a backslash takes away the meaning of the next character.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        let last = fields.len() - 1;
        match letter {
            '\\' => fields[last].extend(letters.next()),
            ':' if fields.len() < 5 => fields.push(String::new()),
            _ => fields[last].push(letter),
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn password(target: &Target) -> Option<&str> {
        target.password.as_ref().map(ExposeSecret::expose_secret)
    }

    #[test]
    fn connection_strings_mean_what_they_mean_to_psql() {
        fn read(text: &str) -> Target {
            target(&PostgresConfig::new(text)).unwrap()
        }
        let one =
            read("postgres://ada:p%40ss@db.example:6000/shop?sslmode=require&connect_timeout=5");
        assert_eq!(
            (one.user.as_str(), one.database.as_str(), one.ssl),
            ("ada", "shop", SslMode::Require)
        );
        assert_eq!((password(&one), one.timeout), (Some("p@ss"), Duration::from_secs(5)));
        assert_eq!(
            one.endpoints,
            [Endpoint { host: "db.example".into(), address: None, port: 6000 }]
        );
        assert_eq!(one.display_address(), "postgres://ada@db.example:6000/shop");
        let many = read("postgresql://ada@one,[::1]:7000/");
        assert_eq!(many.database, "ada");
        assert_eq!(
            many.endpoints.iter().map(|e| (e.host.as_str(), e.port)).collect::<Vec<_>>(),
            [("one", 5432), ("::1", 7000)]
        );
        let pairs = read(r"host=/run/x port=6001 user=ada dbname='my \'shop' password = a\ b");
        assert_eq!((pairs.database.as_str(), password(&pairs)), ("my 'shop", Some("a b")));
        assert_eq!(pairs.endpoints[0].socket(), Some(PathBuf::from("/run/x/.s.PGSQL.6001")));
        assert!(pairs.endpoints[0].is_local() && !one.endpoints[0].is_local());
        let mut named = PostgresConfig::new("my shop ");
        named.os_user = Some("ada".into());
        assert_eq!(target(&named).unwrap().database, "my shop");
    }

    #[test]
    fn what_is_wrong_in_a_connection_string_is_named_without_its_password() {
        for (text, part) in [
            ("postgres://a:secret@h:x/", "port"),
            ("postgres://a:sec%zzret@h/", "%25"),
            ("postgres://a:secret@h/?sslmode=yes", "sslmode"),
            ("postgres://a:secret@h/?sslcert=x", "sslcert"),
            ("postgres://a:secret@h/?sslmode=verify-full", "sslrootcert"),
            ("postgres://a:secret@h/?options=-crole", "options"),
            ("postgres://h/", "user"),
            ("host=h password='secret", "quote"),
            ("host=h nonsense", "connection string"),
        ] {
            let error = target(&PostgresConfig::new(text)).unwrap_err().to_string();
            assert!(error.contains(part) && !error.contains("secret"), "{text}: {error}");
        }
        let config = PostgresConfig::new("postgres://a:secret@h/");
        assert!(!format!("{config:?} {:?}", target(&config).unwrap()).contains("secret"));
    }

    #[test]
    fn variables_and_the_file_of_passwords_fill_in_what_is_missing() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(".pgpass");
        std::fs::write(&file, "# x\nother:*:*:*:no\ndb:5432:shop:ad\\:a:s\\\\e:cret\n").unwrap();
        let mut config = PostgresConfig::new("postgres://db/");
        config.home = Some(folder.path().to_owned());
        config.variables = [("PGUSER", "ad:a"), ("PGDATABASE", "shop"), ("PGSSLMODE", "disable")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
        let open = target(&config).unwrap();
        assert_eq!((password(&open), open.warnings.len(), open.ssl), (None, 1, SslMode::Disable));
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(password(&target(&config).unwrap()), Some("s\\e:cret"));
        config.is_untrusted = true;
        assert_eq!(password(&target(&config).unwrap()), None);
        config.variables.insert("PGHOST".into(), "db".into());
        config.url = SecretString::from("postgres:///".to_owned());
        assert_eq!(password(&target(&config).unwrap()), Some("s\\e:cret"));
        config.url = SecretString::from("postgres:///shop?sslmode=disable".to_owned());
        let weakened = target(&config).unwrap();
        assert_eq!((password(&weakened), weakened.may_send), (None, false));
        config.is_untrusted = false;
        config.url = SecretString::from("postgres://x:y@db/z".to_owned());
        config.is_on_command_line = true;
        let given = target(&config).unwrap();
        assert_eq!(
            (password(&given), given.user.as_str(), given.warnings.len()),
            (Some("y"), "x", 1)
        );
    }
}
