//! The terms of a comparison, saved in the folder of its run, so that `report` makes the same
//! report again.

use std::path::Path;

use serde::{Deserialize, Serialize};
use syrch::files;
use syrch_grading::grade::run::{DOCUMENT, read_within};

/// The file in the folder of the run.
const FILE: &str = "compare.json";
/// The name of the file's format.
const SCHEMA: &str = "syrch.compare-terms/1";

/// The terms of a comparison that its answers do not contain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Terms {
    schema: String,
    /// The number of bootstrap samples.
    pub(crate) resamples: u32,
    /// Warnings about the figures.
    pub(crate) warnings: Vec<String>,
}

impl Terms {
    /// The terms of a comparison that begins.
    pub(super) fn new(resamples: u32, warning: Option<String>) -> Self {
        Self { schema: SCHEMA.to_owned(), resamples, warnings: warning.into_iter().collect() }
    }

    /// The terms with the warnings of the earlier part of the run, which its folder has.
    pub(super) fn going_on(&self, folder: &Path) -> Self {
        let before = Self::read(folder).map_or_else(Vec::new, |before| before.warnings);
        let new = self.warnings.iter().filter(|warning| !before.contains(*warning)).cloned();
        let warnings = before.iter().cloned().chain(new).collect();
        Self { warnings, ..self.clone() }
    }

    /// Writes the terms into the folder of a run, in place of those of an earlier part.
    pub(super) fn write(&self, folder: &Path) -> std::io::Result<()> {
        files::replace(&folder.join(FILE), &serde_json::to_vec(self)?)
    }

    /// Reads the terms of a run. `None` if its folder has none.
    pub(crate) fn read(folder: &Path) -> Option<Self> {
        let terms: Self =
            serde_json::from_slice(&read_within(&folder.join(FILE), DOCUMENT).ok()?).ok()?;
        (terms.schema == SCHEMA).then_some(terms)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_is_written_is_read_and_warnings_of_a_part_before_stay() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Terms::read(folder.path()), None);
        let first = Terms::new(100, Some("no cache".to_owned()));
        first.write(folder.path()).unwrap();
        assert_eq!(Terms::read(folder.path()), Some(first));
        let second = Terms::new(200, None).going_on(folder.path());
        assert_eq!(second, Terms::new(200, Some("no cache".to_owned())));
        assert_eq!(second.going_on(folder.path()), second);
        fs::write(folder.path().join(FILE), "{\"schema\": \"other/1\"}").unwrap();
        assert_eq!(Terms::read(folder.path()), None);
    }
}
