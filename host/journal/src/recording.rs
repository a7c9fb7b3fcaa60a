//! Recordings: every exchange with a model, in a file that can stand in for the model. The file has
//! one JSON document per line; the first is the [`RecordingHeader`], the others are [`Recorded`] in
//! the order in which calls ended.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use syrch_core::ports::{LlmError, ModelOutcome, Reply, Request, Retry, Usage};
use syrch_core::text::clip;

use crate::file::{LINE, LOCK_TRIES, LOCK_WAIT, explain_json};

/// The value of [`RecordingHeader::format`].
pub const RECORDING: &str = "syrch.recording";

/// The version that this host writes and reads.
const VERSION: u32 = 1;

/// The most bytes of a first line that are read to detect a file's format.
const FIRST_LINE: u64 = 64 << 20;

/// The first line of a recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordingHeader {
    /// The name of the format, always [`RECORDING`].
    pub format: String,
    /// The version of the format.
    pub version: u32,
    /// The names of models that requests may hold, the default first.
    pub models: Vec<String>,
}

/// One try of a model call, with its outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recorded {
    /// The request, with its prompt or with digests of it.
    pub request: Request,
    /// The reply, or why there was none.
    pub result: Result<Reply, LlmError>,
    /// The tokens that the call used, if they are known.
    pub usage: Option<Usage>,
    /// The advice on another try of the same call.
    #[serde(default)]
    pub again: Again,
}

/// [`Retry`] in the form of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Again {
    /// Another try is useless.
    #[default]
    No,
    /// Another try may succeed after a while.
    Yes,
    /// Another try may succeed when the endpoint is ready.
    WhenReady,
    /// Another try may succeed for a shorter reply.
    Shorter,
    /// Another try may succeed after that many milliseconds.
    AfterMs(u64),
}

impl From<Retry> for Again {
    fn from(retry: Retry) -> Self {
        match retry {
            Retry::No => Self::No,
            Retry::Yes => Self::Yes,
            Retry::WhenReady => Self::WhenReady,
            Retry::Shorter => Self::Shorter,
            Retry::After(delay) => {
                Self::AfterMs(u64::try_from(delay.as_millis()).unwrap_or(u64::MAX))
            }
        }
    }
}

impl From<Again> for Retry {
    fn from(again: Again) -> Self {
        match again {
            Again::No => Self::No,
            Again::Yes => Self::Yes,
            Again::WhenReady => Self::WhenReady,
            Again::Shorter => Self::Shorter,
            Again::AfterMs(millis) => Self::After(Duration::from_millis(millis)),
        }
    }
}

impl Recorded {
    /// A call that was sent, with its outcome.
    #[must_use]
    pub fn new(request: Request, outcome: &ModelOutcome) -> Self {
        Self {
            request,
            result: outcome.result.clone(),
            usage: outcome.usage.clone(),
            again: outcome.retry.into(),
        }
    }

    /// The outcome of the call.
    #[must_use]
    pub fn outcome(self) -> ModelOutcome {
        ModelOutcome::sent(self.result, self.usage).retry(self.again.into())
    }
}

/// The reason why a recording cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// The file cannot be accessed.
    #[error("the recording `{path}`: {source}")]
    Io {
        /// The path of the recording.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The file is something else, or a recording that this host cannot read or continue.
    #[error("`{path}` {reason}")]
    Unfit {
        /// The path of the file.
        path: PathBuf,
        /// The error in the file.
        reason: String,
    },
    /// A line is damaged.
    #[error("the recording `{path}`, line {line}: {reason}")]
    Malformed {
        /// The path of the recording.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The error in the line.
        reason: String,
    },
}

impl RecordingError {
    fn io(path: &Path, source: std::io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }

    fn unfit(path: &Path, reason: impl Into<String>) -> Self {
        Self::Unfit { path: path.to_owned(), reason: reason.into() }
    }
}

/// A recording that is being written. Several processes may add to one: each line is appended
/// whole.
#[derive(Debug)]
pub struct Recording {
    path: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    file: File,
    /// The reason why nothing is written any more.
    broken: Option<String>,
}

impl Recording {
    /// Creates a recording of calls to these models (the default first) in mode 0600, or opens one
    /// to continue it.
    ///
    /// # Errors
    /// When the file cannot be written, is something else, or is of other models: with those, equal
    /// requests would have other meanings.
    pub fn open(path: &Path, models: &[String]) -> Result<Self, RecordingError> {
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true);
        syrch_files::private(&mut options);
        let mut file = options.open(path).map_err(|error| RecordingError::io(path, error))?;
        // Prompts may quote cells, whatever mode the file was made with.
        syrch_files::make_private(&file)
            .and_then(|()| lock(&file))
            .map_err(|error| RecordingError::io(path, error))?;
        let started = begin(&mut file, path, models);
        file.unlock().map_err(|error| RecordingError::io(path, error))?;
        started?;
        Ok(Self { path: path.to_owned(), state: Mutex::new(State { file, broken: None }) })
    }

    /// Adds a call. When that fails (a full disk), the recording ends there, and
    /// [`Recording::broken`] returns the reason.
    pub fn note(&self, recorded: &Recorded) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.broken.is_some() {
            return;
        }
        let written = line(recorded).and_then(|line| append(&mut state.file, &line));
        if let Err(error) = written {
            state.broken =
                Some(format!("the recording `{}` is incomplete: {error}", self.path.display()));
        }
    }

    /// Returns the reason why the recording is incomplete; `None` when it is complete.
    #[must_use]
    pub fn broken(&self) -> Option<String> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).broken.clone()
    }

    /// Reads the header of a recording.
    ///
    /// # Errors
    /// When the file cannot be read or is not a recording.
    pub fn read_header(path: &Path) -> Result<RecordingHeader, RecordingError> {
        Ok(open_to_read(path)?.1)
    }

    /// Reads a whole recording. A last line without a line end was being written when a process
    /// ended, and is ignored.
    ///
    /// # Errors
    /// When the file cannot be read, is not a recording, or a line is damaged.
    pub fn read(path: &Path) -> Result<(RecordingHeader, Vec<Recorded>), RecordingError> {
        let (mut reader, header) = open_to_read(path)?;
        let fail = |error| RecordingError::io(path, error);
        let mut all = Vec::new();
        while let Some(line) = whole_line(&mut reader).map_err(fail)? {
            all.push(serde_json::from_slice(&line).map_err(|error: serde_json::Error| {
                RecordingError::Malformed {
                    path: path.to_owned(),
                    line: all.len() + 2,
                    reason: explain_json(&error),
                }
            })?);
        }
        Ok((header, all))
    }
}

/// Opens a recording, and reads its first line.
fn open_to_read(path: &Path) -> Result<(BufReader<File>, RecordingHeader), RecordingError> {
    let opened = File::open(path).and_then(|file| {
        let mut reader = BufReader::new(file);
        let first = whole_line(&mut reader)?.unwrap_or_default();
        Ok((reader, first))
    });
    let (reader, first) = opened.map_err(|error| RecordingError::io(path, error))?;
    Ok((reader, header(path, &first)?))
}

/// The `format` that a file's first line names; `None` when it names none.
///
/// # Errors
/// When the file cannot be read.
pub fn format_of(path: &Path) -> Result<Option<String>, RecordingError> {
    let file = File::open(path).map_err(|error| RecordingError::io(path, error))?;
    let mut first = Vec::new();
    let read = BufReader::new(file).take(FIRST_LINE).read_until(b'\n', &mut first);
    read.map_err(|error| RecordingError::io(path, error))?;
    let value: Option<Value> = serde_json::from_slice(&first).ok();
    Ok(value.and_then(|value| value.get("format")?.as_str().map(str::to_owned)))
}

/// Writes the header into an empty file, or checks the one that is there.
fn begin(file: &mut File, path: &Path, models: &[String]) -> Result<(), RecordingError> {
    let fail = |error| RecordingError::io(path, error);
    if file.metadata().map_err(fail)?.len() == 0 {
        let header = RecordingHeader {
            format: RECORDING.to_owned(),
            version: VERSION,
            models: models.to_vec(),
        };
        return line(&header).and_then(|line| file.write_all(&line)).map_err(fail);
    }
    let first = whole_line(&mut BufReader::new(&mut *file)).map_err(fail)?.unwrap_or_default();
    let known = header(path, &first)?;
    if known.models != models {
        let reason = format!(
            "records the models {}, not {}: use another file",
            list_names(&known.models),
            list_names(models)
        );
        return Err(RecordingError::unfit(path, reason));
    }
    Ok(())
}

fn list_names(models: &[String]) -> String {
    models.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn header(path: &Path, first: &[u8]) -> Result<RecordingHeader, RecordingError> {
    let value: Value = serde_json::from_slice(first).unwrap_or_default();
    if value.get("format").and_then(Value::as_str) != Some(RECORDING) {
        return Err(RecordingError::unfit(
            path,
            format!("is not a recording: its first line has no `format` of `{RECORDING}`"),
        ));
    }
    if value.get("version").and_then(Value::as_u64) != Some(u64::from(VERSION)) {
        let found = value.get("version").unwrap_or(&Value::Null).to_string();
        let found = clip(&found, 64);
        return Err(RecordingError::unfit(
            path,
            format!("is a recording of version {found}; this host reads version {VERSION}"),
        ));
    }
    serde_json::from_value(value).map_err(|error| {
        RecordingError::unfit(path, format!("is not a recording: {}", explain_json(&error)))
    })
}

fn line(value: &impl Serialize) -> std::io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    Ok(line)
}

/// Takes the lock, which other processes hold for the time of a line.
fn lock(file: &File) -> std::io::Result<()> {
    for _ in 0..LOCK_TRIES {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_WAIT),
            Err(TryLockError::Error(error)) => return Err(error),
            Ok(()) => return Ok(()),
        }
    }
    Err(std::io::Error::other("another process holds it"))
}

/// Appends a line, after removing what a process that ended while writing has left.
fn append(file: &mut File, line: &[u8]) -> std::io::Result<()> {
    lock(file)?;
    let written = mend(file).and_then(|()| file.write_all(line));
    file.unlock()?;
    written
}

/// Removes a last line that was cut off.
fn mend(file: &mut File) -> std::io::Result<()> {
    let mut last = [b'\n'];
    if file.seek(SeekFrom::End(-1)).is_ok() {
        file.read_exact(&mut last)?;
    }
    if last == [b'\n'] {
        return Ok(());
    }
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    file.set_len(whole as u64)
}

/// The next line without its line end; `None` for a line without one.
fn whole_line(reader: &mut impl BufRead) -> std::io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    reader.by_ref().take(LINE).read_until(b'\n', &mut line)?;
    Ok((line.pop() == Some(b'\n')).then_some(line))
}

#[cfg(test)]
mod tests;
