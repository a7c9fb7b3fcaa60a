//! The documents of the optimizer: `syrch.optimize/1` of one statement, and `syrch.optimize-corpus/1` of a run over a corpus. The other formats
//! of a report are made of them alone.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use syrch::report::CostReport;
use syrch::syrch_core::ports::Plan;

/// The schema of the document of a statement.
pub(crate) const STATEMENT: &str = "syrch.optimize/1";

/// What became of a statement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Document {
    /// The schema of the document, always [`STATEMENT`].
    pub(crate) schema: String,
    /// The id of the run, by which its journal is found; `None` without a journal.
    pub(crate) run: Option<String>,
    /// The version of the host.
    pub(crate) host: String,
    /// The file of the statement, or its beginning.
    pub(crate) name: String,
    /// The description of the statement in the manifest.
    pub(crate) description: String,
    /// The name of the database.
    pub(crate) database: String,
    /// The outcome by its name, such as `OPTIMIZED`.
    pub(crate) outcome: String,
    /// Why the statement was not worked on, or what ended the work.
    pub(crate) reason: Option<String>,
    /// The statement as it was given.
    pub(crate) given: String,
    /// The statement as it was run; `None` when it was refused.
    pub(crate) original: Option<Statement>,
    /// The fastest statement that is equal, when there is one that is faster.
    pub(crate) best: Option<Statement>,
    /// The rows of the result; `None` when it was never run.
    pub(crate) rows: Option<u64>,
    /// Changed copies of the database on which both gave the same rows.
    pub(crate) copies: u32,
    /// By what share two runs of the original differed, which comes from the clock alone.
    pub(crate) noise: Option<f64>,
    /// The proposals in their order.
    pub(crate) iterations: Vec<Iteration>,
    /// The last measurement of the original against the best statement.
    #[serde(rename = "final")]
    pub(crate) last: Option<Measured>,
    /// What the model calls cost; `None` of a statement of a corpus, whose run has no such figure.
    pub(crate) cost: Option<CostReport>,
    /// Warnings about the measurement and the run.
    pub(crate) warnings: Vec<String>,
    /// The settings of the optimizer, and the rewriter with the digest of its component.
    pub(crate) settings: Value,
}

/// A statement with its plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Statement {
    /// The text that was run.
    pub(crate) sql: String,
    /// The plan of the engine; `None` where it could not be read.
    pub(crate) plan: Option<Plan>,
}

/// A proposal, and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Iteration {
    /// The number of the proposal, from 1.
    pub(crate) number: u32,
    /// The state by its name, such as `KEPT` or `FAILED_MISMATCH`.
    pub(crate) state: String,
    /// The rule and the token that refused it, or what else its state means here.
    pub(crate) detail: Option<String>,
    /// The family of the rewrite.
    pub(crate) family: String,
    /// Why it should be faster, in the words of the rewriter.
    pub(crate) why: String,
    /// The statement; empty when there was none.
    pub(crate) sql: String,
    /// The medians of the best statement before it and of the proposal, when both were measured.
    pub(crate) measured: Option<Measured>,
}

/// Measurements of two statements in turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Measured {
    /// The median time before, in milliseconds.
    pub(crate) before_ms: f64,
    /// The median time after, in milliseconds.
    pub(crate) after_ms: f64,
    /// How many times as fast: before by after.
    pub(crate) ratio: f64,
    /// The 95 % interval of the ratio.
    pub(crate) interval: Option<[f64; 2]>,
    /// Whether the pairs confirm that the second is faster; `None` where that was not tested.
    pub(crate) confirmed: Option<bool>,
    /// The times of each pair in milliseconds, before and after, in the order of the measurement.
    pub(crate) pairs: Vec<[f64; 2]>,
}

impl Measured {
    /// Pairs in which the second statement was the faster one.
    pub(crate) fn wins(&self) -> usize {
        self.pairs.iter().filter(|[before, after]| after < before).count()
    }
}

impl Document {
    /// Whether there is a faster statement.
    pub(crate) fn is_optimized(&self) -> bool {
        self.best.is_some()
    }

    /// The text that the command prints: the best statement, else the original, else what was given.
    pub(crate) fn statement(&self) -> &str {
        let one = self.best.as_ref().or(self.original.as_ref());
        one.map_or(&self.given, |statement| &statement.sql)
    }
}

/// A run over a corpus.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RunDocument {
    /// The schema of the document.
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
    /// Whether all statements are done and all gates passed.
    pub(crate) passed: bool,
    /// What the gates mean for the rules and the rewriter.
    pub(crate) advice: Option<String>,
    /// The statements that are done, in the order of the manifest.
    pub(crate) statements: Vec<Document>,
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
    /// What the share must be, in words.
    pub(crate) bound: String,
    /// Whether the share meets the bound.
    pub(crate) passed: bool,
}
