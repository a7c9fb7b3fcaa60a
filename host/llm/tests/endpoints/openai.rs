//! The OpenAI provider against an endpoint that speaks the documented protocol, well and badly.

use std::time::Duration;

use serde_json::{Value, json};
use syrch_core::Limits;
use syrch_core::ports::{LlmError, Message, ModelOutcome, ModelProvider, Retry, Shape, Speaker};
use syrch_kit::{MockEndpoint, Reply, Script, Usage};
use syrch_llm::{OpenAiConfig, OpenAiProvider};

use crate::{KEY, SCHEMA, call, plainly, unavailable};

fn config(endpoint: &MockEndpoint) -> OpenAiConfig {
    OpenAiConfig { timeout: Duration::from_secs(20), ..OpenAiConfig::new(endpoint.url(), "small") }
}

async fn ask(endpoint: &MockEndpoint, expect: Shape) -> ModelOutcome {
    OpenAiProvider::new(config(endpoint)).unwrap().complete(&call("q", expect)).await
}

#[tokio::test]
async fn what_is_configured_and_asked_reaches_the_wire() {
    let endpoint = MockEndpoint::start(
        Script::always(Reply::sql("SELECT 1", 0.9).logprobs([-0.5, -0.25])).requires_key(KEY),
    );
    let mut config = config(&endpoint);
    config.api_key = Some(KEY.to_owned().into());
    config.temperature = Some(0.7);
    config.models = vec!["large".into()];
    config.max_tokens = 100;
    let provider = OpenAiProvider::new(config).unwrap();
    assert_eq!(
        (provider.name(), provider.models()),
        ("openai", vec!["small".to_owned(), "large".to_owned()])
    );
    let mut call = call("count it", Shape::Sql);
    call.request.messages.insert(0, Message { speaker: Speaker::System, text: "rules".into() });
    call.request.model = Some("large".into());
    call.request.top_p = Some(0.5);
    call.request.stop = vec!["END".into()];
    call.request.logprobs = true;
    call.request.sample = 2;
    let outcome = provider.complete(&call).await;
    let reply = outcome.result.unwrap();
    assert_eq!(reply.parsed.as_deref(), Some("{\"sql\":\"SELECT 1\",\"confidence\":0.9}"));
    assert_eq!((reply.logprob, reply.truncated), (Some(-0.75), false));
    assert_eq!(outcome.usage.unwrap().model, "large");
    let request = &endpoint.requests()[0];
    assert_eq!(request.authorization(), Some(format!("Bearer {KEY}").as_str()));
    let expected = json!({
        "model": "large", "messages": [
            {"role": "system", "content": "rules"}, {"role": "user", "content": "count it"}
        ],
        "max_tokens": 100, "temperature": 0.7, "top_p": 0.5, "seed": 2, "stop": ["END"],
        "logprobs": true, "stream": false
    });
    assert_eq!(request.body, expected);
}

#[tokio::test]
async fn a_keyless_endpoint_gets_no_authorization() {
    let endpoint = MockEndpoint::start(Script::always(Reply::text("hello")));
    for key in [None, Some(" ")] {
        let mut config = config(&endpoint);
        config.api_key = key.map(|key| key.to_owned().into());
        let outcome = OpenAiProvider::new(config).unwrap().complete(&call("q", Shape::Text)).await;
        assert_eq!(outcome.result.unwrap().text, "hello");
    }
    assert!(endpoint.requests().iter().all(|request| request.authorization().is_none()));
}

#[tokio::test]
async fn a_schema_is_asked_for_and_its_refusal_remembered() {
    fn reply() -> Reply {
        Reply::text("```json\n{\"n\": 7}\n```")
    }
    fn shape() -> Shape {
        Shape::Json(SCHEMA.into())
    }
    fn formats(endpoint: &MockEndpoint) -> Vec<Value> {
        endpoint
            .requests()
            .iter()
            .map(|request| request.body["response_format"]["type"].clone())
            .collect()
    }
    let endpoint = MockEndpoint::start(Script::always(reply()));
    assert_eq!(ask(&endpoint, shape()).await.result.unwrap().parsed.as_deref(), Some("{\"n\":7}"));
    assert_eq!(formats(&endpoint), [json!("json_schema")]);

    for (script, expected) in [
        (
            Script::always(reply()).without_json_schema(),
            vec![json!("json_schema"), json!("json_object"), json!("json_object")],
        ),
        (
            Script::always(reply()).without_response_format(),
            vec![json!("json_schema"), json!("json_object"), Value::Null, Value::Null],
        ),
    ] {
        let endpoint = MockEndpoint::start(script);
        let provider = OpenAiProvider::new(config(&endpoint)).unwrap();
        for _ in 0..2 {
            assert_eq!(
                plainly(&provider, shape()).await.result.unwrap().parsed.as_deref(),
                Some("{\"n\":7}")
            );
        }
        assert_eq!(formats(&endpoint), expected);
        assert!(endpoint.requests().last().unwrap().prompt().ends_with(SCHEMA));
    }
}

#[tokio::test]
async fn renamed_and_refused_parameters_are_learnt() {
    let script = Script::always(Reply::text("x"))
        .wants_completion_tokens()
        .refuses("temperature")
        .refuses("seed");
    let endpoint = MockEndpoint::start(script);
    let mut config = config(&endpoint);
    config.temperature = Some(0.7);
    let provider = OpenAiProvider::new(config).unwrap();
    for _ in 0..2 {
        assert_eq!(plainly(&provider, Shape::Text).await.result.unwrap().text, "x");
    }
    assert_eq!(endpoint.count(), 5);
    let body = &endpoint.requests()[4].body;
    assert!(
        body.get("temperature").is_none() && body["max_completion_tokens"] == json!(4_096),
        "{body}"
    );
}

#[tokio::test]
async fn a_call_is_one_request_and_a_refused_one_costs_nothing() {
    let endpoint = MockEndpoint::start(Script::always(Reply::text("x")).refuses("temperature"));
    let provider =
        OpenAiProvider::new(OpenAiConfig { temperature: Some(0.7), ..config(&endpoint) }).unwrap();
    let outcome = provider.complete(&call("q", Shape::Text)).await;
    assert!(
        unavailable(&outcome)
            .contains("does not take the request; it says: Unsupported value: 'temperature'")
    );
    assert_eq!(
        (outcome.retry, outcome.sent, endpoint.count()),
        (Retry::After(Duration::ZERO), true, 1)
    );
    let usage = outcome.usage.unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens, usage.cost_micros), (0, 0, Some(0)));
    let outcome = provider.complete(&call("q", Shape::Text)).await;
    assert_eq!(
        (outcome.result.unwrap().text.as_str(), outcome.retry, endpoint.count()),
        ("x", Retry::No, 2)
    );
}

#[tokio::test]
async fn a_schema_refused_for_itself_leaves_others_alone() {
    let endpoint = MockEndpoint::start(
        Script::new()
            .with(|request: &syrch_kit::Recorded, _| {
                let format = request.body["response_format"].to_string();
                (format.contains("json_schema") && format.contains("\"n\""))
                    .then(|| Reply::status(400, "Invalid schema for response_format 'reply'"))
            })
            .on([""], Reply::text("{\"n\": 7, \"m\": 8}")),
    );
    let provider = OpenAiProvider::new(config(&endpoint)).unwrap();
    for _ in 0..2 {
        assert!(plainly(&provider, Shape::Json(SCHEMA.into())).await.result.is_ok());
    }
    assert!(plainly(&provider, Shape::Json("{\"type\":\"object\"}".into())).await.result.is_ok());
    let formats: Vec<Value> = endpoint
        .requests()
        .iter()
        .map(|request| request.body["response_format"]["type"].clone())
        .collect();
    assert_eq!(formats, ["json_schema", "json_object", "json_object", "json_schema"]);
}

#[tokio::test]
async fn statuses_name_themselves_and_what_to_check() {
    for (status, words, retry) in [
        (401, "an API key, and none is set", Retry::No),
        (404, "check the model `small` and the base URL", Retry::No),
        (429, "rate limit", Retry::Yes),
        (500, "the endpoint failed", Retry::Yes),
        (302, "redirects", Retry::No),
    ] {
        let endpoint = MockEndpoint::start(Script::always(Reply::status(
            status,
            &format!("because {}", "x".repeat(900)),
        )));
        let outcome = ask(&endpoint, Shape::Text).await;
        let text = unavailable(&outcome);
        assert!(
            text.contains(&status.to_string())
                && text.contains(words)
                && text.contains("because xxx"),
            "{text}"
        );
        assert!(text.len() < 500 && outcome.sent && endpoint.count() == 1, "{text}");
        let cost = outcome
            .usage
            .as_ref()
            .map(|usage| (usage.input_tokens + usage.output_tokens, usage.cost_micros));
        assert_eq!((outcome.retry, cost), (retry, Some((0, Some(0)))), "{status}");
    }
}

#[tokio::test]
async fn a_wrong_key_is_never_shown() {
    let endpoint = MockEndpoint::start(Script::always(Reply::text("x")).requires_key("another"));
    let mut config = config(&endpoint);
    config.api_key = Some(KEY.to_owned().into());
    let provider = OpenAiProvider::new(config).unwrap();
    let outcome = provider.complete(&call("q", Shape::Text)).await;
    let text = unavailable(&outcome);
    assert!(text.contains("401") && text.contains("check the API key"), "{text}");
    assert!(
        !text.contains("sesame") && !format!("{provider:?}").contains("sesame"),
        "{text} {provider:?}"
    );
}

#[tokio::test]
async fn a_long_key_is_taken_out_of_what_is_read_and_stored() {
    let endpoint = MockEndpoint::start(Script::new().with(|request: &syrch_kit::Recorded, _| {
        Some(Reply::text(request.authorization().unwrap_or_default()))
    }));
    let mut config = config(&endpoint);
    config.api_key = Some(KEY.to_owned().into());
    let outcome = OpenAiProvider::new(config).unwrap().complete(&call("q", Shape::Text)).await;
    assert_eq!(outcome.result.unwrap().text, "Bearer ***");
}

#[tokio::test]
async fn broken_exchanges_are_outages_that_were_sent() {
    for (reply, words, retry) in [
        (Reply::garbage(), "is no JSON", Retry::No),
        (Reply::half_json(), "is no JSON", Retry::Yes),
        (Reply::cut_stream(), "broke off", Retry::Yes),
        (Reply::text("x").stream_cut_off(), "broke off", Retry::Yes),
        (Reply::raw(200, " "), "its reply is empty", Retry::Yes),
        (Reply::raw(200, "{\"choices\":[]}"), "it says", Retry::No),
        (Reply::raw(200, "{\"choices\":[{\"message\":null}]}"), "it says", Retry::No),
        (Reply::raw(200, "[]"), "check the base URL", Retry::No),
        (
            Reply::raw(200, "<html><body>502 Bad Gateway<hr>nginx</body></html>"),
            "web page, which says `502 Bad Gateway nginx`",
            Retry::Yes,
        ),
        (Reply::raw(200, "<!DOCTYPE html><p>It works"), "says `It works`", Retry::No),
    ] {
        let endpoint = MockEndpoint::start(Script::always(reply));
        let outcome = ask(&endpoint, Shape::Sql).await;
        let text = unavailable(&outcome);
        assert!(text.contains(words), "{outcome:?}");
        // The URL is doubted where nothing is of the protocol.
        let is_page = text.contains("`It works`");
        let is_foreign = is_page || text.contains("begins `<") || text.contains("`[]`");
        assert_eq!(text.contains("base URL"), is_foreign, "{text}");
        assert!(outcome.sent && outcome.usage.is_none() && outcome.retry == retry, "{outcome:?}");
    }
}

#[tokio::test]
async fn the_timeout_ends_a_hanging_call() {
    let endpoint = MockEndpoint::start(Script::always(Reply::hang()));
    let config = OpenAiConfig { timeout: Duration::from_millis(200), ..config(&endpoint) };
    let outcome = OpenAiProvider::new(config).unwrap().complete(&call("q", Shape::Text)).await;
    assert!(unavailable(&outcome).contains("within 0.2 s"), "{outcome:?}");
    assert!(outcome.sent && outcome.usage.is_none() && outcome.retry == Retry::Shorter);
}

#[tokio::test]
async fn an_endpoint_that_is_down_was_sent_nothing() {
    let base = MockEndpoint::start(Script::new()).url();
    let provider = OpenAiProvider::new(OpenAiConfig::new(base.clone(), "small")).unwrap();
    let outcome = provider.complete(&call("q", Shape::Text)).await;
    let text = unavailable(&outcome);
    assert!(text.contains(&base) && text.contains("is the server running"), "{text}");
    assert!(!outcome.sent && outcome.retry == Retry::Yes);
}

#[tokio::test]
async fn replies_over_the_limit_are_cut_off() {
    let endpoint = MockEndpoint::start(Script::always(Reply::flood(64 << 20)));
    fn is_too_long(outcome: &ModelOutcome) -> bool {
        match &outcome.result {
            Err(LlmError::Malformed(why)) => why.contains("over the limit of 262144 bytes"),
            _ => false,
        }
    }
    let outcome = ask(&endpoint, Shape::Text).await;
    assert!(is_too_long(&outcome), "{outcome:?}");
    // It used what it was allowed at most.
    let usage = outcome.usage.unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens, usage.is_estimate), (1, 4_096, true));
    let endpoint = MockEndpoint::start(Script::always(Reply::text("x".repeat(300 << 10))));
    let outcome = ask(&endpoint, Shape::Text).await;
    assert!(is_too_long(&outcome) && outcome.usage.is_some(), "{outcome:?}");
    // Short in bytes, but each of its values takes memory when it is read.
    let many = format!("{{\"x\": [{}[]]}}", "[[0]],".repeat(200_000));
    let endpoint = MockEndpoint::start(Script::always(Reply::raw(200, many)));
    let outcome = ask(&endpoint, Shape::Text).await;
    assert!(is_too_long(&outcome) && endpoint.count() == 1, "{outcome:?}");
}

#[tokio::test]
async fn the_arguments_of_a_tool_stand_for_a_text_that_holds_nothing() {
    let called = Reply::tool_call_with("run_sql", &json!({"sql": "SELECT 1", "limit": 5}));
    let endpoint = MockEndpoint::start(Script::always(called));
    let reply = ask(&endpoint, Shape::Sql).await.result.unwrap();
    let parsed: Value = serde_json::from_str(&reply.parsed.unwrap()).unwrap();
    assert_eq!((&parsed["sql"], parsed.get("statements")), (&json!("SELECT 1"), None));
    let schema =
        r#"{"type":"object","required":["limit"],"properties":{"limit":{"type":"integer"}}}"#;
    let document = ask(&endpoint, Shape::Json(schema.into())).await.result.unwrap();
    assert!(document.parsed.unwrap().contains("\"limit\":5"));
    assert!(ask(&endpoint, Shape::Text).await.result.is_err());
}

#[tokio::test]
async fn the_usage_of_replies_without_an_answer_is_counted() {
    for (reply, expected) in [
        (Reply::text("I do not know."), LlmError::Malformed("I do not know.".into())),
        (Reply::text(" "), LlmError::Malformed("(empty)".into())),
        (Reply::refusal("I must not"), LlmError::Refused("I must not".into())),
        (
            Reply::tool_call("run_sql"),
            LlmError::Malformed("(no text: the model called a tool, and none was offered)".into()),
        ),
    ] {
        let endpoint = MockEndpoint::start(Script::always(reply.usage(Usage::Tokens(11, 5))));
        let outcome = ask(&endpoint, Shape::Sql).await;
        assert_eq!(outcome.result, Err(expected));
        assert_eq!(
            outcome.usage.map(|usage| (usage.input_tokens, usage.output_tokens)),
            Some((11, 5))
        );
    }
    let endpoint = MockEndpoint::start(Script::always(Reply::text("half an ans").finish("length")));
    assert!(ask(&endpoint, Shape::Text).await.result.unwrap().truncated);
}

#[tokio::test]
async fn usage_that_lies_is_estimated() {
    let many = Usage::Tokens(u32::MAX, 5);
    for lie in [Usage::Missing, Usage::Zero, Usage::Negative, Usage::Words, many] {
        let endpoint =
            MockEndpoint::start(Script::always(Reply::sql("SELECT 1", 0.5).usage(lie.clone())));
        let outcome = ask(&endpoint, Shape::Sql).await;
        let usage = outcome.usage.unwrap();
        assert_eq!((usage.model.as_str(), usage.is_estimate), ("small", true), "{lie:?}");
        assert_eq!(outcome.result.unwrap().usage, usage);
    }
}

#[tokio::test]
async fn what_must_not_be_sent_is_not() {
    let endpoint = MockEndpoint::start(Script::always(Reply::text("x")));
    let provider = OpenAiProvider::new(config(&endpoint)).unwrap();
    let mut foreign = call("q", Shape::Text);
    foreign.request.model = Some("gpt-secret".into());
    let mut silent = call("q", Shape::Text);
    silent.request.messages.clear();
    let large = call(&"x".repeat(Limits::default().prompt_bytes + 1), Shape::Text);
    let odd = call("q", Shape::Other("xml".into()));
    let endless = call("q", Shape::Json("{\"$ref\":\"#\"}".into()));
    for call in [foreign, silent, large, odd, endless] {
        let outcome = provider.complete(&call).await;
        assert!(outcome.result.is_err() && !outcome.sent, "{outcome:?}");
    }
    assert_eq!(endpoint.count(), 0);
}

#[test]
fn estimates_are_upper_bounds_by_bytes() {
    let provider = OpenAiProvider::new(OpenAiConfig::new("http://localhost:1/v1", "m")).unwrap();
    let mut call = call(&"x".repeat(300), Shape::Text);
    call.request.max_tokens = Some(50);
    assert_eq!(provider.estimate(&call).tokens(), 100 + 16 + 50);
    call.request.max_tokens = None;
    assert_eq!(provider.estimate(&call).tokens(), 100 + 16 + 4_096);
}

#[test]
fn https_endpoints_need_no_further_set_up() {
    // A machine without any CA certificate cannot speak HTTPS, and the error says so.
    match OpenAiProvider::new(OpenAiConfig::new("https://localhost:1/v1", "m")) {
        Ok(provider) => assert_eq!(provider.models(), ["m"]),
        Err(error) => assert!(matches!(error, syrch_llm::EndpointError::Client(_)), "{error}"),
    }
}
