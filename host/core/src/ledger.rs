//! The one ledger of a search: everything that costs money or work is reserved here before it happens and settled after.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::ports::{Purpose, Usage};

/// What a search may spend at most. Hard: a reservation that would exceed it is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budgets {
    /// Tokens, input and output together.
    pub tokens: u64,
    /// Model calls.
    pub llm_calls: u32,
    /// Statements.
    pub sql_runs: u32,
    /// Port calls of guests.
    pub host_calls: u64,
    /// CPU time of guests.
    pub cpu: Duration,
    /// Bytes that guests log.
    pub log_bytes: usize,
}

impl Default for Budgets {
    fn default() -> Self {
        Self {
            tokens: 100_000,
            llm_calls: 200,
            sql_runs: 500,
            host_calls: 50_000,
            cpu: Duration::from_secs(60),
            log_bytes: 1 << 20,
        }
    }
}

/// Which budget is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
pub enum Exhausted {
    /// Tokens.
    #[error("tokens")]
    Tokens,
    /// Model calls.
    #[error("model calls")]
    LlmCalls,
    /// Statements.
    #[error("SQL runs")]
    SqlRuns,
    /// Port calls.
    #[error("host calls")]
    HostCalls,
    /// CPU time.
    #[error("CPU time")]
    Cpu,
}

/// What one purpose has spent.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PurposeCost {
    /// Calls.
    pub calls: u32,
    /// Tokens of prompts.
    pub input_tokens: u64,
    /// Tokens of replies.
    pub output_tokens: u64,
}

/// What has been spent so far, reservations under way included.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Spent {
    /// Model calls.
    pub calls: u32,
    /// Tokens of prompts, settled calls only.
    pub input_tokens: u64,
    /// Tokens of replies, settled calls only.
    pub output_tokens: u64,
    /// Tokens charged: settled at the larger of reported and estimated where nothing was reported, plus reservations.
    pub tokens_charged: u64,
    /// Statements.
    pub sql_runs: u32,
    /// Port calls.
    pub host_calls: u64,
    /// CPU time of guests.
    pub cpu: Duration,
    /// Log bytes dropped over the quota.
    pub log_dropped: u64,
    /// Price in millionths; none when a call's price is unknown.
    pub cost_micros: Option<u64>,
    /// Settled calls by purpose.
    pub by_purpose: BTreeMap<String, PurposeCost>,
    /// The budgets that refused something.
    pub exhausted: Vec<Exhausted>,
}

#[derive(Debug, Default)]
struct State {
    spent: Spent,
    log_bytes: usize,
    unpriced: bool,
    cost_micros: u64,
}

/// The ledger of one search, shared by everything that spends.
#[derive(Debug)]
pub struct Ledger {
    budgets: Budgets,
    state: Mutex<State>,
}

impl Ledger {
    /// An empty ledger.
    #[must_use]
    pub fn new(budgets: Budgets) -> Arc<Self> {
        Arc::new(Self { budgets, state: Mutex::default() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What may be spent at most.
    #[must_use]
    pub fn budgets(&self) -> &Budgets {
        &self.budgets
    }

    /// What has been spent so far.
    #[must_use]
    pub fn spent(&self) -> Spent {
        let state = self.state();
        let mut spent = state.spent.clone();
        spent.cost_micros = (!state.unpriced && spent.calls > 0).then_some(state.cost_micros);
        spent
    }

    /// Reserves one model call of at most `tokens`.
    ///
    /// # Errors
    /// When calls or tokens would go over the budget; nothing is reserved then.
    pub fn reserve_call(self: &Arc<Self>, purpose: &Purpose, tokens: u64) -> Result<Reservation, Exhausted> {
        let mut state = self.state();
        if state.spent.calls >= self.budgets.llm_calls {
            return Err(note(&mut state, Exhausted::LlmCalls));
        }
        if state.spent.tokens_charged.saturating_add(tokens) > self.budgets.tokens {
            return Err(note(&mut state, Exhausted::Tokens));
        }
        state.spent.calls += 1;
        state.spent.tokens_charged += tokens;
        drop(state);
        Ok(Reservation { ledger: Arc::clone(self), purpose: purpose.name().to_owned(), tokens, open: true })
    }

    /// Charges one statement.
    ///
    /// # Errors
    /// When the statements are used up.
    pub fn charge_sql_run(&self) -> Result<(), Exhausted> {
        let mut state = self.state();
        if state.spent.sql_runs >= self.budgets.sql_runs {
            return Err(note(&mut state, Exhausted::SqlRuns));
        }
        state.spent.sql_runs += 1;
        Ok(())
    }

    /// Charges one port call of a guest.
    ///
    /// # Errors
    /// When the port calls are used up.
    pub fn charge_host_call(&self) -> Result<(), Exhausted> {
        let mut state = self.state();
        if state.spent.host_calls >= self.budgets.host_calls {
            return Err(note(&mut state, Exhausted::HostCalls));
        }
        state.spent.host_calls += 1;
        Ok(())
    }

    /// Charges CPU time of a guest.
    ///
    /// # Errors
    /// When the CPU time is used up; it is charged all the same.
    pub fn charge_cpu(&self, time: Duration) -> Result<(), Exhausted> {
        let mut state = self.state();
        state.spent.cpu += time;
        if state.spent.cpu > self.budgets.cpu { Err(note(&mut state, Exhausted::Cpu)) } else { Ok(()) }
    }

    /// Whether that many log bytes still fit; what does not is counted as dropped.
    pub fn charge_log(&self, bytes: usize) -> bool {
        let mut state = self.state();
        let fits = state.log_bytes.saturating_add(bytes) <= self.budgets.log_bytes;
        if fits {
            state.log_bytes += bytes;
        } else {
            state.spent.log_dropped += bytes as u64;
        }
        fits
    }

    fn settle(&self, purpose: &str, reserved: u64, usage: Option<&Usage>) {
        let mut state = self.state();
        let (input, output) = usage.map_or((0, 0), |u| (u64::from(u.input_tokens), u64::from(u.output_tokens)));
        let charged = if usage.is_some() { input + output } else { reserved };
        state.spent.tokens_charged = state.spent.tokens_charged.saturating_sub(reserved) + charged;
        state.spent.input_tokens += input;
        state.spent.output_tokens += output;
        match usage.and_then(|u| u.cost_micros) {
            Some(cost) => state.cost_micros += cost,
            None => state.unpriced = true,
        }
        let cost = state.spent.by_purpose.entry(purpose.to_owned()).or_default();
        cost.calls += 1;
        cost.input_tokens += input;
        cost.output_tokens += output;
    }

    fn release(&self, reserved: u64) {
        let mut state = self.state();
        state.spent.calls = state.spent.calls.saturating_sub(1);
        state.spent.tokens_charged = state.spent.tokens_charged.saturating_sub(reserved);
    }
}

fn note(state: &mut State, which: Exhausted) -> Exhausted {
    if !state.spent.exhausted.contains(&which) {
        state.spent.exhausted.push(which);
    }
    which
}

/// A model call that was reserved. Dropped without [`Reservation::settle`], it stays charged in full: a cancelled call may have been
/// paid for.
#[derive(Debug)]
pub struct Reservation {
    ledger: Arc<Ledger>,
    purpose: String,
    tokens: u64,
    open: bool,
}

impl Reservation {
    /// Charges what was used; without usage, what was reserved.
    pub fn settle(mut self, usage: Option<&Usage>) {
        self.open = false;
        self.ledger.settle(&self.purpose, self.tokens, usage);
    }

    /// Gives it back: nothing was sent.
    pub fn release(mut self) {
        self.open = false;
        self.ledger.release(self.tokens);
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if self.open {
            self.ledger.settle(&self.purpose, self.tokens, None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(input: u32, output: u32) -> Usage {
        Usage { input_tokens: input, output_tokens: output, cost_micros: None, model: String::new() }
    }

    #[test]
    fn reservations_never_exceed_the_budget() {
        let ledger = Ledger::new(Budgets { tokens: 100, ..Budgets::default() });
        let first = ledger.reserve_call(&Purpose::Plan, 60).unwrap();
        assert_eq!(ledger.reserve_call(&Purpose::Plan, 60).unwrap_err(), Exhausted::Tokens);
        first.settle(Some(&usage(10, 10)));
        assert!(ledger.reserve_call(&Purpose::Plan, 60).is_ok());
        assert_eq!(ledger.spent().exhausted, [Exhausted::Tokens]);
    }

    #[test]
    fn a_dropped_call_stays_charged_and_an_unsent_one_does_not() {
        let ledger = Ledger::new(Budgets::default());
        drop(ledger.reserve_call(&Purpose::Judge, 40).unwrap());
        assert_eq!((ledger.spent().calls, ledger.spent().tokens_charged), (1, 40));
        ledger.reserve_call(&Purpose::Judge, 40).unwrap().release();
        assert_eq!((ledger.spent().calls, ledger.spent().tokens_charged), (1, 40));
        assert_eq!(ledger.spent().by_purpose["judge"].calls, 1);
    }

    #[test]
    fn counts_end_at_their_limit() {
        let ledger = Ledger::new(Budgets { sql_runs: 2, host_calls: 1, log_bytes: 4, ..Budgets::default() });
        assert!(ledger.charge_sql_run().is_ok() && ledger.charge_sql_run().is_ok());
        assert_eq!(ledger.charge_sql_run(), Err(Exhausted::SqlRuns));
        assert!(ledger.charge_host_call().is_ok() && ledger.charge_host_call().is_err());
        assert!(ledger.charge_log(4) && !ledger.charge_log(1));
        assert_eq!(ledger.spent().log_dropped, 1);
    }
}
