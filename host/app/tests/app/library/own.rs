//! Databases and models that the embedding program implements.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use syrch::databases::open_database;
use syrch::journal::Journal;
use syrch::settings::read_settings;
use syrch::syrch_core::Value;
use syrch::syrch_core::ports::{
    Database, Estimate, LlmError, ModelCall, ModelOutcome, ModelProvider, Reply, Shape, Usage,
};
use syrch::{Error, Host, HostBuilder, QueryError, Settings, Shared, Silent};

use super::shop::shop;

/// Writes one statement, whatever the question.
struct Writer(&'static str);

#[async_trait]
impl ModelProvider for Writer {
    fn name(&self) -> &str {
        "writer"
    }

    fn models(&self) -> Vec<String> {
        vec!["writer-1".to_owned()]
    }

    fn estimate(&self, _: &ModelCall) -> Estimate {
        Estimate { input_tokens: 7, output_tokens: 5, cost_micros: None }
    }

    async fn complete(&self, call: &ModelCall) -> ModelOutcome {
        if call.request.expect != Shape::Sql {
            return ModelOutcome::unsent(LlmError::Unsupported("statements only".to_owned()));
        }
        let usage = Usage {
            input_tokens: 7,
            output_tokens: 5,
            model: "writer-1".to_owned(),
            ..Usage::default()
        };
        let parsed = serde_json::json!({ "sql": self.0, "confidence": 0.5 }).to_string();
        let reply = Reply {
            text: self.0.to_owned(),
            parsed: Some(parsed),
            truncated: false,
            logprob: None,
            usage: usage.clone(),
        };
        ModelOutcome::sent(Ok(reply), Some(usage))
    }
}

fn builder_with_statement(sql: &'static str) -> HostBuilder {
    Host::builder().model(Arc::new(Writer(sql))).strategy("single")
}

/// Old journals are removed after a search, unless that was done less than a second ago.
#[tokio::test(flavor = "multi_thread")]
async fn old_journals_are_removed_after_a_search() {
    let folder = syrch_kit::scratch();
    let shop = shop(folder.path());
    for (case, (keep, bytes, retained)) in
        [(32, u64::MAX, 32), (2, u64::MAX, 2), (32, 16, 1)].into_iter().enumerate()
    {
        let runs = folder.path().join(case.to_string());
        std::fs::create_dir(&runs).unwrap();
        (0..40).for_each(|old| std::fs::write(runs.join(format!("{old}.jsonl")), "x").unwrap());
        let builder = builder_with_statement("SELECT COUNT(*) FROM orders")
            .database(shop.clone())
            .journal(&runs);
        let builder = builder
            .configure(|settings| (settings.journal.keep, settings.journal.bytes) = (keep, bytes));
        let host = builder.open().await.unwrap();
        for wait in [Duration::ZERO, Duration::ZERO, Duration::from_secs(1)] {
            let before = std::fs::read_dir(&runs).unwrap().count();
            tokio::time::sleep(wait).await;
            host.query("How many?").run().await.unwrap();
            let after = std::fs::read_dir(&runs).unwrap().count();
            let is_removed = before == 40 || !wait.is_zero();
            assert!(
                after == retained || (!is_removed && after == before + 1),
                "{keep} journals, {bytes} bytes: {after}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_of_the_program_is_a_model_like_any_other() {
    let folder = syrch_kit::scratch();
    let runs = folder.path().join("runs");
    let builder = builder_with_statement("SELECT COUNT(*) FROM orders")
        .database(shop(folder.path()))
        .journal(&runs);
    let host = builder.open().await.unwrap();
    let found = host.query("How many?").run().await.unwrap();
    assert_eq!(found.data.rows(0, 9), [[Value::Integer(4)]]);
    // One call is charged. Its prompt cannot have been 7 tokens, so the host charges the least that
    // it can have been.
    let cost = &found.trace.cost;
    assert_eq!((cost.calls, cost.output_tokens), (1, 5));
    assert!(cost.input_tokens > 7, "{cost:?}");
    // The journal names the provider, replays without it, and is not to be resumed without it.
    let path = std::fs::read_dir(&runs).unwrap().next().unwrap().unwrap().path();
    let journal = Journal::read(&path).unwrap();
    assert_eq!(
        (journal.header.settings["model"]["own"].as_str(), journal.header.models[0].as_str()),
        (Some("writer"), "writer-1")
    );
    let recorded = read_settings(&journal.header, &Settings::default()).unwrap();
    let unopened = Host::open(recorded, &Silent).await.err();
    assert!(matches!(unopened, Some(Error::Config(_))), "{unopened:?}");
    let replaying = Host::of_journal(&journal.header, &Settings::default(), &Silent).await.unwrap();
    let report = replaying.replay(journal, Arc::new(Silent)).await.unwrap();
    assert_eq!(report.document.sql, Some(found.sql));
    // Without a price no budget in dollars can be enforced.
    let limited = builder_with_statement("SELECT 1").database(shop(folder.path()));
    let limited = limited
        .configure(|settings| settings.budgets.cost_micros = Some(1_000_000))
        .open()
        .await
        .err();
    assert!(
        matches!(&limited, Some(Error::Unpriced { model }) if model == "writer-1"),
        "{limited:?}"
    );
}

async fn orders_of(database: &Arc<dyn Database>, shared: &Arc<Shared>) -> Value {
    let host =
        Host::builder().database(Arc::clone(database)).share_with(shared).open().await.unwrap();
    host.query("How many orders are there?")
        .run()
        .await
        .unwrap()
        .data
        .rows(0, 1)
        .remove(0)
        .remove(0)
}

#[tokio::test(flavor = "multi_thread")]
async fn databases_of_the_program_are_told_apart_by_what_they_are() {
    let folder = syrch_kit::scratch();
    let empty = folder.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    // Both are named `shop`.
    let other =
        syrch_kit::sqlite(empty.join("shop.sqlite"), "CREATE TABLE orders(id INTEGER PRIMARY KEY)");
    let open = async |path: &std::path::Path| {
        open_database(&Settings { database: path.display().to_string(), ..Settings::default() })
            .await
            .unwrap()
    };
    let full = open(&shop(folder.path())).await;
    let empty = open(&other).await;
    let shared = Shared::new();
    assert_eq!(full.name(), empty.name());
    assert_eq!(
        (orders_of(&full, &shared).await, orders_of(&empty, &shared).await),
        (Value::Integer(4), Value::Integer(0))
    );
    // The host cannot restrict what it did not open.
    let restricted = Host::builder()
        .database(full)
        .tables(["orders"])
        .query("How many orders are there?")
        .run()
        .await;
    assert!(matches!(restricted, Err(QueryError::Failed(Error::Config(_)))), "{restricted:?}");
}
