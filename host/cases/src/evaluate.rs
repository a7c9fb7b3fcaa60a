//! The port `evaluate` of a case: what its calibrator and its reward answer stands in the case.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use syrch_core::ports::{EvaluatePort, Flight, PortError, Ticket};
use syrch_core::{Candidate, Signals, Verdict};

/// Gives the confidences and verdicts of a case, in the order in which they are asked for.
pub(crate) struct ScriptedEvaluate {
    confidences: Mutex<VecDeque<f64>>,
    verdicts: Mutex<VecDeque<Verdict>>,
}

impl ScriptedEvaluate {
    pub(crate) fn new(confidences: &[f64], verdicts: &[Verdict]) -> Self {
        Self {
            confidences: Mutex::new(confidences.to_vec().into()),
            verdicts: Mutex::new(verdicts.to_vec().into()),
        }
    }
}

/// The next `count` answers; `None` if there are fewer.
fn take<T>(answers: &Mutex<VecDeque<T>>, count: usize) -> Option<Vec<T>> {
    let mut answers = answers.lock().unwrap_or_else(PoisonError::into_inner);
    (answers.len() >= count).then(|| answers.drain(..count).collect())
}

fn missing_error(what: &str) -> PortError {
    PortError::Unavailable(format!("the case has no further `evaluate.{what}`"))
}

#[async_trait]
impl EvaluatePort for ScriptedEvaluate {
    async fn calibrate(&self, claims: Vec<(f64, Signals)>) -> Result<Vec<f64>, PortError> {
        take(&self.confidences, claims.len()).ok_or_else(|| missing_error("confidences"))
    }

    async fn issue_reward(
        &self,
        _: Ticket,
        candidates: Vec<Candidate>,
    ) -> Flight<Result<Vec<Verdict>, PortError>> {
        let verdicts =
            take(&self.verdicts, candidates.len()).ok_or_else(|| missing_error("verdicts"));
        Box::pin(async move { verdicts })
    }
}
