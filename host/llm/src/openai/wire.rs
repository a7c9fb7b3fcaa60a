//! The bodies of chat completions: writing that of a request and reading that of a reply.

use serde_json::{Map, Value, json};
use syrch_core::ports::{Message, Request, Shape, Speaker, Usage};
use syrch_replies::size::output_tokens;

use crate::http::values::{self, count, decimal, schema_in_words};
use crate::http::{Answer, Settings, Stopped, Structured};

/// The body of a request.
pub(super) fn body(request: &Request, settings: &Settings<'_>) -> Value {
    let quirks = settings.quirks;
    let mut body = Map::new();
    body.insert("model".into(), settings.model.into());
    body.insert("messages".into(), messages(request, quirks.structured));
    body.insert(quirks.limit().into(), output_tokens(request, settings.max_tokens).into());
    let mut optional = |name: &'static str, value: Option<Value>| {
        if let Some(value) = value.filter(|_| !quirks.dropped.contains(name)) {
            body.insert(name.into(), value);
        }
    };
    optional("temperature", request.temperature.or(settings.temperature).and_then(|value| decimal(value, 2.0)));
    optional("top_p", request.top_p.and_then(|value| decimal(value, 1.0)));
    optional("seed", Some(request.sample.into()));
    optional("stop", (!request.stop.is_empty()).then(|| json!(request.stop)));
    optional("logprobs", request.logprobs.then_some(Value::Bool(true)));
    body.insert("stream".into(), Value::Bool(false));
    if let Some(format) = response_format(&request.expect, quirks.structured) {
        body.insert("response_format".into(), format);
    }
    Value::Object(body)
}

fn messages(request: &Request, structured: Structured) -> Value {
    let mut messages: Vec<Message> = request.messages.clone();
    if let (Shape::Json(schema), Structured::Object | Structured::Prompt, Some(last)) =
        (&request.expect, structured, messages.last_mut())
    {
        last.text.push_str(&schema_in_words(schema));
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

/// Reads a body; `None` if it is no chat completion. `model` is the name of the model if the body has none.
pub(super) fn answer(body: &Value, model: &str) -> Option<Answer> {
    let choice = body.get("choices")?.get(0)?;
    let message = choice.get("message").filter(|message| message.is_object())?;
    let filled = |value: &Value| value.as_array().is_some_and(|list| !list.is_empty());
    Some(Answer {
        text: content(message.get("content")),
        stopped: stopped(message.get("refusal"), choice.get("finish_reason")),
        called_tools: message.get("tool_calls").is_some_and(filled),
        logprob: choice.get("logprobs").and_then(logprob),
        usage: usage(body, model),
    })
}

fn stopped(refusal: Option<&Value>, finish: Option<&Value>) -> Stopped {
    let refusal = refusal.and_then(Value::as_str).filter(|text| !text.is_empty());
    match (refusal, finish.and_then(Value::as_str)) {
        (Some(refusal), _) => Stopped::Refused(refusal.to_owned()),
        (None, Some("content_filter")) => {
            Stopped::Refused("the endpoint's content filter stopped the reply".to_owned())
        }
        (None, Some("length")) => Stopped::Length,
        (None, _) => Stopped::Complete,
    }
}

/// The text of a message: a string, or the parts of a list that are text.
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

fn usage(body: &Value, model: &str) -> Option<Usage> {
    let usage = body.get("usage")?;
    let tokens = |name: &str| usage.get(name).and_then(count);
    values::usage(body, tokens("prompt_tokens"), tokens("completion_tokens"), model)
}

#[cfg(test)]
mod tests {
    use syrch_core::ports::Purpose;

    use super::*;
    use crate::http::Quirks;

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

    fn body_of(expect: Shape, quirks: &Quirks) -> Value {
        body(&request(expect), &Settings { model: "m", temperature: None, max_tokens: 100, quirks })
    }

    #[test]
    fn a_body_holds_what_was_asked_and_no_more() {
        let expected = json!({
            "model": "m", "messages": [{"role": "user", "content": "q"}], "max_tokens": 100, "temperature": 0.7, "seed": 3,
            "stop": ["END"], "logprobs": true, "stream": false
        });
        assert_eq!(body_of(Shape::Sql, &Quirks::default()), expected);
    }

    #[test]
    fn quirks_change_the_body() {
        let schema = Shape::Json("{\"type\":\"object\"}".into());
        let body = body_of(schema.clone(), &Quirks::default());
        assert_eq!(body["response_format"]["json_schema"]["schema"], json!({"type": "object"}));
        let quirks = Quirks {
            structured: Structured::Object,
            completion_tokens: true,
            dropped: ["temperature", "seed", "stop", "logprobs"].into(),
        };
        let body = body_of(schema, &quirks);
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
    }
}
