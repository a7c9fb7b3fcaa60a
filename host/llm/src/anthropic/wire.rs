//! The bodies of the Messages API: writing that of a request and reading that of a reply.

use serde_json::{Map, Value, json};
use syrch_core::ports::{Message, Request, Shape, Speaker, Usage};

use crate::http::values::{self, count, decimal, schema_in_words};
use crate::http::{Answer, Settings, Stopped};

/// The first message of a prompt that does not begin with the user, which the protocol requires.
const OPENING: &str = "Begin.";

/// The body of one request.
pub(super) fn body(request: &Request, settings: &Settings<'_>) -> Value {
    let (system, turns) = turns(request);
    let mut body = Map::new();
    body.insert("model".into(), settings.model.into());
    body.insert("max_tokens".into(), settings.max_tokens.into());
    if !system.is_empty() {
        body.insert("system".into(), system.into());
    }
    body.insert(
        "messages".into(),
        turns.iter().map(|(role, text)| json!({"role": role, "content": text})).collect(),
    );
    let mut optional = |name: &'static str, value: Option<Value>| {
        if let Some(value) = value.filter(|_| !settings.quirks.dropped.contains(name)) {
            body.insert(name.into(), value);
        }
    };
    // Only one of the two may be set: a `top_p` of the request replaces the configured temperature.
    let usual = settings.temperature.filter(|_| request.top_p.is_none());
    optional("temperature", request.temperature.or(usual).and_then(|value| decimal(value, 1.0)));
    optional("top_p", request.top_p.and_then(|value| decimal(value, 1.0)));
    // The API refuses stop sequences of blanks only.
    let stops: Vec<&String> = request.stop.iter().filter(|stop| !stop.trim().is_empty()).collect();
    optional("stop_sequences", (!stops.is_empty()).then(|| json!(stops)));
    Value::Object(body)
}

/// The system prompt, and the turns as role and text: the user first, no two of one role in a row,
/// none empty.
fn turns(request: &Request) -> (String, Vec<(&'static str, String)>) {
    let said = |speaker: Speaker| {
        request
            .messages
            .iter()
            .filter(move |message: &&Message| {
                message.speaker == speaker && !message.text.trim().is_empty()
            })
            .map(|message| message.text.as_str())
    };
    let mut system = said(Speaker::System).collect::<Vec<_>>().join("\n\n");
    let mut turns: Vec<(&'static str, String)> = Vec::new();
    for message in request.messages.iter().filter(|message: &&Message| {
        message.speaker != Speaker::System && !message.text.trim().is_empty()
    }) {
        let role = if message.speaker == Speaker::User { "user" } else { "assistant" };
        match turns.last_mut() {
            Some((last, text)) if *last == role => *text = format!("{text}\n\n{}", message.text),
            _ => turns.push((role, message.text.clone())),
        }
    }
    if turns.is_empty() && !system.is_empty() {
        turns.push(("user", std::mem::take(&mut system)));
    } else if turns.first().is_none_or(|(role, _)| *role == "assistant") {
        turns.insert(0, ("user", OPENING.to_owned()));
    }
    if let (Shape::Json(schema), Some((_, text))) =
        (&request.expect, turns.iter_mut().rev().find(|(role, _)| *role == "user"))
    {
        text.push_str(&schema_in_words(schema));
    }
    // The beginning of a reply, which the model continues, must not end with blanks.
    if let Some(("assistant", text)) = turns.last_mut().map(|(role, text)| (*role, text)) {
        text.truncate(text.trim_end().len());
    }
    (system, turns)
}

/// Reads a body; `None` if it is no message. `model` is the name of the model if the body has none.
pub(super) fn answer(body: &Value, model: &str) -> Option<Answer> {
    let blocks = body.get("content")?.as_array().filter(|_| body["type"] == "message")?;
    let kind = |block: &Value, kind: &str| block["type"] == kind;
    let text: String = blocks
        .iter()
        .filter(|block| kind(block, "text"))
        .filter_map(|block| block.get("text")?.as_str())
        .collect();
    let stopped = match body["stop_reason"].as_str() {
        Some("refusal") if text.trim().is_empty() => {
            Stopped::Refused("the model would not answer".to_owned())
        }
        Some("refusal") => Stopped::Refused(text.clone()),
        // Only tools of the server pause a turn, and none are offered.
        Some("pause_turn") => Stopped::Length,
        reason => values::read_end(reason),
    };
    let calls = blocks.iter().filter(|block| kind(block, "tool_use"));
    let tool_calls =
        calls.map(|block| block.get("input").map(values::text).unwrap_or_default()).collect();
    let thought =
        blocks.iter().any(|block| kind(block, "thinking") || kind(block, "redacted_thinking"));
    Some(Answer {
        text,
        thought,
        stopped,
        tool_calls,
        usage: usage(body, model),
        ..Answer::default()
    })
}

/// The body that the events of a stream add up to; `None` if they lack its beginning or its end.
pub(super) fn join_events(events: &[Value]) -> Option<Value> {
    let mut body =
        events.iter().find(|event| event["type"] == "message_start")?.get("message")?.clone();
    fn join_deltas(events: &[Value], kind: &str, field: &str) -> String {
        let deltas = events
            .iter()
            .filter_map(|event| event.get("delta"))
            .filter(|delta| delta["type"] == kind);
        deltas.filter_map(|delta| delta.get(field)?.as_str()).collect()
    }
    let mut blocks =
        vec![json!({"type": "text", "text": join_deltas(events, "text_delta", "text")})];
    if !join_deltas(events, "thinking_delta", "thinking").is_empty() {
        blocks.push(json!({"type": "thinking"}));
    }
    let input = join_deltas(events, "input_json_delta", "partial_json");
    if !input.is_empty() {
        blocks.push(json!({"type": "tool_use", "input": input}));
    }
    let ends: Vec<&Value> =
        events.iter().filter(|event| event["type"] == "message_delta").collect();
    ends.last()?;
    body["content"] = blocks.into();
    for end in ends {
        if let Some(reason) = end.pointer("/delta/stop_reason").filter(|it| !it.is_null()) {
            body["stop_reason"] = reason.clone();
        }
        if let Some(tokens) = end.pointer("/usage/output_tokens") {
            body["usage"]["output_tokens"] = tokens.clone();
        }
    }
    Some(body)
}

/// The tokens of a prompt are reported in three parts: new ones, and those read from and written to
/// a prompt cache.
fn usage(body: &Value, model: &str) -> Option<Usage> {
    let usage = body.get("usage")?;
    fn read_tokens(usage: &Value, name: &str) -> Option<u32> {
        usage.get(name).and_then(count)
    }
    let cached = ["cache_creation_input_tokens", "cache_read_input_tokens"]
        .into_iter()
        .filter_map(|name| read_tokens(usage, name));
    let input =
        read_tokens(usage, "input_tokens").map(|input| cached.fold(input, u32::saturating_add));
    let read = values::usage(body, input, read_tokens(usage, "output_tokens"), model)?;
    let cached_tokens =
        read_tokens(usage, "cache_read_input_tokens").unwrap_or(0).min(read.input_tokens);
    Some(Usage { cached_tokens, ..read })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use syrch_core::ports::Purpose;

    use super::*;
    use crate::http::Quirks;

    fn request(messages: &[(Speaker, &str)], expect: Shape) -> Request {
        Request {
            purpose: Purpose::Generate,
            messages: messages
                .iter()
                .map(|(speaker, text): &(Speaker, &str)| Message {
                    speaker: *speaker,
                    text: (*text).into(),
                })
                .collect(),
            expect,
            model: None,
            subjects: vec!["SELECT secret".into()],
            temperature: Some(1.7),
            top_p: None,
            max_tokens: None,
            stop: vec!["END".into(), "\n".into()],
            logprobs: true,
            sample: 3,
            seed: 0,
        }
    }

    fn body_of(request: &Request) -> Value {
        let quirks = Quirks::default();
        body(
            request,
            &Settings { model: "m", temperature: Some(0.5), max_tokens: 100, quirks: &quirks },
        )
    }

    #[test]
    fn a_body_holds_what_the_protocol_knows_and_no_more() {
        let messages = [
            (Speaker::System, "rules"),
            (Speaker::User, "a"),
            (Speaker::User, "b"),
            (Speaker::Assistant, " "),
            (Speaker::System, "more rules"),
            (Speaker::Assistant, "SELECT "),
        ];
        let expected = json!({
            "model": "m", "max_tokens": 100, "system": "rules\n\nmore rules",
            "messages": [
                {"role": "user", "content": "a\n\nb"}, {"role": "assistant", "content": "SELECT"}
            ],
            "temperature": 1.0, "stop_sequences": ["END"]
        });
        assert_eq!(body_of(&request(&messages, Shape::Sql)), expected);
    }

    #[test]
    fn the_user_begins() {
        fn begins(messages: &[(Speaker, &str)]) -> (Value, Option<Value>) {
            let body = body_of(&request(messages, Shape::Text));
            (body["messages"][0].clone(), body.get("system").cloned())
        }
        fn user(text: &str) -> Value {
            json!({"role": "user", "content": text})
        }
        assert_eq!(begins(&[(Speaker::System, "count it")]), (user("count it"), None));
        assert_eq!(
            begins(&[(Speaker::System, "s"), (Speaker::Assistant, "a")]),
            (user(OPENING), Some(json!("s")))
        );
    }

    #[test]
    fn a_schema_is_asked_for_in_words() {
        let messages = [(Speaker::User, "q"), (Speaker::Assistant, "{")];
        let body = body_of(&request(&messages, Shape::Json("{\"type\":\"object\"}".into())));
        let asked = body["messages"][0]["content"].as_str().unwrap();
        assert!(
            asked.starts_with("q\n\nReply with one JSON document")
                && asked.ends_with("{\"type\":\"object\"}")
        );
        assert_eq!(body["messages"][1]["content"], "{");
    }

    #[test]
    fn one_of_temperature_and_top_p_is_sent_and_neither_when_refused() {
        let mut request = request(&[(Speaker::User, "q")], Shape::Text);
        (request.temperature, request.top_p) = (None, Some(0.9));
        let body = body_of(&request);
        assert_eq!((body.get("temperature"), &body["top_p"]), (None, &json!(0.9)));
        request.top_p = None;
        assert_eq!(body_of(&request)["temperature"], json!(0.5));
        let quirks =
            Quirks { dropped: ["temperature", "stop_sequences"].into(), ..Quirks::default() };
        let settings =
            Settings { model: "m", temperature: Some(0.5), max_tokens: 9, quirks: &quirks };
        let keys: Vec<String> =
            super::body(&request, &settings).as_object().unwrap().keys().cloned().collect();
        assert_eq!(keys, ["model", "max_tokens", "messages"]);
    }

    #[test]
    fn replies_are_read_by_their_blocks_and_their_end() {
        fn read(content: Value, reason: &str) -> Answer {
            answer(&json!({"type": "message", "content": content, "stop_reason": reason}), "m")
                .unwrap()
        }
        let blocks = json!([
            {"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "a"},
            {"type": "text", "text": "b"}
        ]);
        assert_eq!(
            read(blocks, "end_turn"),
            Answer { text: "ab".into(), thought: true, ..Answer::default() }
        );
        let text = json!([{"type": "text", "text": "a"}]);
        assert_eq!(read(text.clone(), "stop_sequence").stopped, Stopped::Complete);
        assert_eq!(read(text.clone(), "max_tokens").stopped, Stopped::Length);
        assert_eq!(read(text.clone(), "pause_turn").stopped, Stopped::Length);
        let reason = "model_context_window_exceeded";
        assert_eq!(read(text.clone(), reason).stopped, Stopped::Context);
        assert_eq!(read(text, "refusal").stopped, Stopped::Refused("a".into()));
        assert!(matches!(
            read(json!([]), "refusal").stopped, Stopped::Refused(why) if why.contains("would not")
        ));
        let call = json!([
            {"type": "tool_use", "name": "t", "input": {"sql": "SELECT 1"}}, {"type": "tool_use"}
        ]);
        assert_eq!(read(call, "tool_use").tool_calls, ["{\"sql\":\"SELECT 1\"}", ""]);
        assert_eq!(answer(&json!({"type": "error", "error": {"message": "no"}}), "m"), None);
        assert_eq!(answer(&json!({"choices": []}), "m"), None);
    }

    #[test]
    fn a_stream_adds_up_to_a_message() {
        let text = |text: &str| {
            json!({
                "type": "content_block_delta", "delta": {"type": "text_delta", "text": text}
            })
        };
        let usage = json!({"input_tokens": 5, "output_tokens": 1});
        let events = [
            json!({
                "type": "message_start", "message": {
                    "type": "message", "model": "m-1", "content": [], "usage": usage
                }
            }),
            text("SELECT "),
            text("1"),
            json!({
                "type": "message_delta", "delta": {"stop_reason": "max_tokens"},
                "usage": {"output_tokens": 7}
            }),
            json!({"type": "message_stop"}),
        ];
        let answer = answer(&join_events(&events).unwrap(), "m").unwrap();
        assert_eq!((answer.text.as_str(), answer.stopped), ("SELECT 1", Stopped::Length));
        assert_eq!(
            answer.usage.map(|usage| (usage.input_tokens, usage.output_tokens)),
            Some((5, 7))
        );
        assert_eq!((join_events(&events[..3]), join_events(&events[1..])), (None, None));
        // Only the tokens come again behind the reason.
        let again = json!({"type": "message_delta", "delta": {}, "usage": {"output_tokens": 9}});
        let answer =
            super::answer(&join_events(&[&events[..], &[again][..]].concat()).unwrap(), "m");
        let answer = answer.unwrap();
        assert_eq!(answer.stopped, Stopped::Length);
        assert_eq!(answer.usage.map(|usage| usage.output_tokens), Some(9));
    }

    #[test]
    fn the_parts_of_a_prompt_are_counted_together() {
        fn read(usage: Value) -> Option<(u32, u32, String)> {
            let body = json!({"type": "message", "content": [], "model": "m-1", "usage": usage});
            answer(&body, "m")
                .unwrap()
                .usage
                .map(|usage| (usage.input_tokens, usage.output_tokens, usage.model))
        }
        let parts = json!({
            "input_tokens": 5, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 300,
            "output_tokens": 7
        });
        assert_eq!(read(parts), Some((325, 7, "m-1".into())));
        assert_eq!(
            read(json!({"input_tokens": 5, "cache_read_input_tokens": null, "output_tokens": 7})),
            Some((5, 7, "m-1".into()))
        );
        assert_eq!(read(json!({"input_tokens": 0, "output_tokens": 0})), None);
    }

    proptest! {
        #[test]
        fn turns_alternate_begin_with_the_user_and_say_something(
            messages in prop::collection::vec((0..3_usize, "[ a-c\n]{0,6}"), 1..12)
        ) {
            let speakers = [Speaker::System, Speaker::User, Speaker::Assistant];
            let messages: Vec<(Speaker, &str)> =
                messages.iter().map(|(at, text)| (speakers[*at], text.as_str())).collect();
            let (_, turns) = turns(&request(&messages, Shape::Text));
            prop_assert_eq!(turns[0].0, "user");
            prop_assert!(turns.windows(2).all(|pair| pair[0].0 != pair[1].0));
            prop_assert!(turns.iter().all(|(_, text)| !text.trim().is_empty()));
        }
    }
}
