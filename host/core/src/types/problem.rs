//! What the user wants to know, and what retrieval found about it.

use serde::{Deserialize, Serialize};

use super::{Extras, Json};

/// A question over a database. It never holds the expected answer of a graded question.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Problem {
    /// The user's words.
    pub question: String,
    /// What the user added to explain terms.
    pub evidence: Option<String>,
    /// What the answer is for.
    pub goal: Option<String>,
    /// Clarifications so far, as (question, answer), the oldest first.
    pub answers: Vec<(String, String)>,
    /// What retrieval found.
    pub hints: Vec<Hit>,
    /// Room to grow.
    pub extra: Extras,
}

impl Problem {
    /// A problem that is just a question.
    #[must_use]
    pub fn new(question: impl Into<String>) -> Self {
        Self { question: question.into(), ..Self::default() }
    }
}

/// Where a hit was found.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Corpus {
    /// Table names.
    Tables,
    /// Column names.
    Columns,
    /// Cells of tables.
    Cells,
    /// Notes of the user's.
    Notes,
    /// Solved examples.
    Examples,
    /// Another corpus, by name.
    Other(String),
}

/// How a corpus is searched.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lane {
    /// By words, ranked by BM25.
    Lexical,
    /// Names that are spelled nearly so.
    PathFuzzy,
    /// The lines of descriptions and notes.
    SegmentFuzzy,
    /// By embeddings.
    Vector,
    /// Another lane, by name.
    Other(String),
}

impl Lane {
    /// Its name, as in journals.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Lexical => "lexical",
            Self::PathFuzzy => "path-fuzzy",
            Self::SegmentFuzzy => "segment-fuzzy",
            Self::Vector => "vector",
            Self::Other(name) => name,
        }
    }
}

/// One look into a corpus.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Lookup {
    /// Where to look.
    pub corpus: Corpus,
    /// How.
    pub lane: Lane,
    /// For what.
    pub text: String,
    /// Hits at most.
    pub limit: u32,
}

/// What retrieval found; `score` is 0 to 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hit {
    /// Where it was found.
    pub corpus: Corpus,
    /// Its name within the corpus.
    pub id: String,
    /// How a person would find it, as `table.column`.
    pub path: String,
    /// The table it speaks of.
    pub table: Option<String>,
    /// The column it speaks of.
    pub column: Option<String>,
    /// Its text; cell text for [`Corpus::Cells`].
    pub snippet: Option<String>,
    /// Further facts.
    pub payload: Option<Json>,
    /// How well it fits, 0 to 1.
    pub score: f64,
}

/// Something to ask the user. `ambiguity` is 0 to 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// The question.
    pub text: String,
    /// Answers to choose from; empty: any text.
    pub choices: Vec<String>,
    /// How unclear the problem is, 0 to 1.
    pub ambiguity: f64,
}
