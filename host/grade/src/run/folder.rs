//! The folder of a run: its header, a line for each graded answer, and the journals of running
//! searches.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use sha2::{Digest, Sha256};

use super::RunError;
use super::header::{Header, RUN_FORMAT};
use super::line::{Line, Lines};
use super::{DOCUMENT, read_within};

/// The file with the recorded start of a run, in its folder.
pub const HEADER: &str = "run.json";
pub(crate) const RESULTS: &str = "results.jsonl";
const ITEMS: &str = "items";

/// The number of times that a lock is tried while another process holds it, and the time between
/// two tries.
const TRIES: u32 = 20;
const WAIT: Duration = Duration::from_millis(5);

/// The locked folder of a run: one process at a time executes a run. A written line survives any
/// end of the process; only a failing machine can lose what the system has not yet put on disk.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    results: PathBuf,
    header: Header,
    file: File,
}

impl RunFolder {
    /// Begins a run in a folder of its own, which is made in mode 0700.
    ///
    /// # Errors
    /// When there is a run in it already, or it cannot be written.
    pub fn create(path: &Path, header: &Header) -> Result<Self, RunError> {
        let run = path.join(HEADER);
        let results = path.join(RESULTS);
        make(&path.join(ITEMS))?;
        let file = open_locked(&results, header)?;
        if run.exists() {
            return Err(RunError::Exists { run: header.id.clone() });
        }
        // The header comes last and whole: what is killed before is no run.
        file.set_len(0).map_err(|error| RunError::io(&results, error))?;
        write_whole(&run, header).map_err(|error| RunError::io(&run, error))?;
        Ok(Self { path: path.to_owned(), results, header: header.clone(), file })
    }

    /// Resumes a run. Its results are read, and a last line that was cut off is removed, when
    /// [`execute`](super::execute) begins.
    ///
    /// # Errors
    /// When it is no run, cannot be read or written, or another process works on it.
    pub fn resume(path: &Path) -> Result<Self, RunError> {
        let header = read_header(path)?;
        let results = path.join(RESULTS);
        let file = open_locked(&results, &header)?;
        let folder = Self { path: path.to_owned(), results, header, file };
        folder.remove_items(|name| name.ends_with(".part"))?;
        Ok(folder)
    }

    /// The recorded start of the run.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The path of the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of the journal of a running search. The journal is removed when the line of the
    /// answer is written, so the journals of a resumed run are those of searches that were cut off.
    #[must_use]
    pub fn item_journal(&self, arm: &str, id: &str) -> PathBuf {
        item_journal(&self.path, arm, id)
    }

    /// Gives each line of the results to `take`, with its number; then truncates the file after its
    /// last complete line. Returns the number of bytes that were cut off.
    ///
    /// # Errors
    /// When a line is damaged, `take` refuses it, or the file cannot be read or written.
    pub(crate) fn replay(
        &mut self,
        mut take: impl FnMut(Line) -> Result<(), String>,
    ) -> Result<u64, RunError> {
        let fail = |error| RunError::io(&self.results, error);
        let mut lines = Lines::new(File::open(&self.results).map_err(fail)?, &self.results);
        while let Some(line) = lines.next()? {
            take(line).map_err(|reason| lines.format_error(&reason))?;
        }
        self.file.set_len(lines.whole).map_err(fail)?;
        self.file.seek(SeekFrom::End(0)).map_err(fail)?;
        Ok(lines.torn)
    }

    /// Writes a line. After an error nothing may be written any more: the file may end with a part
    /// of a line.
    pub(crate) fn append(&mut self, line: Line) -> Result<(), RunError> {
        let written = line.encode().and_then(|bytes| self.file.write_all(&bytes));
        written.map_err(|error| RunError::io(&self.results, error))
    }

    /// Removes the journal of a search that has ended.
    pub(crate) fn forget(&self, arm: &str, id: &str) -> Result<(), RunError> {
        remove(&self.item_journal(arm, id))
    }

    /// Removes all journals of searches: all have ended.
    pub(crate) fn forget_all(&self) -> Result<(), RunError> {
        self.remove_items(|_| true)
    }

    fn remove_items(&self, is_meant: impl Fn(&str) -> bool) -> Result<(), RunError> {
        let items = self.path.join(ITEMS);
        make(&items)?;
        for file in fs::read_dir(&items).map_err(|error| RunError::io(&items, error))? {
            let file = file.map_err(|error| RunError::io(&items, error))?;
            if is_meant(&file.file_name().to_string_lossy()) {
                remove(&file.path())?;
            }
        }
        Ok(())
    }
}

/// The same path as [`RunFolder::item_journal`], for callers without the lock.
#[must_use]
pub fn item_journal(folder: &Path, arm: &str, id: &str) -> PathBuf {
    // No name of a suite becomes a name of a file. The length distinguishes (`a`, `bc`) from (`ab`,
    // `c`).
    let digest = Sha256::digest(format!("{}:{arm}{id}", arm.len()));
    let digits = syrch_core::text::hex(&digest[..16]);
    folder.join(ITEMS).join(format!("{digits}.jsonl"))
}

/// Reads the recorded start of a run.
///
/// # Errors
/// When there is no run in that folder, its header is damaged, or it has another format.
pub fn read_header(folder: &Path) -> Result<Header, RunError> {
    let path = folder.join(HEADER);
    let text = read_within(&path, DOCUMENT).map_err(|error| RunError::io(&path, error))?;
    let damaged = |error: serde_json::Error| RunError::Header {
        path: path.clone(),
        reason: error.to_string(),
    };
    let value: serde_json::Value = serde_json::from_slice(&text).map_err(damaged)?;
    match value.get("format").and_then(serde_json::Value::as_str) {
        Some(RUN_FORMAT) => serde_json::from_value(value).map_err(damaged),
        Some(found) => Err(RunError::Format { path, found: found.to_owned(), known: RUN_FORMAT }),
        None => Err(RunError::Header { path, reason: "it has no `format`".to_owned() }),
    }
}

/// Returns true if a process executes the run in that folder.
#[must_use]
pub fn is_going_on(folder: &Path) -> bool {
    let file = File::open(folder.join(RESULTS));
    file.is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
}

/// Opens the results, which only one process at a time can.
fn open_locked(results: &Path, header: &Header) -> Result<File, RunError> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    let file = syrch_files::own(&mut options)
        .open(results)
        .map_err(|error| RunError::io(results, error))?;
    // A check whether the run is running holds the lock for a moment.
    for _ in 0..TRIES {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) => std::thread::sleep(WAIT),
            Err(TryLockError::Error(error)) => return Err(RunError::io(results, error)),
        }
    }
    Err(RunError::Busy { run: header.id.clone() })
}

/// Puts the header into its place whole.
fn write_whole(path: &Path, header: &Header) -> std::io::Result<()> {
    let mut text = serde_json::to_vec_pretty(header)?;
    text.push(b'\n');
    syrch_files::replace(path, &text)
}

fn make(folder: &Path) -> Result<(), RunError> {
    syrch_files::make_folder(folder).map_err(|error| RunError::io(folder, error))
}

fn remove(path: &Path) -> Result<(), RunError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(RunError::io(path, error))
        }
        _ => Ok(()),
    }
}
