//! The roles that a solver may call: calibrator and reward.

use async_trait::async_trait;

use super::{Flight, PortError, Ticket};
use crate::{Candidate, Signals, Verdict};

/// The port `evaluate` of one role call.
#[async_trait]
pub trait EvaluatePort: Send + Sync {
    /// Called when a guest has claims to calibrate. Returns the calibrated confidence of each (raw
    /// confidence, signals), in order.
    ///
    /// # Errors
    /// When the calibrator fails.
    async fn calibrate(&self, claims: Vec<(f64, Signals)>) -> Result<Vec<f64>, PortError>;
    /// Called when a guest wants candidates judged together. The returned future resolves to one
    /// verdict for each candidate, in order, or to the reward's failure. `ticket` is the call's
    /// number in its role call; dropping the future ends the judgement.
    async fn issue_reward(
        &self,
        ticket: Ticket,
        candidates: Vec<Candidate>,
    ) -> Flight<Result<Vec<Verdict>, PortError>>;
}
