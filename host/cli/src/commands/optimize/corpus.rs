//! `optimize corpus`: adds statements to a manifest, lists them, and verifies their files.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use syrch_optimizing::corpus::{Corpus, CorpusError, FileState};

use crate::commands::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::sink::Grid;

/// The commands of `optimize corpus`.
#[derive(Subcommand)]
pub(crate) enum CorpusCommand {
    /// Add files with a statement each to a manifest, which is made if there is none
    #[command(after_help = Exit::help())]
    Add(AddArgs),
    /// List the statements of a manifest
    #[command(after_help = Exit::help())]
    List(ManifestArgs),
    /// Compare the files with the digests of the manifest: OK, MISSING or MISMATCH; exit 1 when not
    /// all are OK
    #[command(after_help = Exit::help())]
    Verify(ManifestArgs),
}

#[derive(Args)]
pub(crate) struct AddArgs {
    /// The manifest, such as manifest.toml
    #[arg(value_name = "MANIFEST")]
    pub(crate) manifest: PathBuf,
    /// Files below the folder of the manifest, with one statement each
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// A description of the statements, for people
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub(crate) description: String,
}

// Flags of the commands that read a manifest.
#[derive(Args)]
pub(crate) struct ManifestArgs {
    /// The manifest file of the corpus
    #[arg(value_name = "MANIFEST")]
    pub(crate) manifest: PathBuf,
}

impl CorpusCommand {
    /// The files that the command reads, which `-o` must not replace.
    pub(super) fn inputs(&self) -> Vec<(&'static str, PathBuf)> {
        let manifest = match self {
            Self::Add(add) => &add.manifest,
            Self::List(list) => &list.manifest,
            Self::Verify(verify) => &verify.manifest,
        };
        let files = Corpus::read(manifest).map(|corpus| corpus.files()).unwrap_or_default();
        std::iter::once(manifest.clone())
            .chain(files)
            .map(|path| ("a file of the corpus", path))
            .collect()
    }

    pub(super) fn run(self, context: &Context) -> Outcome {
        match self {
            Self::Add(arguments) => add(context, &arguments),
            Self::List(arguments) => list(context, &read(&arguments.manifest)?),
            Self::Verify(arguments) => verify(context, &read(&arguments.manifest)?),
        }
    }
}

fn read(manifest: &std::path::Path) -> Outcome<Corpus> {
    Ok(Corpus::read(manifest)?)
}

fn add(context: &Context, arguments: &AddArgs) -> Outcome {
    let AddArgs { manifest, files, description } = arguments;
    let mut grid = columns();
    for file in files {
        let added = Corpus::add(manifest, file, description)?;
        grid.rows.push(vec![json!(added.file), json!(added.sha256), json!(added.description)]);
    }
    show(context, grid, &Corpus::read(manifest)?)?;
    Ok(Exit::Answered)
}

fn list(context: &Context, corpus: &Corpus) -> Outcome {
    let mut grid = columns();
    grid.rows = corpus
        .queries()
        .iter()
        .map(|query: &syrch_optimizing::corpus::Entry| {
            vec![json!(query.file), json!(query.sha256), json!(query.description)]
        })
        .collect();
    show(context, grid, corpus)?;
    Ok(Exit::Answered)
}

fn verify(context: &Context, corpus: &Corpus) -> Outcome {
    let states = corpus.verify();
    let mut grid = Grid::new(["state", "file", "sha256", "description"]);
    let rows = corpus.queries().iter().zip(&states);
    grid.rows = rows
        .map(|(query, state)| {
            vec![
                json!(state.name()),
                json!(query.file),
                json!(query.sha256),
                json!(query.description),
            ]
        })
        .collect();
    show(context, grid, corpus)?;
    let missing = states.iter().filter(|state| **state == FileState::Missing).count();
    let changed = states.iter().filter(|state| **state == FileState::Mismatch).count();
    if missing + changed == 0 {
        return Ok(Exit::Answered);
    }
    let message =
        format!("of {} statements {missing} are missing and {changed} were changed", states.len());
    // The document is written: an error of its own would be a second one.
    let failure = Failure::new(Exit::Unexpected, message)
        .hint("restore the files, or take their entries out of the manifest and add them again");
    context.console.error(&failure);
    Ok(failure.exit)
}

fn columns() -> Grid {
    Grid::new(["file", "sha256", "description"])
}

/// Prints rows of a corpus; as JSON the document `syrch.corpus/1`.
fn show(context: &Context, grid: Grid, corpus: &Corpus) -> Outcome<()> {
    let names = grid.columns.clone();
    let queries: Vec<Value> = grid
        .rows
        .iter()
        .map(|row: &Vec<Value>| {
            Value::Object(names.iter().cloned().zip(row.iter().cloned()).collect())
        })
        .collect();
    let manifest = corpus.path().display().to_string();
    context.rows(grid, || {
        json!({
            "schema": "syrch.corpus/1", "manifest": manifest, "digest": corpus.digest(),
            "queries": queries
        })
    })
}

impl From<CorpusError> for Failure {
    fn from(error: CorpusError) -> Self {
        let hint = match &error {
            CorpusError::Unlocked { .. } => {
                "nothing was measured; `syrch-host optimize corpus verify MANIFEST` shows what is \
                 missing and what was changed"
            }
            CorpusError::Malformed { .. } => {
                "correct the manifest there: it has a table `[[queries]]` for each statement, with \
                 file, sha256 and description"
            }
            CorpusError::Io { .. } | CorpusError::Refused { .. } => {
                "check the path; `syrch-host optimize corpus add MANIFEST FILE` makes a manifest"
            }
        };
        Self::config(error.to_string()).hint(hint)
    }
}
