//! The clients under the layers that a search puts around them: retried, rated, budgeted, routed
//! and priced.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use syrch_core::ledger::Budgets;
use syrch_core::ports::{LlmError, ModelCall, ModelProvider, Purpose, Shape};
use syrch_core::{Ledger, Limits};
use syrch_kit::{MockEndpoint, Recorded, Reply, Script};
use syrch_layers::{
    BudgetedModel, Limiter, Price, PricedModel, Prices, RatedModel, Rates, RetriedModel, Retries,
    Route, RoutedModel,
};
use syrch_llm::{AnthropicProvider, EndpointConfig, OpenAiProvider};

use crate::{SCHEMA, call};

/// A strong model and a cheap one that judges, both behind one endpoint, under everything that
/// stands around them.
fn stack(
    endpoint: &MockEndpoint,
    budgets: Budgets,
    is_anthropic: bool,
) -> (Arc<Ledger>, RetriedModel) {
    let config = EndpointConfig {
        timeout: Duration::from_secs(3),
        models: vec!["tiny".into()],
        temperature: Some(0.7),
        ..EndpointConfig::new(endpoint.url(), "huge-1")
    };
    let provider: Arc<dyn ModelProvider> = if is_anthropic {
        Arc::new(AnthropicProvider::new(config).unwrap())
    } else {
        Arc::new(OpenAiProvider::new(config).unwrap())
    };
    let prices = [
        ("huge*".to_owned(), Price::new(3.0, 15.0).unwrap()),
        ("tiny".to_owned(), Price::new(0.25, 1.25).unwrap()),
    ];
    let priced: Arc<dyn ModelProvider> =
        Arc::new(PricedModel::new(provider, Arc::new(Prices::new(prices).unwrap())));
    let limiter = Limiter::new(Rates { in_flight: Some(4), ..Rates::default() });
    let route = |name: &str, model: Option<&str>| Route {
        name: name.into(),
        provider: Arc::clone(&priced),
        model: model.map(str::to_owned),
        limiter: Arc::clone(&limiter),
    };
    let purposes = BTreeMap::from([("judge".to_owned(), "cheap".to_owned())]);
    let routed = Arc::new(
        RoutedModel::new(route("strong", None), vec![route("cheap", Some("tiny"))], &purposes)
            .unwrap(),
    );
    let ledger = Ledger::new(budgets);
    let budgeted =
        BudgetedModel::new(Arc::clone(&routed) as _, Arc::clone(&ledger), Limits::default());
    let rated = RatedModel::new(Arc::new(budgeted), routed);
    let retries = Retries { base: Duration::from_millis(2), seed: 7, ..Retries::default() };
    (ledger, RetriedModel::new(Arc::new(rated), retries))
}

/// Every second request fails, each in another way.
fn faulty(_: &Recorded, before: usize) -> Option<Reply> {
    let fault = match before % 14 {
        1 => Reply::status(429, "slow down").header("retry-after-ms", "5"),
        3 => Reply::status(500, "out of memory"),
        5 => Reply::cut_stream(),
        7 => Reply::garbage(),
        9 => Reply::half_json(),
        11 => Reply::status(503, "come back").header("retry-after", "0"),
        13 if before == 13 => Reply::hang(),
        _ => return None,
    };
    Some(fault)
}

#[tokio::test]
async fn every_call_ends_and_the_ledger_counts_as_the_endpoint_does() {
    for is_anthropic in [false, true] {
        let script = Script::new().with(faulty).on([""], Reply::sql("SELECT 1", 0.9));
        let endpoint = MockEndpoint::start(script);
        let (ledger, model) =
            stack(&endpoint, Budgets { tokens: 1_000_000, ..Budgets::default() }, is_anthropic);
        let calls: Vec<_> = (0..60).map(|at| call(&format!("question {at}"), Shape::Sql)).collect();
        let outcomes = join_all(calls.iter().map(|call| model.complete(call))).await;
        let answered = outcomes.iter().filter(|outcome| outcome.result.is_ok()).count();
        for outcome in &outcomes {
            let is_typed = matches!(
                &outcome.result,
                Ok(_) | Err(LlmError::Unavailable(_) | LlmError::Declined { .. })
            );
            assert!(is_typed, "{outcome:?}");
        }
        // Garbage is no passing failure, and three faults in a row are rare.
        assert!(answered > 30, "{answered}");
        assert_eq!(ledger.spending().calls as usize, endpoint.count());
        assert!(
            endpoint.count() > 60 && endpoint.peak() <= 4,
            "{} {}",
            endpoint.count(),
            endpoint.peak()
        );
        assert!(endpoint.repeats()[0] <= 3, "{:?}", endpoint.repeats());
        assert!(ledger.spending().cost_micros.is_some_and(|cost| cost > 0));
    }
}

#[tokio::test]
async fn plainer_ways_of_asking_are_calls_of_their_own() {
    let script = Script::always(Reply::text("{\"n\": 7}"))
        .without_response_format()
        .refuses("temperature")
        .refuses("seed");
    let endpoint = MockEndpoint::start(script);
    let (ledger, model) = stack(&endpoint, Budgets::default(), false);
    let outcome = model.complete(&call("q", Shape::Json(SCHEMA.into()))).await;
    assert_eq!(outcome.result.unwrap().parsed.as_deref(), Some("{\"n\":7}"));
    // Two formats and two parameters are refused, one after the other, without a charge.
    assert_eq!((endpoint.count(), ledger.spending().calls), (5, 5));
    let spent = ledger.spending();
    let usage = outcome.usage.unwrap();
    assert_eq!(spent.input_tokens, u64::from(usage.input_tokens));
    assert_eq!((spent.cost_micros, usage.cost_micros.is_some()), (usage.cost_micros, true));
}

#[tokio::test]
async fn a_purpose_has_its_model_and_its_price() {
    for is_anthropic in [false, true] {
        let endpoint = MockEndpoint::start(Script::always(
            Reply::text("A").usage(syrch_kit::Usage::Tokens(1_000, 100)),
        ));
        let (ledger, model) = stack(&endpoint, Budgets::default(), is_anthropic);
        let mut judged = call("which", Shape::Text);
        judged.request.purpose = Purpose::Judge;
        let cost = async |call: &ModelCall| model.complete(call).await.usage.unwrap().cost_micros;
        assert_eq!(
            (cost(&judged).await, cost(&call("q", Shape::Text)).await),
            (Some(375), Some(4_500))
        );
        judged.request.model = Some("strong".into());
        assert_eq!(cost(&judged).await, Some(4_500));
        let models: Vec<String> = endpoint
            .requests()
            .iter()
            .map(|request| request.body["model"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(
            (models, ledger.spending().cost_micros),
            (vec!["tiny".into(), "huge-1".into(), "huge-1".into()], Some(9_375))
        );
        judged.request.model = Some("huge-1".into());
        assert!(matches!(model.complete(&judged).await.result, Err(LlmError::Denied(_))));
        assert_eq!(endpoint.count(), 3);
    }
}

#[tokio::test]
async fn money_shortens_and_then_refuses() {
    let endpoint = MockEndpoint::start(Script::always(Reply::text("A")));
    let budgets = Budgets { cost_micros: Some(2_000), ..Budgets::default() };
    let (ledger, model) = stack(&endpoint, budgets, true);
    assert!(model.complete(&call("q", Shape::Text)).await.result.is_ok());
    // 17 tokens of prompt at 3 millionths leave 1949, which pay for 129 tokens of reply at 15.
    assert_eq!(endpoint.requests()[0].body["max_tokens"], 129);
    while model.complete(&call("q", Shape::Text)).await.result.is_ok() {}
    let spent = ledger.spending();
    assert!(spent.cost_micros.is_some_and(|cost| cost <= 2_000), "{spent:?}");
    assert_eq!(
        (spent.calls as usize, &spent.exhausted[..]),
        (endpoint.count(), &[syrch_core::ledger::Exhausted::Cost][..])
    );
}

#[tokio::test]
async fn an_endpoint_that_dies_in_the_middle_is_charged_and_one_that_is_down_is_not() {
    let endpoint = MockEndpoint::start(Script::always(Reply::cut_stream()));
    let (ledger, model) = stack(&endpoint, Budgets::default(), true);
    let error = model.complete(&call("q", Shape::Text)).await.result.unwrap_err().to_string();
    assert!(error.contains("broke off") && error.ends_with("(tried 3 times)"), "{error}");
    let spent = ledger.spending();
    // Nobody knows what the three used: each stays charged with all that it reserved, 17 tokens of
    // prompt and 4096 of reply.
    assert_eq!((spent.calls, spent.tokens_charged, spent.input_tokens), (3, 3 * (17 + 4_096), 0));
    assert_eq!(spent.cost_micros, Some(3 * (17 * 3 + 4_096 * 15)));
    assert_eq!(endpoint.count(), 3);
    drop(endpoint);
    let error = model.complete(&call("q", Shape::Text)).await.result.unwrap_err().to_string();
    assert!(
        error.contains("is the server running") && error.ends_with("(tried 3 times)"),
        "{error}"
    );
    assert_eq!(ledger.spending(), spent);
}

#[tokio::test]
async fn a_call_dropped_at_the_endpoint_stays_charged() {
    let endpoint = MockEndpoint::start(Script::always(Reply::hang()));
    let (ledger, model) = stack(&endpoint, Budgets::default(), false);
    let call = call("q", Shape::Text);
    tokio::select! {
        outcome = model.complete(&call) => panic!("{outcome:?}"),
        () = async {
            while endpoint.count() == 0 { tokio::time::sleep(Duration::from_millis(1)).await }
        } => {}
    }
    assert_eq!(
        (ledger.spending().calls, ledger.spending().tokens_charged, endpoint.count()),
        (1, 17 + 4_096, 1)
    );
}
