//! Compiled plugins, kept in the user's cache folder. Only files that the host wrote itself are loaded: each lies in a folder that
//! nobody else may write, under the digest of its source and of the engine, with a digest of its own content at its
//! end. They are mapped, not copied, where the system can.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{Read, Write};
use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, Metadata, OpenOptions};
use sha2::{Digest, Sha256};
use wasmtime::Engine;
use wasmtime::component::Component;

const DIGEST: usize = 32;

/// Bytes that are hashed at a time.
const CHUNK: usize = 64 << 10;

/// The folder of compiled plugins.
pub(crate) struct CompiledCache {
    dir: Dir,
}

impl CompiledCache {
    /// Opens or makes the folder. None when it cannot be had or others may write to it: then every start compiles anew.
    pub(crate) fn open(path: &Path) -> Option<Self> {
        std::fs::create_dir_all(path).ok()?;
        let path = path.join("compiled");
        make_private(&path)?;
        let dir = Dir::open_ambient_dir(&path, ambient_authority()).ok()?;
        private(&dir).then_some(Self { dir })
    }

    /// The compiled form of a component, if it is there and whole.
    pub(crate) fn get(&self, engine: &Engine, digest: &str) -> Option<Component> {
        let mut opened = self.dir.open(name(engine, digest)).ok()?;
        if !own(&self.dir, &opened.metadata().ok()?) {
            return None;
        }
        if !is_whole(&mut opened) {
            return None;
        }
        load(engine, opened)
    }

    /// Keeps a compiled component. A failure costs the next start a compilation and nothing else.
    pub(crate) fn put(&self, engine: &Engine, digest: &str, component: &Component) -> Option<()> {
        let code = component.serialize().ok()?;
        let name = name(engine, digest);
        let temporary = format!("{name}.{}", std::process::id());
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        cap_std::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = self.dir.open_with(&temporary, &options).ok()?;
        // The digest stands behind the code, which has to begin the file to be mapped.
        let written = file.write_all(&code).and_then(|()| file.write_all(&Sha256::digest(&code)));
        let kept = written.and_then(|()| self.dir.rename(&temporary, &self.dir, &name));
        if kept.is_err() {
            let _ = self.dir.remove_file(&temporary);
        }
        kept.ok()
    }
}

/// Whether the file ends with the digest of what comes before.
fn is_whole(file: &mut File) -> bool {
    let Some(mut left) = file.metadata().ok().and_then(|data| data.len().checked_sub(DIGEST as u64)) else {
        return false;
    };
    let (mut hasher, mut chunk, mut digest) = (Sha256::new(), vec![0; CHUNK], [0; DIGEST]);
    while left > 0 {
        let part = &mut chunk[..usize::try_from(left).unwrap_or(CHUNK).min(CHUNK)];
        if file.read_exact(part).is_err() {
            return false;
        }
        hasher.update(&*part);
        left -= part.len() as u64;
    }
    file.read_exact(&mut digest).is_ok() && hasher.finalize()[..] == digest
}

/// Maps the code of a file that [`is_whole`]: by its descriptor, so that it is the file that was checked.
#[cfg(target_os = "linux")]
fn load(engine: &Engine, file: File) -> Option<Component> {
    use std::os::fd::AsRawFd;
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    Engine::detect_precompiled_file(&path).ok()??;
    // SAFETY: the file is what this host's `put` wrote: folder and file are the user's own and nobody else's to write, the name holds the engine's own
    // compatibility hash, and the digest at the end matches. It is replaced by renaming and never changed. wasmtime checks version and settings once more.
    #[allow(unsafe_code)]
    unsafe { Component::deserialize_file(engine, path) }.ok()
}

#[cfg(not(target_os = "linux"))]
fn load(engine: &Engine, mut file: File) -> Option<Component> {
    use std::io::Seek;
    file.rewind().ok()?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).ok()?;
    let code = bytes.get(..bytes.len().checked_sub(DIGEST)?)?;
    Engine::detect_precompiled(code)?;
    // SAFETY: as above.
    #[allow(unsafe_code)]
    unsafe { Component::deserialize(engine, code) }.ok()
}

fn name(engine: &Engine, digest: &str) -> String {
    let mut hasher = DefaultHasher::new();
    engine.precompile_compatibility_hash().hash(&mut hasher);
    format!("{digest}-{:016x}.cwasm", hasher.finish())
}

#[cfg(unix)]
fn make_private(path: &Path) -> Option<()> {
    use std::os::unix::fs::DirBuilderExt;
    match std::fs::DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => None,
        _ => Some(()),
    }
}

/// Whether the folder is this user's, and nobody else may write to it. One that is not is left alone: what lies in it may be anybody's.
#[cfg(unix)]
fn private(dir: &Dir) -> bool {
    use cap_std::fs::MetadataExt;
    let probe = format!("owner.{}", std::process::id());
    // A file that this process makes belongs to the user that it runs as.
    let made = dir.create(&probe).and_then(|file| file.metadata());
    let _ = dir.remove_file(&probe);
    let (Ok(made), Ok(folder)) = (made, dir.dir_metadata()) else { return false };
    folder.uid() == made.uid() && folder.mode() & 0o022 == 0
}

/// Whether a file has the folder's owner, and nobody else may write to it.
#[cfg(unix)]
fn own(dir: &Dir, file: &Metadata) -> bool {
    use cap_std::fs::MetadataExt;
    file.is_file() && file.mode() & 0o022 == 0 && dir.dir_metadata().is_ok_and(|folder| folder.uid() == file.uid())
}

#[cfg(not(unix))]
fn make_private(path: &Path) -> Option<()> {
    std::fs::create_dir_all(path).ok()
}

#[cfg(not(unix))]
fn private(_: &Dir) -> bool {
    true
}

#[cfg(not(unix))]
fn own(_: &Dir, file: &Metadata) -> bool {
    file.is_file()
}
