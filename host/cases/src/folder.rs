//! The cases of a project, and the component that they are for.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use syrch::yaml;

use crate::CaseError;

/// Cases of a folder at most.
const CASES: usize = 10_000;
/// The file of a project that names its plugin.
pub const MANIFEST: &str = "plugin.yml";

/// What is read of a project's manifest.
#[derive(Deserialize)]
struct Manifest {
    name: String,
}

fn wrong(path: &Path, message: impl Into<String>) -> CaseError {
    CaseError { place: path.display().to_string(), message: message.into() }
}

/// The path of the component that `plugin build` makes of a project.
///
/// # Errors
/// When the folder holds no manifest, or the manifest names no plugin.
pub fn component(project: &Path) -> Result<PathBuf, CaseError> {
    let path = project.join(MANIFEST);
    let text = yaml::text_of(&path, true).map_err(|message| wrong(&path, message))?;
    let tree = yaml::read(&text)
        .map_err(|(at, message)| CaseError { place: yaml::place(&path.display().to_string(), at), message })?;
    let manifest: Manifest =
        serde_json::from_value(tree.value.value()).map_err(|error| wrong(&path, error.to_string()))?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if manifest.name.is_empty() || manifest.name.len() > 64 || !manifest.name.chars().all(is_name) {
        return Err(wrong(&path, "`name` is 1 to 64 letters, digits, `-` and `_`"));
    }
    Ok(project.join("build").join(format!("{}.wasm", manifest.name)))
}

/// The case files of a folder (`.yml`, `.yaml` and `.json`, but no golden files) by their names.
///
/// # Errors
/// When the folder cannot be read, or holds too many files.
pub fn cases(folder: &Path) -> Result<Vec<PathBuf>, CaseError> {
    let entries = fs::read_dir(folder).map_err(|error| wrong(folder, error.to_string()))?;
    let mut found = Vec::new();
    for entry in entries.take(10 * CASES) {
        let path = entry.map_err(|error| wrong(folder, error.to_string()))?.path();
        if is_case(&path) {
            found.push(path);
        }
    }
    if found.len() > CASES {
        return Err(wrong(folder, format!("has more than {CASES} cases")));
    }
    found.sort();
    Ok(found)
}

fn is_case(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let is_golden = name.ends_with(crate::golden::ENDING);
    !is_golden && !name.starts_with('.') && [".yml", ".yaml", ".json"].iter().any(|ending| name.ends_with(ending))
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
    fn a_project_names_its_component_and_has_its_cases() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path();
        assert!(component(place).is_err());
        fs::write(place.join(MANIFEST), "name: short\nlanguage: python\nroles: [reward]\n").unwrap();
        assert_eq!(component(place).unwrap(), place.join("build/short.wasm"));
        fs::write(place.join(MANIFEST), "name: ../short\n").unwrap();
        assert!(component(place).unwrap_err().message.contains("letters"));
        for file in ["b.yml", "a.json", "a.golden.json", "c.txt", ".d.yml"] {
            fs::write(place.join(file), "").unwrap();
        }
        fs::remove_file(place.join(MANIFEST)).unwrap();
        let names: Vec<String> = cases(place).unwrap().iter().map(|path| name(path)).collect();
        assert_eq!(names, ["a", "b"]);
    }
}
