//! The cache of compiled plugins in the user's cache folder. A file is used only if this host wrote
//! it for exactly that component: the component's digest, the engine and the code are authenticated
//! together, with a key in the user's state folder. So whoever can write only the cache (a restored
//! CI cache, say) cannot put code there. Files are mapped, not copied, where the system supports
//! it.

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, Metadata, OpenOptions};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use wasmtime::Engine;
use wasmtime::component::Component;

/// Bytes of the key, and of the code that authenticates a file.
const KEY: usize = 32;
/// Bytes that are read at once.
const CHUNK: usize = 64 << 10;
/// The age at which an unused file is removed.
const MAX_AGE: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// The age at which a file is removed whose writer was killed.
const MAX_AGE_UNFINISHED: Duration = Duration::from_secs(60 * 60);
/// The time of a used file is renewed when it is older than this.
const TOUCHED: Duration = Duration::from_secs(24 * 60 * 60);
/// The most bytes of all files together.
const MAX_BYTES: u64 = 1 << 30;

/// The place where compiled plugins are cached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeCache {
    /// The folder that holds the folder `compiled`.
    pub folder: PathBuf,
    /// Paths for the file with the key, none of them in that folder. The first one that exists or
    /// can be created is used. The file is created in mode 0600.
    pub keys: Vec<PathBuf>,
}

/// The folder of compiled plugins with its key.
pub(crate) struct CompiledCache {
    dir: Dir,
    key: [u8; KEY],
}

impl CompiledCache {
    /// Opens or creates the folder and the key. `None` when they are not available, are links, or
    /// others may write to them: then every start compiles anew.
    pub(crate) fn open(cache: &CodeCache) -> Option<Self> {
        std::fs::create_dir_all(&cache.folder).ok()?;
        let path = cache.folder.join("compiled");
        syrch_files::make_folder(&path).ok()?;
        // The folder itself must be no link: what it led to would be pruned and trusted.
        fn is_folder(path: &Path) -> bool {
            path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir())
        }
        if !is_folder(&path) {
            return None;
        }
        let dir = Dir::open_ambient_dir(&path, ambient_authority()).ok()?;
        let is_same = same_folder(&dir, &path);
        (is_same && private(&dir)).then_some(())?;
        Some(Self { dir, key: cache.keys.iter().find_map(|path| key(path))? })
    }

    /// The compiled form of a component, if it is there and authentic.
    pub(crate) fn get(&self, engine: &Engine, digest: &str) -> Option<Component> {
        let name = name(engine, digest);
        let mut opened = self.open_file(&name)?;
        if !self.is_authentic(&mut opened, engine, digest) {
            return None;
        }
        let metadata = opened.metadata().ok()?;
        if age(&metadata) > TOUCHED {
            let _ = opened.try_clone().map(|file| file.into_std().set_modified(SystemTime::now()));
        }
        map(engine, opened)
    }

    /// Stores compiled code. A failure costs only a compilation at the next start.
    pub(crate) fn put(&self, engine: &Engine, digest: &str, code: &[u8]) -> Option<()> {
        self.prune(code.len() as u64);
        let name = name(engine, digest);
        let temporary = format!("{name}.{}", std::process::id());
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        cap_std::fs::OpenOptionsExt::mode(&mut options, syrch_files::FILE_MODE);
        let _ = self.dir.remove_file(&temporary);
        let mut file = self.dir.open_with(&temporary, &options).ok()?;
        let mut mac = self.mac(engine, digest)?;
        mac.update(code);
        // The code has to begin the file to be mapped.
        let written =
            file.write_all(code).and_then(|()| file.write_all(&mac.finalize().into_bytes()));
        let renamed = written.and_then(|()| self.dir.rename(&temporary, &self.dir, &name));
        if renamed.is_err() {
            let _ = self.dir.remove_file(&temporary);
        }
        renamed.ok()
    }

    /// Opens a regular file of the folder's owner, following no link.
    fn open_file(&self, name: &str) -> Option<File> {
        let mut options = OpenOptions::new();
        options.read(true);
        // Whatever it is, opening it does not wait.
        #[cfg(unix)]
        cap_std::fs::OpenOptionsExt::custom_flags(&mut options, syrch_files::NO_LINK);
        let opened = self.dir.open_with(name, &options).ok()?;
        is_owned(&self.dir, &opened.metadata().ok()?).then_some(opened)
    }

    /// An authentication code over the identity of the compiled component, which has yet to be fed
    /// with the code.
    fn mac(&self, engine: &Engine, digest: &str) -> Option<Hmac<Sha256>> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.key).ok()?;
        for part in [digest.as_bytes(), &engine_hash(engine).to_le_bytes()] {
            mac.update(&(part.len() as u64).to_le_bytes());
            mac.update(part);
        }
        Some(mac)
    }

    /// Returns whether this host wrote the file for that component and engine.
    fn is_authentic(&self, file: &mut File, engine: &Engine, digest: &str) -> bool {
        let Some(mut mac) = self.mac(engine, digest) else { return false };
        let Some(mut left) =
            file.metadata().ok().and_then(|data| data.len().checked_sub(KEY as u64))
        else {
            return false;
        };
        let mut chunk = vec![0; CHUNK];
        let mut code = [0; KEY];
        while left > 0 {
            let part = &mut chunk[..usize::try_from(left).unwrap_or(CHUNK).min(CHUNK)];
            if file.read_exact(part).is_err() {
                return false;
            }
            mac.update(part);
            left -= part.len() as u64;
        }
        file.read_exact(&mut code).is_ok()
            && mac.verify_slice(&code).is_ok()
            && file.rewind().is_ok()
    }

    /// Frees so many bytes: removes files that were not used for long, then unfinished ones, then
    /// those whose last use is the oldest.
    fn prune(&self, needed: u64) {
        let Ok(entries) = self.dir.entries() else { return };
        let mut files: Vec<(Duration, u64, String)> = Vec::new();
        for entry in entries.flatten() {
            let (Ok(name), Ok(metadata)) = (entry.file_name().into_string(), entry.metadata())
            else {
                continue;
            };
            if metadata.is_dir() {
                continue;
            }
            let bound = if name.ends_with(SUFFIX) { MAX_AGE } else { MAX_AGE_UNFINISHED };
            let age = age(&metadata);
            if age > bound {
                let _ = self.dir.remove_file(&name);
            } else {
                files.push((age, metadata.len(), name));
            }
        }
        files.sort();
        let mut bytes = needed;
        for (_, size, name) in files {
            bytes = bytes.saturating_add(size);
            if bytes > MAX_BYTES {
                let _ = self.dir.remove_file(&name);
            }
        }
    }
}

/// Returns the time since a file was written or used; zero for one from the future.
fn age(metadata: &Metadata) -> Duration {
    let modified = metadata.modified().ok().map(cap_std::time::SystemTime::into_std);
    modified.and_then(|time| SystemTime::now().duration_since(time).ok()).unwrap_or_default()
}

/// Reads the key, or creates one. `None` when it is not available, or another user could have read
/// or written it.
fn key(path: &Path) -> Option<[u8; KEY]> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).ok()?;
    }
    let mut fresh = [0; KEY];
    getrandom::fill(&mut fresh).ok()?;
    // Made whole under another name: two hosts that start at once agree on the one that was first.
    let temporary = path.with_extension(std::process::id().to_string());
    if path.symlink_metadata().is_err() {
        let mut options = std::fs::OpenOptions::new();
        syrch_files::private(options.write(true).create_new(true));
        let made = options.open(&temporary).and_then(|mut file| file.write_all(&fresh));
        let _ = made.and_then(|()| std::fs::hard_link(&temporary, path));
        let _ = std::fs::remove_file(&temporary);
    }
    let mut options = std::fs::OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, syrch_files::NO_LINK);
    let mut file = options.open(path).ok()?;
    let metadata = file.metadata().ok()?;
    if !metadata.is_file() || metadata.len() != KEY as u64 || !is_secret(&metadata) {
        return None;
    }
    let mut key = [0; KEY];
    file.read_exact(&mut key).ok().map(|()| key)
}

/// Maps the code of an authentic file by its descriptor, so that it is the file that was checked.
#[cfg(target_os = "linux")]
pub(crate) fn map(engine: &Engine, file: File) -> Option<Component> {
    use std::os::fd::AsRawFd;
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    Engine::detect_precompiled_file(&path).ok()??;
    // SAFETY: the file is what this host's `put` wrote for this component and engine: its code
    // authenticates all three, with a key that only the user can read. It is replaced by renaming
    // and never changed. Or it is one of `in_memory`, which has no name. wasmtime checks version
    // and settings once more.
    #[allow(unsafe_code)]
    unsafe { Component::deserialize_file(engine, path) }.ok()
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn map(engine: &Engine, mut file: File) -> Option<Component> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).ok()?;
    load_copy(engine, bytes.get(..bytes.len().checked_sub(KEY)?)?)
}

/// Writes the code of a component. It does the same each time.
pub type WriteCode<'w> = dyn Fn(&mut dyn Write) -> io::Result<()> + Send + 'w;

/// Loads code that this process, its child or its build has compiled.
pub(crate) fn load(engine: &Engine, write: &WriteCode<'_>) -> Option<Component> {
    in_memory(engine, write).or_else(|| {
        let mut code = Vec::new();
        write(&mut code).ok()?;
        load_copy(engine, &code)
    })
}

/// Loads code through a file in memory that only this process has. Of mapped code only the pages
/// that are used are touched, while a copy touches all of them.
#[cfg(target_os = "linux")]
fn in_memory(engine: &Engine, write: &WriteCode<'_>) -> Option<Component> {
    let descriptor = rustix::fs::memfd_create(c"code", rustix::fs::MemfdFlags::CLOEXEC).ok()?;
    let mut file = std::fs::File::from(descriptor);
    write(&mut file).ok()?;
    map(engine, File::from_std(file))
}

#[cfg(not(target_os = "linux"))]
fn in_memory(_: &Engine, _: &WriteCode<'_>) -> Option<Component> {
    None
}

/// Loads code of this process's own binary.
pub(crate) fn load_plain(engine: &Engine, code: &'static [u8]) -> Option<Component> {
    in_place(engine, code).or_else(|| load(engine, &|file| file.write_all(code)))
}

/// Loads code where it lies: it is read from the binary page by page as it is run, once for all
/// processes. In this process one engine can have it, since wasmtime finds the component of running
/// code by the address.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn in_place(engine: &Engine, code: &'static [u8]) -> Option<Component> {
    static PLACED: Mutex<BTreeSet<usize>> = Mutex::new(BTreeSet::new());
    Engine::detect_precompiled(code)?;
    let address = code.as_ptr().addr();
    if !address.is_multiple_of(rustix::param::page_size())
        || !PLACED.lock().unwrap_or_else(PoisonError::into_inner).insert(address)
    {
        return None;
    }
    // SAFETY: the code comes from the build of this host, and is a constant.
    #[allow(unsafe_code)]
    unsafe { Component::deserialize_raw(engine, code.into()) }.ok()
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
fn in_place(_: &Engine, _: &'static [u8]) -> Option<Component> {
    None
}

fn load_copy(engine: &Engine, code: &[u8]) -> Option<Component> {
    Engine::detect_precompiled(code)?;
    // SAFETY: the code comes from this host's own compiler, in this process, by a pipe from its own
    // binary or from its build, and from nowhere else, or it is authentic as in `map`. wasmtime
    // checks version and settings.
    #[allow(unsafe_code)]
    unsafe { Component::deserialize(engine, code) }.ok()
}

/// The suffix of the names of finished files.
const SUFFIX: &str = ".cwasm";

fn engine_hash(engine: &Engine) -> u64 {
    let mut hasher = DefaultHasher::new();
    engine.precompile_compatibility_hash().hash(&mut hasher);
    hasher.finish()
}

fn name(engine: &Engine, digest: &str) -> String {
    format!("{digest}-{:016x}{SUFFIX}", engine_hash(engine))
}

/// Returns whether the opened folder is the one that the path names without following a link at its
/// end.
#[cfg(unix)]
fn same_folder(dir: &Dir, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let (Ok(opened), Ok(named)) = (dir.dir_metadata(), path.symlink_metadata()) else {
        return false;
    };
    use cap_std::fs::MetadataExt as _;
    (MetadataExt::dev(&named), MetadataExt::ino(&named)) == (opened.dev(), opened.ino())
}

/// Returns whether the folder belongs to this user, and no other may write to it.
#[cfg(unix)]
fn private(dir: &Dir) -> bool {
    use cap_std::fs::MetadataExt;
    dir.dir_metadata().is_ok_and(|folder| {
        folder.uid() == user() && folder.mode() & syrch_files::OTHERS_WRITE == 0
    })
}

/// Returns whether a file belongs to the folder's owner, and no other user may write to it.
#[cfg(unix)]
fn is_owned(dir: &Dir, file: &Metadata) -> bool {
    use cap_std::fs::MetadataExt;
    file.is_file()
        && file.mode() & syrch_files::OTHERS_WRITE == 0
        && dir.dir_metadata().is_ok_and(|folder| folder.uid() == file.uid())
}

/// Returns whether a file belongs to this user, and no other may read or write it.
#[cfg(unix)]
fn is_secret(file: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    file.uid() == user() && file.mode() & syrch_files::OTHERS == 0
}

#[cfg(unix)]
fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
fn same_folder(_: &Dir, _: &Path) -> bool {
    true
}

#[cfg(not(unix))]
fn private(_: &Dir) -> bool {
    true
}

#[cfg(not(unix))]
fn is_owned(_: &Dir, file: &Metadata) -> bool {
    file.is_file()
}

#[cfg(not(unix))]
fn is_secret(_: &std::fs::Metadata) -> bool {
    true
}
