//! Statements as JSON documents: when they are requested so, and what an endpoint that refuses it
//! gets.

use std::time::Duration;

use serde_json::{Value, json};
use syrch_core::ports::{
    LlmError, Message, ModelCall, ModelOutcome, ModelProvider, Retry, Shape, Speaker, SqlReply,
};
use syrch_kit::{MockEndpoint, Recorded, Reply, Script};
use syrch_llm::{AnthropicProvider, EndpointConfig, OpenAiProvider, StructuredReplies};

use crate::{SCHEMA, call};

const PROSE: &str = "There are 42 customers, as the table of customers shows.";
const STATEMENT: &str = "SELECT COUNT(*) FROM customers";

fn provider(endpoint: &MockEndpoint, structured: StructuredReplies) -> OpenAiProvider {
    OpenAiProvider::new(EndpointConfig { structured, ..EndpointConfig::new(endpoint.url(), "m") })
        .unwrap()
}

/// An endpoint whose model writes prose unless it is held to a schema.
fn obedient() -> Script {
    Script::new()
        .with(|request: &Recorded, _| {
            (request.body["response_format"]["type"] == "json_schema")
                .then(|| Reply::json(&json!({"sql": STATEMENT, "confidence": 0.9})))
        })
        .on([""], Reply::text(PROSE))
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

fn statement(outcome: &ModelOutcome) -> Option<(String, Option<f64>)> {
    let reply: SqlReply =
        serde_json::from_str(outcome.result.as_ref().ok()?.parsed.as_deref()?).ok()?;
    Some((reply.sql, reply.confidence))
}

fn formats(endpoint: &MockEndpoint) -> Vec<Value> {
    endpoint
        .requests()
        .iter()
        .map(|request| request.body["response_format"]["type"].clone())
        .collect()
}

#[tokio::test]
async fn a_reply_without_a_statement_is_asked_for_as_a_document_and_so_are_later_ones() {
    for shape in [Shape::Sql, Shape::Yaml(vec!["sql".into()])] {
        let endpoint = MockEndpoint::start(obedient());
        let provider = provider(&endpoint, StructuredReplies::Auto);
        for prompt in ["a", "b"] {
            assert!(
                complete(&provider, &call(prompt, shape.clone())).await.result.is_ok(),
                "{shape:?}"
            );
        }
        assert_eq!(formats(&endpoint), [Value::Null, json!("json_schema"), json!("json_schema")]);
        let [plain, held, _] = &endpoint.requests()[..] else { panic!("three") };
        assert!(
            held.prompt().starts_with(&plain.prompt()) && held.prompt().contains("{\"sql\": "),
            "{}",
            held.prompt()
        );
        let schema = &held.body["response_format"]["json_schema"]["schema"];
        assert_eq!(schema["required"], json!(["sql", "confidence"]));
    }
    // Prose that was cut off is no statement either.
    let cut = Reply::text("To count them, we first").finish("length");
    let endpoint = MockEndpoint::start(
        Script::new()
            .with(|request: &Recorded, _| {
                request
                    .body
                    .get("response_format")
                    .map(|_| Reply::json(&json!({"sql": STATEMENT, "confidence": 1})))
            })
            .on([""], cut),
    );
    let outcome =
        complete(&provider(&endpoint, StructuredReplies::Auto), &call("q", Shape::Sql)).await;
    assert_eq!(
        (statement(&outcome), endpoint.count()),
        (Some((STATEMENT.to_owned(), Some(1.0))), 2)
    );
}

#[tokio::test]
async fn the_setting_decides_when() {
    let endpoint = MockEndpoint::start(obedient());
    let always = provider(&endpoint, StructuredReplies::Always);
    let outcome = complete(&always, &call("q", Shape::Sql)).await;
    assert_eq!(statement(&outcome), Some((STATEMENT.to_owned(), Some(0.9))));
    assert_eq!(formats(&endpoint), [json!("json_schema")]);

    let endpoint = MockEndpoint::start(Script::always(Reply::text(PROSE)));
    let never = provider(&endpoint, StructuredReplies::Never);
    for shape in [Shape::Sql, Shape::Json(SCHEMA.to_owned())] {
        let outcome = complete(&never, &call("q", shape)).await;
        assert!(matches!(outcome.result, Err(LlmError::Malformed(_))), "{outcome:?}");
    }
    assert_eq!(formats(&endpoint), [Value::Null, Value::Null]);
    assert!(endpoint.requests()[1].prompt().ends_with(SCHEMA));

    // A cache does not give one of them the replies to another.
    let auto = provider(&endpoint, StructuredReplies::Auto);
    let identities =
        [&auto, &always, &never].map(|provider| provider.identity(&call("q", Shape::Sql)));
    let ends = [" 4096", " 4096 always", " 4096 never"];
    for (identity, end) in identities.iter().zip(ends) {
        assert!(identity.as_ref().unwrap().ends_with(end), "{identities:?}");
    }
}

#[tokio::test]
async fn an_endpoint_without_formats_gets_plain_requests() {
    let script = Script::always(Reply::text(PROSE)).without_response_format();
    let endpoint = MockEndpoint::start(script);
    let provider = provider(&endpoint, StructuredReplies::Auto);
    for _ in 0..2 {
        let outcome = complete(&provider, &call("q", Shape::Sql)).await;
        assert!(matches!(outcome.result, Err(LlmError::Malformed(_))), "{outcome:?}");
    }
    assert_eq!(
        formats(&endpoint),
        [Value::Null, json!("json_schema"), json!("json_object"), Value::Null, Value::Null]
    );
    // Nor does a protocol that cannot ask for one change its prompt.
    let endpoint = MockEndpoint::start(Script::always(Reply::text(PROSE)));
    for structured in [StructuredReplies::Auto, StructuredReplies::Always] {
        let config = EndpointConfig { structured, ..EndpointConfig::new(endpoint.url(), "m") };
        let outcome =
            complete(&AnthropicProvider::new(config).unwrap(), &call("q", Shape::Sql)).await;
        assert!(matches!(outcome.result, Err(LlmError::Malformed(_))), "{outcome:?}");
    }
    let bodies: Vec<Value> = endpoint.requests().into_iter().map(|request| request.body).collect();
    assert!(bodies.len() == 2 && bodies[0] == bodies[1], "{bodies:?}");
}

#[tokio::test]
async fn examples_of_replies_are_documents_as_well() {
    let endpoint = MockEndpoint::start(obedient());
    fn message(speaker: Speaker, text: &str) -> Message {
        Message { speaker, text: text.to_owned() }
    }
    let mut call = call("How many?", Shape::Sql);
    call.request.messages.splice(
        0..0,
        [
            message(Speaker::User, "Which?"),
            message(Speaker::Assistant, "```sql\nSELECT \"a\" FROM t\n```\nConfidence: 0.95"),
            message(Speaker::User, "Why?"),
            message(Speaker::Assistant, "I do not know."),
        ],
    );
    complete(&provider(&endpoint, StructuredReplies::Always), &call).await.result.unwrap();
    let messages = &endpoint.requests()[0].body["messages"];
    let example: Value = serde_json::from_str(messages[1]["content"].as_str().unwrap()).unwrap();
    assert_eq!(example, json!({"sql": "SELECT \"a\" FROM t", "confidence": 0.95}));
    assert_eq!(messages[3]["content"], "I do not know.");
}
