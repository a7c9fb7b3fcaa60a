//! The shapes in which models put a statement into a reply, each with the statement that is read.

use proptest::prelude::*;
use syrch_core::Limits;
use syrch_core::ports::{LlmError, Shape, SqlReply};
use syrch_replies::shape::{parse, parse_cut};

const COUNT: &str = "SELECT COUNT(*) FROM samples WHERE status = 'done'";

fn read(text: &str) -> Option<SqlReply> {
    let parsed = parse(text, &Shape::Sql, &Limits::default()).ok()??;
    serde_json::from_str(&parsed).ok()
}

fn sql(text: &str) -> Option<String> {
    read(text).map(|reply| reply.sql)
}

/// The statements in the order in which they are tried.
fn list_statements(text: &str) -> Vec<String> {
    let statements = read(text).map(|reply| reply.statements).unwrap_or_default();
    statements.into_iter().map(|statement| statement.sql).collect()
}

/// Each reply holds [`COUNT`], which stands in it as `{}`, and no other statement.
#[track_caller]
fn all_read(replies: &[&str]) {
    for reply in replies {
        let reply = reply.replace("{}", COUNT);
        assert_eq!(sql(&reply).as_deref(), Some(COUNT), "{reply}");
        assert_eq!(read(&reply).map(|reply| reply.statements.len()), Some(0), "{reply}");
    }
}

#[test]
fn fences_and_bare_text() {
    all_read(&[
        "{}",
        "{};",
        "```sql\n{}\n```",
        "```sqlite\n{};\n```",
        "```SQL {} ```",
        "```\n{}\n```",
        "```sql\n{}",
        "~~~sql\n{}\n~~~",
        "~~~\n{};\n~~~\nThat is all.",
        "Here it is:\n\n```sql\n{}\n```\n\nIt counts the rows.",
        "sql\n{}",
        "SQL: {}",
        "SQLQuery: {}\nSQLResult: 3\nAnswer: 3",
        "`{}`",
        "> ```sql\n> {}\n> ```",
        "-- the done ones\n{} ",
        "<think>SELECT 1?</think>\n```sql\n{}\n```",
        "SELECT 1? No.</think>\n{}",
    ]);
}

#[test]
fn documents_and_calls_of_tools() {
    all_read(&[
        r#"{"sql": "{}"}"#,
        r#"{"query": "{};", "success": true}"#,
        r#"{"sqlQuery" : "{}"}"#,
        r#"{"result": {"sql": "{}"}}"#,
        r#"[{"sql": "{}"}]"#,
        r#"{"name": "run_sql", "arguments": {"sql": "{}"}}"#,
        r#"{"name": "run", "arguments": "{\"q\": \"{}\"}"}"#,
        "<tool_call>\n{\"name\": \"db\", \"arguments\": {\"query\": \"{}\"}}\n</tool_call>",
        r#"[TOOL_CALLS][{"name": "db", "arguments": {"statement": "{}"}}]"#,
        "<function=run_sql>{\"sql\": \"{}\"}</function>",
        "<tool_call><function=run><parameter=sql>{}</parameter></function></tool_call>",
        "<invoke name=\"run\"><parameter name=\"q\">{}</parameter></invoke>",
        "run_sql(\"{}\")",
        "\"```sql\\n{}\\n```\"",
        "\"{}\"",
        r#"{"answer": "Of course:\n```sql\n{}\n```\nDone."}"#,
        r#"{"sql": "```sql\n{}\n```"}"#,
        r#"{"text": "{}", "lang": "en"}"#,
    ]);
}

#[test]
fn tags_and_tokens() {
    all_read(&[
        "<sql>{}</sql>",
        "Here:\n<SQL>\n{};\n</SQL>\nThat is it.",
        "<sql>{}",
        "<answer>\n{}\n</answer>",
        "<sql_query lang=\"sqlite\">{}</sql_query>",
        "<sql>\n```sql\n{}\n```\n</sql>",
        "<answer>The query is {}</answer>",
        "{}<|im_end|>",
        "{};<|eot_id|>",
        "{}</s>",
        "{} <|endoftext|>\nHuman: and",
        "{}<end_of_turn>",
        "{}<｜end▁of▁sentence｜>",
        "```sql\n{}<|im_end|>\n```",
        "```sql\n{}\n```<|im_end|>",
        "<|im_start|>assistant\n{}<|im_end|>",
        "[INST] [/INST] {} </s>",
        r#"{"sql": "{}<|im_end|>"}<|im_end|>"#,
    ]);
}

#[test]
fn characters_that_stand_for_others() {
    all_read(&[
        "SELECT\u{a0}COUNT(*)\u{a0}FROM samples WHERE status\u{202f}= 'done'",
        "SELECT\u{2009}COUNT(*) FROM\u{3000}samples WHERE status = 'done'",
        "```sql\nSELECT COUNT(*) FROM\u{a0}samples WHERE status = 'done'\n```",
        "SELECT COUNT(*) FROM samples WHERE status = ‘done’",
        "```sql\nSELECT COUNT(*) FROM samples WHERE status = ’done’;\n```",
        "SELECT COUNT（*） FROM samples WHERE status ＝ 'done'；",
        "```sql\nSELECT COUNT（＊） FROM samples WHERE status = ＇done＇\n```",
        "SELECT COUNT(*) FROM samples WHERE status = &#39;done&#39;",
        "```sql\nSELECT COUNT(*) FROM samples WHERE status = &apos;done&apos;;\n```",
        "<pre><code>SELECT COUNT(*) FROM samples WHERE status = &#x27;done&#x27;</code></pre>",
        "({})",
        "```sql\n({});\n```",
        "(({}))",
    ]);
    for (reply, expected) in [
        (r"SELECT a\nFROM t\nWHERE b = 'c\nd'", "SELECT a\nFROM t\nWHERE b = 'c\\nd'"),
        (r"Here is the query:\n\nSELECT a\nFROM t\n\nIt lists a.", "SELECT a\nFROM t"),
        (r"```sql\nSELECT a\nFROM t\n```", "SELECT a\nFROM t"),
        (r"-- all of them\nSELECT a\nFROM t", "SELECT a\nFROM t"),
        ("SELECT a FROM t WHERE b &lt; 5 AND c &gt;= 2", "SELECT a FROM t WHERE b < 5 AND c >= 2"),
        ("```sql\nSELECT a FROM t WHERE b &lt;&gt; 5;\n```", "SELECT a FROM t WHERE b <> 5"),
        ("SELECT a FROM t WHERE b &lt; 5; That is it.", "SELECT a FROM t WHERE b < 5"),
        ("SELECT “Full Name” FROM “Patients”", "SELECT \"Full Name\" FROM \"Patients\""),
        ("SELECT a FROM t WHERE b = ‘O'Brien’", "SELECT a FROM t WHERE b = 'O''Brien'"),
        ("SELECT a，b FROM t WHERE c = '（x），y'", "SELECT a,b FROM t WHERE c = '（x），y'"),
        ("(SELECT 1) UNION (SELECT 2)", "(SELECT 1) UNION (SELECT 2)"),
    ] {
        assert_eq!(sql(reply).as_deref(), Some(expected), "{reply}");
    }
    let either = list_statements("SELECT a FROM t WHERE b = “done”");
    assert_eq!(either, ["SELECT a FROM t WHERE b = \"done\"", "SELECT a FROM t WHERE b = 'done'"]);
}

#[test]
fn nothing_inside_a_literal_changes() {
    for text in [
        "a&lt;b",
        "“x”",
        "</s>",
        "<|im_end|>",
        "（a），b；",
        "a\u{a0}b",
        "x\\ny",
        "{\":",
        " {\":",
        "<sql>",
        "&#39;",
        "~~~",
    ] {
        let statement = format!("SELECT a FROM t WHERE b = '{text}'");
        assert_eq!(sql(&statement).as_deref(), Some(statement.as_str()));
        let fenced = format!("```sql\n{statement}\n```");
        assert_eq!(sql(&fenced).as_deref(), Some(statement.as_str()));
    }
}

#[test]
fn several_statements_are_tried_in_the_order_of_the_reply() {
    let good = "SELECT count(*) FROM t";
    fn fence(sql: &str) -> String {
        format!("\n```sql\n{sql};\n```\n")
    }
    let list = "SELECT * FROM t";
    let template = "SELECT column_name FROM table_name";
    for (reply, other) in [
        (format!("{}In general:{}", fence(good), fence(template)), template),
        (format!("{}If your table is another:{}", fence(good), fence(template)), template),
        (format!("{}Alternatively, to see all rows:{}", fence(good), fence(list)), list),
        (format!("{good};\n{list};"), list),
        (fence(&format!("{good};\n-- or all rows\n{list}")), list),
        (format!("The general form is:{}Here:{}", fence(template), fence(good)), template),
        (format!("A first draft:{}Final query:{}", fence(list), fence(good)), list),
        (format!("Step 1:{}Step 2:{}", fence(list), fence(good)), list),
        (format!("{}Wait, that lists them. Corrected:{}", fence(list), fence(good)), list),
        (format!("{list}\n\nSQLQuery: {good}\n"), list),
        (format!("{{\"sql\": \"{good}\"}}\nor, to see them:\n{{\"sql\": \"{list}\"}}"), list),
        (format!("<sql>{good}</sql> or <sql>{list}</sql>"), list),
        (format!("{{\"queries\": [\"{good}\", \"{list}\"]}}"), list),
    ] {
        assert_eq!(list_statements(&reply), [good, other], "{reply}");
        assert_eq!(sql(&reply).as_deref(), Some(good), "{reply}");
    }
}

#[test]
fn each_statement_has_the_confidence_that_is_stated_for_it() {
    let reply =
        "```sql\nSELECT 1\n```\nConfidence: 0.9\n\nOr:\n```sql\nSELECT 2\n```\nConfidence: 0.4";
    let several = read(reply).unwrap();
    assert_eq!((several.sql.as_str(), several.confidence), ("SELECT 1", Some(0.9)));
    let stated: Vec<_> =
        several.statements.iter().map(|one| (one.number, one.confidence)).collect();
    assert_eq!(stated, [(1, Some(0.9)), (2, Some(0.4))]);
    let twice = read("SELECT 1;\nConfidence: 0.9\nSELECT 1;").unwrap();
    assert_eq!((twice.sql.as_str(), twice.statements.len()), ("SELECT 1", 0));
}

#[test]
fn what_is_no_statement_is_none() {
    for reply in [
        "",
        "I cannot answer that.",
        "<sql></sql>",
        "<|im_end|>",
        "“Select” is a word.",
        "{\"sql\": \"\"}",
        "()",
    ] {
        assert_eq!(sql(reply), None, "{reply}");
    }
}

#[test]
fn hostile_replies_take_little_time() {
    let parts = [
        "“",
        "‘x",
        "&quot;",
        "\\\"",
        "<sql>",
        "</",
        "<answer>SELECT ",
        "SELECT “a ",
        "<|",
        "(SELECT ",
        "SELECT a&lt;",
        "~~~\n",
        "```sql\nSELECT 1\n```\n",
        "$a",
        "SELECT 1;\n",
        "```sql\nSELECT 1;SELECT 2;SELECT 3;SELECT 4;SELECT 5;SELECT 6;SELECT 7;SELECT 8;\n```\n",
        "{\"a\":\"SELECT a FROM b\"}",
        "[[\"```",
        "\\n",
        "WITH a（",
        "\u{a0}SELECT\u{a0}",
    ];
    for part in parts {
        let before = std::time::Instant::now();
        let _ = sql(&part.repeat(200_000 / part.len()));
        assert!(before.elapsed().as_secs() < 20, "{part}: {:?}", before.elapsed());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_plain_statement_comes_back_unchanged_from_any_fence(
        literal in "[^'`\\x00-\\x1f]{0,20}",
        frame in prop::sample::select(vec![
            ("", ""),
            ("```sql\n", "\n```"),
            ("```\n", "\n```\n"),
            ("Here:\n```sqlite\n", "\n```\nThat is it."),
            ("~~~sql\n", "\n~~~"),
            ("<sql>", "</sql>"),
            ("SQLQuery: ", ""),
            ("```sql\n", ""),
            ("", "<|im_end|>"),
            ("(", ")"),
        ]),
    ) {
        let lower = literal.to_lowercase();
        prop_assume!(!["</", "<think", "<reasoning"].iter().any(|tag| lower.contains(tag)));
        let statement = format!("SELECT a FROM t WHERE b = '{literal}'");
        prop_assert_eq!(sql(&format!("{}{statement}{}", frame.0, frame.1)), Some(statement));
    }

    #[test]
    fn nothing_panics_on_damaged_replies(parts in prop::collection::vec(prop::sample::select(vec![
        "SELECT ", "a", " FROM t", "“", "”", "‘", "’", "（", "）", "；", "\u{a0}", "&lt;", "&#39;",
        "&", ";", "'", "\"", "\\n", "\\\"",
        "<sql>", "</sql>", "<|im_end|>", "</s>", "<br>", "```", "~~~\n", "\n", "{", "}", "\"sql\":",
        "(", ")", "--", "$$", "final:", "or",
    ]), 0..40)) {
        let text = parts.concat();
        if let Some(read) = read(&text) {
            prop_assert!(!read.sql.trim().is_empty());
            prop_assert!(read.statements.len() != 1 && read.statements.len() <= 16);
        }
    }
}

/// The statement of a reply that was cut off.
fn cut(text: &str) -> Option<String> {
    match parse_cut(text, &Shape::Sql, &Limits::default(), 512) {
        Ok(parsed) => serde_json::from_str::<SqlReply>(&parsed?).ok().map(|reply| reply.sql),
        Err(LlmError::Cut { tokens, begins }) => {
            assert!(tokens == 512 && text.trim().starts_with(&begins), "{begins}");
            None
        }
        Err(error) => {
            assert_eq!(error.to_string(), "", "{text}");
            None
        }
    }
}

#[test]
fn a_statement_of_a_cut_reply_counts_if_its_end_is_marked() {
    for reply in [
        "{};",
        "```sql\n{}\n```",
        "```sql\n{};\n",
        "<sql>{}</sql>",
        "~~~sql\n{}\n~~~\n",
        "```json\n{\"sql\": \"{}\"}\n```",
        "The statement:\n\n{};\n\n",
        "{\"sql\": \"{}\", \"confidence\": 0.9}",
        "<think>SELECT 1?</think>\n```sql\n{}\n```\nConfidence: 0.",
    ] {
        let reply = reply.replace("{}", COUNT);
        assert_eq!(cut(&reply).as_deref(), Some(COUNT), "{reply}");
    }
}

#[test]
fn a_statement_of_a_cut_reply_that_may_go_on_is_none() {
    for reply in [
        "{}",
        "```sql\n{}",
        "```sql\n{}\n",
        "```\n{}\nGROUP BY status",
        "SQL: {}",
        "The query is {}. It doesn't",
        "<sql>{}",
        "~~~sql\n{}",
        "{\"sql\": \"{}",
        "{\"sql\": \"{}\"",
        "<think>I take\n```sql\n{}\n```\nor",
        "<|channel|>analysis<|message|>```sql\n{}\n```\nWe",
        "[THINK]```sql\n{}\n```",
        "```sql\n{}\n```\nThat is wrong, since the status",
        "```sql\n{}\n```\n**Corrected query:**\n",
        "```sql\n{}\n```\nbetter:\n```sql\nSELECT 2",
        "```sql\n{}\n```\nbetter:\n```sql",
        "{};\n\nSELECT name FROM samples",
        "{};\nSELECT",
        "```sql\n{};\nSELECT 2",
        "```sql\n{}\n```\nIt counts the rows whose sta",
        "<sql>{}</sql> and",
        "~~~sql\n{}\n~~~\nThat is",
        "```json\n{\"sql\": \"{}\"}\n```\nIt rea",
        "The statement:\n\n{};\n\nThis doesn't read mo",
        "```sql\n{}\n```\nHmm, this counts all; the question wants",
        "```sql\n{}\n```\nMoment, das zählt alle. Richtig ist",
        "The naive {}; ignores the country, so",
        "Let me think. {}; would count all but",
        "1. {};\n2. SELECT",
        "{} -- then filter;",
        "```sql\n{} -- then filter;",
        "{} AND status = 'a;",
        "{} /* filter by;",
    ] {
        let reply = reply.replace("{}", COUNT);
        assert_eq!(cut(&reply), None, "{reply}");
    }
}

#[test]
fn a_confidence_whose_end_may_be_missing_is_none() {
    fn read(text: &str) -> Option<f64> {
        let parsed = parse_cut(text, &Shape::Sql, &Limits::default(), 9).unwrap().unwrap();
        serde_json::from_str::<SqlReply>(&parsed).unwrap().confidence
    }
    assert_eq!(read("```sql\nSELECT 1\n```\nConfidence: 0.9\n"), Some(0.9));
    assert_eq!(read("```sql\nSELECT 1\n```\nConfidence: 1"), None);
}

/// The thinking of each family of models, before and around the statement that counts.
#[test]
fn thinking_of_every_family_is_no_answer() {
    let draft = "First idea:\n```sql\nSELECT 1 AS wrong\n```\n";
    for (before, between) in [
        ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
        ("analysis", "assistantfinal"),
        ("<think>", "</think>"),
        ("", "</think>"),
        ("[THINK]", "[/THINK]"),
        ("<|channel>thought\n", "<channel|>"),
        ("<|START_THINKING|>", "<|END_THINKING|><|START_RESPONSE|>"),
        ("◁think▷", "◁/think▷"),
        ("<|think|>", "<|/think|>"),
        ("<|thinking|>", "<|/thinking|>"),
        ("<longcat_think>", "</longcat_think>"),
        ("<|inner_prefix|>", "<|inner_suffix|>"),
        ("Here are my reasoning steps:\n", "[BEGIN FINAL RESPONSE]\n"),
    ] {
        for answer in [format!("```sql\n{COUNT}\n```"), COUNT.to_owned()] {
            let reply = format!("{before}{draft}{between}{answer}");
            assert_eq!(sql(&reply).as_deref(), Some(COUNT), "{reply}");
        }
        if !before.is_empty() && before != "analysis" {
            assert_eq!(sql(&format!("{before}{draft}")), None, "{before}");
        }
    }
}

/// Each reply holds the statement `expected`, if any, and never a part of it.
#[track_caller]
fn right_or_silent(cases: &[(&str, Option<&str>)]) {
    fn is_same(read: &str, expected: &str) -> bool {
        read.split_whitespace().collect::<Vec<_>>()
            == expected.split_whitespace().collect::<Vec<_>>()
    }
    for (code, expected) in cases {
        for reply in [
            format!("```sql\n{code}\n```"),
            (*code).to_owned(),
            format!("Here:\n\n{code}\n\nThat is it."),
        ] {
            let read = sql(&reply);
            let is_right = match expected {
                Some(expected) => read.as_deref().is_some_and(|read| is_same(read, expected)),
                None => read.as_deref().is_none_or(|read| !syrch_parses(read)),
            };
            assert!(is_right, "{reply}: {read:?}");
        }
    }
}

/// Returns true if an engine may take the text for a statement.
fn syrch_parses(sql: &str) -> bool {
    syrch_replies::parser(&*syrch_replies::grammar(&syrch_core::Dialect::Sqlite))
        .try_with_sql(sql)
        .and_then(|mut parser| parser.parse_statements())
        .is_ok()
}

#[test]
fn a_mark_within_a_statement_does_not_end_it() {
    right_or_silent(&[
        (
            "SELECT count(*) FROM orders</sql> WHERE status='delivered'",
            Some("SELECT count(*) FROM orders WHERE status='delivered'"),
        ),
        (
            "SELECT count(*) FROM orders WHERE id [/inst] > 5",
            Some("SELECT count(*) FROM orders WHERE id > 5"),
        ),
        ("SELECT a FROM t</s></sql>\nORDER BY a", Some("SELECT a FROM t ORDER BY a")),
        ("SELECT a FROM t WHERE b <|im_end|> IS NULL", Some("SELECT a FROM t WHERE b IS NULL")),
        ("SELECT a FROM t<|im_end|>\nWHERE b = 1", Some("SELECT a FROM t WHERE b = 1")),
        ("SELECT a FROM t</sql> u WHERE u.b = 'x'", Some("SELECT a FROM t u WHERE u.b = 'x'")),
        ("SELECT a FROM t WHERE b = 1 [/inst] - 1", Some("SELECT a FROM t WHERE b = 1 - 1")),
        ("SELECT a FROM t</sql> WHERE = 'x'", None),
    ]);
}

#[test]
fn a_line_within_a_comment_belongs_to_the_statement() {
    right_or_silent(&[
        (
            r"SELECT count(*) FROM orders -- only open ones\nWHERE status = 'delivered'",
            Some("SELECT count(*) FROM orders -- only open ones WHERE status = 'delivered'"),
        ),
        (r"SELECT a -- it\nFROM t -- all\nLIMIT 3", Some("SELECT a -- it FROM t -- all LIMIT 3")),
        (
            "SELECT a FROM t -- open\\nWHERE b = 1\nLIMIT 3",
            Some("SELECT a FROM t -- open WHERE b = 1 LIMIT 3"),
        ),
        (
            "SELECT a FROM t -- replace \\n with x\nLIMIT 3",
            Some(r"SELECT a FROM t -- replace \n with x LIMIT 3"),
        ),
    ]);
    let reply = r"SELECT a FROM t -- open\nWHERE b = 1";
    assert_eq!(sql(reply).as_deref(), Some("SELECT a FROM t -- open\nWHERE b = 1"));
}

#[test]
fn what_is_valid_is_not_changed() {
    for statement in [
        "SELECT a FROM t WHERE a = '&lt;b&gt;'",
        "SELECT a FROM t WHERE a = '“b” ‘c’'",
        "SELECT a FROM t WHERE a = 'x; SELECT 2; --'",
        "SELECT a FROM t WHERE a = 'x</sql> WHERE b'",
        "SELECT a FROM t WHERE a = '-- x\\nWHERE b'",
        "SELECT a /* x\\nWHERE b */ FROM t",
        "SELECT \"a;b\" FROM t WHERE a <b AND b> c",
        "SELECT a FROM t WHERE a = 'it''s &amp; ’s'",
    ] {
        for reply in [
            format!("```sql\n{statement}\n```"),
            statement.to_owned(),
            format!("<sql>{statement};</sql>"),
        ] {
            if reply.starts_with("<sql>") && statement.contains("</sql>") {
                continue;
            }
            assert_eq!(sql(&reply).as_deref(), Some(statement), "{reply}");
        }
    }
}

#[test]
fn statements_around_thinking_and_templates() {
    for (reply, expected) in [
        (
            "<|channel|>analysis<|message|><think>SELECT \
             1</think><|channel|>final<|message|>SELECT 2",
            Some("SELECT 2"),
        ),
        (
            "<|channel|>final<|message|>SELECT 1<|end|><|channel|>analysis<|message|>SELECT 2",
            Some("SELECT 1"),
        ),
        ("<think>\n```sql\nSELECT 1\n```\n</think>\n```sql\nSELECT 2\n```", Some("SELECT 2")),
        ("<think>```sql\nSELECT 1\n", None),
        ("[THINK]SELECT 1[/THINK]<think>SELECT 2</think>SELECT 3", Some("SELECT 3")),
        ("/* the count */ -- of all\nSELECT 1", Some("SELECT 1")),
        ("```sql\n/* a; b */\n-- c; d\nSELECT 1\n```", Some("SELECT 1")),
        (
            "```sql\nSELECT a FROM <table>\n```\n```sql\nSELECT a FROM t\n```",
            Some("SELECT a FROM t"),
        ),
        ("```sql\nSELECT a FROM <table>;\nSELECT a FROM t;\n```", Some("SELECT a FROM t")),
        ("SELECT a FROM <table>;\nSELECT a FROM t;", Some("SELECT a FROM t")),
    ] {
        assert_eq!(sql(reply).as_deref(), expected, "{reply}");
    }
}

/// The time for a reply grows with its size, not with the square of it.
#[test]
fn time_is_linear_in_the_size_of_a_reply() {
    const UNITS: [&str; 4] = ["--\n", "<|end|>", "<s>\n", "-- \\n"];
    let took = |unit: &str, size: usize, end: &str| {
        let text = format!("```sql\né {}SELECT 1 ≤ 1{end}", unit.repeat(size / unit.len()));
        let bare = text["```sql\né ".len()..].to_owned();
        let read = |text: &str| {
            let before = std::time::Instant::now();
            let _ = sql(text);
            before.elapsed()
        };
        let took = read(&text);
        if unit.starts_with('-') { took } else { took + read(&bare) }
    };
    for unit in UNITS {
        let small = took(unit, 60 << 10, "\n```");
        let large = took(unit, 240 << 10, "\n```");
        // Four times the size: a square would take sixteen times as long.
        let most = small * 10 + std::time::Duration::from_millis(500);
        assert!(large < most, "{unit:?}: {small:?}, {large:?}");
    }
}

/// The statement and the confidence of a reply.
fn stated(text: &str) -> Option<(String, Option<f64>)> {
    let parsed = parse(text, &Shape::Sql, &Limits::default()).ok()??;
    let reply: SqlReply = serde_json::from_str(&parsed).ok()?;
    Some((reply.sql, reply.confidence))
}

#[test]
fn a_document_decides_alone_what_it_answers() {
    for reply in [
        r#"{"explanation": "do not use SELECT 1; it lacks the filter", "sql": null}"#,
        r#"{"incorrect_sql": "SELECT 1", "reason": "x"}"#,
        r#"{"draft": "SELECT 1", "confidence": 0.9}"#,
        r#"{"error": "cannot answer", "sql": "SELECT 1"}"#,
        r#"{"sql": "SELECT 1", "sql": null, "confidence": 0.9}"#,
        r#"{"sql": "SELECT 1", "sql": "SELECT 2"}"#,
        "```json\n{\"sql\": null, \"why\": \"SELECT 1 has no filter\"}\n```",
        "```json\n{\"sql\": \"\"}\n```\nNot SELECT 1",
        r#"{"sql": "SELECT COUNT(*) FROM customers"#,
        "Sure: {\"sql\": \"SELECT COUNT(*) FROM customers",
        "```json\n{\"sql\": \"SELECT COUNT(*) FROM customers\n```",
    ] {
        assert_eq!(stated(reply), None, "{reply}");
    }
    for reply in [
        r#"{"sql": "SELECT 1"}"#,
        r#"{"sql": "SELECT 1""#,
        r#"{"sql": "SELECT 1", "error": null}"#,
        r#"{"sql": "SELECT 1", "error": "none", "explanation": "not SELECT 2"}"#,
        r#"{"name": "run", "arguments": {"query": "SELECT 1"}}"#,
        r#"{"sql": "<think>SELECT 2?</think>SELECT 1"}"#,
    ] {
        assert_eq!(stated(reply), Some(("SELECT 1".into(), None)), "{reply}");
    }
    let sql = "SELECT a WHERE b <> '<think>' AND b <> '</think>'";
    assert_eq!(stated(&format!("{{\"sql\": \"{sql}\"}}")), Some((sql.into(), None)));
}

#[test]
fn an_unclear_or_withdrawn_statement_is_doubted() {
    for reply in [
        r#"{"sql": ["SELECT 1", "SELECT 2"], "confidence": 0.9}"#,
        r#"[{"sql": "SELECT 1"}, {"sql": "SELECT 2"}]"#,
        r#"{"sql": "SELECT 1"}{"sql": "SELECT 2"}"#,
        "```sql\nSELECT 1\n```\nThe question cannot be answered with this.",
        "```sql\nSELECT 1\n```\nI am still working on it.\nConfidence: 0.9",
    ] {
        assert_eq!(stated(reply), Some(("SELECT 1".into(), Some(0.4))), "{reply}");
    }
    for reply in [
        "```sql\nSELECT 1\n```\nThis is not the answer; the question cannot be answered with this.",
        "```sql\nSELECT 1\n```\nI think this is wrong.\nConfidence: 0.95",
        "I would not use\n```sql\nSELECT 1\n```\nbecause it ignores Spain. I have no answer.",
        "Do not use SELECT a FROM t; it counts all.",
        "SELECT a FROM t; -- this is wrong",
    ] {
        assert_eq!(stated(reply), None, "{reply}");
    }
    let right = "```sql\nSELECT 1\n```\nIf that is wrong, the column has another name.";
    assert_eq!(stated(right), Some(("SELECT 1".into(), None)));
}

/// The statement that is tried first, if any, and whether another one may be meant as well.
fn first_of(reply: &str) -> (Option<String>, bool) {
    let Some(read) = read(reply) else { return (None, false) };
    let first = read.statements.iter().find(|one| one.sql == read.sql);
    (Some(read.sql.clone()), read.is_doubted || first.is_some_and(|one| !one.rivals.is_empty()))
}

#[test]
fn of_two_statements_one_is_clearly_meant_or_both_are_doubted() {
    let draft = "SELECT COUNT(*) FROM customers";
    let right = "SELECT COUNT(*) FROM customers WHERE country = 'Spain'";
    let [d, r] = [draft, right].map(|sql| format!("```sql\n{sql}\n```"));
    for (reply, first, is_doubted) in [
        (format!("{d}\n\nHowever, this counts everyone. We should filter:\n\n{r}"), right, false),
        (format!("Count first.\n{d}\nThat's not it, since Spain is missing.\n{r}"), right, false),
        (format!("```sql\n{draft};\n{right};\n```\nConfidence: 0.95"), draft, true),
        (format!("{d}\n\n{r}\nConfidence: 0.95"), draft, true),
        (format!("```\n{draft}\n```\n```\n{right}\n```"), draft, true),
        (format!("{draft};\n\n{right};"), draft, true),
        (
            format!("Reasoning: first I would do\n{draft};\nbut it ignores Spain.\nSQL: {right};"),
            right,
            false,
        ),
        (format!("To count customers:\n{d}\nNow restrict it to Spain:\n{r}"), right, false),
        (
            format!("{d}\nHowever, we should list them:\n{}", "```sql\nSELECT 1 FROM t\n```"),
            "SELECT 1 FROM t",
            true,
        ),
        (format!("{r}\nExplanation: compared with\n{d}\nit filters."), right, false),
        (format!("{r}\nDo not use\n{d}\nsince it ignores Spain."), right, false),
        (format!("{r}\nA common mistake is:\n{d}"), right, false),
        (format!("{r}\nAlternatively, to see all:\n{d}"), right, false),
        (format!("{d}\nMoment, das sind alle:\n{r}"), draft, true),
        (
            format!("SQLQuery: {right}\n\nQuestion: How many are there?\nSQLQuery: {draft}"),
            right,
            false,
        ),
        (format!("{d}\nThis is wrong.\nFor example:\n{r}"), right, false),
    ] {
        assert_eq!(first_of(&reply), (Some(first.to_owned()), is_doubted), "{reply}");
    }
}

/// The statement that is read from a reply with a draft and a right one, and whether it is doubted.
fn read_drafted(reply: &str) -> Option<(&'static str, bool)> {
    const DRAFT: &str = "SELECT COUNT(*) FROM products WHERE price > 50";
    const RIGHT: &str = "SELECT COUNT(*) FROM products WHERE cost > 50";
    let read = read(&reply.replace("{D}", DRAFT).replace("{R}", RIGHT))?;
    let is_doubted = read.is_doubted || !read.statements.is_empty();
    Some((if read.sql == RIGHT { "R" } else { "D" }, is_doubted))
}

#[test]
fn boxes_and_calls_in_channels_hold_statements() {
    let call = "<|start|>assistant<|channel|>commentary to=functions.run_sql_on_the_database \
                <|constrain|>json<|message|>{\"sql\": \"{}\"}<|call|>";
    let thought = "<|channel|>analysis<|message|>SELECT 1?<|end|>";
    all_read(&[
        "\\boxed{{}}",
        "So the answer is $\\boxed{\\text{{}}}$.",
        "$$\\boxed{{};}$$\nConfidence: 0.9",
        &format!("{thought}{call}"),
        "analysisWe count.assistantcommentary to=functions.run json{\"sql\": \"{}\"}",
    ]);
    assert_eq!(
        sql("```sql\nSELECT 1\n```\nso \\boxed{SELECT 2 FROM t}").as_deref(),
        Some("SELECT 2 FROM t")
    );
    assert_eq!(sql("\\boxed{42}"), None);
    assert_eq!(sql(&thought.replace("analysis", "commentary")), None);
}

#[test]
fn a_document_that_corrects_itself_answers_with_its_correction() {
    for reply in [
        r#"{"sql": "{D}", "final_sql": "{R}", "confidence": 0.95}"#,
        r#"{"sql": "{D}", "corrected_sql": "{R}"}"#,
        r#"{"corrected_sql": "{R}", "sql": "{D}"}"#,
        r#"{"sql": "{D}", "critique": "wrong column; use cost", "revised_sql": "{R}"}"#,
        r#"{"query": "{D}", "final_query": "{R}"}"#,
        r#"{"query": "{D}", "finalQuery": "{R}"}"#,
        r#"{"query": "{D}", "improvedquery": "{R}"}"#,
        r#"{"sql": "{D}", "review": "price is wrong, cost is meant", "final_answer": "{R}"}"#,
        r#"{"sql": "{D}", "valid": false, "issues": ["price"], "fixed_sql": "{R}"}"#,
        r#"{"sql": "{D}", "review": {"issues": ["price"], "updated_sql": "{R}"}}"#,
        r#"{"answer": {"sql": "{D}", "final_sql": "{R}"}}"#,
        r#"{"sql": "{D}", "final": {"sql": "{R}", "confidence": 0.9}}"#,
        r#"{"sql": "{D}", "reasoning": {"final_sql": "{R}"}}"#,
        r#"{"draft_sql": "{D}", "issues": ["price"], "final_sql": "{R}"}"#,
        r#"{"sql": "{D}", "revised_sql": "SELECT 1", "final_sql": "{R}"}"#,
        r#"{"tries": [{"sql": "{D}", "final": false}, {"sql": "{R}", "final": true}]}"#,
        r#"{"sql": null, "final_sql": "{R}"}"#,
        r#"{"sql": "{R}", "final_sql": null, "corrected_sql": ""}"#,
        r#"{"sql": "{R}", "corrected_sql": "none"}"#,
        r#"{"sql": "{R}", "final": true, "valid": true, "issues": [], "status": "ok"}"#,
        r#"{"sql": "{R}", "issues": "No issues found.", "errors": null, "error": false}"#,
        r#"{"sql": "{R}", "review": "The query is correct.", "notes": "counts products"}"#,
        r#"{"sql": "{R}", "rejected": {"sql": "{D}", "valid": false}}"#,
        r#"{"sql": "{R}", "example": {"final_sql": "{D}"}}"#,
        r#"{"query": "How many?", "sql": "{R}", "parameters": {"status": "failed"}}"#,
        r#"{"steps": [{"sql": "{D}"}, {"sql": "{R}"}]}"#,
        r#"{"steps": [{"step": 1, "sql": "{R}"}], "confidence": 0.9}"#,
        r#"{"candidates": [{"id": 1, "sql": "{D}"}, {"id": 2, "sql": "{R}"}], "best": 2}"#,
        r#"{"candidate_1": "{D}", "candidate_2": "{R}", "selected": "candidate_2"}"#,
        r#"{"options": {"a": "{D}", "b": "{R}"}, "choice": "b"}"#,
        "<rationale>\n```sql\n{D}\n```\n</rationale><sql>{R}</sql>",
        "Draft:\n```sql\n{D}\n```\nso\n<sql>\n```sql\n{R}\n```\n</sql>",
        "<!-- thinking:\n```sql\n{D}\n```\n-->\n```sql\n{R}\n```",
    ] {
        assert_eq!(read_drafted(reply), Some(("R", false)), "{reply}");
    }
}

#[test]
fn the_lines_of_a_statement_in_a_list_are_one_statement() {
    for lines in [
        r#"["SELECT COUNT(*)", "FROM samples WHERE status = 'done'"]"#,
        r#"["SELECT COUNT(*) FROM samples", "WHERE status = 'done'"]"#,
        r#"["-- all that are done", "SELECT COUNT(*) FROM samples", "", "WHERE status = 'done';"]"#,
        r#"["WITH a AS (SELECT * FROM samples", "WHERE status = 'done')", "SELECT * FROM a"]"#,
        r#"["SELECT a FROM samples UNION", "SELECT b FROM samples"]"#,
    ] {
        let list: Vec<String> = serde_json::from_str(lines).unwrap();
        let joined = list.join("\n");
        let expected = joined.trim_start_matches("-- all that are done\n").trim_end_matches(';');
        for reply in [
            format!("{{\"sql\": {lines}}}"),
            format!("```json\n{{\"query\": {lines}}}\n```"),
            format!("{{\"result\": {{\"lines\": {lines}}}}}"),
        ] {
            assert_eq!(sql(&reply).as_deref(), Some(expected), "{reply}");
            assert!(read(&reply).is_some_and(|read| !read.is_doubted), "{reply}");
        }
    }
}

#[test]
fn of_a_draft_and_its_correction_in_any_language_the_correction_is_read() {
    for between in [
        "EDIT: forgot the filter:",
        "Korrektur: die Bedingung fehlt. Richtig ist:",
        "Correction : il manque le filtre. Voici la bonne requête :",
        "Perdón, esa consulta es incorrecta. La consulta correcta es:",
        "Desculpe, faltou o filtro. A consulta certa é:",
        "Scusa, ho sbagliato. Ecco quella giusta:",
        "Poprawka: brakuje warunku. Poprawne zapytanie:",
        "Исправление: забыл условие. Правильный запрос:",
        "上面的查询有误，正确的SQL是：",
        "訂正：条件が抜けていました。正しいSQLは次のとおりです。",
        "Option B (with the filter, recommended):",
        "This can be simplified to:",
        "✅",
    ] {
        let reply = format!("```sql\n{{D}}\n```\n\n{between}\n```sql\n{{R}}\n```");
        assert_eq!(read_drafted(&reply).map(|(which, _)| which), Some("R"), "{reply}");
        let (_, is_doubted) = first_of(&reply.replace("{D}", "SELECT 1").replace("{R}", COUNT));
        assert!(!is_doubted, "{reply}");
    }
    for (reply, which) in [
        ("Before:\n```sql\n{D}\n```\nAfter:\n```sql\n{R}\n```", "R"),
        ("❌\n```sql\n{D}\n```\n✅\n```sql\n{R}\n```", "R"),
        ("1. ```sql\n{D}\n```\n2. ```sql\n{R}\n```\nThis is the final query.", "R"),
        ("Let me check the values:\n```sql\n{D}\n```\nThen:\n```sql\n{R}\n```", "R"),
        (r#"{"primary_query": "{R}", "alternative_queries": ["{D}"]}"#, "R"),
        ("```sql\n{R}\n```\nAn equivalent form is:\n```sql\n{D}\n```", "R"),
    ] {
        assert_eq!(read_drafted(reply).map(|(which, _)| which), Some(which), "{reply}");
        let (_, is_doubted) = first_of(&reply.replace("{D}", "SELECT 1").replace("{R}", COUNT));
        assert!(!is_doubted, "{reply}");
    }
}

#[test]
fn a_statement_behind_a_refusal_is_doubted() {
    for reply in [
        "This question cannot be answered. For example:\n```sql\n{D}\n```",
        "-- cannot be answered with these tables\n{D}",
        r#"{"sql": "{D}", "explanation": "The question cannot be answered with these tables."}"#,
        "无法根据给定的表回答这个问题。示例：\n```sql\n{D}\n```",
        "```sql\n{D}\n```\nDiese Frage lässt sich nicht beantworten.",
    ] {
        assert_eq!(read_drafted(reply), Some(("D", true)), "{reply}");
    }
    let free = "This cannot be answered from reviews alone, so customers is joined:\n{R}";
    assert_eq!(read_drafted(free), Some(("R", false)));
}

#[test]
fn a_document_that_takes_its_statement_back_gives_none_or_a_doubted_one() {
    for reply in [
        r#"{"sql": "{D}", "valid": false}"#,
        r#"{"sql": "{D}", "answerable": false}"#,
        r#"{"sql": "{D}", "is_correct": false, "confidence": 0.9}"#,
        r#"{"sql": "{D}", "isCorrect": "no"}"#,
        r#"{"sql": "{D}", "status": "error"}"#,
        r#"{"sql": "{D}", "verdict": "incorrect: uses price"}"#,
        r#"{"sql": "{D}", "error": {"message": "no such column"}}"#,
        r#"{"sql": "{D}", "unanswerable": true}"#,
        r#"{"status": "failed", "data": {"sql": "{D}"}}"#,
        r#"{"sql": "{D}", "review": {"is_correct": false}}"#,
        r#"Here: {"sql": "{D}", "valid": false} as you see."#,
        "<!-- thinking:\n```sql\n{D}\n```\n-->",
    ] {
        assert_eq!(read_drafted(reply), None, "{reply}");
    }
    for reply in [
        r#"{"sql": "{D}", "issues": ["uses price instead of cost"]}"#,
        r#"{"sql": "{D}", "problems": "No filter on cost."}"#,
        r#"{"sql": "{D}", "needs_clarification": true}"#,
        r#"{"sql": "{D}", "critique": "This uses the wrong column."}"#,
        r#"{"sql": "{D}", "corrected_sql": "the same with cost in place of price"}"#,
        r#"{"sql": "{D}", "correction": "replace price by cost"}"#,
        "```sql\n{D}\n```\nCorrection: replace price by cost.\nConfidence: 0.95",
    ] {
        assert_eq!(read_drafted(reply), Some(("D", true)), "{reply}");
    }
}
