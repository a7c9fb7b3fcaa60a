//! The questions that the model knows.

use std::sync::Arc;

use super::menu::{Menus, menus};
use crate::known::{ByWords, Known};

/// A question with its expected statements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimulatedQuestion {
    /// The id of the question, unique in the suite.
    pub id: String,
    /// The name of its database: the file's stem.
    pub db: String,
    /// The question in words.
    pub question: String,
    /// Right statements, the suite's own first. Without any, the question cannot be answered
    /// rightly.
    pub golds: Vec<String>,
    /// True if the question asks for an order of rows.
    pub ordered: bool,
}

impl Known for SimulatedQuestion {
    fn id(&self) -> &str {
        &self.id
    }

    fn database(&self) -> &str {
        &self.db
    }

    fn question(&self) -> &str {
        &self.question
    }
}

/// The questions of a suite by their text. The menu of a question is made once for all models that
/// share a suite, whatever their seeds and settings.
#[derive(Clone)]
pub struct SimulatedSuite {
    questions: Vec<SimulatedQuestion>,
    by_words: ByWords,
    menus: Arc<Menus>,
}

/// Expected statements are not shown.
impl std::fmt::Debug for SimulatedSuite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SimulatedSuite")
            .field("questions", &self.questions.len())
            .finish_non_exhaustive()
    }
}

impl SimulatedSuite {
    /// A suite of these questions.
    #[must_use]
    pub fn new(mut questions: Vec<SimulatedQuestion>) -> Self {
        for question in &mut questions {
            question.question = question.question.trim().to_owned();
        }
        Self { by_words: ByWords::new(&questions), questions, menus: Arc::new(menus()) }
    }

    /// All questions, in the order of the suite.
    #[must_use]
    pub fn questions(&self) -> &[SimulatedQuestion] {
        &self.questions
    }

    pub(super) fn menus(&self) -> &Menus {
        &self.menus
    }

    /// The place of the question with this text; if several databases have it, that over the named
    /// database.
    pub(super) fn find(&self, question: &str, database: &str) -> Option<usize> {
        self.by_words.find(&self.questions, question, database)
    }
}
