//! The run's settings, which do not change, and what is left of its budgets.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::Json;

/// The user's policy of the search, clamped by the host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    /// The confidence at or above which no further statement is tried, 0 to 1.
    pub high_confidence: f64,
    /// The most statements that are tried for one task.
    pub max_attempts: u32,
    /// The most levels of decomposition.
    pub max_depth: u32,
    /// The most tasks that run at once.
    pub max_parallel: u32,
    /// The most steps of the planner that change the graph.
    pub max_rounds: u32,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            high_confidence: 0.85,
            max_attempts: 3,
            max_depth: 3,
            max_parallel: 5,
            max_rounds: 8,
        }
    }
}

/// The part of the deadline that is left, in three steps, so that a guest learns little from time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TimeLeft {
    /// More than a fifth is left.
    Plenty,
    /// A fifth or less is left.
    Little,
    /// The time is used up.
    Over,
}

/// The amounts that the search may still spend.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    /// Tokens of prompts and replies together.
    pub tokens: u64,
    /// Model calls that may still be made.
    pub llm_calls: u32,
    /// Statements that may still be run.
    pub sql_runs: u32,
    /// Cost in millionths of the price table's currency; `None` when there is no limit.
    pub cost_micros: Option<u64>,
    /// The part of the deadline that is left.
    pub time: TimeLeft,
}

/// The port `run`. Nothing here fails.
#[async_trait]
pub trait RunPort: Send + Sync {
    /// Called when a guest reads the user's policy.
    fn policy(&self) -> Policy;
    /// Called when a guest reads a further setting of the user's by its name; `None` when the user
    /// has not set it.
    fn setting(&self, name: &str) -> Option<Json>;
    /// Called when a guest reads what may still be spent.
    async fn remaining(&self) -> Budget;
    /// Called when a guest wants a seed for its own choices, and for the randomness of its WASI.
    /// The number is derived from the run's seed, the role, the task and the call, so that a replay
    /// gives the same.
    fn seed(&self) -> u64;
}
