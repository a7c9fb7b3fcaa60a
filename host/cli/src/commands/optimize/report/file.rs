//! The files of `--report`, whose ending is the format.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde_json::Value;

use syrch_optimizing::Optimized;

use super::{RunDocument, Shown, html, markdown};
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::scrub::Scrubber;
use crate::sink::json;

/// The flag that names the files.
const FLAG: &str = "--report";

/// A report of either kind.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Report {
    /// On one statement, with the name by which it is reported.
    Statement(String, Box<Optimized>),
    /// On a run over a corpus.
    Run(Box<RunDocument>),
}

impl Report {
    /// The report as a document of JSON.
    pub(crate) fn value(&self) -> Outcome<Value> {
        let value = match self {
            Self::Statement(_, document) => serde_json::to_value(document),
            Self::Run(run) => serde_json::to_value(run),
        };
        value.map_err(|error| {
            Failure::new(Exit::Unexpected, format!("the report cannot be written: {error}"))
        })
    }

    /// The report without secrets: written, scrubbed and read back, so that no format can hold one.
    pub(crate) fn scrub(&self, scrubber: &Scrubber) -> Outcome<Self> {
        let mut value = self.value()?;
        scrubber.value(&mut value);
        let read = match self {
            Self::Statement(name, _) => {
                let name = scrubber.text(name).into_owned();
                serde_json::from_value(value)
                    .map(|document| Self::Statement(name, Box::new(document)))
            }
            Self::Run(_) => serde_json::from_value(value).map(|run| Self::Run(Box::new(run))),
        };
        read.map_err(|error| {
            Failure::new(Exit::Unexpected, format!("the report cannot be written: {error}"))
        })
    }

    /// The report in GitHub's Markdown.
    pub(crate) fn markdown(&self) -> String {
        match self {
            Self::Statement(name, document) => {
                markdown::document(Shown { name, description: "", document })
            }
            Self::Run(run) => markdown::run(run),
        }
    }

    fn html(&self) -> String {
        match self {
            Self::Statement(name, document) => {
                html::page(Shown { name, description: "", document })
            }
            Self::Run(run) => html::run(run),
        }
    }
}

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
    Html,
}

impl FromStr for ReportFile {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let ending =
            Path::new(word).extension().map(|ending| ending.to_string_lossy().to_lowercase());
        let kind = match ending.as_deref() {
            Some("json") => Kind::Json,
            Some("md" | "markdown") => Kind::Markdown,
            Some("html" | "htm") => Kind::Html,
            _ => {
                return Err(
                    "the ending is the format of the report: .json, .md or .html".to_owned()
                );
            }
        };
        Ok(Self { path: PathBuf::from(word), kind })
    }
}

impl ReportFile {
    /// Checks the path, and refuses to replace a file that is read. Called before any work.
    pub(crate) fn spares(&self, inputs: &[(&str, PathBuf)]) -> Outcome<()> {
        Output::at(FLAG, &self.path)?.refuse_input(FLAG, inputs)
    }

    /// Writes the report, which must hold no secret.
    pub(crate) fn write(&self, report: &Report) -> Outcome<()> {
        let text = match self.kind {
            Kind::Json => json::document(&report.value()?),
            Kind::Markdown => report.markdown(),
            Kind::Html => report.html(),
        };
        Output::at(FLAG, &self.path)?.write(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::super::made;
    use super::*;

    #[test]
    fn the_ending_is_the_format() {
        let kind = |word: &str| word.parse::<ReportFile>().map(|file| file.kind);
        assert_eq!(
            (kind("a/b.JSON"), kind("x.md"), kind("x.htm")),
            (Ok(Kind::Json), Ok(Kind::Markdown), Ok(Kind::Html))
        );
        assert!(kind("x.csv").unwrap_err().contains(".json, .md or .html"));
    }

    #[test]
    fn every_format_is_written_and_no_input_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let report = Report::Statement(made::NAME.to_owned(), Box::new(made::make_optimized()));
        for (name, begins) in [("r.json", "{"), ("r.md", "# slow"), ("r.html", "<!doctype html>")] {
            let path = folder.path().join(name);
            let file: ReportFile = path.display().to_string().parse().unwrap();
            file.write(&report).unwrap();
            assert!(std::fs::read_to_string(&path).unwrap().starts_with(begins), "{name}");
            let failure = file.spares(&[("the statement", path)]).unwrap_err();
            assert!(failure.message.ends_with("is the statement"), "{}", failure.message);
        }
    }

    #[test]
    fn secrets_leave_every_format() {
        let mut document = made::make_optimized();
        document.report.given = "SELECT 'key-canary' FROM t".to_owned();
        let report = Report::Statement("SELECT 'key-canary'".to_owned(), Box::new(document));
        let scrubbed = report.scrub(&Scrubber::new(["key-canary".to_owned().into()])).unwrap();
        for text in [scrubbed.markdown(), scrubbed.html(), scrubbed.value().unwrap().to_string()] {
            assert!(!text.contains("key-canary"), "{text}");
        }
    }
}
