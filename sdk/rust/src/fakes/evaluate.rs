//! A calibrator and a reward that answer what the test wrote down.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::bindings::types::{Candidate, PortError, Signals, Verdict};

/// Without a script it calibrates each claim to itself, and its judge is `unavailable`.
#[derive(Debug)]
pub struct FakeEvaluate {
    /// The calibrator of a claim; `None` if no calibrator answers.
    pub calibrate: Option<fn(f64, &Signals) -> f64>,
    /// The reason why the reward cannot be asked; `None` if it can.
    pub reward_error: Option<PortError>,
    verdicts: BTreeMap<String, Verdict>,
    asked: RefCell<Vec<Vec<String>>>,
}

impl Default for FakeEvaluate {
    fn default() -> Self {
        Self {
            calibrate: Some(|raw, _| raw),
            reward_error: None,
            verdicts: BTreeMap::new(),
            asked: RefCell::default(),
        }
    }
}

impl FakeEvaluate {
    /// The verdict on a statement.
    pub fn judge(&mut self, sql: &str, verdict: Verdict) -> &mut Self {
        self.verdicts.insert(sql.to_owned(), verdict);
        self
    }

    /// The statements that the reward was asked about, by call.
    #[must_use]
    pub fn requests(&self) -> Vec<Vec<String>> {
        self.asked.borrow().clone()
    }

    pub(super) fn calibrate_claims(
        &self,
        claims: &[(f64, Signals)],
    ) -> Result<Vec<f64>, PortError> {
        let calibrate = self.calibrate.ok_or(PortError::Unsupported)?;
        Ok(claims.iter().map(|(raw, signals)| calibrate(*raw, signals)).collect())
    }

    pub(super) fn judge_all(&self, candidates: &[Candidate]) -> Result<Vec<Verdict>, PortError> {
        self.asked
            .borrow_mut()
            .push(candidates.iter().map(|candidate| candidate.sql.clone()).collect());
        if let Some(error) = &self.reward_error {
            return Err(error.clone());
        }
        Ok(candidates
            .iter()
            .map(|candidate: &Candidate| {
                self.verdicts
                    .get(&candidate.sql)
                    .cloned()
                    .unwrap_or_else(|| Verdict::Unavailable("nothing scripted".to_owned()))
            })
            .collect())
    }
}
