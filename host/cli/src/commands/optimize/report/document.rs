//! The content of the reports: the document `syrch.optimize/1` of one statement, which is the
//! library's, and `syrch.optimize-corpus/1` of a run over a corpus, which holds those of its
//! statements.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use syrch_optimizing::Optimized;
use syrch_optimizing::corpus::CorpusLine;

/// The schema of the document of a run.
pub(crate) const RUN: &str = "syrch.optimize-corpus/1";

/// A statement as a report shows it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shown<'a> {
    /// The file of the statement, or its beginning.
    pub(crate) name: &'a str,
    /// The description of the statement in the manifest; empty for all others.
    pub(crate) description: &'a str,
    /// The result of the optimization.
    pub(crate) document: &'a Optimized,
}

impl<'a> Shown<'a> {
    /// A statement of a run over a corpus.
    pub(crate) fn from_line(line: &'a CorpusLine) -> Self {
        Self { name: &line.file, description: &line.description, document: &line.result }
    }
}

/// A run over a corpus.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RunDocument {
    /// The schema of the document, always [`RUN`].
    pub(crate) schema: String,
    /// The id of the run.
    pub(crate) run: String,
    /// The version of the host.
    pub(crate) host: String,
    /// The path of the manifest.
    pub(crate) manifest: String,
    /// The digest of the manifest.
    pub(crate) digest: String,
    /// The number of statements of the corpus.
    pub(crate) of: u64,
    /// The gates with what was measured.
    pub(crate) gates: Vec<Gate>,
    /// The number of statements with each outcome that occurred.
    #[serde(default)]
    pub(crate) outcomes: BTreeMap<String, u64>,
    /// The number of proposals with each state that occurred.
    #[serde(default)]
    pub(crate) proposals: BTreeMap<String, u64>,
    /// True if all statements are done and all gates passed.
    pub(crate) passed: bool,
    /// The advice that follows from the gates for the rules and the rewriter.
    pub(crate) advice: Option<String>,
    /// The statements that are done, in the order of the manifest, as `results.jsonl` of the run
    /// has them.
    pub(crate) statements: Vec<CorpusLine>,
}

/// A gate of a run over a corpus.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Gate {
    /// The name, such as `support`.
    pub(crate) name: String,
    /// The counts behind the share.
    pub(crate) counts: [u64; 2],
    /// The share; `None` of nothing.
    pub(crate) share: Option<f64>,
    /// The bound of the share, in words.
    pub(crate) bound: String,
    /// True if the share meets the bound.
    pub(crate) passed: bool,
}
