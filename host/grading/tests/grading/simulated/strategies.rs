//! Strategies over the simulated model, through the library: their figures are those of the
//! provider alone.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;
use syrch::models::{SimulatedKnobs, count_simulated_questions};
use syrch::plugins::CompileSettings;
use syrch::report::CandidateStatus;
use syrch::settings::SimulatedSettings;
use syrch::syrch_core::Problem;
use syrch::syrch_core::ports::SqlQuery;
use syrch::{Error, Host, SearchReport, Settings, Silent, Stop, strategies};
use tokio::task::JoinSet;

use super::world::{GOLD, QUESTION, open, questions};

fn settings(database: &Path, suite: &Path, knobs: SimulatedKnobs) -> Settings {
    let mut settings = Settings { database: database.display().to_string(), ..Settings::default() };
    settings.model.simulated = Some(SimulatedSettings { suite: suite.to_owned(), knobs });
    settings.compile =
        CompileSettings::in_folder(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("plugins"));
    settings
}

async fn ask(host: &Host, question: &str) -> Result<SearchReport, Error> {
    host.search(Problem::new(question), Arc::new(Silent), None, &Stop::new()).await
}

/// The share of right answers of a strategy, and its calls.
async fn run_strategy(strategy: &str, knobs: &SimulatedKnobs, seed: u64) -> (f64, f64) {
    let folder = syrch_kit::data_root().unwrap().join("spider");
    let mut by_database: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for question in questions(&folder) {
        by_database.entry(question.db.clone()).or_default().push(question);
    }
    let mut all = 0;
    let mut right = 0;
    let mut calls = 0;
    for (name, questions) in by_database {
        let path = folder.join("db").join(format!("{name}.sqlite"));
        let mut settings = settings(&path, &folder.join("questions.jsonl"), knobs.clone());
        settings.seed = seed;
        strategies::find(strategy).unwrap().apply(&mut settings);
        let host = Arc::new(Host::open(settings, &Silent).await.unwrap());
        let database = open(&path).await;
        let mut searches = JoinSet::new();
        for question in questions {
            let host = Arc::clone(&host);
            let database = Arc::clone(&database);
            searches.spawn(async move {
                let report = ask(&host, &question.question)
                    .await
                    .unwrap_or_else(|error| panic!("{}: {error}", question.id));
                let mut is_right = false;
                if let Some(answer) = report.document.candidates.iter().find(
                    |one: &&syrch::report::CandidateReport| one.status == CandidateStatus::Answer,
                ) {
                    let said = database.run(&SqlQuery::new(&answer.sql)).await.unwrap();
                    for gold in &question.golds {
                        let gold = database.run(&SqlQuery::new(gold)).await.unwrap();
                        is_right |= syrch_grade::bag_v1(&gold, &said, question.ordered).is_right();
                    }
                }
                (is_right, report.document.cost.calls)
            });
        }
        for (is_right, made) in searches.join_all().await {
            all += 1;
            right += u32::from(is_right);
            calls += made;
        }
    }
    (f64::from(right) / f64::from(all), f64::from(calls) / f64::from(all))
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement: `make figures` makes it"]
async fn strategies_gain_what_they_gain_on_recorded_answers_and_no_more() {
    if syrch_kit::data_root().is_none() {
        return;
    }
    let knobs = SimulatedKnobs::default();
    // By replay, the mean over 30 orders.
    for (name, right, calls) in [
        ("single", 0.828, 1.0),
        ("retry3", 0.862, 1.08),
        ("gate2of5", 0.896, 2.39),
        ("vote5", 0.897, 5.0),
    ] {
        let found = run_strategy(name, &knobs, 0).await;
        println!(
            "{name}: {:.4} right with {:.2} calls, {right} with {calls} by replay",
            found.0, found.1
        );
        assert!(
            (found.0 - right).abs() <= 0.03 && (found.1 - calls).abs() <= 0.25,
            "{name}: {found:?}"
        );
    }
    let naive = run_strategy("vote5", &SimulatedKnobs { naive: true, ..knobs }, 0).await;
    println!("naive vote5: {naive:?}");
    assert!(naive.0 >= 0.98);
}

/// A shop and a suite of one question over it.
async fn place(folder: &Path) -> (PathBuf, PathBuf) {
    super::world::shop(folder).await;
    let suite = folder.join("suite.jsonl");
    let line = json!({ "id": "q1", "db": "shop", "question": QUESTION, "gold_sql": GOLD });
    std::fs::write(&suite, format!("{line}\n")).unwrap();
    (folder.join("shop.sqlite"), suite)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_has_its_answer_its_tokens_and_its_price() {
    let folder = syrch_kit::scratch();
    let (database, suite) = place(folder.path()).await;
    let mut settings =
        settings(&database, &suite, SimulatedKnobs { skill: 20.0, ..SimulatedKnobs::default() });
    assert_eq!(count_simulated_questions(&settings).unwrap(), Some(1));
    assert_eq!(settings.model.simulated.as_ref().unwrap().label(7), "simulated, skill 20, seed 7");
    strategies::find("single").unwrap().apply(&mut settings);
    let host = Host::open(settings.clone(), &Silent).await.unwrap();
    let report = ask(&host, QUESTION).await.unwrap();
    assert_eq!(json!(report.document.answer.unwrap().rows), json!([["Ada"], ["Cleo"]]));
    assert_eq!((report.document.cost.calls, report.document.cost.usd), (1, Some(0.0)));
    assert!(report.document.cost.input_tokens > 0);
    let price = syrch::settings::PriceSettings { input: 1_000.0, output: 0.0, cached_input: None };
    settings.model.prices.insert("simulated".to_owned(), price);
    let priced = ask(&Host::open(settings.clone(), &Silent).await.unwrap(), QUESTION)
        .await
        .unwrap()
        .document
        .cost;
    assert_eq!(priced.usd, Some(priced.input_tokens as f64 / 1_000.0));
    settings.model.simulated.as_mut().unwrap().knobs.false_accept = 2.0;
    let error = Host::open(settings.clone(), &Silent).await.map(drop).unwrap_err();
    assert!(
        matches!(&error, Error::Config(text) if text.contains("is 2, which is not from 0 to 1")),
        "{error}"
    );
    settings.model.simulated = Some(SimulatedSettings::new(folder.path().join("missing.jsonl")));
    let error = Host::open(settings, &Silent).await.map(drop).unwrap_err();
    assert!(matches!(error, Error::Suite(_)), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_the_suite_lacks_ends_the_search() {
    let folder = syrch_kit::scratch();
    let (database, suite) = place(folder.path()).await;
    let host =
        Host::open(settings(&database, &suite, SimulatedKnobs::default()), &Silent).await.unwrap();
    let error = ask(&host, "Who are they?").await.unwrap_err();
    assert!(
        error.to_string().contains("the simulated answers have none to this question over `shop`"),
        "{error}"
    );
    assert!(!error.to_string().contains(GOLD));
}

/// Every built-in strategy ends over the simulated model.
#[tokio::test(flavor = "multi_thread")]
async fn every_strategy_can_ask_it() {
    let folder = syrch_kit::scratch();
    let (database, suite) = place(folder.path()).await;
    for name in strategies::names() {
        let mut settings = settings(
            &database,
            &suite,
            SimulatedKnobs { skill: 20.0, false_reject: 0.0, ..SimulatedKnobs::default() },
        );
        strategies::find(name).unwrap().apply(&mut settings);
        let report = ask(&Host::open(settings, &Silent).await.unwrap(), QUESTION).await;
        println!("{name}: {:?}", report.as_ref().map(|report| report.outcome));
        assert!(report.is_ok(), "{name}: {:?}", report.err());
    }
}
