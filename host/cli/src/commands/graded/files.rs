//! The files of `--report`, whose ending is the format of the report.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use syrch_grading::grade::report::render::{csv, html, junit, markdown};

use super::Document;
use crate::failure::{Failure, Outcome};
use crate::output::Output;

/// The flag that names the files.
const FLAG: &str = "--report";

/// A file of `--report`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReportFile {
    path: PathBuf,
    kind: Kind,
}

/// The format of a report file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Json,
    Markdown,
    Csv,
    Parquet,
    Html,
    Junit,
}

impl FromStr for ReportFile {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let path = PathBuf::from(word);
        let ending = path
            .extension()
            .map(|ending| ending.to_string_lossy().to_lowercase())
            .unwrap_or_default();
        let kind = match ending.as_str() {
            "json" => Kind::Json,
            "md" | "markdown" => Kind::Markdown,
            "csv" => Kind::Csv,
            "parquet" => Kind::Parquet,
            "html" | "htm" => Kind::Html,
            "xml" => Kind::Junit,
            _ => {
                return Err(
                    "the ending is the format of the report: .json, .md, .csv, .parquet, .html, or .xml (JUnit)"
                        .to_owned(),
                );
            }
        };
        Ok(Self { path, kind })
    }
}

impl ReportFile {
    /// Checks the path. Called before any work.
    pub(crate) fn check(&self) -> Outcome<()> {
        self.output().map(drop)
    }

    /// Refuses to replace a file that is read.
    pub(crate) fn spares(&self, inputs: &[(&str, PathBuf)]) -> Outcome<()> {
        self.output()?.refuse_input(FLAG, inputs)
    }

    fn output(&self) -> Outcome<Output> {
        Output::at(FLAG, &self.path)
    }

    /// Refuses a format that the report of a grid does not have; it has JSON and Markdown.
    pub(crate) fn is_for_grid(&self) -> Outcome<()> {
        match self.kind {
            Kind::Json | Kind::Markdown => Ok(()),
            Kind::Csv | Kind::Parquet | Kind::Html | Kind::Junit => {
                let path = self.path.display();
                Err(Failure::usage(format!(
                    "--report `{path}`: the report of a grid is not written so"
                ))
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
            Kind::Markdown => output.write(&markdown::document(&document.0)),
            Kind::Csv => output.write(&csv::csv(document.0.rows())),
            Kind::Parquet => output.write_bytes(&document.parquet()?),
            Kind::Html => output.write(&html::page(&document.0)),
            Kind::Junit => output.write(&junit::junit(&document.0)),
        }
    }
}

/// The files in the folder of a run that hold its questions and answers. The reports of a grid in
/// that folder may be replaced.
pub(crate) fn run_files(folder: &Path) -> Vec<(&'static str, PathBuf)> {
    let names = ["run.json", "results.jsonl", "times.json", "cells.json", "compare.json"];
    names.into_iter().map(|name| ("of the run itself", folder.join(name))).collect()
}

/// Refuses report files that would replace an input.
pub(crate) fn spare_all(files: &[ReportFile], inputs: &[(&str, PathBuf)]) -> Outcome<()> {
    files.iter().try_for_each(|file| file.spares(inputs))
}

/// Writes the report to all of these files.
pub(crate) fn write_all(files: &[ReportFile], document: &Document) -> Outcome<()> {
    files.iter().try_for_each(|file| file.write(document))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_is_the_format() {
        let kind = |word: &str| word.parse::<ReportFile>().map(|file| file.kind);
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

    #[test]
    fn a_place_that_is_none_is_found_before_any_work() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| {
            folder.path().join(name).display().to_string().parse::<ReportFile>().unwrap()
        };
        assert_eq!(file("x.json").check(), Ok(()));
        let failure = file("none/x.json").check().unwrap_err();
        assert!(failure.message.starts_with("--report `"), "{}", failure.message);
        let inputs = [("the suite", folder.path().join("x.json"))];
        let failure = file("x.json").spares(&inputs).unwrap_err();
        assert!(failure.message.ends_with("is the suite"), "{}", failure.message);
        assert_eq!(
            failure.hint.as_deref(),
            Some("--report replaces what the file holds; give another path")
        );
    }
}
