//! Reading and writing in the folder of a project, which may be anybody's: a link leads to whatever
//! its maker liked, opening a pipe waits for a writer, and a device may never end.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::Path;

use crate::Error;

/// Bytes of a file that the host reads of a project at most. Lists of packages are the largest.
const LARGEST: u64 = 16 << 20;
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
    let read = File::open(path).and_then(|file| file.take(LARGEST).read_to_end(&mut content));
    read.map(|_| Some(content)).map_err(|error| Error::file(path, error))
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
}
