//! A calibrator and a reward that answer what the test wrote down.

use std::collections::BTreeMap;

use crate::bindings::types::{Candidate, PortError, Signals, Verdict};

/// Without a script it calibrates each claim to itself, and its judge is `unavailable`.
#[derive(Debug)]
pub struct FakeEvaluate {
    /// What calibration makes of a claim; none: no calibrator answers.
    pub calibrate: Option<fn(f64, &Signals) -> f64>,
    verdicts: BTreeMap<String, Verdict>,
}

impl Default for FakeEvaluate {
    fn default() -> Self {
        Self { calibrate: Some(|raw, _| raw), verdicts: BTreeMap::new() }
    }
}

impl FakeEvaluate {
    /// The verdict on a statement.
    pub fn judge(&mut self, sql: &str, verdict: Verdict) -> &mut Self {
        self.verdicts.insert(sql.to_owned(), verdict);
        self
    }

    pub(super) fn calibrated(&self, claims: &[(f64, Signals)]) -> Result<Vec<f64>, PortError> {
        let calibrate = self.calibrate.ok_or(PortError::Unsupported)?;
        Ok(claims.iter().map(|(raw, signals)| calibrate(*raw, signals)).collect())
    }

    pub(super) fn judged(&self, candidates: &[Candidate]) -> Result<Vec<Verdict>, PortError> {
        let verdict = |candidate: &Candidate| {
            let unknown = || Verdict::Unavailable("nothing scripted".to_owned());
            self.verdicts.get(&candidate.sql).cloned().unwrap_or_else(unknown)
        };
        Ok(candidates.iter().map(verdict).collect())
    }
}
