//! `syrch.lock`: the third-party plugins that the user has added, each with its digest and what it
//! is granted.
//!
//! The lock is the user's: it stands in the user's own folder or where the user says, and never
//! counts because it lies in a project. Its components stand beside it, by their digests. A plugin
//! is known by its digest, so that its grants hold however it is named.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use syrch_core::Grants;
use syrch_core::roles::Role;

use crate::Error;

/// The name of the file.
pub const FILE: &str = "syrch.lock";
/// The folder of components beside it.
const STORE: &str = "plugins";
/// The form of the file.
const SCHEMA: &str = "syrch.lock/1";
/// Bytes of the file at most.
const LONGEST: u64 = 4 << 20;

/// A plugin of the lock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Locked {
    /// The sha256 of its component, in hex: its identity.
    pub digest: String,
    /// The size of its component.
    pub bytes: u64,
    /// The file or folder that it was added from.
    pub source: PathBuf,
    /// The roles that it implements.
    pub roles: Vec<Role>,
    /// The version of the contract that it was compared with.
    pub contract: String,
    /// The grants that it asks for: the ports that it imports, within its own manifest.
    pub wanted: Grants,
    /// The grants that the user has given it.
    pub granted: Grants,
}

/// The plugins that the user has added, by name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lock {
    path: PathBuf,
    plugins: BTreeMap<String, Locked>,
}

/// The lock as its file has it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    schema: String,
    plugins: BTreeMap<String, Locked>,
}

impl Lock {
    /// Reads the lock at a path; empty if there is none. It blocks.
    ///
    /// # Errors
    /// When the file cannot be read, or is no lock.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let wrong = |why: String| Error::Config(format!("`{}`: {why}", path.display()));
        let size = match std::fs::metadata(path) {
            Ok(data) => data.len(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self { path: path.to_owned(), plugins: BTreeMap::new() });
            }
            Err(error) => return Err(wrong(error.to_string())),
        };
        if size > LONGEST {
            return Err(wrong("is too large for a lock of plugins".to_owned()));
        }
        let text = std::fs::read(path).map_err(|error| wrong(error.to_string()))?;
        let Document { schema, plugins } = serde_json::from_slice(&text)
            .map_err(|error| wrong(format!("is no lock of plugins: {error}")))?;
        if schema != SCHEMA {
            return Err(wrong(format!("is of the form `{schema}`, and this host reads {SCHEMA}")));
        }
        // It is a part of a path.
        let is_digest =
            |text: &str| text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit());
        if let Some((name, _)) = plugins.iter().find(|(_, one)| !is_digest(&one.digest)) {
            return Err(wrong(format!("the digest of `{name}` is none")));
        }
        Ok(Self { path: path.to_owned(), plugins })
    }

    /// Writes the lock with one plugin put in, in the place of one of the same name. The component
    /// has to be in its place already.
    ///
    /// # Errors
    /// When it cannot be written; the lock is then as it was.
    pub fn insert(&mut self, name: &str, locked: Locked) -> Result<(), Error> {
        let mut plugins = self.plugins.clone();
        plugins.insert(name.to_owned(), locked);
        self.write(plugins)
    }

    /// Writes the lock without a plugin, and removes its component if no other has it.
    ///
    /// # Errors
    /// When there is no such plugin, or the lock cannot be written.
    pub fn remove(&mut self, name: &str) -> Result<Locked, Error> {
        let mut plugins = self.plugins.clone();
        let removed = plugins.remove(name).ok_or_else(|| self.unknown(name))?;
        self.write(plugins)?;
        self.forget(&removed.digest);
        Ok(removed)
    }

    /// Removes the component of a digest that no plugin of the lock has.
    pub fn forget(&self, digest: &str) {
        if self.plugins.values().all(|one| one.digest != digest) {
            drop(std::fs::remove_file(self.component(digest)));
        }
    }

    fn write(&mut self, plugins: BTreeMap<String, Locked>) -> Result<(), Error> {
        let wrong = |why: String| Error::Config(format!("`{}`: {why}", self.path.display()));
        let document = Document { schema: SCHEMA.to_owned(), plugins };
        let mut text =
            serde_json::to_vec_pretty(&document).map_err(|error| wrong(error.to_string()))?;
        text.push(b'\n');
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        folder
            .map_or(Ok(()), syrch_files::make_folder)
            .and_then(|()| syrch_files::replace(&self.path, &text))
            .map_err(|error| wrong(error.to_string()))?;
        self.plugins = document.plugins;
        Ok(())
    }

    /// The path of the lock.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder of the components.
    #[must_use]
    pub fn store(&self) -> PathBuf {
        self.path.with_file_name(STORE)
    }

    /// The place of the component of a digest.
    #[must_use]
    pub fn component(&self, digest: &str) -> PathBuf {
        self.store().join(format!("{digest}.wasm"))
    }

    /// All plugins, by name.
    #[must_use]
    pub fn plugins(&self) -> &BTreeMap<String, Locked> {
        &self.plugins
    }

    /// The plugin of a name.
    ///
    /// # Errors
    /// When there is none.
    pub fn find(&self, name: &str) -> Result<&Locked, Error> {
        self.plugins.get(name).ok_or_else(|| self.unknown(name))
    }

    fn unknown(&self, name: &str) -> Error {
        let path = self.path.display();
        Error::Config(format!("`{path}` has no plugin `{name}`"))
    }

    /// The grants of the plugin of a digest; `None` if it was not added. Of several names for one
    /// plugin, only what all of them are granted counts.
    #[must_use]
    pub fn grants(&self, digest: &str) -> Option<Grants> {
        let all = self.plugins.values().filter(|one| one.digest == digest);
        all.map(|one| one.granted.narrow(&one.wanted)).reduce(|one, other| one.narrow(&other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grants(words: &[&str]) -> Grants {
        words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>().try_into().unwrap()
    }

    fn lock_plugin(digest: &str, words: &[&str]) -> Locked {
        Locked {
            digest: digest.to_owned(),
            bytes: 1,
            source: "x.wasm".into(),
            roles: vec![Role::Solver],
            contract: "0.1.0".to_owned(),
            wanted: grants(&["llm", "sql", "rows"]),
            granted: grants(words),
        }
    }

    #[test]
    fn a_lock_is_read_as_it_was_written_and_a_failed_write_keeps_the_old() {
        let scratch = syrch_kit::scratch();
        let path = scratch.path().join("own/syrch.lock");
        let mut lock = Lock::read(&path).unwrap();
        assert!(lock.plugins().is_empty());
        let one = "a".repeat(64);
        lock.insert("short", lock_plugin(&one, &["llm", "rows=none"])).unwrap();
        lock.insert("again", lock_plugin(&one, &["llm", "sql"])).unwrap();
        assert_eq!(Lock::read(&path).unwrap(), lock);
        // Two names of one plugin: neither adds to the other.
        assert_eq!(lock.grants(&one).unwrap(), grants(&["llm", "rows=none"]));
        assert_eq!(lock.grants(&"b".repeat(64)), None);
        let text = std::fs::read_to_string(&path).unwrap();
        for (from, to, why) in [
            ("syrch.lock/1", "syrch.lock/9", "is of the form"),
            (one.as_str(), "../../evil", "is none"),
            ("\"bytes\"", "\"trust\"", "is no lock"),
            ("rows=none", "rows=all", "is no lock"),
        ] {
            std::fs::write(&path, text.replace(from, to)).unwrap();
            let error = Lock::read(&path).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
        assert!(lock.remove("short").is_ok() && lock.remove("short").is_err());
        assert_eq!(lock.grants(&one).unwrap(), grants(&["llm", "sql"]));
    }

    #[test]
    fn a_grant_that_the_plugin_did_not_ask_for_is_none() {
        let scratch = syrch_kit::scratch();
        let mut lock = Lock::read(&scratch.path().join(FILE)).unwrap();
        let one = "a".repeat(64);
        lock.insert("short", lock_plugin(&one, &["llm", "cells", "evaluate"])).unwrap();
        assert_eq!(lock.grants(&one).unwrap(), grants(&["llm"]));
    }
}
