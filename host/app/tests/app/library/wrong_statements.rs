//! Questions about the example shop with wrong statements, each of which is doubtful, and right
//! ones, none of which is.

use syrch::databases::{run_as_answer, with_doubts};
use syrch::{Host, Settings, Silent};

#[tokio::test(flavor = "multi_thread")]
async fn wrong_statements_are_doubtful_and_right_ones_are_not() {
    let shop = syrch_kit::repository().join("examples/shop.sqlite");
    let settings = Settings { database: shop.display().to_string(), ..Settings::default() };
    let host = Host::open(settings, &Silent).await.unwrap();
    let database = with_doubts(host.database());
    let mut missed: Vec<String> = Vec::new();
    for line in include_str!("wrong_statements.jsonl").lines() {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        let question = case["question"].as_str().unwrap();
        for (list, is_wrong) in [("wrong", true), ("right", false)] {
            for sql in case[list].as_array().unwrap() {
                let sql = sql.as_str().unwrap();
                let results = run_as_answer(&database, question, sql).await.unwrap();
                if results.doubts().is_empty() == is_wrong {
                    missed.push(format!("{question} {sql}: {:?}", results.doubts()));
                }
            }
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}
