//! The report of `suite linking`.

use serde::Serialize;
use syrch_grade::Question;
use syrch_grade::suite::Suite;

use super::{Compared, LinkedQuestion};

/// The name and version of the report's format.
pub const LINKING_SCHEMA: &str = "syrch.linking/1";

/// Needed and shown parts over all questions together.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct ShownShare {
    /// The number of parts that the expected statements need.
    pub needed: u64,
    /// The number of parts that are shown.
    pub shown: u64,
    /// The number of parts that are needed and shown.
    pub both: u64,
    /// The share of the needed parts that is shown, 0 to 1; `None` if nothing is needed.
    pub recall: Option<f64>,
    /// The share of the shown parts that is needed, 0 to 1; `None` if nothing is shown.
    pub precision: Option<f64>,
    /// The number of questions that are shown all that they need.
    pub whole: u64,
}

impl ShownShare {
    pub(super) fn add(&mut self, compared: &Compared) {
        let both = compared.needed.intersection(&compared.shown).count() as u64;
        self.needed += compared.needed.len() as u64;
        self.shown += compared.shown.len() as u64;
        self.both += both;
        self.whole += u64::from(both == compared.needed.len() as u64);
    }

    pub(super) fn finish(&mut self) {
        let share = |of: u64| (of > 0).then(|| self.both as f64 / of as f64);
        (self.recall, self.precision) = (share(self.needed), share(self.shown));
    }
}

/// The lengths, in characters, of the first prompts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct PromptLength {
    /// The median over the questions.
    pub median: u64,
    /// The greatest.
    pub longest: u64,
}

/// The parts of the catalog that one question needs and is not shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MissedInLinking {
    /// The id of the question.
    pub id: String,
    /// The name that the suite has for the question's database.
    pub db: String,
    /// The text of the question.
    pub question: String,
    /// The tables that are missing.
    pub tables: Vec<String>,
    /// The columns that are missing, as `table.column`.
    pub columns: Vec<String>,
    /// The texts that no hint shows.
    pub literals: Vec<String>,
}

/// `syrch.linking/1`: what a strategy's linker shows of what the expected statements of a suite
/// need.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LinkingReport {
    /// The name of the document's format, always [`LINKING_SCHEMA`].
    pub schema: &'static str,
    /// The path of the suite's file.
    pub suite: String,
    /// The name of the strategy.
    pub strategy: String,
    /// The number of questions that count.
    pub questions: u64,
    /// The ids of the questions that have no expected statement which passes the guard.
    pub unread: Vec<String>,
    /// The tables.
    pub tables: ShownShare,
    /// The columns.
    pub columns: ShownShare,
    /// The texts that expected statements compare with columns.
    pub literals: ShownShare,
    /// The length of the prompts; `None` if no model is needed.
    pub prompt: Option<PromptLength>,
    /// The questions that are not shown all that they need, in the order of the suite.
    pub missed: Vec<MissedInLinking>,
    /// The reason why the first of [`Self::unread`] is among them.
    #[serde(skip)]
    pub reason: Option<String>,
    #[serde(skip)]
    lengths: Vec<u64>,
}

impl LinkingReport {
    pub(super) fn new(suite: &Suite, strategy: String) -> Self {
        Self {
            schema: LINKING_SCHEMA,
            suite: suite.path.display().to_string(),
            strategy,
            questions: 0,
            unread: Vec::new(),
            tables: ShownShare::default(),
            columns: ShownShare::default(),
            literals: ShownShare::default(),
            prompt: None,
            missed: Vec::new(),
            reason: None,
            lengths: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, question: &Question, found: Result<LinkedQuestion, String>) {
        let found = match found {
            Ok(found) => found,
            Err(reason) => {
                self.unread.push(question.id.clone());
                self.reason.get_or_insert(reason);
                return;
            }
        };
        self.questions += 1;
        self.tables.add(&found.tables);
        self.columns.add(&found.columns);
        self.literals.add(&found.literals);
        self.lengths.extend(found.prompt);
        let missed = MissedInLinking {
            id: question.id.clone(),
            db: question.db.clone(),
            question: question.question.clone(),
            tables: found.tables.missing_names(),
            columns: found.columns.missing_names(),
            literals: found.literals.missing_names(),
        };
        if !(missed.tables.is_empty() && missed.columns.is_empty() && missed.literals.is_empty()) {
            self.missed.push(missed);
        }
    }

    pub(super) fn finish(&mut self) {
        self.tables.finish();
        self.columns.finish();
        self.literals.finish();
        self.lengths.sort_unstable();
        let median = self.lengths.get(self.lengths.len() / 2);
        self.prompt = median
            .zip(self.lengths.last())
            .map(|(median, longest)| PromptLength { median: *median, longest: *longest });
    }
}
