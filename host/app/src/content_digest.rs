//! The digest of what a database's files hold. It is equal on every machine that has the same
//! files, whatever their path, so that parts of a graded run that were done on several machines can
//! be merged.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::executors::append_suffix;

/// Files up to this size are read whole.
const WHOLE: u64 = 1 << 30;
/// The number of blocks that are read of a larger file: evenly spread, the first and the last among
/// them.
const BLOCKS: u64 = 4_096;
/// The number of bytes of a block, and of each read.
const BLOCK: u64 = 64 << 10;

/// The digest of files and of those beside them that hold a part of their content; `beside` has
/// what follows a file's name in theirs. Of several files their names count, too. It blocks.
///
/// Of a file of more than 1 GiB only 4,096 blocks are read. The first block of a SQLite file counts
/// its changes, so that a change is noticed that shows in no other block. In WAL mode this count
/// need not change: a change that kept the size of a large file, and that is not in the write-ahead
/// log any more, is then noticed only where one of the blocks shows it.
///
/// # Errors
/// When there is no file, and when one cannot be read.
pub fn content_digest(paths: &[PathBuf], beside: &[&str]) -> io::Result<String> {
    if paths.is_empty() {
        return Err(io::ErrorKind::NotFound.into());
    }
    let mut hasher = Sha256::new();
    for path in paths {
        if let (Some(name), true) = (path.file_name(), paths.len() > 1) {
            hasher.update(name.as_encoded_bytes());
        }
        take(path, &mut hasher)?;
        for beside in beside.iter().map(|ending| append_suffix(path, ending)) {
            if std::fs::metadata(&beside).is_ok_and(|file| file.len() > 0) {
                take(&beside, &mut hasher)?;
            }
        }
    }
    Ok(syrch_core::text::hex(hasher.finalize()))
}

fn take(path: &Path, hasher: &mut Sha256) -> io::Result<()> {
    let mut file = File::open(path)?;
    let size = file.metadata()?.len();
    hasher.update(size.to_le_bytes());
    let mut block = Vec::with_capacity(BLOCK as usize);
    if size <= WHOLE {
        while read(&file, &mut block)? > 0 {
            hasher.update(&block);
        }
        return Ok(());
    }
    for number in 0..BLOCKS {
        file.seek(SeekFrom::Start(begin(size, number)))?;
        read(&file, &mut block)?;
        hasher.update(&block);
    }
    Ok(())
}

/// The offset of a block of a large file. The last block ends with the file.
fn begin(size: u64, number: u64) -> u64 {
    // In 128 bits, where the product fits whatever the size.
    let begin =
        u128::from(size.saturating_sub(BLOCK)) * u128::from(number) / u128::from(BLOCKS - 1);
    u64::try_from(begin).unwrap_or(u64::MAX)
}

/// Reads a block, or what is left of the file, and returns how many bytes that were.
fn read(file: &File, block: &mut Vec<u8>) -> io::Result<usize> {
    block.clear();
    // Unlike a plain read, it continues after an interrupt.
    file.take(BLOCK).read_to_end(block)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn equal_files_are_equal_whatever_their_path_and_a_change_is_seen() {
        let scratch = syrch_kit::scratch();
        let at = |name: &str, text: &[u8]| {
            let path = scratch.path().join(name);
            std::fs::write(&path, text).unwrap();
            content_digest(std::slice::from_ref(&path), &["-wal"]).unwrap()
        };
        let one = at("a", &[7; 200_000]);
        assert_eq!(one, at("b", &[7; 200_000]));
        let mut changed = vec![7; 200_000];
        changed[150_000] = 8;
        assert_ne!(one, at("b", &changed));
        at("a-wal", b"more");
        assert_ne!(content_digest(&[scratch.path().join("a")], &["-wal"]).unwrap(), one);
        at("a-wal", b"");
        assert_eq!(content_digest(&[scratch.path().join("a")], &["-wal"]).unwrap(), one);
        assert!(content_digest(&[scratch.path().join("none")], &[]).is_err());
    }

    /// A file with holes takes no space.
    #[test]
    fn a_large_file_is_reported_by_its_size_and_some_of_its_blocks() {
        let scratch = syrch_kit::scratch();
        let path = scratch.path().join("large");
        File::create(&path).unwrap().set_len(WHOLE + 5).unwrap();
        let one = content_digest(std::slice::from_ref(&path), &["-wal"]).unwrap();
        File::options().write(true).open(&path).unwrap().set_len(WHOLE + 6).unwrap();
        assert_ne!(content_digest(std::slice::from_ref(&path), &["-wal"]).unwrap(), one);
    }

    #[test]
    fn the_last_byte_of_a_large_file_counts() {
        let scratch = syrch_kit::scratch();
        let path = scratch.path().join("large");
        let mut file = File::create(&path).unwrap();
        // As many bytes over as are lost when the step between two blocks is rounded before it is
        // multiplied.
        let size = BLOCK + (WHOLE / (BLOCKS - 1) + 1) * (BLOCKS - 1) - 1;
        file.set_len(size).unwrap();
        let zeros = content_digest(std::slice::from_ref(&path), &["-wal"]).unwrap();
        file.seek(SeekFrom::Start(size - 1)).unwrap();
        file.write_all(&[1]).unwrap();
        assert_ne!(content_digest(std::slice::from_ref(&path), &["-wal"]).unwrap(), zeros);
        assert_eq!((begin(size, 0), begin(size, BLOCKS - 1)), (0, size - BLOCK));
    }
}
