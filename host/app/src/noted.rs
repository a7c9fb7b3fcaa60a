//! Notes what statements gave, how sure the rules were, and that the database or the model could not be used while a search ran: without an answer,
//! the user must hear that.

use std::sync::Arc;

use syrch_core::ports::{LlmError, Reply, Ticket};
use syrch_core::{ResultSet, SqlError, TaskId};
use syrch_journal::CallId;
use syrch_layers::CallObserver;

use crate::context::Context;

/// One role call, and the search that hears of it.
pub(crate) struct NotedCall {
    pub(crate) context: Arc<Context>,
    pub(crate) task: TaskId,
    pub(crate) call: CallId,
}

impl CallObserver for NotedCall {
    fn replied(&self, ticket: Ticket, result: &Result<Reply, LlmError>) {
        match result {
            Ok(reply) => self.context.note_reply(reply),
            Err(error) => self.context.note_model_error(self.call, ticket, error),
        }
    }

    /// Which result a statement gave says which candidates agree.
    fn ran(&self, text: &str, result: &Result<Arc<ResultSet>, SqlError>) {
        match result {
            Ok(results) => self.context.note_result(self.task.clone(), text.to_owned(), results),
            Err(error) => self.context.note_error(self.call, error),
        }
    }

    fn refused(&self, error: &SqlError) {
        self.context.note_error(self.call, error);
    }
}
