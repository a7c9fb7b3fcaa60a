//! The configuration with which a warehouse is opened, and the meaning of its address. The caller
//! gives the variables: nothing here reads the environment.

use std::collections::BTreeMap;
use std::fmt;

use reqwest::Url;
use secrecy::{ExposeSecret, SecretString};
use syrch_arrow_engine::ServerAddress;
use syrch_core::Limits;
use syrch_core::ports::DatabaseError;
use syrch_core::text::clip;
use syrch_http::{is_exposed, is_loopback};

/// The configuration with which a SQL warehouse of Databricks is opened.
#[derive(Clone)]
pub struct DatabricksConfig {
    /// The address: `databricks://HOST/sql/1.0/warehouses/ID?catalog=main&schema=default`. What it
    /// leaves out comes from the variables.
    pub url: SecretString,
    /// True if the address stands on the command line, where other users of the machine can read a
    /// token in it.
    pub is_on_command_line: bool,
    /// True if the address may be somebody else's. Then credentials of variables are sent to this
    /// machine, or to the host that `DATABRICKS_HOST` names, and to no other.
    pub is_untrusted: bool,
    /// The environment's variables that begin with `DATABRICKS_`, `ARM_` or `AZURE_`.
    pub variables: BTreeMap<String, String>,
    /// The address at which tokens of Azure service principals are issued.
    pub azure_login: String,
    /// Patterns of the tables and views that may be seen, matched with `name` and with
    /// `schema.name`. If there are none, all may be seen.
    pub tables: Vec<String>,
    /// Deadline, caps and concurrency of statements.
    pub limits: Limits,
}

impl fmt::Debug for DatabricksConfig {
    /// Leaves out the address and the variables, which may hold a token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DatabricksConfig")
            .field("tables", &self.tables)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl DatabricksConfig {
    /// A warehouse with all tables of its catalog and the default limits; no variables.
    #[must_use]
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: SecretString::from(url.into()),
            is_on_command_line: false,
            is_untrusted: false,
            variables: BTreeMap::new(),
            azure_login: "https://login.microsoftonline.com".to_owned(),
            tables: Vec::new(),
            limits: Limits::default(),
        }
    }

    /// The first of these variables that is set, with its name.
    fn variable<'a>(&self, names: &[&'a str]) -> Option<(&'a str, String)> {
        names
            .iter()
            .filter_map(|name: &&'a str| {
                Some((*name, self.variables.get(*name)?.trim().to_owned()))
            })
            .find(|(_, value)| !value.is_empty())
    }
}

/// The credentials of a login.
#[derive(Debug, Clone)]
pub(crate) enum Credentials {
    /// A personal access token.
    Token(SecretString),
    /// A client that gets tokens of limited life from this address.
    Client {
        token_url: Url,
        id: String,
        secret: SecretString,
        scope: &'static str,
        /// True if id and secret stand in the body of the request, and not in a header.
        in_body: bool,
    },
    /// No credentials that may be sent. The text says why, as the end of "…, and ".
    None(String),
}

/// The target that an address names.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    /// The address of the workspace, without a path.
    pub(crate) base: Url,
    pub(crate) warehouse: String,
    pub(crate) catalog: Option<String>,
    pub(crate) schema: Option<String>,
    /// True if results are part of replies, for workspaces that allow no links to results.
    pub(crate) is_inline: bool,
    pub(crate) credentials: Credentials,
    /// The warnings for the user.
    pub(crate) warnings: Vec<String>,
}

impl Target {
    /// The warehouse as messages show it: without a token.
    pub(crate) fn display_address(&self) -> String {
        let port = self.base.port().map_or_else(String::new, |port| format!(":{port}"));
        format!(
            "databricks://{}{port}/sql/1.0/warehouses/{}",
            self.base.host_str().unwrap_or_default(),
            self.warehouse
        )
    }
}

const HOST: [&str; 2] = ["DATABRICKS_HOST", "DATABRICKS_SERVER_HOSTNAME"];

/// The application that Databricks is at Azure.
const AZURE_SCOPE: &str = "2ff814a6-3304-4ab8-85cb-cd0e6f879c1d/.default";

/// Bytes of an id, and of the name of a catalog or schema.
const NAME: usize = 255;

/// Reads the address of a config.
///
/// # Errors
/// [`DatabaseError::Address`] with what is wrong or missing in it; never with a token.
pub(crate) fn target(config: &DatabricksConfig) -> Result<Target, DatabaseError> {
    read(config).map_err(|reason| DatabaseError::Address { reason })
}

fn read(config: &DatabricksConfig) -> Result<Target, String> {
    let text = config.url.expose_secret().trim();
    let rest = text.strip_prefix("databricks:").unwrap_or(text);
    let given = ServerAddress::parse(rest.strip_prefix("//").unwrap_or(rest), '?', '&')?;
    let token = match (given.user.as_deref(), given.password) {
        (None | Some(""), None) => None,
        (Some("token"), Some(token)) => Some(token),
        _ => return Err("before `@` stands `token:TOKEN`, or nothing".to_owned()),
    };
    let mut parameters: BTreeMap<String, String> = given.parameters.into_iter().collect();
    let from_variable = config.variable(&HOST).map(|(_, value)| parse_base(&value)).transpose();
    let from_variable = from_variable.map_err(|error| format!("DATABRICKS_HOST: {error}"))?;
    let base = read_base(&given.hosts, from_variable.as_ref())?;
    let warehouse = read_warehouse(config, &given.path)?;
    let is_inline = match parameters.remove("disposition").as_deref() {
        None | Some("external") => false,
        Some("inline") => true,
        Some(_) => return Err("`disposition` is neither `external` nor `inline`".to_owned()),
    };
    let catalog = take_name(config, &mut parameters, "catalog", "DATABRICKS_CATALOG")?;
    let schema = take_name(config, &mut parameters, "schema", "DATABRICKS_SCHEMA")?;
    if let Some(name) = parameters.keys().next() {
        let name = clip(name, 32);
        return Err(format!(
            "`{name}` is not a parameter of such an address: there are catalog, schema \
             and disposition"
        ));
    }
    let mut warnings = Vec::new();
    if token.is_some() && config.is_on_command_line {
        warnings.push(
            "the token stands on the command line, where other users of this machine can read it: \
             set DATABRICKS_TOKEN"
                .to_owned(),
        );
    }
    let is_users_host = from_variable.is_some_and(|url| url.origin() == base.origin());
    let may_send = !config.is_untrusted || is_users_host || is_loopback(&base);
    let credentials = match token {
        Some(token) => Credentials::Token(token),
        None if may_send => credentials(config, &base)?,
        None => Credentials::None(
            "those of variables are not sent to a host that only a file names: name this address \
             by --db, or set DATABRICKS_HOST to it"
                .to_owned(),
        ),
    };
    Ok(Target { base, warehouse, catalog, schema, is_inline, credentials, warnings })
}

/// Reads the host of an address; without one, that of the environment stands.
fn read_base(host: &str, from_variable: Option<&Url>) -> Result<Url, String> {
    match (host, from_variable) {
        ("", Some(url)) => Ok(url.clone()),
        ("", None) => Err("no host is given: write `databricks://HOST/sql/1.0/warehouses/ID`, or \
                           set DATABRICKS_HOST"
            .to_owned()),
        // Nothing that is sent to this machine needs encryption.
        _ => parse_base(&format!("http://{host}"))
            .or_else(|_| parse_base(&format!("https://{host}"))),
    }
}

/// Reads the id of the warehouse from the path of an address; without one, from the environment.
fn read_warehouse(config: &DatabricksConfig, path: &str) -> Result<String, String> {
    let path = match path.trim_matches('/') {
        "" => config.variable(&["DATABRICKS_HTTP_PATH"]).map(|(_, path)| path),
        path => Some(path.to_owned()),
    };
    if let Some(path) = path {
        return warehouse_of(&path);
    }
    let id = config.variable(&["DATABRICKS_WAREHOUSE_ID"]).map(|(_, id)| id);
    let missing = "no warehouse is given: end the address with `/sql/1.0/warehouses/ID`, or set \
                   DATABRICKS_HTTP_PATH or DATABRICKS_WAREHOUSE_ID";
    check_id(&id.ok_or(missing)?)
}

/// Takes a name from the parameters of an address; without it, that of a variable stands.
fn take_name(
    config: &DatabricksConfig,
    parameters: &mut BTreeMap<String, String>,
    parameter: &str,
    variable: &str,
) -> Result<Option<String>, String> {
    let value = parameters.remove(parameter).or_else(|| Some(config.variable(&[variable])?.1));
    let value = value.filter(|value| !value.is_empty());
    if value.as_ref().is_some_and(|value| value.len() > NAME || value.chars().any(char::is_control))
    {
        return Err(format!("`{parameter}` is longer than {NAME} bytes or has control characters"));
    }
    Ok(value)
}

/// Parses the address of a workspace, `HOST` or `https://HOST`.
fn parse_base(text: &str) -> Result<Url, String> {
    let text = text.trim().trim_end_matches('/');
    let url = if text.contains("://") {
        Url::parse(text)
    } else {
        Url::parse(&format!("https://{text}"))
    };
    let wrong = "the host is not a name such as `adb-123.4.azuredatabricks.net`";
    let url = url.map_err(|_| wrong)?;
    let is_plain = url.username().is_empty() && url.password().is_none() && url.path() == "/";
    if !is_plain || url.query().is_some() || url.fragment().is_some() || url.host_str().is_none() {
        return Err(wrong.to_owned());
    }
    match url.scheme() {
        "https" => Ok(url),
        "http" if !is_exposed(&url) => Ok(url),
        "http" => {
            Err("a token would go over plain http, where others could read it: write https"
                .to_owned())
        }
        _ => Err(wrong.to_owned()),
    }
}

/// The warehouse that an HTTP path names.
fn warehouse_of(path: &str) -> Result<String, String> {
    let path = path.split('?').next().unwrap_or_default().trim_matches('/');
    let id = path
        .strip_prefix("sql/1.0/warehouses/")
        .or_else(|| path.strip_prefix("sql/1.0/endpoints/"));
    match id {
        Some(id) => check_id(id),
        None if path.starts_with("sql/protocolv1/") => Err(
            "the HTTP path is that of a cluster: name a SQL warehouse, `/sql/1.0/warehouses/ID`"
                .to_owned(),
        ),
        None => Err("the HTTP path is not `/sql/1.0/warehouses/ID`".to_owned()),
    }
}

fn check_id(id: &str) -> Result<String, String> {
    let is_id = !id.is_empty()
        && id.len() <= NAME
        && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    if is_id {
        Ok(id.to_owned())
    } else {
        Err("the id of the warehouse is not letters and digits".to_owned())
    }
}

/// The credentials that the variables hold.
fn credentials(config: &DatabricksConfig, base: &Url) -> Result<Credentials, String> {
    const AZURE_TENANT: [&str; 2] = ["ARM_TENANT_ID", "AZURE_TENANT_ID"];
    // Before version 0.2 the client of an Azure principal was in the variables of Databricks.
    const AZURE_ID: [&str; 3] = ["ARM_CLIENT_ID", "AZURE_CLIENT_ID", "DATABRICKS_CLIENT_ID"];
    const AZURE_SECRET: [&str; 3] =
        ["ARM_CLIENT_SECRET", "AZURE_CLIENT_SECRET", "DATABRICKS_CLIENT_SECRET"];
    let value = |names: &[&str]| config.variable(names).map(|(_, value)| value);
    let needed = |names: &[&str], kind: &str| {
        value(names).ok_or_else(|| format!("{kind} needs {}: set it", names[0]))
    };
    let token = || {
        needed(&["DATABRICKS_TOKEN"], "a personal access token")
            .map(|token| Credentials::Token(token.into()))
    };
    let machine = || -> Result<_, String> {
        let kind = "OAuth machine to machine";
        Ok(Credentials::Client {
            token_url: base.join("/oidc/v1/token").map_err(|error| error.to_string())?,
            id: needed(&["DATABRICKS_CLIENT_ID"], kind)?,
            secret: needed(&["DATABRICKS_CLIENT_SECRET"], kind)?.into(),
            scope: "all-apis",
            in_body: false,
        })
    };
    let azure = || -> Result<_, String> {
        let kind = "an Azure service principal";
        let tenant = check_tenant(&needed(&AZURE_TENANT, kind)?)?;
        let login = parse_base(&config.azure_login)
            .map_err(|error| format!("the login of Azure: {error}"))?;
        Ok(Credentials::Client {
            token_url: login
                .join(&format!("/{tenant}/oauth2/v2.0/token"))
                .map_err(|error| error.to_string())?,
            id: needed(&AZURE_ID, kind)?,
            secret: needed(&AZURE_SECRET, kind)?.into(),
            scope: AZURE_SCOPE,
            in_body: true,
        })
    };
    match value(&["DATABRICKS_AUTH_TYPE"]).as_deref() {
        Some("pat") => token(),
        Some("databricks-oauth" | "oauth-m2m") => machine(),
        Some("azure" | "azure-client-secret") => azure(),
        Some(_) => {
            Err("DATABRICKS_AUTH_TYPE is none of pat, oauth-m2m and azure-client-secret".to_owned())
        }
        None if value(&["DATABRICKS_TOKEN"]).is_some() => token(),
        None if value(&["DATABRICKS_CLIENT_ID", "DATABRICKS_CLIENT_SECRET"]).is_some() => machine(),
        None if value(&AZURE_TENANT).is_some() && value(&AZURE_ID[..2]).is_some() => azure(),
        None => Err("no credentials are given: set DATABRICKS_TOKEN, or DATABRICKS_CLIENT_ID and \
                     DATABRICKS_CLIENT_SECRET, or ARM_TENANT_ID, ARM_CLIENT_ID and \
                     ARM_CLIENT_SECRET"
            .to_owned()),
    }
}

/// A tenant is an id or the name of a domain; it becomes a part of an address.
fn check_tenant(tenant: &str) -> Result<String, String> {
    let is_name = tenant.len() <= NAME
        && tenant.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'.');
    match is_name && !tenant.starts_with('.') {
        true => Ok(tenant.to_owned()),
        false => Err("ARM_TENANT_ID is neither an id nor the name of a domain".to_owned()),
    }
}

#[cfg(test)]
#[path = "config/tests.rs"]
mod tests;
