//! The files of `--report`, whose ending is the format of the report.

use std::path::{Path, PathBuf};

use crate::failure::Outcome;
use crate::output::Output;

/// The flag that names the files.
const FLAG: &str = "--report";

/// A file of `--report`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReportFile {
    path: PathBuf,
    /// The format of the report.
    pub(crate) kind: Kind,
}

/// The format of a report file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Json,
    Markdown,
    Csv,
    Parquet,
    Html,
    Junit,
}

impl Kind {
    fn from_path(path: &Path) -> Option<Self> {
        Some(match path.extension()?.to_string_lossy().to_lowercase().as_str() {
            "json" => Self::Json,
            "md" | "markdown" => Self::Markdown,
            "csv" => Self::Csv,
            "parquet" => Self::Parquet,
            "html" | "htm" => Self::Html,
            "xml" => Self::Junit,
            _ => return None,
        })
    }
}

impl ReportFile {
    /// Reads the path of a report on graded answers.
    pub(crate) fn for_graded(word: &str) -> Result<Self, String> {
        Self::read(word, |_| true, ".json, .md, .csv, .parquet, .html, or .xml (JUnit)")
    }

    /// Reads the path of a report on optimized statements.
    #[cfg(feature = "optimizer")]
    pub(crate) fn for_optimized(word: &str) -> Result<Self, String> {
        Self::read(
            word,
            |kind| matches!(kind, Kind::Json | Kind::Markdown | Kind::Html),
            ".json, .md or .html",
        )
    }

    fn read(
        word: &str,
        is_known: impl FnOnce(Kind) -> bool,
        endings: &str,
    ) -> Result<Self, String> {
        let path = PathBuf::from(word);
        match Kind::from_path(&path) {
            Some(kind) if is_known(kind) => Ok(Self { path, kind }),
            _ => Err(format!("the ending is the format of the report: {endings}")),
        }
    }

    /// The path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Checks the path. Called before any work.
    pub(crate) fn check(&self) -> Outcome<()> {
        self.output().map(drop)
    }

    /// Refuses to replace a file that is read.
    pub(crate) fn refuse_to_replace(&self, inputs: &[(&str, PathBuf)]) -> Outcome<()> {
        self.output()?.refuse_input(FLAG, inputs)
    }

    /// The file, which a report replaces once it is complete.
    pub(crate) fn output(&self) -> Outcome<Output> {
        Output::open_flag(FLAG, &self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_is_the_format() {
        let kind = |word: &str| ReportFile::for_graded(word).map(|file| file.kind);
        assert_eq!(kind("a/b.JSON"), Ok(Kind::Json));
        assert_eq!((kind("x.md"), kind("x.htm")), (Ok(Kind::Markdown), Ok(Kind::Html)));
        assert_eq!((kind("x.csv"), kind("x.parquet")), (Ok(Kind::Csv), Ok(Kind::Parquet)));
        assert_eq!((kind("x.xml"), kind("out.junit.xml")), (Ok(Kind::Junit), Ok(Kind::Junit)));
        for word in ["x", "x.pdf", ".json", "json", "x.json/"] {
            let is_known = word == "x.json/";
            assert_eq!(kind(word).is_ok(), is_known, "{word}");
        }
        assert!(
            kind("x.pdf")
                .unwrap_err()
                .contains(".json, .md, .csv, .parquet, .html, or .xml (JUnit)")
        );
    }

    #[cfg(feature = "optimizer")]
    #[test]
    fn an_optimized_statement_has_fewer_formats() {
        let optimized = |word: &str| ReportFile::for_optimized(word).map(|file| file.kind);
        assert_eq!(optimized("x.htm"), Ok(Kind::Html));
        assert!(optimized("x.csv").unwrap_err().contains(".json, .md or .html"));
    }

    #[test]
    fn a_place_that_is_none_is_found_before_any_work() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| {
            ReportFile::for_graded(&folder.path().join(name).display().to_string()).unwrap()
        };
        assert_eq!(file("x.json").check(), Ok(()));
        let failure = file("none/x.json").check().unwrap_err();
        assert!(failure.message.starts_with("--report `"), "{}", failure.message);
        let inputs = [("the suite", folder.path().join("x.json"))];
        let failure = file("x.json").refuse_to_replace(&inputs).unwrap_err();
        assert!(failure.message.ends_with("is the suite"), "{}", failure.message);
        assert_eq!(
            failure.hint.as_deref(),
            Some("--report replaces what the file holds; give another path")
        );
    }
}
