//! The files of `--report`: their ending says how the report is written.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::Document;
use crate::failure::{Failure, Outcome};
use crate::output::Output;

/// A file of `--report`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReportFile {
    path: PathBuf,
    kind: Kind,
}

/// How a report is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Json,
    Markdown,
    Csv,
    Parquet,
    Html,
}

impl FromStr for ReportFile {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let path = PathBuf::from(word);
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase()).unwrap_or_default();
        let kind = match ending.as_str() {
            "json" => Kind::Json,
            "md" | "markdown" => Kind::Markdown,
            "csv" => Kind::Csv,
            "parquet" => Kind::Parquet,
            "html" | "htm" => Kind::Html,
            _ => return Err("the ending says how a report is written: .json, .md, .csv, .parquet or .html".to_owned()),
        };
        Ok(Self { path, kind })
    }
}

impl ReportFile {
    /// Finds out before any work what is wrong with its place.
    pub(crate) fn check(&self) -> Outcome<()> {
        self.output().map(drop)
    }

    /// Refuses to replace a file that is read.
    pub(crate) fn spares(&self, inputs: &[(&str, PathBuf)]) -> Outcome<()> {
        self.output()?.spares(inputs).map_err(|failure| self.named(failure))
    }

    fn output(&self) -> Outcome<Output> {
        Output::open(Some(&self.path)).map_err(|failure| self.named(failure))
    }

    /// The failure with this flag's name.
    fn named(&self, failure: Failure) -> Failure {
        let named = |text: String| text.replacen("-o ", "--report ", 1);
        Failure { message: named(failure.message), hint: failure.hint.map(named), ..failure }
    }

    /// Refuses a way in which the report of a grid is not written, which has two: as JSON and as Markdown.
    pub(crate) fn is_for_grid(&self) -> Outcome<()> {
        match self.kind {
            Kind::Json | Kind::Markdown => Ok(()),
            Kind::Csv | Kind::Parquet | Kind::Html => {
                let path = self.path.display();
                Err(Failure::usage(format!("--report `{path}`: the report of a grid is not written so"))
                    .hint("its files end in .json or .md; --format csv prints the cells"))
            }
        }
    }

    /// Writes the report of a grid.
    pub(crate) fn write_grid(&self, json: &str, markdown: &str) -> Outcome<()> {
        self.is_for_grid()?;
        self.output()?.write(if self.kind == Kind::Markdown { markdown } else { json })
    }

    /// Writes the report, which takes the place of what the file held.
    pub(crate) fn write(&self, document: &Document) -> Outcome<()> {
        let output = self.output()?;
        match self.kind {
            Kind::Json => output.write(&document.json()?),
            Kind::Markdown => output.write(&document.markdown()),
            Kind::Csv => output.write(&document.csv()),
            Kind::Parquet => output.write_bytes(&document.parquet()?),
            Kind::Html => output.write(&document.html()),
        }
    }
}

/// The files in the folder of a run that hold what was asked, answered and found; its reports, as a grid leaves them there, may be replaced.
pub(crate) fn of_run(folder: &Path) -> Vec<(&'static str, PathBuf)> {
    let names = ["run.json", "results.jsonl", "times.json", "cells.json", "compare.json"];
    names.into_iter().map(|name| ("of the run itself", folder.join(name))).collect()
}

/// None of them replaces a file that is read.
pub(crate) fn spare_all(files: &[ReportFile], inputs: &[(&str, PathBuf)]) -> Outcome<()> {
    files.iter().try_for_each(|file| file.spares(inputs))
}

/// Writes all of them.
pub(crate) fn write_all(files: &[ReportFile], document: &Document) -> Outcome<()> {
    files.iter().try_for_each(|file| file.write(document))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_says_how() {
        let kind = |word: &str| word.parse::<ReportFile>().map(|file| file.kind);
        assert_eq!(kind("a/b.JSON"), Ok(Kind::Json));
        assert_eq!((kind("x.md"), kind("x.htm")), (Ok(Kind::Markdown), Ok(Kind::Html)));
        assert_eq!((kind("x.csv"), kind("x.parquet")), (Ok(Kind::Csv), Ok(Kind::Parquet)));
        for word in ["x", "x.pdf", ".json", "json", "x.json/"] {
            let is_known = word == "x.json/";
            assert_eq!(kind(word).is_ok(), is_known, "{word}");
        }
        assert!(kind("x.pdf").unwrap_err().contains(".json, .md, .csv, .parquet or .html"));
    }

    #[test]
    fn a_place_that_is_none_is_found_before_any_work() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name).display().to_string().parse::<ReportFile>().unwrap();
        assert_eq!(file("x.json").check(), Ok(()));
        let failure = file("none/x.json").check().unwrap_err();
        assert!(failure.message.starts_with("--report `"), "{}", failure.message);
        let inputs = [("the suite", folder.path().join("x.json"))];
        let failure = file("x.json").spares(&inputs).unwrap_err();
        assert!(failure.message.ends_with("is the suite"), "{}", failure.message);
        assert_eq!(failure.hint.as_deref(), Some("--report replaces what the file holds; give another path"));
    }
}
