//! Further tries of calls that failed for a temporary reason.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use syrch_core::ports::{
    LlmError, ModelCall, ModelLayer, ModelOutcome, ModelProvider, Reply, Request, Retry, Usage,
};
use syrch_core::text::clip;

/// The most simplifications of one request, each after the endpoint rejected the form before.
const MAX_PLAINER: u32 = 8;
/// The longest time that a call waits for an endpoint that is not ready: local servers load a model
/// for up to two minutes.
const READY: Duration = Duration::from_secs(120);
/// The most waits for one endpoint that is not ready.
const MAX_WAITS: u32 = 64;
/// The fewest tokens of a reply that is asked for once more because the one before took too long.
const SHORTEST: u32 = 64;
/// The most reasons of further tries that a reply names, and the most bytes of one.
const REPEATS: usize = 8;
const REASON: usize = 200;
/// The longest of these waits.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// The number of tries of a call, and the waits between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retries {
    /// The most tries of one call, the first included; simplified forms of a rejected request do
    /// not count.
    pub attempts: u32,
    /// The longest wait before the second try; it doubles before each further try.
    pub base: Duration,
    /// An upper bound of these waits.
    pub longest: Duration,
    /// The longest wait that an endpoint may ask for; when it asks for more, the call fails at
    /// once.
    pub patience: Duration,
    /// The seed of the waits' random part.
    pub seed: u64,
}

impl Default for Retries {
    fn default() -> Self {
        Self {
            attempts: 3,
            base: Duration::from_millis(500),
            longest: Duration::from_secs(30),
            patience: Duration::from_secs(60),
            seed: 0,
        }
    }
}

/// A provider that tries failed calls again when their outcome allows it.
///
/// It is above the budget, so that each try is reserved, charged and counted by itself. While it
/// waits it holds neither a slot nor a reservation. A call that took too long is tried once more at
/// the most, for a shorter reply. It waits as long as the endpoint asks, and at least a random part
/// of a delay that doubles from try to try ("full jitter", M. Brooker, "Exponential Backoff and
/// Jitter", AWS Architecture Blog, 2015). Dropping a call ends its wait.
pub struct RetriedModel {
    inner: Arc<dyn ModelProvider>,
    retries: Retries,
    random: Mutex<Pcg64>,
}

impl RetriedModel {
    /// Creates the layer around a provider.
    #[must_use]
    pub fn new(inner: Arc<dyn ModelProvider>, retries: Retries) -> Self {
        Self { inner, random: Mutex::new(Pcg64::seed_from_u64(retries.seed)), retries }
    }

    /// A random part of the delay after that many tries.
    fn backoff(&self, tries: u32) -> Duration {
        let doubled = 1_u32.checked_shl(tries.saturating_sub(1)).unwrap_or(u32::MAX);
        let most = self.retries.base.saturating_mul(doubled).min(self.retries.longest);
        most.mul_f64(self.random.lock().unwrap_or_else(PoisonError::into_inner).random())
    }

    /// The call for a reply of at most half as many tokens.
    fn shorten(&self, call: &ModelCall) -> ModelCall {
        let most = u32::try_from(self.inner.estimate(call).output_tokens).unwrap_or(u32::MAX);
        let half = Some((most / 2).max(SHORTEST).min(most)).filter(|half| *half > 0);
        let request =
            Request { max_tokens: half.or(call.request.max_tokens), ..call.request.clone() };
        ModelCall { request, ..call.clone() }
    }

    /// The reaction to a failure.
    fn react(
        &self,
        retry: Retry,
        tries: u32,
        plainer: u32,
        waited: &Waited,
        is_shorter: bool,
    ) -> Next {
        match retry {
            Retry::No => Next::End(None),
            Retry::WhenReady if waited.waits >= MAX_WAITS || waited.time >= READY => {
                Next::End(Some(format!("waited for it for {} s", waited.time.as_secs())))
            }
            Retry::WhenReady => Next::WaitForIt(waited.next_wait(self.retries.base)),
            Retry::After(Duration::ZERO) if plainer < MAX_PLAINER => Next::Plainer,
            Retry::After(Duration::ZERO) => {
                Next::End(Some("it refuses every way of asking".to_owned()))
            }
            _ if tries >= self.retries.attempts => {
                Next::End((tries > 1).then(|| format!("tried {tries} times")))
            }
            Retry::Shorter if is_shorter => {
                Next::End(Some(format!("tried {tries} times, the last time for a shorter reply")))
            }
            Retry::Shorter => Next::Shorter,
            Retry::After(delay) if delay > self.retries.patience => Next::End(Some(format!(
                "it asks for a wait of {:.0} s, and a call waits {} s at most",
                delay.as_secs_f64().ceil(),
                self.retries.patience.as_secs_f64()
            ))),
            Retry::After(delay) => Next::Wait(delay.max(self.backoff(tries))),
            Retry::Yes => Next::Wait(self.backoff(tries)),
        }
    }
}

enum Next {
    /// The call has failed; the reason is added to its error.
    End(Option<String>),
    /// The simplified request is sent at once.
    Plainer,
    /// The request is sent again after this time.
    Wait(Duration),
    /// A request for a shorter reply is sent at once.
    Shorter,
    /// The request is sent again after this time, which does not count as a try.
    WaitForIt(Duration),
}

/// The waits of a call for an endpoint that is not ready.
#[derive(Default)]
struct Waited {
    waits: u32,
    time: Duration,
}

impl Waited {
    /// The next wait: each is twice as long as the one before, up to a bound.
    fn next_wait(&self, first: Duration) -> Duration {
        first.saturating_mul(1_u32.checked_shl(self.waits).unwrap_or(u32::MAX)).min(LONGEST_WAIT)
    }
}

fn with_reason(error: LlmError, reason: &str) -> LlmError {
    match error {
        LlmError::Other(text) => LlmError::Other(format!("{text} ({reason})")),
        other => other.map_outage(|text| format!("{text} ({reason})")),
    }
}

/// The reason why a call that failed so is made again, without the text of its reply.
fn describe_reason(error: &LlmError) -> String {
    match error {
        LlmError::Cut { tokens, .. } => {
            format!("the reply was cut off at the limit of {tokens} tokens")
        }
        LlmError::Malformed(_) => "the reply was not in the form that was asked for".to_owned(),
        other => clip(&other.to_string(), REASON).to_owned(),
    }
}

/// The outcome whose reply names the reasons for which its request was sent again.
fn with_repeats(outcome: ModelOutcome, repeats: Vec<String>) -> ModelOutcome {
    let result = outcome.result.map(|reply| {
        let usage = Usage { repeats, ..reply.usage };
        Reply { usage, ..reply }
    });
    ModelOutcome { result, ..outcome }
}

#[async_trait]
impl ModelLayer for RetriedModel {
    fn layer(&self) -> &'static str {
        "retry"
    }

    fn inner(&self) -> &dyn ModelProvider {
        self.inner.as_ref()
    }

    async fn call(&self, call: &ModelCall) -> ModelOutcome {
        let mut tries = 1;
        let mut plainer = 0;
        let mut sent = false;
        let mut waited = Waited::default();
        let mut shorter = None;
        let mut repeats: Vec<String> = Vec::new();
        loop {
            let mut outcome = self.inner.complete(shorter.as_ref().unwrap_or(call)).await;
            sent |= outcome.sent;
            outcome.sent = sent;
            let Err(error) = &outcome.result else { return with_repeats(outcome, repeats) };
            match self.react(outcome.retry, tries, plainer, &waited, shorter.is_some()) {
                Next::End(None) => return outcome,
                Next::End(Some(reason)) => {
                    outcome.result = Err(with_reason(error.clone(), &reason));
                    return outcome;
                }
                Next::Plainer => plainer += 1,
                Next::Shorter => {
                    tracing::info!(tries, %error, "trying again for a shorter reply");
                    shorter = Some(self.shorten(call));
                    tries += 1;
                }
                Next::WaitForIt(wait) => {
                    tracing::info!(
                        wait_ms = wait.as_millis() as u64, %error,
                        "waiting until the endpoint is ready"
                    );
                    tokio::time::sleep(wait).await;
                    waited = Waited { waits: waited.waits + 1, time: waited.time + wait };
                }
                Next::Wait(wait) => {
                    tracing::info!(
                        tries, wait_ms = wait.as_millis() as u64, %error, "trying again"
                    );
                    tokio::time::sleep(wait).await;
                    tries += 1;
                }
            }
            let reason = describe_reason(error);
            if repeats.len() < REPEATS && repeats.last() != Some(&reason) {
                repeats.push(reason);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use syrch_core::Ledger;
    use syrch_core::Limits;
    use syrch_core::ledger::Budgets;
    use tokio::time::{Instant, advance};

    use super::*;
    use crate::BudgetedModel;
    use crate::fakes::{ScriptedModel, answer_outcome, call, failure_outcome};

    const SECOND: Duration = Duration::from_secs(1);

    fn make_retried(
        outcomes: Vec<ModelOutcome>,
        retries: Retries,
    ) -> (Arc<ScriptedModel>, RetriedModel) {
        let inner = Arc::new(ScriptedModel::new(outcomes));
        (Arc::clone(&inner), RetriedModel::new(inner, retries))
    }

    #[tokio::test(start_paused = true)]
    async fn what_passes_is_tried_again_and_what_stays_is_not() {
        let (inner, model) = make_retried(
            vec![failure_outcome(Retry::Yes), failure_outcome(Retry::Yes), answer_outcome()],
            Retries::default(),
        );
        assert!(model.complete(&call("x")).await.result.is_ok());
        let times = inner.times();
        assert_eq!(times.len(), 3);
        assert!(times[1] - times[0] <= SECOND / 2 + Duration::from_millis(1));
        assert!(times[2] - times[1] <= SECOND + Duration::from_millis(1));
        let (inner, model) =
            make_retried(vec![failure_outcome(Retry::No), answer_outcome()], Retries::default());
        assert_eq!(model.complete(&call("x")).await, failure_outcome(Retry::No));
        assert_eq!(inner.times().len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_reply_names_the_reasons_of_further_tries() {
        let cut = LlmError::Cut { tokens: 512, begins: "SELECT".into() };
        let cut = ModelOutcome::sent(Err(cut), None).retry(Retry::After(Duration::ZERO));
        let outcomes =
            vec![failure_outcome(Retry::Yes), failure_outcome(Retry::Yes), cut, answer_outcome()];
        let (_, model) = make_retried(outcomes, Retries::default());
        let reply = model.complete(&call("x")).await.result.unwrap();
        let reasons = ["failed", "the reply was cut off at the limit of 512 tokens"];
        assert_eq!(reply.usage.repeats, reasons);
        let (_, model) = make_retried(vec![answer_outcome()], Retries::default());
        assert_eq!(model.complete(&call("x")).await, answer_outcome());
    }

    #[tokio::test(start_paused = true)]
    async fn tries_end_and_the_error_says_how_many_there_were() {
        let (inner, model) = make_retried(vec![failure_outcome(Retry::Yes); 9], Retries::default());
        let outcome = model.complete(&call("x")).await;
        assert_eq!(outcome.result, Err(LlmError::Unavailable("failed (tried 3 times)".into())));
        assert_eq!(inner.times().len(), 3);
        let (inner, model) = make_retried(
            vec![failure_outcome(Retry::Yes); 9],
            Retries { attempts: 1, ..Retries::default() },
        );
        assert_eq!(model.complete(&call("x")).await, failure_outcome(Retry::Yes));
        assert_eq!(inner.times().len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn an_endpoint_that_is_not_ready_is_waited_for_within_bounds() {
        let outcomes = vec![failure_outcome(Retry::WhenReady); 12]
            .into_iter()
            .chain([answer_outcome()])
            .collect();
        let (inner, model) = make_retried(outcomes, Retries::default());
        let began = Instant::now();
        assert!(model.complete(&call("x")).await.result.is_ok());
        assert_eq!(inner.times().len(), 13);
        assert!((30 * SECOND..60 * SECOND).contains(&began.elapsed()), "{:?}", began.elapsed());
        for base in [SECOND / 2, Duration::ZERO] {
            let (inner, model) = make_retried(
                vec![failure_outcome(Retry::WhenReady); 99],
                Retries { base, ..Retries::default() },
            );
            let began = Instant::now();
            let text = model.complete(&call("x")).await.result.unwrap_err().to_string();
            assert!(text.contains("waited for it for"), "{text}");
            assert!(
                inner.times().len() <= 65 && began.elapsed() < 130 * SECOND,
                "{:?}",
                began.elapsed()
            );
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_took_too_long_is_tried_once_more_for_a_shorter_reply() {
        let (inner, model) =
            make_retried(vec![failure_outcome(Retry::Shorter); 9], Retries::default());
        let text = model.complete(&call("x")).await.result.unwrap_err().to_string();
        assert_eq!(text, "failed (tried 2 times, the last time for a shorter reply)");
        // The fake may use 50 tokens; a limit that is as short stays so.
        assert_eq!(inner.limits(), [None, Some(50)]);
        for (outcomes, tries) in [
            (vec![failure_outcome(Retry::Shorter), answer_outcome()], 2),
            // A failure of another kind between them changes nothing.
            (
                vec![
                    failure_outcome(Retry::Yes),
                    failure_outcome(Retry::Shorter),
                    failure_outcome(Retry::Shorter),
                ],
                3,
            ),
            (
                vec![
                    failure_outcome(Retry::Shorter),
                    failure_outcome(Retry::Yes),
                    failure_outcome(Retry::Shorter),
                ],
                3,
            ),
        ] {
            let (inner, model) = make_retried(outcomes, Retries::default());
            let _ = model.complete(&call("x")).await;
            assert_eq!(inner.times().len(), tries);
        }
        let (inner, model) = make_retried(
            vec![failure_outcome(Retry::Shorter); 9],
            Retries { attempts: 1, ..Retries::default() },
        );
        assert_eq!(model.complete(&call("x")).await, failure_outcome(Retry::Shorter));
        assert_eq!(inner.times().len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn the_endpoints_wait_is_applied_up_to_the_callers_patience() {
        let (inner, model) = make_retried(
            vec![failure_outcome(Retry::After(20 * SECOND)), answer_outcome()],
            Retries::default(),
        );
        assert!(model.complete(&call("x")).await.result.is_ok());
        let times = inner.times();
        assert!(times[1] - times[0] >= 20 * SECOND);
        let before = Instant::now();
        let (inner, model) = make_retried(
            vec![failure_outcome(Retry::After(3_600 * SECOND)), answer_outcome()],
            Retries::default(),
        );
        let LlmError::Unavailable(text) = model.complete(&call("x")).await.result.unwrap_err()
        else {
            panic!()
        };
        assert_eq!(text, "failed (it asks for a wait of 3600 s, and a call waits 60 s at most)");
        assert_eq!((inner.times().len(), before.elapsed()), (1, Duration::ZERO));
    }

    #[tokio::test(start_paused = true)]
    async fn plainer_ways_do_not_count_but_end() {
        let mut outcomes = vec![failure_outcome(Retry::After(Duration::ZERO)); 5];
        outcomes.extend([
            failure_outcome(Retry::Yes),
            failure_outcome(Retry::Yes),
            answer_outcome(),
        ]);
        let (inner, model) = make_retried(outcomes, Retries::default());
        assert!(model.complete(&call("x")).await.result.is_ok());
        assert_eq!(inner.times().len(), 8);
        let (inner, model) = make_retried(
            vec![failure_outcome(Retry::After(Duration::ZERO)); 20],
            Retries::default(),
        );
        let error = model.complete(&call("x")).await.result.unwrap_err();
        assert!(error.to_string().ends_with("(it refuses every way of asking)"), "{error}");
        assert_eq!(inner.times().len(), 9);
    }

    #[tokio::test(start_paused = true)]
    async fn a_dropped_call_is_not_tried_again() {
        let (inner, model) =
            make_retried(vec![failure_outcome(Retry::After(5 * SECOND)); 9], Retries::default());
        {
            let call = call("x");
            let mut running = std::pin::pin!(model.complete(&call));
            assert!(futures::poll!(running.as_mut()).is_pending());
        }
        advance(60 * SECOND).await;
        assert_eq!(inner.times().len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn each_try_is_charged_and_a_wait_holds_no_slot() {
        let ledger = Ledger::new(Budgets { llm_calls: 4, ..Budgets::default() });
        let inner = Arc::new(ScriptedModel::new(vec![
            failure_outcome(Retry::After(9 * SECOND)),
            answer_outcome(),
            failure_outcome(Retry::Yes),
        ]));
        let limits = Limits { llm_in_flight: 1, ..Limits::default() };
        let budgeted = BudgetedModel::new(Arc::clone(&inner) as _, Arc::clone(&ledger), limits);
        let model = RetriedModel::new(Arc::new(budgeted), Retries::default());
        let first = call("first");
        let second = call("second");
        let mut waiting = std::pin::pin!(model.complete(&first));
        assert!(futures::poll!(waiting.as_mut()).is_pending());
        // While the first call waits for its second try, the only slot is free for another.
        assert!(model.complete(&second).await.result.is_ok());
        assert_eq!(ledger.spending().calls, 2);
        // The second try fails for another reason, the third is answered, and then the calls are
        // used up.
        inner.then([answer_outcome(), answer_outcome()]);
        assert!(waiting.await.result.is_ok());
        assert_eq!((ledger.spending().calls, inner.times().len()), (4, 4));
        assert_eq!(model.complete(&second).await.result, Err(LlmError::Budget));
    }

    proptest! {
        #[test]
        fn waits_are_random_bounded_and_the_seeds(seed: u64, tries in 1..200_u32) {
            let retries = Retries { seed, ..Retries::default() };
            let one = make_retried(Vec::new(), retries).1;
            let other = make_retried(Vec::new(), retries).1;
            let waits: Vec<Duration> = (0..20).map(|_| one.backoff(tries)).collect();
            prop_assert!(waits.iter().all(|wait| *wait <= retries.longest));
            prop_assert!(waits.windows(2).any(|pair| pair[0] != pair[1]));
            prop_assert_eq!(waits, (0..20).map(|_| other.backoff(tries)).collect::<Vec<_>>());
        }
    }
}
