//! The user's question, and what retrieval found for it.

use serde::{Deserialize, Serialize};

use super::{Extras, Json};

/// A question over a database. It never holds the expected answer of a graded question.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Problem {
    /// The question in the user's words.
    pub question: String,
    /// The user's explanation of terms in the question.
    pub evidence: Option<String>,
    /// The purpose of the answer.
    pub goal: Option<String>,
    /// Clarifications so far, as (question, answer), the oldest first.
    pub answers: Vec<(String, String)>,
    /// Hits of the linker, for the other roles.
    pub hints: Vec<Hit>,
    /// The metrics and dimensions that the user's semantics files define, those that the question
    /// mentions first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub terms: Vec<Term>,
    /// Further properties, for versions to come.
    pub extra: Extras,
}

/// A metric or a dimension that the user's semantics files define.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Term {
    /// The kind.
    pub kind: TermKind,
    /// The name in a request for metrics.
    pub name: String,
    /// Other names that people use.
    pub synonyms: Vec<String>,
    /// The computation in SQL, as the file has it.
    pub definition: String,
    /// A sentence about it.
    pub description: Option<String>,
    /// The tables of the catalog that the computation reads.
    pub tables: Vec<String>,
    /// Values of a dimension, where cells are shown.
    pub labels: Vec<TermLabel>,
    /// True if the question has its words.
    pub mentioned: bool,
}

/// A value of a dimension and other words for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TermLabel {
    /// The value as the database has it.
    pub value: String,
    /// The other words.
    pub words: Vec<String>,
}

/// The kind of a term.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TermKind {
    /// A number that is defined once.
    Metric,
    /// A property by which metrics are grouped and filtered.
    Dimension,
    /// Another kind, by name.
    Other(String),
}

impl Problem {
    /// A problem that is just a question.
    #[must_use]
    pub fn new(question: impl Into<String>) -> Self {
        Self { question: question.into(), ..Self::default() }
    }
}

/// A body of text that retrieval can search.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Corpus {
    /// The names and comments of tables.
    Tables,
    /// The names and comments of columns.
    Columns,
    /// The cells of tables, which only the port `cells` searches.
    Cells,
    /// The notes that the user wrote about the database.
    Notes,
    /// Solved examples: questions with their statements.
    Examples,
    /// Another corpus, by name.
    Other(String),
}

/// A method of searching a corpus.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Retriever {
    /// A search by words, ranked by BM25.
    Lexical,
    /// Names that are spelled nearly so.
    PathFuzzy,
    /// The lines of descriptions and notes.
    SegmentFuzzy,
    /// Texts whose embeddings are similar.
    Vector,
    /// Another retriever, by name.
    Other(String),
}

impl Retriever {
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

/// A search of one corpus.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RetrievalQuery {
    /// The corpus that is searched.
    pub corpus: Corpus,
    /// The method of searching it; `lane` in journals of earlier builds.
    #[serde(alias = "lane")]
    pub retriever: Retriever,
    /// The text that is searched for.
    pub text: String,
    /// The most hits that are returned.
    pub limit: u32,
}

/// Something that retrieval found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hit {
    /// The corpus that it was found in.
    pub corpus: Corpus,
    /// Its name within the corpus.
    pub id: String,
    /// Its place for people, such as `table.column`.
    pub path: String,
    /// The table that it is about.
    pub table: Option<String>,
    /// The column that it is about.
    pub column: Option<String>,
    /// Its text; for [`Corpus::Cells`] the cell's text.
    pub snippet: Option<String>,
    /// Further properties as a JSON document, such as the statement of a solved example.
    pub payload: Option<Json>,
    /// The quality of the match, 0 to 1.
    pub score: f64,
}

/// A question to the user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// The text that the user is shown.
    pub text: String,
    /// Answers to choose from; an empty list allows any text.
    pub choices: Vec<String>,
    /// The ambiguity of the problem, 0 to 1.
    pub ambiguity: f64,
}
