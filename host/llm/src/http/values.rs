//! Values in requests and replies that the protocols have in common.

use serde_json::Value;
use syrch_core::ports::Usage;
use syrch_core::text::clip;

/// Bytes of a model's name in a reply that are used.
const NAME_BYTES: usize = 200;

/// A number clamped to 0 to `most` in its shortest decimal form: 0.7 rather than the digits of the nearest binary fraction.
pub(crate) fn decimal(value: f32, most: f32) -> Option<Value> {
    let value = if value.is_finite() { value.clamp(0.0, most) } else { return None };
    value.to_string().parse::<f64>().ok().map(Value::from)
}

/// The end of a prompt that asks for a document of that schema.
pub(crate) fn schema_in_words(schema: &str) -> String {
    format!("\n\nReply with one JSON document that matches this JSON schema, and with nothing else:\n{schema}")
}

/// The reported tokens; `None` if the report cannot be true, such as one of a prompt without tokens. `model` is the name of the model if the
/// body has none.
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

/// A count of tokens; `None` if the value is no count.
pub(crate) fn count(value: &Value) -> Option<u32> {
    let number = match value {
        Value::Number(number) => number.as_u64().or_else(|| number.as_f64().filter(|n| *n >= 0.0).map(|n| n as u64))?,
        Value::String(text) => text.trim().parse().ok()?,
        _ => return None,
    };
    Some(u32::try_from(number).unwrap_or(u32::MAX))
}

/// The message in an error's body, in one of the usual forms; else the whole body.
pub(crate) fn error_text(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let message = serde_json::from_str::<Value>(&text).ok().and_then(|value| {
        let error = value.get("error").or_else(|| value.get("detail")).or_else(|| value.get("message"))?.clone();
        let message = error.get("message").cloned().unwrap_or(error);
        Some(message.as_str().map_or_else(|| message.to_string(), str::to_owned))
    });
    message.unwrap_or_else(|| text.into_owned())
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
    fn numbers_are_short_and_within_their_range() {
        assert_eq!(decimal(0.7, 2.0), Some(Value::from(0.7)));
        assert_eq!(decimal(1.7, 1.0), Some(Value::from(1.0)));
        assert_eq!(decimal(f32::NAN, 1.0), None);
    }
}
