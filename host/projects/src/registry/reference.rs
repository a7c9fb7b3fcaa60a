//! The address of a plugin in a registry: `oci://HOST/NAME:TAG`, `oci://HOST/NAME@sha256:…`, or
//! both.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use reqwest::Url;
use syrch_http::is_loopback;

use crate::Error;

/// The first characters of an address.
const SCHEME: &str = "oci://";
/// Characters of a name and of a tag at most, as the distribution specification has them.
const NAME: usize = 255;
const TAG: usize = 128;
/// Characters of a host with its port at most.
const HOST: usize = 255;

/// The address of a plugin in a registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    host: String,
    name: String,
    tag: Option<String>,
    digest: Option<String>,
    base: Url,
}

impl Reference {
    /// Reads the address that a source is; `None` if the source is a path.
    ///
    /// # Errors
    /// When it begins as an address and is none.
    pub fn from_source(source: &Path) -> Result<Option<Self>, Error> {
        let text = source.to_string_lossy();
        text.starts_with(SCHEME).then(|| text.parse()).transpose()
    }

    /// The host with its port.
    pub(super) fn host(&self) -> &str {
        &self.host
    }

    /// The name of the repository.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The last word of the name of the repository.
    pub(super) fn last_word(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or(&self.name)
    }

    /// The tag, unless the address has a digest, which decides.
    pub(super) fn tag(&self) -> Option<&str> {
        self.tag.as_deref().filter(|_| self.digest.is_none())
    }

    /// The digest of the manifest, as `sha256:…`.
    pub(super) fn digest(&self) -> Option<&str> {
        self.digest.as_deref()
    }

    /// The URL of the registry: `https`, or `http` on this machine.
    pub(super) fn base(&self) -> &Url {
        &self.base
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{}/{}", self.host, self.name)?;
        self.tag.iter().try_for_each(|tag| write!(f, ":{tag}"))?;
        self.digest.iter().try_for_each(|digest| write!(f, "@{digest}"))
    }
}

impl FromStr for Reference {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        parse(text).map_err(|why| Error::Address { text: text.to_owned(), why: why.to_owned() })
    }
}

fn parse(text: &str) -> Result<Reference, &'static str> {
    let rest = text.strip_prefix(SCHEME).ok_or("it begins with `oci://`")?;
    let (host, rest) = rest.split_once('/').ok_or("it has no name behind its host")?;
    let is_plain = host.chars().all(|c| c.is_ascii_alphanumeric() || "-.:[]".contains(c));
    if host.is_empty() || host.len() > HOST || !is_plain {
        return Err("its host is none");
    }
    let mut base = Url::parse(&format!("https://{host}/")).map_err(|_| "its host is none")?;
    if is_loopback(&base) {
        base = Url::parse(&format!("http://{host}/")).map_err(|_| "its host is none")?;
    }
    let (rest, digest) = match rest.split_once('@') {
        Some((rest, digest)) => (rest, Some(digest.to_owned())),
        None => (rest, None),
    };
    let (name, tag) = match rest.split_once(':') {
        Some((name, tag)) => (name, Some(tag.to_owned())),
        None => (rest, None),
    };
    if name.len() > NAME || !name.split('/').all(is_word) {
        return Err("its name has words of lower-case letters and digits, with `/`, `.`, `_` or \
                    `-` between them");
    }
    if tag.as_ref().is_some_and(|tag| !is_tag(tag)) {
        return Err("its tag has up to 128 letters, digits, `_`, `.` and `-`");
    }
    if digest.as_ref().is_some_and(|digest| !is_digest(digest)) {
        return Err("its digest is `sha256:` and 64 digits of hex in lower case");
    }
    if tag.is_none() && digest.is_none() {
        return Err("it has neither a tag nor a digest");
    }
    Ok(Reference { host: host.to_owned(), name: name.to_owned(), tag, digest, base })
}

/// Returns true for a part of a name: letters and digits, with separators between them alone.
fn is_word(word: &str) -> bool {
    word.starts_with(is_letter)
        && word.ends_with(is_letter)
        && word.chars().all(|c| is_letter(c) || "._-".contains(c))
        && !word.contains("..")
}

fn is_letter(c: char) -> bool {
    c.is_ascii_lowercase() || c.is_ascii_digit()
}

fn is_tag(tag: &str) -> bool {
    tag.len() <= TAG
        && !tag.starts_with(['.', '-'])
        && !tag.is_empty()
        && tag.chars().all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c))
}

/// Returns true for a digest as registries write it.
pub(super) fn is_digest(text: &str) -> bool {
    text.strip_prefix("sha256:").is_some_and(|hex| {
        hex.len() == 64 && hex.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_written() {
        let digest = format!("sha256:{}", "0a".repeat(32));
        for (text, base) in [
            ("oci://ghcr.io/me/votes:1.0".to_owned(), "https://ghcr.io/"),
            ("oci://ghcr.io:8443/me/votes-2:latest".to_owned(), "https://ghcr.io:8443/"),
            ("oci://localhost:5000/votes:1".to_owned(), "http://localhost:5000/"),
            ("oci://127.0.0.1:5000/a/b/votes:1".to_owned(), "http://127.0.0.1:5000/"),
            ("oci://[::1]:5000/votes:1".to_owned(), "http://[::1]:5000/"),
            (format!("oci://ghcr.io/me/votes@{digest}"), "https://ghcr.io/"),
            (format!("oci://ghcr.io/me/votes:1@{digest}"), "https://ghcr.io/"),
        ] {
            let reference: Reference = text.parse().unwrap();
            assert_eq!(reference.to_string(), text);
            assert_eq!(reference.base().as_str(), base);
            assert!(reference.last_word().starts_with("votes"));
            assert_eq!(reference.tag().is_none(), reference.digest().is_some(), "{text}");
        }
        assert_eq!(Reference::from_source(Path::new("votes.wasm")).unwrap(), None);
        assert!(Reference::from_source(Path::new("oci://x")).is_err());
    }

    #[test]
    fn what_leads_elsewhere_is_no_address() {
        let long = format!("oci://h/{}:1", "a".repeat(NAME + 1));
        let upper = format!("oci://h/a@sha256:{}", "A".repeat(64));
        for text in [
            "https://h/a:1",
            "oci://h",
            "oci://h/",
            "oci:///a:1",
            "oci://h/a",
            "oci://h/:1",
            "oci://me@h/a:1",
            "oci://h?x/a:1",
            "oci://h:99999/a:1",
            "oci://h/../a:1",
            "oci://h/a/../b:1",
            "oci://h/a//b:1",
            "oci://h/a/:1",
            "oci://h/a%2f:1",
            "oci://h/A:1",
            "oci://h/a b:1",
            "oci://h/a?x:1",
            "oci://h/a:..",
            "oci://h/a:1/2",
            "oci://h/a:",
            "oci://h/a:1:2",
            "oci://h/a:1@",
            "oci://h/a:1@md5:00",
            "oci://h/a\n:1",
            upper.as_str(),
            long.as_str(),
        ] {
            let error = text.parse::<Reference>();
            assert!(matches!(error, Err(Error::Address { .. })), "{text}");
        }
    }
}
