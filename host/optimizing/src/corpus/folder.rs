//! The folder of a run over a corpus: what it was started with, a line for each finished statement,
//! and the journals of unfinished ones.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use syrch_journal::{Unnamed, find_run};
use syrch_suites::run::{RunError, Shard, read_within};

/// The format of these folders.
pub const CORPUS_RUN: &str = "syrch.optimize-run/1";

const HEADER: &str = "run.json";
const RESULTS: &str = "results.jsonl";
const ITEMS: &str = "items";
/// The limits on the size of a header, of a line and of all lines, in bytes. The longest line has a
/// hundred proposals, each as long as a statement may be.
const DOCUMENT: u64 = 1 << 20;
const LINE: u64 = 64 << 20;
const ALL: u64 = 1 << 30;
/// The number of tries of a lock that another process holds, and the time between two tries: a
/// process that only reads holds it for a moment.
const TRIES: u32 = 20;
const WAIT: Duration = Duration::from_millis(5);

/// The settings with which a run was started. A run resumes only where all of them are the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CorpusHeader {
    /// The format of the folder, always [`CORPUS_RUN`].
    pub format: String,
    /// The id of the run, which is the name of its folder.
    pub id: String,
    /// The version of the host that started the run.
    pub host: String,
    /// The path of the manifest.
    pub manifest: String,
    /// The digest of the manifest, which holds those of all statements.
    pub digest: String,
    /// The number of statements.
    pub queries: u64,
    /// The name of the database.
    pub database: String,
    /// A digest of its address, which is in no file of a run.
    pub address: String,
    /// The digest of the rewriter's component.
    pub rewriter: String,
    /// The settings of the optimizer.
    pub settings: Value,
    /// The part of the statements. `None` means all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
}

impl CorpusHeader {
    /// The number of statements of the run: of a shard only its own.
    #[must_use]
    pub fn share(&self) -> u64 {
        self.shard.map_or(self.queries, |shard| shard.share(self.queries))
    }

    /// The first difference because of which the run cannot be resumed.
    fn change(&self, now: &Self) -> Option<String> {
        let shard = (self.shard != now.shard).then(|| "the shard is another".to_owned());
        self.difference(now).or(shard)
    }

    /// The first difference that would make the statements of two runs incomparable.
    pub(super) fn difference(&self, now: &Self) -> Option<String> {
        let texts = [
            ("the manifest", &self.digest, &now.digest),
            ("the database", &self.database, &now.database),
            ("the digest of the database's address", &self.address, &now.address),
            ("the rewriter", &self.rewriter, &now.rewriter),
            ("the version of the host", &self.host, &now.host),
        ];
        let text = texts.into_iter().find(|(_, then, now)| then != now);
        let text = text.map(|(what, then, now)| format!("{what} was `{then}` and is `{now}` now"));
        text.or_else(|| {
            (self.settings != now.settings)
                .then(|| "the settings of the optimizer are others".to_owned())
        })
    }
}

/// The folders of runs over corpora.
#[derive(Debug, Clone)]
pub struct CorpusRuns(PathBuf);

impl CorpusRuns {
    /// The runs in a folder, which need not exist.
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        Self(path)
    }

    /// The folder in which the runs are.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The folder of a run that has that id.
    #[must_use]
    pub fn folder(&self, id: &str) -> PathBuf {
        self.0.join(id)
    }

    /// Returns true if there is a run in the folder of that path.
    #[must_use]
    pub fn is_run(path: &Path) -> bool {
        path.join(HEADER).is_file()
    }

    /// The folders of all runs, the latest first.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn folders(&self) -> Result<Vec<PathBuf>, RunError> {
        Ok(self.list()?.into_iter().map(|(id, _)| self.0.join(id)).collect())
    }

    /// Finds a run by its id, by the beginning of it, by `last`, or by the path of its folder.
    ///
    /// # Errors
    /// When there is none, or several.
    pub fn find(&self, run: &str) -> Result<PathBuf, RunError> {
        let entries = self.list()?;
        match find_run(&entries, |entry| &entry.0, run) {
            Ok(entry) => Ok(self.0.join(&entry.0)),
            Err(Unnamed::Unknown(_)) if Path::new(run).join(HEADER).is_file() => {
                Ok(PathBuf::from(run))
            }
            Err(Unnamed::Unknown(similar)) => {
                Err(RunError::Unknown { run: run.to_owned(), similar })
            }
            Err(Unnamed::Several(matches)) => {
                Err(RunError::Several { run: run.to_owned(), matches })
            }
        }
    }

    /// The ids of the runs with the time of their last line, the latest first.
    fn list(&self) -> Result<Vec<(String, SystemTime)>, RunError> {
        let folders = match fs::read_dir(&self.0) {
            Ok(folders) => folders,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(io(&self.0, error)),
        };
        let mut entries = Vec::new();
        for folder in folders {
            let path = folder.map_err(|error| io(&self.0, error))?.path();
            let changed = fs::metadata(path.join(RESULTS)).and_then(|data| data.modified());
            if let (true, Ok(changed), Some(id)) =
                (path.join(HEADER).is_file(), changed, path.file_name())
            {
                entries.push((id.to_string_lossy().into_owned(), changed));
            }
        }
        entries.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        Ok(entries)
    }
}

/// The locked folder of a run. A written line survives any end of the process.
#[derive(Debug)]
pub struct CorpusFolder {
    path: PathBuf,
    header: CorpusHeader,
    file: File,
}

impl CorpusFolder {
    /// Starts a run in a folder of its own, which only its owner can read.
    ///
    /// # Errors
    /// When there is a run in it, another process works there, or it cannot be written.
    pub fn create(path: &Path, header: CorpusHeader) -> Result<Self, RunError> {
        let items = path.join(ITEMS);
        syrch_files::make_folder(&items).map_err(|error| io(&items, error))?;
        let file = lock_results(path, &header.id)?;
        let run = path.join(HEADER);
        if run.exists() {
            return Err(RunError::Exists { run: header.id });
        }
        file.set_len(0).map_err(|error| io(&path.join(RESULTS), error))?;
        // The header comes last and whole: what is killed before is no run.
        let written = serde_json::to_vec_pretty(&header).map_err(std::io::Error::from);
        written
            .and_then(|bytes| syrch_files::replace(&run, &bytes))
            .map_err(|error| io(&run, error))?;
        Ok(Self { path: path.to_owned(), header, file })
    }

    /// Resumes a run that was started with the same, and returns its finished lines. A last line
    /// that was cut off is removed.
    ///
    /// # Errors
    /// When it is no run, was started with something else, another process works on it, or a line
    /// is damaged.
    pub fn resume<L: DeserializeOwned>(
        path: &Path,
        now: &CorpusHeader,
    ) -> Result<(Self, Vec<L>), RunError> {
        let header = read_header(path)?;
        let file = lock_results(path, &header.id)?;
        if let Some(reason) = header.change(now) {
            return Err(RunError::Unfit { run: header.id, reason });
        }
        let mut folder = Self { path: path.to_owned(), header, file };
        let (lines, whole) = lines(&path.join(RESULTS))?;
        let cut = folder.file.set_len(whole).and_then(|()| folder.file.seek(SeekFrom::End(0)));
        cut.map_err(|error| io(&path.join(RESULTS), error))?;
        Ok((folder, lines))
    }

    /// Returns the settings with which the run was started.
    #[must_use]
    pub fn header(&self) -> &CorpusHeader {
        &self.header
    }

    /// The path of the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The journal of the statement at a place, which exists while it is unfinished.
    #[must_use]
    pub fn journal(&self, place: u64) -> PathBuf {
        self.path.join(ITEMS).join(format!("{place:05}.jsonl"))
    }

    /// Writes the line of a statement, and removes its journal then. After an error nothing more
    /// may be written.
    ///
    /// # Errors
    /// When the line is too long, the run would be too large to be read again, or it cannot be
    /// written.
    pub fn append(&mut self, place: u64, line: &impl Serialize) -> Result<(), RunError> {
        let path = self.path.join(RESULTS);
        let mut bytes = serde_json::to_vec(line).map_err(|error| io(&path, error.into()))?;
        bytes.push(b'\n');
        if bytes.len() as u64 > LINE {
            return Err(io(
                &path,
                std::io::Error::other(format!("a line would be longer than {LINE} bytes")),
            ));
        }
        let before = self.file.metadata().map_err(|error| io(&path, error))?.len();
        if before + bytes.len() as u64 > ALL {
            return Err(io(
                &path,
                std::io::Error::other(format!("the run would have more than {ALL} bytes")),
            ));
        }
        self.file.write_all(&bytes).map_err(|error| io(&path, error))?;
        self.forget(place)
    }

    /// Removes the journal of a statement whose line is written.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn forget(&self, place: u64) -> Result<(), RunError> {
        let journal = self.journal(place);
        match fs::remove_file(&journal) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(io(&journal, error)),
            _ => Ok(()),
        }
    }
}

/// Reads a run for a report, also one that is running: what it was started with, and its lines.
///
/// # Errors
/// When it is no run, or a line is damaged.
pub fn read_corpus_run<L: DeserializeOwned>(
    path: &Path,
) -> Result<(CorpusHeader, Vec<L>), RunError> {
    Ok((read_header(path)?, lines(&path.join(RESULTS))?.0))
}

fn read_header(folder: &Path) -> Result<CorpusHeader, RunError> {
    let path = folder.join(HEADER);
    let bytes = read_within(&path, DOCUMENT).map_err(|error| io(&path, error))?;
    let damaged = |reason: String| RunError::Header { path: path.clone(), reason };
    let value: Value =
        serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
    match value.get("format").and_then(Value::as_str) {
        Some(CORPUS_RUN) => {
            serde_json::from_value(value).map_err(|error| damaged(error.to_string()))
        }
        Some(found) => Err(RunError::Format { path, found: found.to_owned(), known: CORPUS_RUN }),
        None => Err(damaged("it has no `format`".to_owned())),
    }
}

/// The complete lines of a file, and the number of their bytes.
fn lines<L: DeserializeOwned>(path: &Path) -> Result<(Vec<L>, u64), RunError> {
    // Opening a pipe would wait for a writer.
    let data = fs::metadata(path).map_err(|error| io(path, error))?;
    let unfit =
        |reason: String| Err(RunError::Malformed { path: path.to_owned(), line: 0, reason });
    if !data.is_file() {
        return unfit("it is no regular file".to_owned());
    }
    if data.len() > ALL {
        return unfit(format!("it has more than {ALL} bytes"));
    }
    let mut reader = BufReader::new(File::open(path).map_err(|error| io(path, error))?);
    let mut all = Vec::new();
    let mut whole = 0;
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        let read = reader
            .by_ref()
            .take(LINE + 1)
            .read_until(b'\n', &mut buffer)
            .map_err(|error| io(path, error))?;
        let malformed = |reason: String| RunError::Malformed {
            path: path.to_owned(),
            line: all.len() as u64 + 1,
            reason,
        };
        if buffer.last() != Some(&b'\n') {
            if read as u64 > LINE {
                return Err(malformed("it is too long".to_owned()));
            }
            return Ok((all, whole));
        }
        let line = serde_json::from_slice(&buffer).map_err(|error| malformed(error.to_string()))?;
        all.push(line);
        whole += read as u64;
    }
}

/// Opens the results, which only one process at a time can.
fn lock_results(folder: &Path, run: &str) -> Result<File, RunError> {
    let path = folder.join(RESULTS);
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    let file = syrch_files::own(&mut options).open(&path).map_err(|error| io(&path, error))?;
    for _ in 0..TRIES {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) => std::thread::sleep(WAIT),
            Err(TryLockError::Error(error)) => return Err(io(&path, error)),
        }
    }
    Err(RunError::Busy { run: run.to_owned() })
}

fn io(path: &Path, source: std::io::Error) -> RunError {
    RunError::Io { path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn header(id: &str) -> CorpusHeader {
        CorpusHeader {
            format: CORPUS_RUN.to_owned(),
            id: id.to_owned(),
            host: "1".to_owned(),
            manifest: "m.toml".to_owned(),
            digest: "d".to_owned(),
            queries: 3,
            database: "shop".to_owned(),
            address: "a".to_owned(),
            rewriter: "r".to_owned(),
            shard: None,
            settings: json!({"iterations": 5}),
        }
    }

    #[test]
    fn a_killed_run_resumes_after_its_last_whole_line() {
        let root = tempfile::tempdir().unwrap();
        let runs = CorpusRuns::new(root.path().to_owned());
        let path = runs.folder("abc1");
        let mut folder = CorpusFolder::create(&path, header("abc1")).unwrap();
        fs::write(folder.journal(0), "x").unwrap();
        folder.append(0, &json!({"place": 0})).unwrap();
        assert!(!folder.journal(0).exists());
        let busy = CorpusFolder::resume::<Value>(&path, &header("abc1")).unwrap_err();
        assert!(matches!(busy, RunError::Busy { .. }), "{busy}");
        drop(folder);
        File::options()
            .append(true)
            .open(path.join(RESULTS))
            .unwrap()
            .write_all(b"{\"place\":1,\"cut")
            .unwrap();
        assert_eq!(read_corpus_run::<Value>(&path).unwrap().1, [json!({"place": 0})]);
        let (mut folder, lines) =
            CorpusFolder::resume::<Value>(&runs.find("last").unwrap(), &header("abc1")).unwrap();
        assert_eq!(lines, [json!({"place": 0})]);
        folder.append(1, &json!({"place": 1})).unwrap();
        assert_eq!(
            fs::read_to_string(path.join(RESULTS)).unwrap(),
            "{\"place\":0}\n{\"place\":1}\n"
        );
    }

    #[test]
    fn results_that_are_too_large_are_not_read() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("abc1");
        let mut folder = CorpusFolder::create(&path, header("abc1")).unwrap();
        folder.file.set_len(ALL).unwrap();
        assert!(
            folder.append(0, &json!({"place": 0})).unwrap_err().to_string().contains("more than")
        );
        folder.file.set_len(ALL + 1).unwrap();
        drop(folder);
        let error = read_corpus_run::<Value>(&path).unwrap_err();
        assert!(matches!(error, RunError::Malformed { line: 0, .. }), "{error}");
    }

    #[test]
    fn only_the_same_run_resumes() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("abc1");
        drop(CorpusFolder::create(&path, header("abc1")).unwrap());
        assert!(matches!(
            CorpusFolder::create(&path, header("abc1")).unwrap_err(),
            RunError::Exists { .. }
        ));
        let others = [
            CorpusHeader { digest: "e".to_owned(), ..header("abc1") },
            CorpusHeader { database: "other".to_owned(), ..header("abc1") },
            CorpusHeader { address: "b".to_owned(), ..header("abc1") },
            CorpusHeader { rewriter: "s".to_owned(), ..header("abc1") },
            CorpusHeader { settings: json!({"iterations": 4}), ..header("abc1") },
        ];
        for other in others {
            let error = CorpusFolder::resume::<Value>(&path, &other).unwrap_err();
            assert!(matches!(error, RunError::Unfit { .. }), "{error}");
        }
        // The id and the path of the manifest may be others.
        let moved = CorpusHeader { manifest: "elsewhere/m.toml".to_owned(), ..header("abc2") };
        assert!(CorpusFolder::resume::<Value>(&path, &moved).is_ok());
    }

    #[test]
    fn what_is_no_run_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let runs = CorpusRuns::new(root.path().join("none"));
        assert!(matches!(runs.find("last").unwrap_err(), RunError::Unknown { .. }));
        let path = root.path().join("x");
        fs::create_dir(&path).unwrap();
        assert!(matches!(read_corpus_run::<Value>(&path).unwrap_err(), RunError::Io { .. }));
        for (text, is_format) in [("{}", false), ("{\"format\":\"other/1\"}", true), ("[", false)] {
            fs::write(path.join(HEADER), text).unwrap();
            let error = read_corpus_run::<Value>(&path).unwrap_err();
            assert_eq!(matches!(error, RunError::Format { .. }), is_format, "{error}");
        }
        fs::write(path.join(HEADER), serde_json::to_vec(&header("x")).unwrap()).unwrap();
        fs::write(path.join(RESULTS), "{}\nnot json\n{}\n").unwrap();
        let error = read_corpus_run::<Value>(&path).unwrap_err();
        assert!(matches!(error, RunError::Malformed { line: 2, .. }), "{error}");
    }
}
