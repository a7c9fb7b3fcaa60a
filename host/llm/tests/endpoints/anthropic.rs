//! The Anthropic provider against an endpoint that speaks the documented protocol, well and badly.

use std::ops::RangeInclusive;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use syrch_core::ports::{LlmError, Message, ModelOutcome, ModelProvider, Retry, Shape, Speaker};
use syrch_kit::{MockEndpoint, Recorded, Reply, Script, Usage};
use syrch_llm::{ANTHROPIC_BASE_URL, AnthropicProvider, EndpointConfig};

use crate::{KEY, SCHEMA, call, plainly, unavailable};

fn config(endpoint: &MockEndpoint) -> EndpointConfig {
    EndpointConfig {
        timeout: Duration::from_secs(20),
        ..EndpointConfig::new(endpoint.url(), "small")
    }
}

async fn ask(endpoint: &MockEndpoint, expect: Shape) -> ModelOutcome {
    AnthropicProvider::new(config(endpoint)).unwrap().complete(&call("q", expect)).await
}

#[tokio::test]
async fn what_is_configured_and_asked_reaches_the_wire() {
    let endpoint =
        MockEndpoint::start(Script::always(Reply::sql("SELECT 1", 0.9)).requires_key(KEY));
    let provider = AnthropicProvider::new(EndpointConfig {
        api_key: Some(KEY.to_owned().into()),
        temperature: Some(1.5),
        models: vec!["large".into()],
        max_tokens: 100,
        ..config(&endpoint)
    })
    .unwrap();
    assert_eq!(
        (provider.name(), provider.models()),
        ("anthropic", vec!["small".to_owned(), "large".to_owned()])
    );
    let mut call = call("count it", Shape::Sql);
    call.request.messages.insert(0, Message { speaker: Speaker::System, text: "rules".into() });
    call.request.model = Some("large".into());
    call.request.stop = vec!["END".into()];
    call.request.logprobs = true;
    call.request.sample = 2;
    let preview = provider.preview(&call).unwrap();
    let outcome = provider.complete(&call).await;
    let reply = outcome.result.unwrap();
    assert_eq!(reply.parsed.as_deref(), Some("{\"sql\":\"SELECT 1\",\"confidence\":0.9}"));
    assert_eq!((reply.logprob, reply.truncated, outcome.retry), (None, false, Retry::No));
    let usage = outcome.usage.unwrap();
    assert_eq!((usage.model.as_str(), usage.input_tokens, usage.cost_micros), ("large", 4, None));
    let request = &endpoint.requests()[0];
    let header = |name: &str| request.headers.get(name).map(String::as_str);
    assert_eq!((request.path.as_str(), request.authorization()), ("/v1/messages", None));
    assert_eq!((header("x-api-key"), header("anthropic-version")), (Some(KEY), Some("2023-06-01")));
    let expected = json!({
        "model": "large", "max_tokens": 100, "system": "rules",
        "messages": [{"role": "user", "content": "count it"}],
        "temperature": 1.0, "stop_sequences": ["END"]
    });
    assert_eq!((&request.body, &preview.body), (&expected, &expected));
    assert!(preview.url.ends_with("/v1/messages") && !format!("{preview:?}").contains("sesame"));
}

#[tokio::test]
async fn the_base_may_end_before_the_version_and_a_key_is_not_needed() {
    let endpoint = MockEndpoint::start(Script::always(Reply::text("hello")));
    let base = endpoint.url();
    for base in [base.as_str(), base.trim_end_matches("/v1"), &format!("{base}/")] {
        let provider = AnthropicProvider::new(EndpointConfig::new(base, "m")).unwrap();
        assert_eq!(provider.complete(&call("q", Shape::Text)).await.result.unwrap().text, "hello");
    }
    assert!(endpoint.requests().iter().all(|request| !request.headers.contains_key("x-api-key")));
    let provider = AnthropicProvider::new(EndpointConfig::new(ANTHROPIC_BASE_URL, "m"));
    // A machine without any CA certificate cannot speak HTTPS, and the error says so.
    if let Ok(provider) = provider {
        let identity = provider.identity(&call("q", Shape::Text));
        assert!(identity.is_some_and(|identity| {
            identity.starts_with("anthropic https://api.anthropic.com m ")
        }));
    }
}

#[tokio::test]
async fn a_prompt_of_any_order_is_one_that_the_protocol_takes() {
    let endpoint = MockEndpoint::start(Script::always(Reply::text("x")));
    let provider = AnthropicProvider::new(config(&endpoint)).unwrap();
    use Speaker::{Assistant, System, User};
    for speakers in [
        vec![System],
        vec![Assistant],
        vec![User, User, Assistant, Assistant],
        vec![System, Assistant, User, System],
    ] {
        let mut call = call("q", Shape::Text);
        call.request.messages = speakers
            .iter()
            .map(|speaker| Message { speaker: *speaker, text: format!("{speaker:?} ") })
            .collect();
        call.request.stop = vec![" ".into()];
        let outcome = provider.complete(&call).await;
        assert!(outcome.result.is_ok(), "{speakers:?}: {outcome:?}");
    }
}

#[tokio::test]
async fn a_document_is_asked_for_in_words_and_checked() {
    let endpoint = MockEndpoint::start(
        Script::new()
            .once([""], Reply::text("```json\n{\"n\": 7}\n```"))
            .on([""], Reply::text("{}")),
    );
    let outcome = ask(&endpoint, Shape::Json(SCHEMA.into())).await;
    assert_eq!(outcome.result.unwrap().parsed.as_deref(), Some("{\"n\":7}"));
    assert!(endpoint.requests()[0].prompt().ends_with(SCHEMA));
    let outcome = ask(&endpoint, Shape::Json(SCHEMA.into())).await;
    assert_eq!((outcome.result, outcome.retry), (Err(LlmError::Malformed("{}".into())), Retry::No));
}

#[tokio::test]
async fn refused_parameters_are_left_out_from_then_on() {
    let endpoint = MockEndpoint::start(
        Script::new().with(|request: &Recorded, _| {
        let text = "`temperature` and `top_p` cannot both be specified for this model. Please \
                    use only one.";
        (request.body.get("temperature").is_some() && request.body.get("top_p").is_some())
            .then(|| Reply::status(400, text))
    }).on([""], Reply::text("x")).refuses("stop_sequences"),
    );
    let provider = AnthropicProvider::new(config(&endpoint)).unwrap();
    let mut call = call("q", Shape::Text);
    (call.request.temperature, call.request.top_p, call.request.stop) =
        (Some(0.5), Some(0.5), vec!["END".into()]);
    for expected in [Retry::After(Duration::ZERO), Retry::After(Duration::ZERO), Retry::No] {
        assert_eq!(provider.complete(&call).await.retry, expected);
    }
    let keys: Vec<String> =
        endpoint.requests()[2].body.as_object().unwrap().keys().cloned().collect();
    assert_eq!(keys, ["model", "max_tokens", "messages", "temperature"]);
    assert!(plainly(&provider, Shape::Text).await.result.is_ok());
    assert_eq!(endpoint.count(), 4);
}

#[tokio::test]
async fn errors_say_what_to_check_and_when_to_come_back() {
    let soon = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(50));
    fn slow() -> Reply {
        Reply::status(429, "This request would exceed your organization's rate limit.")
    }
    fn is_after(retry: Retry, seconds: RangeInclusive<u64>) -> bool {
        match retry {
            Retry::After(delay) => seconds.contains(&delay.as_secs()),
            _ => false,
        }
    }
    for (reply, words) in [
        (slow().header("retry-after", "7"), "rate limit"),
        (slow().header("retry-after", "900").header("retry-after-ms", "7000"), "rate limit"),
        (Reply::status(529, "Overloaded").header("retry-after", "7"), "overloaded"),
    ] {
        let outcome = ask(&MockEndpoint::start(Script::always(reply)), Shape::Text).await;
        assert!(
            is_after(outcome.retry, 7..=7) && unavailable(&outcome).contains(words),
            "{outcome:?}"
        );
    }
    let outcome =
        ask(&MockEndpoint::start(Script::always(slow().header("retry-after", &soon))), Shape::Text)
            .await;
    assert!(is_after(outcome.retry, 20..=50), "{outcome:?}");
    for (status, words, retry) in [
        (400, "it does not take the request; it says: no", Retry::No),
        (401, "an API key, and none is set", Retry::No),
        (404, "check the model `small`", Retry::No),
        (500, "the endpoint failed", Retry::Yes),
        (
            529,
            "answered 529: the endpoint is overloaded; try again later, or raise \
             SYRCH_ATTEMPTS; it says: no",
            Retry::Yes,
        ),
    ] {
        let endpoint = MockEndpoint::start(Script::always(
            Reply::status(status, "no").header("retry-after", "later"),
        ));
        let outcome = ask(&endpoint, Shape::Text).await;
        assert!(
            unavailable(&outcome).contains(words) && outcome.retry == retry && outcome.sent,
            "{outcome:?}"
        );
        let usage = outcome.usage.unwrap();
        assert_eq!((usage.input_tokens, usage.output_tokens, usage.cost_micros), (0, 0, Some(0)));
        assert_eq!(endpoint.count(), 1);
    }
}

#[tokio::test]
async fn broken_exchanges_are_outages_that_were_sent() {
    for (reply, words, retry) in [
        (Reply::garbage(), "is no JSON", Retry::No),
        (Reply::half_json(), "is no JSON", Retry::Yes),
        (Reply::cut_stream(), "broke off", Retry::Yes),
        (Reply::hang(), "within 0.3 s", Retry::Shorter),
        (Reply::raw(200, "{\"choices\":[]}"), "a message of the Messages API", Retry::No),
    ] {
        let endpoint = MockEndpoint::start(Script::always(reply.clone()));
        let timeout = if words.contains("0.3") {
            Duration::from_millis(300)
        } else {
            Duration::from_secs(20)
        };
        let provider =
            AnthropicProvider::new(EndpointConfig { timeout, ..config(&endpoint) }).unwrap();
        let outcome = provider.complete(&call("q", Shape::Sql)).await;
        assert!(unavailable(&outcome).contains(words), "{outcome:?}");
        assert!(outcome.sent && outcome.usage.is_none() && outcome.retry == retry, "{outcome:?}");
    }
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
        (Reply::text(""), LlmError::Malformed("(empty)".into())),
        (Reply::refusal("I must not"), LlmError::Refused("I must not".into())),
        (
            Reply::tool_call("run_sql"),
            LlmError::Malformed("(no text: the model called a tool, and none was offered)".into()),
        ),
    ] {
        let endpoint = MockEndpoint::start(Script::always(reply.usage(Usage::Tokens(11, 5))));
        let outcome = ask(&endpoint, Shape::Sql).await;
        assert_eq!((outcome.result, outcome.retry), (Err(expected), Retry::No));
        assert_eq!(
            outcome.usage.map(|usage| (usage.input_tokens, usage.output_tokens)),
            Some((11, 5))
        );
    }
    let endpoint = MockEndpoint::start(Script::always(Reply::text("half an ans").finish("length")));
    assert!(ask(&endpoint, Shape::Text).await.result.unwrap().truncated);
    for lie in [Usage::Missing, Usage::Zero, Usage::Negative, Usage::Words] {
        let endpoint =
            MockEndpoint::start(Script::always(Reply::sql("SELECT 1", 0.5).usage(lie.clone())));
        let usage = ask(&endpoint, Shape::Sql).await.usage.unwrap();
        assert!(usage.is_estimate && usage.output_tokens > 0, "{lie:?}");
    }
}

#[tokio::test]
async fn no_key_is_shown_and_none_is_sent_elsewhere() {
    let wrong = MockEndpoint::start(Script::always(Reply::text("x")).requires_key("another"));
    let other = MockEndpoint::start(Script::always(Reply::text("x")));
    let moved = MockEndpoint::start(Script::always(Reply::redirect(
        307,
        &format!("{}/messages", other.url()),
    )));
    for (endpoint, words) in [(&wrong, "check the API key"), (&moved, "redirects")] {
        let config = EndpointConfig { api_key: Some(KEY.to_owned().into()), ..config(endpoint) };
        let provider = AnthropicProvider::new(config).unwrap();
        let outcome = provider.complete(&call("q", Shape::Text)).await;
        let text = unavailable(&outcome);
        assert!(text.contains(words), "{text}");
        assert!(
            !text.contains("sesame") && !format!("{provider:?}").contains("sesame"),
            "{text} {provider:?}"
        );
    }
    assert_eq!(other.count(), 0);
}
