//! A folder that several hosts share, such as one of NFS: a file for each entry and for each lease.
//!
//! It relies on two things that such file systems promise: a rename replaces a file whole, and of
//! several processes that make the same new file one succeeds. It uses neither locks nor mapped
//! memory, compares no clocks of two hosts to judge a lease, and takes no look that finds nothing
//! for the truth: a process that takes a lease makes a file in the folder, after which its host
//! reads the folder anew, and then looks for the entry once more. Two processes may take over the
//! lease of one that was killed, and then both make the call.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

use cap_std::fs::{Dir, MetadataExt, OpenOptions, OpenOptionsExt};
use syrch_files::FILE_MODE;

use crate::backend::{Backend, Claim, LEASE, Request};
use crate::error::CacheError;
use crate::folder::{is_private, open_private};
use crate::pause::Pause;
use crate::record::{HEAD, decode_entry, encode_entry};
use crate::store::Entry;
use crate::{Key, Kind, Size};

/// The folder of the entries, with the version of the form.
const ROOT: &str = "entries-1";
/// The endings of the names of entries, leases, and files that are being written.
const ENTRY: &str = ".entry";
const LEASE_FILE: &str = ".lease";
const PART: &str = ".part";
/// Hexadecimal digits of a key that name its folder, and the number of such folders.
const DIGITS: usize = 2;
const FOLDERS: u64 = 256;
/// Each folder has its part of all bytes, and one entry may have half of that.
const LARGEST_FRACTION: u64 = 2 * FOLDERS;
/// Entries that this process writes between two sweeps, of a folder each.
const SWEEP_EVERY: u64 = 16;
/// The age of leases and unfinished files that a sweep removes: no process needs them any more.
const ABANDONED: Duration = Duration::from_secs(60 * 60);
/// The interval at which leases of other processes are checked.
const POLL_EVERY: Duration = Duration::from_millis(100);
/// Leases of others that are remembered, and bytes of a lease.
const SEEN: usize = 4_096;
const LEASE_BYTES: u64 = 64;

/// A shared folder, which is opened on first use.
pub(crate) struct SharedFolder {
    path: PathBuf,
    opened: Option<Dir>,
    pause: Pause,
    /// A random number, since processes of several hosts may have the same id.
    id: u64,
    /// The content of leases of others, and when it was first seen.
    seen: HashMap<Key, (String, Instant)>,
    /// Counts the files that this process has made, so that each has another name and content.
    made: u64,
    writes: u64,
}

impl SharedFolder {
    /// The folder at this path, which is made on first use.
    pub(crate) fn new(path: PathBuf) -> Self {
        let pause = Pause::default();
        let id = RandomState::new().hash_one(&path);
        Self { path, opened: None, pause, id, seen: HashMap::new(), made: 0, writes: 0 }
    }

    /// Runs an operation on the folder, unless one has failed a moment ago.
    fn work<T>(
        &mut self,
        work: impl FnOnce(&mut Self, &Dir) -> io::Result<T>,
    ) -> Result<T, CacheError> {
        self.pause.check()?;
        let result = self.open().and_then(|dir| {
            let done = work(self, &dir);
            self.opened = Some(dir);
            done.map_err(|error| self.explain_error(&error))
        });
        result.inspect_err(|error| {
            self.opened = None;
            self.pause.begin(error.clone());
        })
    }

    fn open(&mut self) -> Result<Dir, CacheError> {
        if let Some(dir) = self.opened.take() {
            return Ok(dir);
        }
        let dir = open_private(&self.path)?.0;
        make_dir(&dir, ROOT).map_err(|error| self.explain_error(&error))?;
        let root = dir.open_dir(ROOT).map_err(|error| self.explain_error(&error))?;
        // Somebody else may have made it while others could write to the folder.
        if !is_private(&root).map_err(|error| self.explain_error(&error))? {
            return Err(CacheError::Folder {
                path: self.path.join(ROOT).display().to_string(),
                reason: "another user owns it, or others may write to it".to_owned(),
            });
        }
        Ok(root)
    }

    fn explain_error(&self, error: &io::Error) -> CacheError {
        let path = self.path.display().to_string();
        let reason = error.to_string();
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                CacheError::Full { path, reason }
            }
            _ => CacheError::Unavailable { path, reason },
        }
    }

    /// Takes the lease, unless another process holds it. One whose content has stayed the same for
    /// the time of a lease, by this host's own clock, is of a process that has ended.
    fn take(&mut self, dir: &Dir, key: &Key, owner: i64) -> io::Result<bool> {
        let name = path_of(key, LEASE_FILE);
        let content = self.next_content(owner);
        if create(dir, &name, content.as_bytes())? {
            return Ok(true);
        }
        let Some(held) = read_lease(dir, &name)? else {
            return create(dir, &name, content.as_bytes());
        };
        if owner_of(&held) == Some(owner) {
            return Ok(true);
        }
        if self.seen.len() >= SEEN {
            self.seen.retain(|_, (_, since)| since.elapsed() < LEASE * 2);
        }
        let now = Instant::now();
        let (known, since) = self.seen.entry(*key).or_insert_with(|| (held.clone(), now));
        if *known != held {
            (*known, *since) = (held, now);
        }
        if since.elapsed() < LEASE {
            return Ok(false);
        }
        self.seen.remove(key);
        remove(dir, &name)?;
        create(dir, &name, content.as_bytes())
    }

    /// The content of a lease of this process, which differs each time.
    fn next_content(&mut self, owner: i64) -> String {
        self.made += 1;
        format!("{owner} {}", self.made)
    }

    /// Removes what is old in the folder that has the turn, and the oldest entries in it until they
    /// take their part of `most` bytes. Clocks of two hosts may differ by some seconds, and an
    /// entry lives for longer.
    fn sweep(&self, dir: &Dir, folder: &str, most: u64, ttl: Duration) -> io::Result<()> {
        let mut entries = list(dir, folder)?;
        entries.retain(|file: &Listed| {
            let limit = if file.name.ends_with(ENTRY) { ttl } else { ABANDONED };
            let is_old = file.age > limit;
            if is_old {
                drop(remove(dir, &format!("{folder}/{}", file.name)));
            }
            !is_old && file.name.ends_with(ENTRY)
        });
        entries.sort_by_key(|file| file.age);
        let mut sum = 0;
        for file in entries {
            sum += file.bytes;
            if sum > most / FOLDERS {
                remove(dir, &format!("{folder}/{}", file.name))?;
            }
        }
        Ok(())
    }

    /// All entries with the paths of their files.
    fn walk(&self, dir: &Dir, mut visit: impl FnMut(Kind, &str, u64)) -> io::Result<()> {
        for place in 0..FOLDERS {
            let folder = format!("{place:02x}");
            for file in list(dir, &folder)?.iter().filter(|file| file.name.ends_with(ENTRY)) {
                let kind = file.name.split('-').next().and_then(|kind| kind.parse().ok());
                if let Some(kind) = kind {
                    let bytes = file.bytes.saturating_sub(HEAD as u64);
                    visit(kind, &format!("{folder}/{}", file.name), bytes);
                }
            }
        }
        Ok(())
    }
}

impl Backend for SharedFolder {
    fn claim(&mut self, key: &Key, request: Request) -> Result<Claim, CacheError> {
        self.work(|folder, dir| {
            if let Some(value) = read_entry(dir, key, request)? {
                folder.seen.remove(key);
                return Ok(Claim::Value(value));
            }
            make_dir(dir, &folder_of(key))?;
            if !folder.take(dir, key, request.owner)? {
                return Ok(Claim::Elsewhere);
            }
            folder.seen.remove(key);
            // The leader before may have ended since the first look.
            Ok(match read_entry(dir, key, request)? {
                None => Claim::Taken,
                Some(value) => {
                    remove(dir, &path_of(key, LEASE_FILE))?;
                    Claim::Value(value)
                }
            })
        })
    }

    fn put(&mut self, key: &Key, entry: Entry<'_>, most: u64) -> Result<(), CacheError> {
        self.work(|folder, dir| {
            make_dir(dir, &folder_of(key))?;
            folder.made += 1;
            let part = format!("{}-{:016x}-{}{PART}", path_of(key, ""), folder.id, folder.made);
            let written = create(dir, &part, &encode_entry(key, &entry));
            let moved = written.and_then(|_| dir.rename(&part, dir, path_of(key, ENTRY)));
            if let Err(error) = moved {
                drop(remove(dir, &part));
                return Err(error);
            }
            remove(dir, &path_of(key, LEASE_FILE))?;
            let is_due = folder.writes.is_multiple_of(SWEEP_EVERY);
            folder.writes += 1;
            let millis = u64::try_from(entry.expires.saturating_sub(entry.created));
            let ttl = Duration::from_millis(millis.unwrap_or_default());
            if is_due { folder.sweep(dir, &folder_of(key), most, ttl) } else { Ok(()) }
        })
    }

    fn delete(&mut self, key: &Key) -> Result<(), CacheError> {
        self.work(|_, dir| remove(dir, &path_of(key, ENTRY)))
    }

    fn renew(&mut self, held: &HashSet<Key>, owner: i64, _now: i64) -> Result<(), CacheError> {
        self.work(|folder, dir| {
            for key in held {
                let name = path_of(key, LEASE_FILE);
                let is_own = read_lease(dir, &name)?.as_deref().and_then(owner_of) == Some(owner);
                if is_own {
                    let content = folder.next_content(owner);
                    overwrite(dir, &name, content.as_bytes())?;
                }
            }
            Ok(())
        })
    }

    fn release(&mut self, key: &Key, owner: i64) -> Result<(), CacheError> {
        self.work(|_, dir| {
            let name = path_of(key, LEASE_FILE);
            match read_lease(dir, &name)?.as_deref().and_then(owner_of) == Some(owner) {
                true => remove(dir, &name),
                false => Ok(()),
            }
        })
    }

    fn check(&mut self) -> Result<(), CacheError> {
        self.work(|folder, dir| {
            folder.made += 1;
            let part = format!("{:016x}-{}{PART}", folder.id, folder.made);
            create(dir, &part, b"check")?;
            remove(dir, &part)
        })
    }

    fn entry_sizes(&mut self) -> Result<BTreeMap<Kind, Size>, CacheError> {
        self.work(|folder, dir| {
            let mut sizes: BTreeMap<Kind, Size> =
                Kind::ALL.into_iter().map(|kind| (kind, Size::default())).collect();
            folder.walk(dir, |kind, _, bytes| {
                let size = sizes.entry(kind).or_default();
                size.entries += 1;
                size.bytes += bytes;
            })?;
            Ok(sizes)
        })
    }

    fn clear(&mut self, kind: Option<Kind>) -> Result<Size, CacheError> {
        self.work(|folder, dir| {
            let mut cleared = Size::default();
            folder.walk(dir, |of, path, bytes| {
                if kind.is_none_or(|kind| kind == of) && remove(dir, path).is_ok() {
                    cleared.entries += 1;
                    cleared.bytes += bytes;
                }
            })?;
            Ok(cleared)
        })
    }

    fn bytes(&mut self) -> u64 {
        let sizes = self.entry_sizes().unwrap_or_default();
        sizes.values().map(|size| size.bytes + size.entries * HEAD as u64).sum()
    }

    fn largest(&self, most: u64) -> u64 {
        most / LARGEST_FRACTION
    }

    fn poll_every(&self) -> Duration {
        POLL_EVERY
    }
}

/// The folder of a key.
fn folder_of(key: &Key) -> String {
    let mut digits = key.to_string();
    digits.truncate(DIGITS);
    digits
}

/// The path of a file of a key, such as `3f/llm-3f….entry`.
fn path_of(key: &Key, ending: &str) -> String {
    format!("{}/{}-{key}{ending}", folder_of(key), key.kind().name())
}

/// The owner of a lease by its content.
fn owner_of(content: &str) -> Option<i64> {
    content.split(' ').next()?.parse().ok()
}

fn make_dir(dir: &Dir, name: &str) -> io::Result<()> {
    match dir.create_dir(name) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// Makes a new file. Returns false if there is one.
fn create(dir: &Dir, name: &str, content: &[u8]) -> io::Result<bool> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(FILE_MODE);
    match dir.open_with(name, &options) {
        Ok(mut file) => file.write_all(content).map(|()| true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

/// Replaces the content of a file, if it is there.
fn overwrite(dir: &Dir, name: &str, content: &[u8]) -> io::Result<()> {
    match dir.open_with(name, OpenOptions::new().write(true).truncate(true)) {
        Ok(mut file) => file.write_all(content),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

fn remove(dir: &Dir, name: &str) -> io::Result<()> {
    match dir.remove_file(name) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The content of a regular file of at most so many bytes. `None` if there is no such file.
fn read_file(dir: &Dir, name: &str, most: u64) -> io::Result<Option<Vec<u8>>> {
    let found = match dir.symlink_metadata(name) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if !found.is_file() || found.len() > most {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    match dir.open(name) {
        // What others have put there is none of ours, whatever it says.
        Ok(file) if file.metadata()?.uid() != dir.dir_metadata()?.uid() => Ok(None),
        Ok(file) => file.take(most).read_to_end(&mut bytes).map(|_| Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn read_lease(dir: &Dir, name: &str) -> io::Result<Option<String>> {
    let content = read_file(dir, name, LEASE_BYTES)?;
    Ok(content.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

/// The limit on the size of an entry's file, in bytes.
const ENTRY_BYTES: u64 = 256 << 20;

fn read_entry(dir: &Dir, key: &Key, request: Request) -> io::Result<Option<Vec<u8>>> {
    let bytes = read_file(dir, &path_of(key, ENTRY), ENTRY_BYTES)?;
    Ok(bytes.and_then(|bytes| decode_entry(key, &bytes, request.now, request.ttl)))
}

/// A file of a folder.
struct Listed {
    name: String,
    bytes: u64,
    age: Duration,
}

/// The regular files of a folder. One that is missing has none.
fn list(dir: &Dir, folder: &str) -> io::Result<Vec<Listed>> {
    let entries = match dir.read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let now = SystemTime::now();
    let mut files = Vec::new();
    for entry in entries {
        let entry = entry?;
        // What another process has removed meanwhile is no file any more.
        let Some(found) = entry.metadata().ok().filter(|found| found.is_file()) else { continue };
        let Ok(name) = entry.file_name().into_string() else { continue };
        let changed = found.modified().map_or(now, cap_std::time::SystemTime::into_std);
        let age = now.duration_since(changed).unwrap_or_default();
        files.push(Listed { name, bytes: found.len(), age });
    }
    Ok(files)
}

#[cfg(test)]
mod tests;
