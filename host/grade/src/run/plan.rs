//! The items of a run: question after question, and for each all arms, one after the other, so that
//! whatever changes meanwhile (a slow hour of an endpoint, a run that ends early) meets all arms
//! alike.

use std::sync::Arc;

use crate::Question;

use super::Shard;
use super::header::Header;

/// The items of a run in their order.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The questions of the shard with their places in the suite, in that order.
    pub(crate) questions: Vec<(u64, Arc<Question>)>,
    /// The names of the arms.
    pub(crate) arms: Vec<Arc<str>>,
    pub(crate) retry_failed: bool,
}

/// A question for one arm.
#[derive(Debug, Clone)]
pub struct Item {
    /// The arm's place in [`Header::arms`].
    pub arm: usize,
    /// The name of the arm.
    pub arm_name: Arc<str>,
    /// The question with its expected answers.
    pub question: Arc<Question>,
    /// The place of the question in the suite, from 0.
    pub place: u64,
    /// True if an earlier try failed.
    pub retried: bool,
}

impl Plan {
    /// The items of a run. `questions` are those of the whole suite, in order; the header has the
    /// arms and the shard.
    #[must_use]
    pub fn new(header: &Header, questions: impl IntoIterator<Item = Arc<Question>>) -> Self {
        fn is_in_shard(header: &Header, place: u64) -> bool {
            header.shard.is_none_or(|shard: Shard| shard.holds(place))
        }
        let questions =
            (0..).zip(questions).filter(|(place, _)| is_in_shard(header, *place)).collect();
        let arms = header.arms.iter().map(|arm| arm.name.as_str().into()).collect();
        Self { questions, arms, retry_failed: false }
    }

    /// Sets whether items that ended with an error are repeated.
    #[must_use]
    pub fn retry_failed(mut self, is_wanted: bool) -> Self {
        self.retry_failed = is_wanted;
        self
    }

    /// Items in all, done or not.
    #[must_use]
    pub fn items(&self) -> u64 {
        self.slots() as u64
    }

    pub(crate) fn slots(&self) -> usize {
        self.questions.len() * self.arms.len()
    }

    /// The item of a slot: they are counted question by question.
    pub(crate) fn item(&self, slot: usize, retried: bool) -> Option<Item> {
        let arm = slot.checked_rem(self.arms.len())?;
        let (place, question) = self.questions.get(slot / self.arms.len())?;
        let arm_name = Arc::clone(self.arms.get(arm)?);
        Some(Item { arm, arm_name, question: Arc::clone(question), place: *place, retried })
    }

    /// The slot of a line of the log, if the run has it.
    pub(crate) fn slot(&self, arm: &str, place: u64, id: &str) -> Option<usize> {
        let arm = self.arms.iter().position(|name| **name == *arm)?;
        let at = self.questions.binary_search_by_key(&place, |(place, _)| *place).ok()?;
        let (_, question) = self.questions.get(at)?;
        (question.id == id).then_some(at * self.arms.len() + arm)
    }
}
