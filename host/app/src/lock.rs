//! `syrch.lock`: the third-party plugins that the user has added, each with its digest and what it
//! is granted.
//!
//! The lock is the user's: it stands in the user's own folder or where the user says, and never
//! counts because it lies in a project. Its components stand beside it, by their digests. A plugin
//! is known by its digest, so that its grants hold however it is named.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::Read;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant};

use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use syrch_core::Grants;
use syrch_core::roles::Role;

use crate::Error;

/// The end of the name of a component that is not added yet.
const PART: &str = ".part.wasm";
/// The name of the file.
pub const FILE: &str = "syrch.lock";
/// The folder of components beside it.
const STORE: &str = "plugins";
/// The beginning of a key, which names its algorithm.
pub const KEY: &str = "ed25519:";
/// The form of the file.
const SCHEMA: &str = "syrch.lock/1";
/// Bytes of the file at most.
const LONGEST: u64 = 4 << 20;
/// Symbolic links on the way to a file, at most. Systems follow no more.
const MOST_LINKS: usize = 40;
/// Time to wait for another process that changes the lock, at most.
const PATIENCE: Duration = Duration::from_secs(10);
/// Time between two looks at it.
const PAUSE: Duration = Duration::from_millis(20);

/// A plugin of the lock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Locked {
    /// The sha256 of its component, in hex: its identity.
    pub digest: String,
    /// The size of its component.
    pub bytes: u64,
    /// The file or folder that it was added from, or its address in a registry, as `oci://…`.
    pub source: PathBuf,
    /// The digest of its manifest in the registry that it was added from, as `sha256:…`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifest: Option<String>,
    /// The roles that it implements.
    pub roles: Vec<Role>,
    /// The version of the contract that it was compared with.
    pub contract: String,
    /// The key of its author, by which whatever takes its place has to be signed, as `ed25519:…`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The signer of its bundle, who has to sign whatever takes its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signer: Option<Signer>,
    /// The grants that it asks for: the ports that it imports, within its own manifest.
    pub wanted: Grants,
    /// The grants that the user has given it.
    pub granted: Grants,
}

/// The signer of a plugin whose bundle of Sigstore was verified: a key, or an identity.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signer {
    /// The public key, in base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The identity in the certificate, such as an address of mail or a workflow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<String>,
    /// The address of the issuer that vouched for the identity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,
    /// The time at which a log had the signature; `None` if no log was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logged: Option<String>,
    /// The sha256 of the trust root, in hex; `None` if it was not needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
}

impl Signer {
    /// Returns true if both name the same key or identity.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        (&self.key, &self.identity, &self.issuer) == (&other.key, &other.identity, &other.issuer)
    }

    /// Returns whether it names a key, or an identity that was verified against a trust root.
    fn is_whole(&self) -> bool {
        match (&self.key, &self.identity, &self.issuer) {
            (Some(key), None, None) => {
                !key.is_empty()
                    && key.bytes().all(|b| b.is_ascii_alphanumeric() || b"+/=".contains(&b))
            }
            (None, Some(_), Some(_)) => self.root.is_some(),
            _ => false,
        }
    }
}

impl fmt::Display for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.key, &self.identity, &self.issuer) {
            (Some(key), ..) => write!(f, "the key {key}"),
            (_, Some(identity), Some(issuer)) => write!(f, "`{identity}` of {issuer}"),
            _ => f.write_str("nobody"),
        }
    }
}

/// The plugins that the user has added, by name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lock {
    path: PathBuf,
    plugins: BTreeMap<String, Locked>,
}

/// A component beside the others under a name of its own, which is removed unless it is added.
#[derive(Debug)]
pub struct Staged {
    path: PathBuf,
    /// The component is nobody's once no process has it open.
    _held: File,
}

impl Staged {
    /// The path of the component until it is added.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        drop(std::fs::remove_file(&self.path));
    }
}

/// The lock as its file has it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    schema: String,
    #[serde(deserialize_with = "read_plugins")]
    plugins: BTreeMap<String, Locked>,
}

/// Reads the plugins by name. An entry that another one would hide, or that no command of this
/// host has written, is an error at its place.
fn read_plugins<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, Locked>, D::Error> {
    struct Plugins;

    impl<'de> Visitor<'de> for Plugins {
        type Value = BTreeMap<String, Locked>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("plugins by name")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut plugins = BTreeMap::new();
            while let Some(name) = map.next_key::<String>()? {
                if plugins.contains_key(&name) {
                    return Err(A::Error::custom(format!("the plugin `{name}` stands twice")));
                }
                let locked: Locked = map.next_value()?;
                locked.check(&name).map_err(A::Error::custom)?;
                if let Some((other, _)) = find_component(&plugins, &locked.digest) {
                    let why = format!("the component of `{name}` is that of `{other}`");
                    return Err(A::Error::custom(why));
                }
                plugins.insert(name, locked);
            }
            Ok(plugins)
        }
    }

    deserializer.deserialize_map(Plugins)
}

impl Locked {
    /// Checks what its form does not say.
    fn check(&self, name: &str) -> Result<(), String> {
        // It is a part of a path, and compared with what is computed, in lower case.
        if !is_hex(&self.digest) {
            return Err(format!(
                "the digest of `{name}` is none: it has 64 digits of hex in lower case"
            ));
        }
        let hex = self.manifest.as_ref().map(|text| text.strip_prefix("sha256:"));
        if hex.is_some_and(|hex| !hex.is_some_and(is_hex)) {
            return Err(format!(
                "the manifest of `{name}` is none: it is `sha256:` and 64 digits of hex"
            ));
        }
        if self.key.as_ref().is_some_and(|key| !is_key(key)) {
            return Err(format!(
                "the key of `{name}` is none: one is `{KEY}` and the base64 of 32 bytes"
            ));
        }
        if self.signer.as_ref().is_some_and(|signer| !signer.is_whole()) {
            return Err(format!(
                "the signer of `{name}` is none: it has a `key`, or an `identity`, its `issuer` \
                 and the `root`"
            ));
        }
        let within = self.granted.narrow(&self.wanted);
        let within = within.map_err(|why| format!("the grants of `{name}`: {why}"))?;
        let excess = within.list_differences(&self.granted);
        match excess.iter().find_map(|word| word.strip_prefix("+ ")) {
            Some(word) => Err(format!("`{name}` is granted `{word}`, for which it does not ask")),
            None => Ok(()),
        }
    }
}

/// Returns whether a text has the form of a digest.
fn is_hex(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

/// The plugin of a component, with its name.
fn find_component<'a>(
    plugins: &'a BTreeMap<String, Locked>,
    digest: &str,
) -> Option<(&'a String, &'a Locked)> {
    plugins.iter().find(|(_, one)| one.digest == digest)
}

/// Returns whether a text has the form of a key.
fn is_key(text: &str) -> bool {
    let encoded = text.strip_prefix(KEY).and_then(|text| text.strip_suffix('='));
    encoded.is_some_and(|text| {
        let mut letters = text.bytes();
        text.len() == 43 && letters.all(|b| b.is_ascii_alphanumeric() || b"+/".contains(&b))
    })
}

impl Lock {
    /// Reads the lock at a path; empty if there is none. It blocks.
    ///
    /// # Errors
    /// When the file cannot be read, or is no lock.
    pub fn read(path: &Path) -> Result<Self, Error> {
        // Opening a pipe waits for a writer, and a device may never end.
        match std::fs::metadata(path) {
            Ok(data) if data.is_file() => {}
            Ok(_) => return Err(wrong(path, "is no plain file")),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self { path: path.to_owned(), plugins: BTreeMap::new() });
            }
            Err(error) => return Err(wrong(path, error)),
        }
        let mut text = Vec::new();
        File::open(path)
            .and_then(|file| file.take(LONGEST + 1).read_to_end(&mut text))
            .map_err(|error| wrong(path, error))?;
        let plugins = parse(&text).map_err(|why| wrong(path, why))?;
        Ok(Self { path: path.to_owned(), plugins })
    }

    /// The grants of the plugin of a digest in a search that starts now: those that it had when
    /// this lock was read, without what was withdrawn since. A plugin that was removed, or whose
    /// grants of data were narrowed, has none until the lock is read anew, since these were applied
    /// when the database was opened; so it is where the file cannot be read any more. It blocks.
    pub(crate) fn current_grants(&self, digest: &str) -> Option<Grants> {
        let before = self.grants(digest).unwrap_or_else(|_| Some(Grants::default()));
        // Nobody reads a file for those who have added nothing.
        if self.plugins.is_empty() {
            return before;
        }
        let now = Self::read(&self.path).and_then(|lock| lock.grants(digest));
        match (before, now) {
            (None, Ok(now)) => now,
            (Some(before), Ok(Some(now))) => {
                let both = before.narrow(&now).unwrap_or_default();
                let is_same = (both.rows, both.reads, both.sends, &both.tables)
                    == (before.rows, before.reads, before.sends, &before.tables);
                Some(if is_same { both } else { Grants::default() })
            }
            (Some(_), Ok(None)) | (_, Err(_)) => Some(Grants::default()),
        }
    }

    /// Puts a component beside the others, to be looked at before it is added. What a process left
    /// there that was killed is removed. It blocks.
    ///
    /// # Errors
    /// When the component cannot be written, or another command changes the lock and does not end.
    pub fn stage(&self, component: &[u8]) -> Result<Staged, Error> {
        let store = self.store();
        syrch_files::make_folder(&store).map_err(|error| wrong(&store, error))?;
        // Nobody removes it before it is held.
        let _held = hold(&self.path)?;
        remove_left(&store);
        let path = store.join(format!(".{}{PART}", std::process::id()));
        syrch_files::replace(&path, component)
            .and_then(|()| File::open(&path))
            .and_then(|file| file.lock_shared().map(|()| file))
            .map(|file| Staged { path: path.clone(), _held: file })
            .map_err(|error| wrong(&path, error))
    }

    /// Writes the lock with one plugin put in, in the place of `old`, which is what the caller has
    /// seen under its name. A component that is staged beside the others is moved to its place.
    /// Other plugins stay as they are in the file.
    ///
    /// # Errors
    /// When the plugin was changed since, its component has another name, or the lock cannot be
    /// written; it is then as it was.
    pub fn insert(
        &mut self,
        name: &str,
        old: Option<&Locked>,
        locked: Locked,
        staged: Option<&Path>,
    ) -> Result<(), Error> {
        let path = self.path.clone();
        let place = self.component(&locked.digest);
        self.update(|plugins| {
            if plugins.get(name) != old {
                let why = format!("another command has changed `{name}` meanwhile");
                return Err(Error::LockRace { path: path.display().to_string(), why });
            }
            // A plugin is its bytes: under two names it would be unclear what it is granted.
            let other = find_component(plugins, &locked.digest).filter(|(other, _)| *other != name);
            if let Some((other, _)) = other {
                let why = format!("the component of `{name}` was added as `{other}`");
                return Err(Error::Config(why));
            }
            plugins.insert(name.to_owned(), locked);
            let moved = staged.map_or(Ok(()), |staged| std::fs::rename(staged, &place));
            moved.map_err(|error| wrong(&place, error))
        })
    }

    /// Writes the lock without a plugin, and removes its component.
    ///
    /// # Errors
    /// When there is no such plugin, or the lock cannot be written.
    pub fn remove(&mut self, name: &str) -> Result<Locked, Error> {
        let path = self.path.clone();
        self.update(|plugins| plugins.remove(name).ok_or_else(|| unknown(&path, name)))
    }

    /// Changes the plugins as the file has them now, while no other process does, and removes the
    /// components that no plugin has any more.
    fn update<T>(
        &mut self,
        change: impl FnOnce(&mut BTreeMap<String, Locked>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        folder
            .map_or(Ok(()), syrch_files::make_folder)
            .map_err(|error| wrong(&self.path, error))?;
        let held = hold(&self.path)?;
        let before = Self::read(&self.path)?.plugins;
        let mut plugins = before.clone();
        let changed = change(&mut plugins)?;
        self.write(plugins)?;
        let kept: BTreeSet<&str> = self.plugins.values().map(|one| one.digest.as_str()).collect();
        for gone in before.values().filter(|one| !kept.contains(one.digest.as_str())) {
            drop(std::fs::remove_file(self.component(&gone.digest)));
        }
        drop(held);
        Ok(changed)
    }

    fn write(&mut self, plugins: BTreeMap<String, Locked>) -> Result<(), Error> {
        let document = Document { schema: SCHEMA.to_owned(), plugins };
        let mut text =
            serde_json::to_vec_pretty(&document).map_err(|error| wrong(&self.path, error))?;
        text.push(b'\n');
        // What cannot be read again would lock the user out of all commands.
        parse(&text).map_err(|why| wrong(&self.path, why))?;
        syrch_files::replace(&self.path, &text).map_err(|error| wrong(&self.path, error))?;
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
        self.plugins.get(name).ok_or_else(|| unknown(&self.path, name))
    }

    /// The plugin of a component, with its name; `None` if it was not added.
    pub(crate) fn find_component(&self, digest: &str) -> Option<(&String, &Locked)> {
        find_component(&self.plugins, digest)
    }

    /// The name of the plugin that was added from this file, or from a folder that has it or a link
    /// on the way to it. It blocks.
    pub(crate) fn find_source(&self, path: &Path) -> Option<&String> {
        // Nobody looks for a file for those who have added nothing.
        self.plugins.first_key_value()?;
        let places = list_places(path);
        let mut plugins = self.plugins.iter();
        let found = plugins.find(|(_, one)| {
            let sources = [std::path::absolute(&one.source).ok(), one.source.canonicalize().ok()];
            let mut sources = sources.into_iter().flatten();
            sources.any(|source| places.iter().any(|place| place.starts_with(&source)))
        });
        found.map(|(name, _)| name)
    }

    /// The grants of the plugin of a digest; `None` if it was not added.
    ///
    /// # Errors
    /// When they name tables, and none that the plugin asks for.
    pub fn grants(&self, digest: &str) -> Result<Option<Grants>, Error> {
        let Some((name, one)) = self.find_component(digest) else { return Ok(None) };
        let granted = one.granted.narrow(&one.wanted).map(Some);
        granted.map_err(|why| wrong(&self.path, format!("the grants of `{name}`: {why}")))
    }
}

fn wrong(path: &Path, why: impl std::fmt::Display) -> Error {
    Error::Config(format!("`{}`: {why}", path.display()))
}

fn unknown(path: &Path, name: &str) -> Error {
    Error::Config(format!("`{}` has no plugin `{name}`", path.display()))
}

/// Lists where a path stands: each symbolic link on the way, by the path that leads to it, and the
/// file in the end.
fn list_places(path: &Path) -> Vec<PathBuf> {
    let Ok(path) = std::path::absolute(path) else { return Vec::new() };
    let mut places = vec![PathBuf::new()];
    let mut rest: Vec<OsString> = path.iter().rev().map(OsString::from).collect();
    while let Some(part) = rest.pop() {
        let Some(place) = places.last_mut() else { break };
        match Path::new(&part).components().next() {
            Some(Component::ParentDir) => {
                place.pop();
            }
            Some(Component::CurDir) | None => {}
            Some(_) => place.push(&part),
        }
        let Ok(target) = std::fs::read_link(&*place) else { continue };
        if places.len() > MOST_LINKS {
            break;
        }
        let next = places.last().and_then(|place| place.parent()).unwrap_or(Path::new("/"));
        let next = next.to_owned();
        // An absolute target begins with the root, which takes the place of what is there.
        rest.extend(target.iter().rev().map(OsString::from));
        places.push(next);
    }
    places
}

/// Removes the components of a folder that are not added and that no process holds.
fn remove_left(store: &Path) {
    for entry in std::fs::read_dir(store).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        // Also what was written in part only.
        let is_part = name.starts_with('.') && name.contains(PART);
        let mut options = OpenOptions::new();
        let options = syrch_files::own(options.read(true));
        if is_part && options.open(entry.path()).is_ok_and(|file| file.try_lock().is_ok()) {
            drop(std::fs::remove_file(entry.path()));
        }
    }
}

/// Waits until no other process changes the lock at a path, and keeps others from it as long as the
/// file is open.
fn hold(path: &Path) -> Result<File, Error> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".lock");
    let beside = PathBuf::from(beside);
    if beside.exists() && !beside.is_file() {
        return Err(wrong(&beside, "is no plain file"));
    }
    let file = syrch_files::own(OpenOptions::new().append(true).create(true))
        .open(&beside)
        .map_err(|error| wrong(&beside, error))?;
    let start = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(error)) => return Err(wrong(&beside, error)),
            Err(TryLockError::WouldBlock) if start.elapsed() > PATIENCE => {
                let why = "another command changes it and does not end".to_owned();
                return Err(Error::LockRace { path: path.display().to_string(), why });
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
        }
    }
}

/// The plugins of the text of a lock.
fn parse(text: &[u8]) -> Result<BTreeMap<String, Locked>, String> {
    if text.len() as u64 > LONGEST {
        return Err("is too large for a lock of plugins".to_owned());
    }
    let Document { schema, plugins } =
        serde_json::from_slice(text).map_err(|error| format!("is no lock of plugins: {error}"))?;
    if schema != SCHEMA {
        return Err(format!("is of the form `{schema}`, and this host reads {SCHEMA}"));
    }
    Ok(plugins)
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
            manifest: None,
            roles: vec![Role::Solver],
            contract: "0.1.0".to_owned(),
            key: None,
            signer: None,
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
        lock.insert("short", None, lock_plugin(&one, &["llm", "rows=none"]), None).unwrap();
        let other = "b".repeat(64);
        let mut again = lock_plugin(&other, &["llm", "sql"]);
        again.manifest = Some(format!("sha256:{one}"));
        lock.insert("again", None, again, None).unwrap();
        assert_eq!(Lock::read(&path).unwrap(), lock);
        assert_eq!(lock.grants(&one).unwrap().unwrap(), grants(&["llm", "rows=none"]));
        assert_eq!(lock.grants(&"c".repeat(64)).unwrap(), None);
        let text = std::fs::read_to_string(&path).unwrap();
        let upper = "A".repeat(64);
        for (from, to, why) in [
            ("syrch.lock/1", "syrch.lock/9", "is of the form"),
            (other.as_str(), "../../evil", "the digest of `again` is none"),
            (other.as_str(), upper.as_str(), "in lower case"),
            (other.as_str(), one.as_str(), "the component of `short` is that of `again` at line "),
            ("sha256:", "md5:", "the manifest of `again` is none"),
            ("\"bytes\"", "\"trust\"", "is no lock"),
            ("rows=none", "rows=all", "is no lock"),
            ("\"again\"", "\"short\"", "the plugin `short` stands twice at line "),
            ("\"rows=none\"", "\"rows=none\", \"rows=full\"", "`rows=` stands twice at line "),
            ("\"rows=none\"", "\"cells\"", "is granted `cells`, for which it does not ask at line"),
            ("\"wanted\"", "\"key\": \"mine\", \"wanted\"", "the key of `again` is none"),
        ] {
            std::fs::write(&path, text.replace(from, to)).unwrap();
            let error = Lock::read(&path).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
        std::fs::write(&path, text).unwrap();
        assert!(lock.remove("short").is_ok() && lock.remove("short").is_err());
        assert_eq!(lock.grants(&one).unwrap(), None);
    }

    #[test]
    fn a_component_that_a_killed_process_left_is_removed_and_no_other() {
        let scratch = syrch_kit::scratch();
        let lock = Lock::read(&scratch.path().join("own").join(FILE)).unwrap();
        std::fs::create_dir_all(lock.store()).unwrap();
        let left = [".1.part.wasm", ".1.part.wasm.1-2f.part"].map(|name| lock.store().join(name));
        let kept = [".notes.wasm", "0.part.wasm"].map(|name| lock.store().join(name));
        for path in left.iter().chain(&kept) {
            std::fs::write(path, "x").unwrap();
        }
        // That of a process which lives.
        let other = lock.store().join(".2.part.wasm");
        std::fs::write(&other, "x").unwrap();
        let held = File::open(&other).unwrap();
        held.lock_shared().unwrap();
        let staged = lock.stage(b"one").unwrap();
        assert_eq!(std::fs::read(staged.path()).unwrap(), b"one");
        assert!(left.iter().all(|path| !path.exists()), "{left:?}");
        assert!(kept.iter().chain([&other]).all(|path| path.exists()), "{kept:?}");
        let path = staged.path().to_owned();
        drop((staged, held));
        assert!(!path.exists());
        drop(lock.stage(b"two").unwrap());
        assert!(!other.exists());
    }

    #[test]
    fn a_component_has_one_name() {
        let scratch = syrch_kit::scratch();
        let mut lock = Lock::read(&scratch.path().join(FILE)).unwrap();
        let one = "a".repeat(64);
        let first = lock_plugin(&one, &["llm"]);
        lock.insert("first", None, first.clone(), None).unwrap();
        let before = std::fs::read(lock.path()).unwrap();
        let wider = lock_plugin(&one, &["llm", "sql"]);
        let error = lock.insert("second", None, wider.clone(), None).unwrap_err().to_string();
        assert_eq!(error, "the component of `second` was added as `first`");
        // An update of another plugin may not become this one either.
        let second = lock_plugin(&"b".repeat(64), &["llm"]);
        lock.insert("second", None, second.clone(), None).unwrap();
        assert!(lock.insert("second", Some(&second), wider.clone(), None).is_err());
        lock.remove("second").unwrap();
        assert_eq!(std::fs::read(lock.path()).unwrap(), before);
        lock.insert("first", Some(&first), wider, None).unwrap();
        assert_eq!(lock.grants(&one).unwrap().unwrap(), grants(&["llm", "sql"]));
    }

    #[test]
    fn a_grant_for_which_the_plugin_did_not_ask_is_refused() {
        let scratch = syrch_kit::scratch();
        let mut lock = Lock::read(&scratch.path().join(FILE)).unwrap();
        let one = lock_plugin(&"a".repeat(64), &["llm", "cells", "evaluate"]);
        let error = lock.insert("short", None, one, None).unwrap_err().to_string();
        assert!(error.contains("is granted `cells`, for which it does not ask"), "{error}");
    }

    #[test]
    fn what_was_withdrawn_counts_in_searches_that_start_later() {
        let scratch = syrch_kit::scratch();
        let path = scratch.path().join(FILE);
        let one = "a".repeat(64);
        let mut lock = Lock::read(&path).unwrap();
        assert_eq!(lock.current_grants(&one), None);
        let words = ["llm", "sql", "model-calls=5", "rows=sample:3"];
        let first = lock_plugin(&one, &words);
        lock.insert("votes", None, first.clone(), None).unwrap();
        let begun = Lock::read(&path).unwrap();
        assert_eq!(begun.current_grants(&one).unwrap(), grants(&words));
        for (now, counts) in [
            // A port or a number is taken away; what is added waits for the next start.
            (
                &["llm", "model-calls=5", "rows=sample:3"][..],
                &["llm", "model-calls=5", "rows=sample:3"][..],
            ),
            (
                &["llm", "rows", "model-calls=2", "rows=sample:3"],
                &["llm", "model-calls=2", "rows=sample:3"],
            ),
            // Rows and tables were applied when the database was opened.
            (&["llm", "sql", "rows=none"], &[]),
            (&["llm", "sql", "rows=sample:3", "sends=none"], &[]),
            (&["llm", "sql", "rows=sample:3", "tables=orders"], &[]),
        ] {
            let old = lock.find("votes").unwrap().clone();
            lock.insert("votes", Some(&old), lock_plugin(&one, now), None).unwrap();
            assert_eq!(begun.current_grants(&one).unwrap(), grants(counts), "{now:?}");
        }
        lock.remove("votes").unwrap();
        assert_eq!(begun.current_grants(&one).unwrap(), Grants::default(), "it was removed");
        std::fs::write(&path, "no lock").unwrap();
        assert_eq!(begun.current_grants(&one).unwrap(), Grants::default());
    }

    #[test]
    fn a_lock_that_could_not_be_read_again_is_not_written() {
        let scratch = syrch_kit::scratch();
        let mut lock = Lock::read(&scratch.path().join(FILE)).unwrap();
        lock.insert("first", None, lock_plugin(&"a".repeat(64), &["llm"]), None).unwrap();
        let before = std::fs::read(lock.path()).unwrap();
        let mut empty = lock_plugin(&"b".repeat(64), &["llm"]);
        empty.granted.tables = Some(Vec::new());
        assert!(lock.insert("second", None, empty, None).is_err());
        assert_eq!(std::fs::read(lock.path()).unwrap(), before);
    }

    #[test]
    fn a_change_keeps_what_others_have_changed_meanwhile() {
        let scratch = syrch_kit::scratch();
        let path = scratch.path().join(FILE);
        let seen = lock_plugin(&"a".repeat(64), &["llm", "sql"]);
        let mut stale = Lock::read(&path).unwrap();
        let mut other = Lock::read(&path).unwrap();
        other.insert("votes", None, seen.clone(), None).unwrap();
        stale.insert("short", None, lock_plugin(&"b".repeat(64), &["llm"]), None).unwrap();
        assert_eq!(Lock::read(&path).unwrap().plugins().len(), 2, "neither was lost");
        let denied = lock_plugin(&"a".repeat(64), &["sql"]);
        other.insert("votes", Some(&seen), denied.clone(), None).unwrap();
        let error = stale.insert("votes", Some(&seen), seen.clone(), None).unwrap_err();
        assert!(matches!(error, Error::LockRace { .. }), "{error}");
        assert!(error.to_string().contains("meanwhile"), "{error}");
        assert_eq!(Lock::read(&path).unwrap().find("votes").unwrap(), &denied);
        let threads = (0..6).map(|number| {
            let path = path.clone();
            std::thread::spawn(move || {
                let mut lock = Lock::read(&path).unwrap();
                let locked = lock_plugin(&number.to_string().repeat(64), &["llm"]);
                lock.insert(&format!("plugin-{number}"), None, locked, None).unwrap();
            })
        });
        threads.collect::<Vec<_>>().into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(Lock::read(&path).unwrap().plugins().len(), 8);
    }

    /// A link in the folder of a plugin may lead to what nobody has reviewed.
    #[cfg(unix)]
    #[test]
    fn a_source_is_known_by_each_link_on_the_way() {
        use std::os::unix::fs::symlink;
        let scratch = syrch_kit::scratch();
        let place = scratch.path().canonicalize().unwrap();
        for folder in ["repo/plugin/build", "repo/plugin/other", "evil"] {
            std::fs::create_dir_all(place.join(folder)).unwrap();
        }
        for file in ["repo/plugin/build/own.wasm", "evil.wasm", "evil/votes.wasm", "one.wasm"] {
            std::fs::write(place.join(file), "x").unwrap();
        }
        for (target, link) in [
            ("../../../evil.wasm", "repo/plugin/build/up.wasm"),
            ("up.wasm", "repo/plugin/build/again.wasm"),
            ("../../evil", "repo/plugin/folder"),
            ("repo", "same"),
            ("same", "twice"),
            ("repo/plugin/build/own.wasm", "into.wasm"),
            ("loop", "loop"),
            ("evil.wasm", "free.wasm"),
        ] {
            symlink(target, place.join(link)).unwrap();
        }
        symlink(place.join("evil"), place.join("repo/plugin/absolute")).unwrap();
        for source in ["repo/plugin", "same/plugin"] {
            let mut lock = Lock::read(&place.join(source).join(FILE)).unwrap();
            let source = place.join(source);
            let one = Locked { source, ..lock_plugin(&"a".repeat(64), &["llm"]) };
            lock.insert("votes", None, one, None).unwrap();
            for path in [
                "repo/plugin/build/own.wasm",
                "repo/plugin/build/up.wasm",
                "repo/plugin/build/again.wasm",
                "repo/plugin/folder/votes.wasm",
                "repo/plugin/absolute/votes.wasm",
                "same/plugin/build/up.wasm",
                "twice/plugin/build/../folder/votes.wasm",
                "evil/../repo/plugin/build/up.wasm",
                "into.wasm",
            ] {
                assert!(lock.find_source(&place.join(path)).is_some(), "{path}");
            }
            for path in
                ["evil.wasm", "free.wasm", "evil/votes.wasm", "loop", "repo/plugin/../../evil.wasm"]
            {
                assert_eq!(lock.find_source(&place.join(path)), None, "{path}");
            }
            std::fs::remove_file(place.join("repo/plugin").join(FILE)).unwrap();
        }
    }

    #[cfg(unix)]
    #[test]
    fn the_file_that_is_held_is_none_where_a_link_leads() {
        let scratch = syrch_kit::scratch();
        let missing = scratch.path().join("missing");
        std::os::unix::fs::symlink(&missing, scratch.path().join("syrch.lock.lock")).unwrap();
        let mut lock = Lock::read(&scratch.path().join(FILE)).unwrap();
        let added = lock.insert("votes", None, lock_plugin(&"a".repeat(64), &["llm"]), None);
        assert!(added.is_err() && !missing.exists() && !lock.path().exists());
    }

    #[test]
    fn only_a_plain_file_of_a_bounded_size_is_a_lock() {
        let scratch = syrch_kit::scratch();
        let path = scratch.path().join(FILE);
        File::create(&path).unwrap().set_len(LONGEST + 1).unwrap();
        assert!(Lock::read(&path).unwrap_err().to_string().contains("too large"));
        for wrong in [scratch.path(), Path::new("/dev/zero")] {
            if wrong.exists() {
                let error = Lock::read(wrong).unwrap_err().to_string();
                assert!(error.contains("no plain file"), "{error}");
            }
        }
    }
}
