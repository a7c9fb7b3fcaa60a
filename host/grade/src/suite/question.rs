//! A question of a suite, with what is expected of its answer.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// One question of a suite, whatever format it was written in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Unique within the suite.
    pub id: String,
    /// Its database as the suite names it: a name, or a path.
    pub db: String,
    /// What the database runs on.
    pub engine: String,
    /// The question.
    pub question: String,
    /// What explains its terms.
    pub evidence: Option<String>,
    /// What is right: any one of them, the suite's own first, never none. They never reach a role.
    pub golds: Vec<Gold>,
    /// Whether the question asks for an order of rows.
    pub ordered: bool,
    /// The frozen today, `YYYY-MM-DD`.
    pub as_of: Option<String>,
    /// By what results can be sliced: the difficulty, and every other field of the suite that is a short text, a number or a truth value.
    pub fields: BTreeMap<String, String>,
}

/// One right answer.
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
