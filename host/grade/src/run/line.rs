//! The lines of a run's `results.jsonl`: each has a checksum, so that it is read completely or not
//! at all.
//!
//! `{"sha":"0123456789abcdef","at_ms":1200,"graded":{…}}`: the checksum is the beginning of the
//! SHA-256 of what follows the comma after it, up to the end of the line.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::RunError;
use super::graded::{Cost, Graded};

/// Bytes of one line at most: statements and messages, no rows.
const MOST: u64 = 64 << 20;

const BEFORE: &[u8] = b"{\"sha\":\"";
const BETWEEN: &[u8] = b"\",";
/// Hexadecimal digits of the checksum.
const DIGITS: usize = 16;

/// A line of the results.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Line {
    /// The time that the run had taken, in all processes together.
    pub(crate) at: Duration,
    /// The content of the line.
    pub(crate) entry: Entry,
}

/// The content of a line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Entry {
    /// The graded answer of an item.
    Graded(Box<Graded>),
    /// The question at which a comparison stopped early. `None` revokes an earlier line.
    Stopped(Option<Early>),
    /// An item that a budget of the run ended, which is not done.
    CutOff(CutOff),
}

/// The cost of an item that a budget of the run ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct CutOff {
    /// The name of its arm.
    pub(crate) arm: String,
    /// Its cost.
    pub(crate) cost: Cost,
}

/// A line as it is written.
#[derive(Serialize, Deserialize)]
struct Written {
    at_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    graded: Option<Box<Graded>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stopped: Option<Stopped>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cut_off: Option<CutOff>,
}

#[derive(Serialize, Deserialize)]
struct Stopped {
    early: Option<Early>,
}

/// The early end of a comparison that was decided before all questions were asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Early {
    /// The last question's place that counts. Lines of later ones, which ran ahead, count nowhere.
    pub at: u64,
    /// The arm that is compared.
    pub first: String,
    /// The arm with which it is compared.
    pub second: String,
    /// The rule under which it was decided.
    pub rule: String,
    /// Questions that only the first arm had right.
    pub b: u64,
    /// Questions that only the second arm had right.
    pub c: u64,
}

impl Line {
    /// Its bytes, the end of the line included.
    ///
    /// # Errors
    /// When it is too long.
    pub(crate) fn encode(self) -> std::io::Result<Vec<u8>> {
        let at_ms = u64::try_from(self.at.as_millis()).unwrap_or(u64::MAX);
        let (graded, stopped, cut_off) = match self.entry {
            Entry::Graded(graded) => (Some(graded), None, None),
            Entry::Stopped(early) => (None, Some(Stopped { early }), None),
            Entry::CutOff(cut) => (None, None, Some(cut)),
        };
        let json = serde_json::to_vec(&Written { at_ms, graded, stopped, cut_off })?;
        let rest = json.get(1..).unwrap_or_default();
        let mut line = Vec::with_capacity(rest.len() + BEFORE.len() + DIGITS + BETWEEN.len() + 1);
        line.extend_from_slice(BEFORE);
        line.extend_from_slice(&checksum(rest));
        line.extend_from_slice(BETWEEN);
        line.extend_from_slice(rest);
        line.push(b'\n');
        if line.len() as u64 > MOST {
            return Err(std::io::Error::other(format!("a line would be longer than {MOST} bytes")));
        }
        Ok(line)
    }

    /// A line from its bytes without the end of the line, or what is wrong with it.
    fn decode(line: &[u8]) -> Result<Self, String> {
        let parts = line.strip_prefix(BEFORE).and_then(|line| line.split_at_checked(DIGITS));
        let parts = parts.and_then(|(sha, line)| Some((sha, line.strip_prefix(BETWEEN)?)));
        let (sha, rest) = parts.ok_or("it does not begin with its checksum")?;
        if checksum(rest) != sha {
            return Err("its checksum is another: it was damaged".to_owned());
        }
        let json = [b"{", rest].concat();
        let written: Written = serde_json::from_slice(&json).map_err(|error| error.to_string())?;
        let entry = match (written.graded, written.stopped, written.cut_off) {
            (Some(graded), None, None) => Entry::Graded(graded),
            (None, Some(stopped), None) => Entry::Stopped(stopped.early),
            (None, None, Some(cut)) => Entry::CutOff(cut),
            _ => return Err("it holds neither a graded answer nor a stop".to_owned()),
        };
        Ok(Self { at: Duration::from_millis(written.at_ms), entry })
    }
}

fn checksum(bytes: &[u8]) -> [u8; DIGITS] {
    let mut digits = [0; DIGITS];
    for (byte, pair) in Sha256::digest(bytes).iter().zip(digits.chunks_exact_mut(2)) {
        fn hex_digit(half: u8) -> u8 {
            if half < 10 { b'0' + half } else { b'a' + half - 10 }
        }
        pair.copy_from_slice(&[hex_digit(byte >> 4), hex_digit(byte & 15)]);
    }
    digits
}

/// The whole lines of a file, one by one. A last line without its end was being written when the
/// process ended, and is none of them.
pub(crate) struct Lines<'a> {
    reader: BufReader<File>,
    path: &'a Path,
    buffer: Vec<u8>,
    /// The number of the last line that was read, from 1.
    pub(crate) number: u64,
    /// Bytes up to the end of the last whole line.
    pub(crate) whole: u64,
    /// Bytes of the line that was cut off.
    pub(crate) torn: u64,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(file: File, path: &'a Path) -> Self {
        let number = 0;
        let whole = 0;
        let torn = 0;
        Self {
            reader: BufReader::with_capacity(1 << 16, file),
            path,
            buffer: Vec::new(),
            number,
            whole,
            torn,
        }
    }

    /// The next one; `None` at the end.
    ///
    /// # Errors
    /// When it is damaged, or the file cannot be read.
    pub(crate) fn next(&mut self) -> Result<Option<Line>, RunError> {
        self.buffer.clear();
        let read = self.reader.by_ref().take(MOST + 1).read_until(b'\n', &mut self.buffer);
        let bytes = read.map_err(|error| RunError::io(self.path, error))? as u64;
        self.number += 1;
        match self.buffer.pop() {
            None => return Ok(None),
            Some(b'\n') => {}
            Some(_) if bytes > MOST => return Err(self.format_error("it is too long")),
            Some(_) => {
                self.torn = bytes;
                return Ok(None);
            }
        }
        self.whole += bytes;
        let line = Line::decode(&self.buffer);
        line.map(Some).map_err(|reason| {
            self.format_error(&format!(
                "{reason}; without this line the run can be resumed, and repeats its item"
            ))
        })
    }

    pub(crate) fn format_error(&self, reason: &str) -> RunError {
        RunError::Malformed {
            path: self.path.to_owned(),
            line: self.number,
            reason: reason.to_owned(),
        }
    }
}

/// Reads the results in a file, also of a run that is going on; one that is missing holds none.
/// Whether a last line was cut off.
///
/// # Errors
/// When a line is damaged, or the file cannot be read.
pub(crate) fn each_line(path: &Path, mut take: impl FnMut(Line)) -> Result<bool, RunError> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(RunError::io(path, error)),
    };
    let mut lines = Lines::new(file, path);
    while let Some(line) = lines.next()? {
        take(line);
    }
    Ok(lines.torn > 0)
}
