//! The documents of the latest searches, which `explain_run` shows.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use syrch::report::AnswerDocument;

/// The limit on the number of searches that are retained.
const RUNS: usize = 64;
/// The limit on the size of all their documents as JSON, in bytes.
const BYTES: usize = 4 << 20;
/// The limit on the size of one document, in bytes; steps, then early candidates are left out of a
/// larger one.
const DOCUMENT: usize = 256 << 10;
/// The number of candidates that a large document retains.
const CANDIDATES: usize = 64;
/// The length to which a statement or a reason in a large document is cut, in characters.
const TEXT: usize = 1_000;

/// The documents of the latest searches, the oldest first.
#[derive(Default)]
pub(crate) struct Recent {
    runs: Mutex<VecDeque<(AnswerDocument, usize)>>,
}

impl Recent {
    /// Adds a search, and removes the oldest ones beyond the limits.
    pub(crate) fn remember(&self, mut document: AnswerDocument) {
        let mut size = count_bytes(&document);
        if size > DOCUMENT {
            shorten(&mut document);
            size = count_bytes(&document);
        }
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        runs.push_back((document, size));
        while runs.len() > RUNS || runs.iter().map(|(_, size)| size).sum::<usize>() > BYTES {
            runs.pop_front();
        }
    }

    /// The document of a search by its id.
    pub(crate) fn find(&self, run: &str) -> Option<AnswerDocument> {
        let runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        let mut documents = runs.iter().rev().map(|(document, _)| document);
        documents.find(|document| document.run == run).cloned()
    }
}

fn count_bytes(document: &AnswerDocument) -> usize {
    serde_json::to_vec(document).map_or(usize::MAX / RUNS, |bytes| bytes.len())
}

fn shorten(document: &mut AnswerDocument) {
    document.steps.clear();
    let early = document.candidates.len().saturating_sub(CANDIDATES);
    document.candidates.drain(..early);
    document.tasks.truncate(CANDIDATES);
    for candidate in &mut document.candidates {
        clip(&mut candidate.sql);
        clip(&mut candidate.reason);
        candidate.rationale = None;
    }
    for task in &mut document.tasks {
        clip(&mut task.text);
        task.requirements = None;
    }
    document.warnings.push("this document is large: parts of it are left out".to_owned());
}

fn clip(text: &mut String) {
    if let Some((end, _)) = text.char_indices().nth(TEXT) {
        text.truncate(end);
        text.push('…');
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn document(run: &str, sql: &str) -> AnswerDocument {
        serde_json::from_value(json!({
            "schema": "syrch.answer/1", "run": run, "question": "q", "answer": null, "sql": null,
            "dialect": "sqlite", "confidence": null,
            "candidates": [{"id": "1", "task": "A", "sql": sql, "status": "dropped",
                            "cluster": null, "confidence": null, "reason": "r"}],
            "clarify": null,
            "cost": {"calls": 0, "input_tokens": 0, "output_tokens": 0, "usd": null, "sql_runs": 0,
                     "by_purpose": {}},
            "time_ms": {"total": 1.0, "plan": 1.0, "solve": 1.0, "aggregate": 1.0},
            "plugins": [], "warnings": []
        }))
        .unwrap()
    }

    #[test]
    fn the_oldest_runs_are_forgotten() {
        let recent = Recent::default();
        for run in 0..=RUNS {
            recent.remember(document(&run.to_string(), "SELECT 1"));
        }
        assert!(recent.find("0").is_none() && recent.find("1").is_some());
        recent.remember(document("large", &"x".repeat(DOCUMENT)));
        let large = recent.find("large").unwrap();
        assert!(large.candidates[0].sql.chars().count() <= TEXT + 1 && large.warnings.len() == 1);
    }
}
