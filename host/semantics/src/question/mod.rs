//! Reads questions in English as requests, without a model. A question is read only if each of its
//! words is understood: as part of a metric, a dimension, a value, a time, an order or a
//! comparison, or as a word that changes nothing.

mod choices;
mod cues;
mod draft;
mod follow_up;
mod lookup;
mod model;
mod parse;
mod resolve;
#[cfg(test)]
mod tests;
mod time;
mod tokens;
mod unmet;
mod vocabulary;

use chrono::NaiveDate;

use crate::{Request, Semantics};
use parse::Parser;
use resolve::Resolver;
use time::{Calendar, Clock};

pub use choices::{Choice, Choices, read_choices};
pub use follow_up::{is_fragment, needs_question, read_follow_up};
pub use lookup::{cells_at, phrases};
pub use unmet::{find_added, find_missing};
pub(crate) use vocabulary::Vocabulary;

/// The limit on the length of a question, in tokens.
const TOKENS: usize = 120;
/// The limit on the length of a question, in bytes.
const BYTES: usize = 4_000;

/// A value of a dimension that was found in the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// The dimension, as `table.name`.
    pub dimension: String,
    /// The value as the database has it.
    pub value: String,
}

/// The outcome of reading a question.
#[derive(Debug, Clone, PartialEq)]
pub enum Reading {
    /// Every word of the question is understood.
    Understood(Understood),
    /// The question is not read.
    Unread(Unread),
}

/// A question that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Understood {
    /// The request.
    pub request: Request,
    /// The confidence, 0 to 1; less where the grain was assumed.
    pub confidence: f64,
    /// True if it changes the request before, and false for a question of its own.
    pub is_change: bool,
}

/// The reason why a question is not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unread {
    /// Words that are not understood.
    #[error("not understood: {}", .0.join(", "))]
    Words(Vec<String>),
    /// A phrase that may mean several things.
    #[error("`{phrase}` may mean {}", .choices.join(" or "))]
    Ambiguous {
        /// The words of the question.
        phrase: String,
        /// The possible meanings: names of metrics or dimensions.
        choices: Vec<String>,
    },
    /// Two conditions that no row meets at once, on this dimension.
    #[error("{0} cannot be two things at once")]
    Contradictory(String),
    /// No metric is named.
    #[error("the question names no metric")]
    NoMetric,
    /// The question asks for something that a request cannot express.
    #[error("{0}")]
    Unsupported(String),
    /// The question may ask for rows rather than for a metric: something else may answer it.
    #[error("{0}")]
    Rows(String),
    /// The question has too many words.
    #[error("the question is longer than {TOKENS} words")]
    TooLong,
}

impl Unread {
    /// The same reason, for a question that may ask for rows. Only what is unsupported changes.
    fn into_rows(self) -> Self {
        match self {
            Self::Unsupported(why) => Self::Rows(why),
            other => other,
        }
    }
}

impl From<Result<Understood, Unread>> for Reading {
    fn from(result: Result<Understood, Unread>) -> Self {
        match result {
            Ok(understood) => Self::Understood(understood),
            Err(unread) => Self::Unread(unread),
        }
    }
}

/// Reads a question as a request. `cells` are values that the caller found in the database for the
/// [`phrases`] of the question; relative times count from `today`.
#[must_use]
pub fn read_question(
    semantics: &Semantics,
    question: &str,
    cells: &[Cell],
    today: NaiveDate,
) -> Reading {
    read(semantics, question, cells, today, &[]).into()
}

fn read(
    semantics: &Semantics,
    question: &str,
    cells: &[Cell],
    today: NaiveDate,
    chosen: &[String],
) -> Result<Understood, Unread> {
    let tokens = read_tokens(question)?;
    let links = vocabulary::link(semantics, &tokens, cells);
    let calendar = Calendar { today, week_start: semantics.week_start };
    let clock = Clock { tokens: &tokens, calendar };
    let mut parser = Parser::new(semantics, &tokens, &links, clock);
    let names_metric = links.name_metric(semantics);
    if let Err(unread) = parser.read(0) {
        return Err(if names_metric { unread } else { unread.into_rows() });
    }
    let draft = &parser.draft;
    let read = Resolver { semantics, calendar, draft, chosen }.request();
    let may_be_rows = !names_metric && draft.may_ask_for_rows();
    read.map_err(|unread| if may_be_rows { unread.into_rows() } else { unread })
}

/// Returns true if a question has words that are the name of a metric and of nothing else. Where
/// the definitions do not answer it, other means would compute something else.
#[must_use]
pub fn names_metric(semantics: &Semantics, question: &str) -> bool {
    read_tokens(question)
        .is_ok_and(|tokens| vocabulary::link(semantics, &tokens, &[]).name_metric(semantics))
}

/// The tokens of a text that is not too long.
fn read_tokens(text: &str) -> Result<Vec<tokens::Token>, Unread> {
    if text.len() > BYTES {
        return Err(Unread::TooLong);
    }
    let tokens = tokens::tokens(text);
    if tokens.len() > TOKENS { Err(Unread::TooLong) } else { Ok(tokens) }
}
