//! Notes of accepted work on disk, until it ends: the next server resumes what it finds.
//!
//! Each note is a file that its server holds locked. A note that is not locked is of a server that
//! is gone.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use syrch::files;

/// The extension of a note's file name.
const ENDING: &str = "json";
/// The limit on the size of a note, in bytes.
const LONGEST: u64 = 4 << 20;

/// A note of a search or a comparison, which is removed by [`Note::finish`] alone.
#[derive(Debug)]
pub(crate) struct Note {
    path: PathBuf,
    /// Locked while the work is this server's.
    _file: File,
}

/// The content of a note.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Noted<T> {
    /// The id of the run.
    pub(crate) run: String,
    /// The place of the database, as [`Scope`](crate::scope::Scope) has it.
    pub(crate) database: String,
    /// The question or the comparison.
    pub(crate) asked: T,
}

impl Note {
    /// Writes the note of what was accepted.
    pub(crate) fn write<T: Serialize>(folder: &Path, noted: &Noted<T>) -> io::Result<Self> {
        files::make_folder(folder)?;
        let path = folder.join(format!("{}.{ENDING}", noted.run));
        let mut options = fs::OpenOptions::new();
        let mut file = files::private(options.write(true).create_new(true)).open(&path)?;
        file.try_lock().map_err(|error| io::Error::other(error.to_string()))?;
        file.write_all(&serde_json::to_vec(noted)?)?;
        file.sync_all()?;
        Ok(Self { path, _file: file })
    }

    /// Removes the note: the work has ended.
    pub(crate) fn finish(self) {
        // A note that stays is of a run that is finished, which the next server finds out.
        drop(fs::remove_file(&self.path));
    }
}

/// The work of earlier servers over a database that has not ended. Notes of other databases, and
/// those of servers that still run, stay as they are; what is no note is passed over.
pub(crate) fn take<T: DeserializeOwned>(folder: &Path, database: &str) -> Vec<(Noted<T>, Note)> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let notes = paths.filter(|path| path.extension().is_some_and(|ending| ending == ENDING));
    let mut found: Vec<_> = notes.filter_map(|path| take_one(path, database)).collect();
    found.sort_by(|(a, _): &(Noted<T>, Note), (b, _)| a.run.cmp(&b.run));
    found
}

fn take_one<T: DeserializeOwned>(path: PathBuf, database: &str) -> Option<(Noted<T>, Note)> {
    let file = File::open(&path).ok()?;
    file.try_lock().ok()?;
    if file.metadata().ok()?.len() > LONGEST {
        return None;
    }
    let noted: Noted<T> = serde_json::from_slice(&fs::read(&path).ok()?).ok()?;
    let is_named_so = path.file_stem().is_some_and(|name| name == noted.run.as_str());
    (noted.database == database && is_named_so && crate::searches::is_run(&noted.run))
        .then_some((noted, Note { path, _file: file }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::searches::Asked;

    fn make_noted(run: &str, database: &str) -> Noted<Asked> {
        let asked = Asked { question: "How many?".to_owned(), ..Asked::default() };
        Noted { run: run.to_owned(), database: database.to_owned(), asked }
    }

    #[test]
    fn what_a_server_left_is_taken_once() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("serve");
        assert!(take::<Asked>(&folder, "shop").is_empty());
        let left = Note::write(&folder, &make_noted("00000000000000aa", "shop")).unwrap();
        let other = Note::write(&folder, &make_noted("00000000000000bb", "bank")).unwrap();
        assert!(take::<Asked>(&folder, "shop").is_empty(), "the server still runs");
        drop((left, other));
        fs::write(folder.join("00000000000000cc.json"), "nonsense").unwrap();
        let taken = take::<Asked>(&folder, "shop");
        assert_eq!(taken.len(), 1);
        assert_eq!(taken[0].0, make_noted("00000000000000aa", "shop"));
        assert!(take::<Asked>(&folder, "shop").is_empty(), "it is this server's now");
        taken.into_iter().for_each(|(_, note)| note.finish());
        assert!(take::<Asked>(&folder, "shop").is_empty());
        assert_eq!(take::<Asked>(&folder, "bank").len(), 1);
    }
}
