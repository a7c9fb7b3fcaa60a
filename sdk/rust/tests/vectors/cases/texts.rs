//! Names, quotes and literals as prompts have them.

use serde_json::json;

use super::{Case, HOSTILE, SYNTAXES, case, syntax};

pub(super) fn texts() -> Vec<Case> {
    let lines = [
        ("plain", "How many orders?", 80),
        ("empty", "", 4),
        ("white space only", " \n\t ", 4),
        (
            "white space and control characters",
            "a\n\u{1b}[31m  b\t\u{0}\u{7f}c\u{85}\u{a0}\u{3000}d\u{feff}e\u{200b}f",
            80,
        ),
        ("line separators", "a\u{2028}b\u{2029}c\u{b}d\u{c}e", 80),
        ("the control characters of Latin-1", "a\u{80}b\u{9f}c\u{ad}d", 80),
        ("exactly the limit", "abcd", 4),
        ("one below the limit", "abc", 4),
        ("over the limit", "abcdef", 4),
        ("cut within a word", "ab cdef", 5),
        ("cut at a space", "abc def", 4),
        ("characters count, not bytes", "größere Straße", 6),
        ("characters of four bytes", "🦀🦀🦀🦀🦀", 4),
        ("joined characters are cut between code points", "e\u{301}e\u{301}e\u{301}", 4),
        ("a limit of one", "abc", 1),
        ("no limit", "abc  def", 0),
    ];
    let mut cases: Vec<Case> = lines
        .iter()
        .map(|(name, text, limit)| case("text.line", name, json!({"text": text, "limit": limit})))
        .collect();
    let clips = [
        ("short", "abc", 9),
        ("exactly", "abc", 3),
        ("cut", "abc", 2),
        ("within a character of two bytes", "aé", 2),
        ("within a character of four bytes", "a🦀b", 4),
        ("after it", "a🦀b", 5),
        ("to nothing", "é", 1),
        ("zero", "abc", 0),
    ];
    cases.extend(
        clips.iter().map(|(name, text, bytes)| {
            case("text.clip", name, json!({"text": text, "bytes": bytes}))
        }),
    );
    for number in [0, 1, 2, 1_000_000] {
        cases.push(case(
            "text.count",
            &number.to_string(),
            json!({"number": number, "noun": "row"}),
        ));
    }
    for value in [-1.0, 0.0, 0.25, 1.0, 1.5, 1e300] {
        cases.push(case("text.clamp01", &value.to_string(), json!({ "value": value })));
    }
    cases
}

pub(super) fn quotes() -> Vec<Case> {
    let names = [
        ("plain", "customers"),
        ("capitals", "Customers"),
        ("keyword", "order"),
        ("keyword in capitals", "SELECT"),
        ("keyword in part", "orders"),
        ("spaces", "two words"),
        ("spaces around", " a "),
        ("double quote", "a\"b"),
        ("backtick", "a`b"),
        ("digit first", "1st"),
        ("underscore first", "_x1"),
        ("empty", ""),
        ("unicode", "größe"),
        ("hyphen", "a-b"),
        ("hostile", HOSTILE),
    ];
    let mut cases = Vec::new();
    for (what, name) in names {
        for quotes in SYNTAXES {
            for function in ["names.quote", "names.quote_if_odd", "names.shown"] {
                cases.push(case(
                    function,
                    &format!("{what}, {quotes}"),
                    json!({"syntax": syntax(quotes), "name": name}),
                ));
            }
        }
    }
    for quotes in SYNTAXES {
        cases.push(case(
            "names.quote",
            &format!("both quotes, {quotes}"),
            json!({"syntax": syntax(quotes), "name": "a\"b`c"}),
        ));
    }
    cases.push(case(
        "names.shown",
        "256 characters",
        json!({"syntax": {}, "name": "ä".repeat(256)}),
    ));
    cases.push(case(
        "names.shown",
        "257 characters",
        json!({"syntax": {}, "name": "a".repeat(257)}),
    ));
    let table = |schema: Option<&str>, name: &str| json!({"schema_name": schema, "name": name});
    for (name, table) in [
        ("no schema", table(None, "orders")),
        ("schema", table(Some("sales"), "orders")),
        ("odd schema and name", table(Some("my shop"), "a\nb")),
        ("keyword", table(Some("main"), "order")),
    ] {
        cases.push(case("names.from_name", name, json!({"syntax": {}, "table": table})));
        cases.push(case(
            "names.from_name",
            &format!("{name}, backticks"),
            json!({"syntax": syntax("backticks"), "table": table}),
        ));
    }
    cases
}

pub(super) fn literals() -> Vec<Case> {
    SYNTAXES
        .iter()
        .map(|name| {
            let input = json!({"syntax": syntax(name), "text": "O'Brien\\ \"x\"\n"});
            case("names.literal", name, input)
        })
        .collect()
}
