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
const BLOCK: u64 = 64 << 10;

/// The digest of a database file, and of what waits beside it to be written into it. The first block of a SQLite file counts its changes, so
/// that also a change of a large file is noticed that no other block shows.
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
    if size <= WHOLE {
        let mut block = vec![0; BLOCK as usize];
        loop {
            match file.read(&mut block)? {
                0 => return Ok(()),
                read => hasher.update(block.get(..read).unwrap_or_default()),
            }
        }
    }
    let mut block = Vec::with_capacity(BLOCK as usize);
    for number in 0..BLOCKS {
        file.seek(SeekFrom::Start((size - BLOCK) / (BLOCKS - 1) * number))?;
        block.clear();
        (&file).take(BLOCK).read_to_end(&mut block)?;
        hasher.update(&block);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
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
}
