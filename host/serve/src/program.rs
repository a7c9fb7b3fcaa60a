//! The program around a server, which provides what the command line has already.

use std::path::PathBuf;

use async_trait::async_trait;
use serde_json::Value;
use syrch::settings::PluginSource;
use syrch::syrch_core::{Catalog, ResultSet};
use syrch::{Error, Stop};
use syrch_grade::run::Observer;
use syrch_journal::SearchTree;

use crate::Comparison;

/// A comparison that was accepted.
#[derive(Debug, Clone)]
pub struct Compared {
    /// The strategies, the suite and the budgets.
    pub comparison: Comparison,
    /// The folder of the run. One that is there is resumed.
    pub folder: PathBuf,
    /// The folder of all runs.
    pub runs: PathBuf,
    /// The number of model calls after which the run stops.
    pub calls: u64,
    /// The number of questions that are asked at once.
    pub workers: usize,
}

/// The reason why a comparison has not reached its end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Uncompared {
    /// The class of the error, by the names that the command line uses.
    pub class: &'static str,
    /// The message of the error.
    pub message: String,
}

/// Provides a server with the documents of the program that it is part of, and shows messages to
/// the user.
#[async_trait]
pub trait Program: Send + Sync {
    /// Called with a link that opens the page once, at the start and after each use of one.
    fn offer_link(&self, link: &str);

    /// Called with a message to the user, for example about a search that cannot be resumed.
    fn warn(&self, message: &str);

    /// Takes secrets out of a document. Called with each document before it is sent.
    fn scrub(&self, document: &mut Value);

    /// Checks everything that a search needs: the document `syrch.doctor/1`.
    async fn doctor(&self) -> Value;

    /// Describes a plugin without calling a role of it.
    ///
    /// # Errors
    /// When there is none of that name, or it is refused.
    async fn plugin(&self, source: &PluginSource) -> Result<Value, Error>;

    /// The strategies that clients may compare, each with its summary.
    fn strategies(&self) -> Vec<(String, String)>;

    /// The suites whose questions clients may have asked, as they are now. It blocks.
    fn suites(&self) -> Vec<PathBuf>;

    /// Asks the strategies the questions of the suite, all over the database of the server, and
    /// grades the answers. Returns at its end or once `stop` is triggered; what is graded by then
    /// is in the folder of the run.
    ///
    /// # Errors
    /// When something is wrong with it, a budget is used up, or it was stopped.
    async fn compare(
        &self,
        compared: &Compared,
        observer: &dyn Observer,
        stop: &Stop,
    ) -> Result<(), Uncompared>;

    /// Returns the lines that the page shows of a run besides its document.
    fn describe_run(&self, tree: &SearchTree, is_running: bool) -> Value;

    /// Returns the tables of a database as the document `syrch.schema/1`.
    fn schema(&self, catalog: &Catalog) -> Value;

    /// Returns a result as the document `syrch.rows/1`.
    fn rows(&self, result: &ResultSet) -> Value;

    /// Returns a result as comma-separated values, in which no cell is a formula.
    fn csv(&self, result: &ResultSet) -> String;
}
