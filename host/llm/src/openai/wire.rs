//! The chat completions protocol as values: the request's body, and what is read out of a reply's.

use serde_json::{Map, Value, json};
use syrch_core::ports::{Message, Request, Shape, Speaker, Usage};

use super::habits::{Habits, Structured};

/// What a body needs besides the request.
pub(super) struct Settings<'a> {
    /// The model's name.
    pub(super) model: &'a str,
    /// Where the request sets none.
    pub(super) temperature: Option<f32>,
    /// Output tokens at most.
    pub(super) max_tokens: u32,
    /// What the endpoint takes.
    pub(super) habits: &'a Habits,
}

/// The body of one request. Nothing of it is the guest's but text and clamped numbers.
pub(super) fn body(request: &Request, settings: &Settings<'_>) -> Value {
    let habits = settings.habits;
    let mut body = Map::new();
    body.insert("model".into(), settings.model.into());
    body.insert("messages".into(), messages(request, habits.structured));
    body.insert(habits.limit().into(), output_tokens(request, settings.max_tokens).into());
    let mut optional = |name: &'static str, value: Option<Value>| {
        if let Some(value) = value.filter(|_| !habits.dropped.contains(name)) {
            body.insert(name.into(), value);
        }
    };
    optional("temperature", request.temperature.or(settings.temperature).and_then(|value| decimal(value, 2.0)));
    optional("top_p", request.top_p.and_then(|value| decimal(value, 1.0)));
    optional("seed", Some(request.sample.into()));
    optional("stop", (!request.stop.is_empty()).then(|| json!(request.stop)));
    optional("logprobs", request.logprobs.then_some(Value::Bool(true)));
    body.insert("stream".into(), Value::Bool(false));
    if let Some(format) = response_format(&request.expect, habits.structured) {
        body.insert("response_format".into(), format);
    }
    Value::Object(body)
}

/// Output tokens of a request: what it asks for, within what the user allows.
pub(super) fn output_tokens(request: &Request, most: u32) -> u32 {
    request.max_tokens.unwrap_or(most).clamp(1, most.max(1))
}

/// A number as people write it: 0.7 rather than the nearest binary fraction's digits.
fn decimal(value: f32, most: f32) -> Option<Value> {
    let value = if value.is_finite() { value.clamp(0.0, most) } else { return None };
    value.to_string().parse::<f64>().ok().map(Value::from)
}

fn messages(request: &Request, structured: Structured) -> Value {
    let mut messages: Vec<Message> = request.messages.clone();
    if let (Shape::Json(schema), Structured::Object | Structured::Prompt, Some(last)) =
        (&request.expect, structured, messages.last_mut())
    {
        last.text.push_str("\n\nReply with one JSON document that matches this JSON schema, and with nothing else:\n");
        last.text.push_str(schema);
    }
    let role = |speaker: Speaker| match speaker {
        Speaker::System => "system",
        Speaker::User => "user",
        Speaker::Assistant => "assistant",
    };
    messages.iter().map(|message| json!({"role": role(message.speaker), "content": message.text})).collect()
}

fn response_format(shape: &Shape, structured: Structured) -> Option<Value> {
    let Shape::Json(schema) = shape else { return None };
    match structured {
        Structured::Schema => {
            let schema: Value = serde_json::from_str(schema).ok()?;
            Some(json!({"type": "json_schema", "json_schema": {"name": "reply", "schema": schema}}))
        }
        Structured::Object => Some(json!({"type": "json_object"})),
        Structured::Prompt => None,
    }
}

/// What a reply's body says.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Answer {
    /// The text, empty when there is none.
    pub(super) text: String,
    /// Why the model would not answer.
    pub(super) refusal: Option<String>,
    /// Why it stopped, in the protocol's words.
    pub(super) finish: String,
    /// Whether it called tools, though none were offered.
    pub(super) called_tools: bool,
    /// Sum over the tokens.
    pub(super) logprob: Option<f64>,
    /// Tokens as reported, where the report can be true.
    pub(super) usage: Option<Usage>,
}

/// Reads a body; none when it is no chat completion. `model` names the model when the reply does not.
pub(super) fn answer(body: &Value, model: &str) -> Option<Answer> {
    let choice = body.get("choices")?.get(0)?;
    let message = choice.get("message").filter(|message| message.is_object())?;
    let filled = |value: &Value| value.as_array().is_some_and(|list| !list.is_empty());
    Some(Answer {
        text: content(message.get("content")),
        refusal: message.get("refusal").and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned),
        finish: choice.get("finish_reason").and_then(Value::as_str).unwrap_or_default().to_owned(),
        called_tools: message.get("tool_calls").is_some_and(filled),
        logprob: choice.get("logprobs").and_then(logprob),
        usage: usage(body, model),
    })
}

/// The text of a message: a string, or a list of parts of which some are text.
fn content(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts.iter().filter_map(|part| part.get("text")?.as_str()).collect(),
        _ => String::new(),
    }
}

fn logprob(value: &Value) -> Option<f64> {
    let tokens = value.get("content")?.as_array().filter(|tokens| !tokens.is_empty())?;
    let sum = tokens.iter().map(|token| token.get("logprob")?.as_f64()).sum::<Option<f64>>()?;
    sum.is_finite().then_some(sum.min(0.0))
}

/// The reported tokens. A prompt of no tokens, a negative count or a word is no report.
fn usage(body: &Value, model: &str) -> Option<Usage> {
    let usage = body.get("usage")?;
    let input = usage.get("prompt_tokens").and_then(count).filter(|tokens| *tokens > 0);
    let output = usage.get("completion_tokens").and_then(count);
    if input.is_none() && output.is_none_or(|tokens| tokens == 0) {
        return None;
    }
    let model = body.get("model").and_then(Value::as_str).filter(|name| !name.is_empty()).unwrap_or(model);
    Some(Usage {
        input_tokens: input.unwrap_or(0),
        output_tokens: output.unwrap_or(0),
        cost_micros: None,
        model: syrch_core::text::clip(model, 200).to_owned(),
    })
}

fn count(value: &Value) -> Option<u32> {
    let number = match value {
        Value::Number(number) => number.as_u64().or_else(|| number.as_f64().filter(|n| *n >= 0.0).map(|n| n as u64))?,
        Value::String(text) => text.trim().parse().ok()?,
        _ => return None,
    };
    Some(u32::try_from(number).unwrap_or(u32::MAX))
}

/// What an error's body says, in one of the forms in use; else its beginning.
pub(super) fn error_text(body: &[u8]) -> String {
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
    use syrch_core::ports::Purpose;

    use super::*;

    fn request(expect: Shape) -> Request {
        Request {
            purpose: Purpose::Generate,
            messages: vec![Message { speaker: Speaker::User, text: "q".into() }],
            expect,
            model: None,
            subjects: vec!["SELECT secret".into()],
            temperature: Some(0.7),
            top_p: Some(f32::NAN),
            max_tokens: Some(9_999),
            stop: vec!["END".into()],
            logprobs: true,
            sample: 3,
        }
    }

    fn body_of(expect: Shape, habits: &Habits) -> Value {
        body(&request(expect), &Settings { model: "m", temperature: None, max_tokens: 100, habits })
    }

    #[test]
    fn a_body_holds_what_was_asked_and_no_more() {
        let expected = json!({
            "model": "m", "messages": [{"role": "user", "content": "q"}], "max_tokens": 100, "temperature": 0.7, "seed": 3,
            "stop": ["END"], "logprobs": true, "stream": false
        });
        assert_eq!(body_of(Shape::Sql, &Habits::default()), expected);
    }

    #[test]
    fn habits_change_the_body() {
        let schema = Shape::Json("{\"type\":\"object\"}".into());
        let body = body_of(schema.clone(), &Habits::default());
        assert_eq!(body["response_format"]["json_schema"]["schema"], json!({"type": "object"}));
        let habits = Habits {
            structured: Structured::Object,
            completion_tokens: true,
            dropped: ["temperature", "seed", "stop", "logprobs"].into(),
        };
        let body = body_of(schema, &habits);
        assert_eq!(body["response_format"], json!({"type": "json_object"}));
        assert!(body["messages"][0]["content"].as_str().unwrap().ends_with("{\"type\":\"object\"}"));
        let keys: Vec<&String> = body.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["model", "messages", "max_completion_tokens", "stream", "response_format"]);
    }

    #[test]
    fn usage_that_cannot_be_true_is_no_report() {
        let read = |usage: Value| {
            let body = json!({"choices": [{"message": {"content": "x"}}], "usage": usage});
            answer(&body, "m").unwrap().usage.map(|usage| (usage.input_tokens, usage.output_tokens))
        };
        assert_eq!(read(json!({"prompt_tokens": 5, "completion_tokens": 2})), Some((5, 2)));
        assert_eq!(read(json!({"prompt_tokens": "5", "completion_tokens": 2.0})), Some((5, 2)));
        assert_eq!(read(json!({"prompt_tokens": 1e30, "completion_tokens": -1})), Some((u32::MAX, 0)));
        for lie in [
            json!(null),
            json!({}),
            json!({"prompt_tokens": 0, "completion_tokens": 0}),
            json!("many"),
            json!({"prompt_tokens": -5, "completion_tokens": "few"}),
        ] {
            assert_eq!(read(lie.clone()), None, "{lie}");
        }
    }

    #[test]
    fn texts_come_in_several_forms() {
        let read =
            |message: Value| answer(&json!({"choices": [{"message": message, "finish_reason": "stop"}]}), "m").unwrap();
        assert_eq!(
            read(json!({"content": [{"type": "text", "text": "a"}, {"type": "image"}, {"text": "b"}]})).text,
            "ab"
        );
        let tools = read(json!({"content": null, "reasoning_content": "hm", "tool_calls": [{"id": "1"}]}));
        assert!(tools.text.is_empty() && tools.called_tools);
        assert_eq!(answer(&json!({"choices": []}), "m"), None);
        assert_eq!(error_text(b"{\"error\":{\"message\":\"no\"}}"), "no");
        assert_eq!(error_text(b"{\"error\":\"no\"}"), "no");
        assert_eq!(error_text(b"{\"detail\":[{\"loc\":1}]}"), "[{\"loc\":1}]");
        assert_eq!(error_text(b"<html>"), "<html>");
    }
}
