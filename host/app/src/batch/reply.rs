//! The reply to a line: one object, in a form that `benchmark --answers` grades.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use syrch_suites::run::{Fault, UsedUp};

use crate::report::{AnswerDocument, CostReport, Searched};
use crate::{Error, Outcome, SearchReport};

/// The reply to a line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// The line's own id, as it was; the line's number when it has none.
    pub id: Value,
    /// The ending of the line's search.
    pub outcome: Ending,
    /// The answer's document, also when it holds a question to the user or nothing acceptable;
    /// `None` if an error ended it.
    pub answer: Option<AnswerDocument>,
    /// The error because of which there is no document.
    pub error: Option<Fault>,
    /// The line's number, from 1.
    pub line: u64,
    /// The conversation in which the line was asked, from which its question may go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// True if the question was asked with an explanation, or for another day than that of the
    /// search, without which it means something else.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_evidence: bool,
    /// The simulated model that was asked, by its label; `None` if a real one was asked, or none at
    /// all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulated: Option<String>,
    /// The cost of a search that an error ended; `None` if nothing was asked, or if there is a
    /// document, which has the cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<CostReport>,
    /// True if a budget of the whole batch refused the line or ended its search, so that it is to
    /// be asked again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_open: bool,
}

/// The ending of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// There is an answer.
    Answered,
    /// A budget or the time ended while parts of the question were open.
    Partial,
    /// No candidate was acceptable.
    NoAnswer,
    /// The user must be asked.
    ClarificationNeeded,
    /// The line is wrong, or an error ended its search.
    Failed,
}

impl From<Outcome> for Ending {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Answered => Self::Answered,
            Outcome::Partial => Self::Partial,
            Outcome::NoAnswer => Self::NoAnswer,
            Outcome::ClarificationNeeded => Self::ClarificationNeeded,
        }
    }
}

impl Reply {
    /// The reply to a line that was not answered.
    pub(super) fn from_fault(id: Value, line: u64, error: Fault) -> Self {
        // A strategy that found nothing has not failed.
        let outcome = if error.class == "no-answer" { Ending::NoAnswer } else { Ending::Failed };
        Self {
            id,
            outcome,
            answer: None,
            error: Some(error),
            line,
            conversation: None,
            has_evidence: false,
            simulated: None,
            cost: None,
            is_open: false,
        }
    }

    /// The reply to a line that a budget of the whole batch left open.
    pub(super) fn from_budget(id: Value, line: u64, message: String) -> Self {
        let fault = Fault { class: "budget".to_owned(), message };
        Self { is_open: true, ..Self::from_fault(id, line, fault) }
    }

    /// The reply to a line that was searched for, with the label of the simulated model that was
    /// asked.
    pub(super) fn from_search(
        id: Value,
        line: u64,
        searched: Searched,
        simulated: Option<String>,
    ) -> Self {
        match searched.report {
            Ok(SearchReport { outcome, document, .. }) => Self {
                id,
                outcome: outcome.into(),
                answer: Some(document),
                error: None,
                line,
                conversation: None,
                has_evidence: false,
                simulated,
                cost: None,
                is_open: false,
            },
            Err(error) => {
                let is_open = matches!(
                    &error, Error::Budget(which) if UsedUp::from_exhausted(*which).is_some()
                );
                let cost = Some(searched.cost);
                Self { simulated, cost, is_open, ..Self::from_fault(id, line, fault(&error)) }
            }
        }
    }

    /// About how many bytes it takes; what is the same for all of them is not counted.
    pub(super) fn bytes(&self) -> usize {
        let answer = self.answer.as_ref();
        let cells = answer.and_then(|document| document.answer.as_ref()).map_or(0, |answer| {
            answer.text.len()
                + answer
                    .rows
                    .iter()
                    .flatten()
                    .map(|cell| size_of::<Value>() + text(cell))
                    .sum::<usize>()
        });
        let candidates = answer.iter().flat_map(|document| &document.candidates);
        text(&self.id)
            + cells
            + candidates
                .map(|candidate| candidate.sql.len() + candidate.reason.len())
                .sum::<usize>()
    }
}

fn text(value: &Value) -> usize {
    value.as_str().map_or(0, str::len)
}

/// An error as a reply reports it.
pub(super) fn fault(error: &Error) -> Fault {
    Fault { class: error.class().to_owned(), message: error.to_string() }
}

/// Makes the fault of a line that cannot be asked.
pub(super) fn line_fault(message: impl Into<String>) -> Fault {
    Fault { class: "usage".to_owned(), message: message.into() }
}
