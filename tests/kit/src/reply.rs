//! The replies of the mock endpoint: good ones, and every way in which an endpoint can fail.

pub(crate) mod anthropic;

use std::time::Duration;

use serde_json::{Value, json};

use crate::Recorded;

/// The usage that a reply reports.
#[derive(Debug, Clone, PartialEq)]
pub enum Usage {
    /// A quarter of the bytes of prompt and reply.
    Honest,
    /// These input and output tokens.
    Tokens(u32, u32),
    /// No usage is reported.
    Missing,
    /// The counts are zero.
    Zero,
    /// The counts are negative.
    Negative,
    /// The counts are words.
    Words,
}

/// The delivery of the bytes of a reply.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Delivery {
    /// The bytes follow the protocol.
    Whole,
    /// Not even the headers are sent.
    Hang,
    /// The body is not JSON.
    Garbage,
    /// The body is the first half of a JSON document, though the exchange is complete.
    HalfJson,
    /// The body is chunked, and its connection breaks in the middle.
    CutStream,
    /// The body has that many bytes.
    Flood(usize),
    /// The body is a stream of events, with its end or without.
    Events { ended: bool },
}

/// A reply of the endpoint. Make one with [`Reply::text`], [`Reply::sql`] or one of the faults, and
/// change it with the methods.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    pub(crate) status: u16,
    pub(crate) body: Option<String>,
    pub(crate) delivery: Delivery,
    pub(crate) delay: Duration,
    pub(crate) location: Option<String>,
    pub(crate) headers: Vec<(String, String)>,
    /// The message of an error.
    error: Option<String>,
    message: Value,
    finish: &'static str,
    usage: Usage,
    logprobs: Vec<f64>,
}

impl Reply {
    /// The model replies with exactly this text.
    #[must_use]
    pub fn text(content: impl Into<String>) -> Self {
        Self::message(json!({"role": "assistant", "content": content.into()}))
    }

    /// The model replies with this statement in a fence, followed by a confidence.
    #[must_use]
    pub fn sql(sql: &str, confidence: f64) -> Self {
        Self::text(format!("```sql\n{sql}\n```\nConfidence: {confidence}"))
    }

    /// The model replies with this statement in the middle of prose, without a fence.
    #[must_use]
    pub fn sql_in_prose(sql: &str, confidence: f64) -> Self {
        Self::text(format!(
            "With the tables at hand, this isn't hard.\n\n{sql};\n\n\
             It reads no more than it must.\n**Confidence:** {confidence}"
        ))
    }

    /// The model replies with this JSON document and nothing else.
    #[must_use]
    pub fn json(document: &Value) -> Self {
        Self::text(document.to_string())
    }

    /// The model declines to answer.
    #[must_use]
    pub fn refusal(reason: &str) -> Self {
        Self::message(json!({"role": "assistant", "content": null, "refusal": reason}))
    }

    /// The model calls a tool that was not offered, without any text and without arguments.
    #[must_use]
    pub fn tool_call(name: &str) -> Self {
        Self::tool_call_with(name, &json!({}))
    }

    /// The model calls a tool that was not offered, without any text.
    #[must_use]
    pub fn tool_call_with(name: &str, arguments: &Value) -> Self {
        let function = json!({"name": name, "arguments": arguments.to_string()});
        let call = json!({"id": "call_1", "type": "function", "function": function});
        Self {
            finish: "tool_calls",
            ..Self::message(json!({"role": "assistant", "content": null, "tool_calls": [call]}))
        }
    }

    /// An assistant's message in the form of the protocol.
    #[must_use]
    pub fn message(message: Value) -> Self {
        Self {
            status: 200,
            body: None,
            delivery: Delivery::Whole,
            delay: Duration::ZERO,
            location: None,
            headers: Vec::new(),
            error: None,
            message,
            finish: "stop",
            usage: Usage::Honest,
            logprobs: Vec::new(),
        }
    }

    /// An error of that status, in the protocol's form.
    #[must_use]
    pub fn status(status: u16, message: &str) -> Self {
        Self { status, error: Some(message.to_owned()), ..Self::message(Value::Null) }
    }

    /// That status with this body, whatever it is; a redirect carries a `Location` that leads
    /// nowhere.
    #[must_use]
    pub fn raw(status: u16, body: impl Into<String>) -> Self {
        Self { status, body: Some(body.into()), ..Self::message(Value::Null) }
    }

    /// A redirect of that status to that address.
    #[must_use]
    pub fn redirect(status: u16, to: &str) -> Self {
        Self { location: Some(to.to_owned()), ..Self::raw(status, "") }
    }

    /// The endpoint never answers.
    #[must_use]
    pub fn hang() -> Self {
        Self { delivery: Delivery::Hang, ..Self::text("") }
    }

    /// Bytes that are no JSON, with a good status.
    #[must_use]
    pub fn garbage() -> Self {
        Self { delivery: Delivery::Garbage, ..Self::text("") }
    }

    /// A good status and the first half of a good body.
    #[must_use]
    pub fn half_json() -> Self {
        Self { delivery: Delivery::HalfJson, ..Self::sql("SELECT 1", 0.9) }
    }

    /// A good status and a body whose connection breaks in the middle.
    #[must_use]
    pub fn cut_stream() -> Self {
        Self { delivery: Delivery::CutStream, ..Self::sql("SELECT 1", 0.9) }
    }

    /// A good status and a body of that many bytes.
    #[must_use]
    pub fn flood(bytes: usize) -> Self {
        Self { delivery: Delivery::Flood(bytes), ..Self::text("") }
    }

    /// The reply as a stream of events.
    #[must_use]
    pub fn into_stream(self) -> Self {
        Self { delivery: Delivery::Events { ended: true }, ..self }
    }

    /// The first half of the reply as a stream of events, without its end.
    #[must_use]
    pub fn stream_cut_off(self) -> Self {
        Self { delivery: Delivery::Events { ended: false }, ..self }
    }

    /// The reply with this header, such as `retry-after`.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The reply after a delay of that many milliseconds.
    #[must_use]
    pub fn delay_ms(mut self, milliseconds: u64) -> Self {
        self.delay = Duration::from_millis(milliseconds);
        self
    }

    /// The reply with this usage instead of an honest one.
    #[must_use]
    pub fn usage(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }

    /// The reply with this reason why the model stopped, such as `length` or `content_filter`.
    #[must_use]
    pub fn finish(mut self, reason: &'static str) -> Self {
        self.finish = reason;
        self
    }

    /// The reply with these log probabilities, one for each token.
    #[must_use]
    pub fn logprobs(mut self, logprobs: impl Into<Vec<f64>>) -> Self {
        self.logprobs = logprobs.into();
        self
    }

    /// The reply with a further field of the message, such as `reasoning_content`.
    #[must_use]
    pub fn field(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.message[name] = value.into();
        self
    }

    /// The body for the request of that number, in the form of its protocol.
    pub(crate) fn body(&self, request: &Recorded, id: usize) -> String {
        if let Some(body) = &self.body {
            return body.clone();
        }
        let model = request.body["model"].as_str().unwrap_or("mock");
        let tokens = self.tokens(request.prompt().len());
        let body = match (&self.error, request.is_messages()) {
            (Some(error), true) => anthropic::error(self.status, error),
            (Some(error), false) => {
                json!({"error": {"message": error, "type": "error", "param": null, "code": null}})
            }
            (None, true) => anthropic::reply(&self.message, self.finish, model, tokens, id),
            (None, false) => self.completion(model, tokens, id),
        };
        match self.delivery {
            Delivery::Events { ended } if self.error.is_none() => {
                events(&body, request.is_messages(), ended)
            }
            _ => body.to_string(),
        }
    }

    /// The reported tokens of prompt and reply; `None` without a report.
    fn tokens(&self, prompt_bytes: usize) -> Option<(Value, Value)> {
        let reply = self.message["content"].as_str().map_or(0, str::len);
        fn quarter(bytes: usize) -> Value {
            json!(bytes.div_ceil(4))
        }
        match self.usage {
            Usage::Honest => Some((quarter(prompt_bytes), quarter(reply))),
            Usage::Tokens(input, output) => Some((json!(input), json!(output))),
            Usage::Missing => None,
            Usage::Zero => Some((json!(0), json!(0))),
            Usage::Negative => Some((json!(-10), json!(-1))),
            Usage::Words => Some((json!("some"), json!("few"))),
        }
    }

    /// The body of a chat completion.
    fn completion(&self, model: &str, tokens: Option<(Value, Value)>, id: usize) -> Value {
        let reply_tokens: Vec<Value> = self
            .logprobs
            .iter()
            .map(|logprob: &f64| json!({"token": "x", "logprob": logprob}))
            .collect();
        let logprobs =
            if reply_tokens.is_empty() { Value::Null } else { json!({"content": reply_tokens}) };
        let choice = json!({
            "index": 0, "message": self.message, "finish_reason": self.finish, "logprobs": logprobs
        });
        let mut body = json!({
            "id": format!("chatcmpl-{id}"), "object": "chat.completion", "created": 0,
            "model": model, "choices": [choice]
        });
        if let Some((input, output)) = tokens {
            body["usage"] = json!({"prompt_tokens": input, "completion_tokens": output});
        }
        body
    }
}

/// The events of a stream that add up to a body.
fn events(body: &Value, is_messages: bool, ended: bool) -> String {
    let mut all: Vec<Value> = Vec::new();
    if is_messages {
        let text = body["content"][0]["text"].as_str().unwrap_or_default();
        all.push(json!({"type": "message_start", "message": body}));
        all.extend(halves(text).map(|text| {
            let delta = json!({"type": "text_delta", "text": text});
            json!({"type": "content_block_delta", "delta": delta})
        }));
        all.push(json!({
            "type": "message_delta", "delta": {"stop_reason": body["stop_reason"]},
            "usage": body["usage"]
        }));
    } else {
        let choice = &body["choices"][0];
        let text = choice["message"]["content"].as_str().unwrap_or_default();
        let event = |delta: Value, finish: &Value| {
            json!({
                "model": body["model"], "choices": [{
                    "index": 0, "delta": delta, "finish_reason": finish
                }]
            })
        };
        let mut first = choice["message"].clone();
        first["content"] = Value::Null;
        all.push(event(first, &Value::Null));
        all.extend(halves(text).map(|text| event(json!({"content": text}), &Value::Null)));
        all.push(event(json!({}), &choice["finish_reason"]));
        all.push(json!({"choices": [], "usage": body["usage"]}));
    }
    let written = if ended { all.len() } else { all.len() / 2 };
    let mut stream = String::from(": keep alive\n\n");
    all.iter().take(written).for_each(|event| stream += &format!("data: {event}\n\n"));
    if ended && !is_messages {
        stream += "data: [DONE]\n\n";
    }
    stream
}

/// A text in two parts.
fn halves(text: &str) -> impl Iterator<Item = String> {
    let middle = text.chars().count() / 2;
    let parts =
        [text.chars().take(middle).collect::<String>(), text.chars().skip(middle).collect()];
    parts.into_iter()
}
