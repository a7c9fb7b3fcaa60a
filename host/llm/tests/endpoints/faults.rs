//! Endpoints that fail as real ones do, and what becomes of it: another form of the request, a
//! reply, or an error of the right class.

use std::time::Duration;

use serde_json::{Value, json};
use syrch_core::ports::{
    LlmError, Message, ModelCall, ModelOutcome, ModelProvider, Request, Retry, Shape, Speaker,
    SqlReply,
};
use syrch_kit::{MockEndpoint, Recorded, Reply, Script, Usage};
use syrch_llm::{AnthropicProvider, EndpointConfig, OpenAiProvider, StructuredReplies};

use crate::{SCHEMA, call};

const COUNT: &str = "SELECT COUNT(*) AS n FROM orders";

fn openai(endpoint: &MockEndpoint) -> OpenAiProvider {
    OpenAiProvider::new(EndpointConfig::new(endpoint.url(), "m")).unwrap()
}

fn anthropic(endpoint: &MockEndpoint) -> AnthropicProvider {
    AnthropicProvider::new(EndpointConfig::new(endpoint.url(), "m")).unwrap()
}

/// The last outcome of a call, which is made again while the provider has another form of it.
async fn complete(provider: &dyn ModelProvider, call: &ModelCall) -> ModelOutcome {
    for _ in 0..9 {
        let outcome = provider.complete(call).await;
        if outcome.retry != Retry::After(Duration::ZERO) {
            return outcome;
        }
    }
    panic!("there is always another form");
}

async fn ask(reply: Reply, expect: Shape) -> ModelOutcome {
    complete(&openai(&MockEndpoint::start(Script::always(reply))), &call("q", expect)).await
}

fn statement(outcome: &ModelOutcome) -> Option<String> {
    let parsed = outcome.result.as_ref().ok()?.parsed.as_deref()?;
    serde_json::from_str::<SqlReply>(parsed).ok().map(|reply| reply.sql)
}

fn tokens_of(endpoint: &MockEndpoint) -> Vec<u64> {
    endpoint.requests().iter().map(|request| request.body["max_tokens"].as_u64().unwrap()).collect()
}

#[tokio::test]
async fn a_statement_that_was_cut_off_is_asked_for_once_more_and_never_used() {
    for text in [COUNT.to_owned(), format!("```sql\n{COUNT}"), format!("{{\"sql\": \"{COUNT}")] {
        let endpoint = MockEndpoint::start(Script::always(Reply::text(&text).finish("length")));
        for provider in [&openai(&endpoint) as &dyn ModelProvider, &anthropic(&endpoint)] {
            let outcome = complete(provider, &call("q", Shape::Sql)).await;
            let Err(LlmError::Cut { tokens: 4_096, begins }) = outcome.result else {
                panic!("{outcome:?}")
            };
            assert_eq!(begins, text);
        }
        assert_eq!(tokens_of(&endpoint), [512, 4_096, 512, 4_096]);
    }
    // The second try brings it whole.
    let script = Script::new()
        .once([""], Reply::text(COUNT).finish("length"))
        .on([""], Reply::sql(COUNT, 0.9));
    let endpoint = MockEndpoint::start(script);
    assert_eq!(
        statement(&complete(&openai(&endpoint), &call("q", Shape::Sql)).await).as_deref(),
        Some(COUNT)
    );
    assert_eq!(endpoint.count(), 2);
}

#[tokio::test]
async fn what_a_cut_reply_has_whole_is_used() {
    for text in [format!("```sql\n{COUNT}\n```"), format!("{COUNT};")] {
        let outcome = ask(Reply::text(text).finish("length"), Shape::Sql).await;
        assert_eq!(statement(&outcome).as_deref(), Some(COUNT));
        assert!(outcome.result.unwrap().truncated);
    }
    let cut = |text: &str, expect: Shape| ask(Reply::text(text).finish("length"), expect);
    let document = Shape::Json(SCHEMA.to_owned());
    assert!(cut("{\"n\": 1}", document.clone()).await.result.is_ok());
    assert!(matches!(cut("{\"n\": 1", document).await.result, Err(LlmError::Cut { .. })));
    let mapping = Shape::Yaml(vec!["sql".into()]);
    assert!(matches!(
        cut(&format!("sql: {COUNT}"), mapping).await.result,
        Err(LlmError::Cut { .. })
    ));
}

/// More tokens are of no use to a model that fills them as well.
#[tokio::test]
async fn a_model_whose_longest_reply_was_cut_off_is_not_asked_for_more_again() {
    let endpoint = MockEndpoint::start(Script::always(Reply::text(COUNT).finish("length")));
    let provider = openai(&endpoint);
    for prompt in ["a", "b", "c"] {
        assert!(complete(&provider, &call(prompt, Shape::Sql)).await.result.is_err());
    }
    assert_eq!(tokens_of(&endpoint), [512, 4_096, 512, 512]);
}

/// A model that rambles rambles on with more tokens.
#[tokio::test]
async fn prose_that_was_cut_off_is_not_asked_for_again() {
    let endpoint = MockEndpoint::start(Script::always(
        Reply::text("To calculate this, we first").finish("length"),
    ));
    let never = EndpointConfig {
        structured: StructuredReplies::Never,
        ..EndpointConfig::new(endpoint.url(), "m")
    };
    let outcome = complete(&OpenAiProvider::new(never).unwrap(), &call("q", Shape::Sql)).await;
    assert!(matches!(outcome.result, Err(LlmError::Cut { tokens: 512, .. })), "{outcome:?}");
    assert_eq!(endpoint.count(), 1);
    // Nor is more asked for than the plugin or the user wants.
    let endpoint = MockEndpoint::start(Script::always(Reply::text(COUNT).finish("length")));
    let mut own = call("q", Shape::Sql);
    own.request.max_tokens = Some(60);
    assert!(matches!(
        complete(&openai(&endpoint), &own).await.result,
        Err(LlmError::Cut { tokens: 60, .. })
    ));
    let few = EndpointConfig { max_tokens: 100, ..EndpointConfig::new(endpoint.url(), "m") };
    let outcome = complete(&OpenAiProvider::new(few).unwrap(), &call("q", Shape::Sql)).await;
    assert!(matches!(outcome.result, Err(LlmError::Cut { tokens: 100, .. })), "{outcome:?}");
    assert_eq!(endpoint.count(), 2);
}

#[tokio::test]
async fn a_reply_that_repeats_itself_is_not_asked_for_with_more_tokens() {
    let step = "{\"text\": \"Count the customers of each country\", \"depends_on\": []}, ";
    let looping = format!("{{\"tasks\": [{}", step.repeat(9));
    let script = Script::always(Reply::text(looping).finish("length"));
    let endpoint = MockEndpoint::start(script);
    let plan = call("q", Shape::Json("{\"type\": \"object\"}".into()));
    let outcome = complete(&openai(&endpoint), &plan).await;
    assert!(matches!(outcome.result, Err(LlmError::Cut { .. })), "{outcome:?}");
    assert_eq!(endpoint.count(), 1);
}

/// A model that thinks gets all tokens from its first reply on that shows it.
#[tokio::test]
async fn a_model_that_thinks_gets_more_tokens() {
    fn empty() -> Reply {
        Reply::text("").field("reasoning_content", "We need to count").finish("length")
    }
    for first in [
        empty(),
        Reply::text("<think>We need to").finish("length"),
        Reply::text("").finish("length"),
    ] {
        let endpoint =
            MockEndpoint::start(Script::new().once([""], first).on([""], Reply::sql(COUNT, 0.9)));
        let provider = openai(&endpoint);
        assert_eq!(
            statement(&complete(&provider, &call("q", Shape::Sql)).await).as_deref(),
            Some(COUNT)
        );
        assert_eq!(tokens_of(&endpoint), [512, 4_096]);
    }
    let endpoint =
        MockEndpoint::start(Script::always(Reply::sql(COUNT, 0.9).field("reasoning", "We count.")));
    let provider = openai(&endpoint);
    for prompt in ["a", "b"] {
        assert!(statement(&complete(&provider, &call(prompt, Shape::Sql)).await).is_some());
    }
    assert_eq!(tokens_of(&endpoint), [512, 4_096]);
    assert_eq!(provider.estimate(&call("c", Shape::Sql)).output_tokens, 4_096);
}

#[tokio::test]
async fn a_statement_gets_fewer_tokens_than_a_document_and_a_text() {
    let endpoint = MockEndpoint::start(Script::always(Reply::text("{\"n\": 1}")));
    let provider = openai(&endpoint);
    for expect in [Shape::Sql, Shape::Json(SCHEMA.to_owned()), Shape::Text] {
        complete(&provider, &call("q", expect)).await;
    }
    // What holds no statement is asked for as a document.
    assert_eq!(tokens_of(&endpoint), [512, 512, 1_024, 4_096]);
}

/// Nothing that a model says is changed before it is read, whatever the key is.
#[tokio::test]
async fn a_key_that_is_a_word_stays_in_what_is_read() {
    for key in ["none", "a", "Germany", "not-needed-2024"] {
        let sql = format!("SELECT COUNT(*) FROM orders WHERE country = '{key}'");
        let replies = [
            Reply::sql(&sql, 0.9),
            Reply::tool_call_with("run", &json!({ "sql": sql })),
            Reply::message(
                json!({"content": null, "reasoning_content": format!("```sql\n{sql}\n```")}),
            ),
        ];
        for reply in replies {
            let endpoint = MockEndpoint::start(Script::always(reply));
            let config = EndpointConfig {
                api_key: Some(key.to_owned().into()),
                ..EndpointConfig::new(endpoint.url(), "m")
            };
            let outcome =
                complete(&OpenAiProvider::new(config).unwrap(), &call("q", Shape::Sql)).await;
            assert_eq!(statement(&outcome), Some(sql.clone()));
        }
    }
}

#[tokio::test]
async fn an_answer_that_stands_in_the_reasoning_alone_is_read_if_it_can_be_nothing_else() {
    fn only(field: &str, text: &str) -> Reply {
        Reply::message(json!({"content": null, field: text}))
    }
    for field in ["reasoning_content", "reasoning"] {
        let read = ask(only(field, &format!("```sql\n{COUNT}\n```")), Shape::Sql).await;
        assert_eq!(statement(&read).as_deref(), Some(COUNT));
    }
    let after = format!("Perhaps\n```sql\nSELECT 1\n```\n</think>\n```sql\n{COUNT}\n```");
    assert_eq!(
        statement(&ask(only("reasoning", &after), Shape::Sql).await).as_deref(),
        Some(COUNT)
    );
    let document = ask(only("reasoning", "{\"n\": 1}"), Shape::Json(SCHEMA.into())).await;
    assert_eq!(document.result.unwrap().parsed.as_deref(), Some("{\"n\":1}"));
    for (text, expect) in [
        (format!("We count.\n```sql\n{COUNT}\n```"), Shape::Sql),
        (format!("```sql\nSELECT 1\n```\nor rather\n```sql\n{COUNT}\n```"), Shape::Sql),
        ("We count.".to_owned(), Shape::Sql),
        ("We count.".to_owned(), Shape::Text),
        ("Is it {\"n\": 1}?".to_owned(), Shape::Json(SCHEMA.into())),
    ] {
        let outcome = ask(only("reasoning", &text), expect).await;
        let Err(LlmError::Malformed(why)) = outcome.result else { panic!("{text}: {outcome:?}") };
        assert!(why.contains(&format!("{} bytes of reasoning alone", text.len())), "{why}");
    }
}

#[tokio::test]
async fn an_error_in_a_good_status_is_tried_again_where_its_words_say_so() {
    fn raw(body: Value) -> Reply {
        Reply::raw(200, body.to_string())
    }
    for (reply, words, retry) in [
        (raw(json!({"error": {"message": "upstream is busy", "code": 429}})), "429", Retry::Yes),
        (raw(json!({"choices": null, "error": {"message": "x", "code": 503}})), "503", Retry::Yes),
        (raw(json!({"error": {"message": "x", "code": 402}})), "credits are used up", Retry::No),
        (raw(json!({"error": {"message": "overloaded"}})), "overloaded", Retry::Yes),
        (raw(json!({"error": "model runner has unexpectedly stopped"})), "stopped", Retry::Yes),
        (
            raw(json!({
                "choices": [{
                    "finish_reason": "error", "error": {"code": 502, "message": "gone"},
                    "message": {"content": ""}
                }]
            })),
            "gone",
            Retry::Yes,
        ),
        (
            Reply::raw(200, "data: {\"error\": {\"code\": 503, \"message\": \"down\"}}\n\n"),
            "down",
            Retry::Yes,
        ),
    ] {
        let outcome = ask(reply, Shape::Sql).await;
        assert_eq!(outcome.retry, retry, "{outcome:?}");
        let text = outcome.result.unwrap_err().to_string();
        assert!(text.contains(words) && !text.contains("base URL"), "{text}");
        assert_eq!(
            outcome.usage.map(|usage| (usage.input_tokens, usage.cost_micros)),
            Some((0, Some(0)))
        );
    }
    let busy =
        Reply::raw(200, r#"{"type":"error","error":{"type":"overloaded_error","message":"busy"}}"#);
    let endpoint = MockEndpoint::start(Script::always(busy));
    let outcome = anthropic(&endpoint).complete(&call("q", Shape::Sql)).await;
    assert_eq!(outcome.retry, Retry::Yes);
    assert!(outcome.result.unwrap_err().to_string().contains("answered 529"));
}

#[tokio::test]
async fn a_content_filter_is_a_refusal_by_whatever_status_it_comes() {
    let filter =
        json!({"error": {"message": "The response was filtered", "code": "content_filter"}});
    for reply in [
        Reply::raw(400, filter.to_string()),
        Reply::raw(200, filter.to_string()),
        Reply::status(403, "Input was flagged for violence"),
        Reply::text("x").finish("content_filter"),
        Reply::raw(200, r#"{"choices":[{"finish_reason":"SAFETY","index":0}]}"#),
        Reply::raw(200, r#"{"promptFeedback":{"blockReason":"SAFETY"},"choices":[]}"#),
    ] {
        let outcome = ask(reply, Shape::Sql).await;
        assert!(
            matches!(outcome.result, Err(LlmError::Refused(_))) && outcome.retry == Retry::No,
            "{outcome:?}"
        );
    }
}

#[tokio::test]
async fn a_request_fits_into_the_context_with_fewer_tokens_or_it_is_too_long() {
    let script = || Script::always(Reply::sql(COUNT, 0.9));
    fn long(bytes: usize) -> ModelCall {
        call(&"x".repeat(bytes), Shape::Text)
    }
    // 4,000 bytes are 1,000 tokens here.
    let endpoint = MockEndpoint::start(script().context(4_096));
    let provider = openai(&endpoint);
    assert!(complete(&provider, &long(4_000)).await.result.is_ok());
    assert_eq!(tokens_of(&endpoint), [4_096, 3_096]);
    // What was learnt of one request holds for it alone.
    assert!(complete(&provider, &long(4_000)).await.result.is_ok());
    assert!(complete(&provider, &call("q", Shape::Sql)).await.result.is_ok());
    assert_eq!(tokens_of(&endpoint)[2..], [3_096, 512]);
    for (script, bytes) in
        [(script().context(1_024), 4_000), (script().context_of_llama(512), 4_000)]
    {
        let endpoint = MockEndpoint::start(script);
        let outcome = complete(&openai(&endpoint), &long(bytes)).await;
        let Err(LlmError::Overflow(text)) = &outcome.result else { panic!("{outcome:?}") };
        // Fewer tokens of a reply make no prompt shorter.
        assert!(text.contains("--tables") && !text.contains("--max-tokens"), "{text}");
        assert_eq!((endpoint.count(), outcome.retry), (1, Retry::No));
    }
    // Without numbers it is tried with few tokens once.
    let endpoint = MockEndpoint::start(Script::always(Reply::status(400, "prompt is too long")));
    assert!(matches!(
        complete(&openai(&endpoint), &long(9)).await.result,
        Err(LlmError::Overflow(_))
    ));
    assert_eq!(tokens_of(&endpoint), [4_096, 256]);
}

#[tokio::test]
async fn a_limit_of_output_tokens_is_kept_from_its_first_refusal_on() {
    let endpoint = MockEndpoint::start(Script::always(Reply::text("x")).allows_tokens(2_048));
    let provider = openai(&endpoint);
    for prompt in ["a", "b"] {
        assert!(complete(&provider, &call(prompt, Shape::Text)).await.result.is_ok());
    }
    assert_eq!(tokens_of(&endpoint), [4_096, 2_048, 2_048]);
    assert_eq!(provider.estimate(&call("c", Shape::Text)).output_tokens, 2_048);
}

/// A server that names no number: half as many are asked for until it takes them.
#[tokio::test]
async fn a_limit_of_output_tokens_without_a_number_is_found() {
    let limited = |most: u64| {
        move |request: &Recorded, _: usize| {
            let is_over = request.body["max_tokens"].as_u64() > Some(most);
            is_over.then(|| Reply::status(400, "max_tokens exceeds the limit of this server"))
        }
    };
    let cut = Reply::text(format!("```sql\n{COUNT}")).finish("length");
    let endpoint = MockEndpoint::start(Script::new().with(limited(1_024)).on([""], cut));
    let provider = openai(&endpoint);
    for prompt in ["a", "b"] {
        let outcome = complete(&provider, &call(prompt, Shape::Sql)).await;
        assert!(matches!(outcome.result, Err(LlmError::Cut { .. })), "{outcome:?}");
    }
    assert_eq!(tokens_of(&endpoint), [512, 4_096, 2_048, 1_024, 512]);
    let endpoint =
        MockEndpoint::start(Script::new().with(limited(200)).on([""], Reply::sql(COUNT, 0.9)));
    assert!(complete(&openai(&endpoint), &call("q", Shape::Sql)).await.result.is_ok());
    assert_eq!(tokens_of(&endpoint), [512, 256, 128]);
    let endpoint = MockEndpoint::start(Script::new().with(limited(0)));
    let outcome = complete(&openai(&endpoint), &call("q", Shape::Sql)).await;
    assert!(outcome.result.unwrap_err().to_string().contains("lower --max-tokens"));
    assert_eq!(tokens_of(&endpoint), [512, 256, 128, 64]);
}

/// The limit of tokens in a time is none of output tokens.
#[tokio::test]
async fn a_rate_limit_changes_no_request() {
    for text in [
        "This request would exceed your rate limit of 400 output tokens per minute",
        "Request too large on tokens per minute (TPM): Limit 6000, Requested 7200; max_tokens 512",
    ] {
        let endpoint = MockEndpoint::start(Script::always(Reply::status(413, text)));
        let outcome = complete(&openai(&endpoint), &call("q", Shape::Sql)).await;
        assert!(outcome.result.unwrap_err().to_string().contains("rate limit"));
        assert_eq!(tokens_of(&endpoint), [512]);
    }
}

#[tokio::test]
async fn a_server_that_fails_over_a_format_is_asked_without_it() {
    let script = Script::new().with(|request, _| {
        let has_format = request.body.get("response_format").is_some();
        has_format.then(|| Reply::status(500, "failed to initialize sampler: grammar"))
    });
    let endpoint = MockEndpoint::start(script.on([""], Reply::text("{\"n\": 1}")));
    let outcome = complete(&openai(&endpoint), &call("q", Shape::Json(SCHEMA.into()))).await;
    assert!(outcome.result.is_ok(), "{outcome:?}");
    assert_eq!(endpoint.count(), 3);
}

#[tokio::test]
async fn a_reply_that_fills_its_tokens_is_cut_off_whatever_it_says() {
    let endpoint = MockEndpoint::start(Script::always(Reply::text(COUNT).finish("MAX_TOKENS")));
    let outcome = complete(&openai(&endpoint), &call("q", Shape::Sql)).await;
    assert!(matches!(outcome.result, Err(LlmError::Cut { .. })), "{outcome:?}");
    for (output, is_cut) in [(511, false), (512, true), (4_096, true)] {
        let reply = Reply::text(COUNT).usage(Usage::Tokens(9, output));
        let endpoint = MockEndpoint::start(Script::always(reply));
        let mut call = call("q", Shape::Sql);
        call.request.max_tokens = Some(512);
        let outcome = complete(&openai(&endpoint), &call).await;
        assert_eq!(matches!(outcome.result, Err(LlmError::Cut { .. })), is_cut, "{outcome:?}");
    }
}

/// A reason that no one knows may mean that the rest is missing: a statement whose end is marked is
/// read, and doubted.
#[tokio::test]
async fn of_a_reply_that_broke_off_only_a_whole_statement_counts() {
    let fence = format!("```sql\n{COUNT}\n```\nConfidence: 0.9");
    for reason in ["unknown_xyz", "pause_turn", "abort", "insufficient_system_resource"] {
        let outcome = ask(Reply::text(&fence).finish(reason), Shape::Sql).await;
        let reply = outcome.result.unwrap_or_else(|error| panic!("{reason}: {error}"));
        let read = SqlReply::from_reply(&Shape::Sql, &reply).unwrap();
        assert_eq!((read.sql.as_str(), read.is_doubted), (COUNT, true), "{reason}");
        assert_eq!(read.confidence, Some(SqlReply::UNCLEAR), "{reason}");
    }
    for (reason, retry) in [
        ("abort", Retry::Yes),
        ("insufficient_system_resource", Retry::Yes),
        ("unknown_xyz", Retry::No),
    ] {
        for text in [COUNT.to_owned(), format!("```sql\n{COUNT}")] {
            let outcome = ask(Reply::text(text).finish(reason), Shape::Sql).await;
            let error = outcome.result.unwrap_err();
            assert!(!matches!(error, LlmError::Cut { .. }), "{error}");
            assert!(error.to_string().contains(reason), "{error}");
            assert_eq!(outcome.retry, retry, "{reason}");
        }
    }
    let outcome = ask(Reply::text(&fence).finish("refusal"), Shape::Sql).await;
    assert!(matches!(outcome.result, Err(LlmError::Refused(_))), "{outcome:?}");
    let outcome = ask(Reply::text(&fence).finish("network_error"), Shape::Sql).await;
    assert!(outcome.result.is_err() && outcome.retry == Retry::Yes, "{outcome:?}");
}

#[tokio::test]
async fn of_several_choices_the_one_numbered_0_counts() {
    fn choice(index: u32, sql: &str) -> Value {
        let content = format!("```sql\n{sql}\n```");
        json!({"index": index, "message": {"content": content}, "finish_reason": "stop"})
    }
    let body = json!({"choices": [choice(1, "SELECT 1"), choice(0, COUNT)]});
    let outcome = ask(Reply::raw(200, body.to_string()), Shape::Sql).await;
    assert_eq!(statement(&outcome).as_deref(), Some(COUNT));
    fn event(index: u32, sql: &str) -> String {
        let part = json!({"choices": [{
            "index": index, "delta": {"content": format!("```sql\n{sql}\n```")},
            "finish_reason": "stop"
        }]});
        format!("data: {part}\n\n")
    }
    let stream = format!("{}{}data: [DONE]\n\n", event(1, "SELECT 1"), event(0, COUNT));
    let outcome = ask(Reply::raw(200, stream), Shape::Sql).await;
    assert_eq!(statement(&outcome).as_deref(), Some(COUNT));
}

#[tokio::test]
async fn a_server_that_loads_its_model_is_to_be_waited_for() {
    let endpoint = MockEndpoint::start(Script::always(Reply::text("x")).loads_for(1));
    let provider = openai(&endpoint);
    let outcome = provider.complete(&call("q", Shape::Text)).await;
    assert_eq!(outcome.retry, Retry::WhenReady);
    let text = outcome.result.unwrap_err().to_string();
    assert!(text.contains("has not loaded its model yet") && !text.contains("base URL"), "{text}");
    assert!(provider.complete(&call("q", Shape::Text)).await.result.is_ok());
}

#[tokio::test]
async fn streams_are_read_asked_for_or_not() {
    let endpoint = MockEndpoint::start(Script::always(Reply::sql(COUNT, 0.9)).only_streams());
    let provider = openai(&endpoint);
    for prompt in ["a", "b"] {
        let outcome = complete(&provider, &call(prompt, Shape::Sql)).await;
        assert_eq!(statement(&outcome).as_deref(), Some(COUNT));
        assert!(outcome.usage.is_some_and(|usage| usage.output_tokens > 0 && !usage.is_estimate));
    }
    let streams: Vec<bool> =
        endpoint.requests().iter().map(|request| request.body["stream"] == true).collect();
    assert_eq!(streams, [false, true, true]);
    let unasked = MockEndpoint::start(Script::always(Reply::sql(COUNT, 0.9).into_stream()));
    for provider in [&openai(&unasked) as &dyn ModelProvider, &anthropic(&unasked)] {
        assert_eq!(
            statement(&provider.complete(&call("q", Shape::Sql)).await).as_deref(),
            Some(COUNT)
        );
    }
    let cut = MockEndpoint::start(Script::always(Reply::sql(COUNT, 0.9).stream_cut_off()));
    for provider in [&openai(&cut) as &dyn ModelProvider, &anthropic(&cut)] {
        let outcome = provider.complete(&call("q", Shape::Sql)).await;
        assert!(outcome.result.is_err() && outcome.retry == Retry::Yes, "{outcome:?}");
    }
}

#[tokio::test]
async fn a_system_prompt_that_is_refused_stands_in_what_the_user_says() {
    let endpoint =
        MockEndpoint::start(Script::always(Reply::sql(COUNT, 0.9)).without_system_role());
    let provider = openai(&endpoint);
    fn message(speaker: Speaker, text: &str) -> Message {
        Message { speaker, text: text.into() }
    }
    let messages = vec![message(Speaker::System, "rules"), message(Speaker::User, "count")];
    let call = call("q", Shape::Sql);
    let call = ModelCall { request: Request { messages, ..call.request.clone() }, ..call };
    for _ in 0..2 {
        assert!(statement(&complete(&provider, &call).await).is_some());
    }
    let sent: Vec<Value> =
        endpoint.requests().iter().map(|request| request.body["messages"].clone()).collect();
    assert_eq!(
        sent[1..],
        [json!([{"role": "user", "content": "rules\n\ncount"}]), sent[1].clone()]
    );
}

#[tokio::test]
async fn replies_that_are_not_quite_json_are_read() {
    fn body(content: &str, logprob: &str) -> String {
        format!(
            r#"{{"choices": [{{"message": {{"content": "{content}"}}, "finish_reason": "stop",
                "logprobs": {{"content": [{{"logprob": {logprob}}}, {{"logprob": -0.5}}]}}}}], "usage": null}}"#
        )
    }
    for (content, logprob) in
        [("SELECT 'x \\ud83d'", "-0.5"), ("SELECT 1", "-Infinity"), ("SELECT 1", "NaN")]
    {
        let outcome = ask(Reply::raw(200, body(content, logprob)), Shape::Sql).await;
        let reply = outcome.result.unwrap();
        assert!(reply.parsed.is_some());
        assert_eq!(reply.logprob, (logprob == "-0.5").then_some(-1.0), "{logprob}");
    }
    let marked = Reply::raw(200, format!("\u{feff}{}", body("SELECT 1", "-0.5")));
    assert!(ask(marked, Shape::Sql).await.result.is_ok());
}

#[tokio::test]
async fn what_is_reported_of_cost_and_cache_is_kept_and_the_rest_estimated() {
    let usage = json!({
        "prompt_tokens": 100, "completion_tokens": 10, "cost": 0.001_5,
        "prompt_tokens_details": {"cached_tokens": 90}
    });
    let body = json!({"choices": [{"message": {"content": "SELECT 1"}}], "usage": usage});
    let used = ask(Reply::raw(200, body.to_string()), Shape::Sql).await.usage.unwrap();
    assert_eq!((used.cached_tokens, used.cost_micros, used.is_estimate), (90, Some(1_500), false));
    // A reply that is no answer is estimated by its bytes, too.
    let prose = Reply::text("x".repeat(300)).usage(Usage::Missing);
    let outcome = ask(prose, Shape::Sql).await;
    let used = outcome.usage.unwrap();
    assert!(outcome.result.is_err() && used.is_estimate);
    assert_eq!((used.input_tokens, used.output_tokens), (1, 100));
}

#[tokio::test]
async fn channels_and_parts_of_thinking_are_no_answer() {
    let draft = "```sql\nSELECT 1 AS wrong\n```";
    for reply in [
        Reply::text(format!(
            "<|channel|>analysis<|message|>{draft}<|end|><|start|>assistant<|channel|>final<|\
             message|>{COUNT}"
        )),
        Reply::text(format!("analysisFirst {draft}assistantfinal{COUNT}")),
        Reply::message(json!({
            "content": [{"type": "reasoning", "text": draft}, {"type": "text", "text": COUNT}]
        })),
    ] {
        assert_eq!(statement(&ask(reply, Shape::Sql).await).as_deref(), Some(COUNT));
    }
    let only = Reply::text(format!("<|channel|>analysis<|message|>{draft}"));
    assert!(matches!(ask(only, Shape::Sql).await.result, Err(LlmError::Malformed(_))));
}

/// The form of a request that was learnt does not leave out what another model takes.
#[tokio::test]
async fn what_is_learnt_of_one_model_is_not_held_against_another() {
    let endpoint = MockEndpoint::start(
        Script::new()
            .with(|request: &Recorded, _: usize| {
                let is_strict =
                    request.body["model"] == "m" && request.body["max_tokens"].as_u64() > Some(100);
                is_strict.then(|| Reply::status(400, "max_tokens must be at most 100"))
            })
            .on([""], Reply::text("x")),
    );
    let config =
        EndpointConfig { models: vec!["n".into()], ..EndpointConfig::new(endpoint.url(), "m") };
    let provider = OpenAiProvider::new(config).unwrap();
    complete(&provider, &call("q", Shape::Text)).await;
    let mut other = call("q", Shape::Text);
    other.request.model = Some("n".into());
    complete(&provider, &other).await;
    assert_eq!(tokens_of(&endpoint), [4_096, 100, 4_096]);
}
