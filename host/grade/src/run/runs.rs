//! The folder of the user's runs: one folder each, named by its id.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use syrch_journal::{Unnamed, find_run};

use super::RunError;
use super::folder::{HEADER, RESULTS, RunFolder, is_going_on, read_header};
use super::header::Header;
use super::line::{Early, Entry, each_line};

/// A folder of runs. Nothing is made before the first run is.
#[derive(Debug, Clone)]
pub struct Runs(PathBuf);

/// A run in the folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunEntry {
    /// The id of the run.
    pub id: String,
    /// The folder of the run.
    pub path: PathBuf,
    /// The time of the last line of its results.
    pub changed: SystemTime,
}

/// The summary of a run for lists.
#[derive(Debug, Clone, PartialEq)]
pub struct RunSummary {
    /// The recorded start of the run.
    pub header: Header,
    /// Graded answers so far.
    pub done: u64,
    /// Graded answers of the complete run.
    pub of: u64,
    /// The early end of the run, if its comparison was decided before all questions were asked.
    pub stopped: Option<Early>,
    /// True if a process executes the run.
    pub is_going_on: bool,
}

impl Runs {
    /// The folder at that path, which need not exist.
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        Self(path)
    }

    /// The path of the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Begins a run, in a folder named by the header's id.
    ///
    /// # Errors
    /// When there is one with that id, or its folder cannot be written.
    pub fn create(&self, header: &Header) -> Result<RunFolder, RunError> {
        RunFolder::create(&self.0.join(&header.id), header)
    }

    /// All runs, the latest first. A folder that is missing holds none.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn list(&self) -> Result<Vec<RunEntry>, RunError> {
        let folders = match fs::read_dir(&self.0) {
            Ok(folders) => folders,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(RunError::io(&self.0, error)),
        };
        let mut entries = Vec::new();
        for folder in folders {
            entries.extend(entry(&folder.map_err(|error| RunError::io(&self.0, error))?.path()));
        }
        entries.sort_by(|a, b| b.changed.cmp(&a.changed).then_with(|| a.id.cmp(&b.id)));
        Ok(entries)
    }

    /// A run, named by its id or by the beginning of it; `last` is the latest; a path is a run's
    /// folder, wherever it is.
    ///
    /// # Errors
    /// When there is none, or several.
    pub fn find(&self, run: &str) -> Result<RunEntry, RunError> {
        let entries = self.list()?;
        match (find_run(&entries, |entry| &entry.id, run), run.to_owned()) {
            (Ok(entry), _) => Ok(entry.clone()),
            (Err(Unnamed::Unknown(similar)), run) => {
                entry(Path::new(&run)).ok_or(RunError::Unknown { run, similar })
            }
            (Err(Unnamed::Several(matches)), run) => Err(RunError::Several { run, matches }),
        }
    }
}

impl RunEntry {
    /// Reads the summary of the run.
    ///
    /// # Errors
    /// When its header or a line of its results is damaged, or a file cannot be read.
    pub fn summary(&self) -> Result<RunSummary, RunError> {
        let header = read_header(&self.path)?;
        let questions = header
            .shard
            .map_or(header.suite.questions, |shard| shard.share(header.suite.questions));
        let of = questions * header.arms.len() as u64;
        let mut done = BTreeSet::new();
        let mut stopped = None;
        each_line(&self.path.join(RESULTS), |line| match line.entry {
            Entry::Graded(graded) => {
                done.insert((graded.place, graded.arm));
            }
            Entry::Stopped(early) => stopped = early,
            Entry::CutOff(_) => {}
        })?;
        Ok(RunSummary {
            header,
            done: done.len() as u64,
            of,
            stopped,
            is_going_on: is_going_on(&self.path),
        })
    }
}

/// The run in a folder, if there is one.
fn entry(path: &Path) -> Option<RunEntry> {
    let started = fs::metadata(path.join(HEADER)).ok().filter(fs::Metadata::is_file)?;
    let changed = fs::metadata(path.join(RESULTS)).ok().unwrap_or(started).modified().ok()?;
    let id = match read_header(path) {
        Ok(header) => header.id,
        Err(_) => path.file_name()?.to_string_lossy().into_owned(),
    };
    Some(RunEntry { id, path: path.to_owned(), changed })
}
