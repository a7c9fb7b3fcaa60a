//! The only file that reads the environment.

pub(crate) mod scheduler;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use syrch::Provider;
use syrch::databases::Executor;
use syrch::plugins::{CodeCache, CompileProcess, CompileSettings, WorkerProcess};
use syrch::secrecy::SecretString;

use crate::failure::{Failure, Outcome};

/// The binary that runs, also when another has taken its place.
const OWN_BINARY: &str = "/proc/self/exe";

/// The user's state directory, below the home.
const STATE: &str = ".local/state";

/// The variable of the default endpoint's key; the variables of the other endpoints append a name.
pub(crate) const KEY: &str = "SYRCH_API_KEY";

/// The variable of the token that clients of the MCP server carry.
pub(crate) const MCP_TOKEN: &str = "SYRCH_MCP_TOKEN";

/// The variable that other programs read, too.
#[cfg(feature = "otel")]
pub(crate) const OTLP_ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";

/// Returns whether a variable that clients of database servers read is a secret.
pub(crate) fn is_secret_of_server(name: &str) -> bool {
    ["PASSWORD", "TOKEN", "SECRET"].iter().any(|ending| name.ends_with(ending))
}

/// The environment, read once. Not `Debug`, since it holds keys.
#[derive(Clone, Default)]
pub(crate) struct Environment {
    /// The variables `SYRCH_*` that are not empty. A value that is not UTF-8 is `None`.
    pub(crate) syrch: BTreeMap<String, Option<String>>,
    /// The keys of vendors, such as `OPENAI_API_KEY`, by their variables.
    pub(crate) vendor_keys: BTreeMap<&'static str, String>,
    /// The collector's base URL, from `OTEL_EXPORTER_OTLP_ENDPOINT`.
    #[cfg(feature = "otel")]
    pub(crate) otlp_endpoint: Option<String>,
    /// `OTEL_EXPORTER_OTLP_HEADERS`: `name=value`, with commas between them.
    #[cfg(feature = "otel")]
    pub(crate) otlp_headers: Vec<(String, SecretString)>,
    /// The variables that clients of database servers read, such as `PGHOST`.
    pub(crate) servers: BTreeMap<String, String>,
    /// The variables by which schedulers name the part of a process, such as
    /// `SLURM_ARRAY_TASK_ID`.
    pub(crate) scheduler: BTreeMap<&'static str, String>,
    /// The home of the user.
    pub(crate) home: Option<PathBuf>,
    /// `XDG_CACHE_HOME`, when it is absolute.
    pub(crate) cache_home: Option<PathBuf>,
    /// `XDG_STATE_HOME`, when it is absolute.
    pub(crate) state_home: Option<PathBuf>,
    /// The folder of docker's configuration, from `DOCKER_CONFIG`.
    pub(crate) docker_config: Option<PathBuf>,
    /// True if the terminal cannot redraw a line: `TERM=dumb`.
    pub(crate) dumb_terminal: bool,
    /// True if `NO_COLOR` asks for no colour.
    pub(crate) no_color: bool,
}

impl Environment {
    /// Returns the whole environment of this process, for the tools of a project.
    pub(crate) fn all() -> Vec<(OsString, OsString)> {
        std::env::vars_os().collect()
    }

    /// Reads the environment of this process.
    #[allow(
        clippy::disallowed_methods,
        reason = "this is the one place that reads the environment"
    )]
    pub(crate) fn read() -> Self {
        let path = |name: &str| {
            std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
        };
        let syrch = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
            .filter(|(name, value)| name.starts_with("SYRCH_") && !value.is_empty())
            .map(|(name, value)| (name, value.into_string().ok()))
            .collect();
        let prefixes: Vec<&str> = Executor::all()
            .filter_map(Executor::server)
            .flat_map(|server| server.variables)
            .copied()
            .collect();
        let servers = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .filter(|(name, value)| {
                !value.is_empty() && prefixes.iter().any(|prefix| name.starts_with(prefix))
            })
            .collect();
        let key = |name: &str| std::env::var(name).ok().filter(|key| !key.trim().is_empty());
        Self {
            syrch,
            servers,
            vendor_keys: Provider::all()
                .filter_map(|provider| Some(provider.endpoint()?.key_variable))
                .filter_map(|variable| Some((variable, key(variable)?)))
                .collect(),
            #[cfg(feature = "otel")]
            otlp_endpoint: key(OTLP_ENDPOINT),
            #[cfg(feature = "otel")]
            otlp_headers: key("OTEL_EXPORTER_OTLP_HEADERS")
                .map(|headers| pairs(&headers))
                .unwrap_or_default(),
            scheduler: scheduler::VARIABLES
                .into_iter()
                .filter_map(|variable| Some((variable, key(variable)?)))
                .collect(),
            home: path("HOME").or_else(|| path("USERPROFILE")),
            cache_home: path("XDG_CACHE_HOME").filter(|path| path.is_absolute()),
            state_home: path("XDG_STATE_HOME").filter(|path| path.is_absolute()),
            docker_config: path("DOCKER_CONFIG"),
            dumb_terminal: std::env::var_os("TERM").is_some_and(|term| term == "dumb"),
            no_color: path("NO_COLOR").is_some(),
        }
    }

    /// All keys in the environment, whether they are used or not.
    pub(crate) fn keys(&self) -> impl Iterator<Item = SecretString> {
        let own = self
            .syrch
            .iter()
            .filter(|(name, _)| name.starts_with(KEY) || *name == MCP_TOKEN)
            .filter_map(|(_, value)| value.as_ref());
        let passwords = self
            .servers
            .iter()
            .filter(|(name, _)| is_secret_of_server(name))
            .map(|(_, value)| value);
        let keys = own
            .chain(self.vendor_keys.values())
            .chain(passwords)
            .map(|key| SecretString::from(key.clone()));
        #[cfg(feature = "otel")]
        let keys = keys.chain(self.otlp_headers.iter().map(|(_, value)| value.clone()));
        keys
    }

    /// The token of the MCP server, if the user has chosen one.
    ///
    /// # Errors
    /// When it is not UTF-8.
    pub(crate) fn mcp_token(&self) -> Outcome<Option<String>> {
        match self.syrch.get(MCP_TOKEN) {
            None => Ok(None),
            Some(Some(token)) => Ok(Some(token.clone())),
            Some(None) => Err(Failure::config(format!("{MCP_TOKEN} is not UTF-8"))),
        }
    }

    /// The folder of compiled plugins and cached answers: `SYRCH_CACHE_DIR`, else the user's cache
    /// directory. `None` if there is no home.
    pub(crate) fn cache_dir(&self) -> Option<PathBuf> {
        self.folder("SYRCH_CACHE_DIR", self.cache_home.as_ref(), ".cache")
    }

    /// The folder of runs and of the history of the prompt: `SYRCH_STATE_DIR`, else the user's
    /// state directory. `None` if there is no home.
    pub(crate) fn state_dir(&self) -> Option<PathBuf> {
        self.folder("SYRCH_STATE_DIR", self.state_home.as_ref(), STATE)
    }

    /// The file of the user's credentials at registries, as docker has it: in `DOCKER_CONFIG`, else
    /// `~/.docker`. `None` if there is no home.
    pub(crate) fn registry_credentials(&self) -> Option<PathBuf> {
        let below_home = self.home.as_ref().map(|home| home.join(".docker"));
        Some(self.docker_config.clone().or(below_home)?.join("config.json"))
    }

    /// Returns the settings for compiling plugins: third-party ones by this very binary in a
    /// process of its own, where that can be bounded.
    pub(crate) fn compile(&self) -> CompileSettings {
        // Runs may be in many folders, but compiled plugins are in one, so their key belongs to the
        // home, where there is one.
        let home = self.at_home(self.state_home.as_ref(), STATE);
        let keys = home
            .into_iter()
            .chain(self.state_dir())
            .map(|state| state.join("compiled.key"))
            .collect();
        let cache = self.cache_dir().map(|folder| CodeCache { folder, keys });
        let process = CompileProcess::IS_SUPPORTED.then(|| CompileProcess {
            program: PathBuf::from(OWN_BINARY),
            arguments: vec![CompileProcess::COMMAND.into()],
        });
        CompileSettings { cache, process, worker: None }
    }

    /// The command that runs this very binary as the worker of a plugin.
    pub(crate) fn worker() -> WorkerProcess {
        WorkerProcess {
            program: PathBuf::from(OWN_BINARY),
            arguments: vec![WorkerProcess::COMMAND.into()],
        }
    }

    fn folder(&self, own: &str, base: Option<&PathBuf>, below_home: &str) -> Option<PathBuf> {
        let own = self.syrch.get(own).cloned().flatten().map(PathBuf::from);
        own.or_else(|| self.at_home(base, below_home))
    }

    fn at_home(&self, base: Option<&PathBuf>, below_home: &str) -> Option<PathBuf> {
        Some(base.cloned().or_else(|| Some(self.home.as_ref()?.join(below_home)))?.join("syrch"))
    }
}

/// Returns the name of the user whom the process belongs to. It is read from the system's files
/// once, when it is first needed.
#[cfg(unix)]
pub(crate) fn os_user() -> Option<String> {
    use nix::unistd::{User, geteuid};
    static NAME: std::sync::OnceLock<Option<String>> = std::sync::OnceLock::new();
    NAME.get_or_init(|| User::from_uid(geteuid()).ok().flatten().map(|user| user.name)).clone()
}

#[cfg(not(unix))]
#[allow(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]
pub(crate) fn os_user() -> Option<String> {
    std::env::var("USERNAME").ok().filter(|name| !name.is_empty())
}

/// Headers as OpenTelemetry writes them: `name=value`, with commas between them and `%20` for a
/// space.
#[cfg(feature = "otel")]
fn pairs(headers: &str) -> Vec<(String, SecretString)> {
    let pairs = headers.split(',').filter_map(|pair| pair.split_once('='));
    pairs
        .map(|(name, value)| (name.trim().to_owned(), unescape_percent(value.trim()).into()))
        .collect()
}

/// The text with its `%XX` as bytes; one that is none stays as it is.
#[cfg(feature = "otel")]
fn unescape_percent(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, others)) = rest.split_first() {
        let code = others
            .get(..2)
            .filter(|_| *first == b'%')
            .and_then(|code| std::str::from_utf8(code).ok());
        let byte = code
            .filter(|code| !code.starts_with('+'))
            .and_then(|code| u8::from_str_radix(code, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &others[2..] } else { others };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "otel")]
    #[test]
    fn headers_are_pairs_with_escapes() {
        use syrch::secrecy::ExposeSecret;

        fn read(text: &str) -> Vec<(String, String)> {
            pairs(text)
                .into_iter()
                .map(|(name, value)| (name, value.expose_secret().to_owned()))
                .collect()
        }
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            read("Authorization=Basic%20YWJj==, x-team = a"),
            [pair("Authorization", "Basic YWJj=="), pair("x-team", "a")]
        );
        assert_eq!(read("a=100%,b=%zz%+1%C3%A9"), [pair("a", "100%"), pair("b", "%zz%+1é")]);
        assert!(read("").is_empty() && read("none").is_empty());
        let environment = Environment { otlp_headers: pairs("a=secret"), ..Environment::default() };
        assert!(environment.keys().any(|key| key.expose_secret() == "secret"));
    }

    #[test]
    fn the_cache_directory_has_three_sources() {
        let mut environment =
            Environment { home: Some("/home/ada".into()), ..Environment::default() };
        assert_eq!(environment.cache_dir(), Some("/home/ada/.cache/syrch".into()));
        environment.cache_home = Some("/cache".into());
        assert_eq!(environment.cache_dir(), Some("/cache/syrch".into()));
        environment.syrch.insert("SYRCH_CACHE_DIR".into(), Some("mine".into()));
        assert_eq!(environment.cache_dir(), Some("mine".into()));
        assert_eq!(Environment::default().cache_dir(), None);
    }

    #[test]
    fn so_has_the_state_directory() {
        let mut environment =
            Environment { home: Some("/home/ada".into()), ..Environment::default() };
        assert_eq!(environment.state_dir(), Some("/home/ada/.local/state/syrch".into()));
        environment.state_home = Some("/state".into());
        assert_eq!(environment.state_dir(), Some("/state/syrch".into()));
        environment.syrch.insert("SYRCH_STATE_DIR".into(), Some("mine".into()));
        assert_eq!(environment.state_dir(), Some("mine".into()));
        assert_eq!(Environment::default().state_dir(), None);
    }
}
