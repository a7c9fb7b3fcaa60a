//! The port `run` of one role call: what the user asked for, and what is left of it.

use std::sync::Arc;

use async_trait::async_trait;
use syrch_core::Json;
use syrch_core::ports::{Budget, Policy, RunPort};

use crate::context::Context;

/// The port `run` of one role call.
pub(crate) struct RunOfCall {
    pub(crate) context: Arc<Context>,
    pub(crate) seed: u64,
}

#[async_trait]
impl RunPort for RunOfCall {
    fn policy(&self) -> Policy {
        self.context.run.settings.policy.clone()
    }

    fn setting(&self, name: &str) -> Option<Json> {
        self.context.run.settings.settings.get(name).cloned()
    }

    async fn remaining(&self) -> Budget {
        let budgets = self.context.run.ledger.budgets();
        let spent = self.context.run.ledger.spending();
        Budget {
            tokens: budgets.tokens.saturating_sub(spent.tokens_charged),
            llm_calls: budgets.llm_calls.saturating_sub(spent.calls_charged()),
            sql_runs: budgets.sql_runs.saturating_sub(spent.sql_runs),
            cost_micros: self.context.run.ledger.cost_left_as_sent(),
            time: self.context.run.clock.time_left(),
        }
    }

    fn seed(&self) -> u64 {
        self.seed
    }
}
