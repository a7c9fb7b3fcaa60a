//! The rate limits of an endpoint, which all searches of a host share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use syrch_core::ports::{
    LlmError, ModelCall, ModelLayer, ModelOutcome, ModelProvider, Obstacle, Retry,
};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use crate::route::RoutedModel;

/// Seconds in which a bucket fills.
const MINUTE: f64 = 60.0;
/// The shortest wait for a bucket; timers are no finer.
const TICK: Duration = Duration::from_millis(1);
/// The wait for a call to end, which ends with that.
const LONG: Duration = Duration::from_secs(3_600);
/// The rounding error that sums of fractions may have.
const ROUNDING: f64 = 1e-6;

/// The limits of one endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rates {
    /// The most requests in a minute; `None` sets no limit.
    pub requests_per_minute: Option<u32>,
    /// The most tokens in a minute, prompts and replies together; `None` sets no limit.
    pub tokens_per_minute: Option<u64>,
    /// The most requests in flight; `None` sets no limit.
    pub in_flight: Option<usize>,
    /// The limit on the wait for an endpoint that named a time. When it named a longer one, calls
    /// fail at once.
    pub patience: Duration,
}

impl Default for Rates {
    fn default() -> Self {
        let patience = Duration::from_secs(60);
        Self { requests_per_minute: None, tokens_per_minute: None, in_flight: None, patience }
    }
}

/// A token bucket that fills steadily, by its size in a minute. It may be overdrawn; then the next
/// call waits for it.
#[derive(Debug)]
struct Bucket {
    size: f64,
    level: f64,
    at: Instant,
}

impl Bucket {
    fn new(size: f64) -> Self {
        Self { size, level: size, at: Instant::now() }
    }

    /// Returns the time until the bucket holds that much; a call never waits for more than the
    /// bucket's size.
    fn wait(&mut self, amount: f64) -> Duration {
        let now = Instant::now();
        self.level =
            (self.level + (now - self.at).as_secs_f64() * self.size / MINUTE).min(self.size);
        self.at = now;
        let missing = amount.min(self.size) - self.level;
        if missing <= ROUNDING {
            Duration::ZERO
        } else {
            Duration::from_secs_f64(missing * MINUTE / self.size).max(TICK)
        }
    }

    /// Takes that much, or returns it when it is negative.
    fn take(&mut self, amount: f64) {
        self.level = (self.level - amount).min(self.size);
    }
}

#[derive(Debug)]
struct State {
    requests: Option<Bucket>,
    tokens: Option<Bucket>,
    paused_until: Option<Instant>,
    crowd: Crowd,
}

/// The calls in flight, and how many the endpoint has turned out to serve at once.
#[derive(Debug, Default)]
struct Crowd {
    /// The calls that were admitted and have not ended.
    admitted: usize,
    /// The calls that were sent and have not ended.
    sent: usize,
    /// The most calls that are admitted; `None` until a call took too long beside others.
    most: Option<usize>,
    /// The replies in a row that came in time since that number changed.
    timely: usize,
    /// The shortest time that a reply took.
    quickest: Option<Duration>,
}

impl Crowd {
    /// Lets one more call in after so many replies in time for each that is admitted.
    const TIMELY: usize = 16;
    /// The number of calls from which on there is no bound any more.
    const MANY: usize = 64;

    fn is_full(&self) -> bool {
        self.most.is_some_and(|most| self.admitted >= most)
    }

    /// Notes a reply that came in time.
    fn note(&mut self, took: Duration) {
        self.quickest = Some(self.quickest.map_or(took, |quickest| quickest.min(took)));
        let Some(most) = self.most else { return };
        self.timely += 1;
        if self.timely >= most.saturating_mul(Self::TIMELY) {
            self.timely = 0;
            self.most = Some(most + 1).filter(|most| *most < Self::MANY);
        }
    }

    /// Halves the calls that are admitted, after one of so many took too long.
    fn halve(&mut self, calls: usize) {
        self.timely = 0;
        self.most = Some((calls / 2).max(1).min(self.most.unwrap_or(usize::MAX)));
    }
}

/// A call that was sent and has not ended.
pub(crate) struct Sending<'a> {
    limiter: &'a Limiter,
    began: Instant,
    /// The calls in flight when it was sent, itself included.
    beside: usize,
}

impl Sending<'_> {
    /// Notes how the call ended. One that took too long beside others may have waited for them:
    /// then fewer are sent at once from now on, and it may be tried again as it is, once the
    /// endpoint can have worked off what nobody waits for any more.
    pub(crate) fn end(self, outcome: ModelOutcome) -> ModelOutcome {
        let mut state = self.limiter.state();
        if outcome.retry != Retry::Shorter {
            if outcome.result.is_ok() {
                state.crowd.note(self.began.elapsed());
            }
            return outcome;
        }
        let calls = self.beside.max(state.crowd.sent);
        if calls < 2 {
            return outcome;
        }
        let still = state.crowd.sent;
        state.crowd.halve(still);
        let now = Instant::now();
        let longest = now.checked_add(self.limiter.patience / 2);
        let begins = state.paused_until.map_or(now, |until| until.max(now));
        let ends = begins.checked_add(state.crowd.quickest.unwrap_or_default()).min(longest);
        state.paused_until = state.paused_until.max(ends);
        let most = state.crowd.most.unwrap_or(1);
        drop(state);
        tracing::warn!(
            calls,
            most,
            "a call took too long beside others: fewer are sent at once from now on"
        );
        let result = outcome.result.map_err(|error| {
            error.map_outage(|text| {
                format!(
                    "{text}; {calls} calls were in flight: if the server takes one at a time, use \
                     --max-concurrency 1"
                )
            })
        });
        ModelOutcome { result, retry: Retry::Yes, ..outcome }
    }
}

impl Drop for Sending<'_> {
    fn drop(&mut self) {
        let mut state = self.limiter.state();
        state.crowd.sent = state.crowd.sent.saturating_sub(1);
    }
}

/// Admits calls to one endpoint in the order in which they come.
#[derive(Debug)]
pub struct Limiter {
    patience: Duration,
    flight: Arc<Semaphore>,
    /// Held by the call that is next.
    next: tokio::sync::Mutex<()>,
    state: Mutex<State>,
    changed: Notify,
}

/// An admitted call, which occupies its place until it is dropped.
struct Pass {
    limiter: Arc<Limiter>,
    tokens: f64,
    _place: Option<OwnedSemaphorePermit>,
}

impl Limiter {
    /// Creates a limiter for one endpoint, for all searches that use it.
    #[must_use]
    pub fn new(rates: Rates) -> Arc<Self> {
        let places =
            rates.in_flight.unwrap_or(Semaphore::MAX_PERMITS).clamp(1, Semaphore::MAX_PERMITS);
        let state = State {
            requests: rates
                .requests_per_minute
                .map(|requests| Bucket::new(f64::from(requests.max(1)))),
            tokens: rates.tokens_per_minute.map(|tokens| Bucket::new(tokens.max(1) as f64)),
            paused_until: None,
            crowd: Crowd::default(),
        };
        Arc::new(Self {
            patience: rates.patience,
            flight: Arc::new(Semaphore::new(places)),
            next: tokio::sync::Mutex::default(),
            state: Mutex::new(state),
            changed: Notify::new(),
        })
    }

    /// Notes that a call is sent.
    pub(crate) fn send(&self) -> Sending<'_> {
        let mut state = self.state();
        state.crowd.sent += 1;
        Sending { limiter: self, began: Instant::now(), beside: state.crowd.sent }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until a call of that many tokens may be sent. The error is the pause that the endpoint
    /// asked for, when that is longer than the limiter's patience.
    async fn admit(self: &Arc<Self>, tokens: u64) -> Result<Pass, Duration> {
        let tokens = tokens as f64;
        let _guard = self.next.lock().await;
        // The semaphore is never closed.
        let place = Arc::clone(&self.flight).acquire_owned().await.ok();
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            let wait = self.weigh(tokens)?;
            if wait.is_zero() {
                return Ok(Pass { limiter: Arc::clone(self), tokens, _place: place });
            }
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = changed => {}
            }
        }
    }

    /// Takes a request and its tokens from the buckets, or returns how long to wait for them.
    fn weigh(&self, tokens: f64) -> Result<Duration, Duration> {
        let mut state = self.state();
        if state.crowd.is_full() {
            // A call that ends wakes the one that waits.
            return Ok(LONG);
        }
        let pause = state
            .paused_until
            .map_or(Duration::ZERO, |until| until.saturating_duration_since(Instant::now()));
        if pause > self.patience {
            return Err(pause);
        }
        let State { requests, tokens: bucket, crowd, .. } = &mut *state;
        let requests_wait = requests.as_mut().map_or(Duration::ZERO, |bucket| bucket.wait(1.0));
        let tokens_wait = bucket.as_mut().map_or(Duration::ZERO, |bucket| bucket.wait(tokens));
        let wait = pause.max(requests_wait).max(tokens_wait);
        if wait.is_zero() {
            crowd.admitted += 1;
            requests.iter_mut().for_each(|bucket| bucket.take(1.0));
            bucket.iter_mut().for_each(|bucket| bucket.take(tokens));
        }
        Ok(wait)
    }
}

impl Pass {
    /// Returns what the call did not use to the buckets, and applies the pause that the endpoint
    /// asked for.
    fn settle(self, outcome: &ModelOutcome) {
        let used = outcome
            .usage
            .as_ref()
            .map(|usage| f64::from(usage.input_tokens) + f64::from(usage.output_tokens));
        let is_unsent = !outcome.sent && outcome.result.is_err();
        let mut state = self.limiter.state();
        if is_unsent {
            state.requests.iter_mut().for_each(|bucket| bucket.take(-1.0));
        }
        let unused =
            if is_unsent { self.tokens } else { used.map_or(0.0, |used| self.tokens - used) };
        state.tokens.iter_mut().for_each(|bucket| bucket.take(-unused));
        if let Retry::After(delay) = outcome.retry {
            state.paused_until = state.paused_until.max(Instant::now().checked_add(delay));
        }
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        let mut state = self.limiter.state();
        state.crowd.admitted = state.crowd.admitted.saturating_sub(1);
        drop(state);
        self.limiter.changed.notify_waiters();
    }
}

/// A provider that applies the rate limits of the endpoint that each call goes to.
///
/// It is above the budget, so that a call that is dropped while it waits is not charged, and below
/// the layer that tries again, so that each try waits. An endpoint that names a time to come back
/// gets no call from anybody until then, and one that cannot answer as many calls at once as it got
/// gets half as many from then on.
pub struct RatedModel {
    inner: Arc<dyn ModelProvider>,
    routes: Arc<RoutedModel>,
}

impl RatedModel {
    /// Creates the layer around providers that end in these routes.
    #[must_use]
    pub fn new(inner: Arc<dyn ModelProvider>, routes: Arc<RoutedModel>) -> Self {
        Self { inner, routes }
    }
}

#[async_trait]
impl ModelLayer for RatedModel {
    fn layer(&self) -> &'static str {
        "rate"
    }

    fn inner(&self) -> &dyn ModelProvider {
        self.inner.as_ref()
    }

    async fn call(&self, call: &ModelCall) -> ModelOutcome {
        // A call without a route is refused by the routes.
        let Some(route) = self.routes.route(call) else { return self.inner.complete(call).await };
        match route.limiter.admit(self.inner.estimate(call).tokens()).await {
            Ok(pass) => {
                let outcome = self.inner.complete(call).await;
                pass.settle(&outcome);
                outcome
            }
            Err(pause) => {
                let error = format!("the endpoint of `{}` asked to be left alone", route.name);
                let error = LlmError::Declined { obstacle: Obstacle::Rate, message: error };
                ModelOutcome::unsent(error).retry(Retry::After(pause))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use futures::future::join_all;
    use syrch_core::ledger::Budgets;
    use syrch_core::{Ledger, Limits};
    use tokio::time::advance;

    use super::*;
    use crate::BudgetedModel;
    use crate::fakes::{FakeModel, ScriptedModel, answer_outcome, call, failure_outcome};
    use crate::route::Route;

    const SECOND: Duration = Duration::from_secs(1);

    fn make_rated(provider: Arc<dyn ModelProvider>, limiter: &Arc<Limiter>) -> Arc<RatedModel> {
        let route = Route { name: "m".into(), provider, model: None, limiter: Arc::clone(limiter) };
        let routed = Arc::new(RoutedModel::new(route, Vec::new(), &BTreeMap::new()).unwrap());
        Arc::new(RatedModel::new(Arc::clone(&routed) as _, routed))
    }

    /// The seconds at which each of that many calls, alternating between two searches, reached the
    /// endpoint.
    async fn starts(model: &Arc<ScriptedModel>, rates: Rates, calls: usize) -> Vec<u64> {
        let started = Instant::now();
        let limiter = Limiter::new(rates);
        let searches = [
            make_rated(Arc::clone(model) as _, &limiter),
            make_rated(Arc::clone(model) as _, &limiter),
        ];
        let call = call("x");
        join_all((0..calls).map(|at| searches[at % 2].complete(&call))).await;
        model.times().iter().map(|time| (*time - started).as_secs_f64().round() as u64).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn all_searches_share_the_requests_and_tokens_of_a_minute() {
        let model = Arc::new(ScriptedModel::new(Vec::new()));
        let rates = Rates { requests_per_minute: Some(3), ..Rates::default() };
        assert_eq!(starts(&model, rates, 6).await, [0, 0, 0, 20, 40, 60]);
        // The fake asks for 100 tokens and uses 10 of them.
        let model = Arc::new(ScriptedModel::new(Vec::new()));
        let rates = Rates { tokens_per_minute: Some(120), ..Rates::default() };
        assert_eq!(starts(&model, rates, 4).await, [0, 0, 0, 5]);
        // A call of more tokens than a minute allows is sent when the bucket is full.
        let model = Arc::new(ScriptedModel::new(Vec::new()));
        let rates = Rates { tokens_per_minute: Some(60), ..Rates::default() };
        assert_eq!(starts(&model, rates, 2).await, [0, 10]);
    }

    #[tokio::test(start_paused = true)]
    async fn who_comes_first_goes_first_and_who_leaves_holds_nobody_up() {
        let model = Arc::new(ScriptedModel::new(Vec::new()));
        let limiter = Limiter::new(Rates {
            requests_per_minute: Some(1),
            in_flight: Some(1),
            ..Rates::default()
        });
        let rated = make_rated(Arc::clone(&model) as _, &limiter);
        let calls: Vec<ModelCall> = (0..5).map(|at| call(&at.to_string())).collect();
        assert!(rated.complete(&calls[0]).await.result.is_ok());
        let mut waiting: Vec<_> =
            calls[1..].iter().map(|call| Box::pin(rated.complete(call))).collect();
        for one in &mut waiting {
            assert!(futures::poll!(one.as_mut()).is_pending());
        }
        drop(waiting.remove(1));
        // The order in which they are polled from here on does not count.
        join_all(waiting.into_iter().rev()).await;
        assert_eq!(model.prompts(), ["0", "1", "3", "4"]);
    }

    #[tokio::test(start_paused = true)]
    async fn so_many_are_in_flight_and_no_more() {
        let model = Arc::new(FakeModel::using(10, 1));
        let limiter = Limiter::new(Rates { in_flight: Some(2), ..Rates::default() });
        let searches = [
            make_rated(Arc::clone(&model) as _, &limiter),
            make_rated(Arc::clone(&model) as _, &limiter),
        ];
        let call = call("x");
        let outcomes = join_all((0..9).map(|at| searches[at % 2].complete(&call))).await;
        assert!(outcomes.iter().all(|outcome| outcome.result.is_ok()));
        assert_eq!((model.calls(), model.peak()), (9, 2));
    }

    /// A server that answers one call after the other, each in 3 s, also those for which nobody
    /// waits any more. Its client waits for 8 s.
    struct OneSlot {
        free_at: Mutex<Instant>,
        calls: std::sync::atomic::AtomicUsize,
    }

    #[async_trait]
    impl ModelProvider for OneSlot {
        fn name(&self) -> &str {
            "one"
        }

        fn models(&self) -> Vec<String> {
            vec!["one".to_owned()]
        }

        fn estimate(&self, _: &ModelCall) -> syrch_core::ports::Estimate {
            syrch_core::ports::Estimate::default()
        }

        async fn complete(&self, _: &ModelCall) -> ModelOutcome {
            self.calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let ends = {
                let mut free_at = self.free_at.lock().unwrap();
                *free_at = (*free_at).max(Instant::now()) + 3 * SECOND;
                *free_at
            };
            match tokio::time::timeout(8 * SECOND, tokio::time::sleep_until(ends)).await {
                Ok(()) => answer_outcome(),
                Err(_) => failure_outcome(Retry::Shorter),
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_of_one_slot_loses_no_call_of_many() {
        for (calls, most) in [(2, 2), (5, 8), (8, 14)] {
            let server = Arc::new(OneSlot {
                free_at: Mutex::new(Instant::now()),
                calls: std::sync::atomic::AtomicUsize::new(0),
            });
            let rated = make_rated(Arc::clone(&server) as _, &Limiter::new(Rates::default()));
            let model = crate::RetriedModel::new(rated, crate::Retries::default());
            let call = call("x");
            let outcomes = join_all((0..calls).map(|_| model.complete(&call))).await;
            assert!(outcomes.iter().all(|outcome| outcome.result.is_ok()), "{calls}: {outcomes:?}");
            let sent = server.calls.load(std::sync::atomic::Ordering::Relaxed);
            assert!(sent <= most, "{sent} of {calls}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn more_are_sent_again_once_many_came_in_time() {
        let limiter = Limiter::new(Rates::default());
        let one = limiter.send();
        let other = limiter.send();
        let outcome = one.end(failure_outcome(Retry::Shorter));
        assert_eq!(outcome.retry, Retry::Yes);
        assert!(outcome.result.unwrap_err().to_string().contains("2 calls were in flight"));
        assert_eq!(limiter.state().crowd.most, Some(1));
        for _ in 0..Crowd::TIMELY {
            limiter.send().end(answer_outcome());
        }
        drop(other);
        assert_eq!(limiter.state().crowd.most, Some(2));
        // Alone, a call that takes too long is no sign of too many.
        assert_eq!(
            limiter.send().end(failure_outcome(Retry::Shorter)),
            failure_outcome(Retry::Shorter)
        );
        assert_eq!(limiter.state().crowd.most, Some(2));
    }

    #[tokio::test(start_paused = true)]
    async fn an_endpoint_that_asks_for_it_is_left_alone_by_all() {
        let model = Arc::new(ScriptedModel::new(vec![
            failure_outcome(Retry::After(20 * SECOND)),
            answer_outcome(),
        ]));
        let started = Instant::now();
        let limiter = Limiter::new(Rates::default());
        let searches = [
            make_rated(Arc::clone(&model) as _, &limiter),
            make_rated(Arc::clone(&model) as _, &limiter),
        ];
        assert!(searches[0].complete(&call("x")).await.result.is_err());
        assert!(searches[1].complete(&call("x")).await.result.is_ok());
        assert!(started.elapsed() >= 20 * SECOND);
        model.then([failure_outcome(Retry::After(600 * SECOND))]);
        assert!(searches[0].complete(&call("x")).await.result.is_err());
        let outcome = searches[1].complete(&call("x")).await;
        assert_eq!((outcome.sent, outcome.retry), (false, Retry::After(600 * SECOND)));
        assert!(outcome.result.unwrap_err().to_string().contains("`m` asked to be left alone"));
        assert_eq!(model.times().len(), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_dropped_while_it_waits_is_neither_charged_nor_counted() {
        let model = Arc::new(ScriptedModel::new(Vec::new()));
        let limiter = Limiter::new(Rates { requests_per_minute: Some(1), ..Rates::default() });
        let route =
            Route { name: "m".into(), provider: Arc::clone(&model) as _, model: None, limiter };
        let routed = Arc::new(RoutedModel::new(route, Vec::new(), &BTreeMap::new()).unwrap());
        let ledger = Ledger::new(Budgets::default());
        let budgeted =
            BudgetedModel::new(Arc::clone(&routed) as _, Arc::clone(&ledger), Limits::default());
        let rated = RatedModel::new(Arc::new(budgeted), routed);
        let call = call("x");
        assert!(rated.complete(&call).await.result.is_ok());
        {
            let mut dropped = std::pin::pin!(rated.complete(&call));
            assert!(futures::poll!(dropped.as_mut()).is_pending());
            advance(30 * SECOND).await;
        }
        assert_eq!((ledger.spending().calls, model.times().len()), (1, 1));
        let started = Instant::now();
        assert!(rated.complete(&call).await.result.is_ok());
        assert!(started.elapsed() <= 31 * SECOND);
        assert_eq!((ledger.spending().calls, model.times().len()), (2, 2));
    }
}
