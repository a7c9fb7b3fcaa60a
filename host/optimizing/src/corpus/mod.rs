//! Corpora of slow statements for the verified optimizer: files with their digests in a manifest,
//! and runs over them that survive being killed.

mod error;
mod folder;
mod manifest;
mod merge;
mod run;
#[cfg(test)]
mod tests;

pub use error::CorpusError;
pub use folder::{CORPUS_RUN, CorpusFolder, CorpusHeader, CorpusRuns, read_corpus_run};
pub use manifest::{Corpus, FileState, LockedQuery};
pub use merge::{CorpusMergeError, SavedCorpusRun, merge_corpus_runs};
pub use run::{CORPUS_LINE, CorpusLine, CorpusObserver, OptimizesStatements, run_corpus};
pub use syrch_optimize::Entry;

/// An id for a new run over a corpus.
#[must_use]
pub fn new_id(manifest: &std::path::Path) -> String {
    syrch::internal::run_id(&manifest.to_string_lossy())
}
