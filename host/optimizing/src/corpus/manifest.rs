//! The manifest of a corpus: a table `[[queries]]` for each statement, with its file, its digest
//! and a description. Manifest and files may come from somebody else: both are read within bounds,
//! and no file outside of the manifest's folder is.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Component, Path, PathBuf};

use serde::Serialize;
use sha2::{Digest, Sha256};
use syrch_core::Limits;
use syrch_optimize::{Entry, Manifest};
use syrch_suites::run::read_within;

use super::CorpusError;

/// The limit on the size of a manifest, in bytes.
const MANIFEST: u64 = 4 << 20;
/// The limit on the number of statements of a corpus.
const QUERIES: usize = 10_000;
/// The limit on the size of the statements of a corpus, in bytes, which are all in memory before
/// the first of them is run.
const STATEMENTS: usize = 64 << 20;
/// The limit on the length of a description, in characters.
const DESCRIPTION: usize = 1_000;

/// A corpus of statements, as its manifest declares it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Corpus {
    path: PathBuf,
    queries: Vec<Entry>,
    digest: String,
}

/// The state of a statement's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum FileState {
    /// The file has the digest of the manifest.
    Ok,
    /// There is no such file, or it cannot be read.
    Missing,
    /// The file has another digest.
    Mismatch,
}

impl FileState {
    /// The name of the state: `OK`, `MISSING`, `MISMATCH`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "OK",
            Self::Missing => "MISSING",
            Self::Mismatch => "MISMATCH",
        }
    }
}

/// A statement whose file was read and has the digest of the manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockedQuery {
    /// Its entry in the manifest.
    pub query: Entry,
    /// The text of the statement.
    pub sql: String,
}

impl Corpus {
    /// Reads a manifest. The files of its statements are not read.
    ///
    /// # Errors
    /// When it cannot be read, is no manifest, has an unknown key, or names a file outside of its
    /// folder.
    pub fn read(path: &Path) -> Result<Self, CorpusError> {
        let bytes = read_within(path, MANIFEST)
            .map_err(|source| CorpusError::Io { path: path.to_owned(), source })?;
        Self::parse(path, bytes)
    }

    fn parse(path: &Path, bytes: Vec<u8>) -> Result<Self, CorpusError> {
        let wrong =
            |line, reason: String| CorpusError::Malformed { path: path.to_owned(), line, reason };
        let digest = sha256_hex(&bytes);
        let text =
            String::from_utf8(bytes).map_err(|_| wrong(None, "it is not UTF-8".to_owned()))?;
        let document: Manifest = toml::from_str(&text).map_err(|error| {
            let line = error.span().map(|span| {
                1 + text.bytes().take(span.start).filter(|byte| *byte == b'\n').count()
            });
            wrong(line, error.message().to_owned())
        })?;
        if document.queries.len() > QUERIES {
            return Err(wrong(None, format!("it has more than {QUERIES} statements")));
        }
        let mut seen = BTreeSet::new();
        for (place, query) in document.queries.iter().enumerate() {
            let number = place + 1;
            check(query).map_err(|reason| wrong(None, format!("statement {number}: {reason}")))?;
            if !seen.insert(query.file.as_str()) {
                return Err(wrong(
                    None,
                    format!("statement {number}: `{}` is there twice", query.file),
                ));
            }
        }
        Ok(Self { path: path.to_owned(), queries: document.queries, digest })
    }

    /// The path of the manifest.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The statements, in the order of the manifest.
    #[must_use]
    pub fn queries(&self) -> &[Entry] {
        &self.queries
    }

    /// The digest of the manifest: sha256 in hex. It holds the digests of all statements, so that
    /// equal digests are equal corpora.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// The files that belong to the corpus, the manifest among them, which no output may replace.
    #[must_use]
    pub fn files(&self) -> Vec<PathBuf> {
        let files = self.queries.iter().map(|query| self.folder().join(&query.file));
        std::iter::once(self.path.clone()).chain(files).collect()
    }

    /// Reads the file of each statement, and compares its digest.
    #[must_use]
    pub fn verify(&self) -> Vec<FileState> {
        self.queries
            .iter()
            .map(|query| self.read_query(query).err().unwrap_or(FileState::Ok))
            .collect()
    }

    /// Reads all statements before any of them is run.
    ///
    /// # Errors
    /// When a file is missing, has another digest, or is no text, or all together are too large:
    /// then none is returned.
    pub fn lock(&self) -> Result<Vec<LockedQuery>, CorpusError> {
        let mut locked = Vec::new();
        let mut wrong = Vec::new();
        let mut bytes = 0;
        for query in &self.queries {
            match self
                .read_query(query)
                .and_then(|bytes| String::from_utf8(bytes).map_err(|_| FileState::Mismatch))
            {
                Ok(sql) => {
                    bytes += sql.len();
                    if bytes > STATEMENTS {
                        let reason =
                            format!("its statements have more than {STATEMENTS} bytes together");
                        return Err(CorpusError::Malformed {
                            path: self.path.clone(),
                            line: None,
                            reason,
                        });
                    }
                    locked.push(LockedQuery { query: query.clone(), sql });
                }
                Err(_) => wrong.push(query.file.clone()),
            }
        }
        match wrong.first() {
            None => Ok(locked),
            Some(first) => Err(CorpusError::Unlocked {
                path: self.path.clone(),
                first: first.clone(),
                changed: wrong.len(),
                of: self.queries.len(),
            }),
        }
    }

    /// The bytes of a statement's file, which has the digest of the manifest. Links are followed
    /// within the folder of the manifest only.
    fn read_query(&self, query: &Entry) -> Result<Vec<u8>, FileState> {
        let folder = fs::canonicalize(self.folder()).map_err(|_| FileState::Missing)?;
        let path = fs::canonicalize(folder.join(&query.file)).map_err(|_| FileState::Missing)?;
        if !path.starts_with(&folder) {
            return Err(FileState::Mismatch);
        }
        match read_within(&path, statement_bytes()) {
            Ok(bytes) if sha256_hex(&bytes) == query.sha256 => Ok(bytes),
            Ok(_) => Err(FileState::Mismatch),
            Err(error) if error.kind() == std::io::ErrorKind::FileTooLarge => {
                Err(FileState::Mismatch)
            }
            Err(_) => Err(FileState::Missing),
        }
    }

    fn folder(&self) -> &Path {
        folder_of(&self.path)
    }

    /// Adds a statement to a manifest, which is made if there is none. What the manifest holds,
    /// comments included, stays as it is. Returns the entry.
    ///
    /// # Errors
    /// When the manifest is wrong, the file is not below its folder, is there already, is no text,
    /// or is longer than a statement may be.
    pub fn add(manifest: &Path, file: &Path, description: &str) -> Result<Entry, CorpusError> {
        let fail = |source| CorpusError::Io { path: manifest.to_owned(), source };
        let query = read_entry(manifest, file, description)?;
        let mut open =
            File::options().read(true).append(true).create(true).open(manifest).map_err(fail)?;
        // Two that add at once do so one after the other.
        open.lock().map_err(fail)?;
        let mut before = Vec::new();
        Read::by_ref(&mut open).take(MANIFEST + 1).read_to_end(&mut before).map_err(fail)?;
        let mut entry = text_of(&query);
        if before.last().is_some_and(|last| *last != b'\n') {
            entry.insert(0, '\n');
        }
        if !before.is_empty() {
            entry.insert(0, '\n');
        }
        // The whole is checked before any of it is written.
        if before.len() + entry.len() > MANIFEST as usize {
            let reason = format!("the manifest would be larger than {MANIFEST} bytes");
            return Err(CorpusError::Refused { file: query.file, reason });
        }
        Self::parse(manifest, [before.as_slice(), entry.as_bytes()].concat())?;
        open.seek(SeekFrom::End(0)).and_then(|_| open.write_all(entry.as_bytes())).map_err(fail)?;
        open.sync_all().map_err(fail)?;
        Ok(query)
    }
}

/// Checks an entry; the error is the reason why it is not valid.
fn check(entry: &Entry) -> Result<(), String> {
    let is_below =
        Path::new(&entry.file).components().all(|part| matches!(part, Component::Normal(_)));
    if entry.file.is_empty() || !is_below || entry.file.contains('\\') {
        return Err(format!("the file `{}` is not below the folder of the manifest", entry.file));
    }
    if entry.sha256.len() != 64
        || !entry.sha256.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
    {
        return Err(format!(
            "the sha256 of `{}` is not 64 hexadecimal digits in lower case",
            entry.file
        ));
    }
    if entry.description.chars().count() > DESCRIPTION {
        return Err(format!(
            "the description of `{}` is longer than {DESCRIPTION} characters",
            entry.file
        ));
    }
    Ok(())
}

fn read_entry(manifest: &Path, file: &Path, description: &str) -> Result<Entry, CorpusError> {
    let refused = |reason: &str| CorpusError::Refused {
        file: file.display().to_string(),
        reason: reason.to_owned(),
    };
    let fail = |source| CorpusError::Io { path: file.to_owned(), source };
    let folder = fs::canonicalize(folder_of(manifest))
        .map_err(|source| CorpusError::Io { path: folder_of(manifest).to_owned(), source })?;
    let path = fs::canonicalize(file).map_err(fail)?;
    let below = path
        .strip_prefix(&folder)
        .map_err(|_| refused("it is not below the folder of the manifest"))?;
    let parts: Option<Vec<&str>> =
        below.components().map(|part| part.as_os_str().to_str()).collect();
    let below = parts.ok_or_else(|| refused("its path is not UTF-8"))?.join("/");
    let bytes = read_within(&path, statement_bytes()).map_err(fail)?;
    let text = std::str::from_utf8(&bytes).map_err(|_| refused("it is not UTF-8"))?;
    if text.trim().is_empty() {
        return Err(refused("it is empty"));
    }
    let query =
        Entry { file: below, sha256: sha256_hex(&bytes), description: description.to_owned() };
    check(&query).map_err(|reason| refused(&reason))?;
    Ok(query)
}

/// The entry as TOML.
fn text_of(entry: &Entry) -> String {
    fn quote(text: &str) -> String {
        toml::Value::String(text.to_owned()).to_string()
    }
    let mut text =
        format!("[[queries]]\nfile = {}\nsha256 = {}\n", quote(&entry.file), quote(&entry.sha256));
    if !entry.description.is_empty() {
        text += &format!("description = {}\n", quote(&entry.description));
    }
    text
}

/// Returns the limit on the size of a statement, in bytes: the guard's own.
fn statement_bytes() -> u64 {
    Limits::default().sql_bytes as u64
}

fn folder_of(manifest: &Path) -> &Path {
    manifest.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

pub(super) fn sha256_hex(bytes: &[u8]) -> String {
    syrch_core::text::hex(Sha256::digest(bytes))
}
