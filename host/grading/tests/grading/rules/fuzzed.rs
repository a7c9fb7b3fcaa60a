//! The fuzzed suite finds answers that were right on the original by luck.

use std::collections::BTreeMap;

use syrch::{Settings, Silent};
use syrch_grade::rules::Rule;
use syrch_grading::{FuzzOptions, Fuzzed, fuzz, read_suite};

use super::recorded::all;

/// The number of variants of each database. The figures of the commands are for twelve.
const VARIANTS: u32 = 4;

#[tokio::test(flavor = "multi_thread")]
async fn lucky_answers_are_taken_away() {
    let Some(data) = syrch_kit::data_root() else { return };
    let data = data.join("spider");
    let scratch = syrch_kit::scratch();
    let settings = Settings::default();
    let suite = read_suite(&data.join("questions.jsonl")).await.unwrap();
    let databases = syrch::databases::suite_databases(&suite, None).unwrap();
    let options = FuzzOptions { variants: VARIANTS, seed: 0 };
    let manifest =
        fuzz(&suite, &databases, scratch.path(), options, &settings, &Silent).await.unwrap();
    assert_eq!(manifest.databases.len(), 12);
    let dropped: u32 = manifest.databases.values().map(|database| database.dropped).sum();
    let with_rows = |rows: fn(&syrch_grading::FuzzedVariant) -> u64| -> u64 {
        manifest.databases.values().flat_map(|database| &database.variants).map(rows).sum()
    };
    let golds = with_rows(|variant| variant.golds);
    let of = with_rows(|variant| variant.of);
    println!(
        "{VARIANTS} variants of each database, {dropped} dropped; {golds} of {of} expected \
         statements have rows"
    );
    assert!(golds * 100 > of * 95);

    let fuzzed = Fuzzed::open(scratch.path(), &suite, &settings).await.unwrap();
    let mut right = BTreeMap::<String, u32>::new();
    let mut stayed = BTreeMap::<String, u32>::new();
    let mut known: BTreeMap<(String, String), bool> = BTreeMap::new();
    let questions = all(&data);
    for question in &questions {
        let golds = [question.gold.as_str()];
        let agrees = async |sql: &str| {
            fuzzed
                .agree(&question.db, &golds, sql, Rule::SPIDER_EX, question.ordered)
                .await
                .unwrap()
        };
        let own = agrees(&question.gold).await;
        assert!(
            own.is_right(),
            "{}: the expected statement disagrees with itself: {own:?}",
            question.id
        );
        for answer in question.answers.iter().filter(|answer| answer.ex) {
            let key = (question.id.clone(), answer.sql.clone());
            if !known.contains_key(&key) {
                known.insert(key.clone(), agrees(&answer.sql).await.is_right());
            }
            *right.entry(answer.system.clone()).or_default() += 1;
            *stayed.entry(answer.system.clone()).or_default() += u32::from(known[&key]);
        }
    }
    let points = |system: &String| {
        f64::from(right[system] - stayed[system]) * 100.0 / questions.len() as f64
    };
    for (system, count) in &right {
        println!(
            "{system}: {count} right, {} on all variants, {:.1} points less",
            stayed[system],
            points(system)
        );
    }
    let mean = right.keys().map(points).sum::<f64>() / right.len() as f64;
    println!("{mean:.1} points less in the mean");
    assert!(
        (1.5..10.0).contains(&mean) && right.keys().all(|system| points(system) < 15.0),
        "{mean}"
    );
}
