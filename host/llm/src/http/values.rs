//! Values on the wire that protocols have in common.

use serde_json::Value;
use syrch_core::ports::{Request, Shape, Usage};
use syrch_core::text::clip;

/// Bytes of a model's name as an endpoint gives it.
const NAME_BYTES: usize = 200;

/// Output tokens of a request: what it asks for, within what the user allows.
pub(crate) fn output_tokens(request: &Request, most: u32) -> u32 {
    request.max_tokens.unwrap_or(most).clamp(1, most.max(1))
}

/// A number as people write it: 0.7 rather than the nearest binary fraction's digits.
pub(crate) fn decimal(value: f32, most: f32) -> Option<Value> {
    let value = if value.is_finite() { value.clamp(0.0, most) } else { return None };
    value.to_string().parse::<f64>().ok().map(Value::from)
}

/// The words that ask for a document of that schema, to stand at the end of a prompt.
pub(crate) fn schema_in_words(schema: &str) -> String {
    format!("\n\nReply with one JSON document that matches this JSON schema, and with nothing else:\n{schema}")
}

/// Bytes that a request brings into the prompt: its messages, and the schema, which some endpoints get in words.
pub(crate) fn prompt_bytes(request: &Request) -> usize {
    let schema = if let Shape::Json(schema) = &request.expect { schema.len() } else { 0 };
    request.messages.iter().map(|message| message.text.len()).sum::<usize>() + schema
}

/// The reported tokens. A prompt of no tokens, a negative count or a word is no report. `model` names the model when the body does not.
pub(crate) fn usage(body: &Value, input: Option<u32>, output: Option<u32>, model: &str) -> Option<Usage> {
    let input = input.filter(|tokens| *tokens > 0);
    if input.is_none() && output.is_none_or(|tokens| tokens == 0) {
        return None;
    }
    let model = body.get("model").and_then(Value::as_str).filter(|name| !name.is_empty()).unwrap_or(model);
    Some(Usage {
        input_tokens: input.unwrap_or(0),
        output_tokens: output.unwrap_or(0),
        cost_micros: None,
        model: clip(model, NAME_BYTES).to_owned(),
    })
}

/// A count of tokens, should it be one.
pub(crate) fn count(value: &Value) -> Option<u32> {
    let number = match value {
        Value::Number(number) => number.as_u64().or_else(|| number.as_f64().filter(|n| *n >= 0.0).map(|n| n as u64))?,
        Value::String(text) => text.trim().parse().ok()?,
        _ => return None,
    };
    Some(u32::try_from(number).unwrap_or(u32::MAX))
}

/// What an error's body says, in one of the forms in use; else its beginning.
pub(crate) fn error_text(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let said = serde_json::from_str::<Value>(&text).ok().and_then(|value| {
        let error = value.get("error").or_else(|| value.get("detail")).or_else(|| value.get("message"))?.clone();
        let message = error.get("message").cloned().unwrap_or(error);
        Some(message.as_str().map_or_else(|| message.to_string(), str::to_owned))
    });
    said.unwrap_or_else(|| text.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_texts_come_in_several_forms() {
        assert_eq!(error_text(b"{\"error\":{\"message\":\"no\"}}"), "no");
        assert_eq!(
            error_text(b"{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"no\"}}"),
            "no"
        );
        assert_eq!(error_text(b"{\"error\":\"no\"}"), "no");
        assert_eq!(error_text(b"{\"detail\":[{\"loc\":1}]}"), "[{\"loc\":1}]");
        assert_eq!(error_text(b"<html>"), "<html>");
    }

    #[test]
    fn numbers_are_written_as_people_do_and_within_their_range() {
        assert_eq!(decimal(0.7, 2.0), Some(Value::from(0.7)));
        assert_eq!(decimal(1.7, 1.0), Some(Value::from(1.0)));
        assert_eq!(decimal(f32::NAN, 1.0), None);
    }
}
