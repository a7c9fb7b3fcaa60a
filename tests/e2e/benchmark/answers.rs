//! Answers that were given before are graded like those of a search, and nobody is asked.

use serde_json::json;

use super::{Bench, figures};
use crate::bad_input::assert_refused;

fn lines(answers: &[serde_json::Value]) -> String {
    answers.iter().map(|answer| format!("{answer}\n")).collect()
}

#[test]
fn statements_of_another_program_are_graded() {
    let bench = Bench::with_questions(5);
    fn counts(least: u64) -> String {
        format!("SELECT COUNT(*) FROM orders WHERE quantity >= {least}")
    }
    bench.place.file(
        "one.jsonl",
        lines(&[
            json!({"id": "q0000", "sql": counts(0), "confidence": 0.9}),
            json!({"id": "q0001", "sql": counts(4)}),
            json!({"id": "q0002", "sql": "DELETE FROM orders"}),
        ]),
    );
    let error = json!({"class": "model", "message": "it was away"});
    bench.place.file(
        "two.jsonl",
        lines(&[json!({"id": "q0003", "error": error}), json!({"id": "q0004", "sql": null})]),
    );
    // No key, no model, no plugin is needed for it.
    let said =
        bench.say("benchmark suite.jsonl --answers one.jsonl --answers two.jsonl --format json");
    let document = said.document(0);
    assert_eq!(figures(&document), (1, 5), "{}", said.all());
    assert_eq!(document["ends"], json!({"answered": 2, "no_answer": 1, "clarify": 0, "failed": 2}));
    assert_eq!(document["errors"], json!({"denied": 1, "model": 1}));
    assert_eq!(
        (&document["arm"]["name"], &document["arm"]["plugins"]),
        (&json!("answers"), &json!([]))
    );
    assert_eq!(document["costs"]["calls"], 0);
    // The run is resumed only with the same answers.
    let again = bench.say(
        "benchmark suite.jsonl --answers one.jsonl --answers two.jsonl --resume last --format json",
    );
    assert_eq!(figures(&again.document(0)), (1, 5));
    bench.place.file("two.jsonl", lines(&[json!({"id": "q0003", "sql": counts(3)})]));
    let mut command = bench
        .command("benchmark suite.jsonl --answers one.jsonl --answers two.jsonl --resume last");
    assert_refused(&mut command, 10, &["changed since", "the setting answers"]);
}

#[test]
fn every_line_that_is_no_answer_is_reported() {
    let bench = Bench::with_questions(3);
    fn answer(id: &str) -> String {
        json!({"id": id, "sql": "SELECT 1"}).to_string()
    }
    bench.place.file(
        "a.jsonl",
        format!("{}\n\nhello\n{}\n{}\n", answer("q0000"), answer("q0009"), answer("q0000")),
    );
    let mut command = bench.command("benchmark suite.jsonl --answers a.jsonl");
    assert_refused(
        &mut command,
        10,
        &[
            "line 3: is no answer",
            "line 4: the suite has no question `q0009`",
            "line 5: the question `q0000` has an answer already",
        ],
    );
    assert_refused(
        &mut bench.command("benchmark suite.jsonl --answers none.jsonl"),
        10,
        &["none.jsonl", "cannot be read"],
    );
    assert!(!bench.state().join("suites").exists());
}
