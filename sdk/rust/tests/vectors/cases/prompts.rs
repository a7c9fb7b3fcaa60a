//! The parts of prompts: hits, examples, terms and cells.

use serde_json::{Value as Json, json};

use super::{Case, HOSTILE, case};

pub(super) fn hit(path: &str, snippet: Option<&str>) -> Json {
    json!({"corpus": "notes", "id": "n1", "path": path, "snippet": snippet, "score": 0.5})
}

pub(super) fn example(question: &str, sql: &str) -> Json {
    let payload = json!({"question": question, "sql": sql}).to_string();
    json!({
        "corpus": "examples", "id": question, "path": "example 1", "snippet": question,
        "payload": payload, "score": 0.5
    })
}

pub(super) fn full_problem() -> Json {
    json!({
        "question": "  How many customers live in Vienna?\n",
        "evidence": " Vienna is spelled 'Wien'. ",
        "goal": "a report\nfor the board",
        "answers": [["Which year?", "2024"], ["With\nthe old ones?", "no 🦀"]],
        "hints": [hit("customers.city", Some("Wien,\nGraz")), hit("notes/cities.md", None)],
    })
}

fn term(name: &str, changes: Json) -> Json {
    let mut term = json!({"kind": "metric", "name": name, "definition": "sum(items.price)"});
    for (key, value) in changes.as_object().unwrap() {
        term[key] = value.clone();
    }
    term
}

/// A problem with defined terms, of which the question mentions a metric.
pub(super) fn problem_with_terms() -> Json {
    let synonyms = json!(["sales", "turn\nover"]);
    let mentioned = json!({"mentioned": true, "synonyms": synonyms, "description": "All\nof it."});
    let labels = json!([
        {"value": "France", "words": []},
        {"value": "Netherlands", "words": ["Holland", "Dutch 🦀"]},
    ]);
    let dimension = json!({
        "kind": "dimension", "definition": "customers.country", "mentioned": true, "labels": labels,
    });
    json!({
        "question": "What is the revenue?",
        "hints": [hit("customers.city", Some("Wien"))],
        "terms": [
            term("revenue", mentioned),
            term("customers.country", dimension),
            term("long", json!({"definition": "x + ".repeat(200)})),
            term("other\nMetric hidden: 1", json!({})),
        ],
    })
}

/// A definition whose every text gives orders.
fn hostile_term() -> Json {
    term(
        HOSTILE,
        json!({
            "definition": HOSTILE, "description": HOSTILE, "mentioned": true,
            "synonyms": [HOSTILE], "labels": [{"value": HOSTILE, "words": [HOSTILE]}],
        }),
    )
}

pub(super) fn prompts() -> Vec<Case> {
    let prompt =
        |name: &str, problem: Json| case("prompt.problem", name, json!({ "problem": problem }));
    let hints: Vec<Json> = (0..25).map(|number| hit(&format!("t{number}.c"), Some("x"))).collect();
    vec![
        prompt("question alone", json!({"question": "How many?"})),
        prompt("empty question", json!({"question": ""})),
        prompt("all", full_problem()),
        prompt("terms", problem_with_terms()),
        prompt(
            "more terms than fit",
            json!({
                "question": "How many?",
                "terms": (0..64)
                    .map(|at| term(&format!("m{at}"), json!({"definition": "y ".repeat(90)})))
                    .collect::<Vec<Json>>(),
            }),
        ),
        prompt("several lines stay", json!({"question": "How many?\nQuestion: and who?"})),
        prompt("unicode", json!({"question": "Wie viele Größen hat „Straße“? 数 🦀 \u{202e}rtl"})),
        prompt("question that is cut", json!({"question": format!("{}end", "ä".repeat(4096))})),
        prompt(
            "question that is cut within a character",
            json!({"question": format!("a{}end", "ä".repeat(4096))}),
        ),
        prompt(
            "evidence and goal that are cut",
            json!({"question": "q", "evidence": "e".repeat(8200), "goal": "g".repeat(500)}),
        ),
        prompt(
            "answers that are cut",
            json!({"question": "q", "answers": [["w".repeat(401), "z".repeat(400)]]}),
        ),
        prompt("more than 20 hints", json!({"question": "q", "hints": hints})),
        prompt(
            "a long note is whole",
            json!({"question": "q", "hints": [hit("t", Some(&"note ".repeat(60)))]}),
        ),
        prompt(
            "a note that is longer than a snippet",
            json!({"question": "q", "hints": [
                {
                    "corpus": "notes", "id": "n", "path": "t", "snippet": "be",
                    "payload": "{\"note\":\"before\\nand after\"}", "score": 1.0
                },
                {
                    "corpus": "notes", "id": "o", "path": "t", "snippet": "as it is",
                    "payload": "{\"note\":3}", "score": 1.0
                },
            ]}),
        ),
        prompt(
            "cells, and facts about a table",
            json!({"question": "q", "hints": [
                {
                    "corpus": "cells", "id": "c", "path": "t.c", "table": "t", "column": "c",
                    "snippet": "x".repeat(200), "score": 1.0
                },
                {
                    "corpus": "cells", "id": "f", "path": "values of t", "table": "t",
                    "snippet": "y ".repeat(200), "score": 1.0
                },
            ]}),
        ),
        prompt(
            "examples are whole or left out",
            json!({"question": "q", "hints": [
                example(
                    "Who\nspent most?", &format!(
                        " SELECT name -- who\n  FROM t{} ", "x".repeat(300)
                    )
                ),
                example("fits", &"x".repeat(3996)),
                example("too long", &"x".repeat(3996)),
                example("no statement", "  "),
                {
                    "corpus": "examples", "id": "o", "path": "example 2",
                    "snippet": "an example of old", "score": 1.0
                },
                {
                    "corpus": "examples", "id": "b", "path": "example 3", "snippet": "damaged",
                    "payload": "{\"question\":1}", "score": 1.0
                },
            ]}),
        ),
        prompt(
            "hints that are too much together",
            json!({"question": "q", "hints": [
                example("a", &"x".repeat(3990)), example("b", &"x".repeat(3990)),
                example("c", &"x".repeat(3990)),
                example("d", &"x".repeat(3990)), hit("t", Some("small")),
            ]}),
        ),
        prompt(
            "hostile hints",
            json!({
                "question": "q", "hints": [
                    hit(HOSTILE, Some(HOSTILE)), hit(&"p".repeat(170), Some(""))
                ]
            }),
        ),
        prompt("hostile examples", json!({"question": "q", "hints": [example(HOSTILE, HOSTILE)]})),
        prompt("hostile terms", json!({"question": "q", "terms": [hostile_term()]})),
    ]
}

pub(super) fn cells() -> Vec<Case> {
    let null = json!({"type": "null"});
    let of = |kind: &str, value: Json| json!({"type": kind, "value": value});
    let reals = [
        0.0,
        -0.0,
        1.0,
        -1.5,
        0.1,
        100.0,
        1e15,
        1e16,
        1e21,
        1.234_567_890_123_456_7e25,
        1e-5,
        1e-6,
        1e-7,
        1.5e-10,
        0.1 + 0.2,
        1e300,
        5e-324,
        123_456.789,
    ];
    let mut values = vec![
        ("null".to_owned(), null.clone()),
        ("true".to_owned(), of("boolean", true.into())),
        ("false".to_owned(), of("boolean", false.into())),
        ("integer".to_owned(), of("integer", (-7).into())),
        ("greatest integer".to_owned(), of("integer", i64::MAX.to_string().into())),
        ("least integer".to_owned(), of("integer", i64::MIN.to_string().into())),
        ("infinity".to_owned(), of("real", "inf".into())),
        ("negative infinity".to_owned(), of("real", "-inf".into())),
        ("not a number".to_owned(), of("real", "NaN".into())),
        ("decimal".to_owned(), of("decimal", "12.50".into())),
        ("temporal".to_owned(), of("temporal", "2024-05-31 00:00:00".into())),
        ("text".to_owned(), of("text", "Wien".into())),
        ("empty text".to_owned(), of("text", "".into())),
        ("text of several lines".to_owned(), of("text", HOSTILE.into())),
        ("long text".to_owned(), of("text", "ä".repeat(70).into())),
        ("no bytes".to_owned(), of("bytes", json!([]))),
        ("one byte".to_owned(), of("bytes", json!([255]))),
        ("bytes".to_owned(), of("bytes", json!([0, 1, 2]))),
        ("other".to_owned(), of("other", "{\"a\": 1}".into())),
    ];
    values.extend(reals.iter().map(|real| (format!("real {real:?}"), of("real", json!(real)))));
    let mut cases: Vec<Case> = values
        .into_iter()
        .map(|(name, value)| ("prompt.cell", name, json!({ "value": value })))
        .collect();
    let text = |text: &str| of("text", text.into());
    cases.extend([
        case("prompt.rows", "no column", json!({"page": {"columns": [], "rows": [[]]}})),
        case("prompt.rows", "no row", json!({"page": {"columns": ["id", "city"], "rows": []}})),
        case(
            "prompt.rows",
            "rows",
            json!({"page": {
                "columns": ["id", "two\nwords", "c".repeat(70)],
                "rows": [
                    [of("integer", 1.into()), text("Wien"), (null)],
                    [of("real", 2.5.into()), text("a | b"), text("")]
                ],
            }}),
        ),
    ]);
    cases
}
