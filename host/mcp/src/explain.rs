//! `explain_run`: shows what a search tried, and why each statement was dropped.

use serde::Deserialize;
use serde_json::{Value, json};
use syrch::report::{AnswerDocument, CandidateStatus};
use syrch::syrch_core::text::escape::clip_with_remark;

use crate::quote;
use crate::server::{Reply, Server};

/// The limits on the candidates that the text shows, and on the characters of a statement in it.
const SHOWN: usize = 10;
const STATEMENT: usize = 300;

/// The arguments of the tool.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    run: String,
}

/// Shows the search with that id.
pub(crate) fn call(server: &Server, arguments: &Arguments) -> Reply {
    let Some(document) = server.recent().find(arguments.run.trim()) else {
        return Reply::failure(
            "there is no such run: name one that ask_database returned lately; older ones are in \
             the journals of whoever runs the server",
        );
    };
    Reply::document(describe(&document), json!(document))
}

fn describe(document: &AnswerDocument) -> String {
    let all = document.candidates.len();
    let dropped = document
        .candidates
        .iter()
        .filter(|candidate| candidate.status == CandidateStatus::Dropped)
        .count();
    let tasks = document.tasks.len();
    let text = format!("{tasks} tasks, {all} statements tried, {dropped} of them dropped.");
    let candidates: Vec<Value> = document
        .candidates
        .iter()
        .rev()
        .take(SHOWN)
        .map(|candidate: &syrch::report::CandidateReport| {
            json!({
                "task": candidate.task,
                "status": candidate.status,
                "confidence": candidate.confidence,
                "why": clip_with_remark(&candidate.reason, STATEMENT),
                "sql": clip_with_remark(&candidate.sql, STATEMENT),
            })
        })
        .collect();
    quote::with_data(&text, &json!({"question": document.question, "candidates": candidates}))
}
