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
    /// The conversation that the question is a turn of; `None` for a question by itself.
    pub conversation: Option<Turn>,
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
    /// No rows: the search ends in this way.
    End(ExpectedEnd),
}

/// The place of a question in a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// The id of the conversation.
    pub id: String,
    /// The turns before this one, the first first.
    pub earlier: Vec<Earlier>,
    /// The number of turns of the conversation.
    pub of: usize,
}

/// An earlier turn of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Earlier {
    /// The text of the question.
    pub question: String,
    /// Text that explains its terms.
    pub evidence: Option<String>,
    /// The date that counts as today, `YYYY-MM-DD`.
    pub as_of: Option<String>,
}

/// An expected end of a search that gives no rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpectedEnd {
    /// The search asks the user back.
    Clarify,
    /// The search refuses: the question asks for what is not allowed, such as a change of data.
    Refuse,
    /// The search finds no acceptable answer.
    Silent,
}

impl ExpectedEnd {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Clarify, Self::Refuse, Self::Silent];

    /// The word for it in a suite.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Clarify => "clarify",
            Self::Refuse => "refuse",
            Self::Silent => "silent",
        }
    }
}

impl Question {
    /// The ends without rows of which any one is right.
    pub fn ends(&self) -> impl Iterator<Item = ExpectedEnd> {
        self.golds.iter().filter_map(|gold| match gold {
            Gold::End(end) => Some(*end),
            _ => None,
        })
    }

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
