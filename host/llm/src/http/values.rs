//! Values in requests and replies that the protocols have in common.

use serde_json::Value;
use syrch_core::ports::{Shape, Usage};
use syrch_core::text::clip;

use super::Stopped;
pub(crate) use super::lenient::read_leniently;

/// Bytes of a model's name in a reply that are used.
const NAME_BYTES: usize = 200;

/// A number clamped to 0 to `most` in its shortest decimal form: 0.7 rather than the digits of the
/// nearest binary fraction.
pub(crate) fn decimal(value: f32, most: f32) -> Option<Value> {
    let value = if value.is_finite() { value.clamp(0.0, most) } else { return None };
    value.to_string().parse::<f64>().ok().map(Value::from)
}

/// The end of a prompt that asks for a document of that schema.
pub(crate) fn schema_in_words(schema: &str) -> String {
    format!(
        "\n\nReply with one JSON document that matches this JSON schema, and with nothing else:\n\
         {schema}"
    )
}

/// Returns true if a shape is that of one statement.
pub(crate) fn holds_statement(shape: &Shape) -> bool {
    matches!(shape, Shape::Sql) || matches!(shape, Shape::Yaml(keys) if *keys == ["sql"])
}

/// Reads the reason for which a reply ends. One that is not known to be that of a whole reply is
/// that of a broken one: what the server did not send may have changed the statement.
pub(crate) fn read_end(reason: Option<&str>) -> Stopped {
    let Some(reason) = reason else { return Stopped::Complete };
    if is_filtered(reason) {
        return Stopped::Refused("the endpoint's content filter stopped the reply".to_owned());
    }
    if reason.eq_ignore_ascii_case("refusal") {
        return Stopped::Refused("the model would not answer".to_owned());
    }
    if is_cut_off(reason) {
        return match reason.to_lowercase().contains("context_window") {
            true => Stopped::Context,
            false => Stopped::Length,
        };
    }
    match is_whole(reason) {
        true => Stopped::Complete,
        false => Stopped::Broken(clip(reason, NAME_BYTES).to_owned()),
    }
}

/// Returns true if a reply ends for this reason because it was cut off at a limit.
fn is_cut_off(reason: &str) -> bool {
    /// Parts of the names that endpoints have for it.
    const CUT: [&str; 7] =
        ["length", "max_", "limit", "trunc", "context_window", "incomplete", "out_of_tokens"];
    let reason = reason.to_lowercase();
    CUT.iter().any(|part| reason.contains(part))
}

/// Returns true if a reply that ends for this reason is whole.
pub(crate) fn is_whole(reason: &str) -> bool {
    /// The names that endpoints have for it, in lower case and without signs.
    const WHOLE: [&str; 31] = [
        "",
        "stop",
        "stopped",
        "stopsequence",
        "stopstring",
        "stopstr",
        "stopword",
        "stopwords",
        "stoptoken",
        "end",
        "ended",
        "endturn",
        "endofturn",
        "endofsequence",
        "endoftext",
        "eos",
        "eostoken",
        "eot",
        "eotid",
        "imend",
        "complete",
        "completed",
        "completion",
        "finish",
        "finished",
        "done",
        "success",
        "null",
        "toolcall",
        "functioncall",
        "tooluse",
    ];
    let plain: String =
        reason.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let plain = plain.strip_prefix("finishreason").unwrap_or(&plain);
    WHOLE.contains(&plain) || WHOLE.iter().any(|name| plain.strip_suffix('s') == Some(*name))
}

/// Returns true if a reply ends for this reason because its server failed, so that another try may
/// bring all of it.
pub(crate) fn is_failure(reason: &str) -> bool {
    /// Parts of the names that endpoints have for it.
    const FAILURES: [&str; 8] =
        ["error", "fail", "cancel", "interrupt", "timeout", "timed", "disconnect", "network"];
    let reason = reason.to_lowercase();
    FAILURES.iter().any(|part| reason.contains(part))
}

/// Returns true if a reply ends for this reason because its server stopped it where it was, which
/// is no fault of the reply: what is whole in it may be used, and another try may bring all of it.
pub(crate) fn is_interruption(reason: &str) -> bool {
    let reason = reason.to_lowercase();
    ["abort", "insufficient"].iter().any(|part| reason.contains(part))
}

/// Returns true if a reply ends for this reason because a filter stopped it.
fn is_filtered(reason: &str) -> bool {
    /// Parts of the names that endpoints have for it.
    const FILTER: [&str; 10] = [
        "filter",
        "safety",
        "blocked",
        "blocklist",
        "prohibited",
        "recitation",
        "guardrail",
        "moderation",
        "sensitive",
        "spii",
    ];
    let reason = reason.to_lowercase();
    FILTER.iter().any(|part| reason.contains(part))
}

/// The reported tokens; `None` if the report cannot be true, such as one of a prompt without
/// tokens. `model` is the name of the model if the body has none.
pub(crate) fn usage(
    body: &Value,
    input: Option<u32>,
    output: Option<u32>,
    model: &str,
) -> Option<Usage> {
    let input = input.filter(|tokens| *tokens > 0);
    if input.is_none() && output.is_none_or(|tokens| tokens == 0) {
        return None;
    }
    let model =
        body.get("model").and_then(Value::as_str).filter(|name| !name.is_empty()).unwrap_or(model);
    Some(Usage {
        input_tokens: input.unwrap_or(0),
        output_tokens: output.unwrap_or(0),
        cost_micros: body.get("usage").and_then(cost),
        model: clip(model, NAME_BYTES).to_owned(),
        ..Usage::default()
    })
}

/// The price in millionths of a dollar that some endpoints report with the tokens of a call.
fn cost(usage: &Value) -> Option<u64> {
    /// A higher price of one call is a mistake.
    const HIGHEST: f64 = 1e6;
    let places = ["/cost", "/cost/total_cost", "/total_cost", "/estimated_cost"];
    let dollars = places.iter().find_map(|place| usage.pointer(place)?.as_f64());
    let upstream = usage.pointer("/cost_details/upstream_inference_cost").and_then(Value::as_f64);
    let [dollars, upstream] = [dollars, upstream].map(|dollars| {
        let dollars = dollars.filter(|dollars| (0.0..=HIGHEST).contains(dollars))?;
        Some((dollars * 1e6).ceil() as u64)
    });
    match (dollars, upstream) {
        // OpenRouter's own fee for a call with the user's key at a provider, who is paid as well.
        (Some(fee), Some(upstream)) if usage["is_byok"] == true => Some(fee + upstream),
        (dollars, upstream) => dollars.max(upstream),
    }
}

/// The choice of a chat completion that counts: the one that is numbered 0, else the first.
pub(crate) fn first_choice(body: &Value) -> Option<&Value> {
    let choices = body.get("choices")?.as_array()?;
    choices.iter().find(|choice| choice["index"] == 0).or(choices.first())
}

/// A count of tokens; `None` if the value is no count.
pub(crate) fn count(value: &Value) -> Option<u32> {
    let number = match value {
        Value::Number(number) => {
            number.as_u64().or_else(|| number.as_f64().filter(|n| *n >= 0.0).map(|n| n as u64))?
        }
        Value::String(text) => text.trim().parse().ok()?,
        _ => return None,
    };
    Some(u32::try_from(number).unwrap_or(u32::MAX))
}

/// A text as it is, and any other value as JSON.
pub(crate) fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The places of an error, or of its message, in the bodies of the usual forms.
pub(crate) const ERRORS: [&str; 8] = [
    "/error",
    "/errors/0",
    "/detail",
    "/message",
    "/msg",
    "/error_msg",
    "/error_message",
    "/base_resp/status_msg",
];

/// Returns true if a member says something: nothing, `false` and what is empty do not.
pub(crate) fn is_given(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
        Value::Bool(true) | Value::Number(_) => true,
    }
}

/// The message in an error's body, in one of the usual forms; else the whole body.
pub(crate) fn error_text(body: &[u8]) -> String {
    let message = read_leniently(body).and_then(|value| {
        let value = value.get(0).unwrap_or(&value);
        let error =
            ERRORS.iter().find_map(|place| value.pointer(place).filter(|error| is_given(error)))?;
        let message = self::text(error.get("message").unwrap_or(error));
        // A gateway quotes what its own endpoint says.
        let quoted = error.pointer("/metadata/raw").map(|raw| format!(": {}", self::text(raw)));
        Some(message + &quoted.unwrap_or_default())
    });
    message.unwrap_or_else(|| String::from_utf8_lossy(body).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_texts_come_in_several_forms() {
        assert_eq!(error_text(b"{\"error\":{\"message\":\"no\"}}"), "no");
        assert_eq!(
            error_text(
                b"{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"no\"}}"
            ),
            "no"
        );
        assert_eq!(error_text(b"{\"error\":\"no\"}"), "no");
        assert_eq!(error_text(b"{\"detail\":[{\"loc\":1}]}"), "[{\"loc\":1}]");
        assert_eq!(error_text(b"<html>"), "<html>");
        assert_eq!(error_text(b"[{\"error\":{\"message\":\"no\"}}]"), "no");
        assert_eq!(error_text(b"{\"errors\":[{\"code\":1,\"message\":\"no\"}]}"), "no");
        assert_eq!(error_text(b"{\"error\":null,\"msg\":\"no\",\"success\":false}"), "no");
        assert_eq!(
            error_text(b"{\"base_resp\":{\"status_code\":1008,\"status_msg\":\"no\"}}"),
            "no"
        );
        assert_eq!(
            error_text(b"{\"error\":{\"message\":\"failed\",\"metadata\":{\"raw\":\"no\"}}}"),
            "failed: no"
        );
    }

    #[test]
    fn reasons_of_an_end_have_several_names() {
        for reason in [
            "length",
            "LENGTH",
            "model_length",
            "max_tokens",
            "MAX_TOKENS",
            "max_output_tokens",
            "max_length",
            "truncated",
            "limit",
            "model_context_window_exceeded",
        ] {
            assert!(is_cut_off(reason) && !is_filtered(reason), "{reason}");
        }
        for reason in
            ["content_filter", "SAFETY", "BLOCKLIST", "PROHIBITED_CONTENT", "guardrail_intervened"]
        {
            assert!(is_filtered(reason) && !is_cut_off(reason), "{reason}");
        }
        for reason in [
            "stop",
            "STOP",
            "FINISH_REASON_STOP",
            "COMPLETE",
            "completed",
            "finished",
            "eos",
            "eos_token",
            "stop_sequence",
            "end_turn",
            "tool_calls",
            "tool_use",
            "function_call",
            "",
        ] {
            assert_eq!(read_end(Some(reason)), Stopped::Complete, "{reason}");
        }
        assert_eq!(read_end(None), Stopped::Complete);
        assert_eq!(read_end(Some("out_of_tokens")), Stopped::Length);
        assert!(matches!(read_end(Some("refusal")), Stopped::Refused(_)));
        for reason in ["abort", "aborted", "insufficient_system_resource"] {
            assert_eq!(read_end(Some(reason)), Stopped::Broken(reason.to_owned()));
            assert!(is_interruption(reason) && !is_failure(reason), "{reason}");
        }
        for (reason, is_passing) in [
            ("network_error", true),
            ("server_error", true),
            ("failed", true),
            ("cancelled", true),
            ("canceled", true),
            ("timeout", true),
            ("interrupted", true),
            ("OTHER", false),
            ("repetition", false),
            ("MALFORMED_FUNCTION_CALL", false),
            ("LANGUAGE", false),
            ("partial", false),
            ("something new", false),
        ] {
            assert_eq!(read_end(Some(reason)), Stopped::Broken(reason.to_owned()));
            assert_eq!(is_failure(reason), is_passing, "{reason}");
        }
    }

    #[test]
    fn a_cost_that_is_reported_is_read() {
        fn read(usage: Value) -> Option<u64> {
            let body = serde_json::json!({ "usage": usage });
            super::usage(&body, Some(1), Some(1), "m").unwrap().cost_micros
        }
        assert_eq!(read(serde_json::json!({"cost": 0.001_234_5})), Some(1_235));
        assert_eq!(read(serde_json::json!({"cost": {"total_cost": 0.5}})), Some(500_000));
        assert_eq!(read(serde_json::json!({"estimated_cost": 0})), Some(0));
        let upstream = serde_json::json!({"upstream_inference_cost": 0.2});
        let own = serde_json::json!({"cost": 0.01, "is_byok": true, "cost_details": upstream});
        assert_eq!(read(own), Some(210_000));
        let resold = serde_json::json!({"cost": 0.2, "cost_details": upstream});
        assert_eq!(read(resold), Some(200_000));
        for none in [
            serde_json::json!({}),
            serde_json::json!({"cost": -1}),
            serde_json::json!({"cost": "dear"}),
        ] {
            assert_eq!(read(none), None);
        }
    }

    #[test]
    fn numbers_are_short_and_within_their_range() {
        assert_eq!(decimal(0.7, 2.0), Some(Value::from(0.7)));
        assert_eq!(decimal(1.7, 1.0), Some(Value::from(1.0)));
        assert_eq!(decimal(f32::NAN, 1.0), None);
    }
}
