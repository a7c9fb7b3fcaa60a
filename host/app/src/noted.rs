//! Notes what statements gave, how sure the rules were, and that the database or the model could
//! not be used during a search, so that a search without an answer can say why.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;
use syrch_core::ports::{Level, LlmError, Reply, Request, SqlReply, Ticket};
use syrch_core::{Equality, ResultSet, SqlError, TaskId};
use syrch_journal::CallId;
use syrch_layers::CallObserver;

use crate::context::Context;
use crate::report::OriginReport;
use crate::{SearchEvent, thought};

/// The observer of one role call, which notes how the call's model calls and statements ended.
pub(crate) struct NotedCall {
    pub(crate) context: Arc<Context>,
    pub(crate) task: TaskId,
    pub(crate) call: CallId,
    /// The role with its task, as the trace names the call.
    pub(crate) label: String,
}

/// A reply of rules.
#[derive(Deserialize)]
struct ByRules {
    sql: String,
    /// Their confidence, 0 to 1.
    confidence: f64,
    /// The reasons for which the statement may as well be wrong.
    #[serde(default)]
    doubts: Vec<String>,
}

impl CallObserver for NotedCall {
    fn on_statement(&self, reply: &SqlReply) {
        self.context.notes.note_written(&self.task, &reply.sql, reply.is_doubted);
        if reply.statements.is_empty() {
            return;
        }
        let call = self.label.clone();
        let message = reply.remark();
        self.context.run.trace.event(&SearchEvent::Note { call, level: Level::Info, message });
    }

    fn on_reply(&self, ticket: Ticket, result: &Result<Reply, LlmError>) {
        let Context { run, notes, .. } = &*self.context;
        if result.is_ok() {
            notes.note_reply();
        }
        match result {
            Ok(reply) if run.settings.model.is_by_rules() => {
                let parsed = reply
                    .parsed
                    .as_ref()
                    .and_then(|parsed| serde_json::from_str::<ByRules>(parsed).ok());
                if let Some(ByRules { sql, confidence, doubts }) = parsed {
                    notes.note_rules(confidence);
                    notes.note_doubts(sql, doubts);
                }
            }
            Err(error @ (LlmError::Unavailable(_) | LlmError::Declined { .. })) => {
                notes.note_model_error(self.call, ticket, error)
            }
            Err(LlmError::Malformed(_)) => {
                notes.note_reply();
                notes.note_shapeless();
            }
            Err(LlmError::Refused(_)) => notes.note_reply(),
            Err(LlmError::Cut { tokens, .. }) => {
                notes.note_cut(self.call, ticket, *tokens);
                notes.note_shapeless();
            }
            Err(error @ LlmError::Overflow(_)) => notes.note_overflow(self.call, ticket, error),
            Err(LlmError::Missed(message)) => run.missed.note(message),
            _ => {}
        }
    }

    fn on_judgement(&self, request: &Request, reply: &Reply) {
        for (sql, yes) in thought::judgements(request, reply) {
            self.context.notes.note_judged(&self.task, &sql, yes);
        }
    }

    fn on_compiled(&self, sql: &str, origin: &Value) {
        if let Ok(origin) = OriginReport::deserialize(origin) {
            self.context.notes.note_origin(sql.to_owned(), origin);
        }
    }

    /// Candidates whose statements gave equal results agree.
    fn on_result(&self, text: &str, result: &Result<Arc<ResultSet>, SqlError>) {
        match result {
            Ok(results) => {
                let fingerprint = results.fingerprint(&Equality::Bag, self.context.run.salt);
                if let Some(fingerprint) = fingerprint {
                    let notes = &self.context.notes;
                    notes.note_fingerprint(self.task.clone(), text.to_owned(), fingerprint);
                }
            }
            Err(error) => self.context.notes.note_error(self.call, error),
        }
    }

    fn on_refusal(&self, error: &SqlError) {
        self.context.notes.note_error(self.call, error);
    }
}
