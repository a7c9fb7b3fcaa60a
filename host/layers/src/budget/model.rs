//! Model calls, charged to the search's ledger: reserved before they are sent, settled afterwards.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use syrch_core::ledger::{Exhausted, Reservation};
use syrch_core::ports::{
    Estimate, LlmError, ModelCall, ModelLayer, ModelOutcome, ModelProvider, Shape,
};
use syrch_core::{Ledger, Limits};
use tokio::sync::{Notify, Semaphore, SemaphorePermit};

use super::clamp::{check, clamp};
use super::usage::believable_usage;

/// Output tokens below which a shortened call is not worth its price.
const LEAST_OUTPUT: u64 = 64;

/// A reply of vectors may have as many times the bytes of a text.
const VECTORS: usize = 8;

/// The most calls that wait for a slot.
const WAITING: usize = 1_024;

/// A provider that charges every call to a search.
///
/// A call waits for a free slot, and is refused if too many calls wait already. Then it waits for
/// its reservation. Where the budget does not hold its estimate, it waits until calls in flight
/// settle, since they reserve more than they use; where it is the budget of all searches together,
/// these are calls of any of them. When none is in flight, its `max_tokens` is reduced to what the
/// search's own remaining tokens and money allow; if that is too little to be useful, the budget is
/// used up.
pub struct BudgetedModel {
    inner: Arc<dyn ModelProvider>,
    ledger: Arc<Ledger>,
    limits: Limits,
    slots: Semaphore,
    /// Permits to wait for a slot.
    queue: Semaphore,
    under_way: Arc<UnderWay>,
}

#[derive(Default)]
struct UnderWay {
    calls: AtomicUsize,
    settled: Notify,
}

/// A reservation whose call is counted as in flight until it is settled or dropped. The fields drop
/// in this order, so that whoever waits for a call to end finds the ledger up to date.
struct Held {
    reservation: Reservation,
    tokens: u64,
    _mark: Mark,
}

/// The tokens and the money that may still be spent.
#[derive(Clone, Copy)]
struct Left {
    tokens: u64,
    /// `None` when there is no limit on cost.
    cost_micros: Option<u64>,
}

impl Left {
    fn from_ledger(ledger: &Ledger) -> Self {
        let tokens = ledger.budgets().tokens.saturating_sub(ledger.spending().tokens_charged);
        Self { tokens, cost_micros: ledger.cost_left() }
    }

    /// Returns whether a call of at most that much fits. A call of unknown price fits here; the
    /// reservation refuses it for its price.
    fn has_room_for(self, estimate: &Estimate) -> bool {
        let is_paid =
            self.cost_micros.zip(estimate.cost_micros).is_none_or(|(left, cost)| cost <= left);
        estimate.tokens() <= self.tokens && is_paid
    }
}

/// Waits until more than that many calls of all searches together have ended, for ever where they
/// have no budget together.
async fn wait_for_end(ledger: &Ledger, ended: Option<u64>) {
    match ledger.total().zip(ended) {
        Some((total, ended)) => total.wait_for_end(ended).await,
        None => std::future::pending().await,
    }
}

struct Mark(Arc<UnderWay>);

impl Mark {
    fn new(under_way: &Arc<UnderWay>) -> Self {
        under_way.calls.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(under_way))
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        self.0.calls.fetch_sub(1, Ordering::SeqCst);
        self.0.settled.notify_waiters();
    }
}

impl BudgetedModel {
    /// Creates the layer around a provider, with as many calls in flight as the limits allow.
    #[must_use]
    pub fn new(inner: Arc<dyn ModelProvider>, ledger: Arc<Ledger>, limits: Limits) -> Self {
        let slots = Semaphore::new(limits.llm_in_flight.clamp(1, Semaphore::MAX_PERMITS));
        let queue = Semaphore::new(WAITING);
        Self { inner, ledger, limits, slots, queue, under_way: Arc::default() }
    }

    /// Waits for a slot. Nothing of the call is copied before it has one.
    async fn slot(&self) -> Result<SemaphorePermit<'_>, LlmError> {
        if let Ok(slot) = self.slots.try_acquire() {
            return Ok(slot);
        }
        let Ok(_place) = self.queue.try_acquire() else {
            return Err(LlmError::Other(format!("{WAITING} model calls wait already")));
        };
        self.slots.acquire().await.map_err(|_| LlmError::Cancelled)
    }

    /// Waits until the budget holds the call, and reserves it.
    async fn reserve(&self, call: &mut ModelCall) -> Result<Held, Exhausted> {
        let asked = call.request.max_tokens;
        loop {
            let settled = self.under_way.settled.notified();
            tokio::pin!(settled);
            // From here on no settlement goes unnoticed, also one before the wait.
            settled.as_mut().enable();
            let ended = self.ledger.total().map(|total| total.count_ended());
            call.request.max_tokens = asked;
            if let Some(held) = self.try_reserve(call)? {
                return Ok(held);
            }
            tokio::select! {
                () = settled => {}
                () = wait_for_end(&self.ledger, ended) => {}
            }
        }
    }

    /// Reserves the call; `None` when it has to wait for calls in flight.
    fn try_reserve(&self, call: &mut ModelCall) -> Result<Option<Held>, Exhausted> {
        let _guard = self.ledger.lock_reservations();
        let own = Left::from_ledger(&self.ledger);
        let mut estimate = self.inner.estimate(call);
        if !own.has_room_for(&estimate) {
            if self.under_way.calls.load(Ordering::SeqCst) > 0 {
                return Ok(None);
            }
            self.shrink(call, &estimate, own);
            estimate = self.inner.estimate(call);
        }
        let must_wait = self.ledger.total().is_some_and(|total| {
            total.in_flight() > 0 && !Left::from_ledger(total).has_room_for(&estimate)
        });
        if must_wait {
            return Ok(None);
        }
        let reservation = self.ledger.reserve_call(&call.request.purpose, &estimate)?;
        Ok(Some(Held { reservation, tokens: estimate.tokens(), _mark: Mark::new(&self.under_way) }))
    }

    /// Lowers the output limit to the most that the remaining tokens and money allow, unless that
    /// is too little to be useful.
    fn shrink(&self, call: &mut ModelCall, estimate: &Estimate, left: Left) {
        let asked = call.request.max_tokens;
        let whole = u32::try_from(estimate.output_tokens)
            .unwrap_or(u32::MAX)
            .min(asked.unwrap_or(u32::MAX));
        // How an estimate depends on the output limit is up to the provider, but it does not
        // decrease when the limit grows.
        let mut fits = 0;
        let mut over = whole.saturating_add(1);
        while over - fits > 1 {
            let middle = fits + (over - fits) / 2;
            call.request.max_tokens = Some(middle);
            if left.has_room_for(&self.inner.estimate(call)) {
                fits = middle;
            } else {
                over = middle;
            }
        }
        let is_useful = u64::from(fits) >= LEAST_OUTPUT || (fits > 0 && Some(fits) == asked);
        call.request.max_tokens = if is_useful { Some(fits) } else { asked };
    }

    /// Charges what the call used, and sets the same usage in the outcome. A call that failed after
    /// it was sent and reported no usage is charged its whole reservation.
    fn settle(&self, call: &ModelCall, held: Held, mut outcome: ModelOutcome) -> ModelOutcome {
        if !outcome.sent && outcome.result.is_err() {
            held.reservation.release();
            return outcome;
        }
        let usage = believable_usage(&call.request, &outcome, held.tokens == 0);
        held.reservation.settle(usage.as_ref());
        if let (Ok(reply), Some(usage)) = (&mut outcome.result, &usage) {
            reply.usage = usage.clone();
        }
        outcome.usage = usage;
        outcome
    }
}

#[async_trait]
impl ModelLayer for BudgetedModel {
    fn layer(&self) -> &'static str {
        "budget"
    }

    fn inner(&self) -> &dyn ModelProvider {
        self.inner.as_ref()
    }

    async fn call(&self, call: &ModelCall) -> ModelOutcome {
        if let Err(error) = check(&call.request, &self.inner.models(), &self.limits) {
            return ModelOutcome::unsent(error);
        }
        let _slot = match self.slot().await {
            Ok(slot) => slot,
            Err(error) => return ModelOutcome::unsent(error),
        };
        let mut call = call.clone();
        clamp(&mut call.request, &self.limits);
        let Ok(held) = self.reserve(&mut call).await else {
            return ModelOutcome::unsent(LlmError::Budget);
        };
        let outcome = self.inner.complete(&call).await;
        let mut outcome = self.settle(&call, held, outcome);
        // Vectors are long, and nobody reads them as text.
        let most = self.limits.reply_bytes
            * if call.request.expect == Shape::Vectors { VECTORS } else { 1 };
        if outcome.result.as_ref().is_ok_and(|reply| reply.text.len() > most) {
            outcome.result = Err(LlmError::TooLarge);
        }
        outcome
    }
}

#[cfg(test)]
mod tests {
    use futures::future::join_all;
    use syrch_core::ledger::Budgets;
    use syrch_core::ports::Purpose;

    use super::*;
    use crate::fakes::{FakeModel, call};
    use crate::price::{Price, PricedModel, Prices};

    fn make_budgeted(
        model: FakeModel,
        budgets: Budgets,
        limits: Limits,
    ) -> (Arc<FakeModel>, Arc<Ledger>, BudgetedModel) {
        let model = Arc::new(model);
        let ledger = Ledger::new(budgets);
        let budgeted = BudgetedModel::new(Arc::clone(&model) as _, Arc::clone(&ledger), limits);
        (model, ledger, budgeted)
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn concurrent_calls_never_overspend() {
        let budgets = Budgets { tokens: 10_000, llm_calls: 1_000, ..Budgets::default() };
        let (model, ledger, budgeted) =
            make_budgeted(FakeModel::using(100, 100), budgets, Limits::default());
        let budgeted = Arc::new(budgeted);
        let running = (0..200).map(|_| {
            let budgeted = Arc::clone(&budgeted);
            tokio::spawn(async move { budgeted.complete(&call("x")).await })
        });
        let outcomes: Vec<ModelOutcome> =
            join_all(running).await.into_iter().map(Result::unwrap).collect();
        let answered = outcomes.iter().filter(|outcome| outcome.result.is_ok()).count();
        let refused =
            outcomes.iter().filter(|outcome| outcome.result == Err(LlmError::Budget)).count();
        assert_eq!((answered, refused), (100, 100));
        assert_eq!((ledger.spending().tokens_charged, model.calls()), (10_000, 100));
        assert!(model.peak() <= Limits::default().llm_in_flight, "{}", model.peak());
    }

    #[tokio::test]
    async fn calls_wait_for_what_others_give_back() {
        let budgets = Budgets { tokens: 250, ..Budgets::default() };
        let (model, ledger, budgeted) =
            make_budgeted(FakeModel::using(200, 20), budgets, Limits::default());
        let call = call("x");
        let outcomes = join_all((0..3).map(|_| budgeted.complete(&call))).await;
        assert!(outcomes.iter().all(|outcome| outcome.result.is_ok()), "{outcomes:?}");
        assert_eq!((ledger.spending().tokens_charged, model.peak()), (60, 1));
        assert_eq!(ledger.spending().exhausted, []);
    }

    /// Searches that share a budget, each with a layer of its own around one provider.
    fn make_searches(
        model: FakeModel,
        total: Budgets,
    ) -> (Arc<FakeModel>, Arc<Ledger>, Vec<BudgetedModel>) {
        let model = Arc::new(model);
        let total = Ledger::new(total);
        let searches = (0..5).map(|_| {
            let ledger = Ledger::within(Budgets::default(), Some(Arc::clone(&total)));
            BudgetedModel::new(Arc::clone(&model) as _, ledger, Limits::default())
        });
        let searches = searches.collect();
        (model, total, searches)
    }

    #[tokio::test]
    async fn searches_never_spend_more_than_they_may_together() {
        let together = Budgets { llm_calls: 2, ..Budgets::default() };
        let (model, total, searches) = make_searches(FakeModel::using(100, 20), together);
        let call = call("x");
        let five = searches.iter().flat_map(|search| std::iter::repeat_n(search, 5));
        let outcomes = join_all(five.map(|search| search.complete(&call))).await;
        let answered = outcomes.iter().filter(|outcome| outcome.result.is_ok()).count();
        assert_eq!((answered, model.calls(), total.spending().calls), (2, 2, 2));
        let refusals = searches.iter().map(|search| search.ledger.spending().exhausted);
        assert!(refusals.flatten().all(|which| which == Exhausted::TotalCalls));

        // Each reserves 200 and uses 20: they wait for each other, and none is refused.
        let together = Budgets { tokens: 250, ..Budgets::default() };
        let (model, total, searches) = make_searches(FakeModel::using(200, 20), together);
        let outcomes = join_all(searches.iter().map(|search| search.complete(&call))).await;
        assert_eq!(outcomes.iter().filter(|outcome| outcome.result.is_ok()).count(), 3);
        assert_eq!((model.peak(), total.spending().tokens_charged), (1, 60));
        assert_eq!(total.in_flight(), 0);
    }

    #[tokio::test]
    async fn money_of_all_searches_together_refuses_a_call_as_it_is() {
        let prices = Prices::new([("fake".to_owned(), Price::new(2.0, 5.0).unwrap())]).unwrap();
        let model = Arc::new(FakeModel::by_output(50, 1_000));
        // A call of 50 tokens and a reply of at most 1,000.
        let together = Budgets { cost_micros: Some(6_000), ..Budgets::default() };
        let total = Ledger::new(together);
        let ledger = Ledger::within(Budgets::default(), Some(Arc::clone(&total)));
        let inner = Arc::new(PricedModel::new(Arc::clone(&model) as _, Arc::new(prices)));
        let budgeted = BudgetedModel::new(inner, Arc::clone(&ledger), Limits::default());
        assert!(budgeted.complete(&call("x")).await.result.is_ok());
        assert_eq!(budgeted.complete(&call("x")).await.result, Err(LlmError::Budget));
        assert_eq!((model.calls(), ledger.spending().exhausted), (1, vec![Exhausted::TotalCost]));
        assert_eq!(total.spending().cost_micros, ledger.spending().cost_micros);
    }

    #[tokio::test]
    async fn the_last_call_is_shortened_to_what_is_left() {
        let budgets = Budgets { tokens: 150, ..Budgets::default() };
        let (model, ledger, budgeted) =
            make_budgeted(FakeModel::by_output(50, 1_000), budgets, Limits::default());
        assert!(budgeted.complete(&call("x")).await.result.is_ok());
        assert_eq!(model.last_max_tokens(), Some(100));
        assert_eq!(ledger.spending().tokens_charged, 150);
        assert_eq!(budgeted.complete(&call("x")).await.result, Err(LlmError::Budget));
        assert_eq!((model.calls(), ledger.spending().exhausted), (1, vec![Exhausted::Tokens]));
    }

    #[tokio::test]
    async fn money_shortens_a_call_before_it_refuses_it() {
        // A token of a prompt costs 2 millionths, one of a reply 5.
        let priced = |limit: u64| {
            let prices = Prices::new([("fake".to_owned(), Price::new(2.0, 5.0).unwrap())]).unwrap();
            let model = Arc::new(FakeModel::by_output(50, 1_000));
            let ledger = Ledger::new(Budgets { cost_micros: Some(limit), ..Budgets::default() });
            let inner = Arc::new(PricedModel::new(Arc::clone(&model) as _, Arc::new(prices)));
            (model, Arc::clone(&ledger), BudgetedModel::new(inner, ledger, Limits::default()))
        };
        let (model, ledger, budgeted) = priced(604);
        assert!(budgeted.complete(&call("x")).await.result.is_ok());
        assert_eq!(
            (model.last_max_tokens(), ledger.spending().cost_micros),
            (Some(100), Some(600))
        );
        assert_eq!(budgeted.complete(&call("x")).await.result, Err(LlmError::Budget));
        assert_eq!((model.calls(), ledger.spending().exhausted), (1, vec![Exhausted::Cost]));
        // Fewer than 64 tokens are not worth it, unless no more were asked for.
        let (model, ledger, budgeted) = priced(100 + 63 * 5);
        assert_eq!(budgeted.complete(&call("x")).await.result, Err(LlmError::Budget));
        assert_eq!((model.calls(), ledger.spending().calls), (0, 0));
        let mut short = call("x");
        short.request.max_tokens = Some(60);
        assert!(budgeted.complete(&short).await.result.is_ok());
        assert_eq!((model.last_max_tokens(), ledger.spending().cost_micros), (Some(60), Some(400)));
    }

    #[tokio::test]
    async fn a_call_that_was_turned_away_is_counted_and_costs_nothing() {
        let (_, ledger, budgeted) =
            make_budgeted(FakeModel::turning_away(900), Budgets::default(), Limits::default());
        assert!(budgeted.complete(&call(&"x".repeat(800))).await.result.is_err());
        assert_eq!(
            (
                ledger.spending().calls,
                ledger.spending().tokens_charged,
                ledger.spending().cost_micros
            ),
            (1, 0, Some(0))
        );
    }

    #[tokio::test]
    async fn a_cancelled_call_stays_charged_and_an_unsent_one_does_not() {
        let (_, ledger, budgeted_model) =
            make_budgeted(FakeModel::hanging(40), Budgets::default(), Limits::default());
        let call = call("x");
        {
            let mut running = std::pin::pin!(budgeted_model.complete(&call));
            assert!(futures::poll!(running.as_mut()).is_pending());
        }
        assert_eq!((ledger.spending().calls, ledger.spending().tokens_charged), (1, 40));
        let (_, ledger, budgeted) =
            make_budgeted(FakeModel::unreachable(40), Budgets::default(), Limits::default());
        assert!(matches!(budgeted.complete(&call).await.result, Err(LlmError::Unavailable(_))));
        assert_eq!((ledger.spending().calls, ledger.spending().tokens_charged), (0, 0));
    }

    #[tokio::test]
    async fn only_so_many_calls_wait() {
        let limits = Limits { llm_in_flight: 1, ..Limits::default() };
        let (model, ledger, budgeted) =
            make_budgeted(FakeModel::hanging(1), Budgets::default(), limits);
        let call = call("x");
        let catalog = Arc::strong_count(&call.catalog);
        let mut waiting: Vec<_> =
            (0..=WAITING).map(|_| Box::pin(budgeted.complete(&call))).collect();
        for one in &mut waiting {
            assert!(futures::poll!(one.as_mut()).is_pending());
        }
        // Only the call that has the slot was copied: for itself, and by the fake.
        assert_eq!((model.calls(), Arc::strong_count(&call.catalog) - catalog), (1, 2));
        assert!(matches!(budgeted.complete(&call).await.result, Err(LlmError::Other(_))));
        drop(waiting.pop());
        assert!(futures::poll!(Box::pin(budgeted.complete(&call)).as_mut()).is_pending());
        assert_eq!(ledger.spending().calls, 1);
    }

    #[tokio::test]
    async fn usage_is_at_least_what_the_bytes_show() {
        let charged = async |model: FakeModel| {
            let (_, ledger, budgeted) = make_budgeted(model, Budgets::default(), Limits::default());
            let outcome = budgeted.complete(&call(&"x".repeat(800))).await;
            let reported =
                outcome.usage.map(|usage| u64::from(usage.input_tokens + usage.output_tokens));
            if let Ok(reply) = &outcome.result {
                assert_eq!(
                    reported,
                    Some(u64::from(reply.usage.input_tokens + reply.usage.output_tokens))
                );
            }
            (reported, ledger.spending().tokens_charged)
        };
        // 800 bytes of prompt, 80 of reply: at an eighth where the report is lower, at a third
        // without one.
        assert_eq!(charged(FakeModel::using(900, 500)).await, (Some(600), 600));
        assert_eq!(charged(FakeModel::using(900, 1).replying(80)).await, (Some(110), 110));
        assert_eq!(charged(FakeModel::silent(900).replying(80)).await, (Some(292), 292));
        assert_eq!(charged(FakeModel::failing(900)).await, (None, 900));
        assert_eq!(charged(FakeModel::using(0, 0)).await, (Some(0), 0));
    }

    #[tokio::test]
    async fn what_may_not_be_sent_is_refused_before_it_costs() {
        let limits = Limits { prompt_bytes: 8, reply_bytes: 8, ..Limits::default() };
        let (model, ledger, budgeted) =
            make_budgeted(FakeModel::using(10, 10).replying(9), Budgets::default(), limits);
        assert_eq!(
            budgeted.complete(&call("too long a prompt")).await.result,
            Err(LlmError::TooLarge)
        );
        let mut named = call("x");
        named.request.model = Some("another".into());
        assert!(matches!(budgeted.complete(&named).await.result, Err(LlmError::Denied(_))));
        assert_eq!((model.calls(), ledger.spending().calls), (0, 0));
        assert_eq!(budgeted.complete(&call("x")).await.result, Err(LlmError::TooLarge));
        assert_eq!(ledger.spending().by_purpose[Purpose::Generate.name()].calls, 1);
    }
}
