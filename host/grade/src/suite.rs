//! Suites: questions with expected answers, one JSON object a line.

use serde::Deserialize;

/// One question of a suite. Unknown fields are ignored.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Question {
    /// Unique within the suite.
    pub id: String,
    /// The name of its database: the file's stem beside the suite.
    pub db: String,
    /// What the database runs on.
    #[serde(default = "sqlite")]
    pub engine: String,
    /// The question.
    pub question: String,
    /// What explains its terms.
    #[serde(default)]
    pub evidence: Option<String>,
    /// A statement that answers it. It never reaches a role or a provider.
    pub gold_sql: String,
    /// Further statements of which any one is right as well.
    #[serde(default)]
    pub gold_alternatives: Vec<String>,
    /// How hard it is, in the suite's own words.
    #[serde(default)]
    pub difficulty: Option<String>,
    /// Whether the question asks for an order of rows.
    #[serde(default)]
    pub ordered: bool,
    /// The frozen today, `YYYY-MM-DD`.
    #[serde(default)]
    pub as_of: Option<String>,
}

fn sqlite() -> String {
    "sqlite".to_owned()
}

impl Question {
    /// All statements of which any one is right, each once.
    #[must_use]
    pub fn golds(&self) -> Vec<&str> {
        let mut golds = vec![self.gold_sql.as_str()];
        for other in &self.gold_alternatives {
            if !golds.contains(&other.as_str()) {
                golds.push(other);
            }
        }
        golds
    }
}

/// Why a suite cannot be read; lines count from 1.
#[derive(Debug, thiserror::Error)]
pub enum SuiteError {
    /// A line is no question.
    #[error("line {line} is not a question")]
    Malformed {
        /// Which line.
        line: usize,
        /// What the parser says.
        #[source]
        source: serde_json::Error,
    },
    /// An id occurs twice.
    #[error("line {line} repeats the id `{id}`")]
    Repeated {
        /// Which line.
        line: usize,
        /// Which id.
        id: String,
    },
}

/// Reads the questions of a suite from its text. Empty lines are skipped; the whole text is checked before anything is returned.
///
/// # Errors
/// At the first line that is no question or repeats an id.
pub fn read(text: &str) -> Result<Vec<Question>, SuiteError> {
    let mut questions: Vec<Question> = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for (at, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let line_number = at + 1;
        let question: Question =
            serde_json::from_str(line).map_err(|source| SuiteError::Malformed { line: line_number, source })?;
        if !seen.insert(question.id.clone()) {
            return Err(SuiteError::Repeated { line: line_number, id: question.id });
        }
        questions.push(question);
    }
    Ok(questions)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"id": "a", "db": "shop", "question": "How many?", "gold_sql": "SELECT 1", "gold_alternatives": ["SELECT 1", "SELECT 2"], "note": 1}"#;

    #[test]
    fn questions_are_read_line_by_line() {
        let questions = read(&format!("{LINE}\n\n")).unwrap();
        assert_eq!((questions.len(), questions[0].engine.as_str(), questions[0].ordered), (1, "sqlite", false));
        assert_eq!(questions[0].golds(), ["SELECT 1", "SELECT 2"]);
    }

    #[test]
    fn errors_name_the_line() {
        assert_eq!(read(&format!("{LINE}\n{{}}")).unwrap_err().to_string(), "line 2 is not a question");
        assert_eq!(read(&format!("{LINE}\n{LINE}")).unwrap_err().to_string(), "line 2 repeats the id `a`");
    }
}
