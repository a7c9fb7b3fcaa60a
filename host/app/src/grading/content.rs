//! What a database holds, as a digest: equal on every machine that has the same file, wherever it lies, so that parts of a run that were done
//! on several machines can be put together.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// Files up to this size are read whole.
const WHOLE: u64 = 1 << 30;
/// Of larger ones so many blocks are read, evenly spread, the first and the last among them.
const BLOCKS: u64 = 4_096;
/// Bytes of a block, and of what is read at once.
const BLOCK: u64 = 64 << 10;

/// The digest of a database file, and of what waits beside it to be written into it. The first block of a SQLite file counts its changes, so
/// that also a change of a large file is noticed that no other block shows. In WAL mode the count need not move: a change of a large file
/// that left its size as it is, and is no longer waiting beside it, is then noticed only where a block shows it.
pub(crate) fn content(path: &Path) -> io::Result<String> {
    let mut hasher = Sha256::new();
    take(path, &mut hasher)?;
    let mut beside = path.as_os_str().to_owned();
    beside.push("-wal");
    let beside = PathBuf::from(beside);
    if std::fs::metadata(&beside).is_ok_and(|wal| wal.len() > 0) {
        take(&beside, &mut hasher)?;
    }
    Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
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

/// Where a block of a large file begins; the last one ends with the file.
fn begin(size: u64, number: u64) -> u64 {
    // In 128 bits, where the product fits whatever the size.
    let begin = u128::from(size.saturating_sub(BLOCK)) * u128::from(number) / u128::from(BLOCKS - 1);
    u64::try_from(begin).unwrap_or(u64::MAX)
}

/// Reads a block, or what is left of the file; how many bytes that were.
fn read(file: &File, block: &mut Vec<u8>) -> io::Result<usize> {
    block.clear();
    // Unlike a plain read, it goes on after an interrupt.
    file.take(BLOCK).read_to_end(block)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn equal_files_are_equal_wherever_they_lie_and_a_change_is_seen() {
        let scratch = syrch_kit::scratch();
        let at = |name: &str, text: &[u8]| {
            let path = scratch.path().join(name);
            std::fs::write(&path, text).unwrap();
            content(&path).unwrap()
        };
        let one = at("a", &[7; 200_000]);
        assert_eq!(one, at("b", &[7; 200_000]));
        let mut changed = vec![7; 200_000];
        changed[150_000] = 8;
        assert_ne!(one, at("b", &changed));
        at("a-wal", b"more");
        assert_ne!(content(&scratch.path().join("a")).unwrap(), one);
        at("a-wal", b"");
        assert_eq!(content(&scratch.path().join("a")).unwrap(), one);
        assert!(content(&scratch.path().join("none")).is_err());
    }

    /// A file with holes takes no room.
    #[test]
    fn a_large_file_is_told_by_its_size_and_some_of_its_blocks() {
        let scratch = syrch_kit::scratch();
        let path = scratch.path().join("large");
        File::create(&path).unwrap().set_len(WHOLE + 5).unwrap();
        let one = content(&path).unwrap();
        File::options().write(true).open(&path).unwrap().set_len(WHOLE + 6).unwrap();
        assert_ne!(content(&path).unwrap(), one);
    }

    #[test]
    fn the_last_byte_of_a_large_file_counts() {
        let scratch = syrch_kit::scratch();
        let path = scratch.path().join("large");
        let mut file = File::create(&path).unwrap();
        // As many bytes over as are lost when the step between two blocks is rounded before it is multiplied.
        let size = BLOCK + (WHOLE / (BLOCKS - 1) + 1) * (BLOCKS - 1) - 1;
        file.set_len(size).unwrap();
        let zeros = content(&path).unwrap();
        file.seek(SeekFrom::Start(size - 1)).unwrap();
        file.write_all(&[1]).unwrap();
        assert_ne!(content(&path).unwrap(), zeros);
        assert_eq!((begin(size, 0), begin(size, BLOCKS - 1)), (0, size - BLOCK));
    }
}
