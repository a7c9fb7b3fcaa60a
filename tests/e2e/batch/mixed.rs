//! Lines of all kinds in one batch: each has its own answer, and the batch ends well.

use serde_json::{Value, json};

use super::{QUESTION, batch};
use crate::bad_input::{Place, assert_refused};

#[test]
fn every_line_has_its_answer_beside_duplicates_other_databases_and_broken_lines() {
    let place = Place::new();
    fn line(id: &str, question: &str, more: &str) -> String {
        format!(r#"{{"id": "{id}", "question": "{question}"{more}}}"#)
    }
    let lines = [
        line("a", QUESTION, ""),
        line("a", "How many orders are there?", ""),
        "{oops".to_owned(),
        line("b", QUESTION, r#", "db": "school""#),
        line("c", "How many products are there?", r#", "db": "shop""#),
    ];
    let (all, stderr) =
        batch(&mut place.words("batch --llm offline --db shop.sqlite"), lines.join("\n"), 0);
    let reported: Vec<Value> = all
        .iter()
        .map(|answer| {
            json!([
                answer["line"],
                answer["id"],
                answer["outcome"],
                answer["answer"]["answer"]["rows"],
                answer["error"]["class"]
            ])
        })
        .collect();
    assert_eq!(
        json!(reported),
        json!([
            [1, "a", "answered", [[4]], null],
            [2, "a", "answered", [[4]], null],
            [3, 3, "failed", null, "usage"],
            [4, "b", "failed", null, "database"],
            [5, "c", "answered", [[3]], null],
        ])
    );
    let foreign = all[3]["error"]["message"].as_str().unwrap();
    assert!(foreign.contains("`school`") && foreign.contains("`shop.sqlite`"), "{foreign}");
    assert!(stderr.contains("line 2: the id \"a\" came before"), "{stderr}");
    assert!(
        stderr.lines().any(|line| line.starts_with("5 lines: 3 answered, 2 failed")),
        "{stderr}"
    );
    // Answers that cannot be distinguished are not graded.
    place.file(
        "answers.jsonl",
        all.iter().take(2).map(|answer| answer.to_string() + "\n").collect::<String>(),
    );
    let gold = json!({"id": "a", "db": "shop", "question": QUESTION, "gold_sql": "SELECT 4"});
    place.file("suite.jsonl", gold.to_string());
    let mut command = place.words("benchmark suite.jsonl --answers answers.jsonl");
    assert_refused(&mut command, 10, &["line 2: the question `a` has an answer already"]);
}
