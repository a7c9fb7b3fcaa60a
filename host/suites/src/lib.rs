//! Suites: questions with expected answers, in the formats that they are published in. A suite is
//! read object by object, and checked completely before it is returned, since each of its questions
//! may cost money. Beside them is what graded runs and searches share: bands of confidence, and the
//! budgets and errors of runs.

pub mod bands;
mod database;
mod digest;
mod error;
mod expected;
mod inside;
mod question;
mod record;
pub mod run;
mod source;
mod table;
#[cfg(test)]
mod tests;
mod turns;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Cursor, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use syrch_core::text;

pub use database::{Engines, MissingDatabase, MissingDatabases, Unresolved, database_in};
pub use error::{Place, SuiteError, SuiteFault};
pub use expected::{GoldError, read_expected_rows};
pub use question::{Earlier, ExpectedEnd, Gold, Question, Turn};
pub use record::is_date;

use digest::Hasher;
use expected::Digests;
use inside::Folder;
use source::{Container, Item};

/// Questions of one suite at most.
const QUESTIONS: u64 = 1_000_000;
/// The bytes with which some editors begin UTF-8 text.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The format of a suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Objects with `gold_sql`, a line each or in an array.
    Jsonl,
    /// Objects with `expected_data`, `expected_sql` or `expected_answer`, as of syrch 0.1.2.
    Syrch,
    /// Objects with `db_id` and `SQL`, as of BIRD.
    Bird,
    /// Objects with `db_id` and `query`, as of Spider.
    Spider,
    /// Comma-separated values under the names of the other formats.
    Csv,
}

impl Format {
    /// The known formats, for messages.
    pub(crate) const KNOWN: &str = "suites are JSON objects, a line each or in one array, with \
                                    `question` and `gold_sql`, `SQL` (BIRD), `query` (Spider), \
                                    `expected_data`, `expected_sql`, `expected_answer` or \
                                    `expect`, or CSV with a header of these names";

    /// The name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Jsonl => "jsonl",
            Self::Syrch => "syrch",
            Self::Bird => "bird",
            Self::Spider => "spider",
            Self::Csv => "csv",
        }
    }
}

/// Questions with expected answers, all of which were checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suite {
    /// The file, as it was named.
    pub path: PathBuf,
    /// The folder of the file, to which its names are relative.
    pub folder: PathBuf,
    /// The format of the file.
    pub format: Format,
    /// The questions in the order of the file, at least one.
    pub questions: Vec<Question>,
    /// The place of each question in the file.
    pub places: Vec<Place>,
    /// SHA-256 in hexadecimal digits over the questions and expected answers, with the content of
    /// CSV files: equal for equal suites in any format.
    pub digest: String,
}

/// Reads a suite and checks all of it. The format is recognised by the content. A byte order mark
/// and empty lines are skipped.
///
/// # Errors
/// When the file cannot be read or is no suite, and otherwise with everything that is wrong with
/// its questions.
pub fn read(path: &Path) -> Result<Suite, SuiteError> {
    let unreadable = |error: std::io::Error| {
        let reason = if path.is_dir() { "it is a folder".to_owned() } else { error.to_string() };
        SuiteError::Unreadable { path: path.to_owned(), reason }
    };
    let file = File::open(path).map_err(unreadable)?;
    let mut head = Vec::new();
    (&file).take(source::HEAD).read_to_end(&mut head).map_err(unreadable)?;
    let begin = if head.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    if head[begin..].trim_ascii().is_empty() && (head.len() as u64) < source::HEAD {
        return Err(SuiteError::Empty { path: path.to_owned() });
    }
    let container = source::container(&head[begin..]).map_err(|reason| SuiteError::Unknown {
        path: path.to_owned(),
        reason: reason.to_owned(),
    })?;
    let mut rest = Cursor::new(head);
    rest.set_position(begin as u64);
    let mut reading = Reading::new(path, container);
    let mut input = BufReader::new(rest.chain(file));
    source::each(container, &mut input, &mut |item| reading.take(item)).map_err(unreadable)?;
    reading.finish()
}

/// A suite that is being read.
struct Reading {
    suite: Suite,
    container: Container,
    root: Folder,
    /// Objects so far, wrong ones included.
    seen: u64,
    /// True if anything was a question, or was meant to be one.
    is_suite: bool,
    ids: BTreeMap<String, Place>,
    digests: Digests,
    hasher: Hasher,
    faults: Vec<SuiteFault>,
    count: u64,
}

impl Reading {
    fn new(path: &Path, container: Container) -> Self {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
            _ => PathBuf::from("."),
        };
        let format = if container == Container::Table { Format::Csv } else { Format::Jsonl };
        Self {
            root: Folder::for_suite(&folder),
            suite: Suite {
                path: path.to_owned(),
                folder,
                format,
                questions: Vec::new(),
                places: Vec::new(),
                digest: String::new(),
            },
            container,
            seen: 0,
            is_suite: container == Container::Table,
            ids: BTreeMap::new(),
            digests: Digests::new(),
            hasher: Hasher::new(),
            faults: Vec::new(),
            count: 0,
        }
    }

    fn fault(&mut self, place: Place, id: Option<&str>, reason: String) {
        self.count += 1;
        if let Some(same) = self.faults.iter_mut().find(|fault| fault.reason == reason) {
            same.more += 1;
        } else if self.faults.len() < text::NAMED {
            self.faults.push(SuiteFault { place, id: id.map(str::to_owned), reason, more: 0 });
        }
    }

    fn take(&mut self, item: Item) -> ControlFlow<()> {
        let place = item.place;
        let index = self.seen;
        self.seen += 1;
        if self.seen > QUESTIONS {
            self.fault(place, None, format!("the suite has more than {QUESTIONS} questions"));
            return ControlFlow::Break(());
        }
        let object = match item.object {
            Ok(object) => object,
            Err(reason) => {
                self.fault(place, None, reason);
                return ControlFlow::Continue(());
            }
        };
        if record::is_meant(&object) {
            // A suite is of the format of its first question.
            if !self.is_suite {
                self.suite.format = record::format(&object);
            }
            self.is_suite = true;
        }
        let format =
            if self.container == Container::Table { Format::Csv } else { record::format(&object) };
        let read = match object.contains_key(turns::TURNS) {
            true => turns::read(object, index, format, &self.root),
            false => vec![record::read(object, index, format, &self.root)],
        };
        for record::Read { id, question } in read {
            let id = id.as_deref();
            match question {
                Ok(question) => self.question(place, question),
                Err(reasons) => {
                    reasons.into_iter().for_each(|reason| self.fault(place, id, reason));
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn question(&mut self, place: Place, question: Question) {
        let before = self.count;
        if let Some(first) = self.ids.get(&question.id) {
            let reason = format!("repeats the id of {first}");
            self.fault(place, Some(&question.id), reason);
        } else {
            self.ids.insert(question.id.clone(), place);
        }
        for gold in &question.golds {
            if let Gold::Csv(path) = gold
                && let Err(error) = content(&mut self.digests, path)
            {
                self.fault(place, Some(&question.id), format!("`expected_data`: {error}"));
            }
        }
        if self.count > before {
            return;
        }
        let digests = &self.digests;
        self.hasher
            .question(&question, |path| digests.get(path).and_then(|digest| digest.clone().ok()));
        // Of a suite with mistakes only these are needed.
        if self.count == 0 {
            self.suite.questions.push(question);
            self.suite.places.push(place);
        }
    }

    fn finish(self) -> Result<Suite, SuiteError> {
        let Self { mut suite, is_suite, hasher, faults, count, .. } = self;
        let path = suite.path.clone();
        if count > 0 && !is_suite {
            let reason = "no line or item of it has a question".to_owned();
            return Err(SuiteError::Unknown { path, reason });
        }
        if count > 0 {
            return Err(SuiteError::Faults { path, faults, count });
        }
        if suite.questions.is_empty() {
            return Err(SuiteError::Empty { path });
        }
        suite.digest = hasher.finish();
        Ok(suite)
    }
}

/// Checks a file of expected rows, and takes its digest, once.
fn content(digests: &mut Digests, path: &Path) -> Result<(), GoldError> {
    let digest = digests.entry(path.to_owned()).or_insert_with(|| {
        let content = expected::load(path)?;
        expected::table(path, &content)?;
        Ok(Sha256::digest(&content).into())
    });
    digest.clone().map(drop)
}
