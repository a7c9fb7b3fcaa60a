//! The inputs of the table for what strategies share: discounts, scores, chains of repairs and
//! tries.

use serde_json::{Value as Json, json};

use super::cases::{Case, case};

pub(crate) fn all() -> Vec<Case> {
    [discounts(), scores(), chains(), tries()].concat()
}

fn discounts() -> Vec<Case> {
    let discounted = |name: &str, raw: f64, signals: Json| {
        case("discount.discounted", name, json!({ "raw": raw, "signals": signals }))
    };
    let all = json!({
        "attempts": 3, "max_attempts": 3, "syntax_errors": 2, "schema_errors": 1, "execution_errors": 7, "empty_result": true,
        "null_columns": 2, "overflow": true,
    });
    let weights = json!({
        "syntax": 0.5, "schema": 0.25, "execution": 0.0, "empty": 0.125, "null_column": 1.0, "overflow": 0.0625, "retry": 0.75,
    });
    let given = |name: &str, signals: &Json| {
        case(
            "discount.discounted",
            name,
            json!({ "raw": 0.9, "signals": signals, "weights": weights }),
        )
    };
    vec![
        discounted("nothing occurred", 0.9, json!({"attempts": 1, "max_attempts": 3})),
        discounted(
            "a syntax error",
            0.9,
            json!({"attempts": 1, "max_attempts": 3, "syntax_errors": 1}),
        ),
        discounted("several of one kind count once", 0.9, json!({"syntax_errors": 5})),
        discounted("a schema error", 0.8, json!({"schema_errors": 1})),
        discounted("an execution error", 0.8, json!({"execution_errors": 1})),
        discounted("an empty result", 0.7, json!({"empty_result": true})),
        discounted("a column of NULL", 0.7, json!({"null_columns": 1})),
        discounted("too many rows", 0.7, json!({"overflow": true})),
        discounted("the second of three attempts", 0.9, json!({"attempts": 2, "max_attempts": 3})),
        discounted("the last attempt", 0.9, json!({"attempts": 3, "max_attempts": 3})),
        discounted("more attempts than allowed", 0.9, json!({"attempts": 9, "max_attempts": 3})),
        discounted("one attempt is allowed", 0.9, json!({"attempts": 4, "max_attempts": 1})),
        discounted("no attempt is counted", 0.9, json!({"attempts": 0, "max_attempts": 3})),
        discounted("all", 0.95, all.clone()),
        discounted("a claim above one", 7.0, json!({"syntax_errors": 1})),
        discounted("a claim below zero", -1.0, json!({})),
        given("weights of the user's", &all),
        given(
            "weights of the user's, of which some count",
            &json!({"attempts": 2, "max_attempts": 4, "schema_errors": 1}),
        ),
    ]
}

fn scores() -> Vec<Case> {
    let score = |name: &str, confidences: &[f64], error: bool, empty: bool| {
        case(
            "score.ambiguity",
            name,
            json!({ "confidences": confidences, "error": error, "empty": empty }),
        )
    };
    let weights = json!({ "doubt": 0.5, "variance": 2.0, "error": 0.1, "empty": 0.9 });
    let mut cases = vec![
        score("nothing was found", &[], false, false),
        score("nothing was found, and an error", &[], true, true),
        score("sure", &[1.0], false, false),
        score("nearly sure", &[0.9], false, false),
        score("an error", &[0.0], true, false),
        score("an empty result", &[0.5], false, true),
        score("an error outweighs an empty result", &[0.5], true, true),
        score("two that differ", &[0.2, 0.8], false, false),
        score("three", &[0.1, 0.7, 0.3], true, false),
        score("two that are equal", &[0.6, 0.6], false, true),
        score("confidences beyond 0 and 1", &[-3.0, 7.0], false, false),
        case(
            "score.ambiguity",
            "weights of the user's",
            json!({"confidences": [0.2, 0.8], "error": false, "empty": true, "weights": weights}),
        ),
    ];
    let candidate =
        |raw: Option<f64>, sure: Option<f64>| json!({"raw_confidence": raw, "confidence": sure});
    let found =
        json!([candidate(Some(0.4), Some(0.7)), candidate(Some(0.5), None), candidate(None, None)]);
    let failed = json!({"failed": {"kind": "model", "message": "no network", "retryable": true}});
    for (name, seen) in [
        ("solved", json!({"ending": "solved", "candidates": found, "profile": {"rows": 3}})),
        ("solved without a profile", json!({"ending": "solved", "candidates": found})),
        (
            "solved with no rows",
            json!({"ending": "solved", "candidates": found, "profile": {"rows": 0}}),
        ),
        ("empty", json!({"ending": "empty", "candidates": found, "profile": {"rows": 3}})),
        ("failed", json!({"ending": failed, "candidates": found})),
        ("failed without a candidate", json!({ "ending": failed })),
        ("skipped", json!({"ending": {"skipped": "A"}, "candidates": found})),
        ("cancelled", json!({"ending": "cancelled", "candidates": found})),
        ("ended in another way", json!({"ending": {"other": "later"}, "candidates": found})),
    ] {
        cases.push(case("score.ambiguity_of", name, json!({ "seen": seen })));
    }
    cases
}

fn chains() -> Vec<Case> {
    let chain = |name: &str, steps: Json| {
        case("attempt.chain", name, json!({ "max_attempts": 3, "steps": steps }))
    };
    let next = |id: &str, sql: &str, signals: Json| {
        let statement = json!({ "sql": sql, "confidence": 0.5, "logprob": -0.25, "tokens": 12 });
        json!({"candidate": {"id": id, "statement": statement, "signals": signals}})
    };
    let failed = |sql: &str| json!({"fail": {"sql": sql, "wrong": "no such table"}});
    let own = json!({"schema_errors": 1, "empty_result": true, "null_columns": 2, "overflow": true, "attempts": 9, "samples": 9});
    vec![
        chain("none", json!([])),
        chain("one", json!([next("A.1", "SELECT 1", json!({}))])),
        chain(
            "a repair is a child and carries the errors",
            json!([
                next("A.1", "SELECT x", own),
                failed("SELECT x"),
                next("A.2", "SELECT 1", json!({"execution_errors": 1}))
            ]),
        ),
        chain(
            "replies without a statement",
            json!([{"no_statement": "the reply held no statement"}, {"no_statement": "nor that"}, next("A.1", "SELECT 1", json!({}))]),
        ),
        chain(
            "an origin of the strategy's own",
            json!([failed("SELECT 1"), {"candidate": {
                "id": "A.7", "origin": "debug", "statement": {"sql": "SELECT 2", "tokens": 0}, "signals": {"syntax_errors": 2},
            }}]),
        ),
    ]
}

/// The database answers `SELECT n` with a row, `EMPTY…` with none, and refuses `BAD…`; `OVER` finds
/// the budget used up. Each try of the test is repaired until a statement of it ran or `attempts`
/// were made; a prompt that is too large is made shorter once. Replies are in the order of the
/// requests.
fn tries() -> Vec<Case> {
    let tries = |name: &str, number: u32, attempts: u32, replies: Json| {
        case(
            "draws.run_tries",
            name,
            json!({ "number": number, "attempts": attempts, "replies": replies }),
        )
    };
    let generate = |sql: &str| json!({"purpose": "generate", "sql": sql});
    let repair = |sql: &str| json!({"purpose": "repair", "sql": sql});
    let nothing = |purpose: &str| json!({"purpose": purpose, "text": "I cannot say"});
    let error = |purpose: &str, error: Json| json!({ "purpose": purpose, "error": error });
    vec![
        tries("none", 0, 3, json!([])),
        tries("one that runs", 1, 3, json!([generate("SELECT 1")])),
        tries(
            "one is repaired",
            1,
            3,
            json!([generate("BAD 1"), repair("BAD 2"), repair("SELECT 1")]),
        ),
        tries("attempts are used up", 1, 2, json!([generate("BAD 1"), repair("BAD 2")])),
        tries(
            "each try is repaired by itself",
            3,
            2,
            json!([
                generate("SELECT 1"),
                generate("BAD 1"),
                generate("BAD 2"),
                repair("SELECT 2"),
                repair("EMPTY")
            ]),
        ),
        tries(
            "one text of two tries runs once",
            2,
            2,
            json!([generate("BAD"), generate("BAD"), repair("SELECT 1"), repair("SELECT 1")]),
        ),
        tries(
            "replies without a statement count",
            2,
            2,
            json!([nothing("generate"), generate("SELECT 1"), generate("SELECT 2")]),
        ),
        tries(
            "a try ends with an error of the model",
            2,
            2,
            json!([error("generate", json!({"unavailable": "no network"})), generate("SELECT 1")]),
        ),
        tries(
            "a prompt that is too large is made again in its round",
            2,
            1,
            json!([
                error("generate", json!("too-large")),
                generate("SELECT 1"),
                generate("SELECT 2")
            ]),
        ),
        tries(
            "all that were too large are made again, once",
            2,
            1,
            json!([
                error("generate", json!("too-large")),
                error("generate", json!("too-large")),
                error("generate", json!("too-large")),
                generate("SELECT 2"),
            ]),
        ),
        tries(
            "the budget is used up",
            2,
            2,
            json!([generate("OVER"), generate("SELECT 1"), repair("SELECT 2")]),
        ),
    ]
}
