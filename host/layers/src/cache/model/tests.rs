//! Hits that cannot be distinguished from calls that were sent, equal calls in flight, and what is
//! never cached.

use futures::future::join_all;
use proptest::prelude::*;
use syrch_cache::Found;
use syrch_core::Limits;
use syrch_core::ledger::{Budgets, Exhausted};
use syrch_core::ports::{Message, Purpose, Shape, Speaker};

use super::*;
use crate::BudgetedModel;
use crate::cache::fakes::{ScriptedModel, answer_outcome, failure_outcome, reply, scratch};
use crate::fakes::{call, request};

/// A search over a model: its ledger, and the provider as the search sees it.
fn search(
    model: &Arc<ScriptedModel>,
    cache: &Arc<Cache>,
    budgets: Budgets,
) -> (Arc<Ledger>, CachedModel) {
    let ledger = Ledger::new(budgets);
    let budgeted =
        BudgetedModel::new(Arc::clone(model) as _, Arc::clone(&ledger), Limits::default());
    (Arc::clone(&ledger), CachedModel::new(Arc::new(budgeted), Arc::clone(cache), ledger))
}

#[tokio::test]
async fn a_hit_cannot_be_distinguished_from_a_call_that_is_sent() {
    let (folder, cache) = scratch();
    let model =
        ScriptedModel::new([answer_outcome(reply("first")), answer_outcome(reply("second"))]);
    let (sent_ledger, sent) = search(&model, &cache, Budgets::default());
    let first = sent.complete(&call("x")).await;
    // Another process, another search.
    let again = Cache::open(folder.path(), syrch_cache::Options::default());
    let (ledger, cached) = search(&model, &again, Budgets::default());
    let mut other_purpose = call("x");
    other_purpose.request.purpose = Purpose::Judge;
    other_purpose.request.subjects = vec!["SELECT 1".into()];
    assert_eq!(cached.complete(&other_purpose).await, first);
    assert_eq!(model.calls(), 1);
    let sent = sent_ledger.spending();
    let cached = ledger.spending();
    assert_eq!(
        (cached.calls_charged(), cached.tokens_charged),
        (sent.calls_charged(), sent.tokens_charged)
    );
    assert_eq!(
        (cached.calls, cached.cached, cached.cost_micros, sent.cost_micros),
        (0, 1, None, Some(5))
    );
    assert_eq!(cached.by_purpose["judge"].cached, 1);
}

#[tokio::test]
async fn a_spent_budget_refuses_hits_and_slots_do_not_hold_them_up() {
    let (_folder, cache) = scratch();
    let model = ScriptedModel::with_gate([answer_outcome(reply("x"))]);
    let (_, warm) = search(&model, &cache, Budgets::default());
    model.permits.as_ref().unwrap().add_permits(1);
    warm.complete(&call("x")).await.result.unwrap();
    let ledger = Ledger::new(Budgets { llm_calls: 2, ..Budgets::default() });
    let limits = Limits { llm_in_flight: 1, ..Limits::default() };
    let budgeted = BudgetedModel::new(Arc::clone(&model) as _, Arc::clone(&ledger), limits);
    let cached = CachedModel::new(Arc::new(budgeted), Arc::clone(&cache), Arc::clone(&ledger));
    // Hangs in the only slot.
    let hanging = call("y");
    let mut other = Box::pin(cached.complete(&hanging));
    while model.calls() < 2 {
        assert!(futures::poll!(other.as_mut()).is_pending());
        tokio::task::yield_now().await;
    }
    assert!(cached.complete(&call("x")).await.result.is_ok());
    assert_eq!(cached.complete(&call("x")).await, ModelOutcome::unsent(LlmError::Budget));
    assert_eq!(
        (ledger.spending().exhausted, ledger.spending().cached),
        (vec![Exhausted::LlmCalls], 1)
    );
}

#[tokio::test]
async fn a_hit_waits_for_what_calls_of_other_searches_give_back() {
    let (_folder, cache) = scratch();
    let model = ScriptedModel::with_gate([answer_outcome(reply("x"))]);
    let permits = model.permits.as_ref().unwrap();
    let (_, warm) = search(&model, &cache, Budgets::default());
    permits.add_permits(1);
    warm.complete(&call("x")).await.result.unwrap();
    // A call reserves 40 tokens and uses 18, as a hit does.
    let total = Ledger::new(Budgets { tokens: 50, ..Budgets::default() });
    let searches: Vec<(Arc<Ledger>, CachedModel)> = (0..2)
        .map(|_| {
            let ledger = Ledger::within(Budgets::default(), Some(Arc::clone(&total)));
            let budgeted =
                BudgetedModel::new(Arc::clone(&model) as _, Arc::clone(&ledger), Limits::default());
            let cached =
                CachedModel::new(Arc::new(budgeted), Arc::clone(&cache), Arc::clone(&ledger));
            (ledger, cached)
        })
        .collect();
    let slow_call = call("y");
    let mut slow = Box::pin(searches[0].1.complete(&slow_call));
    while model.calls() < 2 {
        assert!(futures::poll!(slow.as_mut()).is_pending());
        tokio::task::yield_now().await;
    }
    let hit_call = call("x");
    let end = async {
        // The hit waits by now.
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        permits.add_permits(1);
    };
    let (slow, hit, ()) = tokio::join!(slow, searches[1].1.complete(&hit_call), end);
    assert!(slow.result.is_ok() && hit.result.is_ok(), "{hit:?}");
    let spent = total.spending();
    assert_eq!((spent.tokens_charged, spent.calls, spent.cached), (36, 1, 1));
    assert_eq!(searches[1].0.spending().exhausted, []);
    // With nothing in flight it is refused.
    let refused = searches[1].1.complete(&hit_call).await;
    assert_eq!(refused, ModelOutcome::unsent(LlmError::Budget));
    assert_eq!(searches[1].0.spending().exhausted, [Exhausted::TotalTokens]);
}

#[tokio::test]
async fn errors_and_cut_replies_are_never_cached() {
    let cut = Reply { truncated: true, ..reply("cut") };
    for bad in [
        failure_outcome(LlmError::Malformed("{}".into())),
        failure_outcome(LlmError::Refused("no".into())),
        failure_outcome(LlmError::Unavailable("500".into())),
        ModelOutcome::unsent(LlmError::Unavailable("no route".into())),
        answer_outcome(cut),
    ] {
        let (_folder, cache) = scratch();
        let model = ScriptedModel::new([
            bad.clone(),
            answer_outcome(reply("good")),
            answer_outcome(reply("never")),
        ]);
        let (_, cached) = search(&model, &cache, Budgets::default());
        assert_eq!(cached.complete(&call("x")).await.result, bad.result);
        for _ in 0..2 {
            assert_eq!(cached.complete(&call("x")).await.result.unwrap().text, "good");
        }
        assert_eq!(model.calls(), 2);
    }
}

#[tokio::test]
async fn another_model_or_endpoint_shares_nothing_and_some_are_not_cached() {
    let (_folder, cache) = scratch();
    let model = ScriptedModel::new(["a", "b", "c", "d"].map(|text| answer_outcome(reply(text))));
    let (_, cached) = search(&model, &cache, Budgets::default());
    let text = async || cached.complete(&call("x")).await.result.unwrap().text;
    assert_eq!((text().await, text().await), ("a".into(), "a".into()));
    model.set_identity(Some("fake http://there m-2"));
    assert_eq!((text().await, text().await), ("b".into(), "b".into()));
    model.set_identity(None);
    assert_eq!((text().await, text().await), ("c".into(), "d".into()));
}

#[tokio::test]
async fn a_model_that_is_not_configured_is_refused_though_its_reply_is_cached() {
    let (_folder, cache) = scratch();
    let model = ScriptedModel::new([answer_outcome(reply("x"))]);
    let (_, cached) = search(&model, &cache, Budgets::default());
    let mut named = call("x");
    named.request.model = Some("n".into());
    assert!(cached.complete(&named).await.result.is_ok());
    named.request.model = Some("gone".into());
    assert!(matches!(cached.complete(&named).await.result, Err(LlmError::Denied(_))));
}

#[tokio::test]
async fn equal_calls_of_two_searches_go_out_once() {
    let (_folder, cache) = scratch();
    let model =
        ScriptedModel::with_gate([answer_outcome(reply("x")), answer_outcome(reply("never"))]);
    let (first_ledger, first) = search(&model, &cache, Budgets::default());
    let (second_ledger, second) = search(&model, &cache, Budgets::default());
    let (call, other) = (call("x"), call("x"));
    let all = join_all(
        (0..20).map(|at| if at % 2 == 0 { first.complete(&call) } else { second.complete(&other) }),
    );
    let (outcomes, ()) =
        futures::join!(all, async { model.permits.as_ref().unwrap().add_permits(1) });
    assert!(outcomes.iter().all(|outcome| *outcome == outcomes[0]) && outcomes[0].result.is_ok());
    assert_eq!(model.calls(), 1);
    assert_eq!((first_ledger.spending().calls, first_ledger.spending().cached), (1, 9));
    assert_eq!((second_ledger.spending().calls, second_ledger.spending().cached), (0, 10));
    assert_eq!(first_ledger.spending().tokens_charged, second_ledger.spending().tokens_charged);
}

#[tokio::test]
async fn a_follower_makes_the_call_when_the_leader_is_cancelled() {
    let (_folder, cache) = scratch();
    let model = ScriptedModel::with_gate([answer_outcome(reply("x"))]);
    let (first_ledger, first) = search(&model, &cache, Budgets::default());
    let (second_ledger, second) = search(&model, &cache, Budgets::default());
    let (call, other) = (call("x"), call("x"));
    let mut leader = Box::pin(first.complete(&call));
    while model.calls() < 1 {
        assert!(futures::poll!(leader.as_mut()).is_pending());
        tokio::task::yield_now().await;
    }
    let mut follower = Box::pin(second.complete(&other));
    assert!(futures::poll!(follower.as_mut()).is_pending());
    drop(leader);
    model.permits.as_ref().unwrap().add_permits(1);
    assert_eq!(follower.await.result.unwrap().text, "x");
    // The cancelled call may have been paid for, and stays charged.
    assert_eq!(
        (model.calls(), first_ledger.spending().tokens_charged, first_ledger.spending().calls),
        (2, 40, 1)
    );
    assert_eq!((second_ledger.spending().tokens_charged, second_ledger.spending().calls), (18, 1));
}

#[tokio::test]
async fn followers_share_the_endpoint_s_errors_and_not_the_leader_s_own() {
    for (error, calls) in [
        (failure_outcome(LlmError::Unavailable("500".into())), 1),
        (ModelOutcome::unsent(LlmError::Cancelled), 3),
    ] {
        let (_folder, cache) = scratch();
        let model = ScriptedModel::with_gate([error.clone()]);
        let searches: Vec<_> = (0..3).map(|_| search(&model, &cache, Budgets::default())).collect();
        let call = call("x");
        let all = join_all(searches.iter().map(|(_, cached)| cached.complete(&call)));
        let (outcomes, ()) =
            futures::join!(all, async { model.permits.as_ref().unwrap().add_permits(3) });
        assert!(outcomes.iter().all(|outcome| outcome.result == error.result), "{outcomes:?}");
        assert_eq!(model.calls(), calls);
        // Who followed is charged as who led: without a report, all that was reserved.
        let charged: Vec<u64> =
            searches.iter().map(|(ledger, _)| ledger.spending().tokens_charged).collect();
        assert_eq!(charged, if error.sent { [40; 3] } else { [0; 3] });
    }
}

#[tokio::test]
async fn an_entry_that_cannot_be_read_is_made_anew() {
    let (_folder, cache) = scratch();
    let model = ScriptedModel::new(["a", "b", "c"].map(|text| answer_outcome(reply(text))));
    let (_, cached) = search(&model, &cache, Budgets::default());
    let call = call("x");
    let Found::Lead(lead) = cache.find(cached.key(&call).unwrap()).await else {
        panic!("nothing is cached")
    };
    lead.store(b"no outcome".as_slice().into()).await;
    let mut texts = Vec::new();
    for _ in 0..3 {
        texts.push(cached.complete(&call).await.result.unwrap().text);
    }
    assert_eq!(texts, ["a", "b", "b"]);
}

#[tokio::test]
async fn a_cache_that_fails_changes_nothing_but_the_cost() {
    let scratch = tempfile::tempdir().unwrap();
    std::fs::write(scratch.path().join("file"), b"").unwrap();
    let cache = Cache::open(&scratch.path().join("file"), syrch_cache::Options::default());
    let model = ScriptedModel::new([answer_outcome(reply("x"))]);
    let (ledger, cached) = search(&model, &cache, Budgets::default());
    assert!(
        cached.complete(&call("x")).await.result.is_ok()
            && cached.complete(&call("x")).await.result.is_ok()
    );
    assert_eq!((model.calls(), ledger.spending().calls, cache.take_warnings().len()), (2, 2, 1));
}

/// The same prompt has the same key in every process; that nothing of it depends on the order of a
/// set is shown by this text.
#[test]
fn what_is_asked_is_written_the_same_everywhere() {
    let mut request = request("x");
    request.expect = Shape::Yaml(vec!["b".into(), "a".into()]);
    request.temperature = Some(0.7);
    let asked =
        serde_json::to_string(&CacheKey { version: "1", ..CacheKey::from_request(&request, None) })
            .unwrap();
    assert_eq!(
        asked,
        r#"{"version":"1","messages":[{"speaker":"user","text":"x"}],"expect":{"yaml":["b","a"]},"model":null,"temperature":1060320051,"top_p":null,"max_tokens":null,"stop":[],"logprobs":false,"sample":0}"#
    );
}

/// A request that leaves a setting open is the same call as one that asks for the configured value.
#[test]
fn a_request_that_asks_for_the_default_is_the_same_call() {
    let open = request("x");
    let mut asked = request("x");
    asked.temperature = Some(0.7);
    fn write(request: &Request, default: Option<f32>) -> String {
        serde_json::to_string(&CacheKey::from_request(request, default)).unwrap()
    }
    assert_eq!(write(&open, Some(0.7)), write(&asked, Some(0.7)));
    assert_ne!(write(&open, Some(0.2)), write(&asked, Some(0.2)));
    assert_ne!(write(&open, None), write(&asked, None));
    let narrowed = Request { top_p: Some(0.5), ..open };
    assert!(write(&narrowed, Some(0.7)).contains(r#""temperature":null"#));
}

fn shapes() -> impl Strategy<Value = Shape> {
    let words = prop::collection::vec("[ab,\"]{0,2}", 0..3);
    prop_oneof![
        Just(Shape::Text),
        Just(Shape::Sql),
        "[ab\"]{0,2}".prop_map(Shape::Json),
        words.clone().prop_map(Shape::Yaml),
        words.prop_map(Shape::Choice),
        "[ab]{0,2}".prop_map(Shape::Other),
    ]
}

prop_compose! {
    fn requests()(
        texts in prop::collection::vec((any::<bool>(), "[ab\"\\\\]{0,2}"), 0..3),
        expect in shapes(),
        model in prop::option::of("[ab]{0,1}"),
        temperature in prop::option::of(prop_oneof![Just(0.0_f32), Just(-0.0), Just(1.5)]),
        top_p in prop::option::of(prop_oneof![Just(0.0_f32), Just(1.5)]),
        max_tokens in prop::option::of(0_u32..2),
        stop in prop::collection::vec("[ab]{0,2}", 0..2),
        logprobs: bool,
        sample in 0_u32..2,
    ) -> Request {
        let speaker = |is_user| if is_user { Speaker::User } else { Speaker::System };
        let messages = texts
            .into_iter()
            .map(|(is_user, text)| Message { speaker: speaker(is_user), text })
            .collect();
        Request {
            messages, expect, model, temperature, top_p, max_tokens, stop, logprobs, sample,
            ..request("")
        }
    }
}

proptest! {
    #[test]
    fn different_requests_are_written_differently(one in requests(), two in requests()) {
        let written =
            |request: &Request| serde_json::to_vec(&CacheKey::from_request(request, None)).unwrap();
        // Equal numbers may have different bits, as 0.0 and -0.0 have: that costs a call and
        // confuses nothing.
        prop_assert!(one == two || written(&one) != written(&two));
        prop_assert_eq!(written(&one), written(&one.clone()));
        let purpose = Request {
            purpose: Purpose::Other("p".into()), subjects: vec!["s".into()], ..one.clone()
        };
        prop_assert_eq!(written(&one), written(&purpose));
    }
}
