//! The role call of an iteration: the rewriter with the ports that it is lent, over the tables of
//! the original alone.

use std::sync::Arc;

use syrch_core::roles::{Rewriter, Role};
use syrch_core::{FailureKind, Problem, RoleError};
use syrch_optimize::{Optimization, Proposed, Which};

use crate::context::{Context, RunState};
use crate::{Error, Host};

/// The kind of failure by which a rewriter reports that its request to a model would be larger than
/// is allowed.
pub(super) const PROMPT_TOO_LARGE: &str = "prompt-too-large";

/// Calls the rewriter of a run.
#[derive(Clone)]
pub(super) struct Proposer {
    rewriter: Arc<dyn Rewriter>,
}

impl Proposer {
    /// The program's own rewriter, or the plugin of the host.
    pub(super) fn new(host: &Host, own: Option<Arc<dyn Rewriter>>) -> Result<Self, Error> {
        Ok(Self {
            rewriter: own
                .or_else(|| {
                    host.plugins
                        .rewriter
                        .clone()
                        .map(|plugin| Arc::new(plugin) as Arc<dyn Rewriter>)
                })
                .ok_or_else(|| {
                    Error::Config("the strategy names no plugin for the role rewriter".to_owned())
                })?,
        })
    }

    /// The context of the role calls of one run, in which as many calls have been made as there are
    /// judged proposals.
    pub(super) fn context(
        &self,
        host: &Host,
        run: &Arc<RunState>,
        optimization: &Optimization,
    ) -> Result<Arc<Context>, Error> {
        let original = optimization.statement(Which::Original);
        let original =
            original.ok_or_else(|| Error::Internal("no statement is admitted".to_owned()))?;
        let context = Context::new(host, Problem::new(optimization.original_sql()), run)
            .within(&original.tables);
        // The host has asked for plans and times of the data, which the calls get.
        run.taint.note_asked();
        context.notes.skip_calls(
            (Role::Rewriter, String::new(), None),
            optimization.iterations().len() as u64,
        );
        Ok(Arc::new(context))
    }

    /// Calls the rewriter once. `None` when the run was stopped or its deadline passed meanwhile.
    pub(super) async fn call(
        &self,
        context: &Arc<Context>,
        optimization: &Optimization,
    ) -> Option<Proposed> {
        let event_log = &context.run.event_log;
        tokio::select! {
            biased;
            proposed = self.rewrite(context, optimization) => proposed,
            () = event_log.over(Role::Rewriter, context.run.clock.over()) => None,
        }
    }

    async fn rewrite(
        &self,
        context: &Arc<Context>,
        optimization: &Optimization,
    ) -> Option<Proposed> {
        let prepared = context.prepare(Role::Rewriter, None, Vec::new(), None).await;
        let sql =
            |which| optimization.statement(which).map_or("", |statement| statement.sql.as_str());
        let plan = optimization.plan()?;
        let history = optimization.history();
        let call = prepared.call.clone();
        let original = sql(Which::Original);
        let best = sql(Which::Best);
        let proposed =
            self.rewriter.rewrite(call, original, best, plan, &context.catalog, &history).await;
        prepared.end(proposed.as_ref().err().cloned(), || ()).await;
        match proposed {
            Ok(Some(proposal)) => Some(Proposed::Statement(proposal)),
            Ok(None) => Some(Proposed::Nothing),
            Err(RoleError::Cancelled | RoleError::Deadline) => None,
            Err(RoleError::Failure { failure, .. }) if failure.kind == prompt_too_large() => {
                Some(Proposed::PromptTooLarge(failure.message))
            }
            Err(error) => Some(Proposed::Failed(error.to_string())),
        }
    }
}

fn prompt_too_large() -> FailureKind {
    FailureKind::Other(PROMPT_TOO_LARGE.to_owned())
}
