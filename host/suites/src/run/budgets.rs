//! The budgets of a run.

use std::time::Duration;

/// The budgets of a whole run; one that is `None` has no limit. They are checked before each item
/// begins, so the items that are running then may exceed them: at most as many as there are
/// workers. The time also ends those that are running, which a resumed run starts again. Items of
/// the log count, whichever process executed them, and so do calls and tokens that a cache
/// answered.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RunBudgets {
    /// Model calls at most.
    pub calls: Option<u64>,
    /// Tokens of prompts and replies at most.
    pub tokens: Option<u64>,
    /// Dollars. An answer whose price is unknown counts nothing.
    pub usd: Option<f64>,
    /// The time of the run: of all its processes together, without the pauses between them.
    pub time: Option<Duration>,
}

/// The budget that was used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UsedUp {
    /// The run made as many model calls as [`RunBudgets::calls`] allows.
    Calls,
    /// The run used as many tokens as [`RunBudgets::tokens`] allows.
    Tokens,
    /// The run cost as many dollars as [`RunBudgets::usd`] allows.
    Usd,
    /// The run took as long as [`RunBudgets::time`] allows.
    Time,
}
