//! Journals and recordings, as a killed process, a full disk or another person leaves them.

use std::fs;
use std::path::Path;

use syrch_journal::{
    Journal, JournalError, Recording, SearchTree, Shown, Summary, TreeDiff, Writer, exchanges,
    format_of,
};

/// A last line whose process was killed while it was written.
const TORN: &[u8] = b"{\"event\":{\"is";
const SHOWN: Shown = Shown { rows: Some(10), prompts: true };

pub(crate) fn check(input: &[u8]) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("run.jsonl");
    fs::write(&path, input).expect("the file is written");
    let _ = format_of(&path);
    let _ = Recording::read(&path);
    let header = Journal::read_header(&path);
    match Journal::read(&path) {
        Ok(journal) => {
            assert_eq!(header.ok().as_ref(), Some(&journal.header));
            check_journal(&journal, &path, input);
        }
        Err(error) => {
            let text = error.to_string();
            assert!(text.len() <= 4_000, "{} bytes: {text}", text.len());
            check_damaged_end(&path, input);
        }
    }
}

/// Checks that a journal is the same after it is written again, after a line that was cut off, and
/// after its run is continued; and that its views do not fail.
fn check_journal(journal: &Journal, path: &Path, input: &[u8]) {
    let shown = write(journal);
    fs::write(path, &shown).expect("the file is written");
    assert_eq!(write(&read(path)), shown);

    let whole = input.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    fs::write(path, [&input[..whole], TORN].concat()).expect("the file is written");
    assert_eq!(write(&read(path)), shown);

    let (writer, resumed) = Writer::resume(path).expect("the run is continued");
    drop(writer);
    assert_eq!(write(&resumed), shown);
    let left = fs::read(path).expect("the file is read");
    assert_eq!(left, input[..whole]);

    let tree = SearchTree::from_journal(journal, SHOWN);
    serde_json::to_string(&tree).expect("a tree is written");
    serde_json::to_string(&TreeDiff::compare(&tree, &tree)).expect("a difference is written");
    let _ = Summary::from_journal(journal);
    assert!(exchanges(journal).len() <= journal.records.len());
}

/// Checks that a file is refused for a whole line: without the last line, which has an end, it is
/// read, or refused for one before.
fn check_damaged_end(path: &Path, input: &[u8]) {
    let Some(body) = input.strip_suffix(b"\n") else { return };
    fs::write(path, body).expect("the file is written");
    let lines = input.iter().filter(|byte| **byte == b'\n').count();
    if let Err(JournalError::Malformed { line, .. }) = Journal::read(path) {
        assert!(line < lines.max(2), "line {line} of {lines}, whose last has no end");
    }
}

fn read(path: &Path) -> Journal {
    Journal::read(path).unwrap_or_else(|error| panic!("{error}"))
}

/// The lines of a journal as this host writes them.
fn write(journal: &Journal) -> String {
    let records = journal.records.iter().map(serde_json::to_string);
    let lines = std::iter::once(serde_json::to_string(&journal.header)).chain(records);
    lines.map(|line| line.expect("a line is written") + "\n").collect()
}
