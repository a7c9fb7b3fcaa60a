//! The role call of an iteration: the rewriter with the ports that it is lent, over the tables of
//! the original alone.

use std::sync::Arc;

use syrch::Error;
use syrch::internal::{RewriterCalls, RewriterRun, RewritingHost};
use syrch_core::roles::Rewriter;
use syrch_core::{FailureKind, Problem, RoleError};
use syrch_optimize::{Optimization, Proposed, Which};

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
    pub(super) fn new(host: &RewritingHost, own: Option<Arc<dyn Rewriter>>) -> Result<Self, Error> {
        let rewriter = own.or_else(|| host.rewriter()).ok_or_else(|| {
            Error::Config("the strategy names no plugin for the role rewriter".to_owned())
        })?;
        Ok(Self { rewriter })
    }

    /// The role calls of one run, of which as many have been made as there are judged proposals.
    pub(super) fn calls(
        &self,
        run: &RewriterRun,
        optimization: &Optimization,
    ) -> Result<RewriterCalls, Error> {
        let original = optimization.statement(Which::Original);
        let original =
            original.ok_or_else(|| Error::Internal("no statement is admitted".to_owned()))?;
        let problem = Problem::new(optimization.original_sql());
        let made = optimization.iterations().len() as u64;
        Ok(run.calls(problem, &original.tables, made))
    }

    /// Calls the rewriter once. `None` when the run was stopped or its deadline passed meanwhile.
    pub(super) async fn call(
        &self,
        calls: &RewriterCalls,
        optimization: &Optimization,
    ) -> Option<Proposed> {
        let plan = optimization.plan()?;
        let [original, best] = [Which::Original, Which::Best].map(|which| {
            optimization.statement(which).map_or("", |statement| statement.sql.as_str())
        });
        let history = optimization.history();
        match calls.call(self.rewriter.as_ref(), original, best, plan, &history).await? {
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
