//! Reads a journal: of a run that ended, that was killed, or that is still in progress.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use syrch_core::ResultSet;
use syrch_core::ports::{LlmError, Reply, Request};

use crate::file::{JournalError, LINE, explain_json};
use crate::record::{Ask, CallId, Event, FORMAT, Got, Header, Record, VERSION};
use crate::stored;

/// The most bytes of a journal that are read; this host writes none so large.
const MOST: u64 = 1 << 30;

/// A journal in memory.
#[derive(Debug, Clone)]
pub struct Journal {
    /// The header, which is the first line.
    pub header: Header,
    /// The other lines, in order.
    pub records: Vec<Record>,
    /// The bytes up to the end of the last complete line.
    pub(crate) whole_bytes: u64,
}

impl Journal {
    /// Reads a file. A last line without a line end was being written when the process ended, and
    /// is ignored.
    ///
    /// # Errors
    /// When the file cannot be read, is not a journal or has another version, or a line before the
    /// last is damaged.
    pub fn read(path: &Path) -> Result<Self, JournalError> {
        let file = open(path)?;
        let mut lines = Lines { reader: BufReader::new(file), path, number: 0, bytes: 0 };
        let malformed =
            |line, reason: String| JournalError::Malformed { path: path.to_owned(), line, reason };
        let first = lines.next()?.ok_or_else(|| malformed(1, "it is empty".to_owned()))?;
        let header = header(&first).map_err(|wrong| match wrong {
            Wrong::Version(found) => {
                JournalError::Version { path: path.to_owned(), found, known: VERSION }
            }
            Wrong::Other(reason) => malformed(1, reason),
        })?;
        let mut records = Vec::new();
        while let Some(line) = lines.next()? {
            let record = match header.version {
                IN_MILLISECONDS => read_first_version(&line),
                _ => serde_json::from_slice(&line),
            };
            records.push(record.map_err(|error| malformed(lines.number, explain_json(&error)))?);
        }
        Ok(Self { header, records, whole_bytes: lines.bytes })
    }

    /// Reads only the first line of a file.
    ///
    /// # Errors
    /// As [`Journal::read`].
    pub fn read_header(path: &Path) -> Result<Header, JournalError> {
        let file = open(path)?;
        let mut lines = Lines { reader: BufReader::new(file), path, number: 0, bytes: 0 };
        let malformed =
            |reason: String| JournalError::Malformed { path: path.to_owned(), line: 1, reason };
        let first = lines.next()?.ok_or_else(|| malformed("it is empty".to_owned()))?;
        header(&first).map_err(|wrong| match wrong {
            Wrong::Version(found) => {
                JournalError::Version { path: path.to_owned(), found, known: VERSION }
            }
            Wrong::Other(reason) => malformed(reason),
        })
    }

    /// Returns whether the run ended; otherwise it was killed or is in progress.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        use crate::record::Fact::{Answer, Failed};
        self.records.iter().rev().any(|record| {
            matches!(record, Record::Fact { fact: Answer { .. } | Failed { .. }, .. })
        })
    }

    /// The results by their digest, each decoded once; damaged ones are missing.
    pub(crate) fn results(&self) -> HashMap<String, Arc<ResultSet>> {
        let rows = self.records.iter().filter_map(|record| match record {
            Record::Rows { digest, bytes } => {
                Some((digest.clone(), stored::restore(digest, bytes)?))
            }
            _ => None,
        });
        rows.collect()
    }
}

/// A model call and its outcome.
pub type Exchange = (Request, Result<Reply, LlmError>);

/// The model calls that were answered, in the order in which they were made.
#[must_use]
pub fn exchanges(journal: &Journal) -> Vec<Exchange> {
    let mut open: HashMap<(CallId, u32), usize> = HashMap::new();
    let mut all: Vec<(Request, Option<Result<Reply, LlmError>>)> = Vec::new();
    for record in &journal.records {
        match record {
            Record::Event {
                event: Event::Issue { call, ticket, ask: Ask::Llm(request) }, ..
            } => {
                open.insert((*call, *ticket), all.len());
                all.push(((**request).clone(), None));
            }
            Record::Event {
                event: Event::Done { call, ticket, got: Got::Reply(reply) }, ..
            } => {
                if let Some((_, answer)) =
                    open.remove(&(*call, *ticket)).and_then(|place| all.get_mut(place))
                {
                    *answer = Some(reply.clone().map(|reply| *reply));
                }
            }
            _ => {}
        }
    }
    all.into_iter().filter_map(|(request, reply)| Some((request, reply?))).collect()
}

/// Opens a file that may be read as a whole: a plain file that is not too large.
fn open(path: &Path) -> Result<File, JournalError> {
    let data = std::fs::metadata(path).map_err(|error| JournalError::io(path, error))?;
    let reason = match (data.is_file(), data.len()) {
        (false, _) => "this is not a plain file".to_owned(),
        (true, bytes) if bytes > MOST => format!("it is larger than {MOST} bytes"),
        _ => return File::open(path).map_err(|error| JournalError::io(path, error)),
    };
    Err(JournalError::Malformed { path: path.to_owned(), line: 1, reason })
}

/// The first version of the format, whose times are milliseconds.
const IN_MILLISECONDS: u32 = 1;

/// Reads a line of a journal of the first version. A later host that resumed the run has appended
/// lines of its own version.
fn read_first_version(line: &[u8]) -> serde_json::Result<Record> {
    let mut record: Value = serde_json::from_slice(line)?;
    if let Some(fields) = record.as_object_mut()
        && let Some(at) = fields.shift_remove("at_ms").and_then(|at| at.as_u64())
    {
        fields.insert("at_us".to_owned(), at.saturating_mul(1000).into());
    }
    serde_json::from_value(record)
}

enum Wrong {
    Version(u64),
    Other(String),
}

fn header(line: &[u8]) -> Result<Header, Wrong> {
    let value: Value = serde_json::from_slice(line)
        .map_err(|_| Wrong::Other("this is not a journal".to_owned()))?;
    if value.get("format").and_then(Value::as_str) != Some(FORMAT) {
        return Err(Wrong::Other(format!("this is not a journal: its `format` is not `{FORMAT}`")));
    }
    match value.get("version").and_then(Value::as_u64) {
        Some(version) if [IN_MILLISECONDS, VERSION].map(u64::from).contains(&version) => {}
        Some(version) => return Err(Wrong::Version(version)),
        None => return Err(Wrong::Other("it has no `version`".to_owned())),
    }
    serde_json::from_value(value).map_err(|error| Wrong::Other(explain_json(&error)))
}

/// Reads the complete lines of a file.
struct Lines<'a> {
    reader: BufReader<File>,
    path: &'a Path,
    number: usize,
    bytes: u64,
}

impl Lines<'_> {
    fn next(&mut self) -> Result<Option<Vec<u8>>, JournalError> {
        let mut line = Vec::new();
        let read = self.reader.by_ref().take(LINE).read_until(b'\n', &mut line);
        read.map_err(|error| JournalError::io(self.path, error))?;
        self.number += 1;
        if line.pop() == Some(b'\n') {
            self.bytes += line.len() as u64 + 1;
            return Ok(Some(line));
        }
        if line.len() as u64 + 1 >= LINE {
            let reason = "the line is too long".to_owned();
            return Err(JournalError::Malformed {
                path: self.path.to_owned(),
                line: self.number,
                reason,
            });
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_of_a_long_line_is_short() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.jsonl");
        let journal = include_str!("../tests/clarified.jsonl");
        let (header, _) = journal.split_once('\n').unwrap();
        let name = "é".repeat(50_000);
        std::fs::write(&path, format!("{header}\n{{\"record\":\"{name}\"}}\n")).unwrap();
        let error = Journal::read(&path).unwrap_err();
        assert!(matches!(error, JournalError::Malformed { line: 2, .. }), "{error}");
        assert!(error.to_string().len() < 1_000, "{} bytes", error.to_string().len());
    }
}
