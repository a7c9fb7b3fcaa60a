//! The budgets of a run.

use std::time::Duration;

use syrch_core::ledger::Exhausted;

use super::Shard;

/// The units of a dollar in which shards divide a budget.
const NANOS: f64 = 1e9;

/// The budgets of a whole run; one that is `None` has no limit. Each call is reserved before it is
/// sent, so that none of them is exceeded. A budget that is used up ends the items that are
/// running, which a resumed run starts again. Items of the log count, whichever process executed
/// them, and so do calls and tokens that a cache answered.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RunBudgets {
    /// Model calls at most.
    pub calls: Option<u64>,
    /// Tokens of prompts and replies at most.
    pub tokens: Option<u64>,
    /// Dollars.
    pub usd: Option<f64>,
    /// The time of the run: of all its processes together, without the pauses between them.
    pub time: Option<Duration>,
}

impl RunBudgets {
    /// The part of a shard: the parts of all shards sum to the budgets of the whole run, dollars to
    /// a billionth. Shards run side by side, so each has the whole time.
    #[must_use]
    pub fn part(&self, shard: Shard) -> Self {
        Self {
            calls: self.calls.map(|calls| shard.share(calls)),
            tokens: self.tokens.map(|tokens| shard.share(tokens)),
            // What is too large for the integer becomes the largest one.
            usd: self.usd.map(|usd| shard.share((usd * NANOS).round() as u64) as f64 / NANOS),
            time: self.time,
        }
    }

    /// The rest after these calls, tokens and dollars. The time is as it was.
    #[must_use]
    pub fn subtract(&self, calls: u64, tokens: u64, usd: f64) -> Self {
        Self {
            calls: self.calls.map(|most| most.saturating_sub(calls)),
            tokens: self.tokens.map(|most| most.saturating_sub(tokens)),
            usd: self.usd.map(|most| (most - usd).max(0.0)),
            time: self.time,
        }
    }
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

impl UsedUp {
    /// The budget of all searches together that refused a call; `None` for a search's own budget.
    #[must_use]
    pub fn from_exhausted(which: Exhausted) -> Option<Self> {
        match which {
            Exhausted::TotalCalls => Some(Self::Calls),
            Exhausted::TotalTokens => Some(Self::Tokens),
            Exhausted::TotalCost => Some(Self::Usd),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_all_shards_are_the_whole() {
        let whole = RunBudgets {
            calls: Some(10),
            tokens: Some(1_000_003),
            usd: Some(0.100_000_001),
            time: Some(Duration::from_secs(60)),
        };
        for of in [1, 3, 7, 16] {
            let parts: Vec<RunBudgets> =
                (1..=of).map(|index| whole.part(Shard { index, of })).collect();
            assert_eq!(parts.iter().map(|part| part.calls.unwrap()).sum::<u64>(), 10);
            assert_eq!(parts.iter().map(|part| part.tokens.unwrap()).sum::<u64>(), 1_000_003);
            let nanos = parts.iter().map(|part| (part.usd.unwrap() * NANOS).round() as u64);
            assert_eq!(nanos.sum::<u64>(), 100_000_001);
            assert!(parts.iter().all(|part| part.time == whole.time));
        }
        let none = RunBudgets::default();
        assert_eq!(none.part(Shard { index: 2, of: 3 }), none);
    }
}
