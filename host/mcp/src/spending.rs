//! The budget of a server: each search reserves the most that it may cost, and spends what it cost.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use syrch::report::CostReport;
use syrch::syrch_core::ledger::{Budgets, Exhausted};
use syrch::{Error, Meter};

/// The reason why the budget of the whole server does not hold a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UsedUp {
    /// Nothing is left.
    #[error("the budget of this server is used up; whoever runs it can raise --total-usd")]
    Spent,
    /// The searches under way may need all that is left.
    #[error(
        "the searches under way reserve what is left of the budget of this server; ask again when \
         one has ended, or let whoever runs it raise --total-usd"
    )]
    Reserved,
    /// Something is left, and it is too little for this search.
    #[error(
        "what is left of the budget of this server is too little for this search; whoever runs it \
         can raise --total-usd"
    )]
    Short,
}

/// The limit on the cost of all searches of a server, and their cost so far. Clones share one
/// budget.
#[derive(Clone)]
pub struct Spending {
    limit: Option<u64>,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    spent: u64,
    reserved: u64,
}

/// The part of the budget that a search has reserved. When it is dropped, the cost of the search by
/// its meter is spent, and the rest is released.
pub struct Reservation {
    spending: Spending,
    most: Option<u64>,
    /// True if it is less than the search may cost by its own budgets.
    is_short: bool,
    meter: Meter,
    paid: Option<CostReport>,
}

impl Reservation {
    /// The most that the search may cost, in millionths of a dollar; `None` if nothing limits it.
    #[must_use]
    pub fn most(&self) -> Option<u64> {
        self.most
    }

    /// The meter of the search's cost.
    #[must_use]
    pub fn meter(&self) -> &Meter {
        &self.meter
    }

    /// Returns what a search that ended by its budget of money lacked: a larger reservation.
    #[must_use]
    pub fn explain(&self, error: &Error) -> Option<UsedUp> {
        let is_money = matches!(error, Error::Budget(Exhausted::Cost));
        (self.is_short && is_money).then_some(UsedUp::Short)
    }

    /// Spends this cost, of what has no meter, and releases the rest.
    pub fn pay(mut self, cost: CostReport) {
        self.paid = Some(cost);
    }
}

impl Spending {
    /// The budget of a server that has spent nothing yet, in millionths of a dollar; `None` if
    /// nothing limits it.
    #[must_use]
    pub fn new(limit: Option<u64>) -> Self {
        Self { limit, state: Arc::default() }
    }

    /// Returns whether the server has a limit.
    #[must_use]
    pub fn is_limited(&self) -> bool {
        self.limit.is_some()
    }

    /// Reserves what a search under these budgets may cost, or what is left if that is less.
    ///
    /// # Errors
    /// When nothing is left.
    pub fn reserve(&self, budgets: &Budgets) -> Result<Reservation, UsedUp> {
        let mut most = budgets.cost_micros;
        if let Some(limit) = self.limit {
            let mut state = self.lock();
            let left = limit.saturating_sub(state.spent).saturating_sub(state.reserved);
            let share = most.map_or(left, |most| most.min(left));
            if share == 0 {
                let is_reserved = state.reserved > 0 && state.spent < limit;
                return Err(if is_reserved { UsedUp::Reserved } else { UsedUp::Spent });
            }
            state.reserved += share;
            most = Some(share);
        }
        let is_short = most != budgets.cost_micros;
        let spending = self.clone();
        Ok(Reservation { spending, most, is_short, meter: Meter::default(), paid: None })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if self.spending.limit.is_none() {
            return;
        }
        let reserved = self.most.unwrap_or(0);
        let cost = self.paid.take().unwrap_or_else(|| self.meter.cost());
        let micros = match cost.usd {
            Some(usd) => (usd * 1e6).ceil() as u64,
            None if cost.calls == 0 => 0,
            // Without a price the cost is unknown, so the whole reservation counts.
            None => reserved,
        };
        let mut state = self.spending.lock();
        state.reserved = state.reserved.saturating_sub(reserved);
        state.spent = state.spent.saturating_add(micros);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_reserve_what_they_may_cost_and_get_the_rest_back() {
        let spending = Spending::new(Some(100));
        let budgets = Budgets { cost_micros: Some(60), ..Budgets::default() };
        let first = spending.reserve(&budgets).unwrap();
        let second = spending.reserve(&budgets).unwrap();
        assert_eq!((first.most(), second.most()), (Some(60), Some(40)));
        assert_eq!(spending.reserve(&budgets).err(), Some(UsedUp::Reserved));
        let spent = Error::Budget(Exhausted::Cost);
        let tokens = Error::Budget(Exhausted::Tokens);
        assert_eq!((first.explain(&spent), second.explain(&tokens)), (None, None));
        assert_eq!(second.explain(&spent), Some(UsedUp::Short));
        // Nothing was spent.
        drop(first);
        assert_eq!(spending.reserve(&budgets).unwrap().most(), Some(60));
        assert_eq!(Spending::new(None).reserve(&budgets).unwrap().most(), Some(60));
        // What was paid is gone, and what has no price counts in whole.
        second.pay(CostReport { calls: 1, usd: Some(0.000_03), ..CostReport::default() });
        let third = spending.reserve(&budgets).unwrap();
        assert_eq!(third.most(), Some(60));
        third.pay(CostReport { calls: 1, usd: None, ..CostReport::default() });
        let last = spending.reserve(&budgets).unwrap();
        assert_eq!(last.most(), Some(10));
        last.pay(CostReport { calls: 1, usd: Some(0.000_01), ..CostReport::default() });
        assert_eq!(spending.reserve(&budgets).err(), Some(UsedUp::Spent));
    }
}
