//! The run's fixed facts.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::Json;

/// What the user asked for, clamped by the host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    /// Stop trying at or above it, 0 to 1.
    pub high_confidence: f64,
    /// Statements tried for one task.
    pub max_attempts: u32,
    /// Levels of decomposition.
    pub max_depth: u32,
    /// Tasks under way at once.
    pub max_parallel: u32,
    /// Steps of the planner that may change the graph.
    pub max_rounds: u32,
}

impl Default for Policy {
    fn default() -> Self {
        Self { high_confidence: 0.85, max_attempts: 3, max_depth: 3, max_parallel: 5, max_rounds: 8 }
    }
}

/// How much of the deadline is left, coarsely.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TimeLeft {
    /// More than a fifth.
    Plenty,
    /// A fifth or less.
    Little,
    /// None.
    Over,
}

/// What the search may still spend.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    /// Tokens, input and output together.
    pub tokens: u64,
    /// Model calls.
    pub llm_calls: u32,
    /// Statements.
    pub sql_runs: u32,
    /// Millionths of the price table's currency; none: no limit set.
    pub cost_micros: Option<u64>,
    /// Time.
    pub time: TimeLeft,
}

/// The port `run`. Nothing here fails.
#[async_trait]
pub trait RunPort: Send + Sync {
    /// The user's policy.
    fn policy(&self) -> Policy;
    /// A further setting of the user's.
    fn setting(&self, name: &str) -> Option<Json>;
    /// What may still be spent.
    async fn remaining(&self) -> Budget;
    /// Derived from the run's seed, role, task and call.
    fn seed(&self) -> u64;
}
