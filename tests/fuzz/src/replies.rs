//! The replies of models, read as each shape.

use std::collections::HashSet;
use std::hint::black_box;

use serde_json::Value;
use syrch_core::Limits;
use syrch_core::ports::{LlmError, Shape, SqlReply};
use syrch_replies::shape::{has_thinking, is_statement_alone, parse, parse_cut};

const SCHEMA: &str = r#"{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}"#;
/// The tokens of a reply that was cut off; they stand in the error alone.
const TOKENS: u32 = 9;
/// The number of places at which a statement is cut off.
const CUTS: usize = 8;

pub(crate) fn check(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let words = ["A", "B", "all of them"].map(str::to_owned).to_vec();
    let shapes = [
        Shape::Text,
        Shape::Sql,
        Shape::Json(SCHEMA.to_owned()),
        Shape::Yaml(["n", "list"].map(str::to_owned).to_vec()),
        Shape::Yaml(vec!["sql".to_owned()]),
        Shape::Choice(words),
    ];
    black_box(has_thinking(&text));
    for shape in &shapes {
        let whole = parse(&text, shape, &Limits::default());
        let cut = parse_cut(&text, shape, &Limits::default(), TOKENS);
        assert_eq!(whole, parse(&text, shape, &Limits::default()), "{text:?}");
        for read in [&whole, &cut] {
            match read {
                Ok(Some(json)) => check_value(&text, shape, json),
                Ok(None) => assert_eq!(*shape, Shape::Text),
                Err(LlmError::Malformed(begins) | LlmError::Cut { begins, .. }) => {
                    assert!(begins.len() <= 200, "{begins:?}");
                }
                Err(LlmError::Refused(_)) => assert_eq!(*shape, Shape::Sql),
                Err(LlmError::TooLarge) => assert!(text.len() > Limits::default().reply_bytes),
                Err(error) => panic!("{error:?} of {text:?}"),
            }
        }
    }
    let whole = read_statements(parse(&text, &Shape::Sql, &Limits::default()));
    let cut = read_statements(parse_cut(&text, &Shape::Sql, &Limits::default(), TOKENS));
    // What is whole in a reply that was cut off is a statement of the reply.
    if let (Some(cut), Some(whole)) = (&cut, &whole) {
        let all = statements(whole);
        assert!(all.contains(cut.sql.as_str()), "{cut:?} of {text:?}, whose are {all:?}");
    }
    if let Some(whole) = whole {
        check_cut_within(&text, &whole.sql);
        black_box(is_statement_alone(&text, &whole.sql));
    }
}

fn read_statements(parsed: Result<Option<String>, LlmError>) -> Option<SqlReply> {
    serde_json::from_str(&parsed.ok()??).ok()
}

fn statements(reply: &SqlReply) -> HashSet<&str> {
    let others = reply.statements.iter().map(|statement| statement.sql.as_str());
    others.chain([reply.sql.as_str()]).collect()
}

/// Checks that a value has its shape, and that a statement is made of the words of the reply.
fn check_value(text: &str, shape: &Shape, json: &str) {
    let value: Value = serde_json::from_str(json).expect("a document");
    assert!(json.len() <= Limits::default().json_bytes.max(text.len() * 8 + 256));
    match shape {
        Shape::Sql => {
            let reply: SqlReply = serde_json::from_value(value).expect("the document of the shape");
            assert!(reply.statements.len() <= 16, "{} statements", reply.statements.len());
            let stated = reply.statements.iter().filter_map(|statement| statement.confidence);
            for confidence in stated.chain(reply.confidence) {
                assert!((0.0..=1.0).contains(&confidence), "{confidence} of {text:?}");
            }
            for sql in statements(&reply) {
                check_statement(text, sql);
            }
        }
        Shape::Json(_) => assert!(value["n"].is_number(), "{json} of {text:?}"),
        Shape::Yaml(keys) => {
            let found = value.as_object().expect("a mapping");
            assert!(found.keys().all(|key| keys.contains(key)), "{json} of {text:?}");
        }
        Shape::Choice(words) => {
            let word = value.as_str().expect("a word");
            assert!(words.iter().any(|one| one == word), "{json} of {text:?}");
        }
        _ => panic!("{shape:?} has no value"),
    }
}

/// Checks that a statement is made of the letters and digits of the reply in their order, unless
/// the reply has escapes, or asks for metrics, of which the document is written again.
fn check_statement(text: &str, sql: &str) {
    assert!(!sql.trim().is_empty(), "{text:?}");
    assert!(sql.starts_with('{') || sql.len() <= text.len(), "{sql:?} of {text:?}");
    if text.contains(['\\', '&', '%']) || sql.starts_with('{') {
        return;
    }
    let mut rest = text.chars();
    let is_part = sql.chars().filter(|c| c.is_alphanumeric()).all(|c| rest.any(|one| one == c));
    assert!(is_part, "{sql:?} is not in {text:?}");
}

/// Checks that no beginning of a statement is read from a reply that is cut off within it.
fn check_cut_within(text: &str, sql: &str) {
    // A statement that stands there twice may be read at its first place.
    let mut places = text.match_indices(sql);
    let (Some((place, _)), None) = (places.next(), places.next()) else { return };
    let inner: Vec<usize> = (1..sql.len()).filter(|at| sql.is_char_boundary(*at)).collect();
    for at in inner.iter().step_by(inner.len() / CUTS + 1) {
        let cut = &text[..place + at];
        let read = read_statements(parse_cut(cut, &Shape::Sql, &Limits::default(), TOKENS));
        if let Some(read) = read {
            for found in statements(&read) {
                let is_beginning = sql.starts_with(found) && found.len() < sql.len();
                assert!(!is_beginning || text[..place].contains(found), "{found:?} of {cut:?}");
            }
        }
    }
}
