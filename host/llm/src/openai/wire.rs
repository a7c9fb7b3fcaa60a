//! The bodies of chat completions: writing that of a request and reading that of a reply.

use serde_json::{Map, Value, json};
use syrch_core::Limits;
use syrch_core::ports::{Message, Request, Shape, Speaker, SqlReply, Usage};
use syrch_replies::shape;

use crate::http::values::{self, count, decimal, holds_statement, schema_in_words};
use crate::http::{Answer, Quirks, Settings, Stopped, Structured};

/// The end of a prompt that asks for a statement as a JSON document.
const STATEMENT_IN_WORDS: &str = "\n\nWrite the reply as one JSON document and nothing else, \
                                  without a fence: {\"sql\": the statement, or \"\" if these \
                                  tables cannot answer, \"confidence\": a number from 0 to 1}";

/// The body of a request.
pub(super) fn body(request: &Request, settings: &Settings<'_>) -> Value {
    let quirks = settings.quirks;
    let mut body = Map::new();
    body.insert("model".into(), settings.model.into());
    body.insert("messages".into(), messages(request, quirks));
    body.insert(quirks.limit().into(), settings.max_tokens.into());
    let mut optional = |name: &'static str, value: Option<Value>| {
        if let Some(value) = value.filter(|_| !quirks.dropped.contains(name)) {
            body.insert(name.into(), value);
        }
    };
    optional(
        "temperature",
        request.temperature.or(settings.temperature).and_then(|value| decimal(value, 2.0)),
    );
    optional("top_p", request.top_p.and_then(|value| decimal(value, 1.0)));
    optional("seed", Some(request.number().into()));
    optional("stop", (!request.stop.is_empty()).then(|| json!(request.stop)));
    optional("logprobs", request.logprobs.then_some(Value::Bool(true)));
    optional("stream_options", quirks.streams.then(|| json!({"include_usage": true})));
    body.insert("stream".into(), Value::Bool(quirks.streams));
    if let Some(format) = response_format(&request.expect, quirks) {
        body.insert("response_format".into(), format);
    }
    Value::Object(body)
}

fn messages(request: &Request, quirks: &Quirks) -> Value {
    let mut messages =
        if quirks.folds_system { fold(&request.messages) } else { request.messages.clone() };
    if asks_for_document(&request.expect, quirks) {
        messages
            .iter_mut()
            .filter(|message| message.speaker == Speaker::Assistant)
            .for_each(as_document);
    }
    if let Some(last) = messages.last_mut() {
        match &request.expect {
            Shape::Json(schema) if quirks.structured != Structured::Schema => {
                last.text.push_str(&schema_in_words(schema));
            }
            shape if asks_for_document(shape, quirks) => last.text.push_str(STATEMENT_IN_WORDS),
            _ => {}
        }
    }
    let role = |speaker: Speaker| match speaker {
        Speaker::System => "system",
        Speaker::User => "user",
        Speaker::Assistant => "assistant",
    };
    messages
        .iter()
        .map(|message| json!({"role": role(message.speaker), "content": message.text}))
        .collect()
}

/// The messages without a system prompt, which stands at the beginning of what the user says first,
/// and with no two of one role in a row.
fn fold(messages: &[Message]) -> Vec<Message> {
    let mut folded: Vec<Message> = Vec::new();
    for message in messages {
        let speaker =
            if message.speaker == Speaker::System { Speaker::User } else { message.speaker };
        match folded.last_mut() {
            Some(last) if last.speaker == speaker => {
                last.text = format!("{}\n\n{}", last.text, message.text)
            }
            _ => folded.push(Message { speaker, text: message.text.clone() }),
        }
    }
    folded
}

/// Returns true if a statement is requested as a JSON document.
fn asks_for_document(shape: &Shape, quirks: &Quirks) -> bool {
    quirks.statements_as_json && holds_statement(shape)
}

/// An example of a reply, in the form of a document.
fn as_document(message: &mut Message) {
    let reply = shape::parse(&message.text, &Shape::Sql, &Limits::default()).ok().flatten();
    if let Some(SqlReply { sql, confidence, .. }) =
        reply.and_then(|reply| serde_json::from_str(&reply).ok())
    {
        message.text = match confidence {
            Some(confidence) => json!({"sql": sql, "confidence": confidence}).to_string(),
            None => json!({"sql": sql}).to_string(),
        };
    }
}

/// The schema of a statement.
fn statement_schema() -> Value {
    json!({
        "type": "object",
        "properties": {"sql": {"type": "string"}, "confidence": {"type": "number"}},
        "required": ["sql", "confidence"],
        "additionalProperties": false
    })
}

fn response_format(shape: &Shape, quirks: &Quirks) -> Option<Value> {
    let schema = match shape {
        Shape::Json(schema) => serde_json::from_str(schema).ok()?,
        shape if asks_for_document(shape, quirks) => statement_schema(),
        _ => return None,
    };
    match quirks.structured {
        Structured::Schema => {
            Some(json!({"type": "json_schema", "json_schema": {"name": "reply", "schema": schema}}))
        }
        Structured::Object => Some(json!({"type": "json_object"})),
        Structured::Prompt => None,
    }
}

/// Reads a body; `None` if it is no chat completion. `model` is the name of the model if the body
/// has none.
pub(super) fn answer(body: &Value, model: &str) -> Option<Answer> {
    let Some(choice) = values::first_choice(body) else {
        let stopped =
            Stopped::Refused(format!("the endpoint's content filter: {}", filter_reason(body)?));
        return Some(Answer { stopped, usage: usage(body, model), ..Answer::default() });
    };
    let message = choice.get("message").filter(|message| message.is_object());
    let refusal = message.and_then(|message| message.get("refusal"));
    let stopped = stop_reason(refusal, end_reason(choice));
    // Where the end has a reason of its own, there may be no message.
    let message = message.or((stopped != Stopped::Complete).then_some(&Value::Null))?;
    Some(Answer {
        text: content(message.get("content")),
        thinking: thinking(message),
        thought: has_thought(body.get("usage")),
        stopped,
        tool_calls: tool_calls(message),
        logprob: choice.get("logprobs").and_then(logprob),
        usage: usage(body, model),
    })
}

/// The reason why a filter stopped the prompt, as Gemini says it.
fn filter_reason(body: &Value) -> Option<&str> {
    let places = ["/promptFeedback/blockReason", "/prompt_feedback/block_reason"];
    places.iter().find_map(|place| body.pointer(place)?.as_str())
}

/// The arguments of the tools that a message calls, in the present form and in the first one,
/// `function_call`.
fn tool_calls(message: &Value) -> Vec<String> {
    let listed = message.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
    let functions = listed.map(|call| call.get("function").or_else(|| call.get("custom")));
    let first = message.get("function_call").filter(|call| call.is_object()).map(Some);
    fn read_arguments(function: Option<&Value>) -> Option<String> {
        let function = function?;
        function.get("arguments").or_else(|| function.get("input")).map(values::text)
    }
    functions.chain(first).map(|function| read_arguments(function).unwrap_or_default()).collect()
}

/// The reason why a choice ended. Gateways add that of their own endpoint: one by which the reply
/// is not whole counts for more.
fn end_reason(choice: &Value) -> Option<&str> {
    let places = ["/finish_reason", "/native_finish_reason", "/finish_details/type"];
    let reasons: Vec<&str> = places
        .iter()
        .filter_map(|place| choice.pointer(place)?.as_str())
        .filter(|reason| !reason.is_empty())
        .collect();
    reasons.iter().find(|reason| !values::is_whole(reason)).or(reasons.first()).copied()
}

fn stop_reason(refusal: Option<&Value>, finish: Option<&str>) -> Stopped {
    let refusal = refusal.and_then(Value::as_str).filter(|text| !text.is_empty());
    match refusal {
        Some(refusal) => Stopped::Refused(refusal.to_owned()),
        None => values::read_end(finish),
    }
}

/// The text of a message: a string, a part that is text, or those of a list; of any other value its
/// JSON, as of a document that a server has read itself.
fn content(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts.iter().map(part_text).collect(),
        Some(part @ Value::Object(_)) if part.get("text").is_some() => part_text(part),
        Some(other) => other.to_string(),
    }
}

/// The text of a part of a message; empty for a part of another kind.
fn part_text(part: &Value) -> String {
    let kind = part.get("type").and_then(Value::as_str);
    let is_text = kind.is_none_or(|kind| ["text", "output_text"].contains(&kind));
    let text = part.get("text").map(|text| text.get("value").unwrap_or(text));
    let text = text.filter(|_| is_text).unwrap_or(part);
    text.as_str().unwrap_or_default().to_owned()
}

/// Returns the model's thinking from the fields of a message in which servers keep it apart, else
/// from the parts of its text.
fn thinking(message: &Value) -> String {
    let fields = ["reasoning_content", "reasoning", "thinking"];
    let mut texts = fields.iter().filter_map(|field| message.get(field)?.as_str());
    texts.find(|text| !text.is_empty()).map_or_else(|| read_parts(message), str::to_owned)
}

/// The texts of thinking in parts, as OpenRouter and Mistral have them.
fn read_parts(message: &Value) -> String {
    let parts = |place| message.get(place).and_then(Value::as_array).into_iter().flatten();
    let details =
        parts("reasoning_details").filter_map(|part| part.get("text").or(part.get("summary")));
    let thoughts = parts("content").filter_map(|part| part.get("thinking"));
    details.chain(thoughts).map(|thought| content(Some(thought))).collect()
}

/// Returns true if a report of usage names tokens of thinking.
fn has_thought(usage: Option<&Value>) -> bool {
    let tokens =
        usage.and_then(|usage| usage.pointer("/completion_tokens_details/reasoning_tokens"));
    tokens.and_then(count).is_some_and(|tokens| tokens > 0)
}

fn logprob(value: &Value) -> Option<f64> {
    let tokens = value.get("content")?.as_array().filter(|tokens| !tokens.is_empty())?;
    let sum = tokens.iter().map(|token| token.get("logprob")?.as_f64()).sum::<Option<f64>>()?;
    sum.is_finite().then_some(sum.min(0.0))
}

fn usage(body: &Value, model: &str) -> Option<Usage> {
    let usage = body.get("usage")?;
    fn read_tokens(usage: &Value, name: &str) -> Option<u32> {
        usage.get(name).and_then(count)
    }
    let input = read_tokens(usage, "prompt_tokens").or_else(|| read_tokens(usage, "input_tokens"));
    let output =
        read_tokens(usage, "completion_tokens").or_else(|| read_tokens(usage, "output_tokens"));
    let cached = usage
        .pointer("/prompt_tokens_details/cached_tokens")
        .or_else(|| usage.get("prompt_cache_hit_tokens"));
    let cached_tokens = cached.and_then(count).unwrap_or(0);
    let read = values::usage(body, input, output, model)?;
    Some(Usage { cached_tokens: cached_tokens.min(read.input_tokens), ..read })
}

/// The body that the events of a stream add up to.
pub(super) fn join_events(events: &[Value], is_ended: bool) -> Option<Value> {
    let mut sum = Sum::default();
    let mut body = json!({});
    for event in events {
        for (name, place) in [
            ("model", "/model"),
            ("promptFeedback", "/promptFeedback"),
            ("usage", "/choices/0/usage"),
            ("usage", "/x_groq/usage"),
            ("usage", "/usage"),
        ] {
            if let Some(value) = event.pointer(place).filter(|value| !value.is_null()) {
                body[name] = value.clone();
            }
        }
        let choice = values::first_choice(event);
        // The parts of a second choice belong to another reply.
        if let Some(choice) = choice.filter(|it| it["index"].is_null() || it["index"] == 0) {
            sum.add(choice);
        }
    }
    if !sum.is_begun && filter_reason(&body).is_some() {
        return Some(body);
    }
    if !sum.is_begun || !is_ended && sum.finish.is_none() {
        return None;
    }
    body["choices"] = json!([sum.choice()]);
    Some(body)
}

/// The parts of a choice that a stream has brought so far.
#[derive(Default)]
struct Sum {
    is_begun: bool,
    content: String,
    thinking: String,
    refusal: String,
    calls: Vec<String>,
    logprobs: Vec<Value>,
    finish: Option<Value>,
}

impl Sum {
    fn add(&mut self, choice: &Value) {
        self.is_begun = true;
        // A server that answers in one piece within a stream sends a message.
        let delta = choice.get("delta").or_else(|| choice.get("message")).unwrap_or(&Value::Null);
        self.content += &content(delta.get("content"));
        self.thinking += &thinking(delta);
        self.refusal += delta.get("refusal").and_then(Value::as_str).unwrap_or_default();
        for (place, call) in
            delta.get("tool_calls").and_then(Value::as_array).into_iter().flatten().enumerate()
        {
            let place = call
                .get("index")
                .and_then(Value::as_u64)
                .and_then(|index| usize::try_from(index).ok())
                .unwrap_or(place);
            // More calls than this are no reply.
            let place = place.min(63);
            self.calls.resize(self.calls.len().max(place + 1), String::new());
            self.calls[place] +=
                call.pointer("/function/arguments").and_then(Value::as_str).unwrap_or_default();
        }
        self.logprobs.extend(
            choice
                .pointer("/logprobs/content")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .cloned(),
        );
        self.finish = end_reason(choice).map(Value::from).or(self.finish.take());
    }

    fn choice(self) -> Value {
        let Self { content, thinking, refusal, calls, logprobs, finish, .. } = self;
        let calls: Vec<Value> = calls
            .into_iter()
            .map(|arguments| json!({"function": {"arguments": arguments}}))
            .collect();
        let message = json!({
            "role": "assistant", "content": content, "reasoning_content": thinking,
            "refusal": refusal, "tool_calls": calls
        });
        let logprobs =
            if logprobs.is_empty() { Value::Null } else { json!({ "content": logprobs }) };
        json!({"message": message, "finish_reason": finish, "logprobs": logprobs})
    }
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
            seed: 0,
        }
    }

    fn body_of(expect: Shape, quirks: &Quirks) -> Value {
        body(&request(expect), &Settings { model: "m", temperature: None, max_tokens: 100, quirks })
    }

    #[test]
    fn a_body_holds_what_was_asked_and_no_more() {
        let expected = json!({
            "model": "m", "messages": [{"role": "user", "content": "q"}], "max_tokens": 100,
            "temperature": 0.7, "seed": 3,
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
            ..Quirks::default()
        };
        let body = body_of(schema, &quirks);
        assert_eq!(body["response_format"], json!({"type": "json_object"}));
        assert!(
            body["messages"][0]["content"].as_str().unwrap().ends_with("{\"type\":\"object\"}")
        );
        let keys: Vec<&String> = body.as_object().unwrap().keys().collect();
        assert_eq!(
            keys,
            ["model", "messages", "max_completion_tokens", "stream", "response_format"]
        );
    }

    #[test]
    fn usage_that_cannot_be_true_is_no_report() {
        fn read(usage: Value) -> Option<(u32, u32)> {
            let body = json!({"choices": [{"message": {"content": "x"}}], "usage": usage});
            answer(&body, "m").unwrap().usage.map(|usage| (usage.input_tokens, usage.output_tokens))
        }
        assert_eq!(read(json!({"prompt_tokens": 5, "completion_tokens": 2})), Some((5, 2)));
        assert_eq!(read(json!({"prompt_tokens": "5", "completion_tokens": 2.0})), Some((5, 2)));
        assert_eq!(read(json!({"input_tokens": 5, "output_tokens": 2})), Some((5, 2)));
        assert_eq!(
            read(json!({"prompt_tokens": 1e30, "completion_tokens": -1})),
            Some((u32::MAX, 0))
        );
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
    fn a_system_prompt_is_folded_into_what_the_user_says() {
        fn message(speaker: Speaker, text: &str) -> Message {
            Message { speaker, text: text.into() }
        }
        let messages = vec![
            message(Speaker::System, "rules"),
            message(Speaker::User, "a"),
            message(Speaker::Assistant, "b"),
            message(Speaker::User, "c"),
            message(Speaker::User, "d"),
        ];
        let request = Request { messages, ..request(Shape::Sql) };
        let quirks = Quirks { folds_system: true, ..Quirks::default() };
        let body = body(
            &request,
            &Settings { model: "m", temperature: None, max_tokens: 100, quirks: &quirks },
        );
        let expected = json!([
            {"role": "user", "content": "rules\n\na"}, {"role": "assistant", "content": "b"},
            {"role": "user", "content": "c\n\nd"}
        ]);
        assert_eq!(body["messages"], expected);
    }

    #[test]
    fn a_stream_adds_up_to_a_reply() {
        let delta = |delta: Value, finish: Value| {
            json!({
                "model": "m-1", "choices": [{"delta": delta, "finish_reason": finish}]
            })
        };
        fn call(arguments: &str) -> Value {
            json!({"tool_calls": [{"index": 0, "function": {"arguments": arguments}}]})
        }
        let events = [
            delta(json!({"role": "assistant", "content": ""}), Value::Null),
            delta(json!({"reasoning_content": "hm"}), Value::Null),
            delta(json!({"content": "SELECT "}), Value::Null),
            delta(json!({"content": "1"}), Value::Null),
            delta(call("{\"a\""), Value::Null),
            delta(call(": 1}"), json!("length")),
            json!({"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2}}),
        ];
        let answer = answer(&join_events(&events, false).unwrap(), "m").unwrap();
        assert_eq!((answer.text.as_str(), answer.thinking.as_str()), ("SELECT 1", "hm"));
        assert_eq!(
            (answer.stopped, answer.tool_calls),
            (Stopped::Length, vec!["{\"a\": 1}".to_owned()])
        );
        assert_eq!(
            answer.usage.map(|usage| (usage.input_tokens, usage.model)),
            Some((5, "m-1".into()))
        );
        let usage = json!({"prompt_tokens": 7, "completion_tokens": 2});
        let groq = json!({"choices": [], "x_groq": {"usage": usage}});
        let events_of_groq = [&events[..6], &[groq][..]].concat();
        let usage =
            super::answer(&join_events(&events_of_groq, false).unwrap(), "m").unwrap().usage;
        assert_eq!(usage.map(|usage| usage.input_tokens), Some(7));
        assert_eq!(join_events(&events[..4], false), None, "it broke off");
        assert!(join_events(&events[..4], true).is_some());
        assert_eq!(join_events(&[], true), None);
    }

    #[test]
    fn a_reason_by_which_a_reply_is_not_whole_counts_for_more() {
        for (choice, stopped) in [
            (json!({"finish_reason": "stop", "native_finish_reason": "STOP"}), Stopped::Complete),
            (
                json!({"finish_reason": "stop", "native_finish_reason": "MAX_TOKENS"}),
                Stopped::Length,
            ),
            (json!({"finish_reason": null, "native_finish_reason": "length"}), Stopped::Length),
            (json!({"finish_details": {"type": "max_tokens"}}), Stopped::Length),
            (json!({"finish_reason": "timeout"}), Stopped::Broken("timeout".to_owned())),
            (json!({"finish_reason": "cancelled"}), Stopped::Broken("cancelled".to_owned())),
            (json!({"finish_reason": 3}), Stopped::Complete),
        ] {
            let mut choice = choice;
            choice["delta"] = json!({"content": "SELECT 1"});
            let streamed = join_events(&[json!({"choices": [choice]})], true).unwrap();
            assert_eq!(answer(&streamed, "m").unwrap().stopped, stopped, "{choice}");
            choice["message"] = choice["delta"].take();
            let whole = json!({"choices": [choice]});
            assert_eq!(answer(&whole, "m").unwrap().stopped, stopped, "{choice}");
        }
    }

    #[test]
    fn tokens_of_the_endpoints_own_cache_are_read() {
        fn read(usage: Value) -> u32 {
            let body = json!({"choices": [{"message": {"content": "x"}}], "usage": usage});
            answer(&body, "m").unwrap().usage.unwrap().cached_tokens
        }
        fn details(cached: u32) -> Value {
            json!({"cached_tokens": cached})
        }
        assert_eq!(
            read(json!({
                "prompt_tokens": 10, "completion_tokens": 1, "prompt_tokens_details": details(9)
            })),
            9
        );
        assert_eq!(
            read(json!({
                "prompt_tokens": 10, "completion_tokens": 1, "prompt_tokens_details": details(99)
            })),
            10
        );
        assert_eq!(
            read(
                json!({"prompt_tokens": 10, "completion_tokens": 1, "prompt_cache_hit_tokens": 4})
            ),
            4
        );
        assert_eq!(read(json!({"prompt_tokens": 10, "completion_tokens": 1})), 0);
    }

    #[test]
    fn texts_come_in_several_forms() {
        fn read(message: Value) -> Answer {
            answer(&json!({"choices": [{"message": message, "finish_reason": "stop"}]}), "m")
                .unwrap()
        }
        assert_eq!(
            read(json!({
                "content": [{"type": "text", "text": "a"}, {"type": "image"}, {"text": "b"}]
            }))
            .text,
            "ab"
        );
        let parts = json!([
            {"type": "reasoning", "text": "SELECT 0"}, {"type": "text", "text": "a"},
            {"type": "thinking", "thinking": []}
        ]);
        assert_eq!(read(json!({"content": parts})).text, "a");
        let thought = json!([{"type": "text", "text": "SELECT 0"}]);
        let parts = json!([{"type": "thinking", "thinking": thought}, "SELECT ", "1"]);
        let apart = read(json!({"content": parts, "reasoning_content": ""}));
        assert_eq!((apart.text.as_str(), apart.thinking.as_str()), ("SELECT 1", "SELECT 0"));
        for (content, text) in [
            (json!({"type": "text", "text": "a"}), "a"),
            (json!([{"type": "text", "text": {"value": "a", "annotations": []}}]), "a"),
            (json!({"sql": "SELECT 1"}), "{\"sql\":\"SELECT 1\"}"),
            (json!(3), "3"),
            (json!({"type": "image_url"}), "{\"type\":\"image_url\"}"),
            (json!([{"type": "image_url"}, null, 3]), ""),
        ] {
            assert_eq!(read(json!({ "content": content })).text, text, "{content}");
        }
        assert_eq!(read(json!({"reasoning_content": "", "reasoning": "b"})).thinking, "b");
        assert_eq!(read(json!({"content": null, "reasoning": "b"})).thinking, "b");
        let both = json!({"content": "", "reasoning_content": "", "reasoning": "b"});
        assert_eq!(read(both).thinking, "b");
        let details = json!([{"type": "reasoning.text", "text": "b"}, {"data": "x"}]);
        assert_eq!(read(json!({"content": null, "reasoning_details": details})).thinking, "b");
        let tools =
            read(json!({"content": null, "reasoning_content": "hm", "tool_calls": [{"id": "1"}]}));
        assert_eq!((tools.text.as_str(), tools.tool_calls), ("", vec![String::new()]));
        fn call(message: Value) -> Vec<String> {
            read(message).tool_calls
        }
        let function = json!({"name": "run", "arguments": "{\"sql\": \"SELECT 1\"}"});
        assert_eq!(
            call(json!({"content": null, "tool_calls": [{"function": function}]})),
            ["{\"sql\": \"SELECT 1\"}"]
        );
        assert_eq!(
            call(json!({"content": null, "function_call": function})),
            ["{\"sql\": \"SELECT 1\"}"]
        );
        let object = json!({
            "tool_calls": [{"function": {"arguments": {"q": 1}}}, {"custom": {"input": "SELECT 1"}}]
        });
        assert_eq!(call(object), ["{\"q\":1}", "SELECT 1"]);
        assert_eq!(
            call(json!({"content": "x", "tool_calls": null, "function_call": null})),
            [""; 0]
        );
        assert_eq!(answer(&json!({"choices": []}), "m"), None);
        assert_eq!(answer(&json!({"choices": [{"message": null}]}), "m"), None);
    }
}
