//! Statements as the command line names them: a text, a file, or `-` for standard input.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use syrch::syrch_core::Limits;
use syrch_optimizing::corpus::Corpus;

use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::shell;

/// A statement with the name by which it is reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Named {
    /// The file, or the beginning of the statement.
    pub(super) name: String,
    /// Its description in the manifest of a corpus; empty for all others.
    pub(super) description: String,
    /// The SQL text as it was given.
    pub(super) sql: String,
}

impl Named {
    /// A statement that has no other name than its beginning.
    pub(super) fn from_text(sql: &str) -> Self {
        let line: String = sql.split_whitespace().collect::<Vec<_>>().join(" ");
        let name: String = line.chars().take(NAME).collect();
        let more = if name.len() < line.len() { "…" } else { "" };
        Self { name: format!("{name}{more}"), description: String::new(), sql: sql.to_owned() }
    }
}

/// Characters of a statement that stand for it where it has no other name.
const NAME: usize = 60;

/// The file that a word names. `None` if the word is a statement itself, or `-`.
pub(super) fn file(word: &str) -> Option<PathBuf> {
    let path = Path::new(word);
    // A statement has a space, and a file may have one.
    let is_named = !word.contains(char::is_whitespace) && word != "-";
    (path.is_file() || is_named && path.extension().is_some()).then(|| path.to_owned())
}

/// Returns true if the file is the manifest of a corpus.
pub(super) fn is_manifest(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml"))
}

/// Reads the statement that a word names.
pub(super) fn read(word: &str) -> Outcome<Named> {
    let named =
        |name: &str, sql: String| Named { name: name.to_owned(), description: String::new(), sql };
    if word == "-" {
        return Ok(named("standard input", text(std::io::stdin().lock(), "standard input")?));
    }
    match file(word) {
        Some(path) if is_manifest(&path) => {
            Err(Failure::usage(format!("`{word}` is the manifest of a corpus")).hint(format!(
                "`syrch-host optimize run {}` optimizes its statements",
                shell::quote(word)
            )))
        }
        Some(path) => {
            let fail = |error: std::io::Error| Failure::usage(format!("`{word}`: {error}"));
            let data = std::fs::metadata(&path).map_err(fail)?;
            if data.is_dir() {
                return Err(Failure::usage(format!("`{word}` is a folder"))
                    .hint("give the file of one statement"));
            }
            Ok(named(word, text(File::open(&path).map_err(fail)?, word)?))
        }
        None if word.trim().is_empty() => Err(Failure::usage("the statement is empty")),
        None => Ok(Named::from_text(word)),
    }
}

/// Reads the statements that several words name; a manifest stands for all of its statements.
pub(super) fn read_all(words: &[String]) -> Outcome<Vec<Named>> {
    let mut all = Vec::new();
    for word in words {
        match file(word).filter(|path| is_manifest(path)) {
            Some(manifest) => {
                let locked = Corpus::read(&manifest).and_then(|corpus| corpus.lock())?;
                all.extend(locked.into_iter().map(|one| Named {
                    name: one.query.file,
                    description: one.query.description,
                    sql: one.sql,
                }));
            }
            None => all.push(read(word)?),
        }
    }
    Ok(all)
}

/// The text of a statement. No more is read than the guard would admit.
fn text(input: impl Read, name: &str) -> Outcome<String> {
    let most = Limits::default().sql_bytes as u64;
    let mut bytes = Vec::new();
    let read = input.take(most + 1).read_to_end(&mut bytes);
    read.map_err(|error| Failure::new(Exit::Unexpected, format!("{name}: {error}")))?;
    if bytes.len() as u64 > most {
        return Err(Failure::usage(format!("{name}: the statement is longer than {most} bytes")));
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| Failure::usage(format!("{name}: the statement is not UTF-8")))?;
    if text.trim().is_empty() {
        return Err(Failure::usage(format!("{name}: there is no statement")));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_a_statement_or_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("with space.sql");
        std::fs::write(&path, "SELECT 1 FROM t\n").unwrap();
        let word = path.display().to_string();
        assert_eq!(read(&word).unwrap().sql, "SELECT 1 FROM t\n");
        let statement = read("SELECT  a.b\nFROM t").unwrap();
        assert_eq!(
            (statement.name.as_str(), statement.sql.as_str()),
            ("SELECT a.b FROM t", "SELECT  a.b\nFROM t")
        );
        assert!(read("missing.sql").unwrap_err().message.contains("`missing.sql`: "));
        assert!(
            read(&folder.path().join("x.toml").display().to_string())
                .unwrap_err()
                .message
                .contains("manifest")
        );
        let long = format!("SELECT '{}' FROM t", "é".repeat(100));
        assert!(read(&long).unwrap().name.ends_with("é…"));
    }

    #[test]
    fn what_is_no_statement_is_refused_early() {
        assert!(read(" \n").unwrap_err().message.contains("is empty"));
        assert!(text(&b" \n"[..], "x").unwrap_err().message.contains("there is no statement"));
        assert!(text(&[0xff][..], "x").unwrap_err().message.contains("not UTF-8"));
        assert!(text(std::io::repeat(b'x'), "x").unwrap_err().message.contains("longer than"));
    }
}
