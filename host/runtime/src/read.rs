//! Reads a component file: a regular file within the limit, opened once.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use sha2::{Digest, Sha256};
use syrch_core::{Limits, text};

use crate::LoadError;

/// The sha256 of bytes, in hex: a plugin's identity.
#[must_use]
pub fn digest(bytes: &[u8]) -> String {
    text::hex(Sha256::digest(bytes))
}

/// Reads a component file.
///
/// # Errors
/// When it is missing, not a regular file, or over the limit.
pub fn read_component(path: &Path, limits: &Limits) -> Result<Vec<u8>, LoadError> {
    // The kind is checked before the file is opened: opening a named pipe would wait for a writer.
    let metadata = std::fs::metadata(path).map_err(|error| open_error(path, &error))?;
    if !metadata.is_file() {
        let kind = if metadata.is_dir() { "it is a folder" } else { "it is not a regular file" };
        return Err(LoadError::Unreadable(kind.to_owned()));
    }
    let file = File::open(path).map_err(|error| open_error(path, &error))?;
    let mut bytes = Vec::new();
    let limit = limits.component_bytes;
    file.take(limit + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| LoadError::Unreadable(error.to_string()))?;
    if bytes.len() as u64 > limit {
        return Err(LoadError::TooLarge { bytes: metadata.len().max(limit + 1), limit });
    }
    recognise(&bytes)?;
    Ok(bytes)
}

fn open_error(path: &Path, error: &std::io::Error) -> LoadError {
    if error.kind() != std::io::ErrorKind::NotFound {
        return LoadError::Unreadable(error.to_string());
    }
    let folder =
        path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let beside: Vec<String> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .take(1_000)
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.ends_with(".wasm"))
        .collect();
    let wanted =
        path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let similar = text::nearest(&wanted, beside.iter().map(String::as_str));
    let similar = similar.into_iter().map(|name| folder.join(name).display().to_string()).collect();
    LoadError::Missing { path: path.display().to_string(), similar }
}

/// Distinguishes a component by its first bytes from what people mistake for one.
pub(crate) fn recognise(bytes: &[u8]) -> Result<(), LoadError> {
    let found = match bytes {
        [] => "is empty",
        [0x00, b'a', b's', b'm', 0x0d, 0x00, 0x01, 0x00, ..] => return Ok(()),
        [0x00, b'a', b's', b'm', 0x01, 0x00, 0x00, 0x00, ..] => "is a core WebAssembly module",
        [0x00, b'a', b's', b'm', ..] => "is WebAssembly of an unknown version or truncated",
        [0x7f, b'E', b'L', b'F', ..] => "is native code (ELF, such as a precompiled .cwasm)",
        [b'P', b'K', ..] | [0x1f, 0x8b, ..] => "is an archive",
        _ => "is not WebAssembly",
    };
    Err(LoadError::NotAComponent { found: found.to_owned() })
}
