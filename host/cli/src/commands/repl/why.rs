//! `\why`: how the last answer came about.

use serde_json::{Value, json};
use syrch::report::{AnswerDocument, CandidateStatus};

use crate::sink::{Grid, terminal};

/// Writes the lines above the candidates.
pub(super) fn heading(document: &AnswerDocument) -> String {
    let mut lines = vec![format!("question: {}", document.question)];
    match &document.confidence {
        Some(confidence) => {
            let claim =
                confidence.raw.map(|raw| format!(" (claimed {raw:.2})")).unwrap_or_default();
            lines.push(format!("confidence: {:.2}{claim}", confidence.calibrated));
        }
        None => lines.push("confidence: none, since there is no answer".to_owned()),
    }
    lines.extend(
        document.clarify.iter().map(|clarify| format!("it would have asked: {}", clarify.question)),
    );
    let basis = document.answer.iter().flat_map(|answer| &answer.basis);
    lines.extend(basis.map(|step| format!("basis: {step}")));
    lines.iter().map(|line| format!("{}\n", terminal::line(line))).collect()
}

/// A row for each candidate, in the order in which they were proposed. Equal results of one task
/// share a cluster.
pub(super) fn grid(document: &AnswerDocument) -> Grid {
    let mut grid =
        Grid::new(["candidate", "task", "status", "cluster", "confidence", "reason", "statement"]);
    for candidate in &document.candidates {
        let status = match candidate.status {
            CandidateStatus::Answer => "answer",
            CandidateStatus::Kept => "kept",
            CandidateStatus::Dropped => "dropped",
            CandidateStatus::NotAccepted => "not accepted",
        };
        // Two digits, as everywhere that people read a confidence.
        let confidence = candidate.confidence.map(|confidence| format!("{confidence:.2}"));
        grid.rows.push(vec![
            json!(candidate.id),
            json!(candidate.task),
            json!(status),
            json!(candidate.cluster),
            json!(confidence),
            json!(candidate.reason),
            json!(candidate.sql),
        ]);
    }
    grid
}

/// The explanation of an answer as the document `syrch.why/1`.
pub(super) fn document(document: &AnswerDocument) -> Value {
    json!({
        "schema": "syrch.why/1",
        "run": document.run,
        "question": document.question,
        "confidence": document.confidence,
        "candidates": document.candidates,
        "clarify": document.clarify,
        "warnings": document.warnings,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make_document() -> AnswerDocument {
        let candidate = |id: &str, status: &str, cluster: Value| {
            json!({"id": id, "task": "A", "sql": "SELECT 1", "status": status, "cluster": cluster,
                   "confidence": 0.8, "reason": "it ran"})
        };
        serde_json::from_value(json!({
            "schema": "syrch.answer/1", "run": "r", "question": "q\u{1b}[2J",
            "answer": {
                "text": "1", "columns": ["n"], "rows": [[1]], "row_count": 1, "truncated": false,
                "basis": ["A ran"]
            },
            "sql": "SELECT 1", "dialect": "sqlite", "confidence": {"raw": 0.9, "calibrated": 0.81},
            "candidates": [
                candidate("1", "dropped", json!(null)), candidate("2", "answer", json!(1))
            ],
            "clarify": null,
            "cost": {
                "calls": 0, "input_tokens": 0, "output_tokens": 0, "usd": null, "sql_runs": 2,
                "by_purpose": {}
            },
            "time_ms": {"total": 1.0, "plan": 1.0, "solve": 1.0, "aggregate": 1.0}, "plugins": [],
            "warnings": []
        }))
        .unwrap()
    }

    #[test]
    fn every_candidate_has_its_end_and_reason() {
        let grid = grid(&make_document());
        let expected = json!([
            ["1", "A", "dropped", null, "0.80", "it ran", "SELECT 1"],
            ["2", "A", "answer", 1, "0.80", "it ran", "SELECT 1"],
        ]);
        assert_eq!(json!(grid.rows), expected);
        assert_eq!(document(&make_document())["candidates"][1]["status"], "answer");
    }

    #[test]
    fn the_heading_says_how_sure() {
        let expected = "question: q\\u{1b}[2J\nconfidence: 0.81 (claimed 0.90)\nbasis: A ran\n";
        assert_eq!(heading(&make_document()), expected);
        let unanswered = AnswerDocument { confidence: None, answer: None, ..make_document() };
        assert!(heading(&unanswered).ends_with("confidence: none, since there is no answer\n"));
    }
}
