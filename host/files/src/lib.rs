//! Files and folders that only their owner may read, since what the host writes may quote cells of
//! the user's databases.
//!
//! The modes are those of Unix. On other systems a file is as private as the folder that it is made
//! in.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::time::SystemTime;

/// The mode of a private file: only its owner reads and writes it.
pub const FILE_MODE: u32 = 0o600;
/// The mode of a private folder: only its owner lists, enters and changes it.
pub const FOLDER_MODE: u32 = 0o700;
/// The bits that let anybody but the owner read, write or run a file.
pub const OTHERS: u32 = 0o077;
/// The bits that let anybody but the owner write to a file, or make files in a folder.
pub const OTHERS_WRITE: u32 = 0o022;

/// Makes a private folder, and those above it that are missing. A folder that exists stays as it
/// is.
///
/// # Errors
/// When the folder cannot be made, or a file has its name.
pub fn make_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, FOLDER_MODE);
    builder.recursive(true).create(path)
}

/// Makes the file private that these options create. One that exists keeps its mode: see
/// [`make_private`].
pub fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, FILE_MODE);
    options
}

/// The flags `O_NOFOLLOW | O_NONBLOCK`: a symbolic link at the end of a path is an error, and to
/// open a pipe does not wait.
#[cfg(unix)]
pub const NO_LINK: i32 =
    (rustix::fs::OFlags::NOFOLLOW.bits() | rustix::fs::OFlags::NONBLOCK.bits()).cast_signed();

/// Makes the file private that these options create, and refuses a symbolic link in its place,
/// which would lead to a file of somebody else.
pub fn own(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, NO_LINK);
    private(options)
}

/// Takes an open file's permissions away from everybody but its owner.
///
/// # Errors
/// When its mode cannot be read or, if it is not private yet, changed: the file may be another
/// user's.
pub fn make_private(file: &File) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        if file.metadata()?.permissions().mode() & OTHERS != 0 {
            file.set_permissions(std::fs::Permissions::from_mode(FILE_MODE))?;
        }
    }
    #[cfg(not(unix))]
    let _ = file;
    Ok(())
}

/// Puts a private file with these bytes at a path, in the place of a link if there is one. A reader
/// sees the old file or the new one, whole; two processes that write at once do not mix their
/// bytes.
///
/// # Errors
/// When the file cannot be written or synchronised; the old one is then as it was.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // Processes of several machines may have one number, and nobody can put a link in its place.
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let mut part = path.as_os_str().to_owned();
    part.push(format!(".{}-{:x}.part", std::process::id(), since.as_nanos()));
    let written = private(OpenOptions::new().write(true).create_new(true))
        .open(&part)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()));
    written
        .and_then(|()| std::fs::rename(&part, path))
        .inspect_err(|_| drop(std::fs::remove_file(&part)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    fn mode(path: &Path) -> u32 {
        use std::os::unix::fs::PermissionsExt;
        std::fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[cfg(unix)]
    #[test]
    fn files_and_folders_are_made_for_their_owner() {
        let base = tempfile::tempdir().unwrap();
        let folder = base.path().join("a/b");
        make_folder(&folder).unwrap();
        make_folder(&folder).unwrap();
        assert_eq!((mode(&folder), mode(&base.path().join("a"))), (FOLDER_MODE, FOLDER_MODE));
        let path = folder.join("f");
        drop(private(OpenOptions::new().write(true).create_new(true)).open(&path).unwrap());
        assert_eq!(mode(&path), FILE_MODE);
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o644))
            .unwrap();
        make_private(&File::open(&path).unwrap()).unwrap();
        assert_eq!(mode(&path), FILE_MODE);
    }

    #[cfg(unix)]
    #[test]
    fn nothing_is_written_where_a_link_leads() {
        let folder = tempfile::tempdir().unwrap();
        let other = folder.path().join("other");
        let path = folder.path().join("f");
        let part = folder.path().join(format!("f.{}.part", std::process::id()));
        std::os::unix::fs::symlink(&other, &part).unwrap();
        replace(&path, b"new").unwrap();
        assert_eq!(
            (std::fs::read(&path).unwrap().as_slice(), other.exists()),
            (&b"new"[..], false)
        );
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&other, &link).unwrap();
        let mut options = OpenOptions::new();
        assert!(own(options.append(true).create(true)).open(&link).is_err() && !other.exists());
        own(&mut options).open(&path).unwrap().write_all(b"er").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"newer");
    }

    #[test]
    fn a_replaced_file_is_whole_and_leaves_nothing_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        for text in ["first", "second, longer"] {
            replace(&path, text.as_bytes()).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        // A folder stands in its place: the failure leaves no part behind.
        std::fs::create_dir(folder.path().join("d")).unwrap();
        assert!(replace(&folder.path().join("d"), b"x").is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
