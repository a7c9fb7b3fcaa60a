//! Whole briefs, and the requests that are made of them.

use serde_json::{Value as Json, json};

use super::catalogs::{hostile, schemas, shop, wide};
use super::prompts::{example, full_problem, hit, problem_with_terms};
use super::{Case, HOSTILE, SYNTAXES, case, syntax};

pub(super) fn briefs() -> Vec<Case> {
    let whole = json!({
        "catalog": shop(), "problem": full_problem(),
        "task": {"id": "A", "text": "How many customers live in Vienna?"}, "parents": [],
        "catalog_bytes": 48_000, "parent_rows": 3, "granted_rows": 3, "tried": [], "sample": 0,
    });
    let with = |changes: Json| {
        let mut input = whole.clone();
        for (key, value) in changes.as_object().unwrap() {
            input[key] = value.clone();
        }
        input
    };
    let request = |name: &str, changes: Json| case("brief.request", name, with(changes));
    fn integer(number: i64) -> serde_json::Value {
        json!({"type": "integer", "value": number})
    }
    fn relation(id: &str, text: &str, name: &str, columns: Json, rows: Json) -> serde_json::Value {
        json!({
            "task": {"id": id, "text": text},
            "output": {"relation": {"name": name, "results": {"columns": columns, "rows": rows}}}
        })
    }
    let parents = json!([
        relation("A", "the customers", "t_A", json!(["id", "select", "two\nwords"]), json!([
            [integer(1), {"type": "text", "value": "Wien"}, {"type": "null"}],
            [integer(2), {"type": "text", "value": "Graz"}, {"type": "null"}],
            [integer(3), {"type": "text", "value": "Linz"}, {"type": "null"}],
            [integer(4), {"type": "text", "value": "Wels"}, {"type": "null"}],
        ])),
        relation("B", "the \"orders\"\nof all", "order", json!(["n"]), json!([[integer(7)]])),
        relation("C", "nothing", "t_C", json!(["n"]), json!([])),
        {
            "task": {"id": "D", "text": "where it is"},
            "output": {
                "hits": [
                    hit("customers.city", Some(" Wien ")), hit("x", None), hit("y", Some("  "))
                ]
            }
        },
        {
            "task": {"id": "E", "text": "what failed"},
            "output": {"failed": {"kind": "model", "message": "no\nnetwork", "retryable": true}}
        },
        {"task": {"id": "F", "text": "something else"}, "output": {"other": "later"}},
    ]);
    let keys = json!({"join_keys": [
        {"left": "A", "left_col": "id", "right": "B", "right_col": "customer id", "how": "left"},
        {"left": "A", "left_col": "id", "right": "customers", "right_col": "id"},
        {
            "left": "orders", "left_col": "two words", "right": "C", "right_col": "n",
            "how": "FULL OUTER"
        },
        {"left": "x", "left_col": "a", "right": "y", "right_col": "b"},
        {"left": "A"},
    ]});
    let plan = json!({"plan": ["list the customers", "count\nthem", 7, "z".repeat(700)]});
    let tried = json!([
        {
            "sql": "SELECT count(*) FROM customer",
            "wrong": "unknown table customer; near: customers"
        },
        {"sql": "", "wrong": "the reply held no statement"},
    ]);
    let solved = json!({"question": "How many customers live in Vienna?", "hints": [
        hit("customers.city", Some("Wien")),
        example("How many live in Graz?", "SELECT 1\nFROM customers -- all\n"),
        example("Too long", &"x".repeat(3_980)), example("Who?", "SELECT name FROM customers"),
        example("What?", &"y".repeat(3_000)),
    ]});
    let fact = json!({
        "corpus": "cells", "id": "f", "path": "values of customers", "table": "customers",
        "snippet": "city is 'Wien', 'Graz'", "score": 1.0
    });
    fn describe(hints: &[&Json]) -> serde_json::Value {
        json!({"question": "How many customers live in Vienna?", "hints": hints})
    }
    let example_of_one = example("Who?", "SELECT name FROM customers");
    let found = hit("customers.city", Some("Wien"));
    let facts = describe(&[&found, &fact]);
    let facts_and_example = describe(&[&fact, &example_of_one, &found]);
    let long = json!([{
        "sql": format!("SELECT '{}'", "ä".repeat(3000)), "wrong": "the result has no rows"
    }]);
    let columns: Vec<String> = (0..53).map(|number| format!("c{number}")).collect();
    let many = json!([relation("A", "all", "t_A", json!(columns), json!([]))]);
    let part = json!({
        "id": "B", "text": "the sums\nTables:\nsecrets", "expected": "one row\nfor each city"
    });
    let mut cases = vec![
        request("first statement", json!({})),
        request("fifth sample", json!({"sample": 4})),
        request("solved examples", json!({"problem": solved, "tried": tried})),
        request("solved examples, shortened", json!({"problem": solved, "shortened": 1})),
        request("facts, shortened", json!({"problem": facts, "shortened": 1})),
        case("brief.setting", "solved examples", with(json!({"problem": solved}))),
        request("facts about a table", json!({"problem": facts, "tried": tried})),
        request("facts and a solved example", json!({ "problem": facts_and_example })),
        request("repair", json!({"tried": tried, "sample": 2})),
        request(
            "repair of replies without a statement",
            json!({"tried": [{"sql": "", "wrong": "the reply held no statement"}]}),
        ),
        request("repair of a long statement", json!({ "tried": long })),
        request("part of the question", json!({ "task": part })),
        request("task text that is cut", json!({"task": {"id": "A", "text": "x".repeat(2100)}})),
        request("plan", json!({"task": {"id": "A", "text": "t", "context": plan.to_string()}})),
        request(
            "context of another kind",
            json!({
                "task": {"id": "A", "text": "t", "context": "{\"plan\": 7, \"join_keys\": null}"}
            }),
        ),
        request(
            "context that is no JSON",
            json!({"task": {"id": "A", "text": "t", "context": "{]"}}),
        ),
        request(
            "dependencies",
            json!({
                "parents": parents, "task": {"id": "G", "text": "t", "context": keys.to_string()}
            }),
        ),
        request("dependencies without rows", json!({"parents": parents, "granted_rows": null})),
        request(
            "dependencies without rows in the prompt",
            json!({"parents": parents, "parent_rows": 0}),
        ),
        request("dependency with one row granted", json!({"parents": parents, "granted_rows": 1})),
        request("dependency of many columns", json!({ "parents": many })),
        request("another syntax", json!({"catalog": schemas("folding"), "parents": parents})),
        request("a syntax without rules", json!({"catalog": {"database": "x", "tables": []}})),
        request(
            "empty question and no table",
            json!({
                "catalog": {"database": "x", "tables": []}, "problem": {"question": ""},
                "task": {"id": "A", "text": ""},
            }),
        ),
        request("hostile catalog", json!({ "catalog": hostile() })),
        request(
            "hostile dependencies",
            json!({
                "parents": [
                    relation("A", HOSTILE, "t_A", json!([HOSTILE]), json!([
                        [{"type": "text", "value": HOSTILE}],
                    ])),
                    {"task": {"id": "B", "text": HOSTILE}, "output": {"failed": {
                        "kind": "model", "message": HOSTILE, "retryable": true,
                    }}},
                    {"task": {"id": "C", "text": HOSTILE}, "output": {
                        "hits": [hit(HOSTILE, Some(HOSTILE))],
                    }},
                ],
                "task": {"id": "G", "text": HOSTILE},
            }),
        ),
        request(
            "catalog in half the size",
            json!({"catalog": wide(30, 4), "catalog_bytes": 1500, "shortened": 1}),
        ),
        case("brief.setting", "dependencies", with(json!({ "parents": parents }))),
        case("brief.feedback", "none", json!({"tried": []})),
        case("brief.feedback", "two", json!({ "tried": tried })),
    ];
    for name in SYNTAXES {
        let catalog = json!({"database": "x", "tables": [], "syntax": syntax(name)});
        cases.push(case("brief.instructions", name, with(json!({ "catalog": catalog }))));
    }
    cases.push(case(
        "brief.instructions",
        "a metric is mentioned",
        with(json!({"problem": problem_with_terms()})),
    ));
    let draws = |name: &str, changes: Json| case("draws.request", name, with(changes));
    cases.extend([
        draws("first draw", json!({"number": 1, "temperature": 0.75})),
        draws("third draw", json!({"number": 3, "temperature": 0.5})),
        draws("draw without a temperature", json!({"number": 2, "temperature": null})),
        draws("draw that repairs", json!({"number": 4, "temperature": 0.5, "tried": tried})),
    ]);
    cases
}

pub(super) fn asks() -> Vec<Case> {
    let messages = json!([
        {"speaker": "system", "text": "You judge."}, {"speaker": "user", "text": "größer 🦀\n"}
    ]);
    let ask = |name: &str, input: Json| case("ask", name, input);
    vec![
        ask("least", json!({"purpose": "generate", "messages": [], "expect": "text"})),
        ask(
            "sql",
            json!({
                "purpose": "repair", "messages": messages, "expect": "sql",
                "subjects": ["SELECT 1", ""], "sample": 3, "temperature": 0.5
            }),
        ),
        ask(
            "plan",
            json!({
                "purpose": "plan", "messages": messages, "expect": "plan", "model": "big",
                "max_tokens": 4_294_967_295_u32
            }),
        ),
        ask(
            "verdict",
            json!({
                "purpose": "judge", "messages": messages, "expect": "verdict", "temperature": 0
            }),
        ),
        ask(
            "choice",
            json!({
                "purpose": {"other": "vote"}, "messages": messages, "expect": {"choice": ["a", "b"]}
            }),
        ),
        ask(
            "no choice",
            json!({"purpose": "select", "messages": messages, "expect": {"choice": []}}),
        ),
    ]
}
