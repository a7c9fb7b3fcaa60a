//! The files of `--report` of commands that grade answers.

use std::path::{Path, PathBuf};

use syrch_grading::grade::report::render::{csv, junit, markdown, page};
use syrch_serve::static_page;

use super::Document;
use crate::commands::report_file::{Kind, ReportFile};
use crate::failure::{Failure, Outcome};

/// Refuses a format that the report of a grid does not have; it has JSON and Markdown.
pub(crate) fn check_for_grid(file: &ReportFile) -> Outcome<()> {
    match file.kind {
        Kind::Json | Kind::Markdown => Ok(()),
        Kind::Csv | Kind::Parquet | Kind::Html | Kind::Junit => {
            let path = file.path().display();
            Err(Failure::usage(format!(
                "--report `{path}`: the report of a grid is not written so"
            ))
            .hint("its files end in .json or .md; --format csv prints the cells"))
        }
    }
}

/// Writes the report of a grid.
pub(crate) fn write_grid(file: &ReportFile, json: &str, markdown: &str) -> Outcome<()> {
    check_for_grid(file)?;
    file.output()?.write(if file.kind == Kind::Markdown { markdown } else { json })
}

/// Writes the report, which takes the place of what the file held.
fn write(file: &ReportFile, document: &Document) -> Outcome<()> {
    let output = file.output()?;
    match file.kind {
        Kind::Json => output.write(&document.json()?),
        Kind::Markdown => output.write(&markdown::document(&document.0)),
        Kind::Csv => output.write(&csv::csv(document.0.rows())),
        Kind::Parquet => output.write_bytes(&document.parquet()?),
        Kind::Html => {
            let title = page::title(&document.0);
            output.write(&static_page(&title, "report", &page::document(&document.0)))
        }
        Kind::Junit => output.write(&junit::junit(&document.0)),
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
    files.iter().try_for_each(|file| file.refuse_to_replace(inputs))
}

/// Writes the report to all of these files.
pub(crate) fn write_all(files: &[ReportFile], document: &Document) -> Outcome<()> {
    files.iter().try_for_each(|file| write(file, document))
}
