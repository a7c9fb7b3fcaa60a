//! Each knob of the simulated model, and what it changes.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use syrch::syrch_core::Catalog;
use syrch::syrch_core::ports::{LlmError, ModelProvider, Purpose, Retry, Shape};
use syrch_simulated::{SimulatedKnobs, SimulatedProvider};

use super::world::{GOLD, QUESTION, answer, call, provider, samples, shop, suite};

const MANY: u32 = 300;

struct Shop {
    _folder: tempfile::TempDir,
    database: Arc<dyn syrch::syrch_core::ports::Database>,
    catalog: Arc<Catalog>,
}

impl Shop {
    async fn open() -> Self {
        let folder = syrch_kit::scratch();
        let database = shop(folder.path()).await;
        let catalog = database.catalog().await.unwrap();
        Self { _folder: folder, database, catalog }
    }

    fn provider(&self, seed: u64, turn: impl FnOnce(&mut SimulatedKnobs)) -> SimulatedProvider {
        let mut knobs = SimulatedKnobs::default();
        turn(&mut knobs);
        provider(&suite(&[GOLD]), &self.database, seed, knobs)
    }

    /// The right answer, as it is written.
    async fn right(&self) -> String {
        samples(&self.provider(0, |knobs| knobs.skill = 20.0), &self.catalog, 1).await[0].0.clone()
    }

    /// The share of right samples.
    async fn share(&self, provider: &SimulatedProvider) -> f64 {
        let right = self.right().await;
        let all = samples(provider, &self.catalog, MANY).await;
        all.iter().filter(|(sql, _)| *sql == right).count() as f64 / f64::from(MANY)
    }
}

#[tokio::test]
async fn skill_makes_right_answers_more_frequent_and_the_seed_says_which() {
    let shop = Shop::open().await;
    assert_eq!(shop.right().await, "SELECT name FROM customers WHERE age > 30");
    let mut shares = Vec::new();
    for skill in [-20.0, -4.0, 0.0, 4.0, 20.0] {
        shares.push(shop.share(&shop.provider(0, |knobs| knobs.skill = skill)).await);
    }
    assert!(
        shares.is_sorted() && shares[0] == 0.0 && shares[4] == 1.0 && shares[1] < shares[3],
        "{shares:?}"
    );
    let one = samples(&shop.provider(0, |knobs| knobs.skill = -4.0), &shop.catalog, 40).await;
    let other = samples(&shop.provider(1, |knobs| knobs.skill = -4.0), &shop.catalog, 40).await;
    assert_ne!(one, other);
}

#[tokio::test]
async fn repairs_come_out_right_as_often_as_the_knob_says() {
    let shop = Shop::open().await;
    let right = shop.right().await;
    for rate in [0.0, 0.5, 1.0] {
        let provider = shop.provider(0, |knobs| (knobs.skill, knobs.repair_rate) = (-20.0, rate));
        let mut count = 0;
        for sample in 0..MANY {
            let call =
                call(QUESTION, &shop.catalog, Purpose::Repair, sample, vec!["SELECT 1".to_owned()]);
            count += u32::from(answer(&provider, &call).await.unwrap().0 == right);
        }
        assert!((f64::from(count) / f64::from(MANY) - rate).abs() < 0.08, "{count} with {rate}");
    }
}

#[tokio::test]
async fn without_what_the_expected_statement_reads_no_answer_is_right() {
    let shop = Shop::open().await;
    let right = shop.right().await;
    let provider = shop.provider(0, |knobs| knobs.skill = 20.0);
    let all: Vec<String> = ["id", "name", "age"].map(str::to_owned).to_vec();
    for (columns, can_be_right) in
        [(&all[..], true), (&all[1..], true), (&all[..2], false), (&all[2..], false)]
    {
        let narrowed = Arc::new(shop.catalog.narrow([("customers", columns), ("orders", &[])]));
        let said = samples(&provider, &narrowed, 5).await;
        assert_eq!(said.iter().all(|(sql, _)| *sql == right), can_be_right, "{columns:?}");
    }
    let without = Arc::new(shop.catalog.narrow([("orders", &[][..])]));
    assert!(samples(&provider, &without, 5).await.iter().all(|(sql, _)| *sql != right));
}

#[tokio::test]
async fn claims_have_their_bias_and_their_spread() {
    let shop = Shop::open().await;
    let provider = |bias, spread| {
        // The naive one finds every question equally hard.
        shop.provider(0, |knobs| {
            (knobs.naive, knobs.confidence_bias, knobs.confidence_spread) = (true, bias, spread)
        })
    };
    let claims = |all: Vec<(String, f64)>| -> (f64, f64) {
        let mean = all.iter().map(|(_, claim)| claim).sum::<f64>() / all.len() as f64;
        let spread =
            all.iter().map(|(_, claim)| (claim - mean).abs()).sum::<f64>() / all.len() as f64;
        (mean, spread)
    };
    let of = async |bias, spread| claims(samples(&provider(bias, spread), &shop.catalog, 60).await);
    let plain = of(0.0, 0.0).await;
    let biased = of(-3.0, 0.0).await;
    let scattered = of(0.0, 2.0).await;
    assert!(
        plain.1 < 1e-9 && biased.0 < plain.0 && scattered.1 > 0.02,
        "{plain:?} {biased:?} {scattered:?}"
    );
}

#[tokio::test]
async fn as_a_judge_it_errs_as_often_as_its_knobs_say() {
    let shop = Shop::open().await;
    let schema = json!({
        "title": "syrch-verdict",
        "type": "object",
        "properties": {
            "accepted": { "type": "boolean" }, "score": { "type": "number" },
            "reason": { "type": "string" }
        },
        "required": ["accepted", "score"],
    });
    let provider = shop.provider(0, |knobs| (knobs.false_accept, knobs.false_reject) = (0.3, 0.1));
    for (sql, expected) in [
        ("SELECT name FROM customers WHERE 30 < age", 0.9),
        ("SELECT name FROM customers", 0.3),
        ("SELEC", 0.3),
    ] {
        let mut accepted = 0;
        for sample in 0..MANY {
            let mut call =
                call(QUESTION, &shop.catalog, Purpose::Judge, sample, vec![sql.to_owned()]);
            call.request.expect = Shape::Json(schema.to_string());
            let reply = provider.complete(&call).await.result.unwrap();
            let parsed: serde_json::Value = serde_json::from_str(&reply.parsed.unwrap()).unwrap();
            accepted += u32::from(parsed["accepted"] == true);
        }
        assert!(
            (f64::from(accepted) / f64::from(MANY) - expected).abs() < 0.08,
            "{sql}: {accepted}"
        );
    }
    let honest = shop.provider(0, |knobs| (knobs.false_accept, knobs.false_reject) = (0.0, 0.0));
    let both = ["SELECT name FROM customers", "SELECT name FROM customers WHERE age >= 31"]
        .map(str::to_owned)
        .to_vec();
    let mut select = call(QUESTION, &shop.catalog, Purpose::Select, 0, both);
    select.request.expect = Shape::Choice(vec!["A".to_owned(), "B".to_owned()]);
    assert_eq!(honest.complete(&select).await.result.unwrap().text, "B");
}

#[tokio::test]
async fn calls_have_tokens_and_take_time() {
    let shop = Shop::open().await;
    let call = call(QUESTION, &shop.catalog, Purpose::Generate, 0, Vec::new());
    let plain = shop.provider(0, |_| ());
    let usage = plain.complete(&call).await.usage.unwrap();
    assert!(
        (100..8_000).contains(&usage.input_tokens) && (5..400).contains(&usage.output_tokens),
        "{usage:?}"
    );
    assert_eq!(usage.model, "simulated");
    let estimate = plain.estimate(&call);
    assert_eq!(
        (estimate.input_tokens, estimate.output_tokens),
        (usage.input_tokens.into(), usage.output_tokens.into())
    );
    let none = shop.provider(0, |knobs| (knobs.input_tokens, knobs.output_tokens) = (0.0, 0.0));
    assert_eq!(none.estimate(&call).tokens(), 0);
    let slow = shop.provider(0, |knobs| knobs.latency = 2.0);
    // By the real clock: one that stands still jumps over the deadlines of statements, which other
    // threads run.
    let started = std::time::Instant::now();
    slow.complete(&call).await.result.unwrap();
    assert!(started.elapsed() > Duration::from_millis(400), "{:?}", started.elapsed());
}

#[tokio::test]
async fn some_tries_are_turned_away_and_the_next_ones_get_the_same_reply() {
    let shop = Shop::open().await;
    let busy = shop.provider(0, |knobs| knobs.rate_limited = 0.5);
    let free = shop.provider(0, |_| ());
    let mut away = 0;
    for sample in 0..50 {
        let call = call(QUESTION, &shop.catalog, Purpose::Generate, sample, Vec::new());
        let reply = loop {
            let outcome = busy.complete(&call).await;
            match outcome.result {
                Ok(reply) => break reply,
                Err(LlmError::Unavailable(text)) if text.contains("429") => {
                    assert!(
                        matches!(outcome.retry, Retry::After(wait) if !wait.is_zero())
                            && outcome.usage.is_none()
                    );
                    away += 1;
                }
                Err(error) => panic!("{error}"),
            }
        };
        assert_eq!(Ok(reply), free.complete(&call).await.result);
    }
    assert!((20..100).contains(&away), "{away}");
}

#[tokio::test]
async fn the_naive_model_repeats_no_wrong_answer() {
    let shop = Shop::open().await;
    let wrong = |naive| shop.provider(0, |knobs| (knobs.skill, knobs.naive) = (-20.0, naive));
    let distinct = async |naive| {
        let mut texts: Vec<String> = samples(&wrong(naive), &shop.catalog, 6)
            .await
            .into_iter()
            .map(|(sql, _)| sql)
            .collect();
        texts.sort();
        texts.dedup();
        texts.len()
    };
    assert_eq!(distinct(true).await, 6);
    assert!(distinct(false).await < 6);
}
