//! A report on optimized statements in each of its formats.

use serde_json::Value;
use syrch_optimizing::Optimized;

use super::{RunDocument, Shown, markdown, page};
use crate::commands::report_file::{Kind, ReportFile};
use crate::failure::{Failure, Outcome};
use crate::scrub::Scrubber;
use crate::sink::json;

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
        value.map_err(Failure::unwritable_document)
    }

    /// The report without secrets.
    pub(crate) fn scrub(self, scrubber: &Scrubber) -> Outcome<Self> {
        Ok(match self {
            Self::Statement(name, document) => {
                Self::Statement(scrubber.text(&name).into_owned(), scrubber.document(document)?)
            }
            Self::Run(run) => Self::Run(scrubber.document(run)?),
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
                page::statement(Shown { name, description: "", document })
            }
            Self::Run(run) => page::run(run),
        }
    }
}

/// Writes the report, which must hold no secret.
pub(crate) fn write(file: &ReportFile, report: &Report) -> Outcome<()> {
    let text = match file.kind {
        Kind::Markdown => report.markdown(),
        Kind::Html => report.html(),
        _ => json::document(&report.value()?),
    };
    file.output()?.write(&text)
}

#[cfg(test)]
mod tests {
    use super::super::made;
    use super::*;

    #[test]
    fn every_format_is_written_and_no_input_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let report = Report::Statement(made::NAME.to_owned(), Box::new(made::make_optimized()));
        for (name, begins) in [("r.json", "{"), ("r.md", "# slow"), ("r.html", "<!doctype html>")] {
            let path = folder.path().join(name);
            let file = ReportFile::for_optimized(&path.display().to_string()).unwrap();
            write(&file, &report).unwrap();
            assert!(std::fs::read_to_string(&path).unwrap().starts_with(begins), "{name}");
            let failure = file.refuse_to_replace(&[("the statement", path)]).unwrap_err();
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
