//! The budget of a server: each search reserves the most that it may cost, and spends what it cost.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use syrch::Meter;
use syrch::report::CostReport;
use syrch::syrch_core::ledger::Budgets;

/// The budget of the whole server is spent, or reserved by the searches under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the budget of this server is used up; whoever runs it can raise --total-usd")]
pub struct UsedUp;

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
                return Err(UsedUp);
            }
            state.reserved += share;
            most = Some(share);
        }
        Ok(Reservation { spending: self.clone(), most, meter: Meter::default(), paid: None })
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
        assert_eq!(spending.reserve(&budgets).err(), Some(UsedUp));
        // Nothing was spent.
        drop(first);
        assert_eq!(spending.reserve(&budgets).unwrap().most(), Some(60));
        assert_eq!(Spending::new(None).reserve(&budgets).unwrap().most(), Some(60));
        // What was paid is gone, and what has no price counts in whole.
        second.pay(CostReport { calls: 1, usd: Some(0.000_03), ..CostReport::default() });
        let third = spending.reserve(&budgets).unwrap();
        assert_eq!(third.most(), Some(60));
        third.pay(CostReport { calls: 1, usd: None, ..CostReport::default() });
        assert_eq!(spending.reserve(&budgets).unwrap().most(), Some(10));
    }
}
