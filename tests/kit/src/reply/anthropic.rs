//! Anthropic's Messages API as its documentation describes it: the conditions on a request, and the
//! form of replies and errors.

use serde_json::{Value, json};

use crate::Recorded;

/// The fields of a request for text.
const FIELDS: [&str; 9] = [
    "model",
    "max_tokens",
    "messages",
    "system",
    "temperature",
    "top_p",
    "top_k",
    "stop_sequences",
    "stream",
];

/// The message of an `invalid_request_error` for a request; `None` for a valid one, and for those
/// of other protocols.
pub(crate) fn objection(request: &Recorded) -> Option<String> {
    if !request.is_messages() {
        return None;
    }
    let body = &request.body;
    if request.headers.get("anthropic-version").map(String::as_str) != Some("2023-06-01") {
        return Some("anthropic-version: header is required".to_owned());
    }
    if let Some(extra) = body.as_object()?.keys().find(|name| !FIELDS.contains(&name.as_str())) {
        return Some(format!("{extra}: Extra inputs are not permitted"));
    }
    if !body["model"].is_string() {
        return Some("model: Field required".to_owned());
    }
    if body["max_tokens"].as_u64().is_none_or(|tokens| tokens == 0) {
        return Some("max_tokens: Field required".to_owned());
    }
    for name in ["temperature", "top_p"] {
        if body
            .get(name)
            .is_some_and(|value| !value.as_f64().is_some_and(|value| (0.0..=1.0).contains(&value)))
        {
            return Some(format!("{name}: range: 0..1"));
        }
    }
    if body["stop_sequences"].as_array().is_some_and(|stops| {
        stops.iter().any(|text: &Value| text.as_str().is_none_or(|text| text.trim().is_empty()))
    }) {
        return Some("stop_sequences: each stop sequence must contain non-whitespace".to_owned());
    }
    messages(body["messages"].as_array().map_or(&[], Vec::as_slice))
}

fn messages(messages: &[Value]) -> Option<String> {
    fn role(message: &Value) -> String {
        message["role"].as_str().unwrap_or_default().to_owned()
    }
    if messages.first().is_none_or(|first| role(first) != "user") {
        return Some("messages: first message must use the \"user\" role".to_owned());
    }
    if messages.windows(2).any(|pair| role(&pair[0]) == role(&pair[1])) {
        return Some(
            "messages: roles must alternate between \"user\" and \"assistant\"".to_owned(),
        );
    }
    for message in messages {
        let text = message["content"].as_str().unwrap_or_default();
        if !["user", "assistant"].contains(&role(message).as_str()) {
            return Some(
                "messages: Unexpected role. Allowed roles are \"user\" or \"assistant\"".to_owned(),
            );
        }
        if text.trim().is_empty() {
            return Some("messages: text content blocks must be non-empty".to_owned());
        }
    }
    let last = messages.last().filter(|last| role(last) == "assistant")?["content"].as_str()?;
    last.ends_with(char::is_whitespace)
        .then(|| "messages: final assistant content cannot end with trailing whitespace".to_owned())
}

/// The body of an error.
pub(crate) fn error(status: u16, message: &str) -> Value {
    let kind = match status {
        400 | 422 => "invalid_request_error",
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        _ => "api_error",
    };
    json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"})
}

/// The body of a message with the content of a chat completion's message.
pub(crate) fn reply(
    message: &Value,
    finish: &str,
    model: &str,
    tokens: Option<(Value, Value)>,
    id: usize,
) -> Value {
    let mut content = Vec::new();
    let text = message["content"]
        .as_str()
        .or_else(|| message["refusal"].as_str())
        .filter(|text| !text.is_empty());
    content.extend(text.map(|text| json!({"type": "text", "text": text})));
    for call in message["tool_calls"].as_array().into_iter().flatten() {
        let arguments = call["function"]["arguments"].as_str().unwrap_or("{}");
        let input: Value = serde_json::from_str(arguments).unwrap_or_default();
        content.push(json!({
            "type": "tool_use", "id": "toolu_1", "name": call["function"]["name"], "input": input
        }));
    }
    let reason = match finish {
        _ if message["refusal"].is_string() => "refusal",
        "stop" => "end_turn",
        "length" => "max_tokens",
        "tool_calls" => "tool_use",
        other => other,
    };
    let mut body = json!({
        "id": format!("msg_{id}"), "type": "message", "role": "assistant", "model": model,
        "content": content,
        "stop_reason": reason, "stop_sequence": null
    });
    if let Some((input, output)) = tokens {
        body["usage"] = json!({
            "input_tokens": input, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
            "output_tokens": output
        });
    }
    body
}

#[cfg(test)]
mod tests {
    use super::*;

    fn objects(change: impl FnOnce(&mut Recorded)) -> String {
        let body =
            json!({"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": "q"}]});
        let headers = [("anthropic-version".to_owned(), "2023-06-01".to_owned())].into();
        let mut request = Recorded { path: "/v1/messages".into(), headers, body };
        change(&mut request);
        objection(&request).unwrap_or_default()
    }

    #[test]
    fn what_the_protocol_does_not_take_is_objected_to() {
        fn say(role: &str, text: &str) -> Value {
            json!({"role": role, "content": text})
        }
        assert_eq!(objects(|_| ()), "");
        assert_eq!(objects(|request| request.path = "/v1/chat/completions".into()), "");
        assert!(objects(|request| request.headers.clear()).contains("anthropic-version"));
        for (name, value, words) in [
            ("seed", json!(1), "Extra inputs"),
            ("max_tokens", json!(null), "max_tokens"),
            ("temperature", json!(1.5), "range"),
            ("stop_sequences", json!(["\n"]), "non-whitespace"),
            ("messages", json!([]), "first message"),
            ("messages", json!([say("system", "q")]), "first message"),
            ("messages", json!([say("user", "a"), say("user", "b")]), "alternate"),
            ("messages", json!([say("user", "a"), say("system", "b")]), "Unexpected role"),
            ("messages", json!([say("user", " ")]), "non-empty"),
            ("messages", json!([say("user", "a"), say("assistant", "b ")]), "trailing whitespace"),
        ] {
            let objection = objects(|request| request.body[name] = value.clone());
            assert!(objection.contains(words), "{name}: {value}: {objection}");
        }
    }
}
