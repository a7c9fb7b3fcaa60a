//! Loading a driver: only from a file whose content was compared, and never twice.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use adbc_core::error::Error;
use adbc_core::options::AdbcVersion;
use adbc_driver_manager::ManagedDriver;
use sha2::{Digest, Sha256};
use syrch_core::ports::DatabaseError;

use crate::AdbcConfig;

/// The function that drivers have by the standard.
const ENTRY: &str = "AdbcDriverInit";

/// A library of this process. It may have threads and thread-local data of its own, and is not
/// unloaded.
struct Loaded {
    identity: Identity,
    /// Open for as long as the process runs, whether the library has a driver or not. The loader
    /// takes a name that it has seen before for the library that it had then, and this file's
    /// number is the name, see [`load`]: no other file may get it.
    file: File,
    drivers: Vec<(Option<String>, ManagedDriver)>,
}

static LOADED: Mutex<Vec<Loaded>> = Mutex::new(Vec::new());

/// The metadata that tells one file and its content from another without reading it.
#[derive(PartialEq, Eq)]
struct Identity(Vec<u64>);

impl Identity {
    #[cfg(unix)]
    fn read(file: &File) -> io::Result<Self> {
        use std::os::unix::fs::MetadataExt;
        let about = file.metadata()?;
        let times = [about.mtime(), about.mtime_nsec(), about.ctime(), about.ctime_nsec()]
            .map(i64::cast_unsigned);
        Ok(Self([&[about.dev(), about.ino(), about.size()], times.as_slice()].concat()))
    }

    #[cfg(not(unix))]
    fn of(file: &File) -> io::Result<Self> {
        let about = file.metadata()?;
        let modified = about.modified()?.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Ok(Self(vec![about.len(), modified.as_secs(), u64::from(modified.subsec_nanos())]))
    }
}

/// The SHA-256 of a file in hexadecimal digits, as a configuration names it.
///
/// # Errors
/// When the file cannot be read.
pub fn digest(library: &Path) -> io::Result<String> {
    digest_of(&mut File::open(library)?)
}

fn digest_of(file: &mut File) -> io::Result<String> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            read => hasher.update(&buffer[..read]),
        }
    }
    Ok(syrch_core::text::hex(hasher.finalize()))
}

/// Loads the driver of a configuration. Blocks.
///
/// The file that was compared is the one that is loaded: it is opened once, its content is hashed
/// through that handle, and on Linux the loader gets the same handle by its name in `/proc`, so
/// that another file put at the path in between is not loaded. Elsewhere the path is loaded and the
/// handle's identity is compared with the path's afterwards. Who can write into the file itself
/// could still change it between the two steps; a file that others may write to is therefore
/// refused.
///
/// # Errors
/// [`DatabaseError::Unavailable`] for a library that is missing, has another content or is no
/// driver.
pub(crate) fn load(config: &AdbcConfig) -> Result<ManagedDriver, DatabaseError> {
    let library = &config.library;
    let failed =
        |reason: String| DatabaseError::Unavailable { path: config.display_address(), reason };
    let unread = |error: io::Error| {
        failed(format!("the driver `{}` cannot be read: {error}", library.display()))
    };
    let mut file = File::open(library).map_err(unread)?;
    refuse_shared(&file, library).map_err(failed)?;
    let identity = Identity::read(&file).map_err(unread)?;
    if let Some(expected) = &config.sha256 {
        let found = digest_of(&mut file).map_err(unread)?;
        if !expected.trim().eq_ignore_ascii_case(&found) {
            return Err(failed(format!(
                "the driver `{}` has the sha256 {found}, and the configuration names {}: \
                 was it updated?",
                library.display(),
                syrch_core::text::clip(expected.trim(), 64),
            )));
        }
    }
    // One at a time: a second driver is not loaded while the first is still being looked for.
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    let place = loaded.iter().position(|known| known.identity == identity).unwrap_or(loaded.len());
    if place == loaded.len() {
        loaded.push(Loaded { identity, file, drivers: Vec::new() });
    }
    let Loaded { identity, file, drivers } = &mut loaded[place];
    if let Some((_, driver)) = drivers.iter().find(|(entry, _)| *entry == config.entry) {
        return Ok(driver.clone());
    }
    let name = loadable(file, library);
    let mut found = Err(String::new());
    for entry in entries(config) {
        found = driver(&name, &entry).map_err(|error| error.message);
        if found.is_ok() {
            break;
        }
    }
    let driver = found.map_err(|reason: String| {
        let reason = reason.replace(&*name.to_string_lossy(), &library.to_string_lossy());
        failed(format!("`{}` is not a usable driver: {reason}", library.display()))
    })?;
    let now = File::open(library).and_then(|file| Identity::read(&file)).map_err(unread)?;
    if Identity::read(file).map_err(unread)? != *identity || now != *identity {
        return Err(failed(format!(
            "the driver `{}` was changed while it was loaded",
            library.display()
        )));
    }
    drivers.push((config.entry.clone(), driver.clone()));
    Ok(driver)
}

/// Loads a driver by the newest version of the standard that it has; cancelling came with the
/// second.
fn driver(library: &Path, entry: &str) -> Result<ManagedDriver, Error> {
    let load = |version| {
        ManagedDriver::load_dynamic_from_filename(library, Some(entry.as_bytes()), version)
    };
    load(AdbcVersion::V110).or_else(|first| load(AdbcVersion::V100).map_err(|_| first))
}

/// The names of the function that makes the driver, of which the first that exists is called: the
/// configured one, else the standard one and the one named after the file,
/// `AdbcDriverSnowflakeInit` for `libadbc_driver_snowflake.so`.
fn entries(config: &AdbcConfig) -> Vec<String> {
    if let Some(entry) = &config.entry {
        return vec![entry.clone()];
    }
    let stem = config.library.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let stem = stem.split('.').next().unwrap_or_default();
    let stem = stem.strip_prefix("lib").unwrap_or(stem);
    let words = stem.split('_').map(|word| {
        let mut letters = word.chars();
        letters
            .next()
            .map(|first| first.to_ascii_uppercase().to_string() + letters.as_str())
            .unwrap_or_default()
    });
    vec![ENTRY.to_owned(), format!("{}Init", words.collect::<String>())]
}

#[cfg(target_os = "linux")]
fn loadable(file: &File, _library: &Path) -> PathBuf {
    use std::os::fd::AsRawFd;
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

#[cfg(not(target_os = "linux"))]
fn loadable(_file: &File, library: &Path) -> PathBuf {
    library.to_owned()
}

#[cfg(unix)]
fn refuse_shared(file: &File, library: &Path) -> Result<(), String> {
    use std::os::unix::fs::MetadataExt;
    let about = file.metadata().map_err(|error| error.to_string())?;
    match about.is_file() && about.mode() & 0o002 == 0 {
        true => Ok(()),
        false => Err(format!(
            "the driver `{}` is not a file, or everybody may change it",
            library.display()
        )),
    }
}

#[cfg(not(unix))]
fn refuse_shared(_file: &File, _library: &Path) -> Result<(), String> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use syrch_core::Dialect;

    fn refusal(config: &AdbcConfig) -> String {
        load(config).map(drop).unwrap_err().to_string()
    }

    #[test]
    fn a_library_of_another_content_is_not_loaded() {
        let folder = tempfile::tempdir().unwrap();
        let library = folder.path().join("libadbc_driver_shop.so");
        std::fs::write(&library, "abc").unwrap();
        let found = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(digest(&library).unwrap(), found);
        let mut config = AdbcConfig::new("shop", &library, Dialect::Ansi);
        config.sha256 = Some("0".repeat(64));
        let message = refusal(&config);
        assert!(message.contains(found) && message.contains(&"0".repeat(64)), "{message}");
        // With the right digest it is loaded, which fails: it is a text.
        config.sha256 = Some(found.to_uppercase());
        assert!(refusal(&config).contains("not a usable driver"));
    }

    #[test]
    fn what_is_no_private_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let missing = AdbcConfig::new("shop", folder.path().join("none.so"), Dialect::Ansi);
        assert!(refusal(&missing).contains("cannot be read"));
        let is_folder = AdbcConfig::new("shop", folder.path(), Dialect::Ansi);
        assert!(refusal(&is_folder).contains("is not a file"));
    }

    #[test]
    fn entries_are_named_after_the_file() {
        let mut config =
            AdbcConfig::new("shop", "/opt/libadbc_driver_flightsql.so.1", Dialect::Ansi);
        assert_eq!(entries(&config), ["AdbcDriverInit", "AdbcDriverFlightsqlInit"]);
        config.entry = Some("duckdb_adbc_init".to_owned());
        assert_eq!(entries(&config), ["duckdb_adbc_init"]);
    }
}
