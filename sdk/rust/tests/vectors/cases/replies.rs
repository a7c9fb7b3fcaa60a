//! Replies, and attempts with their failures.

use serde_json::{Value as Json, json};

use super::{Case, case};

pub(super) fn replies() -> Vec<Case> {
    let mut cases = vec![
        case("replies.plan_schema", "schema", json!({})),
        case("replies.verdict_schema", "schema", json!({})),
    ];
    let sql = [
        ("nothing parsed", None),
        ("statement", Some(r#"{"sql":"SELECT 1","confidence":0.9}"#)),
        ("white space", Some("{\"sql\":\" SELECT 1\\n\",\"confidence\":null}")),
        ("no confidence", Some(r#"{"sql":"SELECT 1"}"#)),
        ("empty", Some(r#"{"sql":"  "}"#)),
        ("no statement", Some(r#"{"confidence":0.9}"#)),
        ("statement of another type", Some(r#"{"sql":["SELECT 1"]}"#)),
        ("confidence above one", Some(r#"{"sql":"SELECT 1","confidence":95}"#)),
        ("negative confidence", Some(r#"{"sql":"SELECT 1","confidence":-0.5}"#)),
        ("confidence as a text", Some(r#"{"sql":"SELECT 1","confidence":"0.9"}"#)),
        ("further fields", Some(r#"{"sql":"SELECT 'é 🦀'","confidence":1,"why":"so"}"#)),
        ("list", Some("[]")),
        ("text", Some("\"SELECT 1\"")),
        ("no JSON", Some("SELECT 1")),
        ("empty document", Some("")),
    ];
    cases.extend(
        sql.iter()
            .map(|(name, parsed)| case("replies.sql_reply", name, json!({ "parsed": parsed }))),
    );
    let verdicts = [
        ("nothing parsed", None),
        ("accepted", Some(r#"{"accepted":true,"score":0.75,"reason":"good"}"#)),
        ("rejected", Some(r#"{"accepted":false,"score":0.25,"reason":"größer"}"#)),
        ("no score", Some(r#"{"accepted":true}"#)),
        ("rejected without a score", Some(r#"{"accepted":false,"reason":null}"#)),
        ("score above one", Some(r#"{"accepted":true,"score":7}"#)),
        ("score as a text", Some(r#"{"accepted":true,"score":"0.1"}"#)),
        ("no verdict", Some(r#"{"score":0.5}"#)),
        ("verdict as a text", Some(r#"{"accepted":"yes"}"#)),
        ("list", Some("[]")),
        ("no JSON", Some("yes")),
    ];
    cases.extend(
        verdicts
            .iter()
            .map(|(name, parsed)| case("replies.verdict_reply", name, json!({ "parsed": parsed }))),
    );
    let plans = [
        ("nothing parsed", None),
        ("one", Some(r#"{"subtasks":[{"id":"A","description":"the sums"}]}"#)),
        (
            "nulls and doubles",
            Some(
                r#"{"subtasks":[{"id":" A ","description":" x ","depends_on":null,"join_keys":null,"expected_output":" "},
                {"id":"B","description":"y","depends_on":["A"," A ","",7],"is_atomic":false,"expected_output":"one row",
                "join_keys":[{"left":"B","left_col":"id","right":"A","right_col":"id","how":"Full"},{"left":"B"},7]},
                {"id":"","description":"z"},{"id":"C"},{"id":7,"description":"z"},7]}"#,
            ),
        ),
        (
            "flag of another type",
            Some(r#"{"subtasks":[{"id":"A","description":"x","is_atomic":"no"}]}"#),
        ),
        ("no list", Some(r#"{"subtasks":null}"#)),
        ("object", Some(r#"{"subtasks":{}}"#)),
        ("no subtask", Some(r#"{"subtasks":[{}]}"#)),
        ("empty list", Some(r#"{"subtasks":[]}"#)),
        ("list", Some("[]")),
        ("no JSON", Some("nonsense")),
    ];
    cases.extend(
        plans
            .iter()
            .map(|(name, parsed)| case("replies.plan_reply", name, json!({ "parsed": parsed }))),
    );
    let key = json!({
        "left": "A", "left_col": "id", "right": "B", "right_col": "a \"id\" é", "how": "left"
    });
    cases.extend([
        case("replies.join_context", "none", json!({"keys": []})),
        case(
            "replies.join_context",
            "two",
            json!({
                "keys": [
                    key, {
                        "left": "B", "left_col": "x", "right": "C", "right_col": "y",
                        "how": "full outer"
                    }
                ]
            }),
        ),
        case("replies.plan_context", "none", json!({"steps": []})),
        case(
            "replies.plan_context",
            "two",
            json!({"steps": ["list \"them\"", "größer\n🦀\u{7f}\u{2028}\u{1}/<>&"]}),
        ),
    ]);
    let contexts = [
        ("none", None),
        (
            "keys",
            Some(
                json!({
                    "join_keys": [
                        key, {"left": "x"}, {
                            "left": " A ", "left_col": "a", "right": "B", "right_col": "b",
                            "how": " RIGHT "
                        }
                    ]
                })
                .to_string(),
            ),
        ),
        ("plan", Some(json!({"plan": ["a", 7, "", " b "]}).to_string())),
        ("another kind", Some("[1]".to_owned())),
        ("no JSON", Some("{]".to_owned())),
    ];
    for (name, context) in contexts {
        let task = json!({"id": "A", "text": "t", "context": context});
        cases.push(case("replies.join_keys_of", name, json!({ "task": task })));
        cases.push(case("replies.plan_of", name, json!({ "task": task })));
    }
    cases
}

const SQL_ERRORS: [&str; 14] = [
    "syntax",
    "unknown-table",
    "unknown-column",
    "ambiguous-name",
    "type-mismatch",
    "write-refused",
    "function-refused",
    "denied",
    "timeout",
    "too-large",
    "cancelled",
    "budget",
    "unavailable",
    "other",
];

pub(super) fn attempts() -> Vec<Case> {
    fn error(message: &str, position: Option<u32>, suggestions: &[&str]) -> serde_json::Value {
        json!({
            "error": {
                "kind": "unknown-table", "message": message, "position": position,
                "suggestions": suggestions
            }
        })
    }
    let mut cases = vec![
        case("attempt.words", "message", error("no such table", None, &[])),
        case("attempt.words", "position", error("no such table", Some(14), &[])),
        case(
            "attempt.words",
            "suggestions",
            error("no such\ntable", Some(0), &["a", "b\nc", "d", "e", "f", "g"]),
        ),
        case("attempt.words", "long", error(&"m".repeat(500), None, &["n".repeat(100).as_str()])),
    ];
    for kind in SQL_ERRORS {
        cases.push(case(
            "attempt.failed",
            kind,
            json!({"error": {"kind": kind, "message": "it failed"}}),
        ));
    }
    fn column(name: &str, nulls: u64) -> serde_json::Value {
        json!({"column": {"name": name}, "nulls": nulls})
    }
    let doubts = |name: &str, rows: u64, truncated: bool, columns: Vec<Json>| {
        case(
            "attempt.doubts",
            name,
            json!({
                "overflow_rows": 10, "profile": {
                    "rows": rows, "truncated": truncated, "columns": columns
                }
            }),
        )
    };
    cases.extend([
        doubts("none", 3, false, vec![column("a", 2)]),
        doubts("no rows", 0, false, vec![column("a", 0)]),
        doubts("a column of NULL", 3, false, vec![column("a\nb", 3), column("c", 1)]),
        doubts("columns of NULL", 1, false, vec![column("a", 1), column("c", 1)]),
        doubts(
            "many columns of NULL",
            1,
            false,
            (0..25).map(|number| column(&format!("c{number}"), 1)).collect(),
        ),
        doubts("as many rows as expected", 10, false, Vec::new()),
        doubts("too many rows", 11, false, Vec::new()),
        doubts("one row, cut", 1, true, Vec::new()),
        doubts("too many rows, cut, and a column of NULL", 1000, true, vec![column("a", 1000)]),
    ]);
    let ids = [
        ("short", "A".to_owned()),
        ("longest", "x".repeat(62)),
        ("too long", "x".repeat(63)),
        ("too long, another", format!("{}y", "x".repeat(62))),
    ];
    for (name, task) in ids {
        cases.push(case("attempt.candidate_id", name, json!({"task": task, "number": 1})));
        cases.push(case(
            "attempt.candidate_id",
            &format!("{name}, 100"),
            json!({"task": task, "number": 100}),
        ));
    }
    cases
}

pub(super) fn failures() -> Vec<Case> {
    let llm = [
        json!("budget"),
        json!({"denied": "not you"}),
        json!({"refused": "no model"}),
        json!("too-large"),
        json!({"malformed": format!("Sorry,\n{}", "x".repeat(200))}),
        json!({"unsupported": "judge"}),
        json!("cancelled"),
        json!({"unavailable": "no network"}),
        json!({"other": "it rains"}),
    ];
    let name = |error: &Json| match error {
        Json::String(name) => name.clone(),
        held => held.as_object().unwrap().keys().next().unwrap().clone(),
    };
    let mut cases: Vec<Case> = llm
        .iter()
        .map(|error| case("failure.llm", &name(error), json!({ "error": error })))
        .collect();
    for kind in SQL_ERRORS {
        cases.push(case(
            "failure.sql",
            kind,
            json!({"error": {"kind": kind, "message": "it failed"}}),
        ));
    }
    let port = [
        json!({"denied": "not you"}),
        json!("unsupported"),
        json!({"unknown-name": "x"}),
        json!("budget"),
        json!({"unavailable": "gone"}),
        json!({"other": "it rains"}),
    ];
    cases.extend(
        port.iter().map(|error| case("failure.port", &name(error), json!({ "error": error }))),
    );
    cases
}
