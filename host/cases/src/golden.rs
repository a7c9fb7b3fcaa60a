//! Golden files: what a case gave when its author was content with it.

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::CaseError;
use crate::diff::diff;

/// The ending of the name of a golden file.
pub const ENDING: &str = ".golden.json";
/// Bytes of a golden file at most: what the limits of a call let it give.
const LARGEST: u64 = 32 << 20;
/// Values in a golden file at most. In memory a value takes up to a hundred times the bytes of its
/// text.
const VALUES: usize = 1 << 20;

/// A comparison of what a case gives with its golden file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Comparison {
    /// The case gives what its golden file has; spaces and the order of keys do not count.
    Equal,
    /// There is no golden file.
    Missing,
    /// The lines in which they differ: `-` as in the golden file, `+` as the case gives it now.
    Differs(Vec<String>),
}

/// The golden file of a case, beside it.
#[must_use]
pub fn path(case: &Path) -> PathBuf {
    case.with_file_name(format!("{}{ENDING}", crate::folder::name(case)))
}

/// The document as a golden file has it.
#[must_use]
pub fn text(document: &Value) -> String {
    let mut text = serde_json::to_string_pretty(document).unwrap_or_default();
    text.push('\n');
    text
}

/// Compares a document with the golden file. Spaces and the order of keys do not count.
///
/// # Errors
/// When the file cannot be read, is too large, or is no JSON.
pub fn compare(path: &Path, document: &Value) -> Result<Comparison, CaseError> {
    let wrong = |message: String| CaseError { place: path.display().to_string(), message };
    let Some(golden) = read(path).map_err(wrong)? else { return Ok(Comparison::Missing) };
    check_size(&golden).map_err(wrong)?;
    let golden: Value = serde_json::from_str(&golden).map_err(|error| wrong(error.to_string()))?;
    let golden = sort_keys(golden);
    if golden == *document {
        return Ok(Comparison::Equal);
    }
    Ok(Comparison::Differs(diff(&text(&golden), &text(document))))
}

/// Writes the golden file, unless something else than a file has its name.
///
/// # Errors
/// When it cannot be written, or could not be read again.
pub fn write(path: &Path, document: &Value) -> Result<(), CaseError> {
    let wrong = |message: String| CaseError { place: path.display().to_string(), message };
    match fs::symlink_metadata(path) {
        Ok(found) if !found.is_file() => {
            return Err(wrong("is no plain file; remove it first".to_owned()));
        }
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(wrong(error.to_string())),
    }
    let text = text(document);
    check_size(&text).map_err(wrong)?;
    // Not into the file that is there, which may have another name outside of the project.
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let failed =
        |error: std::io::Error| wrong(format!("`{}`: {error}", Path::new(&part).display()));
    let mut file = File::create_new(&part).map_err(failed)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| fs::rename(&part, path));
    written.inspect_err(|_| drop(fs::remove_file(&part))).map_err(failed)
}

/// Refuses a text that is too large for a golden file, or whose values would be too many in memory.
fn check_size(text: &str) -> Result<(), String> {
    if text.len() as u64 > LARGEST {
        return Err(format!("has more than {} MiB", LARGEST >> 20));
    }
    let mut values = 0_usize;
    let mut is_text = false;
    let mut is_escaped = false;
    for byte in text.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_text,
            b'"' => is_text = !is_text,
            b',' | b'[' | b'{' if !is_text => values += 1,
            _ => {}
        }
    }
    if values > VALUES { Err(format!("has more than {VALUES} values")) } else { Ok(()) }
}

/// The text of the file; `None` if there is none.
fn read(path: &Path) -> Result<Option<String>, String> {
    match fs::symlink_metadata(path) {
        Ok(found) if !found.is_file() => return Err("is no plain file".to_owned()),
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    }
    let mut text = String::new();
    let file = File::open(path).map_err(|error| error.to_string())?;
    file.take(LARGEST + 1).read_to_string(&mut text).map_err(|error| error.to_string())?;
    Ok(Some(text))
}

/// A document of at most 128 levels, which the parser bounds, with its keys sorted.
fn sort_keys(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(sort_keys).collect(),
        Value::Object(members) => crate::canonical::sort_members(
            members.into_iter().map(|(key, value)| (key, sort_keys(value))).collect(),
        ),
        value => value,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_golden_file_is_compared_by_its_content() {
        let folder = tempfile::tempdir().unwrap();
        let case = folder.path().join("one.yml");
        let golden = path(&case);
        assert_eq!(golden, folder.path().join("one.golden.json"));
        let document = json!({ "calls": [], "output": { "a": 1, "b": 2 } });
        assert_eq!(compare(&golden, &document), Ok(Comparison::Missing));
        write(&golden, &document).unwrap();
        assert_eq!(compare(&golden, &document), Ok(Comparison::Equal));
        fs::write(&golden, r#"{"output": {"b": 2, "a": 1}, "calls": []}"#).unwrap();
        assert_eq!(compare(&golden, &document), Ok(Comparison::Equal));
        fs::write(&golden, r#"{"output": {"b": 3, "a": 1}, "calls": []}"#).unwrap();
        let Ok(Comparison::Differs(lines)) = compare(&golden, &document) else { unreachable!() };
        assert!(
            lines.contains(&"-     \"b\": 3".to_owned())
                && lines.contains(&"+     \"b\": 2".to_owned()),
            "{lines:?}"
        );
    }

    #[test]
    fn another_name_of_the_file_keeps_its_content() {
        let project = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        let golden = project.path().join("one.golden.json");
        let other = outside.path().join("other.json");
        fs::write(&other, "1").unwrap();
        fs::hard_link(&other, &golden).unwrap();
        write(&golden, &Value::from(2)).unwrap();
        assert_eq!(fs::read_to_string(&other).unwrap(), "1");
        assert_eq!(fs::read_to_string(&golden).unwrap().trim(), "2");
        assert_eq!(fs::read_dir(project.path()).unwrap().count(), 1);
    }

    #[test]
    fn hostile_golden_files_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        let golden = folder.path().join("one.golden.json");
        fs::write(&golden, "[".repeat(100_000)).unwrap();
        assert!(compare(&golden, &Value::Null).is_err());
        // Each of these objects takes a hundred times its text.
        for (text, expected) in [
            (format!("[{}{{}}]", "{},".repeat(VALUES)), "1048576 values"),
            (" ".repeat((32 << 20) + 1), "32 MiB"),
        ] {
            fs::write(&golden, &text).unwrap();
            assert!(compare(&golden, &Value::Null).unwrap_err().message.contains(expected));
        }
        // What stands in a text counts as one value, also behind an escape.
        fs::write(&golden, Value::from("\\\",[{".repeat(VALUES)).to_string()).unwrap();
        assert!(matches!(compare(&golden, &Value::Null), Ok(Comparison::Differs(_))));
        let many: Value = (0..=VALUES).map(Value::from).collect();
        assert!(write(&golden, &many).unwrap_err().message.contains("1048576 values"));
        fs::remove_file(&golden).unwrap();
        fs::create_dir(&golden).unwrap();
        assert!(compare(&golden, &Value::Null).is_err() && write(&golden, &Value::Null).is_err());
    }
}
