//! The ledger of a search: everything that costs money or work is reserved here before it happens,
//! and settled afterwards.

use std::collections::BTreeMap;
use std::fmt;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Poll, Waker};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::ports::{Estimate, Purpose, Usage};

/// The most that a search may spend. A reservation that would exceed one of these is refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budgets {
    /// Tokens of prompts and replies together.
    pub tokens: u64,
    /// Model calls, each try of a call counted.
    pub llm_calls: u32,
    /// Statements that are run or explained.
    pub sql_runs: u32,
    /// Port calls of all guests together.
    pub host_calls: u64,
    /// CPU time of all guests together.
    pub cpu: Duration,
    /// Bytes that guests may log; what exceeds them is dropped.
    pub log_bytes: usize,
    /// Cost in millionths of the price table's currency; `None` sets no limit.
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

/// A budget that is used up. Its text is the budget's name in messages.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    thiserror::Error,
)]
#[serde(rename_all = "kebab-case")]
pub enum Exhausted {
    /// [`Budgets::tokens`] is used up.
    #[error("tokens")]
    Tokens,
    /// [`Budgets::llm_calls`] is used up.
    #[error("model calls")]
    LlmCalls,
    /// [`Budgets::sql_runs`] is used up.
    #[error("SQL runs")]
    SqlRuns,
    /// [`Budgets::host_calls`] is used up.
    #[error("host calls")]
    HostCalls,
    /// [`Budgets::cpu`] is used up.
    #[error("CPU time")]
    Cpu,
    /// [`Budgets::cost_micros`] is used up, or the price of a call is unknown under such a limit.
    #[error("money")]
    Cost,
    /// A statement still ran after its deadline; the search runs no more of them.
    #[error("the time of a statement, which still ran after its deadline")]
    Overrun,
    /// The tokens of all searches together are used up.
    #[error("tokens of all searches together")]
    TotalTokens,
    /// The model calls of all searches together are used up.
    #[error("model calls of all searches together")]
    TotalCalls,
    /// The money of all searches together is used up.
    #[error("money of all searches together")]
    TotalCost,
}

impl Exhausted {
    /// Returns true if it is a budget of all searches together.
    #[must_use]
    pub fn is_total(self) -> bool {
        matches!(self, Self::TotalTokens | Self::TotalCalls | Self::TotalCost)
    }
}

/// The model calls of one purpose.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PurposeCost {
    /// Calls that were sent.
    pub calls: u32,
    /// Calls that a cache answered.
    #[serde(default)]
    pub cached: u32,
    /// Tokens of the prompts that were sent.
    pub input_tokens: u64,
    /// Tokens of the replies that were paid for.
    pub output_tokens: u64,
    /// Calls whose tokens are estimated, since the endpoint did not report them.
    #[serde(default, skip_serializing_if = "crate::ports::is_zero")]
    pub estimated: u32,
}

/// The amounts that a search has spent so far, calls in flight included.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Spent {
    /// Model calls that were sent; each try of a call counts.
    pub calls: u32,
    /// Model calls that a cache answered.
    pub cached: u32,
    /// Tokens of prompts, over settled calls.
    pub input_tokens: u64,
    /// Tokens of replies, over settled calls.
    pub output_tokens: u64,
    /// Prompt tokens of the calls that a cache answered.
    #[serde(default)]
    pub saved_input_tokens: u64,
    /// Reply tokens of the calls that a cache answered.
    #[serde(default)]
    pub saved_output_tokens: u64,
    /// Cost that the cache saved, in millionths; `None` when the cache answered nothing or the
    /// price of one of these calls is unknown.
    #[serde(default)]
    pub saved_micros: Option<u64>,
    /// Tokens charged to the budget: what settled calls used, what calls in flight reserved, and
    /// what calls that a cache answered would have used.
    pub tokens_charged: u64,
    /// Statements that were run or explained.
    pub sql_runs: u32,
    /// Port calls of guests.
    pub host_calls: u64,
    /// CPU time of guests.
    pub cpu: Duration,
    /// Log bytes that were dropped because they exceeded [`Budgets::log_bytes`].
    pub log_dropped: u64,
    /// Cost in millionths, reservations included; `None` when no call was sent or the price of one
    /// is unknown.
    pub cost_micros: Option<u64>,
    /// Settled calls and cache hits by [`Purpose::name`].
    pub by_purpose: BTreeMap<String, PurposeCost>,
    /// The budgets that refused something, in the order of their first refusal.
    pub exhausted: Vec<Exhausted>,
}

impl Spent {
    /// Model calls that count against the budget. Calls that a cache answered count too, so that a
    /// search takes the same steps with and without a cache.
    #[must_use]
    pub fn calls_charged(&self) -> u32 {
        self.calls.saturating_add(self.cached)
    }
}

/// One entry of the ledger. A call is settled after it was reserved; otherwise the order of entries
/// does not matter, so a ledger can be rebuilt from the entries of a journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "entry")]
pub enum Entry {
    /// A call is about to be sent. The entry is written before the call is sent.
    Reserved {
        /// The purpose of the call, by [`Purpose::name`].
        purpose: String,
        /// The most tokens that the call can use.
        tokens: u64,
        /// The most that the call can cost, in millionths; `None` when its price is unknown.
        cost_micros: Option<u64>,
    },
    /// A reserved call has ended.
    Settled {
        /// The purpose of the call, by [`Purpose::name`].
        purpose: String,
        /// The tokens that were reserved.
        tokens: u64,
        /// The cost that was reserved.
        cost_micros: Option<u64>,
        /// The tokens that the call used. `None` when that is unknown: then the whole reservation
        /// is charged.
        usage: Option<Usage>,
    },
    /// A reserved call was not sent.
    Released {
        /// The tokens that were reserved.
        tokens: u64,
        /// The cost that was reserved.
        cost_micros: Option<u64>,
    },
    /// A cache answered a call.
    Hit {
        /// The purpose of the call, by [`Purpose::name`].
        purpose: String,
        /// The tokens that the call used when it was sent.
        tokens: u64,
        /// The part of these tokens that was the reply.
        #[serde(default)]
        output_tokens: u64,
        /// The cost of the call when it was sent; `None` when its price is unknown.
        #[serde(default)]
        cost_micros: Option<u64>,
    },
    /// A statement is run or explained.
    SqlRun,
    /// A budget refused something for the first time.
    Refused(Exhausted),
}

#[derive(Debug, Default)]
struct State {
    spent: Spent,
    log_bytes: usize,
    unpriced: bool,
    cost_micros: u64,
    /// The cost of the calls that a cache answered, had they been sent.
    saved_micros: u64,
    saved_unpriced: bool,
    /// The most by which a call cost more than was reserved for it, as endpoints report it. The
    /// next call may do so, too.
    excess_micros: u64,
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
                let (input, output) = usage
                    .as_ref()
                    .map_or((0, 0), |u| (u64::from(u.input_tokens), u64::from(u.output_tokens)));
                let charged = if usage.is_some() { input + output } else { *tokens };
                spent.tokens_charged =
                    spent.tokens_charged.saturating_sub(*tokens).saturating_add(charged);
                spent.input_tokens += input;
                spent.output_tokens += output;
                let price = match usage {
                    Some(usage) => usage.cost_micros,
                    None => *cost_micros,
                };
                self.unpriced |= price.is_none();
                let excess =
                    price.zip(*cost_micros).map(|(price, held)| price.saturating_sub(held));
                self.excess_micros = self.excess_micros.max(excess.unwrap_or(0));
                self.cost_micros = self
                    .cost_micros
                    .saturating_sub(cost_micros.unwrap_or(0))
                    .saturating_add(price.unwrap_or(0));
                let cost = spent.by_purpose.entry(purpose.clone()).or_default();
                cost.calls += 1;
                cost.estimated += u32::from(usage.as_ref().is_some_and(|usage| usage.is_estimate));
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

/// The ledger of one search, shared by everything that spends. Searches may have a further ledger
/// in common, which bounds the model calls of all of them together.
pub struct Ledger {
    budgets: Budgets,
    state: Mutex<State>,
    listener: OnceLock<Listener>,
    /// The ledger of all searches together.
    total: Option<Arc<Ledger>>,
    /// Held while a reservation is made, so that two calls never count on the same tokens.
    reserving: Mutex<()>,
    /// The calls of the searches that have this ledger in common.
    joint: Mutex<Joint>,
}

/// The calls in flight of several searches.
#[derive(Debug, Default)]
struct Joint {
    in_flight: usize,
    /// The calls that have ended.
    ended: u64,
    /// The tasks that wait for a call to end.
    waiting: Vec<Waker>,
}

impl fmt::Debug for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ledger")
            .field("budgets", &self.budgets)
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

impl Ledger {
    /// Creates an empty ledger.
    #[must_use]
    pub fn new(budgets: Budgets) -> Arc<Self> {
        Self::within(budgets, None)
    }

    /// Creates an empty ledger of a search whose calls and tokens, and their cost, are charged to
    /// `total` as well.
    #[must_use]
    pub fn within(budgets: Budgets, total: Option<Arc<Self>>) -> Arc<Self> {
        Arc::new(Self {
            budgets,
            state: Mutex::default(),
            listener: OnceLock::new(),
            total,
            reserving: Mutex::default(),
            joint: Mutex::default(),
        })
    }

    /// The ledger of all searches together; `None` if this search has its own budgets alone.
    #[must_use]
    pub fn total(&self) -> Option<&Arc<Self>> {
        self.total.as_ref()
    }

    /// Waits until nobody else makes a reservation, of all searches together.
    pub fn lock_reservations(&self) -> MutexGuard<'_, ()> {
        let ledger = self.total.as_deref().unwrap_or(self);
        ledger.reserving.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The calls in flight of all searches that have this ledger in common.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.joint().in_flight
    }

    /// The number of calls that have ended, of all searches that have this ledger in common.
    #[must_use]
    pub fn count_ended(&self) -> u64 {
        self.joint().ended
    }

    /// Waits until more than that many calls have [ended](Self::count_ended).
    pub async fn wait_for_end(&self, ended: u64) {
        poll_fn(|cx| {
            let mut joint = self.joint();
            if joint.ended > ended {
                return Poll::Ready(());
            }
            joint.waiting.push(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }

    fn joint(&self) -> MutexGuard<'_, Joint> {
        self.joint.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes the end of a call of one of the searches.
    fn end_call(&self, entry: &Entry) {
        self.state().apply(entry);
        let mut joint = self.joint();
        joint.in_flight = joint.in_flight.saturating_sub(1);
        joint.ended += 1;
        std::mem::take(&mut joint.waiting).into_iter().for_each(Waker::wake);
    }

    /// Sets the listener, which is called with each entry before whatever the entry stands for
    /// proceeds. Only the first call has an effect.
    pub fn listen(&self, listener: impl Fn(&Entry) + Send + Sync + 'static) {
        let _ = self.listener.set(Box::new(listener));
    }

    /// Applies an entry that a journal holds, without calling the listener. What an earlier process
    /// spent counts for all searches together, too.
    pub fn restore(&self, entry: &Entry) {
        self.state().apply(entry);
        if let Some(total) = &self.total {
            total.state().apply(entry);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Applies an entry under the lock under which its condition was checked, then calls the
    /// listener.
    fn record(&self, mut state: MutexGuard<'_, State>, entry: &Entry) {
        state.apply(entry);
        drop(state);
        if let Some(total) = &self.total
            && matches!(entry, Entry::Settled { .. } | Entry::Released { .. })
        {
            total.end_call(entry);
        }
        if let Some(listener) = self.listener.get() {
            listener(entry);
        }
    }

    fn refuse(&self, state: MutexGuard<'_, State>, which: Exhausted) -> Exhausted {
        if state.spent.exhausted.contains(&which) {
            return which;
        }
        self.record(state, &Entry::Refused(which));
        which
    }

    /// The budgets of this search.
    #[must_use]
    pub fn budgets(&self) -> &Budgets {
        &self.budgets
    }

    /// Returns what has been spent so far.
    #[must_use]
    pub fn spending(&self) -> Spent {
        let state = self.state();
        let mut spent = state.spent.clone();
        spent.cost_micros = (!state.unpriced && spent.calls > 0).then_some(state.cost_micros);
        spent.saved_micros =
            (!state.saved_unpriced && spent.cached > 0).then_some(state.saved_micros);
        spent
    }

    /// The cost and its limit, in millionths, where calls that were in flight at once cost more
    /// than was reserved for them, and together more than the limit.
    #[must_use]
    pub fn cost_over_limit(&self) -> Option<(u64, u64)> {
        let cost = self.state().cost_micros;
        self.budgets.cost_micros.filter(|limit| cost > *limit).map(|limit| (cost, limit))
    }

    /// Cost that may still be spent, in millionths; `None` when there is no limit.
    #[must_use]
    pub fn cost_left(&self) -> Option<u64> {
        Some(self.budgets.cost_micros?.saturating_sub(self.state().cost_micros))
    }

    /// The cost that would be left if no cache had answered anything. Guests get this number, so
    /// that they cannot detect a cache.
    #[must_use]
    pub fn cost_left_as_sent(&self) -> Option<u64> {
        let saved = self.state().saved_micros;
        Some(self.cost_left()?.saturating_sub(saved))
    }

    /// Reserves one model call that uses at most `most`. Under a cost limit, a call of unknown
    /// price is refused.
    ///
    /// # Errors
    /// When the call would exceed the budget of calls, tokens or cost. Nothing is reserved then.
    pub fn reserve_call(
        self: &Arc<Self>,
        purpose: &Purpose,
        most: &Estimate,
    ) -> Result<Reservation, Exhausted> {
        let state = self.state();
        let tokens = most.tokens();
        if let Some(which) = self.find_lack(&state, most) {
            return Err(self.refuse(state, which));
        }
        let purpose = purpose.name().to_owned();
        let cost_micros = most.cost_micros;
        let entry = Entry::Reserved { purpose: purpose.clone(), tokens, cost_micros };
        if let Some(which) = self.total.as_ref().and_then(|total| total.take_call(most, &entry)) {
            return Err(self.refuse(state, which));
        }
        self.record(state, &entry);
        Ok(Reservation { ledger: Arc::clone(self), purpose, tokens, cost_micros, open: true })
    }

    /// Charges a call that a cache answered. It costs no money, but its call and tokens count as if
    /// it had been sent, so that a search takes the same steps with and without a cache.
    ///
    /// # Errors
    /// When calls or tokens would exceed the budget. Nothing is charged then.
    pub fn charge_hit(&self, purpose: &Purpose, usage: &Usage) -> Result<(), Exhausted> {
        let state = self.state();
        let tokens = u64::from(usage.input_tokens) + u64::from(usage.output_tokens);
        if let Some(which) = self.find_lack_of_call(&state, tokens) {
            return Err(self.refuse(state, which));
        }
        let cost_micros = usage.cost_micros;
        let purpose = purpose.name().to_owned();
        let output_tokens = u64::from(usage.output_tokens);
        let entry = Entry::Hit { purpose, tokens, output_tokens, cost_micros };
        if let Some(which) = self.total.as_ref().and_then(|total| total.take_hit(tokens, &entry)) {
            return Err(self.refuse(state, which));
        }
        self.record(state, &entry);
        Ok(())
    }

    /// Charges a call of one of the searches to all of them, unless a budget does not hold it.
    fn take_call(&self, most: &Estimate, entry: &Entry) -> Option<Exhausted> {
        let mut state = self.state();
        let lack = self.find_lack(&state, most).map(of_all);
        if lack.is_none() {
            state.apply(entry);
            self.joint().in_flight += 1;
        }
        lack
    }

    /// Charges a call that a cache answered to all searches, unless a budget does not hold it.
    fn take_hit(&self, tokens: u64, entry: &Entry) -> Option<Exhausted> {
        let mut state = self.state();
        let lack = self.find_lack_of_call(&state, tokens).map(of_all);
        if lack.is_none() {
            state.apply(entry);
        }
        lack
    }

    /// The budget that does not hold a call of at most that much.
    fn find_lack(&self, state: &State, most: &Estimate) -> Option<Exhausted> {
        if let Some(which) = self.find_lack_of_call(state, most.tokens()) {
            return Some(which);
        }
        let limit = self.budgets.cost_micros?;
        let fits = most.cost_micros.is_some_and(|cost| {
            let cost = cost.saturating_add(state.excess_micros);
            state.cost_micros.saturating_add(cost) <= limit
        });
        (!fits).then_some(Exhausted::Cost)
    }

    /// The budget that does not hold another call of that many tokens.
    fn find_lack_of_call(&self, state: &State, tokens: u64) -> Option<Exhausted> {
        if state.spent.calls_charged() >= self.budgets.llm_calls {
            return Some(Exhausted::LlmCalls);
        }
        let is_over = state.spent.tokens_charged.saturating_add(tokens) > self.budgets.tokens;
        is_over.then_some(Exhausted::Tokens)
    }

    /// Charges one statement.
    ///
    /// # Errors
    /// When no statements are left, or an earlier one has [overrun](Self::note_overrun) its
    /// deadline.
    pub fn charge_sql_run(&self) -> Result<(), Exhausted> {
        let state = self.state();
        if state.spent.exhausted.contains(&Exhausted::Overrun) {
            return Err(Exhausted::Overrun);
        }
        if state.spent.sql_runs >= self.budgets.sql_runs {
            return Err(self.refuse(state, Exhausted::SqlRuns));
        }
        self.record(state, &Entry::SqlRun);
        Ok(())
    }

    /// Records that a statement still ran after its deadline. From then on [`Self::charge_sql_run`]
    /// refuses.
    pub fn note_overrun(&self) {
        self.refuse(self.state(), Exhausted::Overrun);
    }

    /// Charges one port call of a guest.
    ///
    /// # Errors
    /// When no port calls are left.
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
    /// When the budget of CPU time is exceeded; the time is charged all the same.
    pub fn charge_cpu(&self, time: Duration) -> Result<(), Exhausted> {
        let mut state = self.state();
        state.spent.cpu += time;
        if state.spent.cpu > self.budgets.cpu {
            Err(self.refuse(state, Exhausted::Cpu))
        } else {
            Ok(())
        }
    }

    /// Charges bytes of a guest's log, and returns whether they fit; bytes that do not are counted
    /// as dropped.
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

/// The same budget, of all searches together.
fn of_all(which: Exhausted) -> Exhausted {
    match which {
        Exhausted::Tokens => Exhausted::TotalTokens,
        Exhausted::Cost => Exhausted::TotalCost,
        _ => Exhausted::TotalCalls,
    }
}

/// A model call that was reserved. If it is dropped without [`Reservation::settle`], it stays
/// charged in full, since a cancelled call may have been paid for.
#[derive(Debug)]
pub struct Reservation {
    ledger: Arc<Ledger>,
    purpose: String,
    tokens: u64,
    cost_micros: Option<u64>,
    open: bool,
}

impl Reservation {
    /// Charges what the call used; without usage, all that was reserved.
    pub fn settle(mut self, usage: Option<&Usage>) {
        self.end(usage.cloned());
    }

    /// Returns the reservation to the budget, since the call was not sent.
    pub fn release(mut self) {
        self.open = false;
        let entry = Entry::Released { tokens: self.tokens, cost_micros: self.cost_micros };
        self.ledger.record(self.ledger.state(), &entry);
    }

    fn end(&mut self, usage: Option<Usage>) {
        self.open = false;
        let tokens = self.tokens;
        let cost_micros = self.cost_micros;
        let entry = Entry::Settled {
            purpose: std::mem::take(&mut self.purpose),
            tokens,
            cost_micros,
            usage,
        };
        self.ledger.record(self.ledger.state(), &entry);
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
