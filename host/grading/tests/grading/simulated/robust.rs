//! Equal calls have equal answers, only a right answer has the expected statement, and suites may
//! have statements that cannot be run.

use std::sync::Arc;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use syrch::syrch_core::Task;
use syrch::syrch_core::ports::{LlmError, ModelProvider, Purpose, Shape};
use syrch_simulated::SimulatedKnobs;

use super::world::{GOLD, QUESTION, answer, call, provider, samples, shop, suite};

fn wrong() -> SimulatedKnobs {
    SimulatedKnobs { skill: -20.0, ..SimulatedKnobs::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reply_follows_from_its_call_whatever_the_order() {
    let folder = syrch_kit::scratch();
    let database = shop(folder.path()).await;
    let catalog = database.catalog().await.unwrap();
    let knobs = SimulatedKnobs { skill: -1.5, ..SimulatedKnobs::default() };
    let forward =
        samples(&provider(&suite(&[GOLD]), &database, 5, knobs.clone()), &catalog, 24).await;
    let backward = provider(&suite(&[GOLD]), &database, 5, knobs.clone());
    let together = provider(&suite(&[GOLD]), &database, 5, knobs.clone());
    for sample in (0..24).rev() {
        let call = call(QUESTION, &catalog, Purpose::Generate, sample, Vec::new());
        assert_eq!(answer(&backward, &call).await.unwrap(), forward[sample as usize]);
    }
    let calls: Vec<_> = (0..24)
        .map(|sample| call(QUESTION, &catalog, Purpose::Generate, sample, Vec::new()))
        .collect();
    let asked = calls.iter().enumerate().map(|(at, call)| {
        let provider = &together;
        async move { (at, answer(provider, call).await.unwrap()) }
    });
    let mut under_way: FuturesUnordered<_> = asked.collect();
    let mut ended = 0;
    while let Some((at, said)) = under_way.next().await {
        assert_eq!(said, forward[at]);
        ended += 1;
    }
    assert_eq!(ended, 24);
    // Another prompt, another purpose and another statement to repair are other calls.
    let mut other = call(QUESTION, &catalog, Purpose::Generate, 0, Vec::new());
    let naive = SimulatedKnobs { naive: true, ..SimulatedKnobs::default() };
    let provider = provider(&suite(&[GOLD]), &database, 5, naive);
    let claims: Vec<f64> =
        samples(&provider, &catalog, 24).await.into_iter().map(|(_, claim)| claim).collect();
    let mut different = 0;
    for (sample, claim) in claims.iter().enumerate() {
        other.request.sample = sample as u32;
        other.request.messages[0].text = "Another prompt".to_owned();
        different += u32::from(answer(&provider, &other).await.unwrap().1 != *claim);
    }
    assert!(different > 12, "{different}");
}

#[tokio::test]
async fn what_is_expected_is_said_by_a_right_answer_alone() {
    let folder = syrch_kit::scratch();
    let database = shop(folder.path()).await;
    let catalog = database.catalog().await.unwrap();
    let canary = "SELECT name AS canary FROM customers WHERE age > 30";
    let provider =
        provider(&suite(&[canary, "SELECT 'canary' FROM nowhere"]), &database, 0, wrong());
    assert!(!format!("{provider:?}").contains("canary"));
    // Wrong answers are changed copies, and never the statement itself.
    for (sql, _) in samples(&provider, &catalog, 40).await {
        assert_ne!(sql, canary);
    }
    let mut calls = vec![
        call("Which customers?", &catalog, Purpose::Generate, 0, Vec::new()),
        call(QUESTION, &catalog, Purpose::Link, 0, Vec::new()),
        call(QUESTION, &catalog, Purpose::Judge, 0, vec!["SELECT 1".to_owned()]),
        call(QUESTION, &catalog, Purpose::Judge, 0, Vec::new()),
        call(QUESTION, &catalog, Purpose::Select, 0, vec!["SELECT 1".to_owned()]),
        call(QUESTION, &catalog, Purpose::Plan, 0, Vec::new()),
    ];
    let mut unfit = call(QUESTION, &catalog, Purpose::Generate, 0, Vec::new());
    unfit.request.expect = Shape::Choice(vec!["yes".to_owned()]);
    calls.push(unfit);
    let mut part = call(QUESTION, &catalog, Purpose::Generate, 0, Vec::new());
    part.task = Some(Arc::new(Task { text: "Count them".to_owned(), ..Task::default() }));
    calls.push(part);
    for call in calls {
        let outcome = provider.complete(&call).await;
        let error = outcome.result.unwrap_err();
        assert!(!error.to_string().contains("canary") && !outcome.sent, "{error}");
    }
}

#[tokio::test]
async fn an_unknown_question_is_a_miss_that_names_the_nearest() {
    let folder = syrch_kit::scratch();
    let database = shop(folder.path()).await;
    let catalog = database.catalog().await.unwrap();
    let provider = provider(&suite(&[GOLD]), &database, 0, SimulatedKnobs::default());
    let outcome = provider
        .complete(&call(
            "Which customers are older than 40?",
            &catalog,
            Purpose::Generate,
            0,
            Vec::new(),
        ))
        .await;
    let expected = format!(
        "the simulated answers have none to this question over `shop`; the nearest is `q1` over \
         `shop`: {QUESTION}"
    );
    assert_eq!(outcome.result.unwrap_err(), LlmError::Missed(expected));
    assert!(!outcome.sent && outcome.usage.is_none());
    let far = provider
        .complete(&call("xyz", &catalog, Purpose::Generate, 0, Vec::new()))
        .await
        .result
        .unwrap_err();
    assert!(far.to_string().ends_with("nor to one like it"), "{far}");
}

#[tokio::test]
async fn expected_statements_that_cannot_be_read_or_run_leave_wrong_answers() {
    let folder = syrch_kit::scratch();
    let database = shop(folder.path()).await;
    let catalog = database.catalog().await.unwrap();
    let huge =
        format!("SELECT name FROM customers WHERE age > 30 AND id IN ({}1)", "1,".repeat(20_000));
    let deep = format!("SELECT {}1{}", "(".repeat(5_000), ")".repeat(5_000));
    let chain = format!("SELECT 1{}", " + 1".repeat(15_000));
    let endless =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n LIMIT 3";
    for golds in [
        vec![],
        vec![""],
        vec!["SELEC name"],
        vec!["SELECT nothing FROM nowhere"],
        vec!["DROP TABLE customers"],
        vec!["SELECT 1; SELECT 2"],
        vec![huge.as_str()],
        vec![deep.as_str()],
        vec![chain.as_str()],
        vec![endless],
    ] {
        let provider = provider(&suite(&golds), &database, 0, wrong());
        for (sql, claim) in samples(&provider, &catalog, 6).await {
            assert!(
                !sql.trim().is_empty()
                    && !golds.contains(&sql.as_str())
                    && (0.0..=1.0).contains(&claim)
            );
            assert!(!sql.to_lowercase().contains("drop"), "{sql}");
        }
    }
    // One that the parser does not read is right as it is, when it runs.
    let odd =
        "SELECT name FROM customers WHERE age > 30 AND name NOT NULL AND 1 IS NOT DISTINCT FROM 1";
    let certain = SimulatedKnobs { skill: 20.0, ..SimulatedKnobs::default() };
    let long = format!("{odd} -- {}", "x".repeat(20_000));
    let provider = provider(&suite(&["SELEC", &long]), &database, 0, certain);
    assert_eq!(samples(&provider, &catalog, 1).await[0].0, long);
}

#[tokio::test]
async fn of_several_expected_statements_the_first_that_the_catalog_shows_is_given() {
    let folder = syrch_kit::scratch();
    let database = shop(folder.path()).await;
    let catalog = database.catalog().await.unwrap();
    let certain = SimulatedKnobs { skill: 20.0, ..SimulatedKnobs::default() };
    let provider = provider(
        &suite(&[GOLD, "SELECT id, name FROM customers WHERE NOT age <= 30"]),
        &database,
        0,
        certain.clone(),
    );
    assert_eq!(
        samples(&provider, &catalog, 1).await[0].0,
        "SELECT name FROM customers WHERE age > 30"
    );
    let other = self::provider(&suite(&["SELECT total FROM orders", GOLD]), &database, 0, certain);
    let narrowed = Arc::new(catalog.narrow([("customers", &[][..])]));
    assert_eq!(
        samples(&other, &narrowed, 1).await[0].0,
        "SELECT name FROM customers WHERE age > 30"
    );
}

#[tokio::test]
async fn nothing_is_sent_and_nothing_is_for_a_cache() {
    let folder = syrch_kit::scratch();
    let database = shop(folder.path()).await;
    let catalog = database.catalog().await.unwrap();
    let provider = provider(&suite(&[GOLD]), &database, 0, SimulatedKnobs::default());
    let call = call(QUESTION, &catalog, Purpose::Generate, 0, Vec::new());
    assert_eq!((provider.name(), provider.models()), ("simulated", vec!["simulated".to_owned()]));
    assert_eq!((provider.identity(&call), provider.preview(&call)), (None, None));
}
