//! Reading and writing in the folder of a project, which may be anybody's: a link leads to whatever
//! its maker liked, opening a pipe waits for a writer, and a device may never end.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;

use crate::Error;

/// Bytes of a file that the host reads of a project at most. Lists of packages are the largest.
const LARGEST: u64 = 16 << 20;
/// Bytes of a module or component that a tool has made, at most.
const LARGEST_MADE: u64 = 256 << 20;
/// The first bytes of every module and component of WebAssembly.
const MAGIC: &[u8] = b"\0asm";
/// Folders deep at most.
const DEEPEST: usize = 32;

/// The content of a plain file; `None` if there is none.
///
/// # Errors
/// When it is none, is too large, or cannot be read.
pub(crate) fn read(path: &Path) -> Result<Option<Vec<u8>>, Error> {
    let wrong = |reason: &str| Err(Error::file(path, reason));
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => return wrong("is a symbolic link"),
        Ok(found) if !found.is_file() => return wrong("is no plain file"),
        Ok(found) if found.len() > LARGEST => return wrong("is too large"),
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::file(path, error)),
    }
    let mut content = Vec::new();
    let read = open(path).and_then(|file| file.take(LARGEST).read_to_end(&mut content));
    read.map(|_| Some(content)).map_err(|error| Error::file(path, error))
}

/// The module or component that a tool has made in a folder. Whatever the tool left there may be
/// its doing or that of code which it ran: nothing but WebAssembly is read, and nothing that a link
/// names outside of the folder.
///
/// # Errors
/// When it lies elsewhere, is no plain file, is too large, is no WebAssembly or cannot be read.
pub(crate) fn read_made(path: &Path, folder: &Path) -> Result<Vec<u8>, Error> {
    let root = folder.canonicalize().map_err(|error| Error::file(folder, error))?;
    let place = path.canonicalize().map_err(|error| Error::file(path, error))?;
    if !place.starts_with(&root) {
        let folder = folder.display();
        return Err(Error::file(path, format!("lies outside of `{folder}`, where it is made")));
    }
    let wrong = Error::file(path, "is no module or component of WebAssembly");
    if !fs::symlink_metadata(&place).is_ok_and(|found| found.is_file()) {
        return Err(wrong);
    }
    let mut file = open(&place).map_err(|error| Error::file(path, error))?;
    let mut content = Vec::new();
    let mut read = (&mut file).take(MAGIC.len() as u64).read_to_end(&mut content);
    if content != MAGIC {
        return Err(wrong);
    }
    read = read.and_then(|_| file.take(LARGEST_MADE).read_to_end(&mut content));
    match read {
        Ok(_) if content.len() as u64 > LARGEST_MADE => Err(Error::file(path, "is too large")),
        Ok(_) => Ok(content),
        Err(error) => Err(Error::file(path, error)),
    }
}

/// Writes a new file in the place of one that may be there, and never where a link leads.
pub(crate) fn write_new(path: &Path, content: &[u8]) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(Error::file(path, error)),
        _ => {}
    }
    let file = OpenOptions::new().write(true).create_new(true).open(path);
    file.and_then(|mut file| file.write_all(content)).map_err(|error| Error::file(path, error))
}

/// Opens a plain file to read it, if nothing else has taken its place since it was looked at.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    {
        use nix::fcntl::OFlag;
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags((OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits());
    }
    let file = options.read(true).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("is no plain file")),
    }
}

/// The same as text.
///
/// # Errors
/// Also when it is no UTF-8.
pub(crate) fn read_text(path: &Path) -> Result<Option<String>, Error> {
    let text = read(path)?.map(String::from_utf8).transpose();
    text.map_err(|_| Error::file(path, "is not UTF-8"))
}

/// Refuses a symbolic link.
///
/// # Errors
/// When it is one.
pub(crate) fn refuse_link(path: &Path) -> Result<(), Error> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => Err(Error::file(
            path,
            "is a symbolic link, and the build would write where it leads: remove it",
        )),
        _ => Ok(()),
    }
}

/// Refuses a folder that is a symbolic link or has one in it.
///
/// # Errors
/// When there is one, or the folder cannot be read.
pub(crate) fn refuse_links(folder: &Path) -> Result<(), Error> {
    fn refuse_links_below(path: &Path, depth: usize) -> Result<(), Error> {
        refuse_link(path)?;
        if !path.is_dir() {
            return Ok(());
        }
        if depth == DEEPEST {
            return Err(Error::file(path, "has too many folders in folders"));
        }
        for entry in fs::read_dir(path).map_err(|error| Error::file(path, error))? {
            refuse_links_below(
                &entry.map_err(|error| Error::file(path, error))?.path(),
                depth + 1,
            )?;
        }
        Ok(())
    }
    refuse_links_below(folder, 0)
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_plain_files_are_read() {
        let folder = syrch_kit::scratch();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("plain"), "text").unwrap();
        symlink(path("plain"), path("link")).unwrap();
        nix::unistd::mkfifo(&path("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        File::create(path("large")).unwrap().set_len(LARGEST + 1).unwrap();
        fs::write(path("binary"), [0xff]).unwrap();
        assert_eq!(read_text(&path("plain")).unwrap().as_deref(), Some("text"));
        assert_eq!(read(&path("missing")).unwrap(), None);
        for wrong in ["link", "pipe", "large", "."] {
            assert!(read(&path(wrong)).is_err(), "{wrong}");
        }
        assert!(read_text(&path("binary")).unwrap_err().to_string().contains("UTF-8"));
    }

    /// A build step may leave anything in the place of what the tool makes.
    #[test]
    fn what_a_tool_has_made_is_webassembly_in_its_folder() {
        let scratch = syrch_kit::scratch();
        let folder = scratch.path().join("target");
        fs::create_dir(&folder).unwrap();
        let module = b"\0asm\x01\0\0\0";
        fs::write(folder.join("made.wasm"), module).unwrap();
        fs::hard_link(folder.join("made.wasm"), folder.join("same.wasm")).unwrap();
        symlink("made.wasm", folder.join("link.wasm")).unwrap();
        for name in ["made.wasm", "same.wasm", "link.wasm"] {
            assert_eq!(read_made(&folder.join(name), &folder).unwrap(), module, "{name}");
        }
        let secret = scratch.path().join("secret.txt");
        fs::write(&secret, "secret").unwrap();
        fs::write(scratch.path().join("other.wasm"), module).unwrap();
        symlink(&secret, folder.join("secret.wasm")).unwrap();
        symlink("../other.wasm", folder.join("other.wasm")).unwrap();
        symlink(scratch.path(), folder.join("up")).unwrap();
        fs::hard_link(&secret, folder.join("hard.wasm")).unwrap();
        nix::unistd::mkfifo(&folder.join("pipe.wasm"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        let large = File::create(folder.join("large.wasm")).unwrap();
        large.set_len(LARGEST_MADE + 1).unwrap();
        std::os::unix::fs::FileExt::write_all_at(&large, module, 0).unwrap();
        for (name, why) in [
            ("secret.wasm", "outside of"),
            ("other.wasm", "outside of"),
            ("up/other.wasm", "outside of"),
            ("../other.wasm", "outside of"),
            ("hard.wasm", "no module or component"),
            ("pipe.wasm", "no module or component"),
            (".", "no module or component"),
            ("large.wasm", "too large"),
            ("missing.wasm", "missing.wasm"),
        ] {
            let error = read_made(&folder.join(name), &folder).unwrap_err().to_string();
            assert!(error.contains(why), "{name}: {error}");
        }
        write_new(&folder.join("secret.wasm"), b"new").unwrap();
        write_new(&folder.join("made.wasm"), b"new").unwrap();
        assert_eq!(fs::read(&secret).unwrap(), b"secret");
        assert_eq!(fs::read(folder.join("same.wasm")).unwrap(), module);
    }
}
