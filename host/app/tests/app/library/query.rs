//! One question in one call.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use syrch::journal::Journal;
use syrch::syrch_core::roles::Role;
use syrch::syrch_core::{Question, Value};
use syrch::{
    Ask, Error, Host, HostBuilder, Observer, Provider, QueryError, SearchEvent, strategies,
};
use syrch_kit::{MockEndpoint, Reply, Script};

use super::shop::{PLAN, WRITE, plan, shop, task_prompt};

/// A text that only prompts for a question to the user contain.
const CLARIFY: &str = "could not tell what the user means";

/// The user, who always answers the same.
struct User(&'static str);

#[async_trait]
impl Ask for User {
    async fn ask(&self, _: &Question) -> Option<String> {
        Some(self.0.to_owned())
    }
}

/// Remembers which tasks ended.
struct Watch(Arc<Mutex<Vec<String>>>);

impl Observer for Watch {
    fn event(&self, event: &SearchEvent) {
        if let SearchEvent::TaskEnded { id, .. } = event {
            self.0.lock().unwrap().push(id.clone());
        }
    }
}

fn is_send<T: Send>(value: T) -> T {
    value
}

#[tokio::test(flavor = "multi_thread")]
async fn one_call_answers_by_rules() {
    let folder = syrch_kit::scratch();
    let found =
        is_send(syrch::query("How many customers are there?", shop(folder.path()))).await.unwrap();
    assert_eq!(found.data.rows(0, 9), [[Value::Integer(3)]]);
    assert_eq!(found.data.batches()[0].num_rows(), 1);
    assert!(found.answer.contains('3') && !found.basis.is_empty(), "{found:?}");
    assert_eq!((found.tables.as_slice(), found.token_cost), (&["customers".to_owned()][..], 0));
    assert!(found.confidence > 0.0 && found.confidence <= 1.0);
    assert_eq!(found.trace.sql, Some(found.sql));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_with_a_model_tells_all_that_it_rests_on() {
    let folder = syrch_kit::scratch();
    let endpoint = MockEndpoint::start(
        Script::new()
            .requires_key("sesame")
            .on([PLAN], plan(&[("A", "the customers", &[]), ("B", "their orders", &["A"])]))
            .on(
                [&task_prompt("the customers")],
                Reply::sql("SELECT id, name FROM customers WHERE country = 'France'", 0.95),
            )
            .on(
                [&task_prompt("their orders")],
                Reply::sql(
                    "SELECT a.name, COUNT(*) AS n FROM task_A a \
                     JOIN orders o ON o.customer_id = a.id GROUP BY a.name ORDER BY a.name",
                    0.95,
                ),
            ),
    );
    let ended = Arc::default();
    let found = Host::builder()
        .database(shop(folder.path()))
        .base_url(endpoint.url())
        .strategy(strategies::DEFAULT)
        .model("mock")
        .api_key("sesame".to_owned())
        .temperature(0.25)
        .max_tokens(512)
        .timeout(Duration::from_secs(20))
        .journal(folder.path().join("runs"))
        .cache(folder.path().join("cache"))
        .cache_ttl(Duration::from_secs(60))
        .query("How many orders has each customer from France?")
        .evidence("France is a country")
        .max_depth(2)
        .max_attempts(2)
        .high_confidence(0.5)
        .max_concurrency(2)
        .token_budget(60_000)
        .deadline(Duration::from_secs(60))
        .observer(Watch(Arc::clone(&ended)))
        .run()
        .await
        .unwrap();
    assert_eq!(found.data.row_count(), 2);
    let tasks: Vec<_> =
        found.graph.tasks.iter().map(|task| (task.id.as_str(), task.depends_on.len())).collect();
    assert_eq!(tasks, [("A", 0), ("B", 1)]);
    assert_eq!(*ended.lock().unwrap(), ["A", "B"]);
    let mut tables = found.tables.clone();
    tables.sort();
    assert_eq!(tables, ["customers", "orders"]);
    assert!(found.token_cost > 0 && found.token_cost <= 60_000);
    let sent = &endpoint.requests()[0];
    assert_eq!((&sent.body["temperature"], &sent.body["max_tokens"]), (&0.25.into(), &512.into()));
    assert!(sent.prompt().contains("France is a country"));
    assert_eq!(std::fs::read_dir(folder.path().join("runs")).unwrap().count(), 1);
}

/// A host with that model, which divides questions.
fn dividing_host(folder: &Path, endpoint: &MockEndpoint) -> HostBuilder {
    Host::builder().database(shop(folder)).base_url(endpoint.url()).strategy(strategies::DEFAULT)
}

fn unclear() -> Script {
    Script::new()
        .on([PLAN], plan(&[("A", "the whole question", &[])]))
        .on(
            [WRITE, "Answer: from France"],
            Reply::sql("SELECT name FROM customers WHERE country = 'France'", 0.95),
        )
        .on([WRITE], Reply::sql("SELECT name FROM customers WHERE country = 'Important'", 0.1))
        .on([CLARIFY], Reply::text("What makes a customer important?"))
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unclear_question_is_asked_back() {
    let folder = syrch_kit::scratch();
    let endpoint = MockEndpoint::start(unclear());
    let host = || dividing_host(folder.path(), &endpoint);
    let query = || host().query("Who are the important customers?");
    let Err(QueryError::Unclear { question, trace, .. }) = query().run().await else {
        panic!("it is unclear")
    };
    assert_eq!(question, "What makes a customer important?");
    assert!(trace.answer.is_none() && !trace.candidates.is_empty());
    let found = query().interactive(User("from France")).run().await.unwrap();
    assert_eq!(found.data.row_count(), 2);
    // With this threshold the clarifier never asks: a doubtful answer is returned with its
    // confidence.
    let found =
        host().ambiguity_threshold(1.0).query("Who are the important customers?").run().await;
    assert!(!matches!(found, Err(QueryError::Unclear { .. })), "{found:?}");
}

/// A user who thinks for longer than the search may take.
struct Thinker(Duration);

#[async_trait::async_trait]
impl Ask for Thinker {
    async fn ask(&self, _: &Question) -> Option<String> {
        tokio::time::sleep(self.0).await;
        Some("from France".to_owned())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_who_thinks_uses_up_no_time_of_the_search() {
    let folder = syrch_kit::scratch();
    let endpoint = MockEndpoint::start(unclear());
    let deadline = Duration::from_secs(6);
    let host = dividing_host(folder.path(), &endpoint);
    let query = host.query("Who are the important customers?");
    let found = query
        .deadline(deadline)
        .interactive(Thinker(deadline + Duration::from_secs(1)))
        .run()
        .await
        .unwrap();
    assert_eq!(found.data.row_count(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_answer_and_failures_are_distinguished() {
    let folder = syrch_kit::scratch();
    let endpoint = MockEndpoint::start(
        Script::new()
            .on([PLAN], plan(&[("A", "the whole question", &[])]))
            .on([WRITE], Reply::sql("SELECT no FROM such_table", 0.9)),
    );
    let host = || dividing_host(folder.path(), &endpoint);
    let error = host().ambiguity_threshold(1.0).query("Who are they?").run().await.unwrap_err();
    let QueryError::NoAnswer(trace) = &error else { panic!("{error}") };
    assert_eq!(
        error.to_string(),
        format!("no acceptable answer was found; {} candidates were tried", trace.candidates.len())
    );
    type Wrong = fn(HostBuilder) -> HostBuilder;
    type IsRight = fn(&Error) -> bool;
    let wrong: [(Wrong, IsRight); 6] = [
        (|host| host.temperature(9.0), |error| matches!(error, Error::Config(_))),
        (|host| host.base_url("no address"), |error| matches!(error, Error::Config(_))),
        (|host| host.strategy("singel"), |error| matches!(error, Error::Definition(_))),
        (
            |host| {
                let anthropic =
                    host.provider(Provider::ANTHROPIC).base_url("http://127.0.0.1:9/v1");
                anthropic.configure(|settings| settings.model.attempts = 1)
            },
            |error| matches!(error, Error::Model { model, .. } if model == "claude-sonnet-4-5"),
        ),
        (
            |host| host.plugin(Role::Solver, "refin"),
            |error| matches!(error, Error::UnknownPlugin { .. }),
        ),
        (
            |host| {
                host.base_url("http://127.0.0.1:9/v1")
                    .configure(|settings| settings.model.attempts = 1)
            },
            |error| matches!(error, Error::Model { .. }),
        ),
    ];
    for (number, (change, is_right)) in wrong.into_iter().enumerate() {
        let error = change(host()).query("Who are they?").run().await.unwrap_err();
        assert!(
            matches!(&error, QueryError::Failed(error) if is_right(error)),
            "{number}: {error}"
        );
    }
    let error = syrch::query("Who?", folder.path().join("none.sqlite")).await.unwrap_err();
    assert!(matches!(error, QueryError::Failed(Error::Database(_))), "{error}");
    assert!(!folder.path().join("none.sqlite").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_of_a_query_are_its_own() {
    let folder = syrch_kit::scratch();
    let host = Host::builder()
        .database(shop(folder.path()))
        .journal(folder.path().join("runs"))
        .open()
        .await
        .unwrap();
    let query = || host.query("How many customers are there?");
    for wrong in [query().max_depth(0), query().token_budget(0), query().min_confidence(1.5)] {
        assert!(matches!(wrong.run().await, Err(QueryError::Failed(Error::Config(_)))));
    }
    assert!(matches!(query().min_confidence(1.0).run().await, Err(QueryError::NoAnswer(_))));
    assert_eq!(query().max_attempts(5).run().await.unwrap().data.rows(0, 9), [[Value::Integer(3)]]);
    // Journals hold the settings that the search had.
    let mut attempts = Vec::new();
    for journal in std::fs::read_dir(folder.path().join("runs")).unwrap() {
        let journal = Journal::read(&journal.unwrap().path()).unwrap();
        attempts.push(journal.header.settings["policy"]["max_attempts"].as_u64());
    }
    attempts.sort();
    assert_eq!(attempts, [Some(3), Some(5)]);
}

#[test]
fn programs_without_a_runtime_block() {
    let folder = syrch_kit::scratch();
    let host = || Host::builder().database(shop(folder.path())).tables(["orders"]);
    let found = host().query("How many orders are there?").run_blocking().unwrap();
    assert_eq!(found.data.rows(0, 1), [[Value::Integer(4)]]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    // A host that was opened in one runtime serves queries of another.
    let opened = runtime.block_on(host().open()).unwrap();
    let found = opened.query("How many orders are there?").run_blocking().unwrap();
    assert_eq!(found.data.rows(0, 1), [[Value::Integer(4)]]);
    let within = runtime.block_on(async { host().query("?").run_blocking() });
    assert!(matches!(within, Err(QueryError::Failed(Error::Config(_)))));
}
