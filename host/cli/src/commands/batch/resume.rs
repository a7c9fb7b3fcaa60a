//! `batch --resume`: continues the answers in a file that the same command began.

use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use syrch::batch::{Line, Reply, Totals};
use syrch::syrch_core::result_set::digest64;
use syrch::syrch_core::text::clip;

use super::hash;
use super::merge::LONGEST;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::Stream;
use crate::scrub::Scrubber;

/// The limit on the size of a question in a message, in bytes.
const SHOWN: usize = 120;

/// A file of answers, locked for this process, whose last line is whole.
pub(super) struct Earlier {
    path: PathBuf,
    file: File,
    /// The totals of its answers.
    pub(super) totals: Totals,
    answered: Answered,
}

/// The lines that have their answers, by their numbers.
#[derive(Clone, Default)]
pub(super) struct Answered {
    left: Arc<Mutex<Left>>,
    /// Hides in questions what the answers hide in theirs.
    scrubber: Scrubber,
    /// True if a file is continued.
    is_resumed: bool,
}

#[derive(Default)]
struct Left {
    known: BTreeMap<u64, Known>,
    refused: Option<Refused>,
}

/// The line of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Known {
    /// The hash of its id.
    id: u64,
    /// The hash of its question; `None` if an error stands where the answer would.
    question: Option<u64>,
}

/// The line at which the batch ends.
#[derive(Debug, PartialEq, Eq)]
enum Refused {
    /// Its answer is of another question than this one.
    Foreign(u64, Option<String>),
    /// It belongs to a conversation.
    Conversation(u64),
}

impl Known {
    fn from_reply(reply: &Reply) -> Self {
        let question = reply.answer.as_ref().map(|document| digest64(&[&document.question]));
        Self { id: digest64(&[&reply.id.to_string()]), question }
    }

    /// Returns whether the answer may be that of the line, whose question is this.
    fn is_of(self, line: &Line, question: Option<&str>) -> bool {
        let asked = question.map(|question| digest64(&[question]));
        self.id == hash(line) && (self.question.is_none() || self.question == asked)
    }
}

impl Earlier {
    /// Opens the file, which is made if it is not there, and cuts off a line that was not written
    /// to its end.
    ///
    /// # Errors
    /// When it cannot be read or written, holds something else, or another process writes to it.
    pub(super) fn open(path: &Path, scrubber: &Scrubber) -> Outcome<Self> {
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
        let mut known = BTreeMap::new();
        let end = read_answers(&file, &mut totals, &mut known)
            .map_err(|why| explain(path, &why).hint("name a file that `batch --resume` wrote"))?;
        file.set_len(end)
            .and_then(|()| file.seek(SeekFrom::Start(end)))
            .map_err(|error| explain(path, &error.to_string()))?;
        let left = Arc::new(Mutex::new(Left { known, refused: None }));
        let answered = Answered { left, scrubber: scrubber.clone(), is_resumed: true };
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

    /// Checks that each answer was one to a line of standard input, after the last of them, and
    /// that no line was refused.
    ///
    /// # Errors
    /// When one was not.
    pub(super) fn check_end(&self) -> Outcome<()> {
        let left = self.answered.left.lock().unwrap_or_else(PoisonError::into_inner);
        let path = self.path.display();
        let (line, now) = match &left.refused {
            Some(Refused::Conversation(line)) => {
                let why = format!("line {line} is of a conversation, which is not resumed");
                return Err(
                    Failure::usage(why).hint("ask the lines of conversations without --resume")
                );
            }
            Some(Refused::Foreign(line, now)) => (*line, now.as_deref()),
            None => match left.known.keys().next() {
                Some(line) => (*line, None),
                None => return Ok(()),
            },
        };
        let now = now.map(|now| format!(" than `{}`", clip(now, SHOWN))).unwrap_or_default();
        let why = format!("the answer to line {line} in `{path}` is of another question{now}");
        Err(Failure::usage(why).hint("standard input must hold the questions of its beginning"))
    }
}

impl Answered {
    /// Returns whether the line may follow: no answer of another question stands in its place, and
    /// it does not go on from another line.
    pub(super) fn admits(&self, line: &Line) -> bool {
        if !self.is_resumed {
            return true;
        }
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        if line.is_of_conversation() {
            left.refused = Some(Refused::Conversation(line.number));
            return false;
        }
        let question = line.text().map(|text| self.scrubber.text(text).into_owned());
        let known = left.known.get(&line.number).copied();
        if known.is_none_or(|known| known.is_of(line, question.as_deref())) {
            return true;
        }
        left.refused = Some(Refused::Foreign(line.number, question));
        false
    }

    /// Returns whether the line has no answer yet.
    pub(super) fn lacks(&self, line: &Line) -> bool {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        left.known.remove(&line.number).is_none()
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
    known: &mut BTreeMap<u64, Known>,
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
        // A line that a budget left open is asked again.
        if !reply.is_open && known.insert(reply.line, Known::from_reply(&reply)).is_some() {
            return Err(format!("it has two answers to line {}", reply.line));
        }
        end += bytes;
    }
    Ok(end)
}
