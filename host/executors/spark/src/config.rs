//! The names of a Spark server: the addresses that Spark's own clients take, and the variables that
//! they read. The caller gives the variables: nothing here reads the environment.

use std::collections::BTreeMap;
use std::fmt;

use secrecy::{ExposeSecret, SecretString};
use syrch_arrow_engine::{ServerAddress, is_local_host, split_port};
use syrch_core::Limits;
use syrch_core::ports::DatabaseError;
use syrch_core::text::clip;

/// The configuration with which the database of a Spark server is opened.
#[derive(Clone)]
pub struct SparkConfig {
    /// The address, as Spark's clients take it:
    /// `sc://host:15002/;user_id=ann;use_ssl=true;token=…`. Without a host, as in `sc://`, the
    /// variable `SPARK_REMOTE` is the address.
    pub address: SecretString,
    /// True if the address stands on the command line, where other users of the machine can read a
    /// token in it.
    pub is_on_command_line: bool,
    /// True if the address may be somebody else's. Then no token of a variable is sent there.
    pub is_untrusted: bool,
    /// The environment's variables that begin with `SPARK_`: `SPARK_REMOTE`, `SPARK_USER` and
    /// `SPARK_CONNECT_AUTHENTICATE_TOKEN` count.
    pub variables: BTreeMap<String, String>,
    /// The user's name at the operating system, which is the default user.
    pub os_user: Option<String>,
    /// Patterns of the tables and views that may be seen, matched with `name` and with
    /// `schema.name`, letter case aside. If there are none, all may be seen.
    pub tables: Vec<String>,
    /// Deadline, caps and concurrency of statements.
    pub limits: Limits,
}

impl fmt::Debug for SparkConfig {
    /// Leaves out the address and the variables, which may hold a token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SparkConfig")
            .field("tables", &self.tables)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl SparkConfig {
    /// Returns a configuration for all tables of a server, with the default limits and no
    /// variables.
    #[must_use]
    pub fn new(address: impl Into<String>) -> Self {
        Self {
            address: SecretString::from(address.into()),
            is_on_command_line: false,
            is_untrusted: false,
            variables: BTreeMap::new(),
            os_user: None,
            tables: Vec::new(),
            limits: Limits::default(),
        }
    }
}

/// The target that an address names.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    /// The name or address of the server; an IPv6 address in brackets.
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) user: String,
    pub(crate) is_encrypted: bool,
    pub(crate) token: Option<SecretString>,
    /// Headers of every call, each with its value.
    pub(crate) headers: Vec<(String, SecretString)>,
    /// The session to join; `None` if a session of our own is to be opened.
    pub(crate) session: Option<String>,
    pub(crate) user_agent: String,
    /// The warnings for the user.
    pub(crate) warnings: Vec<String>,
}

impl Target {
    /// The server as messages show it, without the token.
    pub(crate) fn display_address(&self) -> String {
        format!("sc://{}:{}", self.host, self.port)
    }
}

const PORT: u16 = 15002;
/// Bytes of a parameter at most.
const PARAMETER: usize = 16 << 10;
const FORM: &str = "the address of a Spark server is `sc://host:15002/;name=value`";

/// Reads the address of a config.
///
/// # Errors
/// [`DatabaseError::Address`] with what is wrong in it; never with a token.
pub(crate) fn target(config: &SparkConfig) -> Result<Target, DatabaseError> {
    let variable = |name: &str| {
        config.variables.get(name).filter(|value| !value.is_empty()).map(String::as_str)
    };
    let given = config.address.expose_secret().trim();
    let is_bare = matches!(given, "" | "sc:" | "sc://" | "sc:///");
    let text = match variable("SPARK_REMOTE") {
        Some(remote) if is_bare && !config.is_untrusted => remote,
        _ if is_bare => {
            return Err(invalid(format!(
                "no server is named, and SPARK_REMOTE is not set: {FORM}"
            )));
        }
        _ => given,
    };
    let rest = text.strip_prefix("sc://").ok_or_else(|| invalid(FORM.to_owned()))?;
    let address = ServerAddress::parse(rest, ';', ';').map_err(invalid)?;
    if !address.path.is_empty() {
        return Err(invalid(format!("{FORM}; nothing stands between the port and the first `;`")));
    }
    let (host, port) = server(&address)?;
    let mut parameters = check_parameters(address.parameters)?;
    let mut headers = Vec::new();
    parameters.retain(|name, value| {
        let is_header = name.starts_with("x-");
        if is_header {
            headers.push((name.clone(), SecretString::from(std::mem::take(value))));
        }
        !is_header
    });
    let is_local = is_local_host(&host);
    let mut warnings = Vec::new();
    if config.is_on_command_line && !is_bare && parameters.contains_key("token") {
        let advice = "set SPARK_CONNECT_AUTHENTICATE_TOKEN, or SPARK_REMOTE with the whole address";
        warnings.push(format!(
            "the token stands on the command line, where other users of this machine can read \
             it: {advice}"
        ));
    }
    let mut take = |name: &str| parameters.remove(name).filter(|value| !value.is_empty());
    let token = take("token").or_else(|| {
        let token = variable("SPARK_CONNECT_AUTHENTICATE_TOKEN").filter(|_| !config.is_untrusted);
        token.map(str::to_owned)
    });
    let is_encrypted = match take("use_ssl").as_deref().map(str::to_ascii_lowercase).as_deref() {
        Some("true") => true,
        Some("false") if token.is_some() && !is_local => {
            let reason = "a token is only sent over TLS or to this machine: remove `use_ssl=false`";
            return Err(invalid(reason.to_owned()));
        }
        Some("false") => false,
        Some(_) => return Err(invalid("`use_ssl` is neither true nor false".to_owned())),
        // As Spark's clients do; its own servers have no TLS, which this machine does not need.
        None => token.is_some() && !is_local,
    };
    if !is_encrypted && !is_local {
        warnings.push(
            "the connection is not encrypted: others on the way can read statements, rows and \
             headers (`use_ssl=true`)"
                .to_owned(),
        );
    }
    let session = take("session_id");
    if session.as_deref().is_some_and(|session| !is_uuid(session)) {
        return Err(invalid("`session_id` is not a UUID".to_owned()));
    }
    let user = take("user_id")
        .or_else(|| variable("SPARK_USER").map(str::to_owned))
        .or_else(|| config.os_user.clone());
    let user_agent = take("user_agent").unwrap_or_else(|| "syrch-host".to_owned());
    if let Some(name) = parameters.keys().next() {
        let known =
            "user_id, user_agent, session_id, use_ssl, token and headers that begin with `x-`";
        return Err(invalid(format!(
            "the parameter `{}` is not supported; the supported ones are {known}",
            clip(name, 32)
        )));
    }
    let user = user.unwrap_or_else(|| "syrch".to_owned());
    let token = token.map(SecretString::from);
    Ok(Target { host, port, user, is_encrypted, token, headers, session, user_agent, warnings })
}

fn invalid(reason: String) -> DatabaseError {
    DatabaseError::Address { reason }
}

/// The host and the port; without a port it is the default [`PORT`].
fn server(address: &ServerAddress) -> Result<(String, u16), DatabaseError> {
    let (host, port) = split_port(&address.hosts);
    let is_address = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'))
        .is_some_and(|host| host.parse::<std::net::Ipv6Addr>().is_ok());
    let is_name = !host.is_empty()
        && host.bytes().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'.' | b'-' | b'_'));
    if address.user.is_some() || (!is_address && !is_name) {
        return Err(invalid(format!("the name of the server is missing or is none: {FORM}")));
    }
    let port = match port {
        None => PORT,
        Some(port) => port
            .parse()
            .ok()
            .filter(|port| *port > 0)
            .ok_or_else(|| invalid("the port is not a number from 1 to 65535".to_owned()))?,
    };
    Ok((host.to_ascii_lowercase(), port))
}

/// The parameters, each of which stands once.
fn check_parameters(
    given: Vec<(String, String)>,
) -> Result<BTreeMap<String, String>, DatabaseError> {
    let mut parameters = BTreeMap::new();
    for (name, value) in given {
        if value.len() > PARAMETER || value.bytes().any(|c| c.is_ascii_control()) {
            return Err(invalid(
                "the value of a parameter is too long or has control characters".to_owned(),
            ));
        }
        if parameters.insert(name.to_ascii_lowercase(), value).is_some() {
            return Err(invalid(format!("the parameter `{}` is given twice", clip(&name, 32))));
        }
    }
    Ok(parameters)
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, c)| match at {
            8 | 13 | 18 | 23 => c == b'-',
            _ => c.is_ascii_hexdigit(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Target {
        target(&SparkConfig::new(text)).unwrap()
    }

    fn token(target: &Target) -> Option<&str> {
        target.token.as_ref().map(ExposeSecret::expose_secret)
    }

    #[test]
    fn addresses_mean_what_they_mean_to_sparks_clients() {
        let plain = read("sc://localhost");
        assert_eq!(
            (plain.host.as_str(), plain.port, plain.is_encrypted, token(&plain)),
            ("localhost", 15002, false, None)
        );
        assert_eq!((plain.user.as_str(), plain.warnings.len()), ("syrch", 0));
        let full = read(
            "sc://Spark.example:9999/;user_id=a%20b;use_ssl=TRUE;token=s%3Bx;x-cluster=7;\
             user_agent=me",
        );
        assert_eq!(
            (full.host.as_str(), full.port, full.is_encrypted),
            ("spark.example", 9999, true)
        );
        assert_eq!(
            (full.user.as_str(), token(&full), full.user_agent.as_str()),
            ("a b", Some("s;x"), "me")
        );
        assert_eq!(full.headers[0].0, "x-cluster");
        assert_eq!(full.display_address(), "sc://spark.example:9999");
        assert!(read("sc://h.example/;token=x").is_encrypted);
        assert!(!read("sc://127.0.0.1/;token=x").is_encrypted);
        assert_eq!(read("sc://[::1]:7").host, "[::1]");
        assert_eq!(read("sc://h").warnings.len(), 1);
        let session = "00112233-4455-6677-8899-aabbccddeeff";
        assert_eq!(read(&format!("sc://h;session_id={session}")).session.as_deref(), Some(session));
    }

    #[test]
    fn what_is_wrong_is_named_without_the_token() {
        for (text, part) in [
            ("sc://h/db;token=secret", "between the port"),
            ("sc://h:x/;token=secret", "port"),
            ("sc://h:0/;token=secret", "port"),
            ("sc://:1/;token=secret", "name of the server"),
            ("sc://a@h/;token=secret", "name of the server"),
            ("sc://h/;token=secret;use_ssl=false", "TLS"),
            ("sc://h/;use_ssl=maybe;token=secret", "use_ssl"),
            ("sc://h/;grpc_max_message_size=1;token=secret", "grpc_max_message_size"),
            ("sc://h/;token=secret;token=secret", "twice"),
            ("sc://h/;token=secret%zz", "%25"),
            ("sc://h/;token=secret%0a", "control"),
            ("sc://h/;session_id=secret", "UUID"),
            ("sc://h/;secret", "no value"),
            ("http://h", "sc://host"),
            ("sc://", "SPARK_REMOTE"),
        ] {
            let error = target(&SparkConfig::new(text)).unwrap_err().to_string();
            assert!(error.contains(part) && !error.contains("secret"), "{text}: {error}");
        }
        let config = SparkConfig::new("sc://h/;token=secret;x-key=secret");
        assert!(!format!("{config:?} {:?}", target(&config).unwrap()).contains("secret"));
    }

    #[test]
    fn variables_fill_in_what_is_missing_and_go_to_no_address_of_others() {
        let mut config = SparkConfig::new("sc://");
        config.variables = [
            ("SPARK_REMOTE", "sc://one.example:7/;user_id=ada"),
            ("SPARK_CONNECT_AUTHENTICATE_TOKEN", "key"),
            ("SPARK_USER", "ben"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
        let open = target(&config).unwrap();
        assert_eq!((open.host.as_str(), open.port, open.user.as_str()), ("one.example", 7, "ada"));
        assert_eq!((token(&open), open.is_encrypted), (Some("key"), true));
        config.is_untrusted = true;
        assert!(target(&config).is_err());
        config.address = SecretString::from("sc://two.example".to_owned());
        let other = target(&config).unwrap();
        assert_eq!((token(&other), other.user.as_str()), (None, "ben"));
        config.is_untrusted = false;
        config.is_on_command_line = true;
        assert_eq!(token(&target(&config).unwrap()), Some("key"));
        config.address = SecretString::from("sc://two.example/;token=x".to_owned());
        assert_eq!(target(&config).unwrap().warnings.len(), 1);
    }
}
