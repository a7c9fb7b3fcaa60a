//! The environment of the tools: what finds them, their folders and the registries. Settings of the
//! user that change how they work, such as `NODE_ENV`, `PIP_TARGET` and `RUSTFLAGS`, stay outside:
//! a project is built alike everywhere.

use std::env;
use std::ffi::OsString;
/// A variable and its value.
pub(super) type Variable = (OsString, OsString);

/// The variables that every tool gets, in upper case.
const NAMES: &[&str] = &[
    // The system.
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TMPDIR",
    "TMP",
    "TEMP",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TERM",
    "NO_COLOR",
    "LD_LIBRARY_PATH",
    "DEVELOPER_DIR",
    "SOURCE_DATE_EPOCH",
    "SYSTEMROOT",
    "SYSTEMDRIVE",
    "WINDIR",
    "COMSPEC",
    "PATHEXT",
    "OS",
    "PROCESSOR_ARCHITECTURE",
    "NUMBER_OF_PROCESSORS",
    "USERPROFILE",
    "HOMEDRIVE",
    "HOMEPATH",
    "APPDATA",
    "LOCALAPPDATA",
    "ALLUSERSPROFILE",
    // The network.
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "FTP_PROXY",
    "NO_PROXY",
    "NETRC",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "CURL_CA_BUNDLE",
    "REQUESTS_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    // Folders and registries of cargo, Go, npm and pip.
    "CARGO_HOME",
    "CARGO_TARGET_DIR",
    "GOAUTH",
    "GOCACHE",
    "GOENV",
    "GOINSECURE",
    "GOMODCACHE",
    "GONOPROXY",
    "GONOSUMDB",
    "GOPATH",
    "GOPRIVATE",
    "GOPROXY",
    "GOSUMDB",
    "GOTMPDIR",
    "GOVCS",
    "NPM_CONFIG_REGISTRY",
    "NPM_CONFIG_CA",
    "NPM_CONFIG_CAFILE",
    "NPM_CONFIG_CERT",
    "NPM_CONFIG_KEY",
    "NPM_CONFIG_PROXY",
    "NPM_CONFIG_HTTP_PROXY",
    "NPM_CONFIG_HTTPS_PROXY",
    "NPM_CONFIG_NOPROXY",
    "NPM_CONFIG_STRICT_SSL",
    "NPM_CONFIG_CACHE",
    "NPM_CONFIG_USERCONFIG",
    "NPM_CONFIG_GLOBALCONFIG",
    "NPM_CONFIG_OFFLINE",
    "NPM_CONFIG_PREFER_OFFLINE",
    "PIP_INDEX_URL",
    "PIP_EXTRA_INDEX_URL",
    "PIP_TRUSTED_HOST",
    "PIP_FIND_LINKS",
    "PIP_NO_INDEX",
    "PIP_PROXY",
    "PIP_CERT",
    "PIP_CLIENT_CERT",
    "PIP_RETRIES",
    "PIP_TIMEOUT",
    "PIP_DEFAULT_TIMEOUT",
    "PIP_CACHE_DIR",
    "PIP_CONFIG_FILE",
    "PIP_KEYRING_PROVIDER",
    "ZIG_GLOBAL_CACHE_DIR",
];

/// The beginnings of further ones: the managers of versions, and the registries.
const PREFIXES: &[&str] = &[
    "LC_",
    "XDG_",
    "PROGRAM",
    "COMMONPROGRAM",
    "NIX_",
    "GIT_SSL_",
    "ASDF_",
    "FNM_",
    "MISE_",
    "NODENV_",
    "NVM_",
    "PYENV_",
    "VOLTA_",
    "RUSTUP_",
    "CARGO_HTTP_",
    "CARGO_NET_",
    "CARGO_REGISTRIES_",
    "CARGO_REGISTRY_",
    "CARGO_SOURCE_",
    "NPM_CONFIG_//",
    "NPM_CONFIG_@",
    "NPM_CONFIG_FETCH_",
];

/// The ends of credentials, by which a setting of a registry may name them: `cargo` has them after
/// the beginnings above, and npm after the address of a registry.
const SUFFIXES: &[&str] = &["_TOKEN", "_AUTH", "_AUTHTOKEN", "_USERNAME", "_PASSWORD"];

/// The beginnings of what lends credentials: the agent of SSH, programs that give passwords, and
/// headers for git.
const LENDERS: &[&str] = &["SSH_AUTH_SOCK", "SSH_ASKPASS", "GIT_ASKPASS", "GIT_CONFIG_"];

/// Returns what the tools get of an environment: what is listed here, and what lines of the
/// project's settings name as `${NAME}`. A project of somebody else gets credentials only by naming
/// them, which its [`Plan`](super::Plan) shows. Entries of `PATH` that are relative would be
/// folders of the project, and are left out.
pub(super) fn keep(environment: &[Variable], lines: &[String], is_own: bool) -> Vec<Variable> {
    let named: Vec<&str> = lines.iter().flat_map(|line| list_variables(line)).collect();
    let kept = environment.iter().filter(|(name, _)| {
        name.to_str().is_some_and(|name: &str| {
            let upper = name.to_uppercase();
            let is_credential = SUFFIXES.iter().any(|suffix| upper.ends_with(suffix))
                || LENDERS.iter().any(|lender| upper.starts_with(lender));
            let is_listed = NAMES.contains(&upper.as_str())
                || PREFIXES.iter().any(|prefix| upper.starts_with(prefix));
            named.contains(&name) || if is_credential { is_own } else { is_listed }
        })
    });
    kept.cloned().map(keep_absolute).collect()
}

/// Leaves the relative entries out of `PATH`.
fn keep_absolute((name, value): Variable) -> Variable {
    if !name.eq_ignore_ascii_case("PATH") {
        return (name, value);
    }
    let entries = env::split_paths(&value).filter(|entry| entry.is_absolute());
    let path = env::join_paths(entries).unwrap_or_default();
    (name, path)
}

/// Returns the names in `${NAME}`, also in npm's `${NAME?}` and `${NAME:-other}`.
pub(super) fn list_variables(text: &str) -> impl Iterator<Item = &str> {
    text.split("${").skip(1).filter_map(|rest| {
        let name = rest.split_once('}')?.0;
        let end = name
            .find(|letter: char| !letter.is_alphanumeric() && letter != '_')
            .unwrap_or(name.len());
        Some(&name[..end]).filter(|name| !name.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_get_registries_and_no_settings_that_change_their_work() {
        #[cfg(unix)]
        assert_eq!(
            keep(&[("PATH".into(), ".:/a::b:/c:".into())], &[], true),
            [("PATH".into(), "/a:/c".into())]
        );
        let lines = ["//npm.example/:_authToken=${COMPANY_NPM}", "x=${OTHER?}"].map(str::to_owned);
        let gets = |name: &str, is_own: bool| {
            !keep(&[(name.into(), "value".into())], &lines, is_own).is_empty()
        };
        // Of somebody else's project.
        assert!(gets("COMPANY_NPM", false) && gets("PATH", false));
        for name in [
            "NPM_TOKEN",
            "GITHUB_TOKEN",
            "CARGO_REGISTRY_TOKEN",
            "CARGO_REGISTRIES_MINE_TOKEN",
            "npm_config_//npm.example/:_authToken",
            "SSH_AUTH_SOCK",
            "GIT_ASKPASS",
            "GIT_CONFIG_VALUE_0",
        ] {
            assert!(!gets(name, false) && gets(name, true), "{name}");
        }
        for name in [
            "PATH",
            "Path",
            "HOME",
            "LC_ALL",
            "https_proxy",
            "NO_PROXY",
            "SSL_CERT_FILE",
            "PIP_INDEX_URL",
            "PIP_CERT",
            "npm_config_registry",
            "npm_config_//npm.example/:_authToken",
            "NPM_TOKEN",
            "COMPANY_NPM",
            "OTHER",
            "GOPROXY",
            "GOMODCACHE",
            "CARGO_HOME",
            "CARGO_REGISTRIES_MINE_INDEX",
            "RUSTUP_TOOLCHAIN",
            "PYENV_VERSION",
            "ProgramFiles",
        ] {
            assert!(gets(name, true), "{name}");
        }
        for name in [
            "NODE_ENV",
            "NODE_OPTIONS",
            "NODE_PATH",
            "npm_config_omit",
            "npm_config_production",
            "NPM_CONFIG_GLOBAL",
            "npm_config_ignore_scripts",
            "PIP_USER",
            "PIP_TARGET",
            "PIP_PREFIX",
            "PIP_REQUIRE_VIRTUALENV",
            "PIP_NO_DEPS",
            "PYTHONPATH",
            "PYTHONHOME",
            "VIRTUAL_ENV",
            "RUSTFLAGS",
            "CARGO_ENCODED_RUSTFLAGS",
            "CARGO_BUILD_TARGET",
            "CARGO_PROFILE_RELEASE_PANIC",
            "CARGO_TARGET_WASM32_WASIP2_RUSTFLAGS",
            "RUSTC_WRAPPER",
            "GOFLAGS",
            "GOOS",
            "GOROOT",
            "CFLAGS",
            "CPATH",
            "C_INCLUDE_PATH",
            "ESBUILD_BINARY_PATH",
            "RUST_BACKTRACE",
            "MINE",
        ] {
            assert!(!gets(name, true), "{name}");
        }
    }
}
