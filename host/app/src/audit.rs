//! The audit log: what plugins that are not built in used of their grants, what was denied to them,
//! and which limits stopped them.
//!
//! The log is a file of JSON lines that several processes may write at once: each line is appended
//! as a whole. A file that is full is moved aside, in the place of the one before it. A log that
//! cannot be written stops no search; the first failure is reported once.

use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use chrono::DateTime;
use serde::{Deserialize, Serialize};
use syrch_core::text::clip;
use syrch_core::text::escape::escape_dangerous;
use syrch_core::{Access, Grants};
use syrch_layers::{Allowance, Decision};

use crate::Error;

/// The name of the file.
pub const FILE: &str = "audit.jsonl";
/// The name of the full file before it, and of the file whose lock is held while one is moved.
const OLD: &str = "audit.1.jsonl";
const LOCK: &str = "audit.lock";
/// Bytes of a file, from which on the next one is begun.
const MOST: u64 = 4 << 20;
/// Bytes of a line that is read, at most.
const LONGEST: usize = 64 << 10;
/// Bytes of a text of an entry, and of a reason.
const TEXT: usize = 200;
const REASON: usize = 400;
/// The ports without which a plugin that calls them finds no statement, or cannot run one.
const NEEDED: [&str; 3] = ["llm", "inspect", "sql"];
/// Grants of a list.
const WORDS: usize = 32;

/// The kind of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A port was used for the first time in the run.
    Used,
    /// A port was denied for the first time in the run, or a component that was changed or not
    /// added was refused.
    Denied,
    /// A limit stopped the plugin for the first time in the run.
    Limit,
    /// The run has ended; the entry has the counts of the whole run.
    Ended,
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Ok(match name {
            "used" => Self::Used,
            "denied" => Self::Denied,
            "limit" => Self::Limit,
            "ended" => Self::Ended,
            name => return Err(format!("`{name}` is not one of used, denied, limit, ended")),
        })
    }
}

/// A line of the log. Its texts are escaped and clipped when they are written and when they are
/// read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The time, as `2026-11-29T20:15:00.123Z`.
    pub at: String,
    /// The id of the run; empty before there is one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub run: String,
    /// The name of the plugin in the lock, or the path of its file.
    pub plugin: String,
    /// The sha256 of its component, in hex.
    pub digest: String,
    /// The kind of the entry.
    pub kind: Kind,
    /// The port or the limit.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub grant: String,
    /// The reason.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// The counts of the whole run, in an entry of the kind [`Kind::Ended`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access: Option<Access>,
}

impl Entry {
    /// An entry of now on a plugin.
    fn new(run: &str, access: &Access, kind: Kind) -> Self {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let millis = i64::try_from(since.as_millis()).unwrap_or(i64::MAX);
        let at = DateTime::from_timestamp_millis(millis).unwrap_or_default();
        Self {
            at: at.format("%Y-%m-%dT%H:%M:%S%.3fZ").to_string(),
            run: run.to_owned(),
            plugin: access.plugin.clone(),
            digest: access.digest.clone(),
            kind,
            grant: String::new(),
            why: String::new(),
            access: None,
        }
    }

    /// Returns the entry with texts that no terminal obeys, none of them long.
    fn tame(mut self) -> Self {
        let texts = [&mut self.at, &mut self.run, &mut self.plugin, &mut self.digest];
        texts.into_iter().chain([&mut self.grant]).for_each(|text| tame(text, TEXT));
        tame(&mut self.why, REASON);
        if let Some(access) = &mut self.access {
            tame(&mut access.plugin, TEXT);
            tame(&mut access.digest, TEXT);
            let lists = [Some(&mut access.wanted), access.granted.as_mut()];
            for list in lists.into_iter().flatten() {
                list.truncate(WORDS);
                list.iter_mut().for_each(|word| tame(word, TEXT));
            }
            for counts in [&mut access.used, &mut access.denied, &mut access.limits] {
                let tamed = std::mem::take(counts).into_iter().take(WORDS);
                counts.extend(tamed.map(|(mut name, count)| {
                    tame(&mut name, TEXT);
                    (name, count)
                }));
            }
        }
        self
    }

    /// Returns the entry as a line of JSON, without its end.
    #[must_use]
    pub fn to_line(&self) -> String {
        serde_json::to_string(&self.clone().tame()).unwrap_or_default()
    }

    /// Reads a line; `None` if it is no entry.
    fn from_line(line: &[u8]) -> Option<Self> {
        serde_json::from_slice::<Self>(line).ok().map(Self::tame)
    }
}

fn tame(text: &mut String, most: usize) {
    if text.len() > most || !matches!(escape_dangerous(text, &[]), std::borrow::Cow::Borrowed(_)) {
        *text = escape_dangerous(clip(text, most), &[]).into_owned();
    }
}

/// The log of a process, or none.
#[derive(Debug, Default)]
pub struct Audit {
    path: Option<PathBuf>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The first failure, until it is reported.
    failure: Option<String>,
    has_failed: bool,
    /// True if a line may have been written in part.
    is_torn: bool,
}

impl Audit {
    /// A log in a folder, which is made with the first entry.
    #[must_use]
    pub fn in_folder(folder: &Path) -> Self {
        Self { path: Some(folder.join(FILE)), state: Mutex::default() }
    }

    /// The path of the log; `None` if there is none.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the first failure of the log, once.
    pub(crate) fn take_failure(&self) -> Option<String> {
        self.state().failure.take()
    }

    /// Appends an entry. It blocks for as long as a line takes to be written.
    fn record(&self, entry: &Entry) {
        let Some(path) = &self.path else { return };
        let mut state = self.state();
        // What was cut off must not spoil the next line.
        let before = if state.is_torn { "\n" } else { "" };
        let line = format!("{before}{}\n", entry.to_line());
        let written = append(path, line.as_bytes());
        state.is_torn = written.is_err();
        if let Err(error) = written
            && !std::mem::replace(&mut state.has_failed, true)
        {
            let path = path.display();
            state.failure = Some(format!("the audit log `{path}` cannot be written: {error}"));
        }
    }

    /// Records that a component was refused which is not the one that was added, or which was not
    /// added at all.
    pub(crate) fn refuse(&self, plugin: &str, digest: &str, why: &str) {
        let plugin = plugin.to_owned();
        let access = Access { plugin, digest: digest.to_owned(), ..Access::default() };
        let entry = Entry::new("", &access, Kind::Denied);
        let grant = "component".to_owned();
        self.record(&Entry { grant, why: why.to_owned(), ..entry });
    }
}

fn append(path: &Path, line: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        syrch_files::make_folder(folder)?;
    }
    // Not where a link leads: it may be another's file.
    match fs::symlink_metadata(path) {
        // Opening a pipe waits for a reader.
        Ok(data) if !data.is_file() => return Err(io::Error::other("it is no plain file")),
        Ok(data) if data.len() + line.len() as u64 > MOST => rotate(path, data.len())?,
        _ => {}
    }
    open_own(path)?.write_all(line)
}

/// Opens a file of the log to append to it, and follows no link.
fn open_own(path: &Path) -> io::Result<File> {
    syrch_files::own(OpenOptions::new().append(true).create(true)).open(path)
}

/// Moves a full file aside, unless another process does.
fn rotate(path: &Path, bytes: u64) -> io::Result<()> {
    let lock = open_own(&path.with_file_name(LOCK))?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) if bytes < 2 * MOST => return Ok(()),
        Err(TryLockError::WouldBlock) => {
            return Err(io::Error::other("another process moves it aside and does not end"));
        }
        Err(TryLockError::Error(error)) => return Err(error),
    }
    // Another process may have moved it meanwhile.
    if fs::metadata(path).is_ok_and(|data| data.len() >= bytes) {
        fs::rename(path, path.with_file_name(OLD))?;
    }
    Ok(())
}

/// A grant that stopped a plugin, in a search without an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Lack {
    /// A port that it is not granted.
    Port { plugin: String, port: String },
    /// A limit that it used up, in the words of the grant.
    Limit { plugin: String, grant: String },
}

/// Returns the name of the grant that sets a limit of a call.
pub(crate) fn name_grant(limit: &str) -> &str {
    match limit {
        "cpu-per-call" => "seconds",
        limit => limit,
    }
}

impl From<Lack> for Error {
    fn from(lack: Lack) -> Self {
        match lack {
            Lack::Port { plugin, port } => Self::NotGranted { plugin, port },
            Lack::Limit { plugin, grant } => Self::GrantUsedUp { plugin, grant },
        }
    }
}

/// A plugin of a run that is audited: its allowance, and what it wants and may have.
pub(crate) struct Audited {
    pub(crate) allowance: Arc<Allowance>,
    access: Access,
}

impl Audited {
    /// A plugin with these grants, whose decisions are recorded.
    pub(crate) fn new(access: Access, grants: Grants, run: &str, audit: &Arc<Audit>) -> Self {
        let audit = Arc::clone(audit);
        let run = run.to_owned();
        let about = access.clone();
        let allowance = Allowance::new(
            grants,
            Box::new(move |decision, grant, why| {
                let kind = match decision {
                    Decision::Used => Kind::Used,
                    Decision::Denied => Kind::Denied,
                    Decision::Limited => Kind::Limit,
                };
                let entry = Entry::new(&run, &about, kind);
                audit.record(&Entry { grant: grant.to_owned(), why: why.to_owned(), ..entry });
            }),
        );
        Self { allowance, access }
    }

    /// The use that the plugin has made of its grants so far.
    pub(crate) fn access(&self) -> Access {
        let mut access = self.access.clone();
        for ((decision, name), count) in self.allowance.decisions() {
            let counts = match decision {
                Decision::Used => &mut access.used,
                Decision::Denied => &mut access.denied,
                Decision::Limited => &mut access.limits,
            };
            counts.insert(name, count);
        }
        access
    }

    /// Returns whether the plugin was added to the lock.
    pub(crate) fn is_locked(&self) -> bool {
        self.access.granted.is_some()
    }

    /// The grant that stopped the plugin: a port to the model or to statements that it does not
    /// have, or a limit that it used up.
    pub(crate) fn find_lack(&self) -> Option<Lack> {
        let granted = self.access.granted.as_ref()?;
        let decisions = self.allowance.decisions();
        decisions.keys().find_map(|(decision, name)| {
            let plugin = self.access.plugin.clone();
            let is_needed = NEEDED.contains(&name.as_str()) && !granted.contains(name);
            match decision {
                Decision::Denied if is_needed => Some(Lack::Port { plugin, port: name.clone() }),
                Decision::Limited => {
                    let limit = format!("{}=", name_grant(name));
                    let grant = granted.iter().find(|word| word.starts_with(&limit))?.clone();
                    Some(Lack::Limit { plugin, grant })
                }
                Decision::Denied | Decision::Used => None,
            }
        })
    }

    /// Records the counts of the run, which has ended.
    pub(crate) fn end(&self, run: &str, audit: &Audit) -> Access {
        let access = self.access();
        let entry = Entry::new(run, &access, Kind::Ended);
        audit.record(&Entry { access: Some(access.clone()), ..entry });
        access
    }
}

/// A reader of a log that is perhaps being written.
#[derive(Debug)]
pub struct AuditReader {
    path: PathBuf,
    file: Option<File>,
    /// The beginning of a line whose end is not written yet.
    rest: Vec<u8>,
    /// Lines that are no entries.
    wrong: u64,
}

impl AuditReader {
    /// A reader from the beginning of the log, the full file before it included.
    #[must_use]
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), file: None, rest: Vec::new(), wrong: 0 }
    }

    /// Lines so far that are no entries, which are left out.
    #[must_use]
    pub fn unreadable_lines(&self) -> u64 {
        self.wrong
    }

    /// Returns the entries that were written since the last call. It blocks.
    ///
    /// # Errors
    /// When the log cannot be read. A log that does not exist yet is empty.
    pub fn read(&mut self) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        match self.file.take() {
            None => {
                if let Some(mut old) = open(&self.path.with_file_name(OLD))? {
                    self.read_file(&mut old, &mut entries)?;
                }
            }
            Some(mut file) => {
                let is_current = is_named(&file, &self.path);
                // A file that was moved aside is read to its end.
                self.read_file(&mut file, &mut entries)?;
                if is_current {
                    self.file = Some(file);
                    return Ok(entries);
                }
            }
        }
        // A line that was cut off at the end of the file before is none.
        self.wrong += u64::from(!std::mem::take(&mut self.rest).is_empty());
        if let Some(mut file) = open(&self.path)? {
            self.read_file(&mut file, &mut entries)?;
            self.file = Some(file);
        }
        Ok(entries)
    }

    fn read_file(&mut self, file: &mut File, entries: &mut Vec<Entry>) -> io::Result<()> {
        // Whoever else wrote it, it takes no more memory than a log may: its end counts.
        let start = file.metadata()?.len().saturating_sub(4 * MOST);
        if file.stream_position()? < start {
            file.seek(SeekFrom::Start(start))?;
            self.rest = b"cut off".to_vec();
        }
        let mut bytes = Vec::new();
        file.take(4 * MOST).read_to_end(&mut bytes)?;
        let mut lines = bytes.split(|byte| *byte == b'\n').peekable();
        while let Some(part) = lines.next() {
            if self.rest.len() + part.len() <= LONGEST {
                self.rest.extend(part);
            } else {
                self.rest = b"too long".to_vec();
            }
            if lines.peek().is_none() {
                break;
            }
            let line = std::mem::take(&mut self.rest);
            match Entry::from_line(&line) {
                Some(entry) => entries.push(entry),
                None => self.wrong += u64::from(!line.is_empty()),
            }
        }
        Ok(())
    }
}

fn open(path: &Path) -> io::Result<Option<File>> {
    match fs::metadata(path) {
        Ok(data) if data.is_file() => File::open(path).map(Some),
        Ok(_) => Err(io::Error::other(format!("`{}` is no plain file", path.display()))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns whether a path still names an open file. Where files have no numbers, a shorter file is
/// another one.
fn is_named(file: &File, path: &Path) -> bool {
    let (Ok(opened), Ok(named)) = (file.metadata(), fs::metadata(path)) else { return false };
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        (opened.dev(), opened.ino()) == (named.dev(), named.ino())
    }
    #[cfg(not(unix))]
    {
        opened.len() <= named.len()
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Used => "used",
            Self::Denied => "denied",
            Self::Limit => "limit",
            Self::Ended => "ended",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plugin(name: &str) -> Access {
        let digest = "a".repeat(64);
        Access { plugin: name.to_owned(), digest, ..Access::default() }
    }

    fn audit(audit: &Arc<Audit>, name: &str, words: &[&str]) -> Audited {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        Audited::new(plugin(name), words.try_into().unwrap(), "run-1", audit)
    }

    fn read(folder: &Path) -> Vec<Entry> {
        AuditReader::new(&folder.join(FILE)).read().unwrap()
    }

    #[test]
    fn first_decisions_and_the_end_are_lines_and_nothing_in_them_is_obeyed() {
        let scratch = syrch_kit::scratch();
        let folder = scratch.path().join("state");
        let log = Arc::new(Audit::in_folder(&folder));
        let hostile =
            format!("\u{1b}]52;c;x\u{7}\n{{\"kind\":\"used\"}}\u{202e}{}", "x".repeat(9_000));
        let audited = audit(&log, &hostile, &["llm"]);
        for _ in 0..3 {
            audited.allowance.note(Decision::Used, "llm", "");
            audited.allowance.note(Decision::Denied, "sql", &hostile);
        }
        audited.allowance.note(Decision::Limited, "cpu-per-call", "5 s");
        let access = audited.end("run-1", &log);
        assert_eq!((access.used["llm"], access.denied["sql"]), (3, 3));
        let text = fs::read_to_string(folder.join(FILE)).unwrap();
        assert_eq!(text.lines().count(), 4, "{text}");
        assert!(text.lines().all(|line| line.len() < 4_000 && line.starts_with("{\"at\":\"20")));
        assert!(!text.contains(['\u{1b}', '\u{202e}', '\u{7}']), "{text}");
        let entries = read(&folder);
        let kinds: Vec<String> = entries.iter().map(|entry| entry.kind.to_string()).collect();
        assert_eq!(kinds, ["used", "denied", "limit", "ended"]);
        assert!(kinds.iter().all(|kind| kind.parse::<Kind>().unwrap().to_string() == *kind));
        assert_eq!(entries[3].access.as_ref().unwrap().limits["cpu-per-call"], 1);
        assert_eq!((entries[1].grant.as_str(), entries[1].run.as_str()), ("sql", "run-1"));
        assert_eq!(log.take_failure(), None);
        // Lines of whoever else wrote the file are data as well.
        let forged =
            serde_json::to_string(&Entry { why: "\u{1b}[2J".repeat(1_000), ..entries[0].clone() });
        fs::write(folder.join(FILE), format!("{}\nno entry\n{{}}\n", forged.unwrap())).unwrap();
        let mut reader = AuditReader::new(&folder.join(FILE));
        let entries = reader.read().unwrap();
        assert_eq!((entries.len(), reader.unreadable_lines()), (1, 2));
        assert!(!entries[0].why.contains('\u{1b}') && entries[0].why.len() < 4_000);
    }

    #[test]
    fn several_writers_lose_no_line_and_a_full_file_is_moved_aside() {
        let scratch = syrch_kit::scratch();
        let writers = (0..4).map(|number| {
            let folder = scratch.path().to_owned();
            std::thread::spawn(move || {
                // As another process: with a state of its own.
                let log = Arc::new(Audit::in_folder(&folder));
                let entry = Entry::new("r", &plugin(&format!("p{number}")), Kind::Used);
                for at in 0..500 {
                    log.record(&Entry { grant: at.to_string(), ..entry.clone() });
                }
                assert_eq!(log.take_failure(), None);
            })
        });
        writers.collect::<Vec<_>>().into_iter().for_each(|writer| writer.join().unwrap());
        assert_eq!(read(scratch.path()).len(), 2_000);

        let path = scratch.path().join(FILE);
        let mut reader = AuditReader::new(&path);
        assert_eq!(reader.read().unwrap().len(), 2_000);
        let log = Arc::new(Audit::in_folder(scratch.path()));
        let entry = Entry::new("r", &plugin("last"), Kind::Used);
        let mut filler = OpenOptions::new().append(true).open(&path).unwrap();
        filler.write_all(&b"\n".repeat(MOST as usize)).unwrap();
        for _ in 0..2 {
            log.record(&entry);
        }
        assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 2);
        assert!(fs::metadata(scratch.path().join(OLD)).unwrap().len() > MOST);
        // Whoever follows it reads both.
        assert_eq!(reader.read().unwrap().len(), 2);
        log.record(&entry);
        assert_eq!(reader.read().unwrap().len(), 1);
        assert_eq!(reader.unreadable_lines(), 0);
    }

    #[test]
    fn the_end_of_a_long_log_is_read() {
        let scratch = syrch_kit::scratch();
        let log = Arc::new(Audit::in_folder(scratch.path()));
        log.record(&Entry::new("r", &plugin("first"), Kind::Used));
        let path = scratch.path().join(FILE);
        let mut filler = OpenOptions::new().append(true).open(&path).unwrap();
        filler.write_all(&b"\n".repeat(4 * MOST as usize)).unwrap();
        let line = serde_json::to_string(&Entry::new("r", &plugin("last"), Kind::Used)).unwrap();
        writeln!(filler, "{line}").unwrap();
        let mut reader = AuditReader::new(&path);
        let read: Vec<String> =
            reader.read().unwrap().into_iter().map(|entry| entry.plugin).collect();
        assert_eq!((read, reader.unreadable_lines()), (vec!["last".to_owned()], 1));
    }

    #[cfg(unix)]
    #[test]
    fn nothing_is_written_where_a_link_leads() {
        let scratch = syrch_kit::scratch();
        let other = scratch.path().join("other");
        fs::write(&other, "kept").unwrap();
        std::os::unix::fs::symlink(&other, scratch.path().join(FILE)).unwrap();
        let log = Arc::new(Audit::in_folder(scratch.path()));
        log.record(&Entry::new("r", &plugin("votes"), Kind::Used));
        assert!(log.take_failure().unwrap().contains("is no plain file"));
        assert_eq!(fs::read_to_string(&other).unwrap(), "kept");

        // The lock that is held while a full file is moved aside.
        fs::remove_file(scratch.path().join(FILE)).unwrap();
        File::create(scratch.path().join(FILE)).unwrap().set_len(MOST).unwrap();
        let missing = scratch.path().join("missing");
        std::os::unix::fs::symlink(&missing, scratch.path().join(LOCK)).unwrap();
        let log = Arc::new(Audit::in_folder(scratch.path()));
        log.record(&Entry::new("r", &plugin("votes"), Kind::Used));
        assert!(log.take_failure().is_some() && !missing.exists());
        assert!(!scratch.path().join(OLD).exists());
    }

    #[test]
    fn a_log_that_cannot_be_written_is_reported_once() {
        let scratch = syrch_kit::scratch();
        fs::create_dir(scratch.path().join(FILE)).unwrap();
        let log = Arc::new(Audit::in_folder(scratch.path()));
        let audited = audit(&log, "votes", &["llm"]);
        audited.allowance.note(Decision::Used, "llm", "");
        audited.end("r", &log);
        assert!(log.take_failure().unwrap().contains("is no plain file"));
        audited.end("r", &log);
        assert_eq!(log.take_failure(), None);
        // It goes on where it can, and a line that was cut off spoils no other.
        fs::remove_dir(scratch.path().join(FILE)).unwrap();
        audited.end("r", &log);
        assert_eq!(read(scratch.path()).len(), 1);
        audited.end("r", &Audit::default());
    }
}
