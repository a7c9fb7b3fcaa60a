//! Files that are read completely, within a bound, since they may be untrusted.

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result};
use std::path::Path;

/// Bytes at most of a document beside the results: the header of a run, the manifest of a fuzzed
/// suite.
pub const DOCUMENT: u64 = 64 << 20;

/// The content of a plain file of at most that many bytes.
///
/// # Errors
/// When it cannot be read, is larger, or is something else, such as a pipe, which never need end.
pub fn read_within(path: &Path, most: u64) -> Result<Vec<u8>> {
    if !path.metadata()?.is_file() {
        return Err(Error::new(ErrorKind::InvalidInput, "it is not a file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(Error::new(ErrorKind::FileTooLarge, format!("it is larger than {most} bytes")));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_read_than_may_be() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, b"12345").unwrap();
        assert_eq!(read_within(&path, 5).unwrap(), b"12345");
        assert_eq!(read_within(&path, 4).unwrap_err().to_string(), "it is larger than 4 bytes");
        assert_eq!(read_within(folder.path(), 4).unwrap_err().kind(), ErrorKind::InvalidInput);
        // A sparse file of a terabyte, which takes no space.
        File::create(&path).unwrap().set_len(1 << 40).unwrap();
        assert_eq!(read_within(&path, 1_000).unwrap_err().kind(), ErrorKind::FileTooLarge);
        #[cfg(unix)]
        assert_eq!(
            read_within(Path::new("/dev/zero"), 1_000).unwrap_err().kind(),
            ErrorKind::InvalidInput
        );
    }
}
