//! The user's own record of the tools that this machine has installed: what a folder says of itself
//! may have come with it.

use std::fs;
use std::path::{Path, PathBuf};

use super::digest;
use crate::files;

/// The folder of the records in the folder of the host's state.
const FOLDER: &str = "tools";

/// The record of the tools of one project.
#[derive(Debug, Clone, Default)]
pub(super) struct Record {
    /// The file of the record. Without one, tools are installed anew.
    file: Option<PathBuf>,
    /// True for a folder that the user names as one of tools: it needs no record.
    is_named: bool,
}

impl Record {
    /// Creates the record of a project's own tools, by the canonical path of the project.
    pub(super) fn new(state: Option<&Path>, project: &Path) -> Self {
        let project = project.canonicalize().unwrap_or_else(|_| project.to_owned());
        let name = digest(project.as_os_str().as_encoded_bytes());
        Self { file: state.map(|state| state.join(FOLDER).join(name)), is_named: false }
    }

    /// Creates the record of a folder that the user names as one of tools.
    pub(super) fn for_named_folder() -> Self {
        Self { file: None, is_named: true }
    }

    /// Returns true if this machine has made a folder, whatever is installed in it.
    pub(super) fn is_own(&self, folder: &Path) -> bool {
        let mark = mark(folder);
        self.is_named || self.read().is_some_and(|(_, made)| Some(made) == mark)
    }

    /// Returns true if this machine has installed what this stamp says in a folder.
    pub(super) fn holds(&self, folder: &Path, stamp: &str) -> bool {
        self.is_named || self.is_own(folder) && self.read().is_some_and(|(found, _)| found == stamp)
    }

    /// Records what was installed in a folder. If that fails, it is installed anew next time.
    pub(super) fn keep(&self, folder: &Path, stamp: &str) {
        let (Some(file), Some(mark)) = (&self.file, mark(folder)) else { return };
        let text = format!("{stamp} {mark}");
        let made = file.parent().map_or(Ok(()), syrch::files::make_folder);
        drop(made.and_then(|()| syrch::files::replace(file, text.as_bytes())));
    }

    /// The stamp and the mark of the folder.
    fn read(&self) -> Option<(String, String)> {
        let text = files::read_text(self.file.as_deref()?).ok()??;
        let (stamp, mark) = text.split_once(' ')?;
        Some((stamp.to_owned(), mark.to_owned()))
    }
}

/// The mark of a folder: another one in its place has another.
fn mark(folder: &Path) -> Option<String> {
    let data = fs::symlink_metadata(folder).ok().filter(fs::Metadata::is_dir)?;
    #[cfg(unix)]
    let number = std::os::unix::fs::MetadataExt::ino(&data);
    #[cfg(not(unix))]
    let number = u64::from(data.is_dir());
    Some(number.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_installed_here_is_known() {
        let scratch = syrch_kit::scratch();
        let state = scratch.path().join("state");
        let project = scratch.path().join("p");
        let tools = project.join(".tools");
        fs::create_dir_all(&tools).unwrap();
        let record = Record::new(Some(&state), &project);
        assert!(!record.holds(&tools, "one") && !record.is_own(&tools));
        record.keep(&tools, "one");
        let again = Record::new(Some(&state), &project);
        assert!(again.holds(&tools, "one") && !again.holds(&tools, "two"));
        assert!(again.is_own(&tools) && !again.is_own(&project));
        let other = Record::new(Some(&state), scratch.path());
        assert!(!other.holds(&tools, "one"));
        assert!(!Record::new(None, &project).holds(&tools, "one"));
        assert!(Record::for_named_folder().holds(&tools, "one"));
    }
}
