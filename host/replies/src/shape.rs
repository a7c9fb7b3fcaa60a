//! Extracts the SQL, the document or the word that a call expects from the text of a reply.
//!
//! Every provider that reads free text uses [`parse`], so that the same rules hold for all
//! endpoints. The text is untrusted: its size, its nesting and the work for one reply are bounded.

mod choice;
mod confidence;
mod document;
mod forms;
mod json;
mod marks;
mod mend;
mod prose;
mod refusal;
mod sql;
mod thinking;
mod withdrawal;
mod yaml;

pub use thinking::has_thinking;

use std::sync::Arc;

use serde_json::json;
use syrch_core::ports::{LlmError, Shape, SqlReply};
use syrch_core::text::clip;
use syrch_core::{Json, Limits};
use syrch_schema::{Patterns, Schema, SchemaError};

/// The reason of a reply without a statement that says so itself, as prompts define it.
const DECLINED: &str = "the model says that the tables cannot answer the question";
/// Bytes of a malformed reply that the error shows.
const BEGINNING: usize = 200;

/// Checks that replies of this shape can be checked. Providers call it before they send a request,
/// so that no reply is paid for in vain.
///
/// # Errors
/// [`LlmError::Unsupported`] for an unknown shape, a malformed or too expensive schema, or an empty
/// choice.
pub fn accept(shape: &Shape, limits: &Limits) -> Result<(), LlmError> {
    match shape {
        Shape::Text | Shape::Sql => Ok(()),
        Shape::Json(schema) => schema_of(schema, limits).map(|_| ()),
        Shape::Yaml(keys) if keys.is_empty() => {
            Err(LlmError::Unsupported("a mapping without keys".into()))
        }
        Shape::Choice(words) if words.iter().all(|word| word.trim().is_empty()) => {
            Err(LlmError::Unsupported("a choice without words".into()))
        }
        Shape::Yaml(_) | Shape::Choice(_) => Ok(()),
        Shape::Vectors => Err(LlmError::Unsupported("embeddings".into())),
        Shape::Other(name) => Err(LlmError::Unsupported(format!("the shape `{name}`"))),
    }
}

/// Compiles the schema of the shape on a thread that may block, so that [`accept`] and [`parse`]
/// find it in the cache. Providers call it before either.
///
/// # Errors
/// [`LlmError::Unsupported`] for a malformed or too expensive schema.
pub async fn prepare(shape: &Shape, limits: &Limits) -> Result<(), LlmError> {
    match shape {
        Shape::Json(schema) => Schema::prepare(schema, Patterns::Bounded, limits)
            .await
            .map(|_| ())
            .map_err(schema_error),
        _ => Ok(()),
    }
}

fn schema_of(text: &str, limits: &Limits) -> Result<Arc<Schema>, LlmError> {
    Schema::get_or_compile(text, Patterns::Bounded, limits).map_err(schema_error)
}

fn schema_error(error: SchemaError) -> LlmError {
    LlmError::Unsupported(format!("the JSON schema: {error}"))
}

/// The value of the shape in a reply: `{"sql": …, "confidence": number or null}` for
/// [`Shape::Sql`], the document for [`Shape::Json`], the mapping as JSON for [`Shape::Yaml`], the
/// word as the request spells it for [`Shape::Choice`], nothing for [`Shape::Text`].
///
/// # Errors
/// [`LlmError::Malformed`] with the beginning of the reply if it has no such value,
/// [`LlmError::Refused`] if it says that there is no statement, [`LlmError::TooLarge`] over the
/// limits, and the errors of [`accept`].
pub fn parse(text: &str, shape: &Shape, limits: &Limits) -> Result<Option<Json>, LlmError> {
    check(text, shape, limits)?;
    let found = match shape {
        Shape::Text => return Ok(None),
        Shape::Sql => sql::parse(text, limits),
        Shape::Json(schema) => json::parse(text, schema, limits)?,
        Shape::Yaml(keys) => {
            yaml::parse(text, keys, limits).or_else(|| statement_alone(text, keys, limits))
        }
        Shape::Choice(words) => choice::parse(text, words),
        Shape::Vectors | Shape::Other(_) => return Err(shape_error(text)),
    };
    match found {
        Some(json) => Ok(Some(json)),
        None if *shape == Shape::Sql && sql::declines(text, limits) => {
            Err(LlmError::Refused(DECLINED.to_owned()))
        }
        None => Err(shape_error(text)),
    }
}

/// Returns true if a text is this statement and nothing else: bare or in one fence, with or without
/// a semicolon and a confidence behind it, or a document.
#[must_use]
pub fn is_statement_alone(text: &str, sql: &str) -> bool {
    let text = thinking::without_thinking(text);
    let bare = text.trim();
    if bare.starts_with('{') && bare.ends_with('}') {
        return true;
    }
    fn strip_confidence(text: &str) -> String {
        let lines = text.lines().filter(|line| confidence::find_confidence(line).is_none());
        lines.collect::<Vec<_>>().join("\n").trim().to_owned()
    }
    let mut rest = strip_confidence(bare);
    if let [fence] = prose::fences(&rest).as_slice()
        && rest.starts_with("```")
        && rest[fence.body.end..].bytes().all(|byte| byte == b'`')
    {
        rest = strip_confidence(&rest[fence.body.clone()]);
    }
    rest.trim_end_matches(|c: char| c == ';' || c.is_whitespace()) == sql
}

/// The value of the shape in a reply that was cut off at its limit of `tokens`. Only what is whole
/// counts: a statement that a semicolon or the end of its fence ends, a document or a fenced
/// mapping that is closed, and only if nothing after it may be another one.
///
/// # Errors
/// [`LlmError::Cut`] if it has no such value, and the errors of [`parse`].
pub fn parse_cut(
    text: &str,
    shape: &Shape,
    limits: &Limits,
    tokens: u32,
) -> Result<Option<Json>, LlmError> {
    check(text, shape, limits)?;
    let found = match shape {
        Shape::Text => return Ok(None),
        Shape::Sql => sql::parse_cut(text, limits),
        Shape::Json(schema) => json::parse_cut(text, schema, limits)?,
        Shape::Yaml(keys) => yaml::parse_cut(text, keys, limits)
            .or_else(|| mapping_of(&sql::parse_cut(text, limits).filter(|_| *keys == ["sql"])?)),
        Shape::Choice(words) => choice::parse_cut(text, words),
        Shape::Vectors | Shape::Other(_) => None,
    };
    found.map(Some).ok_or_else(|| LlmError::Cut { tokens, begins: beginning(text) })
}

/// Checks the shape and the size of a reply.
fn check(text: &str, shape: &Shape, limits: &Limits) -> Result<(), LlmError> {
    accept(shape, limits)?;
    if text.len() > limits.reply_bytes { Err(LlmError::TooLarge) } else { Ok(()) }
}

/// The mapping of a reply that holds a statement where a mapping with nothing else was expected.
fn statement_alone(text: &str, keys: &[String], limits: &Limits) -> Option<Json> {
    mapping_of(&sql::parse(text, limits).filter(|_| *keys == ["sql"])?)
}

/// The mapping of the statement of a [`SqlReply`]; `None` if another one may be meant, for which a
/// mapping has no place.
fn mapping_of(reply: &str) -> Option<Json> {
    let SqlReply { sql, statements, is_doubted, .. } = serde_json::from_str(reply).ok()?;
    let has_rival = statements.iter().any(|one| one.sql == sql && !one.rivals.is_empty());
    (!is_doubted && !has_rival).then(|| json!({ "sql": sql }).to_string())
}

/// The error for a reply without the expected shape.
fn shape_error(text: &str) -> LlmError {
    LlmError::Malformed(beginning(text))
}

/// The beginning of a reply as errors show it.
fn beginning(text: &str) -> String {
    let text = text.trim();
    if text.is_empty() { "(empty)".into() } else { clip(text, BEGINNING).to_owned() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SAMPLES: [&str; 6] = [
        "<think>With two tables…</think>Here you are:\n```sql\nSELECT \"näme\" FROM t \
         WHERE a = 'x;y'\n```\n**Confidence:** 95%",
        "With pleasure: {\"sql\": \"SELECT 1\", \"confidence\": 0.5}",
        "```json\n{\"n\": 1, \"list\": [1, {\"x\": null}]}\n```",
        "SELECT a\nFROM t\n\nThis counts nothing.",
        "```yaml\nn: 1\nlist: [a, b]\n```",
        "The answer is: B",
    ];

    fn shapes() -> Vec<Shape> {
        vec![
            Shape::Text,
            Shape::Sql,
            Shape::Json(
                r#"{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}"#
                    .into(),
            ),
            Shape::Yaml(vec!["n".into(), "list".into()]),
            Shape::Choice(vec!["A".into(), "B".into()]),
        ]
    }

    fn is_honest(result: &Result<Option<Json>, LlmError>, shape: &Shape) -> bool {
        match result {
            Ok(None) => matches!(shape, Shape::Text),
            Ok(Some(json)) => serde_json::from_str::<serde_json::Value>(json).is_ok(),
            Err(LlmError::Refused(_)) => *shape == Shape::Sql,
            Err(error) => matches!(error, LlmError::Malformed(_) | LlmError::Cut { .. }),
        }
    }

    #[test]
    fn every_prefix_is_read_or_malformed() {
        for sample in SAMPLES {
            for end in (0..=sample.len()).filter(|end| sample.is_char_boundary(*end)) {
                for shape in shapes() {
                    let result = parse(&sample[..end], &shape, &Limits::default());
                    assert!(
                        is_honest(&result, &shape),
                        "{:?} of {shape:?}: {result:?}",
                        &sample[..end]
                    );
                }
            }
        }
    }

    #[test]
    fn a_document_without_a_statement_says_that_there_is_none() {
        for text in [
            r#"{"sql": "", "confidence": 0}"#,
            "```json\n{\"sql\": null}\n```",
            "<think>no</think>\nHere: {\"sql\": \" \", \"confidence\": 0.0}",
            r#"{"sql": "SELECT 1", "answerable": false}"#,
        ] {
            let read = parse(text, &Shape::Sql, &Limits::default());
            assert_eq!(read, Err(LlmError::Refused(DECLINED.into())), "{text}");
        }
        for text in [r#"{"sql": "I would count"}"#, "[]", r#"{"n": 1}"#, r#"{"sql": "SELECT 1""#] {
            let read = parse(text, &Shape::Sql, &Limits::default());
            assert!(!matches!(read, Err(LlmError::Refused(_))), "{text}");
        }
    }

    #[test]
    fn a_statement_stands_for_a_mapping_that_holds_nothing_else() {
        fn read(keys: &[&str]) -> Result<Option<String>, LlmError> {
            let keys = keys.iter().map(|key| (*key).to_owned()).collect();
            parse("Here:\n```sql\nSELECT 1\n```", &Shape::Yaml(keys), &Limits::default())
        }
        assert_eq!(read(&["sql"]), Ok(Some("{\"sql\":\"SELECT 1\"}".into())));
        assert!(read(&["sql", "why"]).is_err() && read(&["query"]).is_err());
    }

    #[test]
    fn a_text_that_is_a_statement_and_nothing_else_is_recognised() {
        for text in [
            "SELECT 1",
            " SELECT 1;\n",
            "```sql\nSELECT 1;\n```",
            "```\nSELECT 1\n```\nConfidence: 0.9",
            "{\"sql\": \"SELECT 1\"}",
        ] {
            assert!(is_statement_alone(text, "SELECT 1"), "{text}");
        }
        for text in [
            "Let me think. ```sql\nSELECT 1\n``` counts all; I must filter.",
            "A wrong way would be: SELECT 1",
            "```sql\nSELECT 1\n```\nbut",
            "sql: SELECT 1\nreason: draft",
            "The format is {\"sql\": \"SELECT 1\"}",
        ] {
            assert!(!is_statement_alone(text, "SELECT 1"), "{text}");
        }
    }

    #[test]
    fn unknown_shapes_and_oversized_replies_are_refused() {
        let other = parse("x", &Shape::Other("xml".into()), &Limits::default());
        assert!(matches!(other, Err(LlmError::Unsupported(_))));
        assert!(matches!(
            accept(&Shape::Choice(vec![" ".into()]), &Limits::default()),
            Err(LlmError::Unsupported(_))
        ));
        let small = Limits { reply_bytes: 3, ..Limits::default() };
        assert_eq!(parse("abcd", &Shape::Text, &small), Err(LlmError::TooLarge));
        assert_eq!(
            parse(" ", &Shape::Sql, &Limits::default()),
            Err(LlmError::Malformed("(empty)".into()))
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        #[test]
        fn nothing_panics(text in "(?s).{0,300}") {
            for shape in shapes() {
                prop_assert!(is_honest(&parse(&text, &shape, &Limits::default()), &shape));
            }
        }

        #[test]
        fn nothing_panics_on_what_replies_are_made_of(parts in prop::collection::vec(prop::sample::select(vec![
            "```", "```sql\n", "\n", "SELECT ", "WITH a AS (", "FROM t", "'", "\"", ";", ")", "{",
            "}", "[", "]", "\"sql\":", ",",
            "confidence", ":", "0.7", "%", "<think>", "</think>", "n: 1", "list:", " - ",
            "Answer: ", "B", "<|channel|>", "final", "<|message|>", "[think]", ";", "analysis", "A",
            "é", "--", "/*", "*/", "(",
            ". ", "-", "`",
        ]), 0..40)) {
            let text = parts.concat();
            for shape in shapes() {
                prop_assert!(is_honest(&parse(&text, &shape, &Limits::default()), &shape));
                let cut = parse_cut(&text, &shape, &Limits::default(), 9);
                prop_assert!(is_honest(&cut, &shape), "{cut:?}");
            }
        }
    }
}
