//! The shape `json`: a document that matches a schema.

use std::ops::Range;

use syrch_core::ports::LlmError;
use syrch_core::{Json, Limits};

use super::document::{documents, strict};
use super::marks::{Mark, mark};
use super::prose::fences;
use super::schema_of;
use super::thinking::without_thinking;

/// The document that matches: the whole reply, else one in a fence, else one in the prose. Models
/// write drafts and examples first, so of several the last one counts.
pub(super) fn parse(text: &str, schema: &str, limits: &Limits) -> Result<Option<Json>, LlmError> {
    let schema = schema_of(schema, limits)?;
    let depth = limits.json_depth;
    let fits = |value: &serde_json::Value| schema.accepts(value);
    if let Some(value) = strict(text, depth).filter(fits) {
        return Ok(Some(value.to_string()));
    }
    let text = without_thinking(text);
    let whole = strict(&text, depth).filter(fits);
    Ok(whole
        .or_else(|| {
            fences(&text)
                .into_iter()
                .rev()
                .find_map(|fence| strict(&text[fence.body], depth).filter(fits))
        })
        .or_else(|| documents(&text, depth).into_iter().map(|(_, value)| value).rev().find(fits))
        .map(|value| value.to_string())
        .filter(|json| json.len() <= limits.json_bytes))
}

/// The document of a reply that was cut off: the last one of the text, if it matches and nothing
/// follows that may be another one.
pub(super) fn parse_cut(
    text: &str,
    schema: &str,
    limits: &Limits,
) -> Result<Option<Json>, LlmError> {
    let schema = schema_of(schema, limits)?;
    let text = without_thinking(text);
    let last = documents(&text, limits.json_depth).pop();
    let is_last = |place: &Range<usize>| {
        let rest = &text[place.end..];
        !rest.contains(['{', '[']) && mark(rest) != Mark::Final
    };
    let fits = last.filter(|(place, value)| is_last(place) && schema.accepts(value));
    Ok(fits.map(|(_, value)| value.to_string()).filter(|json| json.len() <= limits.json_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: &str = r#"{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}},"additionalProperties":false}"#;

    fn read(text: &str) -> Option<Json> {
        parse(text, SCHEMA, &Limits::default()).unwrap()
    }

    #[test]
    fn the_document_is_found_wherever_it_stands() {
        for text in [
            "{\"n\": 7}",
            "Sure! {\"n\": 7} Hope this helps.",
            "```json\n{\"n\": 7}\n```",
            "For example {\"n\": 1}.\n```\n{\"n\": 7}\n```\nDone.",
            "<think>{\"n\": 1} or {\"n\": 2}?</think>\n{\"n\": 7}",
            "{\"n\": 1} is wrong, {\"n\": 7} is right, {\"m\": 9} is neither",
            "I reason {\"n\": 1}</think> {\"n\": 7}",
            "```json\n{\"n\": 7}",
        ] {
            assert_eq!(read(text).as_deref(), Some("{\"n\":7}"), "{text}");
        }
    }

    #[test]
    fn of_a_reply_that_was_cut_off_only_a_whole_last_document_counts() {
        fn cut(text: &str) -> Option<String> {
            parse_cut(text, SCHEMA, &Limits::default()).unwrap()
        }
        for text in
            ["{\"n\": 7}", "```json\n{\"n\": 7}\n```\nIt is the", "Sure: {\"n\": 7}. I chose th"]
        {
            assert_eq!(cut(text).as_deref(), Some("{\"n\":7}"), "{text}");
        }
        for text in [
            "{\"n\": 7",
            "{\"n\": 1} no, {\"n\": 7",
            "{\"n\": 1}\n```json\n{",
            "{\"n\": 1} That is wrong, since",
            "<think>{\"n\": 1} fits",
            "{\"n\": 1} and {\"m\": 2}",
        ] {
            assert_eq!(cut(text), None, "{text}");
        }
    }

    #[test]
    fn what_does_not_match_is_none() {
        for text in [
            "",
            "{\"n\": \"7\"}",
            "{\"n\": 7",
            "{\"n\": 1, \"n\": 7}",
            "{\"wrap\": {\"n\": 7",
            "seven",
            "[{\"n\": 7}, ",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
