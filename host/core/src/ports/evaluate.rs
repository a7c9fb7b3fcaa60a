//! The other roles of the same search.

use async_trait::async_trait;

use super::{Flight, PortError, Ticket};
use crate::{Candidate, Signals, Verdict};

/// The port `evaluate` of one role call.
#[async_trait]
pub trait EvaluatePort: Send + Sync {
    /// The calibrated confidence of each (raw confidence, signals), in order.
    ///
    /// # Errors
    /// When the calibrator fails.
    async fn calibrate(&self, claims: Vec<(f64, Signals)>) -> Result<Vec<f64>, PortError>;
    /// Starts a judgement; what comes back waits for one verdict for each candidate, judged together, or for the reward's failure.
    /// `ticket` is the call's number in its role call; dropping the flight ends it.
    async fn issue_reward(&self, ticket: Ticket, candidates: Vec<Candidate>)
    -> Flight<Result<Vec<Verdict>, PortError>>;
}
