//! The cells of a grid with their settings, saved in the folder of its run, so that its report can
//! be made again.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use syrch::files;
use syrch_grading::Timings;
use syrch_grading::grade::report::GridReport;
use syrch_grading::grade::run::{DOCUMENT, End, RunRecord, read_within};

use crate::commands::graded::Timed;

/// The file in the folder of the run.
const FILE: &str = "cells.json";
/// The name of the file's format.
const SCHEMA: &str = "syrch.grid-cells/1";

/// The cells of a grid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SavedGrid {
    schema: String,
    /// The values by the cell's name.
    cells: BTreeMap<String, BTreeMap<String, Value>>,
    /// True if an expected answer was given.
    expects: bool,
    /// Warnings about the figures.
    warnings: Vec<String>,
}

impl SavedGrid {
    /// The cells to be saved.
    pub(super) fn new(
        cells: BTreeMap<String, BTreeMap<String, Value>>,
        expects: bool,
        warning: Option<String>,
    ) -> Self {
        Self { schema: SCHEMA.to_owned(), cells, expects, warnings: warning.into_iter().collect() }
    }

    /// Writes it into the folder of a run, unless it is there already.
    pub(super) fn write(&self, folder: &Path) -> std::io::Result<()> {
        let path = folder.join(FILE);
        if path.exists() {
            return Ok(());
        }
        files::replace(&path, &serde_json::to_vec(self)?)
    }

    /// Reads the cells of a run. `None` if it is no grid.
    pub(crate) fn read(folder: &Path) -> Option<Self> {
        let saved: Self =
            serde_json::from_slice(&read_within(&folder.join(FILE), DOCUMENT).ok()?).ok()?;
        (saved.schema == SCHEMA).then_some(saved)
    }

    /// The report on the cells under a rule, with what a timed pass found.
    pub(crate) fn report(
        &self,
        record: &RunRecord,
        rule: &str,
        timings: Option<&Timings>,
    ) -> GridReport {
        let mut report = GridReport::new(&record.header, &record.graded, rule, &self.cells);
        if !self.expects {
            report.without_expected();
        }
        if record.graded.iter().all(|graded| graded.end != End::Answered) {
            // Of cells without an answer none is the best.
            report.best = None;
            report.ties.clear();
            report.cells.iter_mut().for_each(|cell| cell.p_to_best = None);
        }
        if let Some(timings) = timings {
            let timed = Timed::new(timings, record, rule);
            report.with_timings(&timed.r_ves, timed.repeats);
            timed.warn(&mut report.basis);
        }
        report.basis.warnings.extend(self.warnings.iter().cloned());
        report
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(SavedGrid::read(folder.path()), None);
        let cell = BTreeMap::from([("max_depth".to_owned(), json!(1))]);
        let saved = SavedGrid::new(
            BTreeMap::from([("max_depth=1".to_owned(), cell)]),
            false,
            Some("a".to_owned()),
        );
        saved.write(folder.path()).unwrap();
        assert_eq!(SavedGrid::read(folder.path()), Some(saved.clone()));
        // That of a resumed run stays.
        SavedGrid { expects: true, ..saved.clone() }.write(folder.path()).unwrap();
        assert_eq!(SavedGrid::read(folder.path()), Some(saved));
        fs::write(folder.path().join(FILE), "{\"schema\": \"other/1\"}").unwrap();
        assert_eq!(SavedGrid::read(folder.path()), None);
    }
}
