//! The folder of indexes of values: a file for each database and grant, which is used again while
//! the database is the same.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use sha2::{Digest, Sha256};
use syrch_files::{make_folder, replace};
use syrch_guard::values::Values;
use zstd::{Decoder, Encoder};

use crate::value_store::ValueStore;

/// The extension of the files.
pub const INDEX: &str = "values";
/// The most bytes that are read of an index: more than any has.
const MOST: u64 = 128 << 20;
/// The level of compression: fast, since values are short and most of their bytes are the same.
const LEVEL: i32 = 1;

impl ValueStore {
    /// The file for what is granted of a database.
    fn path(&self, database: &Path, grant: &str) -> PathBuf {
        let mut hasher = Sha256::new();
        hasher.update(database.as_os_str().as_encoded_bytes());
        hasher.update([0]);
        hasher.update(grant);
        let name = syrch_core::text::hex(&hasher.finalize()[..16]);
        self.folder.join(name).with_extension(INDEX)
    }

    /// Reads the index of a database in this state; `None` if there is none or it is of another
    /// state. One that is damaged is removed.
    pub(crate) fn load(&self, database: &Path, grant: &str, state: &str) -> Option<Values> {
        let path = self.path(database, grant);
        // A pipe would be waited for, and the target of a link is not ours.
        fs::symlink_metadata(&path).ok().filter(fs::Metadata::is_file)?;
        let file = File::options().read(true).write(true).open(&path).ok()?;
        let read = |file: &File| Values::read(state, &mut Decoder::new(file)?.take(MOST));
        match read(&file) {
            Ok(values) => {
                // It is as old as its last use.
                drop(file.set_modified(SystemTime::now()));
                values
            }
            Err(error) => {
                tracing::warn!(%error, "the stored index of values is damaged and is made again");
                drop(fs::remove_file(&path));
                None
            }
        }
    }

    /// Writes the index of a database in this state in place of an older one.
    ///
    /// # Errors
    /// When the folder or the file cannot be written.
    pub(crate) fn save(
        &self,
        database: &Path,
        grant: &str,
        state: &str,
        values: &Values,
    ) -> io::Result<()> {
        make_folder(&self.folder)?;
        let mut encoder = Encoder::new(Vec::new(), LEVEL)?;
        encoder.include_checksum(true)?;
        values.write(state, &mut encoder)?;
        encoder.flush()?;
        replace(&self.path(database, grant), &encoder.finish()?)?;
        self.prune()
    }

    /// Removes what nobody used for so long, and the longest unused while all of them take more
    /// than so many bytes.
    fn prune(&self) -> io::Result<()> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path();
            let metadata = match fs::symlink_metadata(&path) {
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                metadata => metadata?,
            };
            if metadata.is_file() && path.extension().is_some_and(|ending| ending == INDEX) {
                entries.push((metadata.modified()?, metadata.len(), path));
            }
        }
        entries.sort();
        let mut sum: u64 = entries.iter().map(|(_, bytes, _)| bytes).sum();
        for (used, bytes, path) in entries {
            let is_old = used.elapsed().is_ok_and(|age| age > self.retained);
            if is_old || sum > self.retained_bytes {
                match fs::remove_file(path) {
                    // Another process removed it.
                    Err(error) if error.kind() == ErrorKind::NotFound => {}
                    removed => removed?,
                }
                sum -= bytes;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::time::Duration;

    use super::*;

    fn store(folder: &Path) -> ValueStore {
        let retained = Duration::from_secs(3_600);
        ValueStore { folder: folder.join("values"), retained, retained_bytes: 1 << 20 }
    }

    fn index() -> Values {
        let mut index = Values::new(Duration::from_secs(60));
        let table = "t".into();
        let place = index.place(&table, "a");
        (0..100).for_each(|number| index.add(place, &format!("value {number}")));
        index.complete(&table);
        index.finish();
        index
    }

    #[test]
    fn an_index_is_used_again_for_the_same_state_and_grant() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path());
        let database = Path::new("/data/t.sqlite");
        assert!(store.load(database, "", "one").is_none());
        store.save(database, "", "one", &index()).unwrap();
        assert!(store.load(database, "", "one").unwrap().is_complete("t"));
        for (database, grant, state) in
            [("/data/t.sqlite", "", "two"), ("/data/t.sqlite", "t", "one"), ("/t", "", "one")]
        {
            assert!(store.load(Path::new(database), grant, state).is_none());
        }
        // Another state takes the place of the first.
        store.save(database, "", "two", &index()).unwrap();
        assert!(
            store.load(database, "", "one").is_none() && store.load(database, "", "two").is_some()
        );
        fn mode(path: &Path) -> u32 {
            fs::metadata(path).unwrap().permissions().mode() & 0o777
        }
        let files: Vec<PathBuf> =
            fs::read_dir(&store.folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!((mode(&store.folder), files.len(), mode(&files[0])), (0o700, 1, 0o600));
    }

    #[test]
    fn a_damaged_index_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path());
        let database = Path::new("/data/t.sqlite");
        store.save(database, "", "one", &index()).unwrap();
        let path = store.path(database, "");
        let whole = fs::read(&path).unwrap();
        let last = whole.len() - 5;
        let changed = |at: usize| {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            bytes
        };
        for bytes in [
            Vec::new(),
            b"nonsense".to_vec(),
            whole[..last].to_vec(),
            changed(last),
            changed(last / 2),
        ] {
            fs::write(&path, bytes).unwrap();
            assert!(store.load(database, "", "one").is_none());
            assert!(!path.exists());
        }
        fs::write(&path, &whole).unwrap();
        assert!(store.load(database, "", "one").is_some());
        // What is no file of its own is left alone.
        let elsewhere = folder.path().join("elsewhere");
        fs::rename(&path, &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
        assert!(store.load(database, "", "one").is_none() && elsewhere.exists());
        fs::remove_file(&path).unwrap();
        fs::write(&path, &whole).unwrap();
    }

    #[test]
    fn the_longest_unused_go_first() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = store(folder.path());
        fn save(store: &ValueStore, name: &str) {
            store.save(Path::new(name), "", "one", &index()).unwrap()
        }
        let age = |store: &ValueStore, name: &str, age: u64| {
            let file = File::options().write(true).open(store.path(Path::new(name), "")).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
        };
        ["older", "old", "new"].iter().for_each(|name| save(&store, name));
        age(&store, "older", 50);
        age(&store, "old", 30);
        let bytes = fs::metadata(store.path(Path::new("new"), "")).unwrap().len();
        store.retained_bytes = 3 * bytes;
        save(&store, "another");
        fn is_there(store: &ValueStore, name: &str) -> bool {
            store.path(Path::new(name), "").exists()
        }
        assert_eq!(
            ["older", "old", "new", "another"].map(|name| is_there(&store, name)),
            [false, true, true, true]
        );
        store.retained = Duration::from_secs(10);
        save(&store, "another");
        assert_eq!(
            ["old", "new", "another"].map(|name| is_there(&store, name)),
            [false, true, true]
        );
    }
}
