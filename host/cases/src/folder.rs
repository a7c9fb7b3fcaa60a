//! The files of cases.

use std::fs;
use std::path::{Path, PathBuf};

use crate::CaseError;

/// Cases of a folder at most.
const CASES: usize = 10_000;
fn case_error(path: &Path, message: impl Into<String>) -> CaseError {
    CaseError { place: path.display().to_string(), message: message.into() }
}

/// The case files of a folder (`.yml`, `.yaml` and `.json`, but no golden files) by their names.
///
/// # Errors
/// When the folder cannot be read, or holds too many files.
pub fn cases(folder: &Path) -> Result<Vec<PathBuf>, CaseError> {
    let entries = fs::read_dir(folder).map_err(|error| case_error(folder, error.to_string()))?;
    let mut found = Vec::new();
    for entry in entries.take(10 * CASES) {
        let path = entry.map_err(|error| case_error(folder, error.to_string()))?.path();
        if is_case(&path) {
            found.push(path);
        }
    }
    if found.len() > CASES {
        return Err(case_error(folder, format!("has more than {CASES} cases")));
    }
    found.sort();
    Ok(found)
}

fn is_case(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let is_golden = name.ends_with(crate::golden::ENDING);
    !is_golden
        && !name.starts_with('.')
        && [".yml", ".yaml", ".json"].iter().any(|ending| name.ends_with(ending))
}

/// The name of a case: that of its file, without the ending.
#[must_use]
pub fn name(case: &Path) -> String {
    case.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_cases_are_listed() {
        let folder = tempfile::tempdir().unwrap();
        for file in ["b.yml", "a.json", "a.golden.json", "c.txt", ".d.yml"] {
            fs::write(folder.path().join(file), "").unwrap();
        }
        let names: Vec<String> =
            cases(folder.path()).unwrap().iter().map(|path| name(path)).collect();
        assert_eq!(names, ["a", "b"]);
    }
}
