//! The program around a server, which provides what the command line has already.

use async_trait::async_trait;
use serde_json::Value;
use syrch::Error;
use syrch::settings::PluginSource;
use syrch::syrch_core::{Catalog, ResultSet};

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

    /// Returns the tables of a database as the document `syrch.schema/1`.
    fn schema(&self, catalog: &Catalog) -> Value;

    /// Returns a result as the document `syrch.rows/1`.
    fn rows(&self, result: &ResultSet) -> Value;

    /// Returns a result as comma-separated values, in which no cell is a formula.
    fn csv(&self, result: &ResultSet) -> String;
}
