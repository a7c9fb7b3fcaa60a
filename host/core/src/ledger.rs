//! The one ledger of a search: everything that costs money or work is reserved here before it happens and settled after.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::ports::{Estimate, Purpose, Usage};

/// What a search may spend at most. Hard: a reservation that would exceed it is refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
    /// Money, in millionths of the price table's currency; none: no limit.
    pub cost_micros: Option<u64>,
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
            cost_micros: None,
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
    /// Money.
    #[error("money")]
    Cost,
    /// The time of a statement, which did not end even so.
    #[error("the time of a statement, which still ran after its deadline")]
    Overrun,
}

/// What one purpose has spent.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PurposeCost {
    /// Calls that were sent.
    pub calls: u32,
    /// Calls that a cache answered.
    #[serde(default)]
    pub cached: u32,
    /// Tokens of prompts that were sent.
    pub input_tokens: u64,
    /// Tokens of replies that were paid for.
    pub output_tokens: u64,
}

/// What has been spent so far, reservations under way included.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Spent {
    /// Model calls that were sent, other tries of the same call included.
    pub calls: u32,
    /// Model calls that a cache answered.
    pub cached: u32,
    /// Tokens of prompts, settled calls only.
    pub input_tokens: u64,
    /// Tokens of replies, settled calls only.
    pub output_tokens: u64,
    /// Tokens of the prompts of calls that a cache answered.
    #[serde(default)]
    pub saved_input_tokens: u64,
    /// Tokens of their replies.
    #[serde(default)]
    pub saved_output_tokens: u64,
    /// What they would have cost, in millionths; none when a call's price is unknown, or there was none.
    #[serde(default)]
    pub saved_micros: Option<u64>,
    /// Tokens charged: settled at the larger of reported and estimated where nothing was reported, plus reservations, plus what answers
    /// from a cache would have used.
    pub tokens_charged: u64,
    /// Statements.
    pub sql_runs: u32,
    /// Port calls.
    pub host_calls: u64,
    /// CPU time of guests.
    pub cpu: Duration,
    /// Log bytes dropped over the quota.
    pub log_dropped: u64,
    /// Price in millionths, reservations included; none when a call's price is unknown.
    pub cost_micros: Option<u64>,
    /// Settled calls by purpose.
    pub by_purpose: BTreeMap<String, PurposeCost>,
    /// The budgets that refused something.
    pub exhausted: Vec<Exhausted>,
}

impl Spent {
    /// Model calls that count against the budget: a search is the same search whether a cache answers or not.
    #[must_use]
    pub fn calls_charged(&self) -> u32 {
        self.calls.saturating_add(self.cached)
    }
}

/// One line of the books. A call is settled after it is reserved; besides that their order changes nothing, so a journal of them rebuilds
/// a ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "entry")]
pub enum Entry {
    /// A call is about to be sent. Written before it is.
    Reserved {
        /// Why it is made.
        purpose: String,
        /// At most.
        tokens: u64,
        /// At most; none: unknown.
        cost_micros: Option<u64>,
    },
    /// A reserved call has ended.
    Settled {
        /// Why it was made.
        purpose: String,
        /// What was reserved.
        tokens: u64,
        /// What was reserved.
        cost_micros: Option<u64>,
        /// What it used; none: nobody knows, and it is charged all that was reserved.
        usage: Option<Usage>,
    },
    /// A reserved call was not sent after all.
    Released {
        /// What was reserved.
        tokens: u64,
        /// What was reserved.
        cost_micros: Option<u64>,
    },
    /// A cache answered a call that had used this much when it was sent.
    Hit {
        /// Why it was made.
        purpose: String,
        /// What it would have used.
        tokens: u64,
        /// How much of that in replies.
        #[serde(default)]
        output_tokens: u64,
        /// What it would have cost; none: unknown.
        #[serde(default)]
        cost_micros: Option<u64>,
    },
    /// A statement.
    SqlRun,
    /// A budget refused something.
    Refused(Exhausted),
}

#[derive(Debug, Default)]
struct State {
    spent: Spent,
    log_bytes: usize,
    unpriced: bool,
    cost_micros: u64,
    /// What answers from a cache would have cost.
    saved_micros: u64,
    saved_unpriced: bool,
}

impl State {
    fn apply(&mut self, entry: &Entry) {
        let spent = &mut self.spent;
        match entry {
            Entry::Reserved { tokens, cost_micros, .. } => {
                spent.calls += 1;
                spent.tokens_charged = spent.tokens_charged.saturating_add(*tokens);
                self.cost_micros = self.cost_micros.saturating_add(cost_micros.unwrap_or(0));
            }
            Entry::Settled { purpose, tokens, cost_micros, usage } => {
                let (input, output) =
                    usage.as_ref().map_or((0, 0), |u| (u64::from(u.input_tokens), u64::from(u.output_tokens)));
                let charged = if usage.is_some() { input + output } else { *tokens };
                spent.tokens_charged = spent.tokens_charged.saturating_sub(*tokens).saturating_add(charged);
                spent.input_tokens += input;
                spent.output_tokens += output;
                let price = match usage {
                    Some(usage) => usage.cost_micros,
                    None => *cost_micros,
                };
                self.unpriced |= price.is_none();
                self.cost_micros =
                    self.cost_micros.saturating_sub(cost_micros.unwrap_or(0)).saturating_add(price.unwrap_or(0));
                let cost = spent.by_purpose.entry(purpose.clone()).or_default();
                cost.calls += 1;
                cost.input_tokens += input;
                cost.output_tokens += output;
            }
            Entry::Released { tokens, cost_micros } => {
                spent.calls = spent.calls.saturating_sub(1);
                spent.tokens_charged = spent.tokens_charged.saturating_sub(*tokens);
                self.cost_micros = self.cost_micros.saturating_sub(cost_micros.unwrap_or(0));
            }
            Entry::Hit { purpose, tokens, output_tokens, cost_micros } => {
                self.saved_micros = self.saved_micros.saturating_add(cost_micros.unwrap_or(0));
                self.saved_unpriced |= cost_micros.is_none();
                spent.cached += 1;
                spent.saved_input_tokens += tokens.saturating_sub(*output_tokens);
                spent.saved_output_tokens += output_tokens;
                spent.tokens_charged = spent.tokens_charged.saturating_add(*tokens);
                spent.by_purpose.entry(purpose.clone()).or_default().cached += 1;
            }
            Entry::SqlRun => spent.sql_runs += 1,
            Entry::Refused(which) => {
                if !spent.exhausted.contains(which) {
                    spent.exhausted.push(*which);
                }
            }
        }
    }
}

type Listener = Box<dyn Fn(&Entry) + Send + Sync>;

/// The ledger of one search, shared by everything that spends.
pub struct Ledger {
    budgets: Budgets,
    state: Mutex<State>,
    listener: OnceLock<Listener>,
}

impl fmt::Debug for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ledger").field("budgets", &self.budgets).field("state", &self.state).finish_non_exhaustive()
    }
}

impl Ledger {
    /// An empty ledger.
    #[must_use]
    pub fn new(budgets: Budgets) -> Arc<Self> {
        Arc::new(Self { budgets, state: Mutex::default(), listener: OnceLock::new() })
    }

    /// Names who is told of each entry, at once and before what it stands for goes on. The first one stays.
    pub fn listen(&self, listener: impl Fn(&Entry) + Send + Sync + 'static) {
        let _ = self.listener.set(Box::new(listener));
    }

    /// Books an entry that a journal holds. The listener is not told.
    pub fn restore(&self, entry: &Entry) {
        self.state().apply(entry);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Books an entry under the lock that its condition was weighed under, then tells the listener.
    fn book(&self, mut state: MutexGuard<'_, State>, entry: &Entry) {
        state.apply(entry);
        drop(state);
        if let Some(listener) = self.listener.get() {
            listener(entry);
        }
    }

    fn refuse(&self, state: MutexGuard<'_, State>, which: Exhausted) -> Exhausted {
        if state.spent.exhausted.contains(&which) {
            return which;
        }
        self.book(state, &Entry::Refused(which));
        which
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
        spent.saved_micros = (!state.saved_unpriced && spent.cached > 0).then_some(state.saved_micros);
        spent
    }

    /// Money that may still be spent, in millionths; none: no limit is set.
    #[must_use]
    pub fn cost_left(&self) -> Option<u64> {
        Some(self.budgets.cost_micros?.saturating_sub(self.state().cost_micros))
    }

    /// Money that a search would have left without a cache: what a guest is told, so that it cannot tell an answer from a cache.
    #[must_use]
    pub fn cost_left_as_sent(&self) -> Option<u64> {
        let saved = self.state().saved_micros;
        Some(self.cost_left()?.saturating_sub(saved))
    }

    /// Reserves one model call of at most that much. Under a limit of money a call of unknown price is refused.
    ///
    /// # Errors
    /// When calls, tokens or money would go over the budget; nothing is reserved then.
    pub fn reserve_call(self: &Arc<Self>, purpose: &Purpose, most: &Estimate) -> Result<Reservation, Exhausted> {
        let state = self.state();
        if state.spent.calls_charged() >= self.budgets.llm_calls {
            return Err(self.refuse(state, Exhausted::LlmCalls));
        }
        let tokens = most.tokens();
        if state.spent.tokens_charged.saturating_add(tokens) > self.budgets.tokens {
            return Err(self.refuse(state, Exhausted::Tokens));
        }
        if let Some(limit) = self.budgets.cost_micros
            && most.cost_micros.is_none_or(|cost| state.cost_micros.saturating_add(cost) > limit)
        {
            return Err(self.refuse(state, Exhausted::Cost));
        }
        let (purpose, cost_micros) = (purpose.name().to_owned(), most.cost_micros);
        self.book(state, &Entry::Reserved { purpose: purpose.clone(), tokens, cost_micros });
        Ok(Reservation { ledger: Arc::clone(self), purpose, tokens, cost_micros, open: true })
    }

    /// Charges a call that a cache answered: no money, but calls and tokens as if it had been sent, so that a search takes the same way
    /// with and without a cache.
    ///
    /// # Errors
    /// When calls or tokens would go over the budget; nothing is charged then.
    pub fn charge_hit(&self, purpose: &Purpose, usage: &Usage) -> Result<(), Exhausted> {
        let state = self.state();
        if state.spent.calls_charged() >= self.budgets.llm_calls {
            return Err(self.refuse(state, Exhausted::LlmCalls));
        }
        let tokens = u64::from(usage.input_tokens) + u64::from(usage.output_tokens);
        if state.spent.tokens_charged.saturating_add(tokens) > self.budgets.tokens {
            return Err(self.refuse(state, Exhausted::Tokens));
        }
        let cost_micros = usage.cost_micros;
        let (purpose, output_tokens) = (purpose.name().to_owned(), u64::from(usage.output_tokens));
        self.book(state, &Entry::Hit { purpose, tokens, output_tokens, cost_micros });
        Ok(())
    }

    /// Charges one statement.
    ///
    /// # Errors
    /// When the statements are used up, or an earlier one has [overrun](Self::note_overrun) its time.
    pub fn charge_sql_run(&self) -> Result<(), Exhausted> {
        let state = self.state();
        if state.spent.exhausted.contains(&Exhausted::Overrun) {
            return Err(Exhausted::Overrun);
        }
        if state.spent.sql_runs >= self.budgets.sql_runs {
            return Err(self.refuse(state, Exhausted::SqlRuns));
        }
        self.book(state, &Entry::SqlRun);
        Ok(())
    }

    /// Notes that a statement did not end even after its deadline: the search runs no more of them.
    pub fn note_overrun(&self) {
        self.refuse(self.state(), Exhausted::Overrun);
    }

    /// Charges one port call of a guest.
    ///
    /// # Errors
    /// When the port calls are used up.
    pub fn charge_host_call(&self) -> Result<(), Exhausted> {
        let mut state = self.state();
        if state.spent.host_calls >= self.budgets.host_calls {
            return Err(self.refuse(state, Exhausted::HostCalls));
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
        if state.spent.cpu > self.budgets.cpu { Err(self.refuse(state, Exhausted::Cpu)) } else { Ok(()) }
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
}

/// A model call that was reserved. Dropped without [`Reservation::settle`], it stays charged in full: a cancelled call may have been
/// paid for.
#[derive(Debug)]
pub struct Reservation {
    ledger: Arc<Ledger>,
    purpose: String,
    tokens: u64,
    cost_micros: Option<u64>,
    open: bool,
}

impl Reservation {
    /// Charges what was used; without usage, what was reserved.
    pub fn settle(mut self, usage: Option<&Usage>) {
        self.end(usage.cloned());
    }

    /// Gives it back: nothing was sent.
    pub fn release(mut self) {
        self.open = false;
        let entry = Entry::Released { tokens: self.tokens, cost_micros: self.cost_micros };
        self.ledger.book(self.ledger.state(), &entry);
    }

    fn end(&mut self, usage: Option<Usage>) {
        self.open = false;
        let (tokens, cost_micros) = (self.tokens, self.cost_micros);
        let entry = Entry::Settled { purpose: std::mem::take(&mut self.purpose), tokens, cost_micros, usage };
        self.ledger.book(self.ledger.state(), &entry);
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if self.open {
            self.end(None);
        }
    }
}

#[cfg(test)]
mod tests;
