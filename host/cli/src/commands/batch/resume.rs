//! `batch --resume`: continues the answers in a file that the same command began.

use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use syrch::batch::{Line, Reply, Totals};
use syrch::syrch_core::result_set::digest64;

use super::hash;
use super::merge::LONGEST;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::Stream;

/// A file of answers, locked for this process, whose last line is whole.
pub(super) struct Earlier {
    path: PathBuf,
    file: File,
    /// The totals of its answers.
    pub(super) totals: Totals,
    answered: Answered,
}

/// The lines that have their answers, by their numbers, each with the hash of its id.
#[derive(Clone, Default)]
pub(super) struct Answered(Arc<Mutex<Left>>);

#[derive(Default)]
struct Left {
    hashes: BTreeMap<u64, u64>,
    /// A line whose answer is of another question.
    foreign: Option<u64>,
}

impl Earlier {
    /// Opens the file, which is made if it is not there, and cuts off a line that was not written
    /// to its end.
    ///
    /// # Errors
    /// When it cannot be read or written, holds something else, or another process writes to it.
    pub(super) fn open(path: &Path) -> Outcome<Self> {
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(path).map_err(|error| explain(path, &error.to_string()))?;
        if !file.metadata().is_ok_and(|found| found.is_file()) {
            return Err(explain(path, "it is no file"));
        }
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let why = "another process writes to it";
                return Err(explain(path, why).hint("wait for its end, or end it"));
            }
            // Some file systems have no locks.
            Err(TryLockError::Error(_)) => {}
        }
        let mut totals = Totals::default();
        let mut hashes = BTreeMap::new();
        let end = read_answers(&file, &mut totals, &mut hashes)
            .map_err(|why| explain(path, &why).hint("name a file that `batch --resume` wrote"))?;
        file.set_len(end)
            .and_then(|()| file.seek(SeekFrom::Start(end)))
            .map_err(|error| explain(path, &error.to_string()))?;
        let answered = Answered(Arc::new(Mutex::new(Left { hashes, foreign: None })));
        Ok(Self { path: path.to_owned(), file, totals, answered })
    }

    /// The lines that have their answers.
    pub(super) fn lines(&self) -> Answered {
        self.answered.clone()
    }

    /// The stream that writes behind the last answer.
    pub(super) fn stream(&self) -> Outcome<Stream> {
        let file = self.file.try_clone();
        file.map(Stream::append).map_err(|error| explain(&self.path, &error.to_string()))
    }

    /// Checks that each answer was one to a line of standard input, after the last of them.
    ///
    /// # Errors
    /// When one was not.
    pub(super) fn check_end(&self) -> Outcome<()> {
        let left = self.answered.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(line) = left.foreign.or_else(|| left.hashes.keys().next().copied()) else {
            return Ok(());
        };
        let path = self.path.display();
        let why = format!("the answer to line {line} in `{path}` is of another question");
        Err(Failure::usage(why).hint("standard input must hold the questions of its beginning"))
    }
}

impl Answered {
    /// Returns whether the line may follow: no answer of another question stands in its place.
    pub(super) fn admits(&self, line: &Line) -> bool {
        let mut left = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_foreign = left.hashes.get(&line.number).is_some_and(|known| *known != hash(line));
        if is_foreign {
            left.foreign = Some(line.number);
        }
        !is_foreign
    }

    /// Returns whether the line has no answer yet.
    pub(super) fn lacks(&self, line: &Line) -> bool {
        let mut left = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        left.hashes.remove(&line.number).is_none()
    }
}

fn explain(path: &Path, why: &str) -> Failure {
    Failure::new(Exit::Usage, format!("--resume `{}`: {why}", path.display()))
}

/// Returns whether a last line without an end is the beginning of an answer, or nothing, so that it
/// may be cut off.
fn is_cut_answer(line: &[u8]) -> bool {
    let read = serde_json::from_slice::<Reply>(line);
    line.is_empty() || line.starts_with(b"{\"") && read.err().is_none_or(|error| error.is_eof())
}

/// Reads the answers of a file. Returns the end of the last whole line, in bytes.
fn read_answers(
    file: &File,
    totals: &mut Totals,
    hashes: &mut BTreeMap<u64, u64>,
) -> Result<u64, String> {
    let mut reader = BufReader::new(file);
    let mut end = 0;
    let mut buffer = Vec::new();
    for number in 1_u64.. {
        buffer.clear();
        let read = reader.by_ref().take(LONGEST).read_until(b'\n', &mut buffer);
        let bytes = read.map_err(|error| error.to_string())? as u64;
        if buffer.last() != Some(&b'\n') {
            if bytes == LONGEST {
                return Err(format!("its line {number} is too long"));
            }
            if !is_cut_answer(&buffer) {
                return Err(format!("its line {number} is no answer"));
            }
            break;
        }
        let reply: Reply = serde_json::from_slice(&buffer)
            .map_err(|error| format!("its line {number} is no answer: {error}"))?;
        totals.count(&reply);
        if hashes.insert(reply.line, digest64(&[&reply.id.to_string()])).is_some() {
            return Err(format!("it has two answers to line {}", reply.line));
        }
        end += bytes;
    }
    Ok(end)
}
