//! Compiled plugins, kept in the user's cache folder. Only files that the host wrote itself are loaded: each lies in a folder that
//! nobody else may write, under the digest of its source and of the engine, with a digest of its own content at its head.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{Read, Write};
use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};
use sha2::{Digest, Sha256};
use wasmtime::Engine;
use wasmtime::component::Component;

const DIGEST: usize = 32;

/// The folder of compiled plugins.
pub(crate) struct CompiledCache {
    dir: Dir,
}

impl CompiledCache {
    /// Opens or makes the folder. None when it cannot be had or others may write to it: then every start compiles anew.
    pub(crate) fn open(path: &Path) -> Option<Self> {
        let path = path.join("compiled");
        std::fs::create_dir_all(&path).ok()?;
        let dir = Dir::open_ambient_dir(&path, ambient_authority()).ok()?;
        private(&dir).then_some(Self { dir })
    }

    /// The compiled form of a component, if it is there and whole.
    pub(crate) fn get(&self, engine: &Engine, digest: &str) -> Option<Component> {
        let mut file = Vec::new();
        self.dir.open(name(engine, digest)).ok()?.read_to_end(&mut file).ok()?;
        let (head, code) = file.split_at_checked(DIGEST)?;
        if head != &Sha256::digest(code)[..] || Engine::detect_precompiled(code).is_none() {
            return None;
        }
        // SAFETY: the bytes are what this host's `put` wrote: the folder is the user's alone, the name holds the engine's own
        // compatibility hash, and the digest at the head matches. wasmtime checks version and settings once more.
        #[allow(unsafe_code)]
        unsafe { Component::deserialize(engine, code) }.ok()
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
        let written = file.write_all(&Sha256::digest(&code)).and_then(|()| file.write_all(&code));
        let kept = written.and_then(|()| self.dir.rename(&temporary, &self.dir, &name));
        if kept.is_err() {
            let _ = self.dir.remove_file(&temporary);
        }
        kept.ok()
    }
}

fn name(engine: &Engine, digest: &str) -> String {
    let mut hasher = DefaultHasher::new();
    engine.precompile_compatibility_hash().hash(&mut hasher);
    format!("{digest}-{:016x}.cwasm", hasher.finish())
}

#[cfg(unix)]
fn private(dir: &Dir) -> bool {
    use cap_std::fs::PermissionsExt;
    let tighten = || dir.set_permissions(".", cap_std::fs::Permissions::from_mode(0o700)).is_ok();
    dir.dir_metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o022 == 0 || tighten())
}

#[cfg(not(unix))]
fn private(_: &Dir) -> bool {
    true
}
