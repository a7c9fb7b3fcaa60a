//! The figures of the built-in sampling strategies on 522 questions, compared with figures that are
//! computed from the files alone.

use std::collections::BTreeMap;
use std::sync::Arc;

use syrch::report::CandidateStatus;
use syrch::{Host, SearchReport, Silent, strategies};
use syrch_core::Catalog;
use syrch_guard::with_single_quotes;
use syrch_kit::recorded::{Question, SAMPLERS, Sampler, questions};
use tokio::task::JoinSet;

use super::world::{ask, settings};

/// The greatest difference of two shares of right answers that still pass.
const SHARE: f64 = 0.02;
/// The greatest difference of two mean numbers of calls that still pass.
const CALLS: f64 = 0.1;
/// The greatest mean number of calls that repairs of doubtful answers add: the files know of none.
const REPAIRS: f64 = 0.25;
const SEEDS: [u64; 2] = [0, 1];

/// A verdict whether a question was answered rightly, and the number of its calls.
type Figure = (bool, u32);

/// The results of a strategy on all questions, by their ids.
async fn run_strategy(strategy: &str, seed: u64, all: &[Question]) -> BTreeMap<String, Figure> {
    let data = syrch_kit::data_root().unwrap().join("spider");
    let mut by_database: BTreeMap<&str, Vec<&Question>> = BTreeMap::new();
    for question in all {
        by_database.entry(&question.database).or_default().push(question);
    }
    let mut figures = BTreeMap::new();
    for (database, questions) in by_database {
        let path = data.join("db").join(format!("{database}.sqlite"));
        let mut settings = settings(&path, &data.join("recorded.jsonl"));
        settings.seed = seed;
        strategies::find(strategy).unwrap().apply(&mut settings);
        let host = Arc::new(Host::open(settings, &Silent).await.unwrap());
        let catalog = host.database().catalog().await.unwrap();
        let mut searches = JoinSet::new();
        for question in questions {
            let host = Arc::clone(&host);
            let catalog = Arc::clone(&catalog);
            let question = question.clone();
            searches.spawn(async move {
                let report = ask(&host, &question.question).await;
                let report = report.unwrap_or_else(|error| panic!("{}: {error}", question.id));
                let is_right = is_right(&question, &report, &catalog);
                (question.id.clone(), (is_right, report.document.cost.calls))
            });
        }
        figures.extend(searches.join_all().await);
    }
    figures
}

/// Returns true if the answer is a recorded statement that was graded right. Searches read texts in
/// double quotes as they are meant.
fn is_right(question: &Question, report: &SearchReport, catalog: &Catalog) -> bool {
    let candidates = &report.document.candidates;
    let answer = candidates.iter().find(|candidate| candidate.status == CandidateStatus::Answer);
    answer.is_some_and(|answer| {
        let is_right = question.is_right(&answer.sql, |sql| with_single_quotes(sql, catalog));
        is_right.expect("a recorded statement")
    })
}

/// The share of right answers, and the mean number of calls.
fn mean(figures: &BTreeMap<String, Figure>) -> (f64, f64) {
    let count = figures.len() as f64;
    let right = figures.values().filter(|(is_right, _)| *is_right).count() as f64;
    (right / count, figures.values().map(|(_, calls)| f64::from(*calls)).sum::<f64>() / count)
}

/// The same figures, computed from the files alone.
fn compute_expected(gate: &Sampler, seed: u64, all: &[Question]) -> BTreeMap<String, Figure> {
    all.iter()
        .map(|question: &Question| {
            let taken = gate.take(&question.order(seed));
            (question.id.clone(), (taken.answer.is_some_and(|answer| answer.is_right), taken.calls))
        })
        .collect()
}

/// Compares the library's figures with those that are computed from the files alone.
async fn compare(name: &str) {
    let Some(data) = syrch_kit::data_root() else { return };
    let gate = *SAMPLERS.iter().find(|gate| gate.name == name).unwrap();
    let all = questions(&data.join("spider"));
    assert_eq!(all.len(), 522);
    for seed in SEEDS {
        let expected = compute_expected(&gate, seed, &all);
        let found = run_strategy(name, seed, &all).await;
        let (right, calls) = mean(&found);
        let (expected_right, expected_calls) = mean(&expected);
        let differing: Vec<_> = found
            .iter()
            .filter(|(id, figure)| expected[*id] != **figure)
            .map(|(id, f)| (id, f, expected[id]))
            .collect();
        println!(
            "{name}, seed {seed}: {right:.4} right with {calls:.3} calls, {expected_right:.4} with \
             {expected_calls:.3} by the files; {} questions differ",
            differing.len()
        );
        if gate.repair {
            assert!(right >= expected_right - SHARE, "{differing:?}");
            assert!((0.0..=REPAIRS).contains(&(calls - expected_calls)), "{differing:?}");
        } else {
            assert!((right - expected_right).abs() <= SHARE, "{differing:?}");
            assert!((calls - expected_calls).abs() <= CALLS, "{differing:?}");
            assert!(differing.is_empty(), "{differing:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement: `make figures` makes it"]
async fn one_statement() {
    compare("single").await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement: `make figures` makes it"]
async fn another_when_one_fails_or_has_no_rows() {
    compare("retry3").await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement: `make figures` makes it"]
async fn the_majority_of_five() {
    compare("vote5").await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement: `make figures` makes it"]
async fn until_two_of_five_agree() {
    compare("gate2of5").await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement: `make figures` makes it"]
async fn until_three_of_nine_agree() {
    compare("gate3of9").await;
}

/// Votes that findings weigh down beat the best gate.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement: `make figures` makes it"]
async fn weighed_votes() {
    let Some(data) = syrch_kit::data_root() else { return };
    let all = questions(&data.join("spider"));
    let gate = SAMPLERS.iter().find(|gate| gate.name == "gate3of9").unwrap();
    let seed = SEEDS[0];
    let (right, calls) = mean(&run_strategy("discern", seed, &all).await);
    let (gated, gated_calls) = mean(&compute_expected(gate, seed, &all));
    println!(
        "discern, seed {seed}: {right:.4} right with {calls:.3} calls; gate3of9 {gated:.4} with \
         {gated_calls:.3}"
    );
    assert!(
        right > gated + 0.01 && calls <= 5.0,
        "{right} with {calls} calls, where the gate has {gated}"
    );
}
