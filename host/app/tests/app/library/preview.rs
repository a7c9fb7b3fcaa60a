//! A dry run shows what a search would send first, and sends nothing.

use std::sync::Arc;

use syrch::settings::PluginSource;
use syrch::syrch_core::Problem;
use syrch::syrch_core::roles::Role;
use syrch::{Error, Host, Provider, Settings, Silent, Stop};
use syrch_kit::{MockEndpoint, Reply, Script};

use super::shop::{PLAN, WRITE, plan, settings, shop, task_prompt};

const QUESTION: &str = "How much did each customer spend?";
const KEY: &str = "sesame-open-4711";

fn script() -> Script {
    Script::new()
        .on([PLAN], plan(&[("A", "the first part", &[]), ("B", "the second part", &[])]))
        .on(
            [&task_prompt("the first part")],
            Reply::sql("SELECT COUNT(*) AS n FROM customers", 0.95),
        )
        .on([WRITE], Reply::sql("SELECT COUNT(*) AS n FROM orders", 0.95))
}

async fn open(settings: Settings) -> Arc<Host> {
    Arc::new(Host::open(settings, &Silent).await.unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_request_is_shown_as_it_would_be_sent() {
    let folder = syrch_kit::scratch();
    for provider in [Provider::OPENAI, Provider::ANTHROPIC] {
        let endpoint = MockEndpoint::start(script());
        let mut settings = settings(&shop(folder.path()), &endpoint.url());
        settings.model.provider = provider;
        if provider == Provider::ANTHROPIC {
            settings.model.base_url = endpoint.url().trim_end_matches("/v1").to_owned();
        }
        settings.model.api_key = Some(KEY.to_owned().into());
        settings.journal.folder = Some(folder.path().join("runs"));
        settings.model.record = Some(folder.path().join("exchanges.jsonl"));
        let host = open(settings).await;
        let previews = host.preview(Problem::new(QUESTION)).await.unwrap();
        assert_eq!((previews.len(), endpoint.count()), (1, 0));
        assert!(!folder.path().join("runs").exists(), "a dry run has no journal");
        let shown = &previews[0];
        assert!(!format!("{shown:?}").contains(KEY), "{shown:?}");
        host.search(Problem::new(QUESTION), Arc::new(Silent), None, &Stop::new()).await.unwrap();
        let sent = &endpoint.requests()[0];
        assert_eq!(shown.body.to_string(), sent.body.to_string());
        assert!(shown.method == "POST" && shown.url.ends_with(&sent.path), "{shown:?}");
        for (name, value) in &shown.headers {
            let sent = &sent.headers[name];
            assert!(
                value == sent || *sent == value.replace("***", KEY),
                "{name}: {value}, not {sent}"
            );
        }
        std::fs::remove_dir_all(folder.path().join("runs")).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_cache_holds_is_not_shown() {
    let folder = syrch_kit::scratch();
    // The plan comes, and then the endpoint is out of order: the cache holds the plan alone.
    let endpoint = MockEndpoint::start(
        Script::new()
            .on([PLAN], plan(&[("A", "the first part", &[]), ("B", "the second part", &[])]))
            .on([WRITE], Reply::status(400, "out of order")),
    );
    let mut settings = settings(&shop(folder.path()), &endpoint.url());
    settings.cache.folder = Some(folder.path().join("cache"));
    let host = open(settings).await;
    let error = host
        .search(Problem::new(QUESTION), Arc::new(Silent), None, &Stop::new())
        .await
        .unwrap_err();
    assert!(matches!(error, Error::Model { .. }), "{error}");
    // The last one was made since the others failed.
    let sent = &endpoint.requests()[..3];
    assert_eq!(endpoint.count(), 4);
    let previews = host.preview(Problem::new(QUESTION)).await.unwrap();
    assert_eq!(endpoint.count(), 4);
    // Both tasks would begin at once.
    let mut shown: Vec<String> = previews.iter().map(|preview| preview.body.to_string()).collect();
    let mut expected: Vec<String> =
        sent[1..].iter().map(|request| request.body.to_string()).collect();
    shown.sort();
    expected.sort();
    assert_eq!(shown, expected);
}

/// It ends when nothing more can come, not when nothing has come for a while.
#[tokio::test(flavor = "multi_thread")]
async fn a_guest_that_thinks_between_its_calls_is_waited_for() {
    let folder = syrch_kit::scratch();
    let endpoint = MockEndpoint::start(script());
    let mut settings = settings(&shop(folder.path()), &endpoint.url());
    let hostile = PluginSource::File(syrch_kit::zoo::hostile());
    for role in [Role::Planner, Role::Solver] {
        settings.strategy.roles.insert(role, hostile.clone());
        settings
            .strategy
            .config
            .entry(role)
            .or_default()
            .insert("behaviour".to_owned(), "think-between".into());
    }
    let previews = open(settings).await.preview(Problem::new(QUESTION)).await.unwrap();
    let bodies: Vec<String> = previews.iter().map(|preview| preview.body.to_string()).collect();
    assert_eq!((bodies.len(), endpoint.count()), (2, 0), "{bodies:?}");
    assert!(bodies[0].contains("first") && bodies[1].contains("second"), "{bodies:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn where_nothing_would_be_sent_nothing_is_shown() {
    let folder = syrch_kit::scratch();
    let database = shop(folder.path()).display().to_string();
    let host = open(Settings { database, ..Settings::default() }).await;
    assert_eq!(host.preview(Problem::new("How many customers are there?")).await.unwrap(), []);
    assert!(matches!(host.preview(Problem::new(" ")).await, Err(Error::Config(_))));
}
