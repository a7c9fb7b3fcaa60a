//! A question of a suite, with what is expected of its answer.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// One question of a suite, whatever format it was written in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The id, unique within the suite.
    pub id: String,
    /// The database as the suite names it: a name, or a path.
    pub db: String,
    /// The engine for which the expected statements are written, such as `sqlite`; `None` for that
    /// of the database.
    pub engine: Option<String>,
    /// The text of the question.
    pub question: String,
    /// Text that explains terms of the question.
    pub evidence: Option<String>,
    /// The expected answers, at least one; any of them is right. They are never passed to a plugin.
    pub golds: Vec<Gold>,
    /// True if the question asks for an order of rows.
    pub ordered: bool,
    /// The date that counts as today, `YYYY-MM-DD`.
    pub as_of: Option<String>,
    /// The fields by which results can be sliced: the difficulty, and every other field of the
    /// suite that is a short text, a number or a truth value.
    pub fields: BTreeMap<String, String>,
}

/// The expected answer to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Gold {
    /// The rows of this statement.
    Sql(String),
    /// The rows of this CSV file, whose first line names the columns.
    Csv(PathBuf),
    /// One cell with this text or number.
    Text(String),
}

impl Question {
    /// The statements of which any one is right, each once.
    #[must_use]
    pub fn statements(&self) -> Vec<&str> {
        let mut all = Vec::new();
        for gold in &self.golds {
            if let Gold::Sql(sql) = gold
                && !all.contains(&sql.as_str())
            {
                all.push(sql.as_str());
            }
        }
        all
    }
}
