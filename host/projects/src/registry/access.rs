//! Access to a registry: the credentials of the user, and what a registry asks for.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use reqwest::header::{HeaderMap, HeaderValue, WWW_AUTHENTICATE};
use serde::Deserialize;
use syrch::secrecy::{ExposeSecret as _, SecretString};

use super::reference::Reference;
use crate::Error;

/// Bytes of a file of credentials, and of a challenge, at most.
const FILE: u64 = 1 << 20;
const CHALLENGE: usize = 8 << 10;

/// The user's name and password at a registry, in base64 as they are sent.
#[derive(Debug, Clone)]
pub struct Credentials(SecretString);

/// The part of a `config.json` of docker that is read. Programs that it names are not run.
#[derive(Deserialize)]
struct Document {
    #[serde(default)]
    auths: BTreeMap<String, Entry>,
}

#[derive(Deserialize)]
struct Entry {
    #[serde(default)]
    auth: Option<String>,
}

impl Credentials {
    /// Reads the credentials for a registry from a `config.json` of docker; `None` if it has none.
    ///
    /// # Errors
    /// When the file cannot be read, or is no such file. Nothing of it stands in the error.
    pub fn read(path: &Path, reference: &Reference) -> Result<Option<Self>, Error> {
        let data = fs::metadata(path).map_err(|error| Error::file(path, error))?;
        if !data.is_file() || data.len() > FILE {
            return Err(Error::file(path, format!("is no plain file of at most {FILE} bytes")));
        }
        let mut text = Vec::new();
        let read = fs::File::open(path).and_then(|file| file.take(FILE).read_to_end(&mut text));
        read.map_err(|error| Error::file(path, error))?;
        parse(&text, reference.host())
            .map_err(|()| Error::file(path, "is no config.json of docker, or is damaged"))
    }

    /// The value of a header that carries them.
    pub(super) fn header(&self) -> Option<HeaderValue> {
        secret_header(&format!("Basic {}", self.0.expose_secret()))
    }
}

fn parse(text: &[u8], host: &str) -> Result<Option<Credentials>, ()> {
    let Document { auths } = serde_json::from_slice(text).map_err(drop)?;
    let entry = auths.into_iter().find(|(key, _)| is_key_of(key, host));
    let Some(auth) = entry.and_then(|(_, entry)| entry.auth).filter(|auth| !auth.is_empty()) else {
        return Ok(None);
    };
    let decoded = BASE64.decode(&auth).map_err(drop)?;
    if !decoded.contains(&b':') {
        return Err(());
    }
    Ok(Some(Credentials(SecretString::from(auth))))
}

/// Returns true if a key of `auths` is that of a registry: its host, perhaps as a URL with the
/// version of the interface.
fn is_key_of(key: &str, host: &str) -> bool {
    let bare = key.strip_prefix("https://").or_else(|| key.strip_prefix("http://")).unwrap_or(key);
    let bare = bare.trim_end_matches('/');
    let bare = bare.strip_suffix("/v1").or_else(|| bare.strip_suffix("/v2")).unwrap_or(bare);
    bare.eq_ignore_ascii_case(host)
}

/// The value of a header that no log shows; `None` if the text cannot stand in one.
pub(super) fn secret_header(text: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// The demand of a registry before it answers.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Challenge {
    /// A name and a password.
    Basic,
    /// A token, from a URL and for a service.
    Bearer { realm: String, service: Option<String> },
}

impl Challenge {
    /// Reads the challenge of a response; `None` if there is none that is known.
    pub(super) fn read(headers: &HeaderMap) -> Option<Self> {
        let texts = headers.get_all(WWW_AUTHENTICATE).iter();
        let texts = texts.filter_map(|value| value.to_str().ok());
        let mut found: Vec<Self> =
            texts.filter(|text| text.len() <= CHALLENGE).filter_map(Self::parse).collect();
        found.sort_by_key(|one| *one == Self::Basic);
        found.into_iter().next()
    }

    fn parse(text: &str) -> Option<Self> {
        let (scheme, rest) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
        if scheme.eq_ignore_ascii_case("basic") {
            return Some(Self::Basic);
        }
        if !scheme.eq_ignore_ascii_case("bearer") {
            return None;
        }
        let mut parameters = read_parameters(rest);
        Some(Self::Bearer {
            realm: parameters.remove("realm")?,
            service: parameters.remove("service"),
        })
    }
}

/// The parameters of a challenge, `name="value"` or `name=value`, with commas between them. The
/// first one of a name counts.
fn read_parameters(mut rest: &str) -> BTreeMap<String, String> {
    let mut parameters = BTreeMap::new();
    while let Some((name, after)) = rest.split_once('=') {
        let name = name.trim_matches(|c: char| c == ',' || c.is_ascii_whitespace());
        let end = match after.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"'),
            None => Some(after.split_once(',').unwrap_or((after, ""))),
        };
        let Some((value, next)) = end else { break };
        parameters.entry(name.to_ascii_lowercase()).or_insert_with(|| value.trim().to_owned());
        rest = next;
    }
    parameters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_those_of_the_host_alone() {
        let auth = BASE64.encode("me:secret");
        for (key, found) in [
            ("ghcr.io", true),
            ("https://ghcr.io", true),
            ("https://GHCR.io/v2/", true),
            ("ghcr.io/me", false),
            ("ghcr.io.example", false),
            ("ghcr.io:443", false),
            ("example", false),
        ] {
            let text = format!(r#"{{"auths": {{"{key}": {{"auth": "{auth}"}}}}, "x": 1}}"#);
            let read = parse(text.as_bytes(), "ghcr.io").unwrap();
            assert_eq!(read.is_some(), found, "{key}");
            assert!(!format!("{read:?}").contains(&auth));
        }
        for text in [r#"{"credsStore": "x"}"#, r#"{"auths": {"ghcr.io": {}}}"#] {
            assert!(parse(text.as_bytes(), "ghcr.io").unwrap().is_none());
        }
        for auth in ["!", "bWU="] {
            let text = format!(r#"{{"auths": {{"ghcr.io": {{"auth": "{auth}"}}}}}}"#);
            assert!(parse(text.as_bytes(), "ghcr.io").is_err(), "{auth}");
        }
        let scratch = syrch_kit::scratch();
        let path = scratch.path().join("config.json");
        fs::write(&path, r#"{"auths": "secret"}"#).unwrap();
        let reference: Reference = "oci://ghcr.io/a:1".parse().unwrap();
        let error = Credentials::read(&path, &reference).unwrap_err().to_string();
        assert!(error.contains("config.json") && !error.contains("secret"), "{error}");
        assert!(Credentials::read(scratch.path(), &reference).is_err());
    }

    fn bearer(realm: &str, service: Option<&str>) -> Option<Challenge> {
        let service = service.map(str::to_owned);
        Some(Challenge::Bearer { realm: realm.to_owned(), service })
    }

    #[test]
    fn challenges_are_read() {
        for (text, expected) in [
            ("Basic realm=\"x\"", Some(Challenge::Basic)),
            ("basic", Some(Challenge::Basic)),
            (
                "Bearer realm=\"https://a/t\",service=\"a, b\",scope=\"repository:x:pull,push\"",
                bearer("https://a/t", Some("a, b")),
            ),
            ("bearer service=a, realm=https://a/t", bearer("https://a/t", Some("a"))),
            ("Bearer realm=\"a\", realm=\"b\"", bearer("a", None)),
            ("Bearer service=\"a\"", None),
            ("Bearer realm=\"a", None),
            ("Negotiate", None),
            ("", None),
        ] {
            assert_eq!(Challenge::parse(text), expected, "{text}");
        }
        let mut headers = HeaderMap::new();
        assert_eq!(Challenge::read(&headers), None);
        for text in ["Basic", "Bearer realm=a"] {
            headers.append(WWW_AUTHENTICATE, HeaderValue::from_static(text));
        }
        assert_eq!(Challenge::read(&headers), bearer("a", None));
    }
}
