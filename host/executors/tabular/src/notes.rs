//! Notes about what reading a file changed. They are stored beside the private database, and its
//! catalog has them as comments.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use syrch_core::imports::Note;
use syrch_files::private;
use syrch_sqlite::Comment;

/// Bytes of the notes of a database at most.
const LONGEST: u64 = 16 << 20;

/// The notes about the tables of a database, by table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Notes(BTreeMap<String, Vec<Note>>);

impl Notes {
    pub(crate) fn add(&mut self, table: &str, notes: Vec<Note>) {
        if !notes.is_empty() {
            self.0.entry(table.to_owned()).or_default().extend(notes);
        }
    }

    /// Writes them to a file that only its owner reads.
    pub(crate) fn write(&self, path: &Path) -> io::Result<()> {
        let mut file =
            private(OpenOptions::new().write(true).create(true).truncate(true)).open(path)?;
        file.write_all(&serde_json::to_vec(self)?)
    }

    /// Reads them back.
    pub(crate) fn read(path: &Path) -> io::Result<Self> {
        let mut text = Vec::new();
        std::fs::File::open(path)?.take(LONGEST).read_to_end(&mut text)?;
        Ok(serde_json::from_slice(&text)?)
    }

    /// The comments of the catalog: one for each table and column that has notes.
    pub(crate) fn comments(&self) -> Vec<Comment> {
        let mut comments: BTreeMap<(&String, Option<&String>), Vec<&str>> = BTreeMap::new();
        for (table, notes) in &self.0 {
            for note in notes {
                comments.entry((table, note.column.as_ref())).or_default().push(&note.text);
            }
        }
        comments
            .into_iter()
            .map(|((table, column), texts): ((&String, Option<&String>), Vec<&str>)| Comment {
                table: table.clone(),
                column: column.cloned(),
                text: texts.join("; "),
            })
            .collect()
    }
}
