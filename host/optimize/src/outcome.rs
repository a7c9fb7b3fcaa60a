//! The outcomes of a proposal and of a whole optimization.

use serde::{Deserialize, Serialize};

use crate::Iteration;

/// The outcome of one proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum IterationState {
    /// Equal and faster, so that it was accepted: it is the best statement from then on.
    Kept,
    /// Equal and not fast enough.
    DiscardedSlower,
    /// Other rows than the original's.
    FailedMismatch,
    /// The same rows in another order than the original's ORDER BY gives.
    FailedTieReorder,
    /// It was refused by a check before anything ran.
    FailedSafety,
    /// Other columns than the original's.
    FailedSchema,
    /// The rewriter failed, or its statement does not parse, or failed while it ran.
    CandidateError,
    /// More rows or bytes than are compared.
    CandidateTooLarge,
}

impl IterationState {
    /// The name in reports and in the log.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Kept => "KEPT",
            Self::DiscardedSlower => "DISCARDED_SLOWER",
            Self::FailedMismatch => "FAILED_MISMATCH",
            Self::FailedTieReorder => "FAILED_TIE_REORDER",
            Self::FailedSafety => "FAILED_SAFETY",
            Self::FailedSchema => "FAILED_SCHEMA",
            Self::CandidateError => "CANDIDATE_ERROR",
            Self::CandidateTooLarge => "CANDIDATE_TOO_LARGE",
        }
    }

    /// The number of proposals in a row that failed in a way that early stop counts, after this
    /// one. What a check refused and what was no statement leaves the number as it was.
    pub(crate) fn count(self, so_far: u32) -> u32 {
        match self {
            Self::Kept => 0,
            Self::FailedSafety | Self::CandidateError => so_far,
            Self::DiscardedSlower
            | Self::FailedMismatch
            | Self::FailedTieReorder
            | Self::FailedSchema
            | Self::CandidateTooLarge => so_far.saturating_add(1),
        }
    }
}

/// The outcome of an optimization. The order is that in which the first that applies is the
/// outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Outcome {
    /// The database failed or was written to, or the optimization was stopped before the first
    /// proposal.
    Error,
    /// The original does not pass the checks, so that equal results would mean nothing.
    UnsupportedSafety,
    /// The original has a column whose values cannot be compared exactly.
    UnsupportedTypes,
    /// The original has more rows or bytes than are compared.
    UnsupportedTooLarge,
    /// The statement, its tables and its plan do not fit a request to the model.
    UnsupportedPrompt,
    /// No proposal was a statement.
    NoValidCandidate,
    /// A proposal was equal and faster.
    Optimized,
    /// Nothing faster was found: an equal statement was not fast enough, or slower in the last
    /// measurement, or the rewriter had nothing to propose.
    Unchanged,
    /// No proposal was equal, and one gave other rows.
    VerificationFailed,
    /// No proposal was equal, and one gave the rows in another order.
    VerificationTie,
    /// No proposal came as far as a comparison of rows.
    NoVerifiedCandidate,
}

impl Outcome {
    /// The name in reports and in the log.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "ERROR",
            Self::UnsupportedSafety => "UNSUPPORTED_SAFETY",
            Self::UnsupportedTypes => "UNSUPPORTED_TYPES",
            Self::UnsupportedTooLarge => "UNSUPPORTED_TOO_LARGE",
            Self::UnsupportedPrompt => "UNSUPPORTED_PROMPT",
            Self::NoValidCandidate => "NO_VALID_CANDIDATE",
            Self::Optimized => "OPTIMIZED",
            Self::Unchanged => "UNCHANGED",
            Self::VerificationFailed => "VERIFICATION_FAILED",
            Self::VerificationTie => "VERIFICATION_TIE",
            Self::NoVerifiedCandidate => "NO_VERIFIED_CANDIDATE",
        }
    }

    /// Returns true if the original is a statement that the optimizer does not support.
    #[must_use]
    pub fn is_unsupported(self) -> bool {
        matches!(
            self,
            Self::UnsupportedSafety
                | Self::UnsupportedTypes
                | Self::UnsupportedTooLarge
                | Self::UnsupportedPrompt
        )
    }

    /// The outcome of an optimization whose original passed all checks. A proposal that failed
    /// while it ran was a statement, so five of those are no [`Outcome::NoValidCandidate`]; five
    /// that do not parse are.
    #[must_use]
    pub fn from_iterations(iterations: &[Iteration]) -> Self {
        fn has_state(iterations: &[Iteration], state: IterationState) -> bool {
            iterations.iter().any(|iteration| iteration.state == state)
        }
        if iterations.is_empty() {
            return Self::Unchanged;
        }
        if iterations.iter().all(|iteration: &Iteration| {
            iteration.state == IterationState::CandidateError && !iteration.is_statement
        }) {
            return Self::NoValidCandidate;
        }
        let ordered = [
            (IterationState::Kept, Self::Optimized),
            (IterationState::DiscardedSlower, Self::Unchanged),
            (IterationState::FailedMismatch, Self::VerificationFailed),
            (IterationState::FailedTieReorder, Self::VerificationTie),
        ];
        ordered
            .into_iter()
            .find(|(state, _)| has_state(iterations, *state))
            .map_or(Self::NoVerifiedCandidate, |(_, outcome)| outcome)
    }
}
