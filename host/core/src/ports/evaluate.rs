//! The other roles of the same search.

use async_trait::async_trait;

use super::PortError;
use crate::{Candidate, Signals, Verdict};

/// The port `evaluate` of one role call.
#[async_trait]
pub trait EvaluatePort: Send + Sync {
    /// The calibrated confidence of each (raw confidence, signals), in order.
    ///
    /// # Errors
    /// When the calibrator fails.
    async fn calibrate(&self, claims: Vec<(f64, Signals)>) -> Result<Vec<f64>, PortError>;
    /// One verdict for each candidate, judged together.
    ///
    /// # Errors
    /// When the reward fails.
    async fn reward(&self, candidates: Vec<Candidate>) -> Result<Vec<Verdict>, PortError>;
}
