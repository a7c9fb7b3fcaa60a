//! A run in one line.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::end::text;
use crate::read::Journal;
use crate::record::{Fact, Record};

/// A run in one line. No row is decoded for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The id of the run.
    pub run: String,
    /// The time at which the run started, in milliseconds since 1970.
    pub began_ms: u64,
    /// The question as the user asked it.
    pub question: String,
    /// The outcome, as [`super::OutcomeNode::kind`].
    pub outcome: String,
    /// The answer's confidence, 0 to 1.
    pub confidence: Option<f64>,
    /// Model calls that were sent.
    pub calls: u32,
    /// Microseconds from the start to the last record of the journal.
    pub took_us: u64,
    /// The statement whose rows are the answer.
    pub sql: Option<String>,
}

impl Summary {
    /// Reads the summary from a journal.
    #[must_use]
    pub fn from_journal(journal: &Journal) -> Self {
        let mut summary = Self {
            run: journal.header.run.clone(),
            began_ms: journal.header.began_ms,
            question: journal.header.problem.question.clone(),
            outcome: "unfinished".to_owned(),
            confidence: None,
            calls: 0,
            took_us: 0,
            sql: None,
        };
        let mut calls = super::calls::Calls::new(false);
        for record in &journal.records {
            match record {
                Record::Event { at_us, .. } => summary.took_us = summary.took_us.max(*at_us),
                Record::Fact { at_us, fact } => {
                    summary.took_us = summary.took_us.max(*at_us);
                    summary.fact(fact);
                }
                Record::Ledger { entry } => calls.apply(entry),
                Record::Rows { .. } | Record::Resumed { .. } => {}
            }
        }
        summary.calls = calls.finish().1.calls;
        summary
    }

    fn fact(&mut self, fact: &Fact) {
        match fact {
            Fact::Answer { document, outcome, .. } => {
                self.outcome.clone_from(outcome);
                self.confidence = document
                    .get("confidence")
                    .and_then(|known| known.get("calibrated"))
                    .and_then(Value::as_f64);
                self.sql = document.get("sql").or_else(|| document.get("best")).and_then(text);
            }
            Fact::Failed { .. } => "failed".clone_into(&mut self.outcome),
            _ => {}
        }
    }
}
